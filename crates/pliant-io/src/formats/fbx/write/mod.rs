//! Writer of binary FBX: from objects and clips to nodes.
//!
//! **Method.** Meshes are written where they are in the scene, below nodes for their paths. Targets
//! become blend channels, joints bones, and clips animation stacks. Clips of positions become
//! channels, one for each frame, because the format stores no positions over time. Equal assets
//! give equal bytes.
//!
//! **Departures.** Curves hold single precision. One file has one frame rate. Blender's older
//! importer, an add-on, rejects files with in-betweens; the built-in one of Blender 5.0 reads them.
//!
//! | module | concept |
//! |---|---|
//! | `node` | nodes, values and their binary form |
//! | `scene` | objects and connections |
//! | `settings` | header, units and axes |
//! | `transform` | translation, Euler angles and scale |
//! | `models` | a node for each object, below nodes for its path |
//! | `material` | Phong materials with their images |
//! | `mesh` | polygons with their attributes |
//! | `blend_shape` | targets → blend channels |
//! | `skin` | joints → bones, weights → clusters |
//! | `animation` | clips → animation stacks |
//! | `shear` | motions that translation, rotation and scale cannot express |

mod animation;
mod blend_shape;
mod material;
mod mesh;
mod models;
mod node;
mod scene;
mod settings;
mod shear;
mod skin;
mod transform;

use self::animation::{StackWriter, WrittenObject, ticks};
use self::material::Materials;
use self::models::PathTree;
use self::node::Node;
use self::scene::{Id, Scene};
use self::skin::Bones;
use crate::{Animation, Asset, Capabilities, EncodedAsset, IoError, Object, Shape, UpAxes};

/// What an FBX can store.
pub const CAPABILITIES: Capabilities = Capabilities {
    groups: false,
    smoothing: false,
    frame_names: false,
    up_axes: UpAxes::Any,
    combinations: false,
    slider_settings: false,
    rest_pose: false,
    ..Capabilities::ALL
};

/// Indices and sizes of arrays are stored in 31 and 32 bits; this many positions fit.
const MOST_ELEMENTS: usize = 1 << 27;

/// The asset as a binary FBX file.
pub fn write(asset: &Asset) -> Result<EncodedAsset, IoError> {
    asset.require_single_range("FBX", 1.0)?;
    let fits = |object: &Object| {
        let neutral = object.rig.neutral();
        neutral.vertex_count().max(neutral.corner_count()) <= MOST_ELEMENTS
    };
    if let Some(object) = asset.objects.iter().find(|object| !fits(object)) {
        return Err(asset.clip_error(&format!(
            "object '{}' has more than {MOST_ELEMENTS} vertices or corners, more than FBX can hold; split it",
            object.path
        )));
    }

    let mut left_out = CAPABILITIES.left_out_of(asset);
    left_out.extend(rates_left_out(asset));
    left_out.extend(material::left_out(asset));
    let asset = asset.with_playable_motions();
    let (asset, shear) = shear::without_shear(&asset);
    left_out.extend(shear);

    let mut writer = SceneWriter::new(&asset);
    writer.add_objects();
    writer.add_clips();
    if writer.unmapped > 0 {
        left_out.push(format!(
            "{} corner(s) without a UV or a normal (written as zero)",
            writer.unmapped
        ));
    }

    let mut nodes = settings::header(&asset);
    nodes.extend(writer.scene.into_nodes());
    nodes.push(takes(&asset));
    Ok(EncodedAsset {
        bytes: node::encode(&nodes),
        left_out,
        ..EncodedAsset::default()
    })
}

/// The clips whose rate differs from that of the file.
fn rates_left_out(asset: &Asset) -> Option<String> {
    let rate = settings::frames_per_second(asset);
    let others = asset
        .clips
        .iter()
        .filter(|clip| clip.frames_per_second != rate);
    let count = others.count();
    (count > 0).then(|| {
        format!("the frame rate of {count} clip(s) (all play at {rate} frames a second, at the same speed)")
    })
}

/// The list of clips with their times, which some programs read first.
fn takes(asset: &Asset) -> Node {
    let mut takes = Node::new("Takes").child(Node::of("Current", ""));
    for clip in &asset.clips {
        let last = clip.time_secs(clip.frame_count.saturating_sub(1));
        let [start, stop] = [clip.start_secs, last].map(ticks);
        let take = Node::of("Take", clip.name.as_str())
            .child(Node::of("FileName", format!("{}.tak", clip.name)))
            .child(Node::of("LocalTime", start).value(stop))
            .child(Node::of("ReferenceTime", start).value(stop));
        takes = takes.child(take);
    }
    takes
}

