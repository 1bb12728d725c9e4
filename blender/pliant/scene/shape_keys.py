"""Shape keys as a rig of Pliant, and weights back to the properties that move them.

Blender mixes relative keys as `x = basis + Σ value · mask · (key − relative)`; the mask is a vertex
group. This is linear, whatever key a key is relative to, so each key is one target of the rig. Sliders
of the rig are the properties that an artist sets: the keys' values, or what drives them.
"""

import zlib
from collections import OrderedDict
from dataclasses import dataclass, field

import bpy
import numpy as np

import pliant

from ..core.problem import Problem
from . import controls as driving
from .controls import Control
from .meshes import faces_of, positions_of, require_editable, require_mesh

#: Rigs that are kept, so that the second drag starts at once.
KEPT = 4


@dataclass
class KeyShapes:
    """The shape keys of an object as arrays."""

    basis: np.ndarray
    names: list[str]
    #: (keys, n, 3), in single precision; masked by vertex groups.
    deltas: np.ndarray
    limits: list[tuple[float, float]]
    values: np.ndarray
    muted: list[bool]


@dataclass
class KeyRig:
    """A rig whose sliders are properties of the scene."""

    object_name: str
    rig: pliant.Rig
    #: One for each slider; `None` for a key that cannot be moved.
    controls: list[Control | None]
    #: The weights at which the rig shows the present shape.
    weights: np.ndarray
    #: Why keys keep their values, by name.
    kept: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return self.rig.names

    def write(self, weights: np.ndarray) -> list[int]:
        """Sets the properties that change, and returns their sliders."""
        changed = []
        owners = {}
        for k, (control, weight) in enumerate(zip(self.controls, weights)):
            if control is None or abs(weight - self.weights[k]) <= 1e-9:
                continue
            control.assign(float(control.value_of(weight)))
            changed.append(k)
            owners[control.owner.name_full] = control
        for control in owners.values():
            control.touch()
        self.weights = np.array(weights, float)
        return changed


def require_keys(ob: bpy.types.Object | None) -> bpy.types.Object:
    """A mesh object whose shape keys mix and can be seen."""
    ob = require_mesh(ob)
    keys = ob.data.shape_keys
    if keys is None or len(keys.key_blocks) < 2:
        raise Problem(
            f"'{ob.name}' has no shape keys to move; add some, or use Transfer Shapes to get those of another head"
        )
    if not keys.use_relative:
        raise Problem(f"the shape keys of '{ob.name}' are absolute; turn on Relative in their panel")
    if ob.show_only_shape_key:
        raise Problem(f"'{ob.name}' shows one shape key only; turn off the pin in the panel of shape keys")
    return require_editable(ob)


def read_keys(ob: bpy.types.Object) -> KeyShapes:
    """All keys but the reference key."""
    keys = ob.data.shape_keys
    blocks = [block for block in keys.key_blocks if block != keys.reference_key]
    places = {block.name: positions_of(block.points) for block in keys.key_blocks}
    deltas = np.empty((len(blocks), len(ob.data.vertices), 3), np.float32)
    for row, block in zip(deltas, blocks):
        row[:] = places[block.name] - places[block.relative_key.name]
        if block.vertex_group:
            row *= _mask(ob, block.vertex_group)[:, None]
    if not np.isfinite(deltas).all():
        bad = [block.name for block, row in zip(blocks, deltas) if not np.isfinite(row).all()]
        raise Problem(f"the shape key '{bad[0]}' holds positions that are no numbers; mend or remove it")
    return KeyShapes(
        basis=places[keys.reference_key.name],
        names=[block.name for block in blocks],
        deltas=deltas,
        limits=[(block.slider_min, block.slider_max) for block in blocks],
        values=np.array([block.value for block in blocks], float),
        muted=[block.mute for block in blocks],
    )


def _mask(ob: bpy.types.Object, group: str) -> np.ndarray:
    """The weights of a vertex group; a group that does not exist masks nothing."""
    found = ob.vertex_groups.get(group)
    if found is None:
        return np.ones(len(ob.data.vertices), np.float32)
    index = found.index
    weights = np.zeros(len(ob.data.vertices), np.float32)
    for vertex in ob.data.vertices:
        for membership in vertex.groups:
            if membership.group == index:
                weights[vertex.index] = membership.weight
                break
    return weights


def key_rig(ob: bpy.types.Object | None, locked: set[str] = frozenset()) -> KeyRig:
    """The rig of an object's shape keys. `locked` names keys or controls that keep their values."""
    ob = require_keys(ob)
    shapes = read_keys(ob)
    drives = driving.drives_of(ob.data.shape_keys)
    sliders = _sliders(ob, shapes, drives, locked)
    rig = _cached_rig(ob, shapes, sliders)
    return KeyRig(
        object_name=ob.name,
        rig=rig,
        controls=sliders.controls,
        weights=np.array(sliders.weights, float),
        kept=sliders.kept,
    )


