"""Transfer, training and bones against numpy."""

import pickle

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, random_rig


def smooth_rig():
    positions, faces = bumpy_sheet(10)
    x, y, _ = positions.T
    zero = np.zeros_like(x)
    shapes = [np.stack([zero, zero, 0.3 * x * x], 1), np.stack([0.1 * y, zero, 0.2 * np.sin(3 * y)], 1)]
    return pliant.Rig(positions, faces, np.array(shapes), ["bend", "wave"])


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_shapes_on_a_scaled_copy_are_scaled(scale):
    rig = smooth_rig()
    found, reports = pliant.transfer_shapes(rig, rig.neutral.posed(rig.positions * scale))
    assert found.names == rig.names and [r["name"] for r in reports] == rig.names
    assert np.abs(found.deltas - scale * rig.deltas).max() < 1e-4 * scale


def test_shapes_on_a_rotated_copy_are_rotated():
    rig = smooth_rig()
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    found, _ = pliant.transfer_shapes(rig, rig.neutral.posed(rig.positions @ turn.T))
    assert np.abs(found.deltas - rig.deltas @ turn.T.astype(np.float32)).max() < 1e-4


def test_a_clip_on_a_scaled_copy_is_scaled():
    rig = smooth_rig()
    clip = pliant.Clip(rig.neutral, rig.evaluate(np.array([[0.2, 0], [0.5, 0.4], [1, 1]])))
    moved = pliant.transfer_clip(clip, rig.neutral.posed(2 * rig.positions))
    # Up to a translation of the whole.
    found = moved.frames - moved.frames.mean(axis=1, keepdims=True)
    expected = 2 * (clip.frames - clip.frames.mean(axis=1, keepdims=True))
    assert np.abs(found - expected).max() < 1e-6


def test_a_correspondence_of_a_mesh_with_itself_carries_values():
    rig = smooth_rig()
    map = pliant.Correspondence(rig.neutral, rig.neutral)
    values = np.random.default_rng(0).normal(size=len(rig.triangles))
    assert map.method == "identity" and np.allclose(map.carry(values), values)
    with pytest.raises(pliant.InputError, match="values"):
        map.carry(values[:3])


@pytest.mark.parametrize("markers", [[[0]], [[0, 1, 2]], [[0, 10**6]], [[0, -1]], "x"])
def test_markers_that_do_not_fit_are_declined(markers):
    rig = smooth_rig()
    with pytest.raises(pliant.InputError):
        pliant.Correspondence(rig.neutral, rig.neutral, markers=markers)


def test_a_rig_without_targets_cannot_be_transferred():
    positions, faces, deltas, _ = random_rig()
    rig = pliant.Rig(positions, faces, deltas[:0], [])
    with pytest.raises(pliant.InputError):
        pliant.transfer_shapes(rig, rig.neutral)


@pytest.fixture(scope="module")
def trained():
    rig = smooth_rig()
    rows = np.array([[0.3, 0], [0.6, 0.1], [1, 0], [0, 0.5], [0, 1], [0.5, 0.5]])
    clip = pliant.Clip(rig.neutral, rig.evaluate(rows))
    control = [0, 10, 60, 110, 120, 65, 33]
    return rig, clip, pliant.Model.train(clip, control)


def test_a_model_returns_its_examples_exactly(trained):
    _, clip, model = trained
    for frame in clip.frames:
        found = model.drive(frame[model.control_vertices], exact=True)
        assert np.abs(found - frame).max() < 1e-8


def test_a_model_predicts_poses_between_its_examples(trained):
    rig, clip, model = trained
    pose = rig.evaluate([0.45, 0.05])
    error = np.linalg.norm(model.drive(pose[model.control_vertices]) - pose, axis=1)
    spread = np.linalg.norm(pose - rig.positions, axis=1).max()
    assert error.max() < 0.1 * spread


def test_a_pickled_model_has_the_same_bits(trained, tmp_path):
    rig, _, model = trained
    control = rig.evaluate([0.2, 0.2])[model.control_vertices]
    model.save(tmp_path / "m.safetensors")
    for copy in (pickle.loads(pickle.dumps(model)), pliant.Model.load(tmp_path / "m.safetensors")):
        assert np.array_equal(copy.drive(control), model.drive(control))
    with pytest.raises(pliant.InputError):
        pliant.Model.from_bytes(b"nothing")


def test_a_driven_clip_is_driven_frame_by_frame(trained):
    _, clip, model = trained
    goals = clip.frames[:, model.control_vertices]
    driven = model.drive_clip(goals)
    for goal, frame in zip(goals, driven.frames):
        assert np.array_equal(frame, model.drive(goal))


