//! Table 5.2 and figure 5.9: what one step of the simulation costs.

use pliant_physics::{
    PhysicsError, SoftPatch, Touch, TouchFrame, TouchMethod, TouchOptions, VerletOptions,
};
use web_time::Instant;

use super::numerals::{grouped, median, rounded};
use super::subject::Subject;
use super::thesis::{PUBLISHED, RANGES};
use super::{Cast, ReproduceError, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::pressing_ball::PressingBall;
use crate::touch_job::TouchJob;
use crate::transfer_job::milliseconds;

/// Steps that are timed at each range, there and back; the median is told.
const FRAMES: usize = 25;
/// Radius of the ball and how deep it goes, in the thesis' units. *Ours*: it fits the smallest
/// area.
const BALL: [f64; 2] = [0.8, 0.4];
/// Ways of stepping.
const METHODS: [&str; 3] = ["verlet, 2 iterations", "XPBD, 1 × 2", "XPBD, 10 × 1"];

/// Milliseconds by method and range, the whole model last, and how many vertices move.
struct Measured {
    step: [[f64; 6]; 3],
    vertices: [usize; 6],
}

/// A line `y = offset + slope x`, and the part of the scatter of `y` that it explains.
struct Fit {
    offset: f64,
    slope: f64,
    explained: f64,
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "One step",
        "Table 5.2: a ball presses the cheek, and a step of 1/60 s is timed with two iterations: by the thesis' method, and by ours with \
         one substep of two iterations and with ten substeps of one, which is our default. The thesis' times hold Python and Maya, on a \
         machine of 2011: the order of magnitude is not the method's alone. What both show is that cost follows the size of the area.",
    );
    let measured: Vec<Measured> = cast
        .subjects
        .iter()
        .map(measure)
        .collect::<Result<_, _>>()?;
    for (subject, found) in cast.subjects.iter().zip(&measured) {
        let told = format!(
            "verlet {} ms, XPBD 10 × 1 {} ms",
            rounded(found.step[0][1]),
            rounded(found.step[2][1])
        );
        section.figure(&format!("{}, range 3", subject.title()), told);
    }
    for (method, fit) in METHODS.iter().zip(fits(&measured)) {
        let told = format!(
            "{} µs a vertex, R² {:.3}",
            rounded(1e3 * fit.slope),
            fit.explained
        );
        section.figure(&format!("{method}, line"), told);
    }
    section.table(table(cast, &measured));
    section.plot(
        by_range(cast, &measured),
        "Figure 5.9: one step over the range; 15 stands for the whole model.",
    );
    section.plot(by_size(&measured), "The same over the number of soft vertices, on all skins, and the straight lines nearest to them.");
    section.paragraph(
        "How other libraries do on the same patch is measured by benches/compare.py touch.",
    );
    Ok(section)
}

fn options() -> [TouchOptions; 3] {
    let verlet = VerletOptions::default();
    [
        TouchOptions::default().with_method(TouchMethod::Verlet(verlet)),
        TouchOptions::default().with_substeps(1).with_iterations(2),
        TouchOptions::default().with_substeps(10).with_iterations(1),
    ]
}

fn measure(subject: &Subject) -> Result<Measured, ReproduceError> {
    let mut found = Measured {
        step: [[0.0; 6]; 3],
        vertices: [0; 6],
    };
    for (k, radius) in RANGES
        .iter()
        .map(|range| range * subject.unit)
        .chain([subject.reach])
        .enumerate()
    {
        for (method, options) in options().into_iter().enumerate() {
            let (vertices, ms) = step(subject, radius, options).map_err(failed(&subject.name))?;
            found.step[method][k] = ms;
            found.vertices[k] = vertices;
        }
    }
    Ok(found)
}

/// How many vertices are soft, and the median of a step.
fn step(
    subject: &Subject,
    radius: f64,
    options: TouchOptions,
) -> Result<(usize, f64), PhysicsError> {
    let [ball, depth] = BALL.map(|length| length * subject.unit);
    let collider = PressingBall::above(&subject.skin, subject.cheek, ball, depth).collider()?;
    let patches = vec![SoftPatch {
        center: subject.cheek,
        radius,
    }];
    let job = TouchJob {
        colliders: vec![collider],
        frames: Some(FRAMES),
        options,
        ..TouchJob::new(subject.skin.clone(), patches)
    };
    let mut touch = Touch::new(&job.mesh, &job.patches, &job.options)?;
    job.colliders
        .iter()
        .try_for_each(|solid| touch.add_collider(solid.collider.clone()))?;
    let mut spans = Vec::new();
    for frame in 0..FRAMES {
        let colliders = job.motions(frame);
        let began = Instant::now();
        touch.step(&TouchFrame {
            shape: None,
            colliders: &colliders,
            pulls: &[],
            secs: 1.0 / job.fps,
        })?;
        spans.push(milliseconds(began));
    }
    Ok((touch.region().vertices().len(), median(spans)))
}

