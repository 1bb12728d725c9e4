"""Handles in the view: pins, the soft patch, marker pairs and the stroke that is being drawn."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..core.glyphs import discs, line_strip
from ..core.problem import Problem
from ..operators.draw import PLIANT_OT_draw
from ..scene.picking import screen_places, vertex_places
from .preferences import preferences

Color = tuple[float, float, float, float]


@dataclass
class Mark:
    """Places on the screen in one colour."""

    pixels: np.ndarray
    color: Color
    radius: float
    labels: list[str]


def marks(context: Any, ob: bpy.types.Object | None) -> list[Mark]:
    """Everything that is shown for the active object and the scene."""
    settings = preferences(context)
    if settings is None:
        return []
    size = settings.handle_size
    found = []
    if ob is not None and ob.type == "MESH":
        found.append(_mark(context, ob, [disc.vertex for disc in ob.pliant.discs], settings.patch_color, 0.7 * size))
        found.append(_mark(context, ob, [pin.vertex for pin in ob.pliant.pins], settings.pin_color, size))
    source = context.scene.pliant.source
    if source is not None and ob is not None and ob.type == "MESH" and source != ob:
        markers = context.scene.pliant.markers
        for wrong, color in ((False, settings.marker_color), (True, settings.wrong_color)):
            own = [(k, m) for k, m in enumerate(markers) if bool(m.note) == wrong]
            for end, vertices in ((source, [m.source for _, m in own]), (ob, [m.target for _, m in own])):
                kept = [(k, vertex) for (k, _), vertex in zip(own, vertices) if vertex >= 0]
                labels = [str(k + 1) for k, _ in kept]
                found.append(_mark(context, end, [vertex for _, vertex in kept], color, 0.8 * size, labels))
    return [mark for mark in found if mark is not None and len(mark.pixels)]


def _mark(
    context: Any, ob: bpy.types.Object, vertices: list[int], color: Any, radius: float, labels: list[str] | None = None
) -> Mark | None:
    if not vertices:
        return None
    try:
        places = vertex_places(context, ob, vertices)
    except Problem:
        # A modifier hides where the vertices are.
        return None
    return Mark(screen_places(context, places), tuple(color), radius, labels or [])


def draw() -> None:
    """Draws into the view; called by Blender."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    context = bpy.context
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for mark in marks(context, context.object):
        for grow, color in ((1.5, (0.0, 0.0, 0.0, 0.8 * mark.color[3])), (0.0, mark.color)):
            batch = batch_for_shader(shader, "TRIS", {"pos": discs(mark.pixels, mark.radius + grow).tolist()})
            shader.uniform_float("color", color)
            batch.draw(shader)
        _labels(mark)
    if len(PLIANT_OT_draw.line) > 1:
        gpu.state.line_width_set(3.0)
        batch = batch_for_shader(shader, "LINES", {"pos": line_strip(np.array(PLIANT_OT_draw.line)).tolist()})
        shader.uniform_float("color", (1.0, 0.55, 0.1, 1.0))
        batch.draw(shader)
        gpu.state.line_width_set(1.0)
    gpu.state.blend_set("NONE")


def _labels(mark: Mark) -> None:
    import blf

    blf.size(0, 12.0)
    for pixel, label in zip(mark.pixels, mark.labels):
        if np.isfinite(pixel).all():
            blf.position(0, float(pixel[0]) + mark.radius + 3.0, float(pixel[1]) + mark.radius, 0.0)
            blf.color(0, *mark.color)
            blf.draw(0, label)


_handler: Any = None


def attach() -> None:
    global _handler
    _handler = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL")


def detach() -> None:
    global _handler
    if _handler is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handler, "WINDOW")
        _handler = None
