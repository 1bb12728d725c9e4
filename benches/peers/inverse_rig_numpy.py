"""Peer of our fit of a rig to whole meshes: cyclic coordinate descent on the vertices, in numpy.

    python benches/peers/inverse_rig_numpy.py [--write FOLDER] [--read FOLDER] [--sweeps N] [--alpha A] [--stated-frames N]

Weights `w` of the sliders within 0 and 1 that make the rig, with a corrective shape for the product of each of some pairs, look
like a given mesh `s`:

    min ‖Bw + Σ wᵢwⱼ bⁱʲ − s‖² + α Σ wᵢ,      0 ≤ w ≤ 1

In one weight alone this is a parabola: with `φᵢ = bᵢ + Σⱼ wⱼ bⁱʲ` and `r` the rig without slider `i` less the mesh, the best is
`wᵢ = −(φᵢ·r + α/2) / ‖φᵢ‖²`, brought within the bounds. A sweep does so for every slider, the one with the largest shape first;
there are 7 sweeps from all zero. `converged` goes on until a sweep moves no weight by more than 1e-4.

From the formulation in Racković, Soares, Jakovetić, Desnica, "High-fidelity Interpretable Inverse Rig: An Accurate and Sparse
Solution Optimizing the Quartic Blendshape Model", 2023, cut off after products of two sliders, which is the model of their "Accurate
and Interpretable Solution of the Inverse Rig for Realistic Blendshape Models with Quadratic Corrective Terms", 2023. Two ways
that take the same steps: `stated` evaluates the rig anew for every slider, `residual` carries the difference from the mesh
along and touches the shapes of one slider only, in double and in single precision.

The rig is made up and always the same: 130 Gaussian bumps and 260 correctives on the ICT neutral of PLIANT_DATA. `--write` leaves
it for our bench: neutral.npy (V × 3, float64), deltas.npy (390 × V × 3, float32; first the sliders, then the pairs),
pairs.npy (260 × 2, int64), weights.npy (10 × 130, float64), frames.npy (10 × V × 3, float64, positions). `--read` takes such a folder.

Needs numpy. Prints medians in milliseconds over the frames, and the errors reached.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # Before numpy: threads that wait for each other make its dot products slower.

from pathlib import Path  # noqa: E402
from types import SimpleNamespace  # noqa: E402

import numpy as np  # noqa: E402
from timing import times_ms  # noqa: E402

SLIDERS, PAIRS, FRAMES, ACTIVE = 130, 260, 10, 15


def neutral_positions():
    with open(Path(os.environ["PLIANT_DATA"]) / "ict-facekit" / "generic_neutral_mesh.obj") as file:
        return np.array([line.split()[1:4] for line in file if line.startswith("v ")], float)


def bump(positions, centre, width, offset):
    """A Gaussian hill, `width` from flank to flank, with the direction and height of `offset`; nothing where it is below 0.01 mm."""
    hill = np.exp(-0.5 * ((positions - centre) ** 2).sum(1) / (0.5 * width) ** 2)
    hill[hill * np.linalg.norm(offset) < 1e-3] = 0.0
    return np.outer(hill, offset).astype(np.float32)


def direction(rng):
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def make_rig(seed=7):
    """Bumps 1 to 4 cm wide and about 1 cm high, and smaller ones of 3 mm between two of them that overlap."""
    rng = np.random.default_rng(seed)
    neutral = neutral_positions()
    centres = neutral[rng.choice(len(neutral), SLIDERS, replace=False)]
    widths = rng.uniform(1.0, 4.0, SLIDERS)
    shapes = [bump(neutral, c, w, rng.uniform(0.8, 1.2) * direction(rng)) for c, w in zip(centres, widths)]
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    overlapping = np.argwhere(np.triu(apart < widths[:, None] + widths[None], 1))
    pairs = overlapping[np.sort(rng.choice(len(overlapping), PAIRS, replace=False))]
    shapes += [bump(neutral, centres[pair].mean(0), 0.6 * widths[pair].min(), 0.3 * direction(rng)) for pair in pairs]
    rig = SimpleNamespace(neutral=neutral, deltas=np.array(shapes), pairs=pairs.astype(np.int64))
    rig.weights = np.zeros((FRAMES, SLIDERS))
    for weights in rig.weights:
        weights[rng.choice(SLIDERS, ACTIVE, replace=False)] = rng.uniform(0.1, 1.0, ACTIVE)
    rig.frames = np.array([neutral + evaluate(rig.deltas.astype(float), rig.pairs, w) for w in rig.weights])
    return rig


ARRAYS = ("neutral", "deltas", "pairs", "weights", "frames")


def write_rig(rig, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", np.ascontiguousarray(getattr(rig, name)))


def read_rig(folder):
    return SimpleNamespace(**{name: np.load(folder / f"{name}.npy") for name in ARRAYS})


def evaluate(shapes, pairs, weights):
    """The displacements: each shape times its weight, or the product of its two."""
    every = np.concatenate([weights, weights[pairs].prod(1)])
    return np.tensordot(every, shapes, 1)


class Descent:
    """The rig as rows of coordinates, and for each slider its partners and their correctives."""

    def __init__(self, rig, kind):
        self.sliders = rig.weights.shape[1]
        self.pairs = rig.pairs
        self.shapes = np.ascontiguousarray(rig.deltas.reshape(len(rig.deltas), -1), kind)
        self.partners = [[] for _ in range(self.sliders)]
        for row, (i, j) in enumerate(self.pairs, self.sliders):
            self.partners[i].append((j, row))
            self.partners[j].append((i, row))
        norms = np.linalg.norm(self.shapes[: self.sliders], axis=1)
        self.order = np.argsort(-norms, kind="stable")

    def slope(self, weights, i):
        """φᵢ: how the mesh follows weight `i` with the others held."""
        slope = self.shapes[i].copy()
        for partner, row in self.partners[i]:
            if weights[partner] != 0.0:
                slope += self.shapes.dtype.type(weights[partner]) * self.shapes[row]
        return slope

    def stated(self, goal, alpha, sweeps, tolerance=0.0):
        weights = np.zeros(self.sliders)
        for sweep in range(1, sweeps + 1):
            before = weights.copy()
            for i in self.order:
                slope = self.slope(weights, i)
                weights[i] = 0.0
                rest = evaluate(self.shapes, self.pairs, weights) - goal
                weights[i] = np.clip(-(slope @ rest + 0.5 * alpha) / (slope @ slope), 0.0, 1.0)
            moved = np.abs(weights - before).max()
            if moved <= tolerance:
                break
        return weights, sweep, moved

    def residual(self, goal, alpha, sweeps, tolerance=0.0):
        weights = np.zeros(self.sliders)
        residual = -goal
        for sweep in range(1, sweeps + 1):
            before = weights.copy()
            for i in self.order:
                slope = self.slope(weights, i)
                old = weights[i]
                # r without slider i is the residual less old·φᵢ.
                weights[i] = min(max(old - (float(slope @ residual) + 0.5 * alpha) / float(slope @ slope), 0.0), 1.0)
                if weights[i] != old:
                    slope *= slope.dtype.type(weights[i] - old)
                    residual += slope
            moved = np.abs(weights - before).max()
            if moved <= tolerance:
                break
        return weights, sweep, moved


def fit(rig, name, descent, way, frames, *limits):
    """Fits the first frames, prints, and returns the weights."""
    goals = (rig.frames[:frames] - rig.neutral).reshape(frames, -1).astype(descent.shapes.dtype)
    runs = [times_ms(lambda: way(descent, goal, *limits), 1) for goal in goals]
    times = [ms for (ms,), _ in runs]
    found, sweeps, moved = (np.array(part) for part in zip(*(result for _, result in runs)))
    print(f"{name:<34} {np.median(times):9.2f} ms (median of {frames}, {min(times):.2f} to {max(times):.2f})", flush=True)
    print(f"  {errors(rig, found, limits[0])}, {sweeps.mean():.0f} sweeps, the last moved a weight by {moved.max():.1e}", flush=True)
    return found


def errors(rig, found, alpha):
    shapes = rig.deltas.astype(float)
    misses = np.array([rig.neutral + evaluate(shapes, rig.pairs, w) for w in found]) - rig.frames[: len(found)]
    mesh = np.sqrt((misses**2).sum(2).mean())
    weight = np.sqrt(((found - rig.weights[: len(found)]) ** 2).mean())
    cost = ((misses**2).sum((1, 2)) + alpha * found.sum(1)).mean()
    return f"weights RMS {weight:.2e}, mesh RMS {mesh:.2e} cm, mean objective {cost:.8g}, {(found > 0.02).sum(1).mean():.1f} sliders active"


def main():
    parser = argparse.ArgumentParser(description="Coordinate descent for the inverse rig, in numpy")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--sweeps", type=int, default=7)
    parser.add_argument("--alpha", type=float, default=0.5, help="in cm²")
    parser.add_argument("--stated-frames", type=int, default=1, help="frames for the slow way")
    options = parser.parse_args()
    rig = read_rig(options.read) if options.read else make_rig()
    if options.write:
        write_rig(rig, options.write)
    sliders, vertices = rig.weights.shape[1], len(rig.neutral)
    moving = (rig.deltas != 0).any(2).mean(1)
    print(
        f"{vertices} vertices, {sliders} sliders, {len(rig.pairs)} pairs; a slider moves {moving[:sliders].mean():.0%} of the vertices"
        f" on average, a corrective {moving[sliders:].mean():.0%}; {options.sweeps} sweeps, alpha {options.alpha}"
    )
    double, single, count = Descent(rig, np.float64), Descent(rig, np.float32), len(rig.frames)
    fit(rig, "numpy_residual_f32/frame", single, Descent.residual, count, options.alpha, options.sweeps)
    fit(rig, "numpy_residual_f32_converged/frame", single, Descent.residual, count, options.alpha, 2000, 1e-4)
    found = fit(rig, "numpy_residual_f64/frame", double, Descent.residual, count, options.alpha, options.sweeps)
    if options.stated_frames:
        stated = fit(rig, "numpy_stated_f64/frame", double, Descent.stated, options.stated_frames, options.alpha, options.sweeps)
        print(f"  apart from residual_f64 by {np.abs(stated - found[: len(stated)]).max():.1e}")
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
