//! Table 5.1 and figures 5.7 and 5.8: time to select the soft area, and its shape.

use std::hint::black_box;

use pliant_mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, HeatWorkspace, SurfacePoint};
use pliant_physics::{PhysicsError, SoftPatch, SoftRegion};
use pliant_view::{ContactSheet, Ground, Image, Shot, View};
use web_time::Instant;

use super::numerals::{file_stem, gap, grouped, median, percent, rounded, row};
use super::subject::Subject;
use super::thesis::{PUBLISHED, RANGES};
use super::{Models, ReproduceError, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::pictures::with_blue_vertices;
use crate::reproduce::milliseconds;

/// Runs of each work; the median is text.
const RUNS: usize = 15;
/// *Çetinaslan 2016*, figure 5.8.
const SHOWN: [f64; 3] = [1.0, 6.0, 12.0];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.62,
    elevation_rad: 0.1,
};

/// Times on one skin in milliseconds, and soft vertices; arrays are by range.
struct AreaTimings {
    layout: f64,
    factor: f64,
    exact: [f64; 5],
    heat: [f64; 5],
    vertices: [usize; 5],
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The soft area",
        "Table 5.1: the user selects a vertex, and everything within a range of it along the \
         surface becomes soft. The thesis computes the range by the heat method. We compute exact \
         geodesic distances and stop at the range. The heads of the thesis are not public, so we \
         use the built-in head, with its skin reduced to the vertex count of each of them (and \
         ICT FaceKit unchanged, with a data folder). The length unit of the thesis is unknown as \
         well. We choose the unit in which range 12 holds the same share of vertices as the share \
         of cost that a step at range 12 has in a step on the whole model of the thesis. Exact \
         discs are faster for small areas, which are the usual ones; for half of a head the heat \
         method is faster.",
    );

    let measured: Vec<AreaTimings> = models
        .subjects
        .iter()
        .map(measure)
        .collect::<Result<_, _>>()?;

    for (subject, found) in models.subjects.iter().zip(&measured) {
        let text = format!(
            "{} ms, by heat {} ms",
            rounded(found.exact[1]),
            rounded(found.heat[1])
        );
        section.figure(&format!("{}, range 3", subject.title()), text);
    }

    section.table(held(models, &measured));
    section.table(times(models, &measured));
    section.plot(
        plot(models, &measured),
        "Figure 5.7: the soft area over its range.",
    );

    // One picture per head; the three sizes of one head look alike.
    section.paragraph("Figure 5.8: soft areas of range 1, 6 and 12.");
    for subject in models.subjects.iter().filter(|subject| subject.is_shown()) {
        let file = format!("ranges-{}.png", file_stem(&subject.name));
        section.wide(
            &file,
            &format!("{} vertices.", subject.title()),
            &picture(subject)?,
        )?;
    }

    Ok(section)
}

fn measure(subject: &Subject) -> Result<AreaTimings, ReproduceError> {
    try_measure(subject).map_err(failed(&subject.name))
}

fn try_measure(subject: &Subject) -> Result<AreaTimings, PhysicsError> {
    let skin = &subject.skin;
    let began = Instant::now();
    let mut geodesics = ExactGeodesics::new(skin)?;
    let layout = milliseconds(began);

    let began = Instant::now();
    let heat = HeatGeodesics::factor(skin, &HeatOptions::default())?;
    let factor = milliseconds(began);

    let mut timings = AreaTimings {
        layout,
        factor,
        exact: [0.0; 5],
        heat: [0.0; 5],
        vertices: [0; 5],
    };
    let mut workspace = HeatWorkspace::default();
    let mut distances = vec![0.0; skin.vertex_count()];
    let source = [SurfacePoint::Vertex(subject.cheek as u32)];

    for (k, range) in RANGES.iter().enumerate() {
        let radius = range * subject.unit;
        let patch = [SoftPatch {
            center: subject.cheek.into(),
            radius,
        }];

        // Counted once; the timed runs repeat the same selection.
        let region = SoftRegion::select_on(skin, &mut geodesics, &patch)?;
        timings.vertices[k] = region.vertices().len();
        timings.exact[k] = repeated(|| SoftRegion::select_on(skin, &mut geodesics, &patch))?;
        // The factorisation is excluded: it is done once per mesh.
        timings.heat[k] = repeated(|| {
            heat.distances_into(&source, &mut workspace, &mut distances)?;
            Ok((0..distances.len())
                .filter(|&v| distances[v] <= radius)
                .collect::<Vec<usize>>())
        })?;
    }

    Ok(timings)
}

