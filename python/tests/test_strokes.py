"""Strokes, priors and residual layers."""

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, random_rig


@pytest.fixture(scope="module")
def camera(head):
    middle = head.positions.mean(axis=0)
    return pliant.SketchCamera(middle + [0, 0, 60], middle, size=(800, 600))


def bow(x, y, height, width=36):
    """A stroke of seven pixels; positive heights bow upwards on the screen."""
    return [[x + width * k / 3, y + height * k * k / 9] for k in range(-3, 4)]


def test_a_camera_projects_as_a_pinhole():
    eye, target, up = np.array([3.0, 2, 5]), np.array([0.5, 0, 0]), np.array([0.0, 1, 0])
    camera = pliant.SketchCamera(eye, target, up=up, fov_y_degrees=40, size=(640, 480))
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, up) / np.linalg.norm(np.cross(forward, up))
    above = np.cross(right, forward)
    focal = 240 / np.tan(np.radians(20))
    for point in np.random.default_rng(0).normal(size=(20, 3)):
        d = point - eye
        expected = [320 + focal * (d @ right) / (d @ forward), 240 - focal * (d @ above) / (d @ forward)]
        assert np.allclose(camera.project(point), expected)
        origin, direction = map(np.array, camera.ray(tuple(expected)))
        assert np.allclose(np.cross(direction, d / np.linalg.norm(d)), 0, atol=1e-9) and np.isclose(np.linalg.norm(direction), 1)


def test_a_stroke_on_the_mouth_moves_sliders_of_the_lips(head, camera):
    x, y = camera.project(head.positions[4480])
    sketch = pliant.SketchedPose(head)
    drawn = sketch.draw(bow(x, y, -8), camera)
    pose, strokes = sketch.finish()
    assert drawn["feature"] == "lip" and drawn["ends"] in ("against", "with") and np.isfinite(drawn["radius"])
    assert np.array_equal(pose.weights, sketch.weights) and strokes.tolist() == [0] * len(strokes)
    assert np.allclose(sketch.positions, head.evaluate(sketch.weights))


def test_symmetric_strokes_give_symmetric_weights(head, camera):
    x, y = camera.project(head.positions[4480])
    sketch = pliant.SketchedPose(head, symmetric=True)
    sketch.draw(bow(x, y, -8), camera)
    assert np.allclose(sketch.weights, head.mirror_weights(sketch.weights), atol=1e-6) and sketch.weights.max() > 0.05


def test_a_second_stroke_keeps_the_first(head, camera):
    x, y = camera.project(head.positions[4480])
    held = pliant.SketchedPose(head)
    held.draw(bow(x, y, -8), camera)
    first = held.weights
    brow = camera.project(head.positions[pliant.landmarks(head)["brow middle left"][0]])
    held.draw(bow(*brow, -6), camera)
    _, strokes = held.finish()
    assert set(strokes.tolist()) == {0, 1} and not np.allclose(held.weights, first)


def test_a_camera_may_be_a_dictionary(head):
    middle = head.positions.mean(axis=0)
    plain = {"eye": (middle + [0, 0, 60]).tolist(), "target": middle.tolist(), "up": [0, 1, 0], "fov_y_degrees": 30, "width": 800, "height": 600}
    camera = pliant.SketchCamera(middle + [0, 0, 60], middle, size=(800, 600))
    x, y = camera.project(head.positions[4480])
    weights = []
    for one in (plain, camera):
        sketch = pliant.SketchedPose(head)
        sketch.draw(bow(x, y, -8), one)
        weights.append(sketch.weights)
    assert np.array_equal(*weights)


def test_a_stroke_beside_the_face_is_declined(head, camera):
    with pytest.raises(pliant.InputError):
        pliant.SketchedPose(head).draw([[1, 1], [5, 5], [9, 1]], camera)
    with pytest.raises(pliant.InputError):
        pliant.SketchedPose(head).finish()


def test_the_energy_of_a_prior_is_a_quadratic_form():
    rng = np.random.default_rng(4)
    poses = rng.uniform(size=(50, 3)) @ [[1, 0.9, 0], [0, 1, 0], [0, 0, 1]]
    prior = pliant.PosePrior(poses, ["a", "b", "c"])
    assert np.allclose(prior.mean, poses.mean(axis=0))
    e = lambda w: prior.energy(w) - prior.energy([0, 0, 0])
    u, v = rng.normal(size=(2, 3))
    assert np.isclose(e(2 * u), 4 * e(u)) and np.isclose(e(u + v) + e(u - v), 2 * e(u) + 2 * e(v))


def test_a_prior_brings_sliders_that_no_pin_needs():
    positions, faces = bumpy_sheet(6)
    deltas = np.zeros((2, 49, 3), np.float32)
    deltas[0, :7, 2] = 1.0
    deltas[1, -7:, 2] = 1.0
    rig = pliant.Rig(positions, faces, deltas, ["front", "back"])
    prior = pliant.PosePrior(np.outer(np.linspace(0.1, 1, 20), [1.0, 0.8]), ["front", "back"])
    plain = rig.poser().grab([0]).solve([[0, 0, 0.5]]).weights
    probable = rig.poser().grab([0], prior=prior).solve([[0, 0, 0.5]]).weights
    assert abs(plain[1]) < 1e-6 and 0.3 < probable[1] < 0.5 and np.isclose(probable[0], 0.5, atol=0.05)
    with pytest.raises(pliant.InputError, match="box"):
        rig.poser().grab([0], solver="pinv", prior=prior)
    with pytest.raises(pliant.InputError):
        rig.poser().grab([0], prior=pliant.PosePrior(np.eye(2), ["x", "y"]))


def test_a_residual_moves_its_pins_exactly_and_nothing_beyond_its_radius(bumpy):
    layer = pliant.ResidualLayer(bumpy, [40], radius=0.4)
    residual = layer.solve([[0.02, 0.0, 0.08]])
    moved = residual.apply(bumpy.positions) - bumpy.positions
    inside = pliant.ExactGeodesics(bumpy).distances(40) < 0.4
    assert np.allclose(moved[40], [0.02, 0, 0.08], atol=1e-9) and residual.converged
    assert np.all(moved[~inside] == 0) and set(np.flatnonzero(np.any(moved != 0, axis=1))) <= set(layer.vertices.tolist())
    assert np.allclose(residual.apply(bumpy.positions, 0.5) - bumpy.positions, moved / 2)


def test_a_residual_turns_with_the_surface(bumpy):
    residual = pliant.ResidualLayer(bumpy, [40], radius=0.4).solve([[0.0, 0.0, 0.08]])
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]]) @ np.array(
        [[1, 0, 0], [0, 0, -1.0], [0, 1, 0]]
    )
    turned = bumpy.positions @ turn.T + [3, 1, 2]
    expected = residual.apply(bumpy.positions) @ turn.T + [3, 1, 2]
    assert np.allclose(residual.apply(turned), expected, atol=1e-9)


def test_a_residual_becomes_a_target(bumpy):
    _, faces, deltas, names = random_rig(n=8)
    rig = pliant.Rig(bumpy.positions, faces, deltas, names)
    residual = pliant.ResidualLayer(bumpy, [40], radius=0.4).solve([[0.0, 0.0, 0.08]])
    with_it = residual.promote(rig, "bump")
    assert with_it.names == [*names, "bump"]
    assert np.allclose(with_it.evaluate({"bump": 1.0}), residual.apply(bumpy.positions), atol=1e-7)
