//! Registration of several scans with a reference: a coarse and a fine clip of poses.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{LoopSubdivision, Mesh, Progress, vertex_normals};
use pliant_rig::Clip;
use pliant_transfer::{Markers, register};

use super::low_resolution::{coarsened, even_edge, faired, relaxed};
use super::nearest_pose::nearest_start;
use super::normal_displacements::{NormalDisplacements, ScanSurface, normal_displacements};
use super::options::ScanOptions;
use super::report::{Fit, ScanDistance, ScanReport, flipped_triangles, folded_triangles};
use super::rigid_alignment::{align_by_markers, refine_by_closest_points};
use crate::LearnError;

/// Rounds in which heights that flip triangles are replaced by interpolated ones.
const SMOOTHINGS: usize = 4;
/// Rounds in which they are then halved.
const HALVINGS: usize = 40;

/// One example: a mesh of its own, with markers on the reference.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Its name in messages, and the name of its frame.
    pub name: String,
    /// The surface.
    pub mesh: Mesh,
    /// Pairs of a reference vertex and the corresponding vertex of the scan.
    pub markers: Markers,
}

/// Scans as poses of one mesh: the coarse clip and the fine one, with a frame for each example.
#[derive(Debug, Clone)]
pub struct ScanRegistration {
    /// `P̃`: smooth poses of few vertices, for the large deformation.
    pub low: Clip,
    /// The low clip subdivided and displaced along its normals onto the scans.
    pub high: Clip,
    /// The quality of the reference and then of each example.
    pub reports: Vec<ScanReport>,
    /// Warnings, one sentence each.
    pub warnings: Vec<String>,
}

impl ScanRegistration {
    /// Registers `scans` with `reference`; both clips are in its frame.
    ///
    /// # Errors
    /// A mesh without faces or with positions that are not finite, fewer than three markers or
    /// markers on a line, an example with another number of connected components, options out of
    /// range, cancelled work. The error names the scan.
    pub fn of(
        reference: &Mesh,
        scans: &[Scan],
        options: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        options.check()?;
        progress.proceed("smoothing the reference", 0.0)?;
        let template =
            Template::new(reference, scans, options).map_err(in_scan(ScanReport::REFERENCE))?;
        let mut aligned = Vec::with_capacity(scans.len());
        for scan in scans {
            let scan = template
                .align(reference, scan)
                .map_err(in_scan(&scan.name))?;
            aligned.push(scan);
        }

        // The reference is the first registered pose.
        let reference_pose = template
            .pose_of_reference(reference)
            .map_err(in_scan(ScanReport::REFERENCE))?;
        let examples = template.register_all(scans, &aligned, &reference_pose, progress)?;
        let mut poses = vec![reference_pose];
        poses.extend(examples);
        template.finish(poses, scans)
    }
}

fn in_scan(name: &str) -> impl FnOnce(LearnError) -> LearnError {
    let scan = name.to_owned();
    move |source| LearnError::InScan {
        scan,
        source: Box::new(source),
    }
}

/// The coarse reference and its subdivision, the template of all poses.
struct Template<'a> {
    options: &'a ScanOptions,
    /// `P̄₀`.
    low: Mesh,
    /// The reference vertex of each coarse vertex.
    sources: Vec<u32>,
    /// Whether each coarse triangle is folded over in the reference already.
    folded: Vec<bool>,
    subdivision: LoopSubdivision,
    /// The unit of smoothing and reach.
    edge: f64,
    diagonal: f64,
    components: usize,
    budget_met: bool,
}

/// A scan in the frame of the reference.
struct AlignedScan {
    /// From the scan to the reference.
    motion: RigidMotion,
    /// Coarse vertices at markers, with the vertices of the scan.
    pairs: Vec<(u32, u32)>,
    /// Coarse vertices at markers, with their positions.
    goals: Vec<(u32, DVec3)>,
    /// RMS distance of the markers, relative to the diagonal.
    rigid: f64,
}

/// One scan as a pose of both meshes.
struct ScanPose {
    low: Vec<DVec3>,
    high: Vec<DVec3>,
    report: ScanReport,
}

impl<'a> Template<'a> {
    fn new(reference: &Mesh, scans: &[Scan], options: &'a ScanOptions) -> Result<Self, LearnError> {
        reference.require_surface()?;
        let diagonal = reference.bounds().map_or(0.0, |bounds| bounds.diagonal());
        if diagonal <= 0.0 {
            return Err(LearnError::NoExtent);
        }
        let vertices = options.vertices_for(reference.vertex_count());
        let edge = even_edge(reference, vertices);
        let smooth = faired(reference, options.smoothing * edge)?;

        // Vertices at markers stay in the coarse mesh.
        let kept = marker_vertices(reference, scans);
        let coarse = coarsened(&smooth, vertices, &kept)?;
        let fixed: Vec<u32> = kept
            .iter()
            .filter_map(|v| coarse.sources().binary_search(v).ok())
            .map(|v| v as u32)
            .collect();
        let low = relaxed(coarse.mesh(), &smooth, &fixed)?;
        Ok(Self {
            options,
            subdivision: LoopSubdivision::levels(&low, options.levels)?,
            sources: coarse.sources().to_vec(),
            folded: folded_triangles(&low),
            edge,
            diagonal,
            components: reference.topology().component_count(),
            budget_met: coarse.budget_met(),
            low,
        })
    }

