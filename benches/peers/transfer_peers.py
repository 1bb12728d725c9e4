"""Transfer by other programs, on the input that our bench writes.

    cargo bench -p pliant-transfer --bench peers -- FOLDER
    python benches/peers/transfer_peers.py FOLDER

- factor and solve: the Laplacian of eq. 6, built by scipy, with CHOLMOD (scikit-sparse, METIS), three right-hand sides.
- nearest: for each target triangle the nearest source centroid whose normal differs by less than 90°, by scipy's cKDTree with 20
  candidates on all cores, the tree included. Where none of the 20 fits the nearest is taken, and counted.
- frame: gradients of the source's pose (numpy), gathered by the map, the right-hand side (scipy CSR) and the solution (CHOLMOD).
- correspondence, where the folder has horse and camel: trimesh's non-rigid registration after Amberg and others, 2007, with its default
  steps, from the same markers and the same similarity. The error is told for every method by one rule: a camel triangle takes the
  deformation of the registered horse's nearest triangle (by centroid, normals within 90°), the poses are reconstructed by eq. 6,
  and each is compared with the published one after its best rigid motion: RMS distance over the camel's diagonal, mean of ten poses.
  The warp has no registered horse; its own map is used.

Prints medians in milliseconds with the least and the greatest.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from sksparse.cholmod import analyze
from timing import times_ms

FOLDER = Path(sys.argv[1])


def array(name):
    return np.load(FOLDER / f"{name}.npy")


def show(name, work, runs):
    """Times `work` after one run that warms caches, prints it, and returns its last result."""
    work()
    times, result = times_ms(work, runs)
    print(f"{name:<44} {np.median(times):9.3f} ms   ({min(times):.3f} to {max(times):.3f})", flush=True)
    return result


def frames_of(positions, triangles):
    """Two sides and the normal over the root of its length, as columns, for each triangle."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    u, v = b - a, c - a
    n = np.cross(u, v)
    n /= np.sqrt(np.linalg.norm(n, axis=1, keepdims=True)) + 1e-300
    return np.stack([u, v, n], axis=2)


