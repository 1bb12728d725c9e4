"""Operators on scanned and captured data, where PLIANT_DATA names it; against the Python package."""

import os
import pathlib

import bpy
import numpy as np
import pytest
from stage import activate, key_points, keyed_object, in_single_precision, mesh_object, shown, shown_in_world, values

import pliant

DATA = os.environ.get("PLIANT_DATA")


def single(points):
    return np.asarray(points, np.float32).astype(float)


def needed(name):
    if not DATA:
        pytest.skip("PLIANT_DATA is not set")
    folder = pathlib.Path(DATA) / name
    assert folder.exists(), f"PLIANT_DATA is set, but {folder} is missing"
    return folder


@pytest.fixture
def scanned_head(scene):
    """The head of ICT FaceKit: 26.7 thousand vertices, 56 components, 57 shape keys."""
    folder = needed("ict-facekit")
    rig = in_single_precision(pliant.load(f"{folder}/generic_neutral_mesh.obj+expressions.delta.npy").rig())
    return keyed_object("head", rig), rig


def test_a_drag_on_a_scanned_head_gives_the_weights_of_the_package(scanned_head):
    head, rig = scanned_head
    smile = rig.deltas[rig.names.index("mouthSmile_L")]
    vertex = int(np.linalg.norm(smile, axis=1).argmax())
    goal = single(0.6 * smile[vertex])
    bpy.ops.pliant.drag(pins=f"{vertex}:" + ",".join(f"{x:.9g}" for x in goal))
    expected = rig.poser().grab([vertex]).solve([goal]).weights
    assert np.abs(values(head) - expected).max() < 1e-5
    assert np.linalg.norm(shown(head)[vertex] - rig.positions[vertex] - goal) < 0.3 * np.linalg.norm(goal)


def test_a_drag_on_a_scanned_head_moves_with_the_pointer(scanned_head):
    """What a move of the pointer costs besides Blender's own update is printed."""
    import time

    from bl_ext.user_default.pliant.core.pins import PinGoal
    from bl_ext.user_default.pliant.scene.drag import Drag, DragOptions

    head, rig = scanned_head
    drag = Drag(head, [PinGoal(2000, held=False), PinGoal(100)], DragOptions())
    costs = []
    for step in range(30):
        goals = np.array([[0.02 * step, 0.03 * step, 0.0], [0.0, 0.0, 0.0]])
        began = time.perf_counter()
        drag.move(goals)
        costs.append(time.perf_counter() - began)
    print(f"median {1e3 * np.median(costs):.2f} ms a move")
    assert np.abs(values(head) - rig.poser().grab([2000, 100]).solve(goals).weights).max() < 1e-4


def test_the_keys_of_a_captured_head_go_onto_a_scanned_one(scene):
    """Face Cap's 52 keys onto the scan of another person, whose mesh and size differ."""
    asset = pliant.load(str(needed("facecap-head") / "facecap-plain.glb"))
    source = in_single_precision(asset.part(asset.objects[0]).rig() if len(asset.rig()) == 0 else asset.rig())
    kept = [k for k, name in enumerate(source.names) if name in ("jawOpen", "mouthSmile_L", "eyeBlink_L", "browInnerUp")]
    source = pliant.Rig(source.positions, source.neutral.faces, source.deltas[kept], [source.names[k] for k in kept])
    coarse = pliant.Decimation(source.neutral, vertices=1200).mesh
    stretched = single(coarse.positions * [1.1, 0.95, 1.0])
    ob = keyed_object("captured", source)
    target = mesh_object("other", stretched, coarse.triangles)
    bpy.context.scene.pliant.source = ob
    assert bpy.ops.pliant.transfer_shapes() == {"FINISHED"}
    expected, _ = pliant.transfer_shapes(source, pliant.Mesh(stretched, coarse.triangles))
    size = np.abs(stretched).max()
    for name, delta in zip(expected.names, expected.deltas):
        assert np.abs(key_points(target, name) - stretched - delta).max() < 2e-6 * size


def poses(name):
    folder, stem = name
    path = needed(folder) / stem
    return pliant.load(f"{path}.reference.obj+{path}.frames.npy").clip()


