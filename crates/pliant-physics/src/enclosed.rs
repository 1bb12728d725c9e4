//! The volume inside closed surfaces that hold no tetrahedra.
//!
//! **Problem.** A thin shell that keeps its lengths and angles may still lose its volume over a
//! long way.
//!
//! **Equation.** With the volume `V = ⅙ Σ a·(b × c)` over the triangles of a closed surface, and
//! `V̄` blended linearly,
//!
//! ```text
//! E = ½ ν (V − V̄)² / V̄²        H ≈ ν ∇V ∇Vᵀ / V̄²
//! ```
//!
//! `∇V` is dense: its product is left out of the sparse matrix and is added to the solution
//! ([`crate::hessian_factor`]).
//!
//! **Source.** Fröhlich and Botsch 2011.
//!
//! **Ours.** Each connected part has a volume of its own. Small holes are closed by fans; sheets
//! that are truly open, and parts that are flat or turned inside out in some shape, have none.

use std::collections::BTreeSet;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology, triangle_area};

use crate::energy::Node;
use crate::interior::LARGEST_CAPS;
use crate::springs::blended;

/// The least volume of a part in any shape beside the largest: ours; what is less is flat.
const LEAST_VOLUME: f64 = 1e-3;

/// Closed parts in each of several shapes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClosedParts {
    parts: Vec<Vec<[u32; 3]>>,
    /// By shape, positive.
    volumes: Vec<Vec<f64>>,
}

/// A closed part that is to have a volume: `½ weight (V − volume)²`.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) volume: f64,
    pub(crate) weight: f64,
}

impl ClosedParts {
    /// The parts of `mesh` none of whose vertices is in `filled`.
    pub(crate) fn of(mesh: &Mesh, filled: &BTreeSet<u32>, shapes: &[Vec<DVec3>]) -> Self {
        let topology = mesh.topology();
        let part_of = topology.component_of_vertex();
        let (mut parts, mut caps) = (
            vec![Vec::new(); topology.component_count()],
            vec![Vec::new(); topology.component_count()],
        );
        for &triangle in mesh.triangles() {
            parts[part_of[triangle[0] as usize] as usize].push(triangle);
        }
        for walk in topology.boundary_loops() {
            let fan = walk
                .windows(2)
                .skip(1)
                .map(|pair| [walk[0], pair[1], pair[0]]);
            caps[part_of[walk[0] as usize] as usize].extend(fan);
        }
        let solid: BTreeSet<u32> = filled
            .iter()
            .map(|&v| part_of.get(v as usize).copied().unwrap_or(Topology::NONE))
            .collect();
        let mut closed = Self {
            parts: Vec::new(),
            volumes: vec![Vec::new(); shapes.len()],
        };
        for (part, (mut triangles, caps)) in parts.into_iter().zip(caps).enumerate() {
            let small = shapes
                .iter()
                .all(|points| area(&caps, points) <= LARGEST_CAPS * area(&triangles, points));
            if small && !solid.contains(&(part as u32)) {
                triangles.extend(caps);
                closed.push(triangles, shapes);
            }
        }
        closed
    }

    /// Adds a part with its triangles turned so that its volumes are positive, unless they are not
    /// all of one sign or some are none.
    fn push(&mut self, mut triangles: Vec<[u32; 3]>, shapes: &[Vec<DVec3>]) {
        let mut volumes: Vec<f64> = shapes
            .iter()
            .map(|points| volume(&triangles, points))
            .collect();
        if volumes.first().is_some_and(|v| *v < 0.0) {
            volumes.iter_mut().for_each(|v| *v = -*v);
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let largest = volumes.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 && volumes.iter().all(|v| *v > LEAST_VOLUME * largest) {
            self.volumes
                .iter_mut()
                .zip(volumes)
                .for_each(|(all, volume)| all.push(volume));
            self.parts.push(triangles);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The parts between the shapes at `weights`, with `weight` on squares of shares.
    pub(crate) fn blended(&self, weights: &[f64], weight: f64) -> Vec<Shell> {
        let shell = |(part, triangles): (usize, &Vec<[u32; 3]>)| {
            let volume = blended(self.volumes.iter().map(|volumes| volumes[part]), weights);
            Shell {
                triangles: triangles.clone(),
                volume,
                weight: weight / (volume * volume),
            }
        };
        self.parts.iter().enumerate().map(shell).collect()
    }
}

impl Shell {
    /// Adds the forces to `nodes`; returns the energy.
    pub(crate) fn add_to(&self, positions: &[DVec3], nodes: &mut [Node]) -> f64 {
        let off = volume(&self.triangles, positions) - self.volume;
        self.for_each_slope(positions, |vertex, slope| {
            nodes[vertex].force -= slope * (self.weight * off)
        });
        0.5 * self.weight * off * off
    }

    /// The gradient of the volume, in parts: a vertex comes once for each of its triangles.
    pub(crate) fn for_each_slope(&self, positions: &[DVec3], mut take: impl FnMut(usize, DVec3)) {
        for &[a, b, c] in &self.triangles {
            let [p, q, r] = [a, b, c].map(|v| positions[v as usize]);
            take(a as usize, q.cross(r) / 6.0);
            take(b as usize, r.cross(p) / 6.0);
            take(c as usize, p.cross(q) / 6.0);
        }
    }
}

fn volume(triangles: &[[u32; 3]], points: &[DVec3]) -> f64 {
    triangles
        .iter()
        .map(|t| t.map(|v| points[v as usize]))
        .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
        .sum()
}

fn area(triangles: &[[u32; 3]], points: &[DVec3]) -> f64 {
    triangles
        .iter()
        .map(|t| triangle_area(t.map(|v| points[v as usize])))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    #[test]
    fn closed_parts_have_their_volume_and_small_holes_do_not_matter() {
        let ball = icosphere(3);
        let shapes = [ball.positions().to_vec()];
        let whole = ClosedParts::of(&ball, &BTreeSet::new(), &shapes);
        assert!((whole.volumes[0][0] - ball.signed_volume()).abs() < 1e-12);
        let holed = Mesh::from_triangles(shapes[0].clone(), &ball.triangles()[1..]).unwrap();
        let closed = ClosedParts::of(&holed, &BTreeSet::new(), &shapes);
        assert!(
            (closed.volumes[0][0] - ball.signed_volume()).abs() < 1e-12,
            "the fan over one triangle is that triangle"
        );
        let inward: Vec<[u32; 3]> = ball
            .triangles()
            .iter()
            .map(|&[a, b, c]| [a, c, b])
            .collect();
        let inward = ClosedParts::of(
            &Mesh::from_triangles(shapes[0].clone(), &inward).unwrap(),
            &BTreeSet::new(),
            &shapes,
        );
        assert!((inward.volumes[0][0] - ball.signed_volume()).abs() < 1e-12);
    }

    #[test]
    fn open_sheets_filled_parts_and_parts_turned_inside_out_have_none() {
        let sheet = bumpy_sheet(6, 0.1);
        assert!(
            ClosedParts::of(&sheet, &BTreeSet::new(), &[sheet.positions().to_vec()]).is_empty()
        );
        let ball = icosphere(1);
        let points = ball.positions().to_vec();
        assert!(
            ClosedParts::of(&ball, &BTreeSet::from([3]), std::slice::from_ref(&points)).is_empty()
        );
        let turned = points.iter().map(|p| -*p).collect();
        assert!(ClosedParts::of(&ball, &BTreeSet::new(), &[points, turned]).is_empty());
    }
}
