"""Blend and touch against conditions that numpy checks."""

import numpy as np
import pytest

import pliant
from conftest import octahedron_sphere, sheet


@pytest.fixture(scope="module")
def ball():
    return pliant.Mesh(*octahedron_sphere(3))


@pytest.fixture(scope="module")
def turned(ball):
    x, y, z = ball.positions.T
    return ball.posed(np.stack([-y, x, z], axis=1))


@pytest.mark.parametrize("end", [0, 1])
def test_the_ends_of_a_blend_are_the_shapes(ball, turned, end):
    shapes = [ball, turned]
    frame = pliant.Blend(shapes).at(np.eye(2)[end])
    assert np.array_equal(frame.positions, shapes[end].positions)


def test_a_rotated_ball_keeps_its_volume_half_way(ball, turned):
    frame = pliant.Blend([ball, turned]).at([0.5, 0.5])
    assert frame.converged and np.isclose(frame.volume, ball.signed_volume(), rtol=1e-3)
    assert np.allclose(np.linalg.norm(np.asarray(frame) - np.asarray(frame).mean(axis=0), axis=1), 1.0, atol=2e-2)
    linear = ball.posed((ball.positions + turned.positions) / 2).signed_volume()
    assert linear < 0.6 * frame.volume


def test_no_vertex_enters_an_obstacle(ball):
    egg = ball.posed(ball.positions * [1.6, 1.0, 1.0])
    blend = pliant.Blend([ball, egg], obstacles=[pliant.Obstacle.sphere([1.9, 0, 0], 0.5)])
    frame = blend.at([0.0, 1.0])
    depth = 0.5 - np.linalg.norm(frame.positions - [1.9, 0, 0], axis=1)
    assert frame.contacts > 0 and depth.max() < 0.01


def test_a_blended_clip_has_a_frame_for_each_step(ball, turned):
    blend = pliant.Blend([ball, turned])
    clip = blend.clip(steps=4, frames_per_second=30)
    assert len(clip) == 5 and clip.frames.shape == (5, ball.vertex_count, 3) and clip.frames_per_second == 30
    assert np.array_equal(clip.frames[0], ball.positions)
    rows = np.array([[1, 0], [0.5, 0.5]])
    assert np.array_equal(blend.clip(rows).frames[1], clip.frames[2])


def test_fixed_and_pulled_vertices_are_where_they_must_be(ball, turned):
    pulled = ball.positions[7] * 1.3
    frame = pliant.Blend([ball, turned], pulls={7: pulled}).at([0.5, 0.5])
    assert np.allclose(frame.positions[7], pulled, atol=1e-9)


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.4], [np.nan, 1.0], [0.2, 0.2, 0.6], "x"])
def test_weights_that_do_not_fit_are_declined(ball, turned, weights):
    with pytest.raises(pliant.InputError):
        pliant.Blend([ball, turned]).at(weights)


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "best"}, {"energy": "springs,magic"}, {"fixed": [10**6]}, {"pulls": {0: [0, 0]}}, {"pulls": [1]},
        {"stiffness": [1.0]}, {"friction": -1.0}, {"cage": "big"}, {"contact": "x"}, {"interior": -1},
    ],
)
def test_unknown_blend_options_are_declined(ball, turned, options):
    with pytest.raises(pliant.InputError):
        pliant.Blend([ball, turned], **options)


def test_shapes_must_be_poses_of_one_mesh(ball):
    with pytest.raises(pliant.InputError, match="vertices"):
        pliant.Blend([ball, pliant.Mesh(*sheet(3))])
    with pytest.raises(pliant.InputError, match="empty"):
        pliant.Blend([])


@pytest.mark.parametrize(
    "solid",
    [
        lambda: pliant.Obstacle.sphere([0, 0, 0], -1.0),
        lambda: pliant.Obstacle.sphere([0, 0, np.nan], 1.0),
        lambda: pliant.Obstacle.sphere([0, 0], 1.0),
        lambda: pliant.Obstacle.capsule([0, 0, 0], [1, 0, 0], 0.0),
        lambda: pliant.Obstacle.cuboid([0, 0, 0], [1, 0, 1]),
        lambda: pliant.Obstacle.mesh(pliant.Mesh(*sheet(3))),
        lambda: pliant.Obstacle.sphere([0, 0, 0], 1.0).moving([np.ones((4, 4))]),
        lambda: pliant.Obstacle.sphere([0, 0, 0], 1.0).moving([np.eye(3)]),
    ],
)
def test_solids_that_are_none_are_declined(solid):
    with pytest.raises(pliant.InputError):
        solid()


