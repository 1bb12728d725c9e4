"""Newton's method as in the paper, by scipy and CHOLMOD, on the springs that our bench writes.

    cargo bench -p pliant-physics --bench peers -- FOLDER
    python benches/peers/blend_peers.py FOLDER [NAME…]

Ma et al. 2012, eqs. 1–4: rest lengths are blended, a step starts from the last one's solution, and J Δx = −f is solved by a sparse
factor in every iteration (CHOLMOD by scikit-sparse, supernodal, METIS; ordered and analysed once). Constants are 1 / rest length, held
vertices move linearly. An iteration is the last when the largest force on a vertex is at most 1e-3, the tolerance of our `fast`. Where J
is not positive definite, negative transverse terms are left out for that iteration, as in our own Newton; without that the paper's
method stops here. Where the energy would rise, a step is halved.

Large bars are walked for the first steps only, of 36: the time of a step hardly changes along the way. Prints the mean of a step in
milliseconds with the least and the greatest, ours on the same steps, and how far apart both results are, in parts of the diagonal.
"""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sksparse.cholmod import CholmodNotPositiveDefiniteError, analyze

FOLDER = Path(sys.argv[1])
STEPS = 36
TOLERANCE = 1e-3
MOST_ITERATIONS = 30
# Steps that are walked; what is not listed is left out unless it is named.
WALKED = {"2.2k": 35, "8.5k": 6, "18.6k": 3, "horse": 6}


class Springs:
    """Energy, forces and stiffness of springs over the vertices that are not held."""

    def __init__(self, ends, points, held):
        self.ends = ends
        free = np.setdiff1d(np.arange(points), held)
        self.free, number = free, np.full(points, -1)
        number[free] = np.arange(len(free))
        i, j = number[ends[:, 0]], number[ends[:, 1]]
        self.i, self.j = i, j
        self.has_i, self.has_j, both = i >= 0, j >= 0, (i >= 0) & (j >= 0)
        self.both = both
        # The lower triangle, which is all that CHOLMOD reads: one block per spring, and the diagonal's.
        block = np.indices((3, 3)).reshape(2, 1, 9)
        low, high = np.minimum(i, j)[both], np.maximum(i, j)[both]
        n = len(free)
        rows = np.concatenate([3 * high[:, None] + block[0], 3 * np.arange(n)[:, None] + block[0]]).ravel()
        columns = np.concatenate([3 * low[:, None] + block[1], 3 * np.arange(n)[:, None] + block[1]]).ravel()
        kept = rows >= columns
        entries = np.flatnonzero(kept)
        order = sp.coo_matrix((np.arange(1, len(entries) + 1), (rows[kept], columns[kept])), shape=(3 * n, 3 * n)).tocsc()
        order.sort_indices()
        self.source = entries[order.data.astype(np.int64) - 1]
        self.matrix = sp.csc_matrix((np.zeros(order.nnz), order.indices, order.indptr), shape=order.shape)
        self.factor = None

    def blend(self, rest):
        self.rest, self.constants = rest, 1.0 / rest

    def energy(self, x):
        lengths = np.linalg.norm(x[self.ends[:, 0]] - x[self.ends[:, 1]], axis=1)
        return 0.5 * (self.constants * (lengths - self.rest) ** 2).sum()

    def forces(self, x):
        d = x[self.ends[:, 0]] - x[self.ends[:, 1]]
        lengths = np.linalg.norm(d, axis=1)
        pulls = (self.constants * (lengths - self.rest) / lengths)[:, None] * d
        n = len(self.free)
        total = np.empty((n, 3))
        for axis in range(3):
            total[:, axis] = np.bincount(self.j[self.has_j], pulls[self.has_j, axis], n) - np.bincount(self.i[self.has_i], pulls[self.has_i, axis], n)
        return total, d, lengths

    def stiffness(self, d, lengths, projected):
        transverse = 1.0 - self.rest / lengths
        if projected:
            transverse = np.maximum(transverse, 0.0)
        unit = d / lengths[:, None]
        along = (self.constants * (1.0 - transverse))[:, None] * (unit[:, :, None] * unit[:, None, :]).reshape(-1, 9)
        blocks = along + (self.constants * transverse)[:, None] * np.eye(3).ravel()
        n = len(self.free)
        diagonal = np.empty((n, 9))
        for entry in range(9):
            diagonal[:, entry] = np.bincount(self.i[self.has_i], blocks[self.has_i, entry], n)
            diagonal[:, entry] += np.bincount(self.j[self.has_j], blocks[self.has_j, entry], n)
        self.matrix.data = np.concatenate([-blocks[self.both], diagonal]).ravel()[self.source]
        return self.matrix

    def solve(self, d, lengths, forces):
        for projected in (False, True):
            matrix = self.stiffness(d, lengths, projected)
            if self.factor is None:
                self.factor = analyze(matrix, mode="supernodal", ordering_method="metis")
            try:
                self.factor.cholesky_inplace(matrix)
                return self.factor(forces.ravel()).reshape(-1, 3)
            except CholmodNotPositiveDefiniteError:
                continue
        raise RuntimeError("the stiffness is not positive definite")

    def balance(self, x):
        """Newton's method from `x`; the solution, how many iterations it took, and the force that is left."""
        for iteration in range(MOST_ITERATIONS + 1):
            forces, d, lengths = self.forces(x)
            left = np.linalg.norm(forces, axis=1).max()
            if left <= TOLERANCE or iteration == MOST_ITERATIONS:
                return x, iteration, left
            move, energy, share = self.solve(d, lengths, forces), self.energy(x), 1.0
            while True:
                trial = x.copy()
                trial[self.free] += share * move
                if self.energy(trial) <= energy or share < 1e-6:
                    break
                share *= 0.5
            x = trial


