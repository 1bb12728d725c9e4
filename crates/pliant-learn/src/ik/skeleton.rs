//! Labelled joints, parents before children.

use pliant_mesh::glam::DVec3;
use pliant_rig::did_you_mean;

use crate::LearnError;

/// A ball joint at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct IkJoint {
    /// What it is called.
    pub name: String,
    /// The joint it hangs on, by name; none for a root.
    pub parent: Option<String>,
    /// Where it is in the reference pose.
    pub at: DVec3,
    /// The control point that sits here, by its place in the model's list.
    pub control: Option<usize>,
    /// Whether its place is given in every frame.
    pub effector: bool,
    /// How much it resists turning, relative to other joints; 1 is ordinary.
    pub stiffness: f64,
    /// The largest turn from rest in radians.
    pub limit_rad: Option<f64>,
}

impl IkJoint {
    /// A joint that turns freely.
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

/// Whether joints without a parent may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IkRoot {
    /// They turn about where they are.
    #[default]
    Fixed,
    /// They turn and shift, at no cost.
    Free,
}

/// Joints in an order in which parents come first.
#[derive(Debug, Clone, PartialEq)]
pub struct IkSkeleton {
    pub(super) joints: Vec<IkJoint>,
    pub(super) parents: Vec<Option<usize>>,
    pub(super) effectors: Vec<usize>,
    pub(super) root: IkRoot,
    /// The way along bones from its root to each joint, and that root.
    pub(super) depths: Vec<(f64, usize)>,
    /// The longest of these ways; 1 where all joints are in one place.
    pub(super) reach: f64,
}

impl IkSkeleton {
    /// Checks and sorts `joints`; effectors keep the order in which they are listed.
    ///
    /// # Errors
    /// No joint or no effector, names that are double or unknown, loops, numbers out of range.
    pub fn new(joints: Vec<IkJoint>, root: IkRoot) -> Result<Self, LearnError> {
        check(&joints)?;
        let listed: Vec<String> = joints
            .iter()
            .filter(|joint| joint.effector)
            .map(|joint| joint.name.clone())
            .collect();
        let joints = sorted(joints)?;
        let place = |name: &str| joints.iter().position(|joint| joint.name == name);
        let parents: Vec<Option<usize>> = joints
            .iter()
            .map(|joint| joint.parent.as_deref().and_then(place))
            .collect();
        let mut roots = joints
            .iter()
            .filter(|joint| joint.parent.is_none())
            .map(|joint| joint.at);
        if root == IkRoot::Free
            && roots
                .next()
                .is_some_and(|first| roots.any(|other| other != first))
        {
            return Err(wrong("a free root needs all joints without a parent in one place; hang them on one joint".into()));
        }
        let effectors = listed.iter().filter_map(|name| place(name)).collect();
        let mut depths: Vec<(f64, usize)> = Vec::with_capacity(joints.len());
        for (k, parent) in parents.iter().enumerate() {
            let below = |parent: usize| {
                (
                    depths[parent].0 + joints[k].at.distance(joints[parent].at),
                    depths[parent].1,
                )
            };
            depths.push(parent.map_or((0.0, k), below));
        }
        let longest = depths.iter().map(|(depth, _)| *depth).fold(0.0, f64::max);
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

    /// Declines a skeleton that leaves one of `count` control points without a joint.
    ///
    /// # Errors
    /// [`LearnError::Skeleton`] that names the first.
    pub fn require_controls(&self, count: usize) -> Result<(), LearnError> {
        let covered = |point: usize| self.joints.iter().any(|joint| joint.control == Some(point));
        if let Some(joint) = self
            .joints
            .iter()
            .find(|joint| joint.control.is_some_and(|point| point >= count))
        {
            return Err(wrong(format!(
                "joint '{}' sits at a control point that the model lacks; it has {count}, counted from 0",
                joint.name
            )));
        }
        match (0..count).find(|&point| !covered(point)) {
            Some(point) => Err(wrong(format!(
                "control point {point} has no joint; add one at it, as the child of the joint that moves it"
            ))),
            None => Ok(()),
        }
    }

    /// Where the control points are when joints are at `places`.
    ///
    /// # Panics
    /// If [`require_controls`](Self::require_controls) was not asked.
    #[must_use]
    pub fn controls(&self, places: &[DVec3], count: usize) -> Vec<DVec3> {
        let joint = |point: usize| {
            self.joints
                .iter()
                .position(|joint| joint.control == Some(point))
        };
        (0..count)
            .map(|point| places[joint(point).expect("every control point has a joint")])
            .collect()
    }
}

fn wrong(why: String) -> LearnError {
    LearnError::Skeleton { why }
}

fn check(joints: &[IkJoint]) -> Result<(), LearnError> {
    for (k, joint) in joints.iter().enumerate() {
        let name = &joint.name;
        if joints[..k].iter().any(|other| other.name == *name) {
            return Err(wrong(format!(
                "two joints are called '{name}'; give each a name of its own"
            )));
        }
        let others = || joints.iter().map(|joint| joint.name.as_str());
        if let Some(parent) = joint
            .parent
            .as_deref()
            .filter(|parent| !others().any(|other| other == *parent))
        {
            return Err(wrong(format!(
                "joint '{name}' hangs on '{parent}', which is no joint; {}",
                did_you_mean(parent, others())
            )));
        }
        if !(joint.at.is_finite() && joint.stiffness > 0.0 && joint.stiffness.is_finite()) {
            return Err(wrong(format!(
                "joint '{name}' needs a finite place and a stiffness above zero"
            )));
        }
        if joint
            .limit_rad
            .is_some_and(|limit| !(limit >= 0.0 && limit.is_finite()))
        {
            return Err(wrong(format!(
                "the limit of joint '{name}' must be an angle of zero or more"
            )));
        }
    }
    if !joints.iter().any(|joint| joint.effector) {
        return Err(wrong(
            "no joint is an effector; mark those whose places are given".into(),
        ));
    }
    Ok(())
}

/// Parents first, otherwise in order; what hangs on itself is declined.
fn sorted(mut waiting: Vec<IkJoint>) -> Result<Vec<IkJoint>, LearnError> {
    let mut sorted: Vec<IkJoint> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = |joint: &IkJoint| {
            joint
                .parent
                .as_ref()
                .is_none_or(|parent| sorted.iter().any(|other| other.name == *parent))
        };
        let Some(next) = waiting.iter().position(ready) else {
            return Err(wrong(format!(
                "joint '{}' hangs on itself by way of its parents; give one of them no parent",
                waiting[0].name
            )));
        };
        sorted.push(waiting.remove(next));
    }
    Ok(sorted)
}
