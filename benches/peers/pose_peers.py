"""Peers of the drag solver: small quadratic programmes with bounds, one for each moment of a drag.

    python benches/peers/pose_peers.py [FOLDER]

Every peer solves `min ½ wᵀHw + fᵀw` with `lower ≤ w ≤ upper` for one `f` after the other. FOLDER holds what our bench wrote, as
float64 arrays: H.npy (n × n), f.npy (k × n), lower.npy and upper.npy (n), and if wanted solution.npy (k × n) to compare with,
B.npy (3·pins × n) and m.npy (k × 3·pins) for the peer without bounds. Without FOLDER the problem is made from the ICT face in
PLIANT_DATA: 57 sliders and 5 pins, one of which is dragged round a loop while the others hold.

Needs numpy; quadprog, daqp, scipy, osqp, proxsuite and clarabel are each left out where they are missing. Three kinds of work:
`fresh` is everything from the arrays, `cold` has the matrices set up before and forgets the last answer, `warm` continues from it.
Prints medians in milliseconds over all the drag, the calls through Python included; `inner` is the peer's own clock, which leaves
out these calls but also the taking of a new `f`: called from C, the peer lies between the two. Next
to each stand the largest difference of a weight from solution.npy, or from quadprog without one, and how far the weights are from
optimal, as a step of descent would still move them.
"""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from timing import times_ms

ROUNDS = 15  # Times that each peer goes through the drag.
LANDMARKS = [48, 54, 8, 19, 24]  # The corner of the mouth that is dragged, the other one, the chin, the brows.
TIKHONOV = 1e-2  # Of the mean diagonal of BᵀB, as is the weight of the energy below.
SPARSITY = 1e-3
TOLERANCE = 1e-9  # Asked of the iterative peers; the others are exact.


def ict_problem(frames=60, seed=7):
    """½‖Bw − m‖² + ½ρ wᵀGw + λ Σ w with 0 ≤ w ≤ 1, where only the goals `m` change."""
    data = Path(os.environ["PLIANT_DATA"]) / "ict-facekit"
    deltas = np.load(data / "expressions.delta.npy").astype(float)
    n = len(deltas)
    rng = np.random.default_rng(seed)
    pins = np.loadtxt(data / "landmarks-multipie68.txt", int)[LANDMARKS]
    B = deltas[:, pins].reshape(n, -1).T
    flat = deltas.reshape(n, -1)
    gram = flat @ flat.T
    level = np.trace(B.T @ B) / n
    gram *= level / (np.trace(gram) / n)
    start = rng.uniform(0.2, 0.8, n) * (rng.random(n) < 0.2)
    turn = np.linspace(0.0, 2.0 * np.pi, frames, endpoint=False)
    loop = np.stack([np.sin(turn), 1.0 - np.cos(turn), 0.5 * np.sin(2.0 * turn)], 1)  # In cm, from the start and back.
    m = np.tile(B @ start, (frames, 1))
    m[:, :3] += loop
    f = -m @ B + SPARSITY * level
    return SimpleNamespace(H=B.T @ B + TIKHONOV * gram, f=f, lower=np.zeros(n), upper=np.ones(n), B=B, m=m, solution=None)


def read_problem(folder):
    def array(name, needed):
        path = Path(folder) / f"{name}.npy"
        return np.load(path).astype(float) if needed or path.exists() else None

    problem = SimpleNamespace(**{name: array(name, True) for name in ("H", "f", "lower", "upper")})
    problem.f = np.atleast_2d(problem.f)
    for name in ("solution", "B", "m"):
        setattr(problem, name, array(name, False))
    return problem


# Each peer yields (work, solve): `solve(f)` returns the weights, or the weights and the milliseconds of the peer's own clock.


