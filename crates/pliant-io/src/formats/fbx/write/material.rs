//! Materials as FBX Phong materials, with their images inside the file.
//!
//! **Format.** A texture is connected to a property of a material, and a video with the bytes of the image
//! to the texture. Roughness `r` is the shininess `100 (1 − r)²`, as other programs read it.
//!
//! **Departures.** A texture replaces the colour of its property. Colours are written as linear light.

use std::collections::BTreeMap;

use super::node::{Node, properties, property, vector_property};
use super::scene::{Id, Scene};
use crate::asset::image_file_names;
use crate::{AlphaMode, Asset, Material, Texture, Wrap};

/// The materials of a scene while they are written.
pub(super) struct Materials<'a> {
    asset: &'a Asset,
    file_names: Vec<String>,
    materials: BTreeMap<&'a str, Id>,
    videos: BTreeMap<usize, Id>,
}

impl<'a> Materials<'a> {
    pub(super) fn of(asset: &'a Asset) -> Self {
        Self {
            asset,
            file_names: image_file_names(asset),
            materials: BTreeMap::new(),
            videos: BTreeMap::new(),
        }
    }

    /// The material of a name, which is added once. A label without a material is gray.
    pub(super) fn material(&mut self, scene: &mut Scene, name: &'a str) -> Id {
        if let Some(&known) = self.materials.get(name) {
            return known;
        }
        let id = match self.asset.material(name) {
            Some(material) => self.add(scene, material),
            None => {
                let gray = vector_property("DiffuseColor", "Color", [0.8; 3]);
                add_material(scene, name, "lambert", [gray])
            }
        };
        self.materials.insert(name, id);
        id
    }

    fn add(&mut self, scene: &mut Scene, material: &Material) -> Id {
        let color = |name: &str, value: [f64; 3]| vector_property(name, "Color", value);
        let number = |name: &str, value: f64| property(name, "Number", "", "A").value(value);
        let opacity = match material.alpha {
            AlphaMode::Opaque => 1.0,
            _ => material.base_color.w,
        };
        let emission = material.emissive.max_element();
        let has_emission = material.emissive_texture.is_some();
        let list = [
            color("DiffuseColor", material.base_color.truncate().to_array()),
            number("DiffuseFactor", 1.0),
            color("EmissiveColor", material.emissive.to_array()),
            number("EmissiveFactor", if has_emission { emission } else { 1.0 }),
            number("Shininess", 100.0 * (1.0 - material.roughness).powi(2)),
            number(
                "ShininessExponent",
                100.0 * (1.0 - material.roughness).powi(2),
            ),
            number("ReflectionFactor", material.metallic),
            color("TransparentColor", [1.0; 3]),
            number("TransparencyFactor", 1.0 - opacity),
            number("Opacity", opacity),
        ];
        let id = add_material(scene, &material.name, "phong", list);

        let base = &material.base_color_texture;
        let alpha = base
            .as_ref()
            .filter(|_| material.alpha != AlphaMode::Opaque);
        for (texture, property) in [
            (base.as_ref(), "DiffuseColor"),
            (alpha, "TransparentColor"),
            (material.normal_texture.as_ref(), "NormalMap"),
            (material.emissive_texture.as_ref(), "EmissiveColor"),
        ] {
            if let Some(texture) = texture {
                let texture = self.texture(scene, texture);
                scene.connect_property(texture, id, property);
            }
        }
        id
    }

