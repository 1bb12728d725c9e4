//! Positions and normals of a face rig: all sliders at once, five of them moving, and the plain sum
//! beside it.
//!
//! With `PLIANT_DATA` set to the data folder: the ICT face (26 719 vertices, 57 expressions that
//! move 44 % of all pairs of shape and vertex, in runs of six on average). Without it: a sheet of
//! that size with shapes of that density.

mod face;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use face::{SHAPES, face_folder, face_rig, sheet_rig};
use pliant_mesh::glam::DVec3;
use pliant_mesh::vertex_normals_into;
use pliant_rig::{Evaluator, Rig};

/// How many coefficients change in an update of a part.
const DRAGGED: usize = 5;

fn evaluate(criterion: &mut Criterion) {
    let mut rigs = vec![("sheet", sheet_rig())];
    if let Some(folder) = face_folder() {
        rigs.push(("face", face_rig(&folder)));
    }
    for (name, rig) in rigs {
        evaluate_rig(criterion, name, &rig);
    }
}

fn evaluate_rig(criterion: &mut Criterion, name: &str, rig: &Rig) {
    let mut group = criterion.benchmark_group(format!("evaluate_{name}"));
    let shapes = || {
        rig.targets()
            .iter()
            .map(|t| (t.vertices.as_slice(), t.deltas.as_slice()))
    };

    let evaluator = Evaluator::new(rig.neutral(), shapes());
    let weights = |offset: usize| -> Vec<f64> {
        (0..SHAPES)
            .map(|k| 0.1 + ((k * 7 + offset) % 13) as f64 * 0.05)
            .collect()
    };

    // Every coefficient differs between the two poses.
    let poses = [weights(0), weights(1)];
    let mut dragged = weights(0);
    for weight in dragged.iter_mut().step_by(SHAPES / DRAGGED).take(DRAGGED) {
        *weight += 0.1;
    }

    let mut positions = rig.neutral().positions().to_vec();
    let mut normals = vec![DVec3::ZERO; positions.len()];
    group.bench_function("plain-sum/positions", |b| {
        b.iter(|| rig.evaluate(black_box(&poses[0])))
    });
    group.bench_function("positions", |b| {
        b.iter(|| evaluator.positions_into(black_box(&poses[0]), &mut positions))
    });

    group.bench_function("normals", |b| {
        let mesh = rig.neutral();
        b.iter(|| {
            vertex_normals_into(
                mesh.topology(),
                mesh.triangles(),
                black_box(&positions),
                &mut normals,
            )
        });
    });

    let mut drag = |case: &str, poses: [&[f64]; 2]| {
        let mut pose = evaluator.start();
        let mut current = 0;
        group.bench_function(format!("update/{case}"), |b| {
            b.iter(|| {
                current = 1 - current;
                evaluator.update(&mut pose, black_box(poses[current]));
            });
        });
    };

    drag("all-57", [&poses[0], &poses[1]]);
    drag("5-of-57", [&poses[0], &dragged]);

    // The first shape of the face is its smallest: 3 % of the vertices.
    drag("1-of-57", [&poses[0], &[&[0.9], &poses[0][1..]].concat()]);

    // As on most faces: nearly all sliders at rest.
    drag("5-active", [&[0.0; SHAPES], &poses[0][..DRAGGED]]);
    group.bench_function("new", |b| {
        b.iter(|| Evaluator::new(rig.neutral(), black_box(shapes())))
    });
    group.finish();
}

criterion_group!(benches, evaluate);
criterion_main!(benches);
