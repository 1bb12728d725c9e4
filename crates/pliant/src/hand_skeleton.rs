//! The built-in hand as it is steered: control points on its back, and the skeleton that joins
//! them.

use pliant_learn::{ControlPoints, IkJoint, IkRoot, IkSkeleton, LearnError};
use pliant_mesh::Mesh;

/// The points on the back of the hand.
pub(crate) fn control(mesh: &Mesh) -> Result<ControlPoints, LearnError> {
    let vertices: Vec<usize> = pliant_specimens::hand_landmarks()
        .iter()
        .map(|point| point.vertex as usize)
        .collect();
    ControlPoints::new(mesh, &vertices)
}

/// A joint at each of these points; a person moves the fingertips and the palm, and the forearm
/// stays where it is.
pub(crate) fn labelled(mesh: &Mesh) -> Result<IkSkeleton, LearnError> {
    let points = pliant_specimens::hand_landmarks();
    let joint = |(k, point): (usize, &pliant_specimens::HandLandmark)| {
        let parent = point.parent.map(|parent| points[parent].name.as_str());
        let joint = IkJoint::new(&point.name, parent, mesh.positions()[point.vertex as usize])
            .with_control(k);
        match point.name.as_str() {
            "forearm" => IkJoint {
                limit_rad: Some(0.0),
                ..joint
            },
            "palm" => joint.as_effector(),
            _ if point.is_tip => joint.as_effector(),
            _ => joint,
        }
    };
    IkSkeleton::new(
        points.iter().enumerate().map(joint).collect(),
        IkRoot::Fixed,
    )
}
