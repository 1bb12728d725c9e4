//! Corresponding points on two animals, computed from their bones.
//!
//! **Departures.** A ray runs from a joint in a given direction; where it leaves the body, the
//! closest vertex is the landmark.

use pliant_mesh::glam::DVec3;

use super::Built;
use super::frame::{Joints, SIDES, mirrored};

/// The vertex at every landmark; the order is the same for all animals.
pub(super) fn vertices(built: &Built) -> Vec<u32> {
    let positions = built.mesh.positions();
    let nearest = |point: DVec3| {
        // Among equally close vertices the first one is taken.
        let mut best = (f64::INFINITY, 0);
        for (v, p) in positions.iter().enumerate() {
            let distance = p.distance_squared(point);
            if distance < best.0 {
                best = (distance, v as u32);
            }
        }
        best.1
    };

    walks(&built.animal.joints)
        .into_iter()
        .map(|(from, direction)| nearest(built.animal.body.exit(from, direction.normalize())))
        .collect()
}

/// Starting points inside the body and directions.
fn walks(joints: &Joints) -> Vec<(DVec3, DVec3)> {
    let mut walks = middle_walks(joints);
    for (_, sign) in SIDES {
        walks.extend(
            side_walks(joints)
                .into_iter()
                .map(|(from, direction)| (mirrored(from, sign), mirrored(direction, sign))),
        );
    }
    walks
}

fn middle_walks(joints: &Joints) -> Vec<(DVec3, DVec3)> {
    let [pelvis, loin, chest, neck, upper_neck, head, nose] = joints.spine;

    // The tip of the trunk, where there is one, corresponds to the nose.
    let snout = match joints.trunk.as_slice() {
        [.., before, tip] => (*tip, *tip - *before),
        _ => (nose, nose - head),
    };

    let along_tail = |k: usize| joints.tail[k] - joints.tail[k - 1];
    let tail_end = joints.tail.len() - 1;
    vec![
        snout,
        (head, DVec3::new(0.0, 1.0, 0.25)),
        (head.lerp(nose, 0.35), DVec3::NEG_Y),
        (upper_neck, DVec3::new(0.0, 0.7, -0.7)),
        (upper_neck, DVec3::new(0.0, -0.9, 0.4)),
        (neck, DVec3::new(0.0, 1.0, -0.3)),
        (neck, DVec3::new(0.0, -1.0, 0.4)),
        (chest, DVec3::Y),
        (chest, DVec3::NEG_Y),
        (loin, DVec3::Y),
        (loin, DVec3::NEG_Y),
        (pelvis, DVec3::new(0.0, 1.0, -0.5)),
        (joints.tail[tail_end], along_tail(tail_end)),
    ]
}

fn side_walks(joints: &Joints) -> Vec<(DVec3, DVec3)> {
    let [blade, shoulder, elbow, wrist, knuckle, toe] = joints.fore;
    let [hip, knee, hock, hind_knuckle, hind_toe] = joints.hind;
    let [ear_root, ear_tip] = joints.ear;
    let (ahead, behind, out) = (DVec3::Z, DVec3::NEG_Z, DVec3::X);

    vec![
        (ear_root.lerp(ear_tip, 0.5), ear_tip - ear_root),
        (joints.spine[5], out),
        (blade, out),
        (shoulder, DVec3::new(0.7, 0.0, 0.7)),
        (elbow, DVec3::new(0.4, 0.0, -0.9)),
        (wrist, ahead),
        (wrist, behind),
        (knuckle, behind),
        (toe, ahead),
        (hip, out),
        (knee, DVec3::new(0.8, -0.1, 0.6)),
        (hock, DVec3::new(0.0, 0.3, -1.0)),
        (hind_knuckle, behind),
        (hind_toe, ahead),
    ]
}
