//! A skinned character with sliders and a clip, and its positions by brute force.

use std::sync::Arc;

use pliant::io::{Animation, Asset, SkinBinding, SkinTrack, save};
use pliant::mesh::glam::{DAffine3, DQuat, DVec3, Vec3};
use pliant::mesh::{Mesh, shapes};
use pliant::rig::{Influence, Joint, Skeleton, Skin, Target};
use tempfile::TempDir;

use crate::command::inside;

/// Frames of the clip, and its rate.
pub(crate) const FRAMES: usize = 4;
pub(crate) const FPS: f64 = 30.0;

/// What the character was made from.
pub(crate) struct Character {
    pub(crate) mesh: Mesh,
    pub(crate) targets: Vec<Target>,
    /// The share of the upper joint at each vertex; the rest follows the lower one.
    shares: Vec<f64>,
}

impl Character {
    /// A ball on two joints, with sliders that push its right and its upper side.
    pub(crate) fn new() -> Self {
        let mesh = shapes::icosphere(3);
        let push = |name: &str, side: DVec3| {
            let deltas = mesh.positions().iter().map(|p| {
                let near = (p.dot(side) - 0.6).max(0.0);
                (*p * near).as_vec3()
            });
            Target::from_dense(name, deltas.collect::<Vec<Vec3>>())
        };
        let targets = vec![push("right", DVec3::X), push("up", DVec3::Y)];
        let shares = mesh.positions().iter();
        let shares = shares.map(|p| (0.5 + 0.6 * p.y).clamp(0.0, 1.0)).collect();
        Self {
            mesh,
            targets,
            shares,
        }
    }

    /// The motions of both joints in a frame.
    pub(crate) fn joints(frame: usize) -> [DAffine3; 2] {
        let angle = 0.35 * frame as f64;
        let lower = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(angle),
            DVec3::new(0.2 * angle, 0.0, -angle),
        );
        let pivot = DVec3::new(0.0, 0.1, 0.0);
        let bend = DAffine3::from_translation(pivot)
            * DAffine3::from_quat(DQuat::from_rotation_z(-1.2 * angle))
            * DAffine3::from_translation(-pivot);
        [lower, lower * bend]
    }

    /// The character in the pose of the joints at slider weights, vertex by vertex.
    pub(crate) fn posed(&self, joints: [DAffine3; 2], weights: [f64; 2]) -> Vec<DVec3> {
        let mut positions = self.mesh.positions().to_vec();
        for (target, weight) in self.targets.iter().zip(weights) {
            for (&vertex, delta) in target.vertices.iter().zip(&target.deltas) {
                positions[vertex as usize] += delta.as_dvec3() * weight;
            }
        }

        let moved = positions.iter().zip(&self.shares).map(|(&p, &share)| {
            let [lower, upper] = joints.map(|joint| joint.matrix3 * p + joint.translation);
            lower * (1.0 - share) + upper * share
        });
        moved.collect()
    }

    pub(crate) fn asset(&self) -> Asset {
        let influences = |&share: &f64| {
            let all = [(0, 1.0 - share), (1, share)];
            let all = all.map(|(bone, weight)| Influence { bone, weight });
            all.to_vec()
        };
        let joint = |name: &str, y: f64, parent| Joint {
            name: name.into(),
            origin: DVec3::new(0.0, y, 0.0),
            axes: DQuat::IDENTITY,
            parent,
        };
        let joints = vec![joint("lower", -1.0, None), joint("upper", 0.1, Some(0))];
        let track = SkinTrack {
            binding: SkinBinding {
                skin: Arc::new(Skin::new(2, self.shares.iter().map(influences)).unwrap()),
                skeleton: Arc::new(Skeleton::new(joints).unwrap()),
            },
            motions: Arc::new((0..FRAMES).map(|f| Self::joints(f).to_vec()).collect()),
        };
        let mut clip = Animation::new("turn", FRAMES);
        clip.frames_per_second = FPS;
        let still = Asset::from_mesh(self.mesh.clone());
        let skinned = still.with_skin_clip(clip, &track).unwrap();
        skinned.with_targets(&self.targets).unwrap()
    }

    /// The character as a GLB.
    pub(crate) fn file(&self, folder: &TempDir) -> String {
        let path = inside(folder, "character.glb");
        save(&self.asset(), &path).unwrap();
        path
    }

    /// The character as a GLB without its clip, whose nodes rest as in a frame.
    pub(crate) fn resting_file(&self, folder: &TempDir, frame: usize) -> String {
        let whole = std::fs::read(self.file(folder)).unwrap();
        let size = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) as usize;
        let mut json: serde_json::Value =
            serde_json::from_slice(&whole[20..20 + size(12)]).unwrap();
        json.as_object_mut().unwrap().remove("animations");

        let binds = [-1.0, 0.1].map(|y| DAffine3::from_translation(DVec3::new(0.0, y, 0.0)));
        let [lower, upper] = Self::joints(frame);
        let worlds = [lower * binds[0], upper * binds[1]];
        let locals = [worlds[0], worlds[0].inverse() * worlds[1]];
        for node in json["nodes"].as_array_mut().unwrap() {
            let joint = ["lower", "upper"]
                .iter()
                .position(|name| node["name"] == *name);
            let Some(joint) = joint else {
                continue;
            };
            let (_, rotation, translation) = locals[joint].to_scale_rotation_translation();
            let node = node.as_object_mut().unwrap();
            node.remove("matrix");
            node.insert("rotation".into(), serde_json::json!(rotation.to_array()));
            node.insert(
                "translation".into(),
                serde_json::json!(translation.to_array()),
            );
        }

        let mut text = serde_json::to_vec(&json).unwrap();
        text.resize(text.len().next_multiple_of(4), b' ');
        let rest = &whole[20 + size(12)..];
        let mut file = b"glTF\x02\0\0\0".to_vec();
        file.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
        file.extend((text.len() as u32).to_le_bytes());
        file.extend(b"JSON");
        file.extend(&text);
        file.extend(rest);

        let path = inside(folder, "resting.glb");
        std::fs::write(&path, file).unwrap();
        path
    }
}

/// The largest distance of two lists of positions.
pub(crate) fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, f64::max)
}
