//! The inverse rig: from a moving surface, or from a few moving points, to curves of slider
//! weights.
//!
//! **Problem.** A capture or a simulation gives positions; an animator needs the sliders that make
//! them, within their limits, few at a time and smooth over time, so that the result can be edited.
//!
//! **Equation.** Over the weights `wₜ` of all frames, with areas `a`, shapes `δ`, their
//! coefficients `φ(w)` and `x = g w` in units of moved surface:
//!
//! ```text
//! min  Σₜ ½ Σᵥ aᵥ |x₀ + Σₛ φₛ(wₜ) δₛ − yₜ|²  +  ½ ρ |xₜ|²  +  λ γ |xₜ|₁  +  ½ μ Σₜ |xₜ₋₁ − 2xₜ + xₜ₊₁|²       l ≤ wₜ ≤ u
//! ```
//!
//! **Source.** The fit with products of sliders inside limits is that of Racković, Soares,
//! Jakovetić and Desnica, "Accurate and interpretable solution of the inverse rig for realistic
//! blendshape models with quadratic corrective terms", 2023, who descend one slider at a time on
//! the vertices.
//!
//! **Ours.** Whole meshes are read once, for the pull of each frame on each shape (`ShapePulls`);
//! from there on everything has the size of the rig (`FrameProblem`). Prices are on moved surface,
//! so that neither units nor the scale of a slider matter. The bends tie the frames together
//! (`Sequence`). Every solve ends with a certificate. Locked sliders stay at rest.

mod align;
mod frame_problem;
mod marker_clip;
mod options;
mod sequence;
mod shape_pulls;

#[cfg(test)]
mod tests;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;

pub use marker_clip::MarkerClip;
pub use options::InvertOptions;

use crate::pose::SurfaceGram;
use crate::{Clip, Interpolation, Rig, RigError, WeightTrack};
use align::Aligner;
use frame_problem::{Frame, FrameProblem, Gram};
use sequence::{Sequence, Solved};
use shape_pulls::{Pull, ShapePulls};

/// A rig made ready to be found in clips.
#[derive(Debug)]
pub struct Inverter<'r> {
    rig: &'r Rig,
    options: InvertOptions,
    areas: Vec<f64>,
    problem: FrameProblem<'r>,
    whole: Gram,
    pulls: ShapePulls,
}

/// The weights of a clip.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inverse {
    /// A key for every frame.
    pub track: WeightTrack,
    /// How each frame is moved as a whole, after its weights; empty where that was not asked for.
    pub motions: Vec<RigidMotion>,
    /// How the solve ended.
    pub report: InverseReport,
}

/// How an inverse ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InverseReport {
    /// For each frame the root mean square distance that is left, over the surface or the markers.
    /// It is a difference of large numbers: below a part in 10⁷ of the frame's motion it is
    /// rounding, and [`Inverter::misses`] tells more.
    pub rms: Vec<f64>,
    /// Sweeps over the clip.
    pub sweeps: usize,
    /// Problems that were linearised and solved, over all frames and sweeps.
    pub linearisations: usize,
    /// The largest change of a weight in the last sweep.
    pub largest_change: f64,
    /// Whether that change came below the tolerance before the sweeps ran out.
    pub converged: bool,
    /// The value of the objective, in squared units of the asset.
    pub objective: f64,
    /// The largest violation of the conditions of optimality in any frame, relative to the largest
    /// force on a slider.
    pub kkt: f64,
}

/// What a frame's weights leave of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Miss {
    /// The root mean square distance over the surface.
    pub rms: f64,
    /// The largest distance.
    pub max: f64,
}

impl<'r> Inverter<'r> {
    /// Does all that depends on the rig only. Declines a rig without targets, numbers that are not
    /// finite, and options outside their range.
    pub fn factor(rig: &'r Rig, options: &InvertOptions) -> Result<Self, RigError> {
        options.check()?;
        if rig.targets().is_empty() {
            return Err(RigError::NoTargets);
        }
        rig.require_finite()?;
        let gram = SurfaceGram::of(rig);
        let everything: Vec<usize> = (0..rig.activation().shape_count()).collect();
        let gram_of_all = gram.whole(&everything);
        let problem = FrameProblem::new(rig, &gram_of_all, options);
        let whole = problem.gram(gram_of_all);
        let pulls = ShapePulls::of(rig, gram.areas());
        Ok(Self {
            rig,
            options: *options,
            areas: gram.areas().to_vec(),
            problem,
            whole,
            pulls,
        })
    }

    /// The weights that make the rig look like each frame of `clip`.
    pub fn invert(&self, clip: &Clip) -> Result<Inverse, RigError> {
        self.check(clip)?;
        let frames: Vec<&[DVec3]> = clip.frames().iter().map(Vec::as_slice).collect();
        if !self.options.align {
            let (pulls, solved) = self.solve(&frames);
            return self.finish(
                &solved,
                &self.frames(&pulls),
                Vec::new(),
                clip.frames_per_second(),
            );
        }
        let (motions, aligned) = Aligner::new(self.rig, &self.areas)
            .align(&frames, |frames| self.weights(&self.solve(frames).1));
        let aligned: Vec<&[DVec3]> = aligned.iter().map(Vec::as_slice).collect();
        let (pulls, solved) = self.solve(&aligned);
        self.finish(
            &solved,
            &self.frames(&pulls),
            motions,
            clip.frames_per_second(),
        )
    }

