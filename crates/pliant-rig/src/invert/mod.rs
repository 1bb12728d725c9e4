//! The inverse rig: slider weights from positions of a clip or of markers.
//!
//! **Problem.** A capture or a simulation gives positions; an animator needs the slider weights
//! that reproduce them, within the limits, few at a time and smooth over time, so that the result
//! can be edited.
//!
//! **Equation.** Over the weights `wₜ` of all frames, with areas `a`, shapes `δ`, their
//! coefficients `φ(w)` and `x = g w` in units of moved surface:
//!
//! ```text
//! min  Σₜ ½ Σᵥ aᵥ |n + Σₛ φₛ(wₜ) δₛ − yₜ|²  +  ½ ρ |xₜ|²  +  λ γ |xₜ|₁  +  ½ μ Σₜ |xₜ₋₁ − 2xₜ + xₜ₊₁|²       l ≤ wₜ ≤ u
//! ```
//!
//! **Source.** The fit with products of sliders inside limits is that of Racković, Soares,
//! Jakovetić and Desnica, "Accurate and interpretable solution of the inverse rig for realistic
//! blendshape models with quadratic corrective terms", 2023, who use coordinate descent on the
//! vertices.
//!
//! **Departures.** Whole meshes are read once, for the projection of each frame onto each shape
//! (`shape_projections`); after that all matrices have the size of the rig (`frame_problem`).
//! Penalties are on moved surface, so that neither units nor the scale of a slider matter. The
//! penalty on second differences couples the frames (`sequence`). Every solve certifies its KKT
//! residual. Locked sliders stay at rest.
//!
//! - [`Inverter`], [`Inverse`], [`InverseReport`], [`FitError`]: the solve and its result.
//! - [`InvertOptions`]: penalties and tolerances.
//! - [`MarkerClip`]: markers instead of a whole surface.
//! - `align`: rigid motion of the frames.
//! - `frame_problem`, `sequence`: the problem of one frame and of all frames.
//! - `shape_projections`: projections of the frames onto the shapes.

mod align;
mod frame_problem;
mod marker_clip;
mod options;
mod sequence;
mod shape_projections;

#[cfg(test)]
mod tests;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;

pub use marker_clip::MarkerClip;
pub use options::InvertOptions;

use crate::model::SurfaceGram;
use crate::{Clip, Interpolation, Rig, RigError, WeightTrack};
use align::Aligner;
use frame_problem::{Frame, FrameProblem, Gram};
use sequence::{Sequence, Solved};
use shape_projections::{FrameProjection, ShapeProjections};

/// A rig prepared for the inverse problem.
#[derive(Debug)]
pub struct Inverter<'r> {
    rig: &'r Rig,
    options: InvertOptions,
    areas: Vec<f64>,
    problem: FrameProblem<'r>,
    whole: Gram,
    shapes: ShapeProjections,
}

/// The weights of a clip.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inverse {
    /// A key for every frame.
    pub track: WeightTrack,
    /// The rigid motion of each frame, applied after its weights; empty without alignment.
    pub motions: Vec<RigidMotion>,
    /// How the solve ended.
    pub report: InverseReport,
}

/// How an inverse ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InverseReport {
    /// For each frame the root mean square error over the surface or the markers. It is a
    /// difference of large numbers: below a part in 10⁷ of the motion of the frame it is rounding,
    /// and [`Inverter::fit_errors`] is more accurate.
    pub rms: Vec<f64>,
    /// Sweeps over the clip.
    pub sweeps: usize,
    /// Linearised problems that were solved, over all frames and sweeps.
    pub linearisations: usize,
    /// The largest change of a weight in the last sweep.
    pub largest_change: f64,
    /// Whether that change is within the tolerance.
    pub converged: bool,
    /// The value of the objective, in squared units of the asset.
    pub objective: f64,
    /// The largest KKT residual of any frame, relative to the largest force on a slider.
    pub kkt: f64,
}

/// The distance between a frame and the rig at its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitError {
    /// The root mean square distance over the surface.
    pub rms: f64,
    /// The largest distance.
    pub max: f64,
}

impl<'r> Inverter<'r> {
    /// Computes all that depends only on the rig.
    ///
    /// # Errors
    /// [`RigError::NoTargets`], [`RigError::NotFinite`], or [`RigError::BadOption`] for an option
    /// outside its range.
    pub fn factor(rig: &'r Rig, options: &InvertOptions) -> Result<Self, RigError> {
        options.check()?;
        if rig.targets().is_empty() {
            return Err(RigError::NoTargets);
        }

        rig.require_finite()?;
        let gram = SurfaceGram::of(rig);
        let all_shapes: Vec<usize> = (0..rig.activation().shape_count()).collect();
        let matrix = gram.whole(&all_shapes);
        let problem = FrameProblem::new(rig, &matrix, options);
        let whole = problem.gram(matrix);

        Ok(Self {
            rig,
            options: *options,
            areas: gram.areas().to_vec(),
            problem,
            whole,
            shapes: ShapeProjections::of(rig, gram.areas()),
        })
    }

