//! Rigid alignment of frames to the posed rig.
//!
//! **Problem.** A captured head nods while the face moves; the sliders cannot represent the nod.
//!
//! **Equation.** For each frame `y`, alternately: the rigid motion `M` from the posed rig `x(w)` to
//! `y` with the least `Σᵥ ωᵥ |M x(w)ᵥ − yᵥ|²`, then the weights of `M⁻¹y`. A vertex that sliders
//! move by at most `m` has the weight `ω = a (ε² / (ε² + m²))²`.
//!
//! **Departures.** Vertices that no slider moves determine the motion at once. If the sliders move
//! all vertices, those that move least have the largest weight, and the alternation improves the
//! motion.

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::Stopped;
use pliant_mesh::glam::DVec3;

use crate::Rig;

/// Fits rigid motions of a rig to frames.
#[derive(Debug)]
pub(super) struct Aligner<'r> {
    rig: &'r Rig,
    /// `ω`.
    weights: Vec<f64>,
    size: f64,
}

impl<'r> Aligner<'r> {
    /// `ε` relative to the largest displacement of any vertex. *Chosen*: the noise of a scan.
    const STATIC: f64 = 1e-3;
    /// Alternations of motion and weights. *Chosen*: a head with a static skull needs two.
    pub(super) const MOST_ALTERNATIONS: usize = 10;
    /// A change of the motion below this part of the diagonal ends the alternation.
    const TOLERANCE: f64 = 1e-7;

    pub(super) fn new(rig: &'r Rig, areas: &[f64]) -> Self {
        let mut largest = vec![0.0_f64; areas.len()];
        for (vertices, deltas) in rig.shapes() {
            for (&v, delta) in vertices.iter().zip(deltas) {
                let known = &mut largest[v as usize];
                *known = known.max(f64::from(delta.length()));
            }
        }

        // ω = a (ε² / (ε² + m²))².
        let epsilon = Self::STATIC * largest.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut weights = Vec::with_capacity(areas.len());
        for (area, m) in areas.iter().zip(largest) {
            let factor = 1.0 / (1.0 + (m / epsilon).powi(2)).powi(2);
            weights.push(area * factor);
        }

        let size = rig
            .neutral()
            .bounds()
            .map_or(0.0, |bounds| bounds.diagonal());

        Self { rig, weights, size }
    }

    /// The motion of each frame, and the frames without it; `solve` computes the weights of frames,
    /// and gets the share of the alternations that is done.
    pub(super) fn align(
        &self,
        frames: &[&[DVec3]],
        solve: impl Fn(&[&[DVec3]], f64) -> Result<Vec<Vec<f64>>, Stopped>,
    ) -> Result<(Vec<RigidMotion>, Vec<Vec<DVec3>>), Stopped> {
        // The first motion is fitted to the neutral.
        let mut motions = parallel::map(frames.len(), 1, |t| {
            self.fit(self.rig.neutral().positions(), frames[t])
        });

        let mut aligned = remove_motions(frames, &motions);
        for k in 0..Self::MOST_ALTERNATIONS {
            // Alternate: weights of the aligned frames, then motions of the posed rig.
            let done = k as f64 / Self::MOST_ALTERNATIONS as f64;
            let borrowed: Vec<&[DVec3]> = aligned.iter().map(Vec::as_slice).collect();
            let weights = solve(&borrowed, done)?;
            let refined = parallel::map(frames.len(), 1, |t| {
                self.fit(&self.rig.evaluate(&weights[t]), frames[t])
            });
            let change = motions
                .iter()
                .zip(&refined)
                .map(|(a, b)| self.difference(a, b))
                .fold(0.0, f64::max);

            motions = refined;
            aligned = remove_motions(frames, &motions);
            if change <= Self::TOLERANCE * self.size {
                break;
            }
        }

        Ok((motions, aligned))
    }

    fn fit(&self, posed: &[DVec3], frame: &[DVec3]) -> RigidMotion {
        RigidMotion::fit(posed, frame, Some(&self.weights))
            .expect("frames have a point for each vertex")
    }

    /// An estimate of the distance between the images of a point of the model.
    fn difference(&self, a: &RigidMotion, b: &RigidMotion) -> f64 {
        let centre = self
            .rig
            .neutral()
            .bounds()
            .map_or(DVec3::ZERO, |bounds| bounds.center());
        a.apply(centre).distance(b.apply(centre)) + self.size * a.rotation.angle_between(b.rotation)
    }
}

fn remove_motions(frames: &[&[DVec3]], motions: &[RigidMotion]) -> Vec<Vec<DVec3>> {
    parallel::map(frames.len(), 1, |t| {
        let inverse = motions[t].inverse();
        frames[t].iter().map(|p| inverse.apply(*p)).collect()
    })
}
