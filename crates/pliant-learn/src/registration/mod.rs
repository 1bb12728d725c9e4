//! Scans of one subject as poses of one mesh.
//!
//! **Problem.** A reference scan and several examples, each with triangles, place and resolution of
//! its own, and a few corresponding points between the reference and each. Find one mesh that takes
//! the shape of all, coarse and smooth for the large deformation, fine for what is left.
//!
//! **Method.**
//!
//! ```text
//! Pᵢ  the scan, brought rigidly into the frame of the reference P₀          rigid_alignment
//! P̄ᵢ  without wrinkles; P̄₀ also with few, evenly spread vertices           low_resolution
//! P̃ᵢ  P̄₀, or the P̃ⱼ most like Pᵢ, deformed onto P̄ᵢ, markers on markers     nearest_pose, pliant_transfer::register
//! Ŝᵢ  P̃ᵢ subdivided, displaced along its normals by hᵢ so as to meet Pᵢ    normal_displacements
//! ```
//!
//! **Source.** Huang, Yin, Zhao, Qi, Yu and Tong, "Detail-Preserving Controllable Deformation from
//! Sparse Examples", 2012, section 5.
//!
//! **Ours.** The paper deforms by deformation transfer's correspondence (Sumner and Popović 2004);
//! ours is the registration of the transfer, with the same three terms (smooth, near to rest,
//! closest valid points) and the markers. Examples are smoothed but not retiled, and deformed from
//! the nearest pose that is known.

mod low_resolution;
mod nearest_pose;
mod normal_displacements;
mod options;
mod report;
mod rigid_alignment;
#[cfg(test)]
mod tests;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{LoopSubdivision, Mesh, Progress, vertex_normals};
use pliant_rig::Clip;
use pliant_transfer::{Markers, register};

use crate::LearnError;
use crate::model::report as go_on;
use low_resolution::{coarsened, even_edge, faired, relaxed};
use nearest_pose::nearest_start;
use normal_displacements::NormalDisplacements;
use report::{Fit, folded_triangles, turned_triangles};
use rigid_alignment::{align_by_markers, refine_by_closest_points};

pub(crate) use normal_displacements::{ScanSurface, normal_displacements};
pub use options::ScanOptions;
pub use report::{ScanDistance, ScanReport};

/// Rounds in which heights that turn triangles over are replaced by smooth ones.
const SMOOTHINGS: usize = 4;

/// Rounds in which they are then halved.
const LOWERINGS: usize = 40;

/// One example: a mesh of its own, and where it corresponds to the reference.
#[derive(Debug, Clone)]
pub struct Scan {
    /// How messages and the frame call it.
    pub name: String,
    /// The surface.
    pub mesh: Mesh,
    /// Pairs of a reference vertex and the scan's vertex at the same spot.
    pub markers: Markers,
}

/// Scans as poses of one mesh: the coarse clip and the fine one, with a frame for each example.
#[derive(Debug, Clone)]
pub struct ScanRegistration {
    /// `P̃`: smooth poses of few vertices, for the large deformation.
    pub low: Clip,
    /// The low clip subdivided and displaced along its normals onto the scans.
    pub high: Clip,
    /// How well the reference and then each example went.
    pub reports: Vec<ScanReport>,
    /// What a person should know, one sentence each.
    pub problems: Vec<String>,
}

