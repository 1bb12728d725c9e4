//! Materials of USD scenes: UsdPreviewSurface with its textures.
//!
//! **Format.** A `Material` names a surface shader. An input of a shader has a value or a connection to
//! the output of another prim: a texture (`UsdUVTexture`), whose UVs come from a primvar, perhaps through
//! a `UsdTransform2d`. Connections may lead through inputs of the material and of node graphs.
//!
//! **Source.** OpenUSD, "UsdPreviewSurface Specification", version 2.6.
//!
//! **Departures.** Other surface shaders are not read. Roughness and metalness have textures only if these are
//! the green and blue of one image. The specular workflow is read as its diffuse colour.

use std::collections::HashMap;

use pliant_mesh::glam::{DMat2, DVec2, DVec3};

use super::composition::joined;
use super::layer::{Value, entry};
use super::mesh::display_name;
use super::stage::Stage;
use crate::asset::distinct_names;
use crate::{AlphaMode, Asset, FileProvider, ImageFile, Material, Texture, UvTransform, Wrap};

/// Chosen: longer chains of connections are not followed; real ones have a third of it.
const LONGEST_CHAIN: usize = 16;

/// The labels of the `Material` prims of a stage, by node.
pub(super) fn labels(stage: &Stage<'_>) -> HashMap<usize, String> {
    let is_material = |&k: &usize| stage.nodes[k].prim.kind == "Material";
    let nodes: Vec<usize> = (0..stage.nodes.len()).filter(is_material).collect();
    let names: Vec<String> = nodes
        .iter()
        .map(|&node| display_name(stage.nodes[node].prim))
        .collect();
    let names = distinct_names(names.iter().map(String::as_str));
    nodes.into_iter().zip(names).collect()
}

/// The material that is bound to a prim or to its nearest ancestor with one.
pub(super) fn bound(stage: &Stage<'_>, node: usize) -> Option<usize> {
    stage
        .ancestors(node)
        .find_map(|owner| own_binding(stage, owner))
}

/// The material that is bound to a prim itself.
pub(super) fn own_binding(stage: &Stage<'_>, node: usize) -> Option<usize> {
    const BINDINGS: [&str; 3] = [
        "material:binding",
        "material:binding:full",
        "material:binding:preview",
    ];
    BINDINGS.iter().find_map(|name| {
        let target = stage.nodes[node].prim.value(name)?.text()?;
        stage.resolve(node, target)
    })
}

/// Adds the materials that faces have, with their images. Paths of images are relative to `folder` of
/// `files`.
pub(super) fn read_materials(
    stage: &Stage<'_>,
    labels: &HashMap<usize, String>,
    folder: &str,
    files: &dyn FileProvider,
    asset: &mut Asset,
) {
    let mut used: Vec<(usize, &str)> = Vec::new();
    for (&node, label) in labels {
        let mut meshes = asset.objects.iter().map(|o| o.rig.neutral());
        if meshes.any(|mesh| mesh.materials().names.contains(label)) {
            used.push((node, label));
        }
    }
    used.sort_unstable();

    let mut reader = MaterialReader {
        stage,
        folder,
        files,
        asset,
        image_of: HashMap::new(),
        dropped: 0,
        unknown: 0,
    };
    for (node, label) in used {
        if let Some(material) = reader.material(node, label) {
            reader.asset.materials.push(material);
        }
    }

    let (dropped, unknown) = (reader.dropped, reader.unknown);
    if dropped > 0 {
        let phrase = format!("{dropped} texture(s) of roughness or metalness");
        asset.warnings.push(format!("{phrase} are not kept"));
        asset.other_content.push(phrase);
    }
    if unknown > 0 {
        let phrase = format!("{unknown} material(s) of other shaders than UsdPreviewSurface");
        asset
            .warnings
            .push(format!("{phrase} are read by name only"));
        asset.other_content.push(phrase);
    }
}

/// What an input of a shader has.
enum Input<'a> {
    Value(&'a Value),
    /// The output of a shader.
    Shader {
        node: usize,
        output: &'a str,
    },
}

struct MaterialReader<'a, 'b> {
    stage: &'b Stage<'a>,
    folder: &'b str,
    files: &'b dyn FileProvider,
    asset: &'b mut Asset,
    /// The index of each image by its path.
    image_of: HashMap<String, usize>,
    dropped: usize,
    unknown: usize,
}

