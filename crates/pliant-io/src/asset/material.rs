//! Materials, their textures and their image files (metallic-roughness model).
//!
//! **Problem.** An avatar must look like itself in a picture and in the next program, whichever
//! format it came from.
//!
//! **Format.** A [`Material`] has the parameters of glTF 2.0: base colour, metallic and roughness
//! factors, a normal map, emission and opacity, each with an optional [`Texture`]. A texture names
//! an [`ImageFile`] of the asset, whose bytes are those of the file: PNG, JPEG, WebP, KTX2 or
//! anything else. Faces refer to materials by name, through the labels of the mesh
//! (`Mesh::materials`), so that names are distinct within an asset. A label without a material is
//! allowed: many files name materials and describe nothing.
//!
//! **Source.** "glTF 2.0 Specification", section 3.9 and appendix B; extensions
//! `KHR_texture_transform`, `KHR_materials_unlit`, `KHR_materials_emissive_strength`.
//!
//! **Departures.** Opacity may have a texture of its own, as in OBJ and FBX.

use std::sync::Arc;

use pliant_mesh::glam::{DMat2, DVec2, DVec3, DVec4};

use super::Asset;

/// How a surface looks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Material {
    /// Its name, distinct in the asset: the label of its faces.
    pub name: String,
    /// Its name in the file, which may be empty or that of another material.
    pub stored_name: String,
    /// Base colour in linear light, and opacity.
    pub base_color: DVec4,
    /// Colours in sRGB and opacity, by which the base colour is multiplied.
    pub base_color_texture: Option<Texture>,
    /// 1 for metals, 0 for everything else.
    pub metallic: f64,
    /// 0 for a mirror, 1 for a matte surface.
    pub roughness: f64,
    /// Roughness in green and metalness in blue, by which the factors are multiplied.
    pub metallic_roughness_texture: Option<Texture>,
    /// Normals in tangent space; green points up in the picture.
    pub normal_texture: Option<Texture>,
    /// The factor of the slopes of the normal map.
    pub normal_scale: f64,
    /// The openness to light from all directions, in red.
    pub occlusion_texture: Option<Texture>,
    /// Emitted light, linear; may exceed 1.
    pub emissive: DVec3,
    /// Colours in sRGB, by which the emitted light is multiplied.
    pub emissive_texture: Option<Texture>,
    /// Opacity in a picture of its own; glTF has it in the base colour.
    pub opacity_texture: Option<Texture>,
    /// How opacity is used.
    pub alpha: AlphaMode,
    /// Whether the back of a face is drawn like its front; else it is not drawn.
    pub double_sided: bool,
    /// Whether the base colour is shown as it is, without light.
    pub unlit: bool,
    /// How the colours of vertices are used.
    pub vertex_colors: VertexColorUse,
    /// The lines of its MTL file, so that an OBJ file gets them back.
    pub(crate) mtl_lines: Option<Arc<str>>,
}

/// How opacity is used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum AlphaMode {
    /// It is ignored.
    #[default]
    Opaque,
    /// The surface is visible where opacity is at least this number.
    Mask(f64),
    /// The surface is mixed with what is behind it.
    Blend,
}

/// How the colours of vertices are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VertexColorUse {
    /// They are ignored.
    #[default]
    Ignored,
    /// They are in sRGB and multiply the base colour.
    Srgb,
    /// They are in linear light and multiply the base colour.
    Linear,
}

/// An image as it lies on a surface.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Texture {
    /// The index of its image in the asset.
    pub image: usize,
    /// The UV set of the mesh.
    pub uv_set: usize,
    /// What is beyond the borders of the image, along U and V.
    pub wrap: [Wrap; 2],
    /// Whether texels are shown as squares instead of being interpolated.
    pub nearest: bool,
    /// The transformation of UVs before the look-up.
    pub transform: UvTransform,
}

/// What is beyond the borders of an image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wrap {
    /// The image again.
    #[default]
    Repeat,
    /// Its mirror image.
    Mirror,
    /// The texels of its border.
    Clamp,
}

/// A transformation of UVs **whose V points down**, as `KHR_texture_transform` has it: first the
/// scale, then the rotation, then the offset. Meshes have V pointing up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UvTransform {
    /// Added last.
    pub offset: DVec2,
    /// Counter-clockwise in a picture whose V points down.
    pub rotation_rad: f64,
    /// Multiplied first.
    pub scale: DVec2,
}

/// The bytes of an image.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ImageFile {
    /// Its name in the file; may be empty.
    pub name: String,
    /// The path of its file, relative to that of the asset; empty if it is stored inside.
    pub uri: String,
    /// Its media type, such as `image/png`; empty if it is unknown.
    pub media_type: String,
    /// The bytes of its file; empty if the file could not be read.
    pub bytes: Arc<[u8]>,
}

impl Material {
    /// A white material that is neither metallic nor glossy.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            stored_name: name.clone(),
            name,
            base_color: DVec4::ONE,
            base_color_texture: None,
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            emissive: DVec3::ZERO,
            emissive_texture: None,
            opacity_texture: None,
            alpha: AlphaMode::Opaque,
            double_sided: true,
            unlit: false,
            vertex_colors: VertexColorUse::Ignored,
            mtl_lines: None,
        }
    }

    /// All its textures.
    pub fn textures(&self) -> impl Iterator<Item = &Texture> {
        [
            &self.base_color_texture,
            &self.metallic_roughness_texture,
            &self.normal_texture,
            &self.occlusion_texture,
            &self.emissive_texture,
            &self.opacity_texture,
        ]
        .into_iter()
        .flatten()
    }
}

