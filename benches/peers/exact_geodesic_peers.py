"""Exact geodesic distances by gdist and pygeodesic, on the inputs of the bench `exact_disc`.

Usage: PLIANT_DATA=<folder> python exact_geodesic_peers.py [--runs N] [--write-reference FILE.npy]

Each peer runs if it can be imported (gdist needs numpy < 2, so the two may live in two environments).
Prints medians over N runs:
  head-3cm   the vertices within 3 cm of a cheek vertex of ict-facekit/generic_neutral_mesh.obj (unit: cm)
  bunny      all vertices of static/bunny.off from vertex 0
`query` starts from what the peer can prepare once per pose, `all` starts from arrays.
--write-reference stores pygeodesic's distances on the bunny.
"""

import argparse
import os
import statistics

import numpy as np
from timing import times_ms

HEAD_SOURCE = 2653
RADIUS_CM = 3.0


def read_obj(path):
    """Vertices and fan triangles (a, b, c), (a, c, d), ... in file order."""
    points, triangles = [], []
    with open(path) as file:
        for line in file:
            fields = line.split()
            if not fields:
                continue
            if fields[0] == "v":
                points.append([float(x) for x in fields[1:4]])
            elif fields[0] == "f":
                corners = [int(f.split("/")[0]) - 1 for f in fields[1:]]
                triangles += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return np.array(points, dtype=np.float64), np.array(triangles, dtype=np.int32)


def read_off(path):
    with open(path) as file:
        words = file.read().split()
    vertices, faces = int(words[1]), int(words[2])
    points = np.array(words[4 : 4 + 3 * vertices], dtype=np.float64).reshape(-1, 3)
    rest = np.array(words[4 + 3 * vertices : 4 + 3 * vertices + 4 * faces], dtype=np.int32).reshape(-1, 4)
    return points, rest[:, 1:].copy()


def median_ms(runs, call):
    """Median and quartiles of the time of `call`, in milliseconds, and its last result."""
    times, result = times_ms(call, runs)
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:10.2f} ms  (quartiles {low:.2f} to {high:.2f})", result


def run_gdist(runs, head, bunny):
    try:
        import gdist
    except ImportError:
        print("gdist: not installed")
        return
    source = np.array([HEAD_SOURCE], dtype=np.int32)
    everyone = np.arange(len(head[0]), dtype=np.int32)
    spent, distances = median_ms(runs, lambda: gdist.compute_gdist(*head, source, everyone, RADIUS_CM))
    inside = np.count_nonzero(distances <= RADIUS_CM)
    print(f"gdist       head-3cm all    {spent}  {inside} vertices")
    source = np.array([0], dtype=np.int32)
    everyone = np.arange(len(bunny[0]), dtype=np.int32)
    spent, distances = median_ms(runs, lambda: gdist.compute_gdist(*bunny, source, everyone))
    print(f"gdist       bunny    all    {spent}  farthest {distances.max():.15g}")


def run_pygeodesic(runs, head, bunny, reference):
    try:
        import pygeodesic.geodesic as geodesic
    except ImportError:
        print("pygeodesic: not installed")
        return
    prepare = geodesic.PyGeodesicAlgorithmExact
    ready = prepare(*head)
    # With a limit it fails at targets that it does not reach, so the targets are those known to be inside.
    inside = np.flatnonzero(ready.geodesicDistances(np.array([HEAD_SOURCE]))[0] <= RADIUS_CM)
    query = lambda solver: solver.geodesicDistances(np.array([HEAD_SOURCE]), inside, RADIUS_CM)[0]
    spent, distances = median_ms(runs, lambda: query(ready))
    print(f"pygeodesic  head-3cm query  {spent}  {len(inside)} vertices")
    spent, _ = median_ms(runs, lambda: query(prepare(*head)))
    print(f"pygeodesic  head-3cm all    {spent}")
    ready = prepare(*bunny)
    query = lambda solver: solver.geodesicDistances(np.array([0]))[0]
    spent, distances = median_ms(runs, lambda: query(ready))
    print(f"pygeodesic  bunny    query  {spent}  farthest {distances.max():.15g}")
    spent, _ = median_ms(runs, lambda: query(prepare(*bunny)))
    print(f"pygeodesic  bunny    all    {spent}")
    if reference:
        np.save(reference, distances)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=11)
    arguments.add_argument("--write-reference")
    options = arguments.parse_args()
    data = os.environ["PLIANT_DATA"]
    head = read_obj(os.path.join(data, "ict-facekit", "generic_neutral_mesh.obj"))
    bunny = read_off(os.path.join(data, "static", "bunny.off"))
    run_gdist(options.runs, head, bunny)
    run_pygeodesic(options.runs, head, bunny, options.write_reference)


if __name__ == "__main__":
    main()
