//! Figures 5.10 and 5.11: a face posed by sliders, touched inside and outside of the soft area.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{SoftPatch, SoftRegion, TouchJob, TouchedClip};
use pliant_rig::{Rig, RigError};
use pliant_view::{ContactSheet, Image, Look, Shot, View};

use super::numerals::{grouped, percent, rounded};
use super::{CHEEK, Models, ReproduceError, ball, failed, posed_head, pressed};
use crate::page::Section;
use crate::pictures::{TouchPicture, with_soft_region};
use crate::subjects::PressingBall;

const SIZE: [usize; 2] = [218, 262];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.72,
    elevation_rad: 0.12,
};
/// *Çetinaslan 2016* shows an expression of pain; the sliders are chosen.
const PAIN: [(&str, f64); 15] = [
    ("browDownLeft", 0.9),
    ("browDownRight", 0.9),
    ("browInnerUp", 0.5),
    ("eyeSquintLeft", 0.9),
    ("eyeSquintRight", 0.9),
    ("eyeBlinkLeft", 0.6),
    ("eyeBlinkRight", 0.6),
    ("noseSneerLeft", 0.9),
    ("noseSneerRight", 0.9),
    ("mouthUpperUpLeft", 0.5),
    ("mouthUpperUpRight", 0.5),
    ("mouthStretchLeft", 0.8),
    ("mouthStretchRight", 0.8),
    ("mouthFrownLeft", 0.5),
    ("jawOpen", 0.25),
];
/// A vertex of the chin, outside of the soft area.
const CHIN: usize = 1083;
/// The centre of the pictures, between nose and cheek.
const MIDDLE: [f64; 3] = [3.0, -2.5, 7.0];

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "A posed face",
        "Figures 5.10 and 5.11: the sliders give an expression of pain, and a ball touches the \
         posed face. The skin deforms inside the blue area. Where the same ball meets the rest of \
         the face, no vertex moves. The soft area is selected on the posed face.",
    );

    let face = pain(&models.head).map_err(|source| ReproduceError::Rig {
        model: "head".to_owned(),
        source,
    })?;

    let job = TouchJob {
        settle_secs: 1.0,
        ..pressed(&face, CHEEK).map_err(failed("head"))?
    };
    let clip = job.run(&()).map_err(failed("head"))?;
    let soft = SoftRegion::select(&face, &[CHEEK]).map_err(failed("head"))?;

    // The same job with a ball over the chin, outside of the soft area.
    let chin = SoftPatch {
        center: CHIN.into(),
        ..CHEEK
    };
    let elsewhere = ball(&face, &chin);
    let beside = TouchJob {
        colliders: vec![elsewhere.collider().map_err(failed("head"))?],
        ..job.clone()
    };
    let missed = beside.run(&()).map_err(failed("head"))?;

    add_figures(&mut section, &face, &soft, &clip, &missed);
    section.wide(
        "pain.png",
        "The pose, its soft area, the touch, the dent, and the same ball on the chin.",
        &sheet(&face, &soft, &clip, &elsewhere)?,
    )?;

    Ok(section)
}

fn add_figures(
    section: &mut Section,
    face: &Mesh,
    soft: &SoftRegion,
    clip: &TouchedClip,
    missed: &TouchedClip,
) {
    let soft_count = grouped(clip.patch_vertices);
    let all_count = grouped(face.vertex_count());
    section.figure("soft vertices", format!("{soft_count} of {all_count}"));

    let outside = moved_vertices(face, clip)
        .filter(|&v| soft.vertices().binary_search(&(v as u32)).is_err())
        .count();
    section.figure("moved outside the area, in any frame", outside.to_string());
    section.figure(
        "moved by a ball on the chin",
        moved_vertices(face, missed).count().to_string(),
    );

    let depth = percent(clip.max_penetration() / CHEEK.radius);
    section.figure(
        "deepest inside the ball",
        format!("{depth} % of the radius"),
    );
    let left = clip
        .reports
        .last()
        .map_or(0.0, |report| report.max_displacement);
    section.figure(
        "off its pose a second later",
        format!("{} % of the radius", rounded(100.0 * left / CHEEK.radius)),
    );
    section.figure("one frame", format!("{} ms", rounded(clip.step_ms)));
}

/// The vertices that leave their position in some frame.
fn moved_vertices(face: &Mesh, clip: &TouchedClip) -> impl Iterator<Item = usize> {
    (0..face.vertex_count()).filter(|&v| {
        clip.frames
            .iter()
            .any(|positions| positions[v] != face.positions()[v])
    })
}

fn pain(rig: &Rig) -> Result<Mesh, RigError> {
    let mut weights = vec![0.0; rig.sliders().len()];
    for (name, weight) in PAIN {
        weights[rig.slider_named(name)?.index()] = weight;
    }
    Ok(rig.neutral().posed(rig.evaluate(&weights))?)
}

fn sheet(
    face: &Mesh,
    soft: &SoftRegion,
    clip: &TouchedClip,
    elsewhere: &PressingBall,
) -> Result<Image, ReproduceError> {
    let camera = TouchPicture::around(
        DVec3::from_array(MIDDLE),
        1.9 * CHEEK.radius,
        Shot::new(VIEW, SIZE),
    );
    let ball = ball(face, &CHEEK);
    // The frame with the largest displacement shows the dent best.
    let touched = posed_head(face, &clip.frames[clip.furthest_frame()])?;
    let blue = |mesh: &Mesh| with_soft_region(mesh, soft);
    let mut sheet = ContactSheet::new("", 5);

    sheet.push(camera.draw(Look::default().scene(face))?, "the pose");
    sheet.push(
        camera.draw(ball.shown(blue(face), 0.0))?,
        "soft area, and the ball",
    );
    sheet.push(camera.draw(ball.shown(blue(&touched), 1.0))?, "touched");
    sheet.push(camera.draw(Look::default().scene(&touched))?, "the dent");

    sheet.push(
        camera.draw(elsewhere.shown(blue(face), 1.0))?,
        "outside of the area",
    );

    Ok(sheet.compose()?)
}