    /// The weights that bring places on the surface to where markers were seen.
    ///
    /// Markers count equally; those that are not seen in a frame do not count there, and a frame
    /// without any follows from its neighbours.
    pub fn invert_markers(&self, clip: &MarkerClip) -> Result<Inverse, RigError> {
        if self.options.align {
            return Err(RigError::BadOption {
                what: "align",
                value: 1.0,
                needed: "off for markers; remove the head's motion from them first",
            });
        }
        let evidence = clip.evidence(self.rig)?;
        let grams: Vec<Gram> = evidence
            .grams
            .into_iter()
            .map(|matrix| self.problem.gram(matrix))
            .collect();
        let frames: Vec<Frame<'_>> = evidence
            .gram_of
            .iter()
            .zip(&evidence.pulls)
            .map(|(&k, pull)| Frame {
                gram: &grams[k],
                pull,
            })
            .collect();
        let solved =
            Sequence::new(&self.problem, &frames, self.options.roughness).solve(&self.options);
        self.finish(&solved, &frames, Vec::new(), clip.frames_per_second)
    }

    /// What the weights of `inverse` leave of each frame, over the whole surface.
    pub fn misses(&self, clip: &Clip, inverse: &Inverse) -> Result<Vec<Miss>, RigError> {
        self.check(clip)?;
        let keys = inverse.track.keys();
        if keys.len() != clip.frames().len() {
            return Err(RigError::Track {
                what: "keys",
                found: keys.len(),
                expected: clip.frames().len(),
            });
        }
        Ok(parallel::map(keys.len(), 1, |t| {
            self.miss(&keys[t], inverse.motions.get(t), &clip.frames()[t])
        }))
    }

    fn miss(&self, weights: &[f64], motion: Option<&RigidMotion>, frame: &[DVec3]) -> Miss {
        let posed = self
            .rig
            .evaluate(weights)
            .into_iter()
            .map(|p| motion.map_or(p, |m| m.apply(p)));
        let (mut square, mut max) = (0.0, 0.0_f64);
        for ((p, y), area) in posed.zip(frame).zip(&self.areas) {
            let distance = p.distance_squared(*y);
            square += area * distance;
            max = max.max(distance);
        }
        Miss {
            rms: square.sqrt(),
            max: max.sqrt(),
        }
    }

    fn check(&self, clip: &Clip) -> Result<(), RigError> {
        let (found, expected) = (
            clip.reference().vertex_count(),
            self.rig.neutral().vertex_count(),
        );
        if found != expected {
            return Err(RigError::VertexCount {
                what: format!("clip '{}'", clip.name()),
                found,
                expected,
            });
        }
        for (k, frame) in clip.frames().iter().enumerate() {
            if let Some(vertex) = frame.iter().position(|p| !p.is_finite()) {
                return Err(RigError::NotFinite {
                    what: format!("frame {k} of clip '{}'", clip.name()),
                    vertex,
                });
            }
        }
        Ok(())
    }

    fn solve(&self, frames: &[&[DVec3]]) -> (Vec<Pull>, Solved) {
        let pulls = self.pulls.of_frames(frames);
        let solved = Sequence::new(&self.problem, &self.frames(&pulls), self.options.roughness)
            .solve(&self.options);
        (pulls, solved)
    }

    fn frames<'a>(&'a self, pulls: &'a [Pull]) -> Vec<Frame<'a>> {
        pulls
            .iter()
            .map(|pull| Frame {
                gram: &self.whole,
                pull,
            })
            .collect()
    }

    fn weights(&self, solved: &Solved) -> Vec<Vec<f64>> {
        solved.x.iter().map(|x| self.problem.weights(x)).collect()
    }

    fn finish(
        &self,
        solved: &Solved,
        frames: &[Frame<'_>],
        motions: Vec<RigidMotion>,
        rate: f64,
    ) -> Result<Inverse, RigError> {
        let times = (0..frames.len()).map(|t| t as f64 / rate).collect();
        let track = WeightTrack::new(times, self.weights(solved), Interpolation::Linear)?;
        let report = InverseReport {
            rms: frames
                .iter()
                .zip(&solved.x)
                .map(|(frame, x)| self.problem.square_miss(frame, x).sqrt())
                .collect(),
            sweeps: solved.sweeps,
            linearisations: solved.linearisations,
            largest_change: solved.largest_change,
            converged: solved.largest_change <= self.options.tolerance,
            objective: solved.objective,
            kkt: solved.kkt.iter().copied().fold(0.0, f64::max),
        };
        Ok(Inverse {
            track,
            motions,
            report,
        })
    }
}

impl Rig {
    /// The curves of weights that make the rig look like `clip`, with the default options.
    ///
    /// Prepares the rig anew each time; an [`Inverter`] does so once.
    pub fn invert(&self, clip: &Clip) -> Result<Inverse, RigError> {
        Inverter::factor(self, &InvertOptions::default())?.invert(clip)
    }
}
