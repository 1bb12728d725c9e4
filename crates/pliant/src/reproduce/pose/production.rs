//! One drag by all methods on the largest model: figure 4.5.

use pliant_mesh::glam::DVec3;
use pliant_rig::{Pose, Range};
use pliant_view::{ContactSheet, Image};

use super::ReproduceError;
use super::methods::{Method, bounded, thesis};
use super::numerals::{greatest, least, percent};
use super::portrait::{Held, Portraits};
use super::subject::Subject;
use crate::page::{Best, Section, Table};

/// The drag goes this many times as far as its slider.
const LENGTH: f64 = 1.2;
/// The hottest colour, in parts of the drag.
const HOTTEST: f64 = 0.5;
/// Faces beside each other.
const COLUMNS: usize = 3;

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let subject = subjects
        .iter()
        .max_by_key(|subject| subject.skin.len())
        .expect("a built-in face");
    let mut section = Section::new(
        "A production model",
        format!(
            "The thesis drags a model of more than 100 targets to the same pose by its transpose, by the pseudo-inverse and by Lewis and \
             Anjyo's regularised one; only the first leaves the rest of the face alone (figure 4.5). No open model has so many; this is \
             the largest at hand, {} with {} targets: a corner of the mouth pulled up and out by {LENGTH} times its smile, a brow held.",
            subject.name(),
            subject.model.rig.targets().len()
        ),
    );
    let (pins, ways) = drag(subject);
    let far = subject.far_from(&pins)?;
    let methods: Vec<Method> = thesis(Range::Free).into_iter().chain([bounded()]).collect();
    let poses: Vec<Pose> = methods
        .iter()
        .map(|method| subject.drag(&[], &pins, &ways, method))
        .collect::<Result<_, _>>()?;
    let length = ways[0].length();
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
        let moved = subject.motion(subject.model.rig.neutral().positions(), &pose.weights);
        let farthest = far.iter().map(|&v| moved[v as usize]).fold(0.0, f64::max);
        let range = [
            least(pose.weights.iter().copied()),
            greatest(pose.weights.iter().copied()),
        ]
        .map(|w| format!("{w:.2}"));
        let errors = [0, 1].map(|k| percent(pose.pins[k].error / length));
        let row = [method.label.clone()]
            .into_iter()
            .chain(errors)
            .chain([pose.active_sliders().to_string()])
            .chain(range);
        table.push(row.chain([percent(farthest / length)]));
        section.figure(
            &format!("{}, far motion", method.label),
            format!("{} % of the drag", percent(farthest / length)),
        );
    }
    section.table(table);
    let caption = format!(
        "Poses, weights as they come, and below each how far everything moved: dark is still, yellow {HOTTEST} of the drag and more."
    );
    section.wide(
        "production.png",
        &caption,
        &faces(subject, (&pins, &ways), &methods, &poses)?,
    )?;
    section.paragraph(
        "Where the transpose moves less it is because its pin stays behind, not because it is local: every target that moves the pin gets its share, \
         the broad ones too, and those that would move it the other way get a negative one. Inside limits, with a price on what moves, \
         a few sliders take the pin all the way.",
    );
    Ok(section)
}

/// A corner of the mouth to be dragged, and a brow to be held.
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
    (pins, ways): (&[u32; 2], &[DVec3; 2]),
    methods: &[Method],
    poses: &[Pose],
) -> Result<Image, ReproduceError> {
    let rest = subject.model.rig.neutral().positions();
    let (mut sheet, portraits) = (
        ContactSheet::new("", COLUMNS),
        Portraits::new(subject, COLUMNS),
    );
    let length = ways[0].length();
    for (methods, poses) in methods.chunks(COLUMNS).zip(poses.chunks(COLUMNS)) {
        for (method, pose) in methods.iter().zip(poses) {
            let held: Vec<Held> = pins
                .iter()
                .zip(&pose.pins)
                .map(|(&pin, result)| Held::new(rest[pin as usize], result))
                .collect();
            sheet.push(portraits.pose(&pose.weights, &held)?, method.label.as_str());
        }
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
