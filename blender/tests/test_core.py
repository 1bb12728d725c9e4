"""Arithmetic of the extension, without Blender."""

import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pliant"))
from core import bone_motion, cameras, glyphs, places, sampling  # noqa: E402
from core.affine import affine_of  # noqa: E402
from core.pins import PinGoal, parse_discs, parse_pins, parse_vertices, pins_text, view_plane_goal  # noqa: E402
from core.problem import Problem  # noqa: E402


@pytest.mark.parametrize("expression", ["a", "2*a - b/4 + 1", "-(a + 0.5)", "3", "(a - b) * (2 + 1)", "+a*pi", "a - a + b"])
def test_an_affine_expression_has_the_value_of_its_affine_function(expression):
    found = affine_of(expression, {"a", "b"})
    for a, b in np.random.default_rng(1).normal(size=(5, 2)):
        expected = eval(expression, {"pi": np.pi, "a": a, "b": b})
        assert found.at({"a": a, "b": b}) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("expression", ["a*b", "a**2", "min(a, 1)", "a/b", "sin(a)", "a if a > 0 else 0", "c", "a +", "1/0", "'a'", "", "a.x"])
def test_other_expressions_are_declined(expression):
    assert affine_of(expression, {"a", "b"}) is None


def test_pins_survive_as_text():
    goals = [PinGoal(88, (0.1, -1.0, 1e-7), held=False), PinGoal(12)]
    assert parse_pins(pins_text(goals)) == goals
    assert parse_pins("") == []


@pytest.mark.parametrize("text", ["x", "1:2", "1:1,2,nan", "-4", "1; 1", "1:a,b,c", "1:1,2,3,4"])
def test_text_that_is_no_pin_is_named(text):
    with pytest.raises(Problem, match="pin"):
        parse_pins(text)


def test_discs_and_vertices_are_read():
    assert parse_discs("2134:4; 80:2.5") == [(2134, 4.0), (80, 2.5)]
    assert parse_vertices("4, 8;12") == [4, 8, 12]
    for bad in ("1", "1:0", "1:-2", "1:inf"):
        with pytest.raises(Problem):
            parse_discs(bad)
    with pytest.raises(Problem):
        parse_vertices("a, b")


def test_a_view_plane_pin_meets_the_goal_on_screen_for_every_depth():
    rng = np.random.default_rng(2)
    matrix, normal, goal = rng.normal(size=(3, 3)), np.array([0.0, 0.0, 1.0]), rng.normal(size=3)
    displacement, free = view_plane_goal(goal, normal, matrix)
    assert np.linalg.norm(free) == pytest.approx(1.0)
    for depth in (-3.0, 0.0, 2.0):
        on_screen = matrix @ (displacement + depth * free) - goal
        assert np.allclose(on_screen[:2], 0.0, atol=1e-12)


def projected(view, window, point, width, height):
    clip = window @ view @ np.append(point, 1.0)
    return (clip[:2] / clip[3] * 0.5 + 0.5) * [width, height]


def camera_ray(camera, pixel):
    """Origin and direction as `pliant` defines them for a stroke camera."""
    forward = camera.target - camera.eye
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, camera.up)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    focal = 0.5 * camera.height / np.tan(np.radians(camera.fov_y_degrees) / 2)
    direction = forward + right * ((pixel[0] - camera.width / 2) / focal) + up * ((camera.height / 2 - pixel[1]) / focal)
    return camera.eye, direction / np.linalg.norm(direction)


@pytest.mark.parametrize("perspective, shift", [(True, (0, 0)), (True, (0.2, -0.1)), (False, (0, 0)), (False, (0.3, 0.1))])
def test_rays_of_a_view_camera_hit_what_the_view_shows(perspective, shift):
    rng = np.random.default_rng(3)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, rng.normal(size=3)
    view = np.linalg.inv(pose)
    width, height, f = 800, 500, 1.7
    aspect = height / width
    if perspective:
        window = np.array([[f * aspect, 0, shift[0], 0], [0, f, shift[1], 0], [0, 0, -1, -0.2], [0, 0, -1, 0]])
    else:
        window = np.array([[f * aspect, 0, 0, shift[0]], [0, f, 0, shift[1]], [0, 0, -0.01, 0], [0, 0, 0, 1]])
    point = pose[:3, :3] @ [0.11, -0.07, -4.0] + pose[:3, 3]
    camera = cameras.view_camera(view, window, width, height, perspective, point)
    pixel = camera.pixels([projected(view, window, point, width, height)])[0]
    origin, direction = camera_ray(camera, pixel)
    off = np.cross(point - origin, direction)
    assert np.linalg.norm(off) < 1e-9 * max(1.0, np.linalg.norm(point - origin))


