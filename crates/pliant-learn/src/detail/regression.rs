//! Kernel ridge regression of detail heights, with hyper-parameters chosen by leave-one-out error.
//!
//! **Equation.** With the weights `L` of the other examples in the prediction of each one (in
//! closed form) and the Gram matrix `G = Σ_v w_v h_v h_vᵀ` of the heights, the squared error over
//! all vertices is
//!
//! ```text
//! Σᵢ (eᵢ − Lᵢ)ᵀ G (eᵢ − Lᵢ)
//! ```
//!
//! The selection thus needs a 15 × 15 matrix instead of all vertices. For a blend of regressions,
//! the weighted sum of their errors is an upper bound of the error of the blend.

use pliant_linalg::{Kernel, KernelRidge, median_distance, parallel};
use pliant_mesh::glam::DVec3;

use super::blend::BlendEntry;
use super::maps::grams;
use super::options::{DetailMode, DetailOptions, DetailSettings};
use super::region_rotations::region_rotations;
use crate::LearnError;
use crate::control::{Alignment, LocalFrame};
use crate::training::TrainingData;

/// Control points in a neighbourhood. *Measured*: on the hand specimen, with 20 points, ten predict
/// left-out heights better by 9 % than seven; on `face-poses` they do not differ.
const NEIGHBORS: usize = 10;

const SHARPNESS: [f64; 3] = [2.0, 5.0, 10.0];
const WIDTHS: [f64; 3] = [1.0, 2.0, 4.0];
/// From interpolation of the examples to nearly their mean, which is the best prediction where
/// detail does not depend on the pose.
const RIDGES: [f64; 8] = [1e-5, 1e-3, 0.01, 0.03, 0.1, 0.4, 1.6, 6.4];

/// A trained predictor of example weights.
#[derive(Debug)]
pub(crate) struct DetailRegression {
    trained_on: Vec<usize>,
    examples: usize,
    source: Source,
    pub(crate) settings: Option<DetailSettings>,
}

/// The features that heights are predicted from.
#[derive(Debug)]
enum Source {
    /// None: always the heights of the reference.
    Static,
    /// Control points, with one regression for each local frame.
    Frames(Vec<LocalFrame>, Vec<KernelRidge>),
    /// Rotations of the regions of the base.
    Rotations(KernelRidge),
}

/// Features of all examples, whether or not a training uses them.
#[derive(Debug)]
struct Inputs {
    frames: Vec<LocalFrame>,
    /// By regression and example.
    features: Vec<Vec<Vec<f64>>>,
}

/// A fitted regression with its leave-one-out error.
struct Fitted {
    regressions: Vec<KernelRidge>,
    error: f64,
    settings: DetailSettings,
}

impl Inputs {
    /// Control points in the frame of each control point's neighbourhood; without a sharpness, in
    /// one frame of all points.
    fn of_frames(data: &TrainingData, sharpness: Option<f64>) -> Self {
        // One frame of all points is the direct mode of Huang et al. 2012.
        let rest = &data.points[0];
        let frames: Vec<LocalFrame> = match sharpness {
            None => {
                let count = data.control.count();
                vec![LocalFrame::new(rest, &vec![0.0; count], count, 0.0)]
            }
            Some(sharpness) => {
                let mut frames = Vec::with_capacity(data.control.count());
                for &v in data.control.vertices() {
                    let region = data.regions.of_vertex[v as usize] as usize;
                    let distances = &data.distances[region];
                    frames.push(LocalFrame::new(rest, distances, NEIGHBORS, sharpness));
                }
                frames
            }
        };

        let mut features = Vec::with_capacity(frames.len());
        for frame in &frames {
            let examples = data.points.iter().zip(&data.alignments);
            let of_frame = examples.map(|(points, alignment)| {
                let pose = frame.fit(points, alignment);
                frame.features(points, &pose)
            });
            features.push(of_frame.collect());
        }
        Self { features, frames }
    }

    fn of_rotations(data: &TrainingData) -> Self {
        let features = parallel::map(data.examples.count(), 1, |i| {
            region_rotations(data, data.examples.pose(i), &data.alignments[i])
        });
        Self {
            frames: Vec::new(),
            features: vec![features],
        }
    }

