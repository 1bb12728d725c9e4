//! The result of a touch: its frames, their reports and the warnings about them.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

use super::job::{TouchEnding, TouchJob};
use crate::{Touch, TouchMethod, TouchReport};

/// Soft vertices deeper inside a collider than this part of the mean edge length give a warning.
/// Chosen: less is not visible.
const SOFT_DEPTH: f64 = 0.01;
/// Strains beyond this multiple of the limit give a warning. Chosen: the last sweeps leave some
/// hundredths.
const STRAIN_EXCESS: f64 = 1.1;
/// Rigid vertices deeper inside a collider than this part of the mean edge length give a warning.
/// Chosen: less is hardly visible.
const RIGID_DEPTH: f64 = 0.05;
/// Chosen: after this time, skin of any usual material has returned to its shape.
const LONG_SETTLE_SECS: f64 = 2.0;

/// A touched surface, frame by frame.
#[derive(Debug, Clone, PartialEq)]
pub struct TouchedClip {
    /// Positions of all vertices.
    pub frames: Vec<Vec<DVec3>>,
    /// The report of each frame.
    pub reports: Vec<TouchReport>,
    /// The number of soft vertices.
    pub patch_vertices: usize,
    /// Patches that contain a whole connected component.
    pub whole_components: Vec<usize>,
    /// Colliders that are inside a patch in the first frame.
    pub initially_inside: Vec<usize>,
    /// The frame in which most rigid vertices are inside a collider, and their number.
    pub rigid_inside: Option<(usize, usize)>,
    /// Time to select the patches.
    pub select_ms: f64,
    /// Mean time of a simulated frame.
    pub step_ms: f64,
    mean_edge: f64,
}

impl TouchedClip {
    /// A clip without frames.
    pub(crate) fn begin(job: &TouchJob, touch: &Touch, select_ms: f64) -> Self {
        let soft: Vec<DVec3> = touch
            .region()
            .vertices()
            .iter()
            .map(|&v| touch.positions()[v as usize])
            .collect();

        let mean_edge = touch.mean_edge();
        let mut initially_inside = Vec::new();
        for (k, motion) in job.motions(0).iter().enumerate() {
            if deep_vertices(job, k, motion, &soft, mean_edge)
                .next()
                .is_some()
            {
                initially_inside.push(k);
            }
        }

        Self {
            frames: Vec::with_capacity(job.frame_count()),
            reports: Vec::with_capacity(job.frame_count()),
            patch_vertices: soft.len(),
            whole_components: touch.region().covered_components().to_vec(),
            initially_inside,
            rigid_inside: None,
            select_ms,
            step_ms: 0.0,
            mean_edge,
        }
    }

    /// Adds the frame that `touch` is in.
    pub(crate) fn add(
        &mut self,
        job: &TouchJob,
        touch: &Touch,
        motions: &[RigidMotion],
        report: TouchReport,
        ms: f64,
    ) {
        let frame = self.frames.len();
        let soft = touch.region().vertices();
        // Contact moves soft vertices out; only rigid ones stay inside and deserve a warning.
        let mut inside = 0;
        for (k, motion) in motions.iter().enumerate() {
            inside += deep_vertices(job, k, motion, touch.positions(), self.mean_edge)
                .filter(|vertex| soft.binary_search(vertex).is_err())
                .count();
        }
        if inside > self.rigid_inside.map_or(0, |(_, most)| most) {
            self.rigid_inside = Some((frame, inside));
        }

        self.frames.push(touch.positions().to_vec());
        self.reports.push(report);
        // A running mean needs no list of times.
        self.step_ms += (ms - self.step_ms) / self.frames.len() as f64;
    }

    /// The greatest depth of a soft vertex inside a collider over all frames.
    #[must_use]
    pub fn max_penetration(&self) -> f64 {
        self.reports
            .iter()
            .map(|report| report.max_penetration)
            .fold(0.0, f64::max)
    }

    /// The greatest distance of a soft vertex from the animated shape over all frames.
    #[must_use]
    pub fn max_displacement(&self) -> f64 {
        self.reports
            .iter()
            .map(|report| report.max_displacement)
            .fold(0.0, f64::max)
    }

    /// The first frame with the greatest displacement.
    #[must_use]
    pub fn furthest_frame(&self) -> usize {
        let most = self.max_displacement();
        self.reports
            .iter()
            .position(|report| report.max_displacement >= most)
            .unwrap_or(0)
    }

    /// One sentence for each condition that a user should know; `job` is the job of this clip.
    #[must_use]
    pub fn warnings(&self, job: &TouchJob) -> Vec<String> {
        let mut warnings = self.patch_warnings(job);
        warnings.extend(self.penetration_warnings());
        warnings.extend(self.strain_warning(job));
        warnings.extend(self.thin_collider_warnings(job));
        warnings.extend(self.displacement_left(job));

        let touched = |report: &TouchReport| report.contacts + report.face_contacts > 0;
        let touched = self.reports.iter().any(touched);
        if !job.colliders.is_empty() && !touched {
            warnings.push(
                "no collider touches a soft patch in any frame; check the start of the collider and its displacement"
                    .to_owned(),
            );
        }

        warnings
    }

