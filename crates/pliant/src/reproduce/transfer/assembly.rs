//! Figures 1 and 5: one animation from two.

use pliant_rig::Clip;
use pliant_view::ContactSheet;

use super::{Cast, ReproduceError, SIDE, blended, failed};
use crate::film::Film;
use crate::page::Section;
use crate::picture::Shot;

const SIZE: [usize; 2] = [220, 190];
const MOMENTS: usize = 5;

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Two animations in one",
        "Figures 1 and 5: the hound's walk goes to all of the tapir, and a swing of the trunk, which no hound has, is multiplied onto it \
         where the trunk is. Between trunk and head both blend over a border as wide as the trunk is thick.",
    );
    let (walking, assembled) = assemble(cast)?;
    let mut sheet = ContactSheet::new("", MOMENTS);
    let shot = Shot::new(SIDE, SIZE);
    for (name, clip) in [
        ("hound", &cast.pair.walk),
        ("walk alone", &walking),
        ("walk and swing", &assembled),
    ] {
        Film::new(clip, shot).add_row(&mut sheet, name, MOMENTS)?;
    }
    section.figure("frames", assembled.frames().len().to_string());
    section.figure(
        "walk reaches",
        format!(
            "{} of {} triangles",
            reached(cast),
            cast.pair.tapir().triangles().len()
        ),
    );
    section.wide(
        "assembly.png",
        "The hound that lends its walk; the tapir with it; the tapir with its trunk swinging.",
        &sheet.compose()?,
    )?;
    let large = Shot::new(SIDE, [540, 450]);
    section.moving(
        "assembly-plays.png",
        "Both together.",
        &Film::new(&assembled, large).every(1)?,
        33,
    )?;
    let weights = cast.pair.trunk_weights().map_err(failed("tapir"))?;
    let tapir = cast.pair.tapir();
    section.small(
        "assembly-weights.png",
        "The weights of the swing.",
        &large.framed_by(tapir.positions(), &blended::scene(tapir, &weights))?,
    )?;
    section.file(
        "tapir-walk.glb",
        "the tapir with the hound's walk",
        cast.pair.glb(&walking)?,
    );
    section.file(
        "tapir-walk-and-swing.glb",
        "with its trunk swinging",
        cast.pair.glb(&assembled)?,
    );
    Ok(section)
}

/// The walk alone, and with the swing.
fn assemble(cast: &Cast) -> Result<(Clip, Clip), ReproduceError> {
    let (pair, map) = (&cast.pair, &cast.found.map);
    let walking = pair
        .walking(map)
        .and_then(|mut s| s.clip("walk"))
        .map_err(failed("tapir"))?;
    let both = pair
        .walking_and_swinging(map)
        .and_then(|mut s| s.clip("walk and swing"))
        .map_err(failed("tapir"))?;
    Ok((walking, both))
}

/// Triangles that the map finds a source for.
fn reached(cast: &Cast) -> usize {
    cast.found.report.triangles - cast.found.report.uncovered - cast.found.report.flipped
}
