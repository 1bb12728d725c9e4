"""Bones from an animated mesh: an armature, skinning weights and an action."""

from collections.abc import Callable

import bpy
import numpy as np
from bpy.props import FloatProperty, IntProperty
from mathutils import Matrix

import pliant

from ..core.bone_motion import basis_matrices, quaternions
from ..core.problem import Problem
from ..core.sampling import sampled_frames
from ..scene.animation import frame_range, read_frames
from ..scene.curves import write_curve
from ..scene.handles import Handle
from ..scene.meshes import deformed_positions, require_mesh, rest_mesh
from ..work.operator import LongOperator
from ..work.steps import Background, Steps

#: Weights below this are left out of the vertex groups.
NEGLIGIBLE = 1e-6


class PLIANT_OT_bones(LongOperator, bpy.types.Operator):
    """Make an armature with weights and an action that moves as the active mesh does. The mesh itself stays as it is"""

    bl_idname = "pliant.bones"
    bl_label = "Bones from Animation"

    bones: IntProperty(name="Bones", default=20, min=1, max=400)
    influences: IntProperty(name="Bones per Vertex", default=4, min=1, max=8)
    smoothness: FloatProperty(name="Smooth Weights", default=0.0, min=0.0, soft_max=1.0)
    first: IntProperty(name="First Frame", default=0, description="0 and 0: the frames of the scene")
    last: IntProperty(name="Last Frame", default=0)
    step: IntProperty(name="Step", default=1, min=1, description="Only every so many frames")

    def steps(self, context: bpy.types.Context) -> Steps:
        scene, ob = context.scene, require_mesh(context.object)
        first, last = frame_range(scene, self.first, self.last)
        frames = sampled_frames(first, last, self.step)
        positions = yield from read_frames(scene, frames, lambda depsgraph: deformed_positions(ob, depsgraph))
        clip = pliant.Clip(rest_mesh(ob), np.array(positions), name=ob.name)
        if np.abs(clip.frames - clip.reference.positions).max() == 0.0:
            raise Problem(f"'{ob.name}' does not move in frames {first} to {last}; choose an animated mesh")
        handle = Handle(ob)
        options = {"bones": self.bones, "influences": self.influences, "smoothness": self.smoothness}

        def work(progress: Callable[[str, float], bool]) -> pliant.Bones:
            return pliant.Bones(clip, progress=progress, **options)

        found = yield Background("finding bones", work)
        ob = handle.get()
        self._make(bpy.context, ob, clip, found, frames)
        for text in found.warnings:
            self.report({"WARNING"}, text)
        count = found.weights.shape[1]
        size = float(np.linalg.norm(np.ptp(clip.reference.positions, axis=0)))
        self.report({"INFO"}, f"{count} bones; RMS distance {found.rms / max(size, 1e-30):.3%} of the mesh's diagonal")

    def _make(
        self, context: bpy.types.Context, ob: bpy.types.Object, clip: pliant.Clip, found: pliant.Bones, frames: list[int]
    ) -> None:
        skeleton = found.skeleton()
        collection = ob.users_collection[0] if ob.users_collection else context.scene.collection
        armature = _armature(context, collection, f"{ob.name} bones", skeleton, clip.reference.positions)
        armature.matrix_world = ob.matrix_world
        skinned = _skinned_copy(collection, ob, clip, found.weights, skeleton["names"], armature)
        _animate(armature, skeleton, found.transforms, frames)
        for other in context.selected_objects:
            other.select_set(False)
        armature.select_set(True)
        skinned.select_set(True)
        context.view_layer.objects.active = armature


def _armature(
    context: bpy.types.Context, collection: bpy.types.Collection, name: str, skeleton: dict, rest: np.ndarray
) -> bpy.types.Object:
    data = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, data)
    collection.objects.link(ob)
    before = context.view_layer.objects.active
    context.view_layer.objects.active = ob
    length = 0.05 * float(np.ptp(rest, axis=0).max())
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        made = []
        for joint, origin in zip(skeleton["names"], skeleton["origins"]):
            bone = data.edit_bones.new(joint)
            bone.head = origin
            bone.tail = np.asarray(origin) + (0.0, length, 0.0)
            made.append(bone)
        for bone, parent in zip(made, skeleton["parents"]):
            if parent is not None:
                bone.parent = made[parent]
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
        context.view_layer.objects.active = before
    return ob


def _skinned_copy(
    collection: bpy.types.Collection,
    ob: bpy.types.Object,
    clip: pliant.Clip,
    weights: np.ndarray,
    names: list[str],
    armature: bpy.types.Object,
) -> bpy.types.Object:
    """The mesh at rest without shape keys and modifiers, bound to the armature."""
    mesh = ob.data.copy()
    copy = bpy.data.objects.new(f"{ob.name} skinned", mesh)
    collection.objects.link(copy)
    if mesh.shape_keys is not None:
        copy.shape_key_clear()
    mesh.vertices.foreach_set("co", np.ascontiguousarray(clip.reference.positions, np.float32).ravel())
    mesh.update()
    copy.vertex_groups.clear()
    copy.matrix_world = ob.matrix_world
    for bone, name in enumerate(names):
        group = copy.vertex_groups.new(name=name)
        column = weights[:, bone]
        for vertex in np.flatnonzero(column > NEGLIGIBLE):
            group.add([int(vertex)], float(column[vertex]), "REPLACE")
    modifier = copy.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    copy.parent = armature
    copy.matrix_parent_inverse = armature.matrix_world.inverted_safe()
    return copy


def _animate(armature: bpy.types.Object, skeleton: dict, motions: np.ndarray, frames: list[int]) -> None:
    rests = np.array([np.array(Matrix(armature.data.bones[name].matrix_local)) for name in skeleton["names"]], float)
    basis = basis_matrices(motions, rests, skeleton["parents"])
    for k, name in enumerate(skeleton["names"]):
        bone = armature.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        turns = quaternions(basis[:, k, :3, :3])
        for axis in range(3):
            write_curve(armature, bone.path_from_id("location"), axis, frames, basis[:, k, axis, 3])
        for axis in range(4):
            write_curve(armature, bone.path_from_id("rotation_quaternion"), axis, frames, turns[:, axis])


CLASSES = (PLIANT_OT_bones,)
