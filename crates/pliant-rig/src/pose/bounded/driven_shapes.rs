//! The shapes that a set of sliders drives, and the change of variables from shapes to sliders.

use crate::pose::PinSystem;

/// The Jacobian `J = ∂φ/∂w` of some sliders, restricted to the shapes that they drive.
pub(super) struct DrivenShapes {
    /// Ascending.
    pub(super) shapes: Vec<usize>,
    /// For each slider the columns of `J`: indices into `shapes` with derivatives.
    derivatives: Vec<Vec<(usize, f64)>>,
}

impl DrivenShapes {
    /// Of the sliders `candidates` (ascending), at the weights of the system.
    pub(super) fn of(system: &PinSystem, candidates: &[usize]) -> Self {
        let mut entries = Vec::new();
        for entry in system.rig().activation().derivatives(system.weights()) {
            if let Ok(candidate) = candidates.binary_search(&entry.slider) {
                entries.push((candidate, entry));
            }
        }

        // Several sliders may drive one shape.
        let mut shapes: Vec<usize> = entries.iter().map(|(_, entry)| entry.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();

        let mut derivatives = vec![Vec::new(); candidates.len()];
        for (candidate, entry) in entries {
            let index = shapes
                .binary_search(&entry.shape)
                .expect("every driven shape is in the list");
            derivatives[candidate].push((index, entry.value));
        }

        Self {
            shapes,
            derivatives,
        }
    }

    /// `JᵀGJ`, the Gram matrix of the sliders from the Gram matrix `G` of the shapes, row by row.
    pub(super) fn slider_gram(&self, shape_gram: &[f64]) -> Vec<f64> {
        let mut gram = Vec::with_capacity(self.derivatives.len() * self.derivatives.len());
        for a in &self.derivatives {
            for b in &self.derivatives {
                gram.push(self.inner_product(a, b, shape_gram));
            }
        }

        gram
    }

    fn inner_product(&self, a: &[(usize, f64)], b: &[(usize, f64)], shape_gram: &[f64]) -> f64 {
        let n = self.shapes.len();
        a.iter()
            .map(|&(s, x)| {
                let row = &shape_gram[s * n..][..n];
                x * b.iter().map(|&(t, y)| y * row[t]).sum::<f64>()
            })
            .sum()
    }
}
