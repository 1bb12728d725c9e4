//! Frames of displacements as few shapes with weights: a smaller clip for players of morph targets.
//!
//! **Problem.** A clip of positions has a shape for each frame. Most clips are sums of a few shapes
//! whose weights change.
//!
//! **Equation.** Let `D` have a row of displacements for each frame. With the eigenvectors `u` of
//! `D Dᵀ` by descending eigenvalue, the best approximation by `r` shapes is
//!
//! ```text
//! D ≈ Σₖ uₖ bₖ        bₖ = uₖᵀ D        k = 1 … r
//! ```
//!
//! `r` is the smallest number for which no vertex is farther than the tolerance from its frame.
//!
//! **Source.** Alexa, Müller, "Representing animations by principal components", 2000.
//!
//! **Departures.** No mean is subtracted, so that frames without displacement have zero weights.
//! Shapes are scaled so that the largest weight of each is 1.

use pliant_linalg::{DenseMatrix, symmetric_eigen};
use pliant_mesh::glam::DVec3;

use crate::{RigError, Target};

/// Shapes, and their weights in each frame.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeBasis {
    /// The shapes, the most important one first.
    pub targets: Vec<Target>,
    /// For each frame the weight of each shape, from −1 to 1.
    pub weights: Vec<Vec<f64>>,
    /// The largest distance of a vertex from its frame.
    pub error: f64,
}

impl ShapeBasis {
    /// The fewest shapes, named `NAME.1`, `NAME.2` …, that are within `tolerance` of the frames. Each
    /// frame lists vertices with their displacements.
    ///
    /// The cost grows with the square of the number of frames.
    ///
    /// # Errors
    /// Displacements that are not finite.
    pub fn of(frames: &[Vec<(u32, DVec3)>], name: &str, tolerance: f64) -> Result<Self, RigError> {
        let mut vertices: Vec<u32> = frames.iter().flatten().map(|(vertex, _)| *vertex).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let mut rest = vec![vec![DVec3::ZERO; vertices.len()]; frames.len()];
        for (row, frame) in rest.iter_mut().zip(frames) {
            for (vertex, displacement) in frame {
                if let Ok(k) = vertices.binary_search(vertex) {
                    row[k] += *displacement;
                }
            }
        }

        let gram = DenseMatrix::from_fn(frames.len(), frames.len(), |i, j| {
            let pairs = rest[i].iter().zip(&rest[j]);
            pairs.map(|(a, b)| a.dot(*b)).sum::<f64>()
        });
        let (_, vectors) = symmetric_eigen(gram.as_ref())?;

        let mut basis = Self {
            targets: Vec::new(),
            weights: vec![Vec::new(); frames.len()],
            error: longest(&rest),
        };
        // Eigenvalues ascend.
        for k in (0..frames.len()).rev() {
            if basis.error <= tolerance {
                break;
            }
            let column: Vec<f64> = (0..frames.len()).map(|row| vectors[(row, k)]).collect();
            basis.add(&column, &vertices, &mut rest, name);
        }

        Ok(basis)
    }

    /// Adds the shape of one eigenvector, and removes it from the rest.
    fn add(&mut self, column: &[f64], vertices: &[u32], rest: &mut [Vec<DVec3>], name: &str) {
        let largest = column
            .iter()
            .copied()
            .reduce(|a, b| if b.abs() > a.abs() { b } else { a })
            .unwrap_or(0.0);

        let mut shape = vec![DVec3::ZERO; vertices.len()];
        for (&share, row) in column.iter().zip(&*rest) {
            for (sum, displacement) in shape.iter_mut().zip(row) {
                *sum += *displacement * (share * largest);
            }
        }
        // Targets are single precision; what rounding loses stays in the rest.
        let deltas: Vec<_> = shape.iter().map(|delta| delta.as_vec3()).collect();
        for ((&share, row), weights) in column.iter().zip(&mut *rest).zip(&mut self.weights) {
            let weight = share / largest;
            weights.push(weight);
            for (left, delta) in row.iter_mut().zip(&deltas) {
                *left -= delta.as_dvec3() * weight;
            }
        }

        self.error = longest(rest);
        self.targets.push(Target {
            name: format!("{name}.{}", self.targets.len() + 1),
            vertices: vertices.to_vec(),
            deltas,
            in_betweens: Vec::new(),
        });
    }
}

fn longest(rows: &[Vec<DVec3>]) -> f64 {
    let squares = rows.iter().flatten().map(|delta| delta.length_squared());
    squares.fold(0.0, f64::max).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 frames that are sums of two shapes.
    fn frames() -> Vec<Vec<(u32, DVec3)>> {
        let shapes = [0.3, 0.7].map(|rate: f64| {
            let angle = move |v: u32| rate * f64::from(v * v);
            (0..40).map(move |v| DVec3::new(angle(v).sin(), angle(v).cos(), rate))
        });
        let [a, b] = shapes.map(Iterator::collect::<Vec<_>>);
        (0..30)
            .map(|frame| {
                let t = f64::from(frame) / 29.0;
                let delta = |v: usize| a[v] * (3.0 * t).sin() + b[v] * (0.01 * t * t);
                (0..40).map(|v| (2 * v as u32, delta(v))).collect()
            })
            .collect()
    }

    #[test]
    fn frames_of_two_shapes_need_two_shapes() {
        let frames = frames();
        let basis = ShapeBasis::of(&frames, "move", 1e-6).unwrap();
        assert_eq!(basis.targets.len(), 2);
        assert!(basis.error <= 1e-6);
        assert_eq!(basis.targets[1].name, "move.2");

        for (frame, weights) in frames.iter().zip(&basis.weights) {
            for (k, (vertex, wanted)) in frame.iter().enumerate() {
                let sum = basis.targets.iter().zip(weights);
                let sum = sum.map(|(target, weight)| target.deltas[k].as_dvec3() * *weight);
                assert_eq!(basis.targets[0].vertices[k], *vertex);
                assert!(sum.sum::<DVec3>().distance(*wanted) <= 1e-6);
            }
        }
        let largest = |k: usize| {
            let column = basis.weights.iter().map(|row| row[k].abs());
            column.fold(0.0, f64::max)
        };
        assert_eq!([largest(0), largest(1)], [1.0; 2]);
    }

    #[test]
    fn a_coarse_tolerance_needs_fewer_shapes_and_none_needs_none() {
        let frames = frames();
        assert_eq!(
            ShapeBasis::of(&frames, "move", 0.1).unwrap().targets.len(),
            1
        );
        let still = vec![Vec::new(); 3];
        assert!(
            ShapeBasis::of(&still, "move", 0.0)
                .unwrap()
                .targets
                .is_empty()
        );
        let broken = vec![vec![(0, DVec3::NAN)]];
        assert!(ShapeBasis::of(&broken, "move", 0.1).is_err());
    }
}
