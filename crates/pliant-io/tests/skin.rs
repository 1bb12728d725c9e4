//! Written skins: a player that follows the glTF specification shows every frame.

use std::collections::HashMap;
use std::sync::Arc;

use pliant_io::{Animation, Asset, SkinBinding, SkinTrack, gltf, obj, point_cache};
use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};
use pliant_rig::{Influence, Joint, Skeleton, Skin};
use serde_json::Value;

/// Two objects of one file that follow a chain of two joints and a loose one.
fn skinned() -> Asset {
    let text = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 2 0 0.5\nv 3 1 0\nv 3 0 1\no front\nf 1 2 3\no back\nf 4 5 6\n";
    let share = |shares: &[(u32, f64)]| {
        shares
            .iter()
            .map(|&(bone, weight)| Influence { bone, weight })
            .collect::<Vec<_>>()
    };

    let shares = [
        &[(0, 1.0)][..],
        &[(0, 0.5), (1, 0.5)],
        &[(0, 0.25), (1, 0.75)],
        &[(1, 0.9), (2, 0.1)],
        &[(2, 1.0)],
        &[(0, 0.2), (1, 0.3), (2, 0.5)],
    ];

    let joint = |name: &str, x: f64, parent| Joint {
        name: name.into(),
        origin: DVec3::new(x, 0.5, 0.25),
        axes: DQuat::from_rotation_z(0.4 * x),
        parent,
    };

    let motion = |joint: u32, frame: u32| {
        let angle = 0.3 * f64::from(frame * (joint + 1));
        DAffine3::from_rotation_translation(
            DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), angle),
            DVec3::new(angle, 1.0, f64::from(joint)),
        )
    };

    let track = SkinTrack {
        binding: SkinBinding {
            skin: Arc::new(Skin::new(3, shares.map(share)).unwrap()),
            skeleton: Arc::new(
                Skeleton::new(vec![
                    joint("hip", 0.0, None),
                    joint("knee", 1.0, Some(0)),
                    joint("hat", 3.0, None),
                ])
                .unwrap(),
            ),
        },
        motions: Arc::new(
            (0..4)
                .map(|frame| (0..3).map(|joint| motion(joint, frame)).collect())
                .collect(),
        ),
    };

    obj::read(text)
        .unwrap()
        .with_skin_clip(Animation::new("step", 0), &track)
        .unwrap()
}

/// A GLB, as far as playing it needs.
struct Glb {
    json: Value,
    bytes: Vec<u8>,
}

impl Glb {
    fn of(file: &[u8]) -> Self {
        let size = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let json = serde_json::from_slice(&file[20..20 + size(12)]).unwrap();
        Self {
            json,
            bytes: file[28 + size(12)..].to_vec(),
        }
    }

    fn rows(&self, accessor: &Value) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let width = [("SCALAR", 1), ("VEC3", 3), ("VEC4", 4), ("MAT4", 16)]
            .into_iter()
            .find(|(kind, _)| accessor["type"] == *kind)
            .unwrap()
            .1;

        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let bytes = &self.bytes[view["byteOffset"].as_u64().unwrap_or(0) as usize..];
        let number = |k: usize| match accessor["componentType"].as_u64().unwrap() {
            5121 => f64::from(bytes[k]),
            _ => f64::from(f32::from_le_bytes(
                bytes[4 * k..4 * k + 4].try_into().unwrap(),
            )),
        };

