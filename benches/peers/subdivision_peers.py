"""Loop subdivision of one pose as SciPy's sparse product.

Makes the mesh of crates/pliant-mesh/benches/subdivision.rs and its subdivision matrix, and prints the median time of
`matrix @ positions` (CSR, float64, 32-bit indices). Needs numpy and scipy.
"""

import statistics

import numpy as np
import scipy
import scipy.sparse as sparse
from timing import times_ms

SIDE = 222


def torus():
    """Positions (n x 3) and triangles (m x 3) of a torus with squares cut along either diagonal."""
    v = np.arange(SIDE * SIDE)
    u, w = v // SIDE / SIDE * 2 * np.pi, v % SIDE / SIDE * 2 * np.pi
    positions = np.stack([np.cos(u) * (2 + np.cos(w)), np.sin(u) * (2 + np.cos(w)), np.sin(w)], axis=1)
    i, j = (index.ravel() for index in np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"))
    at = lambda i, j: i % SIDE * SIDE + j % SIDE
    a, b, c, d = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
    falling = (((i * 73856093) ^ (j * 19349663)) >> 3 & 1 == 1)[:, None]
    first = np.where(falling, np.stack([a, b, d], 1), np.stack([a, b, c], 1))
    second = np.where(falling, np.stack([b, c, d], 1), np.stack([a, c, d], 1))
    return positions, np.stack([first, second], 1).reshape(-1, 3)


def loop_matrix(vertices, triangles):
    """The subdivision matrix of a closed triangulation: old vertices first, then one per edge in ascending order."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    opposite = np.concatenate([triangles[:, 2], triangles[:, 0], triangles[:, 1]])
    edges, edge_of_side = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    edge_of_side = edge_of_side.ravel()
    new = vertices + np.arange(len(edges))
    valence = np.bincount(edges.ravel(), minlength=vertices)
    beta = (0.625 - (0.375 + 0.25 * np.cos(2 * np.pi / valence)) ** 2) / valence
    rows = [np.arange(vertices), edges[:, 0], edges[:, 1], new, new, vertices + edge_of_side]
    columns = [np.arange(vertices), edges[:, 1], edges[:, 0], edges[:, 0], edges[:, 1], opposite]
    values = [1 - valence * beta, beta[edges[:, 0]], beta[edges[:, 1]]]
    values += [np.full(len(edges), 0.375)] * 2 + [np.full(len(opposite), 0.125)]
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_matrix(entries, shape=(vertices + len(edges), vertices))


def main():
    positions, triangles = torus()
    matrix = loop_matrix(len(positions), triangles)
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    pose = np.ascontiguousarray(positions * [1.0, 2.0, 0.5])
    times, _ = times_ms(lambda: matrix @ pose, 200)
    print(f"numpy {np.__version__}, scipy {scipy.__version__}")
    print(f"{matrix.shape[1]} -> {matrix.shape[0]} vertices, {matrix.nnz} entries")
    print(f"subdivision/scipy_csr/49k: median {statistics.median(times):.3f} ms, least {min(times):.3f} ms")


if __name__ == "__main__":
    main()
