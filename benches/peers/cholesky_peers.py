"""Times of other sparse Cholesky solvers on the matrices that the Rust bench writes.

    cargo bench -p pliant-linalg --bench cholesky -- --write matrices
    python benches/peers/cholesky_peers.py matrices

Needs numpy, scipy, scikit-sparse (CHOLMOD) and, optionally, pypardiso. Prints medians in milliseconds.
The speed of CHOLMOD depends on the BLAS it is linked with; say which one when publishing.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sksparse.cholmod import analyze
from timing import times_ms

try:
    import pypardiso
except ImportError:
    pypardiso = None


def read_matrix(path):
    """The matrix that `write_matrix` of the Rust bench wrote."""
    data = path.read_bytes()
    rows, entries = np.frombuffer(data, "<u8", 2)
    rows, entries = int(rows), int(entries)
    starts = np.frombuffer(data, "<u8", rows + 1, 16).astype(np.int32)
    indices = np.frombuffer(data, "<u4", entries, 16 + 8 * (rows + 1)).astype(np.int32)
    values = np.frombuffer(data, "<f8", entries, 16 + 8 * (rows + 1) + 4 * entries).copy()
    return sp.csr_matrix((values, indices, starts), shape=(rows, rows))


def median_ms(work, runs):
    """The median of the milliseconds of several runs, and the last result."""
    times, result = times_ms(work, runs)
    return float(np.median(times)), result


def show(method, matrix, milliseconds):
    print(f"{method + '/' + matrix:<44} {milliseconds:9.2f} ms", flush=True)


def time_cholmod(name, matrix, rhs, ordering, runs):
    """Order and analyse, factor, solve with CHOLMOD."""
    columns = sp.csc_matrix(matrix)
    label = f"cholmod_{ordering}"
    ms, factor = median_ms(lambda: analyze(columns, mode="supernodal", ordering_method=ordering), 3)
    show(f"{label}_order_and_analyse", name, ms)
    ms, _ = median_ms(lambda: factor.cholesky_inplace(columns), runs)
    show(f"{label}_refactor", name, ms)
    ms, x = median_ms(lambda: factor(rhs), 3 * runs)
    show(f"{label}_solve", name, ms)
    ms, _ = median_ms(lambda: factor(np.column_stack([rhs, 1 - rhs, rhs])), runs)
    show(f"{label}_solve_points", name, ms)
    print(f"{label}: {factor.L().nnz} entries in the factor, residual {np.abs(matrix @ x - rhs).max():.1e}")


def time_pardiso(name, matrix, rhs, runs):
    """Order and analyse, factor, solve with PARDISO for symmetric positive definite matrices."""
    upper = sp.triu(matrix, format="csr")
    solver = pypardiso.PyPardisoSolver(mtype=2)
    solver._check_A = lambda A: None  # It would ask for both triangles.
    phases = [("order_and_analyse", 11, 3), ("refactor", 22, runs), ("solve", 33, 3 * runs)]
    for phase, code, count in phases:
        solver.set_phase(code)
        ms, x = median_ms(lambda: solver._call_pardiso(upper, rhs.reshape(-1, 1)), count)
        show(f"pardiso_{phase}", name, ms)
    print(f"pardiso: {solver.iparm[17]} entries in the factor, residual {np.abs(matrix @ x.ravel() - rhs).max():.1e}")
    solver.free_memory(everything=True)


def main():
    for path in sorted(Path(sys.argv[1]).glob("*.csr")):
        matrix = read_matrix(path)
        rhs = np.sin(0.37 * np.arange(matrix.shape[0]))
        runs = 11 if matrix.shape[0] < 50_000 else 5
        for ordering in ("metis", "default"):
            time_cholmod(path.stem, matrix, rhs, ordering, runs)
        if pypardiso is not None:
            time_pardiso(path.stem, matrix, rhs, runs)


if __name__ == "__main__":
    main()