    /// The weights that reproduce each frame of `clip`.
    pub fn invert(&self, clip: &Clip) -> Result<Inverse, RigError> {
        self.check(clip)?;
        let frames: Vec<&[DVec3]> = clip.frames().iter().map(Vec::as_slice).collect();
        let rate = clip.frames_per_second();
        if !self.options.align {
            let (projections, solved) = self.solve(&frames);
            return self.inverse(&solved, &self.frames(&projections), Vec::new(), rate);
        }

        let aligner = Aligner::new(self.rig, &self.areas);
        let (motions, aligned) =
            aligner.align(&frames, |frames| self.weights(&self.solve(frames).1));
        let aligned: Vec<&[DVec3]> = aligned.iter().map(Vec::as_slice).collect();
        let (projections, solved) = self.solve(&aligned);

        self.inverse(&solved, &self.frames(&projections), motions, rate)
    }

    /// The weights that bring surface points to the positions of markers.
    ///
    /// All markers have the same weight. A marker that is not seen in a frame does not count there;
    /// a frame without markers follows from its neighbours.
    pub fn invert_markers(&self, clip: &MarkerClip) -> Result<Inverse, RigError> {
        if self.options.align {
            return Err(RigError::BadOption {
                what: "align",
                value: 1.0,
                needed: "off for markers; remove the head's motion from them first",
            });
        }

        // Frames with the same set of markers share a matrix.
        let matrices = clip.matrices(self.rig)?;
        let mut grams = Vec::with_capacity(matrices.grams.len());
        for matrix in matrices.grams {
            grams.push(self.problem.gram(matrix));
        }
        let mut frames = Vec::with_capacity(matrices.gram_of.len());
        for (&k, projection) in matrices.gram_of.iter().zip(&matrices.projections) {
            frames.push(Frame {
                gram: &grams[k],
                projection,
            });
        }

        let sequence = Sequence::new(&self.problem, &frames, self.options.roughness);
        let solved = sequence.solve(&self.options);
        self.inverse(&solved, &frames, Vec::new(), clip.frames_per_second)
    }

    /// The error of each frame at the weights of `inverse`, over the whole surface.
    pub fn fit_errors(&self, clip: &Clip, inverse: &Inverse) -> Result<Vec<FitError>, RigError> {
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
            self.fit_error(&keys[t], inverse.motions.get(t), &clip.frames()[t])
        }))
    }

    fn fit_error(
        &self,
        weights: &[f64],
        motion: Option<&RigidMotion>,
        frame: &[DVec3],
    ) -> FitError {
        let mut mean_square = 0.0;
        let mut largest_square = 0.0_f64;
        for (v, position) in self.rig.evaluate(weights).into_iter().enumerate() {
            let posed = motion.map_or(position, |m| m.apply(position));
            let square = posed.distance_squared(frame[v]);
            mean_square += self.areas[v] * square;
            largest_square = largest_square.max(square);
        }

        FitError {
            rms: mean_square.sqrt(),
            max: largest_square.sqrt(),
        }
    }

    fn check(&self, clip: &Clip) -> Result<(), RigError> {
        let found = clip.reference().vertex_count();
        let expected = self.rig.neutral().vertex_count();
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

    fn solve(&self, frames: &[&[DVec3]]) -> (Vec<FrameProjection>, Solved) {
        let projections = self.shapes.of_frames(frames);
        let frames = self.frames(&projections);
        let sequence = Sequence::new(&self.problem, &frames, self.options.roughness);
        let solved = sequence.solve(&self.options);
        (projections, solved)
    }

    fn frames<'a>(&'a self, projections: &'a [FrameProjection]) -> Vec<Frame<'a>> {
        projections
            .iter()
            .map(|projection| Frame {
                gram: &self.whole,
                projection,
            })
            .collect()
    }

    fn weights(&self, solved: &Solved) -> Vec<Vec<f64>> {
        solved.x.iter().map(|x| self.problem.weights(x)).collect()
    }

    fn inverse(
        &self,
        solved: &Solved,
        frames: &[Frame<'_>],
        motions: Vec<RigidMotion>,
        rate: f64,
    ) -> Result<Inverse, RigError> {
        // One key for every frame.
        let times = (0..frames.len()).map(|t| t as f64 / rate).collect();
        let track = WeightTrack::new(times, self.weights(solved), Interpolation::Linear)?;
        let mut rms = Vec::with_capacity(frames.len());
        for (frame, x) in frames.iter().zip(&solved.x) {
            rms.push(self.problem.squared_error(frame, x).sqrt());
        }

        let report = InverseReport {
            rms,
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
    /// The weight curves that reproduce `clip`, with the default options.
    ///
    /// This prepares the rig with every call; an [`Inverter`] does so once.
    pub fn invert(&self, clip: &Clip) -> Result<Inverse, RigError> {
        Inverter::factor(self, &InvertOptions::default())?.invert(clip)
    }
}
