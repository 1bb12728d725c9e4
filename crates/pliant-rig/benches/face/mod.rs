//! Rigs that benches share: the ICT face of the data folder, and a sheet of its size and density.

use std::path::{Path, PathBuf};

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{Rig, Target};

pub(crate) const SHAPES: usize = 57;

/// The folder of the ICT face, where `PLIANT_DATA` names the data folder.
pub(crate) fn face_folder() -> Option<PathBuf> {
    std::env::var_os("PLIANT_DATA").map(|folder| PathBuf::from(folder).join("ict-facekit"))
}

/// A sheet of 26 896 vertices and 53 138 triangles; each shape moves a disc, a wave of it not at
/// all.
pub(crate) fn sheet_rig() -> Rig {
    let n = 164_u32;
    let position = |v: u32| DVec3::new(f64::from(v % n), f64::from(v / n), 0.0) / f64::from(n - 1);
    let corner = |k: u32| k / (n - 1) * n + k % (n - 1);
    let quads: Vec<Vec<u32>> = (0..(n - 1) * (n - 1))
        .map(corner)
        .map(|a| vec![a, a + 1, a + n + 1, a + n])
        .collect();

    let neutral = Mesh::from_polygons((0..n * n).map(position).collect(), &quads)
        .expect("the sheet is sound");
    let target = |shape: usize| {
        let s = shape as f64;
        let centre =
            DVec3::new((1.3 * s).sin(), (2.1 * s).cos(), 0.0) * 0.3 + DVec3::new(0.5, 0.5, 0.0);
        let radius = 0.3 + 0.4 * (s * 0.618).fract();
        let delta = |p: &DVec3| {
            let inside =
                p.distance(centre) < radius && (p.x * 300.0 + s).sin() * (p.y * 9.0).cos() > -0.6;
            if inside {
                Vec3::new(0.01, 0.02, 0.03) * (radius - p.distance(centre)) as f32
            } else {
                Vec3::ZERO
            }
        };

        Target::from_dense(
            format!("shape {shape}"),
            neutral.positions().iter().map(delta),
        )
    };

    let targets = (0..SHAPES).map(target).collect();
    Rig::new(neutral.clone(), targets).expect("targets of the sheet")
}

pub(crate) fn face_rig(folder: &Path) -> Rig {
    let neutral = read_obj(&folder.join("generic_neutral_mesh.obj"));
    let deltas = read_npy(&folder.join("expressions.delta.npy"));
    let targets = deltas.chunks(neutral.vertex_count()).enumerate();
    let targets = targets
        .map(|(k, deltas)| Target::from_dense(format!("shape {k}"), deltas.iter().copied()))
        .collect();
    Rig::new(neutral, targets).expect("the file's targets fit its mesh")
}

fn read_obj(path: &Path) -> Mesh {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let (mut positions, mut polygons) = (Vec::new(), Vec::new());

    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => positions.push(DVec3::from_slice(
                &words.take(3).map(number).collect::<Vec<f64>>(),
            )),
            Some("f") => polygons.push(
                words
                    .map(|word| number::<u32>(word.split('/').next().unwrap_or(word)) - 1)
                    .collect(),
            ),
            _ => {}
        }
    }

    Mesh::from_polygons(positions, &polygons).expect("the file's faces fit")
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().ok().expect("the bench file holds numbers")
}

/// Triples of little-endian `f32` behind a version 1 header, whose length stands in bytes 8 and 9.
fn read_npy(path: &Path) -> Vec<Vec3> {
    let bytes = std::fs::read(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let values: Vec<f32> = bytes[start..]
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    values.chunks_exact(3).map(Vec3::from_slice).collect()
}
