//! Far motion at equal reach: our solver moves the pin exactly where another method moved it.
//!
//! **Problem.** A method that hardly moves the pin hardly moves the rest, so far motion alone is no
//! measure.
//!
//! **Equation.** Our solver trades a little reach for few sliders. Therefore the goal is corrected
//! by the remaining distance, `gₖ₊₁ = gₖ + (p − x(gₖ))`, until the pin is at `p`: the method of
//! multipliers for the constraint `x = p`.
//!
//! **Source.** Bertsekas, "Constrained Optimization and Lagrange Multiplier Methods", 1982, section
//! 2.2.

use pliant_linalg::parallel;
use pliant_rig::Grab;

use super::ReproduceError;
use super::drags::{Drag, Measure, measure};
use super::methods::{all, bounded};
use super::numerals::{mean, median, percent, row};
use super::subject::Subject;
use crate::page::{Best, Section, Table};

/// A pin that a method moved by less than this part of the drag is not compared.
const LEAST_DISPLACEMENT: f64 = 0.2;
/// The pins agree within this part of the displacement.
const AGREEMENT: f64 = 0.005;
const ROUNDS: usize = 40;
/// Rounds after which a pin without progress is abandoned.
const PATIENCE: usize = 5;

/// Another method and ours on one drag, with the pin at the same position.
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
        "{}, at equal reach: box moves the pin to the position that each method reached, within \
         {} % of that displacement, if it is at least {} % of the drag and reachable inside the \
         limits. Mean far motion in % of the drag, and its ratios; the median over drags of the \
         ratio of rms far motion; and how often box moves less.",
        subject.name(),
        percent(AGREEMENT),
        percent(LEAST_DISPLACEMENT)
    );

    let mut table = Table::new(
        caption,
        [
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
        ],
    )
    .with_best(4, Best::Least)
    .with_best(7, Best::Least);

    let mut worst_most = 0.0_f64;
    let mut worst_rms = 0.0_f64;
    let pairs = pairs(subject, drags, measured)?;
    for (k, method) in all().iter().enumerate() {
        // Our solver is the reference of the comparison.
        if method.label == "box" {
            continue;
        }
        let pairs: Vec<&Pair> = pairs
            .iter()
            .filter_map(|of_drag| of_drag[k].as_ref())
            .collect();
        let most = Ratio::of(&pairs, |m| m.far_most);
        let rms = Ratio::of(&pairs, |m| m.far_rms);
        worst_most = worst_most.max(most.ratio);
        worst_rms = worst_rms.max(rms.ratio);

        let mut cells = vec![pairs.len().to_string()];
        cells.extend(most.cells());
        cells.extend(rms.cells());
        cells.extend(rms_comparison(&pairs));
        table.push(row(&method.label, cells));
    }

    section.figure(
        &format!("{}, worst far ratio at equal reach", subject.name()),
        format!("{worst_most:.2} (rms {worst_rms:.2})"),
    );
    section.table(table);

    Ok(())
}

/// Means of a measure over all pairs, and their ratio.
struct Ratio {
    theirs: f64,
    ours: f64,
    ratio: f64,
}

impl Ratio {
    fn of(pairs: &[&Pair], measure: fn(&Measure) -> f64) -> Self {
        let theirs = mean(pairs.iter().map(|pair| measure(&pair.theirs)));
        let ours = mean(pairs.iter().map(|pair| measure(&pair.ours)));
        Self {
            theirs,
            ours,
            ratio: ours / theirs.max(f64::MIN_POSITIVE),
        }
    }

    fn cells(&self) -> [String; 3] {
        [
            percent(self.theirs),
            percent(self.ours),
            format!("{:.2}", self.ratio),
        ]
    }
}

/// The median over pairs of the ratio of rms far motion, and the share of pairs in which ours is
/// smaller.
fn rms_comparison(pairs: &[&Pair]) -> [String; 2] {
    let ratios = pairs
        .iter()
        .map(|pair| pair.ours.far_rms / pair.theirs.far_rms.max(f64::MIN_POSITIVE));
    let less = pairs
        .iter()
        .map(|pair| f64::from(u8::from(pair.ours.far_rms < pair.theirs.far_rms)));
    [format!("{:.2}", median(ratios)), percent(mean(less))]
}

/// A pair for every drag and method, if our solver reaches the same position.
fn pairs(
    subject: &Subject<'_>,
    drags: &[Drag],
    measured: &[Vec<Measure>],
) -> Result<Vec<Vec<Option<Pair>>>, ReproduceError> {
    let of_drag = |k: usize| -> Result<Vec<Option<Pair>>, ReproduceError> {
        // One factorisation serves all methods, since the pin is the same.
        let mut grab = subject.grab(&[], &[drags[k].pin], &bounded())?;
        let thesis = measured.iter().take(measured.len() - 1);
        Ok(thesis
            .map(|measures| pair(subject, &drags[k], &measures[k], &mut grab))
            .collect())
    };
    parallel::map(drags.len(), 1, of_drag).into_iter().collect()
}

fn pair(subject: &Subject<'_>, drag: &Drag, theirs: &Measure, grab: &mut Grab) -> Option<Pair> {
    if theirs.displacement.length() < LEAST_DISPLACEMENT * drag.displacement.length() {
        return None;
    }

    let start = grab.system().positions()[0];
    let mut goal = theirs.displacement;
    let mut last_error = f64::INFINITY;
    for round in 1..=ROUNDS {
        let pose = grab.solve(&[goal]);
        let missing = theirs.displacement - (pose.pins[0].reached - start);
        let error = missing.length() / theirs.displacement.length();
        if error < AGREEMENT {
            return Some(Pair {
                theirs: theirs.clone(),
                ours: measure(subject, drag, &pose),
            });
        }

        if round % PATIENCE == 0 {
            if error > 0.9 * last_error {
                return None; // The position is beyond the limits of the sliders.
            }
            last_error = error;
        }
        // Multiplier update: the goal moves by what is missing.
        goal += missing;
    }

    None
}
