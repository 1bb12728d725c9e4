//! Transfer: the tapir walks like the hound, and swings its trunk by a clip of its own.

use pliant_transfer::{Flexibility, Partitions};
use pliant_view::{ContactSheet, Image, View};

use super::{DemoError, milliseconds, timed};
use crate::film::Film;
use crate::page::Section;
use crate::picture::{Look, Shot};
use crate::walking_tapir::WalkingTapir;

const SIDE: View = View::Orbit {
    azimuth_rad: 1.05,
    elevation_rad: 0.12,
};
const MOMENTS: usize = 5;

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Transfer",
        "The hound's walk on the tapir, whose mesh and proportions are others: markers say which spots are the same, the hound is laid onto \
         the tapir, and every triangle of the tapir takes the deformation of those below it. A second clip swings the trunk on top.",
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
    let mut sheet = ContactSheet::new("", MOMENTS);
    let small = Shot::new(SIDE, [220, 190]);
    for (name, clip) in [("hound", &pair.walk), ("tapir", &assembled)] {
        Film::new(clip, small).add_row(&mut sheet, name, MOMENTS)?;
    }
    section.wide(
        "transfer-walk.png",
        "The same moments of both.",
        &sheet.compose()?,
    )?;
    let large = Shot::new(SIDE, [520, 430]);
    section.moving(
        "transfer-plays.png",
        "Walk and swing, put together.",
        &Film::new(&assembled, large).every(2)?,
        67,
    )?;
    section.small(
        "transfer-flexibility.png",
        "Where the walk bends the hound: markers matter there.",
        &flexibility(&pair, large)?,
    )?;
    section.file(
        "tapir-walk-and-swing.glb",
        "the tapir with its new clip",
        pair.glb(&assembled)?,
    );
    sections.push(section);
    Ok(())
}

fn flexibility(pair: &WalkingTapir, shot: Shot) -> Result<Image, DemoError> {
    let values = Flexibility::of(&pair.walk)?.of_triangles().to_vec();
    let look = Look::default()
        .with_scalar(values, "flexibility")
        .with_range(0.0, Partitions::DEFAULT_THRESHOLD);
    Ok(shot.of(pair.walk.reference(), &look)?)
}
