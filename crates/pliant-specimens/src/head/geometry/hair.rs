//! Hair as one sculpted mass.
//!
//! **Implementation.** Vertices on hairy quads are lifted off the scalp by an amount that grows
//! with their distance `d` from the hairline as a quarter circle does, `√(1 − (1 − d/r)²)`, so that
//! the mass ends in a round edge.

use pliant_mesh::glam::DVec3;

use super::half::Half;
use super::relax::neighbors;
use super::sculpt::Sculpt;
use crate::math::{bell, cos, smoothstep_between};

/// Radius of the edge, in centimetres.
const EDGE: f64 = 1.1;

/// Lifts the hair off the scalp.
pub(in crate::head) fn grow(half: &mut Half, sculpt: Sculpt) {
    let depth = depth_behind_hairline(half);
    for v in 0..half.points.len() {
        if depth[v] > 0.0 && depth[v].is_finite() {
            let p = half.points[v];

            // A quarter circle ends the hair in a round edge; the midline stays in its plane.
            let inset = (1.0 - depth[v] / EDGE).max(0.0);
            let lift = (1.0 - inset * inset).sqrt() * thickness(p);
            let q = p + (sculpt.normal(p) + comb(p)) * lift;

            half.points[v] = if half.midline[v] {
                DVec3::new(0.0, q.y, q.z)
            } else {
                q
            };
        }
    }
}

/// Thin at the nape and the sides, full above the forehead.
fn thickness(p: DVec3) -> f64 {
    let top = smoothstep_between(2.0, 10.0, p.y);
    let front = smoothstep_between(-4.0, 6.0, p.z);
    let locks = 0.06 * top * cos(2.5 * p.x + 0.35 * p.z * smoothstep_between(0.0, 5.0, p.x));
    0.38 + 0.45 * top + 1.1 * top * front * bell(p.x / 5.5) + locks
}

/// Hair above the forehead is combed up and back.
fn comb(p: DVec3) -> DVec3 {
    DVec3::new(0.0, 0.5, -0.15) * smoothstep_between(3.0, 8.0, p.z)
}

/// Distance along edges from the hairline; infinite without hair, zero on the hairline.
fn depth_behind_hairline(half: &Half) -> Vec<f64> {
    // The hairline lies where hairy and bare quads meet.
    let mut hairy = vec![false; half.points.len()];
    let mut bare = vec![false; half.points.len()];
    for (quad, material) in half.quads.iter().zip(&half.materials) {
        let side = if *material == "hair" {
            &mut hairy
        } else {
            &mut bare
        };
        for &v in quad.iter() {
            side[v as usize] = true;
        }
    }

    // At the root of the ear, the hair ends, too.
    let root: Vec<bool> = half.pinned.clone();
    let mut depth: Vec<f64> = (0..half.points.len())
        .map(|v| {
            if hairy[v] && (bare[v] || root[v]) {
                0.0
            } else {
                f64::INFINITY
            }
        })
        .collect();

    let around = neighbors(half);

    // Six sweeps along edges reach farther than the radius of the edge.
    for _ in 0..6 {
        let before = depth.clone();
        for v in (0..depth.len()).filter(|&v| hairy[v]) {
            for &n in &around[v] {
                depth[v] = depth[v]
                    .min(before[n as usize] + half.points[v].distance(half.points[n as usize]));
            }
        }
    }

    depth
        .iter()
        .zip(&hairy)
        .map(|(&d, &hairy)| if hairy { d.min(EDGE) } else { d })
        .collect()
}
