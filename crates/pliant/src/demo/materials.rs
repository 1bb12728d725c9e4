//! Materials: a head with colours and a texture goes into a file, is posed there, and looks the same.

use pliant_io::{Asset, ImageFile, Material, NoFiles, Texture, gltf};
use pliant_linalg::portable;
use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use pliant_papers::page::Section;
use pliant_view::{Color, Image, Look, Shot, View, ViewError};

use super::DemoError;
use crate::pictures::materials;

const SIZE: [usize; 2] = [420, 420];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.05,
};
/// The sides of the texture, in texels.
const TEXTURE_SIZE: usize = 512;
/// The expression of the posed file.
const SMILE: [(&str, f64); 5] = [
    ("mouthSmileLeft", 0.8),
    ("mouthSmileRight", 0.8),
    ("cheekSquintLeft", 0.5),
    ("cheekSquintRight", 0.5),
    ("browInnerUp", 0.4),
];

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Materials",
        "Colours and textures of a file are read, kept and shown. A command edits the file: here the \
         rig goes into glTF with its skin texture, is opened again and saved at a smile. Images \
         keep their bytes; every viewer shows the same head.",
    );

    let character = painted_head()?;
    let stored = gltf::write(&character).bytes;
    let opened = gltf::read(&stored, &NoFiles)?;
    let weight_of = |name: &str| SMILE.iter().find(|(known, _)| *known == name);
    let posed = opened.with_rest_weights(|name| weight_of(name).map_or(0.0, |(_, weight)| *weight));
    let saved = gltf::write(&posed).bytes;
    let again = gltf::read(&saved, &NoFiles)?;

    section.small(
        "materials-texture.png",
        "The texture of the skin.",
        &skin_texture()?,
    )?;
    section.small(
        "materials.png",
        "The head with its materials.",
        &picture(&opened)?,
    )?;
    section.small(
        "materials-posed.png",
        "The same file, saved at a smile and opened again.",
        &picture(&again)?,
    )?;

    section.figure("materials", again.materials.len().to_string());
    let is_same = again.images.len() == opened.images.len()
        && again
            .images
            .iter()
            .zip(&opened.images)
            .all(|(a, b)| a.bytes == b.bytes);
    section.figure(
        "images with the same bytes",
        if is_same { "all" } else { "not all" },
    );
    section.figure("bytes of the file", stored.len().to_string());
    section.figure("bytes after the edit", saved.len().to_string());
    section.file("materials.glb", "the head with materials, at rest", stored);
    section.file("materials-posed.glb", "the same file at a smile", saved);
    sections.push(section);
    Ok(())
}

fn picture(asset: &Asset) -> Result<Image, DemoError> {
    let mesh = asset.resting_mesh()?;
    let (paint, _) = materials(asset, &mesh);
    Ok(Shot::new(VIEW, SIZE).of(&mesh, &Look::default().with_materials(paint))?)
}

/// The built-in head with a colour for each material and a texture on its skin.
fn painted_head() -> Result<Asset, DemoError> {
    let mut asset = pliant_specimens::load("specimen:head")?;
    asset.clips.clear();
    let labels = asset.objects[0].rig.neutral().materials().names.clone();
    for label in labels {
        let mut material = Material::new(&*label);
        let (color, roughness) = color_of(&label);
        let [red, green, blue] = color.0.to_array().map(f64::from);
        material.base_color = DVec4::new(red, green, blue, 1.0);
        material.roughness = roughness;
        if label == "skin" {
            material.base_color = DVec4::ONE;
            material.base_color_texture = Some(Texture::new(0));
        }
        asset.materials.push(material);
    }
    asset.images = vec![ImageFile::new("skin", skin_texture()?.to_png()?)];
    Ok(asset)
}

/// The colour and roughness of a material of the head.
fn color_of(label: &str) -> (Color, f64) {
    const KNOWN: [(&str, [u8; 3], f64); 11] = [
        ("skin", [226, 172, 146], 0.6),
        ("lash", [40, 30, 28], 0.8),
        ("brow", [84, 50, 36], 0.9),
        ("hair", [96, 54, 34], 0.5),
        ("lip", [196, 104, 96], 0.4),
        ("pupil", [12, 10, 12], 0.1),
        ("iris", [62, 118, 96], 0.2),
        ("limbus", [34, 52, 50], 0.2),
        ("eye", [240, 238, 234], 0.2),
        ("teeth", [238, 232, 218], 0.3),
        ("sclera", [240, 238, 234], 0.2),
    ];
    let known = KNOWN.iter().find(|(word, ..)| label.contains(word));
    let (_, [red, green, blue], roughness) = known.copied().unwrap_or(("", [176, 92, 90], 0.5));
    (Color::srgb8(red, green, blue), roughness)
}

/// Skin with red cheeks and freckles. UVs are directions from the middle of the head on a disc, so that
/// the face is around the middle.
fn skin_texture() -> Result<Image, ViewError> {
    let base = DVec3::new(0.72, 0.43, 0.31);
    let red = DVec3::new(0.66, 0.24, 0.2);
    let freckle = DVec3::new(0.42, 0.2, 0.12);
    let spots = freckles();

    let mut pixels = Vec::with_capacity(TEXTURE_SIZE * TEXTURE_SIZE);
    for row in 0..TEXTURE_SIZE {
        for column in 0..TEXTURE_SIZE {
            let place = DVec2::new(column as f64 + 0.5, row as f64 + 0.5) / TEXTURE_SIZE as f64;
            let mut color = base;
            // V points down in a picture.
            for cheek in [DVec2::new(0.41, 0.56), DVec2::new(0.59, 0.56)] {
                let share = place.distance_squared(cheek) / (0.055 * 0.055);
                color = color.lerp(red, 0.55 * portable::exp(-share));
            }
            for (spot, radius) in &spots {
                let share = place.distance_squared(*spot) / (radius * radius);
                if share < 9.0 {
                    color = color.lerp(freckle, 0.5 * portable::exp(-share));
                }
            }
            pixels.push(Color(color.as_vec3()).to_srgb8());
        }
    }
    Image::from_pixels([TEXTURE_SIZE; 2], pixels)
}

/// Places and radii of freckles on nose and cheeks, by the additive recurrence of the plastic number.
fn freckles() -> Vec<(DVec2, f64)> {
    const COUNT: usize = 90;
    let step = DVec2::new(0.754_877_666_246_693, 0.569_840_290_998_053);
    let mut spots = Vec::with_capacity(COUNT);
    for k in 0..COUNT {
        let share = (step * (k + 1) as f64).fract();
        let place = DVec2::new(0.36 + 0.28 * share.x, 0.5 + 0.11 * share.y);
        spots.push((place, 0.0016 + 0.0014 * (share.x * 7.0).fract()));
    }
    spots
}
