//! Deformation gradients of triangles between two poses.
//!
//! **Problem.** Compare, blend and transfer deformations without regard to where a
//! triangle lies.
//!
//! **Equation.** With the triangle's edges and a third direction `n` as columns,
//!
//! ```text
//! V = [v₁ − v₀, v₂ − v₀, n]      D = Ṽ V⁻¹      n = (e₁ × e₂) / √|e₁ × e₂|
//! ```
//!
//! where the tilde marks the deformed pose. `D` maps the rest edges to the deformed ones
//! and the rest normal to the deformed one; the root makes `n` a length, so scaling a
//! triangle by `s` gives `D = s·R`.
//!
//! **Source.** Sumner and Popović, "Deformation transfer for triangle meshes", 2004,
//! eqs. 1–4.
//!
//! **Departures.** `V⁻¹` is written through the rest triangle's dual basis, which stays finite
//! for slivers of any scale; a triangle without area in the rest pose has no gradient
//! and gets the identity.

use glam::{DMat3, DVec3};
use pliant_linalg::parallel;

use crate::{Mesh, MeshError};

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 2048;

/// The rest pose prepared: `V⁻¹` of every triangle.
#[derive(Debug, Clone)]
pub struct DeformationGradients {
    triangles: Vec<[u32; 3]>,
    inverse_frames: Vec<Option<DMat3>>,
    vertex_count: usize,
}

impl DeformationGradients {
    /// Prepares the rest pose.
    pub fn from_rest(rest: &Mesh) -> Result<Self, MeshError> {
        rest.require_finite()?;
        let triangles = rest.triangles().to_vec();
        let inverse_frames = parallel::map(triangles.len(), TRIANGLES_PER_TASK, |t| {
            inverse_frame(rest.triangle_points(t))
        });

        Ok(Self {
            triangles,
            inverse_frames,
            vertex_count: rest.vertex_count(),
        })
    }

    /// The gradient of every triangle in the pose `positions`; the identity where the rest triangle
    /// has no area.
    pub fn at(&self, positions: &[DVec3]) -> Result<Vec<DMat3>, MeshError> {
        let mut gradients = vec![DMat3::IDENTITY; self.triangles.len()];
        self.at_into(positions, &mut gradients)?;
        Ok(gradients)
    }

    /// As [`at`](Self::at), into the caller's buffer.
    pub fn at_into(&self, positions: &[DVec3], gradients: &mut [DMat3]) -> Result<(), MeshError> {
        if positions.len() != self.vertex_count {
            return Err(MeshError::Count {
                what: "the deformed pose",
                found: positions.len(),
                expected: self.vertex_count,
            });
        }

        if gradients.len() != self.triangles.len() {
            return Err(MeshError::Count {
                what: "the array of gradients",
                found: gradients.len(),
                expected: self.triangles.len(),
            });
        }

        // Triangles are independent of each other.
        parallel::for_each_chunk_mut(gradients, TRIANGLES_PER_TASK, |start, chunk| {
            for (k, gradient) in chunk.iter_mut().enumerate() {
                let deformed = self.triangles[start + k].map(|v| positions[v as usize]);
                *gradient = self.inverse_frames[start + k]
                    .map_or(DMat3::IDENTITY, |inverse| frame(deformed) * inverse);
            }
        });
        Ok(())
    }
}

/// `[v₁ − v₀, v₂ − v₀, n]`.
fn frame([v0, v1, v2]: [DVec3; 3]) -> DMat3 {
    let (e1, e2) = (v1 - v0, v2 - v0);
    let cross = e1.cross(e2);
    let length = cross.length();

    DMat3::from_cols(
        e1,
        e2,
        if length > 0.0 {
            cross / length.sqrt()
        } else {
            DVec3::ZERO
        },
    )
}

