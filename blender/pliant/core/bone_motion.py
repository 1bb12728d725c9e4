"""Motions of bones as poses of an armature.

A bone with rest matrix `R` (in armature space) that moves the skin by `M` has the pose `P = M R`.
Relative to its parent, a pose is stored as `B` with `P = P_parent (R_parent⁻¹ R) B`.
"""

import numpy as np


def basis_matrices(motions: np.ndarray, rests: np.ndarray, parents: list[int | None]) -> np.ndarray:
    """The matrices `B` of all bones in all frames: (frames, bones, 4, 4)."""
    poses = motions @ rests[None]
    basis = np.empty_like(poses)
    for bone, parent in enumerate(parents):
        if parent is None:
            basis[:, bone] = np.linalg.inv(rests[bone]) @ poses[:, bone]
        else:
            local = np.linalg.inv(rests[parent]) @ rests[bone]
            basis[:, bone] = np.linalg.inv(poses[:, parent] @ local) @ poses[:, bone]
    return basis


def quaternions(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions (w, x, y, z) of rotations (frames, 3, 3), each near the one before it."""
    found = np.empty((len(rotations), 4))
    for frame, matrix in enumerate(rotations):
        found[frame] = _quaternion(matrix)
        if frame and found[frame] @ found[frame - 1] < 0.0:
            found[frame] = -found[frame]
    return found


def _quaternion(m: np.ndarray) -> np.ndarray:
    """The eigenvector of the largest eigenvalue of Bar-Itzhack's matrix, stable for every rotation."""
    k = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], m[0, 0] - m[1, 1] - m[2, 2], m[1, 0] + m[0, 1], m[2, 0] + m[0, 2]],
            [m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], m[1, 1] - m[0, 0] - m[2, 2], m[2, 1] + m[1, 2]],
            [m[1, 0] - m[0, 1], m[2, 0] + m[0, 2], m[2, 1] + m[1, 2], m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    vector = np.linalg.eigh(k / 3.0)[1][:, -1]
    return vector if vector[0] >= 0.0 else -vector
