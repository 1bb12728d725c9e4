//! Distances along the edges of a mesh, within and across components.
//!
//! **Departures.** Edge paths replace geodesic distances. They are some per cent too long, but they
//! exist on every mesh (non-manifold edges, slivers) and order neighbours equally well.

use pliant_mesh::{Mesh, lower_edge_distances};

/// Lowers `distances` where a path from `source` is shorter, and calls `lowered` for each vertex
/// whose distance was lowered.
pub(crate) fn relax_from(
    mesh: &Mesh,
    source: u32,
    distances: &mut [f64],
    lowered: impl FnMut(u32),
) {
    let positions = mesh.positions();
    let neighbors = mesh.topology().vertex_neighbors();
    let edges = |vertex: u32| {
        let from = positions[vertex as usize];
        let row = neighbors.row(vertex as usize);
        row.iter()
            .map(move |&next| (next, from.distance(positions[next as usize])))
    };
    lower_edge_distances(source, f64::INFINITY, distances, edges, lowered);
}

/// The distance of every vertex from `source`; infinite without a path.
pub(crate) fn distances_from(mesh: &Mesh, source: u32) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; mesh.vertex_count()];
    relax_from(mesh, source, &mut distances, |_| {});
    distances
}

/// Least distance between two components, in diagonals.
const OTHER_COMPONENT: f64 = 10.0;

/// `along`, distances from `source`, with other components farther than any vertex of the same one:
/// ten diagonals plus the distance in space.
pub(crate) fn across_components(mesh: &Mesh, source: u32, mut along: Vec<f64>) -> Vec<f64> {
    let far = OTHER_COMPONENT * mesh.bounds().map_or(1.0, |bounds| bounds.diagonal());
    let source = mesh.positions()[source as usize];
    for (distance, position) in along.iter_mut().zip(mesh.positions()) {
        if !distance.is_finite() {
            *distance = far + position.distance(source);
        }
    }
    along
}
