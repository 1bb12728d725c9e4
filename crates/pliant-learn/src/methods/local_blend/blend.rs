//! Local blend: deformation gradients blended in each region, in the frame of its control points.
//!
//! **Problem.** From about ten poses, predict the rotation and stretch of every triangle for new
//! positions of the control points.
//!
//! **Equation.** In the frame `Q_b` of region `b` ([`LocalFrame`]), triangle `t` of example `i` has
//! the rotation vector `r_{it} = log(Q_{bi}ᵀ R_{it})` and the stretch `S_{it}`. Kernel ridge
//! regression on the features `φ_b` of the frame gives each example a weight `ω_{bi}`, and
//!
//! ```text
//! M_t = Q_b exp(Σᵢ ω_{bi} r_{it}) Σᵢ ω_{bi} S_{it}        x = Poisson(M, control points)
//! ```
//!
//! **Refits.** After a solve, the rotations are replaced by those of the solved surface, the
//! stretches are kept, and the surface is solved again. Refits improve bodies and worsen faces.
//!
//! **Source.** Our own. Regions, neighbourhoods and the Poisson step follow Huang et al. 2012; the
//! blending of logarithms and stretches follows Sumner et al., "Mesh-based inverse kinematics",
//! 2005, section 4.

use std::sync::Arc;

use pliant_linalg::{Kernel, KernelRidge, median_distance, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use crate::control::{Alignment, FramePose, LocalFrame};
use crate::methods::poisson::Poisson;
use crate::methods::predictor::Predictor;
use crate::methods::rotations::rotation_vector;
use crate::training::{TRIANGLES_PER_TASK, TrainingData};
use crate::{LearnError, LocalSettings};

/// Width of the Gaussian kernel over the median distance of the examples. *Measured* on
/// `horse-poses` and `face-poses`: 2 to 4 differ by less than 5 %, 1 is worse.
const KERNEL_WIDTH: f64 = 2.0;

/// Regions in one parallel task.
pub(crate) const REGIONS_PER_TASK: usize = 8;

/// All examples in the local frames of the regions, whether or not a training uses them.
#[derive(Debug)]
pub(crate) struct LocalPoses {
    frames: Vec<LocalFrame>,
    /// By example and region.
    features: Vec<Vec<Vec<f64>>>,
    /// By example and triangle: the rotation vector in the frame of its region.
    rotation_vectors: Vec<Vec<DVec3>>,
}

/// Positions of the control points, and the frames of all regions there.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    pub(crate) control: &'a [DVec3],
    frames: Vec<FramePose>,
}

impl LocalPoses {
    pub(crate) fn new(data: &TrainingData, neighbors: usize, sharpness: f64) -> Self {
        let rest = &data.points[0];
        let frames: Vec<LocalFrame> = data
            .distances
            .iter()
            .map(|distances| LocalFrame::new(rest, distances, neighbors, sharpness))
            .collect();

        // Features and rotations of all examples in the frames of the regions.
        let mut features = Vec::new();
        let mut rotation_vectors = Vec::new();
        for example in 0..data.examples.count() {
            let points = &data.points[example];
            let fitted = fit_all(&frames, points, &data.alignments[example]);
            let seen = frames.iter().zip(&fitted);
            features.push(
                seen.map(|(frame, pose)| frame.features(points, pose))
                    .collect(),
            );
            rotation_vectors.push(local_rotation_vectors(data, example, &fitted));
        }

        Self {
            frames,
            features,
            rotation_vectors,
        }
    }

