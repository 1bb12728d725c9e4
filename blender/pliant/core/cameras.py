"""Views of Blender as cameras of strokes.

A stroke camera is a symmetric perspective camera with pixels from the upper left corner. A view of
Blender counts from the lower left, may be off centre (in a camera with shift), and may be orthographic:
then the camera stands far away, and the rays differ by less than a thousandth.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Distance of the camera for an orthographic view, in heights of the view. The narrowest field of view
#: that strokes take is 0.1°, which is 573.
FAR = 500.0


@dataclass(frozen=True)
class ViewCamera:
    """A camera for `pliant.SketchedPose.draw`."""

    eye: np.ndarray
    target: np.ndarray
    up: np.ndarray
    fov_y_degrees: float
    width: int
    height: int
    #: Added to the pixels of a stroke.
    shift: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        return {
            "eye": [float(c) for c in self.eye],
            "target": [float(c) for c in self.target],
            "up": [float(c) for c in self.up],
            "fov_y_degrees": self.fov_y_degrees,
            "width": self.width,
            "height": self.height,
        }

    def pixels(self, points: Any) -> np.ndarray:
        """Points of a region, from its lower left corner, as pixels of this camera."""
        points = np.asarray(points, float).reshape(-1, 2)
        upright = np.stack([points[:, 0], self.height - points[:, 1]], axis=1)
        return upright + np.asarray(self.shift)

    def through(self, matrix: np.ndarray) -> "ViewCamera":
        """The camera in another space: `matrix` is an affine map, 4 × 4."""
        linear, offset = matrix[:3, :3], matrix[:3, 3]
        eye = linear @ self.eye + offset
        target = linear @ self.target + offset
        up = linear @ self.up
        return ViewCamera(eye, target, up, self.fov_y_degrees, self.width, self.height, self.shift)


def view_camera(
    view: Any, window: Any, width: int, height: int, is_perspective: bool, focus: Any
) -> ViewCamera:
    """The camera of a view in world space, from Blender's view and window (projection) matrices.

    An orthographic view is exact in the plane through `focus`.
    """
    view = np.asarray(view, float)
    window = np.asarray(window, float)
    inverse = np.linalg.inv(view)
    right, up, back, eye = (inverse[:3, k] for k in range(4))
    if is_perspective:
        fov = 2.0 * np.degrees(np.arctan(1.0 / window[1, 1]))
        # ndc = P₀₀ x/−z − P₀₂: off the centre by P₀₂.
        shift = (0.5 * width * window[0, 2], -0.5 * height * window[1, 2])
        return ViewCamera(eye, eye - back, up, float(fov), width, height, shift)

    tall = 2.0 / window[1, 1]
    center = eye - right * (window[0, 3] / window[0, 0]) - up * (window[1, 3] / window[1, 1])
    center = center + back * float(np.dot(np.asarray(focus, float) - center, back))
    distance = FAR * tall
    fov = 2.0 * np.degrees(np.arctan(0.5 / FAR))
    return ViewCamera(center + back * distance, center, up, float(fov), width, height, (0.0, 0.0))


def rest_space(to_deformed: np.ndarray, rest: np.ndarray, deformed: np.ndarray) -> np.ndarray:
    """The map from the visible surface to the undeformed one around a vertex: 4 × 4.

    `x' = A (x − rest) + deformed`, inverted.
    """
    inverse = np.linalg.inv(to_deformed)
    matrix = np.eye(4)
    matrix[:3, :3] = inverse
    matrix[:3, 3] = rest - inverse @ deformed
    return matrix
