//! The materials of an asset as paint for pictures: the one place where files meet the renderer.
//!
//! Images that cannot be decoded become warnings, and their material shows the clay colour instead.
//! Large images are halved until all of them together have at most [`MOST_TEXELS`] texels.

use std::collections::BTreeMap;
use std::sync::Arc;

use pliant_io::{AlphaMode, Asset, ImageFile, Material, UvTransform, VertexColorUse, Wrap};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec4, Vec4};
use pliant_view::{
    Color, PbrMaterial, PbrPaint, TexelEncoding, Texture, TextureMap, TextureWrap, Transparency,
};

/// Chosen: texels that are kept for all images of a scene; 512 MiB with their mipmaps.
const MOST_TEXELS: usize = 100_000_000;
/// Chosen: the largest square that is kept of one image. Pictures rarely show more.
const MOST_TEXELS_OF_IMAGE: usize = 4096 * 4096;

/// The materials of an asset on its merged mesh, and warnings about images that are not shown;
/// `None` if the asset has no materials that its faces use.
#[must_use]
pub fn materials(asset: &Asset, mesh: &Mesh) -> (Option<Arc<PbrPaint>>, Vec<String>) {
    let used = used_materials(asset, mesh);
    if used.iter().all(Option::is_none) {
        return (None, Vec::new());
    }

    let mut textures = Textures::new(asset);
    let mut index_of = BTreeMap::new();
    let mut paint = PbrPaint::default();
    for &material in used.iter().flatten() {
        index_of.entry(material).or_insert_with(|| {
            let known = &asset.materials[material];
            paint.materials.push(textures.material(known));
            paint.materials.len() as u32 - 1
        });
    }

    let labels = &mesh.materials().of_face;
    let of_label = |&label: &u32| used[label as usize].map(|material| index_of[&material]);
    paint.of_face = labels.iter().map(of_label).collect();
    paint.vertex_colors = vertex_colors(asset, mesh);
    (Some(Arc::new(paint)), textures.warnings)
}

/// For each face label of the mesh, the index of its material.
fn used_materials(asset: &Asset, mesh: &Mesh) -> Vec<Option<usize>> {
    let index_of: BTreeMap<&str, usize> = asset
        .materials
        .iter()
        .enumerate()
        .map(|(k, material)| (material.name.as_str(), k))
        .collect();
    let names = mesh.materials().names.iter();
    names
        .map(|name| index_of.get(name.as_str()).copied())
        .collect()
}

/// The colours of vertices in linear light, if a material uses them.
fn vertex_colors(asset: &Asset, mesh: &Mesh) -> Vec<Vec4> {
    let mut uses = asset.materials.iter().map(|m| m.vertex_colors);
    let Some(meaning) = uses.find(|&meaning| meaning != VertexColorUse::Ignored) else {
        return Vec::new();
    };
    let Some(layer) = mesh.colors().first() else {
        return Vec::new();
    };

    let linear = |c: &DVec4| match meaning {
        VertexColorUse::Srgb => Color::srgb([c.x, c.y, c.z]).0.extend(c.w as f32),
        _ => c.as_vec4(),
    };
    layer.values.iter().map(linear).collect()
}

/// The decoded images of an asset.
struct Textures<'a> {
    images: &'a [ImageFile],
    /// By image and whether it holds colours; `None` if it cannot be shown.
    decoded: BTreeMap<(usize, bool), Option<Arc<Texture>>>,
    left_texels: usize,
    warnings: Vec<String>,
}

impl<'a> Textures<'a> {
    fn new(asset: &'a Asset) -> Self {
        Self {
            images: &asset.images,
            decoded: BTreeMap::new(),
            left_texels: MOST_TEXELS,
            warnings: Vec::new(),
        }
    }