def gradient_matrix(positions, triangles):
    """The 3T × V matrix of gradients in space, and the areas, each three times."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    twice = np.linalg.norm(normal, axis=1, keepdims=True)
    unit = normal / np.maximum(twice, 1e-300)
    sides = np.stack([c - b, a - c, b - a], axis=1)
    hats = np.cross(unit[:, None, :], sides) / np.maximum(twice, 1e-300)[:, None, :]
    count = len(triangles)
    rows = (3 * np.arange(count)[:, None, None] + np.arange(3)[None, None, :]).repeat(3, axis=1)
    columns = triangles[:, :, None].repeat(3, axis=2)
    matrix = sp.csr_matrix((hats.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * count, len(positions)))
    return matrix, np.repeat(0.5 * twice.ravel(), 3)


class Target:
    """Eq. 6 on one target: factored once, solved for every frame."""

    def __init__(self, positions, triangles):
        self.gradient, areas = gradient_matrix(positions, triangles)
        self.divergence = (self.gradient.T @ sp.diags(areas)).tocsr()
        held = sp.csr_matrix(([1.0], ([0], [0])), shape=(len(positions),) * 2)
        scale = areas.mean() / (positions.max(axis=0) - positions.min(axis=0)).max() ** 2
        self.matrix = (self.divergence @ self.gradient + scale * held + 1e-12 * scale * sp.identity(len(positions))).tocsc()

    def factor(self):
        self.solver = analyze(self.matrix, mode="supernodal", ordering_method="metis").cholesky(self.matrix)
        return self.solver

    def solve(self, gradients):
        return self.solver(self.right_side(gradients))

    def right_side(self, gradients):
        # Row 3t + i of the gradient of x is ∂x/∂i: the transposed deformation gradient.
        return self.divergence @ gradients.transpose(0, 2, 1).reshape(-1, 3)


class Source:
    def __init__(self, positions, triangles):
        self.triangles = triangles
        self.inverse = np.linalg.pinv(frames_of(positions, triangles))

    def gradients(self, pose):
        return frames_of(pose, self.triangles) @ self.inverse


def centroids_and_normals(positions, triangles):
    corners = positions[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return corners.mean(axis=1), normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)


def nearest_compatible(source, source_triangles, target, target_triangles, k=20):
    """The nearest of k candidates that faces the same way, or the nearest where none does; and where one does."""
    places, normals = centroids_and_normals(source, source_triangles)
    wanted, facing = centroids_and_normals(target, target_triangles)
    _, found = cKDTree(places).query(wanted, k=k, workers=-1)
    fits = np.einsum("tki,ti->tk", normals[found], facing) > 0
    first = fits.argmax(axis=1)
    return found[np.arange(len(found)), first], fits.any(axis=1)


def rigidly_off(found, known):
    """RMS distance after the best rigid motion (Kabsch)."""
    a, b = found - found.mean(axis=0), known - known.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return np.sqrt(((a @ turn - b) ** 2).sum(axis=1).mean())


def time_a_frame():
    source, source_triangles = array("source"), array("source-triangles")
    target, target_triangles = array("target"), array("target-triangles")
    partners, size = array("partners"), len(target_triangles)
    theirs, fit = show(f"ckdtree_nearest/{size}", lambda: nearest_compatible(source, source_triangles, target, target_triangles), 5)
    print(f"nearest: {(theirs == partners).sum()} of {size} agree, {(~fit).sum()} have none among their candidates")
    equation = Target(target, target_triangles)
    show(f"cholmod_factor/{size}", equation.factor, 5)
    moved = Source(source, source_triangles)
    gradients = moved.gradients(array("pose"))[partners]
    show(f"cholmod_solve/{size}", lambda: equation.solve(gradients), 15)
    frame = show(f"numpy_frame/{size}", lambda: equation.solve(moved.gradients(array("pose"))[partners]), 5)
    print(f"frame: {rigidly_off(frame, array('frame')) / np.ptp(target, axis=0).max():.1e} of the size from ours")


def time_horse_and_camel():
    import trimesh
    from trimesh.registration import nricp_amberg

    horse, horse_triangles, horse_poses = (array(name) for name in ("horse", "horse-triangles", "horse-poses"))
    camel, camel_triangles, camel_poses = (array(name) for name in ("camel", "camel-triangles", "camel-poses"))
    equation, moved = Target(camel, camel_triangles), Source(horse, horse_triangles)
    equation.factor()
    diagonal = np.linalg.norm(np.ptp(camel, axis=0))

    def error(partners):
        found = (equation.solve(moved.gradients(pose)[partners]) for pose in horse_poses)
        return np.mean([rigidly_off(pose, known) for pose, known in zip(found, camel_poses)]) / diagonal

    def by_rule(registered):
        return error(nearest_compatible(registered, horse_triangles, camel, camel_triangles, k=60)[0])

    for count in (107, 40, 17):
        a, b = array(f"markers-{count}-horse"), array(f"markers-{count}-camel")
        turn, _, _ = trimesh.registration.procrustes(horse[a], camel[b], reflection=False)
        laid = trimesh.Trimesh(trimesh.transform_points(horse, turn), horse_triangles, process=False)
        whole = trimesh.Trimesh(camel, camel_triangles, process=False)
        times, fitted = times_ms(lambda: nricp_amberg(laid, whole, source_landmarks=a, target_positions=camel[b]), 1)
        print(f"{f'nricp/horse-camel-{count}':<44} {times[0]:9.1f} ms")
        print(f"error/{count}: nricp {by_rule(fitted):.5f} ours {by_rule(array(f'ours-{count}')):.5f} ", end="")
        print(f"ours by its own map {error(array(f'ours-{count}-map')):.5f} warp by its own map {error(array(f'warp-{count}-map')):.5f}", flush=True)


if __name__ == "__main__":
    time_a_frame()
    if (FOLDER / "horse.npy").exists():
        time_horse_and_camel()
