//! Table I: time of one step at the paper's sizes.

use pliant_mesh::Mesh;
use pliant_physics::{Blend, BlendOptions, EnergyTerms, PhysicsError, Solver};
use web_time::Instant;

use super::numerals::{gap, grouped, mean, rounded, row};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::reproduce::milliseconds;

/// *Ma et al. 2012*: steps from shape to shape.
const STEPS: usize = 36;
/// Only every sixth step is solved to the tighter tolerance: the mean hardly changes, and the page
/// is computed sooner.
const TIGHT_STRIDE: usize = 6;

/// A row of *Ma et al. 2012*, table I; Core 2 Quad at 2.66 GHz and Quadro FX 580.
struct Published {
    shape: &'static str,
    vertices: usize,
    springs: usize,
    cpu_secs: f64,
    gpu_secs: f64,
    /// Cells along and across a bar that has about as many vertices with its interior points.
    cells: [usize; 2],
}

const PUBLISHED: [Published; 5] = [
    Published {
        shape: "Man",
        vertices: 2200,
        springs: 21_600,
        cpu_secs: 2.23,
        gpu_secs: 3.62,
        cells: [41, 8],
    },
    Published {
        shape: "Face",
        vertices: 8100,
        springs: 65_100,
        cpu_secs: 40.11,
        gpu_secs: 3.67,
        cells: [79, 16],
    },
    Published {
        shape: "Cat",
        vertices: 7300,
        springs: 81_700,
        cpu_secs: 67.58,
        gpu_secs: 13.67,
        cells: [76, 15],
    },
    Published {
        shape: "Horse",
        vertices: 8500,
        springs: 96_100,
        cpu_secs: 81.36,
        gpu_secs: 15.95,
        cells: [83, 16],
    },
    Published {
        shape: "Hand",
        vertices: 18_600,
        springs: 150_400,
        cpu_secs: 153.99,
        gpu_secs: 26.28,
        cells: [121, 24],
    },
];

/// Times on one bar, in milliseconds.
struct BarTimings {
    vertices: usize,
    springs: usize,
    ready: f64,
    fast: f64,
    tight: f64,
    failed: usize,
}

pub(super) fn section(_: &Data) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Times",
        "Table I: the time of one of 36 steps from one shape to another. Our shapes are bars with \
         interior points, straight and bent by a right angle, of about the vertex counts of the \
         paper. The paper factors a matrix in every iteration. We factor one matrix per pair of \
         shapes and correct a prediction, to a residual of 1e-3 (fast) or 1e-6 (tight) in units \
         of strain.",
    );

    let mut measured = Vec::new();
    for row in &PUBLISHED {
        measured.push(measure(row.cells).map_err(failed(row.shape))?);
    }

    for (published, found) in PUBLISHED.iter().zip(&measured) {
        let name = format!("one step, {} vertices", grouped(found.vertices));
        let fast = rounded(found.fast);
        section.figure(
            &name,
            format!("{fast} ms, in 2012 {} s", rounded(published.cpu_secs)),
        );
    }

    let failures: usize = measured.iter().map(|found| found.failed).sum();
    section.figure("steps that did not converge", failures.to_string());
    section.table(table(&measured));
    section.plot(plot(&measured), "One step over the number of vertices.");

    Ok(section)
}

fn measure([along, across]: [usize; 2]) -> Result<BarTimings, PhysicsError> {
    let straight = bars::plain(along, across);
    let shapes = [straight.clone(), bars::bent(&straight, 90.0)?];
    // The fast solver takes every step; the tight one a few, to save time.
    let fast = PathTimings::new(&shapes, Solver::Fast, 1)?;
    let tight = PathTimings::new(&shapes, Solver::Tight, TIGHT_STRIDE)?;
    let PathTimings {
        vertices,
        springs,
        ready,
        ..
    } = fast;

    Ok(BarTimings {
        vertices,
        springs,
        ready,
        fast: fast.step,
        tight: tight.step,
        failed: fast.failed + tight.failed,
    })
}

/// Times on a path between two shapes, in milliseconds.
struct PathTimings {
    vertices: usize,
    springs: usize,
    ready: f64,
    step: f64,
    failed: usize,
}

impl PathTimings {
    /// Every `stride`-th step between the ends.
    fn new(shapes: &[Mesh; 2], solver: Solver, stride: usize) -> Result<Self, PhysicsError> {
        let began = Instant::now();
        let mut blend = Blend::new(
            shapes,
            &BlendOptions::default()
                .with_energy(EnergyTerms::springs())
                .with_solver(solver),
        )?;
        blend.prepare_frames(STEPS + 1)?;

        let ready = milliseconds(began);
        let mut spans = Vec::new();
        let mut failed = 0;
        for step in (stride..STEPS).step_by(stride) {
            let began = Instant::now();
            let frame = blend.between(step as f64 / STEPS as f64)?;
            spans.push(milliseconds(began));
            failed += usize::from(!frame.report.converged);
        }

        let springs = blend.spring_counts().in_shape();
        Ok(Self {
            vertices: shapes[0].vertex_count() + blend.interior_points(),
            springs,
            ready,
            step: mean(spans),
            failed,
        })
    }
}

fn table(measured: &[BarTimings]) -> Table {
    let caption = format!(
        "Table I, mean of one step: published in seconds, ours on this machine in milliseconds. \
         Tight is the mean of every {TIGHT_STRIDE}th step. Once is the work before the first \
         step: interior points, springs, factorisation, and samples along the path."
    );

    let header = [
        "shape",
        "vertices",
        "springs",
        "CPU, s",
        "GPU, s",
        "fast, ms",
        "tight, ms",
        "once, ms",
    ];

    let mut table = Table::new(caption, header);
    for (published, timings) in PUBLISHED.iter().zip(measured) {
        let [vertices, springs] = [published.vertices, published.springs].map(grouped);
        let [cpu, gpu] = [published.cpu_secs, published.gpu_secs].map(rounded);
        let name = format!("{}, 2012", published.shape);
        let cells = [vertices, springs, cpu, gpu, gap(), gap(), gap()];
        table.push_quoted(row(name, cells));

        let [vertices, springs] = [timings.vertices, timings.springs].map(grouped);
        let [fast, tight, ready] = [timings.fast, timings.tight, timings.ready].map(rounded);
        let cells = [vertices, springs, gap(), gap(), fast, tight, ready];
        table.push(row("bar", cells));
    }

    table
}

fn plot(measured: &[BarTimings]) -> Plot {
    // Lines connect points in the order of size.
    let mut by_size: Vec<&BarTimings> = measured.iter().collect();
    by_size.sort_by_key(|found| found.vertices);
    let ours = |name: &str, time: &dyn Fn(&BarTimings) -> f64| {
        Series::new(
            name,
            Marks::LineAndPoints,
            by_size
                .iter()
                .map(|found| [found.vertices as f64, time(found)]),
        )
    };

    let published = |name: &str, secs: &dyn Fn(&Published) -> f64| {
        Series::new(
            name,
            Marks::Points,
            PUBLISHED
                .iter()
                .map(|row| [row.vertices as f64, 1e3 * secs(row)]),
        )
    };

    Plot::new(
        "Time over size",
        Axis::logarithmic("vertices"),
        Axis::logarithmic("one step, ms"),
    )
    .with_series(ours("fast", &|found| found.fast))
    .with_series(ours("tight", &|found| found.tight))
    .with_series(published("CPU, 2012", &|row| row.cpu_secs))
    .with_series(published("GPU, 2012", &|row| row.gpu_secs))
    .with_size([760, 420])
}
