//! The expressions of VRM avatars as presets.
//!
//! **Format.** VRM 0: `extensions.VRM.blendShapeMaster.blendShapeGroups`, whose binds name a mesh, a
//! target and a weight in percent. VRM 1: `extensions.VRMC_vrm.expressions`, `preset` and `custom`, whose
//! binds name a node, a target and a weight.
//!
//! **Source.** VRM Consortium, "VRM 0.x" and "VRMC_vrm-1.0".
//!
//! **Departures.** Colours, texture offsets and overrides of expressions are no weights; edits of the file
//! keep them.

use std::collections::{BTreeMap, HashMap, HashSet};

use pliant_rig::{Preset, Target};
use serde_json::Value;

use super::scene::PlacedMesh;
use crate::Object;
use crate::parse::budget::Budget;

/// The presets of a document whose meshes were read, in its order, and the number of binds that name
/// no target.
pub(super) fn presets(
    extensions: &Value,
    objects: &[Object],
    placed: &[PlacedMesh],
    budget: &Budget,
) -> (Vec<Preset>, usize) {
    let mut reader = Presets {
        objects,
        placed,
        budget,
        found: Vec::new(),
        names: HashSet::new(),
        unknown: 0,
    };
    reader.read_vrm_1(&extensions["VRMC_vrm"]["expressions"]);
    if reader.found.is_empty() {
        reader.read_vrm_0(&extensions["VRM"]["blendShapeMaster"]["blendShapeGroups"]);
    }
    (reader.found, reader.unknown)
}

struct Presets<'a> {
    objects: &'a [Object],
    placed: &'a [PlacedMesh],
    /// Every bind repeats the name of its target.
    budget: &'a Budget,
    found: Vec<Preset>,
    names: HashSet<String>,
    unknown: usize,
}

