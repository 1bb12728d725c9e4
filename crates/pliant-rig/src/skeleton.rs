//! Joints: where bones turn, and which hangs on which.

use pliant_mesh::glam::DVec3;

use crate::RigError;

/// A place that turns, and what it hangs on.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// Where it is in the reference pose.
    pub origin: DVec3,
    /// The joint that it hangs on.
    pub parent: Option<usize>,
}

/// Joints without rings.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
}

impl Skeleton {
    /// A skeleton of `joints`, which may come in any order but not hang on themselves.
    pub fn new(joints: Vec<Joint>) -> Result<Self, RigError> {
        let parent = |&joint: &usize| joints.get(joint).and_then(|own| own.parent);
        for joint in 0..joints.len() {
            let above = std::iter::successors(Some(joint), parent).take(joints.len() + 1);
            if above.clone().count() > joints.len() || above.into_iter().any(|k| k >= joints.len()) {
                return Err(RigError::BadJoint { joint, joints: joints.len() });
            }
        }
        Ok(Self { joints })
    }

    /// The joints.
    #[must_use]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_and_missing_parents_are_declined() {
        let joints = |parents: &[Option<usize>]| {
            let joint = |(k, &parent): (usize, &Option<usize>)| Joint { name: format!("{k}"), origin: DVec3::ZERO, parent };
            Skeleton::new(parents.iter().enumerate().map(joint).collect())
        };
        assert_eq!(joints(&[Some(1), None, Some(0)]).unwrap().joints().len(), 3);
        for bad in [&[Some(0)][..], &[Some(1), Some(0)], &[None, Some(2)]] {
            assert!(matches!(joints(bad), Err(RigError::BadJoint { .. })), "{bad:?}");
        }
    }
}
