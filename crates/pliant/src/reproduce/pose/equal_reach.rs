//! Far motion at equal reach: our solver brings the pin exactly where another method brought it.
//!
//! **Problem.** A method that hardly moves the pin hardly moves the rest; far motion alone says
//! nothing.
//!
//! **Equation.** Our solver trades a little reach for few sliders, so it is asked again with what
//! is missing added, `gₖ₊₁ = gₖ + (p − x(gₖ))`, until the pin is at `p`: the method of multipliers
//! for the constraint `x = p`.
//!
//! **Source.** Bertsekas, "Constrained Optimization and Lagrange Multiplier Methods", 1982, section
//! 2.2.

use pliant_linalg::parallel;
use pliant_rig::Grab;

use super::ReproduceError;
use super::drags::{Drag, Measure, measure};
use super::methods::{all, bounded};
use super::numerals::{mean, median, percent};
use super::subject::Subject;
use crate::page::{Best, Section, Table};

/// A pin that a method moved by less than this part of the drag is no example.
const LEAST_WAY: f64 = 0.2;
/// The pins agree when they are this near, in parts of the way.
const AGREEMENT: f64 = 0.005;
const ROUNDS: usize = 40;
/// Rounds after which a pin that came no nearer is given up.
const PATIENCE: usize = 5;

/// Another method and ours on one drag that both brought to the same place.
struct Pair {
    theirs: Measure,
    ours: Measure,
}

pub(super) fn add_table(
    subject: &Subject<'_>,
    drags: &[Drag],
    measured: &[Vec<Measure>],
    section: &mut Section,
) -> Result<(), ReproduceError> {
    let caption = format!(
        "{}, at equal reach: box brings the pin where each method left it, within {} % of that way, wherever that is at least {} % of the \
         drag and inside the limits' reach. Far motion in % of the drag, means; ratios of those; the median of the ratios of each drag (rms); and how often box moves less.",
        subject.name(),
        percent(AGREEMENT),
        percent(LEAST_WAY)
    );
    let header = [
        "method",
        "drags",
        "far motion, %",
        "box",
        "ratio",
        "far rms, %",
        "box",
        "ratio",
        "median of ratios",
        "box moves less, %",
    ];
    let mut table = Table::new(caption, header)
        .with_best(4, Best::Least)
        .with_best(7, Best::Least);
    let mut worst = [0.0_f64; 2];
    let pairs = pairs(subject, drags, measured)?;
    for (k, method) in all()
        .iter()
        .enumerate()
        .filter(|(_, method)| method.label != "box")
    {
        let pairs: Vec<&Pair> = pairs
            .iter()
            .filter_map(|of_drag| of_drag[k].as_ref())
            .collect();
        let [most, rms] = [|m: &Measure| m.far_most, |m: &Measure| m.far_rms].map(|of| {
            let (theirs, ours) = (
                mean(pairs.iter().map(|p| of(&p.theirs))),
                mean(pairs.iter().map(|p| of(&p.ours))),
            );
            [theirs, ours, ours / theirs.max(f64::MIN_POSITIVE)]
        });
        worst = [worst[0].max(most[2]), worst[1].max(rms[2])];
        let less = mean(
            pairs
                .iter()
                .map(|p| f64::from(u8::from(p.ours.far_rms < p.theirs.far_rms))),
        );
        let cells = |[theirs, ours, ratio]: [f64; 3]| {
            [percent(theirs), percent(ours), format!("{ratio:.2}")]
        };
        let row = [method.label.clone(), pairs.len().to_string()]
            .into_iter()
            .chain(cells(most))
            .chain(cells(rms));
        let ratios = median(
            pairs
                .iter()
                .map(|p| p.ours.far_rms / p.theirs.far_rms.max(f64::MIN_POSITIVE)),
        );
        table.push(row.chain([format!("{ratios:.2}"), percent(less)]));
    }
    section.figure(
        &format!("{}, worst far ratio at equal reach", subject.name()),
        format!("{:.2} (rms {:.2})", worst[0], worst[1]),
    );
    section.table(table);
    Ok(())
}

/// For every drag and method a pair, where there is one.
fn pairs(
    subject: &Subject<'_>,
    drags: &[Drag],
    measured: &[Vec<Measure>],
) -> Result<Vec<Vec<Option<Pair>>>, ReproduceError> {
    let of_drag = |k: usize| -> Result<Vec<Option<Pair>>, ReproduceError> {
        let mut grab = subject.grab(&[], &[drags[k].pin], &bounded())?;
        let thesis = measured.iter().take(measured.len() - 1);
        Ok(thesis
            .map(|measures| pair(subject, &drags[k], &measures[k], &mut grab))
            .collect())
    };
    parallel::map(drags.len(), 1, of_drag).into_iter().collect()
}

fn pair(subject: &Subject<'_>, drag: &Drag, theirs: &Measure, grab: &mut Grab<'_>) -> Option<Pair> {
    if theirs.way.length() < LEAST_WAY * drag.way.length() {
        return None;
    }
    let (start, mut asked, mut last) = (grab.system().places()[0], theirs.way, f64::INFINITY);
    for round in 1..=ROUNDS {
        let pose = grab.solve(&[asked]);
        let missing = theirs.way - (pose.pins[0].reached - start);
        let error = missing.length() / theirs.way.length();
        if error < AGREEMENT {
            return Some(Pair {
                theirs: theirs.clone(),
                ours: measure(subject, drag, &pose),
            });
        }
        if round % PATIENCE == 0 {
            if error > 0.9 * last {
                return None; // Beyond the limits.
            }
            last = error;
        }
        asked += missing;
    }
    None
}
