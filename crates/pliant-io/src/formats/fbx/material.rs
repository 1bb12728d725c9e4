//! Materials of FBX scenes: colours, textures and embedded images.
//!
//! **Format.** A material has properties by the model of its program (Phong, Arnold, Stingray …),
//! which ufbx translates to physically based ones. A texture names a file, and a video may hold its
//! bytes.
//!
//! **Source.** ufbx, its documentation (`ufbx_material_pbr_maps`).
//!
//! **Departures.** Colours are taken as linear light. Roughness and metalness have textures of their
//! own, which are not kept unless they are one image. A path of another machine is looked for
//! beside the scene, and in the folder `textures`. A transparency of the Phong model is used if it is
//! the image of the base colour, whose opacity it then is.

use std::collections::HashMap;

use pliant_mesh::glam::{DVec2, DVec3};
use ufbx::{MaterialMap, WrapMode};

use super::one_line;
use crate::asset::distinct_names;
use crate::{AlphaMode, Asset, FileProvider, ImageFile, Material, Texture, UvTransform, Wrap};

/// For each material of a scene, by its index, the label of its faces.
pub(super) fn labels(scene: &ufbx::Scene) -> Vec<String> {
    let names: Vec<String> = scene
        .materials
        .iter()
        .map(|material| one_line(&material.element.name))
        .collect();
    distinct_names(names.iter().map(String::as_str))
}

/// Adds the materials of a scene and their images.
pub(super) fn read_materials(
    scene: &ufbx::Scene,
    labels: &[String],
    files: &dyn FileProvider,
    asset: &mut Asset,
) {
    let mut reader = MaterialReader {
        scene,
        files,
        asset,
        image_of: HashMap::new(),
        dropped: 0,
    };
    for (material, label) in scene.materials.iter().zip(labels) {
        let read = reader.material(material, label);
        reader.asset.materials.push(read);
    }

    let dropped = reader.dropped;
    if dropped > 0 {
        asset.warnings.push(format!(
            "{dropped} texture(s) of roughness, metalness or transparency are not kept"
        ));
    }
}

struct MaterialReader<'a> {
    scene: &'a ufbx::Scene,
    files: &'a dyn FileProvider,
    asset: &'a mut Asset,
    /// By the index of the texture in the scene.
    image_of: HashMap<u32, Option<usize>>,
    dropped: usize,
}

