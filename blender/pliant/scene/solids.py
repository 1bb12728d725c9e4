"""Objects as solids that press on others: a rigid motion in the world, with the scale in the mesh."""

from dataclasses import dataclass

import bpy
import numpy as np

import pliant

from ..core.problem import Problem
from .meshes import positions_of, triangles_of


#: Types of objects that Blender can turn into a mesh.
WITH_SURFACE = {"MESH", "CURVE", "SURFACE", "META", "FONT"}


@dataclass(frozen=True)
class Pose:
    """Where a solid is: a rigid matrix (4, 4), and the scale that its mesh needs."""

    motion: np.ndarray
    scale: np.ndarray


def pose_of(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Pose:
    location, rotation, scale = ob.evaluated_get(depsgraph).matrix_world.decompose()
    # Blender's rotations are in single precision; a solid needs an exact one.
    w, x, y, z = np.array(rotation, float) / np.linalg.norm(np.array(rotation, float))
    motion = np.eye(4)
    motion[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    motion[:3, 3] = location
    return Pose(motion, np.array(scale, float))


def solid_of(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, poses: list[Pose]) -> pliant.Obstacle:
    """The solid of a closed mesh, at the origin; `poses` say where it goes."""
    if ob.type not in WITH_SURFACE:
        raise Problem(f"'{ob.name}' has no surface; choose a closed mesh")
    scale = poses[0].scale
    for pose in poses:
        if np.abs(pose.scale - scale).max() > 1e-4 * np.abs(scale).max():
            raise Problem(f"the size of '{ob.name}' changes over the frames; keep its scale constant")
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        if mesh is None or not len(mesh.polygons):
            raise Problem(f"'{ob.name}' has no surface; choose a closed mesh")
        triangles = triangles_of(mesh)
        if scale.prod() < 0:
            triangles = triangles[:, ::-1]
        return pliant.Obstacle.mesh(pliant.Mesh(positions_of(mesh.vertices) * scale, triangles, name=ob.name))
    finally:
        evaluated.to_mesh_clear()