    fn fit(
        &self,
        trained_on: &[usize],
        width: f64,
        ridge: f64,
    ) -> Result<Vec<KernelRidge>, LearnError> {
        let mut regressions = Vec::with_capacity(self.features.len());
        for all in &self.features {
            let features: Vec<Vec<f64>> = trained_on.iter().map(|&i| all[i].clone()).collect();
            let width = width * median_distance(&features);
            let kernel = Kernel::Gaussian { width };
            regressions.push(KernelRidge::fit(features, kernel, ridge)?);
        }
        Ok(regressions)
    }
}

/// Gram matrices of the heights of all examples.
#[derive(Debug)]
pub(crate) struct HeightGrams {
    examples: usize,
    /// Over all vertices.
    whole: Vec<Vec<f64>>,
    /// Around each control point; empty without a blend.
    parts: Vec<Vec<f64>>,
}

impl HeightGrams {
    /// With a blend, also the matrices around each of `models` control points.
    pub(crate) fn of(heights: &[Vec<f32>], blend: Option<&[BlendEntry]>, models: usize) -> Self {
        let parts = match blend {
            Some(_) => grams(heights, blend, models),
            None => Vec::new(),
        };
        Self {
            examples: heights.len(),
            whole: grams(heights, None, 1),
            parts,
        }
    }

    fn for_regressions(&self, count: usize) -> &[Vec<f64>] {
        if count == 1 { &self.whole } else { &self.parts }
    }

    /// The squared error of each example except the reference, predicted from the others.
    pub(super) fn left_out_squares(&self, fits: &[KernelRidge], trained_on: &[usize]) -> Vec<f64> {
        let mut squares = vec![0.0; trained_on.len()];
        for (fit, gram) in fits.iter().zip(self.for_regressions(fits.len())) {
            for (k, weights) in fit.leave_one_out_shares().iter().enumerate() {
                if trained_on[k] != 0 {
                    squares[k] += self.squared_error(k, weights, gram, trained_on);
                }
            }
        }
        squares
    }

    /// `(eₖ − Lₖ)ᵀ G (eₖ − Lₖ)`.
    fn squared_error(&self, k: usize, weights: &[f64], gram: &[f64], trained_on: &[usize]) -> f64 {
        let difference = |j: usize| if j == k { 1.0 } else { -weights[j] };
        let product = |i: usize| {
            (0..weights.len())
                .map(|j| gram[trained_on[i] * self.examples + trained_on[j]] * difference(j))
                .sum::<f64>()
        };
        (0..weights.len()).map(|i| difference(i) * product(i)).sum()
    }
}

impl DetailRegression {
    /// Trains on some examples. Settings that are not given are chosen from these alone.
    pub(crate) fn train(
        data: &TrainingData,
        grams: &HeightGrams,
        trained_on: &[usize],
        options: &DetailOptions,
    ) -> Result<Self, LearnError> {
        let (source, settings) = match options.mode() {
            DetailMode::Static => (Source::Static, None),
            DetailMode::Cascaded => {
                check_given(options)?;
                let inputs = Inputs::of_rotations(data);
                let mut best = best_fit(&inputs, grams, trained_on, None, options.settings())?;
                let source = Source::Rotations(best.regressions.remove(0));
                (source, Some(best.settings))
            }
            DetailMode::Auto | DetailMode::Direct => {
                check_given(options)?;
                best_frames(data, grams, trained_on, options)?
            }
        };
        Ok(Self {
            trained_on: trained_on.to_vec(),
            examples: data.examples.count(),
            source,
            settings,
        })
    }

    /// The features of all examples, by regression and example.
    #[cfg(test)]
    pub(super) fn features(data: &TrainingData, sharpness: Option<f64>) -> Vec<Vec<Vec<f64>>> {
        Inputs::of_frames(data, sharpness).features
    }

    /// Whether vertices blend the regressions of several control points.
    pub(crate) fn is_blended(&self) -> bool {
        matches!(&self.source, Source::Frames(frames, _) if frames.len() > 1)
    }

