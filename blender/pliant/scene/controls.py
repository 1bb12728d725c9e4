"""Which property moves each shape key.

A shape key is moved by its own value, or, where that is driven, by the property that its driver reads:
a custom property, another value, or the location of a bone of a face board. The driver has to be affine
in it. All other driven keys keep their values, with a reason that the artist can read.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy

from ..core.affine import Affine, affine_of
from .curves import find_curve

LOCATIONS = {"LOC_X": 0, "LOC_Y": 1, "LOC_Z": 2}


@dataclass
class Control:
    """A number that an artist can set, and the shape keys that it moves."""

    #: The data-block of the property, and the path from there.
    owner: bpy.types.ID
    path: str
    #: The entry of a vector; −1 for a number.
    index: int = -1
    name: str = ""
    #: For each key that it moves, the change of the key's value for a change of 1.
    gains: dict[int, float] = field(default_factory=dict)
    limits: tuple[float, float] = (-math.inf, math.inf)
    #: The weight of the slider is `scale · value + offset`, in the unit of the keys: a bone of a face
    #: board moves by centimetres, and a key by 1.
    scale: float = 1.0
    offset: float = 0.0

    @property
    def weight(self) -> float:
        return self.scale * self.read() + self.offset

    def value_of(self, weight: Any) -> Any:
        """The value at which the slider has a weight, or an array of such."""
        return (weight - self.offset) / self.scale

    @property
    def weight_limits(self) -> tuple[float, float]:
        low, high = sorted(self.scale * limit + self.offset for limit in self.limits)
        return low, high

    def read(self) -> float:
        value = self.owner.path_resolve(self.path)
        return float(value if self.index < 0 else value[self.index])

    def assign(self, value: float) -> None:
        holder, name = self._holder()
        if name.startswith("["):
            old = holder[name[2:-2]]
            holder[name[2:-2]] = round(value) if isinstance(old, int) else value
        elif self.index < 0:
            setattr(holder, name, value)
        else:
            getattr(holder, name)[self.index] = value

    def _holder(self) -> tuple[Any, str]:
        """The struct of the property and the property's name there, `["x"]` for a custom one."""
        if self.path.endswith('"]') or self.path.endswith("']"):
            start = self.path.rindex("[")
            prefix = self.path[:start]
            holder = self.owner.path_resolve(prefix) if prefix else self.owner
            return holder, self.path[start:]
        prefix, dot, name = self.path.rpartition(".")
        return (self.owner.path_resolve(prefix) if dot else self.owner), name

    def touch(self) -> None:
        """Tells Blender that the property changed: custom properties do not by themselves."""
        self.owner.update_tag()

    def insert_key(self, options: set[str]) -> bool:
        return bool(self.owner.keyframe_insert(self.path, index=self.index, options=options))

    @property
    def is_animated(self) -> bool:
        """Whether it has a curve already; some artists let Auto Keying write to these only."""
        return find_curve(self.owner, self.path, self.index) is not None

    @property
    def address(self) -> tuple[str, str, int]:
        return self.owner.name_full, self.path, self.index


@dataclass
class KeyDrive:
    """What moves one shape key: an affine function of controls, or a reason why nothing can."""

    function: Affine = field(default_factory=Affine)
    #: The controls of the variables of the function.
    controls: dict[str, Control] = field(default_factory=dict)
    reason: str = ""


def drives_of(keys: bpy.types.Key) -> dict[str, KeyDrive]:
    """The drivers of the values of shape keys, by the name of the key."""
    found = {}
    for block, curve in _driven_blocks(keys):
        found[block.name] = _drive_of(keys, block, curve)
    return found


def _driven_blocks(keys: bpy.types.Key) -> Iterator[tuple[bpy.types.ShapeKey, bpy.types.FCurve]]:
    data = keys.animation_data
    if data is None:
        return
    by_path = {curve.data_path: curve for curve in data.drivers if not curve.mute}
    for block in keys.key_blocks:
        curve = by_path.get(block.path_from_id("value"))
        if curve is not None:
            yield block, curve


def _drive_of(keys: bpy.types.Key, block: bpy.types.ShapeKey, curve: bpy.types.FCurve) -> KeyDrive:
    driver = curve.driver

    def cannot(why: str) -> KeyDrive:
        return KeyDrive(reason=f"'{block.name}' is driven {why}, so it keeps its value")

    if not driver.is_valid:
        return cannot("by a driver with an error")
    names = [variable.name for variable in driver.variables]
    if driver.type == "SCRIPTED":
        function = affine_of(driver.expression, set(names))
        if function is None:
            return cannot(f"by '{driver.expression}', which is no sum of multiples")
    elif driver.type == "SUM" or (driver.type in {"AVERAGE", "MIN", "MAX"} and len(names) == 1):
        function = Affine(0.0, dict.fromkeys(names, 1.0))
    elif driver.type == "AVERAGE":
        function = Affine(0.0, dict.fromkeys(names, 1.0 / max(len(names), 1)))
    else:
        return cannot(f"by the {driver.type.lower()} of several values")
    function = _through_curve(function, curve)
    if function is None:
        return cannot("through a curve that is not straight")
    if not function.gains:
        return cannot("by a constant")

    controls = {}
    for variable in driver.variables:
        if variable.name not in function.gains:
            continue
        control = _control_of(variable)
        if isinstance(control, str):
            return cannot(control)
        if control.owner == keys and control.path == block.path_from_id("value"):
            return cannot("by itself")
        why = _blocked(control)
        if why:
            return cannot(why)
        controls[variable.name] = control
    return KeyDrive(function, controls)


