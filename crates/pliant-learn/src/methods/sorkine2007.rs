//! As-rigid-as-possible deformation (ARAP), the baseline without examples (Sorkine, Alexa 2007).
//!
//! **Equation.** `min Σ_t A_t ‖∇x_t − R_t‖² + β w̄ Σ_k |x_k − c_k|²` over positions and rotations,
//! in alternation.
//!
//! **Source.** Sorkine and Alexa, "As-rigid-as-possible surface modeling", 2007; per triangle as in
//! Liu et al., "A local/global approach to mesh parameterization", 2008.
//!
//! **Departures.** The iteration starts from the frames of the nearest control points, the best
//! start that we know. From the rest pose, it ends in worse minima.

use pliant_mesh::glam::{DMat3, DVec3};

use super::poisson::Poisson;
use super::predictor::Predictor;
use crate::control::{Alignment, LocalFrame};
use crate::training::TrainingData;

/// *Chosen*: more local/global iterations than this good start needs.
const ITERATIONS: usize = 40;

/// Sharpness of the local frames. *Chosen*: the smallest candidate of the local blend.
const SHARPNESS: f64 = 2.0;

/// The frames that give the start.
#[derive(Debug)]
pub(crate) struct Sorkine2007 {
    frames: Vec<LocalFrame>,
}

impl Sorkine2007 {
    pub(crate) fn new(data: &TrainingData, neighbors: usize) -> Self {
        let rest = &data.points[0];
        Self {
            frames: data
                .distances
                .iter()
                .map(|distances| LocalFrame::new(rest, distances, neighbors, SHARPNESS))
                .collect(),
        }
    }

    /// The rotation of each triangle at the start: that of the frame of its region.
    fn start(&self, data: &TrainingData, control: &[DVec3], global: &Alignment) -> Vec<DMat3> {
        let frames: Vec<DMat3> = self
            .frames
            .iter()
            .map(|frame| frame.fit(control, global).rotation)
            .collect();
        let regions = data.regions.of_triangle.iter();
        regions.map(|&region| frames[region as usize]).collect()
    }
}

impl Predictor for Sorkine2007 {
    fn pose(&self, data: &TrainingData, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let global = Alignment::of(&data.points[0], control);
        let anchors = data.aligned_rest(&global);
        let rotations = self.start(data, control, &global);
        let mut positions = poisson.solve(&rotations, &anchors, control);

        let unstretched = vec![DMat3::IDENTITY; data.triangle_count()];
        for _ in 0..ITERATIONS {
            let rotations = data.refit(&positions, &unstretched);
            positions = poisson.solve(&rotations, &anchors, control);
        }
        positions
    }
}
