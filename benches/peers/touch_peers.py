"""Peers of `touch`: a sheet for a frame of 1/60 s, geodesic discs, and how stiffness depends on substeps and sweeps.

    python benches/peers/touch_peers.py [--json] [--frames N] [PART…]

PART: pypbd, rapier, discs, stiffness; all without one. Needs numpy; pypbd for the first, cargo for the second (it builds `touch_rapier`
beside this file), potpourri3d and pygeodesic for the third, pypbd and cargo for the last. One thread each.

The sheet. Vertex i n + j lies at (i, j) / (n − 1), the triangles of a cell are (a, a + n, a + n + 1) and (a, a + n + 1, a + 1): the
`flat_sheet(n − 1, 0)` of `pliant_mesh::shapes`. n = 21: 441 vertices, 1240 edges, 1160 of them inner; n = 58: 3364, 9861 and 9633. The
outermost ring is fixed, every other vertex has a mass of 1 / n², gravity is 9.81 across the plane. Ten substeps of one sweep:
  stretch  a distance along each edge, compliance 1e-4 m/N
  bend     and bending over each inner edge
  ball     and a sphere of radius 0.2, without friction, whose centre moves in 60 frames from 0.2 above the middle of the sheet to 0.05
           above it, and stays: it ends pressed in by 0.15
Timed is one frame, as often as --frames says (300), after 120 that are not, while the sheet still sways. Setting up, reading positions
and moving the ball are left out.

pypbd, f64, nothing damped: XPBD distances (method 4 of its cloth, stiffness 1e4) and XPBD isometric bending (method 3, stiffness 1: the
energy is ½ C² with C = ½ xᵀQx and Q = 3 / (2 (A₀ + A₁)) K Kᵀ, half of the usual Q), coloured greedily in the order of its edges, stretch
first. Its gravity is along −y, so the sheet lies in x and z. Contacts are found once a frame, after the substeps, and act on velocities in
one velocity iteration; without the ball there is none. `pypbd_pbd` has plain isometric bending instead (method 2, stiffness 0.1).
rapier3d, f32: impulses on velocities, bending by dihedral angles at 10 Hz, both critically damped, as by default: without damping this
sheet flies apart. `rapier_default` takes 4 substeps of 4 sweeps and a relaxing one, as it does by itself. It has a collider only with the
ball, and then finds contacts of triangles. `touch_rapier/src/main.rs` has the rest.

Discs. `bumpy_sheet(97, 0.25)` of `pliant_mesh::shapes`, 24 wide: 9604 vertices, 28 421 edges and 18 818 triangles, where the thesis' head
has 9562, 28 416 and 18 848. Timed are the distances from vertex 4851, in the middle, and the indices of those within 1, 3, 6, 9 and 12;
`factor` and `prepare` are what is done once before. potpourri3d solves for all vertices whatever the range. pygeodesic is exact and stops
at the range, but fails at targets that it does not reach, so its targets are the vertices inside, known from a run before.

Stiffness. A chain of 1 or 20 springs of 1000 N/m and length 1, each with 0.1 kg at its lower end, hangs from a fixed point; a hinge of
two triangles (edge 1, heights 0.8) lies flat and is held but for one tip of 0.1 kg, bending stiffness 10, no distances. Told is how far the
end sinks at rest over its closed form: (weight below) / k summed over springs, and (2 m g / (k q²))^⅓ with q the tip's entry of Q. Plain
PBD has no compliance: with its stiffness of 0.1, over the closed form of the same springs.

Prints medians in milliseconds with quartiles and what came out, then the table of stiffness; --json prints all of it as one object.
"""

import argparse
import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # Before pypbd loads OpenMP.
os.environ["RAYON_NUM_THREADS"] = "1"

import numpy as np
from timing import times_ms

SIZES = (21, 58)
GRAVITY = 9.81
FRAME_SECS = 1.0 / 60.0
WARM_UP_FRAMES = 120
BALL_RADIUS, BALL_DEPTH, BALL_FRAMES = 0.2, 0.15, 60
SUBSTEPS, SWEEPS = (1, 2, 5, 10), (1, 5, 20)
RANGES = (1, 3, 6, 9, 12)


