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
//! min  Σₜ ½ Σᵥ aᵥ |n + Σₛ φₛ(wₜ) δₛ − yₜ|²  +  ½ ρ |xₜ|²  +  λ γ |xₜ|₁  +  ½ Σₖ μₖ (xₜ₋₁ − 2xₜ + xₜ₊₁)²ₖ       l ≤ wₜ ≤ u
//! ```
//!
//! The noise of the clip is estimated from the clip (`noise`). The measure `a`, the penalty `λ` and
//! the penalties `μₖ` of the curves follow from it (`smoothing`), unless the options fix `λ` and
//! `μ`; without noise the weights of a planted clip come back exactly.
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
//! - `other_rig`: a performance on another rig instead of a clip; [`ContactGaps`]: contacts in it.
//! - `align`: rigid motion of the frames.
//! - `noise`, `smoothing`: the noise of the clip, and the penalties that follow from it.
//! - `restarts`: further starts of frames with in-betweens and combinations.
//! - `frame_problem`, `sequence`: the problem of one frame and of all frames.
//! - `shape_projections`: projections of the frames onto the shapes.

mod align;
mod contacts;
mod frame_problem;
mod marker_clip;
mod noise;
mod options;
mod other_rig;
mod restarts;
mod sequence;
mod shape_projections;
mod smoothing;

#[cfg(test)]
mod tests;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Progress, ProgressPart, Stopped};

pub use contacts::ContactGaps;
pub use marker_clip::MarkerClip;
pub use options::InvertOptions;

use crate::model::SurfaceGram;
use crate::{Clip, Interpolation, Rig, RigError, WeightTrack};
use align::Aligner;
use frame_problem::{Frame, FrameProblem, Gram};
use marker_clip::MarkerMatrices;
use noise::{Noise, Span, Window};
use sequence::{Sequence, Solved};
use shape_projections::ShapeProjections;
use smoothing::with_roughness_from_noise;

/// A rig prepared for the inverse problem.
#[derive(Debug)]
pub struct Inverter {
    rig: Rig,
    options: InvertOptions,
    surface: SurfaceGram,
    problem: FrameProblem,
    /// Over the whole surface, by area.
    whole: Gram,
    shapes: ShapeProjections,
}

/// A solved clip and the data that it was solved for.
struct SolvedClip {
    solved: Solved,
    /// The root mean square error of each frame.
    rms: Vec<f64>,
    penalties: ClipPenalties,
}

/// The noise that was found, and the penalties that were used.
#[derive(Debug, Clone, PartialEq)]
struct ClipPenalties {
    noise: Option<Noise>,
    sparsity: f64,
    roughness: Vec<f64>,
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
    /// For each frame the root mean square error in the measure of the fit: over the markers, over
    /// the surface, or over the vertices of a noisy clip. It is a difference of large numbers: below
    /// a part in 10⁷ of the motion of the frame it is rounding, and [`Inverter::fit_errors`] is
    /// more accurate.
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
    /// The noise of the clip: the standard deviation of one coordinate, in units of the asset;
    /// `None` if penalties were given or the clip has fewer than three frames.
    pub noise: Option<f64>,
    /// The penalty λ on each moved slider.
    pub sparsity: f64,
    /// The median of the penalties μ on the curves of the sliders.
    pub roughness: f64,
}

/// The distance between a frame and the rig at its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitError {
    /// The root mean square distance over the surface.
    pub rms: f64,
    /// The largest distance.
    pub max: f64,
}

impl Inverter {
    /// Computes all that depends only on the rig.
    ///
    /// # Errors
    /// [`RigError::NoTargets`], [`RigError::NotFinite`], or [`RigError::BadOption`] for an option
    /// outside its range.
    pub fn factor(rig: &Rig, options: &InvertOptions) -> Result<Self, RigError> {
        options.check()?;
        if rig.targets().is_empty() {
            return Err(RigError::NoTargets);
        }

        rig.require_finite()?;
        let surface = SurfaceGram::of(rig);
        let all_shapes: Vec<usize> = (0..rig.activation().shape_count()).collect();
        let matrix = surface.whole(&all_shapes);
        let problem = FrameProblem::new(rig, &matrix, options);
        let whole = problem.gram(matrix);

        Ok(Self {
            rig: rig.clone(),
            options: *options,
            surface,
            problem,
            whole,
            shapes: ShapeProjections::of(rig),
        })
    }

