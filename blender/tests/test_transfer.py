"""Shapes and animations of one mesh on another, and marker pairs; against the Python package."""

import bpy
import numpy as np
import pytest
from stage import activate, event, key_points, keyed_object, mesh_object, message, pixel, shown_in_world, view

import pliant


def single(points):
    return np.asarray(points, np.float32).astype(float)


@pytest.fixture(scope="module")
def small_rig(installed):
    """Some shapes of the head, with single precision as in Blender."""
    rig = pliant.load("specimen:head").rig()
    names = ["jawOpen", "mouthSmileLeft", "mouthSmileRight", "browInnerUp", "eyeBlinkLeft"]
    kept = [rig.names.index(name) for name in names]
    # A coarse head is enough to compare with, and quick.
    coarse = pliant.Decimation(rig.neutral, vertices=1500, placement="subset")
    basis = single(rig.positions[coarse.sources])
    deltas = (single(basis + rig.deltas[kept][:, coarse.sources]) - basis).astype(np.float32)
    return pliant.Rig(basis, coarse.mesh.triangles, deltas, names, limits=rig.limits[kept])


@pytest.fixture
def pair(scene, small_rig):
    """A head with shapes beside a narrower one of fewer vertices without."""
    source = keyed_object("source", small_rig)
    coarse = pliant.Decimation(small_rig.neutral, vertices=1000).mesh
    other = single(coarse.positions * [0.9, 1.05, 1.0])
    target = mesh_object("target", other, coarse.triangles)
    bpy.context.scene.pliant.source = source
    return source, target, pliant.Mesh(other, coarse.triangles)


def test_shapes_are_transferred_as_by_the_package(pair, small_rig):
    _, target, mesh = pair
    assert bpy.ops.pliant.transfer_shapes() == {"FINISHED"}
    expected, _ = pliant.transfer_shapes(small_rig, mesh)
    assert [block.name for block in target.data.shape_keys.key_blocks] == ["Basis", *small_rig.names]
    for name, delta in zip(expected.names, expected.deltas):
        found = key_points(target, name) - mesh.positions
        assert np.abs(found - delta).max() < 2e-6 * np.abs(mesh.positions).max()
    block = target.data.shape_keys.key_blocks["jawOpen"]
    assert block.value == 0.0 and (block.slider_min, block.slider_max) == (0.0, 1.0)


def test_existing_keys_are_replaced_kept_or_joined(pair, small_rig):
    _, target, mesh = pair
    target.shape_key_add(name="Basis", from_mix=False)
    old = target.shape_key_add(name="jawOpen", from_mix=False)
    locked = target.shape_key_add(name="browInnerUp", from_mix=False)
    locked.lock_shape = True
    bpy.ops.pliant.transfer_shapes(existing="SKIP")
    assert np.abs(key_points(target, "jawOpen") - mesh.positions).max() < 1e-6
    bpy.ops.pliant.transfer_shapes(existing="ADD")
    assert "jawOpen.001" in target.data.shape_keys.key_blocks
    bpy.ops.pliant.transfer_shapes(existing="REPLACE")
    assert np.abs(key_points(target, "jawOpen") - mesh.positions).max() > 0.1
    assert np.abs(key_points(target, "browInnerUp") - mesh.positions).max() < 1e-6
    assert old.name == "jawOpen"


def test_objects_that_stand_elsewhere_are_matched_in_the_world(pair, small_rig):
    source, target, mesh = pair
    for ob in (source, target):
        ob.rotation_euler, ob.scale = (1.5707963, 0, 0), (0.1, 0.1, 0.1)
    source.location = (3, 0, 0)
    bpy.context.view_layer.update()
    bpy.ops.pliant.transfer_shapes()
    matrices = [np.array(ob.matrix_world) for ob in (source, target)]
    linear = matrices[0][:3, :3]
    moved = pliant.Rig(
        small_rig.positions @ linear.T + matrices[0][:3, 3], small_rig.neutral.faces,
        small_rig.deltas @ linear.T, small_rig.names, limits=small_rig.limits,
    )  # fmt: skip
    there = mesh.posed(mesh.positions @ matrices[1][:3, :3].T + matrices[1][:3, 3])
    expected, _ = pliant.transfer_shapes(moved, there)
    here, _ = pliant.transfer_shapes(small_rig, mesh)
    back = np.linalg.inv(matrices[1][:3, :3])
    for name, delta, plain in zip(expected.names, expected.deltas, here.deltas):
        found = key_points(target, name) - mesh.positions
        assert np.abs(found - delta @ back.T).max() < 1e-4
        assert np.linalg.norm(found - plain) < 0.1 * np.linalg.norm(plain)


