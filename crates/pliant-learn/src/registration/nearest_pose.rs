//! Which known pose a scan is best deformed from.
//!
//! **Problem.** From a flat hand to a fist the fingers turn further than a few markers can tell;
//! from a hand that grasps, it is a small step.
//!
//! **Equation.** With the coarse vertices `x` of a registered pose `j` and the places `c` of scan
//! `i` at the markers `k`:
//!
//! ```text
//! d(i, j) = min_{R,t}  Σₖ |R xⱼ(k) + t − cᵢ(k)|² / count
//! ```
//!
//! The scan with the least `d` to any pose known so far is next, and starts from that pose; the
//! first known pose is the reference.
//!
//! **Source.** The order is that of Prim's tree, "Shortest connection networks and some
//! generalizations", 1957. The paper starts every example from the reference.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

use crate::LearnError;

/// Where the next scan starts from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// The scan.
    pub(super) scan: usize,
    /// The known pose.
    pub(super) pose: usize,
    /// Takes the pose onto the scan.
    pub(super) motion: RigidMotion,
}

/// The nearest pair of a `waiting` scan and one of `poses`, the first among equals; `goals` are the
/// markers of all scans.
///
/// # Panics
/// If no scan waits or no pose is known.
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
                .map(|&(v, place)| (positions[v as usize], place))
                .unzip();
            let motion = RigidMotion::fit(&from, &to, None)?;
            let sum: f64 = from
                .iter()
                .zip(&to)
                .map(|(&p, q)| motion.apply(p).distance_squared(*q))
                .sum();
            let apart = sum / from.len().max(1) as f64;
            if best.is_none_or(|(least, _)| apart < least) {
                best = Some((apart, Start { scan, pose, motion }));
            }
        }
    }
    Ok(best.expect("a scan waits and a pose is known").1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;

    #[test]
    fn the_nearest_scan_is_next_from_the_pose_nearest_to_it_however_it_lies() {
        let pose = |height: f64| {
            vec![
                DVec3::ZERO,
                DVec3::X,
                DVec3::Y,
                DVec3::new(0.3, 0.3, height),
            ]
        };
        let turn = DQuat::from_rotation_x(2.0);
        let goals = |height: f64| {
            (0..4)
                .zip(pose(height))
                .map(|(v, p)| (v, turn * p + DVec3::ONE))
                .collect::<Vec<_>>()
        };
        let (poses, goals) = ([pose(0.0), pose(1.0)], [goals(3.0), goals(1.2), goals(0.1)]);
        let start = |waiting: &[usize]| {
            let Start { scan, pose, .. } = nearest_start(&poses, &goals, waiting).unwrap();
            (scan, pose)
        };
        assert_eq!(start(&[0, 1, 2]), (2, 0));
        assert_eq!(start(&[0, 1]), (1, 1));
        let found = nearest_start(
            &poses,
            &[
                goals[1].clone(),
                (0..4).zip(pose(1.0)).map(|(v, p)| (v, turn * p)).collect(),
            ],
            &[1],
        )
        .unwrap();
        assert!(
            pose(1.0)
                .iter()
                .all(|&p| found.motion.apply(p).distance(turn * p) < 1e-12)
        );
    }
}
