"""Meshes, operators and queries against numpy and closed forms."""

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, octahedron_sphere, sheet

SHAPES = {"sheet": sheet(6), "bumpy": bumpy_sheet(7), "sphere": octahedron_sphere(3)}


def triangle_areas(positions, faces):
    a, b, c = (positions[faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def cotangent_laplacian(positions, faces):
    """A dense matrix, triangle by triangle."""
    matrix = np.zeros((len(positions), len(positions)))
    for face in faces:
        for k in range(3):
            i, j, o = face[k], face[(k + 1) % 3], face[(k + 2) % 3]
            u, v = positions[i] - positions[o], positions[j] - positions[o]
            weight = 0.5 * (u @ v) / np.linalg.norm(np.cross(u, v))
            matrix[[i, j], [i, j]] += weight
            matrix[[i, j], [j, i]] -= weight
    return matrix


@pytest.fixture(params=SHAPES)
def shape(request):
    positions, faces = SHAPES[request.param]
    return pliant.Mesh(positions, faces), positions, faces


def test_area_is_the_sum_of_the_triangles(shape):
    mesh, positions, faces = shape
    assert np.isclose(mesh.area(), triangle_areas(positions, faces).sum(), rtol=1e-12)


def test_volume_is_that_of_the_tetrahedra_to_the_origin(shape):
    mesh, positions, faces = shape
    assert np.isclose(mesh.signed_volume(), np.linalg.det(positions[faces]).sum() / 6, atol=1e-12)


def test_mean_edge_length_is_the_mean_of_the_unique_edges(shape):
    mesh, positions, faces = shape
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    assert np.isclose(mesh.mean_edge_length(), np.linalg.norm(np.diff(positions[edges], axis=1), axis=-1).mean())


def test_normals_of_a_sphere_point_outwards(sphere):
    normals = sphere.vertex_normals()
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0)
    assert (np.einsum("vc,vc->v", normals, sphere.positions) > 0.99).all()


def test_the_laplacian_is_the_cotangent_matrix(shape):
    mesh, positions, faces = shape
    matrix, mass = pliant.laplacian(mesh)
    assert np.allclose(matrix.to_dense(), cotangent_laplacian(positions, faces), atol=1e-10)
    assert np.isclose(mass.sum(), mesh.area())


def test_the_mean_value_laplacian_has_linear_precision_on_a_sheet():
    positions, faces = sheet(6)
    matrix = pliant.mean_value_laplacian(pliant.Mesh(positions, faces)).to_dense()
    inner = ((positions > 0.01) & (positions < 0.99))[:, :2].all(axis=1)
    assert np.abs(matrix[inner] @ positions).max() < 1e-10


def test_a_matrix_is_its_rows(shape):
    mesh, *_ = shape
    matrix, _ = pliant.laplacian(mesh, kind="robust")
    dense = matrix.to_dense()
    x = np.random.default_rng(0).normal(size=matrix.shape[1])
    assert np.allclose(matrix @ x, dense @ x)
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        assert np.array_equal(dense[row, matrix.indices[part]], matrix.data[part])


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_gradients_of_linear_functions_are_their_slopes(scale):
    positions, faces = sheet(5)
    gradient = pliant.SurfaceGradient(pliant.Mesh(positions * scale, faces))
    slope = np.array([0.3, -1.2, 0.0])
    assert np.allclose(gradient.gradient(positions @ slope * scale), slope)
    assert np.allclose(gradient.areas, triangle_areas(positions * scale, faces))


def test_divergence_of_a_gradient_is_the_laplacian(shape):
    mesh, positions, faces = shape
    gradient = pliant.SurfaceGradient(mesh)
    u = np.sin(3 * positions[:, 0]) + positions[:, 1]
    divergence = gradient.divergence(gradient.gradient(u))
    expected = cotangent_laplacian(positions, faces) @ u
    assert np.allclose(np.abs(divergence), np.abs(expected), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_deformation_gradients_of_an_affine_motion_are_its_matrix_on_the_surface(seed):
    positions, faces = bumpy_sheet(5)
    matrix = np.random.default_rng(seed).normal(size=(3, 3))
    found = pliant.DeformationGradients(pliant.Mesh(positions, faces)).at(positions @ matrix.T)
    edges = positions[faces[:, 1]] - positions[faces[:, 0]]
    assert np.allclose(np.einsum("tij,tj->ti", found, edges), edges @ matrix.T, atol=1e-9)


@pytest.mark.parametrize("columns", [None, 1, 4])
def test_positive_definite_systems_are_solved_as_by_numpy(bumpy, columns):
    matrix, mass = pliant.laplacian(bumpy)
    dense = matrix.to_dense() + np.diag(mass)
    rhs = np.random.default_rng(0).normal(size=len(mass) if columns is None else (len(mass), columns))
    n = len(mass)
    rows = pliant.SparseMatrix(dense.ravel(), np.tile(np.arange(n), n), np.arange(n + 1) * n, n)
    found = pliant.SpdSolver(rows).solve(rhs)
    assert found.shape == rhs.shape and np.allclose(found, np.linalg.solve(dense, rhs), rtol=1e-9)


def test_a_singular_system_is_declined(bumpy):
    with pytest.raises(pliant.InputError, match="positive definite"):
        pliant.SpdSolver(pliant.SparseMatrix([1.0, -1.0], [0, 1], [0, 1, 2], 2))


@pytest.mark.parametrize(
    "parts",
    [
        ([1.0], [0], [0, 2], 1),
        ([1.0], [5], [0, 1], 1),
        ([1.0, 2.0], [1, 0], [0, 2], 2),
        ([1.0, 2.0], [0, 0], [0, 2], 2),
        ([1.0], [0], [1, 1], 1),
        ([1.0], [0, 0], [0, 1], 1),
        ([], [], [], 1),
        ([1.0], [-1], [0, 1], 1),
    ],
)
def test_rows_that_are_no_matrix_are_declined(parts):
    with pytest.raises(pliant.InputError):
        pliant.SparseMatrix(*parts)


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_with_hard_values_is_that_of_numpy(seed):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(12, 6))
    rows = pliant.SparseMatrix(dense.ravel(), np.tile(np.arange(6), 12), np.arange(13) * 6, 6)
    b, values = rng.normal(size=12), rng.normal(size=2)
    found = pliant.LeastSquares(rows, hard=[1, 4]).solve(b, hard_values=values)
    free = [0, 2, 3, 5]
    expected, *_ = np.linalg.lstsq(dense[:, free], b - dense[:, [1, 4]] @ values, rcond=None)
    assert np.allclose(found[free], expected) and np.allclose(found[[1, 4]], values)


@pytest.mark.parametrize("source", [0, 40, 200])
def test_heat_distances_on_a_sphere_are_angles(sphere, source):
    found = pliant.HeatGeodesics(sphere).distances(source)
    angles = np.arccos(np.clip(sphere.positions @ sphere.positions[source], -1, 1))
    assert found[source] == 0.0 and np.abs(found - angles).max() < 0.06


@pytest.mark.parametrize("sources", [[0], [12, 30], [5, 40, 60]])
def test_exact_distances_on_a_sheet_are_euclidean(sources):
    positions, faces = sheet(8)
    found = pliant.ExactGeodesics(pliant.Mesh(positions, faces)).distances(sources)
    expected = np.linalg.norm(positions[:, None] - positions[sources], axis=-1).min(axis=1)
    assert np.allclose(found, expected, atol=1e-9)


def test_a_disc_holds_the_vertices_within_its_radius():
    positions, faces = sheet(8)
    vertices, distances = pliant.ExactGeodesics(pliant.Mesh(positions, faces)).disc(40, 0.3)
    expected = np.linalg.norm(positions - positions[40], axis=1)
    assert vertices.tolist() == np.flatnonzero(expected <= 0.3).tolist()
    assert np.allclose(distances, expected[vertices])


def test_other_components_are_infinitely_far():
    positions, faces = sheet(3)
    two = pliant.Mesh(np.concatenate([positions, positions + [0, 0, 5]]), np.concatenate([faces, faces + len(positions)]))
    assert two.vertex_components().tolist() == [0] * len(positions) + [1] * len(positions)
    for geodesics in (pliant.HeatGeodesics(two), pliant.ExactGeodesics(two)):
        assert np.isinf(geodesics.distances(0)[len(positions):]).all()


@pytest.mark.parametrize("sources", [[], [10**6], [-1], "x", [0.5]])
def test_sources_that_do_not_exist_are_declined(bumpy, sources):
    for geodesics in (pliant.HeatGeodesics(bumpy), pliant.ExactGeodesics(bumpy)):
        with pytest.raises(pliant.InputError):
            geodesics.distances(sources)


@pytest.mark.parametrize("levels", [1, 2])
def test_subdivision_adds_a_vertex_for_each_edge(shape, levels):
    mesh, positions, faces = shape
    subdivision = pliant.LoopSubdivision(mesh, levels)
    vertices, triangles = len(positions), faces
    for _ in range(levels):
        edges = np.unique(np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1), axis=0)
        vertices += len(edges)
        triangles = pliant.LoopSubdivision(pliant.Mesh(np.random.rand(triangles.max() + 1, 3), triangles)).mesh.triangles
    assert subdivision.mesh.vertex_count == vertices and len(subdivision.mesh.triangles) == len(faces) * 4**levels
    matrix = np.array([[1, 2, 0], [0, 1, 0.5], [0.3, 0, 2]])
    refined = subdivision.apply(positions)
    assert np.allclose(subdivision.apply(positions @ matrix + 1), refined @ matrix + 1)
    assert np.allclose(refined, subdivision.mesh.positions)


