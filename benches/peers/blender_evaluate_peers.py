"""Peer of our evaluation with normals: Blender with all 57 shape keys of the ICT face on its 26 719 vertices.

    python benches/peers/blender_evaluate_peers.py [FRAMES]      (Python 3.11, `pip install bpy==5.0.1 numpy`)

Every frame gives all the keys new values, none of them zero. Timed are the values and the update of the dependency graph, then
reading the positions of the evaluated mesh and its vertex normals, which Blender computes when they are first asked for, and the
whole; normals of the corners come on top and are not in the whole. Prints medians in milliseconds over the frames.
"""

import os
import statistics
import sys
from pathlib import Path

import bpy
import numpy as np
from timing import times_ms


def read_obj(path):
    """Positions and faces."""
    positions, faces = [], []
    with open(path) as file:
        for line in file:
            if line.startswith("v "):
                positions.append([float(x) for x in line.split()[1:4]])
            elif line.startswith("f "):
                faces.append([int(corner.split("/")[0]) - 1 for corner in line.split()[1:]])
    return np.array(positions, np.float32), faces


def face_object(positions, faces, deltas):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mesh = bpy.data.meshes.new("face")
    mesh.from_pydata(positions.tolist(), [], faces)
    assert len(mesh.vertices) == len(positions), "Blender kept every vertex"
    mesh.shade_smooth()  # Else there are no normals of vertices to speak of.
    thing = bpy.data.objects.new("face", mesh)
    bpy.context.scene.collection.objects.link(thing)
    thing.shape_key_add(name="neutral")
    for k, delta in enumerate(deltas):
        thing.shape_key_add(name=f"key{k}").data.foreach_set("co", (positions + delta).ravel())
    return thing


def frames(thing, values):
    """Milliseconds of each part in each frame, and the last frame's positions and normals."""
    keys = thing.data.shape_keys.key_blocks[1:]
    count, corners = len(thing.data.vertices), len(thing.data.loops)
    positions, normals, at_corners = (np.empty(3 * n, np.float32) for n in (count, count, corners))
    graph = bpy.context.evaluated_depsgraph_get()
    times = {"update": [], "positions": [], "vertex_normals": [], "whole": [], "corner_normals": []}

    def update(row):
        for key, value in zip(keys, row):
            key.value = value
        graph.update()
        return thing.evaluated_get(graph).data

    for row in values.tolist():
        ms, mesh = times_ms(lambda: update(row), 1)
        times["update"] += ms
        times["positions"] += times_ms(lambda: mesh.attributes["position"].data.foreach_get("vector", positions), 1)[0]
        times["vertex_normals"] += times_ms(lambda: mesh.vertex_normals.foreach_get("vector", normals), 1)[0]
        times["whole"].append(sum(times[part][-1] for part in ("update", "positions", "vertex_normals")))
        times["corner_normals"] += times_ms(lambda: mesh.corner_normals.foreach_get("vector", at_corners), 1)[0]
    return times, positions.reshape(-1, 3), normals.reshape(-1, 3)


def main():
    data = Path(os.environ["PLIANT_DATA"]) / "ict-facekit"
    neutral, faces = read_obj(data / "generic_neutral_mesh.obj")
    deltas = np.load(data / "expressions.delta.npy")
    values = np.random.default_rng(7).uniform(0.05, 1.0, (int(sys.argv[1]) if len(sys.argv) > 1 else 50, len(deltas)))
    times, positions, normals = frames(face_object(neutral, faces, deltas), values)
    for part, ms in times.items():
        print(f"blender_{part}/57_keys".ljust(34), f"{statistics.median(ms):9.3f} ms (median of {len(ms)}, {min(ms):.3f} to {max(ms):.3f})")
    expected = neutral + np.tensordot(values[-1], deltas, 1)
    print(f"Blender {bpy.app.version_string}: positions within {np.abs(positions - expected).max():.1e} of the sum of shapes,", end=" ")
    print(f"lengths of normals {np.linalg.norm(normals, axis=1).min():.4f} to {np.linalg.norm(normals, axis=1).max():.4f}")
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
