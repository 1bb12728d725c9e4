"""The default drag solver, rebuilt in numpy from the equations of its documentation.

The rig is a flat sheet, on which geodesic distances are Euclidean, with sliders whose names carry no rules.
"""

import numpy as np
import pytest

import pliant
from conftest import sheet

POSITIONS, FACES = sheet(14)
NAMES = [f"bump {k}" for k in range(9)]
PIN, HELD = 7 * 15 + 6, [3 * 15 + 11, 11 * 15 + 3]

# The settings, as documented in crates/pliant-rig/src/pose/bounded.
SPARSITY, DAMPING, NEAR, IDENTITY, WIDEST, INEFFICIENCY, LEAST_EFFICIENCY = 3e-3, 0.06, 0.5, 0.01, 1.0, 2.0, 1e-4
LONGEST, UNTOUCHED, SINGLE, SEVERAL, SHORT, NEAREST, RESIDUAL = 1.2, 0.7, (1, 2), (1.2, 1.7), (0.12, 0.18), (1.6, 2.4), (0.6, 0.9)
SEVERAL_RAISE, FAR_SPARSITY, DEBIAS, RAISES, NEAREST_PENALTIES, LEAST_LATERAL = 1.5, 4.0, (0.5, 0.9), 8, 1 / 1024, 0.25
BEYOND_FIRST, BEYOND_DIFFERENCE, OPPOSITE, SLACK = 3.0, 1.5, -0.7, 0.1


def bumps(seed=3):
    """Gaussian bumps of several widths that push in several directions; float32, as rigs store them."""
    rng = np.random.default_rng(seed)
    deltas = []
    for k in range(len(NAMES)):
        center = POSITIONS[PIN] + (rng.uniform(-0.3, 0.3, 3) if k % 3 else rng.uniform(-0.1, 0.1, 3)) * [1, 1, 0]
        height = np.exp(-0.5 * ((POSITIONS - center) ** 2).sum(1) / rng.uniform(0.1, 0.3) ** 2)
        direction = rng.normal(size=3)
        deltas.append(0.12 * np.where(height > 1e-3, height, 0.0)[:, None] * direction / np.linalg.norm(direction))
    return np.array(deltas, np.float32)


DELTAS = bumps()


def smoothstep(t):
    t = np.clip(t, 0, 1)
    return t * t * (3 - 2 * t)


def falling(value, ends):
    return 1 - smoothstep((value - ends[0]) / (ends[1] - ends[0]))


def box_minimum(hessian, linear, lower, upper, x):
    """Coordinate descent on ½ xᵀHx − fᵀx in a box, to the last digits."""
    x = np.clip(x, lower, upper)
    for _ in range(20_000):
        largest = 0.0
        for i in range(len(x)):
            new = np.clip(x[i] + (linear[i] - hessian[i] @ x) / hessian[i, i], lower[i], upper[i])
            largest, x[i] = max(largest, abs(new - x[i])), new
        if largest < 1e-15:
            break
    return x


