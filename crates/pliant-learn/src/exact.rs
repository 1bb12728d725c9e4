//! Exact at the examples: what a prediction leaves of them is added back.
//!
//! **Problem.** A regression with a ridge smooths its examples, and an animator who sets the
//! control points of a sculpted pose expects that pose to the last digit.
//!
//! **Equation.** With the predictions `x̂`, the frame `F_v` of the predicted surface at vertex `v`,
//! the shape distances `dᵢ` of the control points from those of example `i` and the spread `ρ` of
//! the examples,
//!
//! ```text
//! δ_{iv} = F_v(x̂ᵢ)ᵀ (x_{iv} − x̂_{iv})        x_v = x̂_v + F_v(x̂) Σᵢ ηᵢ δ_{iv}        ηᵢ = b(dᵢ/ρ) dᵢ⁻² / Σⱼ dⱼ⁻²        b(t) = (1 − t²)²₊
//! ```
//!
//! At an example its own `η` is one and all others are zero; farther than `ρ` from all of them
//! nothing is added.
//!
//! **Source.** Shepard, "A two-dimensional interpolation function for irregularly-spaced data",
//! 1968; the frames and the fading are *ours*. Examples with the same control points share what is
//! left: no function of the points can tell them apart.

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::triangle_area;

use crate::poisson::Poisson;
use crate::shape_distance::{shape_distance, spread};
use crate::workbench::{Predictor, Workbench};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 2048;

/// What predictions of the examples leave of them.
#[derive(Debug)]
pub(crate) struct Residuals {
    of: Vec<usize>,
    /// By example and vertex, in the frame of the prediction.
    offsets: Vec<Vec<DVec3>>,
    /// `ρ`.
    spread: f64,
}

impl Residuals {
    /// Of the examples `of`.
    pub(crate) fn new(
        bench: &Workbench,
        predictor: &dyn Predictor,
        poisson: &Poisson,
        of: &[usize],
    ) -> Self {
        let offsets_of = |&example: &usize| {
            let found = predictor.pose(bench, poisson, &bench.points[example]);
            let frames = vertex_frames(bench, &found);
            let truth = bench.examples.pose(example);
            parallel::map(found.len(), VERTICES_PER_TASK, |v| {
                frames[v].transpose() * (truth[v] - found[v])
            })
        };
        let points: Vec<&[DVec3]> = of
            .iter()
            .map(|&example| bench.points[example].as_slice())
            .collect();
        Self {
            of: of.to_vec(),
            offsets: of.iter().map(offsets_of).collect(),
            spread: spread(&points),
        }
    }

    /// Adds to a prediction what is left of the examples near `control`.
    pub(crate) fn add(&self, bench: &Workbench, control: &[DVec3], positions: &mut [DVec3]) {
        let distances: Vec<f64> = self
            .of
            .iter()
            .map(|&example| shape_distance(control, &bench.points[example]))
            .collect();
        let shares = shares(&distances, self.spread);
        if shares.iter().all(|share| *share == 0.0) {
            return;
        }
        let frames = vertex_frames(bench, positions);
        parallel::for_each_chunk_mut(positions, VERTICES_PER_TASK, |start, chunk| {
            for (k, position) in chunk.iter_mut().enumerate() {
                let offset: DVec3 = self
                    .offsets
                    .iter()
                    .zip(&shares)
                    .map(|(offsets, share)| offsets[start + k] * *share)
                    .sum();
                *position += frames[start + k] * offset;
            }
        });
    }
}

/// `η`. An example at no distance at all takes everything, several share it.
fn shares(distances: &[f64], spread: f64) -> Vec<f64> {
    let met = distances.iter().filter(|d| **d == 0.0).count();
    if met > 0 {
        return distances
            .iter()
            .map(|d| if *d == 0.0 { 1.0 / met as f64 } else { 0.0 })
            .collect();
    }
    // Relative to the nearest, so that squares neither overflow nor vanish.
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let closeness: Vec<f64> = distances
        .iter()
        .map(|d| (nearest / d) * (nearest / d))
        .collect();
    let total: f64 = closeness.iter().sum();
    let fading = |d: f64| {
        if d < spread {
            (1.0 - (d / spread) * (d / spread)).powi(2)
        } else {
            0.0
        }
    };
    distances
        .iter()
        .zip(&closeness)
        .map(|(&d, close)| fading(d) * close / total)
        .collect()
}

/// How the surface around each vertex has turned from the rest pose.
fn vertex_frames(bench: &Workbench, positions: &[DVec3]) -> Vec<DMat3> {
    let mesh = bench.examples.reference();
    let gradients = bench
        .gradients
        .at(positions)
        .expect("one position per vertex");
    let mut sums = vec![DMat3::ZERO; positions.len()];
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let weighted = gradients[t] * triangle_area(mesh.triangle_points(t));
        corners
            .iter()
            .for_each(|&corner| sums[corner as usize] += weighted);
    }
    parallel::map(sums.len(), VERTICES_PER_TASK, |v| nearest_rotation(sums[v]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_one_and_zero_at_an_example_and_fade_away_from_all() {
        assert_eq!(shares(&[0.0, 2.0, 3.0], 2.0), vec![1.0, 0.0, 0.0]);
        assert_eq!(shares(&[0.0, 0.0, 3.0], 2.0), vec![0.5, 0.5, 0.0]);
        assert_eq!(shares(&[2.0, 5.0], 2.0), vec![0.0, 0.0]);
        let close = shares(&[1e-9, 1.0, 1.0], 1.5);
        assert!((close[0] - 1.0).abs() < 1e-15 && close[1] < 1e-15);
        let between = shares(&[0.5, 0.5], 1.0);
        assert!(between[0] == between[1] && between[0] > 0.2 && between[0] < 0.5);
    }

    #[test]
    fn examples_that_are_all_the_same_share_alike_and_reach_nothing_else() {
        assert_eq!(shares(&[1.0, 1.0], 0.0), vec![0.0, 0.0]);
        assert_eq!(shares(&[0.0, 0.0], 0.0), vec![0.5, 0.5]);
    }
}