/// The median time of all runs, in milliseconds.
fn repeated<T>(mut work: impl FnMut() -> Result<T, PhysicsError>) -> Result<f64, PhysicsError> {
    let mut spans = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        black_box(work()?);
        spans.push(milliseconds(began));
    }
    Ok(median(spans))
}

/// The header of a table whose last columns are the ranges.
fn header<const N: usize>(first: [&str; N]) -> Vec<String> {
    let mut header: Vec<String> = first.map(str::to_owned).to_vec();
    header.extend(RANGES.iter().map(|range| format!("range {range:.0}")));
    header
}

/// The share of vertices in each range.
fn held(models: &Models, measured: &[AreaTimings]) -> Table {
    let caption = "Vertices that become soft, in % of all vertices. Ours are counted; those of \
                   the thesis are estimated from its table 5.2, as the cost of a step relative to \
                   a step on the whole model.";
    let mut table = Table::new(caption, header(["model", "vertices", "edges", "faces"]));

    for (subject, timings) in models.subjects.iter().zip(measured) {
        let skin = &subject.skin;
        let counts = [
            skin.vertex_count(),
            skin.topology().edges().len(),
            skin.triangles().len(),
        ]
        .map(grouped);
        let shares = timings
            .vertices
            .map(|count| percent(count as f64 / skin.vertex_count() as f64));
        table.push(row(&subject.name, counts.into_iter().chain(shares)));
    }

    for published in &PUBLISHED {
        let counts = [published.vertices, published.edges, published.faces].map(grouped);
        let shares = published.cost_shares().map(percent);
        let name = format!("{}, 2016", published.model);
        table.push_quoted(row(name, counts.into_iter().chain(shares)));
    }

    table
}

fn times(models: &Models, measured: &[AreaTimings]) -> Table {
    let caption = format!(
        "Table 5.1 in milliseconds: selection of the soft area at each range. Ours are medians of \
         {RUNS} runs on this machine. The work that is done once per mesh (the layout of \
         triangles, or the factorisation) is listed separately. The heat method always computes \
         the whole mesh."
    );

    let mut table = Table::new(caption, header(["model", "by", "once"]));
    for (subject, timings) in models.subjects.iter().zip(measured) {
        if let Some(published) = subject.published {
            let cells = ["heat".to_owned(), gap()];
            let times = published.select_secs.map(|secs| rounded(1e3 * secs));
            let name = format!("{}, 2016", published.model);
            table.push_quoted(row(name, cells.into_iter().chain(times)));
        }
        for (method, once, times) in [
            ("exact disc", timings.layout, timings.exact),
            ("heat", timings.factor, timings.heat),
        ] {
            let cells = [method.to_owned(), rounded(once)];
            let times = times.map(rounded);
            table.push(row(subject.title(), cells.into_iter().chain(times)));
        }
    }

    table
}

fn plot(models: &Models, measured: &[AreaTimings]) -> Plot {
    let mut plot = Plot::new(
        "Soft area",
        Axis::linear("range"),
        Axis::logarithmic("time, ms"),
    )
    .with_size([760, 440]);

    for published in &PUBLISHED {
        let times = published.select_secs.map(|secs| 1e3 * secs);
        plot = plot.with_series(line(format!("{}, 2016", published.model), times));
    }

    // The curves of the three sizes of one head coincide, so one is shown.
    for (subject, timings) in models.subjects.iter().zip(measured) {
        if subject.is_shown() {
            let title = subject.title();
            plot = plot.with_series(line(format!("heat, {title}"), timings.heat));
            plot = plot.with_series(line(format!("exact, {title}"), timings.exact));
        }
    }

    plot
}

/// Times over the range.
fn line(name: String, times_ms: [f64; 5]) -> Series {
    let points = RANGES.into_iter().zip(times_ms).map(|(x, y)| [x, y]);
    Series::new(name, Marks::LineAndPoints, points)
}

/// The skin with soft areas of three ranges.
fn picture(subject: &Subject) -> Result<Image, ReproduceError> {
    let mut sheet = ContactSheet::new("", SHOWN.len());
    for range in SHOWN {
        let patch = SoftPatch {
            center: subject.cheek.into(),
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
