//! Examples with detail: a smooth base in every pose, and heights above it.
//!
//! **Sources.** Detailed poses whose vertices are those of the subdivided base; any surfaces
//! (scans), one for each pose, met along the normals; or the examples alone, which are then
//! smoothed to be their own base.
//!
//! **Equation.** Smoothing moves a vertex `x` to `s` and shifts it along the surface, too; only the
//! part along the normal `n` of the smooth surface is taken, `b = x + n (n·(s − x))`, so that
//! heights bring the example back, but for how far the normals of `b`, which heights stand on,
//! differ from `n`: [`DetailReport::beside_edges`].
//!
//! **Source.** Huang et al. 2012, section 5. Smoothing a registered set into its own base is
//! *ours*.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Smoother, SmoothingOptions};
use pliant_rig::Clip;

use super::layer::Details;
use super::rays::{Met, heights_by_rays};
use super::surface::DetailSurface;
use crate::{Examples, LearnError};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// What was found while heights were measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DetailReport {
    /// RMS height over all examples, in mean edges of the detailed mesh.
    pub height_edges: f64,
    /// RMS of what lies beside the normals and is not learned, in mean edges; zero for scans,
    /// which have no vertices to compare.
    pub beside_edges: f64,
    /// For each example how many vertices met no surface; they are filled smoothly.
    pub missed: Vec<usize>,
}

/// A base in every pose, with the heights of the detail above it.
#[derive(Debug, Clone)]
pub struct DetailedExamples {
    pub(super) base: Examples,
    pub(super) details: Details,
    report: DetailReport,
}

impl DetailedExamples {
    /// Pairs of smoothing steps. *Measured* on the hand specimen: at 40 the folds are gone from the
    /// base, while its fingers keep their thickness.
    pub const DEFAULT_SMOOTHING: usize = 40;
    /// How far a scan may be from the base, in mean edges of the base. *Ours*: a crease is no
    /// deeper than its triangles are wide.
    pub const DEFAULT_REACH: f64 = 2.0;

