//! Exact geodesic discs and whole-mesh distances.
//!
//! With `PLIANT_DATA` set to the data folder: the 3 cm disc around a cheek vertex of the ICT head
//! (unit: cm) and the Stanford bunny as a whole; `benches/peers/exact_geodesic_peers.py` runs other
//! libraries on the same input. Without it: generated waves of a similar size.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{ExactGeodesics, Mesh, SurfacePoint};

/// A vertex on the cheek with 521 vertices inside [`RADIUS_CM`].
const HEAD_SOURCE: u32 = 2653;
const RADIUS_CM: f64 = 3.0;

fn discs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exact_disc");
    let data = std::env::var_os("PLIANT_DATA").map(PathBuf::from);
    let (name, mesh, source, radius) = match &data {
        Some(folder) => (
            "head-3cm",
            read_obj(&folder.join("ict-facekit/generic_neutral_mesh.obj")),
            HEAD_SOURCE,
            RADIUS_CM,
        ),
        None => ("waves-3cm", waves(163), 163 * 81, 1.8),
    };

    let sources = [SurfacePoint::Vertex(source)];
    let mut geodesics = ExactGeodesics::new(&mesh).expect("the bench mesh is sound");
    let inside = geodesics
        .disc(&sources, radius)
        .expect("the source exists")
        .vertices
        .len();

    group.bench_function(format!("{name}/query-{inside}"), |b| {
        b.iter(|| geodesics.disc(black_box(&sources), radius))
    });
    group.bench_function(format!("{name}/new"), |b| {
        b.iter(|| ExactGeodesics::new(black_box(&mesh)))
    });

    group.bench_function(format!("{name}/new-and-query"), |b| {
        b.iter(|| {
            ExactGeodesics::new(black_box(&mesh))
                .and_then(|mut geodesics| geodesics.disc(&sources, radius))
        });
    });

    group.bench_function(format!("{name}/topology-new-and-query"), |b| {
        let rebuild = || mesh.to_builder().build().expect("the bench mesh is sound");
        let ask = |mesh: Mesh| {
            ExactGeodesics::new(&mesh).and_then(|mut geodesics| geodesics.disc(&sources, radius))
        };
        b.iter_batched(rebuild, ask, criterion::BatchSize::LargeInput);
    });

    let (name, mesh) = match &data {
        Some(folder) => ("bunny-whole", read_off(&folder.join("static/bunny.off"))),
        None => ("waves-whole", waves(59)),
    };
    let mut geodesics = ExactGeodesics::new(&mesh).expect("the bench mesh is sound");

    group.bench_function(format!("{name}/query"), |b| {
        b.iter(|| geodesics.distances(black_box(&[SurfacePoint::Vertex(0)])))
    });
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

fn read(path: &Path) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

fn numbers<T: std::str::FromStr>(words: impl Iterator<Item = impl AsRef<str>>) -> Vec<T> {
    words
        .map(|word| {
            word.as_ref()
                .parse()
                .ok()
                .expect("the bench file holds numbers")
        })
        .collect()
}

fn read_obj(path: &Path) -> Mesh {
    let (mut positions, mut polygons) = (Vec::new(), Vec::new());
    for line in read(path).lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => positions.push(DVec3::from_slice(&numbers(words.take(3)))),
            Some("f") => polygons.push(
                numbers::<u32>(words.map(|word| word.split('/').next().unwrap_or(word)))
                    .iter()
                    .map(|v| v - 1)
                    .collect(),
            ),
            _ => {}
        }
    }

    Mesh::from_polygons(positions, &polygons).expect("the file's faces fit")
}

fn read_off(path: &Path) -> Mesh {
    let text = read(path);
    let mut words = text.split_whitespace().skip(1);
    let counts: Vec<usize> = numbers(words.by_ref().take(3));
    let positions = numbers(words.by_ref().take(3 * counts[0]))
        .chunks(3)
        .map(DVec3::from_slice)
        .collect();

    let triangles: Vec<[u32; 3]> = numbers::<u32>(words.take(4 * counts[1]))
        .chunks(4)
        .map(|f| [f[1], f[2], f[3]])
        .collect();

    Mesh::from_triangles(positions, &triangles).expect("the file's faces fit")
}

criterion_group!(benches, discs);
criterion_main!(benches);
