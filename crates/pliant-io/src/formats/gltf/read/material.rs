//! Materials, textures and images of a glTF document.
//!
//! **Format.** A material names textures, a texture an image and a sampler. An image is a buffer
//! view, a `data:` URI or a file. `KHR_texture_basisu` and `EXT_texture_webp` name an image of
//! another format next to one that every program can show.
//!
//! **Source.** "glTF 2.0 Specification", sections 3.8 and 3.9; `KHR_texture_transform`,
//! `KHR_materials_unlit`, `KHR_materials_emissive_strength`, `KHR_texture_basisu`,
//! `EXT_texture_webp`, `KHR_materials_pbrSpecularGlossiness` (archived).
//!
//! **Departures.** What is wrong with a material becomes a warning, and the material has its default
//! there; only images that together need far more memory than the file has bytes reject it. A material that has nothing but a name is a label only. The
//! archived specular-glossiness model is read as its base colour and `1 − glossiness`.

use std::collections::HashMap;
use std::sync::Arc;

use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use serde_json::Value;

use super::accessor::Source;
use crate::asset::{distinct_names, media_type_of};
use crate::files::plain_uri;
use crate::gltf::container::data_uri;
use crate::gltf::document::Document;
use crate::{
    AlphaMode, FileProvider, ImageFile, Material, ReadError, Texture, UvTransform, VertexColorUse,
    Wrap,
};

/// The labels of faces for each material of the document. Materials that look like something have
/// distinct ones.
pub(in crate::formats::gltf) fn labels(document: &Document) -> Vec<String> {
    let stored = |material: &Value| name(material).to_owned();
    if !document.materials.iter().any(looks_like_something) {
        return document.materials.iter().map(stored).collect();
    }
    distinct_names(document.materials.iter().map(name))
}

