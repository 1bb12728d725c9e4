//! The calls of `benches/python_speed.py` without Python: medians in microseconds, as JSON.
//!
//! A program of its own instead of a criterion bench, because the Python script runs it and
//! compares.

#![allow(clippy::print_stdout, reason = "a program for a script")]

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use pliant::mesh::glam::DVec3;
use pliant::mesh::{
    DecimationBudget, DecimationOptions, HeatGeodesics, HeatOptions, Laplacian, LoopSubdivision,
    SurfacePoint,
};
use pliant::physics::{SceneBlend, SceneOptions};
use pliant::rig::{Bounded, Evaluator, Pin, Poser, Range};

fn main() -> Result<(), Box<dyn Error>> {
    let rig = pliant::load("specimen:head")?.rig()?;
    let mesh = rig.neutral();
    let mut medians = BTreeMap::new();

    let count = rig.sliders().len();
    let weights: Vec<f64> = (0..count).map(|k| k as f64 / (count - 1) as f64).collect();
    let evaluator = Evaluator::new(mesh, rig.shapes());
    medians.insert(
        "evaluate",
        median(|_| {
            let mut positions = vec![DVec3::ZERO; mesh.vertex_count()];
            let coefficients = rig.activation().coefficients(&weights);
            evaluator.positions_into(&coefficients, &mut positions);
            black_box(positions);
        }),
    );

    let poser = Poser::new(&rig)?;
    let pins = [Pin::hold(4480), Pin::hold(855)];
    let mut grab = poser.grab(&vec![0.0; count], &pins, &Bounded::default(), Range::Clip)?;
    medians.insert(
        "drag",
        median(|turn| {
            let goal = DVec3::new(0.7 + 0.01 * (turn % 7) as f64, 1.1, 0.0);
            black_box(grab.solve(&[goal, DVec3::ZERO]));
        }),
    );

    let heat = HeatGeodesics::factor(mesh, &HeatOptions::default())?;
    medians.insert(
        "heat distances",
        median(|_| {
            black_box(heat.distances(&[SurfacePoint::Vertex(4480)])).expect("a head is a surface");
        }),
    );
    medians.insert(
        "heat factor",
        median(|_| {
            black_box(HeatGeodesics::factor(mesh, &HeatOptions::default())).expect("a head");
        }),
    );

    let laplacian = Laplacian::cotangent(mesh)?;
    medians.insert(
        "matrix times vector",
        median(|_| {
            black_box(laplacian.matrix.multiply(&laplacian.mass));
        }),
    );
    medians.insert(
        "subdivide",
        median(|_| {
            black_box(LoopSubdivision::levels(mesh, 1).expect("a head"));
        }),
    );
    medians.insert(
        "decimate",
        median(|_| {
            let budget = DecimationBudget::Vertices(1000);
            black_box(mesh.decimated(budget, &DecimationOptions::default())).expect("a head");
        }),
    );

    let straight = pliant::load("specimen:bar")?.mesh()?;
    let bent = pliant::load("specimen:bar#bend@24")?.mesh()?;
    let options = SceneOptions::default();
    let mut blend = SceneBlend::new_for_frames(&[straight, bent], &options, 1, &())?;
    medians.insert(
        "blend",
        median(|turn| {
            let share = 0.3 + 0.05 * (turn % 7) as f64;
            black_box(blend.step(&[1.0 - share, share], 0.0)).expect("two bars blend");
        }),
    );

    println!("{}", serde_json::to_string(&medians)?);
    Ok(())
}

/// The median time of a call in microseconds, over two seconds or 400 calls.
fn median(mut call: impl FnMut(usize)) -> f64 {
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 5 || (begin.elapsed() < Duration::from_secs(2) && times.len() < 400) {
        let start = Instant::now();
        call(times.len());
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
