//! Touch: a ball presses a cheek, and a soft chin follows the jaw with inertia.

use pliant_io::Asset;
use pliant_mesh::VertexId;
use pliant_mesh::glam::DVec3;
use pliant_papers::page::Section;
use pliant_papers::pictures::{TouchPicture, with_soft_region};
use pliant_papers::subjects::PressingBall;
use pliant_physics::{SoftPatch, SoftRegion, TouchJob, TouchOptions, TouchedClip};
use pliant_rig::Clip;
use pliant_view::{ContactSheet, Image, Look, Shot, View};

use super::{DemoError, add_viewer, milliseconds};

/// In centimetres.
const CHEEK: SoftPatch = SoftPatch {
    center: VertexId::new(2134),
    radius: 4.0,
};
const CHIN: SoftPatch = SoftPatch {
    center: VertexId::new(1083),
    radius: 4.0,
};
const BALL_RADIUS: f64 = 1.5;
const DEPTH: f64 = 1.1;
const SETTLE_SECS: f64 = 0.5;
/// The file contains every second frame, to keep it small.
const FILE_STEP: usize = 2;
/// The skin is at rest within this distance of its shape, in centimetres: the width of a hair.
const BACK: f64 = 0.01;
/// The middle of the pictures of the chin.
const LOWER_FACE: [f64; 3] = [0.0, -6.0, 5.0];
const CHEEK_VIEW: View = View::Orbit {
    azimuth_rad: 0.95,
    elevation_rad: 0.2,
};
const CHIN_VIEW: View = View::Orbit {
    azimuth_rad: 0.9,
    elevation_rad: 0.05,
};

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Touch",
        "Any vertex can be the centre of a soft patch, whose radius is measured along the surface. \
         Skin on flesh deforms under a collider and returns to its shape, while the rest of the \
         face does not move at all.",
    );
    cheek(&mut section)?;
    chin(&mut section)?;
    sections.push(section);
    Ok(())
}

/// A ball presses the cheek and leaves it.
fn cheek(section: &mut Section) -> Result<(), DemoError> {
    let asset = pliant_specimens::load("specimen:head")?;
    let head = asset.mesh()?;
    let ball = PressingBall::above(&head, CHEEK.center, BALL_RADIUS, DEPTH);
    let job = TouchJob {
        colliders: vec![ball.collider()?],
        settle_secs: SETTLE_SECS,
        ..TouchJob::new(head, vec![CHEEK])
    };

    let clip = job.run(&())?;
    section.figure(
        "soft vertices",
        format!("{} of {}", clip.patch_vertices, job.mesh.vertex_count()),
    );
    section.figure("patch found in", milliseconds(clip.select_ms));
    section.figure("one frame", milliseconds(clip.step_ms));

    section.figure(
        "deepest inside the ball",
        format!("{:.1} µm", 1e4 * clip.max_penetration()),
    );
    section.figure("back to a tenth of a millimetre", back(&job, &clip));
    section.wide(
        "touch-cheek.png",
        "Before the touch, pressed, the same without the ball, and after the ball has left.",
        &strip(&job, &clip, &ball)?,
    )?;

    // A lower frame rate halves the file and plays at the same speed.
    let frames = clip.frames.into_iter().step_by(FILE_STEP).collect();
    let clip =
        Clip::new("touch", job.mesh, frames)?.with_frames_per_second(job.fps / FILE_STEP as f64);
    add_viewer(
        section,
        "touch-viewer.html",
        "The touch, as it plays.",
        &clip,
    );
    let mut touched = Asset::from_clip(&clip);
    touched.meters_per_unit = asset.meters_per_unit;
    section.file(
        "touched-cheek.glb",
        "the touched cheek",
        pliant_io::gltf::write(&touched).bytes,
    );

    Ok(())
}

