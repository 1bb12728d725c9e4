"""Displacements of 197 thousand vertices from 14 examples with numpy and scikit-learn.

The sizes of crates/pliant-learn/benches/detail.rs: 17 control points, one kernel ridge regression for each vertex.
`synthesis` is one float32 product of the maps with the shares; `batched` fits all vertices at once with a shared Gram matrix, for the
same 24 settings with leave-one-out; `scikit-learn` fits KernelRidge vertex by vertex with settings given, on a part of them, scaled up.
Needs numpy; scikit-learn where it is installed.
"""

import statistics

import numpy as np
from timing import times_ms

VERTICES, EXAMPLES, POINTS = 197_136, 14, 17
WIDTHS = [1.0, 2.0, 4.0]
RIDGES = [1e-5, 1e-3, 0.01, 0.03, 0.1, 0.4, 1.6, 6.4]
PART = 1000


def report(name, times, scale=1.0):
    print(f"detail/{name}: median {scale * statistics.median(times):.3f} ms, least {scale * min(times):.3f} ms")


def fit(gram, heights, ridge):
    """Coefficients of every vertex, and the residuals of examples left out in turn."""
    n = len(gram)
    centring = np.eye(n) - 1 / n
    centred = centring @ gram @ centring
    inverse = np.linalg.inv(centred + ridge * np.trace(centred) / n * np.eye(n))
    smoother = 1 / n + centring @ inverse @ centred
    residuals = (heights - smoother.T @ heights) / (1 - np.diag(smoother))[:, None]
    return centring @ inverse @ (heights - heights.mean(axis=0)), residuals


def batched(features, heights):
    """The settings with the least error of examples left out, and their coefficients."""
    squared = ((features[:, None] - features[None]) ** 2).sum(-1)
    median = np.sqrt(np.median(squared[np.tril_indices(EXAMPLES, -1)]))
    best = None
    for width in WIDTHS:
        gram = np.exp(-0.5 * squared / (width * median) ** 2)
        for ridge in RIDGES:
            coefficients, residuals = fit(gram, heights, ridge)
            error = float((residuals[1:] ** 2).sum())
            if best is None or error < best[0]:
                best = (error, coefficients)
    return best


def vertex_by_vertex(features, heights):
    from sklearn.kernel_ridge import KernelRidge

    return [KernelRidge(kernel="rbf", alpha=0.1, gamma=0.1).fit(features, heights[:, v]) for v in range(PART)]


def main():
    random = np.random.default_rng(1)
    features = random.normal(size=(EXAMPLES, 3 * POINTS))
    heights = random.normal(size=(EXAMPLES, VERTICES)).astype(np.float32)
    maps = np.ascontiguousarray(heights.T)
    shares = random.normal(size=EXAMPLES).astype(np.float32)
    print(f"numpy {np.__version__}")
    out = np.empty(VERTICES, np.float32)
    report("synthesis, numpy, vertices x examples", times_ms(lambda: np.matmul(maps, shares, out=out), 200)[0])
    report("synthesis, numpy, examples x vertices", times_ms(lambda: np.matmul(shares, heights, out=out), 200)[0])
    report("training, batched numpy, 24 settings", times_ms(lambda: batched(features, heights.astype(float)), 3)[0])
    report("training, batched numpy, one setting", times_ms(lambda: fit(np.eye(EXAMPLES), heights.astype(float), 0.1), 5)[0])
    try:
        report("training, scikit-learn", times_ms(lambda: vertex_by_vertex(features, heights), 1)[0], VERTICES / PART)
    except ImportError:
        print("scikit-learn is not installed")


if __name__ == "__main__":
    main()
