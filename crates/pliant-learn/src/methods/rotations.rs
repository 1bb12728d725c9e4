//! Rotations as unit quaternions with a unique sign, and as rotation vectors.

use pliant_mesh::glam::{DMat3, DQuat, DVec3};

/// The one of `q` and `−q`, which are the same rotation, with `w ≥ 0`.
pub(crate) fn with_positive_w(q: DQuat) -> DQuat {
    if q.w < 0.0 { -q } else { q }
}

/// The rotation vector: the axis times the angle, which is between 0 and π.
pub(crate) fn rotation_vector(rotation: DMat3) -> DVec3 {
    with_positive_w(DQuat::from_mat3(&rotation))
        .normalize()
        .to_scaled_axis()
}
