//! What a glTF document holds besides meshes, skins, materials and clips.
//!
//! An [`Asset`](crate::Asset) has no fields for cameras, lights, nodes without meshes, most extensions
//! and `extras`. An edit of the file keeps them. A new document, or a file of another format, cannot,
//! and its report lists them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::accessor::Source;
use super::scene::ReadScene;
use crate::ReadError;
use crate::gltf::container::Chunks;
use crate::gltf::extras::KEY;

/// Extensions whose content an asset holds.
const HELD: [&str; 12] = [
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_visibility",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "KHR_draco_mesh_compression",
    // Listed by the number of its lights.
    "KHR_lights_punctual",
];

/// Describes the rest of a document, one phrase each.
pub(super) struct OtherContent<'a> {
    chunks: &'a Chunks<'a>,
    scene: &'a ReadScene<'a>,
}

impl<'a> OtherContent<'a> {
    pub(super) fn of(source: &'a Source<'a>, scene: &'a ReadScene<'a>) -> Self {
        Self {
            chunks: source.chunks,
            scene,
        }
    }

    pub(super) fn phrases(&self) -> Result<Vec<String>, ReadError> {
        let document: Value = serde_json::from_slice(self.chunks.json)
            .map_err(|error| ReadError::whole(format!("the JSON cannot be read: {error}")))?;
        let mut phrases = Vec::new();
        let mut add = |count: usize, what: &str| {
            if count > 0 {
                phrases.push(format!("{count} {what}"));
            }
        };

        add(self.empty_nodes(), "node(s) without a mesh");
        add(list(&document, "cameras").len(), "camera(s)");
        add(lights(&document), "light(s)");
        add(
            list(&document, "scenes").len().saturating_sub(1),
            "other scene(s)",
        );
        add(
            self.other_animations(&document),
            "animation(s) of other things",
        );
        add(lines(&document), "primitive(s) of lines");
        add(self.chunks.others.len(), "GLB chunk(s) of other kinds");

        phrases.extend(attributes(&document));
        phrases.extend(extensions(&document));
        phrases.extend(extras(&document));
        let copyright = document["asset"].get("copyright").and_then(Value::as_str);
        phrases.extend(copyright.map(|text| format!("the copyright '{}'", text.escape_debug())));
        Ok(phrases)
    }

    /// Nodes that neither show a mesh, nor are above one, nor move a skin.
    fn empty_nodes(&self) -> usize {
        let nodes = &self.scene.nodes;
        let mut used = vec![false; nodes.nodes.len()];
        for (k, node) in nodes.nodes.iter().enumerate() {
            let mut above = nodes.ancestors(k).filter(|_| node.mesh.is_some());
            // Above a known node, all are known.
            while above
                .next()
                .is_some_and(|node| !std::mem::replace(&mut used[node], true))
            {}
        }
        for &joint in self.scene.skins.values().flat_map(|skin| &skin.nodes) {
            used[joint] = true;
        }
        used.iter().filter(|used| !**used).count()
    }

    fn other_animations(&self, document: &Value) -> usize {
        let clips = &self.scene.asset.clips;
        let is_clip = |index: usize| clips.iter().any(|c| c.original == Some(index));
        let count = list(document, "animations").len();
        (0..count).filter(|&index| !is_clip(index)).count()
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn lights(document: &Value) -> usize {
    let extension = document
        .get("extensions")
        .and_then(|all| all.get("KHR_lights_punctual"));
    extension.map_or(0, |lights| list(lights, "lights").len())
}

fn primitives(document: &Value) -> impl Iterator<Item = &Value> {
    let meshes = list(document, "meshes").iter();
    meshes.flat_map(|mesh| list(mesh, "primitives"))
}

fn lines(document: &Value) -> usize {
    let is_line = |primitive: &&Value| {
        let mode = primitive.get("mode").and_then(Value::as_u64);
        mode.is_some_and(|mode| (1..=3).contains(&mode))
    };
    primitives(document).filter(is_line).count()
}

/// Vertex attributes that no mesh has: tangents and those of other programs.
fn attributes(document: &Value) -> Vec<String> {
    let mut own = BTreeSet::new();
    for primitive in primitives(document) {
        let attributes = primitive.get("attributes").and_then(Value::as_object);
        own.extend(attributes.into_iter().flat_map(Map::keys));
    }
    let custom = own.iter().filter(|name| name.starts_with('_'));
    let custom = custom.map(|name| format!("the vertex attribute '{}'", name.escape_debug()));
    let tangents = own.iter().filter(|name| **name == "TANGENT");
    tangents.map(|_| "tangents".into()).chain(custom).collect()
}

fn extensions(document: &Value) -> Vec<String> {
    let used = list(document, "extensionsUsed").iter();
    let names: BTreeSet<&str> = used.filter_map(Value::as_str).collect();
    let unknown = names.into_iter().filter(|name| !HELD.contains(name));
    unknown
        .map(|name| format!("the extension '{}'", name.escape_debug()))
        .collect()
}

/// `extras` of other programs, by the kind of their owner.
fn extras(document: &Value) -> Vec<String> {
    const OWNERS: [(&str, &str); 9] = [
        ("scenes", "scene(s)"),
        ("nodes", "node(s)"),
        ("meshes", "mesh(es)"),
        ("materials", "material(s)"),
        ("textures", "texture(s)"),
        ("images", "image(s)"),
        ("skins", "skin(s)"),
        ("animations", "animation(s)"),
        ("cameras", "camera(s)"),
    ];

    let mut phrases = Vec::new();
    for (key, owners) in OWNERS {
        let count = list(document, key).iter().filter(|o| has_extras(o)).count();
        if count > 0 {
            phrases.push(format!("the extras of {count} {owners}"));
        }
    }
    let count = primitives(document).filter(|p| has_extras(p)).count();
    if count > 0 {
        phrases.push(format!("the extras of {count} primitive(s)"));
    }
    if has_extras(document) || has_extras(&document["asset"]) {
        phrases.push("the extras of the file".into());
    }
    phrases
}

/// Whether something has `extras` besides those that an asset holds.
fn has_extras(owner: &Value) -> bool {
    match owner.get("extras") {
        None | Some(Value::Null) => false,
        Some(Value::Object(entries)) => {
            let mut keys = entries.keys();
            keys.any(|key| key != KEY && key != "targetNames")
        }
        Some(_) => true,
    }
}
