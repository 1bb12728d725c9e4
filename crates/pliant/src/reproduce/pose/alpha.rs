//! The price of weights: figure 3.9.

use pliant_mesh::glam::DVec3;
use pliant_rig::{Pose, Range, Tikhonov, Units};
use pliant_view::ContactSheet;

use super::ReproduceError;
use super::methods::{Method, bounded};
use super::numerals::{file_stem, percent, shortened};
use super::portrait::{Held, Portraits};
use super::subject::Subject;
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// *Paper*: figure 3.9.
const ALPHAS: [f64; 4] = [1.0, 0.1, 0.01, 0.0001];

/// A pin in the middle of the lower lip, and a way that an open, pursed mouth takes it.
struct Drag {
    pin: u32,
    goal: DVec3,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The price of weights",
        "The thesis moves the middle pin of a mouth to one place with four prices α on weights: with a high price the face hardly answers, \
         with 0.0001 it follows (figure 3.9). Here α is in units of the largest eigenvalue of B̄ᵀB̄, so that it means the same on every \
         model; the pin is on the lower lip and its goal is where half an open jaw and half a pursed mouth take it.",
    );
    let mut table = Table::new(
        "How far from its goal the pin stays, in % of its way, and how many sliders are away from zero by more than 0.02. Free weights.",
        [
            "model",
            "α = 1",
            "0.1",
            "0.01",
            "0.0001",
            "box",
            "sliders at 0.0001",
            "sliders, box",
            "of them at 1",
        ],
    );
    let mut curves = Vec::new();
    for subject in subjects {
        let drag = mouth_drag(subject);
        let poses = poses(subject, &drag)?;
        let (thesis, ours) = poses.split_at(ALPHAS.len());
        let errors = poses.iter().map(|pose| percent(error(pose, &drag)));
        let counts =
            [&thesis[ALPHAS.len() - 1], &ours[0]].map(|pose| pose.active_sliders().to_string());
        let full = ours[0]
            .weights
            .iter()
            .filter(|w| **w >= 1.0)
            .count()
            .to_string();
        table.push(
            [subject.name().to_owned()]
                .into_iter()
                .chain(errors)
                .chain(counts)
                .chain([full]),
        );
        section.figure(
            &format!("{}, error at α = 0.0001", subject.name()),
            format!("{} %", percent(error(&thesis[3], &drag))),
        );
        section.paragraph(format!("{}.", subject.name()));
        curves.push(curve(subject, &drag)?);
        let caption = format!(
            "{}: α = 1, 0.1, 0.01, 0.0001, and our solver inside limits. White: start, blue: goal, red: reached.",
            subject.name()
        );
        section.plot(
            bars(subject, &poses),
            "Sliders away from zero by more than 0.02 for any of them.",
        );
        section.wide(
            &format!("alpha-{}.png", file_stem(subject.name())),
            &caption,
            &faces(subject, &drag, &poses)?,
        )?;
    }
    section.paragraph("Over all models.");
    section.table(table);
    let [x, y] = [
        Axis::logarithmic("α, of the largest eigenvalue"),
        Axis::linear("pin error, % of its way"),
    ];
    let plot = curves
        .into_iter()
        .fold(Plot::new("Error of the pin", x, y), Plot::with_series);
    section.plot(plot, "The figure's four prices are points on these lines.");
    section.paragraph(
        "As published: α = 1 leaves half of the way or more, 0.0001 next to nothing. What α does not do is choose: at 0.0001 the drag is \
         spread over every slider that moves the lip, some of them below zero. Our solver takes fewer and keeps them \
         inside their limits; where several end at 1 (last column) the pose is stronger than an animator would make it for this drag.",
    );
    Ok(section)
}

fn mouth_drag(subject: &Subject<'_>) -> Drag {
    let open = subject.slider_like(&["jawopen", "mouthopen"]).unwrap_or(0);
    let pursed = subject
        .slider_like(&["mouthpucker", "mouthpursing"])
        .unwrap_or(open);
    let pin =
        subject.best_pin(|v| subject.delta(open, v).length() * subject.delta(pursed, v).length());
    Drag {
        pin,
        goal: 0.5 * (subject.delta(open, pin) + subject.delta(pursed, pin)),
    }
}

fn tikhonov(alpha: f64) -> Method {
    Method::new(
        Tikhonov {
            alpha,
            units: Units::Relative,
        },
        Range::Free,
    )
}

/// The poses for the four prices, then ours.
fn poses(subject: &Subject<'_>, drag: &Drag) -> Result<Vec<Pose>, ReproduceError> {
    let methods = ALPHAS.into_iter().map(tikhonov).chain([bounded()]);
    methods
        .map(|method| subject.drag(&[], &[drag.pin], &[drag.goal], &method))
        .collect()
}

fn error(pose: &Pose, drag: &Drag) -> f64 {
    pose.pins[0].error / drag.goal.length().max(f64::MIN_POSITIVE)
}

fn curve(subject: &Subject<'_>, drag: &Drag) -> Result<Series, ReproduceError> {
    let point = |step: i32| {
        let alpha = 10.0_f64.powf(f64::from(step) / 4.0);
        let pose = subject.drag(&[], &[drag.pin], &[drag.goal], &tikhonov(alpha))?;
        Ok([alpha, 100.0 * error(&pose, drag)])
    };
    let points: Vec<[f64; 2]> = (-20..=4)
        .map(point)
        .collect::<Result<_, ReproduceError>>()?;
    Ok(Series::new(subject.name(), Marks::Line, points))
}

fn faces(
    subject: &Subject<'_>,
    drag: &Drag,
    poses: &[Pose],
) -> Result<pliant_view::Image, ReproduceError> {
    let start = subject.model.rig.neutral().positions()[drag.pin as usize];
    let (mut sheet, portraits) = (
        ContactSheet::new("", poses.len()),
        Portraits::new(subject, poses.len()),
    );
    for (k, pose) in poses.iter().enumerate() {
        let caption = ALPHAS
            .get(k)
            .map_or_else(|| "box".to_owned(), |alpha| format!("alpha = {alpha}"));
        sheet.push(
            portraits.pose(&pose.weights, &[Held::new(start, &pose.pins[0])])?,
            caption,
        );
    }
    Ok(sheet.compose()?)
}

fn bars(subject: &Subject<'_>, poses: &[Pose]) -> Plot {
    let names = subject.slider_names();
    let shown: Vec<usize> = (0..names.len())
        .filter(|&k| {
            poses
                .iter()
                .any(|pose| pose.weights[k].abs() > Pose::ACTIVE)
        })
        .collect();
    let axis = Axis::categories("", shown.iter().map(|&k| shortened(names[k])));
    let plot = Plot::new(
        format!("Weights, {}", subject.name()),
        axis,
        Axis::linear("weight"),
    )
    .with_size([1130, 380]);
    let heights = |pose: &Pose| shown.iter().map(|&k| pose.weights[k]).collect::<Vec<f64>>();
    let labels = ALPHAS
        .iter()
        .map(|alpha| format!("α = {alpha}"))
        .chain(["box".to_owned()]);
    labels.zip(poses).fold(plot, |plot, (label, pose)| {
        plot.with_series(Series::bars(label, heights(pose)))
    })
}