def test_the_rest_space_undoes_the_deformation_around_a_vertex():
    rng = np.random.default_rng(4)
    matrix, rest, deformed = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    back = cameras.rest_space(matrix, rest, deformed)
    for x in rng.normal(size=(3, 3)):
        assert np.allclose(places.moved_points(back, matrix @ (x - rest) + deformed), x)


def test_the_nearest_handle_within_reach_is_taken():
    pixels = np.array([[10.0, 10.0], [14.0, 10.0], [np.nan, np.nan]])
    assert places.handle_at(pixels, (13.0, 10.0), 8.0) == 1
    assert places.handle_at(pixels, (40.0, 10.0), 8.0) is None
    assert places.handle_at(np.zeros((0, 2)), (0.0, 0.0), 8.0) is None


def test_frames_end_with_the_last_one():
    assert sampling.sampled_frames(1, 10, 4) == [1, 5, 9, 10]
    assert sampling.sampled_frames(3, 3) == [3]


def test_hat_keys_sum_to_one_in_every_frame():
    frames = [1.0, 4.0, 5.0, 9.0]
    curves = [dict(sampling.hat_keys(frames, k)) for k in range(4)]
    for at in np.linspace(1, 9, 33):
        total = sum(np.interp(at, *zip(*sorted(curve.items())), left=0 if 1.0 not in curve else None, right=None) for curve in curves)
        assert total == pytest.approx(1.0)


def test_reduced_keys_stay_within_the_tolerance():
    x = np.linspace(0, 6, 400)
    y = np.sin(x) + 0.01 * np.cos(40 * x)
    kept = sampling.reduced(y, 0.02)
    assert kept[0] and kept[-1] and kept.sum() < 100
    assert np.abs(np.interp(x, x[kept], y[kept]) - y).max() <= 0.02 + 1e-12
    assert sampling.reduced(y, 0.0).sum() == len(y)
    assert len(sampling.reduced(np.array([]), 0.1)) == 0


def test_capture_frames_follow_the_rate_of_the_scene():
    assert sampling.capture_frames(np.array([2.0, 2.5, 3.0]), 10, 24).tolist() == [10, 22, 34]


def rotation(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def test_basis_matrices_give_the_poses_back():
    rng = np.random.default_rng(5)
    parents = [None, 0, 1, 0]
    make = lambda: np.block([[rotation(rng.normal(size=3), rng.normal()), rng.normal(size=(3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])  # noqa: E731
    rests = np.array([make() for _ in parents])
    motions = np.array([[make() for _ in parents] for _ in range(3)])
    basis = bone_motion.basis_matrices(motions, rests, parents)
    for frame in range(3):
        poses = []
        for bone, parent in enumerate(parents):
            before = rests[bone] if parent is None else poses[parent] @ np.linalg.inv(rests[parent]) @ rests[bone]
            poses.append(before @ basis[frame, bone])
        assert np.allclose(poses, motions[frame] @ rests)


def test_quaternions_rotate_as_their_matrices_and_do_not_jump():
    angles = np.linspace(0, 4 * np.pi, 50)
    matrices = np.array([rotation([1, 2, -1], angle) for angle in angles])
    found = bone_motion.quaternions(matrices)
    assert np.linalg.norm(np.diff(found, axis=0), axis=1).max() < 0.2
    for (w, x, y, z), matrix in zip(found, matrices):
        v = np.array([x, y, z])
        for e in np.eye(3):
            turned = e + 2 * np.cross(v, np.cross(v, e) + w * e)
            assert np.allclose(turned, matrix @ e, atol=1e-9)


def test_glyphs_skip_what_is_not_on_screen():
    triangles = glyphs.discs(np.array([[5.0, 5.0], [np.nan, 0.0]]), 2.0)
    assert len(triangles) == 3 * glyphs.CORNERS and np.abs(np.linalg.norm(triangles - 5.0, axis=1)).max() < 2.0 + 1e-9
    assert glyphs.line_strip([[0, 0], [1, 0], [2, 1]]).tolist() == [[0, 0], [1, 0], [1, 0], [2, 1]]
