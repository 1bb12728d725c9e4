//! Materials as UsdPreviewSurface, with their images beside the layer.
//!
//! **Departures.** A texture of roughness and metalness gives roughness as its green and metalness as its
//! blue channel. Emission above one, unlit surfaces and vertex colours have no place in the shader.

use std::collections::HashSet;

use pliant_mesh::glam::{DVec2, DVec3};

use super::Writer;
use super::text::quoted;
use crate::{AlphaMode, Asset, Material, Texture, UvTransform, Wrap};

impl Writer<'_> {
    /// The shaders of a material at `path`.
    pub(super) fn shaders(&mut self, material: &Material, path: &str) {
        self.line(&format!(
            "token outputs:surface.connect = <{path}/surface.outputs:surface>"
        ));
        self.prim("Shader", "surface", "surface", &[]);
        self.line("uniform token info:id = \"UsdPreviewSurface\"");
        self.color(
            path,
            "diffuseColor",
            material.base_color.truncate(),
            material.base_color_texture.is_some(),
        );
        self.color(
            path,
            "emissiveColor",
            material.emissive,
            material.emissive_texture.is_some(),
        );

        match &material.metallic_roughness_texture {
            Some(_) => {
                self.connect("float", "roughness", path, "metallicRoughness", "g");
                self.connect("float", "metallic", path, "metallicRoughness", "b");
            }
            None => {
                self.line(&format!("float inputs:roughness = {}", material.roughness));
                self.line(&format!("float inputs:metallic = {}", material.metallic));
            }
        }
        if material.normal_texture.is_some() {
            self.connect("normal3f", "normal", path, "normal", "rgb");
        }
        if material.occlusion_texture.is_some() {
            self.connect("float", "occlusion", path, "occlusion", "r");
        }
        self.opacity(material, path);
        self.line("token outputs:surface");
        self.close("}");

        let scale = material.base_color.truncate();
        self.texture(path, "diffuseColor", &material.base_color_texture, scale);
        self.texture(
            path,
            "emissiveColor",
            &material.emissive_texture,
            material.emissive,
        );
        let roughness = DVec3::new(1.0, material.roughness, material.metallic);
        self.texture(
            path,
            "metallicRoughness",
            &material.metallic_roughness_texture,
            roughness,
        );
        self.texture(path, "normal", &material.normal_texture, DVec3::ONE);
        self.texture(path, "occlusion", &material.occlusion_texture, DVec3::ONE);
        self.texture(path, "opacity", &material.opacity_texture, DVec3::ONE);
    }

    fn color(&mut self, path: &str, name: &str, value: DVec3, has_texture: bool) {
        if has_texture {
            self.connect("color3f", name, path, name, "rgb");
        } else {
            self.line(&format!("color3f inputs:{name} = {}", triple(value)));
        }
    }

    fn opacity(&mut self, material: &Material, path: &str) {
        if material.alpha == AlphaMode::Opaque {
            return;
        }
        if let AlphaMode::Mask(cutoff) = material.alpha {
            self.line(&format!("float inputs:opacityThreshold = {cutoff}"));
        }
        if material.opacity_texture.is_some() {
            self.connect("float", "opacity", path, "opacity", "r");
        } else if material.base_color_texture.is_some() {
            self.connect("float", "opacity", path, "diffuseColor", "a");
        } else {
            self.line(&format!("float inputs:opacity = {}", material.base_color.w));
        }
    }

    fn connect(&mut self, kind: &str, input: &str, path: &str, texture: &str, output: &str) {
        self.line(&format!(
            "{kind} inputs:{input}.connect = <{path}/{texture}Texture.outputs:{output}>"
        ));
    }

    /// A texture and where it takes its UVs from.
    fn texture(&mut self, path: &str, name: &str, texture: &Option<Texture>, scale: DVec3) {
        let Some(texture) = texture else { return };
        let shader = format!("{name}Texture");
        let is_normal = name == "normal";
        let is_color = name.ends_with("Color");
        let image = self.image_names.get(texture.image).cloned();

        self.prim("Shader", &shader, &shader, &[]);
        self.line("uniform token info:id = \"UsdUVTexture\"");
        self.line(&format!(
            "asset inputs:file = @./{}@",
            image.unwrap_or_default().replace('@', "_")
        ));
        let space = if is_color { "sRGB" } else { "raw" };
        self.line(&format!("token inputs:sourceColorSpace = \"{space}\""));
        for (axis, wrap) in ["S", "T"].iter().zip(texture.wrap) {
            let wrap = match wrap {
                Wrap::Repeat => "repeat",
                Wrap::Mirror => "mirror",
                Wrap::Clamp => "clamp",
            };
            self.line(&format!("token inputs:wrap{axis} = \"{wrap}\""));
        }
        if is_normal {
            self.line("float4 inputs:bias = (-1, -1, -1, 0)");
            self.line("float4 inputs:scale = (2, 2, 2, 1)");
        } else if scale != DVec3::ONE {
            let [x, y, z] = scale.to_array();
            self.line(&format!("float4 inputs:scale = ({x}, {y}, {z}, 1)"));
        }

        let moved = texture.transform != UvTransform::default();
        let source = if moved { "Transform" } else { "Uv" };
        self.line(&format!(
            "float2 inputs:st.connect = <{path}/{name}{source}.outputs:result>"
        ));
        for output in ["r", "g", "b", "a"] {
            self.line(&format!("float outputs:{output}"));
        }
        self.line("float3 outputs:rgb");
        self.close("}");

        if moved {
            self.transform(path, name, &texture.transform);
        }
        let reader = format!("{name}Uv");
        self.prim("Shader", &reader, &reader, &[]);
        self.line("uniform token info:id = \"UsdPrimvarReader_float2\"");
        let set = self.uv_names.get(texture.uv_set).cloned();
        let set = quoted(&set.unwrap_or_else(|| "st".into()));
        self.line(&format!("string inputs:varname = {set}"));
        self.line("float2 outputs:result");
        self.close("}");
    }

    /// A transformation of UVs whose V points down, as one with V pointing up.
    fn transform(&mut self, path: &str, name: &str, transform: &UvTransform) {
        let shader = format!("{name}Transform");
        let (linear, offset) = transform.affine();
        // The inverse of what the reader does: `t = J (offset − e + M e)`.
        let down = offset - DVec2::Y + linear * DVec2::Y;
        self.prim("Shader", &shader, &shader, &[]);
        self.line("uniform token info:id = \"UsdTransform2d\"");
        self.line(&format!(
            "float2 inputs:in.connect = <{path}/{name}Uv.outputs:result>"
        ));
        let degrees = transform.rotation_rad.to_degrees();
        self.line(&format!("float inputs:rotation = {degrees}"));
        let scale = transform.scale;
        self.line(&format!("float2 inputs:scale = ({}, {})", scale.x, scale.y));
        self.line(&format!(
            "float2 inputs:translation = ({}, {})",
            down.x, -down.y
        ));
        self.line("float2 outputs:result");
        self.close("}");
    }
}

