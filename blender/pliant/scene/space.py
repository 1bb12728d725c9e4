"""From the surface on screen to the surface of the shape keys, around one vertex.

An armature turns the head after its shape keys are mixed, so a motion on screen is another motion of
the keys. Blender knows the linear map `A` of each vertex from undeformed to deformed ("crazy space").
"""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..core.problem import Problem


@contextmanager
def deformation(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scene: bpy.types.Scene) -> Iterator["Deformation"]:
    """The maps of all vertices, valid inside the `with`."""
    evaluated = False
    if any(modifier.show_viewport for modifier in ob.modifiers):
        try:
            ob.crazyspace_eval(depsgraph, scene)
            evaluated = True
        except RuntimeError:
            # Nothing deforms the vertices.
            evaluated = False
    try:
        yield Deformation(ob, evaluated)
    finally:
        if evaluated:
            ob.crazyspace_eval_clear()


class Deformation:
    def __init__(self, ob: bpy.types.Object, evaluated: bool) -> None:
        self._ob = ob
        self._evaluated = evaluated

    def at(self, vertex: int) -> np.ndarray:
        """The linear map (3, 3) from undeformed to deformed displacements, in the object's space."""
        if not self._evaluated:
            return np.eye(3)
        columns = [
            self._ob.crazyspace_displacement_to_deformed(vertex_index=vertex, displacement=axis)
            for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        ]
        matrix = np.array([tuple(column) for column in columns]).T
        if not np.isfinite(matrix).all() or abs(np.linalg.det(matrix)) < 1e-9:
            raise Problem(f"the modifiers of '{self._ob.name}' flatten the surface at vertex {vertex}")
        return matrix

    def to_original(self, vertices: np.ndarray, displacements: np.ndarray) -> np.ndarray:
        """Displacements (n, 3) on screen as those of the undeformed mesh."""
        if not self._evaluated:
            return displacements
        found = np.empty_like(displacements)
        for row, vertex, displacement in zip(found, vertices, displacements):
            row[:] = self._ob.crazyspace_displacement_to_original(
                vertex_index=int(vertex), displacement=displacement.tolist()
            )
        return found