/// The state of writing one scene.
struct SceneWriter<'a> {
    asset: &'a Asset,
    scene: Scene,
    objects: Vec<WrittenObject>,
    bones: Vec<Bones<'a>>,
    materials: Materials<'a>,
    unmapped: usize,
}

impl<'a> SceneWriter<'a> {
    fn new(asset: &'a Asset) -> Self {
        Self {
            asset,
            scene: Scene::default(),
            objects: Vec::with_capacity(asset.objects.len()),
            bones: Vec::new(),
            materials: Materials::of(asset),
            unmapped: 0,
        }
    }

    fn add_objects(&mut self) {
        let asset = self.asset;
        let mut paths = PathTree::default();
        let mut skinned = Vec::new();
        let leaders = asset.joint_leaders();

        for (k, object) in asset.objects.iter().enumerate() {
            let has_frames = asset.clips.iter().any(|clip| frames(clip, k).is_some());
            let targets = has_frames.then(|| object.rig.targets().len());
            let model = paths.add_object(&mut self.scene, &object.path, targets);
            let geometry = self.add_geometry(object, model);
            let channels = self.add_channels(k, object, geometry);
            self.objects.push(WrittenObject { model, channels });

            if let (Some(leader), Some(binding)) = (leaders[k], &object.skin) {
                if leader == k {
                    self.bones
                        .push(Bones::add(&mut self.scene, &binding.skeleton, k));
                }
                let bones = self.bones.iter().find(|bones| bones.object == leader);
                let bones = bones.expect("the first object of a skeleton adds its bones");
                skin::add_skin(&mut self.scene, geometry, binding, bones);
                skinned.push(model);
            }
        }

        if !skinned.is_empty() {
            skin::add_bind_pose(&mut self.scene, &self.bones, &skinned);
        }
    }

    /// Adds the mesh of an object with its materials.
    fn add_geometry(&mut self, object: &'a Object, model: Id) -> Id {
        let mesh = object.rig.neutral();
        let (children, unmapped) = mesh::geometry(mesh);
        self.unmapped += unmapped;
        let geometry = self
            .scene
            .add("Geometry", [mesh.name(), "Geometry", "Mesh"], children);
        self.scene.connect(geometry, model);

        for name in &mesh.materials().names {
            let material = self.materials.material(&mut self.scene, name);
            self.scene.connect(material, model);
        }
        geometry
    }

    /// Adds a channel for each target, and then for each frame of positions.
    fn add_channels(&mut self, index: usize, object: &Object, geometry: Id) -> Vec<Id> {
        let clips = self.asset.clips.iter();
        let clips: Vec<_> = clips
            .filter_map(|clip| Some((clip, frames(clip, index)?)))
            .collect();
        if object.rig.targets().is_empty() && clips.is_empty() {
            return Vec::new();
        }

        let scene = &mut self.scene;
        let deformer = blend_shape::add_deformer(scene, geometry);
        let mut channels = Vec::new();
        for (k, target) in object.rig.targets().iter().enumerate() {
            let rest = object.rest_weights.get(k).copied().unwrap_or(0.0);
            channels.push(blend_shape::add_target(scene, deformer, target, rest));
        }

        let neutral = object.rig.neutral().positions();
        for (clip, frames) in clips {
            for (k, positions) in frames.iter().enumerate() {
                let name = match clip.frame_names.get(k) {
                    Some(name) => name.clone(),
                    None => format!("{} {k}", clip.name),
                };
                let channel = blend_shape::add_frame(scene, deformer, &name, neutral, positions);
                channels.push(channel);
            }
        }
        channels
    }

    fn add_clips(&mut self) {
        let mut stacks = StackWriter {
            asset: self.asset,
            objects: &self.objects,
            bones: &self.bones,
            frames_before: vec![0; self.objects.len()],
        };
        for clip in &self.asset.clips {
            stacks.add(&mut self.scene, clip);
        }
    }
}

/// The positions by which a clip moves an object.
fn frames(clip: &Animation, object: usize) -> Option<&Vec<Vec<pliant_mesh::glam::DVec3>>> {
    let motion = clip.motions.iter().find(|motion| motion.object == object)?;
    match &motion.shape {
        Shape::Points(frames) => Some(frames),
        _ => None,
    }
}