def test_confidence_grows_away_from_the_examples(trained):
    rig, clip, model = trained
    near = model.confidence(clip.frames[0][model.control_vertices])
    far = model.confidence(rig.evaluate([4.0, -3.0])[model.control_vertices])
    assert near is None or far.mean() > near.mean()


@pytest.mark.parametrize("control", [[0, 1], [0, 0, 1, 2], [0, 1, 10**6], [[0, 1, 2]], "x", 10**6])
def test_control_points_that_do_not_fit_are_declined(trained, control):
    _, clip, _ = trained
    with pytest.raises(pliant.InputError):
        pliant.Model.train(clip, control)


@pytest.mark.parametrize("goals", [np.zeros((3, 3)), np.full((7, 3), np.nan), np.zeros((7, 2)), "x"])
def test_goals_that_do_not_fit_are_declined(trained, goals):
    with pytest.raises(pliant.InputError):
        trained[2].drive(goals)


def test_validation_gives_one_error_for_each_frame(trained):
    _, clip, model = trained
    errors = pliant.Model.validate(clip, model.control_vertices)
    assert errors.shape == (len(clip),) and (errors >= 0).all() and np.isfinite(errors).all()


def test_bones_reproduce_a_rigid_clip_and_their_matrices_say_so():
    positions, faces = bumpy_sheet(8)
    left = positions[:, 0] < 0.5
    frames = []
    for angle in np.linspace(0, 0.8, 6):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        frames.append(np.where(left[:, None], positions, positions @ turn.T))
    clip = pliant.Clip(pliant.Mesh(positions, faces), frames)
    bones = pliant.Bones(clip, bones=2, influences=2)
    assert bones.rms < 1e-3 and np.allclose(bones.weights.sum(axis=1), 1)
    homogeneous = np.concatenate([positions, np.ones((len(positions), 1))], axis=1)
    expected = np.einsum("vb,fbij,vj->fvi", bones.weights, bones.transforms, homogeneous)[..., :3]
    assert np.allclose(bones.reconstruction(), expected, atol=1e-9)
    assert np.abs(expected - clip.frames).max() < 0.02
    assert len(bones.skeleton()["names"]) >= 2


@pytest.mark.parametrize("options", [{"bones": 0}, {"bones": 10**6}, {"influences": 0}, {"kind": "soft"}, {"smoothness": -1.0}])
def test_bone_options_that_do_not_fit_are_declined(trained, options):
    with pytest.raises(pliant.InputError):
        pliant.Bones(trained[1], **options)


def lifted(mesh, frames=4, height=1.0):
    """A clip in which the right half of a sheet rises."""
    x = mesh.positions[:, 0]
    amount = np.clip((x - x.mean()) / np.ptp(x), 0, None) ** 2 * height
    return pliant.Clip(mesh, mesh.positions + np.linspace(0, 1, frames)[:, None, None] * amount[:, None] * [0, 0, 1.0])


def test_a_recipe_of_one_layer_is_the_plain_transfer(bumpy):
    clip = lifted(bumpy)
    target = bumpy.posed(bumpy.positions * 2)
    recipe = {"source": [{"name": "rise"}], "layer": [{"source": "rise"}]}
    found, warnings = pliant.transfer(recipe, target, {"rise": clip})
    assert np.allclose(found.frames, 2 * clip.frames, atol=1e-6) and isinstance(warnings, list)
    plain = pliant.transfer_clip(clip, target)
    assert np.allclose(found.frames, plain.frames, atol=1e-9)


def test_a_layer_on_a_region_moves_that_region(bumpy):
    still = pliant.Clip(bumpy, np.repeat(bumpy.positions[None], 4, axis=0))
    x = bumpy.positions[bumpy.triangles].mean(axis=1)[:, 0]
    faces = np.flatnonzero(x > 0.6).tolist()
    recipe = {
        "root": "fix",
        "source": [{"name": "still"}, {"name": "rise"}],
        "layer": [{"source": "still"}, {"source": "rise", "region": faces, "refine": False}],
    }
    found, _ = pliant.transfer(recipe, bumpy, {"still": still, "rise": lifted(bumpy)})
    gradients = pliant.DeformationGradients(bumpy).at(found.frames[-1])
    turned = np.linalg.norm(gradients - np.eye(3), axis=(1, 2))
    assert turned[x > 0.8].min() > 0.05 and turned[x < 0.4].max() < 0.02


@pytest.mark.parametrize(
    "recipe, sources",
    [
        ({}, {}),
        ({"source": [{"name": "a"}], "layer": []}, {}),
        ({"source": [{"name": "a"}], "layer": [{"source": "b"}]}, {"a"}),
        ({"source": [{"name": "a", "unknown": 1}], "layer": [{"source": "a"}]}, {"a"}),
        ({"source": [{"name": "a"}], "layer": [{"source": "a", "region": [10**6]}]}, {"a"}),
        ({"source": ["a"], "layer": [{"source": "a"}]}, {"a"}),
    ],
)
def test_a_wrong_recipe_is_declined(bumpy, recipe, sources):
    with pytest.raises(pliant.InputError) as error:
        pliant.transfer(recipe, bumpy, {name: lifted(bumpy) for name in sources})
    assert "\n" not in str(error.value)