def test_a_galloping_horse_moves_a_camel(scene, tmp_path):
    gallop = poses(("horse-sequences", "horse-gallop-every2nd"))
    camel = poses(("horse-camel", "camel-poses")).reference
    lines = (needed("horse-camel") / "horse_camel.cons").read_text().splitlines()
    markers = [[int(vertex) for vertex in line.split(",")] for line in lines if "," in line]
    reference = gallop.reference.posed(single(gallop.reference.positions))
    clip = pliant.Clip(reference, single(gallop.frames[:3]), frames_per_second=24)
    horse = mesh_object("horse", reference.positions, reference.faces)
    path = tmp_path / "gallop.pc2"
    pliant.save(str(path), clip)
    modifier = horse.modifiers.new("gallop", "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", str(path), 1
    scene.frame_end = 3
    mesh = camel.posed(single(camel.positions))
    target = mesh_object("camel", mesh.positions, mesh.faces)
    scene.pliant.source = horse
    for a, b in markers:
        bpy.ops.pliant.marker_add(source_vertex=a, target_vertex=b)
    assert bpy.ops.pliant.transfer_animation(output="CACHE", filepath=str(tmp_path / "camel")) == {"FINISHED"}
    expected = pliant.transfer_clip(clip, mesh, markers=markers)
    size = np.ptp(mesh.positions, axis=0).max()
    for frame in (1, 3):
        scene.frame_set(frame)
        assert np.abs(shown_in_world(target) - expected.frames[frame - 1]).max() < 1e-5 * size
    scene.frame_set(1)


def test_scanned_expressions_have_physical_in_betweens(scene):
    clip = poses(("hands", "derived-hand-poses"))
    first, second = (clip.reference.posed(single(x)) for x in (clip.reference.positions, clip.frames[4]))
    ob = mesh_object("hand", first.positions, first.faces)
    ob.shape_key_add(name="Basis", from_mix=False)
    key = ob.shape_key_add(name="Fist", from_mix=False)
    key.points.foreach_set("co", second.positions.astype(np.float32).ravel())
    key.value = 0.0
    assert bpy.ops.pliant.in_between(second_key="Fist", count=1) == {"FINISHED"}
    expected = pliant.Blend([first, second]).at([0.5, 0.5]).positions
    assert np.abs(key_points(ob, "Basis-Fist 50%") - expected).max() < 2e-6 * np.abs(expected).max()


def test_a_captured_hand_is_learned_and_driven(scene):
    clip = poses(("hands", "derived-hand-poses"))
    reference = clip.reference.posed(single(clip.reference.positions))
    deltas = (clip.frames - reference.positions).astype(np.float32)
    names = [f"pose {k}" for k in range(len(deltas))]
    ob = keyed_object("hand", pliant.Rig(reference.positions, reference.faces, deltas, names))
    assert bpy.ops.pliant.learn(count=12) == {"FINISHED"}
    model = pliant.Model.train(pliant.Clip(reference, reference.positions + deltas), 12)
    goal = (reference.positions + deltas[5])[model.control_vertices]
    for point, place in zip(ob.pliant.control_points, goal):
        point.empty.location = place
    bpy.context.view_layer.update()
    expected = model.drive(single(goal))
    assert np.abs(shown(ob) - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())


def test_a_captured_dancer_gets_bones(scene, tmp_path):
    samba = poses(("samba", "samba-every7th"))
    clip = pliant.Clip(samba.reference, single(samba.frames[:6]), frames_per_second=24)
    ob = mesh_object("dancer", single(clip.reference.positions), clip.reference.faces)
    path = tmp_path / "samba.pc2"
    pliant.save(str(path), clip)
    modifier = ob.modifiers.new("samba", "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", str(path), 1
    scene.frame_end = 6
    assert bpy.ops.pliant.bones(bones=12) == {"FINISHED"}
    skinned = bpy.data.objects["dancer skinned"]
    rest = clip.reference.posed(single(clip.reference.positions))
    expected = pliant.Bones(pliant.Clip(rest, clip.frames), bones=12).reconstruction()
    size = np.linalg.norm(np.ptp(rest.positions, axis=0))
    for frame in (1, 4, 6):
        scene.frame_set(frame)
        assert np.abs(shown_in_world(skinned) - expected[frame - 1]).max() < 5e-5 * size
    activate(ob)


def test_a_scanned_head_is_touched(scene):
    asset = pliant.load(str(needed("static") / "LeePerrySmith.glb"))
    mesh = asset.mesh()
    mesh = mesh.posed(single(mesh.positions))
    ob = mesh_object("scan", mesh.positions, mesh.faces)
    size = np.ptp(mesh.positions, axis=0).max()
    center = int(mesh.positions[:, 2].argmax())
    place, normal = mesh.positions[center], mesh.vertex_normals()[center]
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.05 * size, location=place + 0.08 * size * normal, segments=24, ring_count=12)
    ball = bpy.context.object
    ball.keyframe_insert("location", frame=1)
    ball.location = place + 0.03 * size * normal
    ball.keyframe_insert("location", frame=8)
    scene.frame_end = 8
    scene.pliant.collider = ball
    activate(ob)
    assert bpy.ops.pliant.touch(discs=f"{center}:{0.12 * size}") == {"FINISHED"}
    moved = np.linalg.norm(key_points(ob, "Touch") - mesh.positions, axis=1)
    distances = pliant.ExactGeodesics(mesh).distances(center)
    assert 0.005 * size < moved.max() < 0.1 * size
    assert moved[~(distances <= 0.12 * size * 1.001)].max() < 1e-6 * size
