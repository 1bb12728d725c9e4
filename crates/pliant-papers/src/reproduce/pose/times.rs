//! Tables 3.1 and 4.1: time of pins and edits.

use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Localized, Range};
use web_time::Instant;

use super::methods::{Method, bounded};
use super::numerals::{gap, grouped, median, rounded, row};
use super::subject::Subject;
use super::{ReproduceError, spread_pins};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// Timed pins on each model.
const PINS: usize = 24;
/// Edits with each pin.
const EDITS: usize = 20;

/// A row of *Çetinaslan 2016*, table 3.1 or 4.1; times in milliseconds.
struct Published {
    model: &'static str,
    vertices: usize,
    edges: usize,
    faces: usize,
    targets: usize,
    pin_ms: f64,
    edit_ms: f64,
}

const PUBLISHED: [Published; 9] = [
    published("table 3.1, Face 1", [6720, 19_984, 13_264, 40], 60.0, 9.9),
    published("table 3.1, Face 2", [9562, 28_416, 18_848, 18], 15.0, 9.9),
    published(
        "table 3.1, Face 1*",
        [6720, 19_984, 13_264, 40],
        2700.0,
        9.9,
    ),
    published(
        "table 3.1, Face 2*",
        [9562, 28_416, 18_848, 18],
        1678.0,
        9.9,
    ),
    published("table 4.1, Face 1", [6720, 19_984, 13_264, 40], 150.0, 9.9),
    published("table 4.1, Face 2", [9562, 28_416, 18_848, 18], 30.0, 9.9),
    published(
        "table 4.1, Face 3",
        [11_926, 35_576, 23_648, 36],
        130.0,
        9.9,
    ),
    published("table 4.1, Face 4", [5692, 11_282, 5584, 127], 1750.0, 15.0),
    published("table 4.1, Face 5", [5792, 11_625, 5834, 136], 1460.0, 19.0),
];

const fn published(
    model: &'static str,
    [vertices, edges, faces, targets]: [usize; 4],
    pin_ms: f64,
    edit_ms: f64,
) -> Published {
    Published {
        model,
        vertices,
        edges,
        faces,
        targets,
        pin_ms,
        edit_ms,
    }
}

/// Median times on one model.
struct PinTimings {
    localized_pin_ms: f64,
    localized_edit_us: f64,
    pin_ms: f64,
    edit_us: f64,
    evaluate_us: f64,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Times of pins and edits",
        "Tables 3.1 and 4.1: the thesis reports the time to create a pin, between 15 ms and 2.7 \
         s, and the time of every edit with it, 10 to 19 ms.",
    );
    let measured: Vec<PinTimings> = subjects.iter().map(measure).collect::<Result<_, _>>()?;

    for (subject, found) in subjects.iter().zip(&measured) {
        section.figure(
            &format!("{}, pin", subject.name()),
            format!("{} ms", rounded(found.pin_ms)),
        );
        section.figure(
            &format!("{}, edit", subject.name()),
            format!("{} µs", rounded(found.edit_us)),
        );
    }

    section.table(table(subjects, &measured));
    section.plot(
        plot(subjects, &measured),
        "One edit over the number of targets. The computer of the thesis is of 2011.",
    );
    section.paragraph(verdict(subjects, &measured));

    Ok(section)
}

