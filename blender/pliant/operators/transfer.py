"""Give a head the shape keys of another, and a mesh the animation of another."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

import pliant

from ..core.places import moved_directions, moved_points
from ..core.problem import Problem
from ..core.sampling import sampled_frames
from ..scene.animation import MOST_KEYS, cache_path, frame_range, scene_rate, world_clip, write_cache, write_keys
from ..scene.handles import Handle
from ..scene.marker_pairs import source_and_target, usable_pairs
from ..scene.meshes import faces_of, require_editable, rest_positions
from ..scene.paths import RELATIVE
from ..scene.shape_keys import add_key, read_keys
from ..work.operator import LongOperator
from ..work.steps import Background, Steps
from .markers import world_mesh

METHODS = [
    ("auto", "Automatic", "Registration, or none for meshes with the same vertices"),
    ("registration", "Registration", "One surface is deformed onto the other"),
    ("warp", "Warp", "By marker pairs alone"),
    ("identity", "Same Vertices", "The meshes have the same vertices in the same order"),
]


def world_rig(ob: bpy.types.Object) -> pliant.Rig:
    """The shape keys of an object in the world, each as one target, whatever drives it."""
    if ob.data.shape_keys is None or len(ob.data.shape_keys.key_blocks) < 2:
        raise Problem(f"the source '{ob.name}' has no shape keys to transfer")
    shapes = read_keys(ob)
    matrix = np.array(ob.matrix_world)
    deltas = moved_directions(matrix, shapes.deltas)
    return pliant.Rig(
        moved_points(matrix, shapes.basis), faces_of(ob.data), deltas, shapes.names, limits=shapes.limits, name=ob.name
    )


class PLIANT_OT_transfer_shapes(LongOperator, bpy.types.Operator):
    """Give the active mesh the shape keys of the source. The meshes may have different vertices"""

    bl_idname = "pliant.transfer_shapes"
    bl_label = "Transfer Shapes"

    source: StringProperty(name="Source", description="Object with shape keys; empty for that of the panel")
    method: EnumProperty(name="Matching", items=METHODS, default="auto")
    closures: BoolProperty(name="Close Lids and Lips", default=True, description="What closes on the source also closes on the target")
    existing: EnumProperty(
        name="Existing Keys",
        items=[
            ("REPLACE", "Replace", "A key of the same name gets the new shape; locked shape keys stay"),
            ("ADD", "Add", "A key of the same name stays, and the new one gets a number"),
            ("SKIP", "Keep", "A key of the same name stays, and the new one is left out"),
        ],
        default="REPLACE",
    )

    def steps(self, context: bpy.types.Context) -> Steps:
        source, target = source_and_target(context, self.source)
        require_editable(target)
        rig, mesh = world_rig(source), world_mesh(target)
        markers = usable_pairs(context.scene, source, target)
        handle = Handle(target)
        closures, method = self.closures, self.method

        def work(progress: Callable[[str, float], bool]) -> Any:
            return pliant.transfer_shapes(rig, mesh, markers=markers, method=method, closures=closures, progress=progress)

        found, reports = yield Background("matching the meshes", work)
        target = handle.get()
        inverse = np.linalg.inv(np.array(target.matrix_world))
        local = moved_directions(inverse, found.deltas)
        base = rest_positions(target)
        limits = dict(zip(rig.names, rig.limits))
        counts = {"new": 0, "replaced": 0, "kept": 0}
        for name, delta in zip(found.names, local):
            counts[self._write(target, name, base + delta, tuple(limits[name]))] += 1
        for report in reports:
            for text in report["warnings"]:
                self.report({"WARNING"}, f"{report['name']}: {text}")
        text = f"{counts['new']} shape keys were added"
        if counts["replaced"]:
            text += f", {counts['replaced']} replaced"
        if counts["kept"]:
            text += f", {counts['kept']} kept"
        self.report({"INFO"}, text)

    def _write(self, target: bpy.types.Object, name: str, shape: np.ndarray, limits: tuple[float, float]) -> str:
        keys = target.data.shape_keys
        block = keys.key_blocks.get(name) if keys else None
        if block is None or self.existing == "ADD" or block == keys.reference_key:
            add_key(target, name, shape, limits=limits)
            return "new"
        if self.existing == "SKIP" or block.lock_shape:
            return "kept"
        if block.relative_key != keys.reference_key:
            block.relative_key = keys.reference_key
        block.points.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())
        target.data.update()
        return "replaced"


class PLIANT_OT_transfer_animation(LongOperator, bpy.types.Operator):
    """Give the active mesh the animation of the source. The meshes may have different vertices and proportions"""

    bl_idname = "pliant.transfer_animation"
    bl_label = "Transfer Animation"

    source: StringProperty(name="Source", description="Animated object; empty for that of the panel")
    method: EnumProperty(name="Matching", items=METHODS, default="auto")
    output: EnumProperty(
        name="Result",
        items=[
            ("CACHE", "Point Cache", "A file with all frames, and a Mesh Cache modifier"),
            ("KEYS", "Animated Shape Keys", "One shape key for each frame, with keyframes"),
        ],
        default="CACHE",
    )
    first: IntProperty(name="First Frame", default=0, description="0 and 0: the frames of the scene")
    last: IntProperty(name="Last Frame", default=0)
    step: IntProperty(name="Step", default=1, min=1, description="Only every so many frames, for shape keys")
    root: EnumProperty(
        name="Root Motion",
        items=[("carry", "Keep", "The target moves through the scene as the source does"), ("fix", "Remove", "The target stays in its place")],
    )
    align_poses: BoolProperty(name="Align Poses", description="The rest poses differ, as a T-pose and an A-pose do")
    feet: BoolProperty(name="Plant Feet", description="Feet that stand do not slide")
    filepath: StringProperty(name="Cache File", subtype="FILE_PATH", options=RELATIVE, description="Empty: beside the file")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in ("method", "output", "first", "last", "root", "align_poses", "feet"):
            layout.prop(self, name)
        layout.prop(self, "filepath" if self.output == "CACHE" else "step")

    def steps(self, context: bpy.types.Context) -> Steps:
        scene = context.scene
        source, target = source_and_target(context, self.source)
        require_editable(target)
        first, last = frame_range(scene, self.first, self.last)
        frames = sampled_frames(first, last, self.step if self.output == "KEYS" else 1)
        if self.output == "CACHE":
            # Better now than after the work.
            cache_path(target, "Transfer", self.filepath)
        elif len(frames) > MOST_KEYS:
            raise Problem(f"{len(frames)} frames are too many for shape keys; choose a point cache, or a larger step")
        markers = usable_pairs(scene, source, target)
        mesh = world_mesh(target)
        matrix = np.array(target.matrix_world)
        handle = Handle(target)
        clip = yield from world_clip(scene, source, frames)
        options = {"root": self.root, "align_poses": self.align_poses, "feet": self.feet, "method": self.method}

        def work(progress: Callable[[str, float], bool]) -> pliant.Clip:
            return pliant.transfer_clip(clip, mesh, markers=markers, progress=progress, **options)

        moved = yield Background("matching the meshes", work)
        target = handle.get()
        local = moved_points(np.linalg.inv(matrix), moved.frames)
        name = f"{source.name} on {target.name}"
        if self.output == "CACHE":
            yield from write_cache(target, name, first, scene_rate(scene), local, self.filepath)
        else:
            write_keys(target, name, [float(frame) for frame in frames], local)
        self.report({"INFO"}, f"{len(local)} frames of '{source.name}' are on '{target.name}'")


CLASSES = (PLIANT_OT_transfer_shapes, PLIANT_OT_transfer_animation)
