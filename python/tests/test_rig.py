"""Rigs and poses against numpy's own linear algebra."""

import numpy as np
import pytest

import pliant
from conftest import random_rig

POSITIONS, FACES, DELTAS, NAMES = random_rig()
RIG = pliant.Rig(POSITIONS, FACES, DELTAS, NAMES, limits=[[-2, 2]] * 5)


def numpy_pose(weights):
    return POSITIONS + np.einsum("s,svc->vc", weights, DELTAS.astype(float))


def test_a_rig_returns_its_arrays():
    assert RIG.names == NAMES and len(RIG) == 5
    assert np.array_equal(RIG.positions, POSITIONS)
    assert np.array_equal(RIG.deltas, DELTAS)
    assert np.array_equal(RIG.limits, [[-2, 2]] * 5)
    assert np.array_equal(RIG.triangles, FACES)


@pytest.mark.parametrize("seed", range(5))
def test_evaluation_is_the_sum_of_the_targets(seed):
    weights = np.random.default_rng(seed).normal(size=5)
    assert np.allclose(RIG.evaluate(weights), numpy_pose(weights), atol=1e-12)
    by_name = dict(zip(NAMES, weights))
    assert np.array_equal(RIG.evaluate(by_name), RIG.evaluate(weights))


def test_rows_of_weights_give_poses():
    rows = np.random.default_rng(0).normal(size=(7, 5))
    poses = RIG.evaluate(rows)
    assert poses.shape == (7, len(POSITIONS), 3)
    for row, pose in zip(rows, poses):
        assert np.array_equal(pose, RIG.evaluate(row))


@pytest.mark.parametrize("weights", [[1.0], np.zeros(6), np.zeros((2, 4)), [[1, 2], [3]], "x", ["a"] * 5])
def test_weights_that_do_not_fit_are_declined(weights):
    with pytest.raises(pliant.InputError, match="weights"):
        RIG.evaluate(weights)


def test_unknown_names_are_declined_with_a_suggestion(head):
    with pytest.raises(pliant.InputError, match="jawOpen"):
        head.evaluate({"jawOpn": 1.0})


def test_names_must_be_as_many_as_deltas():
    with pytest.raises(pliant.InputError, match="names has 4"):
        pliant.Rig(POSITIONS, FACES, DELTAS, NAMES[:4])


def test_equal_names_are_declined():
    with pytest.raises(pliant.InputError):
        pliant.Rig(POSITIONS, FACES, DELTAS, ["a"] * 5)


@pytest.mark.parametrize("limits", [[[0, 1]], [[0, 1, 2]] * 5, [[1, 0]] * 5, np.zeros(5)])
def test_limits_that_do_not_fit_are_declined(limits):
    with pytest.raises(pliant.InputError):
        pliant.Rig(POSITIONS, FACES, DELTAS, NAMES, limits=limits)


def pin_matrix(vertices):
    """Rows: coordinates of the pins; columns: sliders."""
    return DELTAS[:, vertices].astype(float).reshape(5, -1).T


@pytest.mark.parametrize("vertices", [[3], [3, 17], [3, 17, 40], [0, 10, 20, 30]])
def test_the_pseudo_inverse_is_that_of_numpy(vertices):
    rng = np.random.default_rng(len(vertices))
    moves = rng.normal(size=(len(vertices), 3)) * 0.02
    pose = RIG.poser().grab(vertices, solver="pinv", range="free").solve(moves)
    expected = np.linalg.pinv(pin_matrix(vertices)) @ moves.ravel()
    assert np.allclose(pose.weights, expected, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0])
def test_tikhonov_is_ridge_regression(alpha):
    vertices, moves = [3, 17], np.array([[0.01, 0.02, 0.0], [0.0, -0.01, 0.01]])
    grab = RIG.poser().grab(vertices, solver="tikhonov", range="free", alpha=alpha, units="scene")
    a = pin_matrix(vertices)
    expected = np.linalg.solve(a.T @ a + alpha * np.eye(5), a.T @ moves.ravel())
    assert np.allclose(grab.solve(moves).weights, expected, atol=1e-8)


def test_the_box_solver_stays_inside_the_limits_and_reports_where_the_pins_are(head):
    grab = head.poser().grab([pliant.Pin(4480), 855])
    moves = np.array([[2.0, 5.0, 1.0], [0.0, 0.0, 0.0]])
    pose = grab.solve(moves)
    low, high = head.limits.T
    assert (pose.weights >= low).all() and (pose.weights <= high).all() and pose.at_limit
    positions = head.evaluate(pose.weights)
    assert np.allclose(pose.reached, positions[[4480, 855]], atol=1e-9)
    assert np.allclose(pose.goals, head.positions[[4480, 855]] + moves, atol=1e-12)
    assert np.allclose(pose.errors, np.linalg.norm(pose.reached - pose.goals, axis=1), atol=1e-9)
    assert np.allclose(pose.positions(), positions)
    assert pose.kkt < 1e-6


