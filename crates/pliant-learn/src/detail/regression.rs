//! What each example's heights count at places of the control points, and settings that know their
//! own error.
//!
//! **Equation.** With the shares `L` by which the other examples predict each one (in closed form)
//! and the Gram matrix `G = Σ_v w_v h_v h_vᵀ` of the heights, the squared error over all vertices
//! is
//!
//! ```text
//! Σᵢ (eᵢ − Lᵢ)ᵀ G (eᵢ − Lᵢ)
//! ```
//!
//! so that no setting is ever tried on a vertex: 15 × 15 numbers decide. For a blend of regressions
//! the weighted sum of their errors bounds the error of the blend from above.

use pliant_linalg::{Kernel, KernelRidge, median_distance, parallel};
use pliant_mesh::glam::DVec3;

use super::blend::BlendEntry;
use super::cascade::turns;
use super::maps::grams;
use super::options::{DetailMode, DetailOptions, DetailSettings};
use crate::LearnError;
use crate::control_points::Alignment;
use crate::local_frame::LocalFrame;
use crate::workbench::Workbench;

/// Control points in a neighbourhood. *Measured*: on the hand specimen, with 20 points, ten predict
/// left-out heights better by 9 % than seven; on `face-poses` they do not differ.
const NEIGHBORS: usize = 10;
const SHARPNESS: [f64; 3] = [2.0, 5.0, 10.0];
const WIDTHS: [f64; 3] = [1.0, 2.0, 4.0];
/// From examples followed to the letter to nearly their mean, which is the best guess where detail
/// does not follow the pose.
const RIDGES: [f64; 8] = [1e-5, 1e-3, 0.01, 0.03, 0.1, 0.4, 1.6, 6.4];

/// A trained predictor of shares.
#[derive(Debug)]
pub(crate) struct DetailRegression {
    trained_on: Vec<usize>,
    examples: usize,
    source: Source,
    pub(crate) settings: Option<DetailSettings>,
}

#[derive(Debug)]
enum Source {
    /// Always the reference.
    Static,
    /// One regression for each frame.
    Frames(Vec<LocalFrame>, Vec<KernelRidge>),
    Turns(KernelRidge),
}

/// What all examples look like to a kind of regression, whichever of them are trained on.
#[derive(Debug)]
struct Inputs {
    frames: Vec<LocalFrame>,
    /// By regression and example.
    features: Vec<Vec<Vec<f64>>>,
}

impl Inputs {
    fn of_frames(bench: &Workbench, sharpness: Option<f64>) -> Self {
        let frames: Vec<LocalFrame> = match sharpness {
            None => vec![LocalFrame::new(
                &bench.points[0],
                &vec![0.0; bench.control.count()],
                bench.control.count(),
                0.0,
            )],
            Some(sharpness) => {
                let vertices = bench.control.vertices().iter();
                let near =
                    |&v: &u32| &bench.distances[bench.regions.of_vertex[v as usize] as usize];
                vertices
                    .map(|v| LocalFrame::new(&bench.points[0], near(v), NEIGHBORS, sharpness))
                    .collect()
            }
        };
        let see = |frame: &LocalFrame, (points, alignment): (&Vec<DVec3>, &Alignment)| {
            frame.features(points, &frame.place(points, alignment))
        };
        let features = frames.iter().map(|frame| {
            bench
                .points
                .iter()
                .zip(&bench.alignments)
                .map(|one| see(frame, one))
                .collect()
        });
        Self {
            features: features.collect(),
            frames,
        }
    }

    fn of_turns(bench: &Workbench) -> Self {
        let seen = parallel::map(bench.examples.count(), 1, |i| {
            turns(bench, bench.examples.pose(i), &bench.alignments[i])
        });
        Self {
            frames: Vec::new(),
            features: vec![seen],
        }
    }

    fn fit(
        &self,
        trained_on: &[usize],
        width: f64,
        ridge: f64,
    ) -> Result<Vec<KernelRidge>, LearnError> {
        let fit = |features: &Vec<Vec<f64>>| {
            let features: Vec<Vec<f64>> = trained_on.iter().map(|&i| features[i].clone()).collect();
            let width = width * median_distance(&features);
            Ok(KernelRidge::fit(
                features,
                Kernel::Gaussian { width },
                ridge,
            )?)
        };
        self.features.iter().map(fit).collect()
    }
}

/// The heights of all examples as a regression sees them: their Gram matrices.
#[derive(Debug)]
pub(crate) struct HeightGrams {
    examples: usize,
    /// Over all vertices.
    whole: Vec<Vec<f64>>,
    /// Around each control point; empty where none is asked for.
    parts: Vec<Vec<f64>>,
}

impl HeightGrams {
    /// With a blend, also those around each of `models` control points.
    pub(crate) fn of(heights: &[Vec<f32>], blend: Option<&[BlendEntry]>, models: usize) -> Self {
        let parts = blend.map_or(Vec::new(), |blend| grams(heights, Some(blend), models));
        Self {
            examples: heights.len(),
            whole: grams(heights, None, 1),
            parts,
        }
    }

    fn for_regressions(&self, count: usize) -> &[Vec<f64>] {
        if count == 1 { &self.whole } else { &self.parts }
    }

    /// The squared error of each example but the reference, predicted by the others.
    pub(super) fn left_out_squares(&self, fits: &[KernelRidge], trained_on: &[usize]) -> Vec<f64> {
        let mut squares = vec![0.0; trained_on.len()];
        for (fit, gram) in fits.iter().zip(self.for_regressions(fits.len())) {
            let shares = fit.leave_one_out_shares();
            (0..shares.len())
                .filter(|&k| trained_on[k] != 0)
                .for_each(|k| squares[k] += self.square_of(k, &shares[k], gram, trained_on));
        }
        squares
    }

