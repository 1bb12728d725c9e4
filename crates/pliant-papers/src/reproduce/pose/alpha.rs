//! Figure 3.9: the regularisation of weights.

use pliant_mesh::glam::DVec3;
use pliant_rig::{Pose, Range, Tikhonov, Units};
use pliant_view::ContactSheet;

use super::ReproduceError;
use super::methods::{Method, bounded};
use super::numerals::{file_stem, percent, row, shortened};
use super::pictures::{PinMarks, Portraits};
use super::subject::Subject;
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// *Çetinaslan 2016*, figure 3.9.
const ALPHAS: [f64; 4] = [1.0, 0.1, 0.01, 0.0001];

/// A pin in the middle of the lower lip, and its displacement by an open, pursed mouth.
struct Drag {
    pin: u32,
    goal: DVec3,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The regularisation of weights",
        "Figure 3.9: the thesis moves the middle pin of a mouth to one position with four values \
         of the regularisation α. With a large α the face hardly follows; with 0.0001 it does. \
         Here α is relative to the largest eigenvalue of B̄ᵀB̄, so that it means the same on \
         every model. The pin is on the lower lip, and its goal is the position given by a \
         half-open jaw and a half-pursed mouth.",
    );

    let mut table = Table::new(
        "The remaining distance from pin to goal, in % of the drag, and the number of sliders \
         with a weight beyond 0.02. Free weights.",
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
        // The four values of α, then our solver, on the same drag.
        table.push(row(subject.name(), cells(&poses, &drag)));
        section.figure(
            &format!("{}, error at α = 0.0001", subject.name()),
            format!("{} %", percent(error(&poses[3], &drag))),
        );
        curves.push(curve(subject, &drag)?);

        section.paragraph(format!("{}.", subject.name()));
        section.plot(
            bars(subject, &poses),
            "Sliders with a weight beyond 0.02 for any of them.",
        );
        let caption = format!(
            "{}: α = 1, 0.1, 0.01, 0.0001, and our solver inside limits. White: start, blue: \
             goal, red: reached.",
            subject.name()
        );
        section.wide(
            &format!("alpha-{}.png", file_stem(subject.name())),
            &caption,
            &faces(subject, &drag, &poses)?,
        )?;
    }

    // The comparison of all models follows the details of each.
    section.paragraph("Over all models.");
    section.table(table);
    let plot = Plot::new(
        "Error of the pin",
        Axis::logarithmic("α, of the largest eigenvalue"),
        Axis::linear("pin error, % of the drag"),
    );
    section.plot(
        curves.into_iter().fold(plot, Plot::with_series),
        "The four values of the figure are points on these lines.",
    );
    section.paragraph(
        "As in the thesis, α = 1 leaves half of the drag or more, and 0.0001 almost nothing. But \
         α does not select sliders: at 0.0001 every slider that moves the lip takes part, some of \
         them below zero. Our solver uses fewer sliders and keeps them inside their limits. Where \
         several end at 1 (last column), the pose is stronger than an animator would make it for \
         this drag.",
    );

    Ok(section)
}

/// Errors of all poses, sliders at the smallest α and of ours, and our sliders at their limit.
fn cells(poses: &[Pose], drag: &Drag) -> Vec<String> {
    let (thesis, ours) = poses.split_at(ALPHAS.len());
    // Only our solver is bounded, so only its weights can be at a limit.
    let at_limit = ours[0].weights.iter().filter(|w| **w >= 1.0).count();

    let mut cells: Vec<String> = poses
        .iter()
        .map(|pose| percent(error(pose, drag)))
        .collect();
    cells.push(thesis[ALPHAS.len() - 1].active_sliders().to_string());
    cells.push(ours[0].active_sliders().to_string());
    cells.push(at_limit.to_string());
    cells
}

fn mouth_drag(subject: &Subject<'_>) -> Drag {
    // Models name their targets differently; the first matching word decides.
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

/// The poses for the four values of α, then ours.
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
        // Four samples per decade, from 1e-5 to 10.
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
    let mut sheet = ContactSheet::new("", poses.len());
    let portraits = Portraits::new(subject, poses.len());

    for (k, pose) in poses.iter().enumerate() {
        let caption = match ALPHAS.get(k) {
            Some(alpha) => format!("alpha = {alpha}"),
            None => "box".to_owned(),
        };
        let marks = [PinMarks::new(start, &pose.pins[0])];
        sheet.push(portraits.pose(&pose.weights, &marks)?, caption);
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
    let mut plot = Plot::new(
        format!("Weights, {}", subject.name()),
        axis,
        Axis::linear("weight"),
    )
    .with_size([1130, 380]);

    let mut labels = ALPHAS.map(|alpha| format!("α = {alpha}")).to_vec();
    labels.push("box".to_owned());
    for (label, pose) in labels.into_iter().zip(poses) {
        let heights: Vec<f64> = shown.iter().map(|&k| pose.weights[k]).collect();
        plot = plot.with_series(Series::bars(label, heights));
    }
    plot
}
