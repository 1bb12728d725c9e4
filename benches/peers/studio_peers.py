"""Peer of a frame of the studio while a hand drags a pin, by numpy, scipy and libigl.

    python benches/peers/studio_peers.py [FRAMES]        (needs PLIANT_DATA; `pip install numpy scipy libigl`)

The ICT face with its 57 sliders, 26 719 vertices, and one pin at the corner of the mouth, which goes round a small circle, as in
`cargo bench -p pliant-studio --bench drag_frame`. Every frame is the pin's goal, weights from bounded least squares across the view with
a ridge, positions by the sum of all shapes, normals of the vertices, and one array of single precision for the card. The sum comes
twice: by one dense product, and by a sparse one of the deltas that are not zero; so do the normals, by libigl and by numpy. Ours does more:
a step of undo, the explanation of the solve, and the way to a worker and back. Prints medians in milliseconds.
"""

import os
import statistics
import sys
from pathlib import Path

import igl
import numpy as np
from scipy.optimize import lsq_linear
from scipy.sparse import csr_matrix
from timing import times_ms

# Of the largest delta of a slider: as a hand draws.
CIRCLE = 0.3
# Keeps weights small that the pin says nothing about.
RIDGE = 1e-3


def read_obj(path):
    """Positions and triangles: polygons as fans."""
    positions, triangles = [], []
    with open(path) as file:
        for line in file:
            if line.startswith("v "):
                positions.append([float(x) for x in line.split()[1:4]])
            elif line.startswith("f "):
                face = [int(corner.split("/")[0]) - 1 for corner in line.split()[1:]]
                triangles += [[face[0], face[k], face[k + 1]] for k in range(1, len(face) - 1)]
    return np.array(positions), np.array(triangles, np.int64)


class Frame:
    """What stays the same from frame to frame."""

    def __init__(self, neutral, triangles, deltas, vertex):
        self.neutral, self.triangles = neutral, triangles
        self.dense = np.ascontiguousarray(deltas.reshape(len(deltas), -1).T, np.float64)
        self.sparse = csr_matrix(self.dense)
        pin = self.dense[3 * vertex : 3 * vertex + 3]
        # The view looks along z: depth is free.
        self.matrix = np.vstack([pin[:2], RIDGE * np.abs(pin).max() * np.eye(pin.shape[1])])

    def weights(self, goal):
        wanted = np.concatenate([goal, np.zeros(self.matrix.shape[1])])
        return lsq_linear(self.matrix, wanted, bounds=(0, 1), method="bvls").x

    def positions(self, product, weights):
        return self.neutral + (product @ weights).reshape(-1, 3)

    def numpy_normals(self, positions):
        a, b, c = (positions[self.triangles[:, k]] for k in range(3))
        areas = np.cross(b - a, c - a)
        corners, count = self.triangles.T.ravel(), len(positions)
        sums = np.stack([np.bincount(corners, np.tile(areas[:, k], 3), count) for k in range(3)], 1)
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)

    def igl_normals(self, positions):
        return igl.per_vertex_normals(positions, self.triangles)

    def whole(self, goal, product, normals):
        positions = self.positions(product, self.weights(goal))
        return np.hstack([positions, normals(positions)]).astype(np.float32)


def main():
    data = Path(os.environ["PLIANT_DATA"]) / "ict-facekit"
    neutral, triangles = read_obj(data / "generic_neutral_mesh.obj")
    deltas = np.load(data / "expressions.delta.npy").astype(np.float64)
    names = (data / "expressions.names.txt").read_text().split()
    lengths = np.linalg.norm(deltas[names.index("mouthSmile_L")], axis=1)
    frame = Frame(neutral, triangles, deltas, int(lengths.argmax()))
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    goals = CIRCLE * lengths.max() * np.stack([np.cos(angles), np.sin(angles) + 1], 1)
    some = frame.weights(goals[0])
    posed = frame.positions(frame.dense, some)
    works = {"solve": lambda goal: frame.weights(goal)}
    for kind, product in (("dense", frame.dense), ("sparse", frame.sparse)):
        works[f"shapes_{kind}"] = lambda goal, product=product: frame.positions(product, some)
        for by, normals in (("igl", frame.igl_normals), ("numpy", frame.numpy_normals)):
            works[f"normals_{by}"] = lambda goal, normals=normals: normals(posed)
            works[f"frame_{kind}_{by}"] = lambda goal, product=product, normals=normals: frame.whole(goal, product, normals)
    for name, work in works.items():
        ms = [times_ms(lambda: work(goal), 1)[0][0] for goal in goals]
        print(f"numpy_{name}/ict".ljust(34), f"{statistics.median(ms):9.3f} ms (median of {len(ms)}, {min(ms):.3f} to {max(ms):.3f})")
    apart = np.abs(frame.igl_normals(posed) - frame.numpy_normals(posed)).max()
    print(f"{len(neutral)} vertices, {len(triangles)} triangles; normals of libigl and numpy differ by at most {apart:.1e}")


if __name__ == "__main__":
    main()
