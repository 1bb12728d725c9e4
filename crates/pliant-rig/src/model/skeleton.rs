//! Skeletons: joints, their bind poses and their hierarchy.

use pliant_mesh::glam::{DAffine3, DQuat, DVec3};

use crate::RigError;

/// A joint with its bind pose and its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// Its position in the reference pose.
    pub origin: DVec3,
    /// Its orientation in the reference pose.
    pub axes: DQuat,
    /// Its parent joint.
    pub parent: Option<usize>,
}

impl Joint {
    /// Its transformation in the reference pose.
    #[must_use]
    pub fn bind(&self) -> DAffine3 {
        DAffine3::from_rotation_translation(self.axes, self.origin)
    }
}

/// Joints whose parents form a forest, without cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
}

impl Skeleton {
    /// A skeleton of `joints` in any order.
    ///
    /// # Errors
    /// [`RigError::BadJoint`] if a parent does not exist, or a joint is its own ancestor.
    pub fn new(joints: Vec<Joint>) -> Result<Self, RigError> {
        // Each joint is visited once: the path to the root ends at a root or at a joint that an
        // earlier path visited.
        let mut visited_from = vec![usize::MAX; joints.len()];
        for joint in 0..joints.len() {
            let mut next = Some(joint);
            while let Some(ancestor) = next {
                let error = RigError::BadJoint {
                    joint,
                    joints: joints.len(),
                };

                match visited_from.get(ancestor) {
                    None => return Err(error),
                    Some(&from) if from == joint => return Err(error),
                    Some(&usize::MAX) => visited_from[ancestor] = joint,
                    Some(_) => break,
                }

                next = joints[ancestor].parent;
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
    fn cycles_and_missing_parents_are_errors() {
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
