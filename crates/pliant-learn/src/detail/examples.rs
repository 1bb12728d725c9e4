//! Detailed examples: a smooth base in every pose, and heights above it.
//!
//! **Input.** Detailed poses with the vertices of the subdivided base; any surfaces (scans), one
//! for each pose, sampled along the normals; or the examples alone, whose smoothed shapes become
//! their bases.
//!
//! **Equation.** Smoothing moves a vertex `x` to `s`, also along the surface. Only the part along
//! the normal `n` of the smooth surface is used, `b = x + n (n·(s − x))`, so that heights reproduce
//! the example except for the difference between `n` and the normals of `b`:
//! [`DetailReport::beside_edges`].
//!
//! **Source.** Huang et al. 2012, section 5. Smoothing a registered set into its own base is
//! our own.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Smoother, SmoothingOptions};
use pliant_rig::Clip;

use super::layer::Details;
use super::rays::{RayHeights, heights_by_rays};
use super::surface::DetailSurface;
use crate::{Examples, LearnError};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// Statistics of the measured heights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DetailReport {
    /// RMS height over all examples, in mean edges of the detailed mesh.
    pub height_edges: f64,
    /// RMS of the tangential distances, which are not learned, in mean edges; zero for scans,
    /// which have no corresponding vertices.
    pub beside_edges: f64,
    /// For each example, the number of vertices whose ray met no surface; their heights are
    /// interpolated.
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
    /// The largest distance of a scan from the base, in mean edges of the base. *Chosen*: a crease
    /// is not deeper than its triangles are wide.
    pub const DEFAULT_REACH: f64 = 2.0;

    /// From detailed poses in the order of the examples, the reference first, with the vertices of
    /// the base subdivided `levels` times.
    ///
    /// # Errors
    /// A wrong number of poses or vertices; positions that are not finite.
    pub fn from_poses<'a>(
        base: Examples,
        levels: usize,
        poses: impl IntoIterator<Item = &'a [DVec3]>,
    ) -> Result<Self, LearnError> {
        let surface = DetailSurface::of(base.reference(), levels)?;
        Self::of_poses(base, surface, poses)
    }

    /// From a clip of detailed poses: vertex by vertex where its faces are those of the subdivided
    /// base, otherwise sampled along the normals.
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
        // The same triangles in any order identify the subdivided base.
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
        let mut vertices = base.vertex_count();
        let mut edges = base.topology().edges().len();
        let mut triangles = base.triangles().len();

        let mut levels = 0;
        // Each level splits edges and triangles: V + E, 2E + 3T, 4T.
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

        // Surplus poses are counted for the error message.
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
                controls_detailed_surface: false,
            },
            rms,
            Vec::new(),
        ))
    }

    /// From any surfaces in the order of the examples, the reference first. Each surface is read
    /// when it is needed and dropped afterwards. Rays have a length of `reach` mean edges of the
    /// base.
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

        // The reach is given in mean edges of the base.
        let reach = reach * base.reference().mean_edge_length();
        let mut heights = Vec::new();
        let mut missed = Vec::new();
        for (example, scan) in surfaces.into_iter().enumerate() {
            let scan = scan?;
            if example < base.count() {
                let RayHeights {
                    heights: found,
                    missed: count,
                } = heights_by_rays(&surface, base.pose(example), &scan, reach)?;
                heights.push(found);
                missed.push(count);
            } else {
                // Surplus surfaces are only counted, for the error message.
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
                controls_detailed_surface: false,
            },
            0.0,
            missed,
        ))
    }

    /// From detailed examples without a base: smoothing in `rounds` makes a base with the same
    /// faces.
    ///
    /// # Errors
    /// No rounds, or more than 10,000.
    pub fn by_smoothing(examples: &Examples, rounds: usize) -> Result<Self, LearnError> {
        if !(1..=10_000).contains(&rounds) {
            return Err(LearnError::BadNumber {
                what: "the smoothing of the details",
                value: rounds as f64,
                needed: "from 1 to 10000",
            });
        }

        let reference = examples.reference();
        // A smoothing step without a pass band would shrink fingertips to needles, whose normals
        // are useless.
        let smoothing = SmoothingOptions::default()
            .with_iterations(rounds)
            .with_pass_band(SmoothingOptions::DEFAULT_PASS_BAND);
        let smoother = Smoother::of(reference, &smoothing)?;
        let sheet = DetailSurface::of(reference, 0)?;
        let mut bases =
            (0..examples.count()).map(|i| flattened(&sheet, &smoother, examples.pose(i)));
        let reference = reference.posed(bases.next().expect("there is a reference"))?;

        let base = Examples::new(reference, bases.collect(), examples.names().to_vec())?
            .with_meters_per_unit(examples.meters_per_unit());
        let details = Self::from_poses(base, 0, (0..examples.count()).map(|i| examples.pose(i)))?;
        Ok(Self {
            details: Details {
                controls_detailed_surface: true,
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

        // RMS over all vertices of all examples.
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

    /// Statistics of the measured heights.
    #[must_use]
    pub fn report(&self) -> &DetailReport {
        &self.report
    }
}

/// Triangles with their least corner first, sorted: equal for the same faces in any order.
fn sorted_triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    let mut triangles = mesh.triangles().to_vec();
    for [a, b, c] in &mut triangles {
        let rotations = [[*a, *b, *c], [*b, *c, *a], [*c, *a, *b]];
        [*a, *b, *c] = rotations.into_iter().min().expect("three rotations");
    }
    triangles.sort_unstable();
    triangles
}

fn check_pose(pose: &[DVec3], example: usize, surface: &DetailSurface) -> Result<(), LearnError> {
    if pose.len() != surface.vertex_count() {
        return Err(LearnError::DetailSize {
            example,
            found: pose.len(),
            expected: surface.vertex_count(),
            levels: surface.levels(),
        });
    }
    match pose.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(LearnError::DetailNotFinite { example, vertex }),
        None => Ok(()),
    }
}

/// A pose without its fine detail: moved only along the normals of the smoothed pose.
fn flattened(sheet: &DetailSurface, smoother: &Smoother, pose: &[DVec3]) -> Vec<DVec3> {
    let smooth = smoother.smooth(pose);
    let normals = sheet.normals(&smooth);
    parallel::map(pose.len(), VERTICES_PER_TASK, |v| {
        pose[v] + normals[v] * normals[v].dot(smooth[v] - pose[v])
    })
}
