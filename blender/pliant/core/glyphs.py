"""Small shapes for handles, as triangles in pixels."""

import numpy as np

#: Corners of a round handle.
CORNERS = 12


def discs(centers: np.ndarray, radius: float) -> np.ndarray:
    """Filled circles (3·k, 2) around centres; rows of NaN are left out."""
    centers = centers[np.isfinite(centers).all(axis=1)] if len(centers) else np.zeros((0, 2))
    angles = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
    rim = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    wedge = np.stack([np.zeros((CORNERS, 2)), rim[:-1], rim[1:]], axis=1)
    return (centers[:, None, None] + wedge).reshape(-1, 2)


def line_strip(points: np.ndarray) -> np.ndarray:
    """A polyline as pairs of ends."""
    points = np.asarray(points, float).reshape(-1, 2)
    return np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 2) if len(points) > 1 else np.zeros((0, 2))
