"""Physical in-betweens: shapes between two shapes that keep their volume, also around obstacles."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

import pliant

from ..core.places import moved_points
from ..core.problem import Problem
from ..core.sampling import sampled_frames
from ..scene.animation import cache_path, frame_range, read_frames, scene_rate, write_cache, write_keys
from ..scene.handles import Handle
from ..scene.meshes import faces_of, require_editable, require_mesh, rest_positions
from ..scene.paths import RELATIVE
from ..scene.shape_keys import add_key, shape_of_key
from ..scene.solids import pose_of, solid_of
from ..work.operator import LongOperator
from ..work.steps import Background, Steps


def key_items(self: Any, context: bpy.types.Context | None, text: str) -> list[str]:
    """Names of shape keys, for the search field of a name."""
    ob = context.object if context else None
    keys = ob.data.shape_keys if ob and ob.type == "MESH" else None
    return [block.name for block in keys.key_blocks] if keys else []


class PLIANT_OT_in_between(LongOperator, bpy.types.Operator):
    """Make the shapes between two shapes, in which parts rotate and keep their lengths instead of shrinking"""

    bl_idname = "pliant.in_between"
    bl_label = "Physical In-between"

    first_key: StringProperty(name="From", description="Shape key; empty for the basis", search=key_items)
    second_key: StringProperty(name="To", description="Shape key; empty for the active one", search=key_items)
    other: StringProperty(name="To Mesh", description="Another mesh with the same vertices, instead of a shape key")
    output: EnumProperty(
        name="Result",
        items=[
            ("KEYS", "Shape Keys", "In-between shape keys"),
            ("ANIMATION", "Animated Shape Keys", "A shape key for each step, with keyframes over the frames"),
            ("CACHE", "Point Cache", "A file with all frames, and a Mesh Cache modifier"),
        ],
        default="KEYS",
    )
    count: IntProperty(name="In-betweens", default=3, min=1, max=120, description="Shapes between the two")
    first: IntProperty(name="First Frame", default=0, description="0 and 0: the frames of the scene")
    last: IntProperty(name="Last Frame", default=0)
    obstacles: StringProperty(name="Obstacles", description="Objects that the shapes go around, as in Ball, Table; * for the selected ones")
    self_contact: BoolProperty(name="Self-contact", description="The surface does not pass through itself")
    filepath: StringProperty(name="Cache File", subtype="FILE_PATH", options=RELATIVE, description="Empty: beside the file")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        names = ["first_key", "second_key", "other", "output", "count" if self.output != "CACHE" else "filepath"]
        if self.output != "KEYS":
            names += ["first", "last"]
        for name in [*names, "obstacles", "self_contact"]:
            layout.prop(self, name)

    def steps(self, context: bpy.types.Context) -> Steps:
        scene, ob = context.scene, require_editable(require_mesh(context.object))
        start, end, name = self._shapes(ob)
        matrix = np.array(ob.matrix_world)
        obstacles = self._obstacles(context, ob)
        if self.output == "CACHE":
            # Better now than after the work.
            cache_path(ob, name, self.filepath)
        if self.output == "KEYS":
            frames = [scene.frame_current]
            weights = np.linspace(0.0, 1.0, self.count + 2)[1:-1]
        else:
            first, last = frame_range(scene, self.first, self.last)
            frames = sampled_frames(first, last)
            if self.output == "ANIMATION":
                picked = np.unique(np.linspace(0, len(frames) - 1, self.count + 2).round().astype(int))
                frames = [frames[k] for k in picked]
            weights = (np.array(frames) - first) / max(last - first, 1)

        solids = []
        if obstacles:
            poses = yield from read_frames(
                scene, frames, lambda depsgraph: [pose_of(solid, depsgraph) for solid in obstacles]
            )
            depsgraph = context.evaluated_depsgraph_get()
            for k, solid in enumerate(obstacles):
                own = [row[k] for row in poses]
                solids.append(solid_of(solid, depsgraph, own).moving([pose.motion for pose in own]))

        handle = Handle(ob)
        faces = faces_of(ob.data)
        meshes = [pliant.Mesh(moved_points(matrix, shape), faces, name=ob.name) for shape in (start, end)]

        def work(progress: Callable[[str, float], bool]) -> tuple[np.ndarray, list[str]]:
            blend = pliant.Blend(meshes, obstacles=solids, self_contact=self.self_contact, progress=progress)
            shapes = []
            for k, weight in enumerate(weights):
                time = float(k) if len(frames) > 1 else 0.0
                frame = blend.at([1.0 - weight, weight], time=time)
                shapes.append(frame.positions)
                if not progress("in-betweens", (k + 1) / len(weights)):
                    raise pliant.Stopped
            return np.array(shapes), blend.warnings

        shapes, warnings = yield Background("preparing the blend", work)
        ob = handle.get()
        local = moved_points(np.linalg.inv(matrix), shapes)
        if self.output == "CACHE":
            yield from write_cache(ob, name, frames[0], scene_rate(scene), local, self.filepath)
        elif self.output == "ANIMATION":
            write_keys(ob, name, [float(frame) for frame in frames], local)
        else:
            for weight, shape in zip(weights, local):
                add_key(ob, f"{name} {weight:.0%}", shape)
        for text in warnings:
            self.report({"WARNING"}, text)
        self.report({"INFO"}, f"{len(local)} in-betweens from {name}")

    def _shapes(self, ob: bpy.types.Object) -> tuple[np.ndarray, np.ndarray, str]:
        """The two shapes in the object's space, and what to call the path."""
        start = shape_of_key(ob, self.first_key) if self.first_key else rest_positions(ob)
        start_name = self.first_key or "Basis"
        if self.other:
            other = require_mesh(bpy.data.objects.get(self.other), f"'{self.other}'")
            if len(other.data.vertices) != len(ob.data.vertices):
                raise Problem(
                    f"'{other.name}' has {len(other.data.vertices)} vertices and '{ob.name}' {len(ob.data.vertices)}; "
                    "in-betweens need two shapes of one mesh"
                )
            return start, rest_positions(other), f"{start_name}-{other.name}"
        if ob.data.shape_keys is None:
            raise Problem(f"'{ob.name}' has no shape keys; choose another mesh with the same vertices")
        second = self.second_key or (ob.active_shape_key.name if ob.active_shape_key else "")
        end = shape_of_key(ob, second)
        if np.abs(end - start).max() == 0.0:
            raise Problem(f"'{start_name}' and '{second}' are the same shape; choose two different ones")
        return start, end, f"{start_name}-{second}"

    def _obstacles(self, context: bpy.types.Context, ob: bpy.types.Object) -> list[bpy.types.Object]:
        if self.obstacles.strip() == "*":
            chosen = [other for other in context.selected_objects if other != ob and other.type == "MESH"]
            return [require_mesh(other) for other in chosen]
        names = [name.strip() for name in self.obstacles.split(",") if name.strip()]
        return [require_mesh(bpy.data.objects.get(name), f"the obstacle '{name}'") for name in names]


CLASSES = (PLIANT_OT_in_between,)
