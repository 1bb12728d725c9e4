"""Animation curves in every version: actions without layers up to 4.3, with slots since 4.4."""

from typing import Any

import bpy
import numpy as np


def _curves_of(block: bpy.types.ID, create: bool) -> Any:
    """The f-curves of the action of a data-block."""
    data = block.animation_data
    if data is None:
        if not create:
            return None
        data = block.animation_data_create()
    if data.action is None:
        if not create:
            return None
        data.action = bpy.data.actions.new(f"{block.name}Action")
    action = data.action
    if not hasattr(action, "layers"):
        return action.fcurves

    if data.action_slot is None:
        if not create:
            return None
        data.action_slot = action.slots.new(id_type=block.id_type, name=block.name)
    if not action.layers:
        if not create:
            return None
        action.layers.new("Layer").strips.new(type="KEYFRAME")
    strip = action.layers[0].strips[0]
    bag = strip.channelbag(data.action_slot, ensure=create)
    return bag.fcurves if bag else None


def find_curve(block: bpy.types.ID, path: str, index: int = 0) -> bpy.types.FCurve | None:
    curves = _curves_of(block, create=False)
    return curves.find(path, index=max(index, 0)) if curves else None


def write_curve(
    block: bpy.types.ID, path: str, index: int, frames: Any, values: Any, *, interpolation: str = "LINEAR"
) -> bpy.types.FCurve:
    """A curve with keys; keys of an earlier curve in the same frames are replaced, others kept."""
    curves = _curves_of(block, create=True)
    frames, values = np.asarray(frames, float), np.asarray(values, float)
    curve = curves.find(path, index=max(index, 0))
    if curve is None:
        curve = curves.new(path, index=max(index, 0))
    if len(curve.keyframe_points) and len(frames):
        before = np.empty(len(curve.keyframe_points) * 2)
        curve.keyframe_points.foreach_get("co", before)
        before = before.reshape(-1, 2)
        outside = (before[:, 0] < frames[0] - 1e-3) | (before[:, 0] > frames[-1] + 1e-3)
        frames = np.concatenate([before[outside, 0], frames])
        values = np.concatenate([before[outside, 1], values])
        order = np.argsort(frames, kind="stable")
        frames, values = frames[order], values[order]
        curve.keyframe_points.clear()

    curve.keyframe_points.add(len(frames))
    pairs = np.stack([frames, values], axis=1).ravel()
    curve.keyframe_points.foreach_set("co", pairs)
    kinds = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items
    curve.keyframe_points.foreach_set("interpolation", [kinds[interpolation].value] * len(frames))
    curve.update()
    return curve


def curve_count(block: bpy.types.ID) -> int:
    curves = _curves_of(block, create=False)
    return len(curves) if curves else 0


def insert_options(preferences: Any) -> set[str]:
    """What the artist's preferences say about new keys."""
    edit = preferences.edit
    options = set()
    if getattr(edit, "use_keyframe_insert_available", False):
        options.add("INSERTKEY_AVAILABLE")
    if getattr(edit, "use_auto_keyframe_insert_needed", False) or getattr(edit, "use_keyframe_insert_needed", False):
        options.add("INSERTKEY_NEEDED")
    return options
