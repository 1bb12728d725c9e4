"""Peers of the `gltf` bench: Blender's glTF importer and exporter, and trimesh, on the same 26 719-vertex, 57-target rig.

    python gltf_peers.py RIG.glb [REPEATS]      (Python 3.11, `pip install bpy==5.0.1 trimesh numpy`)

RIG.glb is `pliant convert neutral.obj+expressions.delta.npy RIG.glb`. Prints medians of wall time in milliseconds and the size of
what each writes. trimesh neither reads nor writes morph targets, so its times are for the mesh alone.
"""

import os
import statistics
import sys
import tempfile

from timing import times_ms


def shown(times):
    return f"{statistics.median(times):9.1f} ms (median of {len(times)}, {min(times):.1f} to {max(times):.1f})"


def median_ms(repeats, work):
    return shown(times_ms(work, repeats)[0])


def blender(path, repeats, folder):
    import bpy

    times = []
    for _ in range(repeats):
        bpy.ops.wm.read_factory_settings(use_empty=True)  # A fresh scene, outside the time.
        times += times_ms(lambda: bpy.ops.import_scene.gltf(filepath=path), 1)[0]
    version = bpy.app.version_string
    print(f"Blender {version} import: {shown(times)}")
    # Normals of targets, which Blender writes unless told otherwise, are not written by us.
    ways = {
        "as it comes": {},
        "dense targets without normals": {"export_morph_normal": False, "export_try_sparse_sk": False},
        "sparse targets without normals": {"export_morph_normal": False, "export_try_sparse_sk": True},
        "dense targets": {"export_try_sparse_sk": False},
    }
    for name, options in ways.items():
        out = os.path.join(folder, "blender.glb")
        work = lambda: bpy.ops.export_scene.gltf(filepath=out, export_animations=False, **options)  # noqa: E731
        print(f"Blender {version} export, {name}: {median_ms(repeats, work)}, {os.path.getsize(out) / 1e6:.1f} MB")


def plain_mesh(path, repeats, folder):
    import trimesh

    print(f"trimesh {trimesh.__version__} load, mesh alone: {median_ms(repeats, lambda: trimesh.load(path, process=False))}")
    scene = trimesh.load(path, process=False)
    out = os.path.join(folder, "trimesh.glb")
    print(f"trimesh {trimesh.__version__} export, mesh alone: {median_ms(repeats, lambda: scene.export(out))}, {os.path.getsize(out) / 1e6:.1f} MB")


if __name__ == "__main__":
    rig, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as place:
        plain_mesh(rig, count, place)
        blender(rig, count, place)