    fn pose_of_reference(&self, reference: &Mesh) -> Result<ScanPose, LearnError> {
        let low = self.low.positions().to_vec();
        self.displace(ScanReport::REFERENCE, low, reference, Fit::default())
    }

    /// Aligns a scan rigidly with the reference.
    fn align(&self, reference: &Mesh, scan: &Scan) -> Result<AlignedScan, LearnError> {
        scan.mesh.require_surface()?;
        let components = scan.mesh.topology().component_count();
        if components != self.components {
            return Err(LearnError::OtherParts {
                found: components,
                expected: self.components,
            });
        }

        let markers = scan.markers.distinct();
        let mut motion = align_by_markers(reference, &scan.mesh, &markers)?;
        if self.options.icp > 0 {
            motion = refine_by_closest_points(reference, &scan.mesh, motion, self.options.icp)?;
        }

        let aligned = |b: u32| motion.apply(scan.mesh.positions()[b as usize]);
        let squares = markers
            .pairs()
            .iter()
            .map(|&(a, b)| reference.positions()[a as usize].distance_squared(aligned(b)));
        let rigid = self.relative_rms(squares);
        // A marker on a vertex without faces has no coarse vertex, and is ignored from here on.
        let mut pairs = Vec::with_capacity(markers.pairs().len());
        for &(a, b) in markers.pairs() {
            if let Ok(v) = self.sources.binary_search(&a) {
                pairs.push((v as u32, b));
            }
        }
        Ok(AlignedScan {
            goals: pairs.iter().map(|&(v, b)| (v, aligned(b))).collect(),
            motion,
            pairs,
            rigid,
        })
    }

    /// Registers all scans, each from the nearest registered pose.
    fn register_all(
        &self,
        scans: &[Scan],
        aligned: &[AlignedScan],
        reference_pose: &ScanPose,
        progress: &dyn Progress,
    ) -> Result<Vec<ScanPose>, LearnError> {
        let goals: Vec<Vec<(u32, DVec3)>> = aligned.iter().map(|scan| scan.goals.clone()).collect();
        let mut registered = vec![reference_pose.low.clone()];
        let mut waiting: Vec<usize> = (0..scans.len()).collect();
        let mut poses: Vec<Option<ScanPose>> = scans.iter().map(|_| None).collect();
        while !waiting.is_empty() {
            // Without a chain, every scan starts from the reference.
            let usable = if self.options.chain {
                registered.len()
            } else {
                1
            };
            let start = nearest_start(&registered[..usable], &goals, &waiting)?;
            let scan = &scans[start.scan];
            let done = registered.len() as f64 / (scans.len() + 1) as f64;
            progress.proceed(&scan.name, done)?;

            let from = registered[start.pose].iter();
            let rest = from.map(|&p| start.motion.apply(p)).collect();
            let pose = self
                .register_scan(scan, &aligned[start.scan], rest)
                .map_err(in_scan(&scan.name))?;
            registered.push(pose.low.clone());
            poses[start.scan] = Some(pose);
            waiting.retain(|&k| k != start.scan);
        }
        Ok(poses.into_iter().flatten().collect())
    }

    /// The coarse mesh, deformed from `rest` onto the scan.
    fn register_scan(
        &self,
        scan: &Scan,
        aligned: &AlignedScan,
        rest: Vec<DVec3>,
    ) -> Result<ScanPose, LearnError> {
        let mesh = moved(&scan.mesh, aligned.motion)?;
        // The coarse mesh cannot follow wrinkles; they are part of the heights.
        let smooth = faired(&mesh, self.options.smoothing * self.edge)?;
        let goals: Vec<(u32, DVec3)> = aligned
            .pairs
            .iter()
            .map(|&(v, b)| (v, smooth.positions()[b as usize]))
            .collect();

        let options = self.options.registration_for(self.edge / self.diagonal);
        let low = register(&self.low, &smooth, rest, &goals, &options)?;
        let squares = goals
            .iter()
            .map(|&(v, goal)| low[v as usize].distance_squared(goal));
        let fit = Fit {
            rigid: aligned.rigid,
            markers: self.relative_rms(squares),
        };
        self.displace(&scan.name, low, &mesh, fit)
    }

    /// The root of the mean of squared distances, relative to the diagonal.
    fn relative_rms(&self, squares: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = squares.len().max(1) as f64;
        (squares.sum::<f64>() / count).sqrt() / self.diagonal
    }

