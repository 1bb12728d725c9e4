//! Times of the transfer of one frame at about 85 000 triangles, each part of it and all together.
//!
//! `cargo bench -p pliant-transfer --bench frame` prints medians as `work/size`. The peers of
//! factor and solve are in `benches/peers`; Wang and Lee 2008 have 0.39 s for the solve, 6.9 s for the blend
//! weights and 11.6 s for the factor at 85 796 triangles.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

use std::borrow::Cow;
use std::hint::black_box;
use std::time::Instant;

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DeformationGradients, Laplacian, Mesh, Polar};
use pliant_rig::Clip;
use pliant_transfer::{
    Flexibility, Layer, Membership, Reconstruction, ReconstructionWeighting,
    ReconstructionWorkspace, Source, Synthesis, SynthesisOptions, TriangleMap, blend_weights,
};

/// Prints the median of `rounds` runs in milliseconds.
fn time(name: &str, rounds: usize, mut work: impl FnMut()) {
    work();
    let mut spans: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
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
}

/// A closed surface of 86 130 triangles: a torus with waves.
fn torus() -> Mesh {
    let (around, across) = (297_u32, 145_u32);
    let at = |i: u32, j: u32| (i % around) * across + j % across;
    let point = |i: u32, j: u32| {
        let u = f64::from(i) / f64::from(around) * std::f64::consts::TAU;
        let v = f64::from(j) / f64::from(across) * std::f64::consts::TAU;
        let r = 1.0 + 0.35 * v.cos() + 0.03 * (7.0 * u + 3.0 * v).sin();

        DVec3::new(
            r * u.cos(),
            r * u.sin(),
            0.35 * v.sin() + 0.03 * (5.0 * u).cos(),
        )
    };

    let points = (0..around)
        .flat_map(|i| (0..across).map(move |j| point(i, j)))
        .collect();
    let quads = (0..around).flat_map(|i| {
        (0..across).map(move |j| vec![at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)])
    });

    Mesh::from_polygons(points, &quads.collect::<Vec<_>>()).expect("a torus is a mesh")
}

fn clip(mesh: &Mesh, speed: f64) -> Clip {
    let frame = |k: usize| {
        let time = speed * k as f64;
        mesh.positions()
            .iter()
            .map(|p| {
                DMat3::from_rotation_z(time * p.z) * *p + DVec3::Z * 0.2 * (time + 3.0 * p.x).sin()
            })
            .collect()
    };
    Clip::new("waves", mesh.clone(), (0..8).map(frame).collect()).expect("a clip")
}

/// One with a smooth step from half-space to half-space, `width` wide.
fn ramp(mesh: &Mesh, width: f64) -> Vec<f64> {
    (0..mesh.triangles().len())
        .map(|t| (mesh.triangle_points(t)[0].x / width + 0.5).clamp(0.0, 1.0))
        .collect()
}

/// What of factor and solve is the linear solver's.
fn time_solver_alone(mesh: &Mesh, size: &str) {
    let laplacian = Laplacian::cotangent(mesh).expect("a Laplacian");
    let matrix = laplacian
        .matrix
        .plus(1.0, &SparseMatrix::diagonal(&laplacian.mass));

    time(&format!("solver alone: factor/{size}"), 9, || {
        black_box(SpdSolver::factor(&matrix).expect("a factor"));
    });

    let solver = SpdSolver::factor(&matrix).expect("a factor");
    let mut workspace = SolveWorkspace::new();
    let mut points = mesh.positions().to_vec();
    time(&format!("solver alone: refactor/{size}"), 9, || {
        black_box(solver.factor_like(&matrix).expect("a factor"));
    });
    time(&format!("solver alone: solve/{size}"), 31, || {
        solver.solve_points_in_place(&mut points, &mut workspace)
    });
}

fn main() {
    let mesh = torus();
    let n = mesh.triangles().len();
    let size = format!("{n}");
    let (a, b) = (clip(&mesh, 0.2), clip(&mesh, 0.5));

    black_box(mesh.topology()); // Built once per mesh; not part of the factor.
    time(&format!("factor/{size}"), 9, || {
        black_box(Reconstruction::factor(&mesh, ReconstructionWeighting::Area).expect("a factor"));
    });

    time_solver_alone(&mesh, &size);
    let rest = DeformationGradients::from_rest(&mesh).expect("a rest pose");
    let mut gradients = vec![DMat3::IDENTITY; n];
    time(&format!("gradients/{size}"), 31, || {
        rest.at_into(&a.frames()[5], &mut gradients)
            .expect("gradients")
    });

    let mut polars = vec![Polar::of(DMat3::IDENTITY); n];
    time(&format!("polar, one thread/{size}"), 11, || {
        for (polar, gradient) in polars.iter_mut().zip(&gradients) {
            *polar = Polar::of(*gradient);
        }
    });

    let factor = Reconstruction::factor(&mesh, ReconstructionWeighting::Area).expect("a factor");
    let mut workspace = ReconstructionWorkspace::default();
    let mut positions = mesh.positions().to_vec();

    time(&format!("right-hand side and solve/{size}"), 31, || {
        factor.solve_into(&gradients, &mut workspace, &mut positions)
    });

    let sources = || {
        [&a, &b]
            .map(|clip| Source {
                clip,
                map: Cow::Owned(TriangleMap::identity(n)),
            })
            .to_vec()
    };

    let cases = [
        ("one source", None),
        ("two sources, band", Some(ramp(&mesh, 0.3))),
        ("two sources, all blend", Some(vec![0.4; n])),
    ];

    for (name, weights) in cases {
        let mut layers = vec![Layer::whole(0, vec![1.0; n], 8)];
        layers.extend(weights.map(|weights| Layer::whole(1, weights, 8)));
        let mut synthesis = Synthesis::with_factor(
            &mesh,
            &factor,
            sources(),
            layers,
            SynthesisOptions::default(),
        )
        .expect("a synthesis");

        let mut k = 0;
        time(&format!("frame, {name}/{size}"), 31, || {
            black_box(synthesis.frame(k % 8));
            k += 1;
        });
    }

    let members: Vec<Membership> = ramp(&mesh, 0.3)
        .iter()
        .map(|&w| {
            if w > 0.0 && w < 1.0 {
                Membership::Free
            } else {
                Membership::drawn(w == 1.0)
            }
        })
        .collect();

    time(&format!("blend weights/{size}"), 5, || {
        black_box(blend_weights(&mesh, &members).expect("weights"));
    });
    time(&format!("flexibility, 8 frames/{size}"), 9, || {
        black_box(Flexibility::of(&a).expect("a clip"));
    });
}
