//! Figure 6: models that are local in geometry, in pose space, in both, and in neither.

use pliant_learn::{LearnOptions, LeaveOneOut, Method};
use pliant_view::{ContactSheet, Image};

use super::{Models, ReproduceError, Set, failed};
use crate::page::{Best, Section, Table};

const SIZE: [usize; 2] = [214, 250];
/// The error at the end of the colour map, relative to the longest side.
const MOST_SHOWN: f64 = 0.05;
/// The shown gesture.
const SHOWN: &str = "horns";

/// The variants of figure 6: name, and the control points and poses on which a bone depends.
const VARIANTS: [(&str, usize, usize); 4] = [
    ("global", LearnOptions::ALL, LearnOptions::ALL),
    (
        "local in geometry",
        LearnOptions::DEFAULT_NEIGHBORS,
        LearnOptions::ALL,
    ),
    (
        "local in pose",
        LearnOptions::ALL,
        LearnOptions::DEFAULT_POSE_NEIGHBORS,
    ),
    (
        "local in both",
        LearnOptions::DEFAULT_NEIGHBORS,
        LearnOptions::DEFAULT_POSE_NEIGHBORS,
    ),
];

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Local in geometry and in pose",
        "Figure 6: a bone that depends on all control points and learns from all poses at once \
         finds false correlations. In the paper a bone depends on the seven nearest control \
         points, learns from the seven nearest poses, or both. Ours adds the coordinate frame of \
         those points, because most of the motion of a fingertip is that of its finger.",
    );

    let sets: Vec<&Set> = std::iter::once(&models.hand)
        .chain(&models.shared)
        .collect();
    section.table(table(&sets)?);
    section.wide(
        "variants.png",
        "A gesture that is not in the examples, and the error of each variant: yellow is 5 % of \
         the longest side.",
        &pictures(&models.hand)?,
    )?;

    Ok(section)
}

/// The variants and ours.
fn all_options() -> impl Iterator<Item = (&'static str, LearnOptions)> {
    let paper = LearnOptions::default().with_method(Method::Huang2012);
    let variants = VARIANTS.into_iter().map(move |(name, points, poses)| {
        (
            name,
            paper.with_neighbors(points).with_pose_neighbors(poses),
        )
    });
    variants.chain([("ours", LearnOptions::default())])
}

fn table(sets: &[&Set]) -> Result<Table, ReproduceError> {
    let header = ["variant".to_owned()]
        .into_iter()
        .chain(sets.iter().map(|set| set.name.clone()));
    let mut table = Table::new("Mean leave-one-out error, RMS / longest side.", header);

    for column in 1..=sets.len() {
        table = table.with_best(column, Best::Least);
    }

    // One row per variant, one column per set.
    for (name, options) in all_options() {
        let mut cells = vec![name.to_owned()];
        for set in sets {
            let errors = LeaveOneOut::of(set.examples.clone(), set.control.clone(), &options, &())
                .map_err(failed(&set.name))?;
            cells.push(format!("{:.4}", errors.mean_rms()));
        }
        table.push(cells);
    }

    Ok(table)
}

fn pictures(hand: &Set) -> Result<Image, ReproduceError> {
    let frame = hand.frame(SHOWN);
    let truth = hand.truth(frame);
    let mut found = vec![("the true pose", truth.to_vec())];

    for (name, options) in all_options() {
        let model = hand.without(frame, &options)?;
        found.push((
            name,
            model
                .drive(&hand.control.at(truth))
                .map_err(failed("hand"))?,
        ));
    }

    let mut sheet = ContactSheet::new("", found.len());
    for (name, positions) in &found {
        sheet.push(hand.picture(positions, truth, SIZE)?, *name);
    }

    for (_, positions) in &found {
        sheet.push(
            hand.error_picture(positions, frame, MOST_SHOWN, SIZE)?,
            format!("{:.1} thousandths", hand.thousandths(positions, frame)),
        );
    }

    Ok(sheet.compose()?)
}
