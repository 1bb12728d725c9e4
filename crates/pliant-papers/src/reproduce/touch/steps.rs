//! Table 5.2 and figure 5.9: time of one simulated step.

use pliant_physics::{
    PhysicsError, SoftPatch, Touch, TouchFrame, TouchJob, TouchMethod, TouchOptions, VerletOptions,
};
use web_time::Instant;

use super::numerals::{grouped, median, rounded, row};
use super::subject::Subject;
use super::thesis::{PUBLISHED, RANGES};
use super::{Models, ReproduceError, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::reproduce::milliseconds;
use crate::subjects::PressingBall;

/// Timed steps at each range, during press and return; the median is reported.
const FRAMES: usize = 25;
/// Radius and depth of the ball, in the units of the thesis. *Chosen*: it fits the smallest area.
const BALL: [f64; 2] = [0.8, 0.4];
/// The compared methods.
const METHODS: [&str; 3] = ["verlet, 2 iterations", "XPBD, 1 × 2", "XPBD, 10 × 1"];

/// Milliseconds by method and range, with the whole model last; and the number of soft vertices.
struct StepTimings {
    step: [[f64; 6]; 3],
    vertices: [usize; 6],
}

/// A line `y = offset + slope x`, and the part of the variance of `y` that it explains (`R²`).
struct Fit {
    offset: f64,
    slope: f64,
    explained: f64,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "One step",
        "Table 5.2: a ball presses the cheek, and a step of 1/60 s is timed with two iterations: \
         by the method of the thesis, by ours with one substep of two iterations, and by ours \
         with ten substeps of one iteration. The times of the thesis include Python and Maya on a \
         computer of 2011, so the difference is not due to the method alone. Both show that the \
         cost is proportional to the size of the area.",
    );

    let measured: Vec<StepTimings> = models
        .subjects
        .iter()
        .map(measure)
        .collect::<Result<_, _>>()?;

    for (subject, found) in models.subjects.iter().zip(&measured) {
        let text = format!(
            "verlet {} ms, XPBD 10 × 1 {} ms",
            rounded(found.step[0][1]),
            rounded(found.step[2][1])
        );
        section.figure(&format!("{}, range 3", subject.title()), text);
    }

    // A fitted line shows that cost is proportional to the soft vertices.
    for (method, fit) in METHODS.iter().zip(fits(&measured)) {
        let text = format!(
            "{} µs a vertex, R² {:.3}",
            rounded(1e3 * fit.slope),
            fit.explained
        );
        section.figure(&format!("{method}, line"), text);
    }

    section.table(table(models, &measured));
    section.plot(
        by_range(models, &measured),
        "Figure 5.9: one step over the range. The value 15 stands for the whole model.",
    );
    section.plot(
        by_size(&measured),
        "The same over the number of soft vertices, for all skins, \
        with fitted straight lines.",
    );

    section.paragraph(
        "The command benches/compare.py touch measures other libraries on the same patch.",
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

fn measure(subject: &Subject) -> Result<StepTimings, ReproduceError> {
    let mut radii: Vec<f64> = RANGES.iter().map(|range| range * subject.unit).collect();
    // A patch of this radius is the whole model.
    radii.push(subject.reach);

    let mut timings = StepTimings {
        step: [[0.0; 6]; 3],
        vertices: [0; 6],
    };
    for (k, &radius) in radii.iter().enumerate() {
        for (method, options) in options().into_iter().enumerate() {
            let (vertices, ms) = step(subject, radius, options).map_err(failed(&subject.name))?;
            timings.step[method][k] = ms;
            timings.vertices[k] = vertices;
        }
    }

    Ok(timings)
}

/// The number of soft vertices, and the median time of a step.
fn step(
    subject: &Subject,
    radius: f64,
    options: TouchOptions,
) -> Result<(usize, f64), PhysicsError> {
    let [ball, depth] = BALL.map(|length| length * subject.unit);
    let collider = PressingBall::above(&subject.skin, subject.cheek, ball, depth).collider()?;
    let patches = vec![SoftPatch {
        center: subject.cheek.into(),
        radius,
    }];

    let job = TouchJob {
        colliders: vec![collider],
        frames: Some(FRAMES),
        options,
        ..TouchJob::new(subject.skin.clone(), patches)
    };

    let mut touch = Touch::new(&job.mesh, &job.patches, &job.options)?;
    for solid in &job.colliders {
        touch.add_collider(solid.collider.clone())?;
    }

    let mut spans = Vec::new();
    for frame in 0..FRAMES {
        // The motion of the ball is computed outside of the timed step.
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

fn table(models: &Models, measured: &[StepTimings]) -> Table {
    let caption = format!(
        "Table 5.2 in milliseconds: one step at each range and on the whole model. Ours are \
         medians of {FRAMES} steps on this machine, on all of its threads."
    );

    let mut header = vec!["model".to_owned(), "by".to_owned()];
    header.extend(RANGES.iter().map(|range| format!("range {range:.0}")));
    header.push("whole".to_owned());

    let mut table = Table::new(caption, header);
    for (subject, timings) in models.subjects.iter().zip(measured) {
        if let Some(published) = subject.published {
            let times = published
                .step_secs
                .map(|secs| grouped((1e3 * secs).round() as usize));
            let name = format!("{}, 2016", published.model);
            table.push_quoted(row(name, row(METHODS[0], times)));
        }

        let counts = timings.vertices.map(grouped);
        table.push(row(subject.title(), row("soft vertices", counts)));
        for (method, times) in METHODS.iter().zip(timings.step) {
            let times = times.map(rounded);
            table.push(row(subject.title(), row(*method, times)));
        }
    }

    table
}

fn by_range(models: &Models, measured: &[StepTimings]) -> Plot {
    let mut plot = Plot::new(
        "One step",
        Axis::linear("range"),
        Axis::logarithmic("time, ms"),
    )
    .with_size([760, 440]);

    for published in &PUBLISHED {
        let times = published.step_secs.map(|secs| 1e3 * secs);
        plot = plot.with_series(line(format!("{}, 2016", published.model), times));
    }
    let title = models.subjects[0].title();
    for (method, times) in METHODS.iter().zip(measured[0].step) {
        plot = plot.with_series(line(format!("{method}, {title}"), times));
    }

    plot
}

/// Times over the range; the whole model stands at 15.
fn line(name: String, times_ms: [f64; 6]) -> Series {
    let ranges = RANGES.into_iter().chain([15.0]);
    let points = ranges.zip(times_ms).map(|(x, y)| [x, y]);
    Series::new(name, Marks::LineAndPoints, points)
}

fn by_size(measured: &[StepTimings]) -> Plot {
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

/// The points (soft vertices, time) of one method on all skins.
fn sizes_and_times(measured: &[StepTimings], method: usize) -> Vec<[f64; 2]> {
    let mut points = Vec::new();
    for timings in measured {
        for (&count, ms) in timings.vertices.iter().zip(timings.step[method]) {
            points.push([count as f64, ms]);
        }
    }
    points
}

fn fits(measured: &[StepTimings]) -> [Fit; 3] {
    std::array::from_fn(|method| Fit::of(&sizes_and_times(measured, method)))
}

impl Fit {
    /// The least-squares line.
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

        // Normal equations of a line: slope = cov(x, y) / var(x).
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
    fn a_line_through_its_points_explains_all_of_their_variance() {
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
