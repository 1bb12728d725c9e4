//! Beyond the thesis: the largest change of a slider per step of a drag.

use std::f64::consts::PI;

use pliant_mesh::glam::DVec3;
use pliant_rig::{Bounded, Range, Tikhonov};

use super::ReproduceError;
use super::drags::{movable_vertices, reachable_displacement};
use super::lcg::Lcg;
use super::methods::{Method, bounded};
use super::numerals::{greatest, median};
use super::subject::Subject;
use crate::page::{Axis, Best, Marks, Plot, Section, Series, Table};

const DRAGS: usize = 12;
const STEPS: usize = 60;
const HELD: usize = 4;
/// The most that a slider may change in one step of [`Grab::step`](pliant_rig::Grab::step).
const STEP: f64 = 0.05;
/// Our goal: a slider that changes by more in one frame visibly jumps.
const LIMIT: f64 = 0.06;

/// A dragged pin and held ones.
struct Drag {
    pins: Vec<u32>,
    displacement: DVec3,
    sideways: DVec3,
}

/// The path of the dragged pin.
#[derive(Debug, Clone, Copy, PartialEq)]
enum DragPath {
    /// Linearly to a reachable goal.
    Straight,
    /// Half as far again, along a curve.
    Beyond,
}

/// A method, solved at each position, or within a step of the last weights.
struct SteppedMethod {
    label: &'static str,
    method: Method,
    step: Option<f64>,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Jumps",
        format!(
            "The thesis calls the pseudo-inverse unstable: long drags end in noise. It does not \
             measure the path of a drag. Here one pin is dragged in {STEPS} steps while {HELD} \
             are held, {DRAGS} times: linearly to the position given by one to three sliders, and \
             half as far again along a curve. The largest change of a slider in one step should \
             stay below {LIMIT}."
        ),
    );

    let methods = stepped_methods();
    for (k, subject) in subjects.iter().enumerate() {
        let drags = drags(subject);
        let results: Vec<[Vec<f64>; 2]> = methods
            .iter()
            .map(|method| measure(subject, &drags, method))
            .collect::<Result<_, _>>()?;

        section.table(table(subject, &methods, &results));
        // The drag of the first model on which plain box jumps most.
        let worst = drags
            .iter()
            .zip(&results[PLAIN][1])
            .max_by(|a, b| a.1.total_cmp(b.1));
        if let (0, Some((drag, _))) = (k, worst) {
            section.plot(
                change_plot(subject, drag, &methods)?,
                "One drag beyond reach: the largest change of a slider at each step.",
            );
        }

        let ours = greatest(results.last().into_iter().flatten().flatten().copied());
        let verdict = if ours <= LIMIT {
            "reached"
        } else {
            "not reached"
        };

        section.figure(
            &format!("{}, largest change of box in steps", subject.name()),
            format!("{ours:.3} ({verdict})"),
        );
    }

    section.paragraph(
        "A linear method cannot jump, but where pins contradict each other its weights are large, \
         and so is every step. Inside limits the weights follow a piecewise linear path, which is \
         steep where two sliders with similar effect replace each other. A penalty on moved \
         surface bounds the slopes, and a limit per step spreads the rest over a few frames.",
    );

    Ok(section)
}

/// The index of plain box among the methods.
const PLAIN: usize = 1;

fn stepped_methods() -> [SteppedMethod; 4] {
    // A small damping keeps the problem definite without changing the solution visibly.
    let plain = Bounded::default()
        .with_debiasing(false)
        .with_goal_limit(None)
        .with_sparsity(0.0)
        .with_damping(1e-6);
    [
        SteppedMethod {
            label: "tikhonov",
            method: Method::new(Tikhonov::default(), Range::Free),
            step: None,
        },
        SteppedMethod {
            label: "plain box",
            method: Method::new(plain, Range::Clip),
            step: None,
        },
        SteppedMethod {
            label: "box",
            method: bounded(),
            step: None,
        },
        SteppedMethod {
            label: "box in steps",
            method: bounded(),
            step: Some(STEP),
        },
    ]
}

fn drags(subject: &Subject<'_>) -> Vec<Drag> {
    let (movable, mut lcg) = (movable_vertices(subject), Lcg::new(60));
    if movable.is_empty() {
        return Vec::new();
    }

    let one = |lcg: &mut Lcg| {
        let pin = movable[lcg.below(movable.len())];
        let displacement = reachable_displacement(subject, pin, lcg);
        // A random direction perpendicular to the drag, for the curved path.
        let sideways = displacement.cross(DVec3::new(
            lcg.between(-1.0, 1.0),
            lcg.between(-1.0, 1.0),
            lcg.between(-1.0, 1.0),
        ));

        let held = held_pins(subject, &movable, pin, lcg);
        Drag {
            pins: [vec![pin], held].concat(),
            displacement,
            sideways: sideways.normalize_or_zero() * 0.4 * displacement.length(),
        }
    };

    (0..DRAGS).map(|_| one(&mut lcg)).collect()
}

