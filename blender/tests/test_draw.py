"""Strokes, against the Python package."""

import json

import bpy
import numpy as np
import pytest
from stage import armature_for, event, message, pixel, shown, values, view

import pliant


def mouth_line(rig):
    """Points along the mouth from corner to corner, bent to a smile: in the space of the head."""
    corners = [rig.positions[np.argmax(np.abs(rig.deltas[rig.names.index(name)]).sum(axis=1))] for name in ("mouthSmileLeft", "mouthSmileRight")]
    left, right = corners
    steps = np.linspace(0, 1, 40)[:, None]
    line = left * (1 - steps) + right * steps
    line[:, 1] -= 1.2 * (1 - (2 * steps[:, 0] - 1) ** 2) * 0.8
    return line


def stroke_session(context, head, rig):
    from bl_ext.user_default.pliant.operators.draw import StrokeSession

    points = [pixel(context, place) for place in mouth_line(rig)]
    drawing = StrokeSession(context, head, event("LEFTMOUSE", "PRESS", points[0]))
    for point in points[1:]:
        assert drawing.handle(context, event("MOUSEMOVE", at=point)) == {"RUNNING_MODAL"}
    assert drawing.handle(context, event("LEFTMOUSE", "RELEASE")) == {"FINISHED"}
    return drawing


def test_a_stroke_on_the_mouth_gives_the_weights_of_the_package(head, head_rig):
    context = view(head)
    drawing = stroke_session(context, head, head_rig)
    text = drawing.stroke(context)
    assert bpy.ops.pliant.draw(stroke=text) == {"FINISHED"}
    stroke = json.loads(text)
    sketch = pliant.SketchedPose(head_rig)
    report = sketch.draw(stroke["points"], stroke["camera"])
    assert report["feature"] == "lip"
    assert np.abs(values(head) - sketch.weights).max() < 1e-6
    assert np.abs(values(head)).max() > 0.05


def test_a_stroke_on_a_turned_head_is_the_same_stroke(head, head_rig):
    straight = stroke_session(view(head), head, head_rig).stroke(view(head))
    armature_for(head, angle=0.4, axis="Z")
    import math

    from mathutils import Matrix

    context = view(head)
    # The camera turns with the head, so that the picture is the same.
    context.region_data.view_matrix = context.region_data.view_matrix @ Matrix.Rotation(-0.4, 4, "Z")
    context.region_data.perspective_matrix = context.region_data.window_matrix @ context.region_data.view_matrix
    from bl_ext.user_default.pliant.operators.draw import StrokeSession

    points = [pixel(view(head), place) for place in mouth_line(head_rig)]
    drawing = StrokeSession(context, head, event("LEFTMOUSE", "PRESS", points[0]))
    for point in points[1:]:
        drawing.handle(context, event("MOUSEMOVE", at=point))
    turned = json.loads(drawing.stroke(context))
    expected = json.loads(straight)
    for name in ("eye", "target"):
        assert np.allclose(turned["camera"][name], expected["camera"][name], atol=1e-2), math.pi
    weights = []
    for stroke in (expected, turned):
        sketch = pliant.SketchedPose(head_rig)
        sketch.draw(stroke["points"], stroke["camera"])
        weights.append(sketch.weights)
    assert np.abs(weights[0] - weights[1]).max() < 0.05


def test_a_stroke_mirrors_and_has_strength(head):
    context = view(head)
    import pliant as package

    rig = package.load("specimen:head").rig()
    text = stroke_session(context, head, rig).stroke(context)
    bpy.ops.pliant.draw(stroke=text, strength=0.5)
    half = np.abs(values(head)).sum()
    bpy.ops.pliant.reset_pose()
    bpy.ops.pliant.draw(stroke=text, strength=1.0, symmetric=True)
    assert np.abs(values(head)).sum() > half
    assert np.allclose(values(head), rig.mirror_weights(values(head)), atol=1e-6)
    assert np.isfinite(shown(head)).all()


def test_strokes_that_are_none_are_reports(head):
    for stroke in ("", "{}", "[1, 2]", '{"camera": {}, "points": [[0, 0]]}'):
        with pytest.raises(RuntimeError) as error:
            bpy.ops.pliant.draw(stroke=stroke)
        assert message(error).strip()
    assert np.abs(values(head)).max() == 0.0


def test_esc_ends_a_stroke_without_a_change(head, head_rig):
    from bl_ext.user_default.pliant.operators.draw import StrokeSession

    context = view(head)
    at = pixel(context, head_rig.positions[4480])
    drawing = StrokeSession(context, head, event("LEFTMOUSE", "PRESS", at))
    drawing.handle(context, event("MOUSEMOVE", at=(at[0] + 20, at[1])))
    assert drawing.handle(context, event("ESC", "PRESS")) == {"CANCELLED"}
    with pytest.raises(Exception, match="too short"):
        drawing.stroke(context)
    with pytest.raises(Exception, match="no surface"):
        StrokeSession(context, head, event("LEFTMOUSE", "PRESS", (1.0, 1.0)))
