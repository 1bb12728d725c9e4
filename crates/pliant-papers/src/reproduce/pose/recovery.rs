//! Figures 4.4 and 4.6: known poses recovered from pins.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Pose, weight_error};
use pliant_view::{ContactSheet, Image};

use super::ReproduceError;
use super::lcg::Lcg;
use super::methods::{Method, all};
use super::numerals::{file_stem, mean, rounded, row};
use super::pictures::{PinMarks, Portraits};
use super::subject::Subject;
use crate::page::{Axis, Best, Marks, Plot, Section, Series, Table};

/// Poses of each model.
const POSES: usize = 16;
/// Sliders of a pose. *Chosen*: figure 4.4 of the thesis shows a handful.
const SLIDERS: usize = 5;
/// The range of their weights.
const WEIGHTS: [f64; 2] = [0.3, 1.0];
/// The largest number of pins per slider.
const MOST_PINS: usize = 3;
/// Our goal: the error of our solver relative to the best method of the thesis.
const GOAL: f64 = 1.0 / 3.0;
/// Faces in a row.
const COLUMNS: usize = 4;
/// Sliders that move no vertex by this part of the face's diagonal are left out.
const LEAST_REACH: f64 = 0.004;
/// The preferred distance between pins of one slider, relative to the face's diagonal.
const APART: f64 = 0.04;

/// A known pose and its pins.
struct KnownPose {
    weights: Vec<f64>,
    /// The first pin of every slider, then the second ones, and so on.
    pins: Vec<u32>,
    displacements: Vec<DVec3>,
}

/// The mean error of every method, for one, two and three pins per slider.
struct RecoveryErrors {
    errors: Vec<[f64; MOST_PINS]>,
    spurious: Vec<[f64; MOST_PINS]>,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Poses recovered from pins",
        format!(
            "In the thesis a user poses a face by sliders and then by pins; the weights are \
             compared slider by slider, and the transpose is closest (figures 4.4 and 4.6, eq. \
             4.8). The motion of a user's hand cannot be repeated, so here the goals of the pins \
             are the exact positions of {POSES} known poses: {SLIDERS} sliders between {} and {}, \
             one pin per slider where it moves most, then two and three.",
            WEIGHTS[0], WEIGHTS[1]
        ),
    );

    let mut ratios = Table::new(
        "The error of box relative to the best of all ten methods of the thesis, for one, two and \
         three pins per slider, and relative to the best that is not clipped. Our goal was a \
         third of the best of all.",
        [
            "model",
            "1 pin",
            "2 pins",
            "3 pins",
            "unclipped, 1 pin",
            "2 pins",
            "3 pins",
            "a third reached",
        ],
    );

    for subject in subjects {
        let poses = known_poses(subject);
        let found = measure(subject, &poses)?;
        section.paragraph(format!("{}.", subject.name()));
        section.table(table(subject, &found));

        let name = file_stem(subject.name());
        let caption = format!(
            "{}: the known pose, and the result of each method from one pin per slider.",
            subject.name()
        );

        section.wide(
            &format!("recovery-{name}.png"),
            &caption,
            &faces(subject, &poses[0])?,
        )?;

        for plot in plots(subject, &poses[0])? {
            section.plot(plot, "The pose of the pictures (figure 4.6).");
        }

        add_ratios(subject, &found, &mut ratios, &mut section);
    }

    section.paragraph(
        "With exact pins, clipping improves the methods of the thesis more than the choice among \
         them, and the transpose is not the closest, because its pins do not reach their goals. \
         Our solver is closer than all of them, but misses our goal where the last column says no.",
    );
    section.table(ratios);

    Ok(section)
}

/// Adds the ratio of our error to that of the best method of the thesis, and of the best that is not
/// clipped.
fn add_ratios(
    subject: &Subject<'_>,
    found: &RecoveryErrors,
    table: &mut Table,
    section: &mut Section,
) {
    let (ours, thesis) = found.errors.split_last().expect("box is last");
    let to_all = ratios(ours, thesis);
    let to_free = ratios(ours, &thesis[..thesis.len() / 2]);
    section.figure(
        &format!("{}, box / best, 1, 2, 3 pins", subject.name()),
        formatted(to_all).join(", "),
    );

    let reached = to_all
        .map(|ratio| if ratio <= GOAL { "yes" } else { "no" })
        .join(", ");
    let mut cells = formatted(to_all).to_vec();
    cells.extend(formatted(to_free));
    cells.push(reached);
    table.push(row(subject.name(), cells));
}

/// Our errors relative to the least error of `methods`, by number of pins.
fn ratios(ours: &[f64; MOST_PINS], methods: &[[f64; MOST_PINS]]) -> [f64; MOST_PINS] {
    std::array::from_fn(|k| {
        let best = methods
            .iter()
            .map(|errors| errors[k])
            .fold(f64::INFINITY, f64::min);
        ours[k] / best
    })
}