def test_decimation_meets_its_budget_and_maps_poses():
    positions, faces = octahedron_sphere(4)
    coarse = pliant.Decimation(pliant.Mesh(positions, faces), vertices=200)
    assert coarse.budget_met and coarse.mesh.vertex_count <= 200
    assert np.linalg.norm(coarse.prolong(coarse.mesh.positions) - positions, axis=1).max() <= coarse.deviation + 1e-12
    subset = pliant.Decimation(pliant.Mesh(positions, faces), triangles=300, placement="subset")
    assert np.array_equal(subset.mesh.positions, positions[subset.sources])
    with pytest.raises(pliant.InputError):
        pliant.Decimation(pliant.Mesh(positions, faces))


def test_closest_points_are_those_of_brute_force(bumpy):
    positions, faces = bumpy.positions, bumpy.triangles
    queries = np.random.default_rng(0).uniform(-0.2, 1.2, size=(50, 3))
    found = pliant.SurfaceIndex(bumpy).closest_points(queries)
    corners = positions[faces[found["triangles"]]]
    assert np.allclose(np.einsum("qk,qkc->qc", found["barycentric"], corners), found["points"], atol=1e-12)
    assert np.allclose(np.linalg.norm(found["points"] - queries, axis=1), found["distances"])
    # No sample of the surface is nearer.
    shares = np.random.default_rng(1).dirichlet([1, 1, 1], size=(len(faces), 40))
    samples = np.einsum("fsk,fkc->fsc", shares, positions[faces]).reshape(-1, 3)
    nearest = np.linalg.norm(samples[None] - queries[:, None], axis=-1).min(axis=1)
    assert (found["distances"] <= nearest + 1e-12).all()
    assert (found["distances"] >= nearest - 0.05).all()


