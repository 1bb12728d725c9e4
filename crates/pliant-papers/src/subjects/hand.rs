//! The built-in hand: its control points and the skeleton that joins them.

use pliant_learn::{ControlPoints, IkJoint, IkRoot, IkSkeleton, LearnError};
use pliant_mesh::Mesh;

/// The control points on the back of the hand.
///
/// # Errors
/// A mesh that is not the built-in hand.
pub fn control(mesh: &Mesh) -> Result<ControlPoints, LearnError> {
    let vertices: Vec<usize> = pliant_specimens::hand_landmarks()
        .iter()
        .map(|point| point.vertex as usize)
        .collect();
    ControlPoints::new(mesh, &vertices)
}

/// A skeleton with a joint at each control point; fingertips and palm are end effectors, and the
/// forearm is fixed.
///
/// # Errors
/// A mesh that is not the built-in hand.
pub fn skeleton(mesh: &Mesh) -> Result<IkSkeleton, LearnError> {
    let points = pliant_specimens::hand_landmarks();
    let mut joints = Vec::with_capacity(points.len());
    for (k, point) in points.iter().enumerate() {
        let parent = point.parent.map(|parent| points[parent].name.as_str());
        let at = mesh.positions()[point.vertex as usize];
        let joint = IkJoint::new(&point.name, parent, at).with_control(k);

        joints.push(match point.name.as_str() {
            "forearm" => IkJoint {
                limit_rad: Some(0.0),
                ..joint
            },
            "palm" => joint.as_effector(),
            _ if point.is_tip => joint.as_effector(),
            _ => joint,
        });
    }
    IkSkeleton::new(joints, IkRoot::Fixed)
}