def test_reachable_goals_are_reached():
    weights = np.array([0.3, -0.2, 0.1, 0.0, 0.4])
    vertices = [1, 9, 20, 33]
    moves = (numpy_pose(weights) - POSITIONS)[vertices]
    pose = RIG.poser().grab(vertices, damping=0.0, sparsity=0.0).solve(moves)
    assert pose.errors.max() < 1e-6
    assert np.allclose(pose.weights, weights, atol=1e-4)


def test_locked_sliders_keep_their_weights(head):
    free = head.poser().grab([4480]).solve([[0.7, 1.1, 0.0]])
    moved = max(free.active, key=lambda name: abs(free.active[name]))
    pose = head.with_locked([moved]).poser().grab([4480]).solve([[0.7, 1.1, 0.0]])
    assert pose.weights[head.names.index(moved)] == 0.0


def test_a_step_changes_no_weight_by_more_than_its_limit(head):
    grab = head.poser().grab([4480])
    weights = grab.solve([[0.0, 0.0, 0.0]]).weights
    for _ in range(5):
        new = grab.step([[0.7, 1.1, 0.0]], 0.05).weights
        assert np.abs(new - weights).max() <= 0.05 + 1e-12
        weights = new
    grab.reset()
    assert np.abs(grab.step([[0.0, 0.0, 0.0]], 1.0).weights).max() < 1e-9


def test_an_explanation_adds_up(head):
    grab = head.poser().grab([4480, 855])
    moves = np.array([[0.7, 1.1, 0.0], [0.0, 0.0, 0.0]])
    pose = grab.solve(moves)
    told = grab.explain(pose)
    total = sum(entry["displacements"] for entry in told["moves"])
    assert np.allclose(total, pose.reached - head.positions[[4480, 855]], atol=1e-9)
    assert told["unreachable"].shape == (2, 3)


def test_a_pin_across_a_direction_is_free_along_it(head):
    pin = pliant.Pin(4480, [0.5, 0.5, 9.0], across=[0, 0, 1])
    pose = head.poser().grab([pin]).solve()
    assert np.linalg.norm((pose.reached - pose.goals)[0, :2]) < 0.3


@pytest.mark.parametrize("pins", [[], [10**9], [-1], ["a"], [1.5], [None], 7])
def test_pins_that_do_not_exist_are_declined(pins):
    with pytest.raises(pliant.InputError):
        RIG.poser().grab(pins)


@pytest.mark.parametrize("moves", [np.zeros((3, 3)), np.zeros((2, 2)), [[np.nan] * 3] * 2, np.zeros(3), [[np.inf, 0, 0]] * 2])
def test_displacements_that_do_not_fit_are_declined(moves):
    with pytest.raises(pliant.InputError, match="displacements"):
        RIG.poser().grab([1, 2]).solve(moves)


@pytest.mark.parametrize("options", [{"solver": "best"}, {"range": "x"}, {"units": "x"}, {"protected": [10**6]}])
def test_unknown_options_are_declined(options):
    with pytest.raises(pliant.InputError):
        RIG.poser().grab([1], **options)


def test_mirrored_weights_exchange_sides(head):
    one = np.zeros(len(head))
    one[head.names.index("mouthSmileLeft")] = 0.7
    mirrored = head.mirror_weights(one)
    assert mirrored[head.names.index("mouthSmileRight")] == 0.7 and mirrored.sum() == 0.7


def test_split_targets_add_up_to_the_whole(head):
    split = head.split()
    assert len(split) > len(head)
    for name in set(head.names) - set(split.names):
        halves = [k for k, other in enumerate(split.names) if other.startswith(name) or name in other]
        whole = head.deltas[head.names.index(name)]
        assert np.abs(split.deltas[halves].sum(axis=0) - whole).max() < 1e-4 * np.abs(whole).max()


def test_renaming_changes_names_alone():
    renamed = RIG.rename({"t0": "smile"})
    assert renamed.names == ["smile", *NAMES[1:]] and np.array_equal(renamed.deltas, DELTAS)
    with pytest.raises(pliant.InputError):
        RIG.rename({"nothing": "x"})
    with pytest.raises(pliant.InputError, match="vocabulary"):
        RIG.rename("klingon")


@pytest.mark.parametrize("seed", range(3))
def test_the_inverse_rig_finds_the_weights_of_a_clip(seed):
    rows = np.random.default_rng(seed).uniform(0.0, 1.0, size=(6, 5))
    clip = pliant.Clip(RIG.neutral, RIG.evaluate(rows))
    inverse = pliant.Inverter(RIG, ridge=0.0, sparsity=0.0, roughness=0.0).invert(clip)
    assert np.allclose(inverse.weights, rows, atol=1e-5) and inverse.converged
