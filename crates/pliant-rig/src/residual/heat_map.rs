//! A picture of what the rig cannot reach.
//!
//! **Problem.** Show the misses of a few pins as colours on the surface around them.
//!
//! **Equation.** With the distance `d_p` of a vertex from pin `p`, misses `ε_p` and the radius `R`,
//!
//! ```text
//! heat = max_p (1 − d_p²/R²)² · Σ_p ω_p ε_p / Σ_p ω_p        ω_p = ((R − d_p) / d_p)²
//! ```
//!
//! **Source.** Franke and Nielson, "Smooth interpolation of large sets of scattered data", 1980,
//! for the weights `ω`.
//!
//! **Ours.** Distances along the surface, and the factor in front, with which the heat ends at the
//! radius with slope zero.

use pliant_mesh::{ExactGeodesics, Mesh, MeshError, SurfacePoint};

use crate::RigError;

/// Distances, in radii, count as no nearer than this, which keeps the weight of a pin's own vertex
/// finite.
const NEAREST: f64 = 1e-9;

/// One number per vertex: the miss of each pin at the pin, smoothly between them, and zero from
/// `radius` on.
///
/// No value exceeds the largest miss. `misses` are lengths, one for each pin; pins in one place
/// share their mean.
///
/// # Errors
/// [`RigError::Mesh`] if a pin is not on `mesh`, the lists differ in length or a number is negative
/// or not finite.
pub fn unreachable_map(
    mesh: &Mesh,
    pins: &[SurfacePoint],
    misses: &[f64],
    radius: f64,
) -> Result<Vec<f64>, RigError> {
    check(mesh, pins, misses, radius)?;
    let n = mesh.vertex_count();
    let (mut weighted, mut weights, mut envelope) = (vec![0.0; n], vec![0.0; n], vec![0.0_f64; n]);
    let mut geodesics = ExactGeodesics::new(mesh)?;
    for (pin, &miss) in pins.iter().zip(misses) {
        let disc = geodesics.disc(std::slice::from_ref(pin), radius)?;
        for (&v, &distance) in disc.vertices.iter().zip(&disc.distances) {
            let (v, near) = (v as usize, (distance / radius).max(NEAREST));
            let weight = ((1.0 - near) / near).powi(2);
            weights[v] += weight;
            weighted[v] += weight * miss;
            envelope[v] = envelope[v].max((1.0 - near * near).powi(2));
        }
    }
    let heat = |v: usize| {
        if weights[v] > 0.0 {
            envelope[v] * weighted[v] / weights[v]
        } else {
            0.0
        }
    };
    Ok((0..n).map(heat).collect())
}

fn check(mesh: &Mesh, pins: &[SurfacePoint], misses: &[f64], radius: f64) -> Result<(), MeshError> {
    pins.iter().try_for_each(|pin| pin.check(mesh))?;
    if misses.len() != pins.len() {
        return Err(MeshError::Count {
            what: "the list of misses",
            found: misses.len(),
            expected: pins.len(),
        });
    }
    let bad = |value: f64| !(value >= 0.0 && value.is_finite());
    if let Some(&value) = misses.iter().find(|&&miss| bad(miss)) {
        return Err(MeshError::BadNumber {
            what: "a miss",
            value,
            needed: "zero or more",
        });
    }
    if bad(radius) || radius == 0.0 {
        return Err(MeshError::BadNumber {
            what: "the radius",
            value: radius,
            needed: "above zero",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn heat_is_the_miss_at_each_pin_and_nowhere_more_and_ends_at_the_radius() {
        let mesh = bumpy_sheet(20, 0.3);
        let pins = [
            SurfacePoint::Vertex(88),
            SurfacePoint::Vertex(92),
            SurfacePoint::Vertex(300),
        ];
        let misses = [0.5, 0.0, 2.0];
        let heat = unreachable_map(&mesh, &pins, &misses, 0.35).unwrap();
        for (pin, miss) in [88, 92, 300].into_iter().zip(misses) {
            assert!((heat[pin] - miss).abs() < 1e-12, "{pin}: {}", heat[pin]);
        }
        assert!(heat.iter().all(|h| (0.0..=2.0).contains(h)));
        let distances = ExactGeodesics::new(&mesh)
            .unwrap()
            .distances(&pins)
            .unwrap();
        for (v, distance) in distances.into_iter().enumerate() {
            // Quadratic at the rim: 1 − ρ² ≤ 2 (1 − ρ).
            let bound = if distance < 0.35 {
                8.0 * (1.0 - distance / 0.35).powi(2)
            } else {
                0.0
            };
            assert!(heat[v] <= bound, "{v}: {} {bound}", heat[v]);
        }
    }

    #[test]
    fn misses_that_do_not_fit_are_declined() {
        let mesh = bumpy_sheet(4, 0.0);
        let pins = [SurfacePoint::Vertex(3)];
        assert!(unreachable_map(&mesh, &pins, &[], 0.5).is_err());
        assert!(unreachable_map(&mesh, &pins, &[f64::NAN], 0.5).is_err());
        assert!(unreachable_map(&mesh, &pins, &[1.0], 0.0).is_err());
        assert!(unreachable_map(&mesh, &[SurfacePoint::Vertex(99)], &[1.0], 0.5).is_err());
    }
}