/// Movable vertices, each the farthest of a few random ones from the pins before it.
fn held_pins(subject: &Subject<'_>, movable: &[u32], pin: u32, lcg: &mut Lcg) -> Vec<u32> {
    let places = subject.model.rig.neutral().positions();
    let mut pins = vec![pin];
    for _ in 0..HELD {
        let apart = |v: u32| {
            pins.iter()
                .map(|&p| places[p as usize].distance(places[v as usize]))
                .fold(f64::INFINITY, f64::min)
        };
        // The farthest of six random vertices: spread pins without a full search.
        let drawn = lcg.choose(movable, 6);

        let best = drawn
            .into_iter()
            .max_by(|&a, &b| apart(a).total_cmp(&apart(b)));
        pins.extend(best);
    }

    pins.split_off(1)
}

fn place(drag: &Drag, path: DragPath, share: f64) -> DVec3 {
    match path {
        DragPath::Straight => drag.displacement * share,
        DragPath::Beyond => {
            1.5 * drag.displacement * share + drag.sideways * (2.0 * PI * share).sin()
        }
    }
}

/// The largest change of any slider at each step.
fn changes(
    subject: &Subject<'_>,
    drag: &Drag,
    path: DragPath,
    method: &SteppedMethod,
) -> Result<Vec<f64>, ReproduceError> {
    let mut grab = subject.grab(&[], &drag.pins, &method.method)?;
    let mut displacements = vec![DVec3::ZERO; drag.pins.len()];
    let mut last = vec![0.0; subject.model.rig.targets().len()];

    let mut changes = Vec::new();
    for k in 1..=STEPS {
        // Only the first pin moves; the held pins keep the displacement zero.
        displacements[0] = place(drag, path, k as f64 / STEPS as f64);
        let pose = match method.step {
            Some(step) => grab.step(&displacements, step),
            None => grab.solve(&displacements),
        };

        changes.push(
            pose.weights
                .iter()
                .zip(&last)
                .map(|(new, old)| (new - old).abs())
                .fold(0.0, f64::max),
        );

        // The change of a step is measured from the weights of the step before.
        last = pose.weights;
    }

    Ok(changes)
}

/// The largest change of each drag, straight and beyond.
fn measure(
    subject: &Subject<'_>,
    drags: &[Drag],
    method: &SteppedMethod,
) -> Result<[Vec<f64>; 2], ReproduceError> {
    let along = |path| {
        drags
            .iter()
            .map(|drag| Ok(greatest(changes(subject, drag, path, method)?)))
            .collect::<Result<Vec<f64>, ReproduceError>>()
    };
    Ok([along(DragPath::Straight)?, along(DragPath::Beyond)?])
}

fn table(subject: &Subject<'_>, methods: &[SteppedMethod], results: &[[Vec<f64>; 2]]) -> Table {
    let caption = format!(
        "{}: the largest change of a slider in one of {STEPS} steps, over {DRAGS} drags. Plain \
         box has limits but no penalty on sliders or moved surface; box in steps allows {STEP} \
         per step.",
        subject.name()
    );

    let header = [
        "method",
        "straight, median",
        "straight, most",
        "beyond, median",
        "beyond, most",
        "drags above 0.06",
    ];

    let mut table = Table::new(caption, header)
        .with_best(2, Best::Least)
        .with_best(4, Best::Least);

    for (method, [straight, beyond]) in methods.iter().zip(results) {
        let above = straight
            .iter()
            .chain(beyond)
            .filter(|change| **change > LIMIT)
            .count();
        let cells = [straight, beyond].map(|all| {
            [median(all.iter().copied()), greatest(all.iter().copied())].map(|c| format!("{c:.3}"))
        });

        table.push(
            [method.label.to_owned()]
                .into_iter()
                .chain(cells.into_iter().flatten())
                .chain([above.to_string()]),
        );
    }

    table
}

fn change_plot(
    subject: &Subject<'_>,
    drag: &Drag,
    methods: &[SteppedMethod],
) -> Result<Plot, ReproduceError> {
    let mut plot = Plot::new(
        format!("One drag, {}", subject.name()),
        Axis::linear("step"),
        Axis::linear("largest change of a slider"),
    )
    .with_rule(LIMIT, "wanted")
    .with_size([1130, 340]);

    for method in methods {
        let points = changes(subject, drag, DragPath::Beyond, method)?;
        let points = points
            .into_iter()
            .enumerate()
            .map(|(k, change)| [(k + 1) as f64, change]);
        plot = plot.with_series(Series::new(method.label, Marks::Line, points));
    }

    Ok(plot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linear_path_ends_at_its_goal_and_the_other_half_as_far_beyond() {
        let drag = Drag {
            pins: vec![0],
            displacement: DVec3::new(1.0, 2.0, 0.0),
            sideways: DVec3::Z,
        };
        assert_eq!(place(&drag, DragPath::Straight, 1.0), drag.displacement);
        assert!(place(&drag, DragPath::Beyond, 1.0).distance(1.5 * drag.displacement) < 1e-12);
        assert!(
            (place(&drag, DragPath::Beyond, 0.25) - 0.375 * drag.displacement).distance(DVec3::Z)
                < 1e-12
        );
    }
}
