//! Figures 7 and 8: details that follow the pose, by several ways.

use pliant_learn::{
    DetailLeaveOneOut, DetailMode, DetailOptions, DetailedExamples, Examples, LearnOptions, Model,
};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_view::{ContactSheet, Image, View};

use super::{Cast, ReproduceError, Set, failed};
use crate::page::{Best, Section, Table};
use crate::picture::{Look, Shot};

const SIZE: [usize; 2] = [300, 330];
/// Into the palm, where skin folds most.
const VIEW: View = View::Orbit {
    azimuth_rad: -0.15,
    elevation_rad: 0.25,
};
/// The gesture shown.
const SHOWN: &str = "grab";

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Creases that come and go",
        "Figures 7 and 8: above a smooth hand, the height of every vertex along its normal is predicted too. Straight from the control \
         points, as the paper does; from the predicted base (cascaded), which carries the errors of the base over; or not at all, with the \
         creases of the open hand in every pose (static). Auto lets every vertex listen to the control points near it where that predicts \
         better.",
    );
    let hand = &cast.hand;
    let smooth = crate::load("specimen:hand:smooth")?.clip()?;
    let base = Examples::from_clip(&smooth).map_err(failed("hand"))?;
    let detailed = |base: &Examples| {
        let poses = (0..hand.examples.count()).map(|k| hand.examples.pose(k));
        DetailedExamples::from_poses(base.clone(), 0, poses).map_err(failed("hand"))
    };
    section.table(table(hand, &detailed(&base)?)?);
    section.wide(
        "creases.png",
        "A gesture that was not learned, seen from inside.",
        &pictures(hand, &base)?,
    )?;
    Ok(section)
}

fn table(hand: &Set, detailed: &DetailedExamples) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Gestures left out: the error of the heights and of the whole surface, in thousandths of the longest side.",
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
    let model = |mode: DetailMode| -> Result<Model, ReproduceError> {
        let kept = || (0..hand.examples.names().len()).filter(|&k| k != frame);
        let frames = kept().map(|k| base.pose(k + 1).to_vec()).collect();
        let names = kept().map(|k| base.names()[k].clone()).collect();
        let smooth =
            Examples::new(base.reference().clone(), frames, names).map_err(failed("hand"))?;
        let poses = [0]
            .into_iter()
            .chain(kept().map(|k| k + 1))
            .map(|k| hand.examples.pose(k));
        let detailed = DetailedExamples::from_poses(smooth, 0, poses).map_err(failed("hand"))?;
        let options = DetailOptions::default().with_mode(mode);
        Model::train_detailed(
            detailed,
            hand.control.clone(),
            &LearnOptions::default(),
            &options,
            &(),
        )
        .map_err(failed("hand"))
    };
    let mut sheet = ContactSheet::new("", 3);
    let mut show = |positions: &[DVec3], name: &str| -> Result<(), ReproduceError> {
        sheet.push(picture(hand.examples.reference(), positions, truth)?, name);
        Ok(())
    };
    show(truth, "the true pose")?;
    let learned = model(DetailMode::Auto)?;
    show(
        &learned.drive(&goals).map_err(failed("hand"))?,
        "the predicted base",
    )?;
    show(
        &learned
            .driver()
            .detailed_pose(&goals)
            .map_err(failed("hand"))?,
        "auto",
    )?;
    for mode in [DetailMode::Direct, DetailMode::Cascaded, DetailMode::Static] {
        show(
            &model(mode)?
                .driver()
                .detailed_pose(&goals)
                .map_err(failed("hand"))?,
            mode.name(),
        )?;
    }
    Ok(sheet.compose()?)
}

/// The pose in plain clay, so that only its form shows.
fn picture(rest: &Mesh, positions: &[DVec3], in_view: &[DVec3]) -> Result<Image, ReproduceError> {
    let plain = Mesh::from_triangles(positions.to_vec(), rest.triangles());
    let plain = plain.map_err(|source| ReproduceError::Mesh {
        model: "hand".to_owned(),
        source,
    })?;
    Ok(Shot::new(VIEW, SIZE).framed_by(in_view, &Look::default().scene(&plain))?)
}
