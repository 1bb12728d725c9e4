"""Learn from examples, and drive the mesh by a few control points."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, IntProperty, StringProperty

import pliant

from ..core.pins import parse_vertices
from ..core.problem import Problem
from ..core.sampling import sampled_frames
from ..scene import live_model
from ..scene.animation import cache_path, frame_range, read_frames, scene_rate, write_cache, write_keys
from ..scene.handles import Handle
from ..scene.meshes import deformed_positions, require_editable, require_mesh, require_vertices, rest_mesh
from ..scene.paths import RELATIVE
from ..scene.shape_keys import read_keys
from ..work.operator import LongOperator, QuickOperator
from ..work.steps import Background, Steps, Tick


def example_clip(
    operator: Any, context: bpy.types.Context, ob: bpy.types.Object
) -> Any:
    """The examples of a training as a clip: a generator of steps."""
    mesh = rest_mesh(ob)
    if operator.examples == "KEYS":
        if ob.data.shape_keys is None or len(ob.data.shape_keys.key_blocks) < 3:
            raise Problem(f"'{ob.name}' has too few shape keys to learn from; give at least two examples, or use frames")
        shapes = read_keys(ob)
        chosen = [k for k, name in enumerate(shapes.names) if name != live_model.KEY and not shapes.muted[k]]
        frames = shapes.basis + shapes.deltas[chosen]
        yield Tick("reading shape keys", 1.0)
        return pliant.Clip(mesh, frames, name=ob.name, frame_names=[shapes.names[k] for k in chosen])
    first, last = frame_range(context.scene, operator.first, operator.last)
    frames = sampled_frames(first, last, operator.step)
    found = yield from read_frames(context.scene, frames, lambda depsgraph: deformed_positions(ob, depsgraph))
    return pliant.Clip(mesh, np.array(found), name=ob.name)


def control_vertices(operator: Any, ob: bpy.types.Object) -> Any:
    """The control points that the artist chose, or how many to choose."""
    if operator.vertices.strip():
        vertices = parse_vertices(operator.vertices)
    elif operator.control == "SELECTED":
        vertices = [vertex.index for vertex in ob.data.vertices if vertex.select]
        if not vertices:
            raise Problem("no vertices are selected; select some in Edit Mode and leave it")
    else:
        return operator.count
    require_vertices(ob, vertices)
    if len(vertices) > 500:
        raise Problem(f"{len(vertices)} control points are too many; select the few that you want to move")
    return vertices


class _Examples:
    """Options that training and validation share."""

    examples: EnumProperty(
        name="Examples",
        items=[
            ("KEYS", "Shape Keys", "Each shape key is an example"),
            ("FRAMES", "Frames", "Each frame of the animation is an example"),
        ],
        default="KEYS",
    )
    first: IntProperty(name="First Frame", default=0, description="0 and 0: the frames of the scene")
    last: IntProperty(name="Last Frame", default=0)
    step: IntProperty(name="Step", default=1, min=1, description="Only every so many frames")
    control: EnumProperty(
        name="Control Points",
        items=[
            ("COUNT", "Automatic", "Well spread over the mesh"),
            ("SELECTED", "Selected Vertices", "The vertices that are selected in Edit Mode"),
        ],
        default="COUNT",
    )
    count: IntProperty(name="Count", default=12, min=3, max=200)
    vertices: StringProperty(name="Vertices", description="As in 4, 8, 12; instead of the choice above")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        names = ["examples"]
        if self.examples == "FRAMES":
            names += ["first", "last", "step"]
        names += ["control", *(["count"] if self.control == "COUNT" else [])]
        for name in names:
            layout.prop(self, name)


class PLIANT_OT_learn(_Examples, LongOperator, bpy.types.Operator):
    """Learn how the mesh moves, and make empties that drive it"""

    bl_idname = "pliant.learn"
    bl_label = "Learn"

    def steps(self, context: bpy.types.Context) -> Steps:
        ob = require_editable(require_mesh(context.object))
        control = control_vertices(self, ob)
        clip = yield from example_clip(self, context, ob)
        handle = Handle(ob)

        def work(progress: Callable[[str, float], bool]) -> pliant.Model:
            return pliant.Model.train(clip, control, progress=progress)

        model = yield Background("learning", work)
        ob = handle.get()
        live_model.forget(ob)
        live_model.store(ob, model)
        _make_empties(bpy.context, ob, model)
        ob.pliant.is_live = True
        bpy.context.view_layer.update()
        live_model.refresh(ob)
        self.report({"INFO"}, f"{len(clip)} examples, {len(model.control_vertices)} control points; move the empties")


def _make_empties(context: bpy.types.Context, ob: bpy.types.Object, model: pliant.Model) -> None:
    positions = model.reference.positions
    size = 0.02 * float(np.ptp(positions, axis=0).max())
    collection = ob.users_collection[0] if ob.users_collection else context.scene.collection
    for vertex in model.control_vertices:
        empty = bpy.data.objects.new(f"{ob.name} control {vertex}", None)
        empty.empty_display_type = "SPHERE"
        empty.empty_display_size = size
        empty.parent = ob
        empty.location = positions[vertex]
        collection.objects.link(empty)
        ob.pliant.control_points.add().empty = empty


class PLIANT_OT_learn_validate(_Examples, LongOperator, bpy.types.Operator):
    """Predict each example from all others, and report the errors"""

    bl_idname = "pliant.learn_validate"
    bl_label = "Validate"
    bl_options = {"REGISTER"}

    def steps(self, context: bpy.types.Context) -> Steps:
        ob = require_mesh(context.object)
        control = control_vertices(self, ob)
        clip = yield from example_clip(self, context, ob)

        def work(progress: Callable[[str, float], bool]) -> np.ndarray:
            return pliant.Model.validate(clip, control, progress=progress)

        errors = yield Background("validating", work)
        worst = int(np.argmax(errors))
        self.report(
            {"INFO"},
            f"Mean error {errors.mean():.2%} of the longest side; "
            f"largest {errors[worst]:.2%} at example '{clip.frame_names[worst]}'",
        )


class PLIANT_OT_learn_reset(QuickOperator, bpy.types.Operator):
    """Bring all control points to rest"""

    bl_idname = "pliant.learn_reset"
    bl_label = "Reset Control Points"

    def do(self, context: bpy.types.Context) -> None:
        ob = require_mesh(context.object)
        model = live_model.model_of(ob)
        positions = model.reference.positions
        for point, vertex in zip(ob.pliant.control_points, model.control_vertices):
            if point.empty is not None:
                point.empty.matrix_world.translation = ob.matrix_world @ point.empty.location.__class__(positions[vertex])
        context.view_layer.update()
        live_model.refresh(ob)


class PLIANT_OT_learn_bake(LongOperator, bpy.types.Operator):
    """Keep the driven animation as a point cache or as shape keys"""

    bl_idname = "pliant.learn_bake"
    bl_label = "Bake Driven Animation"

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
    filepath: StringProperty(name="Cache File", subtype="FILE_PATH", options=RELATIVE, description="Empty: beside the file")

    def steps(self, context: bpy.types.Context) -> Steps:
        scene, ob = context.scene, require_editable(require_mesh(context.object))
        model = live_model.model_of(ob)
        if self.output == "CACHE":
            # Better now than after the work.
            cache_path(ob, "Driven", self.filepath)
        first, last = frame_range(scene, self.first, self.last)
        frames = sampled_frames(first, last)
        control = yield from read_frames(scene, frames, lambda depsgraph: live_model.control_positions(ob, depsgraph))
        handle, rate = Handle(ob), scene_rate(scene)

        def work(progress: Callable[[str, float], bool]) -> pliant.Clip:
            return model.drive_clip(np.array(control), frames_per_second=rate, progress=progress)

        clip = yield Background("driving", work)
        ob = handle.get()
        if self.output == "CACHE":
            yield from write_cache(ob, "Driven", first, rate, clip.frames, self.filepath)
        else:
            write_keys(ob, "Driven", [float(frame) for frame in frames], clip.frames)
        # The baked animation replaces the live one.
        ob.pliant.is_live = False
        keys = ob.data.shape_keys
        if keys is not None and live_model.KEY in keys.key_blocks:
            keys.key_blocks[live_model.KEY].value = 0.0
        self.report({"INFO"}, f"{len(clip)} frames")


class PLIANT_OT_learn_remove(QuickOperator, bpy.types.Operator):
    """Remove the learned model, its shape key and its control points"""

    bl_idname = "pliant.learn_remove"
    bl_label = "Remove Model"

    def do(self, context: bpy.types.Context) -> None:
        live_model.forget(require_editable(require_mesh(context.object)))


CLASSES = (
    PLIANT_OT_learn,
    PLIANT_OT_learn_validate,
    PLIANT_OT_learn_reset,
    PLIANT_OT_learn_bake,
    PLIANT_OT_learn_remove,
)