    /// A coarse pose with its subdivision displaced onto `scan`.
    fn displace(
        &self,
        name: &str,
        low: Vec<DVec3>,
        scan: &Mesh,
        fit: Fit,
    ) -> Result<ScanPose, LearnError> {
        let subdivided = self.subdivision.apply(&low);
        // The smooth base of this pose, and its heights.
        let base = self.subdivision.mesh().posed(subdivided)?;
        let normals = vertex_normals(&base);
        let surface = ScanSurface::new(scan)?;
        let limit = self.options.reach * self.edge;
        let heights = normal_displacements(&surface, base.positions(), &normals, limit);
        let high = displaced_without_flips(&base, &normals, &heights)?;

        let report = ScanReport {
            name: name.to_owned(),
            rigid: fit.rigid,
            markers: fit.markers,
            before: ScanDistance::of(scan, &base, self.diagonal)?,
            after: ScanDistance::of(scan, &high, self.diagonal)?,
            missed: heights.missed.len(),
            flipped_low: self.newly_folded(&low)?,
            flipped_high: flipped_triangles(&base, &high).len(),
        };
        Ok(ScanPose {
            low,
            high: high.positions().to_vec(),
            report,
        })
    }

    /// Number of coarse triangles that are folded over in a pose but not in the reference, which
    /// may have narrow folds.
    fn newly_folded(&self, low: &[DVec3]) -> Result<usize, LearnError> {
        let folded = folded_triangles(&self.low.posed(low.to_vec())?);
        let pairs = folded.into_iter().zip(&self.folded);
        Ok(pairs.filter(|(now, before)| *now && !**before).count())
    }

    fn finish(self, poses: Vec<ScanPose>, scans: &[Scan]) -> Result<ScanRegistration, LearnError> {
        let mut low = Vec::new();
        let mut high = Vec::new();
        let mut reports = Vec::new();
        for pose in poses {
            low.push(pose.low);
            high.push(pose.high);
            reports.push(pose.report);
        }

        // Warnings of all scans, then of the coarse mesh.
        let mut warnings = Vec::new();
        for report in &reports {
            warnings.extend(report.warnings(self.subdivision.mesh()));
        }
        if !self.budget_met {
            warnings.push(format!(
                "the coarse mesh has {} vertices: fewer would change its topology",
                self.low.vertex_count()
            ));
        }
        Ok(ScanRegistration {
            low: clip("low", &self.low, low, scans)?,
            high: clip("high", self.subdivision.mesh(), high, scans)?,
            reports,
            warnings,
        })
    }
}

/// The reference vertices of all markers. Indices out of range are left to the alignment, which
/// names the scan.
fn marker_vertices(reference: &Mesh, scans: &[Scan]) -> Vec<u32> {
    let mut vertices = Vec::new();
    for scan in scans {
        for &(a, _) in scan.markers.pairs() {
            if (a as usize) < reference.vertex_count() {
                vertices.push(a);
            }
        }
    }
    vertices
}

/// A clip of poses, the first of which is the reference.
fn clip(
    name: &str,
    mesh: &Mesh,
    mut frames: Vec<Vec<DVec3>>,
    scans: &[Scan],
) -> Result<Clip, LearnError> {
    let reference = mesh.posed(frames.remove(0))?;
    let names = scans.iter().map(|scan| scan.name.clone()).collect();
    Ok(Clip::new(name, reference, frames)?.with_frame_names(names))
}

/// The displaced base. Heights that flip triangles are interpolated in a growing neighbourhood, and
/// then halved if that is not enough: without heights, no triangle is flipped.
fn displaced_without_flips(
    base: &Mesh,
    normals: &[DVec3],
    measured: &NormalDisplacements,
) -> Result<Mesh, LearnError> {
    let mut unknown = measured.missed.clone();
    let mut heights = measured.filled(base, &unknown)?;
    let mut high = displaced(base, normals, &heights)?;
    for round in 0..SMOOTHINGS + HALVINGS {
        let flipped = flipped_triangles(base, &high);
        if flipped.is_empty() {
            break;
        }

        let around = neighborhood(base, &flipped);
        // Interpolation first, because it keeps the shape; halving always ends.
        if round < SMOOTHINGS {
            unknown.extend(around);
            unknown.sort_unstable();
            unknown.dedup();
            heights = measured.filled(base, &unknown)?;
        } else {
            for v in around {
                heights[v as usize] *= 0.5;
            }
        }
        high = displaced(base, normals, &heights)?;
    }
    Ok(high)
}

/// The neighbours of all corners of some triangles, ascending.
fn neighborhood(mesh: &Mesh, triangles: &[usize]) -> Vec<u32> {
    let neighbors = mesh.topology().vertex_neighbors();
    let mut around = Vec::new();
    for &t in triangles {
        for v in mesh.triangles()[t] {
            around.extend_from_slice(neighbors.row(v as usize));
        }
    }
    around.sort_unstable();
    around.dedup();
    around
}

fn displaced(base: &Mesh, normals: &[DVec3], heights: &[f64]) -> Result<Mesh, LearnError> {
    let each = base.positions().iter().zip(normals).zip(heights);
    Ok(base.posed(each.map(|((x, n), h)| *x + *n * *h).collect())?)
}

pub(super) fn moved(mesh: &Mesh, motion: RigidMotion) -> Result<Mesh, LearnError> {
    Ok(mesh.posed(mesh.positions().iter().map(|&p| motion.apply(p)).collect())?)
}
