//! Skeleton of labelled ball joints, with end effectors.

use pliant_mesh::glam::DVec3;
use pliant_rig::did_you_mean;

use crate::LearnError;

/// A ball joint in the reference pose.
#[derive(Debug, Clone, PartialEq)]
pub struct IkJoint {
    /// Its name.
    pub name: String,
    /// The name of its parent; `None` for a root.
    pub parent: Option<String>,
    /// Its position in the reference pose.
    pub at: DVec3,
    /// The index of the control point at this joint.
    pub control: Option<usize>,
    /// Whether it is an end effector, with a goal in every frame.
    pub effector: bool,
    /// Resistance to rotation, relative to other joints; the default is 1.
    pub stiffness: f64,
    /// The largest rotation from rest, in radians.
    pub limit_rad: Option<f64>,
}

impl IkJoint {
    /// A joint without limits.
    #[must_use]
    pub fn new(name: impl Into<String>, parent: Option<&str>, at: DVec3) -> Self {
        let parent = parent.map(str::to_owned);
        Self {
            name: name.into(),
            parent,
            at,
            control: None,
            effector: false,
            stiffness: 1.0,
            limit_rad: None,
        }
    }

    /// The same joint as an end effector.
    #[must_use]
    pub fn as_effector(self) -> Self {
        Self {
            effector: true,
            ..self
        }
    }

    /// The same joint with a control point on it.
    #[must_use]
    pub fn with_control(self, control: usize) -> Self {
        Self {
            control: Some(control),
            ..self
        }
    }
}

/// How joints without a parent move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IkRoot {
    /// They rotate about their rest positions.
    #[default]
    Fixed,
    /// They rotate and translate without a penalty.
    Free,
}

/// Joints in an order with parents first.
#[derive(Debug, Clone, PartialEq)]
pub struct IkSkeleton {
    pub(super) joints: Vec<IkJoint>,
    pub(super) parents: Vec<Option<usize>>,
    pub(super) effectors: Vec<usize>,
    pub(super) root: IkRoot,
    /// The length of the chain from the root to each joint, and that root.
    pub(super) depths: Vec<(f64, usize)>,
    /// The length of the longest chain; 1 if all joints coincide.
    pub(super) reach: f64,
}

impl IkSkeleton {
    /// Checks and sorts `joints`; effectors keep the order in which they are listed.
    ///
    /// # Errors
    /// No joint or no effector, repeated or unknown names, cycles, numbers out of range.
    pub fn new(joints: Vec<IkJoint>, root: IkRoot) -> Result<Self, LearnError> {
        check(&joints)?;
        // Sorting moves effectors; their listed order is the order of the goals.
        let mut listed = Vec::new();
        for joint in &joints {
            if joint.effector {
                listed.push(joint.name.clone());
            }
        }
        let joints = sorted(joints)?;
        if root == IkRoot::Free {
            check_common_root(&joints)?;
        }

        let parents: Vec<Option<usize>> = joints
            .iter()
            .map(|joint| index_of(&joints, joint.parent.as_deref()?))
            .collect();
        let effectors = listed.iter().filter_map(|name| index_of(&joints, name));
        let effectors: Vec<usize> = effectors.collect();

        // Parents come first, so that their depths are known.
        let mut depths: Vec<(f64, usize)> = Vec::with_capacity(joints.len());
        let mut longest: f64 = 0.0;
        for (k, joint) in joints.iter().enumerate() {
            let (depth, root) = match parents[k] {
                Some(parent) => {
                    let (above, root) = depths[parent];
                    (above + joint.at.distance(joints[parent].at), root)
                }
                None => (0.0, k),
            };
            depths.push((depth, root));
            longest = longest.max(depth);
        }

        Ok(Self {
            joints,
            parents,
            effectors,
            root,
            depths,
            reach: if longest > 0.0 { longest } else { 1.0 },
        })
    }

    /// The joints, parents first.
    #[must_use]
    pub fn joints(&self) -> &[IkJoint] {
        &self.joints
    }

    /// The end effectors, in the order in which their goals are given.
    pub fn effectors(&self) -> impl Iterator<Item = &IkJoint> {
        self.effectors.iter().map(|&joint| &self.joints[joint])
    }

