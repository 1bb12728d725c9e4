//! Huang et al. 2012 at its published size: 49k vertices, 14 examples, 17 control points, 1,355
//! bones.
//!
//! `cargo bench -p pliant-learn --bench frame`. The mesh is a sheet that waves and curls; its bones
//! are found once, with a separate time as in the publication; then the training of the bone models
//! alone, and one frame: regression, translations and skinning.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

use std::time::Instant;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use pliant_learn::{ControlConstraint, ControlPoints, Examples, LearnOptions, Method, Model};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::shapes;

/// Squares along a side: 49,284 vertices.
const SIDE: usize = 221;
const EXAMPLES: usize = 14;
const POINTS: usize = 17;
const BONES: usize = 1355;

/// Where a pose takes a point: strips that curl, each by its own angle, and a wave.
fn posed(p: DVec3, pose: f64) -> DVec3 {
    let finger = p.y * 2.5;
    let angle = 0.6 * (pose * (1.0 + 0.37 * finger) + finger).sin();
    let wave = 0.03 * (5.0 * p.x + pose).sin() * (4.0 * p.y - pose).cos();
    DMat3::from_rotation_y(angle * p.x.max(0.0)) * (p + DVec3::Z * wave)
}

fn examples() -> Examples {
    let sheet = shapes::bumpy_sheet(SIDE, 0.05);
    let frames = (1..=EXAMPLES)
        .map(|k| {
            sheet
                .positions()
                .iter()
                .map(|p| posed(*p, k as f64))
                .collect()
        })
        .collect();

    let names = (1..=EXAMPLES).map(|k| k.to_string()).collect();
    Examples::new(sheet, frames, names).expect("examples")
}

fn frame(criterion: &mut Criterion) {
    let examples = examples();
    let vertices: Vec<usize> = (0..POINTS)
        .map(|k| (2 * k + 1) * examples.reference().vertex_count() / (2 * POINTS))
        .collect();
    let control = ControlPoints::new(examples.reference(), &vertices).expect("control points");
    let options = LearnOptions::default()
        .with_method(Method::Huang2012)
        .with_bones(BONES);

    let began = Instant::now();
    let model = Model::train(examples, control, &options, &()).expect("a model");
    let count = model.bone_count();
    println!(
        "{} vertices, {count} bones: found and trained in {:.1} s",
        model.examples().reference().vertex_count(),
        began.elapsed().as_secs_f64()
    );

    let bytes = model.to_bytes();
    criterion.bench_function("train/bones_known", |b| {
        b.iter_batched(
            || &bytes,
            |bytes| Model::from_bytes(bytes),
            BatchSize::LargeInput,
        )
    });

    let rest: Vec<DVec3> = model.control().at(model.examples().reference().positions());
    let goals: Vec<DVec3> = rest.iter().map(|p| posed(*p, 3.4)).collect();
    for (name, constraint) in [
        ("frame/soft", ControlConstraint::Soft(options.beta())),
        ("frame/hard", ControlConstraint::Hard),
    ] {
        let driver = model.driver_with(constraint).expect("a driver");
        criterion.bench_function(name, |b| b.iter(|| driver.pose(&goals).expect("a pose")));
    }
}

criterion_group! { name = benches; config = Criterion::default().sample_size(10); targets = frame }
criterion_main!(benches);
