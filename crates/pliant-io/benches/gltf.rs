//! `gltf/…`: a head of 26 719 vertices with 57 targets, read and written as GLB.
//!
//! Needs the folder that `PLIANT_DATA` names; without it there is nothing to measure. The peers are
//! in `benches/peers/gltf_peers.py`, on the same rig.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_io::{LoadOptions, NoFiles, gltf, load};

fn rig(criterion: &mut Criterion) {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        return;
    };

    let neutral = Path::new(&folder).join("ict-facekit/generic_neutral_mesh.obj");
    let locator = format!("{}+expressions.delta.npy", neutral.display());
    let asset = load(&locator, &LoadOptions::default()).expect("the shared rig can be read");
    let bytes = gltf::write(&asset).bytes;
    let mut group = criterion.benchmark_group("gltf");

    group.sample_size(20);
    let size = format!("26719x57/{:.1}MB", bytes.len() as f64 / 1e6);
    group.bench_function(format!("write/{size}"), |bencher| {
        bencher.iter(|| gltf::write(black_box(&asset)))
    });
    group.bench_function(format!("read/{size}"), |bencher| {
        bencher.iter(|| gltf::read(black_box(&bytes), &NoFiles).unwrap())
    });

    // With the seams that the file had, instead of new ones.
    let again = gltf::read(&bytes, &NoFiles).expect("what was written can be read");
    group.bench_function(format!("write again/{size}"), |bencher| {
        bencher.iter(|| gltf::write(black_box(&again)))
    });

    // What a peer without morph targets does.
    let mesh = load(&neutral.display().to_string(), &LoadOptions::default())
        .expect("the shared mesh can be read");
    let bytes = gltf::write(&mesh).bytes;

    group.bench_function("write mesh alone/26719", |bencher| {
        bencher.iter(|| gltf::write(black_box(&mesh)))
    });
    group.bench_function("read mesh alone/26719", |bencher| {
        bencher.iter(|| gltf::read(black_box(&bytes), &NoFiles).unwrap())
    });

    group.finish();
}

criterion_group!(benches, rig);
criterion_main!(benches);
