//! Beyond the thesis: dependence on the length unit of the scene.

use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Bounded, Hybrid, Localized, Pin, PoseSolver, Poser, Range, Rig, RigError, Target, Tikhonov,
    Transpose, Units,
};

use super::ReproduceError;
use super::numerals::{greatest, percent};
use super::subject::Subject;
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// Scales of the scene, as powers of ten: from a head in kilometres to one in tenths of a
/// millimetre.
const DECADES: std::ops::RangeInclusive<i32> = -3..=3;
/// Scales in each decade.
const FINENESS: i32 = 4;

type Solvers = Vec<(&'static str, Box<dyn PoseSolver>)>;

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let subject = &subjects[0];
    let mut section = Section::new(
        "Units",
        "The α, γ and radii of the thesis have the unit of its scenes, and eq. 4.5 turns the \
         product of two lengths into a weight: the same face in metres instead of centimetres \
         gets another pose. Here one drag of the built-in head is repeated with the whole scene \
         scaled.",
    );

    // The same solvers with the units of the thesis and with relative ones.
    let [raw, relative] = [Units::Scene, Units::Relative].map(solvers);
    let raw: Vec<Series> = series(subject, raw)?;
    let relative: Vec<Series> = series(subject, relative)?;
    let axes = || {
        [
            Axis::logarithmic("scale of the scene"),
            Axis::logarithmic("largest weight"),
        ]
    };

    let plot = |title: &str, all: &[Series]| {
        let [x, y] = axes();
        all.iter()
            .cloned()
            .fold(Plot::new(title, x, y), Plot::with_series)
    };

    section.plot(
        plot("As published", &raw),
        "The published formulas, with α = 0.0001 and radii of 0.1 and 0.5.",
    );

    section.plot(
        plot("Relative", &relative),
        "α, γ and radii relative to the rig, with the best step along the transpose.",
    );
    section.table(table(subject)?);

    let spread = differences(subject)?;
    section.figure(
        "largest difference of a relative weight, 0.01 × to 100 ×",
        format!("{:.1e}", greatest(spread)),
    );

    section.paragraph(
        "With the published formulas, the transpose has no effect on a small scene and diverges \
         on a large one; localization removes every target of a small scene and none of a large \
         one; and α is negligible or suppresses the rig. Relative formulas give the same weights \
         at every scale, and so does our solver, which has only relative ones.",
    );

    Ok(section)
}

/// The reached part of the drag at three scales.
fn table(subject: &Subject<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "The reached part of the drag, in %, with the formulas as published and relative ones. \
         100 is the goal; more is beyond it.",
        [
            "method",
            "published, 0.01 ×",
            "1 ×",
            "100 ×",
            "relative, 0.01 ×",
            "1 ×",
            "100 ×",
        ],
    );

    for ((name, raw), (_, relative)) in solvers(Units::Scene)
        .into_iter()
        .zip(solvers(Units::Relative))
    {
        let mut cells = vec![name.to_owned()];
        for solver in [raw, relative] {
            for scale in [0.01, 1.0, 100.0] {
                cells.push(percent(pose(subject, scale, solver.as_ref())?.reached));
            }
        }
        table.push(cells);
    }

    Ok(table)
}

/// The largest difference of a weight between a small scene and a large one, for every relative
/// method.
fn differences(subject: &Subject<'_>) -> Result<Vec<f64>, ReproduceError> {
    let of = |(_, solver): (&str, Box<dyn PoseSolver>)| {
        let [small, large] = [0.01, 100.0].map(|scale| pose(subject, scale, solver.as_ref()));
        Ok(small?
            .weights
            .iter()
            .zip(&large?.weights)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max))
    };
    solvers(Units::Relative).into_iter().map(of).collect()
}