fn verdict(subjects: &[Subject<'_>], measured: &[PinTimings]) -> String {
    let (_, slowest) = subjects
        .iter()
        .zip(measured)
        .max_by(|a, b| a.1.edit_us.total_cmp(&b.1.edit_us))
        .expect("a built-in face");
    format!(
        "An edit is a small dense problem whose size depends on the pins and sliders, not on the \
         mesh; the slowest one here takes {} µs, with limits. Creating a pin measures its \
         surroundings along the surface, so its time grows with the mesh. The computers are a \
         decade apart, and the share of Python in the times of the thesis is unknown, so only the \
         order of magnitude is meaningful.",
        rounded(slowest.edit_us)
    )
}

fn measure(subject: &Subject<'_>) -> Result<PinTimings, ReproduceError> {
    let (localized_pin_ms, localized_edit_us) =
        time(subject, &Method::new(Localized::default(), Range::Clip))?;
    let (pin_ms, edit_us) = time(subject, &bounded())?;
    // An eighth of the sliders is active, as in a typical pose.
    let weights: Vec<f64> = (0..subject.model.rig.targets().len())
        .map(|k| if k % 8 == 0 { 0.5 } else { 0.0 })
        .collect();

    let evaluations = (0..EDITS).map(|_| {
        let began = Instant::now();
        std::hint::black_box(subject.model.rig.evaluate(std::hint::black_box(&weights)));
        began.elapsed().as_secs_f64() * 1e6
    });

    Ok(PinTimings {
        localized_pin_ms,
        localized_edit_us,
        pin_ms,
        edit_us,
        evaluate_us: median(evaluations),
    })
}

/// Median time to create a pin, in milliseconds, and of an edit with it, in microseconds.
fn time(subject: &Subject<'_>, method: &Method) -> Result<(f64, f64), ReproduceError> {
    let pins = spread_pins(subject.model, PINS);
    let mut pin_ms = Vec::new();
    let mut edit_us = Vec::new();
    for (k, pin) in pins.iter().chain(pins.first()).enumerate() {
        let &SurfacePoint::Vertex(pin) = pin else {
            continue;
        };

        let began = Instant::now();
        let mut grab = subject.grab(&[], &[pin], method)?;
        let took = began.elapsed().as_secs_f64() * 1e3;
        let way = subject.reach[pin as usize] * DVec3::new(0.6, -0.7, 0.4);
        let mut edit = |step: usize| {
            let began = Instant::now();
            grab.solve(&[way * (step as f64 / EDITS as f64)]);
            began.elapsed().as_secs_f64() * 1e6
        };

        // Edits along a straight drag, each from the same prepared pin.
        let edits: Vec<f64> = (1..=EDITS).map(&mut edit).collect();
        if k > 0 {
            // The first pin prepares the rig and warms the caches; it is repeated at the end.
            pin_ms.push(took);
            edit_us.extend(edits);
        }
    }

    Ok((median(pin_ms), median(edit_us)))
}

fn table(subjects: &[Subject<'_>], measured: &[PinTimings]) -> Table {
    let caption = format!(
        "T_pin creates one pin, T_edit computes the weights for one goal: medians of {PINS} pins \
         and {EDITS} edits with each, on this machine, for the localized method of the thesis and \
         for ours inside limits (box). Evaluating the mesh with an eighth of the sliders is not \
         included. An asterisk marks models that keep their construction history, as in the \
         thesis."
    );

    let mut table = Table::new(
        caption,
        [
            "model",
            "vertices",
            "edges",
            "faces",
            "targets",
            "localized T_pin, ms",
            "localized T_edit, µs",
            "box T_pin, ms",
            "box T_edit, µs",
            "evaluate, µs",
        ],
    );

    for (subject, timings) in subjects.iter().zip(measured) {
        let mesh = subject.model.rig.neutral();
        let counts = [
            mesh.vertex_count(),
            mesh.topology().edges().len(),
            mesh.face_count(),
            subject.model.rig.targets().len(),
        ]
        .map(grouped);
        let times = [
            timings.localized_pin_ms,
            timings.localized_edit_us,
            timings.pin_ms,
            timings.edit_us,
            timings.evaluate_us,
        ]
        .map(rounded);
        table.push(row(subject.name(), counts.into_iter().chain(times)));
    }

    for published in PUBLISHED {
        let counts = [
            published.vertices,
            published.edges,
            published.faces,
            published.targets,
        ]
        .map(grouped);
        let pin = rounded(published.pin_ms);
        let edit = grouped((1e3 * published.edit_ms) as usize);
        let cells = counts.into_iter().chain([pin, edit, gap(), gap(), gap()]);
        table.push_quoted(row(format!("thesis, {}", published.model), cells));
    }

    table
}

fn plot(subjects: &[Subject<'_>], measured: &[PinTimings]) -> Plot {
    let targets = |subject: &Subject<'_>| subject.model.rig.targets().len() as f64;
    let series = |name: &str, time: &dyn Fn(&PinTimings) -> f64| {
        Series::new(
            name,
            Marks::Points,
            subjects
                .iter()
                .zip(measured)
                .map(|(subject, found)| [targets(subject), time(found)]),
        )
    };

    // Table 4.1 alone: table 3.1 repeats its models.
    let published = PUBLISHED
        .iter()
        .skip(4)
        .map(|row| [row.targets as f64, 1e3 * row.edit_ms]);

    Plot::new(
        "One edit",
        Axis::linear("targets").covering([0.0]),
        Axis::logarithmic("time, µs"),
    )
    .with_series(
        series("box", &|found| found.edit_us).with_labels(subjects.iter().map(Subject::name)),
    )
    .with_series(series("localized", &|found| found.localized_edit_us))
    .with_series(Series::new("thesis, 2016", Marks::Points, published))
    .with_size([760, 360])
}
