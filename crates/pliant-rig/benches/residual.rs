//! The residual layer: factorising a disc, solving one frame of a drag, and adding the result to a
//! pose.
//!
//! A sheet of ten by ten units with hills, and discs of about 500 and 1500 vertices around one pin,
//! pulled by a fifth of the radius, oblique to the surface.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfacePoint};
use pliant_rig::{ResidualLayer, ResidualOptions};

fn layers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("residual");
    let n = 160;
    let mesh = waves(n);
    let pins = [SurfacePoint::Vertex(n / 2 * n + n / 2)];

    for radius in [0.8, 1.35] {
        let factor = || {
            ResidualLayer::factor(
                black_box(&mesh),
                mesh.positions(),
                &pins,
                radius,
                &ResidualOptions::default(),
            )
        };

        let layer = factor().expect("the bench mesh is sound");
        let pull = [DVec3::new(0.1, 0.05, 0.17) * radius];
        let mut displacement = vec![DVec3::ZERO; layer.vertices().len()];
        let vertices = displacement.len();

        group.bench_function(format!("factor/{vertices}"), |b| b.iter(factor));
        group.bench_function(format!("solve/{vertices}"), |b| {
            b.iter(|| layer.solve(black_box(&pull), &mut displacement))
        });

        let (residual, _) = layer.residual(&pull).expect("the pull is finite");
        let mut pose: Vec<DVec3> = mesh.positions().iter().map(|p| *p * 1.01).collect();
        group.bench_function(format!("apply/{vertices}"), |b| {
            b.iter(|| residual.apply_to(black_box(&mut pose), 1e-9))
        });
    }

    group.finish();
}

/// A square sheet of `n × n` vertices, ten units wide, with hills and saddles.
fn waves(n: u32) -> Mesh {
    let place = |k: u32| 10.0 * f64::from(k) / f64::from(n - 1);
    let height = |x: f64, y: f64| 0.4 * (1.7 * x).sin() * (1.3 * y).cos();
    let positions = (0..n * n)
        .map(|k| (place(k % n), place(k / n)))
        .map(|(x, y)| DVec3::new(x, y, height(x, y)))
        .collect();

    let corner = |k: u32| k / (n - 1) * n + k % (n - 1);
    let quads: Vec<Vec<u32>> = (0..(n - 1) * (n - 1))
        .map(corner)
        .map(|a| vec![a, a + 1, a + n + 1, a + n])
        .collect();

    Mesh::from_polygons(positions, &quads).expect("the sheet is sound")
}

criterion_group!(benches, layers);
criterion_main!(benches);
