//! Recovery of known poses from few pins, with and without a prior: tables, no timings.
//!
//! `cargo test -p pliant-specimens --bench planted_poses`, with `PLIANT_DATA` set to the data folder
//! also for the rigs and captures there.
//!
//! *Poses.* Frames of captures, brought onto each rig by the names of its sliders, and random ones
//! with five sliders between 0.3 and 1. Pins are where a pose displaces the skin most, 15 % of the face
//! apart, and their goals are exact.
//!
//! *Split.* A prior is learnt from one capture and tried on another one of another person, or from the
//! first half of a capture and tried on its second half. Settings of the solvers were not chosen on
//! these tables.
//!
//! *Figures.* The root mean square error of the weights (Çetinaslan 2016, eq. 4.8), mean over the
//! poses, relative to that of the best of the ten methods of the thesis (five, free and clipped): of the
//! default solver, and of the most probable pose.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod captures;
mod rigs;

use captures::{captures, track};
use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_rig::{
    Bounded, Hybrid, Interpolation, Localized, MostProbable, Performance, Pin, PosePrior,
    PoseSolver, Poser, PseudoInverse, Range, Rig, Tikhonov, Transpose, WeightTrack, weight_error,
};
use rigs::data_rigs;

const PIN_COUNTS: [usize; 6] = [1, 2, 4, 6, 8, 12];
/// Poses of each capture.
const POSES: usize = 40;
/// Sliders of a random pose, and their weights.
const SLIDERS: usize = 5;
const WEIGHTS: [f64; 2] = [0.3, 1.0];
/// Frames with a smaller norm of their weights are at rest.
const LEAST_POSE: f64 = 0.5;
/// The distance between pins, relative to the size of the face.
const APART: f64 = 0.15;
/// A vertex of the skin that looks ahead.
const LEAST_NORMAL_Z: f64 = 0.2;

fn main() {
    let head = pliant_specimens::specimen("head").expect("it is built in");
    let captures = captures(&head);

    let rigs = std::iter::once(("head", head.rig, 0)).chain(data_rigs());
    for (name, rig, skin) in rigs {
        if name != "candide3" {
            Subject::new(name, rig, skin).measure(&captures);
        }
    }
}

struct Subject {
    name: &'static str,
    poser: Poser,
    rig: Rig,
    /// Vertices of the skin that look ahead.
    visible: Vec<usize>,
}

/// A pose with its pins, the most displaced first.
struct KnownPose {
    weights: Vec<f64>,
    pins: Vec<usize>,
    displacements: Vec<DVec3>,
}

impl Subject {
    fn new(name: &'static str, rig: Rig, skin: usize) -> Self {
        let count = rig.neutral().vertex_count();
        let skin = if skin == 0 { count } else { skin };
        let normals = pliant_mesh::vertex_normals(rig.neutral());
        let visible = (0..skin).filter(|&v| normals[v].z > LEAST_NORMAL_Z);
        Self {
            name,
            poser: Poser::new(&rig).expect("a rig"),
            visible: visible.collect(),
            rig,
        }
    }

    fn measure(&self, captures: &[(&str, Performance)]) {
        let tracks: Vec<(&str, WeightTrack)> = captures
            .iter()
            .map(|(name, capture)| (*name, track(capture, &self.rig)))
            .collect();

        for (name, track) in &tracks {
            let poses = self.poses_of(track.keys());
            for (other, learnt) in &tracks {
                if other != name {
                    let priors = PosePrior::learn(&[learnt]).expect("keys");
                    self.print(
                        &format!("poses of {name}, prior of {other}"),
                        &poses,
                        &priors,
                    );
                }
            }
        }

        // The same person, another part of the capture.
        if let Some((name, track)) = tracks.iter().find(|(name, _)| *name == "rom") {
            let half = track.keys().len() / 2;
            let times = (0..half).map(|k| k as f64).collect();
            let first = track.keys()[..half].to_vec();
            let first = WeightTrack::new(times, first, Interpolation::Linear).expect("keys");
            let prior = PosePrior::learn(&[&first]).expect("keys");
            let poses = self.poses_of(&track.keys()[half..]);
            self.print(
                &format!("second half of {name}, prior of the first"),
                &poses,
                &prior,
            );

            self.print(
                &format!("random poses of {SLIDERS} sliders, prior of {name}"),
                &self.random_poses(),
                &PosePrior::learn(&[track]).expect("keys"),
            );
        }
    }

