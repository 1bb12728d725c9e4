//! The skeleton that all quadrupeds share.

use pliant_mesh::glam::DVec3;

use crate::skeleton::Skeleton;

/// The two sides, with the sign of their `x`.
pub(super) const SIDES: [(&str, f64); 2] = [("left", 1.0), ("right", -1.0)];

/// Joints at rest; those of paired parts on the left, where `x` is positive. The animal faces `+z`,
/// and `y` is up.
#[derive(Debug, Clone)]
pub(super) struct Joints {
    /// Pelvis, loin, chest, neck, upper neck, head, nose.
    pub(super) spine: [DVec3; 7],
    /// From the root to the tip.
    pub(super) tail: Vec<DVec3>,
    /// From the face to the tip; empty without a trunk.
    pub(super) trunk: Vec<DVec3>,
    /// Root and tip.
    pub(super) ear: [DVec3; 2],
    /// Top of the shoulder blade, shoulder, elbow, wrist, knuckle, toe.
    pub(super) fore: [DVec3; 6],
    /// Hip, knee, hock, knuckle, toe.
    pub(super) hind: [DVec3; 5],
}

/// Reflects a point of the left side to the side with this sign.
pub(super) fn mirrored(point: DVec3, sign: f64) -> DVec3 {
    DVec3::new(point.x * sign, point.y, point.z)
}

/// The skeleton through `joints`.
pub(super) fn skeleton(joints: &Joints) -> Skeleton {
    // The spine, from the pelvis to the head, is one chain.
    let mut skeleton = Skeleton::default();
    let mut above = None;
    for (name, ends) in ["pelvis", "loin", "chest", "neck_1", "neck_2", "head"]
        .into_iter()
        .zip(joints.spine.windows(2))
    {
        above = Some(skeleton.add(name, above, ends[0], ends[1]));
    }

    let pelvis = skeleton.find("pelvis");
    let chest = skeleton.find("chest");
    let head = skeleton.find("head");

    // Tail, trunk and ears are children of the ends of the spine, legs of pelvis and chest.
    skeleton.add_chain("tail", pelvis, &joints.tail);
    if !joints.trunk.is_empty() {
        skeleton.add_chain("trunk", head, &joints.trunk);
    }

    for (side, sign) in SIDES {
        skeleton.add_chain(
            &format!("ear_{side}"),
            head,
            &joints.ear.map(|p| mirrored(p, sign)),
        );
        skeleton.add_chain(
            &format!("fore_{side}"),
            chest,
            &joints.fore.map(|p| mirrored(p, sign)),
        );
        skeleton.add_chain(
            &format!("hind_{side}"),
            pelvis,
            &joints.hind.map(|p| mirrored(p, sign)),
        );
    }

    skeleton
}