impl MaterialReader<'_> {
    fn material(&mut self, from: &ufbx::Material, label: &str) -> Material {
        let pbr = &from.pbr;
        let mut material = Material::new(label);
        material.stored_name = one_line(&from.element.name);

        // An image replaces the colour of the material.
        material.base_color_texture = self.texture(&pbr.base_color);
        if material.base_color_texture.is_none() {
            let factor = number(&pbr.base_factor, 1.0);
            let color = color(&pbr.base_color, DVec3::ONE) * factor;
            material.base_color = color.extend(1.0);
        }

        material.metallic = number(&pbr.metalness, 0.0).clamp(0.0, 1.0);
        material.roughness = number(&pbr.roughness, 0.7).clamp(0.0, 1.0);
        self.roughness_texture(&mut material, from);
        material.normal_texture = self.texture(&pbr.normal_map);
        material.occlusion_texture = self.texture(&pbr.ambient_occlusion);

        material.emissive_texture = self.texture(&pbr.emission_color);
        let emission = number(&pbr.emission_factor, 1.0);
        material.emissive = match material.emissive_texture {
            Some(_) => DVec3::splat(emission),
            None => color(&pbr.emission_color, DVec3::ZERO) * emission,
        };
        self.opacity(&mut material, from);
        material
    }

    /// Roughness and metalness share a texture in our model.
    fn roughness_texture(&mut self, material: &mut Material, from: &ufbx::Material) {
        let roughness = self.texture(&from.pbr.roughness);
        let metalness = self.texture(&from.pbr.metalness);
        match (roughness, metalness) {
            (Some(a), Some(b)) if a.image == b.image => {
                material.metallic_roughness_texture = Some(a);
                material.metallic = 1.0;
                material.roughness = 1.0;
            }
            (a, b) => {
                self.dropped += usize::from(a.is_some()) + usize::from(b.is_some());
                if a.is_some() {
                    material.roughness = 0.7;
                }
                if b.is_some() {
                    material.metallic = 0.0;
                }
            }
        }
    }

    fn opacity(&mut self, material: &mut Material, from: &ufbx::Material) {
        let opacity = color(&from.pbr.opacity, DVec3::ONE);
        let texture = self
            .texture(&from.pbr.opacity)
            .or_else(|| self.texture(&from.fbx.transparency_color));
        let base = material.base_color_texture.as_ref();
        let is_same = matches!((&texture, base), (Some(a), Some(b)) if a.image == b.image);
        let alpha = (opacity.element_sum() / 3.0).clamp(0.0, 1.0);

        if is_same {
            material.alpha = AlphaMode::Blend;
        } else if texture.is_some() && from.features.pbr.enabled {
            material.opacity_texture = texture;
            material.alpha = AlphaMode::Blend;
        } else if texture.is_some() {
            // Older models mean opacity or transparency, and do not say which.
            self.dropped += 1;
        } else if alpha > 0.0 && alpha < 0.999 {
            material.base_color.w = alpha;
            material.alpha = AlphaMode::Blend;
        }
    }

    fn texture(&mut self, map: &MaterialMap) -> Option<Texture> {
        let from = map.texture.as_ref().filter(|_| map.texture_enabled)?;
        // A layered texture shows its first file.
        let from: &ufbx::Texture = from.file_textures.iter().next().unwrap_or(from);
        let mut texture = Texture::new(self.image(from)?);
        let wrap = |mode| match mode {
            WrapMode::Clamp => Wrap::Clamp,
            _ => Wrap::Repeat,
        };
        texture.wrap = [wrap(from.wrap_u), wrap(from.wrap_v)];
        texture.uv_set = self.uv_set(&from.uv_set);
        if from.has_uv_transform {
            texture.transform = transform(&from.uv_to_texture);
        }
        Some(texture)
    }

    /// The index of a UV set by its name, in the first mesh that has it.
    fn uv_set(&self, name: &str) -> usize {
        let mut meshes = self.scene.meshes.iter();
        let found = meshes.find_map(|mesh| mesh.uv_sets.iter().position(|set| *set.name == *name));
        found.filter(|_| !name.is_empty()).unwrap_or(0)
    }

    /// The index of the image of a texture, read once; `None` for textures without file.
    fn image(&mut self, texture: &ufbx::Texture) -> Option<usize> {
        let id = texture.element.element_id;
        if let Some(&known) = self.image_of.get(&id) {
            return known;
        }

        let path = [
            &texture.relative_filename,
            &texture.filename,
            &texture.absolute_filename,
        ]
        .into_iter()
        .map(|path| path.replace('\\', "/"))
        .find(|path| !path.is_empty());
        let image = match (path, texture.content.is_empty()) {
            (None, true) => None,
            (path, _) => Some(self.read_image(texture, path.unwrap_or_default())),
        };

        let index = image.map(|image| {
            // Several textures may show one file.
            let images = &mut self.asset.images;
            let known = images.iter().position(|known| *known == image);
            known.unwrap_or_else(|| {
                images.push(image);
                images.len() - 1
            })
        });
        self.image_of.insert(id, index);
        index
    }

    fn read_image(&mut self, texture: &ufbx::Texture, path: String) -> ImageFile {
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let embedded = match &texture.video {
            Some(video) if texture.content.is_empty() => &video.content,
            _ => &texture.content,
        };
        if !embedded.is_empty() {
            return ImageFile::new(one_line(&name), embedded.to_vec());
        }

        for uri in [path.clone(), name.clone(), format!("textures/{name}")] {
            if let Ok(bytes) = self.files.read(&uri) {
                let mut image = ImageFile::new(one_line(&name), bytes);
                image.uri = uri;
                return image;
            }
        }
        self.asset.warnings.push(format!(
            "the image '{}' is not shown: it is neither in the scene nor beside it",
            one_line(&name)
        ));
        let mut image = ImageFile::new(one_line(&name), Vec::new());
        image.uri = name;
        image
    }
}

/// The scale and offset of UVs, with V pointing down.
fn transform(m: &ufbx::Matrix) -> UvTransform {
    let scale = DVec2::new(m.m00, m.m11);
    UvTransform {
        offset: DVec2::new(m.m03, 1.0 - scale.y - m.m13),
        rotation_rad: 0.0,
        scale,
    }
}

fn number(map: &MaterialMap, default: f64) -> f64 {
    let value = map.value_vec4.x;
    if map.has_value && value.is_finite() {
        value
    } else {
        default
    }
}

/// A colour in linear light.
fn color(map: &MaterialMap, default: DVec3) -> DVec3 {
    let v = &map.value_vec4;
    let color = match map.value_components {
        1 => DVec3::splat(v.x),
        _ => DVec3::new(v.x, v.y, v.z),
    };
    if map.has_value && color.is_finite() {
        color
    } else {
        default
    }
}