def test_winding_numbers_tell_inside_from_outside(sphere):
    index = pliant.SurfaceIndex(sphere)
    queries = np.random.default_rng(0).normal(size=(100, 3))
    radii = np.linalg.norm(queries, axis=1)
    clear = np.abs(radii - 1) > 0.02
    assert np.allclose(index.winding_numbers(queries)[clear], (radii < 1)[clear], atol=1e-3)


def test_rays_hit_the_sphere_where_they_must(sphere):
    directions = np.random.default_rng(0).normal(size=(40, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    distances, triangles = pliant.SurfaceIndex(sphere).cast_rays(-3 * directions, directions)
    assert ((distances > 1.99) & (distances < 2.02)).all() and (triangles >= 0).all()
    distances, triangles = pliant.SurfaceIndex(sphere).cast_rays(3 * directions, directions)
    assert np.isinf(distances).all() and (triangles == -1).all()


def test_positions_of_another_mesh_are_declined(bumpy, sphere):
    for call in (
        bumpy.posed,
        pliant.LoopSubdivision(bumpy).apply,
        pliant.DeformationGradients(bumpy).at,
        pliant.Decimation(bumpy, vertices=20).prolong,
    ):
        with pytest.raises(pliant.InputError):
            call(sphere.positions)


def test_pictures_are_arrays(sphere):
    picture = pliant.render(sphere, size=(64, 48))
    assert picture.shape == (48, 64, 3) and picture.dtype == np.uint8
    assert np.array_equal(picture, pliant.render(sphere, size=(64, 48)))
    colored = pliant.render(sphere, size=(64, 48), values=sphere.positions[:, 0])
    assert not np.array_equal(picture, colored)
    with pytest.raises(pliant.InputError, match="view"):
        pliant.render(sphere, view="inside")


def test_a_report_counts_what_is_there(sphere, bumpy):
    assert sphere.report()["boundary_loops"] == 0 and bumpy.report()["boundary_loops"] == 1
    assert sphere.report()["components"] == 1
