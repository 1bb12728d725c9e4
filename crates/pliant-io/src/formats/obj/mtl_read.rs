//! Reader of MTL files: the materials of OBJ files.
//!
//! **Format.** `newmtl` begins a material; `Kd`, `Ke`, `d`, `Ns` and the physically based `Pr`, `Pm`
//! give numbers; `map_Kd`, `map_Ke`, `map_d`, `map_Bump` and `norm` name images, after options such
//! as `-s 2 2 1` and `-clamp on`. The name of an image may contain spaces.
//!
//! **Source.** Diego Ramey et al., "MTL material format (Lightwave, OBJ)", 1995; C. Everitt,
//! "PBR extensions to MTL", Exocortex 2015.
//!
//! **Departures.** Colours are taken as sRGB. Highlights `Ns` become the roughness
//! `√(2 / (Ns + 2))`. The lines of each material are kept, so that an OBJ file gets them back as
//! they were. Missing files are warnings. Images of relief (`map_Bump`) are read as normal maps,
//! which is what most files hold there.

use std::collections::HashMap;
use std::sync::Arc;

use pliant_mesh::glam::{DVec2, DVec3, DVec4};

use crate::parse::text::Lines;
use crate::{
    AlphaMode, Asset, FileProvider, ImageFile, Material, Texture, UvTransform, VertexColorUse, Wrap,
};

/// Reads the libraries that the meshes of an asset name, and their images.
pub(super) fn read_libraries(asset: &mut Asset, files: &dyn FileProvider) {
    let mut libraries: Vec<String> = Vec::new();
    for object in &asset.objects {
        for library in object.rig.neutral().material_library() {
            if !libraries.contains(library) {
                libraries.push(library.clone());
            }
        }
    }

    let has_colors = asset
        .objects
        .iter()
        .any(|o| !o.rig.neutral().colors().is_empty());
    let mut reader = LibraryReader {
        asset,
        files,
        folder: String::new(),
        image_of: HashMap::new(),
        has_colors,
    };
    for library in libraries {
        let path = library.replace('\\', "/");
        match files.read(&path) {
            Ok(bytes) => {
                reader.folder = path.rsplit_once('/').map_or("", |(f, _)| f).to_owned();
                reader.library(&bytes);
            }
            Err(error) => reader.asset.warnings.push(format!(
                "the materials of '{library}' are not shown: {error}"
            )),
        }
    }
}

struct LibraryReader<'a> {
    asset: &'a mut Asset,
    files: &'a dyn FileProvider,
    /// The folder of the library, to which its images are relative.
    folder: String,
    image_of: HashMap<String, usize>,
    has_colors: bool,
}

/// A material while its lines are read.
struct Block {
    material: Material,
    lines: String,
    opacity: f64,
}

