//! Joints: where bones turn, and which hangs on which.

use pliant_mesh::glam::{DAffine3, DQuat, DVec3};

use crate::RigError;

/// A place that turns, and what it hangs on.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// Where it is in the reference pose.
    pub origin: DVec3,
    /// How its own axes are turned in the reference pose.
    pub axes: DQuat,
    /// The joint that it hangs on.
    pub parent: Option<usize>,
}

impl Joint {
    /// Its place in the reference pose.
    #[must_use]
    pub fn bind(&self) -> DAffine3 {
        DAffine3::from_rotation_translation(self.axes, self.origin)
    }
}

/// Joints without rings.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
}

impl Skeleton {
    /// A skeleton of `joints`, which may come in any order but not hang on themselves.
    pub fn new(joints: Vec<Joint>) -> Result<Self, RigError> {
        // Each joint is walked once: a way up ends at a root or at one that was walked before.
        let mut walked_from = vec![usize::MAX; joints.len()];
        for joint in 0..joints.len() {
            let mut at = Some(joint);
            while let Some(above) = at {
                let bad = RigError::BadJoint {
                    joint,
                    joints: joints.len(),
                };
                match walked_from.get(above) {
                    None => return Err(bad),
                    Some(&from) if from == joint => return Err(bad),
                    Some(&usize::MAX) => walked_from[above] = joint,
                    Some(_) => break,
                }
                at = joints[above].parent;
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
            let joint = |(k, &parent): (usize, &Option<usize>)| Joint {
                name: format!("{k}"),
                origin: DVec3::ZERO,
                axes: DQuat::IDENTITY,
                parent,
            };
            Skeleton::new(parents.iter().enumerate().map(joint).collect())
        };
        assert_eq!(joints(&[Some(1), None, Some(0)]).unwrap().joints().len(), 3);
        for bad in [&[Some(0)][..], &[Some(1), Some(0)], &[None, Some(2)]] {
            assert!(
                matches!(joints(bad), Err(RigError::BadJoint { .. })),
                "{bad:?}"
            );
        }
    }
}