    /// Patches without a rigid surrounding, colliders that begin inside, and rigid vertices inside.
    fn patch_warnings(&self, job: &TouchJob) -> Vec<String> {
        let mut warnings = Vec::new();
        for &k in &self.whole_components {
            let center = job.patches[k].center;
            warnings.push(format!(
                "the patch around vertex {center} holds all that is connected to it, so nothing around it is rigid"
            ));
        }
        for k in &self.initially_inside {
            warnings.push(format!(
                "collider {k}, counted from 0, begins inside the surface, and the skin jumps out in the first frame; start it outside"
            ));
        }
        if let Some((frame, count)) = self.rigid_inside {
            warnings.push(format!(
                "a collider covers {count} vertices outside the soft patches in frame {frame}, the most of all frames; use a larger radius, \
                 a smaller collider or another displacement"
            ));
        }
        warnings
    }

    /// The greatest depth of a face with a soft corner inside a collider over all frames; its
    /// corners may all be outside.
    #[must_use]
    pub fn max_face_penetration(&self) -> f64 {
        self.reports
            .iter()
            .map(|report| report.max_face_penetration)
            .fold(0.0, f64::max)
    }

    /// The largest relative change of the length of an edge over all frames.
    #[must_use]
    pub fn max_strain(&self) -> f64 {
        self.reports
            .iter()
            .map(|report| report.max_strain)
            .fold(0.0, f64::max)
    }

    fn penetration_warnings(&self) -> Option<String> {
        let deepest =
            |report: &TouchReport| report.max_penetration.max(report.max_face_penetration);
        let frame = (0..self.reports.len())
            .max_by(|&a, &b| deepest(&self.reports[a]).total_cmp(&deepest(&self.reports[b])))?;
        let depth = deepest(&self.reports[frame]);

        (depth > SOFT_DEPTH * self.mean_edge).then(|| {
            format!(
                "in frame {frame} skin is {depth:.3} deep inside a collider, the most of all frames; pulls, rigid vertices, colliders that \
                 press against each other and the method verlet can leave it there"
            )
        })
    }

    /// Strain limits that contact and pulls exceed.
    fn strain_warning(&self, job: &TouchJob) -> Option<String> {
        if job.options.method != TouchMethod::Xpbd {
            return None;
        }
        let limit = job.options.material.strain_limit;
        let strain = self.max_strain();
        (strain > STRAIN_EXCESS * limit).then(|| {
            format!(
                "edges change their length by up to {strain:.2} beyond the strain limit of {limit}, because colliders, pulls or the rim \
                 of the patch leave no other way; use a larger radius or a smaller displacement"
            )
        })
    }

    /// Only the method verlet collides by vertices alone.
    fn thin_collider_warnings(&self, job: &TouchJob) -> Vec<String> {
        let mut warnings = Vec::new();
        if job.options.method == TouchMethod::Xpbd {
            return warnings;
        }
        for (k, solid) in job.colliders.iter().enumerate() {
            if solid.collider.is_thinner_than(self.mean_edge) {
                warnings.push(format!(
                    "collider {k}, counted from 0, is thinner than an edge of the skin and may pass between vertices; use a finer mesh, or \
                     the method xpbd"
                ));
            }
        }
        warnings
    }

    /// A displacement that remains although nothing holds the skin.
    fn displacement_left(&self, job: &TouchJob) -> Option<String> {
        let last = self.reports.last()?;
        let held = !job.pulls.is_empty() && job.ending == TouchEnding::Hold;
        let free = last.contacts == 0
            && job.settle_secs >= LONG_SETTLE_SECS
            && job.animation.is_none()
            && !held
            && !job.options.has_gravity();

        (free && last.max_displacement > SOFT_DEPTH * self.mean_edge).then(|| {
            format!(
                "the skin is still {:.3} from its rest shape in the last frame; it may have folded",
                last.max_displacement
            )
        })
    }
}

/// The vertices among `positions` that are visibly deep inside collider `k`.
fn deep_vertices(
    job: &TouchJob,
    k: usize,
    motion: &RigidMotion,
    positions: &[DVec3],
    mean_edge: f64,
) -> impl Iterator<Item = u32> {
    let obstacle = job.colliders[k].collider.obstacle();
    let contacts = obstacle.contacts_at(motion, positions, 0.0);
    contacts
        .into_iter()
        .filter(move |contact| contact.depth > RIGID_DEPTH * mean_edge)
        .map(|contact| contact.vertex.get())
}