impl LibraryReader<'_> {
    fn library(&mut self, bytes: &[u8]) {
        let mut block: Option<Block> = None;
        for (_, line) in Lines::of(bytes) {
            let line = String::from_utf8_lossy(line);
            let line = line.trim();
            let (keyword, rest) = split_word(line);
            if keyword.eq_ignore_ascii_case("newmtl") {
                self.finish(block.take());
                block = Some(self.begin(rest));
            } else if let Some(block) = &mut block
                && !line.is_empty()
                && !line.starts_with('#')
            {
                block.lines.push_str(line);
                block.lines.push('\n');
                self.statement(block, keyword, rest);
            }
        }
        self.finish(block);
    }

    fn begin(&self, name: &str) -> Block {
        let mut material = Material::new(name);
        material.roughness = 0.9;
        if self.has_colors {
            material.vertex_colors = VertexColorUse::Srgb;
        }
        Block {
            material,
            lines: String::new(),
            opacity: 1.0,
        }
    }

    /// Keeps a material; of several with one name, the first.
    fn finish(&mut self, block: Option<Block>) {
        let Some(mut block) = block else { return };
        let material = &mut block.material;
        if self.asset.material(&material.name).is_some() {
            return;
        }

        material.base_color.w = block.opacity;
        if block.opacity < 1.0 || material.opacity_texture.is_some() {
            material.alpha = AlphaMode::Blend;
        }
        material.mtl_lines = Some(block.lines.into());
        self.asset.materials.push(block.material);
    }

    fn statement(&mut self, block: &mut Block, keyword: &str, rest: &str) {
        let material = &mut block.material;
        match keyword.to_ascii_lowercase().as_str() {
            "kd" => {
                if let Some(color) = color(rest) {
                    material.base_color = color.extend(1.0);
                }
            }
            "ke" => material.emissive = color(rest).unwrap_or(DVec3::ZERO),
            "ns" => {
                let shine = number(rest).unwrap_or(0.0).max(0.0);
                material.roughness = (2.0 / (shine + 2.0)).sqrt();
            }
            "d" => block.opacity = number(rest).unwrap_or(1.0),
            "tr" => block.opacity = 1.0 - number(rest).unwrap_or(0.0),
            "pr" => material.roughness = number(rest).unwrap_or(material.roughness),
            "pm" => material.metallic = number(rest).unwrap_or(0.0),
            "map_kd" => {
                material.base_color_texture = self.texture(rest);
                // Programs write black or grey beside an image, and show the image alone.
                if material.base_color.truncate().max_element() < 0.01 {
                    material.base_color = DVec4::ONE;
                }
            }
            "map_ke" => {
                material.emissive_texture = self.texture(rest);
                material.emissive = DVec3::ONE;
            }
            "map_d" => self.opacity_texture(material, rest),
            "map_bump" | "bump" | "norm" | "map_kn" => {
                material.normal_texture = self.texture(rest);
            }
            _ => {}
        }
    }

    /// Opacity from an image: from the colours' own, if it is the same one.
    fn opacity_texture(&mut self, material: &mut Material, rest: &str) {
        let texture = self.texture(rest);
        let colors = material.base_color_texture.as_ref();
        let is_same = matches!((&texture, colors), (Some(a), Some(b)) if a.image == b.image);
        if is_same {
            material.alpha = AlphaMode::Blend;
        } else {
            material.opacity_texture = texture;
        }
    }

    /// The texture of a `map` statement: options, then the name of an image.
    fn texture(&mut self, text: &str) -> Option<Texture> {
        let (options, name) = split_options(text);
        if name.is_empty() {
            return None;
        }

        let mut texture = Texture::new(self.image(name));
        let mut scale = DVec2::ONE;
        let mut offset = DVec2::ZERO;
        for (option, values) in options {
            let mut numbers = values.iter().filter_map(|v| v.parse::<f64>().ok());
            let x = numbers.next();
            let y = numbers.next();
            match option {
                "-s" => scale = DVec2::new(x.unwrap_or(1.0), y.or(x).unwrap_or(1.0)),
                "-o" => offset = DVec2::new(x.unwrap_or(0.0), y.unwrap_or(0.0)),
                "-clamp" if values.first() == Some(&"on") => texture.wrap = [Wrap::Clamp; 2],
                _ => {}
            }
        }

        // V points up in the file, and down in a transformation.
        texture.transform = UvTransform {
            offset: DVec2::new(offset.x, 1.0 - scale.y - offset.y),
            rotation_rad: 0.0,
            scale,
        };
        Some(texture)
    }

    /// The index of an image, whose file is read once.
    fn image(&mut self, name: &str) -> usize {
        let name = name.replace('\\', "/");
        let uri = if self.folder.is_empty() {
            name.clone()
        } else {
            format!("{}/{name}", self.folder)
        };
        if let Some(&known) = self.image_of.get(&uri) {
            return known;
        }

        let bytes: Arc<[u8]> = match self.files.read(&uri) {
            Ok(bytes) => bytes.into(),
            Err(error) => {
                let warning = format!("the image '{name}' is not shown: {error}");
                self.asset.warnings.push(warning);
                Arc::from([])
            }
        };
        let mut image = ImageFile::new(file_name(&name), bytes);
        image.uri.clone_from(&uri);
        self.asset.images.push(image);
        let index = self.asset.images.len() - 1;
        self.image_of.insert(uri, index);
        index
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}