def _through_curve(function: Affine, curve: bpy.types.FCurve) -> Affine | None:
    """The function behind the curve of the driver: a straight one, or a generator of degree 1."""
    for modifier in curve.modifiers:
        if modifier.mute:
            continue
        if modifier.type != "GENERATOR" or modifier.mode != "POLYNOMIAL" or modifier.poly_order > 1:
            return None
        constant, slope = [*modifier.coefficients, 0.0][:2]
        line = function.scaled(slope).plus(Affine(constant))
        function = function.plus(line) if modifier.use_additive else line
    points = curve.keyframe_points
    if len(points) == 0:
        return function
    if len(points) != 2 or curve.extrapolation != "LINEAR":
        return None
    (x0, y0), (x1, y1) = points[0].co, points[1].co
    straight = points[0].interpolation == "LINEAR" or _handles_on_line(points)
    if x0 == x1 or not straight:
        return None
    slope = (y1 - y0) / (x1 - x0)
    return function.plus(Affine(-x0)).scaled(slope).plus(Affine(y0))


def _handles_on_line(points: bpy.types.bpy_prop_collection) -> bool:
    (x0, y0), (x1, y1) = points[0].co, points[1].co
    slope = (y1 - y0) / (x1 - x0) if x0 != x1 else 0.0
    handles = (points[0].handle_right, points[1].handle_left)
    return all(abs(y0 + slope * (x - x0) - y) < 1e-4 * (1 + abs(y1 - y0)) for x, y in handles)


def _control_of(variable: bpy.types.DriverVariable) -> Control | str:
    """The property that a variable reads, or why it cannot be set."""
    target = variable.targets[0]
    owner = target.id
    if owner is None:
        return "by a variable without an object"
    if variable.type == "SINGLE_PROP":
        return _property(owner, target.data_path)
    if variable.type == "TRANSFORMS" and target.bone_target and target.transform_space == "LOCAL_SPACE":
        axis = LOCATIONS.get(target.transform_type)
        bone = owner.pose.bones.get(target.bone_target) if owner.pose else None
        if axis is not None and bone is not None:
            return _bone_location(owner, bone, axis)
        return f"by the {target.transform_type.replace('_', ' ').lower()} of a bone, which Pliant does not set"
    what = variable.type.replace("_", " ").lower()
    return f"by {what} of '{owner.name}', which Pliant does not set"


def _property(owner: bpy.types.ID, path: str) -> Control | str:
    index = -1
    if path.endswith("]") and path[-2:-1].isdigit():
        path, _, number = path[:-1].rpartition("[")
        index = int(number)
    control = Control(owner, path, index)
    try:
        control.read()
    except (ValueError, TypeError, IndexError, KeyError):
        return f"by '{path}' of '{owner.name}', which is no number"
    control.name = path.rsplit('["')[-1][:-2] if path.endswith('"]') else path.rpartition(".")[2]
    control.limits = _property_limits(control)
    return control


def _property_limits(control: Control) -> tuple[float, float]:
    holder, name = control._holder()
    try:
        if name.startswith("["):
            shown = holder.id_properties_ui(name[2:-2]).as_dict()
            return float(shown.get("min", -math.inf)), float(shown.get("max", math.inf))
        known = holder.bl_rna.properties[name]
        if isinstance(holder, bpy.types.ShapeKey) and name == "value":
            return holder.slider_min, holder.slider_max
        return float(known.hard_min), float(known.hard_max)
    except (TypeError, KeyError, AttributeError):
        return -math.inf, math.inf


def _bone_location(owner: bpy.types.ID, bone: bpy.types.PoseBone, axis: int) -> Control | str:
    if bone.lock_location[axis]:
        return f"by bone '{bone.name}', whose location is locked"
    limits = [-math.inf, math.inf]
    for constraint in bone.constraints:
        if constraint.mute or constraint.influence == 0.0:
            continue
        if constraint.type != "LIMIT_LOCATION" or constraint.owner_space != "LOCAL":
            return f"by bone '{bone.name}', which has the constraint '{constraint.name}'"
        letter = "xyz"[axis]
        for side, (use, value) in enumerate(((f"use_min_{letter}", f"min_{letter}"), (f"use_max_{letter}", f"max_{letter}"))):
            if getattr(constraint, use):
                limits[side] = getattr(constraint, value)
    control = Control(owner, bone.path_from_id("location"), axis, bone.name)
    control.limits = (limits[0], limits[1])
    return control


def _blocked(control: Control) -> str:
    """Why a property cannot be set: it is linked or itself driven."""
    if not control.owner.is_editable:
        return f"by '{control.owner.name}', which is linked from another file"
    data = control.owner.animation_data
    if data is not None:
        for curve in data.drivers:
            same = curve.data_path == control.path and curve.array_index == max(control.index, 0)
            if same and not curve.mute:
                return f"by '{control.name}', which is driven itself"
    return ""