class Rebuilt:
    """A drag from rest with pins in space."""

    def __init__(self, vertices):
        deltas = DELTAS.astype(float)
        self.vertices, self.rows = vertices, deltas[:, vertices].reshape(len(deltas), -1).T  # B̄
        motion = np.linalg.norm(deltas, axis=2)

        moved = POSITIONS[motion.max(0) > 0.01 * motion.max()]
        self.size = np.sqrt(12 * ((moved - moved.mean(0)) ** 2).sum(1).mean())
        corners = POSITIONS[FACES]
        areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        area = np.zeros(len(POSITIONS))
        np.add.at(area, FACES.ravel(), np.repeat(areas / 3, 3))
        area /= area.sum()

        gram = lambda mask: np.einsum("svc,tvc,v->st", deltas, deltas, area * mask)
        distance = np.linalg.norm(POSITIONS[:, None] - POSITIONS[None, vertices], axis=2).min(1)
        whole = gram(np.ones(len(area)))
        far = whole - gram(1 - smoothstep(distance / (0.1 * self.size)))

        # Extents, gain, efficiencies with centrality, and the matrix of the quadratic problem.
        a = np.sqrt(np.maximum(np.diag(far), 0)) + NEAR * np.sqrt(np.diag(whole))
        offset = np.full(len(a), WIDEST * a.max())
        self.g = a + offset
        gains = np.linalg.norm(self.rows, axis=0) / self.g
        self.beta = gains.max()
        lengths = np.linalg.norm(self.rows.reshape(len(vertices), 3, -1), axis=1)
        e = np.maximum(gains / self.beta, LEAST_EFFICIENCY) * lengths.max(0) / motion.max(1)
        self.e = np.maximum(e / e.max(), LEAST_EFFICIENCY)
        q = (far + NEAR**2 * whole + np.diag(offset**2)) / np.outer(self.g, self.g) + IDENTITY * np.eye(len(a))
        q += np.diag(INEFFICIENCY * (1 - self.e) ** 4)
        pins = np.sqrt(len(vertices))
        self.sparsity = SPARSITY / pins
        self.b = self.rows / (self.g * self.beta)
        self.motion = DAMPING / pins**3 * q

        correlation = whole / np.sqrt(np.outer(np.diag(whole), np.diag(whole)))
        self.opposite = [(i, j) for i in range(len(a)) for j in range(i) if correlation[i, j] < OPPOSITE]
        peaks = np.unique(motion.argmax(1))
        self.peaks, self.largest = deltas[:, peaks], motion[:, peaks].max(0)

    def moved(self, x):
        return self.rows @ (x / self.g)

    def minimum(self, goal, length, lower, upper, x, measure=None, factor=1.0):
        """The problem with residuals in a measure, and with penalties times a factor."""
        measured = self.b if measure is None else measure @ self.b
        linear = measured.T @ goal / self.beta - factor * self.sparsity * length / (self.beta * self.e)
        return box_minimum(measured.T @ self.b + factor * self.motion, linear, lower, upper, x)

    def shortened(self, goal):
        """The goal of the first problem; for each pin the weight of residuals across it; the distance and the length of the farthest pin."""
        lengths = np.linalg.norm(goal.reshape(-1, 3), axis=1)
        pulling = max(1.0, lengths.sum() ** 2 / (lengths**2).sum())
        near, distance, lateral = goal.copy(), 0.0, np.ones(len(lengths))
        for k, length in enumerate(lengths):
            if length > 0:
                at = slice(3 * k, 3 * k + 3)
                reach = np.sqrt(pulling) * max(0.0, (goal[at] / length @ self.rows[at]).max())
                distance = max(distance, length / reach)
                c = LONGEST * reach
                a, t = UNTOUCHED * c, (length - UNTOUCHED * c) / (c - UNTOUCHED * c)
                part = (length if t <= 0 else a + (c - a) * (t - t * t / 4) if t < 2 else c) / length
                near[at] *= part
                lateral[k] = max(part**2, LEAST_LATERAL)
        return near, lateral, distance, lengths.max()

    def measure(self, goal, lateral):
        """The identity along each goal, and its lateral weight across it."""
        measure = np.zeros((len(goal), len(goal)))
        for k, weight in enumerate(lateral):
            at = slice(3 * k, 3 * k + 3)
            length = np.linalg.norm(goal[at])
            direction = goal[at] / length if length > 0 else np.zeros(3)
            measure[at, at] = weight * np.eye(3) + (1 - weight) * np.outer(direction, direction)
        return measure

    def solve(self, goal):
        goal = np.asarray(goal, float).ravel()
        zero, upper = np.zeros(len(self.g)), self.g.copy()
        near, lateral, distance, longest = self.shortened(goal)

        within, raised_more, nearest = falling(distance, SINGLE), 1.0, 0.0
        short = falling(longest / self.size, SHORT)
        reachable = max(falling(distance, SEVERAL), short)
        if reachable > 0 and not np.array_equal(near, goal):
            length = np.linalg.norm(goal)
            residual = np.linalg.norm(goal - self.moved(self.minimum(goal, length, zero, upper, zero.copy())))
            followed = reachable * falling(residual / length, RESIDUAL)
            near = near + (goal - near) * followed
            lateral = lateral + (1 - lateral) * followed
            nearest = min(short, followed) * (1 - falling(distance, NEAREST))
            raised_more = 1 + (SEVERAL_RAISE - 1) * followed * (1 - within)
            within = max(within, followed)

        # The first problem, the bounds that follow from it, and raised goals.
        length, measure = np.linalg.norm(near), self.measure(goal, lateral)
        penalty = length * (1 + (FAR_SPARSITY - 1) * (1 - within) ** 2)
        x = self.minimum(near, penalty, zero, upper, zero.copy(), measure)
        residual = np.linalg.norm(near - self.moved(x)) / length
        part = falling(residual, DEBIAS) * within * raised_more
        high = np.minimum(upper, BEYOND_FIRST * x + part * length / (self.beta * self.e))
        for i, j in self.opposite:
            high[i], high[j] = min(high[i], BEYOND_DIFFERENCE * max(0, x[i] - x[j])), min(high[j], BEYOND_DIFFERENCE * max(0, x[j] - x[i]))
        if part > 0 or (x > high).any():
            raised = near.copy()
            for _ in range(RAISES if part > 0 else 1):
                raised = raised + part * (near - self.moved(x))
                x = self.minimum(raised, penalty, zero, high, x, measure)

            # A short goal is solved once more with small penalties, and the pose is between the two.
            if part * nearest > 0:
                nearer = self.minimum(near, penalty, zero, high, x, measure, NEAREST_PENALTIES)
                x = x + min(1, part) * nearest * (nearer - x)

        # Not beyond the goal, and no peak much farther than single sliders move it.
        y = self.moved(x)
        if y @ goal < y @ y:
            x = x * max(0.0, y @ goal / (y @ y))
        lengths = np.linalg.norm(np.einsum("s,spc->pc", x / self.g, self.peaks), axis=1)
        bounds = (1 + SLACK * within + nearest) * self.largest
        return x / self.g * min(1.0, (bounds / np.maximum(lengths, 1e-300)).min())


@pytest.mark.parametrize("vertices", [[PIN], [PIN, *HELD]])
def test_the_default_solver_is_the_one_of_its_documentation(vertices):
    rebuilt = Rebuilt(vertices)
    grab = pliant.Rig(POSITIONS, FACES, DELTAS, NAMES).poser().grab(vertices)
    used = 0
    rng = np.random.default_rng(8)
    for length in (0.01, 0.04, 0.09, 0.12, 0.2, 0.6):
        goal = np.zeros((len(vertices), 3))
        goal[0] = rng.normal(size=3)
        goal[0] *= length / np.linalg.norm(goal[0])
        expected = rebuilt.solve(goal)
        assert np.allclose(grab.solve(goal).weights, expected, atol=1e-7), length
        used += (expected > 0.02).sum()
    assert used > 10