fn table(cast: &Cast, measured: &[Measured]) -> Table {
    let caption = format!(
        "Table 5.2 in milliseconds: one step at each range and on the whole model. Ours are medians of {FRAMES} steps on this machine, now, \
         on as many threads as it has."
    );
    let ranges = RANGES
        .iter()
        .map(|range| format!("range {range:.0}"))
        .chain(["whole".to_owned()]);
    let mut table = Table::new(
        caption,
        ["model".to_owned(), "by".to_owned()]
            .into_iter()
            .chain(ranges),
    );
    for (subject, found) in cast.subjects.iter().zip(measured) {
        if let Some(row) = subject.published {
            let ms = row
                .step_secs
                .map(|secs| grouped((1e3 * secs).round() as usize));
            table.push_quoted(
                [
                    format!("{}, 2016", row.model),
                    "verlet, 2 iterations".to_owned(),
                ]
                .into_iter()
                .chain(ms),
            );
        }
        table.push(
            [subject.title(), "soft vertices".to_owned()]
                .into_iter()
                .chain(found.vertices.map(grouped)),
        );
        for (method, ms) in METHODS.iter().zip(found.step) {
            table.push(
                [subject.title(), (*method).to_owned()]
                    .into_iter()
                    .chain(ms.map(rounded)),
            );
        }
    }
    table
}

fn by_range(cast: &Cast, measured: &[Measured]) -> Plot {
    let places = RANGES.into_iter().chain([15.0]);
    let line = |name: String, ms: [f64; 6]| {
        Series::new(
            name,
            Marks::LineAndPoints,
            places.clone().zip(ms).map(|(x, y)| [x, y]),
        )
    };
    let mut plot = Plot::new(
        "One step",
        Axis::linear("range"),
        Axis::logarithmic("time, ms"),
    )
    .with_size([760, 440]);
    for row in &PUBLISHED {
        plot = plot.with_series(line(
            format!("{}, 2016", row.model),
            row.step_secs.map(|secs| 1e3 * secs),
        ));
    }
    for (method, ms) in METHODS.iter().zip(measured[0].step) {
        plot = plot.with_series(line(format!("{method}, {}", cast.subjects[0].title()), ms));
    }
    plot
}

fn by_size(measured: &[Measured]) -> Plot {
    let mut plot = Plot::new(
        "Linear",
        Axis::linear("soft vertices"),
        Axis::linear("one step, ms"),
    )
    .with_size([760, 400]);
    for (k, (method, fit)) in METHODS.iter().zip(fits(measured)).enumerate() {
        let points = sizes_and_times(measured, k);
        let end = points.iter().map(|point| point[0]).fold(0.0, f64::max);
        plot = plot.with_series(Series::new(*method, Marks::Points, points));
        let line = [[0.0, fit.offset], [end, fit.offset + fit.slope * end]];
        plot = plot.with_series(Series::new(format!("{method}, line"), Marks::Line, line));
    }
    plot
}

fn sizes_and_times(measured: &[Measured], method: usize) -> Vec<[f64; 2]> {
    measured
        .iter()
        .flat_map(|found| {
            found
                .vertices
                .iter()
                .zip(found.step[method])
                .map(|(&n, ms)| [n as f64, ms])
        })
        .collect()
}

fn fits(measured: &[Measured]) -> [Fit; 3] {
    std::array::from_fn(|method| Fit::of(&sizes_and_times(measured, method)))
}

impl Fit {
    /// The line of least squares.
    fn of(points: &[[f64; 2]]) -> Self {
        let count = points.len().max(1) as f64;
        let mean: [f64; 2] =
            [0, 1].map(|k| points.iter().map(|point| point[k]).sum::<f64>() / count);
        let spread = |a: usize, b: usize| {
            points
                .iter()
                .map(|p| (p[a] - mean[a]) * (p[b] - mean[b]))
                .sum::<f64>()
        };
        let slope = spread(0, 1) / spread(0, 0);
        Self {
            offset: mean[1] - slope * mean[0],
            slope,
            explained: slope * spread(0, 1) / spread(1, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_through_its_points_and_explains_less_of_a_bent_one() {
        let straight = Fit::of(&[[0.0, 1.0], [2.0, 5.0], [7.0, 15.0]]);
        assert!(
            (straight.offset - 1.0).abs() < 1e-12
                && (straight.slope - 2.0).abs() < 1e-12
                && straight.explained > 1.0 - 1e-12
        );
        assert!(
            Fit::of(&[[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
                .explained
                .abs()
                < 1e-12
        );
    }
}
