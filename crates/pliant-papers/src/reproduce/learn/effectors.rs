//! Figures 12 and 13: six points as end effectors, the others by inverse kinematics.

use pliant_learn::{IkSolver, LearnOptions, Model};
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_view::{Color, ContactSheet, Image, Marker};

use super::numerals::{mean, percent};
use super::{Models, ReproduceError, Set, failed};
use crate::page::{Section, Table};
use crate::subjects::hand;

const SIZE: [usize; 2] = [236, 270];
/// The shown frames of the sequence.
const SHOWN: [usize; 5] = [8, 20, 32, 44, 56];

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Six control points instead of all",
        "Figures 12 and 13: a skeleton of ball joints joins the control points. The user moves \
         fingertips and palm, damped least squares computes the other joints, and all control \
         points together drive the hand. Where the goals leave a choice, our solver prefers poses \
         similar to the examples. The motion of the hand is not in the examples.",
    );

    let hand = &models.hand;
    let play = pliant_specimens::load("specimen:hand:play")?.clip()?;
    let truth: Vec<Vec<DVec3>> = play
        .frames()
        .iter()
        .map(|frame| hand.control.at(frame))
        .collect();
    let options = LearnOptions::default();
    let model = Model::train(hand.examples.clone(), hand.control.clone(), &options, &())
        .map_err(failed("hand"))?;

    let mut results = Vec::new();
    for (name, control) in controls(hand, &truth)? {
        results.push(DrivenResult::new(name, control, &model)?);
    }

    section.table(table(hand, &play, &truth, &results));
    section.wide(
        "effectors.png",
        "Frames of the sequence, with the control points that drive them.",
        &pictures(hand, play.frames(), &results)?,
    )?;

    Ok(section)
}

/// A driven sequence and its control points.
struct DrivenResult {
    name: &'static str,
    control: Vec<Vec<DVec3>>,
    frames: Vec<Vec<DVec3>>,
}

impl DrivenResult {
    fn new(
        name: &'static str,
        control: Vec<Vec<DVec3>>,
        model: &Model,
    ) -> Result<Self, ReproduceError> {
        let frames = control
            .iter()
            .map(|goals| model.drive(goals))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed("hand"))?;
        Ok(Self {
            name,
            control,
            frames,
        })
    }
}

/// Positions over frames, with a name.
type NamedFrames = (&'static str, Vec<Vec<DVec3>>);

/// The control points of the sequence: the true ones, and those from six end effectors with and
/// without a preference for the examples.
fn controls(hand: &Set, truth: &[Vec<DVec3>]) -> Result<[NamedFrames; 3], ReproduceError> {
    let skeleton = hand::skeleton(hand.examples.reference()).map_err(failed("hand"))?;
    // The examples teach the solver which joint angles are natural.
    let examples: Vec<Vec<DVec3>> = (0..hand.examples.count())
        .map(|k| hand.control.at(hand.examples.pose(k)))
        .collect();
    let learned = IkSolver::learned(skeleton.clone(), &examples).map_err(failed("hand"))?;
    let plain = IkSolver::new(skeleton).map_err(failed("hand"))?;

    Ok([
        ("all control points", truth.to_vec()),
        ("six, natural poses learned", solved(&learned, truth)?),
        ("six, from the rest pose", solved(&plain, truth)?),
    ])
}

fn table(hand: &Set, play: &Clip, truth: &[Vec<DVec3>], results: &[DrivenResult]) -> Table {
    let mut table = Table::new(
        format!(
            "Errors over the {} frames, in % of the longest side.",
            play.frames().len()
        ),
        ["moved by", "control points, mean", "surface, RMS"],
    );

    let side = hand.examples.longest_side();
    for result in results {
        let points = mean(
            result
                .control
                .iter()
                .zip(truth)
                .flat_map(|(found, truth)| found.iter().zip(truth))
                .map(|(found, truth)| found.distance(*truth) / side),
        );
        let surface = mean(
            result
                .frames
                .iter()
                .zip(play.frames())
                .map(|(found, truth)| rms(found, truth) / side),
        );
        table.push([result.name.to_owned(), percent(points), percent(surface)]);
    }
    table
}

/// All control points of every frame, computed from the end effectors.
fn solved(solver: &IkSolver, truth: &[Vec<DVec3>]) -> Result<Vec<Vec<DVec3>>, ReproduceError> {
    let skeleton = solver.skeleton();
    let effectors: Vec<usize> = skeleton
        .effectors()
        .filter_map(|joint| joint.control)
        .collect();

    let goals: Vec<Vec<DVec3>> = truth
        .iter()
        .map(|frame| effectors.iter().map(|&k| frame[k]).collect())
        .collect();
    let poses = solver.solve_all(&goals).map_err(failed("hand"))?;

    Ok(poses
        .iter()
        .map(|pose| skeleton.controls(&pose.positions, truth[0].len()))
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
    results: &[DrivenResult],
) -> Result<Image, ReproduceError> {
    let mut sheet = ContactSheet::new("", SHOWN.len());
    for frame in SHOWN {
        let image = hand.picture(&truth[frame], &truth[frame], SIZE)?;
        sheet.push(image, format!("true, frame {frame}"));
    }

    // The first result has the true control points and would look like the truth.
    for result in &results[1..] {
        for frame in SHOWN {
            let dots = result.control[frame].iter().map(|&position| Marker {
                position,
                color: Color::srgb8(70, 160, 80),
                radius_px: 3.0,
            });
            let pose = &result.frames[frame];
            let image = hand.picture_with(pose, &truth[frame], SIZE, dots.collect())?;
            sheet.push(image, result.name);
        }
    }

    Ok(sheet.compose()?)
}
