"""Points and directions through 4 × 4 matrices."""

from typing import Any

import numpy as np


def moved_points(matrix: Any, points: Any) -> np.ndarray:
    """Points (…, 3) through an affine map."""
    matrix, points = np.asarray(matrix, float), np.asarray(points, float)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def moved_directions(matrix: Any, directions: Any) -> np.ndarray:
    """Displacements (…, 3) through the linear part of an affine map."""
    return np.asarray(directions, float) @ np.asarray(matrix, float)[:3, :3].T


def nearest(points: np.ndarray, place: Any) -> int:
    """The index of the point nearest to a place."""
    return int(np.argmin(((points - np.asarray(place, float)) ** 2).sum(axis=1)))


def handle_at(pixels: np.ndarray, pointer: tuple[float, float], reach: float) -> int | None:
    """The handle within `reach` pixels of the pointer, the nearest one; rows of NaN are not on screen."""
    if len(pixels) == 0:
        return None
    distances = np.linalg.norm(pixels - np.asarray(pointer, float), axis=1)
    distances[~np.isfinite(distances)] = np.inf
    best = int(np.argmin(distances))
    return best if distances[best] <= reach else None
