//! Leave-one-out errors (RMS / longest side) of the methods on the shared sets, for five layouts of
//! control points each.
//!
//! `cargo bench -p pliant-learn --bench leave_one_out -- [SET|METHOD…]`, with `PLIANT_DATA` set. A
//! layout is a farthest-first sample along the surface from a start vertex of its own: 20 points on
//! the horse, 30 on the face.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

use std::path::Path;
use std::time::Instant;

use pliant_io::{LoadOptions, load};
use pliant_learn::{ControlPoints, Examples, LearnOptions, LeaveOneOut, Method};
use pliant_mesh::{HeatGeodesics, HeatOptions, Mesh, SurfacePoint};

const SETS: [(&str, &str, usize); 2] = [
    ("horse", "horse-camel/horse-poses", 20),
    ("face", "face-poses/face-poses", 30),
];

const LAYOUTS: usize = 5;

fn main() {
    let Some(data) = std::env::var_os("PLIANT_DATA") else {
        println!("skipped: PLIANT_DATA is not set");
        return;
    };

    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let is_wanted = |name: &str, all: &[&str]| {
        wanted.iter().any(|w| w == name) || !wanted.iter().any(|w| all.contains(&w.as_str()))
    };

    let methods: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
    for (set, stem, count) in SETS
        .into_iter()
        .filter(|set| is_wanted(set.0, &SETS.map(|set| set.0)))
    {
        let stem = Path::new(&data).join(stem).display().to_string();
        let asset = load(
            &format!("{stem}.reference.obj+{stem}.frames.npy"),
            &LoadOptions::default(),
        )
        .expect("a shared clip");

        let examples = Examples::from_clip(&asset.clip().expect("one clip")).expect("examples");
        let layouts = layouts(examples.reference(), count);
        for method in Method::ALL
            .into_iter()
            .filter(|method| is_wanted(method.name(), &methods))
        {
            report(
                set,
                &examples,
                &layouts,
                &LearnOptions::default().with_method(method),
            );
        }
    }
}

fn report(set: &str, examples: &Examples, layouts: &[Vec<usize>], options: &LearnOptions) {
    let began = Instant::now();
    let error = |layout: &Vec<usize>| {
        let control = ControlPoints::new(examples.reference(), layout).expect("distinct vertices");
        LeaveOneOut::of(examples.clone(), control, options, &())
            .expect("a validation")
            .mean_rms()
    };

    let errors: Vec<f64> = layouts.iter().map(error).collect();
    let seconds = began.elapsed().as_secs_f64() / layouts.len() as f64;
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let each: Vec<String> = errors.iter().map(|error| format!("{error:.5}")).collect();

    println!(
        "{set:<6} {:<7} mean {mean:.5}   [{}]   {seconds:.1} s each",
        options.method().name(),
        each.join(" ")
    );
}

/// Farthest-first samples from start vertices spread evenly over the list of vertices.
fn layouts(mesh: &Mesh, count: usize) -> Vec<Vec<usize>> {
    let heat = HeatGeodesics::factor(mesh, &HeatOptions::default()).expect("a surface");
    let layout = |k: usize| {
        let mut chosen = vec![k * mesh.vertex_count() / LAYOUTS];
        while chosen.len() < count {
            let sources: Vec<SurfacePoint> = chosen
                .iter()
                .map(|&v| SurfacePoint::Vertex(v as u32))
                .collect();
            let reach = heat.distances(&sources).expect("vertices of the mesh");
            let farther = |best: usize, v: usize| {
                if reach[v].is_finite() && reach[v] > reach[best] {
                    v
                } else {
                    best
                }
            };

            chosen.push((0..reach.len()).fold(chosen[0], farther));
        }

        chosen
    };

    (0..LAYOUTS).map(layout).collect()
}
