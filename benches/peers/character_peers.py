"""Reading and writing a skinned, textured character of 60,000 vertices with 120 targets: Pliant, Blender, trimesh, pygltflib.

    cargo build --release -p pliant-io --example time_gltf
    python character_peers.py ../../target/release/examples/time_gltf [REPEATS]
    (Python 3.11, `pip install bpy==5.0.1 trimesh pygltflib numpy`)

The character is made here with numpy: a closed tube with UVs and normals, 20 joints, 120 dense targets of positions and
normals, a PNG of 1024 x 1024 pixels and a clip of the joints. Prints medians of wall time in milliseconds, and the most
memory of each process. trimesh reads no targets, pygltflib decodes nothing; both are asked for what they can do.

    python character_peers.py --character FILE.glb [RINGS SIDES TARGETS]

writes the character alone.
"""

import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

RINGS, SIDES, TARGETS, JOINTS = 300, 200, 120, 20


def png(size):
    """A PNG of noise, which does not compress."""
    rows = np.random.default_rng(1).integers(0, 255, (size, size, 3), np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 1)) + chunk(b"IEND", b"")


class Builder:
    def __init__(self):
        self.bytes = bytearray()
        self.views = []
        self.accessors = []

    def view(self, data, target=None):
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)}
        if target:
            view["target"] = target
        self.bytes += data
        self.views.append(view)
        return len(self.views) - 1

    def accessor(self, array, kind, component, target=None, bounds=False):
        about = {"bufferView": self.view(array.tobytes(), target), "componentType": component, "count": len(array), "type": kind}
        if bounds:
            flat = array.reshape(len(array), -1)
            about["min"], about["max"] = flat.min(0).tolist(), flat.max(0).tolist()
        self.accessors.append(about)
        return len(self.accessors) - 1


