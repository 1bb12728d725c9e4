//! Footskate cleanup: standing feet are held in place, and the body follows smoothly.
//!
//! **Problem.** Feet that stand in a source slide on a target of other proportions, each
//! differently, so the root motion alone cannot stop them. Held feet must neither tear the body nor
//! jump when they land and leave.
//!
//! **Equation.** A foot is a connected set of vertices that stand in some frame. Over each run `S`
//! of frames in which some of it stands, with the vertices `B` that stand both in a frame and in the
//! one before, their positions `x` and that of the ground `G`,
//!
//! ```text
//! s(k) = s(k−1) + mean_{v∈B} ((x_v(k) − G(k)) − (x_v(k−1) − G(k−1)))        d(k) = mean_{j∈S} s(j) − s(k)
//! ```
//!
//! is the correction of the whole foot. Before and after the run `d` keeps its first and last value,
//! times a smoothstep down to zero. All other vertices follow by
//! [`displacement_extension`](super::displacement_extension).
//!
//! **Departures.** The method is our own. Kovar, Schreiner and Gleicher, "Footskate cleanup for
//! motion capture editing", 2002, solve the problem for skeletons. A foot is shifted as one piece,
//! so it keeps its shape; its rotation and bending while it stands remain. The feet are the same in
//! every frame, so the system is factored once and the correction is as smooth in time as `d`.

use pliant_linalg::{DisjointSets, smoothstep};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::contact_runs::ContactRuns;
use super::displacement_extension::DisplacementExtension;
use super::root_correction::GroundContact;
use crate::TransferError;

/// Frames over which a correction fades in and out. Chosen: a sixth of a second in film.
const EASE_FRAMES: usize = 4;

/// The result of the footskate cleanup. Lengths are in the units of the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FootContactReport {
    /// Vertices that stand in some frame.
    pub vertices: usize,
    /// The mean displacement of the ground from frame to frame; zero if it rests.
    pub ground_step: DVec3,
    /// The largest distance of a standing vertex on the ground from where it landed, with the root
    /// motion corrected, but before each foot is held.
    pub slide_before: f64,
    /// The same with feet held.
    pub slide_after: f64,
    /// The largest correction of a vertex.
    pub largest_correction: f64,
}

/// Holds standing feet in `frames`, given the ground contact of each frame.
pub(crate) fn remove_footskate(
    target: &Mesh,
    contacts: &[GroundContact],
    frames: &mut [Vec<DVec3>],
) -> Result<FootContactReport, TransferError> {
    let runs = ContactRuns::new(target, contacts, frames);
    let mut report = FootContactReport {
        vertices: runs.vertices.len(),
        ground_step: runs.mean_ground_step(frames.len()),
        slide_before: runs.largest_slide(frames),
        slide_after: 0.0,
        largest_correction: 0.0,
    };
    if runs.vertices.is_empty() {
        return Ok(report);
    }

    let feet = Feet::new(target, &runs, frames);
    let extension = DisplacementExtension::factor(target, &runs.vertices)?;
    // Frames without any correction are left untouched, to the bit.
    for (k, frame) in frames.iter_mut().enumerate() {
        let fixed = feet.corrections_at(k);
        if fixed.iter().all(|correction| *correction == DVec3::ZERO) {
            continue;
        }
        for (position, correction) in frame.iter_mut().zip(extension.solve(&fixed)) {
            *position += correction;
            report.largest_correction = report.largest_correction.max(correction.length());
        }
    }

    report.slide_after = runs.largest_slide(frames);
    Ok(report)
}

/// The feet: connected sets of vertices that stand in some frame.
struct Feet {
    /// The foot of each vertex of [`ContactRuns::vertices`].
    of_vertex: Vec<u32>,
    /// The runs of each foot.
    runs: Vec<Vec<HeldRun>>,
}

/// Consecutive frames in which a foot stands, and its correction in each.
struct HeldRun {
    first: usize,
    corrections: Vec<DVec3>,
}

/// The sum of the slips of the standing vertices of a foot in a frame, and their number.
type FrameSlip = (DVec3, f64);

