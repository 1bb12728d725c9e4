//! Soft bodies of rapier3d, on the sheet that `touch_peers.py` states.
//!
//! ```text
//! touch_rapier times FRAMES      every scene: its name, its last state, and the milliseconds of each frame
//! touch_rapier stiffness         hanging springs and chains: links, substeps, sweeps, and extension over its closed form
//! ```
//!
//! A frame is one `PhysicsWorld::step` of 1/60 s. Stretch is an edge element along each edge, bending a dihedral element over each inner
//! edge: rows of a velocity solver in f32, whose impulses are kept from substep to substep. Softness is a frequency of each element's own
//! reduced mass, so the compliance of the sheet is given edge by edge, as the frequency that has it. The rows are solved one by one: the
//! feature `simd8` and code for the native processor change nothing.

use rapier3d::prelude::*;
use std::time::Instant;

const GRAVITY: f32 = 9.81;
const FRAME_SECS: f32 = 1.0 / 60.0;
const STRETCH_STIFFNESS: f32 = 1e4;
const BEND_HZ: f32 = 10.0;
const BALL_RADIUS: f32 = 0.2;
/// How far the ball ends below the plane of the sheet, and how many frames it takes to get there.
const BALL_DEPTH: f32 = 0.15;
const BALL_FRAMES: usize = 60;
const WARM_UP_FRAMES: usize = 120;

/// How a frame is solved.
#[derive(Clone, Copy)]
struct Solver {
    substeps: usize,
    sweeps: usize,
    relaxing_sweeps: usize,
}

/// What the scenes of the other peers ask for: one sweep in each of ten substeps.
const ASKED: Solver = Solver { substeps: 10, sweeps: 1, relaxing_sweeps: 0 };
/// What rapier does unless told otherwise: four substeps of four sweeps and one without position errors.
const DEFAULT: Solver = Solver { substeps: 4, sweeps: 4, relaxing_sweeps: 1 };

impl Solver {
    fn world(self) -> PhysicsWorld {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, 0.0, -GRAVITY);
        let parameters = &mut world.integration_parameters;
        parameters.dt = FRAME_SECS;
        parameters.num_solver_iterations = self.substeps;
        parameters.num_internal_pgs_iterations = self.sweeps;
        parameters.num_internal_stabilization_iterations = self.relaxing_sweeps;
        parameters.soft_bodies.max_extra_substeps = 0; // Otherwise fast contact adds substeps of its own accord.
        world
    }
}

/// The softness of an element of the given stiffness between two masses; critically damped, since the undamped sheet flies apart.
fn softness(stiffness: f32, inverse_masses: f32) -> SpringCoefficients<f32> {
    SpringCoefficients::new((stiffness * inverse_masses).sqrt() / std::f32::consts::TAU, 1.0)
}

struct Sheet {
    points: Vec<Vector>,
    triangles: Vec<[u32; 3]>,
    rim: Vec<u32>,
}

/// The sheet in the plane z = 0: vertex `i n + j` at `(i, j) / (n − 1)`, cells cut from `(i, j)` to `(i + 1, j + 1)`.
fn sheet(n: u32) -> Sheet {
    let step = 1.0 / (n - 1) as f32;
    let points = (0..n * n).map(|k| Vector::new((k / n) as f32 * step, (k % n) as f32 * step, 0.0)).collect();
    let cells = (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| i * n + j));
    let triangles = cells.flat_map(|a| [[a, a + n, a + n + 1], [a, a + n + 1, a + 1]]).collect();
    let on_rim = |k: &u32| [k / n, k % n].iter().any(|&at| at == 0 || at == n - 1);
    Sheet { points, triangles, rim: (0..n * n).filter(on_rim).collect() }
}

fn soft_sheet(sheet: &Sheet, with_bending: bool, with_collider: bool) -> SoftBodyBuilder {
    let count = sheet.points.len();
    let mut builder = SoftBodyBuilder::new(sheet.points.clone())
        .surface(sheet.triangles.clone())
        .masses(vec![1.0 / count as f32; count])
        .pinned_particles(sheet.rim.iter().copied())
        .additional_pgs_iterations(0)
        .can_sleep(false);
    let edges = builder.surface_edges();
    let mut weight = vec![count as f32; count];
    sheet.rim.iter().for_each(|&k| weight[k as usize] = 0.0);
    builder.edge_softness = (0..edges.len() as u32)
        .zip(&edges)
        .map(|(e, &[a, b])| (e, softness(STRETCH_STIFFNESS, weight[a as usize] + weight[b as usize])))
        .collect();
    builder = builder.edges(edges);
    if with_bending {
        let dihedrals = builder.surface_dihedrals();
        let material = SoftBodyMaterial { bend_softness: SpringCoefficients::new(BEND_HZ, 1.0), ..Default::default() };
        builder = builder.dihedrals(dihedrals).material(material);
    }
    if with_collider { builder.particle_radius(1e-3) } else { builder.no_surface_collider() }
}

