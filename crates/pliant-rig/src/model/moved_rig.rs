//! A rig whose vertices move as joints move them: its sliders act on the posed character.
//!
//! **Problem.** Targets change a character in its bind pose, and joints move it afterwards. Pins and
//! strokes act on what one sees, the posed character.
//!
//! **Equation.** With the neutral `n`, shapes `b` at coefficients `c(w)`, and the affine motion
//! `M x = L x + t` of each vertex (for skins `M = Σⱼ wⱼ Tⱼ`, see [`Skin::vertex_motions`]):
//!
//! ```text
//! M (n + Σ c b) = M n + Σ c L b
//! ```
//!
//! The right side is again a rig, with the same weights. A displacement `u` of the posed character
//! is the displacement `L⁻¹ u` of the character in its bind pose.
//!
//! **Source.** The linearity of skinning in positions; Lewis, Anjyo, "Direct manipulation
//! blendshapes", 2010, section 3, for sliders before an affine stage.
//!
//! [`Skin::vertex_motions`]: super::Skin::vertex_motions

use pliant_mesh::MeshError;
use pliant_mesh::glam::{DAffine3, DMat3, DVec3, Vec3};

use super::{Combination, Rig, Target};
use crate::RigError;

/// *Chosen*: a motion whose volume factor is smaller, relative to the cube of its largest stretch,
/// collapses the surface, so that displacements have no unique origin.
const LEAST_VOLUME: f64 = 1e-9;

impl Rig {
    /// The same sliders on a rig whose vertex `v` is, at all weights, where `motions[v]` brings it.
    ///
    /// # Errors
    /// Without one motion for each vertex.
    pub fn moved_by(&self, motions: &[DAffine3]) -> Result<Self, RigError> {
        let neutral = self.neutral().positions();
        MeshError::require_count("the list of motions", motions.len(), neutral.len())?;

        let positions = neutral.iter().zip(motions);
        let positions = positions.map(|(&p, motion)| motion.transform_point3(p));
        let mesh = self.neutral().posed(positions.collect())?;
        let linear: Vec<DMat3> = motions.iter().map(|motion| motion.matrix3).collect();

        let targets = self.targets().iter();
        let targets = targets.map(|target| target.transformed_by(&linear));
        let combinations = self.combinations().iter();
        let combinations = combinations.map(|combination| Combination {
            deltas: transformed(&combination.vertices, &combination.deltas, &linear),
            ..combination.clone()
        });

        Self::new(mesh, targets.collect())?
            .with_sliders(self.sliders().to_vec())?
            .with_combinations(combinations.collect())?
            .with_groups(self.groups().to_vec())?
            .with_exclusive_pairs(self.exclusive_pairs().to_vec())
    }
}

impl Target {
    /// The target with the displacements of each vertex, also those of its in-betweens, transformed
    /// by the matrix of that vertex.
    ///
    /// # Panics
    /// If a vertex has no matrix.
    #[must_use]
    pub fn transformed_by(&self, linear: &[DMat3]) -> Self {
        let mut moved = self.clone();
        moved.deltas = transformed(&self.vertices, &self.deltas, linear);
        for shape in &mut moved.in_betweens {
            shape.deltas = transformed(&shape.vertices, &shape.deltas, linear);
        }
        moved
    }
}

/// The inverse of the linear part of each motion. A motion that collapses the surface to a plane, a
/// line or a point has none; its displacements stay as they are.
#[must_use]
pub fn inverse_linear_parts(motions: &[DAffine3]) -> Vec<DMat3> {
    let inverse = |motion: &DAffine3| inverse_linear_part(motion).unwrap_or(DMat3::IDENTITY);
    motions.iter().map(inverse).collect()
}

/// The inverse of the linear part of a motion; `None` if it collapses the surface.
#[must_use]
pub fn inverse_linear_part(motion: &DAffine3) -> Option<DMat3> {
    let linear = motion.matrix3;
    let stretch = [linear.x_axis, linear.y_axis, linear.z_axis].map(DVec3::length);
    let largest = stretch.into_iter().fold(0.0, f64::max);
    let volume = linear.determinant().abs();
    (volume > LEAST_VOLUME * largest.powi(3)).then(|| linear.inverse())
}

