"""Touch: brush, press, bake; against the Python package."""

import os

import bpy
import numpy as np
import pytest
from stage import activate, event, key_points, mesh_object, message, pixel, shown, shown_in_world, view

import pliant

CHEEK = 2134
RADIUS = 3.0

# Blender's matrices round to f32, and contact amplifies that: a tenth of the dent of 0.5.
AGREEMENT = 0.05


def ball(center, radius=1.5):
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, location=center, segments=24, ring_count=12)
    return bpy.context.object


@pytest.fixture
def pressed(head, head_rig):
    """The head, and a ball that moves into its cheek over twelve frames."""
    cheek = head_rig.positions[CHEEK]
    outward = np.array([0.7, 0.2, 1.35]) / np.linalg.norm([0.7, 0.2, 1.35])
    collider = ball(cheek + 2.2 * outward)
    collider.keyframe_insert("location", frame=1)
    collider.location = cheek + 0.9 * outward
    collider.keyframe_insert("location", frame=12)
    bpy.context.scene.pliant.collider = collider
    activate(head)
    return head, collider


def by_package(head, collider, frames):
    """The same with the package alone: positions of each frame, and the patch."""
    scene = bpy.context.scene
    mesh = collider.data
    positions = np.array([vertex.co for vertex in mesh.vertices], float)
    faces = [list(polygon.vertices) for polygon in mesh.polygons]
    triangles = [[face[0], face[k], face[k + 1]] for face in faces for k in range(1, len(face) - 1)]
    solid = pliant.Obstacle.mesh(pliant.Mesh(positions, triangles))
    rig_mesh = pliant.Mesh(shown_in_world(head), [list(p.vertices) for p in head.data.polygons])
    touch = pliant.Touch(rig_mesh, [(CHEEK, RADIUS)], colliders=[solid])
    results = []
    for frame in frames:
        scene.frame_set(frame)
        shape = shown_in_world(head)
        motion = np.eye(4)
        motion[:3, 3] = collider.matrix_world.translation
        touch.step(1 / 24, shape=shape, colliders=[motion])
        results.append(touch.positions)
    scene.frame_set(1)
    return np.array(results), touch.vertices


def test_touch_bakes_the_last_frame_of_the_package_to_a_key(pressed):
    head, collider = pressed
    expected, patch = by_package(head, collider, range(1, 13))
    before = shown(head)
    assert bpy.ops.pliant.touch(discs=f"{CHEEK}:{RADIUS}") == {"FINISHED"}
    key = head.data.shape_keys.key_blocks["Touch"]
    assert key.value == 1.0
    assert np.abs(shown(head) - expected[-1]).max() < AGREEMENT
    moved = np.linalg.norm(shown(head) - before, axis=1)
    assert moved.max() > 0.2
    outside = np.setdiff1d(np.arange(len(moved)), patch)
    assert moved[outside].max() < 1e-5


def test_touch_as_animated_keys_shows_every_frame(pressed):
    head, collider = pressed
    expected, _ = by_package(head, collider, range(1, 13))
    bpy.ops.pliant.touch(discs=f"{CHEEK}:{RADIUS}", output="KEYS")
    for frame in (1, 6, 12):
        bpy.context.scene.frame_set(frame)
        assert np.abs(shown(head) - expected[frame - 1]).max() < AGREEMENT


def test_touch_as_a_point_cache_shows_every_frame(pressed, tmp_path):
    head, collider = pressed
    expected, _ = by_package(head, collider, range(1, 13))
    path = tmp_path / "cheek.pc2"
    bpy.ops.pliant.touch(discs=f"{CHEEK}:{RADIUS}", output="CACHE", filepath=str(path))
    assert path.exists() and head.modifiers[-1].type == "MESH_CACHE"
    for frame in (1, 7, 12):
        bpy.context.scene.frame_set(frame)
        assert np.abs(shown(head) - expected[frame - 1]).max() < AGREEMENT


def test_touch_on_a_posed_head_goes_back_through_the_armature(pressed, tmp_path):
    from stage import armature_for

    head, collider = pressed
    armature_for(head, angle=0.05, axis="Y")
    plain = shown(head)
    bpy.ops.pliant.touch(discs=f"{CHEEK}:{RADIUS}")
    touched = shown(head)
    dent = np.linalg.norm(touched - plain, axis=1).max()
    assert dent > 0.1

    # Contacts with the faces of a solid multiply differences of the last bits, so the package is only near.
    head.shape_key_remove(head.data.shape_keys.key_blocks["Touch"])
    expected, _ = by_package(head, collider, range(1, 13))
    assert np.linalg.norm(touched - expected[-1], axis=1).max() < 0.1 * dent

    # A point cache does not go through the armature.
    bpy.ops.pliant.touch(discs=f"{CHEEK}:{RADIUS}", output="CACHE", filepath=str(tmp_path / "touch.pc2"))
    bpy.context.scene.frame_set(12)
    assert np.abs(shown(head) - touched).max() < 1e-4
    bpy.context.scene.frame_set(1)


