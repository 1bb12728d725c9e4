//! Characters: meshes that follow bones of one hierarchy share one skeleton.
//!
//! **Problem.** Body, eyes and clothes of a character name different bones of one skeleton, and
//! each has a bind pose of its own in the file.
//!
//! **Method.** Meshes belong to one character if the bones that they follow have a common highest
//! bone, directly or through other meshes. In a consistent file, the matrix `Nⱼ` from the neutral
//! to a bone does not depend on the mesh, so that one joint serves all meshes. A bone that two
//! meshes were bound to differently becomes two joints.
//!
//! **Departures.** Joints are the bones of clusters; a bone between them that no mesh follows is
//! left out. Of the bind pose of a joint, the origin and the nearest rotation are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pliant_mesh::Polar;
use pliant_mesh::glam::{DAffine3, DQuat};
use pliant_rig::{Influence, Joint, Skeleton, Skin};

use super::node_pose::ancestors;
use super::skin::{Bone, BoundMesh};
use super::{affine, one_line};
use crate::{ReadError, SkinBinding};

/// Chosen: how far bind pose and rest pose may differ without a warning, relative to the diagonal.
const SAME_POSE: f64 = 1e-3;

/// Meshes that follow a common skeleton.
pub(super) struct Character<'a> {
    /// The node of each joint.
    pub(super) nodes: Vec<&'a ufbx::Node>,
    /// `Nⱼ` of each joint.
    pub(super) bone_from_neutral: Vec<DAffine3>,
    pub(super) skeleton: Arc<Skeleton>,
    /// Whether the scene rests in the bind pose.
    pub(super) rests_as_bound: bool,
}

/// The characters of a scene.
pub(super) struct Characters<'a> {
    pub(super) characters: Vec<Character<'a>>,
    /// For each mesh, the index of its character, and its skin.
    pub(super) bindings: Vec<Option<(usize, SkinBinding)>>,
}

impl Character<'_> {
    /// The motions of the neutral by the joints at rest; `None` if they are not finite.
    pub(super) fn rest_motions(&self) -> Option<Arc<Vec<DAffine3>>> {
        let joints = self.nodes.iter().zip(&self.bone_from_neutral);
        let motions =
            joints.map(|(node, from_neutral)| affine(&node.node_to_world) * *from_neutral);
        let motions: Vec<DAffine3> = motions.collect();
        motions
            .iter()
            .all(DAffine3::is_finite)
            .then(|| Arc::new(motions))
    }
}

/// The characters of the bound meshes of a scene.
pub(super) fn characters<'a>(
    meshes: &[Option<BoundMesh<'a>>],
) -> Result<Characters<'a>, ReadError> {
    let groups = groups(meshes);
    let count = groups.iter().flatten().max().map_or(0, |most| most + 1);
    let mut joints = vec![Vec::new(); count];
    let mut rests = vec![true; count];
    let mut joints_of_mesh = Vec::with_capacity(meshes.len());

    for (mesh, group) in meshes.iter().zip(&groups) {
        let (Some(mesh), Some(group)) = (mesh, *group) else {
            joints_of_mesh.push(Vec::new());
            continue;
        };
        joints_of_mesh.push(add_joints(mesh, &mut joints[group]));
        rests[group] &= rests_as_bound(mesh);
    }

    let mut characters = Vec::with_capacity(count);
    for (joints, rests_as_bound) in joints.into_iter().zip(rests) {
        characters.push(Character {
            nodes: joints.iter().map(|joint: &Bone<'_>| joint.node).collect(),
            bone_from_neutral: joints.iter().map(|joint| joint.bone_from_neutral).collect(),
            skeleton: Arc::new(skeleton(&joints)?),
            rests_as_bound,
        });
    }

    let mut bindings = Vec::with_capacity(meshes.len());
    for ((mesh, group), joints) in meshes.iter().zip(&groups).zip(&joints_of_mesh) {
        let (Some(mesh), Some(group)) = (mesh, *group) else {
            bindings.push(None);
            continue;
        };
        let skeleton = characters[group].skeleton.clone();
        let skin = Arc::new(skin(mesh, joints, skeleton.joints().len())?);
        bindings.push(Some((group, SkinBinding { skin, skeleton })));
    }

    Ok(Characters {
        characters,
        bindings,
    })
}

