"""Marker pairs of the scene, as arrays."""

import bpy
import numpy as np

from ..core.problem import Problem
from .meshes import require_mesh

#: Fewer pairs leave a reflection undecided; then the shapes alone decide.
FEWEST = 4


def source_and_target(context: bpy.types.Context, name: str = "") -> tuple[bpy.types.Object, bpy.types.Object]:
    """The source of the panel, or by name, and the active object as target."""
    target = require_mesh(context.object)
    source = bpy.data.objects.get(name) if name else context.scene.pliant.source
    if source is None and not name:
        others = [ob for ob in context.selected_objects if ob != target and ob.type == "MESH"]
        source = others[0] if len(others) == 1 else None
    if source is None:
        raise Problem(f"there is no object '{name}'" if name else "choose the source mesh in the panel of Shapes")
    if source == target:
        raise Problem("source and target are the same object; make the target active")
    return require_mesh(source, "the source"), target


def complete_pairs(scene: bpy.types.Scene) -> list[tuple[int, int]]:
    return [(m.source, m.target) for m in scene.pliant.markers if m.source >= 0 and m.target >= 0]


def usable_pairs(scene: bpy.types.Scene, source: bpy.types.Object, target: bpy.types.Object) -> np.ndarray | None:
    """The pairs for a transfer; none if there are none."""
    pairs = complete_pairs(scene)
    for a, b in pairs:
        if a >= len(source.data.vertices) or b >= len(target.data.vertices):
            raise Problem(
                f"the marker pair {a}, {b} names a vertex that '{source.name}' or '{target.name}' does not have; "
                "remove it, or choose the meshes that it was picked on"
            )
    if not pairs:
        return None
    if len(set(pairs)) < FEWEST:
        raise Problem(f"{len(set(pairs))} marker pairs are too few; pick at least {FEWEST}, or remove them all")
    return np.array(pairs)


def replace_pairs(scene: bpy.types.Scene, pairs: np.ndarray) -> None:
    """New pairs; notes are gone."""
    markers = scene.pliant.markers
    markers.clear()
    for source, target in pairs:
        marker = markers.add()
        marker.source, marker.target = int(source), int(target)
    scene.pliant.marker_index = max(len(markers) - 1, 0)
