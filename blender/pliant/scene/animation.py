"""Meshes over time: read frame by frame, and written as shape keys or as a point cache."""

import os
from collections.abc import Callable, Generator
from typing import Any

import bpy
import numpy as np

import pliant

from ..core.places import moved_points
from ..core.problem import Problem
from ..core.sampling import hat_keys
from ..work.steps import Background, Tick
from .curves import write_curve
from .meshes import deformed_positions, faces_of, rest_mesh
from .shape_keys import add_key

#: More shape keys than this make a file that nobody wants; a point cache holds any number of frames.
MOST_KEYS = 240


def frame_range(scene: bpy.types.Scene, first: int, last: int) -> tuple[int, int]:
    """The frames of an operator; 0 and 0 mean those of the scene."""
    if first == 0 and last == 0:
        first, last = scene.frame_start, scene.frame_end
    if last < first:
        raise Problem(f"the last frame, {last}, is before the first, {first}")
    return first, last


def scene_rate(scene: bpy.types.Scene) -> float:
    return scene.render.fps / scene.render.fps_base


def read_frames(
    scene: bpy.types.Scene, frames: list[int], read: Callable[[bpy.types.Depsgraph], Any]
) -> Generator[Tick, None, list[Any]]:
    """Calls `read` in each frame, and restores the present frame."""
    before, fraction = scene.frame_current, scene.frame_subframe
    found = []
    try:
        for k, frame in enumerate(frames):
            scene.frame_set(frame)
            found.append(read(bpy.context.evaluated_depsgraph_get()))
            yield Tick("reading frames", (k + 1) / len(frames))
    finally:
        scene.frame_set(before, subframe=fraction)
    return found


def world_positions(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """The deformed mesh in the world."""
    matrix = ob.evaluated_get(depsgraph).matrix_world
    return moved_points(matrix, deformed_positions(ob, depsgraph))


def world_clip(
    scene: bpy.types.Scene, ob: bpy.types.Object, frames: list[int], *, rest: np.ndarray | None = None
) -> Generator[Tick, None, pliant.Clip]:
    """The animation of an object in the world. The reference is `rest`, or the mesh without shape keys
    and modifiers, where the object stands in the first frame."""
    matrices: list[np.ndarray] = []

    def read(depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        if not matrices:
            matrices.append(np.array(ob.evaluated_get(depsgraph).matrix_world))
        return world_positions(ob, depsgraph)

    positions = yield from read_frames(scene, frames, read)
    reference = moved_points(matrices[0], rest_mesh(ob).positions) if rest is None else rest
    mesh = pliant.Mesh(reference, faces_of(ob.data), name=ob.name)
    return pliant.Clip(mesh, positions, name=ob.name, frames_per_second=scene_rate(scene))


def write_keys(ob: bpy.types.Object, name: str, frames: list[float], shapes: np.ndarray) -> list[str]:
    """A sequence of shapes (f, n, 3), in the object's space, as shape keys that switch from one to the next."""
    if len(shapes) > MOST_KEYS:
        raise Problem(f"{len(shapes)} frames are too many for shape keys; choose a point cache, or at most {MOST_KEYS} frames")
    names = []
    for k, shape in enumerate(shapes):
        block = add_key(ob, f"{name} {frames[k]:g}", shape)
        names.append(block.name)
        keys = hat_keys(frames, k)
        write_curve(
            ob.data.shape_keys, block.path_from_id("value"), -1, [at for at, _ in keys], [value for _, value in keys]
        )
    return names


def cache_path(ob: bpy.types.Object, name: str, path: str) -> str:
    """Where a point cache goes: beside the file, if the artist gave no place."""
    if not bpy.data.filepath and (not path or path.startswith("//")):
        raise Problem("save the file first, or choose where the point cache goes")
    if not path:
        clean = "".join(c if c.isalnum() or c in "-_. " else "_" for c in f"{ob.name} {name}")
        path = f"//pliant/{clean}.pc2"
    full = bpy.path.abspath(path)
    if not full.lower().endswith((".pc2", ".mdd")):
        full += ".pc2"
    return full


def write_cache(
    ob: bpy.types.Object, name: str, first: int, rate: float, shapes: np.ndarray, path: str
) -> Generator[Background, None, bpy.types.Modifier]:
    """A sequence of shapes as a point cache, with the modifier that plays it."""
    full = cache_path(ob, name, path)
    mesh = rest_mesh(ob)

    def work(progress: Callable[[str, float], bool]) -> None:
        folder = os.path.dirname(os.path.abspath(full))
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise Problem(f"the folder '{folder}' cannot be made: {error.strerror}") from error
        pliant.save(full, pliant.Clip(mesh, shapes, name=name, frames_per_second=rate))

    yield Background("writing the point cache", work)
    modifier = ob.modifiers.new(name, "MESH_CACHE")
    modifier.cache_format = "PC2" if full.lower().endswith(".pc2") else "MDD"
    modifier.filepath = bpy.path.relpath(full) if bpy.data.filepath else full
    modifier.frame_start = first
    modifier.play_mode = "SCENE"
    modifier.time_mode = "FRAME"
    modifier.deform_mode = "OVERWRITE"
    modifier.interpolation = "LINEAR"
    return modifier
