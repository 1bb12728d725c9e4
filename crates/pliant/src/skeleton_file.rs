//! Skeletons of end effectors as a JSON or TOML file.
//!
//! ```toml
//! root = "fixed"
//!
//! [[joints]]
//! name = "wrist"
//! control = 0
//!
//! [[joints]]
//! name = "tip"
//! parent = "wrist"
//! vertex = 4711
//! effector = true
//! ```

use pliant_learn::{IkJoint, IkRoot, IkSkeleton, IkSolver, LearnError, Model};
use pliant_mesh::glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::transfer_recipe::RecipeError;

/// What the file says, before it meets a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkeletonFile {
    /// The joints, in any order.
    pub joints: Vec<JointEntry>,
    /// Whether the whole may move.
    #[serde(default)]
    pub root: RootEntry,
    /// Which poses are preferred.
    #[serde(default)]
    pub natural: NaturalEntry,
}

/// A joint; exactly one of `control`, `vertex` and `at` says where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointEntry {
    /// What it is called.
    pub name: String,
    /// The joint it hangs on.
    pub parent: Option<String>,
    /// The control point it sits at, by its place in the recipe.
    pub control: Option<usize>,
    /// The vertex it sits at.
    pub vertex: Option<usize>,
    /// Its place.
    pub at: Option<[f64; 3]>,
    /// Whether its place is given in every frame.
    #[serde(default)]
    pub effector: bool,
    /// How much it resists turning; 1 is ordinary.
    pub stiffness: Option<f64>,
    /// The largest turn from rest.
    pub limit_degrees: Option<f64>,
}

/// Whether joints without a parent move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootEntry {
    /// They turn about where they are.
    #[default]
    Fixed,
    /// They turn and shift.
    Free,
}

/// Which poses are preferred among those that meet the goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NaturalEntry {
    /// Those that the model's examples show.
    #[default]
    Examples,
    /// Those near the rest pose.
    Rest,
}

impl SkeletonFile {
    /// Reads JSON, or TOML where the text does not begin with a brace.
    ///
    /// # Errors
    /// A sentence with the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('{') {
            return serde_json::from_str(text).map_err(|error| error.to_string());
        }
        toml::from_str(text).map_err(|error| RecipeError::syntax(text, &error).to_string())
    }

    /// The solver for a model: every control point must have a joint.
    ///
    /// # Errors
    /// [`LearnError::Skeleton`] with the joint.
    pub fn solver(&self, model: &Model) -> Result<IkSolver, LearnError> {
        let joints = self
            .joints
            .iter()
            .map(|entry| entry.joint(model))
            .collect::<Result<Vec<_>, _>>()?;
        let root = if self.root == RootEntry::Free {
            IkRoot::Free
        } else {
            IkRoot::Fixed
        };
        let skeleton = IkSkeleton::new(joints, root)?;
        skeleton.require_controls(model.control().count())?;
        match self.natural {
            NaturalEntry::Rest => IkSolver::new(skeleton),
            NaturalEntry::Examples => {
                let examples = model.examples();
                let poses: Vec<Vec<DVec3>> = (1..examples.count())
                    .map(|example| model.control().at(examples.pose(example)))
                    .collect();
                IkSolver::learned(skeleton, &poses)
            }
        }
    }
}

impl JointEntry {
    fn joint(&self, model: &Model) -> Result<IkJoint, LearnError> {
        let wrong = |why: String| LearnError::Skeleton {
            why: format!("joint '{}' {why}", self.name),
        };
        let (points, positions) = (
            model.control().vertices(),
            model.examples().reference().positions(),
        );
        let vertex = match (self.control, self.vertex, self.at) {
            (Some(control), None, None) => {
                let beyond = || {
                    wrong(format!(
                        "sits at control point {control}, but the model has {}, counted from 0",
                        points.len()
                    ))
                };
                Some(*points.get(control).ok_or_else(beyond)? as usize)
            }
            (None, Some(vertex), None) => Some(vertex),
            (None, None, Some(_)) => None,
            _ => return Err(wrong("needs exactly one of control, vertex and at".into())),
        };
        let at = match vertex {
            Some(vertex) => *positions.get(vertex).ok_or_else(|| {
                wrong(format!(
                    "sits at vertex {vertex}, but the mesh has {}",
                    positions.len()
                ))
            })?,
            None => DVec3::from_array(self.at.unwrap_or_default()),
        };
        Ok(IkJoint {
            name: self.name.clone(),
            parent: self.parent.clone(),
            at,
            control: vertex
                .and_then(|vertex| points.iter().position(|&point| point as usize == vertex)),
            effector: self.effector,
            stiffness: self.stiffness.unwrap_or(1.0),
            limit_rad: self.limit_degrees.map(f64::to_radians),
        })
    }
}
