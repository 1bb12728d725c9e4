//! The trained details of a model.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::blend::blend_of;
use super::examples::DetailedExamples;
use super::maps::{HeightMaps, Heights, Lane};
use super::options::{DetailOptions, DetailSettings};
use super::regression::{DetailRegression, HeightGrams};
use super::surface::DetailSurface;
use crate::LearnError;
use crate::workbench::Workbench;

/// Heights that follow the control points, on a surface that follows the base.
#[derive(Debug)]
pub struct DetailLayer {
    surface: DetailSurface,
    maps: HeightMaps,
    regression: DetailRegression,
    options: DetailOptions,
    /// Whether control points are vertices of the detailed surface.
    steered: bool,
}

impl DetailLayer {
    /// Learns from all examples. The bench holds the base of the very examples.
    pub(crate) fn train(
        bench: &Workbench,
        detailed: Details,
        options: &DetailOptions,
    ) -> Result<Self, LearnError> {
        let Details {
            surface,
            heights,
            steered,
        } = detailed;
        let blend = || blend_of(bench.examples.reference(), &bench.control, &surface);
        let wanted = options.may_blend().then(blend);
        let grams = HeightGrams::of(&heights, wanted.as_deref(), bench.control.count());
        let regression = DetailRegression::train(bench, &grams, &bench.everything(), options)?;
        let maps = HeightMaps::new(
            &heights,
            wanted.as_deref().filter(|_| regression.is_blended()),
        );
        Ok(Self {
            surface,
            maps,
            regression,
            options: *options,
            steered,
        })
    }

    /// The detailed mesh in the reference pose of the base, without its heights: faces, groups and
    /// UVs.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        self.surface.mesh()
    }

    /// How often the base is subdivided.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.surface.levels()
    }

    /// What it was trained with.
    #[must_use]
    pub fn options(&self) -> &DetailOptions {
        &self.options
    }

    /// The settings in use, chosen or given; none for
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
        self.surface.raised(base, |v| heights[v])
    }

    /// What each example counts at `control`, to which `base` was driven.
    pub(crate) fn shares(
        &self,
        bench: &Workbench,
        control: &[DVec3],
        base: &[DVec3],
    ) -> DetailShares {
        DetailShares {
            of_regressions: self.regression.shares(bench, control, base),
        }
    }

    /// `h = H ω` into a buffer that is kept between frames: one pass over the maps. The buffer is
    /// read by [`raise`](Self::raise).
    ///
    /// # Panics
    /// If the shares are those of another model.
    pub fn sum_heights(&self, shares: &DetailShares, heights: &mut DetailHeights) {
        self.maps
            .sum_into(&shares.of_regressions, &mut heights.slots);
    }

    /// Eq. 4: `base` subdivided, with heights of [`sum_heights`](Self::sum_heights) added along its
    /// normals.
    ///
    /// # Panics
    /// If `base` has another length than the base mesh, or the heights are those of another model.
    #[must_use]
    pub fn raise(&self, base: &[DVec3], heights: &DetailHeights) -> Vec<DVec3> {
        self.surface
            .raised(base, |v| self.maps.at(&heights.slots, v))
    }

    /// The detailed positions over `base`, which was driven to `control`.
    pub(crate) fn pose(&self, bench: &Workbench, control: &[DVec3], base: &[DVec3]) -> Vec<DVec3> {
        let heights = self.summed(bench, control, base);
        self.surface.raised(base, |v| heights.at(v))
    }

    /// The heights at `control`, to which `base` was driven.
    fn summed(&self, bench: &Workbench, control: &[DVec3], base: &[DVec3]) -> Heights<'_> {
        self.maps.sum(&self.regression.shares(bench, control, base))
    }

    /// Whether control points are vertices of the detailed surface rather than of the base.
    #[must_use]
    pub fn is_steered(&self) -> bool {
        self.steered
    }

    /// Where the control points of the base are when those of the detailed surface are at
    /// `control`, and the base is about at `base`.
    pub(crate) fn base_goals(
        &self,
        bench: &Workbench,
        control: &[DVec3],
        base: &[DVec3],
    ) -> Vec<DVec3> {
        lowered(
            &self.surface,
            &self.summed(bench, control, base),
            bench,
            control,
            base,
        )
    }

    /// The heights alone, by vertex of the detailed mesh.
    pub(crate) fn heights(&self, bench: &Workbench, control: &[DVec3], base: &[DVec3]) -> Vec<f32> {
        let heights = self.summed(bench, control, base);
        (0..self.surface.vertex_count())
            .map(|v| heights.at(v))
            .collect()
    }
}

/// Places of control points that are vertices of the detailed surface, less the heights of them
/// over `base`.
pub(super) fn lowered(
    surface: &DetailSurface,
    heights: &Heights<'_>,
    bench: &Workbench,
    control: &[DVec3],
    base: &[DVec3],
) -> Vec<DVec3> {
    let normals = surface.normals(&surface.refine(base));
    let below = |(place, &v): (&DVec3, &u32)| {
        *place - normals[v as usize] * f64::from(heights.at(v as usize))
    };
    control
        .iter()
        .zip(bench.control.vertices())
        .map(below)
        .collect()
}

/// What each example's heights count in one pose.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailShares {
    /// A list over the examples for each regression.
    of_regressions: Vec<Vec<f32>>,
}

/// Heights of one pose, in the order that suits the memory.
#[derive(Debug, Clone, Default)]
pub struct DetailHeights {
    slots: Vec<Lane>,
}

/// A surface and the heights of each example on it.
#[derive(Debug, Clone)]
pub(crate) struct Details {
    pub(crate) surface: DetailSurface,
    pub(crate) heights: Vec<Vec<f32>>,
    /// Whether the detailed surface is what control points are vertices of, as when the base was
    /// made by smoothing.
    pub(crate) steered: bool,
}

impl DetailedExamples {
    pub(crate) fn into_parts(self) -> (crate::Examples, Details) {
        (self.base, self.details)
    }
}
