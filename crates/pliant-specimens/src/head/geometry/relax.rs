//! Projects the rough quad layout onto the sculpted volume and relaxes it.
//!
//! **Equation.** Repeatedly, for each free vertex: half a step to the mean of its neighbours, then
//! a Newton step onto `f = 0`.
//!
//! **Departures.** Neighbours across the midline are mirror images, so a midline vertex moves
//! within `x = 0`.

use pliant_mesh::glam::DVec3;

use super::half::Half;
use super::sculpt::Sculpt;

/// Relaxes the vertices of `half` that are not pinned; `on_skin` says which of them lie on the
/// sculpt.
pub(in crate::head) fn relax(half: &mut Half, sculpt: Sculpt, on_skin: &[bool], sweeps: usize) {
    let neighbors = neighbors(half);
    for _ in 0..sweeps {
        let before = half.points.clone();
        for v in (0..half.points.len()).filter(|&v| !half.pinned[v]) {
            // Half a step, since full steps of all vertices at once may oscillate.
            let mean = mean(&before, &neighbors[v], half, v);
            let p = before[v].lerp(mean, 0.5);
            let p = if on_skin[v] { sculpt.project(p, 1) } else { p };
            half.points[v] = if half.midline[v] {
                DVec3::new(0.0, p.y, p.z)
            } else {
                p
            };
        }
    }
}

fn mean(points: &[DVec3], around: &[u32], half: &Half, v: usize) -> DVec3 {
    let mut sum = DVec3::ZERO;
    let mut weight = 0.0;
    for &n in around {
        // A neighbour off the midline has a mirror image on the other side; their x cancel.
        let doubled = if half.midline[v] && !half.midline[n as usize] {
            2.0
        } else {
            1.0
        };
        sum += points[n as usize] * doubled;
        weight += doubled;
    }

    sum / weight
}

/// Ends of the quad edges at each vertex, ascending.
pub(in crate::head) fn neighbors(half: &Half) -> Vec<Vec<u32>> {
    let mut around = vec![Vec::new(); half.points.len()];
    for quad in &half.quads {
        for k in 0..4 {
            let a = quad[k];
            let b = quad[(k + 1) % 4];
            around[a as usize].push(b);
            around[b as usize].push(a);
        }
    }

    for list in &mut around {
        list.sort_unstable();
        list.dedup();
    }

    around
}
