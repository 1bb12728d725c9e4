//! The built-in models: their pictures, targets, clips and files.

use pliant_io::Asset;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_papers::page::Section;
use pliant_papers::pictures::Film;
use pliant_rig::{Clip, Rig};
use pliant_view::{ContactSheet, Image, Look, Shot, View};

use super::{DemoError, milliseconds, timed};

/// Pictures of a model.
const SIZE: [usize; 2] = [520, 460];
/// Pictures of one target in a sheet of many.
const THUMBNAIL: [usize; 2] = [190, 200];

pub(super) fn head(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let (asset, mut section) = introduce(
        "head",
        "Head",
        "A stylised head, computed from formulas: edge loops around eyes and mouth, lids that \
         close, a jaw that rotates about its hinge, teeth and tongue behind the lips. Its targets \
         have the ARKit names.",
        View::ThreeQuarter,
    )?;

    // One picture per target, framed by all vertices that any target moves.
    let (sheet, ms) = timed(|| sheet_of_targets(&asset.objects[0].rig));
    section.wide(
        "head-targets.png",
        "Every target at full weight; mouthClose together with the open jaw that it closes.",
        &sheet?,
    )?;

    section.figure("targets drawn in", milliseconds(ms));
    let frames = play(&clip(&asset, "performance")?, View::ThreeQuarter, 2)?;
    section.moving(
        "head-performance.png",
        "A short performance of its sliders.",
        &frames,
        83,
    )?;

    sections.push(section);
    Ok(())
}

pub(super) fn hand(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let (asset, mut section) = introduce(
        "hand",
        "Hand",
        "A hand in fourteen gestures, with creases that become deeper where the skin folds: \
         examples from which a model of a detailed surface is learned.",
        View::Front,
    )?;

    let gestures = clip(&asset, "gestures")?;
    let mut sheet = ContactSheet::new("", 7);
    for (k, name) in gestures.frame_names().iter().enumerate() {
        let shot = Shot::new(
            View::Orbit {
                azimuth_rad: 0.5,
                elevation_rad: 0.3,
            },
            THUMBNAIL,
        );
        sheet.push(
            shot.of_pose(
                &gestures.mesh_at(k)?,
                gestures.reference(),
                &Look::default(),
            )?,
            name.as_str(),
        );
    }

    section.wide(
        "hand-gestures.png",
        "The gestures, each a pose of one mesh.",
        &sheet.compose()?,
    )?;
    sections.push(section);

    Ok(())
}

pub(super) fn quadrupeds(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let side = View::Orbit {
        azimuth_rad: 1.0,
        elevation_rad: 0.15,
    };

    let (hound, mut section) = introduce(
        "hound",
        "Hound",
        "A lean hound with a four-beat walk: each paw stays in place on the ground while the body \
         passes over it.",
        side,
    )?;

    section.moving(
        "hound-walk.png",
        "One cycle of the walk.",
        &play(&clip(&hound, "walk")?, side, 1)?,
        33,
    )?;

    sections.push(section);
    let (tapir, mut section) = introduce(
        "tapir",
        "Tapir",
        "A heavy tapir with another mesh and other proportions than the hound, and a clip of its \
         own that swings the trunk. The two animals are the example for the transfer of motion.",
        side,
    )?;

    section.moving(
        "tapir-trunk.png",
        "The trunk swings.",
        &play(&clip(&tapir, "trunk")?, side, 1)?,
        42,
    )?;

    sections.push(section);
    Ok(())
}

pub(super) fn bar(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let (asset, mut section) = introduce(
        "bar",
        "Bar",
        "A bar that can be bent, twisted and stretched: the simplest shape on which linear blending \
         shrinks and a good method does not.",
        View::ThreeQuarter,
    )?;

    let frames = play(&clip(&asset, "bend")?, View::ThreeQuarter, 1)?;
    section.moving(
        "bar-bend.png",
        "Bending along a circle keeps the length of the axis.",
        &frames,
        60,
    )?;

    sections.push(section);
    Ok(())
}

