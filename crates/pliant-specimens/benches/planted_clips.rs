//! Weights of noisy clips and of single poses found by the inverse rig: tables, no timings.
//!
//! `cargo test -p pliant-specimens --bench planted_clips`, with `PLIANT_DATA` set to the data folder
//! also for the rigs and captures there.
//!
//! *Noise.* 120 frames of a capture on a rig, with independent noise of 1e-3 of the diagonal in each
//! coordinate. The default of the inverse rig against least squares of each frame inside the limits
//! (NNLS), over all vertices with equal weights: the root mean square error of the weights, and their
//! root mean square second difference.
//!
//! *Bends.* The same rigs with in-betweens at every third slider and combinations of sliders that
//! overlap; single frames with random weights on eight sliders. A frame is found if no weight is off by
//! more than 0.01.
//!
//! No setting of the inverse rig was chosen on these tables.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

mod captures;
mod rigs;

use captures::{captures, track};
use pliant_linalg::{BoxQuadratic, BoxTerms, BoxWorkspace};
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{
    Clip, Combination, Driver, InBetween, InvertOptions, Inverter, Performance, Rig, Rule, Target,
};
use rigs::data_rigs;

const FRAMES: usize = 120;
/// The standard deviation of a coordinate, relative to the diagonal.
const NOISE: f64 = 1e-3;
/// Single poses of each rig.
const POSES: usize = 32;
const SLIDERS: usize = 8;
const PAIRS: usize = 24;
/// A weight that is found.
const CLOSE: f64 = 0.01;

fn main() {
    let head = pliant_specimens::specimen("head").expect("it is built in");
    let captures = captures(&head);
    let rigs = std::iter::once(("head", head.rig.clone(), 0)).chain(data_rigs());
    for (name, rig, _) in rigs {
        for (capture_name, capture) in &captures {
            measure_noise(name, &rig, capture_name, capture);
        }
        measure_bends(name, &rig);
    }
}

fn measure_noise(name: &str, rig: &Rig, capture_name: &str, capture: &Performance) {
    let track = track(capture, rig);
    let keys = track.keys();
    let first = keys.len().saturating_sub(FRAMES) / 2;
    let planted = &keys[first..keys.len().min(first + FRAMES)];
    if planted.iter().flatten().all(|w| *w == 0.0) {
        return;
    }

    let mut random = Random::new(11);
    let diagonal = rig.neutral().bounds().expect("vertices").diagonal();
    let noisy = |weights: &Vec<f64>| -> Vec<DVec3> {
        let positions = rig.evaluate(weights).into_iter();
        positions
            .map(|p| p + random.normal_vector() * NOISE * diagonal)
            .collect()
    };
    let frames: Vec<Vec<DVec3>> = planted.iter().map(noisy).collect();
    let alone = least_squares(rig, &frames);
    let clip = Clip::new("noisy", rig.neutral().clone(), frames).expect("a clip");
    let inverter = Inverter::factor(rig, &InvertOptions::default()).expect("a rig");
    let found = inverter.invert(&clip).expect("a clip").track;

    println!(
        "{name:10} {capture_name:9} weights: NNLS {:.4}, default {:.4}; second differences: planted {:.4}, NNLS {:.4}, default {:.4}",
        rms_error(&alone, planted),
        rms_error(found.keys(), planted),
        roughness(planted),
        roughness(&alone),
        roughness(found.keys()),
    );
}

/// Each frame alone: least squares inside the limits over all vertices.
fn least_squares(rig: &Rig, frames: &[Vec<DVec3>]) -> Vec<Vec<f64>> {
    let count = rig.targets().len();
    let vertices = rig.neutral().vertex_count();
    let dense: Vec<Vec<Vec3>> = rig.targets().iter().map(|t| t.to_dense(vertices)).collect();
    let product = |a: &[Vec3], b: &[Vec3]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum()
    };
    let mut gram = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..=i {
            gram[i * count + j] = product(&dense[i], &dense[j]);
            gram[j * count + i] = gram[i * count + j];
        }
    }
    let largest = (0..count).map(|k| gram[k * count + k]).fold(0.0, f64::max);
    for k in 0..count {
        gram[k * count + k] += 1e-10 * largest;
    }

    let quadratic = BoxQuadratic::new(gram).expect("a definite matrix");
    let limits = || rig.sliders().iter().map(|slider| slider.limits);
    let lower: Vec<f64> = limits().map(|l| l.min).collect();
    let upper: Vec<f64> = limits().map(|l| l.max).collect();
    let penalties = vec![0.0; count];
    let mut workspace = BoxWorkspace::default();
    let mut weights = vec![0.0; count];
    let rest = rig.neutral().positions();
    let mut solve = |frame: &Vec<DVec3>| {
        let force = |shape: &Vec<Vec3>| -> f64 {
            let moved = shape.iter().zip(frame.iter().zip(rest));
            moved.map(|(d, (p, n))| d.as_dvec3().dot(*p - *n)).sum()
        };
        let linear: Vec<f64> = dense.iter().map(force).collect();
        let terms = BoxTerms {
            linear: &linear,
            penalties: &penalties,
            lower: &lower,
            upper: &upper,
        };
        quadratic.solve(&terms, &mut weights, &mut workspace);
        weights.clone()
    };
    frames.iter().map(&mut solve).collect()
}