/// The options of a `map` statement with their values, and the name after them.
pub(super) fn split_options(text: &str) -> (Vec<(&str, Vec<&str>)>, &str) {
    let mut options = Vec::new();
    let mut rest = text.trim();
    loop {
        let (option, after) = split_word(rest);
        let (least, most) = match option.to_ascii_lowercase().as_str() {
            "-s" | "-o" | "-t" => (1, 3),
            "-mm" => (2, 2),
            "-clamp" | "-bm" | "-blendu" | "-blendv" | "-cc" | "-texres" | "-imfchan"
            | "-boost" | "-type" => (1, 1),
            _ => return (options, rest),
        };

        rest = after;
        let mut values = Vec::new();
        while values.len() < most {
            let (value, after) = split_word(rest);
            if values.len() >= least && value.parse::<f64>().is_err() || after.is_empty() {
                break;
            }
            values.push(value);
            rest = after;
        }
        options.push((option, values));
    }
}

fn number(text: &str) -> Option<f64> {
    let (word, _) = split_word(text);
    word.parse().ok()
}

/// A colour in linear light from sRGB components.
fn color(text: &str) -> Option<DVec3> {
    let mut words = text.split_whitespace().map(str::parse::<f64>);
    let red = words.next()?.ok()?;
    // One number is a grey.
    let green = words.next().and_then(Result::ok).unwrap_or(red);
    let blue = words.next().and_then(Result::ok).unwrap_or(red);
    let color = DVec3::new(red, green, blue);
    Some(color.map(linear_of_srgb))
}

fn linear_of_srgb(s: f64) -> f64 {
    if s <= 0.040_45 {
        s.max(0.0) / 12.92
    } else {
        ((s + 0.055) / 1.055).powf(2.4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obj;

    /// Files in memory.
    struct Memory(Vec<(&'static str, Vec<u8>)>);

    impl FileProvider for Memory {
        fn read(&self, uri: &str) -> Result<Vec<u8>, crate::IoError> {
            let known = self.0.iter().find(|(name, _)| *name == uri);
            let missing = || crate::IoError::Missing { path: uri.into() };
            known.map(|(_, bytes)| bytes.clone()).ok_or_else(missing)
        }
    }

    const QUAD: &[u8] = b"mtllib a/look.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nusemtl skin\nf 1 2 3\n";
    const LIBRARY: &[u8] = b"# by hand\nnewmtl skin\nKd 1 1 0\nNs 6\nillum 2\n\
        map_Kd -s 2 3 1 -clamp on my skin.png\nmap_Bump -bm 0.5 n.png\nnewmtl glass\nd 0.25\n";

    #[test]
    fn a_library_gives_materials_images_and_its_own_lines_back() {
        let files = Memory(vec![
            ("a/look.mtl", LIBRARY.to_vec()),
            ("a/my skin.png", b"\x89PNG\r\n\x1a\nbytes".to_vec()),
        ]);
        let asset = obj::read_with_files(QUAD, &files).unwrap();
        let skin = asset.material("skin").unwrap();
        assert_eq!(skin.base_color, DVec4::new(1.0, 1.0, 0.0, 1.0));
        assert_eq!(skin.roughness, 0.5);
        let texture = skin.base_color_texture.as_ref().unwrap();
        assert_eq!(texture.transform.scale, DVec2::new(2.0, 3.0));
        assert_eq!(texture.wrap, [Wrap::Clamp; 2]);
        assert_eq!(asset.images[texture.image].media_type, "image/png");
        assert_eq!(asset.material("glass").unwrap().alpha, AlphaMode::Blend);
        assert_eq!(asset.warnings.len(), 1, "{:?}", asset.warnings);
        assert!(asset.warnings[0].contains("n.png"));

        let written = obj::write(&asset);
        let names: Vec<_> = written.sidecar_files.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(names, ["look.mtl", "my skin.png"]);
        let library = String::from_utf8(written.sidecar_files[0].1.clone()).unwrap();
        assert!(
            library.contains("map_Kd -s 2 3 1 -clamp on my skin.png\n"),
            "{library}"
        );
        assert!(library.contains("newmtl glass\nd 0.25\n"), "{library}");
        assert!(written.bytes.starts_with(b"mtllib look.mtl\n"));
    }

    #[test]
    fn a_missing_library_is_a_warning() {
        let asset = obj::read_with_files(QUAD, &Memory(vec![])).unwrap();
        assert!(asset.materials.is_empty());
        assert!(
            asset.warnings[0].contains("look.mtl"),
            "{:?}",
            asset.warnings
        );
    }
}
