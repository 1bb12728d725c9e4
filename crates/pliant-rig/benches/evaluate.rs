//! Positions and normals of a face rig: all sliders at once, five of them moving, and the plain sum beside it.
//!
//! With `PLIANT_DATA` set to the data folder: the ICT face (26 719 vertices, 57 expressions that move 44 % of all
//! pairs of shape and vertex, in runs of six on average). Without it: a sheet of that size with shapes of that density.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Mesh, vertex_normals_into};
use pliant_rig::{Evaluator, Rig, Target};

const SHAPES: usize = 57;
/// How many coefficients change in an update of a part.
const DRAGGED: usize = 5;

fn evaluate(criterion: &mut Criterion) {
    let mut rigs = vec![("sheet", sheet_rig())];
    if let Some(folder) = std::env::var_os("PLIANT_DATA").map(PathBuf::from) {
        rigs.push(("face", face_rig(&folder.join("ict-facekit"))));
    }
    for (name, rig) in rigs {
        evaluate_rig(criterion, name, &rig);
    }
}

fn evaluate_rig(criterion: &mut Criterion, name: &str, rig: &Rig) {
    let mut group = criterion.benchmark_group(format!("evaluate_{name}"));
    let shapes = || rig.targets().iter().map(|t| (t.vertices.as_slice(), t.deltas.as_slice()));
    let evaluator = Evaluator::new(rig.neutral(), shapes());
    let weights = |offset: usize| -> Vec<f64> { (0..SHAPES).map(|k| 0.1 + ((k * 7 + offset) % 13) as f64 * 0.05).collect() };
    // Every coefficient differs between the two poses.
    let poses = [weights(0), weights(1)];
    let mut dragged = weights(0);
    dragged.iter_mut().step_by(SHAPES / DRAGGED).take(DRAGGED).for_each(|weight| *weight += 0.1);

    let mut positions = rig.neutral().positions().to_vec();
    let mut normals = vec![DVec3::ZERO; positions.len()];
    group.bench_function("plain-sum/positions", |b| b.iter(|| rig.evaluate(black_box(&poses[0]))));
    group.bench_function("positions", |b| b.iter(|| evaluator.positions_into(black_box(&poses[0]), &mut positions)));
    group.bench_function("normals", |b| {
        let mesh = rig.neutral();
        b.iter(|| vertex_normals_into(mesh.topology(), mesh.triangles(), black_box(&positions), &mut normals));
    });
    let mut drag = |case: &str, poses: [&[f64]; 2]| {
        let mut pose = evaluator.start();
        let mut turn = 0;
        group.bench_function(format!("update/{case}"), |b| {
            b.iter(|| {
                turn = 1 - turn;
                evaluator.update(&mut pose, black_box(poses[turn]));
            });
        });
    };
    drag("all-57", [&poses[0], &poses[1]]);
    drag("5-of-57", [&poses[0], &dragged]);
    // The first shape of the face is its smallest: 3 % of the vertices.
    drag("1-of-57", [&poses[0], &[&[0.9], &poses[0][1..]].concat()]);
    // As on most faces: nearly all sliders at rest.
    drag("5-active", [&[0.0; SHAPES], &poses[0][..DRAGGED]]);
    group.bench_function("new", |b| b.iter(|| Evaluator::new(rig.neutral(), black_box(shapes()))));
    group.finish();
}

/// A sheet of 26 896 vertices and 53 138 triangles; each shape moves a disc, a wave of it not at all.
fn sheet_rig() -> Rig {
    let n = 164_u32;
    let place = |v: u32| DVec3::new(f64::from(v % n), f64::from(v / n), 0.0) / f64::from(n - 1);
    let corner = |k: u32| k / (n - 1) * n + k % (n - 1);
    let quads: Vec<Vec<u32>> = (0..(n - 1) * (n - 1)).map(corner).map(|a| vec![a, a + 1, a + n + 1, a + n]).collect();
    let neutral = Mesh::from_polygons((0..n * n).map(place).collect(), &quads).expect("the sheet is sound");
    let target = |shape: usize| {
        let s = shape as f64;
        let centre = DVec3::new((1.3 * s).sin(), (2.1 * s).cos(), 0.0) * 0.3 + DVec3::new(0.5, 0.5, 0.0);
        let radius = 0.3 + 0.4 * (s * 0.618).fract();
        let delta = |p: &DVec3| {
            let inside = p.distance(centre) < radius && (p.x * 300.0 + s).sin() * (p.y * 9.0).cos() > -0.6;
            if inside { Vec3::new(0.01, 0.02, 0.03) * (radius - p.distance(centre)) as f32 } else { Vec3::ZERO }
        };
        Target::from_dense(format!("shape {shape}"), neutral.positions().iter().map(delta))
    };
    let targets = (0..SHAPES).map(target).collect();
    Rig::new(neutral.clone(), targets).expect("targets of the sheet")
}

fn face_rig(folder: &Path) -> Rig {
    let neutral = read_obj(&folder.join("generic_neutral_mesh.obj"));
    let deltas = read_npy(&folder.join("expressions.delta.npy"));
    let targets = deltas.chunks(neutral.vertex_count()).enumerate();
    let targets = targets.map(|(k, deltas)| Target::from_dense(format!("shape {k}"), deltas.iter().copied())).collect();
    Rig::new(neutral, targets).expect("the file's targets fit its mesh")
}

fn read_obj(path: &Path) -> Mesh {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let (mut positions, mut polygons) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => positions.push(DVec3::from_slice(&words.take(3).map(number).collect::<Vec<f64>>())),
            Some("f") => polygons.push(words.map(|word| number::<u32>(word.split('/').next().unwrap_or(word)) - 1).collect()),
            _ => {}
        }
    }
    Mesh::from_polygons(positions, &polygons).expect("the file's faces fit")
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().ok().expect("the bench file holds numbers")
}

/// Triples of little-endian `f32` behind a version 1 header, whose length stands in bytes 8 and 9.
fn read_npy(path: &Path) -> Vec<Vec3> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let values: Vec<f32> = bytes[start..].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    values.chunks_exact(3).map(Vec3::from_slice).collect()
}

criterion_group!(benches, evaluate);
criterion_main!(benches);
