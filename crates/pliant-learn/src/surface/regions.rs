//! Connected regions of a mesh around farthest-first seeds.
//!
//! **Problem.** Cut any mesh into small connected regions of about equal size.
//!
//! **Method.** Farthest-first seeds: the next seed is the vertex farthest from all seeds before it,
//! along edges. Each vertex belongs to its nearest seed.
//!
//! **Source.** Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985.
//!
//! **Departures.** The search from a new seed stops where an earlier seed is nearer.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::edge_distance::relax_from;

/// A partition of a mesh into connected regions.
#[derive(Debug, Clone)]
pub(crate) struct Regions {
    /// The vertex in the middle of each region.
    pub(crate) seeds: Vec<u32>,
    pub(crate) of_vertex: Vec<u32>,
    pub(crate) of_triangle: Vec<u32>,
}

impl Regions {
    /// About `count` regions: at least one per connected component, at most one per vertex.
    pub(crate) fn spread(mesh: &Mesh, count: usize) -> Self {
        let neighbors = mesh.topology().vertex_neighbors();
        let n = mesh.vertex_count();
        let is_loose = |v: usize| neighbors.row(v).is_empty();
        let mut distances: Vec<f64> = (0..n)
            .map(|v| if is_loose(v) { 0.0 } else { f64::INFINITY })
            .collect();

        let mut seeds = Vec::new();
        let mut of_vertex = vec![0; n];
        loop {
            // A component without a seed has an infinite distance, and gets one in any case.
            let farthest = argmax(&distances);
            let distance = distances[farthest];
            if distance == 0.0 || (seeds.len() >= count && distance.is_finite()) {
                break;
            }
            let region = seeds.len() as u32;
            seeds.push(farthest as u32);
            relax_from(mesh, farthest as u32, &mut distances, |v| {
                of_vertex[v as usize] = region
            });
        }

        if seeds.is_empty() {
            seeds.push(0); // Every triangle is degenerate to a point.
        }
        // Vertices without edges belong to the region of the nearest seed in space.
        for v in (0..n).filter(|&v| is_loose(v)) {
            of_vertex[v] = nearest(mesh.positions(), &seeds, mesh.positions()[v]);
        }
        let corners = mesh.triangles().iter().map(|corners| corners[0] as usize);
        let of_triangle = corners.map(|v| of_vertex[v]).collect();
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

/// The index of the greatest value, the first one of equals.
fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (k, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = k;
        }
    }
    best
}

/// The index of the seed nearest to `position`.
fn nearest(positions: &[DVec3], seeds: &[u32], position: DVec3) -> u32 {
    let distance = |k: usize| positions[seeds[k] as usize].distance_squared(position);
    let mut best = 0;
    for k in 1..seeds.len() {
        if distance(k) < distance(best) {
            best = k;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::edge_distance::distances_from;
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
    fn every_component_gets_a_seed_and_loose_vertices_join_the_nearest() {
        let triangle = |x: f64| {
            [
                DVec3::new(x, 0.0, 0.0),
                DVec3::new(x + 1.0, 0.0, 0.0),
                DVec3::new(x, 1.0, 0.0),
            ]
        };

        // Two triangles and a vertex without faces.
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