def character(path, rings=RINGS, sides=SIDES, count=TARGETS):
    build = Builder()
    ring, side = np.mgrid[0:rings, 0:sides].reshape(2, -1)
    turn = side * (2 * np.pi / sides)
    height = ring / rings
    normals = np.column_stack([np.cos(turn), 0 * turn, np.sin(turn)]).astype(np.float32)
    positions = (0.2 * normals + np.column_stack([0 * turn, 1.8 * height, 0 * turn])).astype(np.float32)
    a = (ring * sides + side)[ring < rings - 1]
    b = (ring * sides + (side + 1) % sides)[ring < rings - 1]
    triangles = np.column_stack([a, a + sides, b, b, a + sides, b + sides]).astype(np.uint32).ravel()

    along = height * (JOINTS - 1)
    first = np.floor(along).astype(np.uint16)
    joints = np.column_stack([first, np.minimum(first + 1, JOINTS - 1), 0 * first, 0 * first]).astype(np.uint16)
    second = (along - first).astype(np.float32)
    weights = np.column_stack([1 - second, second, 0 * second, 0 * second]).astype(np.float32)
    attributes = {
        "POSITION": build.accessor(positions, "VEC3", 5126, 34962, True),
        "NORMAL": build.accessor(normals, "VEC3", 5126, 34962),
        "TEXCOORD_0": build.accessor(np.column_stack([turn / 6.2832, height]).astype(np.float32), "VEC2", 5126, 34962),
        "JOINTS_0": build.accessor(joints, "VEC4", 5123, 34962),
        "WEIGHTS_0": build.accessor(weights, "VEC4", 5126, 34962),
    }
    random = np.random.default_rng(2)
    targets = []
    for k in range(count):
        bump = np.exp(-((height - k / count) ** 2) * 40)[:, None] * normals * 0.05
        targets.append({
            "POSITION": build.accessor((bump + random.normal(0, 1e-4, bump.shape)).astype(np.float32), "VEC3", 5126, 34962, True),
            "NORMAL": build.accessor(random.normal(0, 1e-3, bump.shape).astype(np.float32), "VEC3", 5126, 34962),
        })

    inverse = np.tile(np.eye(4, dtype=np.float32), (JOINTS, 1, 1))
    inverse[:, 3, 1] = -1.8 * np.arange(JOINTS) / (JOINTS - 1)
    nodes = [{"name": f"joint{k}", "translation": [0, 1.8 / (JOINTS - 1) if k else 0, 0], **({"children": [k + 1]} if k + 1 < JOINTS else {})} for k in range(JOINTS)]
    nodes.append({"name": "body", "mesh": 0, "skin": 0})
    times = build.accessor(np.linspace(0, 2, 61).astype(np.float32)[:, None], "SCALAR", 5126, None, True)
    angle = 0.1 * np.sin(np.linspace(0, 6.28, 61)) / 2
    bend = np.column_stack([0 * angle, 0 * angle, np.sin(angle), np.cos(angle)]).astype(np.float32)
    output = build.accessor(bend, "VEC4", 5126)
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, JOINTS]}], "nodes": nodes,
        "meshes": [{"name": "body", "weights": [0.0] * count, "extras": {"targetNames": [f"shape{k}" for k in range(count)]},
                    "primitives": [{"attributes": attributes, "targets": targets, "material": 0,
                                    "indices": build.accessor(triangles[:, None], "SCALAR", 5125, 34963)}]}],
        "skins": [{"joints": list(range(JOINTS)), "inverseBindMatrices": build.accessor(inverse, "MAT4", 5126)}],
        "materials": [{"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}], "images": [{"bufferView": build.view(png(1024)), "mimeType": "image/png"}],
        "animations": [{"name": "bend", "samplers": [{"input": times, "output": output}],
                        "channels": [{"sampler": 0, "target": {"node": k, "path": "rotation"}} for k in range(JOINTS)]}],
        "accessors": build.accessors, "bufferViews": build.views, "buffers": [{"byteLength": len(build.bytes) + -len(build.bytes) % 4}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary = bytes(build.bytes) + b"\0" * (-len(build.bytes) % 4)
    total = 28 + len(text) + len(binary)
    with open(path, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, total) + struct.pack("<I4s", len(text), b"JSON") + text)
        file.write(struct.pack("<I4s", len(binary), b"BIN\0") + binary)


def memory_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def report(name, reads, writes):
    print(f"{name}: read {statistics.median(reads):.1f} ms, write {statistics.median(writes):.1f} ms "
          f"(medians of {len(reads)}), most memory {memory_mb():.0f} MB, load {os.getloadavg()[0]:.1f}", flush=True)


def blender(path, out, repeats):
    import bpy

    from timing import times_ms

    reads, writes = [], []
    for _ in range(repeats):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        reads += times_ms(lambda: bpy.ops.import_scene.gltf(filepath=path), 1)[0]
        writes += times_ms(lambda: bpy.ops.export_scene.gltf(filepath=out), 1)[0]
    report(f"Blender {bpy.app.version_string}", reads, writes)


def plain(path, out, repeats):
    import trimesh

    from timing import times_ms

    reads, scene = times_ms(lambda: trimesh.load(path, process=False), repeats)
    writes, _ = times_ms(lambda: scene.export(out), repeats)
    report(f"trimesh {trimesh.__version__}, without targets and skin", reads, writes)


def undecoded(path, out, repeats):
    import pygltflib

    from timing import times_ms

    reads, document = times_ms(lambda: pygltflib.GLTF2().load(path), repeats)
    writes, _ = times_ms(lambda: document.save(out), repeats)
    report("pygltflib, without decoding", reads, writes)


PEERS = {"blender": blender, "trimesh": plain, "pygltflib": undecoded}

if __name__ == "__main__":
    if sys.argv[1] == "--peer":  # A process of its own, for its memory.
        PEERS[sys.argv[2]](sys.argv[3], sys.argv[4], int(sys.argv[5]))
        sys.exit()
    if sys.argv[1] == "--character":
        character(sys.argv[2], *map(int, sys.argv[3:]))
        sys.exit()
    program, count = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "3"
    with tempfile.TemporaryDirectory() as folder:
        source, saved = os.path.join(folder, "character.glb"), os.path.join(folder, "saved.glb")
        character(source)
        subprocess.run([program, source, saved, count], check=True)
        for peer in PEERS:
            subprocess.run([sys.executable, __file__, "--peer", peer, source, saved, count], check=False)
