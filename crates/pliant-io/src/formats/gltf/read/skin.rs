//! glTF skins: joints, their bind pose, and the vertices that follow them.
//!
//! **Problem.** The joints of a skinned mesh place it in the scene; the node of the mesh does not.
//!
//! **Equation.** With the transform `Wⱼ(t)` of a joint in the scene, its inverse bind matrix `Bⱼ`
//! and weights `w`:
//!
//! ```text
//! v(t) = Σⱼ wⱼ Wⱼ(t) Bⱼ p        p: the stored position, moved by targets
//! ```
//!
//! **Method.** The neutral of the object is `G p` with `G = Wⱼ(0) Bⱼ` at rest. If the file rests in
//! its bind pose, `G` is the same for all joints; if not, `G` of the first root joint is used. A
//! joint then moves the neutral by `Wⱼ(t) Bⱼ G⁻¹`.
//!
//! **Source.** "glTF 2.0 Specification", section 3.7.3.
//!
//! **Departures.** Weights are normalised to sum 1. Of the bind matrix of a joint, the origin and
//! the nearest rotation are kept.

use std::sync::Arc;

use pliant_mesh::Polar;
use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};
use pliant_rig::{Influence, Joint, Skeleton, Skin};

use super::accessor::Source;
use super::nodes::{NodeTree, unit_rotation};
use super::primitive::StoredMesh;
use crate::ReadError;
use crate::gltf::document;
use crate::parse::finite::NotFinite;

/// Chosen: how far the bind pose and the rest pose may differ, relative to the largest entry of the
/// matrices. Exporters round them to single precision.
const BIND_TOLERANCE: f64 = 1e-3;

/// Chosen: how far the sum of weights may be from 1 without a warning. Weights stored as bytes are
/// rounded.
const SUM_TOLERANCE: f64 = 0.02;

/// A skin of the document with its bind pose.
pub(in crate::formats::gltf) struct BoundSkin {
    /// The nodes of the joints.
    pub(in crate::formats::gltf) joints: Vec<usize>,
    /// The joints and all their ancestors, each after its parent.
    pub(in crate::formats::gltf) nodes: Vec<usize>,
    pub(super) skeleton: Arc<Skeleton>,
    /// `G`: the transformation from the stored vertices to the neutral in the scene.
    pub(super) scene_from_mesh: DAffine3,
    /// `Bⱼ G⁻¹`, joint by joint.
    pub(in crate::formats::gltf) from_neutral: Vec<DAffine3>,
    /// The motion of the neutral by each joint at rest: `Wⱼ(0) Bⱼ G⁻¹`.
    pub(super) rest_joints: Arc<Vec<DAffine3>>,
    /// Whether the file rests in the bind pose.
    pub(in crate::formats::gltf) rests_as_bound: bool,
}

impl BoundSkin {
    /// Reads skin `index` of the document.
    pub(super) fn read(
        source: &Source<'_>,
        nodes: &NodeTree<'_>,
        index: usize,
    ) -> Result<Self, ReadError> {
        let skins = &source.document.skins;
        let skin_error =
            |what: String| ReadError::whole(format!("skin {index} {what}; export the file again"));
        let Some(skin) = skins.get(index) else {
            return Err(skin_error(format!(
                "does not exist; there are {} skins",
                skins.len()
            )));
        };

        let count = nodes.nodes.len();
        if let Some(&node) = skin.joints.iter().find(|&&node| node >= count) {
            return Err(skin_error(format!(
                "has a joint at node {node}, but there are {count} nodes"
            )));
        }
        if skin.joints.is_empty() {
            return Err(skin_error("has no joints".into()));
        }

        // Joints may be shared by many skins, so that their number is not bounded by the file size.
        let budget = &source.buffers.budget;
        let numbers = count.saturating_add(skin.joints.len().saturating_mul(32));
        budget.spend(numbers, format_args!("skin {index}"))?;
        let names = skin.joints.iter().map(|&node| &nodes.nodes[node].name);
        let names: Vec<&str> = names.flatten().map(String::as_str).collect();
        budget.spend_texts(&names, format_args!("the joints of skin {index}"))?;
        let inverse = inverse_bind_matrices(source, skin).map_err(|e| ReadError {
            message: format!("skin {index}: {}", e.message),
            ..e
        })?;

        let joint_tree = nodes.with_ancestors(&skin.joints);
        let numbers = joint_tree.len().saturating_mul(16);
        budget.spend(numbers, format_args!("the joints of skin {index}"))?;

        Self::bind(skin, inverse, joint_tree, nodes)
    }

