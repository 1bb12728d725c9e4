"""Distances along a head, factored once; beside potpourri3d where it is installed. Writes distances.png."""

import time

import numpy as np

import pliant

mesh = pliant.load("specimen:head").mesh()
source = 4480


def timed(work):
    began = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - began) * 1e3


exact = pliant.ExactGeodesics(mesh).distances(source)
reached = np.isfinite(exact)  # Eyes and teeth are components of their own.
heat, factor_ms = timed(lambda: pliant.HeatGeodesics(mesh))
heat.distances(source)
found, solve_ms = timed(lambda: heat.distances(source))
error = np.abs(found[reached] - exact[reached]).mean()
shown = np.where(reached, found, np.nan)
picture = pliant.render(mesh, size=(480, 480), values=shown, title="cm", value_range=(0.0, 30.0))
pliant.save_picture("distances.png", picture)
print(f"pliant: factor {factor_ms:.0f} ms, distances {solve_ms:.1f} ms, mean error {error:.3f} cm")

try:
    import potpourri3d
except ImportError:
    print("potpourri3d is not installed")
else:
    # It needs one component.
    component = mesh.vertex_components() == mesh.vertex_components()[source]
    number = np.cumsum(component) - 1
    faces = number[mesh.triangles[component[mesh.triangles].all(axis=1)]]
    solver, factor_ms = timed(lambda: potpourri3d.MeshHeatMethodDistanceSolver(mesh.positions[component], faces))
    solver.compute_distance(number[source])
    found, solve_ms = timed(lambda: solver.compute_distance(number[source]))
    error = np.abs(found - exact[component]).mean()
    print(f"potpourri3d: factor {factor_ms:.0f} ms, distances {solve_ms:.1f} ms, mean error {error:.3f} cm")
