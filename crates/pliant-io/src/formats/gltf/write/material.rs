//! Materials, textures and images of a written glTF document.
//!
//! An image keeps its bytes, in a buffer view or, for a JSON file, in a `data:` URI. A material that
//! came from glTF keeps its own entries; only textures and what needs an extension are added.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::DocumentWriter;
use crate::gltf::container::base64_uri;
use crate::{AlphaMode, Asset, ImageFile, Material, Texture, UvTransform, Wrap};

/// Where a document stores its images.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ImageStorage {
    /// In the buffer.
    #[default]
    Views,
    /// In the JSON text.
    Text,
}

/// The materials of an asset while they are written.
#[derive(Default)]
pub(super) struct MaterialWriter {
    pub(super) storage: ImageStorage,
    materials: HashMap<String, Material>,
    images: Vec<ImageFile>,
    /// Images, samplers and textures that are written already.
    image_of: HashMap<usize, usize>,
    sampler_of: HashMap<String, usize>,
    texture_of: HashMap<String, usize>,
}

impl MaterialWriter {
    pub(super) fn of(asset: &Asset, storage: ImageStorage) -> Self {
        let by_name = |material: &Material| (material.name.clone(), material.clone());
        Self {
            storage,
            materials: asset.materials.iter().map(by_name).collect(),
            images: asset.images.clone(),
            ..Self::default()
        }
    }
}

impl DocumentWriter {
    /// The index of the material of faces with this label. `stored` is what their file had.
    pub(super) fn labelled_material(&mut self, label: Option<&str>, stored: &Value) -> usize {
        let known = label.and_then(|label| self.looks.materials.get(label).cloned());
        let Some(known) = known else {
            return self.material(stored);
        };

        let mut entries = self.material_entries(&known);
        // The file's own entries win, except where they lost their textures.
        merge(&mut entries, stored);
        if stored.get("name").is_none() && known.stored_name.is_empty() {
            entries.remove("name");
        }
        self.material(&Value::Object(entries))
    }

    fn material_entries(&mut self, material: &Material) -> Map<String, Value> {
        let mut pbr = Map::new();
        pbr.insert(
            "baseColorFactor".into(),
            json!(material.base_color.to_array()),
        );
        pbr.insert("metallicFactor".into(), json!(material.metallic));
        pbr.insert("roughnessFactor".into(), json!(material.roughness));
        self.add_texture(&mut pbr, "baseColorTexture", &material.base_color_texture);
        self.add_texture(
            &mut pbr,
            "metallicRoughnessTexture",
            &material.metallic_roughness_texture,
        );

        let mut entries = Map::new();
        entries.insert("name".into(), json!(material.name));
        entries.insert("pbrMetallicRoughness".into(), Value::Object(pbr));
        self.add_texture(&mut entries, "normalTexture", &material.normal_texture);
        if let Some(normal) = entries.get_mut("normalTexture")
            && material.normal_scale != 1.0
        {
            normal["scale"] = json!(material.normal_scale);
        }
        self.add_texture(
            &mut entries,
            "occlusionTexture",
            &material.occlusion_texture,
        );
        self.add_texture(&mut entries, "emissiveTexture", &material.emissive_texture);
        if material.double_sided {
            entries.insert("doubleSided".into(), json!(true));
        }
        if material.opacity_texture.is_some() {
            let name = &material.name;
            self.left_out.push(format!(
                "the opacity texture of material '{name}' (glTF has opacity in the base colour)"
            ));
        }
        self.add_alpha(&mut entries, material.alpha);
        self.add_emission(&mut entries, material);
        if material.unlit {
            self.add_extension(&mut entries, "KHR_materials_unlit", json!({}));
        }
        entries
    }

    fn add_alpha(&self, entries: &mut Map<String, Value>, alpha: AlphaMode) {
        let mode = match alpha {
            AlphaMode::Opaque => return,
            AlphaMode::Mask(cutoff) => {
                entries.insert("alphaCutoff".into(), json!(cutoff));
                "MASK"
            }
            AlphaMode::Blend => "BLEND",
        };
        entries.insert("alphaMode".into(), json!(mode));
    }

    /// Emitted light; factors above one need no extension if they are scaled down.
    fn add_emission(&mut self, entries: &mut Map<String, Value>, material: &Material) {
        let emissive = material.emissive;
        if emissive.max_element() <= 0.0 {
            return;
        }
        let strength = emissive.max_element().max(1.0);
        let factor = (emissive / strength).to_array();
        entries.insert("emissiveFactor".into(), json!(factor));
        if strength > 1.0 {
            let extension = json!({ "emissiveStrength": strength });
            self.add_extension(entries, "KHR_materials_emissive_strength", extension);
        }
    }

