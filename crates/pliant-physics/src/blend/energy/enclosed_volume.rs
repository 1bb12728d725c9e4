//! Volume of closed surfaces without tetrahedra.
//!
//! **Problem.** A thin shell that keeps its lengths and angles may still lose volume over a large
//! deformation.
//!
//! **Equation.** With the volume `V = ⅙ Σ a·(b × c)` over the triangles of a closed surface, and
//! `V̄` blended linearly,
//!
//! ```text
//! E = ½ ν (V − V̄)² / V̄²        H ≈ ν ∇V ∇Vᵀ / V̄²
//! ```
//!
//! `∇V` is dense: its outer product is left out of the sparse matrix and corrects the solution
//! instead ([`crate::blend::solvers::hessian_factor`]).
//!
//! **Source.** Fröhlich and Botsch 2011.
//!
//! **Departures.** Each connected component has its own volume. Small holes are closed by fans;
//! open sheets, and components that are flat or inverted in some shape, have none.

use std::collections::BTreeSet;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology, triangle_area};

use crate::blend::energy::Node;
use crate::blend::energy::springs::blended;
use crate::blend::interior::LARGEST_CAPS;

/// The least volume of a component in any shape relative to its largest. Chosen: below it, the
/// component counts as flat.
const LEAST_VOLUME: f64 = 1e-3;

/// Closed components in each of several shapes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClosedComponents {
    components: Vec<Vec<[u32; 3]>>,
    /// By shape, positive.
    volumes: Vec<Vec<f64>>,
}

/// A closed component with a target volume: `½ weight (V − volume)²`.
#[derive(Debug, Clone)]
pub(crate) struct EnclosedVolume {
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) volume: f64,
    pub(crate) weight: f64,
}

impl ClosedComponents {
    /// The components of `mesh` without a vertex in `filled`.
    pub(crate) fn of(mesh: &Mesh, filled: &BTreeSet<u32>, shapes: &[Vec<DVec3>]) -> Self {
        let topology = mesh.topology();
        let component_of = topology.component_of_vertex();
        let mut components = vec![Vec::new(); topology.component_count()];
        let mut caps = vec![Vec::new(); topology.component_count()];

        // Triangles and caps of every component.
        for &triangle in mesh.triangles() {
            components[component_of[triangle[0] as usize] as usize].push(triangle);
        }

        for walk in topology.boundary_loops() {
            let fan = walk
                .windows(2)
                .skip(1)
                .map(|pair| [walk[0], pair[1], pair[0]]);
            caps[component_of[walk[0] as usize] as usize].extend(fan);
        }

        // Components with tetrahedra have volumes of their own.
        let solid: BTreeSet<u32> = filled
            .iter()
            .map(|&v| {
                component_of
                    .get(v as usize)
                    .copied()
                    .unwrap_or(Topology::NONE)
            })
            .collect();

        let mut closed = Self {
            components: Vec::new(),
            volumes: vec![Vec::new(); shapes.len()],
        };

        for (component, (mut triangles, caps)) in components.into_iter().zip(caps).enumerate() {
            let small = shapes
                .iter()
                .all(|points| area(&caps, points) <= LARGEST_CAPS * area(&triangles, points));
            if small && !solid.contains(&(component as u32)) {
                triangles.extend(caps);
                closed.push(triangles, shapes);
            }
        }

        closed
    }

    /// Adds a component, oriented so that its volumes are positive, unless they have different
    /// signs or some are almost zero.
    fn push(&mut self, mut triangles: Vec<[u32; 3]>, shapes: &[Vec<DVec3>]) {
        let mut volumes: Vec<f64> = shapes
            .iter()
            .map(|points| volume(&triangles, points))
            .collect();

        if volumes.first().is_some_and(|v| *v < 0.0) {
            for volume in &mut volumes {
                *volume = -*volume;
            }
            for triangle in &mut triangles {
                triangle.swap(1, 2);
            }
        }

        // Almost flat or inverted shapes have no useful target.
        let largest = volumes.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 && volumes.iter().all(|v| *v > LEAST_VOLUME * largest) {
            for (all, volume) in self.volumes.iter_mut().zip(volumes) {
                all.push(volume);
            }
            self.components.push(triangles);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// The components between the shapes at `weights`, with `weight` on squared relative
    /// differences.
    pub(crate) fn blended(&self, weights: &[f64], weight: f64) -> Vec<EnclosedVolume> {
        let surface = |(component, triangles): (usize, &Vec<[u32; 3]>)| {
            let volume = blended(
                self.volumes.iter().map(|volumes| volumes[component]),
                weights,
            );
            EnclosedVolume {
                triangles: triangles.clone(),
                volume,
                weight: weight / (volume * volume),
            }
        };
        self.components.iter().enumerate().map(surface).collect()
    }
}

impl EnclosedVolume {
    /// Adds the forces to `nodes`; returns the energy.
    pub(crate) fn add_to(&self, positions: &[DVec3], nodes: &mut [Node]) -> f64 {
        let off = volume(&self.triangles, positions) - self.volume;
        self.for_each_gradient(positions, |vertex, gradient| {
            nodes[vertex].force -= gradient * (self.weight * off)
        });
        0.5 * self.weight * off * off
    }

    /// The gradient of the volume in parts: a vertex is visited once for each of its triangles.
    pub(crate) fn for_each_gradient(
        &self,
        positions: &[DVec3],
        mut take: impl FnMut(usize, DVec3),
    ) {
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
    fn closed_components_have_their_volume_and_small_holes_do_not_matter() {
        let ball = icosphere(3);
        let shapes = [ball.positions().to_vec()];
        let whole = ClosedComponents::of(&ball, &BTreeSet::new(), &shapes);

        assert!((whole.volumes[0][0] - ball.signed_volume()).abs() < 1e-12);

        // One triangle removed.
        let holed = Mesh::from_triangles(shapes[0].clone(), &ball.triangles()[1..]).unwrap();
        let closed = ClosedComponents::of(&holed, &BTreeSet::new(), &shapes);

        assert!(
            (closed.volumes[0][0] - ball.signed_volume()).abs() < 1e-12,
            "the fan over one triangle is that triangle"
        );

        // Orientation does not matter.
        let inward: Vec<[u32; 3]> = ball
            .triangles()
            .iter()
            .map(|&[a, b, c]| [a, c, b])
            .collect();

        let inward = ClosedComponents::of(
            &Mesh::from_triangles(shapes[0].clone(), &inward).unwrap(),
            &BTreeSet::new(),
            &shapes,
        );

        assert!((inward.volumes[0][0] - ball.signed_volume()).abs() < 1e-12);
    }

    #[test]
    fn open_sheets_filled_components_and_inverted_components_have_no_volume() {
        let sheet = bumpy_sheet(6, 0.1);
        assert!(
            ClosedComponents::of(&sheet, &BTreeSet::new(), &[sheet.positions().to_vec()])
                .is_empty()
        );

        let ball = icosphere(1);
        let points = ball.positions().to_vec();
        assert!(
            ClosedComponents::of(&ball, &BTreeSet::from([3]), std::slice::from_ref(&points))
                .is_empty()
        );

        let turned = points.iter().map(|p| -*p).collect();
        assert!(ClosedComponents::of(&ball, &BTreeSet::new(), &[points, turned]).is_empty());
    }
}
