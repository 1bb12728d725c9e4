//! Blends of bars bent by a right angle, at about the sizes of table I of Ma et al. 2012: one of 36
//! steps, on a sampled path.
//!
//! The steps of Ma et al. took 2.23, 67.6, 40.1, 81.4 and 154 s on a processor of its time. The
//! names contain the numbers of vertices and springs, which follow from the filling.

mod bar;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_physics::{Blend, BlendOptions, EnergyTerms, Solver};

use bar::SIZES;

const STEPS: usize = 36;

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("blend");
    group.sample_size(10);
    for (size, along, across) in SIZES {
        let shapes = bar::pair(along, across);
        for (name, solver) in [("fast", Solver::Fast), ("tight", Solver::Tight)] {
            let options = BlendOptions::default()
                .with_energy(EnergyTerms::springs())
                .with_solver(solver);
            let mut blend = Blend::new(&shapes, &options).expect("the bar is sound");
            blend.prepare_frames(STEPS + 1).expect("the blend is sound");

            let half = blend.between(0.5).expect("the blend is sound");
            let springs = blend.spring_counts().in_shape();
            let vertices = half.positions.len() + half.interior.len();
            let mut step = 0;

            group.bench_function(
                format!("{name}/{size} ({vertices} vertices, {springs} springs)"),
                |bencher| {
                    bencher.iter(|| {
                        step = step % (STEPS - 1) + 1;
                        black_box(
                            blend
                                .between(step as f64 / STEPS as f64)
                                .expect("the blend is sound"),
                        )
                    });
                },
            );
        }
    }

    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
