//! The global baseline: every bone's rotation from all control points and all examples at once.
//!
//! **Equation.** `d_j(c)`: one kernel canonical correlation regression per bone from all control points to its quaternion.
//!
//! **Source.** Feng, Kim, Yu, "Real-time data driven deformation using kernel canonical correlation analysis", 2008; as it is
//! described in Huang et al. 2012, section 3.

use pliant_linalg::{Kernel, KernelCca, median_distance, parallel};
use pliant_mesh::glam::{DQuat, DVec3};

use crate::LearnError;
use crate::bone_turns::{BoneTurns, aligned_features, pose_of_bones, upper};
use crate::control_points::Alignment;
use crate::poisson::Poisson;
use crate::workbench::{Predictor, Workbench};

/// Width of the Gaussian kernel over the median distance of the examples. *Ours*: that of the local blend.
pub(crate) const KERNEL_WIDTH: f64 = 2.0;
/// Relative ridge of the regression. *Ours*: what the local blend chooses most often.
pub(crate) const RIDGE: f64 = 0.1;
/// Directions that correlate less are noise.
pub(crate) const LEAST_CORRELATION: f64 = 1e-3;

/// One regression per bone.
#[derive(Debug)]
pub(crate) struct Feng {
    points: Vec<u32>,
    bones: Vec<KernelCca>,
}

impl Feng {
    pub(crate) fn train(bench: &Workbench, turns: &BoneTurns, trained_on: &[usize]) -> Result<Self, LearnError> {
        let points: Vec<u32> = (0..bench.control.count() as u32).collect();
        let features: Vec<Vec<f64>> =
            trained_on.iter().map(|&i| aligned_features(bench, &points, &bench.points[i], &bench.alignments[i])).collect();
        let kernel = Kernel::Gaussian { width: KERNEL_WIDTH * median_distance(&features) };
        let bones = parallel::map(bench.regions.count(), 8, |bone| {
            let outputs: Vec<Vec<f64>> = trained_on.iter().map(|&i| turns.rotations[i][bone].to_array().to_vec()).collect();
            KernelCca::fit(features.clone(), &outputs, kernel, RIDGE, LEAST_CORRELATION)
        });
        Ok(Self { points, bones: bones.into_iter().collect::<Result<_, _>>()? })
    }
}

impl Predictor for Feng {
    fn pose(&self, bench: &Workbench, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let alignment = Alignment::of(&bench.points[0], control);
        let features = aligned_features(bench, &self.points, control, &alignment);
        let rotations: Vec<DQuat> = self.bones.iter().map(|bone| rotation_of(&bone.predict(&features))).collect();
        pose_of_bones(bench, poisson, control, &alignment, &rotations)
    }
}

/// The rotation nearest to a predicted quaternion; none at all is no turn.
pub(crate) fn rotation_of(values: &[f64]) -> DQuat {
    let q = DQuat::from_slice(values);
    if q.length() > 1e-6 { upper(q.normalize()) } else { DQuat::IDENTITY }
}
