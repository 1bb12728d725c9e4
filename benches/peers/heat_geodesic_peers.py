"""The heat method by potpourri3d on the sheets of the bench `heat_geodesic`.

    python benches/peers/heat_geodesic_peers.py

Needs numpy and potpourri3d. Prints medians in milliseconds: setting up (plain and robust Laplacian), and one source.
"""

import numpy as np
import potpourri3d as pp3d
from timing import times_ms


def bumpy_sheet(n, bump):
    """The sheet of `pliant_mesh::shapes`: the same points, the same fan triangles."""
    step = 1.0 / n
    i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    x, y = i * step, j * step
    wave = lambda a, b: bump * step * np.sin((a * x + b * y) * 9.0 + a)  # noqa: E731
    points = np.stack([x + wave(1.0, 2.0), y + wave(-2.0, 1.3), wave(1.7, -0.6) / step * 0.3], -1).reshape(-1, 3)
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)[None, :]).ravel()
    b, c, d = a + n + 1, a + n + 2, a + 1
    return points, np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], 1).reshape(-1, 3)


def main():
    for name, cells, runs in (("10k", 100, 9), ("200k", 447, 3)):
        v, f = bumpy_sheet(cells, 0.25)
        for robust in (False, True):
            label = "robust" if robust else "plain"
            times, solver = times_ms(lambda: pp3d.MeshHeatMethodDistanceSolver(v, f, use_robust=robust), runs)
            print(f"potpourri3d_{label}_factor/{name:<6} {np.median(times):9.2f} ms", flush=True)
            times, _ = times_ms(lambda: solver.compute_distance(7), 3 * runs)
            print(f"potpourri3d_{label}_solve/{name:<6} {np.median(times):9.2f} ms", flush=True)


if __name__ == "__main__":
    main()
