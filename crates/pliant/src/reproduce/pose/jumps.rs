//! Sliders that follow a hand without jumps.

use std::f64::consts::PI;

use pliant_mesh::glam::DVec3;
use pliant_rig::{Bounded, Range, Tikhonov};

use super::ReproduceError;
use super::drags::{lively, reachable_way};
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
/// What was wanted: a slider that changes by more in one frame is seen to jump.
const WANTED: f64 = 0.06;

/// A pin that is dragged while others are held.
struct Drag {
    pins: Vec<u32>,
    way: DVec3,
    sideways: DVec3,
}

/// The way that the hand takes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    /// Straight to a place that can be reached.
    Straight,
    /// Half as far again, in a swing.
    Beyond,
}

/// A method, solved anew at each place or within a step of the last weights.
struct Way {
    label: &'static str,
    method: Method,
    step: Option<f64>,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Jumps",
        format!(
            "The thesis calls the pseudo-inverse unstable: long drags end in noise. How a drag gets there is not measured in it. Here one \
             pin is dragged in {STEPS} steps while {HELD} are held, {DRAGS} times: straight to where one to three sliders take it, and half \
             as far again in a swing. The largest change of any slider in one step should stay below {WANTED}."
        ),
    );
    let ways = ways();
    for (k, subject) in subjects.iter().enumerate() {
        let drags = drags(subject);
        let results: Vec<[Vec<f64>; 2]> = ways
            .iter()
            .map(|way| measure(subject, &drags, way))
            .collect::<Result<_, _>>()?;
        section.table(table(subject, &ways, &results));
        if k == 0 {
            // The drag on which plain box jumps most.
            let worst = drags
                .iter()
                .zip(&results[PLAIN][1])
                .max_by(|a, b| a.1.total_cmp(b.1));
            if let Some((drag, _)) = worst {
                section.plot(
                    course_plot(subject, drag, &ways)?,
                    "One drag beyond reach: the largest change of any slider at each step.",
                );
            }
        }
        let ours = greatest(results.last().into_iter().flatten().flatten().copied());
        let verdict = if ours <= WANTED {
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
        "A linear method cannot jump, but it runs: where pins contradict each other its weights are large and so is every step. Inside limits the weights follow a piecewise linear path, steep where \
         sliders that do nearly the same change places; with a price on moved surface the slopes are bounded, and a limit per step spreads \
         what is left over a few frames.",
    );
    Ok(section)
}

/// The place of plain box among the ways.
const PLAIN: usize = 1;

fn ways() -> [Way; 4] {
    let plain = Bounded::default().with_sparsity(0.0).with_damping(1e-6);
    [
        Way {
            label: "tikhonov",
            method: Method::new(Tikhonov::default(), Range::Free),
            step: None,
        },
        Way {
            label: "plain box",
            method: Method::new(plain, Range::Clip),
            step: None,
        },
        Way {
            label: "box",
            method: bounded(),
            step: None,
        },
        Way {
            label: "box in steps",
            method: bounded(),
            step: Some(STEP),
        },
    ]
}

fn drags(subject: &Subject<'_>) -> Vec<Drag> {
    let (lively, mut lcg) = (lively(subject), Lcg::new(60));
    if lively.is_empty() {
        return Vec::new();
    }
    let one = |lcg: &mut Lcg| {
        let pin = lively[lcg.below(lively.len())];
        let way = reachable_way(subject, pin, lcg);
        let sideways = way.cross(DVec3::new(
            lcg.between(-1.0, 1.0),
            lcg.between(-1.0, 1.0),
            lcg.between(-1.0, 1.0),
        ));
        let held = held_pins(subject, &lively, pin, lcg);
        Drag {
            pins: [vec![pin], held].concat(),
            way,
            sideways: sideways.normalize_or_zero() * 0.4 * way.length(),
        }
    };
    (0..DRAGS).map(|_| one(&mut lcg)).collect()
}

