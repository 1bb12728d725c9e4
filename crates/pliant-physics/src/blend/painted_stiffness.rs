//! Stiffness and softness maps from painted vertex colours.
//!
//! **Equation.** With the brightness `b`, the largest of red, green and blue, clamped to 0..1, the
//! relative stiffness of a vertex is
//!
//! ```text
//! k = 10^(2b − 1)
//! ```
//!
//! ten where it is white, a tenth where it is black, and one at middle grey. Equal steps of grey
//! are equal factors.
//!
//! **Departures.** The largest channel instead of the luminance, so that red on black works as well
//! as white on black. Only ratios matter: a mesh painted in one colour has a constant stiffness.

use pliant_mesh::Mesh;

use crate::PhysicsError;

/// The stiffness of each vertex of `mesh` by its first set of vertex colours: from 0.1 where black
/// to 10 where white.
///
/// # Errors
/// [`PhysicsError::NoColors`] if it has no colours; a colour that is not finite.
pub fn painted_stiffness(mesh: &Mesh) -> Result<Vec<f64>, PhysicsError> {
    let layer = mesh.colors().first().ok_or(PhysicsError::NoColors)?;
    let mut stiffness = Vec::with_capacity(layer.values.len());
    for (vertex, color) in layer.values.iter().enumerate() {
        // The alpha channel does not count.
        let brightness = color.truncate().max_element();
        if !color.truncate().is_finite() {
            return Err(PhysicsError::Stiffness {
                vertex,
                value: brightness,
            });
        }
        stiffness.push(10_f64.powf(2.0 * brightness.clamp(0.0, 1.0) - 1.0));
    }

    Ok(stiffness)
}

/// The softness of each vertex of `mesh` by its first set of vertex colours: their brightness, from 0
/// where black to 1 where white.
///
/// # Errors
/// [`PhysicsError::NoColors`] if it has no colours; a colour that is not finite.
pub fn painted_softness(mesh: &Mesh) -> Result<Vec<f64>, PhysicsError> {
    let layer = mesh.colors().first().ok_or(PhysicsError::NoColors)?;
    let mut softness = Vec::with_capacity(layer.values.len());
    for (vertex, color) in layer.values.iter().enumerate() {
        let value = color.truncate().max_element();
        if !color.truncate().is_finite() {
            return Err(PhysicsError::Softness { vertex, value });
        }
        softness.push(value.clamp(0.0, 1.0));
    }
    Ok(softness)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec4;
    use pliant_mesh::{VertexLayer, shapes};

    fn painted(colors: [DVec4; 4]) -> Mesh {
        let mut builder = shapes::flat_sheet(2, 0.0).to_builder();
        let values = (0..builder.positions.len())
            .map(|v| colors[v % 4])
            .collect();
        builder.colors = vec![VertexLayer {
            name: String::new(),
            values,
        }];
        builder.build().unwrap()
    }

    #[test]
    fn black_is_soft_white_is_stiff_and_a_hue_counts_by_its_largest_channel() {
        let [black, grey, white, red] = [
            DVec4::new(0.0, 0.0, 0.0, 1.0),
            DVec4::splat(0.5),
            DVec4::splat(1.0),
            DVec4::new(0.5, 0.0, 0.0, 0.0),
        ];

        let map = painted_stiffness(&painted([black, grey, white, red])).unwrap();
        for (found, expected) in map.iter().zip([0.1, 1.0, 10.0, 1.0]) {
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        }
        let softness = painted_softness(&painted([black, grey, white, red])).unwrap();
        assert_eq!(softness[..4], [0.0, 0.5, 1.0, 0.5]);

        let beyond = painted_stiffness(&painted([
            DVec4::splat(-3.0),
            DVec4::splat(7.0),
            grey,
            grey,
        ]))
        .unwrap();

        assert!((beyond[0] - 0.1).abs() < 1e-12 && (beyond[1] - 10.0).abs() < 1e-12);
    }

    #[test]
    fn missing_colours_and_colours_that_are_not_finite_are_errors() {
        assert!(matches!(
            painted_stiffness(&shapes::flat_sheet(2, 0.0)),
            Err(PhysicsError::NoColors)
        ));

        let invalid = painted([
            DVec4::ONE,
            DVec4::new(0.2, f64::NAN, 0.1, 1.0),
            DVec4::ONE,
            DVec4::ONE,
        ]);

        assert!(matches!(
            painted_stiffness(&invalid),
            Err(PhysicsError::Stiffness { vertex: 1, .. })
        ));
    }
}
