//! Figure 11: noisy markers and the weight of control points.

use pliant_learn::{ControlConstraint, LearnOptions, Model};
use pliant_mesh::glam::DVec3;
use pliant_view::{ContactSheet, Image};

use super::lcg::Lcg;
use super::numerals::{mean, rounded};
use super::{Models, ReproduceError, Set, failed};
use crate::page::{Axis, Marks, Plot, Section, Series};

const SIZE: [usize; 2] = [300, 330];
/// The captured gesture, which is not in the examples.
const CAPTURED: &str = "grab";
/// Standard deviation of the noise along each axis, relative to the longest side.
const NOISE: [f64; 3] = [0.0, 0.01, 0.03];
/// Takes of the pose; errors are their mean.
const TAKES: u64 = 6;
const BETAS: [f64; 8] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Noisy markers",
        "Figure 11: β controls how closely the surface follows its control points. The paper uses \
         3 if a user moves them and 0.3 if they are captured. Captured markers are misplaced, \
         slip and shake, and a surface that follows them exactly does the same.",
    );
    let hand = &models.hand;
    let model = hand.without(hand.frame(CAPTURED), &LearnOptions::default())?;

    section.plot(
        plot(hand, &model)?,
        "The error of a gesture that is not in the examples, over β, for three levels of marker \
         noise.",
    );

    section.wide(
        "noise.png",
        "One take with marker noise of 3 %.",
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

/// The mean error over all takes.
fn error(hand: &Set, model: &Model, beta: f64, noise: f64) -> Result<f64, ReproduceError> {
    let driver = model
        .driver_with(ControlConstraint::Soft(beta))
        .map_err(failed("hand"))?;
    let frame = hand.frame(CAPTURED);

    let mut errors = Vec::new();
    // Without noise all takes are equal.
    for take in 0..if noise > 0.0 { TAKES } else { 1 } {
        let found = driver
            .pose(&captured(hand, frame, noise, take))
            .map_err(failed("hand"))?;
        errors.push(1e-3 * hand.thousandths(&found, frame));
    }

    Ok(mean(errors))
}

/// The control points of a frame with uniform noise of this standard deviation along each axis.
fn captured(hand: &Set, frame: usize, noise: f64, take: u64) -> Vec<DVec3> {
    let mut lcg = Lcg::new(take);
    // Uniform numbers between −1 and 1 have the standard deviation 1/√3.
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
        (ControlConstraint::Hard, "followed exactly"),
        (ControlConstraint::Soft(3.0), "β = 3"),
        (ControlConstraint::Soft(0.3), "β = 0.3"),
    ] {
        let found = model
            .driver_with(hold)
            .and_then(|driver| driver.pose(&markers))
            .map_err(failed("hand"))?;
        sheet.push(hand.picture(&found, truth, SIZE)?, name);
    }

    Ok(sheet.compose()?)
}
