//! One file of a corpus: read, saved in its own format, and compared.

use std::path::Path;

use pliant::io::{self, Asset, Format, LoadOptions, Object, Texture};
use pliant::mesh::glam::{DVec3, Vec3};
use pliant::rig::Target;

use super::gltf_file::{GltfFile, unwanted_changes};
use super::table;
use crate::Outcome;

/// Chosen: how far positions may differ after a round trip, relative to the size of the asset. Formats
/// store single precision.
const TOLERANCE: f64 = 1e-5;

/// Prints what happened to one file, as one line of JSON.
pub(crate) fn probe(path: &Path) -> Outcome<()> {
    println!("{}", outcome(path)?.to_json());
    Ok(())
}

fn outcome(path: &Path) -> Outcome<table::Outcome> {
    let asset = match io::load(&path.to_string_lossy(), &LoadOptions::default()) {
        Ok(asset) => asset,
        Err(error) => {
            let why = error.to_string();
            let name = path.to_string_lossy();
            let why = why.replace(&*name, "");
            return Ok(table::Outcome::Refused { why });
        }
    };

    let folder = std::env::temp_dir().join(format!("pliant-corpus-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let checked = round_trip(&asset, path, &folder);
    std::fs::remove_dir_all(&folder)?;
    let (differences, left_out, saved) = checked?;
    Ok(table::Outcome::Read {
        differences,
        left_out,
        saved,
    })
}

/// Differences after a save, how many phrases the save listed, and whether the format can be written.
fn round_trip(asset: &Asset, path: &Path, folder: &Path) -> Outcome<(Vec<String>, usize, bool)> {
    let Some(format) = Format::of(path) else {
        return Ok((Vec::new(), 0, false));
    };
    // Binary USD is written as text.
    let ending = match format {
        Format::Usd | Format::Usdc | Format::Usdz => "usda",
        other if other.can_write() => other.ending(),
        _ => return Ok((Vec::new(), 0, false)),
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let saved = folder.join(format!("{name}.{ending}"));

    if format.is_gltf() {
        let edited = with_target(asset)?;
        let report = io::save(&edited, &saved)?;
        let mut found = unwanted_changes(&GltfFile::open(path)?, &GltfFile::open(&saved)?);
        let again = io::load(&saved.to_string_lossy(), &LoadOptions::default())?;
        found.extend(differences(&edited, &again));
        return Ok((found, report.left_out.len(), true));
    }

    let report = io::save(asset, &saved)?;
    let again = match io::load(&saved.to_string_lossy(), &LoadOptions::default()) {
        Ok(again) => again,
        Err(error) => {
            let why = error.to_string().replace(&*saved.to_string_lossy(), "");
            return Ok((vec![format!("the saved file is refused: {why}")], 0, true));
        }
    };
    Ok((differences(asset, &again), report.left_out.len(), true))
}

/// The asset with one more target, which moves one vertex of the first object.
fn with_target(asset: &Asset) -> Outcome<Asset> {
    let mut edited = asset.clone();
    let object = &mut edited.objects[0];
    let mut targets = object.rig.targets().to_vec();
    let mut deltas = vec![Vec3::ZERO; object.vertex_count()];
    if let Some(first) = deltas.first_mut() {
        *first = Vec3::splat(0.5);
    }
    targets.push(Target::from_dense("corpus probe", deltas));
    object.rig = object.rig.with_targets(targets)?;
    if !object.rest_weights.is_empty() {
        object.rest_weights.push(0.0);
    }
    for motion in edited.clips.iter_mut().flat_map(|clip| &mut clip.motions) {
        if motion.object == 0
            && let io::Shape::Weights(track) = &mut motion.shape
        {
            *track = track.mapped(|row| row.iter().copied().chain([0.0]).collect());
        }
    }
    Ok(edited)
}

/// What differs between an asset and its copy from the saved file.
fn differences(asset: &Asset, again: &Asset) -> Vec<String> {
    let mut found = Vec::new();
    if asset.objects.len() != again.objects.len() {
        let (was, is) = (asset.objects.len(), again.objects.len());
        return vec![format!("{was} objects became {is}")];
    }

    let scale = again.meters_per_unit.unwrap_or(1.0) / asset.meters_per_unit.unwrap_or(1.0);
    if (scale - 1.0).abs() > 1e-9 && asset.meters_per_unit.is_some() {
        found.push("the unit".into());
    }
    if asset.up_axis != again.up_axis {
        found.push("the up axis".into());
    }

    let size = size_of(asset);
    for (a, b) in asset.objects.iter().zip(&again.objects) {
        found.extend(object_differences(a, b, size));
    }
    found.extend(clip_differences(asset, again, size));
    found.extend(material_differences(asset, again));
    found.truncate(5);
    found
}

fn size_of(asset: &Asset) -> f64 {
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    for object in &asset.objects {
        for position in object.rig.neutral().positions() {
            low = low.min(*position);
            high = high.max(*position);
        }
    }
    let size = (high - low).length();
    // Far from the origin, single precision is coarser.
    let reach = low.abs().max(high.abs()).max_element();
    if size.is_finite() {
        size.max(0.1 * reach)
    } else {
        1.0
    }
}

fn object_differences(a: &Object, b: &Object, size: f64) -> Vec<String> {
    let mut found = Vec::new();
    let (mesh, other) = (a.rig.neutral(), b.rig.neutral());
    let mut check = |same: bool, what: &str| {
        if !same {
            found.push(what.to_owned());
        }
    };

    check(a.path == b.path, "the path of an object");
    check(
        far(mesh.positions(), other.positions()) <= TOLERANCE * size,
        "positions",
    );
    check(mesh.faces().eq(other.faces()), "faces");
    check(
        mesh.uv_layers().len() == other.uv_layers().len(),
        "the number of UV sets",
    );
    for (x, y) in mesh.uv_layers().iter().zip(other.uv_layers()) {
        let near = x.corners.len() == y.corners.len()
            && x.corners.iter().zip(&y.corners).all(|(i, j)| match (i, j) {
                (Some(i), Some(j)) => {
                    let (p, q) = (x.values[*i as usize], y.values[*j as usize]);
                    (p - q).length() <= 1e-5 * (1.0 + p.length())
                }
                (None, None) => true,
                _ => false,
            });
        check(near, "UVs");
    }
    check(
        mesh.normals().is_some() == other.normals().is_some(),
        "normals",
    );
    check(
        mesh.colors().len() == other.colors().len(),
        "vertex colours",
    );
    let labels = |m: &pliant::mesh::Mesh| {
        let faces = 0..m.face_count();
        let label = |face| m.materials().of(face).unwrap_or_default().to_owned();
        faces.map(label).collect::<Vec<_>>()
    };
    check(labels(mesh) == labels(other), "materials of faces");
    check(mesh.groups().names == other.groups().names, "groups");

    let targets = a.rig.targets().iter().zip(b.rig.targets());
    let same = a.rig.targets().len() == b.rig.targets().len();
    check(same, "the number of targets");
    for (x, y) in targets {
        check(x.name == y.name, "the name of a target");
        let (dense, again) = (
            x.to_dense(mesh.vertex_count()),
            y.to_dense(other.vertex_count()),
        );
        let near = dense.len() == again.len()
            && dense
                .iter()
                .zip(&again)
                .all(|(p, q)| f64::from((*p - *q).length()) <= 2.0 * TOLERANCE * size);
        check(near, "the displacements of a target");
    }
    let weights = |o: &Object| o.rest_weights.iter().any(|w| *w != 0.0);
    check(weights(a) == weights(b), "rest weights");
    check(a.skin.is_some() == b.skin.is_some(), "a skin");
    if let (Some(x), Some(y)) = (&a.skin, &b.skin) {
        let names = |s: &io::SkinBinding| {
            let joints = s.skeleton.joints().iter();
            joints.map(|joint| joint.name.clone()).collect::<Vec<_>>()
        };
        check(names(x) == names(y), "joints");
    }
    found
}

fn far(a: &[DVec3], b: &[DVec3]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let pairs = a.iter().zip(b);
    pairs.map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
}

/// Three frames of every clip.
fn clip_differences(asset: &Asset, again: &Asset, size: f64) -> Vec<String> {
    if asset.clips.len() != again.clips.len() {
        let (was, is) = (asset.clips.len(), again.clips.len());
        return vec![format!("{was} clips became {is}")];
    }
    let mut found = Vec::new();
    for (k, (a, b)) in asset.clips.iter().zip(&again.clips).enumerate() {
        if a.name != b.name {
            found.push("the name of a clip".into());
        }
        if a.frame_count != b.frame_count {
            found.push(format!("{} frames became {}", a.frame_count, b.frame_count));
            continue;
        }
        let last = a.frame_count.saturating_sub(1);
        for frame in [0, last / 2, last] {
            let before = asset.clip_positions(k, frame).unwrap_or_default();
            let after = again.clip_positions(k, frame).unwrap_or_default();
            // A character may walk far from where it stands.
            let reach = before.iter().map(|p| p.length()).fold(size, f64::max);
            if far(&before, &after) > 2e-4 * reach {
                found.push("positions in a clip".into());
                break;
            }
        }
    }
    found
}

fn material_differences(asset: &Asset, again: &Asset) -> Vec<String> {
    let mut found = Vec::new();
    let used = |asset: &Asset, name: &str| {
        let mut meshes = asset.objects.iter().map(|o| o.rig.neutral());
        meshes.any(|m| m.materials().names.iter().any(|known| known == name))
    };
    let bytes = |asset: &Asset, texture: &Option<Texture>| {
        let image = texture.as_ref().and_then(|t| asset.images.get(t.image));
        image
            .map(|image| image.bytes.clone())
            .filter(|b| !b.is_empty())
    };
    for a in asset.materials.iter().filter(|m| used(asset, &m.name)) {
        let Some(b) = again.materials.iter().find(|b| b.name == a.name) else {
            found.push("a material".into());
            continue;
        };
        if (a.base_color - b.base_color).length() > 1e-4 {
            found.push("the base colour of a material".into());
        }
        for (what, x, y) in [
            (
                "a base colour texture",
                &a.base_color_texture,
                &b.base_color_texture,
            ),
            ("a normal texture", &a.normal_texture, &b.normal_texture),
            (
                "an emissive texture",
                &a.emissive_texture,
                &b.emissive_texture,
            ),
        ] {
            if bytes(asset, x) != bytes(again, y) {
                found.push(what.into());
            }
        }
    }
    found
}
