//! Table 5.1 and figures 5.7 and 5.8: what it costs to find the soft area, and what it looks like.

use std::hint::black_box;

use pliant_mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, HeatWorkspace, SurfacePoint};
use pliant_physics::{PhysicsError, SoftPatch, SoftRegion};
use pliant_view::{ContactSheet, Ground, Image, View};
use web_time::Instant;

use super::numerals::{file_stem, grouped, median, percent, rounded};
use super::subject::Subject;
use super::thesis::{PUBLISHED, RANGES};
use super::{Cast, ReproduceError, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::picture::Shot;
use crate::touch_picture::with_blue_vertices;
use crate::transfer_job::milliseconds;

/// Runs of each work; the median is told.
const RUNS: usize = 15;
/// *Paper*: figure 5.8.
const SHOWN: [f64; 3] = [1.0, 6.0, 12.0];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.62,
    elevation_rad: 0.1,
};

/// What was measured on one skin, in milliseconds; by range where there are five.
struct Measured {
    layout: f64,
    factor: f64,
    exact: [f64; 5],
    heat: [f64; 5],
    vertices: [usize; 5],
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The soft area",
        "Table 5.1: a vertex is chosen, and what lies within a range of it along the surface becomes soft. The thesis finds it by the heat \
         method; ours measures exactly and goes no further than the range. The thesis' heads are not public: ours is the built-in one, its \
         skin reduced to as many vertices as each of those (and ICT FaceKit's as it is, with a data folder). Their unit is unknown too; we \
         take the one in which range 12 holds that part of the vertices which a step at range 12 costs of one on the whole model there. \
         Exact discs are for small areas, which is where one touches; for half a head heat is quicker.",
    );
    let measured: Vec<Measured> = cast
        .subjects
        .iter()
        .map(measure)
        .collect::<Result<_, _>>()?;
    for (subject, found) in cast.subjects.iter().zip(&measured) {
        let told = format!(
            "{} ms, by heat {} ms",
            rounded(found.exact[1]),
            rounded(found.heat[1])
        );
        section.figure(&format!("{}, range 3", subject.title()), told);
    }
    section.table(held(cast, &measured));
    section.table(times(cast, &measured));
    section.plot(
        plot(cast, &measured),
        "Figure 5.7: the soft area over its range.",
    );
    section.paragraph("Figure 5.8: soft areas of range 1, 6 and 12.");
    for subject in cast.subjects.iter().filter(|subject| subject.is_shown()) {
        let file = format!("ranges-{}.png", file_stem(&subject.name));
        section.wide(
            &file,
            &format!("{} vertices.", subject.title()),
            &picture(subject)?,
        )?;
    }
    Ok(section)
}

fn measure(subject: &Subject) -> Result<Measured, ReproduceError> {
    try_measure(subject).map_err(failed(&subject.name))
}

fn try_measure(subject: &Subject) -> Result<Measured, PhysicsError> {
    let began = Instant::now();
    let mut geodesics = ExactGeodesics::new(&subject.skin)?;
    let layout = milliseconds(began);
    let began = Instant::now();
    let heat = HeatGeodesics::factor(&subject.skin, &HeatOptions::default())?;
    let mut found = Measured {
        layout,
        factor: milliseconds(began),
        exact: [0.0; 5],
        heat: [0.0; 5],
        vertices: [0; 5],
    };
    let (mut workspace, mut distances) = (
        HeatWorkspace::default(),
        vec![0.0; subject.skin.vertex_count()],
    );
    let source = [SurfacePoint::Vertex(subject.cheek as u32)];
    for (k, range) in RANGES.iter().enumerate() {
        let radius = range * subject.unit;
        let patch = [SoftPatch {
            center: subject.cheek,
            radius,
        }];
        found.vertices[k] = SoftRegion::select_on(&subject.skin, &mut geodesics, &patch)?
            .vertices()
            .len();
        found.exact[k] = repeated(|| SoftRegion::select_on(&subject.skin, &mut geodesics, &patch))?;
        found.heat[k] = repeated(|| {
            heat.distances_into(&source, &mut workspace, &mut distances)?;
            Ok((0..distances.len())
                .filter(|&v| distances[v] <= radius)
                .collect::<Vec<usize>>())
        })?;
    }
    Ok(found)
}

/// The median of all runs, in milliseconds.
fn repeated<T>(mut work: impl FnMut() -> Result<T, PhysicsError>) -> Result<f64, PhysicsError> {
    let mut spans = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        black_box(work()?);
        spans.push(milliseconds(began));
    }
    Ok(median(spans))
}

