//! Learn: a hand driven by a few control points, learned from fourteen gestures, with its creases.

use pliant_learn::{
    ControlPoints, DetailOptions, DetailedExamples, Examples, IkSolver, LearnError, LearnOptions,
    LeaveOneOut, Model,
};
use pliant_mesh::glam::DVec3;
use pliant_papers::page::Section;
use pliant_papers::pictures::Film;
use pliant_papers::subjects::hand;
use pliant_rig::Clip;
use pliant_view::{ContactSheet, Shot, View};

use super::{DemoError, add_viewer, milliseconds, timed};

const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.25,
};
/// Frames in a row of pictures.
const MOMENTS: usize = 5;

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Learn",
        "Fourteen gestures of a hand are the examples, and 22 points on its back are the control \
         points: the hand follows them. Its smooth shape is blended region by region in the \
         coordinate frames of the control points; its creases are heights learned for every \
         vertex. The sequence is not in the examples. In the last row only fingertips and palm \
         are moved, and inverse kinematics computes the other points.",
    );

    let smooth = Examples::from_clip(&pliant_specimens::load("specimen:hand:smooth")?.clip()?)?;
    let control = hand::control(smooth.reference())?;
    let detailed = detailed_examples(&smooth)?;
    let (model, train_ms) = timed(|| train(detailed, &control));
    let model = model?;

    let play = pliant_specimens::load("specimen:hand:play")?.clip()?;
    let goals: Vec<Vec<DVec3>> = play
        .frames()
        .iter()
        .map(|frame| control.at(frame))
        .collect();
    let (driven, drive_ms) = timed(|| drive(&model, &goals));
    let driven = driven?;
    let by_tips = drive(&model, &goals_from_tips(&smooth, &control, &goals)?)?;

    section.figure("train", milliseconds(train_ms));
    section.figure(
        "one frame with creases",
        milliseconds(drive_ms / play.frames().len() as f64),
    );
    // The smooth base is validated, without its creases.
    let left_out = LeaveOneOut::of(smooth, control, &LearnOptions::default(), &())?;
    let percent = 100.0 * left_out.mean_rms();
    section.figure(
        "a gesture left out",
        format!("{percent:.2} % of the longest side off"),
    );

    let driven = Clip::new("driven", play.reference().clone(), driven)?;
    let by_tips = Clip::new("by its tips", play.reference().clone(), by_tips)?;
    add_pictures(&mut section, &play, &driven, &by_tips)?;
    let caption = "The hand that its points drive.";
    add_viewer(&mut section, "learn-viewer.html", caption, &driven);
    section.file(
        "hand.safetensors",
        "the model, for `pliant drive`",
        model.to_bytes(),
    );

    sections.push(section);
    Ok(())
}

/// The smooth hand with its creases as detail.
fn detailed_examples(smooth: &Examples) -> Result<DetailedExamples, DemoError> {
    let folded = Examples::from_clip(&pliant_specimens::load("specimen:hand")?.clip()?)?;
    let poses = (0..folded.count()).map(|k| folded.pose(k));
    Ok(DetailedExamples::from_poses(smooth.clone(), 0, poses)?)
}

fn train(detailed: DetailedExamples, control: &ControlPoints) -> Result<Model, LearnError> {
    let options = LearnOptions::default();
    let detail = DetailOptions::default();
    Model::train_detailed(detailed, control.clone(), &options, &detail, &())
}

/// All control points of every frame, from those of fingertips and palm alone.
fn goals_from_tips(
    smooth: &Examples,
    control: &ControlPoints,
    goals: &[Vec<DVec3>],
) -> Result<Vec<Vec<DVec3>>, DemoError> {
    let skeleton = hand::skeleton(smooth.reference())?;
    let tips: Vec<usize> = skeleton
        .effectors()
        .filter_map(|joint| joint.control)
        .collect();
    let tip_goals: Vec<Vec<DVec3>> = goals
        .iter()
        .map(|frame| tips.iter().map(|&k| frame[k]).collect())
        .collect();

    let examples: Vec<Vec<DVec3>> = (0..smooth.count())
        .map(|k| control.at(smooth.pose(k)))
        .collect();
    let solver = IkSolver::learned(skeleton, &examples)?;
    let poses = solver.solve_all(&tip_goals)?;
    Ok(poses
        .iter()
        .map(|pose| solver.skeleton().controls(&pose.positions, control.count()))
        .collect())
}

fn add_pictures(
    section: &mut Section,
    play: &Clip,
    driven: &Clip,
    by_tips: &Clip,
) -> Result<(), DemoError> {
    let small = Shot::new(VIEW, [220, 220]);
    let mut sheet = ContactSheet::new("", MOMENTS);
    for (name, clip) in [("true", play), ("22 points", driven), ("6 points", by_tips)] {
        Film::new(clip, small).add_row(&mut sheet, name, MOMENTS)?;
    }
    section.wide(
        "learn-play.png",
        "Frames of the true sequence, and the same driven by 22 and by 6 points.",
        &sheet.compose()?,
    )?;

    let large = Shot::new(VIEW, [440, 440]);
    section.moving(
        "learn-plays.png",
        "Driven by 22 points.",
        &Film::new(driven, large).every(2)?,
        67,
    )?;
    Ok(())
}

fn drive(model: &Model, goals: &[Vec<DVec3>]) -> Result<Vec<Vec<DVec3>>, DemoError> {
    let driver = model.driver();
    goals
        .iter()
        .map(|goals| Ok(driver.detailed_pose(goals)?))
        .collect()
}
