//! Work that other programs do as well, and the very input for them.
//!
//! `cargo bench -p pliant-transfer --bench peers -- FOLDER` prints medians as `work/size` and
//! writes the input and our results to FOLDER for `benches/peers/transfer_peers.py`. With
//! PLIANT_DATA set, the horse is brought to the camel, too.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod creature;

use std::borrow::Cow;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::{LoadOptions, load, npy};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_rig::Clip;
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, Layer, Markers, Reconstruction,
    ReconstructionWeighting, ReconstructionWorkspace, Source, Synthesis, SynthesisOptions,
    TriangleMap, nearest_compatible_triangles,
};

use creature::creature;

/// Prints the median of `rounds` runs in milliseconds, and returns the last result.
fn time<T>(name: &str, rounds: usize, mut work: impl FnMut() -> T) -> T {
    let mut result = work();
    let mut spans: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            result = work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();

    spans.sort_by(f64::total_cmp);
    println!(
        "{name:44} {:9.3} ms   ({:.3} to {:.3})",
        spans[rounds / 2],
        spans[0],
        spans[rounds - 1]
    );

    result
}

/// Where the input for the peers goes.
struct Folder(PathBuf);

impl Folder {
    fn points(&self, name: &str, points: &[DVec3]) {
        self.write(name, npy::write_points(&[points.len()], points));
    }

    fn triangles(&self, name: &str, triangles: &[[u32; 3]]) {
        self.write(
            name,
            npy::write_i64(
                &[triangles.len(), 3],
                triangles.iter().flatten().map(|&v| i64::from(v)),
            ),
        );
    }

    fn numbers(&self, name: &str, numbers: impl ExactSizeIterator<Item = u32>) {
        self.write(
            name,
            npy::write_i64(&[numbers.len()], numbers.map(i64::from)),
        );
    }

    fn write(&self, name: &str, bytes: Vec<u8>) {
        std::fs::write(self.0.join(format!("{name}.npy")), bytes)
            .expect("a folder that can be written to");
    }
}

/// Factor, solve, the nearest compatible triangles and a whole frame.
fn time_a_frame(folder: &Folder) {
    let (source, target) = (creature(6, 1.0), creature(6, 1.1));
    let size = target.triangles().len().to_string();
    black_box(target.topology()); // Built once per mesh; not part of the factor.

    let nearest = time(&format!("nearest/{size}"), 9, || {
        nearest_compatible_triangles(&source, &target).expect("finite meshes")
    });
    let partners: Vec<u32> = nearest
        .iter()
        .map(|found| found.map_or(0, |(s, _)| s))
        .collect();

    let map = TriangleMap::new(partners.iter().map(|&s| [(s, 1.0)]));
    let clip = waves(&source);
    let factor = time(&format!("factor/{size}"), 9, || {
        Reconstruction::factor(&target, ReconstructionWeighting::Area).expect("a factor")
    });
    let sources = vec![Source {
        clip: &clip,
        map: Cow::Borrowed(&map),
    }];

    let layers = vec![Layer::whole(
        0,
        vec![1.0; partners.len()],
        clip.frames().len(),
    )];

    let mut synthesis = Synthesis::with_factor(
        &target,
        &factor,
        sources,
        layers,
        SynthesisOptions::default(),
    )
    .expect("a synthesis");

    let mut k = 0;
    time(&format!("frame/{size}"), 31, || {
        black_box(synthesis.frame(k % clip.frames().len()));
        k += 1;
    });

    let frame = synthesis.frame(clip.frames().len() - 1).to_vec();
    let mut workspace = ReconstructionWorkspace::default();
    let mut positions = target.positions().to_vec();

    time(&format!("solve/{size}"), 31, || {
        factor.solve_into(synthesis.gradients(), &mut workspace, &mut positions)
    });

    for (name, mesh) in [("source", &source), ("target", &target)] {
        folder.points(name, mesh.positions());
        folder.triangles(&format!("{name}-triangles"), mesh.triangles());
    }

    folder.numbers("partners", partners.iter().copied());
    folder.points("pose", clip.frames().last().expect("frames"));
    folder.points("frame", &frame);
}

fn waves(mesh: &Mesh) -> Clip {
    let frame = |k: usize| {
        let time = 0.2 * k as f64;
        mesh.positions()
            .iter()
            .map(|p| {
                DMat3::from_rotation_z(time * p.z) * *p + DVec3::Z * 0.2 * (time + 3.0 * p.x).sin()
            })
            .collect()
    };
    Clip::new("waves", mesh.clone(), (0..8).map(frame).collect()).expect("a clip")
}

/// Correspondence alone, and what comes of it.
fn time_horse_and_camel(data: &Path, folder: &Folder) {
    let clip = |name: &str| {
        let path = |end: &str| {
            data.join(format!("horse-camel/{name}-poses.{end}"))
                .display()
                .to_string()
        };
        load(
            &format!("{}+{}", path("reference.obj"), path("frames.npy")),
            &LoadOptions::default(),
        )
        .and_then(|asset| asset.clip())
    };

    let horse = clip("horse").expect("the horse");
    let camel = clip("camel").expect("the camel");
    let text =
        std::fs::read_to_string(data.join("horse-camel/horse_camel.cons")).expect("the markers");
    let markers = Markers::parse(&text).expect("markers");

    for (name, clip) in [("horse", &horse), ("camel", &camel)] {
        folder.points(name, clip.reference().positions());
        folder.triangles(&format!("{name}-triangles"), clip.reference().triangles());
        folder.write(
            &format!("{name}-poses"),
            npy::write_points(
                &[clip.frames().len(), clip.reference().vertex_count()],
                clip.frames().iter().flatten(),
            ),
        );
    }

    for count in [107, 40, 17] {
        let some = markers.spread_over(horse.reference(), count);
        folder.numbers(
            &format!("markers-{count}-horse"),
            some.pairs().iter().map(|pair| pair.0),
        );

        folder.numbers(
            &format!("markers-{count}-camel"),
            some.pairs().iter().map(|pair| pair.1),
        );

        for (name, method) in [
            ("ours", CorrespondenceMethod::Auto),
            ("warp", CorrespondenceMethod::Wang2008),
        ] {
            let options = CorrespondenceOptions::default().with_method(method);
            let find = || {
                Correspondence::find(horse.reference(), camel.reference(), &some, &options)
                    .expect("a correspondence")
            };
            let found = time(&format!("{name}/horse-camel-{count}"), 5, find);

            folder.points(&format!("{name}-{count}"), &found.source_on_target);
            let first = found.map.rows().map(heaviest).collect::<Vec<_>>();
            folder.numbers(&format!("{name}-{count}-map"), first.into_iter());
        }
    }
}

/// The source that a target triangle takes most from.
fn heaviest(row: &[(u32, f64)]) -> u32 {
    row.iter()
        .fold(
            (0, 0.0),
            |best, next| if next.1 > best.1 { *next } else { best },
        )
        .0
}

fn main() {
    // Cargo adds `--bench`.
    let Some(folder) = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
    else {
        println!("name a folder for the peers' input");
        return;
    };

    std::fs::create_dir_all(&folder).expect("a folder");
    let folder = Folder(folder.into());
    time_a_frame(&folder);

    if let Some(data) = std::env::var_os("PLIANT_DATA") {
        time_horse_and_camel(Path::new(&data), &folder);
    }
}
