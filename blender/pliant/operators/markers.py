"""Marker pairs: the same places on two meshes, picked in the view, mirrored, suggested and checked."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import IntProperty, StringProperty

import pliant

from ..core.places import moved_points
from ..core.problem import Problem
from ..scene.marker_pairs import complete_pairs, replace_pairs, source_and_target
from ..scene.meshes import faces_of, require_vertices, rest_positions
from ..scene.picking import pointer_of, surface_under
from ..work.operator import EXPECTED, LongOperator, QuickOperator, message_of
from ..work.steps import Background, Steps


def world_mesh(ob: bpy.types.Object) -> pliant.Mesh:
    """A mesh at rest, as it stands in the world: two heads that stand alike match better."""
    points = moved_points(ob.matrix_world, rest_positions(ob))
    return pliant.Mesh(points, faces_of(ob.data), name=ob.name)


class PickSession:
    """Clicks on source and target in turn; tests send it events of their own."""

    def __init__(self, context: Any, source: bpy.types.Object, target: bpy.types.Object) -> None:
        self.source, self.target = source, target
        markers = context.scene.pliant.markers
        #: An unfinished pair from before is finished first.
        self.waits_for_target = bool(markers) and markers[-1].target < 0

    @property
    def hint(self) -> str:
        ob = self.target if self.waits_for_target else self.source
        return f"Click on '{ob.name}'. Backspace: remove the last point. Enter or Esc: end."

    def handle(self, context: Any, event: Any) -> set[str]:
        if event.value != "PRESS":
            return {"PASS_THROUGH"}
        if event.type in {"ESC", "RET", "NUMPAD_ENTER", "RIGHTMOUSE"}:
            if self.waits_for_target:
                self.back(context)
            return {"FINISHED"}
        if event.type == "BACK_SPACE":
            self.back(context)
            return {"RUNNING_MODAL"}
        if event.type == "LEFTMOUSE":
            return self.click(context, event)
        # Turning the view goes on.
        return {"PASS_THROUGH"}

    def click(self, context: Any, event: Any) -> set[str]:
        ob = self.target if self.waits_for_target else self.source
        hit = surface_under(context, ob, pointer_of(event))
        if hit is None:
            return {"PASS_THROUGH"}
        markers = context.scene.pliant.markers
        if self.waits_for_target:
            markers[-1].target = hit.vertex
        else:
            markers.add().source = hit.vertex
        context.scene.pliant.marker_index = len(markers) - 1
        self.waits_for_target = not self.waits_for_target
        return {"RUNNING_MODAL"}

    def back(self, context: Any) -> None:
        markers = context.scene.pliant.markers
        if not markers:
            return
        if self.waits_for_target:
            markers.remove(len(markers) - 1)
        else:
            markers[-1].target = -1
        self.waits_for_target = not self.waits_for_target


class PLIANT_OT_markers_pick(bpy.types.Operator):
    """Click on the source, then on the same place of the active mesh, and so on"""

    bl_idname = "pliant.markers_pick"
    bl_label = "Pick Marker Pairs"
    bl_options = {"REGISTER", "UNDO"}

    source: StringProperty(name="Source", description="Object; empty for that of the panel")

    def invoke(self, context: bpy.types.Context, event: Any) -> set[str]:
        try:
            self._session = PickSession(context, *source_and_target(context, self.source))
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(self._session.hint)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: Any) -> set[str]:
        try:
            result = self._session.handle(context, event)
        except EXPECTED as error:
            self.report({"WARNING"}, message_of(error))
            result = {"RUNNING_MODAL"}
        if result == {"FINISHED"}:
            context.workspace.status_text_set(None)
        else:
            context.workspace.status_text_set(self._session.hint)
        if context.area is not None:
            context.area.tag_redraw()
        return result


class PLIANT_OT_marker_add(QuickOperator, bpy.types.Operator):
    """Add a marker pair by vertex numbers"""

    bl_idname = "pliant.marker_add"
    bl_label = "Add Marker Pair"

    source: StringProperty(name="Source", description="Object; empty for that of the panel")
    source_vertex: IntProperty(name="Source Vertex", min=0)
    target_vertex: IntProperty(name="Target Vertex", min=0)

    def do(self, context: bpy.types.Context) -> None:
        source, target = source_and_target(context, self.source)
        require_vertices(source, [self.source_vertex])
        require_vertices(target, [self.target_vertex])
        marker = context.scene.pliant.markers.add()
        marker.source, marker.target = self.source_vertex, self.target_vertex


class PLIANT_OT_marker_remove(QuickOperator, bpy.types.Operator):
    """Remove the chosen marker pair"""

    bl_idname = "pliant.marker_remove"
    bl_label = "Remove Marker Pair"

    index: IntProperty(name="Index", default=-1, description="-1: the chosen pair")

    def do(self, context: bpy.types.Context) -> None:
        settings = context.scene.pliant
        index = settings.marker_index if self.index < 0 else self.index
        if not 0 <= index < len(settings.markers):
            raise Problem("there is no marker pair to remove")
        settings.markers.remove(index)
        settings.marker_index = max(min(index, len(settings.markers) - 1), 0)


class PLIANT_OT_markers_clear(QuickOperator, bpy.types.Operator):
    """Remove all marker pairs"""

    bl_idname = "pliant.markers_clear"
    bl_label = "Clear Marker Pairs"

    def do(self, context: bpy.types.Context) -> None:
        context.scene.pliant.markers.clear()


class PLIANT_OT_markers_mirror(QuickOperator, bpy.types.Operator):
    """Add the pairs of the other side"""

    bl_idname = "pliant.markers_mirror"
    bl_label = "Mirror"

    source: StringProperty(name="Source", description="Object; empty for that of the panel")

    def do(self, context: bpy.types.Context) -> None:
        source, target = source_and_target(context, self.source)
        pairs = complete_pairs(context.scene)
        if not pairs:
            raise Problem("there are no marker pairs to mirror; pick some on one side first")
        mirrored, warnings = pliant.mirror_markers(world_mesh(source), world_mesh(target), np.array(pairs))
        replace_pairs(context.scene, mirrored)
        for text in warnings:
            self.report({"WARNING"}, text)
        self.report({"INFO"}, f"{len(mirrored) - len(pairs)} pairs were added")


class PLIANT_OT_markers_suggest(LongOperator, bpy.types.Operator):
    """Suggest the pairs that help most. Look at them before you use them"""

    bl_idname = "pliant.markers_suggest"
    bl_label = "Suggest"

    source: StringProperty(name="Source", description="Object; empty for that of the panel")
    count: IntProperty(name="Count", default=8, min=1, max=200)

    def steps(self, context: bpy.types.Context) -> Steps:
        source, target = source_and_target(context, self.source)
        meshes = world_mesh(source), world_mesh(target)
        pairs = complete_pairs(context.scene)

        def work(progress: Callable[[str, float], bool]) -> np.ndarray:
            given = np.array(pairs) if pairs else None
            return pliant.suggest_markers(*meshes, markers=given, count=self.count, progress=progress)

        found = yield Background("comparing the meshes", work)
        replace_pairs(bpy.context.scene, np.array([*pairs, *found.tolist()]))
        self.report({"INFO"}, f"{len(found)} pairs were suggested; look at them before you use them")


class PLIANT_OT_markers_check(QuickOperator, bpy.types.Operator):
    """Find pairs that contradict the others, and say what is wrong with them"""

    bl_idname = "pliant.markers_check"
    bl_label = "Check"

    source: StringProperty(name="Source", description="Object; empty for that of the panel")

    def do(self, context: bpy.types.Context) -> None:
        source, target = source_and_target(context, self.source)
        markers = [m for m in context.scene.pliant.markers if m.source >= 0 and m.target >= 0]
        if not markers:
            raise Problem("there are no marker pairs to check")
        pairs = np.array([(m.source, m.target) for m in markers])
        check = pliant.check_markers(world_mesh(source), world_mesh(target), pairs)
        wrong = 0
        for marker, verdict in zip(markers, check["pairs"]):
            marker.note = "; ".join(verdict["messages"])
            wrong += verdict["wrong"]
        for text in check["warnings"]:
            self.report({"WARNING"}, text)
        self.report({"INFO"}, f"{wrong} of {len(markers)} pairs are wrong" if wrong else f"{len(markers)} pairs, none is wrong")


CLASSES = (
    PLIANT_OT_markers_pick,
    PLIANT_OT_marker_add,
    PLIANT_OT_marker_remove,
    PLIANT_OT_markers_clear,
    PLIANT_OT_markers_mirror,
    PLIANT_OT_markers_suggest,
    PLIANT_OT_markers_check,
)
