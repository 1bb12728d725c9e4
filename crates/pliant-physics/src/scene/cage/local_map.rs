//! Local deformation around a cage vertex as a linear map.
//!
//! **Equation.** With the vectors `e` from a vertex to its surroundings in a shape, `e'` in the
//! blend, and weights `ω = 1/|e|²`, the map minimises
//!
//! ```text
//! Σ ω |A e − e'|² + λ |A − R|²        R the rotation nearest to Σ ω e' eᵀ
//! ```
//!
//! so that it follows the vectors where they determine it, and is a rotation elsewhere, as along
//! the normal of a flat region.
//!
//! **Source.** The rotation: Sorkine and Alexa 2007, eq. 6; node maps that deform a surface:
//! Sumner, Schmid, Pauly, "Embedded deformation for shape manipulation", 2007.
//!
//! **Departures.** The map of a shape to itself is the identity, and to a rotated copy the
//! rotation, for any `λ`.

use pliant_linalg::{nearest_rotation, outer};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

/// `λ` relative to the sum of `ω e eᵀ`. Chosen: smaller values follow stretches more closely, but
/// also the noise of thin triangles.
const TRUST_IN_ROTATION: f64 = 0.05;

/// Vectors whose spread across their main direction is below this share of that along it do not
/// determine the rotation around it. Chosen: far above rounding.
const NEEDLE: f64 = 1e-8;

/// The map from the surroundings of `vertex` in one shape to those in another.
pub(crate) fn local_map(around: &[u32], vertex: usize, from: &[DVec3], to: &[DVec3]) -> DMat3 {
    let mut spread = DMat3::ZERO;
    let mut covariance = DMat3::ZERO;
    let mut longest = (0.0, DVec3::ZERO, DVec3::ZERO);

    // Covariances of the vectors, weighted by the inverse square of their length.
    for &other in around {
        let rest = from[other as usize] - from[vertex];
        let now = to[other as usize] - to[vertex];
        let squared = rest.length_squared();

        if squared > 0.0 {
            spread += outer(rest, rest / squared);
            covariance += outer(now, rest / squared);
        }

        if squared > longest.0 {
            longest = (squared, rest, now);
        }
    }

    // Nearly collinear vectors have (tr S)² ≈ |S|², and only a direction to follow.
    let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
    let squares = [spread.x_axis, spread.y_axis, spread.z_axis]
        .iter()
        .map(|axis| axis.length_squared())
        .sum::<f64>();

    if trace * trace - squares <= NEEDLE * trace * trace {
        return shortest_rotation(longest.1, longest.2);
    }

    let rotation = nearest_rotation(covariance);
    let trust = DMat3::from_diagonal(DVec3::splat(TRUST_IN_ROTATION * trace));
    rotation + (covariance - rotation * spread) * (spread + trust).inverse()
}

/// The shortest rotation from one direction to another.
fn shortest_rotation(from: DVec3, to: DVec3) -> DMat3 {
    match (from.try_normalize(), to.try_normalize()) {
        (Some(from), Some(to)) => DMat3::from_quat(DQuat::from_rotation_arc(from, to)),
        _ => DMat3::IDENTITY,
    }
}
