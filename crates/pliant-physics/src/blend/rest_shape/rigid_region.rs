//! The largest nearly rigid region of several shapes, and its motion between them.
//!
//! **Problem.** Rotations and lengths determine a shape up to a rigid motion. An animator expects the
//! skull of a face or the trunk of a horse to move rigidly, and the rest to move relative to it.
//!
//! **Equation.** With the distances `dᵥ` of the vertices from their places under rigid motions `Mₛ` of
//! the first shape, the region maximises
//!
//! ```text
//! Σᵥ aᵥ / (1 + (dᵥ / ε)²)        dᵥ = maxₛ |vˢ − Mₛ v⁰|
//! ```
//!
//! where `aᵥ` are the areas of the vertices. Between the shapes the rotation is the mean of the `Rₛ`,
//! and the centroid of the region is the weighted mean of its places.
//!
//! **Source.** Geman and McClure, "Statistical methods for tomographic image reconstruction", 1987
//! (the robust penalty), by iteratively reweighted least squares (Holland and Welsch 1977).
//!
//! **Departures.** The search starts at the patches of evenly chosen vertices and keeps the best.

use std::collections::VecDeque;

use pliant_linalg::{LinalgError, RigidMotion, parallel};
use pliant_mesh::glam::DVec3;

use crate::blend::energy::SpringEnergy;
use crate::blend::rotation_vector::{interpolated, mean_rotation};

/// The tolerance `ε` relative to the spread of the first shape. Chosen: about a hundredth of the
/// diagonal, which an eye takes for rigid.
const TOLERANCE: f64 = 0.035;
/// Patches to start from, and their size in vertices.
const PATCHES: usize = 64;
const PATCH_SIZE: usize = 40;
/// Scores that agree to this share count as equal.
const SCORE_ROUNDING: f64 = 1e-6;
/// Rounds of reweighting.
const ROUNDS: usize = 20;

/// A region that moves almost rigidly between the shapes.
#[derive(Debug, Clone)]
pub(crate) struct RigidRegion {
    /// The vertex in its middle, in the sense of the least distance from a rigid motion.
    middle: u32,
    /// The weight of every vertex in rigid fits.
    weights: Vec<f64>,
    /// Its centroid in the first shape.
    center: DVec3,
    /// From the first shape to each shape.
    motions: Vec<RigidMotion>,
}

impl RigidRegion {
    /// The region around the `seeds`, or the largest one. `areas` has a value per surface vertex.
    pub(crate) fn find(
        network: &SpringEnergy,
        shapes: &[Vec<DVec3>],
        areas: &[f64],
        seeds: &[usize],
    ) -> Result<Self, LinalgError> {
        let surface: Vec<Vec<DVec3>> = shapes.iter().map(|s| s[..areas.len()].to_vec()).collect();
        if !seeds.is_empty() {
            let patch = grow(seeds, PATCH_SIZE.max(seeds.len()), network, areas.len());
            let mut weights = vec![0.0; areas.len()];
            for &v in &patch {
                weights[v] = 1.0;
            }
            let motions = motions_of(&surface, &weights)?;
            return Ok(Self::with(seeds[0] as u32, weights, motions, &surface[0]));
        }

        let tolerance = TOLERANCE * spread(&surface[0]);
        let count = PATCHES.min(areas.len());
        let candidates = parallel::map(count, 1, |k| {
            let seed = k * areas.len() / count;
            let mut weights = vec![0.0; areas.len()];
            for v in grow(&[seed], PATCH_SIZE, network, areas.len()) {
                weights[v] = 1.0;
            }
            let motions = motions_of(&surface, &weights)?;
            let score = score(&distances(&surface, &motions), areas, tolerance);
            Ok((score, motions))
        });

        // The first of those that are equally good up to rounding, as on symmetric shapes.
        let candidates = candidates
            .into_iter()
            .collect::<Result<Vec<_>, LinalgError>>()?;
        let best = candidates
            .iter()
            .map(|(score, _)| *score)
            .fold(0.0, f64::max);
        let chosen = candidates
            .into_iter()
            .find(|(score, _)| *score >= (1.0 - SCORE_ROUNDING) * best);
        let mut motions = chosen.expect("a shape has a vertex").1;

        // Reweighting moves the fit to the nearest maximum.
        let mut weights = areas.to_vec();
        for _ in 0..ROUNDS {
            let found = distances(&surface, &motions);
            for ((weight, d), area) in weights.iter_mut().zip(found).zip(areas) {
                *weight = area / (1.0 + (d / tolerance).powi(2)).powi(2);
            }
            motions = motions_of(&surface, &weights)?;
        }

        let found = distances(&surface, &motions);
        let middle = (0..areas.len())
            .filter(|&v| areas[v] > 0.0)
            .min_by(|&a, &b| found[a].total_cmp(&found[b]))
            .unwrap_or(0);
        Ok(Self::with(middle as u32, weights, motions, &surface[0]))
    }

