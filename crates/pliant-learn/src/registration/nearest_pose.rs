//! The registered pose nearest to a scan, from which its deformation starts.
//!
//! **Problem.** From a flat hand to a fist, the fingers rotate further than a few markers can
//! determine. From a grasping hand, the deformation is small.
//!
//! **Equation.** With the coarse vertices `x` of a registered pose `j` and the positions `c` of
//! scan `i` at the markers `k`:
//!
//! ```text
//! d(i, j) = min_{R,t}  Σₖ |R xⱼ(k) + t − cᵢ(k)|² / count
//! ```
//!
//! The scan with the least `d` to any registered pose is next, and starts from that pose; the first
//! registered pose is the reference.
//!
//! **Source.** The order is that of Prim's tree, "Shortest connection networks and some
//! generalizations", 1957. Huang et al. start every example from the reference.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

use crate::LearnError;

/// The start of the next registration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// The scan.
    pub(super) scan: usize,
    /// The registered pose.
    pub(super) pose: usize,
    /// From the pose to the scan.
    pub(super) motion: RigidMotion,
}

/// The nearest pair of a `waiting` scan and one of `poses`, the first among equals; `goals` are the
/// markers of all scans.
///
/// # Panics
/// If there is no waiting scan or no pose.
pub(super) fn nearest_start(
    poses: &[Vec<DVec3>],
    goals: &[Vec<(u32, DVec3)>],
    waiting: &[usize],
) -> Result<Start, LearnError> {
    let mut best: Option<(f64, Start)> = None;
    for &scan in waiting {
        for (pose, positions) in poses.iter().enumerate() {
            let (from, to): (Vec<DVec3>, Vec<DVec3>) = goals[scan]
                .iter()
                .map(|&(v, goal)| (positions[v as usize], goal))
                .unzip();
            // Procrustes distance of the markers.
            let motion = RigidMotion::fit(&from, &to, None)?;
            let sum: f64 = from
                .iter()
                .zip(&to)
                .map(|(&p, q)| motion.apply(p).distance_squared(*q))
                .sum();

            let distance = sum / from.len().max(1) as f64;
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, Start { scan, pose, motion }));
            }
        }
    }

    Ok(best.expect("there is a waiting scan and a pose").1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;

    #[test]
    fn the_nearest_pair_of_scan_and_pose_is_next_up_to_a_rigid_motion() {
        let pose = |height: f64| {
            vec![
                DVec3::ZERO,
                DVec3::X,
                DVec3::Y,
                DVec3::new(0.3, 0.3, height),
            ]
        };

        let rotation = DQuat::from_rotation_x(2.0);
        let goals = |height: f64| {
            (0..4)
                .zip(pose(height))
                .map(|(v, p)| (v, rotation * p + DVec3::ONE))
                .collect::<Vec<_>>()
        };

        let poses = [pose(0.0), pose(1.0)];
        let goals = [goals(3.0), goals(1.2), goals(0.1)];
        let start = |waiting: &[usize]| {
            let Start { scan, pose, .. } = nearest_start(&poses, &goals, waiting).unwrap();
            (scan, pose)
        };

        // Heights 0 and 1 are registered; scans have heights 3, 1.2 and 0.1.
        assert_eq!(start(&[0, 1, 2]), (2, 0));
        assert_eq!(start(&[0, 1]), (1, 1));

        let found = nearest_start(
            &poses,
            &[
                goals[1].clone(),
                (0..4)
                    .zip(pose(1.0))
                    .map(|(v, p)| (v, rotation * p))
                    .collect(),
            ],
            &[1],
        )
        .unwrap();

        assert!(
            pose(1.0)
                .iter()
                .all(|&p| found.motion.apply(p).distance(rotation * p) < 1e-12)
        );
    }
}
