//! Deformations blended region by region, each in the frame of its own control points.
//!
//! **Problem.** From ten poses, predict how every triangle turns and stretches when the control
//! points are somewhere new.
//!
//! **Equation.** In the frame `Q_b` of region `b` ([`LocalFrame`](crate::local_frame)) triangle `t`
//! of example `i` turned by `r_{it} = log(Q_{bi}ᵀ R_{it})` and stretched by `S_{it}`. Kernel ridge
//! regression on the frame's features `φ_b` gives each example a share `ω_{bi}`, and
//!
//! ```text
//! M_t = Q_b exp(Σᵢ ω_{bi} r_{it}) Σᵢ ω_{bi} S_{it}        x = Poisson(M, control points)
//! ```
//!
//! **Refits.** After a solve, the rotation is replaced by the one that the found surface has, the
//! stretch kept, and the surface solved again: bodies gain, faces lose.
//!
//! **Source.** *Ours*; regions, neighbourhoods and the Poisson step as in Huang et al. 2012;
//! blending logarithms and stretches: Sumner et al., "Mesh-based inverse kinematics", 2005, section
//! 4.

use std::sync::Arc;

use pliant_linalg::{Kernel, KernelRidge, median_distance, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use crate::LearnError;
use crate::control_points::Alignment;
use crate::local_frame::{FramePlace, LocalFrame};
use crate::poisson::Poisson;
use crate::pose_graph::upper;
use crate::workbench::{Predictor, TRIANGLES_PER_TASK, Workbench};

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSettings {
    /// How fast the weights of control points fall with their distance: `s` in `exp(−s
    /// (d/d_last)²)`.
    pub sharpness: f64,
    /// Of the regression, relative to the mean eigenvalue of its Gram matrix.
    pub ridge: f64,
    /// Times that rotations are fitted to the surface and the surface solved again.
    pub refits: usize,
}

impl LocalSettings {
    /// More refits than this are a mistake.
    const MOST_REFITS: usize = 1000;

    pub(crate) fn check(&self) -> Result<(), LearnError> {
        if !(self.sharpness >= 0.0 && self.sharpness.is_finite()) {
            return Err(LearnError::BadNumber {
                what: "the sharpness",
                value: self.sharpness,
                needed: "a number from zero up",
            });
        }
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(LearnError::BadNumber {
                what: "the ridge",
                value: self.ridge,
                needed: "a number above zero",
            });
        }
        if self.refits > Self::MOST_REFITS {
            return Err(LearnError::BadNumber {
                what: "the number of refits",
                value: self.refits as f64,
                needed: "at most 1000",
            });
        }
        Ok(())
    }
}

/// Width of the Gaussian kernel over the median distance of the examples. *Measured* on
/// `horse-poses` and `face-poses`: 2 to 4 differ by less than 5 %, 1 is worse.
const KERNEL_WIDTH: f64 = 2.0;

/// Regions in one parallel task.
pub(crate) const REGIONS_PER_TASK: usize = 8;

/// The examples as seen from the frames of the regions; does not depend on which examples are left
/// out.
#[derive(Debug)]
pub(crate) struct LocalPoses {
    frames: Vec<LocalFrame>,
    /// By example and region.
    features: Vec<Vec<Vec<f64>>>,
    /// By example and triangle: the rotation vector in the region's frame.
    turns: Vec<Vec<DVec3>>,
}

impl LocalPoses {
    pub(crate) fn new(bench: &Workbench, neighbors: usize, sharpness: f64) -> Self {
        let frames: Vec<LocalFrame> = bench
            .distances
            .iter()
            .map(|reach| LocalFrame::new(&bench.points[0], reach, neighbors, sharpness))
            .collect();
        let mut features = Vec::new();
        let mut turns = Vec::new();
        for example in 0..bench.examples.count() {
            let places = place_all(&frames, &bench.points[example], &bench.alignments[example]);
            features.push(
                frames
                    .iter()
                    .zip(&places)
                    .map(|(frame, place)| frame.features(&bench.points[example], place))
                    .collect(),
            );
            turns.push(parallel::map(
                bench.triangle_count(),
                TRIANGLES_PER_TASK,
                |t| {
                    let frame = places[bench.regions.of_triangle[t] as usize].rotation;
                    rotation_vector(frame.transpose() * bench.polars[example][t].rotation)
                },
            ));
        }
        Self {
            frames,
            features,
            turns,
        }
    }
}

/// Places of the control points, and the frames there.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    pub(crate) control: &'a [DVec3],
    places: Vec<FramePlace>,
}

