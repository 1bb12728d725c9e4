//! Detail layer: trained heights on top of the base of a model.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::blend::blend_of;
use super::examples::DetailedExamples;
use super::maps::{HeightMaps, Heights, Lane};
use super::options::{DetailOptions, DetailSettings};
use super::regression::{DetailRegression, HeightGrams};
use super::surface::DetailSurface;
use crate::LearnError;
use crate::training::TrainingData;

/// Heights that depend on the control points, on the subdivided base.
#[derive(Debug)]
pub struct DetailLayer {
    surface: DetailSurface,
    maps: HeightMaps,
    regression: DetailRegression,
    options: DetailOptions,
    /// Whether control points are vertices of the detailed surface.
    controls_detailed_surface: bool,
}

impl DetailLayer {
    /// Trains on all examples; `data` holds their bases.
    pub(crate) fn train(
        data: &TrainingData,
        detailed: Details,
        options: &DetailOptions,
    ) -> Result<Self, LearnError> {
        let Details {
            surface,
            heights,
            controls_detailed_surface,
        } = detailed;
        let blend = options
            .may_blend()
            .then(|| blend_of(data.examples.reference(), &data.control, &surface));
        // The selection needs Gram matrices only.
        let grams = HeightGrams::of(&heights, blend.as_deref(), data.control.count());
        let regression = DetailRegression::train(data, &grams, &data.all_examples(), options)?;

        // The maps are sorted for the blend that the regression chose.
        let maps = HeightMaps::new(
            &heights,
            blend.as_deref().filter(|_| regression.is_blended()),
        );

        Ok(Self {
            surface,
            maps,
            regression,
            options: *options,
            controls_detailed_surface,
        })
    }

    /// The subdivided base in its reference pose, without heights: faces, groups and UVs.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        self.surface.mesh()
    }

    /// Number of subdivisions of the base.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.surface.levels()
    }

    /// The options of the training.
    #[must_use]
    pub fn options(&self) -> &DetailOptions {
        &self.options
    }

    /// The hyper-parameters, chosen or given; `None` for
    /// [`DetailMode::Static`](super::DetailMode::Static).
    #[must_use]
    pub fn settings(&self) -> Option<DetailSettings> {
        self.regression.settings
    }

    /// The heights of one example, by vertex of the detailed mesh.
    #[must_use]
    pub fn example_heights(&self, example: usize) -> Vec<f32> {
        self.maps.example(example)
    }

    /// Number of examples, the reference included.
    #[must_use]
    pub fn example_count(&self) -> usize {
        self.maps.examples()
    }

    /// The detailed positions of an example of the base.
    pub(crate) fn example(&self, base: &[DVec3], example: usize) -> Vec<DVec3> {
        let heights = self.maps.example(example);
        self.surface.displaced(base, |v| heights[v])
    }

    /// The weight of each example at `control`, where the base is `base`.
    pub(crate) fn weights(
        &self,
        data: &TrainingData,
        control: &[DVec3],
        base: &[DVec3],
    ) -> DetailWeights {
        DetailWeights {
            by_regression: self.regression.weights(data, control, base),
        }
    }

    /// `h = H ω` into a buffer that is reused between frames: one pass over the height maps.
    /// [`displace`](Self::displace) reads the buffer.
    ///
    /// # Panics
    /// If the weights belong to another model.
    pub fn sum_heights(&self, weights: &DetailWeights, heights: &mut DetailHeights) {
        self.maps
            .sum_into(&weights.by_regression, &mut heights.slots);
    }

    /// Eq. 4: `base` subdivided, with heights of [`sum_heights`](Self::sum_heights) added along its
    /// normals.
    ///
    /// # Panics
    /// If `base` has another length than the base mesh, or the heights belong to another model.
    #[must_use]
    pub fn displace(&self, base: &[DVec3], heights: &DetailHeights) -> Vec<DVec3> {
        self.surface
            .displaced(base, |v| self.maps.at(&heights.slots, v))
    }

    /// The detailed positions at `control`, where the base is `base`.
    pub(crate) fn pose(
        &self,
        data: &TrainingData,
        control: &[DVec3],
        base: &[DVec3],
    ) -> Vec<DVec3> {
        let heights = self.summed(data, control, base);
        self.surface.displaced(base, |v| heights.at(v))
    }

    /// The heights at `control`, where the base is `base`.
    fn summed(&self, data: &TrainingData, control: &[DVec3], base: &[DVec3]) -> Heights<'_> {
        self.maps.sum(&self.regression.weights(data, control, base))
    }

    /// Whether control points are vertices of the detailed surface rather than of the base.
    #[must_use]
    pub fn controls_detailed_surface(&self) -> bool {
        self.controls_detailed_surface
    }

    /// Goals of the control points on the base, for goals `control` on the detailed surface; `base`
    /// is an estimate of the base.
    pub(crate) fn base_goals(
        &self,
        data: &TrainingData,
        control: &[DVec3],
        base: &[DVec3],
    ) -> Vec<DVec3> {
        base_control_points(
            &self.surface,
            &self.summed(data, control, base),
            data,
            control,
            base,
        )
    }

    /// The heights alone, by vertex of the detailed mesh.
    pub(crate) fn heights(
        &self,
        data: &TrainingData,
        control: &[DVec3],
        base: &[DVec3],
    ) -> Vec<f32> {
        let heights = self.summed(data, control, base);
        (0..self.surface.vertex_count())
            .map(|v| heights.at(v))
            .collect()
    }
}

/// Positions of control points on the detailed surface, minus their heights over `base`.
pub(super) fn base_control_points(
    surface: &DetailSurface,
    heights: &Heights<'_>,
    data: &TrainingData,
    control: &[DVec3],
    base: &[DVec3],
) -> Vec<DVec3> {
    let normals = surface.normals(&surface.refine(base));
    let mut points = Vec::with_capacity(control.len());
    for (position, &v) in control.iter().zip(data.control.vertices()) {
        let v = v as usize;
        points.push(*position - normals[v] * f64::from(heights.at(v)));
    }
    points
}

/// The weight of each example's heights in one pose.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailWeights {
    /// By regression and example.
    by_regression: Vec<Vec<f32>>,
}

/// Heights of one pose, in the memory order of the height maps.
#[derive(Debug, Clone, Default)]
pub struct DetailHeights {
    slots: Vec<Lane>,
}

/// A smooth surface and the heights of each example on it.
#[derive(Debug, Clone)]
pub(crate) struct Details {
    pub(crate) surface: DetailSurface,
    pub(crate) heights: Vec<Vec<f32>>,
    /// Whether control points are vertices of the detailed surface, as for a base that was made by
    /// smoothing.
    pub(crate) controls_detailed_surface: bool,
}

impl DetailedExamples {
    pub(crate) fn into_parts(self) -> (crate::Examples, Details) {
        (self.base, self.details)
    }
}
