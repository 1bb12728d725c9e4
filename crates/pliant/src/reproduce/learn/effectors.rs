//! Figures 12 and 13: six points moved by hand, the others found by inverse kinematics.

use pliant_learn::{IkSolver, LearnOptions, Model};
use pliant_mesh::glam::DVec3;
use pliant_view::{Color, ContactSheet, Image, Marker};

use super::numerals::{mean, percent};
use super::{Cast, ReproduceError, Set, failed};
use crate::hand_skeleton;
use crate::page::{Section, Table};

const SIZE: [usize; 2] = [236, 270];
/// Frames of the play shown.
const SHOWN: [usize; 5] = [8, 20, 32, 44, 56];

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Six points instead of all",
        "Figures 12 and 13: a skeleton of ball joints over the control points. A person moves fingertips and palm, damped least squares \
         finds the joints between, and all control points together drive the hand. Ours prefers poses like those of the examples where the \
         goals leave a choice. The hand plays a sequence that was not learned.",
    );
    let hand = &cast.hand;
    let play = crate::load("specimen:hand:play")?.clip()?;
    let skeleton = hand_skeleton::labelled(hand.examples.reference()).map_err(failed("hand"))?;
    let examples: Vec<Vec<DVec3>> = (0..hand.examples.count())
        .map(|k| hand.control.at(hand.examples.pose(k)))
        .collect();
    let model = Model::train(
        hand.examples.clone(),
        hand.control.clone(),
        &LearnOptions::default(),
        &(),
    )
    .map_err(failed("hand"))?;
    let truth: Vec<Vec<DVec3>> = play
        .frames()
        .iter()
        .map(|frame| hand.control.at(frame))
        .collect();
    let ways = [
        ("all control points", truth.clone()),
        (
            "six, natural poses learned",
            solved(
                &IkSolver::learned(skeleton.clone(), &examples).map_err(failed("hand"))?,
                &truth,
            )?,
        ),
        (
            "six, from the rest pose",
            solved(&IkSolver::new(skeleton).map_err(failed("hand"))?, &truth)?,
        ),
    ];
    let mut table = Table::new(
        format!(
            "Errors over the {} frames, in % of the longest side.",
            play.frames().len()
        ),
        ["moved by", "control points, mean", "surface, RMS"],
    );
    let mut shown = Vec::new();
    for (name, control) in &ways {
        let frames = control
            .iter()
            .map(|goals| model.drive(goals))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed("hand"))?;
        let side = hand.examples.longest_side();
        let points = mean(
            control
                .iter()
                .zip(&truth)
                .flat_map(|(a, b)| a.iter().zip(b))
                .map(|(a, b)| a.distance(*b) / side),
        );
        let surface = mean(
            frames
                .iter()
                .zip(play.frames())
                .map(|(a, b)| rms(a, b) / side),
        );
        table.push([(*name).to_owned(), percent(points), percent(surface)]);
        shown.push((*name, frames));
    }
    section.table(table);
    section.wide(
        "effectors.png",
        "Moments of the sequence, with the control points that drove each.",
        &pictures(hand, play.frames(), &ways, &shown)?,
    )?;
    Ok(section)
}

/// All control points of every frame, from those that are moved.
fn solved(solver: &IkSolver, truth: &[Vec<DVec3>]) -> Result<Vec<Vec<DVec3>>, ReproduceError> {
    let skeleton = solver.skeleton();
    let moved: Vec<usize> = skeleton
        .effectors()
        .filter_map(|joint| joint.control)
        .collect();
    let goals: Vec<Vec<DVec3>> = truth
        .iter()
        .map(|frame| moved.iter().map(|&k| frame[k]).collect())
        .collect();
    let poses = solver.solve_all(&goals).map_err(failed("hand"))?;
    Ok(poses
        .iter()
        .map(|pose| skeleton.controls(&pose.places, truth[0].len()))
        .collect())
}

fn rms(a: &[DVec3], b: &[DVec3]) -> f64 {
    (a.iter()
        .zip(b)
        .map(|(a, b)| a.distance_squared(*b))
        .sum::<f64>()
        / a.len() as f64)
        .sqrt()
}

fn pictures(
    hand: &Set,
    truth: &[Vec<DVec3>],
    ways: &[(&str, Vec<Vec<DVec3>>)],
    shown: &[(&str, Vec<Vec<DVec3>>)],
) -> Result<Image, ReproduceError> {
    let mut sheet = ContactSheet::new("", SHOWN.len());
    for frame in SHOWN {
        sheet.push(
            hand.picture(&truth[frame], &truth[frame], SIZE)?,
            format!("true, frame {frame}"),
        );
    }
    for ((name, control), (_, frames)) in ways.iter().zip(shown).skip(1) {
        for frame in SHOWN {
            let dots = control[frame].iter().map(|&position| Marker {
                position,
                color: Color::srgb8(70, 160, 80),
                radius_px: 3.0,
            });
            sheet.push(
                hand.picture_with(&frames[frame], &truth[frame], SIZE, dots.collect())?,
                *name,
            );
        }
    }
    Ok(sheet.compose()?)
}