/// The time from the departure of the ball until the skin is at rest.
fn back(job: &TouchJob, clip: &TouchedClip) -> String {
    // The last frame beyond the tolerance; from the next one on the skin is at rest.
    let last = clip
        .reports
        .iter()
        .rposition(|report| report.max_displacement > BACK)
        .map_or(0, |frame| frame + 1);
    let secs = last.saturating_sub(job.touch_frames() - 1) as f64 / job.fps;

    match last {
        _ if last == clip.frames.len() => format!("not within {SETTLE_SECS} s"),
        _ if secs == 0.0 => "as the ball leaves".to_owned(),
        _ => format!("{secs:.2} s after the ball"),
    }
}

fn strip(job: &TouchJob, clip: &TouchedClip, ball: &PressingBall) -> Result<Image, DemoError> {
    let camera = TouchPicture::around(
        job.mesh.positions()[CHEEK.center.index()],
        CHEEK.radius,
        Shot::new(CHEEK_VIEW, [276, 290]),
    );
    let left = job.touch_frames() - 1;
    let deepest = left / 2;
    let soft = SoftRegion::select(&job.mesh, &job.patches)?;
    let at = |frame: usize| job.mesh.posed(clip.frames[frame].clone());
    let mut sheet = ContactSheet::new("", 4);

    sheet.push(
        camera.draw(ball.shown(with_soft_region(&job.mesh, &soft), 0.0))?,
        "the soft patch",
    );

    sheet.push(
        camera.draw(ball.shown(Look::default().scene(&at(deepest)?), 1.0))?,
        "pressed",
    );
    sheet.push(
        camera.draw(Look::default().scene(&at(deepest)?))?,
        "the dent",
    );
    sheet.push(
        camera.draw(ball.shown(Look::default().scene(&at(left)?), 0.0))?,
        "released",
    );

    Ok(sheet.compose()?)
}

/// The performance with an inert chin.
fn chin(section: &mut Section) -> Result<(), DemoError> {
    let performance = pliant_specimens::load("specimen:head#performance")?.clip()?;
    let head = performance.reference().clone();
    let options = TouchOptions::default().with_inertia(1.0);
    let fps = performance.frames_per_second();
    let job = TouchJob {
        animation: Some(performance),
        options,
        fps,
        ..TouchJob::new(head, vec![CHIN])
    };

    let clip = job.run(&())?;
    section.figure(
        "chin lags by up to",
        format!("{:.1} mm", 10.0 * clip.max_displacement()),
    );
    section.figure("one frame of the chin", milliseconds(clip.step_ms));

    section.moving(
        "touch-chin.png",
        "The performance, with a chin that swings by its inertia.",
        &film(&job, &clip)?,
        125,
    )?;

    section.small(
        "touch-chin-lag.png",
        "The frame with the largest lag: the performance without and with inertia.",
        &lag(&job, &clip)?,
    )?;

    Ok(())
}

fn around_chin(view: View) -> TouchPicture {
    TouchPicture::around(
        DVec3::from_array(LOWER_FACE),
        1.5 * CHIN.radius,
        Shot::new(view, [300, 330]),
    )
}

/// Every third frame.
fn film(job: &TouchJob, clip: &TouchedClip) -> Result<Vec<Image>, DemoError> {
    let camera = around_chin(CHIN_VIEW);
    let draw = |frame: &Vec<DVec3>| {
        Ok(camera.draw(Look::default().scene(&job.mesh.posed(frame.clone())?))?)
    };
    clip.frames.iter().step_by(3).map(draw).collect()
}

/// The profile without inertia and with it.
fn lag(job: &TouchJob, clip: &TouchedClip) -> Result<Image, DemoError> {
    let camera = around_chin(View::Side);
    let frame = clip.furthest_frame();
    let mut sheet = ContactSheet::new("", 2);
    for (name, places) in [
        ("as it is", job.shape(frame).into_owned()),
        ("with inertia", clip.frames[frame].clone()),
    ] {
        sheet.push(
            camera.draw(Look::default().scene(&job.mesh.posed(places)?))?,
            format!("{name}, frame {frame}"),
        );
    }

    Ok(sheet.compose()?)
}