/// Four models side by side: the picture at the top of the page.
pub(super) fn family() -> Result<Image, DemoError> {
    let mut sheet = ContactSheet::new("", 4);
    for (name, azimuth_rad) in [
        ("head", 0.5),
        ("hound", 0.9),
        ("tapir", 0.75),
        ("hand", 0.35),
    ] {
        let mesh = pliant_specimens::load(&format!("specimen:{name}"))?.mesh()?;
        let shot = Shot::new(
            View::Orbit {
                azimuth_rad,
                elevation_rad: 0.15,
            },
            [360, 360],
        );

        sheet.push(shot.of(&mesh, &Look::default())?, name);
    }

    Ok(sheet.compose()?)
}

/// A specimen and a section with its pictures, figures and files.
fn introduce(
    name: &str,
    title: &str,
    text: &str,
    view: View,
) -> Result<(Asset, Section), DemoError> {
    let (asset, ms) = timed(|| pliant_specimens::load(&format!("specimen:{name}")));
    let asset = asset?;
    let mesh = asset.mesh()?;

    let mut section = Section::new(title, text);
    add_counts(&mut section, &asset, &mesh);
    section.figure("made in", milliseconds(ms));
    section.small(
        &format!("{name}.png"),
        "The rest pose.",
        &Shot::new(view, SIZE).of(&mesh, &Look::default())?,
    )?;

    // From the direction in which the model is longest.
    let size = mesh.bounds().map_or(DVec3::ONE, |bounds| bounds.size());
    let across = if size.x > 1.5 * size.z {
        View::Front
    } else {
        View::Side
    };
    let wire = Shot::new(across, SIZE).of(&mesh, &Look::default().with_wire(true))?;
    section.small(&format!("{name}-edges.png"), "With its edges.", &wire)?;

    section.file(
        &format!("{name}.glb"),
        "the mesh with its targets and clips, for any viewer",
        pliant_io::gltf::write(&asset).bytes,
    );
    Ok((asset, section))
}

/// Vertices, faces, targets and frames.
fn add_counts(section: &mut Section, asset: &Asset, mesh: &Mesh) {
    let quads = mesh.faces().filter(|face| face.len() == 4).count();
    section.figure("vertices", mesh.vertex_count().to_string());
    section.figure("faces", mesh.face_count().to_string());
    section.figure("quads", percent(quads, mesh.face_count()));

    let targets = asset.target_names().len();
    if targets > 0 {
        section.figure("targets", targets.to_string());
    }
    for clip in &asset.clips {
        let name = format!("frames of '{}'", clip.name);
        section.figure(&name, clip.frame_count.to_string());
    }
}

/// A clip of the asset as positions.
fn clip(asset: &Asset, name: &str) -> Result<Clip, DemoError> {
    Ok(asset.part(name)?.clip()?)
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.0} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn sheet_of_targets(rig: &Rig) -> Result<Image, DemoError> {
    let mut face = Vec::new();
    for target in rig.targets() {
        let moved = target.vertices.iter();
        face.extend(moved.map(|&v| rig.neutral().positions()[v as usize]));
    }
    let view = View::Orbit {
        azimuth_rad: 0.3,
        elevation_rad: 0.05,
    };
    let shot = Shot::new(view, THUMBNAIL);

    let mut sheet = ContactSheet::new("", 9);
    for (k, target) in rig.targets().iter().enumerate() {
        let weights = full_weight(rig, k);
        let posed = rig.neutral().posed(rig.evaluate(&weights))?;
        let image = shot.framed_by(&face, &Look::default().scene(&posed))?;
        sheet.push(image, target.name.as_str());
    }

    Ok(sheet.compose()?)
}

/// The weights that show a target.
fn full_weight(rig: &Rig, target: usize) -> Vec<f64> {
    let mut weights = vec![0.0; rig.targets().len()];
    weights[target] = 1.0;

    // mouthClose closes the lips of an open jaw and has no meaning alone.
    if rig.targets()[target].name == "mouthClose" {
        for (k, other) in rig.targets().iter().enumerate() {
            if other.name == "jawOpen" {
                weights[k] = 1.0;
            }
        }
    }
    weights
}

/// Pictures of every `step`-th frame.
fn play(clip: &Clip, view: View, step: usize) -> Result<Vec<Image>, DemoError> {
    Ok(Film::new(clip, Shot::new(view, [420, 380])).every(step)?)
}
