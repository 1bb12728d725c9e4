//! Skeleton files: joints and end effectors for inverse kinematics, as JSON or TOML.
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

use super::RecipeError;

/// The content of a skeleton file, before it is matched to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkeletonFile {
    /// The joints, in any order.
    pub joints: Vec<JointEntry>,
    /// Whether the root may move.
    #[serde(default)]
    pub root: RootEntry,
    /// Which poses are preferred.
    #[serde(default)]
    pub natural: NaturalEntry,
}

/// A joint; exactly one of `control`, `vertex` and `at` gives its position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointEntry {
    /// The name of the joint.
    pub name: String,
    /// The name of its parent.
    pub parent: Option<String>,
    /// The control point at its position, by its index in the recipe.
    pub control: Option<usize>,
    /// The vertex at its position.
    pub vertex: Option<usize>,
    /// Its position.
    pub at: Option<[f64; 3]>,
    /// Whether every frame gives a goal for it.
    #[serde(default)]
    pub effector: bool,
    /// Resistance to rotation; the default is 1.
    pub stiffness: Option<f64>,
    /// The largest rotation from the rest pose.
    pub limit_degrees: Option<f64>,
}

/// Whether joints without a parent move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootEntry {
    /// They rotate in place.
    #[default]
    Fixed,
    /// They rotate and translate.
    Free,
}

/// Which poses are preferred among those that reach the goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NaturalEntry {
    /// Poses similar to the examples of the model.
    #[default]
    Examples,
    /// Poses near the rest pose.
    Rest,
}

impl SkeletonFile {
    /// Reads JSON, or TOML where the text does not begin with a brace.
    ///
    /// # Errors
    /// [`RecipeError::Syntax`] with the line.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        if text.trim_start().starts_with('{') {
            return serde_json::from_str(text).map_err(|error| RecipeError::json(&error));
        }
        toml::from_str(text).map_err(|error| RecipeError::syntax(text, &error))
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
        let root = match self.root {
            RootEntry::Fixed => IkRoot::Fixed,
            RootEntry::Free => IkRoot::Free,
        };
        let skeleton = IkSkeleton::new(joints, root)?;
        skeleton.require_controls(model.control().count())?;

        match self.natural {
            NaturalEntry::Rest => IkSolver::new(skeleton),
            NaturalEntry::Examples => IkSolver::learned(skeleton, &example_controls(model)),
        }
    }
}

/// The control points in every example but the reference.
fn example_controls(model: &Model) -> Vec<Vec<DVec3>> {
    let examples = model.examples();
    (1..examples.count())
        .map(|example| model.control().at(examples.pose(example)))
        .collect()
}

impl JointEntry {
    fn joint(&self, model: &Model) -> Result<IkJoint, LearnError> {
        let points = model.control().vertices();
        let vertex = self.vertex_in(points)?;
        let control =
            vertex.and_then(|vertex| points.iter().position(|&point| point as usize == vertex));

        Ok(IkJoint {
            name: self.name.clone(),
            parent: self.parent.clone(),
            at: self.position(vertex, model.examples().reference().positions())?,
            control,
            effector: self.effector,
            stiffness: self.stiffness.unwrap_or(1.0),
            limit_rad: self.limit_degrees.map(f64::to_radians),
        })
    }

    /// The vertex at the joint; `None` for a joint at a position of its own.
    fn vertex_in(&self, points: &[u32]) -> Result<Option<usize>, LearnError> {
        match (self.control, self.vertex, self.at) {
            (Some(control), None, None) => match points.get(control) {
                Some(&vertex) => Ok(Some(vertex as usize)),
                None => Err(self.wrong(format!(
                    "sits at control point {control}, but the model has {}, counted from 0",
                    points.len()
                ))),
            },
            (None, Some(vertex), None) => Ok(Some(vertex)),
            (None, None, Some(_)) => Ok(None),
            _ => Err(self.wrong("needs exactly one of control, vertex and at".into())),
        }
    }

    fn position(&self, vertex: Option<usize>, positions: &[DVec3]) -> Result<DVec3, LearnError> {
        let Some(vertex) = vertex else {
            return Ok(DVec3::from_array(self.at.unwrap_or_default()));
        };
        positions.get(vertex).copied().ok_or_else(|| {
            self.wrong(format!(
                "sits at vertex {vertex}, but the mesh has {}",
                positions.len()
            ))
        })
    }

    fn wrong(&self, why: String) -> LearnError {
        LearnError::Skeleton {
            why: format!("joint '{}' {why}", self.name),
        }
    }
}
