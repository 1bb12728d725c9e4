//! Refining a new pose of a mesh of 49 thousand vertices to 197 thousand.
//!
//! `benches/peers/subdivision_peers.py` makes the same mesh and matrix and times SciPy's product.

use std::f64::consts::TAU;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::glam::{DVec2, DVec3};
use pliant_mesh::{LoopSubdivision, Mesh};

/// Squares around and through the torus.
const SIDE: u64 = 222;

/// A torus whose squares are cut along either diagonal by a fixed rule, so that valences vary.
fn torus() -> Mesh {
    let positions = (0..SIDE * SIDE)
        .map(|v| {
            let angle = |k: u64| k as f64 / SIDE as f64 * TAU;
            let (u, w) = (angle(v / SIDE), angle(v % SIDE));
            (DVec2::from_angle(u) * (2.0 + w.cos())).extend(w.sin())
        })
        .collect();

    let at = |i: u64, j: u64| ((i % SIDE) * SIDE + j % SIDE) as u32;
    let mut triangles = Vec::new();
    for i in 0..SIDE {
        for j in 0..SIDE {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            let falling = ((i * 73_856_093) ^ (j * 19_349_663)) >> 3 & 1 == 1;
            triangles.extend(if falling {
                [[a, b, d], [b, c, d]]
            } else {
                [[a, b, c], [a, c, d]]
            });
        }
    }

    Mesh::from_triangles(positions, &triangles).expect("a torus is a mesh")
}

fn subdivision(criterion: &mut Criterion) {
    let mesh = torus();
    let subdivision = LoopSubdivision::of(&mesh).expect("a torus can be refined");
    let matrix = subdivision.matrix();
    let pose: Vec<DVec3> = mesh
        .positions()
        .iter()
        .map(|p| *p * DVec3::new(1.0, 2.0, 0.5))
        .collect();

    let mut refined = vec![DVec3::ZERO; subdivision.mesh().vertex_count()];
    let mut group = criterion.benchmark_group("subdivision");
    group.bench_function("stencils/49k", |bench| {
        bench.iter(|| subdivision.apply_into(black_box(&pose), &mut refined))
    });
    group.bench_function("sparse_matrix/49k", |bench| {
        bench.iter(|| matrix.multiply_into(black_box(&pose), &mut refined))
    });

    group.sample_size(10);
    group.bench_function("construct/49k", |bench| {
        bench.iter(|| LoopSubdivision::of(black_box(&mesh)))
    });
    group.finish();
}

criterion_group!(benches, subdivision);
criterion_main!(benches);