fn transformed(vertices: &[u32], deltas: &[Vec3], linear: &[DMat3]) -> Vec<Vec3> {
    vertices
        .iter()
        .zip(deltas)
        .map(|(&vertex, delta)| (linear[vertex as usize] * delta.as_dvec3()).as_vec3())
        .collect()
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;

    use super::*;
    use crate::{Driver, InBetween, Influence, Rule, Skin};

    /// A rig with an in-between and a combination, and a skin of two bones.
    fn skinned() -> (Rig, Skin) {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let mesh = Mesh::from_triangles(corners, &[[0, 2, 1], [0, 1, 3]]).unwrap();
        let mut lift = Target::from_dense("lift", [Vec3::Z, Vec3::Y, Vec3::ZERO, Vec3::X]);
        lift.in_betweens.push(InBetween {
            name: String::new(),
            weight: 0.5,
            vertices: vec![1, 2],
            deltas: vec![Vec3::X, Vec3::ONE],
        });
        let slide = Target::from_dense("slide", [Vec3::X, Vec3::ZERO, Vec3::NEG_Y, Vec3::Z]);
        let both = Combination {
            name: "lift_slide".into(),
            drivers: vec![Driver::Slider(0.into()), Driver::Slider(1.into())],
            rule: Rule::Product,
            vertices: vec![0, 3],
            deltas: vec![Vec3::Y, Vec3::splat(0.25)],
        };
        let rig = Rig::new(mesh, vec![lift, slide]).unwrap();
        let rig = rig.with_combinations(vec![both]).unwrap();

        let shares = [0.0, 0.25, 0.5, 1.0].map(|second| {
            [(0, 1.0 - second), (1, second)]
                .map(|(bone, weight)| Influence { bone, weight })
                .to_vec()
        });
        (rig, Skin::new(2, shares).unwrap())
    }

    #[test]
    fn skinning_the_evaluated_rig_equals_evaluating_the_moved_rig() {
        let (rig, skin) = skinned();
        let motions = [
            DAffine3::from_rotation_x(0.7),
            DAffine3::from_rotation_z(-1.1) * DAffine3::from_translation(DVec3::new(1.0, 2.0, 3.0)),
        ];
        let moved = rig.moved_by(&skin.vertex_motions(&motions)).unwrap();

        for weights in [[0.0, 0.0], [0.25, 0.0], [0.8, 0.6], [1.0, -0.5]] {
            let expected = skin.blend(&rig.evaluate(&weights), &motions);
            for (a, b) in moved.evaluate(&weights).iter().zip(&expected) {
                // Displacements are stored in single precision.
                assert!(
                    a.distance(*b) < 8.0 * f64::from(f32::EPSILON),
                    "{weights:?}"
                );
            }
        }
    }

    #[test]
    fn another_number_of_motions_than_vertices_is_declined() {
        let (rig, _) = skinned();
        let error = rig.moved_by(&[DAffine3::IDENTITY]).unwrap_err();
        assert!(error.to_string().contains("1 entries where 4 are needed"));
    }

    #[test]
    fn a_displacement_of_the_posed_rig_returns_to_the_bind_pose() {
        let (rig, skin) = skinned();
        let motions = [
            DAffine3::from_rotation_y(2.0),
            DAffine3::from_scale(DVec3::new(1.0, 2.0, 0.5)),
        ];
        let motions = skin.vertex_motions(&motions);
        let linear: Vec<DMat3> = motions.iter().map(|motion| motion.matrix3).collect();

        let target = &rig.targets()[0];
        let again = target
            .transformed_by(&linear)
            .transformed_by(&inverse_linear_parts(&motions));
        for (a, b) in again.deltas.iter().zip(&target.deltas) {
            assert!(a.distance(*b) < 8.0 * f32::EPSILON);
        }
    }

    #[test]
    fn a_motion_that_collapses_the_surface_has_no_inverse() {
        let flat = DAffine3::from_scale(DVec3::new(1.0, 1.0, 0.0));
        assert_eq!(inverse_linear_part(&flat), None);
        assert_eq!(inverse_linear_parts(&[flat]), [DMat3::IDENTITY]);

        // The mean of two opposite half rotations is a line.
        let skin = Skin::new(
            2,
            [[(0, 0.5), (1, 0.5)].map(|(bone, weight)| Influence { bone, weight })]
                .map(|own| own.to_vec()),
        )
        .unwrap();
        let opposite = [
            DAffine3::IDENTITY,
            DAffine3::from_rotation_x(std::f64::consts::PI),
        ];
        assert_eq!(
            inverse_linear_part(&skin.vertex_motions(&opposite)[0]),
            None
        );
    }
}
