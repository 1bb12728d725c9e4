//! Figures 7 and 8: pose-dependent detail by several methods.

use pliant_learn::{
    DetailLeaveOneOut, DetailMode, DetailOptions, DetailedExamples, Examples, LearnOptions, Model,
};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_view::{ContactSheet, Image, Look, Shot, View};

use super::{Models, ReproduceError, Set, failed};
use crate::page::{Best, Section, Table};

const SIZE: [usize; 2] = [300, 330];
/// Onto the palm, where the skin folds most.
const VIEW: View = View::Orbit {
    azimuth_rad: -0.15,
    elevation_rad: 0.25,
};
/// The shown gesture.
const SHOWN: &str = "grab";

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Creases that depend on the pose",
        "Figures 7 and 8: the method also predicts the height of every vertex above a smooth \
         hand, along its normal: directly from the control points, as Huang et al. 2012 do; from \
         the predicted base (cascaded), which adds the errors of the base; or not at all, with \
         the creases of the open hand in every pose (static). Auto uses, for every vertex, the \
         control points near it where that predicts better.",
    );

    let hand = &models.hand;
    let smooth = pliant_specimens::load("specimen:hand:smooth")?.clip()?;
    let base = Examples::from_clip(&smooth).map_err(failed("hand"))?;
    let detailed = |base: &Examples| {
        let poses = (0..hand.examples.count()).map(|k| hand.examples.pose(k));
        DetailedExamples::from_poses(base.clone(), 0, poses).map_err(failed("hand"))
    };

    section.table(table(hand, &detailed(&base)?)?);
    section.wide(
        "creases.png",
        "A gesture that is not in the examples, seen from the palm.",
        &pictures(hand, &base)?,
    )?;

    Ok(section)
}

fn table(hand: &Set, detailed: &DetailedExamples) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Leave-one-out validation: the error of the heights and of the whole surface, in \
         thousandths of the longest side.",
        ["details", "heights", "surface"],
    )
    .with_best(1, Best::Least)
    .with_best(2, Best::Least);

    let thousandths = |error: f64| format!("{:.3}", 1e3 * error);
    for mode in [DetailMode::Auto, DetailMode::Direct, DetailMode::Cascaded] {
        let options = DetailOptions::default().with_mode(mode);
        let found = DetailLeaveOneOut::of(
            detailed.clone(),
            hand.control.clone(),
            &LearnOptions::default(),
            &options,
            &(),
        );

        let found = found.map_err(failed("hand"))?;
        table.push([
            mode.name().to_owned(),
            thousandths(found.mean(|e| e.height_rms)),
            thousandths(found.mean(|e| e.rms)),
        ]);

        // Static detail and no detail do not depend on the mode, so they are listed once.
        if mode == DetailMode::Cascaded {
            table.push([
                "static".to_owned(),
                thousandths(found.mean(|e| e.static_height_rms)),
                thousandths(found.mean(|e| e.static_rms)),
            ]);
            table.push([
                "none".to_owned(),
                "–".to_owned(),
                thousandths(found.mean(|e| e.base_rms)),
            ]);
        }
    }

    Ok(table)
}

fn pictures(hand: &Set, base: &Examples) -> Result<Image, ReproduceError> {
    let frame = hand.frame(SHOWN);
    let truth = hand.truth(frame);
    let goals = hand.control.at(base.pose(frame + 1));
    let learned = model_without(hand, base, frame, DetailMode::Auto)?;

    let mut shown = vec![
        ("the true pose", truth.to_vec()),
        (
            "the predicted base",
            learned.drive(&goals).map_err(failed("hand"))?,
        ),
        ("auto", detailed_pose(&learned, &goals)?),
    ];
    for mode in [DetailMode::Direct, DetailMode::Cascaded, DetailMode::Static] {
        let model = model_without(hand, base, frame, mode)?;
        shown.push((mode.name(), detailed_pose(&model, &goals)?));
    }

    let mut sheet = ContactSheet::new("", 3);
    for (name, positions) in &shown {
        sheet.push(picture(hand.examples.reference(), positions, truth)?, *name);
    }
    Ok(sheet.compose()?)
}

fn detailed_pose(model: &Model, goals: &[DVec3]) -> Result<Vec<DVec3>, ReproduceError> {
    model.driver().detailed_pose(goals).map_err(failed("hand"))
}

/// A model of all gestures but one.
fn model_without(
    hand: &Set,
    base: &Examples,
    frame: usize,
    mode: DetailMode,
) -> Result<Model, ReproduceError> {
    let kept: Vec<usize> = (0..hand.examples.names().len())
        .filter(|&k| k != frame)
        .collect();
    let frames = kept.iter().map(|&k| base.pose(k + 1).to_vec()).collect();
    let names = kept.iter().map(|&k| base.names()[k].clone()).collect();
    let smooth = Examples::new(base.reference().clone(), frames, names).map_err(failed("hand"))?;

    // The reference pose precedes the gestures.
    let poses = [0]
        .into_iter()
        .chain(kept.iter().map(|k| k + 1))
        .map(|k| hand.examples.pose(k));
    let detailed = DetailedExamples::from_poses(smooth, 0, poses).map_err(failed("hand"))?;

    let options = DetailOptions::default().with_mode(mode);
    let control = hand.control.clone();
    Model::train_detailed(detailed, control, &LearnOptions::default(), &options, &())
        .map_err(failed("hand"))
}

/// The pose without colours, so that only its shape is visible.
fn picture(rest: &Mesh, positions: &[DVec3], in_view: &[DVec3]) -> Result<Image, ReproduceError> {
    let plain = Mesh::from_triangles(positions.to_vec(), rest.triangles());
    let plain = plain.map_err(|source| ReproduceError::Mesh {
        model: "hand".to_owned(),
        source,
    })?;
    Ok(Shot::new(VIEW, SIZE).framed_by(in_view, &Look::default().scene(&plain))?)
}
