//! Figure 11: markers that were captured are not where they should be.

use pliant_learn::{Hold, LearnOptions, Model};
use pliant_mesh::glam::DVec3;
use pliant_view::{ContactSheet, Image};

use super::lcg::Lcg;
use super::numerals::{mean, rounded};
use super::{Cast, ReproduceError, Set, failed};
use crate::page::{Axis, Marks, Plot, Section, Series};

const SIZE: [usize; 2] = [300, 330];
/// The gesture that is captured, which the model has not seen.
const CAPTURED: &str = "grab";
/// How far markers are off along each axis, in parts of the longest side.
const NOISE: [f64; 3] = [0.0, 0.01, 0.03];
/// Captures of the pose that errors are the mean of.
const TAKES: u64 = 6;
const BETAS: [f64; 8] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Noisy markers",
        "Figure 11: β says how closely the surface follows its control points. The paper takes 3 where a person moves them, and 0.3 where \
         they are captured: markers sit beside their spots, slip and shake, and a surface that follows them to the letter does so too.",
    );
    let hand = &cast.hand;
    let model = hand.without(hand.frame(CAPTURED), &LearnOptions::default())?;
    section.plot(
        plot(hand, &model)?,
        "The error of a gesture that was not learned, over β, by the noise of its markers.",
    );
    section.wide(
        "noise.png",
        "One take with markers 3 % off.",
        &pictures(hand, &model)?,
    )?;
    Ok(section)
}

fn plot(hand: &Set, model: &Model) -> Result<Plot, ReproduceError> {
    let mut plot = Plot::new(
        "Error over β",
        Axis::logarithmic("β"),
        Axis::linear("RMS / longest side").covering([0.0]),
    );
    for noise in NOISE {
        let mut points = Vec::new();
        for beta in BETAS {
            points.push([beta, error(hand, model, beta, noise)?]);
        }
        plot = plot.with_series(Series::new(
            format!("noise {} %", rounded(100.0 * noise)),
            Marks::LineAndPoints,
            points,
        ));
    }
    Ok(plot.with_size([760, 400]))
}

/// The mean over some takes.
fn error(hand: &Set, model: &Model, beta: f64, noise: f64) -> Result<f64, ReproduceError> {
    let driver = model
        .driver_with(Hold::Soft(beta))
        .map_err(failed("hand"))?;
    let frame = hand.frame(CAPTURED);
    let mut errors = Vec::new();
    for take in 0..if noise > 0.0 { TAKES } else { 1 } {
        let found = driver
            .pose(&captured(hand, frame, noise, take))
            .map_err(failed("hand"))?;
        errors.push(1e-3 * hand.thousandths(&found, frame));
    }
    Ok(mean(errors))
}

/// The control points of a frame, each off by an even noise of this standard deviation along each
/// axis.
fn captured(hand: &Set, frame: usize, noise: f64, take: u64) -> Vec<DVec3> {
    let mut lcg = Lcg::new(take);
    // The deviation of numbers between −1 and 1 is 1/√3.
    let most = noise * hand.examples.longest_side() * 3.0_f64.sqrt();
    let mut off = || DVec3::from_array(std::array::from_fn(|_| lcg.between(-most, most)));
    hand.control
        .at(hand.truth(frame))
        .into_iter()
        .map(|place| place + off())
        .collect()
}

fn pictures(hand: &Set, model: &Model) -> Result<Image, ReproduceError> {
    let frame = hand.frame(CAPTURED);
    let truth = hand.truth(frame);
    let markers = captured(hand, frame, NOISE[2], 0);
    let mut sheet = ContactSheet::new("", 4);
    sheet.push(hand.picture(truth, truth, SIZE)?, "the true pose");
    for (hold, name) in [
        (Hold::Hard, "followed exactly"),
        (Hold::Soft(3.0), "β = 3"),
        (Hold::Soft(0.3), "β = 0.3"),
    ] {
        let found = model
            .driver_with(hold)
            .and_then(|driver| driver.pose(&markers))
            .map_err(failed("hand"))?;
        sheet.push(hand.picture(&found, truth, SIZE)?, name);
    }
    Ok(sheet.compose()?)
}
