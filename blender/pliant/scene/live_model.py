"""Learned models that follow their control points while the artist works.

The model lies in the object as bytes, so that it is saved with the file. Its result is a shape key, which
a handler writes whenever a control point has moved.
"""

import zlib
from typing import Any

import bpy
import numpy as np

import pliant

from ..core.places import moved_points
from ..core.problem import Problem
from .shape_keys import add_key

PROPERTY = "pliant_model"
KEY = "Pliant Model"

#: Models in use, with the bytes that they came from.
_models: dict[int, tuple[int, pliant.Model]] = {}
#: The control points that a key shows.
_shown: dict[int, np.ndarray] = {}


def store(ob: bpy.types.Object, model: pliant.Model) -> None:
    ob[PROPERTY] = zlib.compress(model.to_bytes(), 1)
    _models.pop(ob.session_uid, None)
    _shown.pop(ob.session_uid, None)


def model_of(ob: bpy.types.Object) -> pliant.Model:
    """The model of an object."""
    data = ob.get(PROPERTY)
    if not isinstance(data, bytes):
        raise Problem(f"'{ob.name}' has no learned model; use Learn first")
    known = _models.get(ob.session_uid)
    if known is None or known[0] != len(data):
        try:
            model = pliant.Model.from_bytes(zlib.decompress(data))
        except (zlib.error, pliant.Error):
            raise Problem(f"the model of '{ob.name}' is damaged; use Learn again") from None
        known = _models[ob.session_uid] = (len(data), model)
    model = known[1]
    if model.reference.vertex_count != len(ob.data.vertices):
        raise Problem(f"'{ob.name}' has other vertices than when it was learned; use Learn again")
    return model


def has_model(ob: bpy.types.Object) -> bool:
    return ob.type == "MESH" and PROPERTY in ob and len(ob.pliant.control_points) > 0


def control_positions(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph | None = None) -> np.ndarray:
    """Where the control points are, in the object's space."""
    empties = [point.empty for point in ob.pliant.control_points]
    if any(empty is None for empty in empties):
        raise Problem(f"a control point of '{ob.name}' was deleted; use Learn again")
    if depsgraph is not None:
        empties = [empty.evaluated_get(depsgraph) for empty in empties]
        ob = ob.evaluated_get(depsgraph)
    world = np.array([empty.matrix_world.translation for empty in empties], float)
    return moved_points(np.array(ob.matrix_world.inverted_safe()), world)


def driven_key(ob: bpy.types.Object) -> bpy.types.ShapeKey:
    """The shape key that shows the model; it is made where it is missing."""
    keys = ob.data.shape_keys
    block = keys.key_blocks.get(KEY) if keys else None
    if block is None:
        block = add_key(ob, KEY, model_of(ob).reference.positions, value=1.0)
    return block


def refresh(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph | None = None) -> bool:
    """Brings the shape key to the control points; whether anything changed."""
    control = control_positions(ob, depsgraph)
    shown = _shown.get(ob.session_uid)
    keys = ob.data.shape_keys
    if shown is not None and shown.shape == control.shape and np.abs(shown - control).max() == 0.0:
        if keys is not None and KEY in keys.key_blocks:
            return False
    positions = model_of(ob).drive(control)
    block = driven_key(ob)
    block.points.foreach_set("co", np.ascontiguousarray(positions, np.float32).ravel())
    ob.data.update()
    ob.data.update_tag()
    _shown[ob.session_uid] = control
    return True


def forget(ob: bpy.types.Object) -> None:
    """Removes the model, its key and its control points."""
    keys = ob.data.shape_keys
    if keys is not None and KEY in keys.key_blocks:
        ob.shape_key_remove(keys.key_blocks[KEY])
    for point in ob.pliant.control_points:
        if point.empty is not None:
            bpy.data.objects.remove(point.empty)
    ob.pliant.control_points.clear()
    if PROPERTY in ob:
        del ob[PROPERTY]
    _models.pop(ob.session_uid, None)
    _shown.pop(ob.session_uid, None)


@bpy.app.handlers.persistent
def follow(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None, *_: Any) -> None:
    """After each change of the scene and of the frame."""
    for ob in scene.objects:
        if not has_model(ob) or not ob.pliant.is_live or ob.mode != "OBJECT":
            continue
        try:
            refresh(ob, depsgraph)
        except (Problem, pliant.Error) as error:
            # A handler must not stop the artist; the panel shows the reason.
            _shown.pop(ob.session_uid, None)
            ob.pliant.is_live = False
            print(f"Pliant: {error}")


@bpy.app.handlers.persistent
def reset(*_: Any) -> None:
    """Another file, or undo: what is shown is not known any more."""
    _models.clear()
    _shown.clear()


def attach() -> None:
    handlers = bpy.app.handlers
    handlers.depsgraph_update_post.append(follow)
    handlers.frame_change_post.append(follow)
    for events in (handlers.load_post, handlers.undo_post, handlers.redo_post):
        events.append(reset)


def detach() -> None:
    handlers = bpy.app.handlers
    for events, function in (
        (handlers.depsgraph_update_post, follow),
        (handlers.frame_change_post, follow),
        (handlers.load_post, reset),
        (handlers.undo_post, reset),
        (handlers.redo_post, reset),
    ):
        if function in events:
            events.remove(function)
    reset()