fn solvers(units: Units) -> Solvers {
    let tikhonov = Tikhonov {
        units,
        ..Tikhonov::default()
    };
    vec![
        ("tikhonov", Box::new(tikhonov)),
        (
            "localized",
            Box::new(Localized {
                tikhonov,
                outer_radius: None,
            }),
        ),
        ("transpose", Box::new(Transpose { units })),
        ("hybrid", Box::new(Hybrid { gamma: None, units })),
        ("box", Box::new(Bounded::default())),
    ]
}

/// The weights of a drag, and the reached part of its displacement.
struct DragResult {
    weights: Vec<f64>,
    reached: f64,
}

fn pose(
    subject: &Subject<'_>,
    scale: f64,
    solver: &dyn PoseSolver,
) -> Result<DragResult, ReproduceError> {
    let smile = subject
        .slider_like(&["mouthsmilel", "mouthcornerpuller", "smile"])
        .unwrap_or(0);
    let pin = subject.best_pin(|v| subject.delta(smile, v).length());
    let displacement = 0.7 * scale * subject.delta(smile, pin);

    try_pose(&subject.model.rig, scale, pin, displacement, solver)
        .map_err(|source| subject.rig_error(source))
}

fn try_pose(
    rig: &Rig,
    scale: f64,
    pin: u32,
    displacement: DVec3,
    solver: &dyn PoseSolver,
) -> Result<DragResult, RigError> {
    // The rig and the drag are scaled by the same factor.
    let rig = scaled(rig, scale)?;
    let poser = Poser::new(&rig)?;
    let mut grab = poser.grab(&[], &[Pin::hold(pin as usize)], solver, Range::Free)?;
    let start = grab.system().positions()[0];
    let pose = grab.solve(&[displacement]);
    // The component along the drag: 1 is the goal, more is beyond it.
    let reached = (pose.pins[0].reached - start).dot(displacement) / displacement.length_squared();

    Ok(DragResult {
        weights: pose.weights,
        reached,
    })
}

/// The rig with every length multiplied.
fn scaled(rig: &Rig, scale: f64) -> Result<Rig, RigError> {
    let mesh = rig.neutral().posed(
        rig.neutral()
            .positions()
            .iter()
            .map(|p| *p * scale)
            .collect(),
    )?;

    let larger = |target: &Target| {
        let mut target = target.clone();
        let in_betweens = target
            .in_betweens
            .iter_mut()
            .flat_map(|shape| &mut shape.deltas);

        for delta in target.deltas.iter_mut().chain(in_betweens) {
            *delta *= scale as f32;
        }

        target
    };

    Rig::new(mesh, rig.targets().iter().map(larger).collect())?.with_sliders(rig.sliders().to_vec())
}

fn series(subject: &Subject<'_>, solvers: Solvers) -> Result<Vec<Series>, ReproduceError> {
    let of = |(name, solver): (&'static str, Box<dyn PoseSolver>)| {
        let steps = DECADES.start() * FINENESS..=DECADES.end() * FINENESS;
        let point = |step: i32| {
            let scale = 10.0_f64.powf(f64::from(step) / f64::from(FINENESS));
            let weights = pose(subject, scale, solver.as_ref())?.weights;
            // The axis is logarithmic: what is below a millionth of a slider is nothing.
            Ok([scale, greatest(weights.iter().map(|w| w.abs())).max(1e-6)])
        };

        Ok(Series::new(
            name,
            Marks::Line,
            steps
                .map(point)
                .collect::<Result<Vec<_>, ReproduceError>>()?,
        ))
    };
    solvers.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_rig_moves_as_the_rig_does() {
        let rig = pliant_specimens::specimen("head")
            .expect("a head ships with the product")
            .rig;
        let larger = scaled(&rig, 4.0).unwrap();
        let weights: Vec<f64> = (0..rig.targets().len())
            .map(|k| 0.3 * (k % 3) as f64)
            .collect();

        // A power of two rounds nothing.
        assert!(
            rig.evaluate(&weights)
                .iter()
                .zip(larger.evaluate(&weights))
                .all(|(a, b)| *a * 4.0 == b)
        );
    }
}
