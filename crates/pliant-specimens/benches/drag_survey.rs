//! Accuracy of the default drag solver over pins spread on whole faces: a table, no timings.
//!
//! `cargo test -p pliant-specimens --bench drag_survey`, with `PLIANT_DATA` set to the data folder
//! also for the ICT face. Forty pins, farthest from each other among lively vertices that look
//! ahead, are dragged to the sides, up, down, out and in, by 2 and by 6 % of the face's size. Goals
//! to the sides constrain only the view plane; depth stays free.
//!
//! For each face: the error of pins relative to their displacement, sliders that move, of them
//! *idle* ones (that move the pin by less than 2 % of its displacement), surface whose normal
//! rotates by more than a right angle, and the largest change of a weight when the goal moves by a
//! hundredth of its displacement along a path out and around.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

#[path = "../../pliant-rig/benches/face/mod.rs"]
#[allow(dead_code, reason = "other benches use the rest of it")]
mod face;

use face::{face_folder, face_rig};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{triangle_normals, vertex_normals};
use pliant_rig::{Aim, Bounded, Grab, Pin, Pose, Poser, Range, Rig, Target};

const PINS: usize = 40;
/// Displacements relative to the size of the face.
const LENGTHS: [f64; 2] = [0.02, 0.06];
const DIRECTIONS: [DVec3; 6] = [
    DVec3::X,
    DVec3::NEG_X,
    DVec3::Y,
    DVec3::NEG_Y,
    DVec3::Z,
    DVec3::NEG_Z,
];
/// A slider counts as moved above this change, and as idle below this part of the pin's
/// displacement.
const MOVED: f64 = 0.02;
const IDLE: f64 = 0.02;
/// Moments of a path.
const MOMENTS: usize = 100;

/// Figures of some drags.
#[derive(Default)]
struct Figures {
    missed: Vec<f64>,
    moved: Vec<f64>,
    idle: Vec<f64>,
    folded: Vec<f64>,
    jump: Vec<f64>,
}

fn main() {
    if let Some(folder) = face_folder() {
        let rig = named(face_rig(&folder), &folder.join("expressions.names.txt"));
        // The skin of the face comes first in the file.
        survey("ict", &rig, 9409);
    }

    let head = pliant_specimens::specimen("head")
        .expect("it is built in")
        .rig;
    let count = head.neutral().vertex_count();

    survey("head", &head, count);
}

fn named(rig: Rig, path: &std::path::Path) -> Rig {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let targets = rig.targets().iter().zip(text.split_whitespace());
    let targets: Vec<Target> = targets
        .map(|(target, name)| Target {
            name: name.to_owned(),
            ..target.clone()
        })
        .collect();

    rig.with_targets(targets).expect("only names are new")
}

fn survey(name: &str, rig: &Rig, skin: usize) {
    let poser = Poser::new(rig).expect("the face can be posed");
    let pins = spread_pins(rig, skin);
    planted(name, &poser, &pins);

    for length in LENGTHS {
        let mut figures = Figures::default();
        for &vertex in &pins {
            for direction in DIRECTIONS {
                let way = direction * (length * poser.size());
                let aim = if direction.z == 0.0 {
                    Aim::Across(DVec3::NEG_Z)
                } else {
                    Aim::Point
                };

                let pin = Pin::new(vertex, way).with_aim(aim);
                let mut grab = poser
                    .grab(&[], &[pin], &Bounded::default(), Range::Clip)
                    .expect("a pin on the face");
                let pose = grab.solve(&[way]);

                figures.add(&grab, &pose, way);
                figures.jump.push(largest_jump(&mut grab, way));
                if std::env::var_os("PLIANT_SURVEY_EACH").is_some() {
                    tell(rig, &grab, &pose, vertex, way);
                }
            }
        }

        figures.print(&format!("{name} {length}"));
    }
}

/// Goals that one to three sliders reach, and the same four times as far: the error of pins, and
/// its excess over the least possible error.
fn planted(name: &str, poser: &Poser, pins: &[usize]) {
    let rig = poser.rig();
    let (mut missed, mut moved, mut above) = (Vec::new(), Vec::new(), Vec::new());
    for (k, &vertex) in pins.iter().enumerate() {
        let grab = |solver: &Bounded| {
            poser
                .grab(&[], &[Pin::hold(vertex)], solver, Range::Clip)
                .expect("a pin on the face")
        };
        let mut usual = grab(&Bounded::default());

        let pulls: Vec<DVec3> = (0..rig.targets().len())
            .map(|slider| usual.system().pin_derivatives(slider)[0])
            .collect();
        let most = pulls.iter().map(|pull| pull.length()).fold(0.0, f64::max);
        let lively: Vec<DVec3> = pulls
            .into_iter()
            .filter(|pull| pull.length() > 0.2 * most)
            .collect();

        let way: DVec3 = (0..=k % 3)
            .map(|i| lively[(7 * k + 5 * i) % lively.len()] * (0.2 + 0.1 * ((k + i) % 7) as f64))
            .sum();
        let pose = usual.solve(&[way]);

        missed.push(pose.pins[0].error / way.length());
        moved.push(pose.active_sliders() as f64);
        let far = way * 4.0;
        let best = grab(
            &Bounded::default()
                .with_debiasing(false)
                .with_goal_limit(None)
                .with_sparsity(0.0)
                .with_damping(1e-7),
        )
        .solve(&[far])
        .pins[0]
            .error;

        above.push((usual.solve(&[far]).pins[0].error - best) / far.length());
    }

    missed.sort_by(f64::total_cmp);
    above.sort_by(f64::total_cmp);
    let sliders = moved.iter().sum::<f64>() / moved.len() as f64;
    let missed = 100.0 * missed[missed.len() / 2];
    let above = 100.0 * above[above.len() / 2];

    println!(
        "{name}: in reach, missed {missed:.2} % (median) by {sliders:.1} sliders; beyond, {above:.1} % above the least (median)"
    );
}