impl LocalPoses {
    pub(crate) fn region_count(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn query<'a>(&self, bench: &Workbench, control: &'a [DVec3]) -> Query<'a> {
        Query {
            control,
            places: place_all(
                &self.frames,
                control,
                &Alignment::of(&bench.points[0], control),
            ),
        }
    }

    /// The features of a query, by region.
    pub(crate) fn features_of(&self, query: &Query<'_>, region: usize) -> Vec<f64> {
        self.frames[region].features(query.control, &query.places[region])
    }

    /// Prepares some of the examples for regression in one region.
    pub(crate) fn regression(
        &self,
        region: usize,
        trained_on: &[usize],
        ridge: f64,
    ) -> Result<KernelRidge, LearnError> {
        let features: Vec<Vec<f64>> = trained_on
            .iter()
            .map(|&i| self.features[i][region].clone())
            .collect();
        let width = KERNEL_WIDTH * median_distance(&features);
        Ok(KernelRidge::fit(
            features,
            Kernel::Gaussian { width },
            ridge,
        )?)
    }

    /// The surface at a query, with the examples `of` blended by the shares of each region.
    pub(crate) fn surface(
        &self,
        bench: &Workbench,
        poisson: &Poisson,
        query: &Query<'_>,
        (of, shares): (&[usize], &[Vec<f64>]),
        refits: usize,
    ) -> Vec<DVec3> {
        let rest = bench
            .examples
            .reference()
            .positions()
            .iter()
            .zip(&bench.regions.of_vertex);
        let anchors: Vec<DVec3> = rest
            .map(|(p, &b)| self.frames[b as usize].carry(&query.places[b as usize], *p))
            .collect();
        let (mut rotations, stretches) = self.blend(bench, query, of, shares);
        let mut positions =
            poisson.solve(&products(&rotations, &stretches), &anchors, query.control);
        for _ in 0..refits {
            rotations = bench.refit(&positions, &stretches);
            positions = poisson.solve(&products(&rotations, &stretches), &anchors, query.control);
        }
        positions
    }

    /// Rotations and stretches of all triangles.
    fn blend(
        &self,
        bench: &Workbench,
        query: &Query<'_>,
        of: &[usize],
        shares: &[Vec<f64>],
    ) -> (Vec<DMat3>, Vec<DMat3>) {
        let blended = parallel::map(bench.triangle_count(), TRIANGLES_PER_TASK, |t| {
            let region = bench.regions.of_triangle[t] as usize;
            let (mut turn, mut stretch) = (DVec3::ZERO, DMat3::ZERO);
            for (&example, &share) in of.iter().zip(&shares[region]) {
                turn += self.turns[example][t] * share;
                stretch += bench.polars[example][t].stretch * share;
            }
            (
                query.places[region].rotation * DMat3::from_quat(DQuat::from_scaled_axis(turn)),
                stretch,
            )
        });
        blended.into_iter().unzip()
    }
}

/// The blend learned from some of the examples.
#[derive(Debug)]
pub(crate) struct LocalBlend {
    poses: Arc<LocalPoses>,
    trained_on: Vec<usize>,
    regressions: Vec<KernelRidge>,
    settings: LocalSettings,
}

impl LocalBlend {
    #[cfg(test)]
    pub(crate) fn poses(&self) -> &Arc<LocalPoses> {
        &self.poses
    }

    pub(crate) fn train(
        poses: Arc<LocalPoses>,
        trained_on: &[usize],
        settings: &LocalSettings,
    ) -> Result<Self, LearnError> {
        let regressions = parallel::map(poses.region_count(), REGIONS_PER_TASK, |region| {
            poses.regression(region, trained_on, settings.ridge)
        });
        let regressions = regressions.into_iter().collect::<Result<_, _>>()?;
        Ok(Self {
            poses,
            trained_on: trained_on.to_vec(),
            regressions,
            settings: *settings,
        })
    }
}

impl Predictor for LocalBlend {
    fn pose(&self, bench: &Workbench, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let query = self.poses.query(bench, control);
        let shares: Vec<Vec<f64>> =
            parallel::map(self.regressions.len(), REGIONS_PER_TASK, |region| {
                self.regressions[region].shares(&self.poses.features_of(&query, region))
            });
        self.poses.surface(
            bench,
            poisson,
            &query,
            (&self.trained_on, &shares),
            self.settings.refits,
        )
    }

    fn variances(&self, bench: &Workbench, control: &[DVec3]) -> Option<Vec<f64>> {
        let query = self.poses.query(bench, control);
        let variance = |region: usize| {
            self.regressions[region].variance(&self.poses.features_of(&query, region))
        };
        Some(parallel::map(
            self.regressions.len(),
            REGIONS_PER_TASK,
            variance,
        ))
    }

    fn without(&self, example: usize) -> Option<Box<dyn Predictor>> {
        let rest: Vec<usize> = self
            .trained_on
            .iter()
            .copied()
            .filter(|&i| i != example)
            .collect();
        Some(Box::new(
            Self::train(self.poses.clone(), &rest, &self.settings).ok()?,
        ))
    }
}

fn place_all(frames: &[LocalFrame], control: &[DVec3], global: &Alignment) -> Vec<FramePlace> {
    frames
        .iter()
        .map(|frame| frame.place(control, global))
        .collect()
}

fn products(rotations: &[DMat3], stretches: &[DMat3]) -> Vec<DMat3> {
    rotations
        .iter()
        .zip(stretches)
        .map(|(rotation, stretch)| *rotation * *stretch)
        .collect()
}

/// The axis of a rotation times its angle, from 0 to π.
pub(crate) fn rotation_vector(rotation: DMat3) -> DVec3 {
    upper(DQuat::from_mat3(&rotation))
        .normalize()
        .to_scaled_axis()
}