    /// The length of the longest chain.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Rejects a skeleton in which one of `count` control points has no joint.
    ///
    /// # Errors
    /// [`LearnError::Skeleton`] that names the first.
    pub fn require_controls(&self, count: usize) -> Result<(), LearnError> {
        for joint in &self.joints {
            if joint.control.is_some_and(|point| point >= count) {
                return Err(skeleton_error(format!(
                    "joint '{}' names a control point that the model does not have; it has {count}, counted from 0",
                    joint.name
                )));
            }
        }

        for point in 0..count {
            if self.joint_of(point).is_none() {
                return Err(skeleton_error(format!(
                    "control point {point} has no joint; add a joint there, as a child of the joint that moves it"
                )));
            }
        }
        Ok(())
    }

    /// The joint at a control point.
    fn joint_of(&self, point: usize) -> Option<usize> {
        let mut joints = self.joints.iter();
        joints.position(|joint| joint.control == Some(point))
    }

    /// Positions of the control points for `positions` of the joints.
    ///
    /// # Panics
    /// If a control point has no joint; see [`require_controls`](Self::require_controls).
    #[must_use]
    pub fn controls(&self, positions: &[DVec3], count: usize) -> Vec<DVec3> {
        let mut points = Vec::with_capacity(count);
        for point in 0..count {
            let joint = self.joint_of(point);
            points.push(positions[joint.expect("every control point has a joint")]);
        }
        points
    }
}

/// The index of the joint with a name.
fn index_of(joints: &[IkJoint], name: &str) -> Option<usize> {
    joints.iter().position(|joint| joint.name == name)
}

/// One translation moves all roots, so that they must coincide.
fn check_common_root(joints: &[IkJoint]) -> Result<(), LearnError> {
    let mut first = None;
    for joint in joints {
        if joint.parent.is_none() && *first.get_or_insert(joint.at) != joint.at {
            return Err(skeleton_error(
                "with a free root, all joints without a parent must have the same position; give them a common parent".into(),
            ));
        }
    }
    Ok(())
}

fn skeleton_error(why: String) -> LearnError {
    LearnError::Skeleton { why }
}

fn check(joints: &[IkJoint]) -> Result<(), LearnError> {
    for (k, joint) in joints.iter().enumerate() {
        check_names(joints, k)?;
        let name = &joint.name;
        if !(joint.at.is_finite() && joint.stiffness > 0.0 && joint.stiffness.is_finite()) {
            return Err(skeleton_error(format!(
                "joint '{name}' needs a finite position and a stiffness above zero"
            )));
        }
        if let Some(limit) = joint.limit_rad
            && !(limit >= 0.0 && limit.is_finite())
        {
            return Err(skeleton_error(format!(
                "the limit of joint '{name}' must be an angle of zero or more"
            )));
        }
    }

    if !joints.iter().any(|joint| joint.effector) {
        return Err(skeleton_error(
            "no joint is an end effector; mark the joints with goals".into(),
        ));
    }
    Ok(())
}

/// The name of joint `k` must be unique, and its parent must exist.
fn check_names(joints: &[IkJoint], k: usize) -> Result<(), LearnError> {
    let name = &joints[k].name;
    if index_of(&joints[..k], name).is_some() {
        return Err(skeleton_error(format!(
            "two joints have the name '{name}'; give each a unique name"
        )));
    }
    if let Some(parent) = joints[k].parent.as_deref()
        && index_of(joints, parent).is_none()
    {
        let names = joints.iter().map(|joint| joint.name.as_str());
        return Err(skeleton_error(format!(
            "joint '{name}' has the parent '{parent}', which is not a joint; {}",
            did_you_mean(parent, names)
        )));
    }
    Ok(())
}

/// Joints with parents first, otherwise in order; cycles are rejected.
fn sorted(mut waiting: Vec<IkJoint>) -> Result<Vec<IkJoint>, LearnError> {
    let mut sorted: Vec<IkJoint> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let next = waiting.iter().position(|joint| match &joint.parent {
            Some(parent) => index_of(&sorted, parent).is_some(),
            None => true,
        });
        // Without a joint whose parent is sorted, the rest contains a cycle.
        let Some(next) = next else {
            return Err(skeleton_error(format!(
                "joint '{}' is its own ancestor; remove the parent of one of these joints",
                waiting[0].name
            )));
        };
        sorted.push(waiting.remove(next));
    }
    Ok(sorted)
}