impl Feet {
    fn new(target: &Mesh, contacts: &ContactRuns, frames: &[Vec<DVec3>]) -> Self {
        let (of_vertex, count) = connected_sets(target, &contacts.vertices);
        let mut slips = vec![vec![(DVec3::ZERO, 0.0); frames.len()]; count];
        for (index, v, k) in contacts.steps() {
            let (slip, vertices) = &mut slips[of_vertex[index] as usize][k];
            *slip += contacts.slip(frames, k, v);
            *vertices += 1.0;
        }

        Self {
            of_vertex,
            runs: slips.iter().map(|slips| held_runs(slips)).collect(),
        }
    }

    /// The correction of each standing vertex in frame `k`.
    fn corrections_at(&self, k: usize) -> Vec<DVec3> {
        let of_feet: Vec<DVec3> = self
            .runs
            .iter()
            .map(|runs| eased_correction(k, runs))
            .collect();
        self.of_vertex
            .iter()
            .map(|&foot| of_feet[foot as usize])
            .collect()
    }
}

/// For each of `vertices` the number of its set, connected by edges among them, and the number of
/// sets.
fn connected_sets(target: &Mesh, vertices: &[u32]) -> (Vec<u32>, usize) {
    let mut index_of = vec![None; target.vertex_count()];
    for (index, &v) in vertices.iter().enumerate() {
        index_of[v as usize] = Some(index as u32);
    }

    // Edges between standing vertices connect them to feet.
    let mut sets = DisjointSets::new(vertices.len());
    for ends in target.topology().edges() {
        if let [Some(a), Some(b)] = ends.map(|v| index_of[v as usize]) {
            sets.merge(a, b);
        }
    }
    sets.into_labels()
}

/// The runs of a foot, from its slip since the frame before in each frame.
fn held_runs(slips: &[FrameSlip]) -> Vec<HeldRun> {
    let mut runs: Vec<HeldRun> = Vec::new();
    for (k, &(slip, vertices)) in slips.iter().enumerate() {
        if vertices == 0.0 {
            continue;
        }
        // A slip is measured from the frame before, in which the foot stands as well.
        match runs.last_mut() {
            Some(run) if run.first + run.corrections.len() == k => {
                let before = run.corrections[run.corrections.len() - 1];
                run.corrections.push(before - slip / vertices);
            }
            _ => runs.push(HeldRun {
                first: k - 1,
                corrections: vec![DVec3::ZERO, -slip / vertices],
            }),
        }
    }

    // The foot stands at the mean of its positions: corrections sum to zero.
    for run in &mut runs {
        let sum = run.corrections.iter().copied().sum::<DVec3>();
        let mean = sum / run.corrections.len() as f64;
        for correction in &mut run.corrections {
            *correction -= mean;
        }
    }
    runs
}