fn formatted(ratios: [f64; MOST_PINS]) -> [String; MOST_PINS] {
    ratios.map(|ratio| format!("{ratio:.2}"))
}

fn known_poses(subject: &Subject<'_>) -> Vec<KnownPose> {
    let mut movable = Vec::new();
    for slider in 0..subject.model.rig.targets().len() {
        let mut reach = 0.0_f64;
        for (_, length) in subject.moved_skin(slider) {
            reach = reach.max(length);
        }
        if reach > LEAST_REACH * subject.size {
            movable.push(slider);
        }
    }

    let mut lcg = Lcg::new(44);
    (0..POSES)
        .map(|_| known_pose(subject, &movable, &mut lcg))
        .collect()
}

fn known_pose(subject: &Subject<'_>, movable: &[usize], lcg: &mut Lcg) -> KnownPose {
    // Random sliders with random weights are the known pose.
    let sliders = lcg.choose(movable, SLIDERS);
    let some: Vec<(usize, f64)> = sliders
        .iter()
        .map(|&slider| (slider, lcg.between(WEIGHTS[0], WEIGHTS[1])))
        .collect();
    let weights = subject.weights(&some);

    let of_sliders: Vec<Vec<u32>> = sliders
        .iter()
        .map(|&slider| pins_of(subject, slider))
        .collect();
    // First pins of all sliders first, so that a prefix holds k pins per slider.
    let pins: Vec<u32> = (0..MOST_PINS)
        .flat_map(|k| of_sliders.iter().map(move |pins| pins[k]))
        .collect();

    let rest = subject.model.rig.neutral().positions();
    let posed = subject.model.rig.evaluate(&weights);
    let displacements = pins
        .iter()
        .map(|&v| posed[v as usize] - rest[v as usize])
        .collect();

    KnownPose {
        weights,
        pins,
        displacements,
    }
}

/// The vertex that a slider moves most, then the one that it moves most at some distance, and so on.
fn pins_of(subject: &Subject<'_>, slider: usize) -> Vec<u32> {
    let moved = subject.moved_skin(slider);
    let mut pins: Vec<u32> = Vec::new();

    for _ in 0..MOST_PINS {
        // The later of equal vertices, as `max_by` chooses.
        let mut best = (0, f64::NEG_INFINITY);
        for &(v, length) in &moved {
            let worth = length * apart(subject, &pins, v);
            if worth >= best.1 {
                best = (v, worth);
            }
        }
        pins.push(best.0);
    }

    pins
}

/// The distance of a vertex from the nearest pin, relative to the preferred distance; at most 1.
fn apart(subject: &Subject<'_>, pins: &[u32], v: u32) -> f64 {
    let positions = subject.model.rig.neutral().positions();
    let mut nearest = f64::INFINITY;
    for &pin in pins {
        nearest = nearest.min(positions[pin as usize].distance(positions[v as usize]));
    }
    (nearest / (APART * subject.size)).min(1.0)
}

fn solve(
    subject: &Subject<'_>,
    pose: &KnownPose,
    pins_per_slider: usize,
    method: &Method,
) -> Result<Pose, ReproduceError> {
    // The first pins of all sliders, then the second ones, and so on.
    let count = pose.pins.len() / MOST_PINS * pins_per_slider;
    subject.drag(
        &[],
        &pose.pins[..count],
        &pose.displacements[..count],
        method,
    )
}

fn measure(subject: &Subject<'_>, poses: &[KnownPose]) -> Result<RecoveryErrors, ReproduceError> {
    let mut found = RecoveryErrors {
        errors: Vec::new(),
        spurious: Vec::new(),
    };

    for method in all() {
        let mut errors = [0.0; MOST_PINS];
        let mut spurious = [0.0; MOST_PINS];
        for pins in 1..=MOST_PINS {
            let solved =
                parallel::map(poses.len(), 1, |k| solve(subject, &poses[k], pins, &method));
            let solved: Vec<Pose> = solved.into_iter().collect::<Result<_, _>>()?;

            let pairs = || solved.iter().zip(poses);
            errors[pins - 1] =
                mean(pairs().map(|(pose, known)| weight_error(&pose.weights, &known.weights)));
            spurious[pins - 1] =
                mean(pairs().map(|(pose, known)| extra(&pose.weights, &known.weights)));
        }
        found.errors.push(errors);
        found.spurious.push(spurious);
    }

    Ok(found)
}

/// The number of active sliders that are zero in the known pose.
fn extra(weights: &[f64], known: &[f64]) -> f64 {
    weights
        .iter()
        .zip(known)
        .filter(|(w, p)| w.abs() > Pose::ACTIVE && **p == 0.0)
        .count() as f64
}

