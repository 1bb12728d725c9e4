//! A hand that a few points drive, learned from fourteen gestures.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::io::{Asset, save};
use pliant::learn::{ControlPoints, Examples, LearnOptions, LeaveOneOut, Model};
use pliant::rig::Clip;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let examples = Examples::from_clip(&pliant::load("specimen:hand")?.clip()?)?;
    let points: Vec<usize> = pliant::specimens::hand_landmarks()
        .iter()
        .map(|point| point.vertex as usize)
        .collect();
    let control = ControlPoints::new(examples.reference(), &points)?;

    let options = LearnOptions::default();
    let left_out = LeaveOneOut::of(examples.clone(), control.clone(), &options, &())?; // how far it can be trusted
    println!(
        "a gesture left out comes back to {:.2} % of the longest side",
        100.0 * left_out.mean_rms()
    );

    let model = Model::train(examples, control, &options, &())?; // once per set of examples
    let driver = model.driver();
    let play = pliant::load("specimen:hand:play")?.clip()?;

    let mut frames = Vec::new();
    for frame in play.frames() {
        frames.push(driver.pose(&model.control().at(frame))?); // as often as you like
    }

    let driven = Clip::new("driven", model.examples().reference().clone(), frames)?;
    save(&Asset::from_clip(&driven), "07_driven_hand.glb")?;
    println!(
        "{} frames driven by {} points, written to 07_driven_hand.glb",
        driven.frames().len(),
        points.len()
    );

    Ok(())
}