def test_contacts_are_the_vertices_inside():
    points = np.random.default_rng(0).normal(size=(200, 3))
    vertices, surface, depths = pliant.Obstacle.sphere([0, 0, 0], 1.0).contacts(points)
    radii = np.linalg.norm(points, axis=1)
    assert vertices.tolist() == np.flatnonzero(radii < 1).tolist()
    assert np.allclose(depths, 1 - radii[vertices]) and np.allclose(np.linalg.norm(surface, axis=1), 1)


def test_only_soft_vertices_move_and_no_collider_is_entered():
    positions, faces = sheet(24)
    mesh = pliant.Mesh(positions, faces)
    center = len(positions) // 2
    touch = pliant.Touch(mesh, [(center, 0.3)], colliders=[pliant.Obstacle.sphere([0.5, 0.5, 0.25], 0.15)])
    soft = touch.vertices
    inside = np.linalg.norm(positions - positions[center], axis=1) < 0.3
    assert set(soft) <= set(np.flatnonzero(inside)) and len(soft) > 0.8 * inside.sum()
    motion = np.eye(4)
    for _ in range(15):
        motion[2, 3] -= 0.01
        report = touch.step(1 / 60, colliders=[motion])
    moved = np.flatnonzero((touch.positions != positions).any(axis=1))
    assert len(moved) > 0 and report["max_displacement"] > 0 and set(moved) <= set(soft)
    depth = 0.15 - np.linalg.norm(touch.positions - [0.5, 0.5, 0.25 + motion[2, 3]], axis=1)
    assert depth.max() < 0.005
    assert np.isclose(report["max_displacement"], np.linalg.norm(touch.positions - positions, axis=1).max())


def test_a_pulled_vertex_follows_and_a_clip_returns():
    positions, faces = sheet(16)
    center = len(positions) // 2
    clip = pliant.touch_clip(pliant.Mesh(positions, faces), [(center, 0.3)], pulls={center: [0, 0, 0.1]}, frames=21)
    assert np.allclose(clip.frames[0], positions) and np.allclose(clip.frames[10][center], positions[center] + [0, 0, 0.1])
    assert np.allclose(clip.frames[-1][center], positions[center], atol=1e-3)  # Free, and nearly at rest.


@pytest.mark.parametrize(
    "arguments, options",
    [
        (([(10**6, 0.1)],), {}), (([(0, -0.1)],), {}), (([(0, np.nan)],), {}), ((["x"],), {}), (([],), {}),
        (([(0, 0.3)],), {"method": "x"}), (([(0, 0.3)],), {"substeps": 0}), (([(0, 0.3)],), {"gravity": [0, 0, np.nan]}),
        (([(0, 0.3)],), {"pins": [10**6]}), (([(0, 0.3)],), {"material": {"frequency_hz": -1}}),
    ],
)
def test_touches_that_cannot_be_simulated_are_declined(arguments, options):
    with pytest.raises(pliant.InputError):
        pliant.Touch(pliant.Mesh(*sheet(8)), *arguments, **options)


@pytest.mark.parametrize("frame", [{"secs": -1.0}, {"secs": np.nan}, {"secs": 0.1, "pulls": {0: [np.nan, 0, 0]}}, {"secs": 0.1, "shape": np.zeros((3, 3))}, {"secs": 0.1, "colliders": [np.eye(4)]}])
def test_frames_that_do_not_fit_change_nothing(frame):
    touch = pliant.Touch(pliant.Mesh(*sheet(8)), [(40, 0.3)])
    before = touch.positions
    with pytest.raises(pliant.InputError):
        touch.step(**frame)
    assert np.array_equal(touch.positions, before)