/// The correction of a foot in frame `k`: that of the run it is in, or a fraction of the corrections
/// at the ends of the runs near it.
fn eased_correction(k: usize, runs: &[HeldRun]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    let mut weights = 0.0;
    for run in runs {
        let last = run.first + run.corrections.len() - 1;
        let correction = run.corrections[k.clamp(run.first, last) - run.first];
        let frames_away = run.first.saturating_sub(k).max(k.saturating_sub(last));
        if frames_away == 0 {
            return correction;
        }

        let x = (1.0 - frames_away as f64 / (EASE_FRAMES + 1) as f64).max(0.0);
        let weight = smoothstep(x);
        sum += correction * weight;
        weights += weight;
    }
    // Between two close runs both corrections count; their weights are normalised.
    sum / f64::max(weights, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::leg;
    use pliant_mesh::shapes;

    const FRAMES: usize = 30;

    /// A sheet whose first and last rows of triangles stand alternately and slide, each differently,
    /// over a ground that moves.
    fn sliding(ground: DVec3) -> (Mesh, Vec<GroundContact>, Vec<Vec<DVec3>>) {
        let sheet = shapes::bumpy_sheet(8, 0.1);
        let count = sheet.triangles().len() as u32;
        let contact = |k: usize| {
            let first = (5..14).contains(&k).then_some(0..16);
            let last = (12..24).contains(&k).then_some(count - 16..count);
            GroundContact {
                triangles: first.into_iter().chain(last).flatten().collect(),
                ground_step: ground,
            }
        };

        let slide = |p: DVec3, k: f64| {
            let part = ((p.x - 0.2) / 0.6).clamp(0.0, 1.0);
            DVec3::new(
                0.004 * k * part,
                0.01 * (0.7 * k).sin(),
                0.002 * k * (1.0 - part),
            ) + ground * 1.3 * k
        };

        let frame = |k: usize| {
            sheet
                .positions()
                .iter()
                .map(|p| *p + slide(*p, k as f64))
                .collect()
        };

        let parts = (
            (0..FRAMES).map(contact).collect(),
            (0..FRAMES).map(frame).collect(),
        );

        (sheet, parts.0, parts.1)
    }

    #[test]
    fn standing_vertices_do_not_slide_and_no_vertex_moves_farther_than_some_foot() {
        for ground in [DVec3::ZERO, DVec3::new(0.0, 0.0, -0.05)] {
            let (mesh, contacts, before) = sliding(ground);
            let mut after = before.clone();
            let report = remove_footskate(&mesh, &contacts, &mut after).unwrap();

            assert!(
                report.slide_before > 0.01 && report.slide_after < 1e-12,
                "{report:?}"
            );

            assert!(
                (report.ground_step.distance(ground * 1.3)) < 0.1 * ground.length() + 1e-15,
                "{report:?}"
            );

            let feet = Feet::new(&mesh, &ContactRuns::new(&mesh, &contacts, &before), &before);
            assert_eq!(feet.runs.len(), 2, "two feet");
            for k in 0..FRAMES {
                let most = feet
                    .runs
                    .iter()
                    .map(|runs| eased_correction(k, runs).length())
                    .fold(0.0, f64::max);
                assert!(
                    before[k]
                        .iter()
                        .zip(&after[k])
                        .all(|(b, a)| a.distance(*b) <= most + 1e-12),
                    "frame {k}"
                );
            }
        }
    }

    #[test]
    fn corrections_are_smooth_in_time_and_vanish_far_from_any_contact() {
        let (mesh, contacts, before) = sliding(DVec3::ZERO);
        let mut after = before.clone();
        let report = remove_footskate(&mesh, &contacts, &mut after).unwrap();

        assert_eq!(
            (&after[0], &after[FRAMES - 1]),
            (&before[0], &before[FRAMES - 1])
        );

        let correction = |k: usize, v: usize| after[k][v] - before[k][v];
        let own = |k: usize, v: usize| before[k][v].distance(before[k - 1][v]);
        for k in 1..FRAMES {
            for v in 0..mesh.vertex_count() {
                let jump = correction(k, v).distance(correction(k - 1, v));
                let most = (0..mesh.vertex_count())
                    .map(|v| own(k, v))
                    .fold(0.0, f64::max);

                // A smooth step over five frames rises by 0.296 in one at most.
                assert!(
                    jump <= 2.0 * most + 0.3 * report.largest_correction,
                    "frame {k}, vertex {v}: {jump}"
                );
            }
        }
    }

    #[test]
    fn components_and_isolated_vertices_follow_the_body_and_a_body_without_contacts_is_unchanged() {
        let mut builder = leg(1.0).to_builder();
        let first = builder.positions.len() as u32;
        builder.positions.extend([
            DVec3::new(0.1, 1.0, 0.1),
            DVec3::new(0.2, 1.0, 0.1),
            DVec3::new(0.1, 1.1, 0.1),
            DVec3::splat(2.0),
        ]);

        builder.push_face(&[first, first + 1, first + 2]);
        let mesh = builder.build().unwrap();
        let contact = || GroundContact {
            triangles: vec![0, 1],
            ground_step: DVec3::ZERO,
        };

        let frame = |k: usize| {
            mesh.positions()
                .iter()
                .map(|p| *p + DVec3::X * 0.01 * k as f64)
                .collect()
        };

        let before: Vec<Vec<DVec3>> = (0..5).map(frame).collect();
        let mut after = before.clone();
        remove_footskate(
            &mesh,
            &[contact(), contact(), contact(), contact(), contact()],
            &mut after,
        )
        .unwrap();

        for (after, before) in after.iter().zip(&before) {
            let shift = after[0] - before[0];
            assert!(
                after
                    .iter()
                    .zip(before)
                    .all(|(a, b)| (*a - *b).distance(shift) < 1e-12),
                "the whole slides equally and is held equally"
            );
        }

        let mut still = before.clone();
        let report =
            remove_footskate(&mesh, &vec![GroundContact::default(); 5], &mut still).unwrap();
        assert_eq!((report.vertices, still), (0, before));
    }
}