impl ScanRegistration {
    /// Registers `scans` with `reference`; both clips are in its frame.
    ///
    /// # Errors
    /// A mesh without faces or with positions that are not finite, fewer than three markers or
    /// markers on a line, an example of another number of connected parts, options out of
    /// range, work that was cancelled. The scan is named.
    pub fn of(
        reference: &Mesh,
        scans: &[Scan],
        options: &ScanOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        options.check()?;
        go_on(progress, "smoothing the reference", 0.0)?;
        let table =
            Table::new(reference, scans, options).map_err(in_scan(ScanReport::REFERENCE))?;
        let named = |k: usize| in_scan(&scans[k].name);
        let placed: Vec<Placed> = (0..scans.len())
            .map(|k| table.placed(reference, &scans[k]).map_err(named(k)))
            .collect::<Result<_, _>>()?;
        let goals: Vec<Vec<(u32, DVec3)>> =
            placed.iter().map(|placed| placed.goals.clone()).collect();
        let mut posed = vec![
            table
                .pose_of_reference(reference)
                .map_err(in_scan(ScanReport::REFERENCE))?,
        ];
        let mut known = vec![posed[0].low.clone()];
        let mut waiting: Vec<usize> = (0..scans.len()).collect();
        let mut found: Vec<Option<Posed>> = scans.iter().map(|_| None).collect();
        while !waiting.is_empty() {
            let usable = if options.chain { known.len() } else { 1 };
            let start = nearest_start(&known[..usable], &goals, &waiting)?;
            go_on(
                progress,
                &scans[start.scan].name,
                known.len() as f64 / (scans.len() + 1) as f64,
            )?;
            let rest = known[start.pose]
                .iter()
                .map(|&p| start.motion.apply(p))
                .collect();
            let pose = table
                .pose_of(&scans[start.scan], &placed[start.scan], rest)
                .map_err(named(start.scan))?;
            known.push(pose.low.clone());
            found[start.scan] = Some(pose);
            waiting.retain(|&k| k != start.scan);
        }
        posed.extend(found.into_iter().flatten());
        table.concluded(posed, scans)
    }
}

fn in_scan(name: &str) -> impl FnOnce(LearnError) -> LearnError {
    let scan = name.to_owned();
    move |source| LearnError::InScan {
        scan,
        source: Box::new(source),
    }
}

/// What all scans share: the coarse reference and its subdivision.
struct Table<'a> {
    options: &'a ScanOptions,
    /// `P̄₀`.
    low: Mesh,
    /// For each coarse vertex the vertex of the reference that it is.
    sources: Vec<u32>,
    /// Whether each coarse triangle faces against those around it in the reference already.
    folded: Vec<bool>,
    subdivision: LoopSubdivision,
    /// The length in which smoothing and reach are given.
    edge: f64,
    diagonal: f64,
    parts: usize,
    budget_met: bool,
}

/// A scan in the frame of the reference.
struct Placed {
    /// Takes it there.
    motion: RigidMotion,
    /// Coarse vertices at markers, with the scan's vertices.
    pairs: Vec<(u32, u32)>,
    /// Coarse vertices at markers, with their places.
    goals: Vec<(u32, DVec3)>,
    /// How far markers are apart, root mean square over the diagonal.
    rigid: f64,
}

/// One scan as a pose of both meshes.
struct Posed {
    low: Vec<DVec3>,
    high: Vec<DVec3>,
    report: ScanReport,
}

impl<'a> Table<'a> {
    fn new(reference: &Mesh, scans: &[Scan], options: &'a ScanOptions) -> Result<Self, LearnError> {
        reference.require_surface()?;
        let diagonal = reference.bounds().map_or(0.0, |bounds| bounds.diagonal());
        if diagonal <= 0.0 {
            return Err(LearnError::NoExtent);
        }
        let vertices = options.vertices_for(reference.vertex_count());
        let edge = even_edge(reference, vertices);
        let smooth = faired(reference, options.smoothing * edge)?;
        let mut kept: Vec<u32> = scans
            .iter()
            .flat_map(|scan| scan.markers.pairs())
            .map(|&(a, _)| a)
            .collect();
        kept.retain(|&v| (v as usize) < reference.vertex_count()); // Those beyond are told with the name of their scan.
        let coarse = coarsened(&smooth, vertices, &kept)?;
        let markers = kept
            .iter()
            .filter_map(|v| coarse.sources().binary_search(v).ok())
            .map(|v| v as u32);
        let low = relaxed(coarse.mesh(), &smooth, &markers.collect::<Vec<_>>())?;
        Ok(Self {
            options,
            subdivision: LoopSubdivision::levels(&low, options.levels)?,
            sources: coarse.sources().to_vec(),
            folded: folded_triangles(&low),
            edge,
            diagonal,
            parts: reference.topology().component_count(),
            budget_met: coarse.budget_met(),
            low,
        })
    }

