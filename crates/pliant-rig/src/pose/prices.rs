//! What moving the surface costs.

use super::bounded::Bounded;
use super::system::{Measured, PinSystem};

/// The shapes that some sliders drive at the system's weights.
pub(super) struct DrivenShapes {
    /// Ascending.
    pub(super) shapes: Vec<usize>,
    /// For each of the sliders, the places of its shapes in `shapes` and their derivatives.
    slopes: Vec<Vec<(usize, f64)>>,
}

impl DrivenShapes {
    pub(super) fn of(system: &PinSystem<'_>, candidates: &[usize]) -> Self {
        let all = system.rig().activation().slopes(system.weights());
        let driven = || {
            all.iter()
                .filter_map(|slope| Some((candidates.binary_search(&slope.slider).ok()?, slope)))
        };
        let mut shapes: Vec<usize> = driven().map(|(_, slope)| slope.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let mut slopes = vec![Vec::new(); candidates.len()];
        for (k, slope) in driven() {
            let place = shapes
                .binary_search(&slope.shape)
                .expect("it is one of them");
            slopes[k].push((place, slope.value));
        }
        Self { shapes, slopes }
    }

    /// `JᵀGJ` from the shapes to the sliders.
    pub(super) fn in_sliders(&self, gram: &[f64]) -> Vec<f64> {
        let n = self.shapes.len();
        let entry = |a: &[(usize, f64)], b: &[(usize, f64)]| -> f64 {
            a.iter()
                .map(|&(s, x)| x * b.iter().map(|&(t, y)| y * gram[s * n + t]).sum::<f64>())
                .sum()
        };
        self.slopes
            .iter()
            .flat_map(|a| self.slopes.iter().map(move |b| entry(a, b)))
            .collect()
    }
}

/// What moving the surface costs.
#[derive(Debug)]
pub(super) struct Prices {
    /// `g`: what one unit of each candidate moves.
    pub(super) extents: Vec<f64>,
    /// `Q + εI`, row by row.
    pub(super) moved: Vec<f64>,
    /// `e`: how well each candidate moves the pins, beside the best.
    pub(super) efficiencies: Vec<f64>,
    /// Places of candidates that undo each other.
    pub(super) opposites: Vec<[usize; 2]>,
    /// `β`.
    pub(super) gain: f64,
    pub(super) damping: f64,
}

/// Columns whose products are summed side by side.
const LANES: usize = 8;

impl Prices {
    pub(super) fn scale(&mut self, measured: &Measured, candidates: &[usize]) {
        let length = |slider: usize| {
            measured
                .column(slider)
                .iter()
                .map(|b| b * b)
                .sum::<f64>()
                .sqrt()
        };
        let gains: Vec<f64> = candidates
            .iter()
            .zip(&self.extents)
            .map(|(&k, g)| length(k) / g)
            .collect();
        let largest = gains.iter().copied().fold(0.0, f64::max);
        self.gain = if largest > 0.0 { largest } else { 1.0 };
        self.efficiencies = gains
            .iter()
            .map(|gain| (gain / self.gain).max(Bounded::LEAST_EFFICIENCY))
            .collect();
    }

    /// `B̂ᵀB̂ / β² + ρ (Q + εI)` with `B̂ = B̄ / g`, in the buffer `hessian`.
    pub(super) fn hessian(
        &self,
        measured: &Measured,
        candidates: &[usize],
        mut hessian: Vec<f64>,
    ) -> Vec<f64> {
        let n = candidates.len();
        let blocks = n.div_ceil(LANES);
        // Row by row, each in blocks of columns.
        let mut scaled = vec![[0.0; LANES]; measured.rows() * blocks];
        for (place, (&slider, g)) in candidates.iter().zip(&self.extents).enumerate() {
            for (row, b) in measured.column(slider).iter().enumerate() {
                scaled[row * blocks + place / LANES][place % LANES] = b / (g * self.gain);
            }
        }
        let damping = self.damping.max(Bounded::LEAST_DAMPING);
        hessian.clear();
        hessian.extend(self.moved.iter().map(|q| damping * q));
        for i in 0..n {
            for block in 0..=i / LANES {
                let mut products = [0.0; LANES];
                for row in scaled.chunks_exact(blocks) {
                    let factor = row[i / LANES][i % LANES];
                    (0..LANES).for_each(|k| products[k] += factor * row[block][k]);
                }
                for (j, product) in (LANES * block..=i).zip(products) {
                    hessian[i * n + j] += product;
                    hessian[j * n + i] = hessian[i * n + j];
                }
            }
        }
        hessian
    }

    /// `½ ρ xᵀ(Q + εI)x`.
    pub(super) fn energy(&self, x: &[f64]) -> f64 {
        let n = x.len();
        let row = |k: usize| {
            x[k] * self.moved[k * n..][..n]
                .iter()
                .zip(x)
                .map(|(q, y)| q * y)
                .sum::<f64>()
        };
        0.5 * self.damping.max(Bounded::LEAST_DAMPING)
            * (0..n).filter(|&k| x[k] != 0.0).map(row).sum::<f64>()
    }
}