    /// Frames that are not at rest, evenly spread.
    fn poses_of(&self, keys: &[Vec<f64>]) -> Vec<KnownPose> {
        let norm = |key: &[f64]| key.iter().map(|w| w * w).sum::<f64>().sqrt();
        let lively: Vec<&Vec<f64>> = keys.iter().filter(|key| norm(key) > LEAST_POSE).collect();
        let count = POSES.min(lively.len());
        let poses = (0..count).map(|k| lively[k * lively.len() / count].clone());
        poses.filter_map(|weights| self.known(weights)).collect()
    }

    fn random_poses(&self) -> Vec<KnownPose> {
        let mut state = 5_u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        number();

        let count = self.rig.targets().len();
        let mut poses = Vec::new();
        for _ in 0..POSES {
            let mut weights = vec![0.0; count];
            for _ in 0..SLIDERS {
                let slider = (number() * count as f64) as usize;
                weights[slider] = WEIGHTS[0] + (WEIGHTS[1] - WEIGHTS[0]) * number();
            }
            poses.extend(self.known(weights));
        }
        poses
    }

    /// A pose and its pins; `None` if it does not move the skin.
    fn known(&self, weights: Vec<f64>) -> Option<KnownPose> {
        let posed = self.rig.evaluate(&weights);
        let rest = self.rig.neutral().positions();
        let apart = APART * self.poser.size();
        let mut pins: Vec<usize> = Vec::new();
        for _ in 0..PIN_COUNTS[PIN_COUNTS.len() - 1] {
            let mut best = (0, 0.0);
            for &v in &self.visible {
                let length = posed[v].distance(rest[v]);
                let is_free = || pins.iter().all(|&p| rest[p].distance(rest[v]) > apart);
                if length > best.1 && is_free() {
                    best = (v, length);
                }
            }
            if best.1 < 1e-3 * self.poser.size() {
                break;
            }
            pins.push(best.0);
        }

        let displacements = pins.iter().map(|&v| posed[v] - rest[v]).collect();
        (!pins.is_empty()).then_some(KnownPose {
            weights,
            pins,
            displacements,
        })
    }

    fn print(&self, title: &str, poses: &[KnownPose], prior: &PosePrior) {
        let mut cells = Vec::new();
        for count in PIN_COUNTS {
            let error = |solver: &dyn PoseSolver, range: Range| {
                let errors = parallel::map(poses.len(), 1, |k| {
                    self.error(&poses[k], count, solver, range)
                });
                errors.iter().sum::<f64>() / errors.len().max(1) as f64
            };

            let thesis: [Box<dyn PoseSolver>; 5] = [
                Box::new(PseudoInverse),
                Box::new(Tikhonov::default()),
                Box::new(Localized::default()),
                Box::new(Transpose::default()),
                Box::new(Hybrid::default()),
            ];
            let mut best = f64::INFINITY;
            for solver in &thesis {
                for range in [Range::Free, Range::Clip] {
                    best = best.min(error(&**solver, range));
                }
            }
            let bounded = error(&Bounded::default(), Range::Clip) / best;
            let probable = error(&MostProbable::new(prior.clone()), Range::Clip) / best;
            cells.push(format!("{count}: {best:.3} {bounded:.2} {probable:.2}"));
        }

        println!(
            "{:10} {title:45} {:2} poses; pins: thesis, box, prior | {}",
            self.name,
            poses.len(),
            cells.join(" | ")
        );
    }

    fn error(&self, pose: &KnownPose, count: usize, solver: &dyn PoseSolver, range: Range) -> f64 {
        let count = count.min(pose.pins.len());
        let pins: Vec<Pin> = pose.pins[..count].iter().map(|&v| Pin::hold(v)).collect();
        let grab = self.poser.grab(&[], &pins, solver, range);
        let found = grab
            .expect("pins on the skin")
            .solve(&pose.displacements[..count]);
        weight_error(&found.weights, &pose.weights)
    }
}