    pub(crate) fn region_count(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn query<'a>(&self, data: &TrainingData, control: &'a [DVec3]) -> Query<'a> {
        let alignment = Alignment::of(&data.points[0], control);
        Query {
            control,
            frames: fit_all(&self.frames, control, &alignment),
        }
    }

    /// The features of a query in one region.
    pub(crate) fn features_of(&self, query: &Query<'_>, region: usize) -> Vec<f64> {
        self.frames[region].features(query.control, &query.frames[region])
    }

    /// The regression of one region on some of the examples.
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
        let kernel = Kernel::Gaussian { width };
        Ok(KernelRidge::fit(features, kernel, ridge)?)
    }

    /// The surface at a query: the given examples, blended by their weights in each region.
    pub(crate) fn surface(
        &self,
        data: &TrainingData,
        poisson: &Poisson,
        query: &Query<'_>,
        (examples, weights): (&[usize], &[Vec<f64>]),
        refits: usize,
    ) -> Vec<DVec3> {
        let anchors = self.anchors(data, query);
        let (mut rotations, stretches) = self.blend(data, query, examples, weights);
        let mut positions =
            poisson.solve(&products(&rotations, &stretches), &anchors, query.control);

        for _ in 0..refits {
            rotations = data.refit(&positions, &stretches);
            positions = poisson.solve(&products(&rotations, &stretches), &anchors, query.control);
        }
        positions
    }

    /// The rest pose, each vertex moved by the frame of its region.
    fn anchors(&self, data: &TrainingData, query: &Query<'_>) -> Vec<DVec3> {
        let rest = data.examples.reference().positions();
        let mut anchors = Vec::with_capacity(rest.len());
        for (p, &region) in rest.iter().zip(&data.regions.of_vertex) {
            let region = region as usize;
            anchors.push(self.frames[region].apply(&query.frames[region], *p));
        }
        anchors
    }

    /// Rotations and stretches of all triangles.
    fn blend(
        &self,
        data: &TrainingData,
        query: &Query<'_>,
        examples: &[usize],
        weights: &[Vec<f64>],
    ) -> (Vec<DMat3>, Vec<DMat3>) {
        let blended = parallel::map(data.triangle_count(), TRIANGLES_PER_TASK, |t| {
            let region = data.regions.of_triangle[t] as usize;
            // Rotation vectors and stretches are blended linearly.
            let mut vector = DVec3::ZERO;
            let mut stretch = DMat3::ZERO;
            for (&example, &weight) in examples.iter().zip(&weights[region]) {
                vector += self.rotation_vectors[example][t] * weight;
                stretch += data.polars[example][t].stretch * weight;
            }

            let local = DMat3::from_quat(DQuat::from_scaled_axis(vector));
            (query.frames[region].rotation * local, stretch)
        });
        blended.into_iter().unzip()
    }
}

/// The local blend, trained on some of the examples.
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
    fn pose(&self, data: &TrainingData, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let query = self.poses.query(data, control);
        let weights = parallel::map(self.regressions.len(), REGIONS_PER_TASK, |region| {
            self.regressions[region].shares(&self.poses.features_of(&query, region))
        });

        self.poses.surface(
            data,
            poisson,
            &query,
            (&self.trained_on, &weights),
            self.settings.refits,
        )
    }

    fn variances(&self, data: &TrainingData, control: &[DVec3]) -> Option<Vec<f64>> {
        let query = self.poses.query(data, control);
        let count = self.regressions.len();
        Some(parallel::map(count, REGIONS_PER_TASK, |region| {
            self.regressions[region].variance(&self.poses.features_of(&query, region))
        }))
    }

    fn without(&self, example: usize) -> Option<Box<dyn Predictor>> {
        let mut rest = self.trained_on.clone();
        rest.retain(|&i| i != example);
        let blend = Self::train(self.poses.clone(), &rest, &self.settings).ok()?;
        Some(Box::new(blend))
    }
}

fn fit_all(frames: &[LocalFrame], control: &[DVec3], global: &Alignment) -> Vec<FramePose> {
    frames
        .iter()
        .map(|frame| frame.fit(control, global))
        .collect()
}

/// `r_{it}` of one example.
fn local_rotation_vectors(data: &TrainingData, example: usize, frames: &[FramePose]) -> Vec<DVec3> {
    parallel::map(data.triangle_count(), TRIANGLES_PER_TASK, |t| {
        let frame = frames[data.regions.of_triangle[t] as usize].rotation;
        rotation_vector(frame.transpose() * data.polars[example][t].rotation)
    })
}

fn products(rotations: &[DMat3], stretches: &[DMat3]) -> Vec<DMat3> {
    let pairs = rotations.iter().zip(stretches);
    pairs
        .map(|(rotation, stretch)| *rotation * *stretch)
        .collect()
}
