//! Tetrahedron volumes with a penalty on inversion.
//!
//! **Problem.** Six lengths fit a tetrahedron and its mirror image alike, so springs let thin
//! tetrahedra invert.
//!
//! **Equation.** With the volume `V` of a tetrahedron, its target volume `V̄`, and `J = V / V̄`,
//!
//! ```text
//! E = ν (V̄ / ℓ̄²) ψ(J)        ψ(J) = ½ (J − 1)² χ(1) / χ(J)        χ(J) = ½ (J + √(J² + 4 ε²))
//! ```
//!
//! where `ℓ̄` is its mean edge. `χ` is about `J` for positive `J` and about `ε² / |J|` for negative
//! `J`: `ψ` is about `½ (J + 1/J) − 1`, the same for half and for double the volume, rises steeply
//! towards zero and continues to rise beyond it. It is smooth and finite everywhere, so a solve may
//! start at inverted tetrahedra and restores them.
//!
//! **Source.** `χ`: Escobar, Rodríguez, Montenegro, Montero, González-Yuste, "Simultaneous
//! untangling and smoothing of tetrahedral meshes", 2003; Garanzha, Kaporin, Kudryavtseva, Protais,
//! Ray, Sokolov, "Foldover-free maps in 50 lines of code", 2021.
//!
//! **Departures.** These authors let `ε` go to zero and fit shapes as well; here lengths fit the
//! shapes, and `ε` is constant. `V̄ = (Σₛ wₛ ∛Vₛ)³` is consistent with blended lengths where shapes
//! differ in size. `V̄ / ℓ̄²` gives forces the unit of spring forces and thin tetrahedra no more
//! force than others.

use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::energy::springs::blended;
use crate::blend::interior::tetrahedron::EDGES;

/// Below this share of its volume a tetrahedron has about its largest force. Chosen: at the point
/// of inversion the force is `ν / (4 ε²) · ⅙`, some 17, where spring forces, sums of strains, are
/// seldom above one.
pub(crate) const SOFTENING: f64 = 0.05;

/// Tetrahedra in each of several shapes.
#[derive(Debug, Clone)]
pub(crate) struct TetrahedronVolumes {
    pub(crate) corners: Vec<[u32; 4]>,
    /// Cube roots of the volumes, by shape.
    roots: Vec<Vec<f64>>,
    /// Mean edges, by shape.
    edges: Vec<Vec<f64>>,
}

impl TetrahedronVolumes {
    /// `corners` in each of `shapes`; their volumes are positive there.
    pub(crate) fn of(corners: &[[u32; 4]], shapes: &[Vec<DVec3>]) -> Self {
        let each = |value: fn([DVec3; 4]) -> f64| -> Vec<Vec<f64>> {
            let in_shape = |points: &Vec<DVec3>| {
                corners
                    .iter()
                    .map(|t| value(t.map(|v| points[v as usize])))
                    .collect()
            };
            shapes.iter().map(in_shape).collect()
        };
        Self {
            corners: corners.to_vec(),
            roots: each(|p| volume(p).0.max(0.0).cbrt()),
            edges: each(mean_edge),
        }
    }

    /// The volume of a tetrahedron at `weights` and its weight `V̄ / ℓ̄²`.
    pub(crate) fn blended(&self, tetrahedron: usize, weights: &[f64]) -> (f64, f64) {
        let root = blended(self.roots.iter().map(|roots| roots[tetrahedron]), weights);
        let edge = blended(self.edges.iter().map(|edges| edges[tetrahedron]), weights);
        let volume = root.powi(3);

        (
            volume,
            if edge > 0.0 {
                volume / (edge * edge)
            } else {
                0.0
            },
        )
    }
}

