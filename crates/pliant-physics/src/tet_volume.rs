//! Volumes of tetrahedra, and a price on turning them over.
//!
//! **Problem.** Six lengths fit a tetrahedron and its mirror image alike, so springs let thin ones
//! turn over.
//!
//! **Equation.** With the volume `V` of a tetrahedron, the volume `V̄` that it is to have, and `J =
//! V / V̄`,
//!
//! ```text
//! E = ν (V̄ / ℓ̄²) ψ(J)        ψ(J) = ½ (J − 1)² χ(1) / χ(J)        χ(J) = ½ (J + √(J² + 4 ε²))
//! ```
//!
//! where `ℓ̄` is its mean edge. `χ` is about `J` where that is positive and about `ε² / |J|` where
//! it is negative: `ψ` is about `½ (J + 1/J) − 1`, the same for half and for double the volume,
//! rises steeply towards zero and on beyond it. It is smooth and finite everywhere, so a search may
//! start where tetrahedra are turned over, and leads out of there.
//!
//! **Source.** `χ`: Escobar, Rodríguez, Montenegro, Montero, González-Yuste, "Simultaneous
//! untangling and smoothing of tetrahedral meshes", 2003; Garanzha, Kaporin, Kudryavtseva, Protais,
//! Ray, Sokolov, "Foldover-free maps in 50 lines of code", 2021.
//!
//! **Ours.** They let `ε` go to zero and fit shapes as well; here lengths do that, and `ε` stays.
//! `V̄ = (Σₛ wₛ ∛Vₛ)³` fits blended lengths where shapes differ in size. `V̄ / ℓ̄²` gives forces the
//! unit of those of springs and thin tetrahedra no more force than others.

use pliant_mesh::glam::{DMat3, DVec3};

use crate::interior::tetrahedron::EDGES;
use crate::springs::blended;

/// Below this share of its volume a tetrahedron resists about as much as it ever does: ours. At the
/// turning point the push of a tetrahedron is then `ν / (4 ε²) · ⅙`, some 17, where those of
/// springs, sums of strains, are seldom above one.
pub(crate) const SOFTENING: f64 = 0.05;

/// Tetrahedra in each of several shapes.
#[derive(Debug, Clone)]
pub(crate) struct Tetrahedra {
    pub(crate) corners: Vec<[u32; 4]>,
    /// By shape: cube roots of the volumes.
    roots: Vec<Vec<f64>>,
    /// By shape: mean edges.
    edges: Vec<Vec<f64>>,
}

impl Tetrahedra {
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
    let (u, v, w) = (b - a, c - a, d - a);
    let (at_b, at_c, at_d) = (v.cross(w) / 6.0, w.cross(u) / 6.0, u.cross(v) / 6.0);
    (u.dot(at_b), [-(at_b + at_c + at_d), at_b, at_c, at_d])
}

/// The second derivative of the volume by two corners: `⅙ [p_k − p_l]×` with the other two so that
/// `row column k l` is even.
pub(crate) fn volume_curvature(corners: [DVec3; 4], row: usize, column: usize) -> DMat3 {
    /// The other two corners of the pairs 01, 02, 03, 12, 13, 23.
    const OTHERS: [[[usize; 2]; 4]; 4] = [
        [[0, 0], [2, 3], [3, 1], [1, 2]],
        [[3, 2], [0, 0], [0, 3], [2, 0]],
        [[1, 3], [3, 0], [0, 0], [0, 1]],
        [[2, 1], [0, 2], [1, 0], [0, 0]],
    ];
    let [k, l] = OTHERS[row][column];
    let way = (corners[k] - corners[l]) / 6.0;
    DMat3::from_cols(
        way.cross(DVec3::X),
        way.cross(DVec3::Y),
        way.cross(DVec3::Z),
    )
}

/// `ψ`, its first and its second derivative.
pub(crate) fn price(share: f64) -> [f64; 3] {
    let root = share.hypot(2.0 * SOFTENING);
    // The second form does not cancel where the volume is negative.
    let chi = if share > 0.0 {
        0.5 * (share + root)
    } else {
        2.0 * SOFTENING * SOFTENING / (root - share)
    };
    let one = 0.5 * (1.0 + 1.0_f64.hypot(2.0 * SOFTENING));
    let (inverse, off) = (one / chi, share - 1.0);
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
    fn the_price_is_nothing_at_the_right_volume_and_rises_on_both_sides_of_it() {
        assert_eq!(price(1.0), [0.0, 0.0, 1.0]);
        let steps: Vec<f64> = (-40..=60).map(|k| price(f64::from(k) * 0.05)[0]).collect();
        assert!(
            steps[..=60].windows(2).all(|p| p[0] > p[1]),
            "falls up to one, also from below zero"
        );
        assert!(steps[60..].windows(2).all(|p| p[0] < p[1]));
        assert!(
            (price(2.0)[0] / price(0.5)[0] - 1.0).abs() < 0.02,
            "half and double cost the same"
        );
    }

    #[test]
    fn slopes_of_the_price_are_its_derivatives() {
        let step = 1e-5;
        for share in [-2.0, -0.3, -0.02, 0.0, 0.04, 0.3, 1.0, 2.5] {
            let ([above, slope_above, _], [below, slope_below, _]) =
                (price(share + step), price(share - step));
            let [_, first, second] = price(share);
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
