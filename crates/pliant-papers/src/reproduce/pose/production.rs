//! Figure 4.5: one drag by all methods on the largest model.

use pliant_mesh::glam::DVec3;
use pliant_rig::{Pose, Range};
use pliant_view::{ContactSheet, Image};

use super::ReproduceError;
use super::methods::{Method, bounded, thesis};
use super::numerals::{greatest, least, percent, row};
use super::pictures::{PinMarks, Portraits};
use super::subject::Subject;
use crate::page::{Best, Section, Table};

/// Length of the drag relative to the displacement of its slider.
const LENGTH: f64 = 1.2;
/// The motion at the end of the colour map, relative to the drag.
const HOTTEST: f64 = 0.5;
/// Faces in a row.
const COLUMNS: usize = 3;

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    // The figure shows a production model; the largest skin comes closest to it.
    let subject = subjects
        .iter()
        .max_by_key(|subject| subject.skin.len())
        .expect("a built-in face");

    let mut section = Section::new(
        "A production model",
        format!(
            "The thesis drags a model of more than 100 targets to the same pose by its transpose, \
             by the pseudo-inverse and by the regularised pseudo-inverse of Lewis, Anjyo 2010; \
             only the transpose leaves the rest of the face still (figure 4.5). No open model has \
             so many targets. This is the largest available one, {} with {} targets: a corner of \
             the mouth is pulled up and out by {LENGTH} times its smile, and a brow is held.",
            subject.name(),
            subject.model.rig.targets().len()
        ),
    );

    let (pins, displacements) = drag(subject);
    let methods: Vec<Method> = thesis(Range::Free).into_iter().chain([bounded()]).collect();
    let poses: Vec<Pose> = methods
        .iter()
        .map(|method| subject.drag(&[], &pins, &displacements, method))
        .collect::<Result<_, _>>()?;

    let length = displacements[0].length();
    let far = subject.far_from(&pins)?;
    let mut table = Table::new(
        "Pin errors and the largest motion far from both pins in % of the drag.",
        [
            "method",
            "pin error, %",
            "held brow moves, %",
            "sliders",
            "least weight",
            "greatest",
            "far motion, %",
        ],
    )
    .with_best(6, Best::Least);
    for (method, pose) in methods.iter().zip(&poses) {
        let far_motion = percent(far_motion(subject, pose, &far) / length);
        table.push(row(&method.label, cells(pose, length, far_motion.clone())));
        section.figure(
            &format!("{}, far motion", method.label),
            format!("{far_motion} % of the drag"),
        );
    }

    section.table(table);
    section.wide(
        "production.png",
        &format!(
            "Poses with free weights, and below each the motion of all vertices: dark is still, \
             yellow is {HOTTEST} of the drag or more."
        ),
        &faces(subject, (&pins, &displacements), &methods, &poses)?,
    )?;
    section.paragraph(
        "Where the transpose moves less, its pin does not reach the goal; the transpose is not \
         local. Every target that moves the pin gets a share, also the broad ones, and targets \
         that would move it in the opposite direction get a negative weight. Inside limits and \
         with a penalty on moved surface, a few sliders move the pin to its goal.",
    );

    Ok(section)
}

/// The largest motion of far vertices.
fn far_motion(subject: &Subject<'_>, pose: &Pose, far: &[u32]) -> f64 {
    let rest = subject.model.rig.neutral().positions();
    let moved = subject.motion(rest, &pose.weights);
    far.iter().map(|&v| moved[v as usize]).fold(0.0, f64::max)
}

/// Errors of both pins, sliders, range of weights, and far motion.
fn cells(pose: &Pose, length: f64, far_motion: String) -> [String; 6] {
    let [error, held] = [0, 1].map(|k| percent(pose.pins[k].error / length));
    [
        error,
        held,
        pose.active_sliders().to_string(),
        format!("{:.2}", least(pose.weights.iter().copied())),
        format!("{:.2}", greatest(pose.weights.iter().copied())),
        far_motion,
    ]
}

/// The dragged corner of the mouth and the held brow, with their displacements.
fn drag(subject: &Subject<'_>) -> ([u32; 2], [DVec3; 2]) {
    let smile = subject
        .slider_like(&["mouthsmilel", "mouthcornerpuller", "smile"])
        .unwrap_or(0);
    let brow = subject
        .slider_like(&["browouterupl", "eyebrowsleftexternup", "brow"])
        .unwrap_or(smile);
    let pins = [smile, brow].map(|slider| subject.best_pin(|v| subject.delta(slider, v).length()));
    (pins, [LENGTH * subject.delta(smile, pins[0]), DVec3::ZERO])
}

fn faces(
    subject: &Subject<'_>,
    (pins, displacements): (&[u32; 2], &[DVec3; 2]),
    methods: &[Method],
    poses: &[Pose],
) -> Result<Image, ReproduceError> {
    let rest = subject.model.rig.neutral().positions();
    let mut sheet = ContactSheet::new("", COLUMNS);
    let portraits = Portraits::new(subject, COLUMNS);
    let length = displacements[0].length();

    for (methods, poses) in methods.chunks(COLUMNS).zip(poses.chunks(COLUMNS)) {
        for (method, pose) in methods.iter().zip(poses) {
            let held: Vec<PinMarks> = pins
                .iter()
                .zip(&pose.pins)
                .map(|(&pin, result)| PinMarks::new(rest[pin as usize], result))
                .collect();
            sheet.push(portraits.pose(&pose.weights, &held)?, method.label.as_str());
        }
        // A second row shows the motion of each pose as a heat map.
        for pose in poses {
            let moved = subject
                .motion(rest, &pose.weights)
                .iter()
                .map(|d| d / length)
                .collect();
            sheet.push(portraits.heat(&pose.weights, moved, HOTTEST)?, "");
        }
    }

    Ok(sheet.compose()?)
}