fn tell(rig: &Rig, grab: &Grab, pose: &Pose, vertex: usize, way: DVec3) {
    let moves = grab.explain(pose).moves;
    let words = moves.iter().map(|m| {
        format!(
            "{} {:.2} ({:.0} %)",
            rig.targets()[m.slider.index()].name,
            m.to,
            100.0 * m.shares[0].of_goal
        )
    });

    println!(
        "{vertex} at {:.2} by {way:.2}: {}",
        rig.neutral().positions()[vertex],
        words.collect::<Vec<_>>().join(", ")
    );
}

/// Lively vertices that look ahead, farthest from each other.
fn spread_pins(rig: &Rig, skin: usize) -> Vec<usize> {
    let positions = rig.neutral().positions();
    let mut reach = vec![0.0_f32; positions.len()];
    for target in rig.targets() {
        for (&v, d) in target.vertices.iter().zip(&target.deltas) {
            reach[v as usize] = reach[v as usize].max(d.length());
        }
    }

    let most = reach[..skin].iter().copied().fold(0.0, f32::max);
    let normals = vertex_normals(rig.neutral());
    let lively: Vec<usize> = (0..skin)
        .filter(|&v| reach[v] > 0.2 * most && normals[v].z > 0.2)
        .collect();

    let mut chosen = vec![lively[0]];
    while chosen.len() < PINS.min(lively.len()) {
        let apart = |v: usize| {
            chosen
                .iter()
                .map(|&c| positions[c].distance(positions[v]))
                .fold(f64::INFINITY, f64::min)
        };

        let next = lively
            .iter()
            .copied()
            .max_by(|&a, &b| apart(a).total_cmp(&apart(b)))
            .expect("some are lively");

        chosen.push(next);
    }

    chosen
}

/// The largest change of a weight between two moments of a path: out along `way`, then sideways.
fn largest_jump(grab: &mut Grab, way: DVec3) -> f64 {
    let side = if way.y == 0.0 { DVec3::Y } else { DVec3::X } * way.length();
    let moment = |k: usize| {
        let t = k as f64 / MOMENTS as f64;
        if t < 0.5 {
            way * (2.0 * t)
        } else {
            way + side * (2.0 * t - 1.0)
        }
    };

    let mut last = grab.solve(&[DVec3::ZERO]).weights;
    let mut jump: f64 = 0.0;
    for k in 1..=MOMENTS {
        let next = grab.solve(&[moment(k)]).weights;
        jump = last
            .iter()
            .zip(&next)
            .map(|(a, b)| (a - b).abs())
            .fold(jump, f64::max);
        last = next;
    }

    jump
}

impl Figures {
    fn add(&mut self, grab: &Grab, pose: &Pose, way: DVec3) {
        let rig = grab.system().rig();
        let moved: Vec<usize> = (0..pose.weights.len())
            .filter(|&k| pose.weights[k].abs() > MOVED)
            .collect();
        let share = |k: usize| {
            (grab.system().pin_derivatives(k)[0] * pose.weights[k]).length() / way.length()
        };

        self.missed.push(pose.pins[0].error / way.length());
        self.moved.push(moved.len() as f64);
        self.idle
            .push(moved.iter().filter(|&&k| share(k) < IDLE).count() as f64);
        self.folded.push(folded_share(rig, &pose.weights));
    }

    fn print(&self, name: &str) {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let at = |values: &[f64], part: f64| {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted[((sorted.len() - 1) as f64 * part) as usize]
        };

        println!(
            "{name:12} missed {:5.1} % ({:5.1} %)  moved {:4.1} (most {:2.0})  idle {:5.2}  folded {:6.3} % (9 in 10 {:6.3} %)  jump {:.3} (9 in 10 {:.3}, most {:.3})",
            100.0 * mean(&self.missed),
            100.0 * at(&self.missed, 0.5),
            mean(&self.moved),
            at(&self.moved, 1.0),
            mean(&self.idle),
            100.0 * mean(&self.folded),
            100.0 * at(&self.folded, 0.9),
            mean(&self.jump),
            at(&self.jump, 0.9),
            at(&self.jump, 1.0),
        );
    }
}

/// The part of the area whose normal is rotated by more than a right angle.
fn folded_share(rig: &Rig, weights: &[f64]) -> f64 {
    let neutral = rig.neutral();
    let posed = neutral
        .posed(rig.evaluate(weights))
        .expect("the same vertices");
    let normals = triangle_normals(neutral)
        .into_iter()
        .zip(triangle_normals(&posed));

    let (mut folded, mut whole) = (0.0, 0.0);
    for (k, (before, after)) in normals.enumerate() {
        let area = pliant_mesh::triangle_area(neutral.triangle_points(k));
        whole += area;
        folded += if before.dot(after) < 0.0 { area } else { 0.0 };
    }

    folded / whole
}