/// The signed volume and its gradients.
pub(crate) fn volume([a, b, c, d]: [DVec3; 4]) -> (f64, [DVec3; 4]) {
    let u = b - a;
    let v = c - a;
    let w = d - a;
    let at_b = v.cross(w) / 6.0;
    let at_c = w.cross(u) / 6.0;
    let at_d = u.cross(v) / 6.0;
    (u.dot(at_b), [-(at_b + at_c + at_d), at_b, at_c, at_d])
}

/// The second derivative of the volume by two corners: `⅙ [p_k − p_l]×` with the other two corners,
/// so that `row column k l` is an even permutation.
pub(crate) fn volume_curvature(corners: [DVec3; 4], row: usize, column: usize) -> DMat3 {
    /// The other two corners of the pairs 01, 02, 03, 12, 13, 23.
    const OTHERS: [[[usize; 2]; 4]; 4] = [
        [[0, 0], [2, 3], [3, 1], [1, 2]],
        [[3, 2], [0, 0], [0, 3], [2, 0]],
        [[1, 3], [3, 0], [0, 0], [0, 1]],
        [[2, 1], [0, 2], [1, 0], [0, 0]],
    ];

    let [k, l] = OTHERS[row][column];
    let edge = (corners[k] - corners[l]) / 6.0;
    DMat3::from_cols(
        edge.cross(DVec3::X),
        edge.cross(DVec3::Y),
        edge.cross(DVec3::Z),
    )
}

/// The penalty `ψ` of a ratio to the target, with its first and second derivative.
pub(crate) fn ratio_penalty(share: f64) -> [f64; 3] {
    let root = share.hypot(2.0 * SOFTENING);

    // The second form does not cancel where the volume is negative.
    let chi = if share > 0.0 {
        0.5 * (share + root)
    } else {
        2.0 * SOFTENING * SOFTENING / (root - share)
    };

    // χ(1) normalises the curvature at the target to one.
    let one = 0.5 * (1.0 + 1.0_f64.hypot(2.0 * SOFTENING));
    let inverse = one / chi;
    let off = share - 1.0;

    // Derivatives of χ(1)/χ: χ′ = χ / √(J² + 4 ε²).
    let first = -inverse / root;
    let second = inverse / (root * root) * (1.0 + share / root);

    [
        0.5 * off * off * inverse,
        off * inverse + 0.5 * off * off * first,
        inverse + 2.0 * off * first + 0.5 * off * off * second,
    ]
}

fn mean_edge(p: [DVec3; 4]) -> f64 {
    EDGES.iter().map(|&[i, j]| p[i].distance(p[j])).sum::<f64>() / EDGES.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_penalty_is_zero_at_the_target_and_rises_on_both_sides() {
        assert_eq!(ratio_penalty(1.0), [0.0, 0.0, 1.0]);
        let steps: Vec<f64> = (-40..=60)
            .map(|k| ratio_penalty(f64::from(k) * 0.05)[0])
            .collect();
        assert!(
            steps[..=60].windows(2).all(|p| p[0] > p[1]),
            "decreasing up to one, also from below zero"
        );

        assert!(steps[60..].windows(2).all(|p| p[0] < p[1]));
        assert!(
            (ratio_penalty(2.0)[0] / ratio_penalty(0.5)[0] - 1.0).abs() < 0.02,
            "half and double have the same penalty"
        );
    }

    #[test]
    fn the_derivatives_of_the_penalty_match_differences() {
        let step = 1e-5;
        for share in [-2.0, -0.3, -0.02, 0.0, 0.04, 0.3, 1.0, 2.5] {
            let ([above, slope_above, _], [below, slope_below, _]) =
                (ratio_penalty(share + step), ratio_penalty(share - step));
            let [_, first, second] = ratio_penalty(share);

            assert!(
                ((above - below) / (2.0 * step) - first).abs() < 1e-5 * (1.0 + first.abs()),
                "{share}"
            );

            assert!(
                ((slope_above - slope_below) / (2.0 * step) - second).abs()
                    < 1e-5 * (1.0 + second.abs()),
                "{share}"
            );
        }
    }
}
