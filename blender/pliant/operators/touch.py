"""Touch: brush a soft patch, and press with an object."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

import pliant

from ..core.pins import parse_discs
from ..core.places import moved_directions, moved_points
from ..core.problem import Problem
from ..core.sampling import sampled_frames
from ..scene.animation import cache_path, frame_range, read_frames, scene_rate, world_positions, write_cache, write_keys
from ..scene.handles import Handle
from ..scene.meshes import faces_of, require_editable, require_mesh, require_vertices, rest_positions
from ..scene.paths import RELATIVE
from ..scene.picking import pointer_of, surface_under
from ..scene.shape_keys import add_key
from ..scene.solids import pose_of, solid_of
from ..scene.space import deformation
from ..work.operator import EXPECTED, LongOperator, QuickOperator, message_of
from ..work.steps import Background, Steps

HINT = "Brush over the skin that becomes soft. Release: keep. Esc: cancel."


def default_radius(ob: bpy.types.Object) -> float:
    """A twelfth of the object, in the units of the scene."""
    return max(ob.dimensions) / 12.0


class BrushSession:
    """Discs along the path of the pointer; tests send it events of their own."""

    def __init__(self, context: Any, ob: bpy.types.Object, event: Any, radius: float) -> None:
        self.ob = require_mesh(ob)
        self.radius = radius or default_radius(ob)
        self.places: list[np.ndarray] = []
        self.added = 0
        self.brush(context, event)
        if not self.places:
            raise Problem(f"there is no surface of '{ob.name}' under the pointer")

    def brush(self, context: Any, event: Any) -> None:
        hit = surface_under(context, self.ob, pointer_of(event))
        if hit is None:
            return
        # Discs half a radius apart cover the path.
        if any(np.linalg.norm(place - hit.place) < 0.5 * self.radius for place in self.places):
            return
        self.places.append(hit.place)
        disc = self.ob.pliant.discs.add()
        disc.vertex, disc.radius = hit.vertex, self.radius
        self.added += 1

    def handle(self, context: Any, event: Any) -> set[str]:
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            for _ in range(self.added):
                self.ob.pliant.discs.remove(len(self.ob.pliant.discs) - 1)
            return {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            return {"FINISHED"}
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            self.brush(context, event)
            if context.area is not None:
                context.area.tag_redraw()
        return {"RUNNING_MODAL"}


class PLIANT_OT_touch_brush(bpy.types.Operator):
    """Brush over the skin that becomes soft; Touch presses on this patch"""

    bl_idname = "pliant.touch_brush"
    bl_label = "Brush Patch"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    discs: StringProperty(name="Discs", description="Vertices and radii, as in 2134:4; 80:2.5", options={"SKIP_SAVE"})
    radius: FloatProperty(name="Radius", default=0.0, min=0.0, description="0: that of the panel", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.object
        if ob is None or ob.type != "MESH" or ob.mode == "EDIT":
            cls.poll_message_set("Select a mesh, outside Edit Mode")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            ob = require_mesh(context.object)
            discs = parse_discs(self.discs)
            if not discs:
                raise Problem("there are no discs; write them as VERTEX:RADIUS, or use the Touch tool")
            require_vertices(ob, [vertex for vertex, _ in discs])
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        for vertex, radius in discs:
            disc = ob.pliant.discs.add()
            disc.vertex, disc.radius = vertex, radius
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: Any) -> set[str]:
        if self.discs:
            return self.execute(context)
        if context.region_data is None:
            self.report({"ERROR"}, "Move the pointer over a 3D view first")
            return {"CANCELLED"}
        radius = self.radius or context.scene.pliant.brush_radius
        try:
            self._session = BrushSession(context, context.object, event, radius)
        except EXPECTED as error:
            self.report({"WARNING"}, message_of(error))
            return {"CANCELLED", "PASS_THROUGH"}
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(HINT)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: Any) -> set[str]:
        try:
            result = self._session.handle(context, event)
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            result = {"CANCELLED"}
        if result != {"RUNNING_MODAL"}:
            context.workspace.status_text_set(None)
        return result


class PLIANT_OT_touch_clear(QuickOperator, bpy.types.Operator):
    """Remove the soft patch"""

    bl_idname = "pliant.touch_clear"
    bl_label = "Clear Patch"

    def do(self, context: bpy.types.Context) -> None:
        require_mesh(context.object).pliant.discs.clear()


class PLIANT_OT_touch(LongOperator, bpy.types.Operator):
    """Press on the soft patch with an object, and keep the result as shape keys or as a point cache"""

    bl_idname = "pliant.touch"
    bl_label = "Touch"

    collider: StringProperty(name="Collider", description="The object that presses; empty for that of the panel")
    discs: StringProperty(name="Patch", description="Vertices and radii, as in 2134:4; empty for the brushed patch")
    output: EnumProperty(
        name="Result",
        items=[
            ("KEY", "Shape Key", "The last frame as one shape key"),
            ("KEYS", "Animated Shape Keys", "One shape key for each frame, with keyframes"),
            ("CACHE", "Point Cache", "A file with all frames, and a Mesh Cache modifier"),
        ],
        default="KEY",
    )
    first: IntProperty(name="First Frame", default=0, description="0 and 0: the frames of the scene")
    last: IntProperty(name="Last Frame", default=0)
    friction: FloatProperty(name="Friction", default=0.3, min=0.0, soft_max=1.0)
    frequency: FloatProperty(
        name="Stiffness", default=0.0, min=0.0, soft_max=60.0, description="In oscillations per second; 0: that of skin"
    )
    filepath: StringProperty(name="Cache File", subtype="FILE_PATH", options=RELATIVE, description="Empty: beside the file")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in ("output", "first", "last", "friction", "frequency"):
            layout.prop(self, name)
        if self.output == "CACHE":
            layout.prop(self, "filepath")

    def steps(self, context: bpy.types.Context) -> Steps:
        scene, ob = context.scene, require_editable(require_mesh(context.object))
        collider = bpy.data.objects.get(self.collider) if self.collider else scene.pliant.collider
        if collider is None:
            raise Problem("choose the object that presses, in the panel of Touch")
        if collider == ob:
            raise Problem("a mesh cannot press on itself; choose another object as collider")
        discs = parse_discs(self.discs) or [(disc.vertex, disc.radius) for disc in ob.pliant.discs]
        if not discs:
            raise Problem("there is no soft patch; brush one with the Touch tool")
        require_vertices(ob, [vertex for vertex, _ in discs])
        first, last = frame_range(scene, self.first, self.last)
        frames = sampled_frames(first, last)
        if self.output == "CACHE":
            # Better now than after the work.
            cache_path(ob, "Touch", self.filepath)
        rate = scene_rate(scene)
        handle = Handle(ob)

        matrices: list[np.ndarray] = []

        def read(depsgraph: bpy.types.Depsgraph) -> tuple[np.ndarray, Any]:
            matrices.append(np.array(ob.evaluated_get(depsgraph).matrix_world))
            return world_positions(ob, depsgraph), pose_of(collider, depsgraph)

        found = yield from read_frames(scene, frames, read)
        shapes = [positions for positions, _ in found]
        poses = [pose for _, pose in found]
        solid = solid_of(collider, context.evaluated_depsgraph_get(), poses)
        mesh = pliant.Mesh(shapes[0], faces_of(ob.data), name=ob.name)
        options: dict[str, Any] = {"friction": self.friction}
        if self.frequency > 0.0:
            options["material"] = {"frequency_hz": self.frequency}

        def work(progress: Callable[[str, float], bool]) -> tuple[np.ndarray, np.ndarray, float, bool]:
            touch = pliant.Touch(mesh, discs, colliders=[solid], **options)
            results, deepest, reached = [], 0.0, False
            for k, (shape, pose) in enumerate(zip(shapes, poses)):
                report = touch.step(1.0 / rate, shape=shape, colliders=[pose.motion])
                deepest = max(deepest, report["max_penetration"])
                reached |= report["max_displacement"] > 0.0
                results.append(touch.positions)
                if not progress("pressing", (k + 1) / len(shapes)):
                    raise pliant.Stopped
            return np.array(results), touch.vertices, deepest, reached

        results, vertices, deepest, reached = yield Background("pressing", work)
        ob = handle.get()
        yield from self._write(context, ob, frames, np.array(shapes), results, vertices, matrices)
        if not reached:
            self.report({"WARNING"}, f"'{collider.name}' does not reach the patch in frames {first} to {last}")
        else:
            self.report({"INFO"}, f"{len(vertices)} soft vertices; deepest penetration {deepest:.2g}")

    def _write(
        self,
        context: bpy.types.Context,
        ob: bpy.types.Object,
        frames: list[int],
        shapes: np.ndarray,
        results: np.ndarray,
        vertices: np.ndarray,
        matrices: list[np.ndarray],
    ) -> Steps:
        inverses = [np.linalg.inv(matrix) for matrix in matrices]
        if self.output == "CACHE":
            local = np.array([moved_points(inverse, shape) for inverse, shape in zip(inverses, results)])
            yield from write_cache(ob, "Touch", frames[0], scene_rate(context.scene), local, self.filepath)
            return

        # The change of each frame, back through the armature, on the undeformed mesh.
        chosen = range(len(frames)) if self.output == "KEYS" else [len(frames) - 1]
        base = rest_positions(ob)

        def change(depsgraph: bpy.types.Depsgraph, k: int) -> np.ndarray:
            moved = moved_directions(inverses[k], results[k][vertices] - shapes[k][vertices])
            with deformation(ob, depsgraph, context.scene) as maps:
                original = maps.to_original(vertices, moved)
            shape = base.copy()
            shape[vertices] += original
            return shape

        order = iter(chosen)
        found = yield from read_frames(
            context.scene, [frames[k] for k in chosen], lambda depsgraph: change(depsgraph, next(order))
        )
        written = np.array(found)
        if self.output == "KEY":
            add_key(ob, "Touch", written[0], value=1.0)
        else:
            write_keys(ob, "Touch", [float(frame) for frame in frames], written)


CLASSES = (PLIANT_OT_touch_brush, PLIANT_OT_touch_clear, PLIANT_OT_touch)
