//! Transfer: the tapir walks like the hound while its trunk swings.

use pliant_papers::page::Section;
use pliant_papers::pictures::Film;
use pliant_papers::subjects::WalkingTapir;
use pliant_rig::Clip;
use pliant_transfer::{Flexibility, Partitions};
use pliant_view::{ContactSheet, Image, Look, Shot, View};

use super::{DemoError, add_viewer, milliseconds, timed};

const SIDE: View = View::Orbit {
    azimuth_rad: 1.05,
    elevation_rad: 0.12,
};
const MOMENTS: usize = 5;

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Transfer",
        "The hound's walk on the tapir, which has another mesh and other proportions. Markers are \
         pairs of corresponding vertices. The hound is deformed onto the tapir, and every triangle \
         of the tapir takes the deformation of the nearest triangles of the hound. A second clip \
         swings the trunk on top.",
    );
    let pair = WalkingTapir::load()?;
    let (found, match_ms) = timed(|| pair.correspondence());
    let map = found?.map;
    let (synthesis, factor_ms) = timed(|| pair.walking_and_swinging(&map));
    let mut synthesis = synthesis?;

    let (assembled, frames_ms) = timed(|| synthesis.clip("walk and swing"));
    let assembled = assembled?;
    section.figure("markers", pair.markers.pairs().len().to_string());
    section.figure("match both meshes", milliseconds(match_ms));
    section.figure("factor and prepare", milliseconds(factor_ms));
    section.figure(
        "one frame",
        milliseconds(frames_ms / assembled.frames().len().max(1) as f64),
    );

    section.wide(
        "transfer-walk.png",
        "Corresponding frames of both.",
        &sheet(&pair.walk, &assembled)?,
    )?;

    let large = Shot::new(SIDE, [520, 430]);
    section.moving(
        "transfer-plays.png",
        "Walk and swing together.",
        &Film::new(&assembled, large).every(2)?,
        67,
    )?;

    section.small(
        "transfer-flexibility.png",
        "The flexibility of the walk: markers matter where the hound bends.",
        &flexibility(&pair, large)?,
    )?;

    let caption = "The tapir, as it walks and swings.";
    add_viewer(&mut section, "transfer-viewer.html", caption, &assembled);
    section.file(
        "tapir-walk-and-swing.glb",
        "the tapir with its new clip",
        pair.glb(&assembled)?,
    );
    sections.push(section);

    Ok(())
}

/// Source and target above each other, at the same moments.
fn sheet(hound: &Clip, tapir: &Clip) -> Result<Image, DemoError> {
    let small = Shot::new(SIDE, [220, 190]);
    let mut sheet = ContactSheet::new("", MOMENTS);
    for (name, clip) in [("hound", hound), ("tapir", tapir)] {
        Film::new(clip, small).add_row(&mut sheet, name, MOMENTS)?;
    }
    Ok(sheet.compose()?)
}

fn flexibility(pair: &WalkingTapir, shot: Shot) -> Result<Image, DemoError> {
    let values = Flexibility::of(&pair.walk)?.of_triangles().to_vec();
    let look = Look::default()
        .with_scalar(values, "flexibility")
        .with_range(0.0, Partitions::DEFAULT_THRESHOLD);
    Ok(shot.of(pair.walk.reference(), &look)?)
}