    fn add_extension(&mut self, entries: &mut Map<String, Value>, name: &str, value: Value) {
        let all = entries.entry("extensions").or_insert_with(|| json!({}));
        all[name] = value;
        self.use_extension(name);
    }

    fn add_texture(
        &mut self,
        entries: &mut Map<String, Value>,
        key: &str,
        texture: &Option<Texture>,
    ) {
        let Some(texture) = texture else { return };
        let Some(index) = self.texture(texture) else {
            return;
        };

        let mut info = json!({ "index": index });
        if texture.uv_set != 0 {
            info["texCoord"] = json!(texture.uv_set);
        }
        if texture.transform != UvTransform::default() {
            let UvTransform {
                offset,
                rotation_rad,
                scale,
            } = texture.transform;
            info["extensions"]["KHR_texture_transform"] = json!({
                "offset": offset.to_array(),
                "rotation": rotation_rad,
                "scale": scale.to_array(),
            });
            self.use_extension("KHR_texture_transform");
        }
        entries.insert(key.into(), info);
    }

    /// The index of a texture, which is written once; `None` if its image has no bytes.
    fn texture(&mut self, texture: &Texture) -> Option<usize> {
        let image = self.image(texture.image)?;
        let wrap = |wrap: Wrap| match wrap {
            Wrap::Repeat => 10497,
            Wrap::Mirror => 33648,
            Wrap::Clamp => 33071,
        };
        let sampler = json!({
            "magFilter": if texture.nearest { 9728 } else { 9729 },
            "minFilter": 9987,
            "wrapS": wrap(texture.wrap[0]),
            "wrapT": wrap(texture.wrap[1]),
        });
        let samplers = &mut self.document.samplers;
        let looks = &mut self.looks;
        let sampler = *looks
            .sampler_of
            .entry(sampler.to_string())
            .or_insert_with(|| {
                samplers.push(sampler);
                samplers.len() - 1
            });

        // Formats beside PNG and JPEG are named by an extension.
        let mut entry = json!({ "sampler": sampler });
        let extension = match looks.images[texture.image].media_type.as_str() {
            "image/webp" => Some("EXT_texture_webp"),
            "image/ktx2" => Some("KHR_texture_basisu"),
            "image/vnd-ms.dds" => Some("MSFT_texture_dds"),
            _ => None,
        };
        match extension {
            None => entry["source"] = json!(image),
            Some(name) => entry["extensions"][name]["source"] = json!(image),
        }

        let textures = &mut self.document.textures;
        let index = *looks
            .texture_of
            .entry(entry.to_string())
            .or_insert_with(|| {
                textures.push(entry);
                textures.len() - 1
            });
        if let Some(name) = extension {
            self.use_extension(name);
            if !self.document.extensions_required.iter().any(|n| n == name) {
                self.document.extensions_required.push(name.into());
            }
        }
        Some(index)
    }

    /// The index of an image, which is written once.
    fn image(&mut self, image: usize) -> Option<usize> {
        if let Some(&known) = self.looks.image_of.get(&image) {
            return Some(known);
        }

        let file = self
            .looks
            .images
            .get(image)
            .filter(|f| !f.bytes.is_empty())?;
        let mut entry = match self.looks.storage {
            ImageStorage::Views => {
                let view = self.buffer.image(&file.bytes);
                json!({ "bufferView": view, "mimeType": file.media_type })
            }
            ImageStorage::Text => json!({ "uri": base64_uri(&file.media_type, &file.bytes) }),
        };
        if !file.name.is_empty() {
            entry["name"] = json!(file.name);
        }

        let images = &mut self.document.images;
        images.push(entry);
        self.looks.image_of.insert(image, images.len() - 1);
        Some(images.len() - 1)
    }

    fn use_extension(&mut self, name: &str) {
        let used = &mut self.document.extensions_used;
        if !used.iter().any(|known| known == name) {
            used.push(name.into());
        }
    }
}

/// Replaces entries by those of `other`; objects are merged.
fn merge(entries: &mut Map<String, Value>, other: &Value) {
    for (key, value) in other.as_object().into_iter().flatten() {
        match (entries.get_mut(key), value) {
            (Some(Value::Object(own)), Value::Object(_)) => merge(own, value),
            _ => {
                entries.insert(key.clone(), value.clone());
            }
        }
    }
}
