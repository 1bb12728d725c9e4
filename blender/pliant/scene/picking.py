"""What is under the pointer."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ..core.places import handle_at, moved_points, nearest
from .meshes import visible_positions

#: How near to a handle a click may be, in pixels.
REACH = 14.0


@dataclass(frozen=True)
class Hit:
    """A place of a surface."""

    vertex: int
    #: In the world.
    place: np.ndarray


def pointer_of(event: Any) -> tuple[float, float]:
    return float(event.mouse_region_x), float(event.mouse_region_y)


def view_ray(context: Any, pointer: tuple[float, float]) -> tuple[Vector, Vector]:
    """Origin and direction, in the world."""
    origin = view3d_utils.region_2d_to_origin_3d(context.region, context.region_data, pointer)
    return origin, view3d_utils.region_2d_to_vector_3d(context.region, context.region_data, pointer)


def surface_under(context: Any, ob: bpy.types.Object, pointer: tuple[float, float]) -> Hit | None:
    """The vertex of `ob` nearest to the place under the pointer, as it is shown."""
    depsgraph = context.evaluated_depsgraph_get()
    origin, direction = view_ray(context, pointer)
    inverse = ob.matrix_world.inverted_safe()
    evaluated = ob.evaluated_get(depsgraph)
    found, place, _, _ = evaluated.ray_cast(inverse @ origin, inverse.to_3x3() @ direction)
    if not found:
        return None
    vertex = nearest(visible_positions(ob, depsgraph), place)
    return Hit(vertex, np.array(ob.matrix_world @ place))


def vertex_places(context: Any, ob: bpy.types.Object, vertices: list[int]) -> np.ndarray:
    """Where vertices are shown, in the world: (n, 3)."""
    if not vertices:
        return np.zeros((0, 3))
    shown = visible_positions(ob, context.evaluated_depsgraph_get())
    inside = [vertex if vertex < len(shown) else 0 for vertex in vertices]
    return moved_points(ob.matrix_world, shown[inside])


def screen_places(context: Any, places: np.ndarray) -> np.ndarray:
    """Pixels (n, 2) of places of the world; NaN behind the viewer."""
    pixels = np.full((len(places), 2), np.nan)
    for row, place in zip(pixels, places):
        pixel = view3d_utils.location_3d_to_region_2d(context.region, context.region_data, Vector(place))
        if pixel is not None:
            row[:] = pixel
    return pixels


def handle_under(context: Any, ob: bpy.types.Object, pointer: tuple[float, float]) -> Hit | None:
    """The pin of an object whose handle is under the pointer."""
    vertices = [pin.vertex for pin in ob.pliant.pins]
    places = vertex_places(context, ob, vertices)
    found = handle_at(screen_places(context, places), pointer, REACH)
    return None if found is None else Hit(vertices[found], places[found])


def in_view_plane(context: Any, pointer: tuple[float, float], through: np.ndarray) -> np.ndarray:
    """The place under the pointer in the plane that faces the viewer, through a place of the world."""
    return np.array(view3d_utils.region_2d_to_location_3d(context.region, context.region_data, pointer, Vector(through)))
