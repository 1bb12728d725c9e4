//! Correspondence: `method/triangles of the source x triangles of the target`.

mod creature;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, Markers,
    nearest_compatible_triangles,
};

use creature::creature;

fn nearest(c: &mut Criterion) {
    let (source, target) = (creature(6, 1.0), creature(6, 1.1));
    c.bench_function("nearest/81920x81920", |b| {
        b.iter(|| black_box(nearest_compatible_triangles(&source, &target).unwrap()))
    });
}

fn correspondence(c: &mut Criterion) {
    // About the sizes of the horse and the camel.
    let (source, target) = (creature(5, 1.0), creature(6, 1.3));
    let markers = Markers::new((0..42).map(|v| (v, v)).collect());

    for (name, method) in [
        ("warp", CorrespondenceMethod::Wang2008),
        ("registration", CorrespondenceMethod::Registration),
    ] {
        let options = CorrespondenceOptions::default().with_method(method);
        c.bench_function(&format!("{name}/20480x81920"), |b| {
            b.iter(|| {
                black_box(Correspondence::find(&source, &target, &markers, &options).unwrap())
            });
        });
    }
}

criterion_group! { name = benches; config = Criterion::default().sample_size(10); targets = nearest, correspondence }
criterion_main!(benches);
