"""Retarget a capture of a face onto shape keys, with a map of names that the artist can edit."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

import pliant

from ..core.problem import Problem
from ..core.sampling import capture_frames, reduced
from ..scene.animation import scene_rate
from ..scene.curves import write_curve
from ..scene.handles import Handle
from ..scene.paths import RELATIVE
from ..scene.shape_keys import KeyRig, key_rig, require_keys
from ..work.operator import LongOperator, QuickOperator
from ..work.steps import Background, Steps
from .drag import locked_names


def capture_path(context: bpy.types.Context, path: str) -> str:
    path = path or context.scene.pliant.capture
    if not path:
        raise Problem("choose the file of the capture, in the panel of Capture")
    return bpy.path.abspath(path)


def edited_map(scene: bpy.types.Scene) -> dict[str, Any] | None:
    """The map of the panel, as `Performance.weights` takes it."""
    routes = [
        {"from": route.channel, "to": route.key, "gain": route.gain, "offset": route.offset}
        for route in scene.pliant.routes
        if route.key
    ]
    return {"channels": routes} if routes else None


class PLIANT_OT_capture_map(QuickOperator, bpy.types.Operator):
    """Read the names of a capture, and find the shape key of each channel. The list can be edited"""

    bl_idname = "pliant.capture_map"
    bl_label = "Map Names"

    filepath: StringProperty(name="Capture", subtype="FILE_PATH", options=RELATIVE, description="Empty: the file of the panel")

    def do(self, context: bpy.types.Context) -> None:
        rig = key_rig(context.object)
        path = capture_path(context, self.filepath)
        performance = pliant.Performance.load(path)
        found = performance.guess_map(rig.names)
        settings = context.scene.pliant
        settings.capture = path
        settings.routes.clear()
        for entry in found["channels"]:
            route = settings.routes.add()
            route.channel, route.key = entry["from"], entry["to"]
            route.gain, route.offset, route.how = entry["gain"], entry["offset"], entry["how"]
        for channel in found["unmapped"]:
            settings.routes.add().channel = channel
        for text in performance.notes:
            self.report({"INFO"}, text)
        count = len(found["channels"])
        self.report({"INFO"}, f"{count} routes; {len(found['unmapped'])} channels without a shape key")


class PLIANT_OT_capture_route_add(QuickOperator, bpy.types.Operator):
    """Add a route from a channel to a shape key"""

    bl_idname = "pliant.capture_route_add"
    bl_label = "Add Route"

    channel: StringProperty(name="Channel")
    key: StringProperty(name="Shape Key")

    def do(self, context: bpy.types.Context) -> None:
        settings = context.scene.pliant
        route = settings.routes.add()
        route.channel, route.key, route.how = self.channel, self.key, "given"
        settings.route_index = len(settings.routes) - 1


class PLIANT_OT_capture_route_remove(QuickOperator, bpy.types.Operator):
    """Remove the chosen route"""

    bl_idname = "pliant.capture_route_remove"
    bl_label = "Remove Route"

    def do(self, context: bpy.types.Context) -> None:
        settings = context.scene.pliant
        if not 0 <= settings.route_index < len(settings.routes):
            raise Problem("there is no route to remove")
        settings.routes.remove(settings.route_index)
        settings.route_index = max(settings.route_index - 1, 0)


class PLIANT_OT_capture(LongOperator, bpy.types.Operator):
    """Bring a capture of a face onto the shape keys, as keyframes"""

    bl_idname = "pliant.capture"
    bl_label = "Retarget Capture"

    filepath: StringProperty(name="Capture", subtype="FILE_PATH", options=RELATIVE, description="Empty: the file of the panel")
    start: IntProperty(name="Start Frame", default=0, description="Frame of the first sample; 0: the first of the scene")
    use_map: BoolProperty(name="Use the Map", default=True, description="The map of the panel; else names are matched again")
    clean: BoolProperty(name="Clean", default=False, description="Fill gaps, remove spikes and noise without lag; blinks and closed lips stay")
    sides: EnumProperty(
        name="Sides",
        items=[
            ("own", "As Recorded", "Each side moves by its own channels"),
            ("mirrored", "Mirrored", "Left and right are exchanged"),
            ("symmetric", "Symmetric", "Both sides get the mean of the two"),
        ],
    )
    tolerance: FloatProperty(
        name="Reduce Keys", default=0.0, min=0.0, soft_max=0.05, precision=4,
        description="Leave out keyframes that change a curve by less than this; 0 keeps all",
    )  # fmt: skip

    def steps(self, context: bpy.types.Context) -> Steps:
        scene, ob = context.scene, require_keys(context.object)
        path = capture_path(context, self.filepath)
        rig = key_rig(ob, locked_names(ob))
        names = edited_map(scene) if self.use_map and not self.filepath else None
        handle, clean, sides = Handle(ob), self.clean, self.sides

        def work(progress: Callable[[str, float], bool]) -> Any:
            performance = pliant.Performance.load(path)
            progress("cleaning", 0.3)
            if clean:
                performance = performance.cleaned()
            progress("mapping", 0.6)
            return performance, performance.weights(rig.rig, map=names, sides=sides)

        performance, weights = yield Background("reading the capture", work)
        handle.get()
        start = self.start or scene.frame_start
        frames = capture_frames(performance.times_secs, float(start), scene_rate(scene))
        used = _used_sliders(rig, performance, names)
        keys = self._write(rig, used, frames, weights)
        scene.frame_end = max(scene.frame_end, int(np.ceil(frames[-1])))
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        for k in used:
            name = rig.names[k]
            if rig.controls[k] is None:
                self.report({"WARNING"}, rig.kept.get(name, f"'{name}' cannot move"))
        for text in performance.notes:
            self.report({"INFO"}, text)
        self.report({"INFO"}, f"{len(frames)} samples on {len(used)} shape keys, {keys} keyframes")

    def _write(self, rig: KeyRig, used: list[int], frames: np.ndarray, weights: np.ndarray) -> int:
        count = 0
        locked = rig.rig.locked
        for k in used:
            control = rig.controls[k]
            if control is None or locked[k]:
                continue
            kept = reduced(weights[:, k], self.tolerance) if self.tolerance > 0.0 else np.ones(len(frames), bool)
            write_curve(control.owner, control.path, control.index, frames[kept], control.value_of(weights[kept, k]))
            count += int(kept.sum())
        return count


def _used_sliders(rig: KeyRig, performance: pliant.Performance, names: dict[str, Any] | None) -> list[int]:
    """The sliders to which routes lead."""
    routes = (names or performance.guess_map(rig.names))["channels"]
    targets = {route["to"] for route in routes}
    used = [k for k, name in enumerate(rig.names) if name in targets]
    if not used:
        raise Problem("no channel of the capture has a shape key; fill the map by hand")
    return used


CLASSES = (PLIANT_OT_capture_map, PLIANT_OT_capture_route_add, PLIANT_OT_capture_route_remove, PLIANT_OT_capture)
