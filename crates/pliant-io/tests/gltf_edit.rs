//! Saving an asset that was read from glTF edits its file: what did not change keeps its bytes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pliant_io::{Animation, Asset, LoadOptions, Motion, NoFiles, RepairKind, Shape, gltf, load};
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{Interpolation, Target, WeightTrack};
use serde_json::{Value, json};

/// A character with a skin, a texture, a camera, extensions and `extras`, and three animations: of a
/// joint, of the weights, and of the camera alone.
struct Character {
    document: Value,
    binary: Vec<u8>,
}

impl Character {
    fn new() -> Self {
        let mut character = Self {
            document: json!({
                "asset": {"version": "2.0", "generator": "another program", "extras": {"by": "hand"}},
                "extensionsUsed": ["VRMC_vrm", "KHR_lights_punctual", "KHR_materials_unlit"],
                "extensions": {
                    "VRMC_vrm": {"specVersion": "1.0", "meta": {"name": "A"}},
                    "KHR_lights_punctual": {"lights": [{"type": "point"}]},
                },
                "scene": 0,
                "scenes": [{"nodes": [0, 4], "extras": {"fps": 24}}],
                "nodes": [
                    {"name": "rig", "children": [1, 2], "scale": [2.0, 2.0, 2.0]},
                    {"name": "body", "mesh": 0, "skin": 0, "extras": {"layer": 3}},
                    {"name": "hip", "children": [3], "translation": [0.0, 0.5, 0.0]},
                    {"name": "knee", "translation": [0.0, 0.5, 0.0], "extras": {"limit": 1.5}},
                    {"name": "view", "camera": 0, "translation": [0.0, 0.0, 5.0]},
                ],
                "cameras": [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}],
                "materials": [{
                    "name": "skin", "doubleSided": true,
                    "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "roughnessFactor": 0.25},
                    "extensions": {"KHR_materials_unlit": {}},
                }],
                "textures": [{"source": 0, "sampler": 0}],
                "samplers": [{"wrapS": 33071}],
                "accessors": [], "bufferViews": [],
            }),
            binary: Vec::new(),
        };
        character.add_mesh();
        character.add_animations();
        character
    }

    /// Two triangles with a target, a skin of two joints, and tangents.
    fn add_mesh(&mut self) {
        let positions: [[f32; 3]; 4] = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
        let position = self.accessor("VEC3", 5126, &floats(positions.as_flattened()));
        self.document["accessors"][position]["min"] = json!([0, 0, 0]);
        self.document["accessors"][position]["max"] = json!([1, 1, 0]);
        let normal = self.accessor("VEC3", 5126, &floats(&[0., 0., 1.].repeat(4)));
        let tangent = self.accessor("VEC4", 5126, &floats(&[1., 0., 0., 1.].repeat(4)));
        let uv = self.accessor("VEC2", 5126, &floats(&[0., 0., 1., 0., 1., 1., 0., 1.]));
        let joints = self.accessor("VEC4", 5121, &[0, 1, 0, 0].repeat(4));
        let weights = self.accessor("VEC4", 5126, &floats(&[0.75, 0.25, 0., 0.].repeat(4)));
        let smile = [0., 0., 0., 0., 0., 0., 0., 0., 0.5, 0., 0., 0.];
        let smile = self.accessor("VEC3", 5126, &floats(&smile));
        self.document["accessors"][smile]["min"] = json!([0, 0, 0]);
        self.document["accessors"][smile]["max"] = json!([0, 0, 0.5]);
        let indices: Vec<u8> = [0_u16, 1, 2, 0, 2, 3].map(u16::to_le_bytes).concat();
        let indices = self.accessor("SCALAR", 5123, &indices);
        let image = self.view(b"\x89PNG not decoded, only kept");

        let mut down = [[0_f32; 16]; 2];
        for (k, matrix) in down.iter_mut().enumerate() {
            for axis in 0..4 {
                matrix[5 * axis] = 1.0;
            }
            matrix[13] = -0.5 * (k + 1) as f32;
        }
        let inverse = self.accessor("MAT4", 5126, &floats(down.as_flattened()));

        self.document["images"] =
            json!([{"bufferView": image, "mimeType": "image/png", "name": "face"}]);
        self.document["skins"] =
            json!([{"joints": [2, 3], "inverseBindMatrices": inverse, "name": "skeleton"}]);
        self.document["meshes"] = json!([{
            "name": "Body",
            "extras": {"targetNames": ["smile"], "studio": "keeps this"},
            "weights": [0.0],
            "primitives": [{
                "attributes": {
                    "POSITION": position, "NORMAL": normal, "TANGENT": tangent, "TEXCOORD_0": uv,
                    "JOINTS_0": joints, "WEIGHTS_0": weights,
                },
                "indices": indices, "material": 0,
                "targets": [{"POSITION": smile}],
                "extras": {"part": "front"},
            }],
        }]);
    }

    fn add_animations(&mut self) {
        let times = self.accessor("SCALAR", 5126, &floats(&[0., 1.]));
        self.document["accessors"][times]["min"] = json!([0.0]);
        self.document["accessors"][times]["max"] = json!([1.0]);
        let bend = self.accessor("VEC4", 5126, &floats(&[0., 0., 0., 1., 0., 0., 0.6, 0.8]));
        let grin = self.accessor("SCALAR", 5126, &floats(&[0., 1.]));
        let pan = self.accessor("VEC3", 5126, &floats(&[0., 0., 5., 1., 0., 5.]));
        let one = |name: &str, output: usize, node: usize, path: &str| {
            json!({
                "name": name,
                "samplers": [{"input": times, "output": output}],
                "channels": [{"sampler": 0, "target": {"node": node, "path": path}}],
                "extras": {"of": name},
            })
        };
        self.document["animations"] = json!([
            one("bend", bend, 3, "rotation"),
            one("grin", grin, 1, "weights"),
            one("pan", pan, 4, "translation"),
        ]);
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let view = json!({"buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len()});
        self.binary.extend_from_slice(bytes);
        push(&mut self.document["bufferViews"], view)
    }

    fn accessor(&mut self, kind: &str, component: u32, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let size = match component {
            5121 => 1,
            5123 => 2,
            _ => 4,
        };
        let count = bytes.len() / width / size;
        let accessor =
            json!({"bufferView": view, "componentType": component, "count": count, "type": kind});
        push(&mut self.document["accessors"], accessor)
    }

    fn glb(mut self) -> Vec<u8> {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.document["buffers"] = json!([{"byteLength": self.binary.len()}]);
        let mut text = self.document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend(((28 + text.len() + self.binary.len()) as u32).to_le_bytes());
        for (kind, content) in [(b"JSON", &text), (b"BIN\0", &self.binary)] {
            bytes.extend((content.len() as u32).to_le_bytes());
            bytes.extend(kind);
            bytes.extend(content);
        }
        bytes
    }
}

fn push(list: &mut Value, item: Value) -> usize {
    let list = list.as_array_mut().unwrap();
    list.push(item);
    list.len() - 1
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The JSON and the binary chunk of a GLB.
fn parts(glb: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let document = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    (
        document,
        glb.get(28 + length..).unwrap_or_default().to_vec(),
    )
}

fn read(glb: &[u8]) -> Asset {
    gltf::read(glb, &NoFiles).unwrap()
}

fn image_bytes((document, binary): &(Value, Vec<u8>)) -> Vec<u8> {
    let view = document["images"][0]["bufferView"].as_u64().unwrap() as usize;
    let view = &document["bufferViews"][view];
    let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
    binary[start..start + view["byteLength"].as_u64().unwrap() as usize].to_vec()
}

/// Lists of the document that an edit of the mesh and its clips must not change.
const UNTOUCHED: [&str; 11] = [
    "asset",
    "cameras",
    "extensions",
    "extensionsUsed",
    "images_without_view",
    "materials",
    "nodes",
    "samplers",
    "scenes",
    "skins",
    "textures",
];

fn untouched(document: &Value) -> BTreeMap<&'static str, Value> {
    let mut lists = BTreeMap::new();
    for name in UNTOUCHED {
        lists.insert(name, document[name].clone());
    }
    lists
}

fn raised() -> Target {
    Target::from_dense("raise", [Vec3::ZERO, Vec3::ZERO, Vec3::Y, Vec3::Y])
}

#[test]
fn a_file_that_was_not_edited_comes_back_byte_for_byte() {
    let glb = Character::new().glb();
    assert_eq!(gltf::write(&read(&glb)).bytes, glb);
}

#[test]
fn new_rest_weights_change_nothing_else() {
    let glb = Character::new().glb();
    let mut asset = read(&glb);
    asset.objects[0].rest_weights = vec![0.5];
    let (mut edited, binary) = parts(&gltf::write(&asset).bytes);
    let (before, old_binary) = parts(&glb);

    assert_eq!(edited["meshes"][0]["weights"], json!([0.5]));
    edited["meshes"][0]["weights"] = before["meshes"][0]["weights"].clone();
    assert_eq!(edited, before);
    assert_eq!(binary, old_binary);
}

#[test]
fn a_new_target_keeps_all_other_parts_of_the_file() {
    let glb = Character::new().glb();
    let asset = read(&glb);
    let mut targets = asset.rig().unwrap().targets().to_vec();
    targets.push(raised());
    let saved = gltf::write(&asset.with_targets(&targets).unwrap()).bytes;
    let edited = parts(&saved);
    let before = parts(&glb);

    assert_eq!(untouched(&edited.0), untouched(&before.0));
    assert_eq!(image_bytes(&edited), image_bytes(&before));
    let mesh = &edited.0["meshes"][0];
    assert_eq!(mesh["extras"]["studio"], "keeps this");
    assert_eq!(mesh["primitives"][0]["extras"], json!({"part": "front"}));
    assert_eq!(
        mesh["primitives"][0]["attributes"],
        before.0["meshes"][0]["primitives"][0]["attributes"]
    );
    assert_eq!(edited.0["animations"][0], before.0["animations"][0]);
    assert_eq!(edited.0["animations"][2], before.0["animations"][2]);

    // The file says the same as the asset.
    let again = read(&saved);
    assert_eq!(again.target_names(), ["smile", "raise"]);
    let rig = again.rig().unwrap();
    assert_eq!(rig.targets(), targets);
    assert_eq!(again.objects[0].skin, asset.objects[0].skin);
    let grin = again.part("grin").unwrap().frame_positions(1).unwrap();
    assert_eq!(
        grin,
        asset.part("grin").unwrap().frame_positions(1).unwrap()
    );
}

#[test]
fn a_removed_target_leaves_its_weights_out_of_all_animations() {
    let asset = read(&Character::new().glb());
    let bare = asset
        .map_rigs(|object| Ok((object.rig.with_targets(Vec::new())?, Vec::new())))
        .unwrap();
    let mut bare = bare;
    bare.clips.retain(|clip| clip.name != "grin");
    let (edited, _) = parts(&gltf::write(&bare).bytes);

    assert!(edited["meshes"][0].get("weights").is_none());
    assert!(
        edited["meshes"][0]["primitives"][0]
            .get("targets")
            .is_none()
    );
    let names: Vec<&Value> = edited["animations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|animation| &animation["name"])
        .collect();
    assert_eq!(names, ["bend", "pan"]);
}

#[test]
fn a_file_does_not_grow_from_save_to_save() {
    let glb = Character::new().glb();
    let mut sizes = Vec::new();
    let mut last = glb;
    for step in 1..6 {
        let asset = read(&last);
        let height = Vec3::Y * step as f32;
        let target = Target::from_dense("raise", [Vec3::ZERO, Vec3::ZERO, height, height]);
        let mut targets = asset.rig().unwrap().targets().to_vec();
        targets.retain(|target| target.name != "raise");
        targets.push(target);
        last = gltf::write(&asset.with_targets(&targets).unwrap()).bytes;
        sizes.push((
            last.len(),
            parts(&last).0["accessors"].as_array().unwrap().len(),
        ));
    }

    // The first save adds the target; the later ones replace it.
    let (bytes, accessors) = sizes[1];
    for &(later, count) in &sizes[2..] {
        assert!(later <= bytes, "{sizes:?}");
        assert_eq!(count, accessors);
    }
}

#[test]
fn a_new_clip_joins_those_of_the_file_and_is_the_main_one() {
    let asset = read(&Character::new().glb());
    let track = WeightTrack::new(
        vec![0.0, 0.5],
        vec![vec![0.25], vec![1.0]],
        Interpolation::Linear,
    )
    .unwrap();
    let mut clip = Animation::new("laugh", 2);
    clip.frames_per_second = 2.0;
    let saved = gltf::write(&asset.with_weight_clip(clip, &track).unwrap());
    let (edited, _) = parts(&saved.bytes);

    let names: Vec<&Value> = edited["animations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|animation| &animation["name"])
        .collect();
    assert_eq!(names, ["bend", "grin", "pan", "laugh"]);

    let again = read(&saved.bytes);
    assert_eq!(again.main_clip.as_deref(), Some("laugh"));
    let grin = again.part("grin").unwrap().clip().unwrap();
    assert_eq!(
        grin.frames(),
        asset.part("grin").unwrap().clip().unwrap().frames()
    );
    let positions = again.frame_positions(0).unwrap();
    assert_eq!(positions, asset.rig().unwrap().evaluate(&[0.25]));
}

#[test]
fn positions_of_frames_move_with_the_scale_of_the_scene() {
    // The node above the body scales by two, so that the scene is twice the stored size.
    let mut character = Character::new();
    character.document["nodes"][1]
        .as_object_mut()
        .unwrap()
        .remove("skin");
    let asset = read(&character.glb());
    let rest = asset.mesh().unwrap().positions().to_vec();
    assert_eq!(rest[2], DVec3::new(2.0, 2.0, 0.0));

    let lifted: Vec<DVec3> = rest.iter().map(|p| *p + DVec3::Z * 3.0).collect();
    let moved = asset
        .with_point_clip(Animation::new("lift", 2), &[rest, lifted.clone()])
        .unwrap();
    let again = read(&gltf::write(&moved).bytes);
    assert_eq!(again.frame_positions(1).unwrap(), lifted);
    assert_eq!(again.target_names(), ["smile"]);
}

#[test]
fn a_motion_of_the_object_as_a_whole_survives_nodes_above_it() {
    use pliant_io::PlacementTrack;
    use pliant_mesh::glam::DAffine3;

    let mut character = Character::new();
    character.document["nodes"][1]
        .as_object_mut()
        .unwrap()
        .remove("skin");
    let mut asset = read(&character.glb());
    let mut motion = Motion::new(0, Shape::Rest);
    motion.placement = Some(PlacementTrack {
        times_secs: vec![0.0, 1.0],
        moved_from_rest: vec![
            DAffine3::IDENTITY,
            DAffine3::from_rotation_z(0.5) * DAffine3::from_translation(DVec3::X),
        ],
    });
    let mut clip = Animation::new("turn", 2);
    clip.frames_per_second = 1.0;
    clip.motions = vec![motion];
    asset.clips = vec![clip];

    let expected = asset.frame_positions(1).unwrap();
    let again = read(&gltf::write(&asset).bytes);
    for (a, b) in again.frame_positions(1).unwrap().iter().zip(&expected) {
        assert!(a.distance(*b) < 1e-6, "{a} {b}");
    }
}

#[test]
fn a_changed_motion_of_joints_is_written_relative_to_their_nodes() {
    let asset = read(&Character::new().glb());
    let mut bent = asset.part("bend").unwrap();
    let clip = &mut bent.clips[0];
    let track = clip.motions[0].skin.as_mut().unwrap();
    let mut motions = track.motions.to_vec();
    motions.reverse();
    track.motions = motions.into();

    let expected = bent.clip().unwrap();
    let again = read(&gltf::write(&bent).bytes).part("bend").unwrap();
    let found = again.clip().unwrap();
    assert_eq!(found.frames().len(), expected.frames().len());
    for (a, b) in found
        .frames()
        .iter()
        .flatten()
        .zip(expected.frames().iter().flatten())
    {
        assert!(a.distance(*b) < 1e-6, "{a} {b}");
    }
}

#[test]
fn objects_below_joints_and_skins_of_shared_joints_move_once_in_a_new_clip() {
    let mut character = Character::new();
    let document = &mut character.document;
    let mut hat = document["meshes"][0].clone();
    let attributes = hat["primitives"][0]["attributes"].as_object_mut().unwrap();
    attributes.retain(|name, _| ["POSITION", "NORMAL"].contains(&name.as_str()));
    hat["primitives"][0]
        .as_object_mut()
        .unwrap()
        .remove("targets");
    hat.as_object_mut().unwrap().remove("weights");
    let hat = push(&mut document["meshes"], hat);
    let hat = push(
        &mut document["nodes"],
        json!({"name": "hat", "mesh": hat, "translation": [0.0, 1.0, 0.0]}),
    );
    document["nodes"][3]["children"] = json!([hat]);
    let coat = document["meshes"][0].clone();
    let coat = push(&mut document["meshes"], coat);
    let skin = document["skins"][0].clone();
    let skin = push(&mut document["skins"], skin);
    let coat = push(
        &mut document["nodes"],
        json!({"name": "coat", "mesh": coat, "skin": skin}),
    );
    document["nodes"][0]["children"] = json!([1, 2, coat]);

    let asset = read(&character.glb());
    let moves_joints = |clip: &&Animation| clip.motions.iter().any(|m| m.skin.is_some());
    let mut base = asset.clips.iter().find(moves_joints).unwrap().clone();
    base.name = "touch".into();
    let placed = base.motions.iter().filter(|m| m.placement.is_some());
    assert_eq!(placed.count(), 1, "the hat follows the knee");

    let count = asset.vertex_count() as u32;
    let dent = |frame: usize| {
        let depth = DVec3::new(0.0, 0.1, 0.3) * frame as f64;
        (0..count).step_by(3).map(|v| (v, depth)).collect()
    };
    let dents: Vec<Vec<(u32, DVec3)>> = (0..base.frame_count).map(dent).collect();
    let touched = asset.with_displaced_clip(&base, &dents).unwrap();
    let written = gltf::write(&touched).bytes;
    let again = read(&written);
    for frame in 0..base.frame_count {
        let found = again.frame_positions(frame).unwrap();
        let wanted = touched.frame_positions(frame).unwrap();
        for (a, b) in found.iter().zip(&wanted) {
            assert!(a.distance(*b) < 2e-6, "frame {frame}: {a} and {b}");
        }
    }

    let document = parts(&written).0;
    let animations = document["animations"].as_array().unwrap();
    let channels = animations.last().unwrap()["channels"].as_array().unwrap();
    let mut targets: Vec<String> = channels.iter().map(|c| c["target"].to_string()).collect();
    let all = targets.len();
    targets.sort();
    targets.dedup();
    assert_eq!(
        targets.len(),
        all,
        "each property of a node has one channel"
    );
}

#[test]
fn buffers_and_images_in_other_files_are_put_into_the_file() {
    struct Folder(Vec<u8>);
    impl pliant_io::FileProvider for Folder {
        fn read(&self, uri: &str) -> Result<Vec<u8>, pliant_io::IoError> {
            match uri {
                "body.bin" => Ok(self.0.clone()),
                "face.png" => Ok(b"\x89PNG\r\n\x1a\n in a file".to_vec()),
                _ => NoFiles.read(uri),
            }
        }
    }

    let mut character = Character::new();
    character.document["images"] = json!([{"uri": "face.png"}, {"uri": "missing.png"}]);
    character.document["buffers"] =
        json!([{"uri": "body.bin", "byteLength": character.binary.len()}]);
    let text = character.document.to_string();
    let asset = gltf::read(text.as_bytes(), &Folder(character.binary.clone())).unwrap();
    let saved = gltf::write(&asset);

    let edited = parts(&saved.bytes);
    let (document, binary) = &edited;
    assert_eq!(document["buffers"].as_array().unwrap().len(), 1);
    assert_eq!(binary[..character.binary.len()], character.binary);
    assert_eq!(image_bytes(&edited), b"\x89PNG\r\n\x1a\n in a file");
    assert!(saved.left_out.is_empty(), "{:?}", saved.left_out);
    assert_eq!(document["images"][1]["uri"], "missing.png");
    assert_eq!(read(&saved.bytes).target_names(), ["smile"]);
}

#[test]
fn several_buffers_become_the_one_of_a_glb() {
    struct Two(Vec<u8>);
    impl pliant_io::FileProvider for Two {
        fn read(&self, uri: &str) -> Result<Vec<u8>, pliant_io::IoError> {
            match uri {
                "first.bin" => Ok(self.0[..100].to_vec()),
                "second.bin" => Ok(self.0.clone()),
                _ => NoFiles.read(uri),
            }
        }
    }

    // All views lie in the second buffer.
    let mut character = Character::new();
    for view in character.document["bufferViews"].as_array_mut().unwrap() {
        view["buffer"] = json!(1);
    }
    character.document["buffers"] = json!([
        {"uri": "first.bin", "byteLength": 100},
        {"uri": "second.bin", "byteLength": character.binary.len()},
    ]);
    let text = character.document.to_string();
    let asset = gltf::read(text.as_bytes(), &Two(character.binary.clone())).unwrap();
    let saved = gltf::write(&asset);

    let edited = parts(&saved.bytes);
    assert_eq!(edited.0["buffers"].as_array().unwrap().len(), 1);
    assert!(edited.0["buffers"][0].get("uri").is_none());
    let again = read(&saved.bytes);
    assert_eq!(
        again.rig().unwrap().targets(),
        asset.rig().unwrap().targets()
    );
    for k in 0..asset.clips.len() {
        assert_eq!(again.clip_positions(k, 1), asset.clip_positions(k, 1));
    }
}

#[test]
fn a_file_that_does_not_rest_in_its_bind_pose_is_shown_as_it_rests() {
    use pliant_mesh::glam::DQuat;

    let mut character = Character::new();
    character.document["nodes"][3]["rotation"] = json!([0.0, 0.0, 0.6, 0.8]);
    let asset = read(&character.glb());

    // Each vertex follows the hip by 3/4 and the knee, at twice the height 1, by 1/4.
    let knee = DVec3::new(0.0, 2.0, 0.0);
    let turned = |p: DVec3| knee + DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8) * (p - knee);
    let shown = asset.resting_mesh().unwrap();
    for (bound, shown) in asset
        .mesh()
        .unwrap()
        .positions()
        .iter()
        .zip(shown.positions())
    {
        let expected = *bound * 0.75 + turned(*bound) * 0.25;
        assert!(shown.distance(expected) < 1e-6, "{shown} {expected}");
    }
}

#[test]
fn frames_of_positions_of_a_file_that_rests_elsewhere_keep_its_skin() {
    let mut character = Character::new();
    character.document["nodes"][3]["rotation"] = json!([0.0, 0.0, 0.6, 0.8]);
    let glb = character.glb();
    let asset = read(&glb);

    let shown = asset.resting_mesh().unwrap().positions().to_vec();
    let lifted = |k: u8| shown.iter().map(move |p| *p + DVec3::Z * f64::from(k));
    let frames: Vec<Vec<DVec3>> = (0..3).map(|k| lifted(k).collect()).collect();
    let moved = asset
        .with_point_clip(Animation::new("lift", 0), &frames)
        .unwrap();
    let saved = gltf::write(&moved);
    assert!(saved.left_out.is_empty(), "{:?}", saved.left_out);

    let (edited, _) = parts(&saved.bytes);
    let (before, _) = parts(&glb);
    for key in ["nodes", "skins", "materials", "cameras"] {
        assert_eq!(edited[key], before[key], "{key}");
    }
    let again = read(&saved.bytes);
    let clip = again.clips.iter().position(|clip| clip.name == "lift");
    for (k, frame) in frames.iter().enumerate() {
        let positions = again.clip_positions(clip.unwrap(), k).unwrap();
        for (found, expected) in positions.iter().zip(frame) {
            assert!(found.distance(*expected) < 1e-5, "{found} {expected}");
        }
    }
}

/// The character without a skin, shown by two nodes with weights of their own.
fn twins() -> Vec<u8> {
    let mut character = Character::new();
    let nodes = &mut character.document["nodes"];
    nodes[1].as_object_mut().unwrap().remove("skin");
    nodes[1]["weights"] = json!([0.25]);
    push(nodes, json!({"name": "twin", "mesh": 0, "weights": [0.75]}));
    push(&mut character.document["scenes"][0]["nodes"], json!(5));
    let grin = character.document["animations"][1]["samplers"][0].clone();
    let channel = json!({"sampler": 0, "target": {"node": 5, "path": "weights"}, "extras": 7});
    push(
        &mut character.document["animations"],
        json!({"name": "twin grins", "samplers": [grin], "channels": [channel]}),
    );
    character.glb()
}

#[test]
fn other_nodes_of_a_mesh_keep_their_weights_and_animations() {
    let glb = twins();
    let asset = read(&glb);
    let twice = [Vec3::ZERO, Vec3::ZERO, Vec3::Y, Vec3::Y].repeat(2);
    let mut targets = vec![Target::from_dense("raise", twice)];
    targets.extend(asset.rig().unwrap().targets().to_vec());
    let changed = asset.with_targets(&targets).unwrap();
    let (edited, binary) = parts(&gltf::write(&changed).bytes);

    assert_eq!(edited["nodes"][1]["weights"], json!([0.0, 0.25]));
    assert_eq!(edited["nodes"][5]["weights"], json!([0.0, 0.75]));
    let animation = &edited["animations"][3];
    assert_eq!(animation["channels"][0]["extras"], 7);
    let output = animation["samplers"][0]["output"].as_u64().unwrap() as usize;
    let accessor = &edited["accessors"][output];
    assert_eq!(accessor["count"], 4);
    let view = &edited["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
    assert_eq!(binary[start..start + 16], floats(&[0., 0., 0., 1.]));
}

#[test]
fn new_rest_weights_are_those_of_the_first_node_only() {
    let mut asset = read(&twins());
    assert_eq!(asset.objects[0].rest_weights, [0.25]);
    asset.objects[0].rest_weights = vec![1.0];
    let (edited, _) = parts(&gltf::write(&asset).bytes);
    assert_eq!(edited["nodes"][1]["weights"], json!([1.0]));
    assert_eq!(edited["nodes"][5]["weights"], json!([0.75]));
    assert_eq!(edited["meshes"][0]["weights"], json!([0.0]));
}

#[test]
fn a_new_name_of_a_target_changes_only_the_list_of_names() {
    let glb = Character::new().glb();
    let asset = read(&glb);
    let renamed = asset
        .map_rigs(|object| {
            let mut targets = object.rig.targets().to_vec();
            targets[0].name = "mouthSmile".into();
            Ok((
                object.rig.with_targets_from(targets, &[Some(0)])?,
                vec![Some(0)],
            ))
        })
        .unwrap();
    let (mut edited, binary) = parts(&gltf::write(&renamed).bytes);
    let (before, old_binary) = parts(&glb);
    assert_eq!(
        edited["meshes"][0]["extras"]["targetNames"],
        json!(["mouthSmile"])
    );
    edited["meshes"][0]["extras"]["targetNames"] = json!(["smile"]);
    assert_eq!(edited, before);
    assert_eq!(binary, old_binary);
}

#[test]
fn a_target_has_normals_only_if_the_vertices_have_some() {
    let mut character = Character::new();
    let primitive = &mut character.document["meshes"][0]["primitives"][0];
    primitive["attributes"]
        .as_object_mut()
        .unwrap()
        .remove("NORMAL");
    primitive["attributes"]
        .as_object_mut()
        .unwrap()
        .remove("TANGENT");
    primitive.as_object_mut().unwrap().remove("targets");
    let mesh = &mut character.document["meshes"][0];
    mesh.as_object_mut().unwrap().remove("weights");
    mesh["extras"]
        .as_object_mut()
        .unwrap()
        .remove("targetNames");
    character.document["animations"]
        .as_array_mut()
        .unwrap()
        .remove(1);

    let asset = read(&character.glb());
    let (edited, _) = parts(&gltf::write(&asset.with_targets(&[raised()]).unwrap()).bytes);
    let target = edited["meshes"][0]["primitives"][0]["targets"][0]
        .as_object()
        .unwrap();
    assert!(target.contains_key("POSITION") && !target.contains_key("NORMAL"));
}

#[test]
fn a_new_clip_replaces_that_of_the_same_name() {
    let asset = read(&Character::new().glb());
    let track = WeightTrack::new(vec![0.0], vec![vec![0.5]], Interpolation::Linear).unwrap();
    let saved = gltf::write(
        &asset
            .with_weight_clip(Animation::new("grin", 1), &track)
            .unwrap(),
    );
    let again = read(&saved.bytes);
    let names: Vec<&str> = again.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["bend", "grin"]);
}

#[test]
fn references_of_expressions_and_pointers_follow_their_targets() {
    let mut character = Character::new();
    character.document["extensions"]["VRMC_vrm"]["expressions"] = json!({
        "preset": {"happy": {"morphTargetBinds": [{"node": 1, "index": 0, "weight": 1.0}]}},
        "custom": {"other": {"morphTargetBinds": [{"node": 4, "index": 0, "weight": 1.0}]}},
    });
    character.document["extensions"]["VRM"] = json!({"blendShapeMaster": {"blendShapeGroups": [
        {"name": "Joy", "binds": [{"mesh": 0, "index": 0, "weight": 100}]},
    ]}});
    character.document["animations"][2]["channels"][0]["target"] = json!({
        "path": "pointer",
        "extensions": {"KHR_animation_pointer": {"pointer": "/nodes/1/weights/0"}},
    });

    let asset = read(&character.glb());
    let old = asset.rig().unwrap().targets()[0].clone();
    let moved = gltf::write(&asset.with_targets(&[raised(), old]).unwrap());
    assert!(moved.left_out.is_empty(), "{:?}", moved.left_out);
    let (edited, _) = parts(&moved.bytes);
    let expressions = &edited["extensions"]["VRMC_vrm"]["expressions"];
    assert_eq!(
        expressions["preset"]["happy"]["morphTargetBinds"][0]["index"],
        1
    );
    assert_eq!(
        expressions["custom"]["other"]["morphTargetBinds"][0]["index"],
        0
    );
    let groups = &edited["extensions"]["VRM"]["blendShapeMaster"]["blendShapeGroups"];
    assert_eq!(groups[0]["binds"][0]["index"], 1);
    let target = &edited["animations"][2]["channels"][0]["target"];
    let pointer = &target["extensions"]["KHR_animation_pointer"]["pointer"];
    assert_eq!(pointer, "/nodes/1/weights/1");

    let removed = gltf::write(&asset.with_targets(&[raised()]).unwrap());
    assert!(
        removed.left_out.iter().any(|p| p.contains("2 bind(s)")),
        "{:?}",
        removed.left_out
    );
    assert!(
        removed.left_out.iter().any(|p| p.contains("pointer")),
        "{:?}",
        removed.left_out
    );
}

#[test]
fn objects_of_one_mesh_share_it_until_they_are_edited_differently() {
    let glb = twins();
    let mut asset = read(&glb);
    assert_eq!(asset.objects.len(), 2, "one object for each node");
    assert!(gltf::write(&asset).bytes == glb, "the file changed");

    // Only the twin gets another target.
    let rig = &asset.objects[1].rig;
    let mut targets = rig.targets().to_vec();
    targets.push(raised());
    asset.objects[1].rig = rig.with_targets(targets).unwrap();
    asset.objects[1].rest_weights.push(0.0);
    let saved = gltf::write(&asset).bytes;
    let (edited, _) = parts(&saved);
    let (before, _) = parts(&glb);
    assert_eq!(edited["meshes"].as_array().unwrap().len(), 2);
    assert_eq!(edited["meshes"][0], before["meshes"][0]);
    assert_eq!(
        (&edited["nodes"][1]["mesh"], &edited["nodes"][5]["mesh"]),
        (&json!(0), &json!(1))
    );

    let again = read(&saved);
    let names = |k: usize| again.objects[k].rig.targets().len();
    assert_eq!((names(0), names(1)), (1, 2));
}

#[test]
fn instances_of_a_table_are_objects_at_their_places() {
    let mut character = Character::new();
    let moved = character.accessor("VEC3", 5126, &floats(&[0., 0., 0., 3., 0., 0.]));
    let node = &mut character.document["nodes"][1];
    node.as_object_mut().unwrap().remove("skin");
    node["extensions"] = json!({"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": moved}}});
    push(
        &mut character.document["extensionsUsed"],
        json!("EXT_mesh_gpu_instancing"),
    );

    let glb = character.glb();
    let asset = read(&glb);
    let first = |k: usize| asset.objects[k].rig.neutral().positions()[0];
    // The node above them doubles all lengths.
    assert_eq!(first(1) - first(0), DVec3::X * 6.0);
    assert!(gltf::write(&asset).bytes == glb, "the file changed");
}

