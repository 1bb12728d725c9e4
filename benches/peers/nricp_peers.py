"""Non-rigid registration by trimesh on the pairs of our study.

    cargo test -p pliant-transfer --bench match_study -- all --export FOLDER
    python benches/peers/nricp_peers.py FOLDER [PAIR …]

`nricp_amberg` (Amberg and others, 2007) with its default steps, from the same markers and the same kind of start: the similarity that
fits the markers. The error is the root mean square distance of the source's vertices from their known places on the target, relative to
the target's diagonal; vertices with a marker do not count. Where only poses are known, the registered source is written to
FOLDER/PAIR/nricp-COUNT.npy, and `match_study --registered FOLDER` prints its error by the rule for poses.
"""

import sys
from pathlib import Path

import numpy as np
import trimesh
from timing import times_ms
from trimesh.registration import nricp_amberg, procrustes

COUNTS = (55, 20, 8, 5)


def study(folder, count):
    """Registers one pair with `count` markers, keeps the result, and prints its error and time."""
    source, target, known, goals = (np.load(folder / f"{name}.npy") for name in ("source", "target", "known", "goals"))
    triangles = np.load(folder / "source-triangles.npy")
    markers = np.load(folder / f"markers-{count}.npy")
    similarity, _, _ = procrustes(source[markers[:, 0]], target[markers[:, 1]], reflection=False)
    laid = trimesh.Trimesh(trimesh.transform_points(source, similarity), triangles, process=False)
    whole = trimesh.Trimesh(target, np.load(folder / "target-triangles.npy"), process=False)

    def work():
        return nricp_amberg(laid, whole, source_landmarks=markers[:, 0], target_positions=target[markers[:, 1]])

    times, found = times_ms(work, 1)
    np.save(folder / f"nricp-{count}.npy", found)
    counted = ~np.isin(known, markers[:, 0])
    off = np.nan
    if counted.any():
        off = np.sqrt(((found[known] - goals)[counted] ** 2).sum(axis=1).mean()) / np.linalg.norm(np.ptp(target, axis=0))
    print(f"{folder.name:16} {count:3} markers: {off:.4f}  {times[0] / 1e3:.1f} s", flush=True)


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    for pair in sys.argv[2:] or sorted(path.name for path in FOLDER.iterdir()):
        for markers_count in COUNTS:
            if (FOLDER / pair / f"markers-{markers_count}.npy").exists():
                try:
                    study(FOLDER / pair, markers_count)
                except RuntimeError as error:
                    print(f"{pair:16} {markers_count:3} markers: fails, {error}", flush=True)