@dataclass
class _Sliders:
    """Sliders as combinations of keys."""

    names: list[str] = field(default_factory=list)
    controls: list[Control | None] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    limits: list[tuple[float, float]] = field(default_factory=list)
    #: For each slider, keys with factors.
    mixes: list[dict[int, float]] = field(default_factory=list)
    locked: list[int] = field(default_factory=list)
    #: Constant values of keys.
    constants: dict[int, float] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, control: Control | None, weight: float, limits: tuple[float, float], mix: dict[int, float]) -> int:
        unique, number = name, 1
        while unique in self.names:
            number += 1
            unique = f"{name}.{number}"
        self.names.append(unique)
        self.controls.append(control)
        self.weights.append(weight)
        self.limits.append(limits)
        self.mixes.append(mix)
        return len(self.names) - 1


def _sliders(ob: bpy.types.Object, shapes: KeyShapes, drives: dict[str, driving.KeyDrive], locked: set[str]) -> _Sliders:
    keys = ob.data.shape_keys
    sliders = _Sliders()
    shared: dict[tuple[str, str, int], Control] = {}
    for k, name in enumerate(shapes.names):
        if shapes.muted[k]:
            sliders.kept[name] = f"'{name}' is muted, so it does not move"
            continue
        drive = drives.get(name)
        if drive is None:
            path = keys.key_blocks[name].path_from_id("value")
            control = Control(keys, path, name=name, gains={k: 1.0}, limits=shapes.limits[k])
            slot = shared.setdefault(control.address, control)
            if slot is not control:
                # A property that drives other keys, too, and is this key's own value.
                slot.gains[k] = 1.0
                slot.limits = _common(slot.limits, shapes.limits[k])
            continue
        if drive.reason:
            sliders.kept[name] = drive.reason
            slider = sliders.add(name, None, float(shapes.values[k]), shapes.limits[k], {k: 1.0})
            sliders.locked.append(slider)
            continue
        sliders.constants[k] = drive.function.constant
        for variable, control in drive.controls.items():
            slot = shared.setdefault(control.address, control)
            gain = drive.function.gains[variable]
            slot.gains[k] = slot.gains.get(k, 0.0) + gain
            if len(drive.controls) == 1:
                slot.limits = _common(slot.limits, _preimage(shapes.limits[k], gain, drive.function.constant))

    for control in [control for control in shared.values() if not _is_inside(control)]:
        _keep_all_of(sliders, shapes, control, shared)
    for control in shared.values():
        if not control.gains:
            continue
        names = [shapes.names[k] for k in control.gains]
        name = names[0] if len(names) == 1 else control.name
        _rescale(sliders, control, shared)
        low, high = control.weight_limits
        mix = {k: gain / control.scale for k, gain in control.gains.items()}
        slider = sliders.add(name, control, min(max(control.weight, low), high), (low, high), mix)
        if name in locked or set(names) <= locked:
            sliders.locked.append(slider)
    return sliders


def _rescale(sliders: _Sliders, control: Control, shared: dict[tuple[str, str, int], Control]) -> None:
    """The slider of one key has the value of that key; of several, the unit of the one that moves most."""
    control.scale = max(control.gains.values(), key=abs)
    keys = list(control.gains)
    if len(keys) == 1 and sum(keys[0] in other.gains for other in shared.values()) == 1:
        control.offset = sliders.constants.pop(keys[0], 0.0)


def _is_inside(control: Control) -> bool:
    low, high = control.limits
    return low < high and low - 1e-4 <= control.read() <= high + 1e-4


def _keep_all_of(
    sliders: _Sliders, shapes: KeyShapes, control: Control, shared: dict[tuple[str, str, int], Control]
) -> None:
    """Keys of a property that are not all inside their limits: no straight line describes them."""
    for k in list(control.gains):
        sliders.constants.pop(k, None)
        for other in shared.values():
            other.gains.pop(k, None)
        name = shapes.names[k]
        sliders.kept[name] = f"'{name}' is outside the limits in which '{control.name}' moves it evenly, so it keeps its value"
        slider = sliders.add(name, None, float(shapes.values[k]), shapes.limits[k], {k: 1.0})
        sliders.locked.append(slider)