def test_flexibility_vanishes_on_rigid_parts(bumpy):
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    rigid = pliant.Clip(bumpy, [bumpy.positions @ turn.T, bumpy.positions + 1])
    assert np.allclose(pliant.flexibility(rigid), 0, atol=1e-12)
    bent = pliant.flexibility(lifted(bumpy))
    x = bumpy.positions[bumpy.triangles].mean(axis=1)[:, 0]
    assert bent.shape == (len(bumpy.triangles),) and bent[x > 0.7].max() > 10 * bent[x < 0.3].max()


def test_markers_are_suggested_checked_and_mirrored():
    hound, tapir = pliant.load("specimen:hound").mesh(), pliant.load("specimen:tapir").mesh()
    pairs = pliant.suggest_markers(hound, tapir, count=3)
    assert pairs.shape == (3, 2) and pairs[:, 0].max() < hound.vertex_count and pairs[:, 1].max() < tapir.vertex_count

    check = pliant.check_markers(hound, tapir, [[0, 0], [0, 1], [10**6, 0]])
    assert len(check["pairs"]) == 3 and check["pairs"][2]["wrong"] and check["pairs"][1]["flaws"]
    mirrored, warnings = pliant.mirror_markers(hound, tapir, pairs)
    assert len(mirrored) >= 3 and {tuple(p) for p in pairs.tolist()} <= {tuple(p) for p in mirrored.tolist()}


def test_correctives_lower_the_error_of_bones(bumpy):
    t = np.linspace(0, 1, 8)[:, None]
    x = bumpy.positions
    clip = pliant.Clip(bumpy, x + (t * np.sin(6 * x[:, 0]) ** 2)[:, :, None] * [0, 0, 0.3])
    bones = pliant.Bones(clip, bones=3)
    deltas, weights, rms = bones.correctives(clip, 2)
    assert deltas.shape == (2, bumpy.vertex_count, 3) and weights.shape == (8, 2) and rms < 0.7 * bones.rms
    with pytest.raises(pliant.InputError):
        bones.correctives(lifted(bumpy), 2)


def test_bones_are_saved_as_a_skinned_mesh(bumpy, tmp_path):
    clip = lifted(bumpy, 6)
    bones = pliant.Bones(clip, bones=4)
    pliant.save(tmp_path / "bones.glb", bones.to_asset(clip))
    back = pliant.load(tmp_path / "bones.glb").clip()
    assert np.abs(back.frames - bones.reconstruction()).max() < 1e-4


def test_a_detailed_model_keeps_the_fine_detail(bumpy):
    rng = np.random.default_rng(7)
    clip = lifted(bumpy, 6)
    detailed = pliant.Clip(bumpy.posed(bumpy.positions + rng.normal(size=(81, 3)) * 0.003), clip.frames + rng.normal(size=(81, 3)) * 0.003)
    control = [0, 8, 40, 72, 80]
    model = pliant.Model.train_detailed(detailed, control, smoothing=10, method="arap")
    driven = model.drive(detailed.frames[3][control])
    assert driven.shape == (81, 3) and np.abs(driven - detailed.frames[3]).max() < 0.1
    assert np.array_equal(pliant.Model.from_bytes(model.to_bytes()).drive(detailed.frames[3][control]), driven)


def test_a_scan_of_a_moved_sheet_is_registered():
    from conftest import bumpy_sheet

    reference = pliant.Mesh(*bumpy_sheet(24))
    fine, faces = bumpy_sheet(30)
    fine[:, 2] += 0.1 * fine[:, 0] ** 2
    scan = pliant.Mesh(fine + [3, 1, 0], faces)
    index = pliant.SurfaceIndex(scan)
    moved = reference.positions + np.c_[np.full(625, 3.0), np.ones(625), 0.1 * reference.positions[:, 0] ** 2]
    spots = [0, 24, 312, 600, 624, 156, 468]
    nearest = [int(np.argmin(np.linalg.norm(scan.positions - moved[v], axis=1))) for v in spots]
    low, high, reports = pliant.register_scans(reference, [(scan, list(zip(spots, nearest)))], vertices=200)
    assert len(low) == len(high) == 1 and high.reference.vertex_count > low.reference.vertex_count
    assert reports[1]["mean_after"] <= reports[1]["mean_before"] and reports[1]["mean_after"] < 0.01
    assert index.closest_points(moved)["distances"].max() < 0.01
