//! Skins: joints, where they are bound, and what follows them.
//!
//! **Problem.** A skinned mesh stands where its joints take it, wherever its own node is.
//!
//! **Equation.** With the place `Wⱼ(t)` of a joint in the scene, its inverse bind matrix `Bⱼ` and
//! weights `w`:
//!
//! ```text
//! v(t) = Σⱼ wⱼ Wⱼ(t) Bⱼ p        p: the stored place, moved by targets
//! ```
//!
//! **Form.** The object's neutral is `G p`, where `G = Wⱼ(0) Bⱼ` at rest: the same for all joints
//! where the file rests in its bind pose, and that of the first root joint where it does not. A
//! joint then moves the neutral by `Wⱼ(t) Bⱼ G⁻¹`.
//!
//! **Source.** "glTF 2.0 Specification", section 3.7.3.
//!
//! **Ours.** Weights are made to sum to 1. Of a joint's bind matrix its origin and the nearest
//! rotation are kept.

use std::sync::Arc;

use pliant_mesh::Polar;
use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};
use pliant_rig::{Influence, Joint, Skeleton, Skin};

use super::accessor::Source;
use super::document;
use super::nodes::{Nodes, unit};
use super::primitive::Stored;
use crate::ReadError;

/// How far the bind pose and the rest may differ, as a part of the sizes of the matrices.
const SAME_PLACE: f64 = 1e-3;

/// How far weights may sum from 1 without a word: those of bytes are rounded.
const SUM_TOLERANCE: f64 = 0.02;

/// A skin of the document.
pub(super) struct BoundSkin {
    /// The nodes of the joints.
    pub(super) joints: Vec<usize>,
    /// The joints and all nodes above them, each after the one above it.
    pub(super) nodes: Vec<usize>,
    pub(super) skeleton: Arc<Skeleton>,
    /// `G`: where the neutral of what follows it stands.
    pub(super) place: DAffine3,
    /// `Bⱼ G⁻¹`, joint by joint.
    pub(super) from_neutral: Vec<DAffine3>,
    /// Whether it rests in its bind pose.
    pub(super) rests_as_bound: bool,
}

impl BoundSkin {
    /// Reads skin `index` of the document.
    pub(super) fn read(
        source: &Source<'_>,
        nodes: &Nodes<'_>,
        index: usize,
    ) -> Result<Self, ReadError> {
        let skins = &source.document.skins;
        let wrong =
            |what: String| ReadError::whole(format!("skin {index} {what}; export the file again"));
        let skin = skins
            .get(index)
            .ok_or_else(|| wrong(format!("does not exist; there are {}", skins.len())))?;
        let count = nodes.nodes.len();
        if let Some(&node) = skin.joints.iter().find(|&&node| node >= count) {
            return Err(wrong(format!(
                "has a joint at node {node}, but there are {count}"
            )));
        }
        if skin.joints.is_empty() {
            return Err(wrong("has no joints".into()));
        }
        source.buffers.budget.spend(
            count.saturating_add(skin.joints.len().saturating_mul(32)),
            format_args!("skin {index}"),
        )?;
        let inverse = inverse_bind_matrices(source, skin).map_err(|e| ReadError {
            message: format!("skin {index}: {}", e.message),
            ..e
        })?;
        let above = nodes.with_those_above(&skin.joints);
        source.buffers.budget.spend(
            above.len().saturating_mul(16),
            format_args!("the joints of skin {index}"),
        )?;
        Self::bound(skin, inverse, above, nodes)
    }

    fn bound(
        skin: &document::Skin,
        inverse: Vec<DAffine3>,
        above: Vec<usize>,
        nodes: &Nodes<'_>,
    ) -> Result<Self, ReadError> {
        let mut worlds = vec![DAffine3::IDENTITY; nodes.nodes.len()];
        walk(nodes, &above, |node| nodes.local(node), &mut worlds);
        let bound: Vec<DAffine3> = skin
            .joints
            .iter()
            .zip(&inverse)
            .map(|(&node, inverse)| worlds[node] * *inverse)
            .collect();
        let parents = parents(skin, &above, nodes);
        let root = parents.iter().position(Option::is_none).unwrap_or(0);
        // A place that is flat or endless cannot be taken back.
        let invertible = |place: &DAffine3| place.is_finite() && place.inverse().is_finite();
        let place = Some(bound[root])
            .filter(invertible)
            .unwrap_or(DAffine3::IDENTITY);
        let place = if near(&place, &DAffine3::IDENTITY) {
            DAffine3::IDENTITY
        } else {
            place
        };
        let joint = |(k, inverse): (usize, &DAffine3)| {
            let bind = place * inverse.inverse();
            let bind = if bind.is_finite() {
                bind
            } else {
                worlds[skin.joints[k]]
            };
            let name = nodes.nodes[skin.joints[k]]
                .name
                .clone()
                .unwrap_or_else(|| format!("joint{k}"));
            Joint {
                name,
                origin: finite(bind.translation),
                axes: axes(&bind),
                parent: parents[k],
            }
        };
        Ok(Self {
            skeleton: Arc::new(Skeleton::new(
                inverse.iter().enumerate().map(joint).collect(),
            )?),
            rests_as_bound: bound.iter().all(|other| near(other, &place)),
            from_neutral: inverse
                .iter()
                .map(|inverse| *inverse * place.inverse())
                .collect(),
            joints: skin.joints.clone(),
            nodes: above,
            place,
        })
    }

