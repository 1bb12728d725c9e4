//! Figure 4.7: the hybrid of pseudo-inverse and transpose.

use pliant_linalg::{DenseMatrix, Svd};
use pliant_mesh::glam::DVec3;
use pliant_rig::{Hybrid, PseudoInverse, Range, Transpose, Units};

use super::ReproduceError;
use super::lcg::Lcg;
use super::methods::Method;
use super::numerals::{Quartiles, median, percent, row};
use super::subject::Subject;
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// *Çetinaslan 2016*: 5 to 15 pins are "general practice".
const MOST_PINS: usize = 15;
/// Sets of pins of each size.
const SETS: usize = 16;
/// Sliders of the goal poses.
const SLIDERS: usize = 4;

/// Singular values and errors for sets of one size.
struct HybridResult {
    gamma: Quartiles,
    smallest: f64,
    /// Pin errors of the pseudo-inverse, the transpose and the hybrid, relative to the drags.
    errors: [f64; 3],
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The hybrid",
        "Eq. 4.7 interpolates between the transpose and the pseudo-inverse by a factor γ. The \
         thesis derives γ from the smallest singular value of the blendshape rows at the pins: \
         large for one or two pins, near zero for many, so that the transpose dominates (figure \
         4.7). Here γ is the ratio of the smallest to the largest singular value, which has no \
         unit, for pins spread over the moving part.",
    );

    let mut plot = Plot::new(
        "The share of the pseudo-inverse",
        Axis::linear("pins").covering([0.0]),
        Axis::linear("γ = σmin / σmax"),
    );

    let mut table = Table::new(
        format!(
            "Medians of γ and of pin errors in % of the drags, over {SETS} sets of pins dragged \
             to a pose of {SLIDERS} sliders; free weights."
        ),
        [
            "model",
            "pins",
            "γ",
            "σmin, own units",
            "pinv error, %",
            "transpose error, %",
            "hybrid error, %",
        ],
    );

    for subject in subjects {
        let results: Vec<HybridResult> = (1..=MOST_PINS)
            .map(|pins| measure(subject, pins))
            .collect::<Result<_, _>>()?;
        plot = plot.with_series(gamma_series(subject.name(), &results));

        // The plot shows every number of pins; the table shows a few.
        for pins in [1, 2, 5, 10, 15] {
            let result = &results[pins - 1];
            let values = [
                pins.to_string(),
                format!("{:.4}", result.gamma.median),
                format!("{:.2e}", result.smallest),
            ];
            let errors = result.errors.map(percent);
            table.push(row(subject.name(), values.into_iter().chain(errors)));
        }

        // From one pin to five, γ decreases most.
        let [first, fifth] =
            [&results[0], &results[4]].map(|result| format!("{:.3}", result.gamma.median));
        section.figure(
            &format!("{}, γ with 1 and 5 pins", subject.name()),
            format!("{first}, {fifth}"),
        );
    }

    section.plot(
        plot.with_size([760, 380]),
        "Medians; whiskers show the quartiles of all sets.",
    );
    section.table(table);
    section.paragraph(
        "As in the thesis, γ decreases with every pin. This follows from a theorem: more rows \
         cannot increase the smallest singular value while there are fewer rows than sliders. It \
         decreases so fast that from four or five pins on the hybrid equals the transpose and has \
         its error: pins are far from their goals. A user cannot notice an interpolation.",
    );

    Ok(section)
}

/// Medians of γ over the number of pins, with quartiles.
fn gamma_series(name: &str, results: &[HybridResult]) -> Series {
    let points = results
        .iter()
        .enumerate()
        .map(|(k, result)| [(k + 1) as f64, result.gamma.median]);
    let quartiles = results
        .iter()
        .map(|result| [result.gamma.low, result.gamma.high]);
    Series::new(name, Marks::LineAndPoints, points).with_intervals(quartiles)
}

fn measure(subject: &Subject<'_>, pins: usize) -> Result<HybridResult, ReproduceError> {
    let mut lcg = Lcg::new(47);
    let movable = movable_vertices(subject);
    let methods = [
        Method::new(PseudoInverse, Range::Free),
        Method::new(Transpose::default(), Range::Free),
        Method::new(
            Hybrid {
                gamma: None,
                units: Units::Relative,
            },
            Range::Free,
        ),
    ];

    let mut gammas = Vec::new();
    let mut smallest = Vec::new();
    let mut errors = [const { Vec::new() }; 3];
    for _ in 0..SETS {
        // The same sets grow with the number of pins.
        let mut chosen = lcg.choose(&movable, MOST_PINS);
        chosen.truncate(pins);

        let (least, largest) = singular_values(subject, &chosen)?;
        // Relative to the largest value, γ does not depend on the unit of the scene.
        gammas.push(least / largest.max(f64::MIN_POSITIVE));
        smallest.push(least);

        let goals = displacements(subject, &chosen, &mut lcg.clone());
        let length: f64 = goals.iter().map(|goal| goal.length()).sum();
        for (errors, method) in errors.iter_mut().zip(&methods) {
            let pose = subject.drag(&[], &chosen, &goals, method)?;
            let error: f64 = pose.pins.iter().map(|pin| pin.error).sum();
            errors.push(error / length.max(f64::MIN_POSITIVE));
        }
    }

    Ok(HybridResult {
        gamma: Quartiles::of(gammas),
        smallest: median(smallest),
        errors: errors.map(median),
    })
}

fn movable_vertices(subject: &Subject<'_>) -> Vec<u32> {
    let most = subject
        .skin
        .iter()
        .map(|&v| subject.reach[v as usize])
        .fold(0.0, f64::max);
    subject
        .skin
        .iter()
        .copied()
        .filter(|&v| subject.reach[v as usize] > 0.2 * most)
        .collect()
}

/// The displacements of the pins by a few of the sliders that move them.
fn displacements(subject: &Subject<'_>, pins: &[u32], lcg: &mut Lcg) -> Vec<DVec3> {
    let all = 0..subject.model.rig.targets().len();
    let moving: Vec<usize> = all
        .filter(|&k| {
            pins.iter()
                .any(|&pin| subject.delta(k, pin).length() > 0.004 * subject.size)
        })
        .collect();

    let some: Vec<(usize, f64)> = lcg
        .choose(&moving, SLIDERS)
        .into_iter()
        .map(|slider| (slider, lcg.between(0.3, 1.0)))
        .collect();

    let rest = subject.model.rig.neutral().positions();
    let posed = subject.model.rig.evaluate(&subject.weights(&some));
    pins.iter()
        .map(|&pin| posed[pin as usize] - rest[pin as usize])
        .collect()
}

/// The smallest and the largest singular value of the rows at some pins.
fn singular_values(subject: &Subject<'_>, pins: &[u32]) -> Result<(f64, f64), ReproduceError> {
    let sliders = subject.model.rig.targets().len();
    // Row 3k + a holds the displacement of pin k along axis a by every slider.
    let rows = DenseMatrix::from_fn(3 * pins.len(), sliders, |row, slider| {
        subject.delta(slider, pins[row / 3])[row % 3]
    });
    let svd = Svd::of(rows.as_ref()).map_err(|source| subject.rig_error(source.into()))?;
    Ok((
        svd.values.last().copied().unwrap_or(0.0),
        svd.values.first().copied().unwrap_or(0.0),
    ))
}
