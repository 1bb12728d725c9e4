//! Selection of the Delaunay tetrahedra that lie inside a component.
//!
//! **Problem.** Delaunay tetrahedra fill the convex hull: they bridge from finger to finger, lip to
//! lip, ear to head. Springs along such edges would connect separate parts.
//!
//! **Equation.** A tetrahedron is kept when the winding number of the surface is one at its centre,
//! and none of its edges leaves the volume: the midpoint of an edge is inside, or near the surface,
//! and the edge does not cross the surface at more than a grazing angle. Edges in the empty ball
//! around an inner point, and edges of the surface, need no test.
//!
//! **Source.** Jacobson, Kavan, Sorkine-Hornung, "Robust Inside-Outside Segmentation using
//! Generalized Winding Numbers", SIGGRAPH 2013, keep tetrahedra by their winding number, but of a
//! constrained triangulation.
//!
//! **Departures.** No triangle of the surface is forced to be a face of a tetrahedron. Where the
//! surface is sampled too coarsely for its curvature, some of its triangles are missing among the
//! faces and the tetrahedra that cross there are left out: the tetrahedra have a little less than
//! the volume, but never bridge a gap. A constrained triangulation would fill the volume exactly,
//! but would add points on the surface, which must stay as authored. Nearly flat tetrahedra, of
//! four neighbours on a smooth surface, are left out too: the slightest motion would invert them.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use super::tetrahedron::{EDGES, edges_of, thickness};
use crate::blend::interior::component::ClosedComponent;

/// Thinner tetrahedra, relative to their shortest edge, are left out.
const LEAST_THICKNESS: f64 = 0.05;

/// The midpoint of an edge may be outside by this share of its length: chords of a slightly concave
/// surface.
const SAG: f64 = 0.05;

/// Crossings of the surface count from this sine of the angle on.
const STEEPNESS: f64 = 0.3;

const ITEMS_PER_TASK: usize = 64;

/// The tetrahedra over `points` (surface vertices first) that lie inside; `depths` are the
/// distances of the points from the surface.
pub(super) fn inside(
    solid: &ClosedComponent,
    points: &[DVec3],
    depths: &[f64],
    mut tetrahedra: Vec<[u32; 4]>,
) -> Vec<[u32; 4]> {
    tetrahedra.retain(|t| thickness(t.map(|v| points[v as usize])) >= LEAST_THICKNESS);
    let center_is_inside = |t: [u32; 4]| {
        let center = t.iter().map(|&v| points[v as usize]).sum::<DVec3>() * 0.25;
        t.iter()
            .any(|&v| center.distance(points[v as usize]) < depths[v as usize])
            || solid.contains(center)
    };

    let mut kept = parallel::map(tetrahedra.len(), ITEMS_PER_TASK, |k| {
        center_is_inside(tetrahedra[k])
    })
    .into_iter();

    tetrahedra.retain(|_| kept.next().unwrap_or(false));

    // Each edge is tested once, although several tetrahedra share it.
    let edges = edges_of(&tetrahedra);
    let stays = parallel::map(edges.len(), ITEMS_PER_TASK, |k| {
        stays_inside(solid, points, depths, edges[k])
    });
    let is_good = |a: u32, b: u32| {
        edges
            .binary_search(&[a.min(b), a.max(b)])
            .is_ok_and(|k| stays[k])
    };

    tetrahedra.retain(|t| EDGES.iter().all(|&[i, j]| is_good(t[i], t[j])));
    tetrahedra
}

/// Whether an edge stays inside the volume.
fn stays_inside(
    solid: &ClosedComponent,
    points: &[DVec3],
    depths: &[f64],
    [a, b]: [u32; 2],
) -> bool {
    let start = points[a as usize];
    let end = points[b as usize];
    let length = start.distance(end);
    let surface_vertices = solid.surface.vertex_count();
    let on_surface =
        (b as usize) < surface_vertices && solid.surface.topology().edge_between(a, b).is_some();

    if on_surface || depths[a as usize] + depths[b as usize] >= length {
        return true;
    }

    // The midpoint is cheaper than the crossing test, which comes last.
    let middle = start.midpoint(end);
    let leaves = solid.distance(middle) > SAG * length && !solid.contains(middle);
    !leaves && !solid.crosses(start, end, STEEPNESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::interior::delaunay::delaunay;
    use crate::blend::interior::tetrahedron::volume;
    use crate::test_solids::{fork, joined};
    use pliant_mesh::Mesh;
    use pliant_mesh::shapes::icosphere;

    fn fill(mesh: Mesh) -> (Mesh, Vec<[u32; 4]>) {
        let solid = ClosedComponent::close(mesh.clone())
            .unwrap()
            .expect("closed");
        let depths = vec![0.0; mesh.vertex_count()];
        let tetrahedra = inside(
            &solid,
            mesh.positions(),
            &depths,
            delaunay(mesh.positions()),
        );
        (mesh, tetrahedra)
    }

    fn filled_share((mesh, tetrahedra): &(Mesh, Vec<[u32; 4]>)) -> f64 {
        tetrahedra
            .iter()
            .map(|t| volume(t.map(|v| mesh.positions()[v as usize])))
            .sum::<f64>()
            / mesh.signed_volume()
    }

    #[test]
    fn a_ball_is_filled() {
        let share = filled_share(&fill(icosphere(4)));
        assert!((0.97..=1.0 + 1e-9).contains(&share), "{share}");
    }

    #[test]
    fn adjacent_prongs_are_not_bridged_for_any_gap() {
        for gap in [1.0, 0.3, 0.1, 0.01, 0.001] {
            let (mesh, tetrahedra) = fill(fork(gap));
            let share = filled_share(&(mesh.clone(), tetrahedra.clone()));
            assert!((0.9..=1.0 + 1e-9).contains(&share), "gap {gap}: {share}");

            for [a, b] in edges_of(&tetrahedra) {
                let p = mesh.positions()[a as usize];
                let q = mesh.positions()[b as usize];
                if p.x * q.x < 0.0 {
                    let between = p.lerp(q, p.x / (p.x - q.x));
                    assert!(
                        between.z < 1e-9,
                        "gap {gap}: an edge from prong to prong, {p} to {q}"
                    );
                }
            }
        }
    }

    #[test]
    fn two_nearly_touching_balls_stay_separate() {
        let first = icosphere(3);
        let moved = first
            .positions()
            .iter()
            .map(|&p| p + DVec3::X * 2.01)
            .collect();

        let second = first.posed(moved).unwrap();
        let (mesh, tetrahedra) = fill(joined(&first, &second));
        let ball = |v: u32| v as usize / first.vertex_count();

        assert!(tetrahedra.len() > 1000);
        assert!(
            tetrahedra
                .iter()
                .all(|t| t.iter().all(|&v| ball(v) == ball(t[0]))),
            "{}",
            mesh.vertex_count()
        );
    }
}
