"""Drag a point of the face; shape keys follow."""

from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatVectorProperty, StringProperty

from ..core.pins import parse_pins, pins_text
from ..core.places import moved_directions
from ..core.problem import Problem
from ..scene.curves import insert_options
from ..scene.drag import Drag, DragOptions, ViewDrag, view_normal
from ..scene.picking import Hit, handle_under, in_view_plane, pointer_of, surface_under, view_ray
from ..scene.shape_keys import require_keys
from ..work.operator import EXPECTED, message_of

#: Pixels that the pointer has to move before a press becomes a drag.
THRESHOLD = 3.0

HINT = "Drag: move the point. Release: keep. Esc or right click: restore."


def locked_names(ob: bpy.types.Object) -> set[str]:
    return {lock.name for lock in ob.pliant.locks}


class DragSession:
    """One press, some moves and a release; tests send it events of their own."""

    def __init__(self, context: Any, ob: bpy.types.Object, event: Any, *, symmetric: bool) -> None:
        require_keys(ob)
        self.ob = ob
        self.pressed = pointer_of(event)
        hit = handle_under(context, ob, self.pressed) or surface_under(context, ob, self.pressed)
        if hit is None:
            raise Problem(f"there is no surface of '{ob.name}' under the pointer")
        self.hit: Hit = hit
        self.options = DragOptions(symmetric, locked_names(ob))
        self.view_drag: ViewDrag | None = None
        self.has_moved = False

    def begin(self, context: Any) -> None:
        settings = context.scene.pliant
        held = [pin.vertex for pin in self.ob.pliant.pins] if settings.hold_pins else []
        _, direction = view_ray(context, self.pressed)
        self.view_drag = ViewDrag(
            self.ob,
            self.hit.vertex,
            held,
            view_normal(self.ob, direction),
            context,
            self.options,
            free_depth=settings.depth == "FREE",
        )

    def handle(self, context: Any, event: Any) -> set[str]:
        """What an event does: the answer of a modal operator."""
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self.restore()
            return {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            return {"FINISHED"}
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            self.move(context, pointer_of(event))
        return {"RUNNING_MODAL"}

    def move(self, context: Any, pointer: tuple[float, float]) -> None:
        if not self.has_moved and np.hypot(pointer[0] - self.pressed[0], pointer[1] - self.pressed[1]) < THRESHOLD:
            return
        self.has_moved = True
        if self.view_drag is None:
            self.begin(context)
        start = in_view_plane(context, self.pressed, self.hit.place)
        there = in_view_plane(context, pointer, self.hit.place)
        displacement = moved_directions(self.ob.matrix_world.inverted_safe(), there - start)
        self.view_drag.move(displacement)
        if context.area is not None:
            context.area.tag_redraw()

    def restore(self) -> None:
        if self.view_drag is not None:
            self.view_drag.drag.restore()

    def keep_pin(self) -> None:
        """The point stays as a handle."""
        pins = self.ob.pliant.pins
        if all(pin.vertex != self.hit.vertex for pin in pins):
            pins.add().vertex = self.hit.vertex


class PLIANT_OT_drag(bpy.types.Operator):
    """Press on the face and pull: shape keys follow. The point stays as a small handle that later drags hold"""

    bl_idname = "pliant.drag"
    bl_label = "Drag"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    pins: StringProperty(
        name="Pins",
        description="Vertices with displacements in the space of the shape keys, as in 88:0,-1,0; a vertex alone is held",
    )
    free: FloatVectorProperty(
        name="Free Direction",
        description="Direction in which moved pins are free; zero for none",
        subtype="XYZ",
    )
    symmetric: BoolProperty(name="Mirror", description="Left and right shape keys move together")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.object
        if ob is None or ob.type != "MESH":
            cls.poll_message_set("Select a mesh with shape keys")
            return False
        if ob.mode == "EDIT":
            cls.poll_message_set("Leave Edit Mode first (Tab)")
            return False
        if ob.data.shape_keys is None:
            cls.poll_message_set("The mesh has no shape keys; Transfer Shapes gives it those of another head")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            ob = require_keys(context.object)
            goals = parse_pins(self.pins)
            if not goals:
                raise Problem("there are no pins; write them as VERTEX:dx,dy,dz, or use the Drag tool")
            free = np.array(self.free) if any(self.free) else None
            drag = Drag(ob, goals, DragOptions(self.symmetric, locked_names(ob)), free)
            drag.to_goals()
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        self._finish(context, drag)
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: Any) -> set[str]:
        if self.properties.is_property_set("pins") and self.pins:
            return self.execute(context)
        self.symmetric = context.scene.pliant.symmetric
        if context.region_data is None:
            self.report({"ERROR"}, "Move the pointer over a 3D view first")
            return {"CANCELLED"}
        try:
            self._session = DragSession(context, context.object, event, symmetric=self.symmetric)
        except EXPECTED as error:
            self.report({"WARNING"}, message_of(error))
            return {"CANCELLED", "PASS_THROUGH"}
        context.window_manager.modal_handler_add(self)
        _status(context, HINT)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: Any) -> set[str]:
        session = self._session
        try:
            result = session.handle(context, event)
        except EXPECTED as error:
            session.restore()
            _status(context, None)
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        if result == {"RUNNING_MODAL"}:
            return result
        _status(context, None)
        if result == {"FINISHED"}:
            session.keep_pin()
            if session.view_drag is not None:
                self.pins = pins_text(session.view_drag.goals)
                self.free = session.view_drag.free.tolist()
                self._finish(context, session.view_drag.drag)
        return result

    def cancel(self, context: bpy.types.Context) -> None:
        self._session.restore()
        _status(context, None)

    def _finish(self, context: bpy.types.Context, drag: Drag) -> None:
        """Keyframes, and what the artist should know."""
        if context.scene.tool_settings.use_keyframe_insert_auto:
            _, failed = drag.insert_keys(insert_options(context.preferences))
            for text in failed:
                self.report({"WARNING"}, f"No keyframe for {text}")
        for text in drag.pose.warnings if drag.pose else []:
            self.report({"WARNING"}, text)
        if not drag.changed:
            reason = next(iter(drag.keys.kept.values()), "no free shape key moves this point")
            self.report({"WARNING"}, f"Nothing moved: {reason}")


def _status(context: Any, text: str | None) -> None:
    if context.workspace is not None:
        context.workspace.status_text_set(text)


CLASSES = (PLIANT_OT_drag,)
