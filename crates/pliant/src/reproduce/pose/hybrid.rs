//! Between the pseudo-inverse and the transpose: figure 4.7.

use pliant_linalg::{DenseMatrix, Svd};
use pliant_mesh::glam::DVec3;
use pliant_rig::{Hybrid, PseudoInverse, Range, Transpose, Units};

use super::ReproduceError;
use super::lcg::Lcg;
use super::methods::Method;
use super::numerals::{Quartiles, median, percent};
use super::subject::Subject;
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// *Paper*: 5 to 15 pins are "general practice".
const MOST_PINS: usize = 15;
/// Sets of pins of each size.
const SETS: usize = 16;
/// Sliders of the poses that the pins are dragged to.
const SLIDERS: usize = 4;

/// What was found for sets of one size.
struct Found {
    gamma: Quartiles,
    smallest: f64,
    /// Pin errors of the pseudo-inverse, the transpose and the hybrid, in parts of the drags.
    errors: [f64; 3],
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The hybrid",
        "Eq. 4.7 mixes the pseudo-inverse, by a share γ, with the transpose. The thesis takes γ from the smallest singular value of the \
         blendshape rows at the pins: large for one or two pins, near zero for many, so that the transpose takes over (figure 4.7). Here γ \
         is the smallest over the largest, which has no unit, for sets of pins spread over what moves.",
    );
    let mut plot = Plot::new(
        "The share of the pseudo-inverse",
        Axis::linear("pins").covering([0.0]),
        Axis::linear("γ = σmin / σmax"),
    );
    let mut table = Table::new(
        format!(
            "Medians of γ and of pin errors in % of the drags, over {SETS} sets of pins dragged to a pose of {SLIDERS} sliders; free weights."
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
        let found: Vec<Found> = (1..=MOST_PINS)
            .map(|pins| measure(subject, pins))
            .collect::<Result<_, _>>()?;
        let points = found
            .iter()
            .enumerate()
            .map(|(k, found)| [(k + 1) as f64, found.gamma.median]);
        let spans = found
            .iter()
            .map(|found| [found.gamma.low, found.gamma.high]);
        plot = plot.with_series(
            Series::new(subject.name(), Marks::LineAndPoints, points).with_intervals(spans),
        );
        for pins in [1, 2, 5, 10, 15] {
            let at = &found[pins - 1];
            let cells = [
                pins.to_string(),
                format!("{:.4}", at.gamma.median),
                format!("{:.2e}", at.smallest),
            ];
            table.push(
                [subject.name().to_owned()]
                    .into_iter()
                    .chain(cells)
                    .chain(at.errors.map(percent)),
            );
        }
        let [first, last] =
            [&found[0], &found[4]].map(|found| format!("{:.3}", found.gamma.median));
        section.figure(
            &format!("{}, γ with 1 and 5 pins", subject.name()),
            format!("{first}, {last}"),
        );
    }
    section.plot(
        plot.with_size([760, 380]),
        "Medians; whiskers hold the middle half of all sets.",
    );
    section.table(table);
    section.paragraph(
        "As published: γ falls with every pin, by a theorem even (more rows cannot raise the smallest singular value while there are fewer \
         of them than sliders). It falls so fast that from four or five pins on the hybrid is the transpose, with the transpose's error: \
         pins are then far from their goals. It is no interpolation that a user can feel.",
    );
    Ok(section)
}

fn measure(subject: &Subject<'_>, pins: usize) -> Result<Found, ReproduceError> {
    let mut lcg = Lcg::new(47);
    let lively = lively(subject);
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
    let (mut gammas, mut smallest, mut errors) =
        (Vec::new(), Vec::new(), [const { Vec::new() }; 3]);
    for _ in 0..SETS {
        // The same sets grow with the number of pins.
        let mut chosen = lcg.choose(&lively, MOST_PINS);
        chosen.truncate(pins);
        let (values, largest) = singular_values(subject, &chosen)?;
        gammas.push(values / largest.max(f64::MIN_POSITIVE));
        smallest.push(values);
        let ways = ways(subject, &chosen, &mut lcg.clone());
        let length: f64 = ways.iter().map(|way| way.length()).sum();
        for (errors, method) in errors.iter_mut().zip(&methods) {
            let pose = subject.drag(&[], &chosen, &ways, method)?;
            errors.push(
                pose.pins.iter().map(|pin| pin.error).sum::<f64>() / length.max(f64::MIN_POSITIVE),
            );
        }
    }
    Ok(Found {
        gamma: Quartiles::of(gammas),
        smallest: median(smallest),
        errors: errors.map(median),
    })
}

fn lively(subject: &Subject<'_>) -> Vec<u32> {
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

/// Where a pose of a few sliders, of those that move the pins, takes them.
fn ways(subject: &Subject<'_>, pins: &[u32], lcg: &mut Lcg) -> Vec<DVec3> {
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
    let (rest, posed) = (
        subject.model.rig.neutral().positions(),
        subject.model.rig.evaluate(&subject.weights(&some)),
    );
    pins.iter()
        .map(|&pin| posed[pin as usize] - rest[pin as usize])
        .collect()
}

/// The smallest and the largest singular value of the rows at some pins.
fn singular_values(subject: &Subject<'_>, pins: &[u32]) -> Result<(f64, f64), ReproduceError> {
    let sliders = subject.model.rig.targets().len();
    let rows = DenseMatrix::from_fn(3 * pins.len(), sliders, |row, slider| {
        subject.delta(slider, pins[row / 3])[row % 3]
    });
    let svd = Svd::of(rows.as_ref()).map_err(|source| subject.rig_error(source.into()))?;
    Ok((
        svd.values.last().copied().unwrap_or(0.0),
        svd.values.first().copied().unwrap_or(0.0),
    ))
}
