"""Positions and faces of mesh objects."""

import bpy
import numpy as np

import pliant

from ..core.problem import Problem

#: Modifiers that add vertices after those of the mesh, and place these as the others show them.
REFINING = {"SUBSURF", "MULTIRES"}


def positions_of(vertices: bpy.types.bpy_prop_collection) -> np.ndarray:
    """Coordinates (n, 3) of vertices or of the points of a shape key."""
    flat = np.empty(len(vertices) * 3, np.float32)
    vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def faces_of(mesh: bpy.types.Mesh) -> list[list[int]] | np.ndarray:
    """Polygons as lists of vertices, or an array where all have the same size."""
    count = len(mesh.polygons)
    sizes = np.empty(count, np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    if count and (sizes == sizes[0]).all():
        return corners.reshape(count, sizes[0])
    return [face.tolist() for face in np.split(corners, np.cumsum(sizes)[:-1])] if count else []


def triangles_of(mesh: bpy.types.Mesh) -> np.ndarray:
    mesh.calc_loop_triangles()
    flat = np.empty(len(mesh.loop_triangles) * 3, np.int32)
    mesh.loop_triangles.foreach_get("vertices", flat)
    return flat.reshape(-1, 3)


def require_mesh(ob: bpy.types.Object | None, what: str = "the active object") -> bpy.types.Object:
    """A mesh object with faces, in a mode in which its data is valid."""
    if ob is None:
        raise Problem(f"{what} is not set; choose a mesh object")
    if ob.type != "MESH":
        raise Problem(f"{what} '{ob.name}' is no mesh; choose a mesh object")
    if ob.mode == "EDIT":
        raise Problem(f"'{ob.name}' is in Edit Mode; leave it first (Tab)")
    if len(ob.data.polygons) == 0:
        raise Problem(f"'{ob.name}' has no faces; choose a mesh with a surface")
    return ob


def require_editable(ob: bpy.types.Object) -> bpy.types.Object:
    """An object whose mesh may be changed."""
    for block, what in ((ob, "object"), (ob.data, "mesh"), (ob.data.shape_keys, "shape keys")):
        if block is not None and not block.is_editable:
            library = block.library.filepath if block.library else "another file"
            raise Problem(
                f"the {what} of '{ob.name}' is linked from {library}; "
                "make it local or a library override (Object > Relations)"
            )
    return ob


def rest_positions(ob: bpy.types.Object) -> np.ndarray:
    """The vertices of a mesh at rest: its reference key, or the mesh itself."""
    keys = ob.data.shape_keys
    return positions_of(keys.reference_key.points if keys else ob.data.vertices)


def rest_mesh(ob: bpy.types.Object) -> pliant.Mesh:
    """The mesh of an object without shape keys and modifiers, in the object's space."""
    return pliant.Mesh(rest_positions(ob), faces_of(ob.data), name=ob.name)


def topology_changer(ob: bpy.types.Object, evaluated: bpy.types.Object) -> str | None:
    """The modifier that gives the visible mesh other vertices than the mesh has; `None` if none does.

    Subdivision is no hindrance: the vertices of the mesh come first.
    """
    before, after = len(ob.data.vertices), len(evaluated.data.vertices)
    shown = [modifier for modifier in ob.modifiers if modifier.show_viewport]
    refining = [modifier for modifier in shown if modifier.type in REFINING]
    if before == after and len(ob.data.polygons) == len(evaluated.data.polygons):
        return None
    changing = [modifier.name for modifier in shown if not _only_deforms(modifier)]
    if after > before and len(changing) == len(refining):
        return None
    return changing[-1] if changing else "a modifier"


#: Modifiers that move vertices and keep their number.
DEFORMING = {
    "ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM",
    "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE", "SHRINKWRAP",
    "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "VOLUME_DISPLACE", "WARP", "WAVE", "CLOTH", "SOFT_BODY",
    "NORMAL_EDIT", "WEIGHTED_NORMAL", "UV_PROJECT", "UV_WARP", "DATA_TRANSFER", "VERTEX_WEIGHT_EDIT",
    "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "COLLISION", "SURFACE", "DYNAMIC_PAINT",
}  # fmt: skip


def _only_deforms(modifier: bpy.types.Modifier) -> bool:
    return modifier.type in DEFORMING


def visible_positions(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """Where the mesh's own vertices are on screen, in the object's space; subdivision is followed."""
    evaluated = ob.evaluated_get(depsgraph)
    changer = topology_changer(ob, evaluated)
    if changer:
        raise Problem(
            f"the modifier '{changer}' changes the vertices of '{ob.name}'; "
            "hide it in the viewport, or apply it"
        )
    return positions_of(evaluated.data.vertices)[: len(ob.data.vertices)]


def deformed_positions(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """The mesh as its deforming modifiers show it; declined where vertices are added, too."""
    evaluated = ob.evaluated_get(depsgraph)
    if len(evaluated.data.vertices) != len(ob.data.vertices):
        changer = topology_changer(ob, evaluated) or _last_refining(ob)
        raise Problem(
            f"the modifier '{changer}' changes the vertices of '{ob.name}'; hide it in the viewport"
        )
    return positions_of(evaluated.data.vertices)


def _last_refining(ob: bpy.types.Object) -> str:
    names = [modifier.name for modifier in ob.modifiers if modifier.type in REFINING]
    return names[-1] if names else "a modifier"


def shown_mesh(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> pliant.Mesh:
    """The mesh of any object as it is shown, with all modifiers, in the object's space."""
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        if mesh is None or len(mesh.polygons) == 0:
            raise Problem(f"'{ob.name}' has no surface; choose an object with faces")
        return pliant.Mesh(positions_of(mesh.vertices), triangles_of(mesh), name=ob.name)
    finally:
        evaluated.to_mesh_clear()


def vertex_count(ob: bpy.types.Object) -> int:
    return len(ob.data.vertices)


def require_vertices(ob: bpy.types.Object, vertices: list[int]) -> None:
    """Vertices that exist."""
    count = vertex_count(ob)
    for vertex in vertices:
        if not 0 <= vertex < count:
            raise Problem(f"vertex {vertex} does not exist; '{ob.name}' has {count}, counted from 0")