#[test]
fn new_faces_replace_the_primitives_and_nothing_else() {
    let mut character = Character::new();
    // The second triangle has no area.
    let indices = character.document["meshes"][0]["primitives"][0]["indices"].clone();
    let accessor = &character.document["accessors"][indices.as_u64().unwrap() as usize];
    let view = accessor["bufferView"].as_u64().unwrap() as usize;
    let start = character.document["bufferViews"][view]["byteOffset"]
        .as_u64()
        .unwrap() as usize;
    character.binary[start + 6..start + 12].copy_from_slice(&[0, 0, 2, 0, 2, 0]);
    let glb = character.glb();

    let repaired = read(&glb).repaired(&RepairKind::ALL).unwrap();
    assert_eq!(repaired.asset.objects[0].rig.neutral().face_count(), 1);
    let saved = gltf::write(&repaired.asset);
    let (edited, _) = parts(&saved.bytes);
    let (before, _) = parts(&glb);
    assert_eq!(untouched(&edited), untouched(&before));
    assert_eq!(edited["animations"], before["animations"]);
    let primitive = &edited["meshes"][0]["primitives"][0];
    assert_eq!(primitive["extras"], json!({"part": "front"}));
    assert_eq!(primitive["material"], 0);
    assert_eq!(edited["meshes"][0]["extras"]["studio"], "keeps this");
    assert_eq!(saved.left_out.len(), 1, "{:?}", saved.left_out);
    assert!(
        saved.left_out[0].contains("TANGENT"),
        "{:?}",
        saved.left_out
    );

    let again = read(&saved.bytes);
    let object = &again.objects[0];
    assert_eq!(object.rig.neutral().face_count(), 1);
    assert_eq!(object.skin, repaired.asset.objects[0].skin);
    assert_eq!(again.target_names(), ["smile"]);
    assert_eq!(again.clips.len(), 2);
}

