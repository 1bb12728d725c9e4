//! Learn: a hand in fourteen gestures becomes one that a few points drive, creases and all.

use pliant_learn::{
    DetailOptions, DetailedExamples, Examples, IkSolver, LearnOptions, LeaveOneOut, Model,
};
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_view::{ContactSheet, View};

use super::{DemoError, milliseconds, timed};
use crate::film::Film;
use crate::hand_skeleton;
use crate::page::Section;
use crate::picture::Shot;

const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.25,
};
const MOMENTS: usize = 5;

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Learn",
        "From fourteen gestures of a hand, with 22 points on its back: where the points go, the hand follows. Its smooth form comes from \
         how each region turned in the examples, seen from the points around it; its creases from heights learned for every vertex. Here \
         it plays a sequence that it has not seen; in the last row only fingertips and palm are moved, and inverse kinematics finds the rest.",
    );
    let folded = Examples::from_clip(&crate::load("specimen:hand")?.clip()?)?;
    let smooth = Examples::from_clip(&crate::load("specimen:hand:smooth")?.clip()?)?;
    let control = hand_skeleton::control(smooth.reference())?;
    let detailed = DetailedExamples::from_poses(
        smooth.clone(),
        0,
        (0..folded.count()).map(|k| folded.pose(k)),
    )?;
    let (model, train_ms) = timed(|| {
        Model::train_detailed(
            detailed,
            control.clone(),
            &LearnOptions::default(),
            &DetailOptions::default(),
            &(),
        )
    });
    let model = model?;
    let play = crate::load("specimen:hand:play")?.clip()?;
    let goals: Vec<Vec<DVec3>> = play
        .frames()
        .iter()
        .map(|frame| control.at(frame))
        .collect();
    let (driven, drive_ms) = timed(|| drive(&model, &goals));
    let driven = driven?;
    let examples: Vec<Vec<DVec3>> = (0..smooth.count())
        .map(|k| control.at(smooth.pose(k)))
        .collect();
    let skeleton = hand_skeleton::labelled(smooth.reference())?;
    let moved: Vec<usize> = skeleton
        .effectors()
        .filter_map(|joint| joint.control)
        .collect();
    let solver = IkSolver::learned(skeleton, &examples)?;
    let tips: Vec<Vec<DVec3>> = goals
        .iter()
        .map(|frame| moved.iter().map(|&k| frame[k]).collect())
        .collect();
    let solved: Vec<Vec<DVec3>> = solver
        .solve_all(&tips)?
        .iter()
        .map(|pose| solver.skeleton().controls(&pose.places, control.count()))
        .collect();
    let by_tips = drive(&model, &solved)?;
    let left_out = LeaveOneOut::of(smooth.clone(), control, &LearnOptions::default(), &())?;
    section.figure("train", milliseconds(train_ms));
    section.figure(
        "one frame with creases",
        milliseconds(drive_ms / play.frames().len() as f64),
    );
    section.figure(
        "a gesture left out",
        format!(
            "{:.2} % of the longest side off",
            100.0 * left_out.mean_rms()
        ),
    );
    let clip =
        |name: &str, frames: Vec<Vec<DVec3>>| Clip::new(name, play.reference().clone(), frames);
    let mut sheet = ContactSheet::new("", MOMENTS);
    let small = Shot::new(VIEW, [220, 220]);
    let driven = clip("driven", driven)?;
    for (name, clip) in [
        ("true", &play),
        ("22 points", &driven),
        ("6 points", &clip("by its tips", by_tips)?),
    ] {
        Film::new(clip, small).add_row(&mut sheet, name, MOMENTS)?;
    }
    section.wide(
        "learn-play.png",
        "The same moments of the true sequence, and driven by few points.",
        &sheet.compose()?,
    )?;
    let large = Shot::new(VIEW, [440, 440]);
    section.moving(
        "learn-plays.png",
        "Driven by 22 points.",
        &Film::new(&driven, large).every(2)?,
        67,
    )?;
    section.file(
        "hand.safetensors",
        "the model, for `pliant drive`",
        model.to_bytes(),
    );
    sections.push(section);
    Ok(())
}

fn drive(model: &Model, goals: &[Vec<DVec3>]) -> Result<Vec<Vec<DVec3>>, DemoError> {
    let driver = model.driver();
    goals
        .iter()
        .map(|goals| Ok(driver.detailed_pose(goals)?))
        .collect()
}
