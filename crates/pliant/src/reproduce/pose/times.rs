//! How long pins take: tables 3.1 and 4.1.

use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Localized, Range};
use web_time::Instant;

use super::methods::{Method, bounded};
use super::numerals::{grouped, median, rounded};
use super::subject::Subject;
use super::{ReproduceError, spread_pins};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// Pins that are timed on each model.
const PINS: usize = 24;
/// Edits with each pin.
const EDITS: usize = 20;

/// A row of *paper*, table 3.1 or 4.1; times in milliseconds.
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
    row("table 3.1, Face 1", [6720, 19_984, 13_264, 40], 60.0, 9.9),
    row("table 3.1, Face 2", [9562, 28_416, 18_848, 18], 15.0, 9.9),
    row(
        "table 3.1, Face 1*",
        [6720, 19_984, 13_264, 40],
        2700.0,
        9.9,
    ),
    row(
        "table 3.1, Face 2*",
        [9562, 28_416, 18_848, 18],
        1678.0,
        9.9,
    ),
    row("table 4.1, Face 1", [6720, 19_984, 13_264, 40], 150.0, 9.9),
    row("table 4.1, Face 2", [9562, 28_416, 18_848, 18], 30.0, 9.9),
    row(
        "table 4.1, Face 3",
        [11_926, 35_576, 23_648, 36],
        130.0,
        9.9,
    ),
    row("table 4.1, Face 4", [5692, 11_282, 5584, 127], 1750.0, 15.0),
    row("table 4.1, Face 5", [5792, 11_625, 5834, 136], 1460.0, 19.0),
];

const fn row(
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

/// Medians on one model.
struct Measured {
    localized_pin_ms: f64,
    localized_edit_us: f64,
    pin_ms: f64,
    edit_us: f64,
    evaluate_us: f64,
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Times of pins and edits",
        "The thesis reports how long a pin takes to be made, between 15 ms and 2.7 s, and every edit with it, 10 to 19 ms (tables 3.1 and \
         4.1).",
    );
    let measured: Vec<Measured> = subjects.iter().map(measure).collect::<Result<_, _>>()?;
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
        "One edit, over the number of targets. The thesis' machine is of 2011.",
    );
    section.paragraph(verdict(subjects, &measured));
    Ok(section)
}

fn verdict(subjects: &[Subject<'_>], measured: &[Measured]) -> String {
    let (_, slowest) = subjects
        .iter()
        .zip(measured)
        .max_by(|a, b| a.1.edit_us.total_cmp(&b.1.edit_us))
        .expect("a built-in face");
    format!(
        "An edit is a small dense problem whose size is that of the pins and sliders, not of the mesh; the slowest here takes {} µs, with \
         limits kept. Making the pin measures its surroundings along the surface, which grows with the mesh. The machines differ by a \
         decade, and Python's share in the thesis' times is not known, so only the order of magnitude means something.",
        rounded(slowest.edit_us)
    )
}

fn measure(subject: &Subject<'_>) -> Result<Measured, ReproduceError> {
    let (localized_pin_ms, localized_edit_us) =
        time(subject, &Method::new(Localized::default(), Range::Clip))?;
    let (pin_ms, edit_us) = time(subject, &bounded())?;
    let weights: Vec<f64> = (0..subject.model.rig.targets().len())
        .map(|k| if k % 8 == 0 { 0.5 } else { 0.0 })
        .collect();
    let evaluations = (0..EDITS).map(|_| {
        let began = Instant::now();
        std::hint::black_box(subject.model.rig.evaluate(std::hint::black_box(&weights)));
        began.elapsed().as_secs_f64() * 1e6
    });
    Ok(Measured {
        localized_pin_ms,
        localized_edit_us,
        pin_ms,
        edit_us,
        evaluate_us: median(evaluations),
    })
}

/// Medians of the time to make a pin, in milliseconds, and of an edit with it, in microseconds.
fn time(subject: &Subject<'_>, method: &Method) -> Result<(f64, f64), ReproduceError> {
    let pins = spread_pins(subject.model, PINS);
    let (mut pin_ms, mut edit_us) = (Vec::new(), Vec::new());
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
        let edits: Vec<f64> = (1..=EDITS).map(&mut edit).collect();
        if k > 0 {
            // The first prepares the rig and warms caches; it comes again at the end.
            pin_ms.push(took);
            edit_us.extend(edits);
        }
    }
    Ok((median(pin_ms), median(edit_us)))
}

fn table(subjects: &[Subject<'_>], measured: &[Measured]) -> Table {
    let caption = format!(
        "T_pin prepares one pin, T_edit finds the weights for a place of it: medians of {PINS} pins and {EDITS} edits with each, on this \
         machine, for the thesis' localized method and for ours inside limits (box). Evaluating the mesh with an eighth of the sliders \
         comes on top of either. An asterisk is the thesis' mark for models that keep their construction history."
    );
    let header = [
        "model",
        "vertices",
        "edges",
        "faces",
        "targets",
        "localized T_pin, ms",
        "localized T_edit, µs",
    ];
    let mut table = Table::new(
        caption,
        header
            .into_iter()
            .chain(["box T_pin, ms", "box T_edit, µs", "evaluate, µs"]),
    );
    for (subject, found) in subjects.iter().zip(measured) {
        let mesh = subject.model.rig.neutral();
        let counts = [
            mesh.vertex_count(),
            mesh.topology().edges().len(),
            mesh.face_count(),
            subject.model.rig.targets().len(),
        ];
        let times = [
            found.localized_pin_ms,
            found.localized_edit_us,
            found.pin_ms,
            found.edit_us,
            found.evaluate_us,
        ];
        table.push(
            [subject.name().to_owned()]
                .into_iter()
                .chain(counts.map(grouped))
                .chain(times.map(rounded)),
        );
    }
    for row in PUBLISHED {
        let counts = [row.vertices, row.edges, row.faces, row.targets].map(grouped);
        let times = [
            rounded(row.pin_ms),
            grouped((1e3 * row.edit_ms) as usize),
            "–".to_owned(),
            "–".to_owned(),
            "–".to_owned(),
        ];
        table.push_quoted(
            [format!("thesis, {}", row.model)]
                .into_iter()
                .chain(counts)
                .chain(times),
        );
    }
    table
}

fn plot(subjects: &[Subject<'_>], measured: &[Measured]) -> Plot {
    let targets = |subject: &Subject<'_>| subject.model.rig.targets().len() as f64;
    let series = |name: &str, time: &dyn Fn(&Measured) -> f64| {
        Series::new(
            name,
            Marks::Points,
            subjects
                .iter()
                .zip(measured)
                .map(|(subject, found)| [targets(subject), time(found)]),
        )
    };
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
