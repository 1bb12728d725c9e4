"""Models, control points that drive live, and bones; against the Python package."""

import bpy
import numpy as np
import pytest
from stage import activate, keyed_object, mesh_object, message, shown, shown_in_world

import pliant


@pytest.fixture(scope="module")
def hand_clip(installed):
    clip = pliant.load("specimen:hand").clip()
    single = clip.frames.astype(np.float32).astype(float)
    mesh = clip.reference.posed(clip.reference.positions.astype(np.float32).astype(float))
    return pliant.Clip(mesh, single, frame_names=clip.frame_names)


@pytest.fixture
def hand(scene, hand_clip):
    """The hand with its poses as shape keys."""
    reference = hand_clip.reference
    deltas = (hand_clip.frames - reference.positions).astype(np.float32)
    names = [f"pose {k}" for k in range(len(deltas))]
    return keyed_object("hand", pliant.Rig(reference.positions, reference.faces, deltas, names, limits=[(0, 1)] * len(deltas)))


def examples_of(ob):
    """The examples of an object as the package takes them."""
    blocks = ob.data.shape_keys.key_blocks
    frames = []
    for block in blocks:
        flat = np.empty(len(block.points) * 3, np.float32)
        block.points.foreach_get("co", flat)
        frames.append(flat.reshape(-1, 3).astype(float))
    mesh = pliant.Mesh(frames[0], [list(p.vertices) for p in ob.data.polygons])
    basis = frames[0]
    deltas = [(frame - basis).astype(np.float32) for frame in frames[1:]]
    return pliant.Clip(mesh, [basis + delta for delta in deltas])


def test_learn_makes_control_points_that_drive_the_mesh_as_the_package_does(hand):
    clip = examples_of(hand)
    assert bpy.ops.pliant.learn(count=10) == {"FINISHED"}
    model = pliant.Model.train(clip, 10)
    empties = [point.empty for point in hand.pliant.control_points]
    assert len(empties) == 10
    control = model.reference.positions[model.control_vertices]
    assert np.abs(np.array([empty.matrix_world.translation for empty in empties]) - control).max() < 1e-5

    # Moved by hand: the handler follows at once.
    goal = clip.frames[3][model.control_vertices]
    for empty, place in zip(empties, goal):
        empty.location = place
    bpy.context.view_layer.update()
    expected = model.drive(np.array(goal, np.float32).astype(float))
    assert np.abs(shown(hand) - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())
    assert np.linalg.norm(shown(hand) - clip.reference.positions, axis=1).max() > 0.1

    hand.pliant.is_live = False
    before = shown(hand)
    empties[0].location.x += 1.0
    bpy.context.view_layer.update()
    assert np.abs(shown(hand) - before).max() == 0.0
    bpy.ops.pliant.learn_reset()
    assert np.abs(shown(hand) - model.drive(control)).max() < 1e-4


def test_a_driven_animation_follows_the_frames_and_is_baked(hand, tmp_path):
    clip = examples_of(hand)
    bpy.ops.pliant.learn(count=8)
    model = pliant.Model.train(clip, 8)
    scene = bpy.context.scene
    scene.frame_end = 4
    empties = [point.empty for point in hand.pliant.control_points]
    for frame, pose in ((1, 0), (4, 5)):
        for empty, place in zip(empties, clip.frames[pose][model.control_vertices]):
            empty.location = place
            empty.keyframe_insert("location", frame=frame)
    scene.frame_set(4)
    live = shown(hand)
    expected = model.drive(clip.frames[5][model.control_vertices])
    assert np.abs(live - expected).max() < 1e-4
    scene.frame_set(1)
    bpy.ops.pliant.learn_bake(filepath=str(tmp_path / "driven.pc2"))
    scene.frame_set(4)
    assert np.abs(shown(hand) - live).max() < 1e-4
    bpy.ops.pliant.learn_remove()
    assert not hand.pliant.control_points and "Pliant Model" not in hand.data.shape_keys.key_blocks
    assert not [ob for ob in bpy.data.objects if ob.type == "EMPTY"]


def test_control_points_can_be_selected_vertices_and_are_checked(hand):
    for vertex in hand.data.vertices:
        vertex.select = vertex.index in (3, 40, 99, 200)
    bpy.ops.pliant.learn(control="SELECTED")
    from bl_ext.user_default.pliant.scene.live_model import model_of

    assert sorted(model_of(hand).control_vertices.tolist()) == [3, 40, 99, 200]
    for options, said in (({"vertices": "1, 999999"}, "999999"), ({"vertices": "one"}, "no list"), ({"examples": "FRAMES", "first": 5, "last": 2}, "before")):
        with pytest.raises(RuntimeError) as error:
            bpy.ops.pliant.learn(**options)
        assert said in message(error)


def test_validate_reports_the_errors_of_the_package(hand, capfd):
    expected = pliant.Model.validate(examples_of(hand), 8)
    capfd.readouterr()
    assert bpy.ops.pliant.learn_validate(count=8) == {"FINISHED"}
    # Blender prints reports of operators that a script calls.
    said = capfd.readouterr().out
    assert f"Mean error {expected.mean():.2%}" in said and f"largest {expected.max():.2%}" in said


def test_too_few_examples_are_declined(scene):
    ob = mesh_object("card", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.learn()
    assert "too few shape keys" in message(error)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.bones()
    assert "does not move" in message(error)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.learn_bake()
    assert "no learned model" in message(error)
    assert ob.data.shape_keys is None


def test_bones_move_as_the_mesh_does(scene, tmp_path):
    clip = pliant.load("specimen:bar:coarse#bend").clip()
    frames = clip.frames[::4].astype(np.float32).astype(float)
    ob = mesh_object("bar", clip.reference.positions, clip.reference.faces)
    path = tmp_path / "bend.pc2"
    pliant.save(str(path), pliant.Clip(clip.reference, frames, frames_per_second=24))
    modifier = ob.modifiers.new("bend", "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", str(path), 1
    ob.location = (1, 2, 3)
    scene.frame_end = len(frames)
    assert bpy.ops.pliant.bones(bones=6) == {"FINISHED"}
    armature = bpy.context.view_layer.objects.active
    skinned = bpy.data.objects["bar skinned"]
    assert armature.type == "ARMATURE" and len(armature.data.bones) > 1 and skinned.data.shape_keys is None

    rest = pliant.Mesh(np.array([v.co for v in ob.data.vertices], float), [list(p.vertices) for p in ob.data.polygons])
    bones = pliant.Bones(pliant.Clip(rest, frames), bones=6)
    expected = bones.reconstruction()
    size = np.linalg.norm(np.ptp(clip.reference.positions, axis=0))
    for frame in (1, len(frames) // 2, len(frames)):
        scene.frame_set(frame)
        assert np.abs(shown_in_world(skinned) - [1, 2, 3] - expected[frame - 1]).max() < 2e-5 * size
    activate(ob)