def test_the_brush_covers_the_path_of_the_pointer(head, head_rig):
    from bl_ext.user_default.pliant.operators.touch import BrushSession

    context = view(head)
    at = pixel(context, head_rig.positions[CHEEK])
    brush = BrushSession(context, head, event("LEFTMOUSE", "PRESS", at), 1.0)
    for step in range(1, 30):
        brush.handle(context, event("MOUSEMOVE", at=(at[0] - 2 * step, at[1])))
    count = len(head.pliant.discs)
    assert count > 2 and all(disc.radius == 1.0 for disc in head.pliant.discs)
    assert brush.handle(context, event("LEFTMOUSE", "RELEASE")) == {"FINISHED"}

    again = BrushSession(context, head, event("LEFTMOUSE", "PRESS", at), 1.0)
    assert again.handle(context, event("ESC", "PRESS")) == {"CANCELLED"}
    assert len(head.pliant.discs) == count
    bpy.ops.pliant.touch_clear()
    assert len(head.pliant.discs) == 0
    bpy.ops.pliant.touch_brush(discs="2134:3; 80:2")
    assert [(disc.vertex, disc.radius) for disc in head.pliant.discs] == [(2134, 3.0), (80, 2.0)]


def test_touch_says_what_is_missing(head, tmp_path):
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.touch(discs="2134:3")
    assert "presses" in message(error)
    bpy.context.scene.pliant.collider = head
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.touch(discs="2134:3")
    assert "itself" in message(error)
    collider = ball((0, 0, 50))
    activate(head)
    bpy.context.scene.pliant.collider = collider
    for discs, said in (("", "no soft patch"), ("999999:3", "999999"), ("1:x", "no disc")):
        with pytest.raises(RuntimeError) as error:
            bpy.ops.pliant.touch(discs=discs)
        assert said in message(error)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.touch(discs="2134:3", output="CACHE", filepath="")
    assert "save the file" in message(error).lower()
    assert "Touch" not in head.data.shape_keys.key_blocks and not head.modifiers
    assert bpy.context.scene.frame_current == 1


def test_colliders_without_a_surface_are_declined(head):
    for name, data in (("empty", None), ("sun", bpy.data.lights.new("sun", "SUN"))):
        bpy.context.collection.objects.link(bpy.data.objects.new(name, data))
        with pytest.raises(RuntimeError) as error:
            bpy.ops.pliant.touch(collider=name, discs="2134:3")
        assert f"'{name}' has no surface" in message(error)


def test_a_point_cache_without_a_place_is_declined(pressed, tmp_path):
    (tmp_path / "file").write_text("no folder")
    inside_a_file = str(tmp_path / "file" / "cheek.pc2")
    for path, said in (("//cheek.pc2", "save the file first"), (inside_a_file, "cannot be made")):
        with pytest.raises(RuntimeError) as error:
            bpy.ops.pliant.touch(discs="2134:3", output="CACHE", filepath=path)
        assert said in message(error).lower()
        assert not pressed[0].modifiers


def test_a_collider_that_changes_its_size_is_declined(pressed):
    head, collider = pressed
    collider.scale = (1, 1, 1)
    collider.keyframe_insert("scale", frame=1)
    collider.scale = (2, 2, 2)
    collider.keyframe_insert("scale", frame=12)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.touch(discs="2134:3")
    assert "scale constant" in message(error)


def test_a_mesh_without_keys_can_be_touched(scene):
    axis = np.linspace(-2, 2, 25)
    y, x = np.meshgrid(axis, axis, indexing="ij")
    positions = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1)
    corner = (np.arange(24)[:, None] * 25 + np.arange(24)).ravel()
    faces = np.stack([corner, corner + 1, corner + 26, corner + 25], axis=1)
    plane = mesh_object("plane", positions, faces)
    collider = ball((0, 0, 0.7), radius=1.0)
    activate(plane)
    bpy.ops.pliant.touch(collider=collider.name, discs="312:1.5")
    keys = plane.data.shape_keys
    assert [block.name for block in keys.key_blocks] == ["Basis", "Touch"]
    assert key_points(plane, "Touch")[312, 2] < -0.1
    assert os.path.exists(os.environ["BLENDER_USER_RESOURCES"])