def sheet(n):
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    points = np.stack([i, j, 0 * i], -1).reshape(-1, 3) / (n - 1)
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)[None, :]).ravel()
    triangles = np.stack([np.stack([a, a + n, a + n + 1], 1), np.stack([a, a + n + 1, a + 1], 1)], 1).reshape(-1, 3)
    rim = ((i == 0) | (i == n - 1) | (j == 0) | (j == n - 1)).ravel()
    return points, triangles, rim


def quartiles(times):
    low, middle, high = np.percentile(times, [25, 50, 75])
    return {"median_ms": middle, "q1_ms": low, "q3_ms": high}


class Pypbd:
    """The one simulation that pypbd has, emptied for each scene; its y is our z."""

    def __init__(self):
        import pypbd

        self.pbd = pypbd
        simulation = pypbd.Simulation.getCurrent()
        simulation.initDefault()
        self.model, self.stepper = simulation.getModel(), simulation.getTimeStep()
        self.detection = pypbd.DistanceFieldCollisionDetection()

    def start(self, substeps, sweeps, velocity_sweeps=0):
        self.model.cleanup()
        self.detection.cleanup()
        pbd = self.pbd
        pbd.TimeManager.getCurrent().setTimeStepSize(FRAME_SECS)
        for key, value in (("NUM_SUB_STEPS", substeps), ("MAX_ITERATIONS", sweeps), ("MAX_ITERATIONS_V", velocity_sweeps)):
            self.stepper.setValueUInt(getattr(pbd.TimeStepController, key), value)
        return self.model

    def step(self):
        self.stepper.step(self.model)

    def points(self):
        """Positions with our axes."""
        particles = self.model.getParticles()
        x, y, z = np.array([particles.getPosition(i) for i in range(particles.size())]).T
        return np.stack([x, -z, y], 1)

    def add_sheet(self, n, bending):
        points, triangles, rim = sheet(n)
        x, y, z = points.T
        mesh = self.model.addTriangleModel(list(np.stack([x, z, -y], 1)), triangles.ravel().tolist())
        mesh.setFrictionCoeff(0.0)
        for vertex in range(n * n):
            self.model.getParticles().setMass(vertex, 0.0 if rim[vertex] else 1.0 / n**2)
        self.model.addClothConstraints(mesh, 4, 1e4, 1.0, 1.0, 1.0, 0.3, 0.3, False, False)
        if bending:
            self.model.addBendingConstraints(mesh, *bending)

    def add_ball(self):
        """A fixed sphere by its distance field. Its mesh, an octahedron, bounds all its way: bounds of fixed bodies stay behind."""
        pbd = self.pbd
        vertices, mesh = pbd.VertexData(), pbd.IndexedFaceMesh()
        mesh.initMesh(6, 24, 8)
        for corner in np.concatenate([np.eye(3), -np.eye(3)]):
            vertices.addVertex((BALL_RADIUS + BALL_DEPTH) * corner)
        for signs in product((0, 3), repeat=3):
            face = [axis + sign for axis, sign in enumerate(signs)]
            mesh.addFace(face if signs.count(3) % 2 == 0 else face[::-1])
        mesh.buildNeighbors()
        ball = self.model.addRigidBody(1.0, vertices, mesh, [0.5, ball_height(BALL_FRAMES), -0.5])
        ball.setMass(0.0)
        ball.setFrictionCoeff(0.0)
        detection, kinds = self.detection, pbd.CollisionObject
        self.stepper.setCollisionDetection(self.model, detection)
        geometry = ball.getGeometry().getVertexData()
        detection.addCollisionSphere(0, kinds.RigidBodyCollisionObjectType, geometry, 0, geometry.size(), BALL_RADIUS, False, False)
        particles = self.model.getParticles()
        detection.addCollisionObjectWithoutGeometry(0, kinds.TriangleModelCollisionObjectType, particles, 0, particles.size(), True)
        return ball