impl Presets<'_> {
    fn read_vrm_1(&mut self, expressions: &Value) {
        let object_of = self.objects_by(|place| place.chain.first().copied());
        for kind in ["preset", "custom"] {
            let all = expressions[kind].as_object();
            for (name, expression) in all.into_iter().flatten() {
                let mut weights = BTreeMap::new();
                for bind in list(&expression["morphTargetBinds"]) {
                    let object = number(&bind["node"]).and_then(|node| object_of.get(&node));
                    let weight = bind["weight"].as_f64().unwrap_or(1.0);
                    self.add_bind(&mut weights, object, bind, weight);
                }
                self.add(name, weights);
            }
        }
    }

    fn read_vrm_0(&mut self, groups: &Value) {
        let object_of = self.objects_by(|place| Some(place.mesh));
        for group in list(groups) {
            let preset = group["presetName"].as_str().unwrap_or_default();
            let own = group["name"].as_str().unwrap_or_default();
            let is_preset = !preset.is_empty() && !preset.eq_ignore_ascii_case("unknown");

            let mut weights = BTreeMap::new();
            for bind in list(&group["binds"]) {
                let object = number(&bind["mesh"]).and_then(|mesh| object_of.get(&mesh));
                let weight = bind["weight"].as_f64().unwrap_or(100.0) / 100.0;
                self.add_bind(&mut weights, object, bind, weight);
            }
            self.add(if is_preset { preset } else { own }, weights);
        }
    }

    /// The first object of each node or mesh.
    fn objects_by(&self, key: impl Fn(&PlacedMesh) -> Option<usize>) -> HashMap<usize, usize> {
        let mut object_of = HashMap::new();
        for (object, place) in self.placed.iter().enumerate() {
            if let Some(key) = key(place) {
                object_of.entry(key).or_insert(object);
            }
        }
        object_of
    }

    /// Adds the weight of a bind to the slider of its target.
    fn add_bind(
        &mut self,
        weights: &mut BTreeMap<String, f64>,
        object: Option<&usize>,
        bind: &Value,
        weight: f64,
    ) {
        let target = object.and_then(|&object| self.target(object, &bind["index"]));
        let is_affordable = |(target, _): &(&Target, f64)| {
            weight.is_finite() && self.budget.try_spend(target.name.len() / 8 + 1)
        };
        match target.filter(is_affordable) {
            // Meshes that share a name of a target share its slider.
            Some((target, key)) => {
                weights.insert(target.name.clone(), weight * key);
            }
            None => self.unknown += 1,
        }
    }

    /// The target of a number, and the slider weight at which it is whole.
    fn target(&self, object: usize, index: &Value) -> Option<(&Target, f64)> {
        let place = &self.placed[object];
        let index = number(index).filter(|&index| index < place.stored_targets)?;
        let (slider, key) = match &place.sliders {
            Some(sliders) => sliders.slider_of(index)?,
            None => (index, 1.0),
        };
        let target = self.objects[object].rig.targets().get(slider)?;
        Some((target, key))
    }

    /// Adds a preset; one whose name is known gets a number.
    fn add(&mut self, name: &str, weights: BTreeMap<String, f64>) {
        let mut name = name.to_owned();
        if name.is_empty() || self.names.contains(&name) {
            name = format!("{name}#{}", self.found.len());
        }
        self.names.insert(name.clone());
        self.found.push(Preset { name, weights });
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::{DVec3, Vec3};
    use pliant_rig::Rig;
    use serde_json::json;

    use super::*;
    use crate::{Asset, NoFiles, gltf};

    /// A face with two targets, teeth with one, and the extensions of an avatar.
    fn avatar(extensions: Value) -> Asset {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
        let part = |path: &str, names: &[&str]| {
            let mesh = Mesh::from_triangles(corners.clone(), &[[0, 1, 2]]).unwrap();
            let lift = |name: &&str| Target::from_dense(*name, vec![Vec3::Z; 3]);
            let rig = Rig::new(mesh, names.iter().map(lift).collect()).unwrap();
            Object {
                path: path.into(),
                ..Object::new(rig)
            }
        };
        let asset = Asset {
            objects: vec![
                part("/face", &["Fcl_A", "Fcl_Close_L"]),
                part("/teeth", &["Teeth_A"]),
            ],
            ..Asset::default()
        };
        let written = gltf::write_json(&asset).bytes;
        let mut document: Value = serde_json::from_slice(&written).unwrap();
        document["extensions"] = extensions;
        gltf::read(&serde_json::to_vec(&document).unwrap(), &NoFiles).unwrap()
    }

    fn weights(asset: &Asset) -> Vec<(&str, Vec<(&str, f64)>)> {
        let mut all = Vec::new();
        for preset in &asset.presets {
            let own = preset.weights.iter();
            let own = own.map(|(name, weight)| (name.as_str(), *weight));
            all.push((preset.name.as_str(), own.collect()));
        }
        all
    }

    #[test]
    fn expressions_of_vrm_1_are_presets() {
        // Our own documents have one node for each mesh, in their order.
        let asset = avatar(json!({"VRMC_vrm": {"expressions": {
            "preset": {"aa": {"morphTargetBinds": [
                {"node": 0, "index": 0, "weight": 0.75},
                {"node": 1, "index": 0, "weight": 1.0},
            ]}},
            "custom": {"wink": {"morphTargetBinds": [
                {"node": 0, "index": 1, "weight": 0.5},
                {"node": 0, "index": 9, "weight": 0.5},
                {"node": 77, "index": 0, "weight": 0.5},
            ]}},
        }}}));

        assert_eq!(
            weights(&asset),
            [
                ("aa", vec![("Fcl_A", 0.75), ("Teeth_A", 1.0)]),
                ("wink", vec![("Fcl_Close_L", 0.5)])
            ]
        );
        assert!(
            asset
                .warnings
                .iter()
                .any(|warning| warning.starts_with("2 bind(s)"))
        );
    }

    #[test]
    fn groups_of_vrm_0_are_presets_with_weights_in_percent() {
        let asset = avatar(json!({"VRM": {"blendShapeMaster": {"blendShapeGroups": [
            {"name": "Joy", "presetName": "joy", "binds": [{"mesh": 0, "index": 1, "weight": 40}]},
            {"name": "Special", "presetName": "unknown", "binds": [{"mesh": 1, "index": 0, "weight": 100}]},
            {"name": "Neutral", "presetName": "neutral"},
        ]}}}));
        assert_eq!(
            weights(&asset),
            [
                ("joy", vec![("Fcl_Close_L", 0.4)]),
                ("Special", vec![("Teeth_A", 1.0)]),
                ("neutral", vec![])
            ]
        );
    }
}
