"""Draw a stroke on brow, lid or lip; shape keys follow."""

import json
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

import pliant

from ..core.cameras import rest_space, view_camera
from ..core.problem import Problem
from ..scene.curves import insert_options
from ..scene.meshes import visible_positions
from ..scene.picking import pointer_of, surface_under
from ..scene.shape_keys import key_rig, require_keys
from ..scene.space import deformation
from ..work.operator import EXPECTED, message_of
from .drag import PLIANT_OT_drag, locked_names

#: Pixels between two points of a stroke.
SPACING = 3.0

HINT = "Draw the new line of a brow, lid or lip. Release: apply. Esc: cancel."


class StrokeSession:
    """A line of the pointer over a face; tests send it events of their own."""

    def __init__(self, context: Any, ob: bpy.types.Object, event: Any) -> None:
        require_keys(ob)
        self.ob = ob
        self.points = [pointer_of(event)]
        if surface_under(context, ob, self.points[0]) is None:
            raise Problem(f"there is no surface of '{ob.name}' under the pointer; start the stroke on the face")

    def handle(self, context: Any, event: Any) -> set[str]:
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            return {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            return {"FINISHED"}
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            pointer = pointer_of(event)
            if np.hypot(*(np.subtract(pointer, self.points[-1]))) >= SPACING:
                self.points.append(pointer)
                if context.area is not None:
                    context.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def stroke(self, context: Any) -> str:
        """The stroke and its camera in the space of the shape keys, as text for the operator."""
        if len(self.points) < 4:
            raise Problem("the stroke is too short; draw along the whole brow, lid or lip")
        ob, region, view = self.ob, context.region, context.region_data
        middle = self.points[len(self.points) // 2]
        hit = surface_under(context, ob, middle) or surface_under(context, ob, self.points[0])
        if hit is None:
            raise Problem("the stroke lies beside the surface; draw it on the face")
        camera = view_camera(
            view.view_matrix, view.window_matrix, region.width, region.height, view.is_perspective, hit.place
        )
        depsgraph = context.evaluated_depsgraph_get()
        shown = visible_positions(ob, depsgraph)[hit.vertex]
        rig = key_rig(ob)
        rest = rig.rig.evaluate(rig.weights)[hit.vertex]
        with deformation(ob, depsgraph, context.scene) as maps:
            to_rest = rest_space(maps.at(hit.vertex), rest, shown)
        local = camera.through(np.array(ob.matrix_world.inverted_safe())).through(to_rest)
        return json.dumps({"camera": local.as_dict(), "points": local.pixels(self.points).round(3).tolist()})


class PLIANT_OT_draw(bpy.types.Operator):
    """Draw how a brow, a lid or a lip should bend: shape keys follow the stroke"""

    bl_idname = "pliant.draw"
    bl_label = "Draw"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    stroke: StringProperty(
        name="Stroke",
        description='A stroke file as text: {"camera": …, "points": [[x, y], …]}, in the space of the shape keys',
        options={"HIDDEN"},
    )
    feature: EnumProperty(
        name="Feature",
        items=[
            ("auto", "Automatic", "The feature that the stroke is on, by the names of the shape keys"),
            ("brow", "Brow", "Only shape keys of the brows follow"),
            ("lid", "Lid", "Only shape keys of the lids follow"),
            ("lip", "Lip", "Only shape keys of lips and jaw follow"),
            ("jaw", "Jaw", "Only shape keys of jaw and lips follow"),
            ("cheek", "Cheek", "Only shape keys of cheeks and lips follow"),
            ("nose", "Nose", "Only shape keys of the nose follow"),
            ("any", "Any", "All shape keys may follow"),
        ],
        description="What the stroke is drawn on",
    )
    ends: EnumProperty(
        name="Ends",
        items=[
            ("auto", "Automatic", "Whichever the shape keys can follow"),
            ("against", "Against the Bow", "The corners of a smile go up"),
            ("with", "With the Bow", "The ends of a brow go up"),
        ],
        description="Where the ends of the stroke are pulled",
    )
    strength: FloatProperty(name="Strength", default=1.0, min=0.0, soft_max=3.0, description="How far the surface follows")
    symmetric: BoolProperty(name="Mirror", description="Draw on both sides")

    poll = PLIANT_OT_drag.poll

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            changed, report = self._apply(context)
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        if report["cut"]:
            self.report({"WARNING"}, "A part of the stroke lies beside the surface and was left out")
        if not changed:
            self.report({"WARNING"}, "Nothing moved: no free shape key follows this stroke")
        return {"FINISHED"}

    def _apply(self, context: bpy.types.Context) -> tuple[list[int], dict[str, Any]]:
        ob = require_keys(context.object)
        try:
            stroke = json.loads(self.stroke)
            camera, points = stroke["camera"], stroke["points"]
        except (ValueError, KeyError, TypeError):
            raise Problem("there is no stroke; use the Draw tool, or give one as text") from None
        rig = key_rig(ob, locked_names(ob))
        sketch = pliant.SketchedPose(rig.rig, rig.weights, symmetric=self.symmetric)
        scale = 0.5 * self.strength
        report = sketch.draw(points, camera, feature=self.feature, ends=self.ends, middle_scale=scale, side_scale=scale)
        changed = rig.write(sketch.weights)
        if context.scene.tool_settings.use_keyframe_insert_auto:
            options = insert_options(context.preferences)
            for k in changed:
                if "INSERTKEY_AVAILABLE" not in options or rig.controls[k].is_animated:
                    rig.controls[k].insert_key(options)
        return changed, report

    def invoke(self, context: bpy.types.Context, event: Any) -> set[str]:
        self.symmetric = context.scene.pliant.symmetric
        if context.region_data is None:
            self.report({"ERROR"}, "Move the pointer over a 3D view first")
            return {"CANCELLED"}
        try:
            self._session = StrokeSession(context, context.object, event)
        except EXPECTED as error:
            self.report({"WARNING"}, message_of(error))
            return {"CANCELLED", "PASS_THROUGH"}
        PLIANT_OT_draw.line = self._session.points
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(HINT)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: Any) -> set[str]:
        result = self._session.handle(context, event)
        if result == {"RUNNING_MODAL"}:
            return result
        PLIANT_OT_draw.line = []
        context.workspace.status_text_set(None)
        if result == {"CANCELLED"}:
            return result
        try:
            self.stroke = self._session.stroke(context)
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        return self.execute(context)


#: The line that is being drawn, in pixels, for the overlay.
PLIANT_OT_draw.line = []

CLASSES = (PLIANT_OT_draw,)
