//! Training data: quantities that all methods derive from the examples.

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{
    DeformationGradients, Polar, Progress, ProgressPart, Stopped, map_with_progress,
};

use super::examples::Examples;
use crate::control::Alignment;
use crate::surface::{Regions, across_components, distances_from};
use crate::{ControlPoints, LearnError};

/// The name of the work in progress reports.
const STAGE: &str = "reading the examples";

/// Triangles in one parallel task.
pub(crate) const TRIANGLES_PER_TASK: usize = 1024;

/// The examples with their regions, polar decompositions and control points.
#[derive(Debug)]
pub(crate) struct TrainingData {
    pub(crate) examples: Examples,
    pub(crate) control: ControlPoints,
    pub(crate) regions: Regions,
    pub(crate) gradients: DeformationGradients,
    /// Rotation and stretch of each triangle of each example, from the reference.
    pub(crate) polars: Vec<Vec<Polar>>,
    /// The control points of each example.
    pub(crate) points: Vec<Vec<DVec3>>,
    /// The rigid motion of all control points of each example.
    pub(crate) alignments: Vec<Alignment>,
    /// Edge distances from the seed of each region to each control point.
    pub(crate) distances: Vec<Vec<f64>>,
}

impl TrainingData {
    pub(crate) fn new(
        examples: Examples,
        control: ControlPoints,
        region_count: usize,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let mesh = examples.reference();
        let regions = Regions::spread(mesh, region_count);
        let gradients = DeformationGradients::from_rest(mesh)?;

        let mut polars = Vec::with_capacity(examples.count());
        let mut points: Vec<Vec<DVec3>> = Vec::with_capacity(examples.count());
        let mut alignments = Vec::with_capacity(examples.count());
        for example in 0..examples.count() {
            progress.proceed(STAGE, 0.5 * example as f64 / examples.count() as f64)?;
            let pose = examples.pose(example);
            polars.push(polar_decompositions(&gradients, pose)?);

            // Alignments are relative to the reference, example 0.
            points.push(control.at(pose));
            alignments.push(Alignment::of(&points[0], &points[example]));
        }

        let searching = ProgressPart {
            whole: progress,
            begin: 0.5,
            size: 0.5,
        };
        let distances = region_distances(&examples, &control, &regions, &searching)?;
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

    /// The indices of all examples.
    pub(crate) fn all_examples(&self) -> Vec<usize> {
        (0..self.examples.count()).collect()
    }

    pub(crate) fn triangle_count(&self) -> usize {
        self.regions.of_triangle.len()
    }

    /// The rest pose moved by the rigid motion of all control points.
    pub(crate) fn aligned_rest(&self, alignment: &Alignment) -> Vec<DVec3> {
        let rest = self.examples.reference().positions();
        rest.iter().map(|p| alignment.to_present(*p)).collect()
    }

    /// For each triangle, the rotation `R` for which `R S` is nearest to its deformation gradient
    /// in `positions`, with the given `stretches` `S`.
    pub(crate) fn refit(&self, positions: &[DVec3], stretches: &[DMat3]) -> Vec<DMat3> {
        let gradients = self
            .gradients
            .at(positions)
            .expect("one position per vertex");
        parallel::map(gradients.len(), TRIANGLES_PER_TASK, |t| {
            nearest_rotation(gradients[t] * stretches[t].transpose())
        })
    }
}

fn polar_decompositions(
    gradients: &DeformationGradients,
    pose: &[DVec3],
) -> Result<Vec<Polar>, LearnError> {
    let matrices = gradients.at(pose)?;
    Ok(parallel::map(matrices.len(), TRIANGLES_PER_TASK, |t| {
        Polar::of(matrices[t])
    }))
}

fn region_distances(
    examples: &Examples,
    control: &ControlPoints,
    regions: &Regions,
    progress: &dyn Progress,
) -> Result<Vec<Vec<f64>>, Stopped> {
    let mesh = examples.reference();
    // One search per control point; its distances serve all regions.
    let by_point = map_with_progress(progress, STAGE, control.count(), 1, |k| {
        let source = control.vertices()[k];
        across_components(mesh, source, distances_from(mesh, source))
    })?;

    let mut by_region = Vec::with_capacity(regions.count());
    for &seed in &regions.seeds {
        by_region.push(
            by_point
                .iter()
                .map(|distances| distances[seed as usize])
                .collect(),
        );
    }
    Ok(by_region)
}