    /// The weights that reproduce each frame of `clip`.
    pub fn invert(&self, clip: &Clip) -> Result<Inverse, RigError> {
        self.invert_with_progress(clip, &())
    }

    /// As [`invert`](Self::invert), reporting to `progress`.
    ///
    /// # Errors
    /// As [`invert`](Self::invert), and [`RigError::Stopped`] if `progress` asks for it.
    pub fn invert_with_progress(
        &self,
        clip: &Clip,
        progress: &dyn Progress,
    ) -> Result<Inverse, RigError> {
        self.check(clip)?;
        let frames: Vec<&[DVec3]> = clip.frames().iter().map(Vec::as_slice).collect();
        let rate = clip.frames_per_second();
        if !self.options.align {
            return self.inverse(self.solve(&frames, progress)?, Vec::new(), rate);
        }

        let [aligning, solving] = parts(progress, 0.5);
        let aligner = Aligner::new(&self.rig, self.surface.areas());
        let (motions, aligned) = aligner.align(&frames, |frames, done| {
            let alternation = ProgressPart {
                whole: &aligning,
                begin: done,
                size: 1.0 / Aligner::MOST_ALTERNATIONS as f64,
            };
            self.independent_weights(frames, &alternation)
        })?;
        let aligned: Vec<&[DVec3]> = aligned.iter().map(Vec::as_slice).collect();
        self.inverse(self.solve(&aligned, &solving)?, motions, rate)
    }

    /// The weights that bring surface points to the positions of markers.
    ///
    /// All markers have the same weight. A marker that is not seen in a frame does not count there;
    /// a frame without markers follows from its neighbours.
    pub fn invert_markers(&self, clip: &MarkerClip) -> Result<Inverse, RigError> {
        self.invert_markers_with_progress(clip, &())
    }