    fn bind(
        skin: &document::Skin,
        inverse: Vec<DAffine3>,
        joint_tree: Vec<usize>,
        nodes: &NodeTree<'_>,
    ) -> Result<Self, ReadError> {
        let mut worlds = vec![DAffine3::IDENTITY; nodes.nodes.len()];
        update_worlds(nodes, &joint_tree, |node| nodes.local(node), &mut worlds);
        let bound: Vec<DAffine3> = skin
            .joints
            .iter()
            .zip(&inverse)
            .map(|(&node, inverse)| worlds[node] * *inverse)
            .collect();

        // `G` of the first root joint places the neutral.
        let parents = parents(skin, &joint_tree, nodes);
        let root = parents.iter().position(Option::is_none).unwrap_or(0);
        let scene_from_mesh = usable_transform(bound[root]);

        let mut joints = Vec::with_capacity(inverse.len());
        for (k, inverse) in inverse.iter().enumerate() {
            let node = skin.joints[k];
            let bind = scene_from_mesh * inverse.inverse();
            let bind = if bind.is_finite() { bind } else { worlds[node] };
            let name = nodes.nodes[node].name.clone();
            joints.push(Joint {
                name: name.unwrap_or_else(|| format!("joint{k}")),
                origin: finite(bind.translation),
                axes: axes(&bind),
                parent: parents[k],
            });
        }

        Ok(Self {
            skeleton: Arc::new(Skeleton::new(joints)?),
            rest_joints: Arc::new(
                bound
                    .iter()
                    .map(|bound| *bound * scene_from_mesh.inverse())
                    .collect(),
            ),
            rests_as_bound: bound.iter().all(|other| near(other, &scene_from_mesh)),
            from_neutral: inverse
                .iter()
                .map(|inverse| *inverse * scene_from_mesh.inverse())
                .collect(),
            joints: skin.joints.clone(),
            nodes: joint_tree,
            scene_from_mesh,
        })
    }

    /// Notes a rest pose that cannot be used.
    pub(super) fn check_finite(&self, index: usize, found: &NotFinite) {
        let numbers = self.rest_joints.iter().flat_map(|m| m.to_cols_array());
        found.check(numbers, format_args!("the pose of skin {index}"));
    }

    /// Which joints each welded vertex follows, and a warning if weights were corrected. Each
    /// vertex follows the joints of its representative stored vertex.
    pub(super) fn skin_of(
        &self,
        stored: &StoredMesh,
        representatives: &[u32],
    ) -> Result<(Skin, Option<String>), ReadError> {
        let mut unnormalised = 0;
        let mut unweighted = 0;
        let mut vertices = Vec::with_capacity(representatives.len());
        for &representative in representatives {
            let (own, sum) = influences(stored, representative as usize, self.joints.len())?;
            unweighted += usize::from(sum == 0.0);
            unnormalised += usize::from(sum != 0.0 && (sum - 1.0).abs() > SUM_TOLERANCE);
            vertices.push(own);
        }

        let mut corrected = Vec::new();
        if unnormalised > 0 {
            corrected.push(format!(
                "{unnormalised} vertices have weights that do not sum to 1 (they were made to)"
            ));
        }
        if unweighted > 0 {
            corrected.push(format!(
                "{unweighted} vertices follow no joint (they follow the first)"
            ));
        }

        let skin = Skin::new(self.joints.len(), vertices)?;
        let warning = (!corrected.is_empty()).then(|| corrected.join(" and "));
        Ok((skin, warning))
    }
}

/// A transformation that can be inverted; the identity for one that is near it, flat or infinite.
fn usable_transform(transform: DAffine3) -> DAffine3 {
    let invertible = transform.is_finite() && transform.inverse().is_finite();
    if !invertible || near(&transform, &DAffine3::IDENTITY) {
        DAffine3::IDENTITY
    } else {
        transform
    }
}

/// Sets the transforms in the scene of the nodes in `order`, which has each node after its parent.
pub(super) fn update_worlds(
    nodes: &NodeTree<'_>,
    order: &[usize],
    local: impl Fn(usize) -> DAffine3,
    worlds: &mut [DAffine3],
) {
    for &node in order {
        let parent = nodes.parent(node);
        let above = parent.map_or(DAffine3::IDENTITY, |parent| worlds[parent]);
        worlds[node] = above * local(node);
    }
}