fn name(value: &Value) -> &str {
    value
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The entries of all materials without textures and extensions.
pub(super) fn without_textures(document: &Document) -> Vec<Arc<Value>> {
    let materials = document.materials.iter();
    materials
        .map(|material| Arc::new(without_texture_entries(material)))
        .collect()
}

/// A material without textures and extensions, which refer to other parts of the document.
fn without_texture_entries(material: &Value) -> Value {
    let Value::Object(entries) = material else {
        return material.clone();
    };

    entries
        .iter()
        .filter(|(key, _)| !key.ends_with("Texture") && *key != "extensions")
        .map(|(key, value)| (key.clone(), without_texture_entries(value)))
        .collect()
}

/// Whether a material has more than a name.
fn looks_like_something(material: &Value) -> bool {
    material.as_object().is_some_and(|entries| {
        entries
            .keys()
            .any(|key| !matches!(key.as_str(), "name" | "extras" | "doubleSided"))
    })
}

/// The materials and images of a document.
pub(super) struct Appearance {
    pub(super) materials: Vec<Material>,
    pub(super) images: Vec<ImageFile>,
}

impl Appearance {
    pub(super) fn read(
        source: &Source<'_>,
        files: &dyn FileProvider,
        warnings: &mut Vec<String>,
    ) -> Result<Self, ReadError> {
        let images = images(source, files, warnings)?;
        let mut reader = MaterialReader {
            document: source.document,
            images: &images,
            warnings,
            label: "",
        };

        let mut materials = Vec::new();
        for (material, label) in source
            .document
            .materials
            .iter()
            .zip(&source.material_labels)
        {
            if looks_like_something(material) {
                reader.label = label;
                materials.push(reader.material(material));
            }
        }

        Ok(Self { materials, images })
    }
}

/// All images of a document, in its order. Images of one file or buffer view share their bytes.
fn images(
    source: &Source<'_>,
    files: &dyn FileProvider,
    warnings: &mut Vec<String>,
) -> Result<Vec<ImageFile>, ReadError> {
    let mut known: HashMap<String, Arc<[u8]>> = HashMap::new();
    let mut images = Vec::with_capacity(source.document.images.len());
    for (k, entry) in source.document.images.iter().enumerate() {
        let uri = entry.get("uri").and_then(Value::as_str);
        let view = index(entry.get("bufferView"));
        let key = match (uri, view) {
            (Some(uri), _) if data_uri(uri).is_none() => plain_uri(uri),
            (Some(uri), _) => uri.to_owned(),
            (None, view) => format!("{view:?}"),
        };

        let bytes = match known.get(&key) {
            Some(bytes) => Arc::clone(bytes),
            None => {
                let bytes = image_bytes(source, files, uri, view).unwrap_or_else(|message| {
                    warnings.push(format!("image {k} '{}': {message}", name(entry)));
                    Vec::new()
                });
                // Views may overlap, so that few bytes could ask for many images.
                source
                    .buffers
                    .budget
                    .spend(bytes.len() / 4, format_args!("image {k}"))?;
                let bytes: Arc<[u8]> = bytes.into();
                known.insert(key, Arc::clone(&bytes));
                bytes
            }
        };

        let declared = entry.get("mimeType").and_then(Value::as_str);
        images.push(ImageFile {
            name: name(entry).to_owned(),
            uri: uri
                .filter(|uri| data_uri(uri.get(..64).unwrap_or(uri)).is_none())
                .unwrap_or_default()
                .to_owned(),
            media_type: media_type_of(&bytes)
                .or(declared)
                .unwrap_or_default()
                .to_owned(),
            bytes,
        });
    }

    Ok(images)
}

/// The bytes of an image, or why there are none.
fn image_bytes(
    source: &Source<'_>,
    files: &dyn FileProvider,
    uri: Option<&str>,
    view: Option<usize>,
) -> Result<Vec<u8>, String> {
    match (uri, view) {
        (Some(uri), _) => match data_uri(uri) {
            Some(bytes) => {
                let bytes = bytes?;
                source.buffers.budget.grow(bytes.len());
                Ok(bytes)
            }
            None => {
                let bytes = files.read(uri).map_err(|e| e.to_string())?;
                source.buffers.budget.grow(bytes.len());
                Ok(bytes)
            }
        },
        (None, Some(view)) => {
            let (bytes, _) = source.buffers.view(view).map_err(|e| e.message)?;
            Ok(bytes.to_vec())
        }
        (None, None) => Err("it has neither a URI nor a buffer view".into()),
    }
}

/// The state of reading materials.
struct MaterialReader<'a> {
    document: &'a Document,
    images: &'a [ImageFile],
    warnings: &'a mut Vec<String>,
    /// The label of the material that is read.
    label: &'a str,
}