def place_ball(ball, height):
    ball.setPosition([0.5, height, -0.5])
    ball.updateInverseTransformation()


def ball_height(frame):
    """How high the centre of the ball is after a frame."""
    return BALL_RADIUS - BALL_DEPTH * min(frame, BALL_FRAMES) / BALL_FRAMES


def run_pypbd_scene(peer, n, bending, with_ball, frames):
    model = peer.start(10, 1, 1 if with_ball else 0)
    peer.add_sheet(n, bending)
    ball = peer.add_ball() if with_ball else None
    times = []
    for frame in range(1, WARM_UP_FRAMES + frames + 1):
        if ball:
            place_ball(ball, ball_height(frame))
        times += times_ms(peer.step, 1)[0]
    points = peer.points()
    checks = f"{len(model.getConstraints())} constraints, lowest point {points[:, 2].min():.5f}"
    if ball:
        inside = BALL_RADIUS - np.linalg.norm(points - [0.5, 0.5, ball_height(frame)], axis=1)
        checks += f", deepest in the ball {inside.max():.5f}"
    return times[WARM_UP_FRAMES:], checks


def pypbd(options):
    peer = Pypbd()
    xpbd, pbd = (3, 1.0), (2, 0.1)
    scenes = {"pypbd/stretch": (None, False), "pypbd/bend": (xpbd, False), "pypbd_pbd/bend": (pbd, False), "pypbd/ball": (xpbd, True)}
    for (name, (bending, ball)), n in product(scenes.items(), SIZES):
        times, checks = run_pypbd_scene(peer, n, bending, ball, options.frames)
        yield f"{name}/{n * n}", quartiles(times), checks


def run_rapier(*arguments):
    manifest = Path(__file__).resolve().parent / "touch_rapier" / "Cargo.toml"
    command = ["cargo", "run", "-q", "--release", "--manifest-path", manifest, "--", *arguments]
    return [line.split("\t") for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]


def rapier(options):
    for name, checks, times in run_rapier("times", str(options.frames)):
        yield name, quartiles([float(time) for time in times.split()]), checks


def discs(options):
    import potpourri3d
    from heat_geodesic_peers import bumpy_sheet
    from pygeodesic.geodesic import PyGeodesicAlgorithmExact

    points, triangles = bumpy_sheet(97, 0.25)
    points, source = 24.0 * points, 49 * 98 + 49
    for label, robust in (("plain", False), ("robust", True)):
        times, solver = times_ms(lambda: potpourri3d.MeshHeatMethodDistanceSolver(points, triangles, use_robust=robust), 9)
        yield f"potpourri3d_{label}/factor", quartiles(times), f"{len(points)} vertices"
        for reach in RANGES:
            times, inside = times_ms(lambda: np.flatnonzero(solver.compute_distance(source) <= reach), options.frames)
            yield f"potpourri3d_{label}/disc/{reach}", quartiles(times), f"{len(inside)} vertices inside"
    times, solver = times_ms(lambda: PyGeodesicAlgorithmExact(points, triangles), 9)
    yield "pygeodesic/prepare", quartiles(times), f"{len(points)} vertices"
    whole = solver.geodesicDistances(np.array([source]))[0]
    for reach in RANGES:
        known = np.flatnonzero(whole <= reach)
        times, found = times_ms(lambda: solver.geodesicDistances(np.array([source]), known, float(reach))[0], 20)
        yield f"pygeodesic/disc/{reach}", quartiles(times), f"{np.count_nonzero(found <= reach)} vertices inside"


