"""Opens GLBs in Blender and compares what it sees with what the file stores.

    python blender_roundtrip.py FILE.glb …      (Python 3.11, `pip install bpy==5.0.1 numpy`)

For every mesh: the number of stored vertices, the names of the shape keys in order, the positions of the basis and of
every shape key. The file is decoded here, apart from the program that wrote it. Exit 0: everything agrees.
"""

import json
import struct
import sys

import bpy
import numpy as np

COMPONENT = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
TOLERANCE = 2e-6  # of the bounding-box diagonal


def open_glb(path):
    raw = open(path, "rb").read()
    length, = struct.unpack_from("<I", raw, 12)
    return json.loads(raw[20:20 + length]), raw[28 + length:]


def accessor(document, binary, index):
    about = document["accessors"][index]
    kind, width = COMPONENT[about["componentType"]], WIDTH[about["type"]]

    def view(place, count, kind, width):
        start = document["bufferViews"][place["bufferView"]].get("byteOffset", 0) + place.get("byteOffset", 0)
        return np.frombuffer(binary, kind, count * width, start).reshape(count, width)

    if "bufferView" in about:
        values = view(about, about["count"], kind, width).copy()
    else:
        values = np.zeros((about["count"], width), kind)
    if "sparse" in about:
        sparse = about["sparse"]
        rows = view(sparse["indices"], sparse["count"], COMPONENT[sparse["indices"]["componentType"]], 1)[:, 0]
        values[rows] = view(sparse["values"], sparse["count"], kind, width)
    return values


def stored(document, binary, mesh):
    """Positions, and those of every target, over all primitives."""
    primitives = mesh["primitives"]
    rest = np.vstack([accessor(document, binary, p["attributes"]["POSITION"]) for p in primitives]).astype(float)
    count = len(primitives[0].get("targets", []))
    targets = [rest + np.vstack([accessor(document, binary, p["targets"][k]["POSITION"]) for p in primitives]) for k in range(count)]
    return rest, targets


def y_up(points):
    """Blender stands z upwards."""
    points = np.asarray(points, float).reshape(-1, 3)
    return np.column_stack([points[:, 0], points[:, 2], -points[:, 1]])


def coordinates(sequence):
    flat = np.empty(3 * len(sequence), np.float32)
    sequence.foreach_get("co", flat)
    return y_up(flat)


def compare(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False)
    document, binary = open_glb(path)
    found = [o for o in bpy.context.scene.objects if o.type == "MESH" and o.data.name not in ("Icosphere",)]
    wrong = []
    if len(found) != len(document["meshes"]):
        wrong.append(f"{len(found)} objects for {len(document['meshes'])} meshes")
    for mesh in document["meshes"]:
        rest, targets = stored(document, binary, mesh)
        size = np.linalg.norm(rest.max(0) - rest.min(0))
        same_count = [o for o in found if len(o.data.vertices) == len(rest)]
        if not same_count:
            wrong.append(f"no object of {len(rest)} vertices; there are {[len(o.data.vertices) for o in found]}")
            continue
        twin = min(same_count, key=lambda o: np.abs(coordinates(o.data.vertices) - rest).max())
        found.remove(twin)
        keys = twin.data.shape_keys.key_blocks if twin.data.shape_keys else []
        names = (mesh.get("extras") or {}).get("targetNames") or [f"target_{k}" for k in range(len(targets))]
        if [k.name for k in keys][1:] != names:
            wrong.append(f"shape keys {[k.name for k in keys][1:4]}… instead of {names[:3]}…")
        basis = coordinates(keys[0].data if keys else twin.data.vertices)
        errors = [np.abs(basis - rest).max()] + [np.abs(coordinates(k.data) - t).max() for k, t in zip(list(keys)[1:], targets)]
        if max(errors) > TOLERANCE * size:
            wrong.append(f"positions differ by {max(errors) / size:.2g} of the diagonal")
        print(f"{path}: {len(rest)} vertices, {len(targets)} shape keys, largest difference {max(errors) / size:.2g} of the diagonal")
    for line in wrong:
        print(f"{path}: WRONG: {line}")
    return not wrong


if __name__ == "__main__":
    results = [compare(path) for path in sys.argv[1:]]
    sys.exit(0 if all(results) else 1)