/// The influences of a stored vertex, normalised to sum 1, and their sum before.
fn influences(
    stored: &StoredMesh,
    vertex: usize,
    joints: usize,
) -> Result<(Vec<Influence>, f64), ReadError> {
    let mut own: Vec<Influence> = Vec::new();
    for (set, weights) in stored.joints.iter().zip(&stored.joint_weights) {
        for (&joint, &weight) in set[vertex].iter().zip(&weights[vertex]) {
            // A weight that is not finite is noted with its accessor.
            if weight == 0.0 || !weight.is_finite() {
                continue;
            }
            check_influence(joint, weight, joints).map_err(|why| {
                ReadError::whole(format!(
                    "stored vertex {vertex} follows its skin by {why}; export the file again"
                ))
            })?;
            own.push(Influence {
                bone: joint as u32,
                weight: f64::from(weight),
            });
        }
    }

    let sum: f64 = own.iter().map(|influence| influence.weight).sum();
    for influence in &mut own {
        influence.weight /= sum;
    }
    if own.is_empty() {
        own.push(Influence {
            bone: 0,
            weight: 1.0,
        });
    }

    Ok((own, sum))
}

/// What is wrong with a weight or a joint, as a phrase.
fn check_influence(joint: f32, weight: f32, joints: usize) -> Result<(), String> {
    if weight < 0.0 {
        return Err(format!("the weight {weight}"));
    }
    if !(joint >= 0.0 && joint.fract() == 0.0 && (joint as usize) < joints) {
        return Err(format!("joint {joint} of {joints}"));
    }
    Ok(())
}

/// `Bⱼ` of each joint: the matrix from the stored vertices to the joint. Without matrices in the
/// file, all are the identity.
fn inverse_bind_matrices(
    source: &Source<'_>,
    skin: &document::Skin,
) -> Result<Vec<DAffine3>, ReadError> {
    let Some(accessor) = skin.inverse_bind_matrices else {
        return Ok(vec![DAffine3::IDENTITY; skin.joints.len()]);
    };

    let numbers = source.numbers(accessor, &["MAT4"])?;
    let (matrices, _) = numbers.as_chunks::<16>();
    if matrices.len() < skin.joints.len() {
        let found = matrices.len();
        let needed = skin.joints.len();
        return Err(ReadError::whole(format!(
            "it has {found} inverse bind matrices for {needed} joints; export the file again"
        )));
    }

    // The accessor is noted as not finite; a report about the file goes on.
    let usable = |matrix: &DAffine3| matrix.is_finite();
    Ok(matrices
        .iter()
        .take(skin.joints.len())
        .map(|m| DAffine3::from_mat4(DMat4::from_cols_array(m)))
        .map(|m| Some(m).filter(usable).unwrap_or(DAffine3::IDENTITY))
        .collect())
}

/// For each joint, its nearest ancestor that is a joint.
fn parents(
    skin: &document::Skin,
    joint_tree: &[usize],
    nodes: &NodeTree<'_>,
) -> Vec<Option<usize>> {
    // A node that is listed twice counts as its first joint.
    let mut joint_of = vec![None; nodes.nodes.len()];
    for (k, &node) in skin.joints.iter().enumerate().rev() {
        joint_of[node] = Some(k);
    }

    let mut joint_above = vec![None; nodes.nodes.len()];
    for &node in joint_tree {
        joint_above[node] = nodes
            .parent(node)
            .and_then(|parent| joint_of[parent].or(joint_above[parent]));
    }

    skin.joints.iter().map(|&node| joint_above[node]).collect()
}

/// Whether two transforms are equal up to the tolerance.
fn near(a: &DAffine3, b: &DAffine3) -> bool {
    let size = |m: &DAffine3| {
        m.to_cols_array()
            .iter()
            .fold(0.0_f64, |most, x| most.max(x.abs()))
    };
    a.abs_diff_eq(*b, BIND_TOLERANCE * size(a).max(size(b)))
}

fn finite(point: DVec3) -> DVec3 {
    if point.is_finite() {
        point
    } else {
        DVec3::ZERO
    }
}

/// The rotation nearest to the axes of a joint.
fn axes(bind: &DAffine3) -> DQuat {
    if !bind.matrix3.is_finite() {
        return DQuat::IDENTITY;
    }
    unit_rotation(DQuat::from_mat3(&Polar::of(bind.matrix3).rotation))
}
