//! Blendshape rig evaluated by springs.
//!
//! **Problem.** The sliders of a linear rig cannot rotate a part; let the same sliders drive a
//! blend of springs.
//!
//! **Equation.** The shapes of the blend are the neutral and `neutral + Δₛ` for every target shape
//! of the rig. The coefficients `cₛ` of the rig are their weights, and the neutral has the rest, so
//! that the weights sum to one:
//!
//! ```text
//! w₀ = 1 − Σₛ cₛ        wₛ = cₛ
//! ```
//!
//! **Source.** Ma et al. 2012, section 3.3.
//!
//! **Departures.** In-betweens and combinations are shapes, as in the linear rig. Several sliders
//! at one give a negative weight of the neutral: an extrapolation, as in the linear rig.

use pliant_rig::Rig;

use crate::{BlendFrame, ContactFrame, PhysicsError, SceneBlend, SceneOptions};

/// A rig whose shapes are blended by springs.
#[derive(Debug)]
pub struct RigBlend {
    rig: Rig,
    scene: SceneBlend,
    /// The shapes of the rig that are shapes of the scene, ascending.
    used: Vec<usize>,
}

impl RigBlend {
    /// Connects the neutral and all shapes of the rig.
    ///
    /// # Errors
    /// As [`SceneBlend::new`].
    pub fn new(rig: Rig, options: &SceneOptions) -> Result<Self, PhysicsError> {
        let used = (0..rig.activation().shape_count()).collect();
        Self::of_shapes(rig, used, options)
    }

    /// Connects the neutral and those shapes of the rig that some of `poses`, lists of slider
    /// weights, use: a rig may have hundreds of shapes, and each costs time. Other shapes are
    /// ignored later, too.
    ///
    /// # Errors
    /// As [`SceneBlend::new`].
    pub fn for_poses(
        rig: Rig,
        poses: &[Vec<f64>],
        options: &SceneOptions,
    ) -> Result<Self, PhysicsError> {
        let mut is_used = vec![false; rig.activation().shape_count()];
        for pose in poses {
            let coefficients = rig.activation().coefficients(pose);
            for (used, coefficient) in is_used.iter_mut().zip(coefficients) {
                *used |= coefficient != 0.0;
            }
        }

        let mut used: Vec<usize> = (0..is_used.len()).filter(|&s| is_used[s]).collect();
        // A blend needs two shapes; without any weight every shape will do.
        if used.is_empty() && !is_used.is_empty() {
            used.push(0);
        }
        Self::of_shapes(rig, used, options)
    }

    fn of_shapes(rig: Rig, used: Vec<usize>, options: &SceneOptions) -> Result<Self, PhysicsError> {
        let neutral = rig.neutral();
        let mut shapes = vec![neutral.clone()];
        for (shape, (vertices, deltas)) in rig.shapes().enumerate() {
            if used.binary_search(&shape).is_err() {
                continue;
            }
            let mut positions = neutral.positions().to_vec();
            for (&vertex, delta) in vertices.iter().zip(deltas) {
                positions[vertex as usize] += delta.as_dvec3();
            }
            shapes.push(neutral.posed(positions)?);
        }

        let scene = SceneBlend::new(&shapes, options)?;
        Ok(Self { rig, scene, used })
    }

    /// The scene; its shapes are the neutral and then those of the rig that are used.
    #[must_use]
    pub fn scene(&self) -> &SceneBlend {
        &self.scene
    }

    /// The shape at slider weights, with obstacles at their positions at time 0; missing weights
    /// count as zero.
    ///
    /// # Errors
    /// As [`SceneBlend::step`].
    pub fn at(&mut self, sliders: &[f64]) -> Result<BlendFrame, PhysicsError> {
        Ok(self.step(sliders, 0.0)?.shape)
    }

    /// The shape at slider weights, with obstacles at their positions at `time`, on the path from
    /// the last step.
    ///
    /// # Errors
    /// As [`SceneBlend::step`].
    pub fn step(&mut self, sliders: &[f64], time: f64) -> Result<ContactFrame, PhysicsError> {
        let weights = self.weights(sliders);
        self.scene.step(&weights, time)
    }

    /// The weights of the shapes of the scene at slider weights.
    #[must_use]
    pub fn weights(&self, sliders: &[f64]) -> Vec<f64> {
        // The neutral has the rest of the weight.
        let coefficients = self.rig.activation().coefficients(sliders);
        let used = || self.used.iter().map(|&shape| coefficients[shape]);
        let rest = 1.0 - used().sum::<f64>();
        std::iter::once(rest).chain(used()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CageSize;
    use crate::test_shapes::{bar, bent};
    use pliant_mesh::Mesh;
    use pliant_rig::Target;

    /// A rig whose only slider bends a bar by a right angle.
    fn bending(mesh: &Mesh) -> Rig {
        let target = bent(mesh.positions(), 90.0);
        let deltas = target
            .iter()
            .zip(mesh.positions())
            .map(|(b, a)| (*b - *a).as_vec3());
        Rig::new(mesh.clone(), vec![Target::from_dense("bend", deltas)]).unwrap()
    }

    #[test]
    fn a_slider_at_one_is_its_target_and_at_one_half_keeps_lengths() {
        let mesh = bar(12, 3).mesh;
        let rig = bending(&mesh);
        let linear = mesh.posed(rig.evaluate(&[0.5])).unwrap();
        let full = rig.evaluate(&[1.0]);
        let mut blend = RigBlend::new(rig, &SceneOptions::default()).unwrap();

        assert_eq!(blend.at(&[1.0]).unwrap().positions, full);
        assert_eq!(blend.at(&[]).unwrap().positions, mesh.positions());

        let half = mesh.posed(blend.at(&[0.5]).unwrap().positions).unwrap();
        let shrunk = |m: &Mesh| (m.area() / mesh.area() - 1.0).abs();
        assert!(
            shrunk(&half) < 0.02 && shrunk(&linear) > 0.05,
            "{} {}",
            shrunk(&half),
            shrunk(&linear)
        );
    }

    #[test]
    fn shapes_that_no_pose_uses_change_nothing() {
        let mesh = bar(12, 3).mesh;
        let one = bending(&mesh);
        let mut targets = one.targets().to_vec();
        targets.insert(
            0,
            Target::from_dense("wide", mesh.positions().iter().map(|p| p.as_vec3() * 0.2)),
        );
        let two = Rig::new(mesh.clone(), targets).unwrap();
        let poses = [vec![0.0, 0.5]];

        let mut used = RigBlend::for_poses(two, &poses, &SceneOptions::default()).unwrap();
        let mut alone = RigBlend::new(one, &SceneOptions::default()).unwrap();
        assert_eq!(used.weights(&poses[0]), [0.5, 0.5]);
        assert_eq!(
            used.at(&poses[0]).unwrap().positions,
            alone.at(&[0.5]).unwrap().positions
        );
    }

    #[test]
    fn a_large_rig_with_a_cage_has_the_same_targets() {
        let mesh = bar(24, 6).mesh;
        let rig = bending(&mesh);
        let full = rig.evaluate(&[1.0]);
        let mut blend = RigBlend::new(
            rig,
            &SceneOptions::default().with_cage(CageSize::Vertices(200)),
        )
        .unwrap();

        assert!(blend.scene().cage().is_some());
        assert_eq!(blend.at(&[1.0]).unwrap().positions, full);

        let half = blend.at(&[0.5]).unwrap();
        assert!(
            (half.volume / mesh.signed_volume() - 1.0).abs() < 0.02,
            "{}",
            half.volume
        );

        assert!(half.linear.volume < 0.9 * mesh.signed_volume());
    }
}