impl MaterialReader<'_> {
    fn material(&mut self, entry: &Value) -> Material {
        let pbr = &entry["pbrMetallicRoughness"];
        let extensions = &entry["extensions"];
        let strength = &extensions["KHR_materials_emissive_strength"]["emissiveStrength"];

        let mut material = Material {
            stored_name: name(entry).to_owned(),
            base_color: vector4(&pbr["baseColorFactor"], DVec4::ONE),
            base_color_texture: self.texture(&pbr["baseColorTexture"]),
            metallic: number(&pbr["metallicFactor"], 1.0),
            roughness: number(&pbr["roughnessFactor"], 1.0),
            metallic_roughness_texture: self.texture(&pbr["metallicRoughnessTexture"]),
            normal_texture: self.texture(&entry["normalTexture"]),
            normal_scale: number(&entry["normalTexture"]["scale"], 1.0),
            occlusion_texture: self.texture(&entry["occlusionTexture"]),
            emissive: vector3(&entry["emissiveFactor"], DVec3::ZERO) * number(strength, 1.0),
            emissive_texture: self.texture(&entry["emissiveTexture"]),
            opacity_texture: None,
            alpha: alpha(entry),
            double_sided: entry["doubleSided"].as_bool().unwrap_or(false),
            unlit: extensions.get("KHR_materials_unlit").is_some(),
            vertex_colors: VertexColorUse::Linear,
            ..Material::new(self.label)
        };

        if let Some(gloss) = extensions.get("KHR_materials_pbrSpecularGlossiness") {
            material.base_color = vector4(&gloss["diffuseFactor"], DVec4::ONE);
            material.base_color_texture = self.texture(&gloss["diffuseTexture"]);
            material.metallic = 0.0;
            material.roughness = 1.0 - number(&gloss["glossinessFactor"], 1.0).clamp(0.0, 1.0);
        }

        material
    }

    /// The texture that a material names; `None` with a warning if it cannot be used.
    fn texture(&mut self, info: &Value) -> Option<Texture> {
        let info = info.as_object()?;
        match self.known_texture(info) {
            Ok(texture) => Some(texture),
            Err(message) => {
                let label = self.label;
                self.warnings
                    .push(format!("a texture of material '{label}' {message}"));
                None
            }
        }
    }

    fn known_texture(&self, info: &serde_json::Map<String, Value>) -> Result<Texture, String> {
        let k = index(info.get("index")).ok_or("has no index")?;
        let textures = &self.document.textures;
        let entry = textures
            .get(k)
            .ok_or_else(|| format!("is texture {k}, but there are {} textures", textures.len()))?;

        let image = self.image_of(entry)?;
        let sampler = index(entry.get("sampler"))
            .and_then(|k| self.document.samplers.get(k))
            .unwrap_or(&Value::Null);
        let moved = info
            .get("extensions")
            .map_or(&Value::Null, |all| &all["KHR_texture_transform"]);
        let uv_set = index(moved.get("texCoord")).or(index(info.get("texCoord")));

        Ok(Texture {
            uv_set: uv_set.unwrap_or(0),
            wrap: [wrap(&sampler["wrapS"]), wrap(&sampler["wrapT"])],
            nearest: sampler["magFilter"].as_u64() == Some(NEAREST),
            transform: UvTransform {
                offset: vector2(&moved["offset"], DVec2::ZERO),
                rotation_rad: number(&moved["rotation"], 0.0),
                scale: vector2(&moved["scale"], DVec2::ONE),
            },
            ..Texture::new(image)
        })
    }

    /// The image of a texture: one that can be shown, if there is a choice.
    fn image_of(&self, texture: &Value) -> Result<usize, String> {
        let extensions = &texture["extensions"];
        let named = [
            index(extensions["EXT_texture_webp"].get("source")),
            index(texture.get("source")),
            index(extensions["KHR_texture_basisu"].get("source")),
            index(extensions["MSFT_texture_dds"].get("source")),
        ];

        let mut known = named.into_iter().flatten().peekable();
        let first = *known.peek().ok_or("names no image")?;
        if first >= self.images.len() {
            let images = self.images.len();
            return Err(format!(
                "names image {first}, but there are {images} images"
            ));
        }
        Ok(first)
    }
}

/// `magFilter` of samplers: no interpolation.
const NEAREST: u64 = 9728;

/// `wrapS` and `wrapT` of samplers.
fn wrap(mode: &Value) -> Wrap {
    match mode.as_u64() {
        Some(33071) => Wrap::Clamp,
        Some(33648) => Wrap::Mirror,
        _ => Wrap::Repeat,
    }
}

fn alpha(material: &Value) -> AlphaMode {
    match material["alphaMode"].as_str() {
        Some("MASK") => AlphaMode::Mask(number(&material["alphaCutoff"], 0.5)),
        Some("BLEND") => AlphaMode::Blend,
        _ => AlphaMode::Opaque,
    }
}

fn index(value: Option<&Value>) -> Option<usize> {
    value?.as_u64()?.try_into().ok()
}

fn number(value: &Value, default: f64) -> f64 {
    value.as_f64().filter(|x| x.is_finite()).unwrap_or(default)
}

fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let list = value.as_array().filter(|list| list.len() == N)?;
    let mut all = [0.0; N];
    for (into, value) in all.iter_mut().zip(list) {
        *into = value.as_f64().filter(|x| x.is_finite())?;
    }
    Some(all)
}

fn vector2(value: &Value, default: DVec2) -> DVec2 {
    numbers(value).map_or(default, DVec2::from_array)
}

fn vector3(value: &Value, default: DVec3) -> DVec3 {
    numbers(value).map_or(default, DVec3::from_array)
}

fn vector4(value: &Value, default: DVec4) -> DVec4 {
    numbers(value).map_or(default, DVec4::from_array)
}
