//! Table 1: time of blend weights, factorisation and one frame at the paper's sizes.

use std::borrow::Cow;
use std::hint::black_box;

use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_transfer::{
    Flexibility, Layer, Membership, Partitions, Reconstruction, ReconstructionWeighting,
    ReconstructionWorkspace, Source, Synthesis, SynthesisOptions, TransferError, TriangleMap,
    blend_weights, geodesic_band, nearest_compatible_triangles,
};
use web_time::Instant;

use super::numerals::{gap, grouped, median, rounded, row};
use super::resized::resized;
use super::{FINE_THRESHOLD, Models, ReproduceError, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// Runs of each step; the median is reported.
const RUNS: usize = 5;
/// Width of the border of the region, relative to the diagonal.
const BORDER: f64 = 0.05;

/// A row of *Wang, Lee 2008*, table 1.
struct Published {
    model: &'static str,
    triangles: usize,
    blending_ms: f64,
    factor_ms: f64,
    solve_ms: f64,
}

/// *Wang, Lee 2008*, table 1, by size; Pentium 4 at 3.4 GHz.
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

/// A target of some size, and the clip that animates it.
struct ResizedTarget<'a> {
    model: &'static str,
    clip: &'a Clip,
    target: Mesh,
    map: TriangleMap,
    members: Vec<Membership>,
}

/// Times on one target.
struct TargetTimings {
    model: &'static str,
    triangles: usize,
    blending_ms: f64,
    factor_ms: f64,
    solve_ms: f64,
    frame_ms: f64,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Times",
        "Table 1: eq. 5 for the blend weights of a region, the factorisation of eq. 6, and its \
         solution for one frame. Our targets are the tapir with the hound's walk and, for the \
         head of the paper, the built-in head, each remeshed to the triangle count of the paper's \
         model.",
    );
    let head = pliant_specimens::load("specimen:head#performance")?.clip()?;

    let mut measured = Vec::new();
    for row in &PUBLISHED {
        // David is a head; the other models of the paper are bodies.
        let subject = if row.model == "David" {
            of_head(&head, row.triangles)
        } else {
            of_tapir(models, row.triangles)
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
    section.plot(plot(&measured), "Each step over the size of the target.");
    Ok(section)
}

/// The walk on a tapir of another size.
fn of_tapir(models: &Models, triangles: usize) -> Result<ResizedTarget<'_>, TransferError> {
    let target = resized(models.pair.tapir(), triangles)?;
    let map = through(&models.correspondence.map, models.pair.tapir(), &target)?;
    let flexibility = Flexibility::of(&models.pair.walk)?;
    // The flexibility of the hound, carried to the resized tapir.
    let partitions = Partitions::new(
        &target,
        &map.filled(&target).carry(flexibility.of_triangles(), 0.0),
        FINE_THRESHOLD,
    )?;

    let members = partitions.refine(&half(&target))?;
    Ok(ResizedTarget {
        model: "tapir",
        clip: &models.pair.walk,
        target,
        map,
        members,
    })
}

/// The performance on a head of another size.
fn of_head(performance: &Clip, triangles: usize) -> Result<ResizedTarget<'_>, TransferError> {
    let head = performance.reference();
    let target = resized(head, triangles)?;
    let map = through(
        &TriangleMap::identity(head.triangles().len()),
        head,
        &target,
    )?;

    let border = BORDER * head.bounds().map_or(0.0, |bounds| bounds.diagonal());
    let members = geodesic_band(&target, &half(&target), border)?;
    Ok(ResizedTarget {
        model: "head",
        clip: performance,
        target,
        map,
        members,
    })
}

/// A map to `mesh`, on a remeshing of the same surface.
fn through(map: &TriangleMap, mesh: &Mesh, resized: &Mesh) -> Result<TriangleMap, TransferError> {
    let nearest = nearest_compatible_triangles(mesh, resized)?;
    Ok(TriangleMap::new(nearest.iter().map(|found| {
        found.map_or(&[][..], |(t, _)| map.row(t as usize))
    })))
}

/// The upper half of a mesh, as a rough selection.
fn half(mesh: &Mesh) -> Vec<bool> {
    let middle = mesh.bounds().map_or(0.0, |bounds| bounds.center().y);
    (0..mesh.triangles().len())
        .map(|t| mesh.triangle_points(t)[0].y > middle)
        .collect()
}

impl ResizedTarget<'_> {
    fn measure(&self) -> Result<TargetTimings, TransferError> {
        let (weights, blending_ms) = repeated(|| blend_weights(&self.target, &self.members))?;
        let (factor, factor_ms) =
            repeated(|| Reconstruction::factor(&self.target, ReconstructionWeighting::Area))?;
        // Weights and factorisation are reused: a frame pays only for itself.
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

        let mut workspace = ReconstructionWorkspace::default();
        let mut positions = self.target.positions().to_vec();
        // The solution alone, as the paper reports it.
        let gradients = synthesis.gradients();
        let ((), solve_ms) = repeated(|| {
            factor.solve_into(gradients, &mut workspace, &mut positions);
            Ok(())
        })?;

        Ok(TargetTimings {
            model: self.model,
            triangles: self.target.triangles().len(),
            blending_ms,
            factor_ms,
            solve_ms,
            frame_ms,
        })
    }
}

/// The last result of some runs, and the median of their times in milliseconds. An additional first
/// run warms the caches.
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

fn table(measured: &[TargetTimings]) -> Table {
    let caption = format!(
        "Table 1 in milliseconds: published, and ours on this machine as medians of {RUNS} runs. \
         Our triangle counts are as close as edge collapses allow. A whole frame consists of the \
         source's gradients, their transfer to the target, blending, solution and placement; the \
         paper gives the solution alone."
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
    for (published, timings) in PUBLISHED.iter().zip(measured) {
        let [blending, factor, solve] = [
            published.blending_ms,
            published.factor_ms,
            published.solve_ms,
        ]
        .map(rounded);
        let triangles = grouped(published.triangles);
        let name = format!("{}, 2008", published.model);
        table.push_quoted(row(name, [triangles, blending, factor, solve, gap()]));

        let [blending, factor, solve, frame] = [
            timings.blending_ms,
            timings.factor_ms,
            timings.solve_ms,
            timings.frame_ms,
        ]
        .map(rounded);
        let triangles = grouped(timings.triangles);
        let cells = [triangles, blending, factor, solve, frame];
        table.push(row(timings.model, cells));
    }

    table
}

fn plot(measured: &[TargetTimings]) -> Plot {
    let ours = |name: &str, time: &dyn Fn(&TargetTimings) -> f64| {
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