def walk(name, steps):
    ends, held = np.load(FOLDER / f"{name}-springs.npy"), np.load(FOLDER / f"{name}-held.npy")
    shapes = [np.load(FOLDER / f"{name}-shape{s}.npy") for s in (0, 1)]
    ours, ours_ms = np.load(FOLDER / f"{name}-ours.npy"), np.load(FOLDER / f"{name}-ours-ms.npy")
    rests = [np.linalg.norm(shape[ends[:, 0]] - shape[ends[:, 1]], axis=1) for shape in shapes]
    springs, x = Springs(ends, len(shapes[0]), held), shapes[0].copy()
    springs.blend(rests[0])
    springs.solve(*springs.forces(x)[1:], np.zeros((len(springs.free), 3)))  # Orders and warms up: not part of a step.
    times, iterations, left, off = [], [], 0.0, 0.0
    for step in range(1, steps + 1):
        alpha = step / STEPS
        began = time.perf_counter()
        springs.blend((1 - alpha) * rests[0] + alpha * rests[1])
        x[held] = (1 - alpha) * shapes[0][held] + alpha * shapes[1][held]
        x, count, residual = springs.balance(x)
        times.append(1e3 * (time.perf_counter() - began))
        iterations.append(count)
        left = max(left, residual)
        off = max(off, np.linalg.norm(x - ours[step - 1], axis=1).max())
    diagonal = np.linalg.norm(np.ptp(shapes[0], axis=0))
    print(f"{f'newton_cholmod/{name}':<44} {np.mean(times):9.3f} ms   ({min(times):.3f} to {max(times):.3f})")
    same = ours_ms[:steps]
    print(f"{f'ours_same_steps/{name}':<44} {np.mean(same):9.3f} ms   ({min(same):.3f} to {max(same):.3f})")
    print(f"agreement/{name}: {len(ends)} springs, {steps} steps, {np.mean(iterations):.1f} iterations a step, force left {left:.1e}, ", end="")
    print(f"{off / diagonal:.1e} of the diagonal apart", flush=True)


if __name__ == "__main__":
    names = sys.argv[2:] or [name for name in WALKED if (FOLDER / f"{name}-springs.npy").exists()]
    for name in names:
        walk(name, WALKED.get(name, 3))