    fn square_of(&self, k: usize, shares: &[f64], gram: &[f64], trained_on: &[usize]) -> f64 {
        let rest = |j: usize| if j == k { 1.0 } else { -shares[j] };
        let line = |i: usize| {
            (0..shares.len())
                .map(|j| gram[trained_on[i] * self.examples + trained_on[j]] * rest(j))
                .sum::<f64>()
        };
        (0..shares.len()).map(|i| rest(i) * line(i)).sum()
    }
}

impl DetailRegression {
    /// Trains on some examples, with settings chosen from them alone where none are given.
    pub(crate) fn train(
        bench: &Workbench,
        grams: &HeightGrams,
        trained_on: &[usize],
        options: &DetailOptions,
    ) -> Result<Self, LearnError> {
        let examples = bench.examples.count();
        let made = |source, settings| Self {
            trained_on: trained_on.to_vec(),
            examples,
            source,
            settings,
        };
        if options.mode() == DetailMode::Static {
            return Ok(made(Source::Static, None));
        }
        let given = options.settings();
        given.map_or(Ok(()), |settings| settings.check())?;
        if options.mode() == DetailMode::Cascaded {
            let inputs = Inputs::of_turns(bench);
            let (mut fits, _, settings) = best_fit(&inputs, grams, trained_on, None, given)?;
            return Ok(made(Source::Turns(fits.remove(0)), Some(settings)));
        }
        let reaches: Vec<Option<f64>> = match (given, options.mode()) {
            (_, DetailMode::Direct) => vec![None],
            (Some(settings), _) => vec![settings.sharpness],
            _ => std::iter::once(None).chain(SHARPNESS.map(Some)).collect(),
        };
        let mut best: Option<(f64, Self)> = None;
        for sharpness in reaches {
            let inputs = Inputs::of_frames(bench, sharpness);
            let (fits, error, settings) = best_fit(&inputs, grams, trained_on, sharpness, given)?;
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((
                    error,
                    made(Source::Frames(inputs.frames, fits), Some(settings)),
                ));
            }
        }
        Ok(best.expect("at least one reach was tried").1)
    }

    /// What all examples look like, by regression and example.
    #[cfg(test)]
    pub(super) fn features(bench: &Workbench, sharpness: Option<f64>) -> Vec<Vec<Vec<f64>>> {
        Inputs::of_frames(bench, sharpness).features
    }

    /// Whether vertices blend the regressions of several control points.
    pub(crate) fn is_blended(&self) -> bool {
        matches!(&self.source, Source::Frames(frames, _) if frames.len() > 1)
    }

    /// For each regression what every example counts; those that were not trained on count nothing.
    pub(crate) fn shares(
        &self,
        bench: &Workbench,
        control: &[DVec3],
        base: &[DVec3],
    ) -> Vec<Vec<f32>> {
        let alignment = || Alignment::of(&bench.points[0], control);
        match &self.source {
            Source::Static => vec![
                (0..self.examples)
                    .map(|i| if i == 0 { 1.0 } else { 0.0 })
                    .collect(),
            ],
            Source::Turns(fit) => vec![self.spread(&fit.shares(&turns(bench, base, &alignment())))],
            Source::Frames(frames, fits) => {
                let alignment = alignment();
                let see =
                    |frame: &LocalFrame| frame.features(control, &frame.place(control, &alignment));
                frames
                    .iter()
                    .zip(fits)
                    .map(|(frame, fit)| self.spread(&fit.shares(&see(frame))))
                    .collect()
            }
        }
    }

    fn spread(&self, shares: &[f64]) -> Vec<f32> {
        let mut all = vec![0.0; self.examples];
        self.trained_on
            .iter()
            .zip(shares)
            .for_each(|(&example, &share)| all[example] = share as f32);
        all
    }
}

/// The fit whose left-out error is least, that error, and its settings; or the one with the
/// settings that are `given`.
fn best_fit(
    inputs: &Inputs,
    grams: &HeightGrams,
    trained_on: &[usize],
    sharpness: Option<f64>,
    given: Option<DetailSettings>,
) -> Result<(Vec<KernelRidge>, f64, DetailSettings), LearnError> {
    if let Some(settings) = given {
        let settings = DetailSettings {
            sharpness,
            ..settings
        };
        return Ok((
            inputs.fit(trained_on, settings.width, settings.ridge)?,
            0.0,
            settings,
        ));
    }
    let mut best: Option<(Vec<KernelRidge>, f64, DetailSettings)> = None;
    for width in WIDTHS {
        // One decomposition serves every ridge.
        let whole = inputs.fit(trained_on, width, 1.0)?;
        for ridge in RIDGES {
            let fits: Vec<KernelRidge> = whole
                .iter()
                .map(|fit| fit.clone().with_absolute_ridge(fit.ridge() * ridge))
                .collect();
            // The mean RMS of poses, as they are judged: one extreme pose does not decide for all.
            let error = grams
                .left_out_squares(&fits, trained_on)
                .iter()
                .map(|square| square.max(0.0).sqrt())
                .sum();
            if best.as_ref().is_none_or(|(_, least, _)| error < *least) {
                best = Some((
                    fits,
                    error,
                    DetailSettings {
                        sharpness,
                        width,
                        ridge,
                    },
                ));
            }
        }
    }
    Ok(best.expect("the lists of settings are not empty"))
}
