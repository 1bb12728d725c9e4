//! The heat method on sheets of 10k and 200k vertices: factorisation, and one source.
//!
//! `cargo bench -p pliant-mesh --bench heat_geodesic`; `benches/peers/heat_geodesic_peers.py` runs
//! other libraries on the same sheets.

use std::hint::black_box;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use pliant_mesh::shapes::bumpy_sheet;
use pliant_mesh::{HeatGeodesics, HeatOptions, HeatWorkspace, SurfacePoint};

fn heat(criterion: &mut Criterion) {
    // Cells along a side; (n + 1)² vertices.
    for (name, cells) in [("10k", 100), ("200k", 447)] {
        let mesh = bumpy_sheet(cells, 0.25);
        let _ = mesh.topology();
        let mut group = criterion.benchmark_group("heat_geodesic");
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.bench_function(format!("factor/{name}"), |b| {
            b.iter(|| {
                HeatGeodesics::factor(black_box(&mesh), &HeatOptions::default()).expect("a sheet")
            });
        });

        let geodesics = HeatGeodesics::factor(&mesh, &HeatOptions::default()).expect("a sheet");
        let mut workspace = HeatWorkspace::default();
        let mut distances = vec![0.0; mesh.vertex_count()];
        group.bench_function(format!("solve/{name}"), |b| {
            b.iter(|| {
                geodesics.distances_into(
                    black_box(&[SurfacePoint::Vertex(7)]),
                    &mut workspace,
                    &mut distances,
                )
            });
        });

        group.finish();
    }
}

criterion_group!(benches, heat);
criterion_main!(benches);
