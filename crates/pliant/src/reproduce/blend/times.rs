//! Table I: what one step costs at the paper's sizes.

use pliant_mesh::Mesh;
use pliant_physics::{Blend, BlendOptions, PhysicsError, Solver};
use web_time::Instant;

use super::numerals::{grouped, mean, rounded};
use super::{Data, ReproduceError, bars, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};
use crate::transfer_job::milliseconds;

/// *Paper*: steps from shape to shape.
const STEPS: usize = 36;
/// Every so many steps are walked to the tighter tolerance: their mean hardly changes, and the page
/// is made sooner.
const TIGHT_STRIDE: usize = 6;

/// A row of *paper*, table I; on a Core 2 Quad of 2.66 GHz and a Quadro FX 580.
struct Published {
    shape: &'static str,
    vertices: usize,
    springs: usize,
    cpu_secs: f64,
    gpu_secs: f64,
    /// Cells along and across a bar that has, filled, about as many vertices.
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

/// What was measured on one bar, in milliseconds.
struct Measured {
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
        "Table I of the paper: one of 36 steps from a shape to another. Our shapes are bars, straight and bent by a right angle, with points \
         inside, of about as many vertices as the paper's. The paper factors a matrix in every iteration; ours factors one per pair of \
         shapes and corrects a prediction, to a force of 1e-3 (fast) or 1e-6 (tight) in units of strain.",
    );
    let mut measured = Vec::new();
    for row in &PUBLISHED {
        measured.push(measure(row.cells).map_err(failed(row.shape))?);
    }
    for (published, found) in PUBLISHED.iter().zip(&measured) {
        let (name, fast) = (
            format!("one step, {} vertices", grouped(found.vertices)),
            rounded(found.fast),
        );
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

fn measure([along, across]: [usize; 2]) -> Result<Measured, PhysicsError> {
    let straight = bars::plain(along, across);
    let shapes = [straight.clone(), bars::bent(&straight, 90.0)?];
    let fast = Walked::new(&shapes, Solver::Fast, 1)?;
    let tight = Walked::new(&shapes, Solver::Tight, TIGHT_STRIDE)?;
    let Walked {
        vertices,
        springs,
        ready,
        ..
    } = fast;
    Ok(Measured {
        vertices,
        springs,
        ready,
        fast: fast.step,
        tight: tight.step,
        failed: fast.failed + tight.failed,
    })
}

/// A walk between two shapes, in milliseconds.
struct Walked {
    vertices: usize,
    springs: usize,
    ready: f64,
    step: f64,
    failed: usize,
}

impl Walked {
    /// Every `stride`-th step between the ends.
    fn new(shapes: &[Mesh; 2], solver: Solver, stride: usize) -> Result<Self, PhysicsError> {
        let began = Instant::now();
        let mut blend = Blend::new(shapes, &BlendOptions::default().with_solver(solver))?;
        blend.prepare_walk(STEPS + 1)?;
        let ready = milliseconds(began);
        let (mut spans, mut failed) = (Vec::new(), 0);
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

fn table(measured: &[Measured]) -> Table {
    let caption = format!(
        "Table I, mean of one step: published in seconds, and ours on this machine in milliseconds. Tight is the mean of every {TIGHT_STRIDE}th \
         step. Once is what comes before the first step: points inside, springs, factor, and a look ahead along the way."
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
    let gap = || "–".to_owned();
    for (published, found) in PUBLISHED.iter().zip(measured) {
        let counts = [published.vertices, published.springs].map(grouped);
        let times = [published.cpu_secs, published.gpu_secs].map(rounded);
        table.push_quoted(
            [format!("{}, 2012", published.shape)]
                .into_iter()
                .chain(counts)
                .chain(times)
                .chain([gap(), gap(), gap()]),
        );
        let counts = [found.vertices, found.springs].map(grouped);
        let times = [found.fast, found.tight, found.ready].map(rounded);
        table.push(
            ["bar".to_owned()]
                .into_iter()
                .chain(counts)
                .chain([gap(), gap()])
                .chain(times),
        );
    }
    table
}

fn plot(measured: &[Measured]) -> Plot {
    let mut by_size: Vec<&Measured> = measured.iter().collect();
    by_size.sort_by_key(|found| found.vertices);
    let ours = |name: &str, time: &dyn Fn(&Measured) -> f64| {
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
