"""Captures of faces onto shape keys; against the Python package."""

import os
import pathlib

import bpy
import numpy as np
import pytest
from stage import message, shown, values

import pliant

HEADER = "Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen,MouthSmileLeft,MouthSmileRight,BrowInnerUp,TongueOut,Unheard\n"


@pytest.fixture
def take(tmp_path):
    """A capture of Live Link Face: 24 samples at 24 frames per second."""
    rows = []
    for k in range(24):
        blink, jaw, smile = float(k % 8 == 0), 0.5 - 0.5 * np.cos(k / 4), k / 23
        rows.append(f"10:00:00:{k:02}.000,7,{blink:.4f},{jaw:.4f},{smile:.4f},{0.5 * smile:.4f},0.1,0,0.3\n")
    path = tmp_path / "take.csv"
    path.write_text(HEADER + "".join(rows))
    return path


def by_package(rig, path, **options):
    return pliant.Performance.load(str(path)).weights(rig, **options)


def test_a_capture_moves_the_keys_as_by_the_package(head, head_rig, take):
    assert bpy.ops.pliant.capture(filepath=str(take)) == {"FINISHED"}
    performance = pliant.Performance.load(str(take))
    expected = by_package(head_rig, take)
    rate = 24.0
    for k in (0, 5, 11, 23):
        frame = 1 + (performance.times_secs[k] - performance.times_secs[0]) * rate
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        assert np.abs(values(head) - expected[k]).max() < 1e-5
    assert np.abs(shown(head) - head_rig.evaluate(expected[23])).max() < 1e-4
    bpy.context.scene.frame_set(1)


def test_the_map_can_be_edited(head, head_rig, take):
    scene = bpy.context.scene
    scene.pliant.capture = str(take)
    bpy.ops.pliant.capture_map()
    routes = scene.pliant.routes
    guessed = pliant.Performance.load(str(take)).guess_map(head_rig.names)
    assert [(r.channel, r.key) for r in routes if r.key] == [(r["from"], r["to"]) for r in guessed["channels"]]
    unheard = [route for route in routes if route.channel == "Unheard"]
    assert unheard and unheard[0].key == ""
    unheard[0].key, unheard[0].gain = "cheekPuff", 2.0
    for route in routes:
        if route.channel.lower() == "jawopen":
            route.gain = 0.5
    bpy.ops.pliant.capture()
    bpy.context.scene.frame_set(12)
    keys = head.data.shape_keys.key_blocks
    assert keys["cheekPuff"].value == pytest.approx(0.6, abs=1e-4)
    full = by_package(head_rig, take)[11, head_rig.names.index("jawOpen")]
    assert keys["jawOpen"].value == pytest.approx(0.5 * full, abs=2e-2)
    count = len(routes)
    bpy.ops.pliant.capture_route_add(channel="JawOpen", key="mouthFunnel")
    bpy.ops.pliant.capture_route_remove()
    assert len(routes) == count
    bpy.context.scene.frame_set(1)


def test_cleaning_reducing_and_mirroring(head, head_rig, take):
    bpy.ops.pliant.capture(filepath=str(take), sides="mirrored", clean=True, tolerance=0.01)
    performance = pliant.Performance.load(str(take))
    expected = performance.cleaned().weights(head_rig, sides="mirrored")
    frame = 1 + (performance.times_secs[12] - performance.times_secs[0]) * 24
    bpy.context.scene.frame_set(int(frame), subframe=float(frame - int(frame)))
    assert np.abs(values(head) - expected[12]).max() < 0.0101
    bpy.context.scene.frame_set(1)


def test_driven_keys_get_the_animation_on_their_property_and_locked_ones_none(head, take):
    keys = head.data.shape_keys.key_blocks
    head["open"] = 0.0
    head.id_properties_ui("open").update(min=0.0, max=2.0)
    curve = keys["jawOpen"].driver_add("value")
    variable = curve.driver.variables.new()
    variable.name = "open"
    variable.targets[0].id, variable.targets[0].data_path = head, '["open"]'
    curve.driver.expression = "open / 2"
    bpy.context.view_layer.update()
    bpy.ops.pliant.lock(key="browInnerUp")
    bpy.ops.pliant.capture(filepath=str(take))
    bpy.context.scene.frame_set(13)
    assert head["open"] == pytest.approx(2 * keys["jawOpen"].value, abs=1e-5) and head["open"] > 0.1
    assert keys["browInnerUp"].value == 0.0
    bpy.context.scene.frame_set(1)


def test_a_second_capture_replaces_the_first_in_its_frames(head, take):
    from bl_ext.user_default.pliant.scene.curves import find_curve

    bpy.ops.pliant.capture(filepath=str(take))
    path = head.data.shape_keys.key_blocks["jawOpen"].path_from_id("value")
    count = len(find_curve(head.data.shape_keys, path).keyframe_points)
    bpy.ops.pliant.capture(filepath=str(take))
    assert len(find_curve(head.data.shape_keys, path).keyframe_points) == count
    bpy.ops.pliant.capture(filepath=str(take), start=101)
    assert len(find_curve(head.data.shape_keys, path).keyframe_points) == 2 * count


def test_bad_captures_are_reports(head, tmp_path):
    broken = tmp_path / "broken.csv"
    broken.write_text("not a capture")
    strange = tmp_path / "strange.csv"
    strange.write_text("Timecode,BlendShapeCount,Nothing\n10:00:00:00.000,1,0.5\n10:00:00:01.000,1,0.5\n")
    for path in ("", str(tmp_path / "missing.csv"), str(broken), str(strange)):
        with pytest.raises(RuntimeError) as error:
            bpy.ops.pliant.capture(filepath=path)
        assert message(error).strip()
    assert head.data.shape_keys.animation_data is None or head.data.shape_keys.animation_data.action is None


def test_a_real_capture(head, head_rig):
    data = os.environ.get("PLIANT_DATA")
    if not data:
        pytest.skip("PLIANT_DATA is not set")
    path = pathlib.Path(data) / "mocap" / "livelinkface-alex_rom_3.csv"
    assert path.exists(), f"PLIANT_DATA is set, but {path} is missing"
    assert bpy.ops.pliant.capture(filepath=str(path)) == {"FINISHED"}
    expected = by_package(head_rig, path)
    performance = pliant.Performance.load(str(path))
    for k in (0, 1000, len(expected) - 1):
        frame = 1 + (performance.times_secs[k] - performance.times_secs[0]) * 24
        bpy.context.scene.frame_set(int(frame), subframe=float(frame - int(frame)))
        assert np.abs(values(head) - expected[k]).max() < 1e-3
    bpy.context.scene.frame_set(1)
