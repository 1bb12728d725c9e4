//! Distances along the edges of a mesh, and the regions that lie nearest to a number of seeds.
//!
//! **Problem.** Cut any mesh into small connected regions of about equal size, and say which
//! control points are near them along the surface: the other lip is near in space and far along it.
//!
//! **Method.** Dijkstra's shortest paths. Seeds are taken farthest first: the next one is the
//! vertex farthest from all before it.
//!
//! **Source.** Dijkstra 1959; farthest-first: Gonzalez, "Clustering to minimize the maximum
//! intercluster distance", 1985.
//!
//! **Ours.** Edge paths instead of geodesics: they overestimate by some per cent, yet exist on
//! every mesh (non-manifold edges, slivers) and tell neighbours apart as well. A search from a new
//! seed stops where an earlier seed is nearer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

/// Lowers `reach` (distances so far) to what a path from `source` gives, and calls `lowered` for
/// each vertex that became nearer.
pub(crate) fn lower_from(
    mesh: &Mesh,
    source: u32,
    reach: &mut [f64],
    mut lowered: impl FnMut(u32),
) {
    let positions = mesh.positions();
    let neighbors = mesh.topology().vertex_neighbors();
    reach[source as usize] = 0.0;
    // Distances are not negative, so their bits are in their order.
    let mut open = BinaryHeap::from([Reverse((0_u64, source))]);
    while let Some(Reverse((bits, vertex))) = open.pop() {
        let distance = f64::from_bits(bits);
        if distance > reach[vertex as usize] {
            continue; // An older, longer way.
        }
        lowered(vertex);
        for &next in neighbors.row(vertex as usize) {
            let longer = distance + positions[vertex as usize].distance(positions[next as usize]);
            if longer < reach[next as usize] {
                reach[next as usize] = longer;
                open.push(Reverse((longer.to_bits(), next)));
            }
        }
    }
}

/// The distance of every vertex from `source`; infinite where no edges lead.
pub(crate) fn distances_from(mesh: &Mesh, source: u32) -> Vec<f64> {
    let mut reach = vec![f64::INFINITY; mesh.vertex_count()];
    lower_from(mesh, source, &mut reach, |_| {});
    reach
}

/// Distances between parts that no edges join are counted from here, in diagonals.
const ANOTHER_PART: f64 = 10.0;

/// `along`, distances from `source`, with parts that no way leads to farther off than anything on
/// one part: ten diagonals, and then as far as in space.
pub(crate) fn across_parts(mesh: &Mesh, source: u32, mut along: Vec<f64>) -> Vec<f64> {
    let far = ANOTHER_PART * mesh.bounds().map_or(1.0, |bounds| bounds.diagonal());
    let apart = |v: usize| mesh.positions()[v].distance(mesh.positions()[source as usize]);
    along
        .iter_mut()
        .enumerate()
        .filter(|(_, d)| !d.is_finite())
        .for_each(|(v, d)| *d = far + apart(v));
    along
}

/// A mesh cut into connected regions.
#[derive(Debug, Clone)]
pub(crate) struct Regions {
    /// The vertex in the middle of each.
    pub(crate) seeds: Vec<u32>,
    pub(crate) of_vertex: Vec<u32>,
    pub(crate) of_triangle: Vec<u32>,
}

impl Regions {
    /// About `count` regions: at least one per connected component, at most one per vertex.
    pub(crate) fn spread(mesh: &Mesh, count: usize) -> Self {
        let neighbors = mesh.topology().vertex_neighbors();
        let n = mesh.vertex_count();
        let mut reach: Vec<f64> = (0..n)
            .map(|v| {
                if neighbors.row(v).is_empty() {
                    0.0
                } else {
                    f64::INFINITY
                }
            })
            .collect();
        let mut of_vertex = vec![0; n];
        let mut seeds = Vec::new();
        loop {
            let farthest = (0..n).fold(0, |best, v| if reach[v] > reach[best] { v } else { best });
            if reach[farthest] == 0.0 || (seeds.len() >= count && reach[farthest].is_finite()) {
                break;
            }
            let region = seeds.len() as u32;
            seeds.push(farthest as u32);
            lower_from(mesh, farthest as u32, &mut reach, |v| {
                of_vertex[v as usize] = region
            });
        }
        if seeds.is_empty() {
            seeds.push(0); // Every triangle is a point.
        }
        for v in (0..n).filter(|&v| neighbors.row(v).is_empty()) {
            of_vertex[v] = nearest(mesh.positions(), &seeds, mesh.positions()[v]);
        }
        let of_triangle = mesh
            .triangles()
            .iter()
            .map(|corners| of_vertex[corners[0] as usize])
            .collect();
        Self {
            seeds,
            of_vertex,
            of_triangle,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.seeds.len()
    }
}

fn nearest(positions: &[DVec3], seeds: &[u32], place: DVec3) -> u32 {
    let distance = |k: usize| positions[seeds[k] as usize].distance_squared(place);
    (1..seeds.len()).fold(0, |best, k| {
        if distance(k) < distance(best) {
            k
        } else {
            best
        }
    }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    #[test]
    fn every_vertex_belongs_to_its_nearest_seed_along_edges() {
        let mesh = shapes::icosphere(3);
        let regions = Regions::spread(&mesh, 12);
        assert_eq!(regions.count(), 12);
        let reach: Vec<Vec<f64>> = regions
            .seeds
            .iter()
            .map(|&seed| distances_from(&mesh, seed))
            .collect();
        for v in 0..mesh.vertex_count() {
            let least = reach.iter().map(|r| r[v]).fold(f64::INFINITY, f64::min);
            assert_eq!(reach[regions.of_vertex[v] as usize][v], least);
        }
    }

    #[test]
    fn a_component_without_a_seed_gets_one_and_loose_vertices_join_the_nearest() {
        let triangle = |x: f64| {
            [
                DVec3::new(x, 0.0, 0.0),
                DVec3::new(x + 1.0, 0.0, 0.0),
                DVec3::new(x, 1.0, 0.0),
            ]
        };
        let positions: Vec<DVec3> = triangle(0.0)
            .into_iter()
            .chain(triangle(10.0))
            .chain([DVec3::new(11.0, 5.0, 0.0)])
            .collect();
        let mesh = Mesh::from_triangles(positions, &[[0, 1, 2], [3, 4, 5]]).unwrap();
        let regions = Regions::spread(&mesh, 1);
        assert_eq!(regions.count(), 2);
        assert_ne!(regions.of_triangle[0], regions.of_triangle[1]);
        assert_eq!(regions.of_vertex[6], regions.of_vertex[4]);
        assert!(distances_from(&mesh, 0)[3].is_infinite());
        assert_eq!(Regions::spread(&mesh, 1000).count(), 6);
    }
}
