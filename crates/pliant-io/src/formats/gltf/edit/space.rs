//! From the scene, in which an asset has its objects, to the space of stored vertices and nodes.
//!
//! **Equation.** A stored vertex `p` is at `M p` in the scene. A motion `T(t)` of the object in the
//! scene is the local transform `L(t) = P⁻¹ T(t) P L` of its node, with the transform `P` of the
//! parent and the local transform `L` at rest. A joint with the inverse bind matrix `B` and the
//! motion `T(t)` of the neutral is at `W(t) = T(t) (B M⁻¹)⁻¹`.

use std::borrow::Cow;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_mesh::{CornerLayer, MeshBuilder};
use pliant_rig::{Rig, Target};

use super::changes::ObjectChanges;
use crate::gltf::read::{BoundSkin, NodeTree, PlacedMesh};
use crate::{Asset, Object, PlacementTrack, Shape};

/// The asset with changed objects, and frames of clips, in the space of their stored vertices.
/// `None` if a placement cannot be inverted.
pub(super) fn in_mesh_space<'a>(
    asset: &'a Asset,
    placed: &[PlacedMesh],
    changes: &[ObjectChanges],
) -> Option<Cow<'a, Asset>> {
    let mut local = Cow::Borrowed(asset);
    for (k, place) in placed.iter().enumerate() {
        let scene_from_mesh = place.scene_from_mesh;
        if scene_from_mesh == DAffine3::IDENTITY || !changes[k].any() {
            continue;
        }

        let mesh_from_scene = scene_from_mesh.inverse();
        if !mesh_from_scene.is_finite() {
            return None;
        }

        let local = local.to_mut();
        local.objects[k] = transformed(&local.objects[k], &mesh_from_scene)?;
        for motion in local.clips.iter_mut().flat_map(|clip| &mut clip.motions) {
            if motion.object != k {
                continue;
            }
            if let Shape::Points(frames) = &mut motion.shape {
                for position in frames.iter_mut().flatten() {
                    *position = mesh_from_scene.transform_point3(*position);
                }
            }
        }
    }

    Some(local)
}

fn transformed(object: &Object, transform: &DAffine3) -> Option<Object> {
    let mesh = object.rig.neutral();
    let positions = mesh.positions().iter();
    let moved = positions.map(|p| transform.transform_point3(*p)).collect();

    // A normal is transformed by the inverse transpose of what transforms positions.
    let normal_matrix = transform.matrix3.inverse().transpose();
    let normals = mesh.normals().map(|layer| CornerLayer {
        values: layer
            .values
            .iter()
            .map(|n| (normal_matrix * *n).normalize_or_zero())
            .collect::<Vec<DVec3>>(),
        ..layer.clone()
    });

    let builder = MeshBuilder {
        positions: moved,
        normals,
        ..mesh.to_builder()
    };
    let targets = object.rig.targets().iter().map(|target| {
        let deltas = target.deltas.iter();
        let moved = deltas.map(|d| (transform.matrix3 * d.as_dvec3()).as_vec3());
        Target {
            deltas: moved.collect(),
            in_betweens: Vec::new(),
            ..target.clone()
        }
    });

    Some(Object {
        rig: Rig::new(builder.build().ok()?, targets.collect()).ok()?,
        ..object.clone()
    })
}

/// A motion in the scene as transforms of the node relative to its parent.
pub(super) fn local_track(
    track: &PlacementTrack,
    nodes: &NodeTree<'_>,
    node: usize,
) -> Option<PlacementTrack> {
    let chain = nodes.chain(node);
    let parent = nodes.world(&chain[1..]);
    let parent_inverse = parent.inverse();
    if !parent_inverse.is_finite() {
        return None;
    }

    let local = nodes.local(node);
    let moved = track.moved_from_rest.iter();
    Some(PlacementTrack {
        times_secs: track.times_secs.clone(),
        moved_from_rest: moved
            .map(|moved| parent_inverse * *moved * parent * local)
            .collect(),
    })
}

/// The local transforms of the joints of a skin, from the motions of the neutral by each joint.
pub(super) fn joint_locals(
    skin: &BoundSkin,
    motions: &[DAffine3],
    nodes: &NodeTree<'_>,
) -> Vec<(usize, DAffine3)> {
    let mut worlds = vec![None; nodes.nodes.len()];
    for ((&node, motion), from_neutral) in skin.joints.iter().zip(motions).zip(&skin.from_neutral) {
        let world = *motion * from_neutral.inverse();
        worlds[node] = Some(world).filter(|world| world.is_finite());
    }

    // Nodes between joints keep their place relative to the joint above.
    for &node in &skin.nodes {
        if worlds[node].is_none() {
            let above = nodes.parent(node).and_then(|parent| worlds[parent]);
            worlds[node] = Some(above.unwrap_or(DAffine3::IDENTITY) * nodes.local(node));
        }
    }

    let mut locals = Vec::with_capacity(skin.joints.len());
    for &node in &skin.joints {
        let above = nodes.parent(node).and_then(|parent| worlds[parent]);
        let local = above.unwrap_or(DAffine3::IDENTITY).inverse()
            * worlds[node].unwrap_or(DAffine3::IDENTITY);
        let usable = if local.is_finite() {
            local
        } else {
            nodes.local(node)
        };
        locals.push((node, usable));
    }

    locals
}