    fn texture(&mut self, scene: &mut Scene, texture: &Texture) -> Id {
        let name = self.file_names.get(texture.image).cloned();
        let name = name.unwrap_or_default();
        let video = self.video(scene, texture.image, &name);
        let wrap = |name: &str, wrap: Wrap| {
            let clamps = i32::from(wrap == Wrap::Clamp);
            property(name, "enum", "", "").value(clamps)
        };

        // V points up in the file, and down in our transformations.
        let scale = texture.transform.scale;
        let offset = texture.transform.offset;
        let moved = [offset.x, 1.0 - scale.y - offset.y, 0.0];
        let list = [
            property("UseMaterial", "bool", "", "").value(1),
            property("UVSet", "KString", "", "").value(self.uv_set(texture.uv_set)),
            wrap("WrapModeU", texture.wrap[0]),
            wrap("WrapModeV", texture.wrap[1]),
            vector_property("Translation", "Vector", moved),
            vector_property("Scaling", "Vector", [scale.x, scale.y, 1.0]),
        ];
        let children = [
            Node::of("Type", "TextureVideoClip"),
            Node::of("Version", 202),
            Node::of("TextureName", format!("{name}\0\u{1}Texture")),
            properties(list),
            Node::of("Media", format!("{name}\0\u{1}Video")),
            Node::of("FileName", name.as_str()),
            Node::of("RelativeFilename", name.as_str()),
        ];
        let id = scene.add("Texture", [&name, "Texture", ""], children);
        scene.connect(video, id);
        id
    }

    /// The image itself, which is written once.
    fn video(&mut self, scene: &mut Scene, image: usize, name: &str) -> Id {
        if let Some(&known) = self.videos.get(&image) {
            return known;
        }
        let path = property("Path", "KString", "XRefUrl", "").value(name);
        let bytes = self.asset.images.get(image);
        let bytes = bytes.map_or_else(Vec::new, |image| image.bytes.to_vec());
        let content = (!bytes.is_empty()).then(|| Node::of("Content", bytes));
        let children = [
            Node::of("Type", "Clip"),
            properties([path]),
            Node::of("UseMipMap", 0),
            Node::of("Filename", name),
            Node::of("RelativeFilename", name),
        ];
        let children = children.into_iter().chain(content);
        let id = scene.add("Video", [name, "Video", "Clip"], children);
        self.videos.insert(image, id);
        id
    }

    /// The name of a UV set, in the first mesh that has so many.
    fn uv_set(&self, set: usize) -> String {
        let mut meshes = self.asset.objects.iter().map(|o| o.rig.neutral());
        let layer = meshes.find_map(|mesh| mesh.uv_layers().get(set));
        layer.map_or_else(String::new, |layer| layer.name.clone())
    }
}

fn add_material(
    scene: &mut Scene,
    name: &str,
    model: &str,
    list: impl IntoIterator<Item = Node>,
) -> Id {
    let children = [
        Node::of("Version", 102),
        Node::of("ShadingModel", model),
        Node::of("MultiLayer", 0),
        properties(list),
    ];
    scene.add("Material", [name, "Material", ""], children)
}

/// What a Phong material cannot store.
pub(super) fn left_out(asset: &Asset) -> Vec<String> {
    let mut phrases = Vec::new();
    for material in &asset.materials {
        let name = material.name.escape_debug();
        let mut lose = |lost: bool, what: &str| {
            if lost {
                phrases.push(format!("{what} of material '{name}'"));
            }
        };
        let white = |color: pliant_mesh::glam::DVec3| color.min_element() == color.max_element();
        let base = material.base_color.truncate();
        lose(
            material.base_color_texture.is_some() && base != pliant_mesh::glam::DVec3::ONE,
            "the factor of the base colour texture",
        );
        lose(
            material.emissive_texture.is_some() && !white(material.emissive),
            "the colour of the emission texture",
        );
        lose(
            material.metallic_roughness_texture.is_some(),
            "the texture of roughness and metalness",
        );
        lose(material.metallic != 0.0, "the metalness");
        lose(
            material.occlusion_texture.is_some(),
            "the occlusion texture",
        );
        lose(material.opacity_texture.is_some(), "the opacity texture");
        lose(
            material.normal_scale != 1.0,
            "the strength of the normal map",
        );
        lose(
            matches!(material.alpha, AlphaMode::Mask(_)),
            "the cutoff of opacity",
        );
        lose(material.unlit, "that no light falls on the faces");
        let other = |t: &Texture| {
            t.transform.rotation_rad != 0.0 || t.nearest || t.wrap.contains(&Wrap::Mirror)
        };
        lose(
            material.textures().any(other),
            "the rotation, mirroring or square texels of a texture",
        );
    }
    phrases
}
