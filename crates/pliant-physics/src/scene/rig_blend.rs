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
}

impl RigBlend {
    /// Connects the neutral and all shapes of the rig.
    ///
    /// # Errors
    /// As [`SceneBlend::new`].
    pub fn new(rig: Rig, options: &SceneOptions) -> Result<Self, PhysicsError> {
        let neutral = rig.neutral();
        let mut shapes = vec![neutral.clone()];
        for (vertices, deltas) in rig.shapes() {
            let mut positions = neutral.positions().to_vec();
            for (&vertex, delta) in vertices.iter().zip(deltas) {
                positions[vertex as usize] += delta.as_dvec3();
            }
            shapes.push(neutral.posed(positions)?);
        }

        let scene = SceneBlend::new(&shapes, options)?;
        Ok(Self { rig, scene })
    }

    /// The scene; its shapes are the neutral and then those of the rig.
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
        // The neutral has the rest of the weight.
        let coefficients = self.rig.activation().coefficients(sliders);
        let rest = 1.0 - coefficients.iter().sum::<f64>();
        let weights: Vec<f64> = std::iter::once(rest).chain(coefficients).collect();
        self.scene.step(&weights, time)
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