    fn with(middle: u32, weights: Vec<f64>, motions: Vec<RigidMotion>, first: &[DVec3]) -> Self {
        let total: f64 = weights.iter().sum();
        let weighted = first.iter().zip(&weights).map(|(p, w)| *p * *w);
        let center = if total > 0.0 {
            weighted.sum::<DVec3>() / total
        } else {
            DVec3::ZERO
        };
        Self {
            middle,
            weights,
            center,
            motions,
        }
    }

    /// A vertex in the middle of the region.
    pub(crate) fn middle(&self) -> usize {
        self.middle as usize
    }

    /// The shapes in the frame of the region.
    pub(crate) fn to_local(&self, shapes: &[Vec<DVec3>]) -> Vec<Vec<DVec3>> {
        let mut local = Vec::with_capacity(shapes.len());
        for (shape, motion) in shapes.iter().zip(&self.motions) {
            let back = motion.inverse();
            local.push(shape.iter().map(|p| back.apply(*p)).collect());
        }
        local
    }

    /// Moves `points` so that the region is where it belongs at `weights`; `first` is the first
    /// shape.
    pub(crate) fn place(
        &self,
        points: &mut [DVec3],
        first: &[DVec3],
        weights: &[f64],
    ) -> Result<(), LinalgError> {
        let count = self.weights.len();
        let back = RigidMotion::fit(&points[..count], &first[..count], Some(&self.weights))?;
        let motion = self.motion_at(weights);
        for point in points {
            *point = motion.apply(back.apply(*point));
        }
        Ok(())
    }

    /// The motion from the first shape to the place at `weights`.
    fn motion_at(&self, weights: &[f64]) -> RigidMotion {
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        let rotation = if let [from, to] = active[..] {
            interpolated(
                self.motions[from].rotation,
                self.motions[to].rotation,
                weights[to],
            )
        } else {
            let heaviest = active
                .iter()
                .copied()
                .reduce(|best, s| if weights[s] > weights[best] { s } else { best })
                .unwrap_or(0);
            mean_rotation(
                active
                    .iter()
                    .map(|&s| (weights[s], self.motions[s].rotation)),
                self.motions[heaviest].rotation,
            )
        };

        let places = active
            .iter()
            .map(|&s| self.motions[s].apply(self.center) * weights[s]);
        RigidMotion {
            rotation,
            translation: places.sum::<DVec3>() - rotation * self.center,
        }
    }
}

/// The rigid motions that best take the first shape to each shape.
fn motions_of(shapes: &[Vec<DVec3>], weights: &[f64]) -> Result<Vec<RigidMotion>, LinalgError> {
    let mut motions = vec![RigidMotion::IDENTITY];
    for shape in &shapes[1..] {
        motions.push(RigidMotion::fit(&shapes[0], shape, Some(weights))?);
    }
    Ok(motions)
}

/// The largest distance of each vertex from its place under the motions.
fn distances(shapes: &[Vec<DVec3>], motions: &[RigidMotion]) -> Vec<f64> {
    let mut most = vec![0.0; shapes[0].len()];
    for (shape, motion) in shapes.iter().zip(motions).skip(1) {
        for ((most, p), q) in most.iter_mut().zip(&shapes[0]).zip(shape) {
            *most = f64::max(*most, motion.apply(*p).distance(*q));
        }
    }
    most
}

fn score(distances: &[f64], areas: &[f64], tolerance: f64) -> f64 {
    let terms = distances.iter().zip(areas);
    terms
        .map(|(d, a)| a / (1.0 + (d / tolerance).powi(2)))
        .sum()
}

/// The root mean square distance from the centroid, which does not depend on the orientation.
fn spread(points: &[DVec3]) -> f64 {
    let count = points.len() as f64;
    let center = points.iter().map(|p| *p / count).sum::<DVec3>();
    let mean_square = points.iter().map(|p| p.distance_squared(center) / count);
    let size = mean_square.sum::<f64>().sqrt();
    if size > 0.0 { size } else { 1.0 }
}

/// The seeds and their nearest surface vertices by springs, up to `size` in all.
fn grow(seeds: &[usize], size: usize, network: &SpringEnergy, surface: usize) -> Vec<usize> {
    let mut seen = std::collections::BTreeSet::new();
    let mut region = Vec::new();
    for &seed in seeds {
        if seen.insert(seed) {
            region.push(seed);
        }
    }

    let mut queue: VecDeque<usize> = region.iter().copied().collect();
    while let Some(vertex) = queue.pop_front() {
        for (other, _) in network.around(vertex) {
            if region.len() >= size {
                return region;
            }
            if other < surface && seen.insert(other) {
                region.push(other);
                queue.push_back(other);
            }
        }
    }

    region
}
