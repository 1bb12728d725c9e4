"""Meshes, rigs and clips for the tests, made from formulas with numpy alone."""

import signal

import numpy as np
import pytest

import pliant


def sheet(n=8):
    """A flat grid of (n + 1)² vertices on the unit square, in triangles."""
    axis = np.linspace(0.0, 1.0, n + 1)
    y, x = np.meshgrid(axis, axis, indexing="ij")
    positions = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange(n)[:, None] * (n + 1) + np.arange(n)[None, :]
    a, b, c, d = (corner + k for k in (0, 1, n + 2, n + 1))
    faces = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return positions, faces


def bumpy_sheet(n=8, height=0.1):
    positions, faces = sheet(n)
    positions[:, 2] = height * np.sin(5 * positions[:, 0]) * np.cos(4 * positions[:, 1])
    return positions, faces


def octahedron_sphere(levels=4):
    """A unit sphere: an octahedron whose edges are halved, pushed to the sphere."""
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
    return positions, faces


def random_rig(targets=5, seed=1, n=6):
    positions, faces = bumpy_sheet(n)
    rng = np.random.default_rng(seed)
    deltas = rng.normal(size=(targets, len(positions), 3)).astype(np.float32) * np.float32(0.05)
    return positions, faces, deltas, [f"t{k}" for k in range(targets)]


@pytest.fixture(scope="session", autouse=True)
def interrupts():
    """Ctrl-C raises also where tests run in the background of a shell, which makes Python ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sphere():
    return pliant.Mesh(*octahedron_sphere())


@pytest.fixture(scope="session")
def bumpy():
    return pliant.Mesh(*bumpy_sheet())


@pytest.fixture(scope="session")
def head():
    return pliant.load("specimen:head").rig()
