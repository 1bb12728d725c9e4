//! Detail layer at the size of the hand of Huang et al. 2012: 49 thousand vertices subdivided to
//! 197 thousand, 14 examples, 17 control points.
//!
//! `synthesis` is `h = H ω` for one pose; run it with `RAYON_NUM_THREADS=1` for one thread.
//! `training` goes from heights to a predictor: hyper-parameter selection, height maps. `raise`
//! subdivides a base, computes its normals and adds the heights. `benches/peers/detail_peers.py`
//! has the same sizes.

use std::f64::consts::TAU;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use pliant_learn::{
    ControlPoints, DetailHeights, DetailMode, DetailOptions, DetailedExamples, Examples,
    LearnOptions, Method, Model,
};
use pliant_mesh::glam::{DVec2, DVec3};
use pliant_mesh::{LoopSubdivision, Mesh};

const SIDE: u32 = 222;
const EXAMPLES: usize = 14;
const POINTS: usize = 17;

fn torus() -> Mesh {
    let angle = |k: u32| f64::from(k) / f64::from(SIDE) * TAU;
    let place = |v: u32| {
        (DVec2::from_angle(angle(v / SIDE)) * (2.0 + angle(v % SIDE).cos()))
            .extend(angle(v % SIDE).sin())
    };
    let at = |i: u32, j: u32| (i % SIDE) * SIDE + j % SIDE;
    let squares = (0..SIDE * SIDE).map(|v| (v / SIDE, v % SIDE));

    let cut = |(i, j): (u32, u32)| {
        [
            [at(i, j), at(i + 1, j), at(i + 1, j + 1)],
            [at(i, j), at(i + 1, j + 1), at(i, j + 1)],
        ]
    };

    let triangles: Vec<[u32; 3]> = squares.flat_map(cut).collect();
    Mesh::from_triangles((0..SIDE * SIDE).map(place).collect(), &triangles)
        .expect("a torus is a mesh")
}

fn bent(rest: &[DVec3], example: usize) -> Vec<DVec3> {
    let amount = example as f64 / EXAMPLES as f64;
    rest.iter()
        .map(|p| {
            *p + DVec3::new(
                0.0,
                0.3 * amount * p.z,
                0.4 * amount * p.x * p.x - 0.2 * (3.0 * amount).sin() * p.y,
            )
        })
        .collect()
}

fn detailed() -> DetailedExamples {
    let mesh = torus();
    let frames: Vec<Vec<DVec3>> = (1..EXAMPLES).map(|i| bent(mesh.positions(), i)).collect();
    let finer = LoopSubdivision::of(&mesh).expect("a torus can be refined");
    let ripple = |i: usize, p: &DVec3| {
        *p * (1.0 + 0.002 * (p.x * 40.0 + i as f64).sin() * (p.y * 37.0).cos())
    };

    let poses: Vec<Vec<DVec3>> = (0..EXAMPLES)
        .map(|i| {
            finer
                .apply(&bent(mesh.positions(), i))
                .iter()
                .map(|p| ripple(i, p))
                .collect()
        })
        .collect();

    let names = (1..EXAMPLES).map(|i| i.to_string()).collect();
    let base = Examples::new(mesh, frames, names).expect("poses of one mesh");
    DetailedExamples::from_poses(base, 1, poses.iter().map(Vec::as_slice))
        .expect("poses of the refined torus")
}

fn detail(criterion: &mut Criterion) {
    let detailed = detailed();
    let base = detailed.base().clone();
    let control: Vec<usize> = (0..POINTS)
        .map(|k| k * base.reference().vertex_count() / POINTS)
        .collect();
    let control = ControlPoints::new(base.reference(), &control).expect("distinct vertices");
    let goals = control.at(&bent(base.reference().positions(), 3));
    let options = LearnOptions::default().with_method(Method::Sorkine2007);

    let mut group = criterion.benchmark_group("detail");
    for mode in [DetailMode::Direct, DetailMode::Auto] {
        let detail = DetailOptions::default().with_mode(mode);
        let model =
            Model::train_detailed(detailed.clone(), control.clone(), &options, &detail, &())
                .expect("a model");
        let layer = model.detail().expect("it has details");
        let driver = model.driver();
        let (weights, pose) = driver
            .detail_weights(&goals)
            .expect("as many goals as points");

        let mut heights = DetailHeights::default();
        layer.sum_heights(&weights, &mut heights);
        group.sample_size(100);
        group.bench_function(format!("synthesis/{}/197k", mode.name()), |bench| {
            bench.iter(|| layer.sum_heights(black_box(&weights), &mut heights));
        });

        group.sample_size(20);
        group.bench_function(format!("raise/{}/197k", mode.name()), |bench| {
            bench.iter(|| layer.displace(black_box(&pose), &heights))
        });
        group.sample_size(10);

        let fresh = || {
            (
                Model::train(base.clone(), control.clone(), &options, &()).expect("a base"),
                detailed.clone(),
            )
        };

        group.bench_function(format!("training/{}/197k", mode.name()), |bench| {
            bench.iter_batched(
                fresh,
                |(base, detailed)| base.with_detail(detailed, &detail),
                BatchSize::PerIteration,
            );
        });
    }

    group.finish();
}

criterion_group!(benches, detail);
criterion_main!(benches);