def quadprog_peer(problem):
    import quadprog

    n = len(problem.lower)
    normals, limits = np.hstack([np.eye(n), -np.eye(n)]), np.concatenate([problem.lower, -problem.upper])
    yield "fresh", lambda f: quadprog.solve_qp(problem.H, -f, normals, limits)[0]
    inverse = np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(problem.H).T))  # It takes R⁻¹ of H = RᵀR.
    yield "cold", lambda f: quadprog.solve_qp(inverse, -f, normals, limits, 0, True)[0]


def daqp_peer(problem):
    import daqp

    n = len(problem.lower)
    none, free = np.zeros((0, n)), np.zeros(n, np.int32)
    yield "fresh", lambda f: daqp.solve(problem.H, f, none, problem.upper, problem.lower, free)[0]

    def ready():
        model = daqp.Model()
        model.setup(problem.H, problem.f[0].copy(), none, problem.upper, problem.lower, free.copy())
        return model

    def solve(model, inner, f, **more):
        model.update(f=f, **more)
        w, _, flag, info = model.solve()
        assert flag == 1, f"daqp ended with {flag}"
        return (w, 1e3 * info["solve_time"]) if inner else w

    for work, inner in (("", False), (" inner", True)):
        model = ready()
        yield "cold" + work, lambda f, model=model, inner=inner: solve(model, inner, f, sense=free.copy())
        model = ready()
        yield "warm" + work, lambda f, model=model, inner=inner: solve(model, inner, f)


def scipy_peer(problem):
    from scipy.linalg import solve_triangular
    from scipy.optimize import lsq_linear

    # ½wᵀHw + fᵀw is ½‖Rw + R⁻ᵀf‖² and a constant, with H = RᵀR.
    factor = np.linalg.cholesky(problem.H).T

    def solve(factor, f):
        goal = -solve_triangular(factor, f, trans="T")
        return lsq_linear(factor, goal, (problem.lower, problem.upper), "bvls", tol=1e-14).x

    yield "fresh", lambda f: solve(np.linalg.cholesky(problem.H).T, f)
    yield "cold", lambda f: solve(factor, f)


def osqp_peer(problem):
    import osqp
    import scipy.sparse as sp

    def ready(f):
        solver = osqp.OSQP()
        upper = sp.csc_matrix(np.triu(problem.H))
        identity = sp.identity(len(f), format="csc")
        options = {"verbose": False, "eps_abs": TOLERANCE, "eps_rel": TOLERANCE, "max_iter": 100_000}
        solver.setup(upper, f, identity, problem.lower, problem.upper, **options)
        return solver

    yield "fresh", lambda f: ready(f).solve().x
    for work, inner in (("warm", False), ("warm inner", True)):
        solver = ready(problem.f[0])

        def solve(f, solver=solver, inner=inner):
            solver.update(q=f)
            found = solver.solve()
            return (found.x, 1e3 * found.info.solve_time) if inner else found.x

        yield work, solve


def proxqp_peer(problem):
    from proxsuite import proxqp

    def ready(f):
        solver = proxqp.dense.QP(len(f), 0, 0, True)
        solver.settings.eps_abs = TOLERANCE
        solver.settings.initial_guess = proxqp.NO_INITIAL_GUESS
        solver.init(problem.H, f, l_box=problem.lower, u_box=problem.upper)
        solver.solve()
        return solver

    def solve(solver, f):
        solver.update(g=f)
        solver.solve()
        return solver.results.x

    yield "fresh", lambda f: ready(f).results.x
    for work, start in (("cold", proxqp.NO_INITIAL_GUESS), ("warm", proxqp.WARM_START_WITH_PREVIOUS_RESULT)):
        solver = ready(problem.f[0])
        solver.settings.initial_guess = start  # There is no last answer before the first.
        yield work, lambda f, solver=solver: solve(solver, f)


