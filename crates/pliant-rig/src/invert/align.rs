//! The motion of the whole head, found beside its sliders.
//!
//! **Problem.** A captured head nods while the face moves; sliders would spend themselves on the
//! nod.
//!
//! **Equation.** For each frame `y` in turns: the rigid motion that takes the posed rig `x(w)` to
//! `y` with the least `Σᵥ ωᵥ |M x(w)ᵥ − yᵥ|²`, then the weights of `M⁻¹y`. A vertex that sliders
//! move by `m` at most counts `ω = a (ε² / (ε² + m²))²`.
//!
//! **Ours.** Where the rig leaves a part of the head still, that part decides at once; where it
//! moves all of it, what it moves least decides, and the turns improve on it.

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;

use crate::Rig;

/// Finds rigid motions of a rig.
#[derive(Debug)]
pub(super) struct Aligner<'r> {
    rig: &'r Rig,
    /// `ω`.
    stillness: Vec<f64>,
    size: f64,
}

impl<'r> Aligner<'r> {
    /// `ε` in parts of the largest displacement of any vertex. *Ours*: the noise of a scan.
    const STILL: f64 = 1e-3;
    /// Turns of motion and weights. *Ours*: a head with a still skull needs two.
    const MOST_TURNS: usize = 10;
    /// A motion that changes by less than this part of the model ends the turns.
    const TOLERANCE: f64 = 1e-7;

    pub(super) fn new(rig: &'r Rig, areas: &[f64]) -> Self {
        let mut reach = vec![0.0_f64; areas.len()];
        for (vertices, deltas) in rig.shapes() {
            vertices.iter().zip(deltas).for_each(|(&v, d)| {
                reach[v as usize] = reach[v as usize].max(f64::from(d.length()))
            });
        }
        let still = Self::STILL * reach.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let share = |m: f64| 1.0 / (1.0 + (m / still).powi(2)).powi(2);
        let stillness = areas.iter().zip(reach).map(|(a, m)| a * share(m)).collect();
        let size = rig
            .neutral()
            .bounds()
            .map_or(0.0, |bounds| bounds.diagonal());
        Self {
            rig,
            stillness,
            size,
        }
    }

    /// The motion of each frame, and the frames without it; `solve` finds the weights of frames.
    pub(super) fn align(
        &self,
        frames: &[&[DVec3]],
        solve: impl Fn(&[&[DVec3]]) -> Vec<Vec<f64>>,
    ) -> (Vec<RigidMotion>, Vec<Vec<DVec3>>) {
        let mut motions = parallel::map(frames.len(), 1, |t| {
            self.fit(self.rig.neutral().positions(), frames[t])
        });
        let mut aligned = without(frames, &motions);
        for _ in 0..Self::MOST_TURNS {
            let weights = solve(&aligned.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let refined = parallel::map(frames.len(), 1, |t| {
                self.fit(&self.rig.evaluate(&weights[t]), frames[t])
            });
            let change = motions
                .iter()
                .zip(&refined)
                .map(|(a, b)| self.difference(a, b))
                .fold(0.0, f64::max);
            motions = refined;
            aligned = without(frames, &motions);
            if change <= Self::TOLERANCE * self.size {
                break;
            }
        }
        (motions, aligned)
    }

    fn fit(&self, posed: &[DVec3], frame: &[DVec3]) -> RigidMotion {
        RigidMotion::fit(posed, frame, Some(&self.stillness))
            .expect("frames have a point for each vertex")
    }

    /// How far two motions take a point of the model apart, about.
    fn difference(&self, a: &RigidMotion, b: &RigidMotion) -> f64 {
        let centre = self
            .rig
            .neutral()
            .bounds()
            .map_or(DVec3::ZERO, |bounds| bounds.center());
        a.apply(centre).distance(b.apply(centre)) + self.size * a.rotation.angle_between(b.rotation)
    }
}

fn without(frames: &[&[DVec3]], motions: &[RigidMotion]) -> Vec<Vec<DVec3>> {
    parallel::map(frames.len(), 1, |t| {
        let back = motions[t].inverse();
        frames[t].iter().map(|p| back.apply(*p)).collect()
    })
}
