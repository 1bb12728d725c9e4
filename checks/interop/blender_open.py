"""Opens files of every writer in Blender and compares them with what Pliant says that they hold.

    python blender_open.py MANIFEST.json      (Python 3.11, `pip install bpy==5.0.1 numpy`)

The manifest is a list of {"path", "extents", "joints", "keys", "textures"}: the lengths of the box around all vertices in the
bind pose with all sliders at zero, in Blender's unit (metres, or the numbers of a format without a unit), the names of joints
and of shape keys (null for formats that hold none), and the widths and heights of images. Exit 0: everything agrees.
"""

import json
import os
import re
import sys

import bpy
import numpy as np

TOLERANCE = 1e-4  # of the longest side


def opened(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    ending = os.path.splitext(path)[1].lower()
    {
        ".glb": lambda: bpy.ops.import_scene.gltf(filepath=path),
        ".gltf": lambda: bpy.ops.import_scene.gltf(filepath=path),
        # The older add-on, `import_scene.fbx`, refuses every file with in-betweens.
        ".fbx": lambda: bpy.ops.wm.fbx_import(filepath=path),
        ".usda": lambda: bpy.ops.wm.usd_import(filepath=path),
        ".abc": lambda: bpy.ops.wm.alembic_import(filepath=path),
        ".obj": lambda: bpy.ops.wm.obj_import(filepath=path),
        ".ply": lambda: bpy.ops.wm.ply_import(filepath=path),
    }[ending]()


def at_rest():
    """Shows the bind pose with all sliders at zero."""
    for armature in bpy.data.armatures:
        armature.pose_position = "REST"
    for keys in bpy.data.shape_keys:
        keys.animation_data_clear()
        for key in keys.key_blocks:
            key.value = 0.0
    bpy.context.view_layer.update()


def meshes():
    # The glTF importer makes a mesh to draw bones with.
    return [o for o in bpy.context.scene.objects if o.type == "MESH" and not o.data.name.startswith("Icosphere")]


def extents():
    graph = bpy.context.evaluated_depsgraph_get()
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for item in meshes():
        mesh = item.evaluated_get(graph).to_mesh()
        flat = np.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", flat)
        matrix = np.array(item.matrix_world)
        points = flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        low, high = np.minimum(low, points.min(0)), np.maximum(high, points.max(0))
    return high - low


def compare(expected):
    name = os.path.basename(expected["path"])
    try:
        opened(expected["path"])
    except RuntimeError as error:
        print(f"{name}: WRONG: {str(error).splitlines()[-1]}")
        return False
    at_rest()
    wrong = []

    # Blender stands z upwards, so that axes may be exchanged.
    found, wanted = np.sort(extents()), np.sort(expected["extents"])
    if np.abs(found - wanted).max() > TOLERANCE * wanted.max():
        wrong.append(f"size {found.round(5)} instead of {wanted.round(5)}")
    if expected["joints"] is not None:
        # USD allows letters, digits and underscores in names.
        plain = lambda name: re.sub(r"\W", "_", name)  # noqa: E731
        bones = {plain(bone.name) for armature in bpy.data.armatures for bone in armature.bones}
        missing = sorted({plain(name) for name in expected["joints"]} - bones)
        if missing:
            wrong.append(f"{len(missing)} of {len(expected['joints'])} joints are missing: {missing[:3]}")
    keys = {key.name for keys in bpy.data.shape_keys for key in list(keys.key_blocks)[1:]}
    # glTF has in-betweens and combinations as further keys.
    missing = sorted(set(expected["keys"] or []) - keys)
    if missing:
        wrong.append(f"{len(missing)} of {len(expected['keys'])} shape keys are missing: {missing[:3]}")
    images = sorted([list(image.size) for image in bpy.data.images if image.size[0] > 0])
    if expected["textures"] is not None and images != sorted(expected["textures"]):
        wrong.append(f"images {images} instead of {expected['textures']}")

    print(f"{name}: size {found.round(4).tolist()}, {len(keys)} shape keys, {len(bpy.data.armatures)} armatures, {len(images)} images")
    for line in wrong:
        print(f"{name}: WRONG: {line}")
    return not wrong


if __name__ == "__main__":
    with open(sys.argv[1]) as manifest:
        entries = json.load(manifest)
    results = [compare(entry) for entry in entries]
    print(f"{sum(results)} of {len(results)} files agree")
    sys.exit(0 if all(results) else 1)