#[test]
fn a_chunk_of_another_kind_stays() {
    let mut glb = Character::new().glb();
    glb.extend(8_u32.to_le_bytes());
    glb.extend(b"MOREkept too");
    let total = (glb.len() as u32).to_le_bytes();
    glb[8..12].copy_from_slice(&total);
    let mut asset = read(&glb);
    asset.objects[0].rest_weights = vec![0.5];
    assert!(gltf::write(&asset).bytes.ends_with(b"MOREkept too"));
}

#[test]
fn a_new_target_turns_the_tangents_if_those_of_the_file_do() {
    let mut character = Character::new();
    let still = character.accessor("VEC3", 5126, &floats(&[0.0; 12]));
    character.document["meshes"][0]["primitives"][0]["targets"][0]["TANGENT"] = json!(still);
    let asset = read(&character.glb());
    let mut targets = asset.rig().unwrap().targets().to_vec();
    // Half a turn about the axis of V is a shear here: x goes up by its length, so that the tangent
    // points at 45 degrees.
    let lifted = [Vec3::ZERO, Vec3::Z * 2.0, Vec3::Z * 2.0, Vec3::ZERO];
    targets.push(Target::from_dense("tilt", lifted));
    let saved = gltf::write(&asset.with_targets(&targets).unwrap());
    let (edited, binary) = parts(&saved.bytes);
    let target = &edited["meshes"][0]["primitives"][0]["targets"][1];
    let accessor = &edited["accessors"][target["TANGENT"].as_u64().unwrap() as usize];
    let view = &edited["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
    let number = |k: usize| {
        let at = start + 4 * k;
        f32::from_le_bytes(binary[at..at + 4].try_into().unwrap())
    };
    let half = std::f32::consts::FRAC_1_SQRT_2;
    for (k, expected) in [half - 1.0, 0.0, half].into_iter().enumerate() {
        assert!((number(k) - expected).abs() < 1e-6, "{k}: {}", number(k));
    }
}

#[test]
fn what_a_new_document_cannot_hold_is_listed() {
    let asset = read(&Character::new().glb());
    let flat = asset.posed(asset.mesh().unwrap().positions()).unwrap();
    let left_out = gltf::write(&flat).left_out.join("; ");
    for phrase in [
        "1 camera(s)",
        "1 light(s)",
        "1 node(s) without a mesh",
        "'VRMC_vrm'",
        "1 animation(s) of other things",
        "the extras of 1 scene(s)",
        "the extras of 2 node(s)",
        "tangents",
    ] {
        assert!(left_out.contains(phrase), "{phrase}: {left_out}");
    }
    let other = pliant_io::obj::write(&asset).left_out.join("; ");
    assert!(other.contains("1 camera(s)"), "{other}");
}

#[test]
fn files_beside_a_document_stay_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut character = Character::new();
    let image = b"\x89PNG\r\n\x1a\n in a file";
    std::fs::create_dir(folder.path().join("pictures")).unwrap();
    std::fs::write(folder.path().join("pictures/face.png"), image).unwrap();
    std::fs::write(folder.path().join("body.bin"), &character.binary).unwrap();
    character.document["images"] = json!([{"uri": "pictures/face.png"}]);
    character.document["buffers"] =
        json!([{"uri": "body.bin", "byteLength": character.binary.len()}]);
    let source = folder.path().join("character.gltf");
    std::fs::write(&source, character.document.to_string()).unwrap();

    let asset = load(source.to_str().unwrap(), &LoadOptions::default()).unwrap();
    let targets = [asset.rig().unwrap().targets().to_vec(), vec![raised()]].concat();
    let edited = asset.with_targets(&targets).unwrap();

    // In another folder, all files come with it.
    let other = tempfile::tempdir().unwrap();
    pliant_io::save(&edited, other.path().join("raised.gltf")).unwrap();
    assert_eq!(
        std::fs::read(other.path().join("pictures/face.png")).unwrap(),
        image
    );
    let again = load(
        other.path().join("raised.gltf").to_str().unwrap(),
        &LoadOptions::default(),
    );
    assert_eq!(again.unwrap().target_names(), ["smile", "raise"]);

    // In the same folder, the buffer of the first file stays as it is.
    pliant_io::save(&edited, folder.path().join("raised.gltf")).unwrap();
    assert_eq!(
        std::fs::read(folder.path().join("body.bin")).unwrap(),
        character.binary
    );
    let text = std::fs::read_to_string(folder.path().join("raised.gltf")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["buffers"][0]["uri"], "raised_body.bin");
    assert_eq!(document["images"][0]["uri"], "pictures/face.png");
}