def test_markers_are_suggested_checked_and_mirrored_as_by_the_package(pair, small_rig):
    source, target, mesh = pair
    bpy.ops.pliant.markers_suggest(count=6)
    markers = bpy.context.scene.pliant.markers
    expected = pliant.suggest_markers(small_rig.neutral, mesh, count=6)
    assert [(m.source, m.target) for m in markers] == [tuple(pair) for pair in expected.tolist()]

    bpy.ops.pliant.markers_mirror()
    mirrored, _ = pliant.mirror_markers(small_rig.neutral, mesh, expected)
    assert [(m.source, m.target) for m in markers] == [tuple(pair) for pair in mirrored.tolist()]

    a, b = markers[0].target, markers[1].target
    markers[0].target, markers[1].target = b, a
    bpy.ops.pliant.markers_check()
    check = pliant.check_markers(small_rig.neutral, mesh, [(m.source, m.target) for m in markers])
    assert [m.note for m in markers] == ["; ".join(p["messages"]) for p in check["pairs"]]
    assert any(m.note for m in markers)
    count = len(markers)
    bpy.ops.pliant.marker_remove(index=0)
    assert len(markers) == count - 1
    bpy.ops.pliant.markers_clear()
    assert len(markers) == 0
    bpy.ops.pliant.marker_add(source_vertex=4, target_vertex=5)
    assert (markers[0].source, markers[0].target) == (4, 5)


def test_markers_are_picked_in_turn(pair, small_rig):
    from bl_ext.user_default.pliant.operators.markers import PickSession

    source, target, mesh = pair
    target.location = (30, 0, 0)
    bpy.context.view_layer.update()
    context = view(target, eye=(15, 0, 90))
    picking = PickSession(context, source, target)
    vertex = int(np.argmax(np.abs(small_rig.deltas[1]).sum(axis=1)))
    at_source = pixel(context, small_rig.positions[vertex])
    nearest = int(np.argmin(((mesh.positions - small_rig.positions[vertex] * [0.9, 1.05, 1.0]) ** 2).sum(axis=1)))
    at_target = pixel(context, mesh.positions[nearest] + [30, 0, 0])
    markers = context.scene.pliant.markers
    assert picking.handle(context, event("MOUSEMOVE", at=at_source)) == {"PASS_THROUGH"}
    picking.handle(context, event("LEFTMOUSE", "PRESS", at_source))
    assert len(markers) == 1 and markers[0].target == -1 and "target" in picking.hint
    picking.handle(context, event("LEFTMOUSE", "PRESS", at_target))
    assert markers[0].target >= 0
    assert np.linalg.norm(mesh.positions[markers[0].target] - mesh.positions[nearest]) < 1.5
    picking.handle(context, event("BACK_SPACE", "PRESS"))
    assert markers[0].target == -1
    # An unfinished pair does not stay.
    assert picking.handle(context, event("ESC", "PRESS")) == {"FINISHED"}
    assert len(markers) == 0


def test_transfers_decline_bad_markers_and_sources(pair):
    source, target, _ = pair
    markers = bpy.context.scene.pliant.markers
    for _ in range(2):
        bpy.ops.pliant.marker_add(source_vertex=len(markers), target_vertex=len(markers))
    for setup, said in (
        (lambda: None, "too few"),
        (lambda: setattr(markers[0], "source", 10**6), "does not have"),
        (lambda: setattr(bpy.context.scene.pliant, "source", target), "same object"),
        (lambda: setattr(bpy.context.scene.pliant, "source", None), "choose the source"),
    ):
        setup()
        with pytest.raises(RuntimeError) as error:
            bpy.ops.pliant.transfer_shapes()
        assert said in message(error).lower()
    assert target.data.shape_keys is None
    markers.clear()
    activate(source)
    bpy.context.scene.pliant.source = target
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.transfer_shapes()
    assert "no shape keys to transfer" in message(error)


@pytest.fixture(scope="module")
def walk(installed):
    """Some frames of a hound, a tapir, and the transfer by the package."""
    clip = pliant.load("specimen:hound#walk").clip()
    tapir = pliant.load("specimen:tapir").mesh()
    reference = clip.reference.posed(single(clip.reference.positions))
    given = pliant.Clip(reference, single(clip.frames[:6]), name="hound", frames_per_second=24)
    mesh = tapir.posed(single(tapir.positions))
    return given, mesh, pliant.transfer_clip(given, mesh)


@pytest.fixture
def hounds(scene, walk, tmp_path):
    """A walking hound, by a point cache, and a tapir."""
    clip, tapir, _ = walk
    frames = clip.frames
    hound = mesh_object("hound", single(clip.reference.positions), clip.reference.faces)
    path = tmp_path / "walk.pc2"
    pliant.save(str(path), pliant.Clip(clip.reference, frames, frames_per_second=24))
    modifier = hound.modifiers.new("walk", "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", str(path), 1
    bpy.context.scene.frame_end = 6
    target = mesh_object("tapir", single(tapir.positions), tapir.faces)
    bpy.context.scene.pliant.source = hound
    return hound, target


@pytest.mark.parametrize("output", ["CACHE", "KEYS"])
def test_an_animation_is_transferred_as_by_the_package(hounds, walk, tmp_path, output):
    _, target = hounds
    expected = walk[2]
    assert bpy.ops.pliant.transfer_animation(output=output, filepath=str(tmp_path / "moved")) == {"FINISHED"}
    for frame in (1, 3, 6):
        bpy.context.scene.frame_set(frame)
        assert np.abs(shown_in_world(target) - expected.frames[frame - 1]).max() < 1e-5
    bpy.context.scene.frame_set(1)


def test_a_long_animation_does_not_become_keys(hounds):
    bpy.context.scene.frame_end = 2000
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.transfer_animation(output="KEYS")
    assert "too many" in message(error)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.transfer_animation(output="CACHE")
    assert "save the file" in message(error).lower()