fn measure_bends(name: &str, rig: &Rig) {
    let mut random = Random::new(23);
    let bent = bent(rig, &mut random);
    let inverter = Inverter::factor(&bent, &InvertOptions::default()).expect("a rig");
    let count = bent.targets().len();
    // Sliders that move nothing cannot be found.
    let moving: Vec<usize> = (0..count)
        .filter(|&k| !bent.targets()[k].vertices.is_empty())
        .collect();

    let mut found = 0;
    let mut fits = 0;
    for _ in 0..POSES {
        let mut planted = vec![0.0; count];
        for _ in 0..SLIDERS {
            planted[moving[random.below(moving.len())]] = 0.2 + 0.8 * random.number();
        }
        let frame = bent.evaluate(&planted);
        let size = distance(&frame, bent.neutral().positions());
        let clip = Clip::new("pose", bent.neutral().clone(), vec![frame]).expect("a clip");
        let weights = inverter.invert(&clip).expect("a clip").track.keys()[0].clone();
        let worst = moving.iter().map(|&k| (weights[k] - planted[k]).abs());
        found += usize::from(worst.fold(0.0, f64::max) < CLOSE);
        fits += usize::from(distance(&bent.evaluate(&weights), &clip.frames()[0]) < 1e-3 * size);
    }
    println!(
        "{name:10} {} in-betweens, {} combinations: weights of {found} of {POSES} poses found, surfaces of {fits}",
        bent.targets()
            .iter()
            .map(|t| t.in_betweens.len())
            .sum::<usize>(),
        bent.combinations().len(),
    );
}

/// The rig with in-betweens that leave the straight way, and combinations of overlapping sliders.
fn bent(rig: &Rig, random: &mut Random) -> Rig {
    let turned = |d: &Vec3| Vec3::new(d.y, d.z, d.x);
    let mut targets: Vec<Target> = rig.targets().to_vec();
    for target in targets.iter_mut().step_by(3) {
        let weight = 0.35 + 0.3 * random.number();
        let deltas = target.deltas.iter();
        target.in_betweens.push(InBetween {
            name: String::new(),
            weight,
            vertices: target.vertices.clone(),
            deltas: deltas
                .map(|d| *d * weight as f32 + turned(d) * 0.25)
                .collect(),
        });
    }

    let overlap = |a: &Target, b: &Target| {
        let shared = a.vertices.iter();
        let shared = shared
            .filter(|v| b.vertices.binary_search(v).is_ok())
            .count();
        4 * shared > a.vertices.len().min(b.vertices.len()) && shared > 8
    };
    let mut pairs = Vec::new();
    for i in 0..targets.len() {
        for j in i + 1..targets.len() {
            if overlap(&targets[i], &targets[j]) {
                pairs.push([i, j]);
            }
        }
    }
    let count = PAIRS.min(pairs.len());
    let combination = |k: usize| {
        let [i, j] = pairs[k * pairs.len() / count];
        let both: Vec<usize> = (0..targets[i].vertices.len())
            .filter(|&n| {
                targets[j]
                    .vertices
                    .binary_search(&targets[i].vertices[n])
                    .is_ok()
            })
            .collect();
        Combination {
            name: format!("pair {k}"),
            drivers: vec![Driver::Slider(i.into()), Driver::Slider(j.into())],
            rule: if k.is_multiple_of(2) {
                Rule::Product
            } else {
                Rule::SmoothLowest
            },
            vertices: both.iter().map(|&n| targets[i].vertices[n]).collect(),
            deltas: both
                .iter()
                .map(|&n| turned(&targets[i].deltas[n]) * 0.3)
                .collect(),
        }
    };
    let combinations: Vec<Combination> = (0..count).map(combination).collect();
    Rig::new(rig.neutral().clone(), targets)
        .and_then(|bent| bent.with_sliders(rig.sliders().to_vec()))
        .and_then(|bent| bent.with_combinations(combinations))
        .expect("shapes of the same mesh")
}

fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

fn rms_error(found: &[Vec<f64>], planted: &[Vec<f64>]) -> f64 {
    let pairs = || found.iter().flatten().zip(planted.iter().flatten());
    let squares: f64 = pairs().map(|(a, b)| (a - b).powi(2)).sum();
    (squares / pairs().count() as f64).sqrt()
}

/// The root mean square second difference.
fn roughness(keys: &[Vec<f64>]) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for window in keys.windows(3) {
        for k in 0..window[0].len() {
            sum += (window[0][k] - 2.0 * window[1][k] + window[2][k]).powi(2);
            count += 1;
        }
    }
    (sum / f64::from(count.max(1))).sqrt()
}

/// Deterministic random numbers.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Splitmix64: Steele, Lea, Flood 2014.
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.number() * count as f64) as usize
    }

    /// Three normal numbers: sums of twelve uniform ones.
    fn normal_vector(&mut self) -> DVec3 {
        let mut normal = || (0..12).map(|_| self.number()).sum::<f64>() - 6.0;
        DVec3::new(normal(), normal(), normal())
    }
}
