//! The published method: regression local in geometry and in the space of poses.
//!
//! **Problem.** A regression over all poses and all control points couples what has nothing to do with each other.
//!
//! **Equation.** For bone `j` with the control points `c_j` nearest to it, each example `l` has a model `d_jˡ` trained on its `k_p`
//! nearest examples, which predicts the rotation relative to that of example `l`; with the heat kernel `w = exp(−|c − cˡ|²/2σ²)`
//! (eq. 2)
//!
//! ```text
//! d_j(c_j) = Σ_l w(c_j, c_jˡ) d_jˡ(c_j) / Σ_l w(c_j, c_jˡ)        over the k_p nearest examples l (eq. 3)
//! ```
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples", 2012, sections 6.1.1 to 6.1.3 and 7.
//!
//! **Ours.** `σ`, which the paper leaves open, is the bone's mean distance between neighbouring examples.

use pliant_linalg::{Kernel, KernelCca, median_distance, parallel};
use pliant_mesh::glam::{DQuat, DVec3};

use crate::LearnError;
use crate::bone_turns::{BoneTurns, aligned_features, pose_of_bones, upper};
use crate::control_points::Alignment;
use crate::feng::{KERNEL_WIDTH, LEAST_CORRELATION, RIDGE, rotation_of};
use crate::poisson::Poisson;
use crate::workbench::{Predictor, Workbench};

/// The models of all bones.
#[derive(Debug)]
pub(crate) struct PoseGraph {
    bones: Vec<BoneGraph>,
    /// `k_p`.
    pose_neighbors: usize,
}

/// The models of one bone, one per example trained on.
#[derive(Debug)]
struct BoneGraph {
    points: Vec<u32>,
    features: Vec<Vec<f64>>,
    rotations: Vec<DQuat>,
    models: Vec<KernelCca>,
    /// `2σ²`.
    heat: f64,
}

impl PoseGraph {
    pub(crate) fn train(
        bench: &Workbench,
        turns: &BoneTurns,
        trained_on: &[usize],
        neighbors: usize,
        pose_neighbors: usize,
    ) -> Result<Self, LearnError> {
        let bones = parallel::map(bench.regions.count(), 4, |bone| {
            let points = nearest(&bench.distances[bone], neighbors);
            let features = trained_on.iter().map(|&i| aligned_features(bench, &points, &bench.points[i], &bench.alignments[i])).collect();
            let rotations = trained_on.iter().map(|&i| turns.rotations[i][bone]).collect();
            BoneGraph::train(points, features, rotations, pose_neighbors)
        });
        Ok(Self { bones: bones.into_iter().collect::<Result<_, _>>()?, pose_neighbors })
    }
}

impl BoneGraph {
    fn train(points: Vec<u32>, features: Vec<Vec<f64>>, rotations: Vec<DQuat>, pose_neighbors: usize) -> Result<Self, LearnError> {
        let mut squares = Vec::new();
        let mut models = Vec::with_capacity(features.len());
        for (l, own) in features.iter().enumerate() {
            // The example itself is its own nearest.
            let near = nearest(&distances_squared(&features, own), pose_neighbors + 1);
            squares.extend(near.iter().filter(|&&i| i as usize != l).map(|&i| distance_squared(&features[i as usize], own)));
            let inputs: Vec<Vec<f64>> = near.iter().map(|&i| features[i as usize].clone()).collect();
            let relative = |&i: &u32| upper(rotations[l].conjugate() * rotations[i as usize]).to_array().to_vec();
            let outputs: Vec<Vec<f64>> = near.iter().map(relative).collect();
            let width = KERNEL_WIDTH * median_distance(&inputs);
            models.push(KernelCca::fit(inputs, &outputs, Kernel::Gaussian { width }, RIDGE, LEAST_CORRELATION)?);
        }
        let heat = 2.0 * squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        Ok(Self { points, features, rotations, models, heat })
    }

    /// Eq. 3. The nearest example's weight is taken as one, so that far from all of them the weights do not vanish.
    fn rotation(&self, query: &[f64], pose_neighbors: usize) -> DQuat {
        let squares = distances_squared(&self.features, query);
        let near = nearest(&squares, pose_neighbors);
        let least = squares[near[0] as usize];
        let mut sum: Option<DQuat> = None;
        for &l in &near {
            let beyond = squares[l as usize] - least;
            let weight = if beyond > 0.0 { (-beyond / self.heat).exp() } else { 1.0 };
            let predicted = self.rotations[l as usize] * rotation_of(&self.models[l as usize].predict(query));
            sum = Some(match sum {
                None => predicted * weight,
                Some(sum) => sum + if sum.dot(predicted) < 0.0 { -predicted } else { predicted } * weight,
            });
        }
        sum.map_or(DQuat::IDENTITY, |sum| rotation_of(&sum.to_array()))
    }
}

impl Predictor for PoseGraph {
    fn pose(&self, bench: &Workbench, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let alignment = Alignment::of(&bench.points[0], control);
        let rotations: Vec<DQuat> = parallel::map(self.bones.len(), 8, |bone| {
            let bone = &self.bones[bone];
            bone.rotation(&aligned_features(bench, &bone.points, control, &alignment), self.pose_neighbors)
        });
        pose_of_bones(bench, poisson, control, &alignment, &rotations)
    }
}

/// The indices of the `count` least `distances`, least first.
fn nearest(distances: &[f64], count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..distances.len() as u32).collect();
    order.sort_by(|a, b| distances[*a as usize].total_cmp(&distances[*b as usize]).then(a.cmp(b)));
    order.truncate(count.max(1));
    order
}

fn distances_squared(features: &[Vec<f64>], query: &[f64]) -> Vec<f64> {
    features.iter().map(|own| distance_squared(own, query)).collect()
}

fn distance_squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_examples_a_bone_turns_between_their_turns() {
        let turns: Vec<DQuat> = (0..5).map(|i| DQuat::from_rotation_z(0.3 * f64::from(i))).collect();
        let features: Vec<Vec<f64>> = (0..5).map(|i| vec![f64::from(i), 0.0]).collect();
        let bone = BoneGraph::train(vec![0], features, turns, 2).unwrap();
        let angle = |x: f64| bone.rotation(&[x, 0.0], 2).to_axis_angle().1;
        assert!(angle(1.5) > angle(1.0) && angle(1.5) < angle(2.0));
        assert!((angle(1.5) - 0.45).abs() < 0.1, "{}", angle(1.5));
    }

    #[test]
    fn examples_that_are_all_the_same_turn_alike() {
        let turn = DQuat::from_rotation_x(0.4);
        let bone = BoneGraph::train(vec![0], vec![vec![1.0]; 3], vec![turn; 3], 7).unwrap();
        assert!(bone.rotation(&[5.0], 7).angle_between(turn) < 1e-6);
    }
}