def _common(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return max(one[0], other[0]), min(one[1], other[1])


def _preimage(limits: tuple[float, float], gain: float, constant: float) -> tuple[float, float]:
    ends = sorted((limit - constant) / gain for limit in limits)
    return ends[0], ends[1]


_RIGS: OrderedDict[tuple, pliant.Rig] = OrderedDict()
_POSERS: OrderedDict[int, tuple[pliant.Rig, pliant.Poser]] = OrderedDict()


def _cached_rig(ob: bpy.types.Object, shapes: KeyShapes, sliders: _Sliders) -> pliant.Rig:
    """The rig of these arrays; made once as long as nothing of them changes."""
    faces = faces_of(ob.data)
    digest = zlib.crc32(np.ascontiguousarray(shapes.deltas), zlib.crc32(np.ascontiguousarray(shapes.basis)))
    corners = zlib.crc32(np.ascontiguousarray(faces)) if isinstance(faces, np.ndarray) else len(faces)
    mixes = tuple(tuple(mix.items()) for mix in sliders.mixes)
    key = (
        ob.data.session_uid, digest, corners, tuple(sliders.names), tuple(sliders.limits), mixes,
        tuple(sliders.locked), tuple(sliders.constants.items()),
    )  # fmt: skip
    rig = _RIGS.get(key)
    if rig is None:
        rig = _RIGS[key] = _make_rig(ob, shapes, sliders, faces)
        while len(_RIGS) > KEPT:
            _RIGS.popitem(last=False)
    _RIGS.move_to_end(key)
    return rig


def _make_rig(ob: bpy.types.Object, shapes: KeyShapes, sliders: _Sliders, faces: object) -> pliant.Rig:
    neutral = shapes.basis.copy()
    for k, constant in sliders.constants.items():
        if constant:
            neutral += constant * shapes.deltas[k]

    deltas = np.zeros((len(sliders.names), len(neutral), 3), np.float32)
    for row, mix in zip(deltas, sliders.mixes):
        for k, factor in mix.items():
            row += np.float32(factor) * shapes.deltas[k]

    if not len(deltas):
        raise Problem(f"no shape key of '{ob.name}' can move; unmute some")
    limits = [(max(low, -1e6), min(high, 1e6)) for low, high in sliders.limits]
    rig = pliant.Rig(neutral, faces, deltas, sliders.names, limits=limits, name=ob.name)
    return rig.with_locked(sliders.locked) if sliders.locked else rig


def poser_of(rig: pliant.Rig) -> pliant.Poser:
    """The rig prepared for pins, kept with the rig."""
    kept = _POSERS.get(id(rig))
    if kept is None or kept[0] is not rig:
        kept = _POSERS[id(rig)] = (rig, rig.poser())
        while len(_POSERS) > KEPT:
            _POSERS.popitem(last=False)
    return kept[1]


def forget() -> None:
    """Releases the memory of rigs."""
    _RIGS.clear()
    _POSERS.clear()


def mixed_positions(ob: bpy.types.Object) -> np.ndarray:
    """The mix of all shape keys as shown, without modifiers."""
    keys = ob.data.shape_keys
    if keys is None:
        return positions_of(ob.data.vertices)
    shapes = read_keys(ob)
    live = np.where(shapes.muted, 0.0, shapes.values)
    return shapes.basis + np.einsum("k,knc->nc", live, shapes.deltas, optimize=True)


def free_name(keys: bpy.types.Key | None, name: str) -> str:
    """A name that no key has, with a number as Blender gives it."""
    taken = {block.name for block in keys.key_blocks} if keys else set()
    unique, number = name, 0
    while unique in taken:
        number += 1
        unique = f"{name}.{number:03}"
    return unique


def add_key(ob: bpy.types.Object, name: str, positions: np.ndarray, *, value: float = 0.0, limits: tuple[float, float] = (0.0, 1.0)) -> bpy.types.ShapeKey:
    """A new key relative to the reference key, at the end of the list. A first one gets a basis."""
    if ob.data.shape_keys is None:
        ob.shape_key_add(name="Basis", from_mix=False)
    block = ob.shape_key_add(name=free_name(ob.data.shape_keys, name), from_mix=False)
    block.relative_key = ob.data.shape_keys.reference_key
    block.points.foreach_set("co", np.ascontiguousarray(positions, np.float32).ravel())
    # Limits clamp each other, so the range is opened before it is closed.
    block.slider_max = max(limits[1], block.slider_min + 0.001)
    block.slider_min = limits[0]
    block.slider_max = limits[1]
    # Blender 5.2 gives new keys the value 1.
    block.value = value
    ob.data.update()
    return block


def key_positions(ob: bpy.types.Object, name: str) -> np.ndarray:
    """The whole shape of one key."""
    keys = ob.data.shape_keys
    block = keys.key_blocks.get(name) if keys else None
    if block is None:
        raise Problem(f"'{ob.name}' has no shape key '{name}'")
    return positions_of(block.points)


def shape_of_key(ob: bpy.types.Object, name: str) -> np.ndarray:
    """What the object looks like with one key at 1 and all others at 0."""
    keys = ob.data.shape_keys
    if keys is None or name not in keys.key_blocks:
        raise Problem(f"'{ob.name}' has no shape key '{name}'")
    if name == keys.reference_key.name:
        return positions_of(keys.reference_key.points)
    shapes = read_keys(ob)
    return shapes.basis + shapes.deltas[shapes.names.index(name)]
