//! The published method as a whole: rotations of bones by regression, their translations, and the
//! skin.
//!
//! **Equation.** `v = Σⱼ wⱼ (R_j(c_j) vʳ + t_j)` with the rotations of the [pose
//! graph](crate::pose_graph) and the [translations](crate::bone_translations) that follow from them
//! (eqs. 1 and 3).
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples",
//! 2012, section 7.
//!
//! **Ours.** Points that are held hard are met exactly by a harmonic displacement of the surface,
//! which spreads what translations leave of them and is no larger anywhere than at a point.

use std::sync::Arc;

use pliant_mesh::glam::{DMat3, DVec3};

use crate::abstract_bones::AbstractBones;
use crate::bone_translations::BoneTranslations;
use crate::control_points::Alignment;
use crate::control_reach::ControlReach;
use crate::poisson::{Hold, Poisson};
use crate::pose_graph::PoseGraph;
use crate::workbench::{Predictor, Workbench};
use crate::{LearnError, LearnOptions, Method};

/// Bones with what was learned of them, and the system of their translations.
#[derive(Debug, Clone)]
pub(crate) struct BoneDriver {
    bones: Arc<AbstractBones>,
    graph: Arc<PoseGraph>,
    translations: BoneTranslations,
    hold: Hold,
}

impl BoneDriver {
    pub(crate) fn train(
        bench: &Workbench,
        reach: &ControlReach,
        trained_on: &[usize],
        bones: AbstractBones,
        options: &LearnOptions,
    ) -> Result<Self, LearnError> {
        let (neighbors, pose_neighbors) = match options.method() {
            Method::Feng => (LearnOptions::ALL, LearnOptions::ALL),
            _ => (options.neighbors(), options.pose_neighbors()),
        };
        let mesh = bench.examples.reference();
        let listens = bones.listens(mesh.positions(), reach, neighbors);
        let graph = PoseGraph::train(
            bench,
            trained_on,
            &listens,
            &bones.rotations,
            pose_neighbors,
        )?;
        let hold = Hold::Soft(options.beta());
        let translations = BoneTranslations::factor(mesh, &bones.skin, &bench.control, hold)?;
        Ok(Self {
            bones: Arc::new(bones),
            graph: Arc::new(graph),
            translations,
            hold,
        })
    }
}

impl Predictor for BoneDriver {
    fn pose(&self, bench: &Workbench, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let alignment = Alignment::of(&bench.points[0], control);
        let rotations = self.graph.rotations(control, &alignment);
        let turns: Vec<DMat3> = rotations
            .into_iter()
            .map(|q| alignment.rotation * DMat3::from_quat(q))
            .collect();
        let motions = self.translations.solve(&turns, &alignment, control);
        let mut positions = self
            .bones
            .skin
            .blend(bench.examples.reference().positions(), &motions);
        if self.hold == Hold::Hard {
            let left: Vec<DVec3> = bench
                .control
                .at(&positions)
                .iter()
                .zip(control)
                .map(|(found, place)| *place - *found)
                .collect();
            positions
                .iter_mut()
                .zip(poisson.spread(&left))
                .for_each(|(position, step)| *position += step);
            bench
                .control
                .vertices()
                .iter()
                .zip(control)
                .for_each(|(&v, place)| positions[v as usize] = *place);
        }
        positions
    }

    fn held(
        &self,
        bench: &Workbench,
        hold: Hold,
    ) -> Result<Option<Box<dyn Predictor>>, LearnError> {
        let translations = BoneTranslations::factor(
            bench.examples.reference(),
            &self.bones.skin,
            &bench.control,
            hold,
        )?;
        Ok(Some(Box::new(Self {
            translations,
            hold,
            ..self.clone()
        })))
    }

    fn bones(&self) -> Option<&AbstractBones> {
        Some(&self.bones)
    }
}