def clarabel_peer(problem):
    import clarabel
    import scipy.sparse as sp

    n = len(problem.lower)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.presolve_enable = False  # Else it takes no new f.
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    identity = sp.identity(n, format="csc")

    def ready(f):
        both = sp.vstack([identity, -identity], format="csc")
        limits = np.concatenate([problem.upper, -problem.lower])
        return clarabel.DefaultSolver(sp.csc_matrix(np.triu(problem.H)), f, both, limits, [clarabel.NonnegativeConeT(2 * n)], settings)

    def cold(solver, f):
        solver.update(q=f)
        return np.array(solver.solve().x)

    yield "fresh", lambda f: np.array(ready(f).solve().x)
    solver = ready(problem.f[0])
    yield "cold", lambda f: cold(solver, f)


def unbounded_numpy(problem):
    """Tikhonov's weights, which may leave the bounds: (BᵀB + αI) w = Bᵀm."""
    n = problem.B.shape[1]
    alpha = TIKHONOV * np.trace(problem.B.T @ problem.B) / n
    stacked = np.vstack([problem.B, np.sqrt(alpha) * np.eye(n)])
    yield "lstsq_unbounded", lambda m: np.linalg.lstsq(stacked, np.concatenate([m, np.zeros(n)]), rcond=None)[0]
    yield "solve_unbounded", lambda m: np.linalg.solve(problem.B.T @ problem.B + alpha * np.eye(n), problem.B.T @ m)


PEERS = {
    "quadprog": quadprog_peer,
    "daqp": daqp_peer,
    "scipy_bvls": scipy_peer,
    "proxqp": proxqp_peer,
    "osqp": osqp_peer,
    "clarabel": clarabel_peer,
}


def drag(solve, inputs):
    """The milliseconds of each solve in several rounds of the drag, and the weights of the last round."""
    times, weights = [], np.zeros((len(inputs), 0))
    for _ in range(ROUNDS):
        found = []
        for vector in inputs:
            ms, answer = times_ms(lambda: solve(vector), 1)
            inner = isinstance(answer, tuple)
            times += [answer[1]] if inner else ms
            found.append(np.array(answer[0] if inner else answer))
        weights = np.array(found)
    return times, weights


def show(name, times, note):
    low, high = np.percentile(times, [10, 90])
    print(f"{name:<34} {np.median(times):9.4f} ms (median of {len(times)}, 10–90 %: {low:.4f} to {high:.4f}), {note}", flush=True)


def optimality(problem, weights):
    """How far a step of descent, scaled by the diagonal and kept within the bounds, still moves any weight."""
    step = (weights @ problem.H + problem.f) / np.diag(problem.H)
    return np.abs(weights - np.clip(weights - step, problem.lower, problem.upper)).max()


def main():
    problem = read_problem(sys.argv[1]) if len(sys.argv) > 1 else ict_problem()
    size = f"{len(problem.H)}_sliders"
    reference = problem.solution
    if reference is not None:
        print(f"solution.npy: optimality {optimality(problem, reference):.1e}")
    for name, peer in PEERS.items():
        try:
            for work, solve in peer(problem):
                times, weights = drag(solve, problem.f)
                reference = weights if reference is None else reference
                apart = np.abs(weights - reference).max()
                show(f"{name}_{work.replace(' ', '_')}/{size}", times, f"apart {apart:.1e}, optimality {optimality(problem, weights):.1e}")
        except ImportError as missing:
            print(f"{name} left out: {missing}")
    if problem.B is not None and problem.m is not None:
        for work, solve in unbounded_numpy(problem):
            times, weights = drag(solve, problem.m)
            show(f"numpy_{work}/{size}", times, f"weights {weights.min():.2f} to {weights.max():.2f}")
    if reference is not None:
        held = (reference <= problem.lower + 1e-9) | (reference >= problem.upper - 1e-9)
        changes = (held[1:] != held[:-1]).sum(1).mean() if len(held) > 1 else 0.0
        print(f"{held.sum(1).mean():.1f} of {held.shape[1]} weights at a bound, {changes:.2f} changes of these from one moment to the next")
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
