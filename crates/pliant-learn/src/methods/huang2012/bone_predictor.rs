//! Predictor of Huang et al. 2012: bone rotations by regression, bone translations, and skinning.
//!
//! **Equation.** `v = Σⱼ wⱼ (R_j(c_j) vʳ + t_j)` with the rotations of the pose graph
//! ([`PoseGraph`]) and the translations that follow from them ([`BoneTranslations`]) (eqs. 1 and
//! 3).
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples",
//! 2012, section 7.
//!
//! **Departures.** Hard control points are reached by an additional harmonic displacement of the
//! surface. It distributes the distance that the translations leave, and is nowhere larger than at
//! a control point.

use std::sync::Arc;

use pliant_mesh::glam::{DMat3, DVec3};

use super::abstract_bones::AbstractBones;
use super::bone_translations::BoneTranslations;
use super::pose_graph::PoseGraph;
use crate::control::{Alignment, ControlDistances};
use crate::methods::poisson::{ControlConstraint, Poisson};
use crate::methods::predictor::Predictor;
use crate::training::TrainingData;
use crate::{LearnError, LearnOptions, Method};

/// Abstract bones, their regressions, and the system of their translations.
#[derive(Debug, Clone)]
pub(crate) struct BonePredictor {
    bones: Arc<AbstractBones>,
    graph: Arc<PoseGraph>,
    translations: BoneTranslations,
    constraint: ControlConstraint,
}

impl BonePredictor {
    pub(crate) fn train(
        data: &TrainingData,
        distances: &ControlDistances,
        trained_on: &[usize],
        bones: AbstractBones,
        options: &LearnOptions,
    ) -> Result<Self, LearnError> {
        // Feng 2008 is the global variant.
        let (neighbors, pose_neighbors) = match options.method() {
            Method::Feng2008 => (LearnOptions::ALL, LearnOptions::ALL),
            _ => (options.neighbors(), options.pose_neighbors()),
        };
        let mesh = data.examples.reference();
        let neighbor_points = bones.neighbor_points(mesh.positions(), distances, neighbors);
        let graph = PoseGraph::train(
            data,
            trained_on,
            &neighbor_points,
            &bones.rotations,
            pose_neighbors,
        )?;

        let constraint = ControlConstraint::Soft(options.beta());
        let translations = BoneTranslations::factor(mesh, &bones.skin, &data.control, constraint)?;
        Ok(Self {
            bones: Arc::new(bones),
            graph: Arc::new(graph),
            translations,
            constraint,
        })
    }
}

impl Predictor for BonePredictor {
    fn pose(&self, data: &TrainingData, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let alignment = Alignment::of(&data.points[0], control);
        let rotations: Vec<DMat3> = self
            .graph
            .rotations(control, &alignment)
            .into_iter()
            .map(|q| alignment.rotation * DMat3::from_quat(q))
            .collect();

        let motions = self.translations.solve(&rotations, &alignment, control);
        let rest = data.examples.reference().positions();
        let mut positions = self.bones.skin.blend(rest, &motions);
        if self.constraint == ControlConstraint::Hard {
            reach_control_points(data, poisson, control, &mut positions);
        }
        positions
    }

    fn with_constraint(
        &self,
        data: &TrainingData,
        constraint: ControlConstraint,
    ) -> Result<Option<Box<dyn Predictor>>, LearnError> {
        let mesh = data.examples.reference();
        let skin = &self.bones.skin;
        let translations = BoneTranslations::factor(mesh, skin, &data.control, constraint)?;
        Ok(Some(Box::new(Self {
            translations,
            constraint,
            ..self.clone()
        })))
    }

    fn bones(&self) -> Option<&AbstractBones> {
        Some(&self.bones)
    }
}

/// Adds the harmonic displacement that moves all control points to their goals.
fn reach_control_points(
    data: &TrainingData,
    poisson: &Poisson,
    control: &[DVec3],
    positions: &mut [DVec3],
) {
    let reached = data.control.at(positions);
    let steps: Vec<DVec3> = reached
        .iter()
        .zip(control)
        .map(|(position, goal)| *goal - *position)
        .collect();
    for (position, step) in positions
        .iter_mut()
        .zip(poisson.harmonic_displacement(&steps))
    {
        *position += step;
    }

    // Without the rounding of the solve.
    for (&v, goal) in data.control.vertices().iter().zip(control) {
        positions[v as usize] = *goal;
    }
}
