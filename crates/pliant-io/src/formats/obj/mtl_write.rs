//! Writer of MTL files: the materials of an OBJ file and their images.
//!
//! Materials that were read from an MTL file are written with their own lines; only the folders of
//! images are dropped, because all files lie beside the OBJ file.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::mtl_read::file_name;
use crate::asset::{image_file_names, plain_file_name};
use crate::{AlphaMode, Asset, Material, Texture};

/// Files beside an OBJ file.
pub(super) struct Library {
    /// The name of the library; `None` if the asset has no materials.
    pub(super) name: Option<String>,
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) left_out: Vec<String>,
}

impl Library {
    pub(super) fn of(asset: &Asset) -> Self {
        let mut library = Self {
            name: None,
            files: Vec::new(),
            left_out: Vec::new(),
        };
        if asset.materials.is_empty() {
            return library;
        }

        let images = image_file_names(asset);
        let mut text = String::new();
        for material in &asset.materials {
            library.material(&mut text, material, asset, &images);
        }

        let mut meshes = asset.objects.iter().map(|o| o.rig.neutral());
        let known = meshes.find_map(|mesh| mesh.material_library().first());
        let name = match known {
            Some(known) => file_name(known).to_owned(),
            None if asset.name.is_empty() => "materials.mtl".into(),
            None => format!("{}.mtl", plain_file_name(&asset.name)),
        };
        library.files.push((name.clone(), text.into_bytes()));
        library.name = Some(name);

        let used: HashSet<usize> = asset
            .materials
            .iter()
            .flat_map(Material::textures)
            .map(|texture| texture.image)
            .collect();
        for (k, (image, name)) in asset.images.iter().zip(images).enumerate() {
            if used.contains(&k) && !image.bytes.is_empty() {
                library.files.push((name, image.bytes.to_vec()));
            }
        }
        library
    }

    fn material(
        &mut self,
        text: &mut String,
        material: &Material,
        asset: &Asset,
        images: &[String],
    ) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "newmtl {}", material.name);
        match &material.mtl_lines {
            Some(lines) => push_own_lines(text, lines, asset, images),
            None => self.statements(text, material, images),
        }
    }

    fn statements(&mut self, text: &mut String, material: &Material, images: &[String]) {
        let [r, g, b] = material
            .base_color
            .truncate()
            .to_array()
            .map(srgb_of_linear);
        let _ = writeln!(text, "Kd {r} {g} {b}");
        let [r, g, b] = material.emissive.to_array().map(srgb_of_linear);
        if [r, g, b] != [0.0; 3] {
            let _ = writeln!(text, "Ke {r} {g} {b}");
        }
        if material.alpha != AlphaMode::Opaque {
            let _ = writeln!(text, "d {}", material.base_color.w);
        }
        let _ = writeln!(text, "Pr {}\nPm {}", material.roughness, material.metallic);

        let mut map = |keyword: &str, texture: &Option<Texture>| {
            let Some(texture) = texture else { return };
            if let Some(name) = images.get(texture.image) {
                let _ = writeln!(text, "{keyword} {}{name}", options(texture));
            }
        };
        map("map_Kd", &material.base_color_texture);
        map("map_Ke", &material.emissive_texture);
        map("norm", &material.normal_texture);
        map("map_d", &material.opacity_texture);
        if material.alpha != AlphaMode::Opaque && material.opacity_texture.is_none() {
            map("map_d", &material.base_color_texture);
        }

        let name = &material.name;
        let mut lose = |lost: bool, what: &str| {
            if lost {
                self.left_out.push(format!("{what} of material '{name}'"));
            }
        };
        lose(
            material.metallic_roughness_texture.is_some(),
            "the texture of roughness and metalness",
        );
        lose(
            material.occlusion_texture.is_some(),
            "the occlusion texture",
        );
        lose(
            matches!(material.alpha, AlphaMode::Mask(_)),
            "the cutoff of opacity",
        );
        let turned = |t: &Texture| t.transform.rotation_rad != 0.0 || t.uv_set != 0;
        lose(
            material.textures().any(turned),
            "the rotation or second UV set of a texture",
        );
    }
}

/// The options of a `map` statement.
fn options(texture: &Texture) -> String {
    let mut options = String::new();
    let scale = texture.transform.scale;
    // V points up in the file, and down in a transformation.
    let offset = texture.transform.offset;
    let up = 1.0 - scale.y - offset.y;
    if scale.to_array() != [1.0; 2] {
        let _ = write!(options, "-s {} {} 1 ", scale.x, scale.y);
    }
    if offset.x != 0.0 || up != 0.0 {
        let _ = write!(options, "-o {} {} 0 ", offset.x, up);
    }
    if texture.wrap == [crate::Wrap::Clamp; 2] {
        options.push_str("-clamp on ");
    }
    options
}

/// The lines of a material as they were, with images beside the file.
fn push_own_lines(text: &mut String, lines: &str, asset: &Asset, images: &[String]) {
    for line in lines.lines() {
        let replaced = asset.images.iter().zip(images).find_map(|(image, name)| {
            // A library in a folder names images relative to that folder.
            let path = line.replace('\\', "/");
            let head = (0..image.uri.len())
                .filter(|&k| k == 0 || image.uri.as_bytes()[k - 1] == b'/')
                .find_map(|k| path.strip_suffix(image.uri.get(k..)?))?;
            head.ends_with(char::is_whitespace)
                .then(|| format!("{head}{name}"))
        });
        text.push_str(replaced.as_deref().unwrap_or(line));
        text.push('\n');
    }
}

fn srgb_of_linear(x: f64) -> f64 {
    let s = if x <= 0.003_130_8 {
        12.92 * x.max(0.0)
    } else {
        1.055 * x.powf(1.0 / 2.4) - 0.055
    };
    // Six digits are more than any program shows.
    (s * 1e6).round() / 1e6
}