fn ball_centre(frame: usize) -> Vector {
    let share = frame.min(BALL_FRAMES) as f32 / BALL_FRAMES as f32;
    Vector::new(0.5, 0.5, BALL_RADIUS - share * BALL_DEPTH)
}

/// The last state of the sheet, and the milliseconds of each frame after the warm-up.
fn time_sheet(n: u32, with_bending: bool, with_ball: bool, solver: Solver, frames: usize) -> (String, Vec<f64>) {
    let mut world = solver.world();
    let handle = world.insert_soft_body(soft_sheet(&sheet(n), with_bending, with_ball));
    let ball = with_ball.then(|| {
        let body = RigidBodyBuilder::kinematic_position_based().translation(ball_centre(0));
        world.insert(body, ColliderBuilder::ball(BALL_RADIUS).friction(0.0)).0
    });
    let mut times = Vec::new();
    for frame in 1..=WARM_UP_FRAMES + frames {
        if let Some(ball) = ball {
            world.bodies[ball].set_next_kinematic_translation(ball_centre(frame));
        }
        let start = Instant::now();
        world.step();
        times.push(1e3 * start.elapsed().as_secs_f64());
    }
    (last_state(&world.soft_bodies[handle], with_ball), times.split_off(WARM_UP_FRAMES))
}

fn last_state(body: &SoftBody, with_ball: bool) -> String {
    let lowest = body.particle_positions().map(|p| p.z).fold(f32::INFINITY, f32::min);
    let mut state = format!("{} constraints, lowest point {lowest:.5}", body.edges().len() + body.dihedrals().len());
    if with_ball {
        let inside = body.particle_positions().map(|p| BALL_RADIUS - (p - ball_centre(BALL_FRAMES)).length());
        state += &format!(", deepest in the ball {:.5}", inside.fold(f32::NEG_INFINITY, f32::max));
    }
    state
}

fn times(frames: usize) {
    for n in [21, 58] {
        for (scene, bending, ball) in [("stretch", false, false), ("bend", true, false), ("ball", true, true)] {
            for (label, solver) in [("rapier", ASKED), ("rapier_default", DEFAULT)] {
                let (state, times) = time_sheet(n, bending, ball, solver, frames);
                let times: Vec<String> = times.iter().map(|t| format!("{t:.5}")).collect();
                println!("{label}/{scene}/{}\t{state}\t{}", n * n, times.join(" "));
            }
        }
    }
}

/// Extension of a chain of `links` springs of stiffness 1000 and a mass of 0.1 each, over the closed form.
fn relative_extension(links: usize, substeps: usize, sweeps: usize) -> f32 {
    let (mass, stiffness) = (0.1, 1e3);
    let mut world = Solver { substeps, sweeps, relaxing_sweeps: 0 }.world();
    let points = (0..=links).map(|i| Vector::new(0.0, 0.0, -(i as f32))).collect();
    let mut builder = SoftBodyBuilder::new(points)
        .edges((0..links as u32).map(|i| [i, i + 1]).collect())
        .masses(vec![mass; links + 1])
        .pinned_particles([0])
        .additional_pgs_iterations(0)
        .no_surface_collider()
        .can_sleep(false);
    let free_ends = |i: usize| if i == 0 { 1.0 } else { 2.0 };
    builder.edge_softness = (0..links).map(|i| (i as u32, softness(stiffness, free_ends(i) / mass))).collect();
    let handle = world.insert_soft_body(builder);
    (0..2000).for_each(|_| world.step());
    let extension = -world.soft_bodies[handle].particle_position(links).z - links as f32;
    let closed: f32 = (1..=links).map(|below| below as f32 * mass * GRAVITY / stiffness).sum();
    extension / closed
}

fn stiffness() {
    for links in [1, 20] {
        for substeps in [1, 2, 5, 10] {
            for sweeps in [1, 5, 20] {
                println!("{links}\t{substeps}\t{sweeps}\t{:.5}", relative_extension(links, substeps, sweeps));
            }
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["times", frames] => times(frames.parse().expect("FRAMES is a whole number")),
        ["stiffness"] => stiffness(),
        _ => eprintln!("touch_rapier times FRAMES | touch_rapier stiffness"),
    }
}