    /// The weight of every example, by regression; zero for examples outside the training set.
    pub(crate) fn weights(
        &self,
        data: &TrainingData,
        control: &[DVec3],
        base: &[DVec3],
    ) -> Vec<Vec<f32>> {
        let alignment = Alignment::of(&data.points[0], control);
        match &self.source {
            Source::Static => {
                // The heights of the reference, example 0.
                let mut reference_only = vec![0.0; self.examples];
                reference_only[0] = 1.0;
                vec![reference_only]
            }
            Source::Rotations(fit) => {
                let features = region_rotations(data, base, &alignment);
                vec![self.expanded(&fit.shares(&features))]
            }
            Source::Frames(frames, fits) => {
                let mut weights = Vec::with_capacity(frames.len());
                for (frame, fit) in frames.iter().zip(fits) {
                    let features = frame.features(control, &frame.fit(control, &alignment));
                    weights.push(self.expanded(&fit.shares(&features)));
                }
                weights
            }
        }
    }

    /// Weights of the training examples as weights of all examples.
    fn expanded(&self, weights: &[f64]) -> Vec<f32> {
        let mut all = vec![0.0; self.examples];
        for (&example, &weight) in self.trained_on.iter().zip(weights) {
            all[example] = weight as f32;
        }
        all
    }
}

fn check_given(options: &DetailOptions) -> Result<(), LearnError> {
    match options.settings() {
        Some(settings) => settings.check(),
        None => Ok(()),
    }
}

/// The local frames with the least leave-one-out error: one frame of all control points, or one
/// around each.
fn best_frames(
    data: &TrainingData,
    grams: &HeightGrams,
    trained_on: &[usize],
    options: &DetailOptions,
) -> Result<(Source, Option<DetailSettings>), LearnError> {
    let given = options.settings();
    // `None` is one frame of all control points.
    let candidates: Vec<Option<f64>> = match (given, options.mode()) {
        (_, DetailMode::Direct) => vec![None],
        (Some(settings), _) => vec![settings.sharpness],
        _ => std::iter::once(None).chain(SHARPNESS.map(Some)).collect(),
    };

    let mut best: Option<(Vec<LocalFrame>, Fitted)> = None;
    for sharpness in candidates {
        let inputs = Inputs::of_frames(data, sharpness);
        let fitted = best_fit(&inputs, grams, trained_on, sharpness, given)?;
        if best.as_ref().is_none_or(|(_, b)| fitted.error < b.error) {
            best = Some((inputs.frames, fitted));
        }
    }
    let (frames, fitted) = best.expect("at least one candidate was tried");
    let source = Source::Frames(frames, fitted.regressions);
    Ok((source, Some(fitted.settings)))
}

/// The fit with the least leave-one-out error, or the fit with the settings that are `given`.
fn best_fit(
    inputs: &Inputs,
    grams: &HeightGrams,
    trained_on: &[usize],
    sharpness: Option<f64>,
    given: Option<DetailSettings>,
) -> Result<Fitted, LearnError> {
    if let Some(DetailSettings { width, ridge, .. }) = given {
        return Ok(Fitted {
            regressions: inputs.fit(trained_on, width, ridge)?,
            error: 0.0,
            settings: DetailSettings {
                sharpness,
                width,
                ridge,
            },
        });
    }

    let mut best: Option<Fitted> = None;
    for width in WIDTHS {
        // One decomposition serves every ridge.
        let whole = inputs.fit(trained_on, width, 1.0)?;
        for ridge in RIDGES {
            let regressions: Vec<KernelRidge> = whole
                .iter()
                .map(|fit| fit.clone().with_absolute_ridge(fit.ridge() * ridge))
                .collect();

            // The mean RMS over poses, as in a validation: one extreme pose does not dominate.
            let squares = grams.left_out_squares(&regressions, trained_on);
            let error = squares.iter().map(|square| square.max(0.0).sqrt()).sum();
            if best.as_ref().is_none_or(|b| error < b.error) {
                best = Some(Fitted {
                    regressions,
                    error,
                    settings: DetailSettings {
                        sharpness,
                        width,
                        ridge,
                    },
                });
            }
        }
    }
    Ok(best.expect("the lists of settings are not empty"))
}