    fn pose_of_reference(&self, reference: &Mesh) -> Result<Posed, LearnError> {
        self.displaced(
            ScanReport::REFERENCE,
            self.low.positions().to_vec(),
            reference,
            Fit::default(),
        )
    }

    /// Where a scan lies in the frame of the reference.
    fn placed(&self, reference: &Mesh, scan: &Scan) -> Result<Placed, LearnError> {
        scan.mesh.require_surface()?;
        let parts = scan.mesh.topology().component_count();
        if parts != self.parts {
            return Err(LearnError::OtherParts {
                found: parts,
                expected: self.parts,
            });
        }
        let markers = scan.markers.distinct();
        let mut motion = align_by_markers(reference, &scan.mesh, &markers)?;
        if self.options.icp > 0 {
            motion = refine_by_closest_points(reference, &scan.mesh, motion, self.options.icp)?;
        }
        let place = |b: u32| motion.apply(scan.mesh.positions()[b as usize]);
        let apart = markers
            .pairs()
            .iter()
            .map(|&(a, b)| reference.positions()[a as usize].distance_squared(place(b)));
        let rigid = self.root_mean(apart);
        // A marker on a vertex without faces has no coarse vertex, and no say from here on.
        let coarse = |a: u32| self.sources.binary_search(&a).ok().map(|v| v as u32);
        let pairs: Vec<(u32, u32)> = markers
            .pairs()
            .iter()
            .filter_map(|&(a, b)| Some((coarse(a)?, b)))
            .collect();
        let goals = pairs.iter().map(|&(v, b)| (v, place(b))).collect();
        Ok(Placed {
            motion,
            pairs,
            goals,
            rigid,
        })
    }

    /// The coarse mesh, from `rest` over the scan, deformed onto it.
    fn pose_of(&self, scan: &Scan, placed: &Placed, rest: Vec<DVec3>) -> Result<Posed, LearnError> {
        let aligned = moved(&scan.mesh, placed.motion)?;
        let smooth = faired(&aligned, self.options.smoothing * self.edge)?;
        let goals: Vec<(u32, DVec3)> = placed
            .pairs
            .iter()
            .map(|&(v, b)| (v, smooth.positions()[b as usize]))
            .collect();
        let low = register(
            &self.low,
            &smooth,
            rest,
            &goals,
            &self.options.registration_for(self.edge / self.diagonal),
        )?;
        let markers = self.root_mean(
            goals
                .iter()
                .map(|&(v, place)| low[v as usize].distance_squared(place)),
        );
        self.displaced(
            &scan.name,
            low,
            &aligned,
            Fit {
                rigid: placed.rigid,
                markers,
            },
        )
    }

    /// The root of the mean of squared distances, over the diagonal.
    fn root_mean(&self, squares: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = squares.len().max(1) as f64;
        (squares.sum::<f64>() / count).sqrt() / self.diagonal
    }

    /// A coarse pose with its subdivision displaced onto `scan`.
    fn displaced(
        &self,
        name: &str,
        low: Vec<DVec3>,
        scan: &Mesh,
        fit: Fit,
    ) -> Result<Posed, LearnError> {
        let base = self
            .subdivision
            .mesh()
            .posed(self.subdivision.apply(&low))?;
        let normals = vertex_normals(&base);
        let surface = ScanSurface::new(scan)?;
        let found = normal_displacements(
            &surface,
            base.positions(),
            &normals,
            self.options.reach * self.edge,
        );
        let high = unfolded(&base, &normals, &found)?;
        let report = ScanReport {
            name: name.to_owned(),
            rigid: fit.rigid,
            markers: fit.markers,
            before: ScanDistance::of(scan, &base, self.diagonal)?,
            after: ScanDistance::of(scan, &high, self.diagonal)?,
            missed: found.missed.len(),
            flipped_low: self.newly_folded(&low)?,
            flipped_high: turned_triangles(&base, &high).len(),
        };
        Ok(Posed {
            low,
            high: high.positions().to_vec(),
            report,
        })
    }

