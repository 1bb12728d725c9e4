//! Stiffness as a person paints it: vertex colours.
//!
//! **Equation.** With the brightness `b`, the largest of red, green and blue, cut to 0..1, a vertex
//! is
//!
//! ```text
//! k = 10^(2b − 1)
//! ```
//!
//! as stiff as others: ten times where it is white, a tenth where it is black, and as it was at
//! middle grey. Each step of grey is the same factor, as the eye has it.
//!
//! **Ours.** The largest channel rather than a luminance, so that red on black is as good as white
//! on black. Only ratios matter: a mesh painted in one colour is as stiff as one that is not
//! painted.

use pliant_mesh::Mesh;

use crate::PhysicsError;

/// How stiff each vertex of `mesh` is by its first set of vertex colours: from 0.1 where black to
/// 10 where white.
///
/// # Errors
/// [`PhysicsError::NoColors`] if it has none; a colour that is no number.
pub fn painted_stiffness(mesh: &Mesh) -> Result<Vec<f64>, PhysicsError> {
    let layer = mesh.colors().first().ok_or(PhysicsError::NoColors)?;
    let stiffness = |(vertex, color): (usize, &pliant_mesh::glam::DVec4)| {
        let brightness = color.truncate().max_element();
        match color.truncate().is_finite() {
            true => Ok(10_f64.powf(2.0 * brightness.clamp(0.0, 1.0) - 1.0)),
            false => Err(PhysicsError::Stiffness {
                vertex,
                value: brightness,
            }),
        }
    };
    layer.values.iter().enumerate().map(stiffness).collect()
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
    fn black_is_soft_and_white_stiff_and_a_hue_is_as_good_as_grey() {
        let [black, grey, white, red] = [
            DVec4::new(0.0, 0.0, 0.0, 1.0),
            DVec4::splat(0.5),
            DVec4::splat(1.0),
            DVec4::new(0.5, 0.0, 0.0, 0.0),
        ];
        let map = painted_stiffness(&painted([black, grey, white, red])).unwrap();
        for (found, wanted) in map.iter().zip([0.1, 1.0, 10.0, 1.0]) {
            assert!((found / wanted - 1.0).abs() < 1e-12, "{found} {wanted}");
        }
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
    fn no_colour_is_said_and_one_that_is_no_number_is_named() {
        assert!(matches!(
            painted_stiffness(&shapes::flat_sheet(2, 0.0)),
            Err(PhysicsError::NoColors)
        ));
        let odd = painted([
            DVec4::ONE,
            DVec4::new(0.2, f64::NAN, 0.1, 1.0),
            DVec4::ONE,
            DVec4::ONE,
        ]);
        assert!(matches!(
            painted_stiffness(&odd),
            Err(PhysicsError::Stiffness { vertex: 1, .. })
        ));
    }
}