/// Lively vertices, each as far from the pins before it as the best of a few draws.
fn held_pins(subject: &Subject<'_>, lively: &[u32], pin: u32, lcg: &mut Lcg) -> Vec<u32> {
    let places = subject.model.rig.neutral().positions();
    let mut pins = vec![pin];
    for _ in 0..HELD {
        let apart = |v: u32| {
            pins.iter()
                .map(|&p| places[p as usize].distance(places[v as usize]))
                .fold(f64::INFINITY, f64::min)
        };
        let drawn = lcg.choose(lively, 6);
        let best = drawn
            .into_iter()
            .max_by(|&a, &b| apart(a).total_cmp(&apart(b)));
        pins.extend(best);
    }
    pins.split_off(1)
}

fn place(drag: &Drag, course: Course, share: f64) -> DVec3 {
    match course {
        Course::Straight => drag.way * share,
        Course::Beyond => 1.5 * drag.way * share + drag.sideways * (2.0 * PI * share).sin(),
    }
}

/// The largest change of any slider at each step.
fn changes(
    subject: &Subject<'_>,
    drag: &Drag,
    course: Course,
    way: &Way,
) -> Result<Vec<f64>, ReproduceError> {
    let mut grab = subject.grab(&[], &drag.pins, &way.method)?;
    let mut displacements = vec![DVec3::ZERO; drag.pins.len()];
    let mut last = vec![0.0; subject.model.rig.targets().len()];
    let mut changes = Vec::new();
    for k in 1..=STEPS {
        displacements[0] = place(drag, course, k as f64 / STEPS as f64);
        let pose = match way.step {
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
        last = pose.weights;
    }
    Ok(changes)
}

/// The largest change of each drag, straight and beyond.
fn measure(
    subject: &Subject<'_>,
    drags: &[Drag],
    way: &Way,
) -> Result<[Vec<f64>; 2], ReproduceError> {
    let along = |course| {
        drags
            .iter()
            .map(|drag| Ok(greatest(changes(subject, drag, course, way)?)))
            .collect::<Result<Vec<f64>, ReproduceError>>()
    };
    Ok([along(Course::Straight)?, along(Course::Beyond)?])
}

fn table(subject: &Subject<'_>, ways: &[Way], results: &[[Vec<f64>; 2]]) -> Table {
    let caption = format!(
        "{}: the largest change of a slider in one of {STEPS} steps, over {DRAGS} drags. Plain box has limits but prices neither sliders \
         nor moved surface; box in steps allows {STEP} a step.",
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
    for (way, [straight, beyond]) in ways.iter().zip(results) {
        let above = straight
            .iter()
            .chain(beyond)
            .filter(|change| **change > WANTED)
            .count();
        let cells = [straight, beyond].map(|all| {
            [median(all.iter().copied()), greatest(all.iter().copied())].map(|c| format!("{c:.3}"))
        });
        table.push(
            [way.label.to_owned()]
                .into_iter()
                .chain(cells.into_iter().flatten())
                .chain([above.to_string()]),
        );
    }
    table
}

fn course_plot(subject: &Subject<'_>, drag: &Drag, ways: &[Way]) -> Result<Plot, ReproduceError> {
    let mut plot = Plot::new(
        format!("One drag, {}", subject.name()),
        Axis::linear("step"),
        Axis::linear("largest change of a slider"),
    )
    .with_rule(WANTED, "wanted")
    .with_size([1130, 340]);
    for way in ways {
        let points = changes(subject, drag, Course::Beyond, way)?;
        let points = points
            .into_iter()
            .enumerate()
            .map(|(k, change)| [(k + 1) as f64, change]);
        plot = plot.with_series(Series::new(way.label, Marks::Line, points));
    }
    Ok(plot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_course_ends_at_its_goal_and_the_other_half_as_far_beyond() {
        let drag = Drag {
            pins: vec![0],
            way: DVec3::new(1.0, 2.0, 0.0),
            sideways: DVec3::Z,
        };
        assert_eq!(place(&drag, Course::Straight, 1.0), drag.way);
        assert!(place(&drag, Course::Beyond, 1.0).distance(1.5 * drag.way) < 1e-12);
        assert!((place(&drag, Course::Beyond, 0.25) - 0.375 * drag.way).distance(DVec3::Z) < 1e-12);
    }
}
