//! Table 1: what blend weights, the factor and one frame cost at the paper's sizes.

use std::borrow::Cow;
use std::hint::black_box;

use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_transfer::{
    Flexibility, Layer, Membership, Partitions, Reconstruction, ReconstructionForm,
    ReconstructionWorkspace, Source, Synthesis, SynthesisOptions, TransferError, TriangleMap,
    blend_weights, geodesic_band, nearest_compatible_triangles,
};
use web_time::Instant;

use super::numerals::{grouped, median, rounded};
use super::resized::resized;
use super::{Cast, FINE_THRESHOLD, ReproduceError, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// Runs of each work; the median is told.
const RUNS: usize = 5;
/// Width of the border of the region, in parts of the diagonal.
const BORDER: f64 = 0.05;

/// A row of *paper*, table 1.
struct Published {
    model: &'static str,
    triangles: usize,
    blending_ms: f64,
    factor_ms: f64,
    solve_ms: f64,
}

/// *Paper*, table 1, by size; on a Pentium 4 of 3.4 GHz.
const PUBLISHED: [Published; 4] = [
    Published {
        model: "Dino",
        triangles: 20_000,
        blending_ms: 1063.0,
        factor_ms: 1688.0,
        solve_ms: 78.0,
    },
    Published {
        model: "Monster",
        triangles: 39_998,
        blending_ms: 2312.0,
        factor_ms: 5687.0,
        solve_ms: 156.0,
    },
    Published {
        model: "David",
        triangles: 64_021,
        blending_ms: 6344.0,
        factor_ms: 7922.0,
        solve_ms: 344.0,
    },
    Published {
        model: "Elephant",
        triangles: 85_796,
        blending_ms: 6922.0,
        factor_ms: 11_574.0,
        solve_ms: 391.0,
    },
];

/// A target of some size, and what moves it.
struct Subject<'a> {
    model: &'static str,
    clip: &'a Clip,
    target: Mesh,
    map: TriangleMap,
    members: Vec<Membership>,
}

/// What was measured on one target.
struct Measured {
    model: &'static str,
    triangles: usize,
    blending_ms: f64,
    factor_ms: f64,
    solve_ms: f64,
    frame_ms: f64,
}

pub(super) fn section(cast: &Cast) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Times",
        "Table 1 of the paper: eq. 5 for the blend weights of a region, the factor of eq. 6, and its solution for one frame. Our targets \
         are the tapir, walking like the hound, and for the paper's head ours, each cut into as many triangles as the paper's model has.",
    );
    let head = crate::load("specimen:head#performance")?.clip()?;
    let mut measured = Vec::new();
    for row in &PUBLISHED {
        let subject = if row.model == "David" {
            of_head(&head, row.triangles)
        } else {
            of_tapir(cast, row.triangles)
        };
        measured.push(
            subject
                .and_then(|subject| subject.measure())
                .map_err(failed(row.model))?,
        );
    }
    for (published, found) in PUBLISHED.iter().zip(&measured) {
        let solve = format!(
            "{} ms, in 2008 {}",
            rounded(found.frame_ms),
            rounded(published.solve_ms)
        );
        section.figure(
            &format!("frame, {} triangles", grouped(found.triangles)),
            solve,
        );
    }
    section.table(table(&measured));
    section.plot(plot(&measured), "Each work over the size of the target.");
    Ok(section)
}

/// The walk on a tapir of another size.
fn of_tapir(cast: &Cast, triangles: usize) -> Result<Subject<'_>, TransferError> {
    let target = resized(cast.pair.tapir(), triangles)?;
    let map = through(&cast.found.map, cast.pair.tapir(), &target)?;
    let flexibility = Flexibility::of(&cast.pair.walk)?;
    let partitions = Partitions::new(
        &target,
        &map.filled(&target).carry(flexibility.of_triangles(), 0.0),
        FINE_THRESHOLD,
    )?;
    let members = partitions.refine(&half(&target))?;
    Ok(Subject {
        model: "tapir",
        clip: &cast.pair.walk,
        target,
        map,
        members,
    })
}

/// The performance on a head of another size.
fn of_head(performance: &Clip, triangles: usize) -> Result<Subject<'_>, TransferError> {
    let head = performance.reference();
    let target = resized(head, triangles)?;
    let map = through(
        &TriangleMap::identity(head.triangles().len()),
        head,
        &target,
    )?;
    let border = BORDER * head.bounds().map_or(0.0, |bounds| bounds.diagonal());
    let members = geodesic_band(&target, &half(&target), border)?;
    Ok(Subject {
        model: "head",
        clip: performance,
        target,
        map,
        members,
    })
}