    /// Coarse triangles that are folded over in a pose and not in the reference, where narrow folds
    /// may be.
    fn newly_folded(&self, low: &[DVec3]) -> Result<usize, LearnError> {
        let folded = folded_triangles(&self.low.posed(low.to_vec())?);
        Ok(folded
            .into_iter()
            .zip(&self.folded)
            .filter(|(now, before)| *now && !**before)
            .count())
    }

    fn concluded(self, posed: Vec<Posed>, scans: &[Scan]) -> Result<ScanRegistration, LearnError> {
        let (mut low, mut high, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for pose in posed {
            low.push(pose.low);
            high.push(pose.high);
            reports.push(pose.report);
        }
        let mut problems: Vec<String> = reports
            .iter()
            .flat_map(|report| report.problems(self.subdivision.mesh()))
            .collect();
        if !self.budget_met {
            problems.push(format!(
                "the coarse mesh has {} vertices: fewer would change its topology",
                self.low.vertex_count()
            ));
        }
        let names: Vec<String> = scans.iter().map(|scan| scan.name.clone()).collect();
        let clip =
            |name: &str, mesh: &Mesh, mut frames: Vec<Vec<DVec3>>| -> Result<Clip, LearnError> {
                let reference = mesh.posed(frames.remove(0))?;
                Ok(Clip::new(name, reference, frames)?.with_frame_names(names.clone()))
            };
        Ok(ScanRegistration {
            low: clip("low", &self.low, low)?,
            high: clip("high", self.subdivision.mesh(), high)?,
            reports,
            problems,
        })
    }
}

/// The base displaced; heights that turn triangles over are replaced by smooth ones in a
/// surrounding that grows, and where that is not enough by lower ones: without any height nothing
/// is turned over.
fn unfolded(
    base: &Mesh,
    normals: &[DVec3],
    found: &NormalDisplacements,
) -> Result<Mesh, LearnError> {
    let mut unknown = found.missed.clone();
    let mut heights = found.filled(base, &unknown)?;
    let mut high = raised(base, normals, &heights)?;
    for round in 0..SMOOTHINGS + LOWERINGS {
        let folded = turned_triangles(base, &high);
        if folded.is_empty() {
            break;
        }
        let corners = folded.iter().flat_map(|&t| base.triangles()[t]);
        let mut around: Vec<u32> = corners
            .flat_map(|v| {
                base.topology()
                    .vertex_neighbors()
                    .row(v as usize)
                    .iter()
                    .copied()
            })
            .collect();
        around.sort_unstable();
        around.dedup();
        if round < SMOOTHINGS {
            unknown.extend(around);
            unknown.sort_unstable();
            unknown.dedup();
            heights = found.filled(base, &unknown)?;
        } else {
            around.iter().for_each(|&v| heights[v as usize] *= 0.5);
        }
        high = raised(base, normals, &heights)?;
    }
    Ok(high)
}

fn raised(base: &Mesh, normals: &[DVec3], heights: &[f64]) -> Result<Mesh, LearnError> {
    let each = base.positions().iter().zip(normals).zip(heights);
    Ok(base.posed(each.map(|((x, n), h)| *x + *n * *h).collect())?)
}

fn moved(mesh: &Mesh, motion: RigidMotion) -> Result<Mesh, LearnError> {
    Ok(mesh.posed(mesh.positions().iter().map(|&p| motion.apply(p)).collect())?)
}
