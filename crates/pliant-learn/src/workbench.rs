//! What every method needs of the examples, whichever of them are left out.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DeformationGradients, Polar};

use crate::abstract_bones::AbstractBones;
use crate::control_points::Alignment;
use crate::edge_paths::{Regions, across_parts, distances_from};
use crate::poisson::{Hold, Poisson};
use crate::{ControlPoints, Examples, LearnError};

/// Triangles in one parallel task.
pub(crate) const TRIANGLES_PER_TASK: usize = 1024;

/// The examples taken apart: regions of the surface, how each triangle turns and stretches, where
/// the control points are.
#[derive(Debug)]
pub(crate) struct Workbench {
    pub(crate) examples: Examples,
    pub(crate) control: ControlPoints,
    pub(crate) regions: Regions,
    pub(crate) gradients: DeformationGradients,
    /// How each triangle of each example turns and stretches from the reference.
    pub(crate) polars: Vec<Vec<Polar>>,
    /// The control points of each example.
    pub(crate) points: Vec<Vec<DVec3>>,
    /// How the control points of each example moved as a whole.
    pub(crate) alignments: Vec<Alignment>,
    /// From the middle of each region to each control point, along edges.
    pub(crate) distances: Vec<Vec<f64>>,
}

/// A trained method: a pose for places of the control points.
pub(crate) trait Predictor: Send + Sync + std::fmt::Debug {
    fn pose(&self, bench: &Workbench, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3>;

    /// The same with control points held in another way; none where that is up to the Poisson
    /// system alone.
    fn held(
        &self,
        _bench: &Workbench,
        _hold: Hold,
    ) -> Result<Option<Box<dyn Predictor>>, LearnError> {
        Ok(None)
    }

    /// The bones that it moves, where it has any.
    fn bones(&self) -> Option<&AbstractBones> {
        None
    }

    /// How unsure it is, by region, relative to the examples' own variance; none where the method
    /// cannot tell.
    fn variances(&self, _bench: &Workbench, _control: &[DVec3]) -> Option<Vec<f64>> {
        None
    }

    /// The same method with the same settings, trained without one example; none where it has no
    /// variances to compare.
    fn without(&self, _example: usize) -> Option<Box<dyn Predictor>> {
        None
    }
}

impl Workbench {
    pub(crate) fn new(
        examples: Examples,
        control: ControlPoints,
        region_count: usize,
    ) -> Result<Self, LearnError> {
        let mesh = examples.reference();
        let regions = Regions::spread(mesh, region_count);
        let gradients = DeformationGradients::from_rest(mesh)?;
        let mut polars = Vec::with_capacity(examples.count());
        for example in 0..examples.count() {
            let matrices = gradients.at(examples.pose(example))?;
            polars.push(parallel::map(matrices.len(), TRIANGLES_PER_TASK, |t| {
                Polar::of(matrices[t])
            }));
        }
        let points: Vec<Vec<DVec3>> = (0..examples.count())
            .map(|i| control.at(examples.pose(i)))
            .collect();
        let alignments = points
            .iter()
            .map(|now| Alignment::of(&points[0], now))
            .collect();
        let distances = region_distances(&examples, &control, &regions);
        Ok(Self {
            examples,
            control,
            regions,
            gradients,
            polars,
            points,
            alignments,
            distances,
        })
    }

    /// All examples, by number: to train on.
    pub(crate) fn everything(&self) -> Vec<usize> {
        (0..self.examples.count()).collect()
    }

    pub(crate) fn triangle_count(&self) -> usize {
        self.regions.of_triangle.len()
    }

    /// The rest pose moved as the control points moved as a whole.
    pub(crate) fn carried_rest(&self, alignment: &Alignment) -> Vec<DVec3> {
        self.examples
            .reference()
            .positions()
            .iter()
            .map(|p| alignment.to_present(*p))
            .collect()
    }

    /// The rotations of the triangles in `positions` that turn `stretches` into what is there best.
    pub(crate) fn refit(&self, positions: &[DVec3], stretches: &[DMat3]) -> Vec<DMat3> {
        let found = self
            .gradients
            .at(positions)
            .expect("one position per vertex");
        parallel::map(found.len(), TRIANGLES_PER_TASK, |t| {
            pliant_linalg::nearest_rotation(found[t] * stretches[t].transpose())
        })
    }
}

fn region_distances(
    examples: &Examples,
    control: &ControlPoints,
    regions: &Regions,
) -> Vec<Vec<f64>> {
    let mesh = examples.reference();
    let reach: Vec<Vec<f64>> = parallel::map(control.count(), 1, |k| {
        let source = control.vertices()[k];
        across_parts(mesh, source, distances_from(mesh, source))
    });
    regions
        .seeds
        .iter()
        .map(|&seed| {
            reach
                .iter()
                .map(|of_point| of_point[seed as usize])
                .collect()
        })
        .collect()
}
