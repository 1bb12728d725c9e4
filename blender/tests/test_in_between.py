"""Physical in-betweens, against the Python package."""

import bpy
import numpy as np
import pytest
from stage import activate, key_points, mesh_object, message, shown

import pliant


@pytest.fixture
def bar(scene):
    """A bar with a bent shape key, and the same as a second object."""
    straight = pliant.load("specimen:bar:coarse").mesh()
    bent = pliant.load("specimen:bar:coarse#bend@24").mesh()
    other = mesh_object("bent", bent.positions, bent.faces)
    ob = mesh_object("bar", straight.positions, straight.faces)
    ob.shape_key_add(name="Basis", from_mix=False)
    block = ob.shape_key_add(name="Bend", from_mix=False)
    block.points.foreach_set("co", bent.positions.astype(np.float32).ravel())
    block.value = 0.0
    ob.active_shape_key_index = 1
    return ob, other, straight, bent


def single(mesh):
    """Positions as Blender stores them."""
    return mesh.posed(mesh.positions.astype(np.float32).astype(float))


def test_in_betweens_of_two_keys_are_those_of_the_package(bar):
    ob, _, straight, bent = bar
    assert bpy.ops.pliant.in_between(count=3) == {"FINISHED"}
    blend = pliant.Blend([single(straight), single(bent)])
    names = [block.name for block in ob.data.shape_keys.key_blocks]
    assert names == ["Basis", "Bend", "Basis-Bend 25%", "Basis-Bend 50%", "Basis-Bend 75%"]
    for share in (0.25, 0.5, 0.75):
        expected = blend.at([1 - share, share])
        found = key_points(ob, f"Basis-Bend {share:.0%}")
        assert np.abs(found - expected.positions).max() < 1e-6 * max(1.0, np.abs(expected.positions).max()) + 1e-6
        volume = straight.posed(found).signed_volume()
        linear = straight.posed((1 - share) * straight.positions + share * bent.positions).signed_volume()
        assert abs(volume / straight.signed_volume() - 1) < abs(linear / straight.signed_volume() - 1)


def test_two_meshes_animated_over_frames(bar):
    ob, other, straight, bent = bar
    bpy.ops.pliant.in_between(other=other.name, output="ANIMATION", count=3, first=1, last=9)
    blend = pliant.Blend([single(straight), single(bent)])
    for frame, share in ((1, 0.0), (5, 0.5), (9, 1.0)):
        bpy.context.scene.frame_set(frame)
        assert np.abs(shown(ob) - blend.at([1 - share, share]).positions).max() < 1e-5


def test_an_obstacle_pushes_the_shapes_away_and_a_cache_holds_all_frames(bar, tmp_path):
    ob, other, straight, bent = bar
    half = pliant.Blend([straight, bent]).at([0.5, 0.5]).positions
    center = 0.5 * (half.max(axis=0) + half.min(axis=0))
    top = half[np.argmax(half[:, 1])]
    size = 0.1 * np.ptp(straight.positions, axis=0).max()
    bpy.ops.mesh.primitive_uv_sphere_add(radius=size, location=top + 0.3 * size * (top - center) / np.linalg.norm(top - center), segments=16, ring_count=8)
    obstacle = bpy.context.object
    activate(ob)
    bpy.ops.pliant.in_between(obstacles=obstacle.name, output="CACHE", first=1, last=5, filepath=str(tmp_path / "bend.pc2"))
    bpy.context.scene.frame_set(3)
    around = shown(ob)
    assert np.linalg.norm(around - half, axis=1).max() > 0.05 * size
    distances = np.linalg.norm(around - np.array(obstacle.location), axis=1)
    assert distances.min() > 0.85 * size


@pytest.mark.parametrize(
    "options, said",
    [
        ({"second_key": "Nothing"}, "no shape key 'Nothing'"),
        ({"second_key": "Basis"}, "same shape"),
        ({"other": "Nobody"}, "not set"),
        ({"obstacles": "Nobody"}, "obstacle"),
        ({"output": "CACHE"}, "save the file"),
        ({"output": "ANIMATION", "first": 9, "last": 2}, "before the first"),
    ],
)
def test_what_cannot_be_blended_is_a_report(bar, options, said):
    ob = bar[0]
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.in_between(**options)
    assert said in message(error).replace("Save", "save")
    assert len(ob.data.shape_keys.key_blocks) == 2 and not ob.modifiers


def test_meshes_of_other_vertices_are_declined(bar):
    ob = bar[0]
    mesh_object("triangle", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    activate(ob)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.in_between(other="triangle")
    assert "3 vertices" in message(error)
