"""Skinning decompositions by py-dem-bones, on the clips of PLIANT_DATA that our bench takes.

    python benches/peers/bones_peers.py [COUNT] [NAME…]

20 bones (or COUNT), 4 influences, its default options and all cores. Prints the wall time of the solution, the time of
processors that it took, the number of bones that came of it, and the RMS distance over the diagonal of the reference's
bounds, recomputed from its weights and transformations.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from py_dem_bones import solve_skinning
from timing import times_ms

DATA = Path(os.environ["PLIANT_DATA"])
CLIPS = {
    "horse-poses": "horse-camel/horse-poses",
    "camel-poses": "horse-camel/camel-poses",
    "face-poses": "face-poses/face-poses",
    "samba": "samba/samba-every7th",
    "elastic-cow": "elastic-cow/elastic-cow-every4th",
    "gallop": "horse-sequences/horse-gallop-every2nd",
    "collapse": "horse-sequences/horse-collapse-every2nd",
    "hand": "hands/derived-hand-poses",
    "cheburashka": "cheburashka/cheburashka",
}


def obj(path):
    rows = [line.split() for line in path.read_text().splitlines() if line[:2] in ("v ", "f ")]
    points = np.array([row[1:4] for row in rows if row[0] == "v"], float)
    return points, [[int(corner.split("/")[0]) - 1 for corner in row[1:]] for row in rows if row[0] == "f"]


def clip(name):
    stem = DATA / CLIPS[name]
    if name == "cheburashka":
        rest, faces = obj(stem.with_suffix(".obj"))
        return rest, faces, np.array([obj(path)[0] for path in sorted(stem.parent.glob("cheburashka-*.obj"))])
    rest, faces = obj(stem.with_name(stem.name + ".reference.obj"))
    return rest, faces, np.load(stem.with_name(stem.name + ".frames.npy")).astype(float)


def main():
    count, names = (int(sys.argv[1]), sys.argv[2:]) if len(sys.argv) > 1 else (20, [])
    for name in names or CLIPS:
        rest, faces, frames = clip(name)
        began = time.process_time()
        (ms,), found = times_ms(lambda: solve_skinning(rest, frames, count, faces=faces, max_influences=4), 1)
        cpu = 1e3 * (time.process_time() - began)
        weights, transforms = np.asarray(found.weights), np.asarray(found.transforms)  # bones x V; frames x bones x 4 x 4
        points = np.c_[rest, np.ones(len(rest))]
        played = np.einsum("bv,fbij,vj->fvi", weights, transforms[:, :, :3], points, optimize=True)
        rms = np.sqrt(((played - frames) ** 2).sum(-1).mean()) / np.linalg.norm(np.ptp(rest, axis=0))
        print(f"{name:<14} {ms:9.1f} ms   ({cpu:.0f} ms of processors)   {len(weights)} bones   rms / diagonal {rms:.5f}", flush=True)


if __name__ == "__main__":
    main()
