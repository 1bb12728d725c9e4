"""Pins, locks and keyframes of a pose."""

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..core.problem import Problem
from ..scene.meshes import require_mesh, require_vertices
from ..scene.picking import handle_under, pointer_of, surface_under
from ..scene.shape_keys import key_rig, require_keys
from ..work.operator import QuickOperator


class PLIANT_OT_pin_add(QuickOperator, bpy.types.Operator):
    """Hold a point of the face: later drags keep it in its place"""

    bl_idname = "pliant.pin_add"
    bl_label = "Add Pin"

    vertex: IntProperty(name="Vertex", min=0, description="The vertex that is held")

    def invoke(self, context: bpy.types.Context, event: Any) -> set[str]:
        if context.region_data is not None and context.object is not None:
            hit = surface_under(context, context.object, pointer_of(event))
            if hit is None:
                return {"PASS_THROUGH"}
            self.vertex = hit.vertex
        return self.execute(context)

    def do(self, context: bpy.types.Context) -> None:
        ob = require_mesh(context.object)
        require_vertices(ob, [self.vertex])
        if all(pin.vertex != self.vertex for pin in ob.pliant.pins):
            ob.pliant.pins.add().vertex = self.vertex


class PLIANT_OT_pin_remove(QuickOperator, bpy.types.Operator):
    """Release a held point"""

    bl_idname = "pliant.pin_remove"
    bl_label = "Remove Pin"

    vertex: IntProperty(name="Vertex", min=0, description="The vertex that is released")

    def invoke(self, context: bpy.types.Context, event: Any) -> set[str]:
        if context.region_data is not None and context.object is not None:
            hit = handle_under(context, context.object, pointer_of(event))
            if hit is None:
                return {"PASS_THROUGH"}
            self.vertex = hit.vertex
        return self.execute(context)

    def do(self, context: bpy.types.Context) -> None:
        ob = require_mesh(context.object)
        for index, pin in enumerate(ob.pliant.pins):
            if pin.vertex == self.vertex:
                ob.pliant.pins.remove(index)
                return
        raise Problem(f"'{ob.name}' has no pin at vertex {self.vertex}")


class PLIANT_OT_pins_clear(QuickOperator, bpy.types.Operator):
    """Release all held points"""

    bl_idname = "pliant.pins_clear"
    bl_label = "Clear Pins"

    def do(self, context: bpy.types.Context) -> None:
        require_mesh(context.object).pliant.pins.clear()


class PLIANT_OT_lock(QuickOperator, bpy.types.Operator):
    """Lock a shape key, so that drags and strokes keep its value"""

    bl_idname = "pliant.lock"
    bl_label = "Lock Shape Key"

    key: StringProperty(name="Shape Key", description="Name; empty for the active shape key")
    lock: BoolProperty(name="Lock", default=True)

    def do(self, context: bpy.types.Context) -> None:
        ob = require_keys(context.object)
        name = self.key or (ob.active_shape_key.name if ob.active_shape_key else "")
        if name not in ob.data.shape_keys.key_blocks:
            raise Problem(f"'{ob.name}' has no shape key '{name}'")
        index = ob.pliant.locks.find(name)
        if self.lock and index < 0:
            ob.pliant.locks.add().name = name
        elif not self.lock and index >= 0:
            ob.pliant.locks.remove(index)


class PLIANT_OT_locks_clear(QuickOperator, bpy.types.Operator):
    """Unlock all shape keys"""

    bl_idname = "pliant.locks_clear"
    bl_label = "Unlock All"

    def do(self, context: bpy.types.Context) -> None:
        require_mesh(context.object).pliant.locks.clear()


class PLIANT_OT_key_pose(QuickOperator, bpy.types.Operator):
    """Insert a keyframe for every shape key of the face, or for the property that drives it"""

    bl_idname = "pliant.key_pose"
    bl_label = "Key Pose"

    only_active: BoolProperty(name="Only Moved", default=False, description="Leave out shape keys that are at rest")

    def do(self, context: bpy.types.Context) -> None:
        rig = key_rig(context.object)
        count = 0
        for control, weight in zip(rig.controls, rig.weights):
            if control is None or (self.only_active and abs(weight) < 1e-4):
                continue
            # What the artist asks for by a button also makes new curves.
            count += control.insert_key(set())
        self.report({"INFO"}, f"{count} keyframes")


class PLIANT_OT_reset_pose(QuickOperator, bpy.types.Operator):
    """Bring all shape keys that are not locked to rest"""

    bl_idname = "pliant.reset_pose"
    bl_label = "Reset Pose"

    def do(self, context: bpy.types.Context) -> None:
        ob = context.object
        rig = key_rig(ob, {lock.name for lock in ob.pliant.locks} if ob else set())
        locked = rig.rig.locked
        limits = rig.rig.limits
        rest = [w if held else min(max(0.0, low), high) for w, held, (low, high) in zip(rig.weights, locked, limits)]
        rig.write(rest)


CLASSES = (
    PLIANT_OT_pin_add,
    PLIANT_OT_pin_remove,
    PLIANT_OT_pins_clear,
    PLIANT_OT_lock,
    PLIANT_OT_locks_clear,
    PLIANT_OT_key_pose,
    PLIANT_OT_reset_pose,
)