/// A map to `mesh`, on the same surface cut otherwise.
fn through(map: &TriangleMap, mesh: &Mesh, resized: &Mesh) -> Result<TriangleMap, TransferError> {
    let nearest = nearest_compatible_triangles(mesh, resized)?;
    Ok(TriangleMap::new(nearest.iter().map(|found| {
        found.map_or(&[][..], |(t, _)| map.row(t as usize))
    })))
}

/// The upper half of a mesh, as a rough scribble.
fn half(mesh: &Mesh) -> Vec<bool> {
    let middle = mesh.bounds().map_or(0.0, |bounds| bounds.center().y);
    (0..mesh.triangles().len())
        .map(|t| mesh.triangle_points(t)[0].y > middle)
        .collect()
}

impl Subject<'_> {
    fn measure(&self) -> Result<Measured, TransferError> {
        let (weights, blending_ms) = repeated(|| blend_weights(&self.target, &self.members))?;
        let (factor, factor_ms) =
            repeated(|| Reconstruction::factor(&self.target, ReconstructionForm::AreaWeighted))?;
        let layers = vec![Layer::whole(0, weights, self.clip.frames().len())];
        let sources = vec![Source {
            clip: self.clip,
            map: Cow::Borrowed(&self.map),
        }];
        let mut synthesis = Synthesis::with_factor(
            &self.target,
            &factor,
            sources,
            layers,
            SynthesisOptions::default(),
        )?;
        let mut k = 0;
        let ((), frame_ms) = repeated(|| {
            black_box(synthesis.frame(k));
            k += 1;
            Ok(())
        })?;
        let (mut workspace, mut positions) = (
            ReconstructionWorkspace::default(),
            self.target.positions().to_vec(),
        );
        let gradients = synthesis.gradients();
        let ((), solve_ms) = repeated(|| {
            factor.solve_into(gradients, &mut workspace, &mut positions);
            Ok(())
        })?;
        Ok(Measured {
            model: self.model,
            triangles: self.target.triangles().len(),
            blending_ms,
            factor_ms,
            solve_ms,
            frame_ms,
        })
    }
}

/// The last result of some runs, and the median of their milliseconds. One more run comes before:
/// it warms caches.
fn repeated<T>(
    mut work: impl FnMut() -> Result<T, TransferError>,
) -> Result<(T, f64), TransferError> {
    let mut result = work()?;
    let mut spans = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let began = Instant::now();
        result = work()?;
        spans.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok((result, median(spans)))
}

fn table(measured: &[Measured]) -> Table {
    let caption = format!(
        "Table 1 in milliseconds: published, and ours on this machine, medians of {RUNS}. Counts of ours are as near as collapsing edges \
         comes. A whole frame is the gradients of the source, their way to the target, blending, the solution and its placement; the \
         paper tells the solution alone."
    );
    let header = [
        "model",
        "triangles",
        "blending, ms",
        "factorization, ms",
        "solve, ms",
        "whole frame, ms",
    ];
    let mut table = Table::new(caption, header);
    for (published, found) in PUBLISHED.iter().zip(measured) {
        let times = [
            published.blending_ms,
            published.factor_ms,
            published.solve_ms,
        ]
        .map(rounded);
        let name = format!("{}, 2008", published.model);
        table.push_quoted(
            [name, grouped(published.triangles)]
                .into_iter()
                .chain(times)
                .chain(["–".to_owned()]),
        );
        let times = [
            found.blending_ms,
            found.factor_ms,
            found.solve_ms,
            found.frame_ms,
        ]
        .map(rounded);
        table.push(
            [found.model.to_owned(), grouped(found.triangles)]
                .into_iter()
                .chain(times),
        );
    }
    table
}

fn plot(measured: &[Measured]) -> Plot {
    let ours = |name: &str, time: &dyn Fn(&Measured) -> f64| {
        Series::new(
            name,
            Marks::LineAndPoints,
            measured
                .iter()
                .map(|found| [found.triangles as f64, time(found)]),
        )
    };
    let published = |name: &str, time: &dyn Fn(&Published) -> f64| {
        Series::new(
            name,
            Marks::Points,
            PUBLISHED
                .iter()
                .map(|row| [row.triangles as f64, time(row)]),
        )
    };
    Plot::new(
        "Time over size",
        Axis::logarithmic("triangles"),
        Axis::logarithmic("time, ms"),
    )
    .with_series(ours("factorization", &|found| found.factor_ms))
    .with_series(ours("blending", &|found| found.blending_ms))
    .with_series(ours("solve", &|found| found.solve_ms))
    .with_series(published("factorization, 2008", &|row| row.factor_ms))
    .with_series(published("blending, 2008", &|row| row.blending_ms))
    .with_series(published("solve, 2008", &|row| row.solve_ms))
    .with_size([760, 420])
}