/// The inverse of [`frame`], by rows: the dual basis of the two edges in their plane, and `n` over
/// its squared length.
fn inverse_frame(points: [DVec3; 3]) -> Option<DMat3> {
    let DMat3 {
        x_axis: e1,
        y_axis: e2,
        z_axis: n,
    } = frame(points);
    let cross = e1.cross(e2);
    let area_squared = cross.length_squared();

    // Without area the two edges have no dual basis.
    if area_squared <= 0.0 || !area_squared.is_normal() {
        return None;
    }

    let rows = DMat3::from_cols(
        e2.cross(cross) / area_squared,
        cross.cross(e1) / area_squared,
        n / n.length_squared(),
    );

    Some(rows.transpose())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Polar;

    fn strip() -> Mesh {
        let positions = vec![
            DVec3::new(0.0, 0.0, 0.1),
            DVec3::new(1.0, 0.0, 0.0),
            DVec3::new(0.2, 1.0, 0.3),
            DVec3::new(1.3, 1.1, -0.2),
        ];
        Mesh::from_triangles(positions, &[[0, 1, 2], [2, 1, 3]]).unwrap()
    }

    fn largest(m: DMat3) -> f64 {
        m.to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, b| a.max(b.abs()))
    }

    #[test]
    fn a_similarity_gives_its_scaled_rotation_on_every_triangle() {
        let rest = strip();
        let similarity = DMat3::from_axis_angle(DVec3::new(0.3, -0.5, 1.0).normalize(), 1.1) * 2.5;
        let moved: Vec<DVec3> = rest
            .positions()
            .iter()
            .map(|&p| similarity * p + DVec3::new(3.0, 4.0, 5.0))
            .collect();

        for gradient in DeformationGradients::from_rest(&rest)
            .unwrap()
            .at(&moved)
            .unwrap()
        {
            assert!(largest(gradient - similarity) < 1e-14);
        }
    }

    #[test]
    fn the_gradient_maps_rest_edges_to_deformed_edges() {
        let rest = strip();
        let moved: Vec<DVec3> = rest
            .positions()
            .iter()
            .map(|p| DVec3::new(p.x * p.x, p.y + p.z, p.x * p.y))
            .collect();

        let gradients = DeformationGradients::from_rest(&rest)
            .unwrap()
            .at(&moved)
            .unwrap();

        for (t, gradient) in gradients.iter().enumerate() {
            let [a, b, c] = rest.triangles()[t].map(|v| v as usize);
            for (i, j) in [(a, b), (b, c), (c, a)] {
                let mapped = *gradient * (rest.positions()[j] - rest.positions()[i]);
                assert!(mapped.distance(moved[j] - moved[i]) < 1e-14);
            }
        }
    }

    #[test]
    fn rotations_of_tiny_needles_are_accurate() {
        let rest = Mesh::from_triangles(
            vec![DVec3::ZERO, DVec3::X * 1e-8, DVec3::new(0.5e-8, 1e-14, 0.0)],
            &[[0, 1, 2]],
        )
        .unwrap();
        let rotation = DMat3::from_rotation_z(0.7);
        let moved: Vec<DVec3> = rest.positions().iter().map(|&p| rotation * p).collect();

        let gradient = DeformationGradients::from_rest(&rest)
            .unwrap()
            .at(&moved)
            .unwrap()[0];

        assert!(largest(Polar::of(gradient).rotation - rotation) < 1e-8);
    }

    #[test]
    fn arrays_of_wrong_length_are_declined() {
        let rest = strip();
        let gradients = DeformationGradients::from_rest(&rest).unwrap();
        assert!(gradients.at(&[DVec3::ZERO]).is_err());

        for wrong in [0, 1, 3] {
            assert!(
                gradients
                    .at_into(rest.positions(), &mut vec![DMat3::IDENTITY; wrong])
                    .is_err()
            );
        }
    }

    #[test]
    fn a_triangle_without_area_gets_the_identity() {
        let rest = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0], &[[0, 1, 2]])
            .unwrap();
        let gradients = DeformationGradients::from_rest(&rest)
            .unwrap()
            .at(&[DVec3::ZERO, DVec3::Y, DVec3::Z])
            .unwrap();
        assert_eq!(gradients, vec![DMat3::IDENTITY]);
    }
}