/// For each mesh, the number of its character: meshes that follow bones of one hierarchy.
fn groups(meshes: &[Option<BoundMesh<'_>>]) -> Vec<Option<usize>> {
    let bones = meshes.iter().flatten().flat_map(|mesh| &mesh.bones);
    let clusters: BTreeSet<u32> = bones
        .filter(|bone| bone.is_cluster)
        .map(|bone| bone.node.element.typed_id)
        .collect();

    // The root of a bone is its highest ancestor that is a bone.
    let is_joint =
        |node: &ufbx::Node| node.bone.is_some() || clusters.contains(&node.element.typed_id);
    let root = |bone: &Bone<'_>| {
        let joints = ancestors(bone.node).filter(|node| is_joint(node));
        joints.last().map_or(0, |node| node.element.typed_id)
    };

    // A mesh joins all roots that it follows.
    let mut group_of_root: BTreeMap<u32, u32> = BTreeMap::new();
    let mut root_of_mesh = Vec::with_capacity(meshes.len());
    for mesh in meshes {
        let bones = mesh.iter().flat_map(|mesh| &mesh.bones);
        let roots: BTreeSet<u32> = bones.filter(|b| b.is_cluster).map(root).collect();
        root_of_mesh.push(roots.first().copied());

        let known = |root: &u32| group_of_root.get(root).copied().unwrap_or(*root);
        let joined: BTreeSet<u32> = roots.iter().map(known).collect();
        let Some(&first) = joined.first() else {
            continue;
        };
        for root in roots {
            group_of_root.insert(root, first);
        }
        for group in group_of_root.values_mut() {
            if joined.contains(group) {
                *group = first;
            }
        }
    }

    // Groups are numbered in the order of the meshes.
    let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
    let number = |root: Option<u32>| {
        let group = group_of_root[&root?];
        let next = numbers.len();
        Some(*numbers.entry(group).or_insert(next))
    };
    root_of_mesh.into_iter().map(number).collect()
}

/// Adds the bones of a mesh that are new to the joints, and returns the joint of each.
fn add_joints<'a>(mesh: &BoundMesh<'a>, joints: &mut Vec<Bone<'a>>) -> Vec<u32> {
    let mut joints_of_node: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (k, joint) in joints.iter().enumerate() {
        let id = joint.node.element.typed_id;
        joints_of_node.entry(id).or_default().push(k);
    }

    let mut joint_of_bone = Vec::with_capacity(mesh.bones.len());
    for bone in &mesh.bones {
        let known = joints_of_node
            .entry(bone.node.element.typed_id)
            .or_default();
        let same = |&&k: &&usize| mesh.is_same_joint(&joints[k], bone);
        let joint = known.iter().find(same).copied().unwrap_or_else(|| {
            known.push(joints.len());
            joints.push(*bone);
            joints.len() - 1
        });
        joint_of_bone.push(joint as u32);
    }

    joint_of_bone
}

fn rests_as_bound(mesh: &BoundMesh<'_>) -> bool {
    let mut used = vec![false; mesh.bones.len()];
    for influence in mesh.influences.iter().flatten() {
        used[influence.bone as usize] = true;
    }

    let moved = |bone: &Bone<'_>| affine(&bone.node.node_to_world) * bone.bone_from_neutral;
    let mut bones = mesh.bones.iter().zip(used).filter(|(_, used)| *used);
    bones.all(|(bone, _)| mesh.distance(&moved(bone), &DAffine3::IDENTITY) <= SAME_POSE)
}

/// The skin of a mesh in the joints of its character. Clusters of one joint are added up.
fn skin(mesh: &BoundMesh<'_>, joint_of_bone: &[u32], joints: usize) -> Result<Skin, ReadError> {
    let mut vertices = Vec::with_capacity(mesh.influences.len());
    for own in &mesh.influences {
        let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
        for influence in own {
            *weights
                .entry(joint_of_bone[influence.bone as usize])
                .or_default() += influence.weight;
        }
        let influences = weights.into_iter();
        vertices.push(
            influences
                .map(|(bone, weight)| Influence { bone, weight })
                .collect(),
        );
    }

    Ok(Skin::new(joints, vertices)?)
}

fn skeleton(bones: &[Bone<'_>]) -> Result<Skeleton, ReadError> {
    let mut joint_of_node: BTreeMap<u32, usize> = BTreeMap::new();
    for (k, bone) in bones.iter().enumerate() {
        joint_of_node.entry(bone.node.element.typed_id).or_insert(k);
    }

    let mut joints = Vec::with_capacity(bones.len());
    for bone in bones {
        let bind = bone.bone_from_neutral.inverse();
        let usable = bind.is_finite();
        let bind = if usable {
            bind
        } else {
            affine(&bone.node.node_to_world)
        };
        let above = ancestors(bone.node).skip(1);
        joints.push(Joint {
            name: one_line(&bone.node.element.name),
            origin: Some(bind.translation)
                .filter(|p| p.is_finite())
                .unwrap_or_default(),
            axes: axes(&bind),
            parent: above
                .map(|node| node.element.typed_id)
                .find_map(|id| joint_of_node.get(&id).copied()),
        });
    }

    Ok(Skeleton::new(joints)?)
}

/// The rotation nearest to the axes of a joint.
fn axes(bind: &DAffine3) -> DQuat {
    if !bind.matrix3.is_finite() {
        return DQuat::IDENTITY;
    }
    let rotation = DQuat::from_mat3(&Polar::of(bind.matrix3).rotation);
    Some(rotation.normalize())
        .filter(|rotation| rotation.is_finite())
        .unwrap_or(DQuat::IDENTITY)
}
