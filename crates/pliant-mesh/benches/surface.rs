//! Topology, decimation, closest points, rays and self-intersections of spheres.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{
    DecimationBudget, DecimationOptions, Mesh, SurfaceIndex, VertexPlacement, nearest_ray_hit,
    shapes,
};

/// A sphere of 81 920 triangles with waves on it.
fn wavy_sphere() -> Mesh {
    let sphere = shapes::icosphere(6);
    let wavy = sphere
        .positions()
        .iter()
        .map(|p| *p * (1.0 + 0.05 * (9.0 * p.x).sin() * (7.0 * p.y).cos()))
        .collect();
    sphere.posed(wavy).expect("the same vertices")
}

/// A sheet of 52 488 triangles with waves on it.
fn wavy_sheet() -> Mesh {
    let sheet = shapes::bumpy_sheet(162, 0.2);
    let wavy = sheet
        .positions()
        .iter()
        .map(|p| *p + DVec3::Z * 0.05 * (20.0 * p.x).sin() * (17.0 * p.y).cos())
        .collect();
    sheet.posed(wavy).expect("the same vertices")
}

fn surface(criterion: &mut Criterion) {
    let (sphere, sheet) = (wavy_sphere(), wavy_sheet());
    let index = SurfaceIndex::new(&sphere).expect("a sphere has triangles");
    let queries: Vec<DVec3> = shapes::icosphere(5)
        .positions()
        .iter()
        .map(|p| *p * (1.0 + 0.2 * (31.0 * p.z).sin()))
        .collect();

    let mut group = criterion.benchmark_group("surface");
    group.sample_size(10);
    for placement in [VertexPlacement::Optimal, VertexPlacement::Subset] {
        let options = DecimationOptions::default().with_placement(placement);
        group.bench_function(format!("decimate_{placement:?}/52k_to_5k"), |bench| {
            bench.iter(|| black_box(&sheet).decimated(DecimationBudget::Triangles(5000), &options));
        });
    }

    let large = shapes::bumpy_sheet(447, 0.25);
    let fresh =
        || Mesh::from_triangles(large.positions().to_vec(), large.triangles()).expect("a sheet");
    group.bench_function("topology/200k", |bench| {
        bench.iter_batched_ref(
            fresh,
            |mesh| black_box(mesh.topology().edges().len()),
            BatchSize::LargeInput,
        );
    });

    let single: Vec<Vec3> = large.positions().iter().map(|p| p.as_vec3()).collect();
    let origin = DVec3::new(0.31, 0.42, 2.0);
    let direction = DVec3::new(0.05, 0.02, -1.0);
    group.bench_function("ray_without_index/200k", |bench| {
        bench.iter(|| nearest_ray_hit(black_box(&single), large.triangles(), origin, direction));
    });
    group.bench_function("index/82k", |bench| {
        bench.iter(|| SurfaceIndex::new(black_box(&sphere)))
    });

    group.bench_function("closest_points/10k_on_82k", |bench| {
        bench.iter(|| index.closest_points(black_box(&queries)))
    });
    group.bench_function("rays/10k_on_82k", |bench| {
        bench.iter(|| {
            queries
                .iter()
                .filter(|p| index.cast_ray(DVec3::ZERO, **p, f64::INFINITY).is_some())
                .count()
        });
    });

    group.bench_function("self_intersections/82k", |bench| {
        bench.iter(|| black_box(&sphere).self_intersections())
    });
    group.finish();
}

criterion_group!(benches, surface);
criterion_main!(benches);
