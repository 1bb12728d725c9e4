//! Blends of bars bent by a right angle, at about the sizes of table I of the paper: one of 36 steps, on a way that was sampled before.
//!
//! The paper's steps took 2.23, 67.6, 40.1, 81.4 and 154 s on a processor of its time. Names hold vertices and springs, which the
//! filling decides.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{Blend, BlendOptions, Solver};

/// Cells along and across a bar that has, filled, about as many vertices as the paper's man, cat, face, horse and hand.
const SIZES: [(&str, usize, usize); 5] = [("2.2k", 42, 9), ("7.3k", 78, 16), ("8.1k", 84, 17), ("8.5k", 88, 17), ("18.6k", 130, 25)];
const LENGTH: f64 = 4.0;
const STEPS: usize = 36;

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("blend");
    group.sample_size(10);
    for (size, along, across) in SIZES {
        let straight = bar(along, across);
        let bent = straight.posed(straight.positions().iter().map(|p| bend(*p)).collect()).expect("as many positions");
        let shapes = [straight, bent];
        for (name, solver) in [("fast", Solver::Fast), ("tight", Solver::Tight)] {
            let options = BlendOptions::default().with_solver(solver);
            let mut blend = Blend::new(&shapes, &options).expect("the bar is sound");
            blend.prepare_walk(STEPS + 1).expect("the blend is sound");
            let half = blend.between(0.5).expect("the blend is sound");
            let counts = blend.spring_counts();
            let springs = counts.structure + counts.bending + counts.internal;
            let vertices = half.positions.len() + half.interior.len();
            let mut step = 0;
            group.bench_function(format!("{name}/{size} ({vertices} vertices, {springs} springs)"), |bencher| {
                bencher.iter(|| {
                    step = step % (STEPS - 1) + 1;
                    black_box(blend.between(step as f64 / STEPS as f64).expect("the blend is sound"))
                });
            });
        }
    }
    group.finish();
}

/// A closed box around the x axis, one wide and one high.
fn bar(along: usize, across: usize) -> Mesh {
    let cells = [along, across, across];
    let mut index = std::collections::BTreeMap::new();
    let mut positions = Vec::new();
    let mut vertex = |k: [usize; 3]| {
        *index.entry(k).or_insert_with(|| {
            let share = |axis: usize| k[axis] as f64 / cells[axis] as f64;
            positions.push(DVec3::new(LENGTH * share(0), share(1) - 0.5, share(2) - 0.5));
            positions.len() as u32 - 1
        })
    };
    let mut faces = Vec::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (side, outward) in [(0, false), (cells[axis], true)] {
            for i in 0..cells[u] {
                for j in 0..cells[v] {
                    let mut corner = |di: usize, dj: usize| {
                        let mut k = [0; 3];
                        (k[axis], k[u], k[v]) = (side, i + di, j + dj);
                        vertex(k)
                    };
                    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    faces.push(if outward { vec![a, b, c, d] } else { vec![a, d, c, b] });
                }
            }
        }
    }
    Mesh::from_polygons(positions, &faces).expect("the bar is sound")
}

/// The x axis becomes a quarter of a circle; sections stay plane.
fn bend(point: DVec3) -> DVec3 {
    let radius = LENGTH / std::f64::consts::FRAC_PI_2;
    let (angle, lever) = (point.x / radius, radius - point.z);
    DVec3::new(lever * angle.sin(), point.y, radius - lever * angle.cos())
}

criterion_group!(benches, steps);
criterion_main!(benches);