impl Texture {
    /// An image over the first UV set, repeated.
    #[must_use]
    pub fn new(image: usize) -> Self {
        Self {
            image,
            uv_set: 0,
            wrap: [Wrap::Repeat; 2],
            nearest: false,
            transform: UvTransform::default(),
        }
    }
}

impl UvTransform {
    /// The linear part and the offset: `uv ↦ M uv + t`, with V pointing down.
    #[must_use]
    pub fn affine(&self) -> (DMat2, DVec2) {
        let (sin, cos) = self.rotation_rad.sin_cos();
        let rotation = DMat2::from_cols(DVec2::new(cos, -sin), DVec2::new(sin, cos));
        (rotation * DMat2::from_diagonal(self.scale), self.offset)
    }
}

impl Default for UvTransform {
    fn default() -> Self {
        Self {
            offset: DVec2::ZERO,
            rotation_rad: 0.0,
            scale: DVec2::ONE,
        }
    }
}

impl ImageFile {
    /// An image with the media type that its first bytes show.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            name: name.into(),
            uri: String::new(),
            media_type: media_type_of(&bytes).unwrap_or_default().into(),
            bytes,
        }
    }

    /// The ending of a file with these bytes, without the dot.
    #[must_use]
    pub fn ending(&self) -> &str {
        match self.media_type.as_str() {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/webp" => "webp",
            "image/ktx2" => "ktx2",
            _ => match self.uri.rsplit_once('.') {
                Some((_, ending)) if ending.chars().all(|c| c.is_ascii_alphanumeric()) => ending,
                _ => "bin",
            },
        }
    }
}

impl Asset {
    /// The material of this name.
    #[must_use]
    pub fn material(&self, name: &str) -> Option<&Material> {
        self.materials.iter().find(|material| material.name == name)
    }
}

/// A distinct file name for each image of an asset.
pub(crate) fn image_file_names(asset: &Asset) -> Vec<String> {
    let mut taken = std::collections::HashSet::new();
    let mut names = Vec::with_capacity(asset.images.len());
    for (k, image) in asset.images.iter().enumerate() {
        let own = image.uri.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut name = if own.is_empty() {
            let stem = plain_file_name(&image.name);
            let stem = if stem.is_empty() {
                "image".into()
            } else {
                stem
            };
            let ending = format!(".{}", image.ending());
            format!("{}{ending}", stem.strip_suffix(&ending).unwrap_or(&stem))
        } else {
            plain_file_name(own)
        };
        if !taken.insert(name.to_lowercase()) {
            name = format!("{k}_{name}");
            taken.insert(name.to_lowercase());
        }
        names.push(name);
    }
    names
}

/// A name that every file system takes.
pub(crate) fn plain_file_name(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_control() || "/\\:*?\"<>|".contains(c) {
                '_'
            } else {
                c
            }
        })
        .collect()
}

/// The media type of an image by its first bytes.
pub(crate) fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if starts(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if starts(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else if starts(b"\xabKTX 20\xbb\r\n\x1a\n") {
        Some("image/ktx2")
    } else if starts(b"DDS ") {
        Some("image/vnd-ms.dds")
    } else {
        None
    }
}

/// Makes names distinct, keeping the first of each: an empty one becomes `material_K`, a repeated
/// one gets a number.
pub(crate) fn distinct_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut taken: std::collections::HashSet<String> =
        names.iter().map(|&name| name.to_owned()).collect();
    let mut first_uses = std::collections::HashSet::new();
    // For each repeated name the next number, so that many equal names stay cheap.
    let mut next_number = std::collections::HashMap::new();

    let mut distinct = Vec::with_capacity(names.len());
    for (k, &name) in names.iter().enumerate() {
        if !name.is_empty() && first_uses.insert(name) {
            distinct.push(name.to_owned());
            continue;
        }

        let base = if name.is_empty() { "material" } else { name };
        let number = next_number
            .entry(base)
            .or_insert(if name.is_empty() { k } else { 1 });
        let free = loop {
            let candidate = format!("{base}_{number}");
            *number += 1;
            if taken.insert(candidate.clone()) {
                break candidate;
            }
        };
        distinct.push(free);
    }

    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_distinct_and_the_first_of_each_keeps_its_own() {
        let names = ["skin", "", "skin", "skin_1", "", "skin"];
        assert_eq!(
            distinct_names(names),
            [
                "skin",
                "material_1",
                "skin_2",
                "skin_1",
                "material_2",
                "skin_3"
            ]
        );
    }

    #[test]
    fn the_first_bytes_of_an_image_show_its_type() {
        let image = ImageFile::new("", &b"\xff\xd8\xff\xe0rest"[..]);
        assert_eq!(
            (image.media_type.as_str(), image.ending()),
            ("image/jpeg", "jpg")
        );
        assert_eq!(ImageFile::new("", &b"BM"[..]).media_type, "");
    }

    #[test]
    fn a_transform_scales_then_rotates_then_moves() {
        let quarter = UvTransform {
            offset: DVec2::new(0.5, 0.0),
            rotation_rad: std::f64::consts::FRAC_PI_2,
            scale: DVec2::new(2.0, 1.0),
        };
        let (linear, offset) = quarter.affine();
        let moved = linear * DVec2::X + offset;
        assert!((moved - DVec2::new(0.5, -2.0)).length() < 1e-12, "{moved}");
    }
}
