//! The inverse rig on whole meshes: 130 sliders with 260 products of two of them, 26,719 vertices,
//! ten frames.
//!
//! Reads the problem of `benches/peers/inverse_rig_numpy.py --write FOLDER` from the folder
//! PLIANT_INVERSE_RIG, where the numpy peer solves the same frames, and returns without it.
//! Each frame has its own fifteen sliders, so nothing is gained from the frame before. Prints the
//! error of the recovered weights.

#![allow(clippy::print_stderr, reason = "a bench reports to its reader")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{Clip, Combination, Driver, Inverse, InvertOptions, Inverter, Rig, Rule, Target};

/// A rig, a clip, and the weights that the clip was made with.
struct KnownClip {
    rig: Rig,
    clip: Clip,
    weights: Vec<Vec<f64>>,
}

fn frames(criterion: &mut Criterion) {
    let Some(folder) = std::env::var_os("PLIANT_INVERSE_RIG").map(PathBuf::from) else {
        eprintln!(
            "PLIANT_INVERSE_RIG names no folder; write one with benches/peers/inverse_rig_numpy.py --write FOLDER"
        );
        return;
    };

    let known = read(&folder);
    let mut group = criterion.benchmark_group("invert");
    group.sample_size(20);

    // The first fits frame by frame, as the peer does; the second takes its penalties from the noise
    // and ties the frames together, which these random ones defy.
    let frames = InvertOptions::default()
        .with_roughness(0.0)
        .with_sparsity(1e-4);
    for (name, options) in [("frames", frames), ("default", InvertOptions::default())] {
        let factor =
            || Inverter::factor(black_box(&known.rig), &options).expect("the bench rig is sound");
        let inverter = factor();
        let solve = || {
            inverter
                .invert(black_box(&known.clip))
                .expect("the bench clip is sound")
        };

        print_errors(name, &known, &inverter, &solve);
        group.bench_function(format!("{name}/{}", known.clip.frames().len()), |b| {
            b.iter(solve)
        });
    }

    let factor = || Inverter::factor(black_box(&known.rig), &InvertOptions::default());
    group.bench_function(
        format!("factor/{}", known.rig.neutral().vertex_count()),
        |b| b.iter(factor),
    );
    group.finish();
}

fn print_errors(name: &str, known: &KnownClip, inverter: &Inverter, solve: &dyn Fn() -> Inverse) {
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..15 {
        let began = Instant::now();
        black_box(solve());
        times.push(began.elapsed().as_secs_f64() * 1e3 / known.clip.frames().len() as f64);
    }

    times.sort_by(f64::total_cmp);
    let inverse = solve();
    let pairs = || {
        inverse
            .track
            .keys()
            .iter()
            .flatten()
            .zip(known.weights.iter().flatten())
    };

    let square = pairs()
        .map(|(found, known)| (found - known).powi(2))
        .sum::<f64>()
        / pairs().count() as f64;
    let worst = pairs()
        .map(|(found, known)| (found - known).abs())
        .fold(0.0, f64::max);

    let active =
        pairs().filter(|(found, _)| **found > 0.0).count() as f64 / known.weights.len() as f64;
    let misses = inverter
        .fit_errors(&known.clip, &inverse)
        .expect("the bench clip is sound");
    let rms =
        (misses.iter().map(|miss| miss.rms.powi(2)).sum::<f64>() / misses.len() as f64).sqrt();

    eprintln!(
        "{name}: {:.3} ms a frame (median of {}, from {:.3}); weights RMS {:.2e}, worst {worst:.2e}; mesh RMS {rms:.2e}; {active:.1} sliders; \
         {} sweeps, {} linearisations, KKT {:.1e}",
        times[times.len() / 2],
        times.len(),
        times[0],
        square.sqrt(),
        inverse.report.sweeps,
        inverse.report.linearisations,
        inverse.report.kkt
    );
}

fn read(folder: &Path) -> KnownClip {
    let (_, neutral) = read_npy(&folder.join("neutral.npy"));
    let (shape, deltas) = read_npy(&folder.join("deltas.npy"));
    let (_, pairs) = read_npy(&folder.join("pairs.npy"));
    let (of_weights, weights) = read_npy(&folder.join("weights.npy"));
    let (_, positions) = read_npy(&folder.join("frames.npy"));
    let (vertices, sliders) = (shape[1], of_weights[1]);

    let points = |numbers: &[f64]| -> Vec<DVec3> {
        numbers.chunks_exact(3).map(DVec3::from_slice).collect()
    };
    let mesh = Mesh::from_triangles(points(&neutral), &[]).expect("points are a mesh");
    let shapes: Vec<Target> = deltas
        .chunks_exact(3 * vertices)
        .enumerate()
        .map(|(k, row)| {
            Target::from_dense(
                format!("shape {k}"),
                row.chunks_exact(3)
                    .map(|d| DVec3::from_slice(d).as_vec3())
                    .collect::<Vec<Vec3>>(),
            )
        })
        .collect();

    let combined = shapes[sliders..]
        .iter()
        .zip(pairs.chunks_exact(2))
        .map(|(shape, pair)| Combination {
            name: shape.name.clone(),
            drivers: pair
                .iter()
                .map(|&k| Driver::Slider((k as usize).into()))
                .collect(),
            rule: Rule::Product,
            vertices: shape.vertices.clone(),
            deltas: shape.deltas.clone(),
        });

    let rig = Rig::new(mesh.clone(), shapes[..sliders].to_vec())
        .and_then(|rig| rig.with_combinations(combined.collect()));
    let clip = Clip::new(
        "known",
        mesh,
        positions.chunks_exact(3 * vertices).map(points).collect(),
    );

    KnownClip {
        rig: rig.expect("the arrays make a rig"),
        clip: clip.expect("the arrays make a clip"),
        weights: weights.chunks_exact(sliders).map(<[f64]>::to_vec).collect(),
    }
}

/// The shape and the numbers of a version 1 file of `f4`, `f8` or `i8` in C order.
fn read_npy(path: &Path) -> (Vec<usize>, Vec<f64>) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header_end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..header_end]).into_owned();
    let (_, shape) = header
        .split_once("'shape': (")
        .expect("a header with a shape");

    let lengths = shape.split(')').next().expect("a closed list").split(',');
    let shape = lengths.filter_map(|n| n.trim().parse().ok()).collect();
    let body = &bytes[header_end..];
    let wide = |number: fn([u8; 8]) -> f64| {
        body.chunks_exact(8)
            .map(|b| number(b.try_into().expect("eight bytes")))
            .collect()
    };

    let values = match header {
        h if h.contains("<f4") => body
            .chunks_exact(4)
            .map(|b| f64::from(f32::from_le_bytes(b.try_into().expect("four bytes"))))
            .collect(),
        h if h.contains("<f8") => wide(f64::from_le_bytes),
        _ => wide(|b| i64::from_le_bytes(b) as f64),
    };

    (shape, values)
}

criterion_group!(benches, frames);
criterion_main!(benches);