fn table(subject: &Subject<'_>, found: &RecoveryErrors) -> Table {
    let caption = format!(
        "{}: root mean square error of the weights (eq. 4.8), mean of {POSES} poses, and the \
         number of sliders that move although they should not.",
        subject.name()
    );

    let header = [
        "method",
        "1 pin per slider",
        "2 pins",
        "3 pins",
        "extra sliders, 1 pin",
        "2 pins",
        "3 pins",
    ];

    let mut table = Table::new(caption, header);
    for column in 1..header.len() {
        table = table.with_best(column, Best::Least);
    }

    for (method, (errors, spurious)) in all().iter().zip(found.errors.iter().zip(&found.spurious)) {
        let cells = errors
            .map(|error| format!("{error:.4}"))
            .into_iter()
            .chain(spurious.map(rounded));
        table.push([method.label.clone()].into_iter().chain(cells));
    }

    table
}

/// The methods in pictures: those of the thesis clipped, which improves them, and ours.
fn drawn() -> Vec<Method> {
    all()
        .into_iter()
        .filter(|method| method.label.contains("clipped") || method.label == "box")
        .collect()
}

fn faces(subject: &Subject<'_>, pose: &KnownPose) -> Result<Image, ReproduceError> {
    let rest = subject.model.rig.neutral().positions();
    let starts: Vec<DVec3> = pose.pins[..SLIDERS.min(pose.pins.len())]
        .iter()
        .map(|&v| rest[v as usize])
        .collect();
    let methods = drawn();

    let mut sheet = ContactSheet::new("", COLUMNS);
    let portraits = Portraits::new(subject, COLUMNS);
    let shown = starts
        .iter()
        .zip(&pose.displacements)
        .map(|(&from, &displacement)| PinMarks {
            from,
            goal: from + displacement,
            reached: from + displacement,
        });

    sheet.push(
        portraits.pose(&pose.weights, &shown.collect::<Vec<_>>())?,
        "planted",
    );

    // Each method solves for the pins of the known pose.
    for method in &methods {
        let solved = solve(subject, pose, 1, method)?;
        let held: Vec<PinMarks> = starts
            .iter()
            .zip(&solved.pins)
            .map(|(&from, result)| PinMarks::new(from, result))
            .collect();

        sheet.push(
            portraits.pose(&solved.weights, &held)?,
            method.label.as_str(),
        );
    }

    Ok(sheet.compose()?)
}

/// The error of each slider: as points for all methods, and as lines for three of them.
fn plots(subject: &Subject<'_>, pose: &KnownPose) -> Result<[Plot; 2], ReproduceError> {
    let errors = |method: &Method| -> Result<Vec<[f64; 2]>, ReproduceError> {
        let solved = solve(subject, pose, 1, method)?;
        let errors = solved.weights.iter().zip(&pose.weights).enumerate();
        Ok(errors.map(|(k, (w, p))| [(k + 1) as f64, w - p]).collect())
    };

    let plot = |title: &str| {
        Plot::new(
            format!("{title}, {}", subject.name()),
            Axis::linear("slider"),
            Axis::linear("weight found − planted"),
        )
    };

    let (mut scatter, mut lines) = (plot("Error of each slider"), plot("The same as lines"));
    for method in drawn() {
        let errors = errors(&method)?;
        scatter = scatter.with_series(Series::new(
            method.label.as_str(),
            Marks::Points,
            errors.clone(),
        ));

        // Lines for all methods would cover each other.
        if ["tikhonov, clipped", "transpose, clipped", "box"].contains(&method.label.as_str()) {
            lines = lines.with_series(Series::new(method.label.as_str(), Marks::Line, errors));
        }
    }

    Ok([scatter, lines])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Data;

    #[test]
    fn the_pins_of_a_known_pose_are_where_its_sliders_act() {
        let model = Data::built_in()
            .model("head", "specimen:head")
            .unwrap()
            .expect("a built-in head");
        let subject = Subject::new(&model).unwrap();
        let places = model.rig.neutral().positions();

        for pose in known_poses(&subject).iter().take(4) {
            let sliders: Vec<usize> = (0..pose.weights.len())
                .filter(|&k| pose.weights[k] != 0.0)
                .collect();

            assert_eq!(
                (sliders.len(), pose.pins.len(), pose.displacements.len()),
                (SLIDERS, SLIDERS * MOST_PINS, SLIDERS * MOST_PINS)
            );

            assert!(
                sliders
                    .iter()
                    .all(|&k| (WEIGHTS[0]..WEIGHTS[1]).contains(&pose.weights[k]))
            );

            let posed = model.rig.evaluate(&pose.weights);
            assert!(
                pose.pins
                    .iter()
                    .zip(&pose.displacements)
                    .all(|(&pin, &displacement)| {
                        (places[pin as usize] + displacement).distance(posed[pin as usize]) < 1e-12
                    })
            );

            // The first pins are where their sliders move most.
            for &slider in &sliders {
                let most = subject
                    .moved_skin(slider)
                    .iter()
                    .map(|(_, length)| *length)
                    .fold(0.0, f64::max);
                assert!(
                    pose.pins[..SLIDERS]
                        .iter()
                        .any(|&pin| (subject.delta(slider, pin).length() - most).abs() < 1e-9)
                );
            }
        }
    }
}
