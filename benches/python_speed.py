"""Speed of the Python package beside other packages in one process, and beside the Rust libraries without Python.

Usage: python benches/python_speed.py [--rust target/release/deps/calls-… ] [--only TEXT]

Peers that are not installed are left out: potpourri3d, scipy, trimesh (with embreex), pymeshlab, py-dem-bones. Every figure is the
median of several runs; the runs of ours and of the peer alternate, so that both see the same machine. `--rust` names the program of
`cargo bench -p pliant --bench calls --no-run`, which makes the same calls without Python.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np

import pliant

warnings.filterwarnings("ignore")


def sphere(levels):
    """A unit sphere: an octahedron whose edges are halved, pushed to the sphere and a little out of round."""
    positions = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(levels):
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        edges, inverse = np.unique(edges, axis=0, return_inverse=True)
        middle = positions[edges].mean(axis=1)
        mid = len(positions) + inverse.reshape(3, -1).T
        positions = np.concatenate([positions, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        a, b, c = faces.T
        ab, bc, ca = mid.T
        faces = np.concatenate([np.stack(f, 1) for f in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    bumps = 1 + 0.1 * np.sin(5 * positions[:, :1]) * np.cos(4 * positions[:, 1:2])
    return positions * bumps, faces


def median_ms(work, secs=1.5, most=15, least=3):
    times = []
    begin = time.perf_counter()
    while len(times) < least or (time.perf_counter() - begin < secs and len(times) < most):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return times


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def comparisons():
    """Work, ours, the peer's name, the peer's."""
    v, f = sphere(7)
    mesh = pliant.Mesh(v, f)
    queries = v[np.random.default_rng(0).permutation(len(v))[:20_000]] * 1.05

    if pp3d := module("potpourri3d"):
        yield "heat, factor, 65k", lambda: pliant.HeatGeodesics(mesh), "potpourri3d", lambda: pp3d.MeshHeatMethodDistanceSolver(v, f, use_robust=False)
        ours, theirs = pliant.HeatGeodesics(mesh), pp3d.MeshHeatMethodDistanceSolver(v, f, use_robust=False)
        yield "heat, one source, 65k", lambda: ours.distances(7), "potpourri3d", lambda: theirs.compute_distance(7)
        yield "cotangent Laplacian, 65k", lambda: pliant.laplacian(mesh), "potpourri3d", lambda: pp3d.cotan_laplacian(v, f)

    if module("scipy"):
        sparse = importlib.import_module("scipy.sparse")
        linalg = importlib.import_module("scipy.sparse.linalg")
        laplacian, mass = pliant.laplacian(mesh)
        system = (laplacian.to_scipy() + sparse.diags_array(mass)).tocsc()
        b = v[:, 0].copy()
        rows = system.tocsr()
        yield "Cholesky, 65k", lambda: pliant.SpdSolver(rows), "scipy splu", lambda: linalg.splu(system)
        solver, lu = pliant.SpdSolver(rows), linalg.splu(system)
        yield "solve, 65k", lambda: solver.solve(b), "scipy splu", lambda: lu.solve(b)
        csr = laplacian.to_scipy()
        yield "matrix times vector, 65k", lambda: laplacian @ b, "scipy CSR", lambda: csr @ b

    if trimesh := module("trimesh"):
        theirs = trimesh.Trimesh(v, f, process=False)
        yield "closest points, index and 20k", lambda: pliant.SurfaceIndex(mesh).closest_points(queries), "trimesh", lambda: trimesh.proximity.closest_point(trimesh.Trimesh(v, f, process=False), queries[:2000])
        index = pliant.SurfaceIndex(mesh)
        theirs.ray.intersects_first(queries[:2], -queries[:2])
        yield "rays, 20k", lambda: index.cast_rays(queries, -queries), f"trimesh ({type(theirs.ray).__module__.split('.')[-1]})", lambda: theirs.ray.intersects_first(queries, -queries)
        yield "Loop, one level, 65k", lambda: pliant.LoopSubdivision(mesh, 1).mesh.positions, "trimesh", lambda: trimesh.remesh.subdivide_loop(v, f, 1)

    if meshlab := module("pymeshlab"):

        def loaded():
            meshes = meshlab.MeshSet()
            meshes.add_mesh(meshlab.Mesh(v, f))
            return meshes

        yield "decimation, 131k to 10k triangles", lambda: pliant.Decimation(mesh, triangles=10_000).mesh.positions, "pymeshlab", lambda: loaded().meshing_decimation_quadric_edge_collapse(targetfacenum=10_000)

        def their_loop():
            meshes = loaded()
            meshes.meshing_surface_subdivision_loop(iterations=1, threshold=meshlab.PercentageValue(0))
            return meshes.current_mesh().vertex_matrix()

        yield "Loop, one level, 65k", lambda: pliant.LoopSubdivision(mesh, 1).mesh.positions, "pymeshlab", their_loop

    if dem := module("py_dem_bones"):
        hand = pliant.load("specimen:hand").clip()

        yield "skinning decomposition, hand, 16 bones", lambda: pliant.Bones(hand, bones=16), "py-dem-bones", lambda: dem.solve_skinning(hand.reference.positions, hand.frames, 16, faces=hand.reference.triangles.tolist())


def calls():
    """The calls of `crates/pliant/benches/calls.rs`, by name."""
    rig = pliant.load("specimen:head").rig()
    weights = np.linspace(0, 1, len(rig))
    grab = rig.poser().grab([4480, 855])
    goals = [np.array([[0.7 + 0.01 * k, 1.1, 0.0], [0.0, 0.0, 0.0]]) for k in range(7)]
    turn = iter(range(10**9))
    mesh = rig.neutral
    heat = pliant.HeatGeodesics(mesh)
    laplacian, mass = pliant.laplacian(mesh)
    bar = [pliant.load(name).mesh() for name in ("specimen:bar", "specimen:bar#bend@24")]
    blend = pliant.Blend(bar)
    rig.evaluate(weights)
    return {
        "evaluate": lambda: rig.evaluate(weights),
        "drag": lambda: grab.solve(goals[next(turn) % 7]),
        "heat distances": lambda: heat.distances(4480),
        "heat factor": lambda: pliant.HeatGeodesics(mesh),
        "matrix times vector": lambda: laplacian @ mass,
        "subdivide": lambda: pliant.LoopSubdivision(mesh, 1),
        "decimate": lambda: pliant.Decimation(mesh, vertices=1000),
        "blend": lambda: blend.at(_weights(next(turn))),
    }


def _weights(turn):
    share = 0.3 + 0.05 * (turn % 7)
    return [1 - share, share]


def table(only):
    print("| work | ours, median | peer | peer, median | ratio |\n|---|---|---|---|---|")
    for work, ours, name, theirs in comparisons():
        if only not in work:
            continue
        own, other = [], []
        for _ in range(3):
            own += median_ms(ours, 0.7, 5, 1)
            other += median_ms(theirs, 0.7, 5, 1)
        own, other = statistics.median(own), statistics.median(other)
        print(f"| {work} | {own:.4g} ms | {name} | {other:.4g} ms | {own / other:.2f} |", flush=True)


def beside_rust(program):
    print("\n| call | Rust, median | Python, median | more | allowed |\n|---|---|---|---|---|")
    rust = json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    python = {name: 1000 * statistics.median(median_ms(work, 2.0, 400, 5)) for name, work in calls().items()}
    again = json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    for name, took in python.items():
        plain = min(rust[name], again[name])
        print(f"| {name} | {plain:.1f} µs | {took:.1f} µs | {took - plain:+.1f} µs | {0.1 * plain + 50:.1f} µs |")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--rust")
    options.add_argument("--only", default="")
    options = options.parse_args()
    print(f"pliant {pliant.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}, load {os.getloadavg()[0]:.1f}\n")
    table(options.only)
    if options.rust:
        beside_rust(options.rust)
    print(f"\nload {os.getloadavg()[0]:.1f}")