fn ranges() -> impl Iterator<Item = String> {
    RANGES.iter().map(|range| format!("range {range:.0}"))
}

/// How many vertices the ranges hold.
fn held(cast: &Cast, measured: &[Measured]) -> Table {
    let caption = "Vertices that become soft, in % of all: ours as counted, the thesis' as its table 5.2 tells it, from what a step \
                   costs beside one on the whole model.";
    let mut table = Table::new(
        caption,
        ["model", "vertices", "edges", "faces"]
            .map(str::to_owned)
            .into_iter()
            .chain(ranges()),
    );
    for (subject, found) in cast.subjects.iter().zip(measured) {
        let skin = &subject.skin;
        let counts = [
            skin.vertex_count(),
            skin.topology().edges().len(),
            skin.triangles().len(),
        ]
        .map(grouped);
        let shares = found
            .vertices
            .map(|count| percent(count as f64 / skin.vertex_count() as f64));
        table.push(
            [subject.name.clone()]
                .into_iter()
                .chain(counts)
                .chain(shares),
        );
    }
    for row in &PUBLISHED {
        let counts = [row.vertices, row.edges, row.faces].map(grouped);
        table.push_quoted(
            [format!("{}, 2016", row.model)]
                .into_iter()
                .chain(counts)
                .chain(row.cost_shares().map(percent)),
        );
    }
    table
}

fn times(cast: &Cast, measured: &[Measured]) -> Table {
    let caption = format!(
        "Table 5.1 in milliseconds: the soft area at each range. Ours are medians of {RUNS} on this machine, now; what is done once for a \
         mesh, the layout of triangles or the factor, is apart. Heat always reaches the whole mesh."
    );
    let mut table = Table::new(
        caption,
        ["model", "by", "once"]
            .map(str::to_owned)
            .into_iter()
            .chain(ranges()),
    );
    for (subject, found) in cast.subjects.iter().zip(measured) {
        if let Some(row) = subject.published {
            let secs = row.select_secs.map(|secs| rounded(1e3 * secs));
            table.push_quoted(
                [
                    format!("{}, 2016", row.model),
                    "heat".to_owned(),
                    "–".to_owned(),
                ]
                .into_iter()
                .chain(secs),
            );
        }
        for (method, once, ms) in [
            ("exact disc", found.layout, found.exact),
            ("heat", found.factor, found.heat),
        ] {
            table.push(
                [subject.title(), method.to_owned(), rounded(once)]
                    .into_iter()
                    .chain(ms.map(rounded)),
            );
        }
    }
    table
}

fn plot(cast: &Cast, measured: &[Measured]) -> Plot {
    let line = |name: String, ms: [f64; 5]| {
        Series::new(
            name,
            Marks::LineAndPoints,
            RANGES.into_iter().zip(ms).map(|(x, y)| [x, y]),
        )
    };
    let mut plot = Plot::new(
        "Soft area",
        Axis::linear("range"),
        Axis::logarithmic("time, ms"),
    )
    .with_size([760, 440]);
    for row in &PUBLISHED {
        plot = plot.with_series(line(
            format!("{}, 2016", row.model),
            row.select_secs.map(|secs| 1e3 * secs),
        ));
    }
    // The three sizes of one head lie upon each other.
    for (subject, found) in cast
        .subjects
        .iter()
        .zip(measured)
        .filter(|(subject, _)| subject.is_shown())
    {
        plot = plot.with_series(line(format!("heat, {}", subject.title()), found.heat));
        plot = plot.with_series(line(format!("exact, {}", subject.title()), found.exact));
    }
    plot
}

/// The skin with areas of three ranges.
fn picture(subject: &Subject) -> Result<Image, ReproduceError> {
    let mut sheet = ContactSheet::new("", SHOWN.len());
    for range in SHOWN {
        let patch = SoftPatch {
            center: subject.cheek,
            radius: range * subject.unit,
        };
        let region = SoftRegion::select(&subject.skin, &[patch]).map_err(failed(&subject.name))?;
        let mut scene =
            with_blue_vertices(&subject.skin, region.vertices().iter().map(|&v| (v, 1.0)));
        scene.backdrop.ground = Ground::None;
        let image = Shot::new(VIEW, [360, 400]).framed_by(subject.skin.positions(), &scene)?;
        sheet.push(
            image,
            format!(
                "range {range:.0}: {} vertices",
                grouped(region.vertices().len())
            ),
        );
    }
    Ok(sheet.compose()?)
}