    /// From detailed poses in the order of the examples, the reference first, with the vertices of
    /// the base subdivided `levels` times.
    ///
    /// # Errors
    /// Another number of poses or vertices than it takes; positions that are not finite.
    pub fn from_poses<'a>(
        base: Examples,
        levels: usize,
        poses: impl IntoIterator<Item = &'a [DVec3]>,
    ) -> Result<Self, LearnError> {
        let surface = DetailSurface::of(base.reference(), levels)?;
        Self::of_poses(base, surface, poses)
    }

    /// From a clip of detailed poses: vertex by vertex where its faces are those of the subdivided
    /// base, else met along the normals.
    ///
    /// # Errors
    /// As [`from_poses`](Self::from_poses) and [`from_surfaces`](Self::from_surfaces).
    pub fn from_clip(
        base: Examples,
        levels: usize,
        reach: f64,
        clip: &Clip,
    ) -> Result<Self, LearnError> {
        let surface = DetailSurface::of(base.reference(), levels)?;
        let mesh = clip.reference();
        let poses =
            std::iter::once(mesh.positions()).chain(clip.frames().iter().map(Vec::as_slice));
        if surface.vertex_count() == mesh.vertex_count()
            && sorted_triangles(surface.mesh()) == sorted_triangles(mesh)
        {
            return Self::of_poses(base, surface, poses);
        }
        Self::of_surfaces(
            base,
            surface,
            reach,
            poses.map(|pose| Ok::<_, LearnError>(mesh.posed(pose.to_vec())?)),
        )
    }

    /// The levels that bring `base` nearest to the resolution of a detailed mesh: the first with
    /// three quarters of its vertices.
    #[must_use]
    pub fn levels_for(base: &Mesh, detailed_vertices: usize) -> usize {
        let (mut vertices, mut edges, mut triangles) = (
            base.vertex_count(),
            base.topology().edges().len(),
            base.triangles().len(),
        );
        let mut levels = 0;
        while 4 * vertices < 3 * detailed_vertices
            && levels < DetailSurface::MOST_LEVELS
            && triangles > 0
        {
            (vertices, edges, triangles) =
                (vertices + edges, 2 * edges + 3 * triangles, 4 * triangles);
            levels += 1;
        }
        levels
    }

    fn of_poses<'a>(
        base: Examples,
        surface: DetailSurface,
        poses: impl IntoIterator<Item = &'a [DVec3]>,
    ) -> Result<Self, LearnError> {
        let mut heights = Vec::with_capacity(base.count());
        let mut beside = 0.0;
        let mut poses = poses.into_iter();
        for (example, pose) in poses.by_ref().take(base.count()).enumerate() {
            check_pose(pose, example, &surface)?;
            let (found, rms) = surface.heights(base.pose(example), pose);
            heights.push(found);
            beside += rms * rms;
        }
        let found = heights.len() + poses.count();
        if found != base.count() {
            return Err(LearnError::DetailCount {
                found,
                expected: base.count(),
            });
        }
        let rms = (beside / base.count() as f64).sqrt();
        Ok(Self::assemble(
            base,
            Details {
                surface,
                heights,
                steered: false,
            },
            rms,
            Vec::new(),
        ))
    }

    /// From any surfaces in the order of the examples, the reference first, each asked for when it
    /// is needed and dropped after. Rays go `reach` mean edges of the base far.
    ///
    /// # Errors
    /// Another number of surfaces than examples, a reach that is not above zero, or whatever a
    /// surface fails with.
    pub fn from_surfaces<E: From<LearnError>>(
        base: Examples,
        levels: usize,
        reach: f64,
        surfaces: impl IntoIterator<Item = Result<Mesh, E>>,
    ) -> Result<Self, E> {
        let surface = DetailSurface::of(base.reference(), levels)?;
        Self::of_surfaces(base, surface, reach, surfaces)
    }

    fn of_surfaces<E: From<LearnError>>(
        base: Examples,
        surface: DetailSurface,
        reach: f64,
        surfaces: impl IntoIterator<Item = Result<Mesh, E>>,
    ) -> Result<Self, E> {
        if !(reach > 0.0 && reach.is_finite()) {
            return Err(LearnError::BadNumber {
                what: "the reach of the details",
                value: reach,
                needed: "a number above zero",
            }
            .into());
        }
        let reach = reach * base.reference().mean_edge_length();
        let (mut heights, mut missed) = (Vec::new(), Vec::new());
        for (example, scan) in surfaces.into_iter().enumerate() {
            let scan = scan?;
            if example < base.count() {
                let Met {
                    heights: found,
                    missed: count,
                } = heights_by_rays(&surface, base.pose(example), &scan, reach)?;
                heights.push(found);
                missed.push(count);
            } else {
                missed.push(0);
            }
        }
        if missed.len() != base.count() {
            return Err(LearnError::DetailCount {
                found: missed.len(),
                expected: base.count(),
            }
            .into());
        }
        Ok(Self::assemble(
            base,
            Details {
                surface,
                heights,
                steered: false,
            },
            0.0,
            missed,
        ))
    }

    /// From detailed examples without a base: `rounds` of smoothing make one with the same faces.
    ///
    /// # Errors
    /// No rounds, or more than make sense.
    pub fn by_smoothing(examples: &Examples, rounds: usize) -> Result<Self, LearnError> {
        if !(1..=10_000).contains(&rounds) {
            return Err(LearnError::BadNumber {
                what: "the smoothing of the details",
                value: rounds as f64,
                needed: "from 1 to 10000",
            });
        }
        let reference = examples.reference();
        // The plain step would shrink fingertips to needles, whose normals no height can stand on.
        let smoothing = SmoothingOptions::default()
            .with_iterations(rounds)
            .with_pass_band(SmoothingOptions::DEFAULT_PASS_BAND);
        let smoother = Smoother::of(reference, &smoothing)?;
        let sheet = DetailSurface::of(reference, 0)?;
        let mut bases =
            (0..examples.count()).map(|i| flattened(&sheet, &smoother, examples.pose(i)));
        let reference = reference.posed(bases.next().expect("there is a reference"))?;
        let base = Examples::new(reference, bases.collect(), examples.names().to_vec())?;
        let details = Self::from_poses(base, 0, (0..examples.count()).map(|i| examples.pose(i)))?;
        Ok(Self {
            details: Details {
                steered: true,
                ..details.details
            },
            ..details
        })
    }

    fn assemble(base: Examples, details: Details, beside: f64, missed: Vec<usize>) -> Self {
        let edge = details
            .surface
            .mesh()
            .mean_edge_length()
            .max(f64::MIN_POSITIVE);
        let squared: f64 = details
            .heights
            .iter()
            .flatten()
            .map(|&height| f64::from(height).powi(2))
            .sum();
        let count = (details.heights.len() * details.surface.vertex_count()).max(1);
        let report = DetailReport {
            height_edges: (squared / count as f64).sqrt() / edge,
            beside_edges: beside / edge,
            missed,
        };
        Self {
            base,
            details,
            report,
        }
    }

    /// The smooth examples.
    #[must_use]
    pub fn base(&self) -> &Examples {
        &self.base
    }

    /// The detailed mesh at the base's reference pose, without its heights.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        self.details.surface.mesh()
    }

    /// The heights of an example, by vertex of the detailed mesh.
    #[must_use]
    pub fn heights(&self, example: usize) -> &[f32] {
        &self.details.heights[example]
    }

    /// What was found while heights were measured.
    #[must_use]
    pub fn report(&self) -> &DetailReport {
        &self.report
    }
}

/// Each triangle from its least corner on, in order: equal for the same faces in any order.
fn sorted_triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    let turned = |&[a, b, c]: &[u32; 3]| {
        [[a, b, c], [b, c, a], [c, a, b]]
            .into_iter()
            .min()
            .expect("three turns")
    };
    let mut triangles: Vec<[u32; 3]> = mesh.triangles().iter().map(turned).collect();
    triangles.sort_unstable();
    triangles
}

fn check_pose(pose: &[DVec3], example: usize, surface: &DetailSurface) -> Result<(), LearnError> {
    if pose.len() != surface.vertex_count() {
        let (found, expected, levels) = (pose.len(), surface.vertex_count(), surface.levels());
        return Err(LearnError::DetailSize {
            example,
            found,
            expected,
            levels,
        });
    }
    match pose.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(LearnError::DetailNotFinite { example, vertex }),
        None => Ok(()),
    }
}

/// A pose without its fine detail: moved along the normals of its smoothed self only.
fn flattened(sheet: &DetailSurface, smoother: &Smoother, pose: &[DVec3]) -> Vec<DVec3> {
    let smooth = smoother.smooth(pose);
    let normals = sheet.normals(&smooth);
    parallel::map(pose.len(), VERTICES_PER_TASK, |v| {
        pose[v] + normals[v] * normals[v].dot(smooth[v] - pose[v])
    })
}