def settle(peer, vertex, frames):
    """The mean sinking of a vertex over the last quarter of the frames: what is left of a sway does not matter."""
    particles, heights = peer.model.getParticles(), []
    for _ in range(frames):
        peer.step()
        heights.append(particles.getPosition(vertex)[1])
    return -np.mean(heights[-frames // 4 :])


def chain_extension(peer, links, substeps, sweeps, add_name, stiffness):
    model = peer.start(substeps, sweeps)
    for i in range(links + 1):
        model.getParticles().addVertex([0.0, -float(i), 0.0])
        model.getParticles().setMass(i, 0.1 if i else 0.0)
    for i in range(links):
        getattr(model, add_name)(i, i + 1, stiffness)
    closed = sum(below * 0.1 * GRAVITY / 1e3 for below in range(1, links + 1))
    return (settle(peer, links, 8000) - links) / closed


def hinge_sinking(peer, substeps, sweeps):
    """Particles in the order of pypbd's bending: both tips, then the edge."""
    model, height, stiffness = peer.start(substeps, sweeps), 0.8, 10.0
    for place, point in enumerate([[0.5, 0, height], [0.5, 0, -height], [0.0, 0, 0.0], [1.0, 0, 0.0]]):
        model.getParticles().addVertex(np.array(point, float))
        model.getParticles().setMass(place, 0.1 if place == 1 else 0.0)
    model.addIsometricBendingConstraint_XPBD(0, 1, 2, 3, stiffness)
    # The tip's cotangents at the edge's ends are both 0.5 / height, the areas both height / 2.
    q = 3.0 / (2.0 * height) * (1.0 / height) ** 2
    return settle(peer, 1, 8000) / np.cbrt(2.0 * 0.1 * GRAVITY / (stiffness * q**2))


def stiffness():
    """How far ends sink over the closed form, by (name, substeps, sweeps)."""
    peer, table = Pypbd(), {}
    works = {
        "pypbd XPBD, 1 spring": lambda *how: chain_extension(peer, 1, *how, "addDistanceConstraint_XPBD", 1e3),
        "pypbd XPBD, 20 springs": lambda *how: chain_extension(peer, 20, *how, "addDistanceConstraint_XPBD", 1e3),
        "pypbd XPBD, hinge": lambda *how: hinge_sinking(peer, *how),
        "pypbd PBD, 1 spring": lambda *how: chain_extension(peer, 1, *how, "addDistanceConstraint", 0.1),
        "pypbd PBD, 20 springs": lambda *how: chain_extension(peer, 20, *how, "addDistanceConstraint", 0.1),
    }
    for name, work in works.items():
        table[name] = [[work(substeps, sweeps) for sweeps in SWEEPS] for substeps in SUBSTEPS]
    told = {tuple(map(int, row[:3])): float(row[3]) for row in run_rapier("stiffness")}
    for links in (1, 20):
        label = f"rapier, {links} spring{'s' if links > 1 else ''}"
        table[label] = [[told[links, substeps, sweeps] for sweeps in SWEEPS] for substeps in SUBSTEPS]
    return table


def print_stiffness(table):
    print("\nsinking / closed form; each cell: sweeps " + ", ".join(map(str, SWEEPS)))
    print(f"{'':<26}" + "".join(f"{f'substeps {s}':>26}" for s in SUBSTEPS))
    for name, rows in table.items():
        print(f"{name:<26}" + "".join(f"{'  '.join(f'{value:6.3f}' for value in row):>26}" for row in rows))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", metavar="PART")
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--frames", type=int, default=300)
    options = arguments.parse_args()
    timed = {work.__name__: work for work in (pypbd, rapier, discs)}
    parts = options.parts or [*timed, "stiffness"]
    if unknown := [part for part in parts if part not in (*timed, "stiffness")]:
        sys.exit(f"no part is named {', '.join(unknown)}; there are {', '.join(timed)}, stiffness")
    results, checks = {}, {}
    for name, result, check in (row for part in parts if part in timed for row in timed[part](options)):
        results[name], checks[name] = result, check
        if not options.json:
            print(f"{name:<34} {result['median_ms']:9.4f} ms   ({result['q1_ms']:.4f} to {result['q3_ms']:.4f})   {check}", flush=True)
    table = stiffness() if "stiffness" in parts else {}
    load = os.getloadavg()[0]
    if options.json:
        print(json.dumps({"times": results, "checks": checks, "stiffness": table, "load": load}, indent=1))
        return
    if table:
        print_stiffness(table)
    print(f"\n{os.cpu_count()} cores, load average {load:.1f} at the end.")


if __name__ == "__main__":
    main()