impl<'a> MaterialReader<'a, '_> {
    /// A material; `None` if it has no surface that is read.
    fn material(&mut self, node: usize, label: &str) -> Option<Material> {
        let surface = self.connected(node, "outputs:surface", 0);
        let Some(Input::Shader { node: shader, .. }) = surface else {
            return None;
        };
        if self.kind(shader) != "UsdPreviewSurface" {
            self.unknown += 1;
            return None;
        }

        let mut material = Material::new(label);
        material.stored_name = display_name(self.stage.nodes[node].prim);
        material.double_sided = true;
        let (color, texture) = self.color(shader, "diffuseColor", DVec3::splat(0.18));
        material.base_color = color.extend(1.0);
        material.base_color_texture = texture;
        let (emissive, texture) = self.color(shader, "emissiveColor", DVec3::ZERO);
        material.emissive = emissive;
        material.emissive_texture = texture;

        material.normal_texture = self.map(shader, "normal").map(|(texture, _)| texture);
        material.occlusion_texture = self.map(shader, "occlusion").map(|(texture, _)| texture);
        self.roughness(shader, &mut material);
        self.opacity(shader, &mut material);
        Some(material)
    }

    /// A colour, or the factor of the texture that gives it.
    fn color(&mut self, shader: usize, name: &str, default: DVec3) -> (DVec3, Option<Texture>) {
        match self.input(shader, name) {
            Some(Input::Shader { node, .. }) => match self.texture(node) {
                Some(texture) => (self.scale(node), Some(texture)),
                None => (default, None),
            },
            Some(Input::Value(value)) => (vector(value).unwrap_or(default), None),
            None => (default, None),
        }
    }

    /// The texture of an input, and the channel of it that counts.
    fn map(&mut self, shader: usize, name: &str) -> Option<(Texture, &'a str)> {
        match self.input(shader, name)? {
            Input::Shader { node, output } => Some((self.texture(node)?, output)),
            Input::Value(_) => None,
        }
    }

    fn number(&self, shader: usize, name: &str, default: f64) -> f64 {
        match self.input(shader, name) {
            Some(Input::Value(value)) => value.number().unwrap_or(default),
            _ => default,
        }
    }

    fn roughness(&mut self, shader: usize, material: &mut Material) {
        material.roughness = self.number(shader, "roughness", 0.5).clamp(0.0, 1.0);
        material.metallic = self.number(shader, "metallic", 0.0).clamp(0.0, 1.0);
        let roughness = self.map(shader, "roughness");
        let metallic = self.map(shader, "metallic");
        match (roughness, metallic) {
            (Some((texture, "outputs:g")), Some((other, "outputs:b")))
                if texture.image == other.image =>
            {
                material.metallic_roughness_texture = Some(texture);
                material.roughness = 1.0;
                material.metallic = 1.0;
            }
            (Some((texture, "outputs:g")), None) if material.metallic == 0.0 => {
                material.metallic_roughness_texture = Some(texture);
                material.roughness = 1.0;
            }
            (roughness, metallic) => {
                self.dropped += usize::from(roughness.is_some()) + usize::from(metallic.is_some());
            }
        }
    }

    fn opacity(&mut self, shader: usize, material: &mut Material) {
        let opacity = self.number(shader, "opacity", 1.0).clamp(0.0, 1.0);
        material.base_color.w = opacity;
        let threshold = self.number(shader, "opacityThreshold", 0.0);
        let texture = self.map(shader, "opacity");
        if opacity < 1.0 || texture.is_some() {
            material.alpha = AlphaMode::Blend;
        }
        if threshold > 0.0 && texture.is_some() {
            material.alpha = AlphaMode::Mask(threshold);
        }

        if let Some((texture, output)) = texture {
            let base = material.base_color_texture.as_ref();
            let is_alpha = output == "outputs:a";
            if !(is_alpha && base.is_some_and(|base| base.image == texture.image)) {
                material.opacity_texture = Some(texture);
            }
        }
    }

    fn kind(&self, node: usize) -> &'a str {
        let prim = self.stage.nodes[node].prim;
        prim.value("info:id")
            .and_then(Value::text)
            .unwrap_or_default()
    }

    fn input(&self, shader: usize, name: &str) -> Option<Input<'a>> {
        self.connected(shader, &format!("inputs:{name}"), 0)
    }

    /// The value or the connection of a property, through node graphs.
    fn connected(&self, node: usize, name: &str, depth: usize) -> Option<Input<'a>> {
        if depth > LONGEST_CHAIN {
            return None;
        }
        let prim = self.stage.nodes[node].prim;
        let connection = format!("{name}.connect");
        let property = prim.properties.iter().find(|p| p.name == connection);
        let target = property.and_then(|property| {
            let path = prim.value(&connection)?.text()?;
            let output = entry(&property.metadata, "output")?.text()?;
            Some((self.stage.resolve(node, path)?, output))
        });
        let Some((target, output)) = target else {
            return prim.rest(name).map(Input::Value);
        };

        let is_shader = self.stage.nodes[target].prim.kind == "Shader";
        if is_shader && output.starts_with("outputs:") {
            Some(Input::Shader {
                node: target,
                output,
            })
        } else {
            self.connected(target, output, depth + 1)
        }
    }

    /// The factor of the colours of a texture.
    fn scale(&self, texture: usize) -> DVec3 {
        match self.input(texture, "scale") {
            Some(Input::Value(value)) => vector(value).unwrap_or(DVec3::ONE),
            _ => DVec3::ONE,
        }
    }

    /// The texture of a `UsdUVTexture`; `None` for other shaders, and without a file.
    fn texture(&mut self, node: usize) -> Option<Texture> {
        if self.kind(node) != "UsdUVTexture" {
            return None;
        }
        let file = match self.input(node, "file")? {
            Input::Value(value) => value.text()?,
            Input::Shader { .. } => return None,
        };
        let mut texture = Texture::new(self.image(file));
        texture.wrap = ["wrapS", "wrapT"].map(|name| match self.input(node, name) {
            Some(Input::Value(value)) => match value.text() {
                Some("clamp") => Wrap::Clamp,
                Some("mirror") => Wrap::Mirror,
                _ => Wrap::Repeat,
            },
            _ => Wrap::Repeat,
        });

        let mut at = self.input(node, "st");
        if let Some(Input::Shader { node, .. }) = at
            && self.kind(node) == "UsdTransform2d"
        {
            texture.transform = self.transform(node);
            at = self.input(node, "in");
        }
        if let Some(Input::Shader { node, .. }) = at
            && let Some(Input::Value(name)) = self.input(node, "varname")
        {
            texture.uv_set = self.uv_set(name.text().unwrap_or_default());
        }
        Some(texture)
    }

    /// A transformation of UVs whose V points up, as one with V pointing down.
    fn transform(&self, node: usize) -> UvTransform {
        let number = |name: &str, default| self.number(node, name, default);
        let pair = |name: &str, default: DVec2| match self.input(node, name) {
            Some(Input::Value(value)) => match value.numbers() {
                Some(&[x, y]) => DVec2::new(x, y),
                _ => default,
            },
            _ => default,
        };
        let mut transform = UvTransform {
            offset: DVec2::ZERO,
            rotation_rad: number("rotation", 0.0).to_radians(),
            scale: pair("scale", DVec2::ONE),
        };
        let up = pair("translation", DVec2::ZERO);
        let (linear, _): (DMat2, DVec2) = transform.affine();
        // With `d = J p + e` for `J = diag(1, −1)`, `e = (0, 1)`: the offset is `e + J t − M e`.
        transform.offset = DVec2::new(up.x, 1.0 - up.y) - linear * DVec2::Y;
        transform
    }

    /// The index of a UV set by its name, in the first mesh that has it.
    fn uv_set(&self, name: &str) -> usize {
        let name = if name == "st" { "" } else { name };
        let mut meshes = self.asset.objects.iter().map(|o| o.rig.neutral());
        let found = meshes.find_map(|mesh| {
            let mut layers = mesh.uv_layers().iter();
            layers.position(|layer| layer.name == name)
        });
        found.unwrap_or(0)
    }

    /// The index of an image, read once.
    fn image(&mut self, file: &str) -> usize {
        let file = file.replace("<UDIM>", "1001");
        if let Some(&known) = self.image_of.get(&file) {
            return known;
        }

        let path = joined(self.folder, &file);
        let bytes = path
            .as_ref()
            .map(|path| self.files.read(&path.replace('%', "%25")));
        let name = file.rsplit('/').next().unwrap_or_default().to_owned();
        let mut image = match bytes {
            Some(Ok(bytes)) => ImageFile::new(name, bytes),
            _ => {
                self.asset.warnings.push(format!(
                    "the image '{}' is not shown: it is neither in the file nor in its folder",
                    file.escape_debug()
                ));
                ImageFile::new(name, Vec::new())
            }
        };
        image.uri = path.unwrap_or(file.clone());
        self.asset.images.push(image);
        let index = self.asset.images.len() - 1;
        self.image_of.insert(file, index);
        index
    }
}

fn vector(value: &Value) -> Option<DVec3> {
    match value.numbers()? {
        &[x, y, z] | &[x, y, z, _] => Some(DVec3::new(x, y, z)).filter(|v| v.is_finite()),
        _ => None,
    }
}