        let count = accessor["count"].as_u64().unwrap() as usize;
        (0..count)
            .map(|row| (0..width).map(|k| number(row * width + k)).collect())
            .collect()
    }

    /// The scene's place of a node at a key of the first animation.
    fn world(&self, node: usize, key: usize) -> DMat4 {
        let own = &self.json["nodes"][node];
        let animation = &self.json["animations"][0];
        let moved: HashMap<&str, Vec<f64>> = animation["channels"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|c| c["target"]["node"] == node)
            .map(|c| {
                let sampler = &animation["samplers"][c["sampler"].as_u64().unwrap() as usize];
                (
                    c["target"]["path"].as_str().unwrap(),
                    self.rows(&sampler["output"])[key].clone(),
                )
            })
            .collect();

        let rest = |name: &str| {
            own[name]
                .as_array()
                .map(|list| list.iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>())
        };

        let value = |name: &str, none: &[f64]| {
            moved
                .get(name)
                .cloned()
                .or_else(|| rest(name))
                .unwrap_or_else(|| none.to_vec())
        };

        let local = DMat4::from_rotation_translation(
            DQuat::from_slice(&value("rotation", &[0.0, 0.0, 0.0, 1.0])).normalize(),
            DVec3::from_slice(&value("translation", &[0.0; 3])),
        );
        let nodes = self.json["nodes"].as_array().unwrap();
        let parent = nodes.iter().position(|other| {
            other["children"]
                .as_array()
                .is_some_and(|c| c.iter().any(|c| *c == node))
        });

        parent.map_or(local, |parent| self.world(parent, key) * local)
    }

    /// The vertices of a mesh at a key.
    fn played(&self, mesh: usize, key: usize) -> Vec<DVec3> {
        let attributes = &self.json["meshes"][mesh]["primitives"][0]["attributes"];
        let [rest, joints, weights] =
            ["POSITION", "JOINTS_0", "WEIGHTS_0"].map(|name| self.rows(&attributes[name]));
        let skin = &self.json["skins"][0];
        let inverse = self.rows(&skin["inverseBindMatrices"]);
        let nodes = skin["joints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node.as_u64().unwrap() as usize);

        let moved: Vec<DMat4> = nodes
            .zip(&inverse)
            .map(|(node, inverse)| self.world(node, key) * DMat4::from_cols_slice(inverse))
            .collect();

        let place = |v: usize| {
            (0..4)
                .map(|k| {
                    weights[v][k]
                        * moved[joints[v][k] as usize].transform_point3(DVec3::from_slice(&rest[v]))
                })
                .sum()
        };

        (0..rest.len()).map(place).collect()
    }
}

#[test]
fn a_player_that_follows_the_specification_shows_every_frame() {
    let asset = skinned();
    let written = gltf::write(&asset);
    assert!(written.left_out.is_empty(), "{:?}", written.left_out);

    let glb = Glb::of(&written.bytes);
    assert_eq!(
        (
            glb.json["skins"].as_array().unwrap().len(),
            glb.json["skins"][0]["joints"].as_array().unwrap().len()
        ),
        (1, 3)
    );

    assert_eq!(glb.json["animations"].as_array().unwrap().len(), 1);
    for key in 0..4 {
        let played = [glb.played(0, key), glb.played(1, key)].concat();
        let wanted = asset.frame_positions(key).unwrap();
        assert!(
            played
                .iter()
                .zip(&wanted)
                .all(|(a, b)| a.abs_diff_eq(*b, 1e-5)),
            "frame {key}: {played:?} and {wanted:?}"
        );
    }

    assert!(
        glb.json["meshes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|mesh| mesh["primitives"][0].get("targets").is_none()),
        "no frame is a target"
    );
}

#[test]
fn formats_without_skins_store_positions_and_report_it() {
    let asset = skinned();
    let left_out = obj::write(&asset).left_out;
    assert!(
        left_out.iter().any(|lost| lost.contains("skin(s)")),
        "{left_out:?}"
    );

    let written = point_cache::write_pc2(&asset).unwrap();
    let read = point_cache::read_pc2(&written.bytes).unwrap();
    let wanted = asset.frame_positions(3).unwrap();
    let found = read.frame_positions(3).unwrap();

    assert!(
        found
            .iter()
            .zip(&wanted)
            .all(|(a, b)| a.abs_diff_eq(*b, 1e-5))
    );
}

#[test]
fn a_skin_of_another_mesh_is_rejected() {
    let asset = skinned();
    let track = asset.clips[0].motions[0].skin.clone().unwrap();
    let message = asset
        .with_skin_clip(Animation::new("step", 0), &track)
        .unwrap_err()
        .to_string();

    assert!(
        message.contains("3 vertices") && message.contains("6 vertices"),
        "{message}"
    );
}
