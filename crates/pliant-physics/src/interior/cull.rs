//! Which Delaunay tetrahedra lie inside a part.
//!
//! **Problem.** Delaunay tetrahedra fill the convex hull: they join finger to finger, lip to lip,
//! ear to head. Springs along such edges would hold together what is apart.
//!
//! **Equation.** A tetrahedron stays when the surface winds around its centre, and none of its
//! edges leaves the volume: the middle of an edge is inside, or next to the surface, and the edge
//! does not go through the surface at more than a grazing angle. What lies in the empty ball around
//! an inner point, and edges of the surface, need no test.
//!
//! **Source.** Jacobson, Kavan, Sorkine-Hornung, "Robust Inside-Outside Segmentation using
//! Generalized Winding Numbers", SIGGRAPH 2013, keep tetrahedra by their winding number, but of a
//! constrained triangulation.
//!
//! **Ours.** No triangle of the surface is forced to be a face of a tetrahedron. Where the surface
//! is sampled too coarsely for its curvature, some of its triangles are missing among the faces and
//! the tetrahedra that cross there are left out, so that the sum of the tetrahedra is a little less
//! than the volume, never a bridge over a gap. A constrained triangulation would fill the volume
//! exactly, at the price of added points on the surface, which here must stay as authored. Nearly
//! flat tetrahedra, of four neighbours on a smooth surface, are left out too: they would turn
//! inside out at the slightest motion.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use super::part::Solid;
use super::tetrahedron::{EDGES, edges_of, thickness};

/// Tetrahedra that are less thick than this part of their shortest edge are left out.
const LEAST_THICKNESS: f64 = 0.05;

/// The middle of an edge may be outside by this part of its length: chords of a slightly hollow
/// surface.
const SAG: f64 = 0.05;

/// Crossing the surface counts from this sine of the angle on.
const STEEPNESS: f64 = 0.3;

const ITEMS_PER_TASK: usize = 64;

/// The tetrahedra over `points` (the surface's vertices first) that lie inside; `depths` are the
/// points' distances from the surface.
pub(super) fn inside(
    solid: &Solid,
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

fn stays_inside(solid: &Solid, points: &[DVec3], depths: &[f64], [a, b]: [u32; 2]) -> bool {
    let (start, end) = (points[a as usize], points[b as usize]);
    let length = start.distance(end);
    let surface_vertices = solid.surface.vertex_count();
    let on_surface =
        (b as usize) < surface_vertices && solid.surface.topology().edge_between(a, b).is_some();
    if on_surface || depths[a as usize] + depths[b as usize] >= length {
        return true;
    }
    let middle = start.midpoint(end);
    let leaves = solid.distance(middle) > SAG * length && !solid.contains(middle);
    !leaves && !solid.crosses(start, end, STEEPNESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interior::delaunay::delaunay;
    use crate::interior::tetrahedron::volume;
    use crate::test_solids::{fork, joined};
    use pliant_mesh::Mesh;
    use pliant_mesh::shapes::icosphere;

    fn fill(mesh: Mesh) -> (Mesh, Vec<[u32; 4]>) {
        let solid = Solid::close(mesh.clone()).unwrap().expect("closed");
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
    fn two_prongs_side_by_side_are_not_bridged_however_narrow_the_gap() {
        for gap in [1.0, 0.3, 0.1, 0.01, 0.001] {
            let (mesh, tetrahedra) = fill(fork(gap));
            let share = filled_share(&(mesh.clone(), tetrahedra.clone()));
            assert!((0.9..=1.0 + 1e-9).contains(&share), "gap {gap}: {share}");
            for [a, b] in edges_of(&tetrahedra) {
                let (p, q) = (mesh.positions()[a as usize], mesh.positions()[b as usize]);
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
    fn two_balls_that_nearly_touch_stay_two() {
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
