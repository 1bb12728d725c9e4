//! What came of touching a surface: its frames, and what did not go as one might think.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Touch, TouchReport};

use crate::touch_job::{Stroke, TouchJob};

/// Soft vertices that end inside a collider by more than this part of the mean edge are told: the
/// contract's bound.
const SOFT_DEPTH: f64 = 0.01;
/// After so many seconds skin of any usual material is back: ours.
const LONG_SECS: f64 = 2.0;
/// Rigid vertices that are inside a collider by more than this part of the mean edge are told:
/// ours, what shows.
const RIGID_DEPTH: f64 = 0.05;

/// A surface that was touched, frame by frame.
#[derive(Debug, Clone, PartialEq)]
pub struct TouchedClip {
    /// Positions of all vertices.
    pub frames: Vec<Vec<DVec3>>,
    /// What each frame was like.
    pub reports: Vec<TouchReport>,
    /// How many vertices are soft.
    pub patch_vertices: usize,
    /// Patches that hold all of a connected part.
    pub whole_parts: Vec<usize>,
    /// Colliders that are inside a patch before anything has moved.
    pub began_inside: Vec<usize>,
    /// The frame in which most vertices that cannot give way are inside a collider, and how many.
    pub rigid_inside: Option<(usize, usize)>,
    /// How long it took to find the patches.
    pub select_ms: f64,
    /// Mean time of a frame's step.
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
        let is_inside = |(k, motion): (usize, &RigidMotion)| {
            let contacts = job.colliders[k]
                .collider
                .obstacle()
                .contacts_at(motion, &soft, 0.0);
            contacts
                .iter()
                .any(|contact| contact.depth > RIGID_DEPTH * mean_edge)
                .then_some(k)
        };
        Self {
            frames: Vec::with_capacity(job.frame_count()),
            reports: Vec::with_capacity(job.frame_count()),
            patch_vertices: soft.len(),
            whole_parts: touch.region().whole_parts().to_vec(),
            began_inside: job
                .motions(0)
                .iter()
                .enumerate()
                .filter_map(is_inside)
                .collect(),
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
        let is_rigid = |vertex: u32| touch.region().vertices().binary_search(&vertex).is_err();
        let inside = |(k, motion): (usize, &RigidMotion)| {
            let contacts =
                job.colliders[k]
                    .collider
                    .obstacle()
                    .contacts_at(motion, touch.positions(), 0.0);
            contacts
                .iter()
                .filter(|contact| {
                    contact.depth > RIGID_DEPTH * self.mean_edge && is_rigid(contact.vertex)
                })
                .count()
        };
        let inside: usize = motions.iter().enumerate().map(inside).sum();
        if inside > self.rigid_inside.map_or(0, |(_, most)| most) {
            self.rigid_inside = Some((frame, inside));
        }
        self.frames.push(touch.positions().to_vec());
        self.reports.push(report);
        self.step_ms += (ms - self.step_ms) / self.frames.len() as f64;
    }

    /// How deep a soft vertex ever ends inside a collider.
    #[must_use]
    pub fn max_penetration(&self) -> f64 {
        self.reports
            .iter()
            .map(|report| report.max_penetration)
            .fold(0.0, f64::max)
    }

    /// How far a soft vertex ever is from the surface's own shape.
    #[must_use]
    pub fn max_displacement(&self) -> f64 {
        self.reports
            .iter()
            .map(|report| report.max_displacement)
            .fold(0.0, f64::max)
    }

    /// The first frame in which that is so.
    #[must_use]
    pub fn furthest_frame(&self) -> usize {
        self.reports
            .iter()
            .position(|report| report.max_displacement >= self.max_displacement())
            .unwrap_or(0)
    }

    /// What a user should know.
    #[must_use]
    pub fn problems(&self, job: &TouchJob) -> Vec<String> {
        let whole = self.whole_parts.iter().map(|&k| {
            let center = job.patches[k].center;
            format!("the patch around vertex {center} holds all that is connected to it, so that nothing around it is rigid")
        });
        let began = self.began_inside.iter().map(|k| {
            format!("collider {k}, counted from 0, begins inside the surface; the skin jumps out in the first frame: let it begin outside")
        });
        let rigid = self.rigid_inside.iter().map(|(frame, count)| {
            format!(
                "a collider covers {count} vertices outside the soft patches in frame {frame}, the most of all; a larger radius, a smaller \
                 collider or another way keeps it out of what cannot give way"
            )
        });
        let deepest = (0..self.reports.len()).max_by(|&a, &b| {
            self.reports[a]
                .max_penetration
                .total_cmp(&self.reports[b].max_penetration)
        });
        let deep = deepest.filter(|&frame| self.reports[frame].max_penetration > SOFT_DEPTH * self.mean_edge).map(|frame| {
            let depth = self.reports[frame].max_penetration;
            format!(
                "in frame {frame} skin is {depth:.3} deep inside a collider, the most of all; pins, colliders that press against each other \
                 and the method verlet can leave it there"
            )
        });
        let thin = job.colliders.iter().enumerate().filter(|(_, solid)| solid.collider.passes_between(self.mean_edge)).map(|(k, _)| {
            format!("collider {k}, counted from 0, is thinner than an edge of the skin and may pass between vertices; take a finer mesh")
        });
        let left = self.reports.last().filter(|last| {
            job.settle_secs >= LONG_SECS
                && last.contacts == 0
                && last.max_displacement > SOFT_DEPTH * self.mean_edge
                && job.animation.is_none()
        });
        let left = left
            .filter(|_| job.pulls.is_empty() || job.stroke != Stroke::Hold)
            .filter(|_| !job.options.has_gravity());
        let left = left.map(|last| {
            format!(
                "the skin is still {:.3} from its place in the last frame; it may have folded",
                last.max_displacement
            )
        });
        let calm =
            job.colliders.is_empty() || self.reports.iter().any(|report| report.contacts > 0);
        let missed = (!calm).then(|| {
            "no collider touches a soft patch in any frame; look at its start and its way"
                .to_owned()
        });
        whole
            .chain(began)
            .chain(rigid)
            .chain(deep)
            .chain(thin)
            .chain(left)
            .chain(missed)
            .collect()
    }
}