    /// Which joints each welded vertex follows, of which the `speakers` tell; with what was odd.
    pub(super) fn skin_of(
        &self,
        stored: &Stored,
        speakers: &[u32],
    ) -> Result<(Skin, Option<String>), ReadError> {
        let (mut odd, mut loose) = (0, 0);
        let mut vertices = Vec::with_capacity(speakers.len());
        for &speaker in speakers {
            let (own, sum) = influences(stored, speaker as usize, self.joints.len())?;
            loose += usize::from(sum == 0.0);
            odd += usize::from(sum != 0.0 && (sum - 1.0).abs() > SUM_TOLERANCE);
            vertices.push(own);
        }
        let told = [
            (odd, "have weights that do not sum to 1 (they were made to)"),
            (loose, "follow no joint (they follow the first)"),
        ];
        let told: Vec<String> = told
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} vertices {what}"))
            .collect();
        let skin = Skin::new(self.joints.len(), vertices)?;
        Ok((skin, (!told.is_empty()).then(|| told.join(" and "))))
    }
}

/// The places in the scene of `order`, which has each node after the one above it.
pub(super) fn walk(
    nodes: &Nodes<'_>,
    order: &[usize],
    local: impl Fn(usize) -> DAffine3,
    worlds: &mut [DAffine3],
) {
    for &node in order {
        worlds[node] = nodes
            .parent(node)
            .map_or(DAffine3::IDENTITY, |above| worlds[above])
            * local(node);
    }
}

/// The weights of a stored vertex, which are made to sum to 1, and their sum before.
fn influences(
    stored: &Stored,
    vertex: usize,
    joints: usize,
) -> Result<(Vec<Influence>, f64), ReadError> {
    let mut own: Vec<Influence> = Vec::new();
    for (set, weights) in stored.joints.iter().zip(&stored.joint_weights) {
        for (&joint, &weight) in set[vertex].iter().zip(&weights[vertex]) {
            if weight == 0.0 {
                continue;
            }
            let why = match (
                weight >= 0.0 && weight.is_finite(),
                joint >= 0.0 && joint.fract() == 0.0 && (joint as usize) < joints,
            ) {
                (false, _) => format!("the weight {weight}"),
                (_, false) => format!("joint {joint} of {joints}"),
                _ => {
                    own.push(Influence {
                        bone: joint as u32,
                        weight: f64::from(weight),
                    });
                    continue;
                }
            };
            return Err(ReadError::whole(format!(
                "stored vertex {vertex} follows its skin by {why}; export the file again"
            )));
        }
    }
    let sum: f64 = own.iter().map(|influence| influence.weight).sum();
    match own.is_empty() {
        true => own.push(Influence {
            bone: 0,
            weight: 1.0,
        }),
        false => own.iter_mut().for_each(|influence| influence.weight /= sum),
    }
    Ok((own, sum))
}

/// Joint by joint the matrix that takes the stored vertices to the joint; none stands for the
/// identity.
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
        let (found, needed) = (matrices.len(), skin.joints.len());
        return Err(ReadError::whole(format!(
            "it has {found} inverse bind matrices for {needed} joints; export the file again"
        )));
    }
    let matrices = matrices
        .iter()
        .take(skin.joints.len())
        .map(|m| DAffine3::from_mat4(DMat4::from_cols_array(m)))
        .collect::<Vec<_>>();
    match matrices.iter().position(|m| !m.is_finite()) {
        Some(k) => Err(ReadError::whole(format!(
            "inverse bind matrix {k} is not finite; export the file again"
        ))),
        None => Ok(matrices),
    }
}

/// For each joint the nearest one above it.
fn parents(skin: &document::Skin, above: &[usize], nodes: &Nodes<'_>) -> Vec<Option<usize>> {
    let mut joint_of = vec![None; nodes.nodes.len()];
    skin.joints
        .iter()
        .enumerate()
        .rev()
        .for_each(|(k, &node)| joint_of[node] = Some(k));
    let mut joint_above = vec![None; nodes.nodes.len()];
    for &node in above {
        joint_above[node] = nodes
            .parent(node)
            .and_then(|parent| joint_of[parent].or(joint_above[parent]));
    }
    skin.joints.iter().map(|&node| joint_above[node]).collect()
}

fn near(a: &DAffine3, b: &DAffine3) -> bool {
    let size = |m: &DAffine3| {
        m.to_cols_array()
            .iter()
            .fold(0.0_f64, |most, x| most.max(x.abs()))
    };
    a.abs_diff_eq(*b, SAME_PLACE * size(a).max(size(b)))
}

fn finite(point: DVec3) -> DVec3 {
    if point.is_finite() {
        point
    } else {
        DVec3::ZERO
    }
}

fn axes(bind: &DAffine3) -> DQuat {
    if !bind.matrix3.is_finite() {
        return DQuat::IDENTITY;
    }
    unit(DQuat::from_mat3(&Polar::of(bind.matrix3).rotation))
}
