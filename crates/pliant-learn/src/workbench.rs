//! What every method needs of the examples, whichever of them are left out.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DeformationGradients, Polar};

use crate::abstract_bones::AbstractBones;
use crate::control_points::Alignment;
use crate::edge_paths::{Regions, distances_from};
use crate::poisson::{Hold, Poisson};
use crate::{ControlPoints, Examples, LearnError};

/// Triangles in one parallel task.
pub(crate) const TRIANGLES_PER_TASK: usize = 1024;

/// Distances between parts that no edges join are counted from here, in diagonals.
pub(crate) const ANOTHER_PART: f64 = 10.0;

/// The examples taken apart: regions of the surface, how each triangle turns and stretches, where the control points are.
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

    /// The same with control points held in another way; none where that is up to the Poisson system alone.
    fn held(&self, _bench: &Workbench, _hold: Hold) -> Result<Option<Box<dyn Predictor>>, LearnError> {
        Ok(None)
    }

    /// The bones that it moves, where it has any.
    fn bones(&self) -> Option<&AbstractBones> {
        None
    }

    /// How unsure it is, by region, relative to the examples' own variance; none where the method cannot tell.
    fn variances(&self, _bench: &Workbench, _control: &[DVec3]) -> Option<Vec<f64>> {
        None
    }

    /// The same method with the same settings, trained without one example; none where it has no variances to compare.
    fn without(&self, _example: usize) -> Option<Box<dyn Predictor>> {
        None
    }
}

impl Workbench {
    pub(crate) fn new(examples: Examples, control: ControlPoints, region_count: usize) -> Result<Self, LearnError> {
        let mesh = examples.reference();
        let regions = Regions::spread(mesh, region_count);
        let gradients = DeformationGradients::from_rest(mesh)?;
        let mut polars = Vec::with_capacity(examples.count());
        for example in 0..examples.count() {
            let matrices = gradients.at(examples.pose(example))?;
            polars.push(parallel::map(matrices.len(), TRIANGLES_PER_TASK, |t| Polar::of(matrices[t])));
        }
        let points: Vec<Vec<DVec3>> = (0..examples.count()).map(|i| control.at(examples.pose(i))).collect();
        let alignments = points.iter().map(|now| Alignment::of(&points[0], now)).collect();
        let distances = region_distances(&examples, &control, &regions);
        Ok(Self { examples, control, regions, gradients, polars, points, alignments, distances })
    }

    pub(crate) fn triangle_count(&self) -> usize {
        self.regions.of_triangle.len()
    }

    /// The rest pose moved as the control points moved as a whole.
    pub(crate) fn carried_rest(&self, alignment: &Alignment) -> Vec<DVec3> {
        self.examples.reference().positions().iter().map(|p| alignment.to_present(*p)).collect()
    }

    /// The rotations of the triangles in `positions` that turn `stretches` into what is there best.
    pub(crate) fn refit(&self, positions: &[DVec3], stretches: &[DMat3]) -> Vec<DMat3> {
        let found = self.gradients.at(positions).expect("one position per vertex");
        parallel::map(found.len(), TRIANGLES_PER_TASK, |t| pliant_linalg::nearest_rotation(found[t] * stretches[t].transpose()))
    }
}

fn region_distances(examples: &Examples, control: &ControlPoints, regions: &Regions) -> Vec<Vec<f64>> {
    let mesh = examples.reference();
    let far = ANOTHER_PART * mesh.bounds().map_or(1.0, |bounds| bounds.diagonal());
    let reach: Vec<Vec<f64>> = parallel::map(control.count(), 1, |k| distances_from(mesh, control.vertices()[k]));
    let distance = |seed: u32, k: usize| {
        let along = reach[k][seed as usize];
        let apart = || mesh.positions()[seed as usize].distance(mesh.positions()[control.vertices()[k] as usize]);
        if along.is_finite() { along } else { far + apart() }
    };
    regions.seeds.iter().map(|&seed| (0..control.count()).map(|k| distance(seed, k)).collect()).collect()
}
