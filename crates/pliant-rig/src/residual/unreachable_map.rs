//! Map of unreachable goals: residuals of pins interpolated over the surface.
//!
//! **Problem.** Show the residuals of a few pins as colours on the surface around them.
//!
//! **Equation.** With the distance `d_p` of a vertex from pin `p`, residuals `ε_p` and the radius
//! `R`,
//!
//! ```text
//! value = max_p (1 − d_p²/R²)² · Σ_p ω_p ε_p / Σ_p ω_p        ω_p = ((R − d_p) / d_p)²
//! ```
//!
//! **Source.** Franke and Nielson, "Smooth interpolation of large sets of scattered data", 1980,
//! for the weights `ω`.
//!
//! **Departures.** Distances are geodesic, and the factor in front makes value and slope zero at
//! the radius.

use pliant_mesh::{ExactGeodesics, Mesh, MeshError, SurfacePoint};

use crate::RigError;

/// The least distance relative to the radius, which keeps the weight at the vertex of a pin finite.
const LEAST_DISTANCE: f64 = 1e-9;

/// One value per vertex: the residual of each pin at the pin, smooth between pins, and zero from
/// `radius` on.
///
/// No value exceeds the largest residual. `residuals` are lengths, one for each pin; at coincident
/// pins the value is their mean.
///
/// # Errors
/// [`RigError::Mesh`] if a pin is not on `mesh`, the lists differ in length or a number is negative
/// or not finite.
pub fn unreachable_map(
    mesh: &Mesh,
    pins: &[SurfacePoint],
    residuals: &[f64],
    radius: f64,
) -> Result<Vec<f64>, RigError> {
    check(mesh, pins, residuals, radius)?;
    let n = mesh.vertex_count();
    let mut weighted = vec![0.0; n];
    let mut weights = vec![0.0; n];
    let mut envelope = vec![0.0_f64; n];

    let mut geodesics = ExactGeodesics::new(mesh)?;
    for (pin, &residual) in pins.iter().zip(residuals) {
        let disc = geodesics.disc(std::slice::from_ref(pin), radius)?;
        for (&v, &distance) in disc.vertices.iter().zip(&disc.distances) {
            let v = v as usize;
            let near = (distance / radius).max(LEAST_DISTANCE);

            // ω of Franke and Nielson, in units of the radius.
            let weight = ((1.0 - near) / near).powi(2);
            weights[v] += weight;
            weighted[v] += weight * residual;
            envelope[v] = envelope[v].max((1.0 - near * near).powi(2));
        }
    }

    // Vertices outside all discs have weight zero.
    let mut values = vec![0.0; n];
    for (v, value) in values.iter_mut().enumerate() {
        if weights[v] > 0.0 {
            *value = envelope[v] * weighted[v] / weights[v];
        }
    }

    Ok(values)
}

fn check(
    mesh: &Mesh,
    pins: &[SurfacePoint],
    residuals: &[f64],
    radius: f64,
) -> Result<(), MeshError> {
    for pin in pins {
        pin.check(mesh)?;
    }
    if residuals.len() != pins.len() {
        return Err(MeshError::Count {
            what: "the list of residuals",
            found: residuals.len(),
            expected: pins.len(),
        });
    }

    let is_invalid = |value: f64| !(value >= 0.0 && value.is_finite());
    if let Some(&value) = residuals.iter().find(|&&residual| is_invalid(residual)) {
        return Err(MeshError::BadNumber {
            what: "a residual",
            value,
            needed: "zero or more",
        });
    }

    if is_invalid(radius) || radius == 0.0 {
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
    fn the_map_interpolates_the_residuals_and_is_zero_from_the_radius_on() {
        let mesh = bumpy_sheet(20, 0.3);
        let pins = [
            SurfacePoint::Vertex(88),
            SurfacePoint::Vertex(92),
            SurfacePoint::Vertex(300),
        ];

        let residuals = [0.5, 0.0, 2.0];
        let values = unreachable_map(&mesh, &pins, &residuals, 0.35).unwrap();
        for (pin, residual) in [88, 92, 300].into_iter().zip(residuals) {
            assert!(
                (values[pin] - residual).abs() < 1e-12,
                "{pin}: {}",
                values[pin]
            );
        }

        assert!(values.iter().all(|h| (0.0..=2.0).contains(h)));
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
            assert!(values[v] <= bound, "{v}: {} {bound}", values[v]);
        }
    }

    #[test]
    fn residuals_that_do_not_fit_are_errors() {
        let mesh = bumpy_sheet(4, 0.0);
        let pins = [SurfacePoint::Vertex(3)];
        assert!(unreachable_map(&mesh, &pins, &[], 0.5).is_err());
        assert!(unreachable_map(&mesh, &pins, &[f64::NAN], 0.5).is_err());
        assert!(unreachable_map(&mesh, &pins, &[1.0], 0.0).is_err());
        assert!(unreachable_map(&mesh, &[SurfacePoint::Vertex(99)], &[1.0], 0.5).is_err());
    }
}
