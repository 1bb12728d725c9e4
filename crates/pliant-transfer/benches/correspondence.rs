//! Finding partners: `method/triangles of the source x triangles of the target`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::shapes::icosphere;
use pliant_transfer::{Correspondence, CorrespondenceMethod, CorrespondenceOptions, Markers, nearest_compatible_triangles};

/// A sphere with limbs, `limb` long, turned so that no two individuals share a point.
fn creature(levels: usize, limb: f64) -> Mesh {
    let ball = icosphere(levels);
    let tips = [DVec3::X, DVec3::new(-0.5, 0.8, 0.3), DVec3::new(-0.4, -0.7, 0.6), DVec3::new(0.1, 0.2, -1.0)].map(|d| d.normalize());
    let turn = DQuat::from_scaled_axis(DVec3::new(0.1, 0.2, 0.3) * limb);
    let grow = |p: DVec3| p * (1.0 + tips.iter().map(|&tip| limb * (-12.0 * p.distance_squared(tip)).exp()).sum::<f64>());
    let positions = ball.positions().iter().map(|&p| turn * grow(p)).collect();
    ball.posed(positions).expect("the same vertices")
}

fn nearest(c: &mut Criterion) {
    let (source, target) = (creature(6, 1.0), creature(6, 1.1));
    c.bench_function("nearest/81920x81920", |b| b.iter(|| black_box(nearest_compatible_triangles(&source, &target).unwrap())));
}

fn correspondence(c: &mut Criterion) {
    // About the sizes of the horse and the camel.
    let (source, target) = (creature(5, 1.0), creature(6, 1.3));
    let markers = Markers::new((0..42).map(|v| (v, v)).collect());
    for (name, method) in [("warp", CorrespondenceMethod::Warp), ("registration", CorrespondenceMethod::Registration)] {
        let options = CorrespondenceOptions::default().with_method(method);
        c.bench_function(&format!("{name}/20480x81920"), |b| {
            b.iter(|| black_box(Correspondence::find(&source, &target, &markers, &options).unwrap()));
        });
    }
}

criterion_group! { name = benches; config = Criterion::default().sample_size(10); targets = nearest, correspondence }
criterion_main!(benches);