    /// As [`invert_markers`](Self::invert_markers), reporting to `progress`.
    ///
    /// # Errors
    /// As [`invert_markers`](Self::invert_markers), and [`RigError::Stopped`] if `progress` asks for
    /// it.
    pub fn invert_markers_with_progress(
        &self,
        clip: &MarkerClip,
        progress: &dyn Progress,
    ) -> Result<Inverse, RigError> {
        if self.options.align {
            return Err(RigError::BadOption {
                what: "align",
                value: 1.0,
                needed: "off for markers; remove the head's motion from them first",
            });
        }

        // Frames with the same set of markers share a matrix.
        let matrices = clip.matrices(&self.rig)?;
        let noise = self.noise_of_markers(clip, &matrices)?;
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

        // The force of independent noise on a slider, from the mean over the markers.
        let force = noise.map_or(0.0, |noise| noise.deviation) / (clip.at.len() as f64).sqrt();
        let solved = self.solve_frames(&frames, noise, force, progress)?;
        self.inverse(solved, Vec::new(), clip.frames_per_second)
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
        let areas = self.surface.areas();
        let mut mean_square = 0.0;
        let mut largest_square = 0.0_f64;
        for (v, position) in self.rig.evaluate(weights).into_iter().enumerate() {
            let posed = motion.map_or(position, |m| m.apply(position));
            let square = posed.distance_squared(frame[v]);
            mean_square += areas[v] * square;
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

    /// The weights of a clip in the measure that its noise asks for.
    fn solve(&self, frames: &[&[DVec3]], progress: &dyn Progress) -> Result<SolvedClip, RigError> {
        let [projecting, solving] = parts(progress, 0.3);
        let noise = self.noise_of(frames)?;
        let share = noise.map_or(0.0, |noise| noise.vertex_share());
        let measure = self.measure(share);
        let projections = self.shapes.of_frames(frames, &measure, &projecting)?;

        let mixed;
        let gram = if share == 0.0 {
            &self.whole
        } else {
            mixed = self.problem.gram(self.gram_in(&measure));
            &mixed
        };

        let mut data = Vec::with_capacity(projections.len());
        for projection in &projections {
            data.push(Frame { gram, projection });
        }
        let squares: f64 = measure.iter().map(|a| a * a).sum();
        let force = noise.map_or(0.0, |noise| noise.deviation) * squares.sqrt();
        self.solve_frames(&data, noise, force, &solving)
    }

    /// The weights of frames; `force` is the standard deviation of the force of the noise on a
    /// slider.
    fn solve_frames(
        &self,
        frames: &[Frame<'_>],
        noise: Option<Noise>,
        force: f64,
        progress: &dyn Progress,
    ) -> Result<SolvedClip, RigError> {
        let typical = self.problem.typical;
        let problem = match (self.options.sparsity, noise) {
            (None, noise) => {
                let noise = noise.unwrap_or_default();
                self.problem.with_penalty(noise.penalty(force, typical))
            }
            (Some(sparsity), _) => self.problem.with_penalty(sparsity * typical),
        };

        let fixed = self.options.roughness.unwrap_or(0.0);
        let mut sequence = Sequence::new(&problem, frames, vec![fixed; problem.size()], progress);
        let explained = noise.map_or(0.0, |noise| noise.explained());
        let mut start = sequence.start(explained)?;
        if self.options.roughness.is_none() && frames.len() > 2 && force > 0.0 {
            sequence = with_roughness_from_noise(sequence, &mut start, force)?;
        }
        let solved = sequence.finish(start, &self.options)?;

        let mut rms = Vec::with_capacity(frames.len());
        for (frame, x) in frames.iter().zip(&solved.x) {
            rms.push(problem.squared_error(frame, x).sqrt());
        }
        Ok(SolvedClip {
            solved,
            rms,
            penalties: ClipPenalties {
                noise,
                sparsity: problem.penalty / typical.max(f64::MIN_POSITIVE),
                roughness: sequence.roughness().to_vec(),
            },
        })
    }

    /// The weights of frames without coupling, while their rigid motions are fitted.
    fn independent_weights(
        &self,
        frames: &[&[DVec3]],
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<f64>>, Stopped> {
        /// *Chosen*: the motions need no small weights.
        const SPARSITY: f64 = 1e-4;

        let sparsity = self.options.sparsity.unwrap_or(SPARSITY);
        let problem = self.problem.with_penalty(sparsity * self.problem.typical);
        let [projecting, solving] = parts(progress, 0.5);
        let areas = self.surface.areas();
        let projections = self.shapes.of_frames(frames, areas, &projecting)?;
        let mut data = Vec::with_capacity(projections.len());
        for projection in &projections {
            data.push(Frame {
                gram: &self.whole,
                projection,
            });
        }

        let roughness = vec![0.0; problem.size()];
        let solved = Sequence::new(&problem, &data, roughness, &solving).start(0.0)?;
        Ok(solved.x.iter().map(|x| problem.weights(x)).collect())
    }

    /// Whether a penalty follows from the noise.
    fn needs_noise(&self) -> bool {
        self.options.roughness.is_none() || self.options.sparsity.is_none()
    }

    /// The noise of a clip, from up to two dozen places; `None` if nothing depends on it, or if it
    /// has fewer than three frames.
    fn noise_of(&self, frames: &[&[DVec3]]) -> Result<Option<Noise>, RigError> {
        let middles = Noise::middles(frames.len());
        if middles.is_empty() || !self.needs_noise() {
            return Ok(None);
        }

        // The second difference of a window is projected as a frame of its own.
        let neutral = self.rig.neutral().positions();
        let differences = parallel::map(middles.len(), 1, |k| {
            let t = middles[k];
            let mut moved = neutral.to_vec();
            for (v, position) in moved.iter_mut().enumerate() {
                *position += frames[t - 1][v] - 2.0 * frames[t][v] + frames[t + 1][v];
            }
            moved
        });

        let areas = self.surface.areas();
        let measure = [areas.iter().sum(), areas.iter().map(|a| a * a).sum()];
        let borrowed: Vec<&[DVec3]> = differences.iter().map(Vec::as_slice).collect();
        let second_differences = self.shapes.of_frames(&borrowed, areas, &())?;
        let middle_frames: Vec<&[DVec3]> = middles.iter().map(|&t| frames[t]).collect();

        let mut windows = Vec::with_capacity(middles.len());
        let projections = self.shapes.of_frames(&middle_frames, areas, &())?;
        for (second_difference, middle) in second_differences.into_iter().zip(projections) {
            windows.push(Window {
                second_difference,
                middle,
                measure,
            });
        }

        let span = Span::of(self.whole.matrix())?;
        Ok(Some(Noise::of(&windows, |_| &span)))
    }

    fn noise_of_markers(
        &self,
        clip: &MarkerClip,
        matrices: &MarkerMatrices,
    ) -> Result<Option<Noise>, RigError> {
        if !self.needs_noise() {
            return Ok(None);
        }
        let (windows, grams) = clip.windows(matrices);
        if windows.is_empty() {
            return Ok(None);
        }

        let mut spans = Vec::with_capacity(matrices.grams.len());
        for gram in &matrices.grams {
            spans.push(Span::of(gram)?);
        }
        Ok(Some(Noise::of(&windows, |k| &spans[grams[k]])))
    }

    /// The measure of the fit: areas, with the share `share` of equal weights for all vertices that
    /// have one.
    fn measure(&self, share: f64) -> Vec<f64> {
        let areas = self.surface.areas();
        let count = areas.iter().filter(|area| **area > 0.0).count().max(1) as f64;
        let mixed = |area: &f64| match *area {
            0.0 => 0.0,
            area => (1.0 - share) * area + share / count,
        };
        areas.iter().map(mixed).collect()
    }

    /// The Gram matrix of all shapes in a measure that vanishes where the areas do.
    fn gram_in(&self, measure: &[f64]) -> Vec<f64> {
        let mut masks = Vec::with_capacity(measure.len());
        for (v, (a, area)) in measure.iter().zip(self.surface.areas()).enumerate() {
            if *area > 0.0 {
                masks.push((v as u32, a / area));
            }
        }
        let all_shapes: Vec<usize> = (0..self.rig.activation().shape_count()).collect();
        self.surface.over(&masks, &all_shapes)
    }

    fn inverse(
        &self,
        clip: SolvedClip,
        motions: Vec<RigidMotion>,
        rate: f64,
    ) -> Result<Inverse, RigError> {
        let SolvedClip {
            solved,
            rms,
            penalties,
        } = clip;

        // One key for every frame.
        let times = (0..solved.x.len()).map(|t| t as f64 / rate).collect();
        let weights = solved.x.iter().map(|x| self.problem.weights(x)).collect();
        let track = WeightTrack::new(times, weights, Interpolation::Linear)?;

        let mut roughness = penalties.roughness;
        roughness.sort_by(f64::total_cmp);
        let report = InverseReport {
            rms,
            sweeps: solved.sweeps,
            linearisations: solved.linearisations,
            largest_change: solved.largest_change,
            converged: solved.largest_change <= self.options.tolerance,
            objective: solved.objective,
            kkt: solved.kkt.iter().copied().fold(0.0, f64::max),
            noise: penalties.noise.map(|noise| noise.deviation),
            sparsity: penalties.sparsity,
            roughness: roughness.get(roughness.len() / 2).copied().unwrap_or(0.0),
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

/// Two parts of one work: the first until the share `border`.
fn parts(whole: &dyn Progress, border: f64) -> [ProgressPart<'_>; 2] {
    [(0.0, border), (border, 1.0 - border)].map(|(begin, size)| ProgressPart { whole, begin, size })
}
