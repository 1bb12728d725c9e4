//! One step of the thesis' method with two iterations and one ball in contact: table 5.2 and figure 5.9.
//!
//! The thesis' model "Bald Boy" has 9,562 vertices, 28,416 edges and 18,848 faces, and a step of all of it took 29.6 s on a processor of
//! its time, in Python. Ours is a ring of about that size; patches are bands of it, down to a hundredth.

// The engine is no part of the public interface, so the bench builds its files once more; not all that is in them is used here.
#![allow(dead_code, unused_imports, unreachable_pub)]

use std::f64::consts::TAU;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

#[path = "../src/hinge.rs"]
mod hinge;
#[path = "../src/touch"]
mod touch {
    mod constraint_group;
    mod lanes;
    pub(crate) mod soft_mesh;
    pub(crate) mod verlet;
}

use touch::soft_mesh::SoftMesh;
use touch::verlet::{VerletBody, VerletOptions};

/// Vertices around the ring and around its section: together 9,506, with 28,518 edges and 19,012 faces.
const SIZES: [usize; 2] = [98, 97];

fn ring() -> Mesh {
    let [m, n] = SIZES;
    let point = |k: usize| {
        let (u, v) = ((k / n) as f64 * TAU / m as f64, (k % n) as f64 * TAU / n as f64);
        let (across, along) = (1.0 + 0.5 * v.cos(), 0.5 * v.sin());
        DVec3::new(across * u.cos(), across * u.sin(), along)
    };
    let at = |i: usize, j: usize| ((i % m) * n + j % n) as u32;
    let faces = (0..m * n).map(|k| (k / n, k % n)).flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    Mesh::from_triangles((0..m * n).map(point).collect(), &faces.collect::<Vec<_>>()).expect("the ring is sound")
}

/// Pushes soft particles out of a ball.
fn collide(particles: &mut [[f64; 4]]) {
    let (center, radius) = (DVec3::X * 1.6, 0.15);
    for particle in particles.iter_mut().filter(|p| p[3] > 0.0) {
        let place = DVec3::new(particle[0], particle[1], particle[2]);
        let distance = place.distance(center);
        if distance < radius {
            particle[..3].copy_from_slice(&(center + (place - center) * (radius / distance)).to_array());
        }
    }
}

fn steps(criterion: &mut Criterion) {
    let ring = ring();
    let mut group = criterion.benchmark_group("verlet step");
    for bands in [1, 3, 10, 25, 50, SIZES[0]] {
        let soft: Vec<u32> = (0..(bands * SIZES[1]) as u32).collect();
        let mesh = SoftMesh::around(&ring, &soft);
        let rest: Vec<DVec3> = mesh.vertices.iter().map(|&v| ring.positions()[v as usize]).collect();
        let mut body = VerletBody::new(&mesh, &rest, &VerletOptions::default());
        group.bench_function(BenchmarkId::from_parameter(soft.len()), |bencher| {
            bencher.iter(|| {
                body.step(black_box(DVec3::new(0.0, 0.0, -1.0)), 1.0 / 24.0, &mut collide);
                black_box(body.particles()[0])
            });
        });
        group.bench_function(BenchmarkId::new("new rest shape", soft.len()), |bencher| bencher.iter(|| body.set_rest(black_box(&rest))));
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
