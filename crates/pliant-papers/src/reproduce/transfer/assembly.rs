//! Figures 1 and 5: one animation assembled from two.

use pliant_rig::Clip;
use pliant_view::{ContactSheet, Shot};

use super::{Models, ReproduceError, SIDE, blended, failed};
use crate::page::Section;
use crate::pictures::Film;

const SIZE: [usize; 2] = [220, 190];
const MOMENTS: usize = 5;

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Two animations in one",
        "Figures 1 and 5: the hound's walk is transferred to the whole tapir, and a swing of the \
         trunk, which the hound does not have, is compounded with it on the trunk. Between trunk \
         and head both blend over a border as wide as the trunk is thick.",
    );
    let (walking, assembled) = assemble(models)?;

    let shot = Shot::new(SIDE, SIZE);
    let mut sheet = ContactSheet::new("", MOMENTS);
    for (name, clip) in [
        ("hound", &models.pair.walk),
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
            reached(models),
            models.pair.tapir().triangles().len()
        ),
    );

    section.wide(
        "assembly.png",
        "The hound; the tapir with the hound's walk; the same with a swinging trunk.",
        &sheet.compose()?,
    )?;

    // The film and the weights are shown larger than the frames of the sheet.
    let large = Shot::new(SIDE, [540, 450]);
    section.moving(
        "assembly-plays.png",
        "Both together.",
        &Film::new(&assembled, large).every(1)?,
        33,
    )?;

    let weights = models.pair.trunk_weights().map_err(failed("tapir"))?;
    let tapir = models.pair.tapir();
    section.small(
        "assembly-weights.png",
        "The weights of the swing.",
        &large.framed_by(tapir.positions(), &blended::scene(tapir, &weights))?,
    )?;

    section.file(
        "tapir-walk.glb",
        "the tapir with the hound's walk",
        models.pair.glb(&walking)?,
    );

    section.file(
        "tapir-walk-and-swing.glb",
        "with its trunk swinging",
        models.pair.glb(&assembled)?,
    );

    Ok(section)
}

/// The walk alone, and with the swing.
fn assemble(models: &Models) -> Result<(Clip, Clip), ReproduceError> {
    let (pair, map) = (&models.pair, &models.correspondence.map);
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

/// The number of matched triangles.
fn reached(models: &Models) -> usize {
    models.correspondence.report.triangles
        - models.correspondence.report.uncovered
        - models.correspondence.report.flipped
}