    fn material(&mut self, material: &Material) -> PbrMaterial {
        let colors = TexelEncoding::Srgb;
        let numbers = TexelEncoding::Linear;
        let base_color_map = self.map(material.base_color_texture.as_ref(), colors);
        let mut base_color = material.base_color.as_vec4();
        if material.base_color_texture.is_some() && base_color_map.is_none() {
            base_color *= pliant_view::Material::clay().color.0.extend(1.0);
        }

        let emissive_map = self.map(material.emissive_texture.as_ref(), colors);
        let glows = material.emissive_texture.is_none() || emissive_map.is_some();
        let emissive = if glows {
            material.emissive
        } else {
            Default::default()
        };

        let mut pbr = PbrMaterial::default();
        pbr.base_color = base_color;
        pbr.base_color_map = base_color_map;
        pbr.metallic = material.metallic as f32;
        pbr.roughness = material.roughness as f32;
        pbr.metallic_roughness_map =
            self.map(material.metallic_roughness_texture.as_ref(), numbers);
        if material.metallic_roughness_texture.is_some() && pbr.metallic_roughness_map.is_none() {
            // The factors alone say the least: those of a map that is not shown are mostly 1.
            pbr.metallic = 0.0;
        }
        pbr.normal_map = self.map(material.normal_texture.as_ref(), numbers);
        pbr.normal_scale = material.normal_scale as f32;
        pbr.occlusion_map = self.map(material.occlusion_texture.as_ref(), numbers);
        pbr.emissive = emissive.as_vec3();
        pbr.emissive_map = emissive_map;
        pbr.opacity_map = self.map(material.opacity_texture.as_ref(), numbers);
        pbr.transparency = match material.alpha {
            AlphaMode::Opaque => Transparency::Opaque,
            AlphaMode::Mask(cutoff) => Transparency::Mask(cutoff as f32),
            AlphaMode::Blend => Transparency::Blend,
        };
        pbr.double_sided = material.double_sided;
        pbr.unlit = material.unlit;
        pbr.vertex_colors = material.vertex_colors != VertexColorUse::Ignored;
        pbr
    }

    /// A texture as it lies on the surface; `None` if its image is not shown.
    fn map(
        &mut self,
        texture: Option<&pliant_io::Texture>,
        encoding: TexelEncoding,
    ) -> Option<TextureMap> {
        let texture = texture?;
        let decoded = self.decoded(texture.image, encoding)?;
        let wrap = |wrap: Wrap| match wrap {
            Wrap::Repeat => TextureWrap::Repeat,
            Wrap::Mirror => TextureWrap::Mirror,
            Wrap::Clamp => TextureWrap::Clamp,
        };

        let mut map = TextureMap::new(decoded);
        map.uv_set = texture.uv_set;
        map.wrap = texture.wrap.map(wrap);
        map.nearest = texture.nearest;
        if texture.transform != UvTransform::default() {
            let (linear, offset) = texture.transform.affine();
            map.linear = linear.as_mat2();
            map.offset = offset.as_vec2();
        }
        Some(map)
    }

    fn decoded(&mut self, image: usize, encoding: TexelEncoding) -> Option<Arc<Texture>> {
        let key = (image, encoding == TexelEncoding::Srgb);
        if let Some(known) = self.decoded.get(&key) {
            return known.clone();
        }

        let texture = self.decode(image, encoding);
        self.decoded.insert(key, texture.clone());
        texture
    }

    fn decode(&mut self, image: usize, encoding: TexelEncoding) -> Option<Arc<Texture>> {
        // A file that could not be read was reported by the reader.
        let file = self
            .images
            .get(image)
            .filter(|file| !file.bytes.is_empty())?;
        match Texture::decode(&file.bytes, encoding) {
            Ok(texture) => {
                let most = MOST_TEXELS_OF_IMAGE.min(self.left_texels / 2);
                let texture = texture.reduced(most);
                let [width, height] = texture.size();
                self.left_texels = self.left_texels.saturating_sub(width * height);
                Some(Arc::new(texture))
            }
            Err(error) => {
                let warning = format!("image {image} '{}': {error}", label(file));
                // The same image may be asked for as colours and as numbers.
                if !self.warnings.contains(&warning) {
                    self.warnings.push(warning);
                }
                None
            }
        }
    }
}

fn label(file: &ImageFile) -> &str {
    if file.name.is_empty() {
        &file.uri
    } else {
        &file.name
    }
}