fn triple(value: DVec3) -> String {
    format!("({}, {}, {})", value.x, value.y, value.z)
}

/// What UsdPreviewSurface cannot store of the materials.
pub(super) fn left_out(asset: &Asset) -> Vec<String> {
    let mut phrases = Vec::new();
    for material in &asset.materials {
        let name = material.name.escape_debug();
        let mut lose = |lost: bool, what: &str| {
            if lost {
                phrases.push(format!("{what} of material '{name}'"));
            }
        };
        lose(material.unlit, "that no light falls on the faces");
        lose(
            material.normal_scale != 1.0,
            "the strength of the normal map",
        );
        let nearest = |texture: &Texture| texture.nearest;
        lose(
            material.textures().any(nearest),
            "the square texels of a texture",
        );
    }
    phrases
}

/// The images that textures show, with the names of their files.
pub(super) fn image_files(asset: &Asset, names: &[String]) -> Vec<(String, Vec<u8>)> {
    let textures = asset.materials.iter().flat_map(Material::textures);
    let used: HashSet<usize> = textures.map(|texture| texture.image).collect();
    let images = asset.images.iter().zip(names).enumerate();
    images
        .filter(|(k, (image, _))| used.contains(k) && !image.bytes.is_empty())
        .map(|(_, (image, name))| (name.clone(), image.bytes.to_vec()))
        .collect()
}
