"""Pliant in Blender: drag a face, draw on it, press on it, blend, transfer and learn shapes.

- `core`: arithmetic without Blender.
- `scene`: Blender's data as arrays, and back.
- `work`: long work beside Blender.
- `operators`: what an artist can do; all of it can be called from scripts as `bpy.ops.pliant.…`.
- `ui`: panels, tools, handles and preferences.
"""

import bpy

from . import operators, ui
from .scene import live_model, settings, shape_keys

CLASSES = (*settings.CLASSES, *operators.CLASSES, *ui.CLASSES)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    settings.attach()
    live_model.attach()
    ui.attach()


def unregister() -> None:
    ui.detach()
    live_model.detach()
    shape_keys.forget()
    settings.detach()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