fn data(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
        }
        return None;
    };
    Some(PathBuf::from(folder).join(name))
}

#[test]
fn real_characters_keep_their_parts_when_a_target_is_added() {
    for name in [
        "facecap-head/facecap.glb",
        "facecap-head/facecap-plain.glb",
        "morph-glb/RobotExpressive.glb",
        "morph-glb/Horse.glb",
        "hands/generic-hand-right.glb",
    ] {
        let Some(path) = data(name) else { continue };
        let bytes = std::fs::read(&path).unwrap();
        let asset = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        assert!(gltf::write(&asset).bytes == bytes, "{name} is not the same");

        let rig = asset.rig().unwrap();
        let lift = vec![Vec3::Y * 0.01; rig.neutral().vertex_count()];
        let mut targets = rig.targets().to_vec();
        targets.push(Target::from_dense("lift", lift));
        let changed = asset.with_targets(&targets).unwrap();
        let saved = gltf::write(&changed).bytes;

        let (before, _) = parts(&bytes);
        let (edited, _) = parts(&saved);
        assert_eq!(untouched(&edited), untouched(&before), "{name}");
        assert_eq!(edited["images"], before["images"], "{name}");
        let counts = |document: &Value| document["animations"].as_array().map_or(0, Vec::len);
        assert_eq!(counts(&edited), counts(&before), "{name}");

        let again = read(&saved);
        assert_eq!(again.target_names(), changed.target_names(), "{name}");
        for (a, b) in again.objects.iter().zip(&changed.objects) {
            assert_eq!(a.skin, b.skin, "{name}");
            assert_eq!(a.rig.neutral().positions(), b.rig.neutral().positions());
        }
        for k in 0..asset.clips.len() {
            let last = asset.clips[k].frame_count - 1;
            let found = again.clip_positions(k, last).unwrap();
            let expected = asset.clip_positions(k, last).unwrap();
            for (a, b) in found.iter().zip(&expected) {
                assert!(
                    a.distance(*b) <= 1e-5 * (1.0 + b.length()),
                    "{name} clip {k}"
                );
            }
        }
    }
}
