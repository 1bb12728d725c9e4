//! Figures 5.10 and 5.11: a face that is posed by its sliders, touched inside the soft area and
//! outside of it.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{SoftPatch, SoftRegion};
use pliant_rig::{Rig, RigError};
use pliant_view::{ContactSheet, Image, View};

use super::numerals::{grouped, percent, rounded};
use super::{CHEEK, Cast, ReproduceError, ball, failed, posed_head, pressed};
use crate::page::Section;
use crate::picture::{Look, Shot};
use crate::pressing_ball::PressingBall;
use crate::touch_job::TouchJob;
use crate::touch_picture::{TouchPicture, with_soft_region};
use crate::touched_clip::TouchedClip;

const SIZE: [usize; 2] = [218, 262];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.72,
    elevation_rad: 0.12,
};
/// *Paper*: a pose of pain; *ours*: these sliders.
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
/// A vertex of the chin, where nothing is soft.
const CHIN: usize = 1083;
/// Between nose and cheek: the middle of the pictures.
const MIDDLE: [f64; 3] = [3.0, -2.5, 7.0];

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "A posed face",
        "Figures 5.10 and 5.11: the sliders make a face of pain, and a ball touches it on top of that. Within the blue area the skin gives \
         way; where the same ball meets the rest of the face, nothing moves. What is soft is found on the posed face.",
    );
    let face = pain(&cast.head).map_err(|source| ReproduceError::Rig {
        model: "head".to_owned(),
        source,
    })?;
    let job = TouchJob {
        settle_secs: 1.0,
        ..pressed(&face, CHEEK).map_err(failed("head"))?
    };
    let clip = job.run(&()).map_err(failed("head"))?;
    let soft = SoftRegion::select(&face, &[CHEEK]).map_err(failed("head"))?;
    let elsewhere = ball(
        &face,
        &SoftPatch {
            center: CHIN,
            ..CHEEK
        },
    );
    let beside = TouchJob {
        colliders: vec![elsewhere.collider().map_err(failed("head"))?],
        ..job.clone()
    };
    let missed = beside.run(&()).map_err(failed("head"))?;
    let is_soft = |v: usize| soft.vertices().binary_search(&(v as u32)).is_ok();
    let moved = |clip: &TouchedClip, wanted: bool| {
        let ever = |v: usize| {
            clip.frames
                .iter()
                .any(|places| places[v] != face.positions()[v])
        };
        (0..face.vertex_count())
            .filter(|&v| is_soft(v) == wanted && ever(v))
            .count()
    };
    section.figure(
        "soft vertices",
        format!(
            "{} of {}",
            grouped(clip.patch_vertices),
            grouped(face.vertex_count())
        ),
    );
    section.figure(
        "moved outside the area, in any frame",
        moved(&clip, false).to_string(),
    );
    section.figure(
        "moved by a ball on the chin",
        (moved(&missed, true) + moved(&missed, false)).to_string(),
    );
    section.figure(
        "deepest inside the ball",
        format!(
            "{} % of the radius",
            percent(clip.max_penetration() / CHEEK.radius)
        ),
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
    section.wide(
        "pain.png",
        "The pose, its soft area, the touch, the dent it makes, and the same ball on the chin.",
        &sheet(&face, &soft, &clip, &elsewhere)?,
    )?;
    Ok(section)
}

fn pain(rig: &Rig) -> Result<Mesh, RigError> {
    let mut weights = vec![0.0; rig.sliders().len()];
    for (name, weight) in PAIN {
        weights[rig.slider_named(name)?] = weight;
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
    let (ball, turn) = (ball(face, &CHEEK), clip.furthest_frame());
    let touched = posed_head(face, &clip.frames[turn])?;
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
