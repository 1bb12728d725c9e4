//! Vertex normals of a whole pose, or only of the part that moved.
//!
//! **Problem.** A pose changes thirty times a second, often in a few places only. Its normals must
//! follow.
//!
//! **Equation.** With the area vectors `aₜ = (x_j − x_i) × (x_k − x_i)` of the triangles `t = (i,
//! j, k)` around `v`:
//!
//! ```text
//! n_v = Σₜ aₜ / |Σₜ aₜ|
//! ```
//!
//! that is, the mean of the triangles' normals weighted by area; zero where there is no triangle or
//! no area.
//!
//! **Source.** Gouraud, "Continuous shading of curved surfaces", 1971, with areas as weights.
//!
//! **Departures.** Two passes: every area vector once, then a sum around each vertex in the order
//! of its triangles. Nothing is scattered, so the bits are the same on any number of threads, and
//! a partial update has the bits of a full computation.

use glam::DVec3;
use pliant_linalg::parallel;

use crate::surface::measure::{area_vector, triangle_normal};
use crate::{Mesh, Topology};

/// Triangles or vertices in one parallel task.
const ITEMS_PER_TASK: usize = 2048;
const _: () = assert!(
    ITEMS_PER_TASK.is_multiple_of(VertexNormals::BLOCK),
    "blocks do not straddle tasks"
);

/// Unit normals of the triangles; zero where one is flat.
#[must_use]
pub fn triangle_normals(mesh: &Mesh) -> Vec<DVec3> {
    (0..mesh.triangles().len())
        .map(|t| triangle_normal(mesh.triangle_points(t)))
        .collect()
}

/// Unit vertex normals, each the mean of its triangles' normals weighted by area; zero at unused
/// vertices.
#[must_use]
pub fn vertex_normals(mesh: &Mesh) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; mesh.vertex_count()];
    vertex_normals_into(
        mesh.topology(),
        mesh.triangles(),
        mesh.positions(),
        &mut normals,
    );
    normals
}

/// As [`vertex_normals`] for any pose, into the caller's buffer.
///
/// # Panics
/// If the arrays do not fit the topology.
pub fn vertex_normals_into(
    topology: &Topology,
    triangles: &[[u32; 3]],
    positions: &[DVec3],
    normals: &mut [DVec3],
) {
    assert_eq!(positions.len(), normals.len(), "one normal per vertex");
    let mut area_vectors = vec![DVec3::ZERO; triangles.len()];
    parallel::for_each_chunk_mut(&mut area_vectors, ITEMS_PER_TASK, |start, part| {
        write_area_vectors(&triangles[start..], positions, part);
    });
    parallel::for_each_chunk_mut(normals, ITEMS_PER_TASK, |start, chunk| {
        write_normals(topology, &area_vectors, start, chunk)
    });
}

/// The normals of a mesh whose vertices move, with the data to update a part of them.
///
/// Moved vertices are marked in *blocks* of [`BLOCK`](Self::BLOCK) consecutive ones: a test of
/// every vertex and triangle would cost more than it saves.
#[derive(Debug, Clone)]
pub struct VertexNormals {
    area_vectors: Vec<DVec3>,
    normals: Vec<DVec3>,
    /// For each block of triangles, the blocks of their corners.
    corner_blocks: Vec<Vec<u32>>,
    /// For each block of vertices, the blocks of the corners of the triangles around them.
    blocks_around: Vec<Vec<u32>>,
}

impl VertexNormals {
    /// Consecutive vertices that are renewed together. Measured (`evaluate` bench): at 64 a small
    /// shape of a face whose vertices are in no good order costs a third more, at 8 a full
    /// update some percent.
    pub const BLOCK: usize = 16;

    /// The normals of `mesh` as it stands.
    #[must_use]
    pub fn new(mesh: &Mesh) -> Self {
        let triangles = mesh.triangles();
        let around = mesh.topology().vertex_triangles();
        let block_of = |corner: &u32| corner / Self::BLOCK as u32;

        // A block of triangles is stale where a block of its corners moved, a block of vertices
        // where a block of any triangle around it did.
        let corner_blocks = triangles
            .chunks(Self::BLOCK)
            .map(|part| distinct(part.iter().flatten().map(block_of)));
        let blocks_around = (0..mesh.vertex_count()).step_by(Self::BLOCK).map(|start| {
            let vertices = start..mesh.vertex_count().min(start + Self::BLOCK);
            distinct(
                vertices
                    .flat_map(|v| around.row(v))
                    .flat_map(|&t| &triangles[t as usize])
                    .map(block_of),
            )
        });

        let mut normals = Self {
            area_vectors: vec![DVec3::ZERO; triangles.len()],
            normals: vec![DVec3::ZERO; mesh.vertex_count()],
            corner_blocks: corner_blocks.collect(),
            blocks_around: blocks_around.collect(),
        };
        let everything = vec![true; normals.blocks_around.len()];
        normals.update(mesh, mesh.positions(), &everything);
        normals
    }

    /// One unit normal per vertex, as [`vertex_normals`] gives them.
    #[must_use]
    pub fn as_slice(&self) -> &[DVec3] {
        &self.normals
    }

    /// Renews the normals in and around the blocks that `moved` since the last call; `mesh` gives
    /// the faces only.
    ///
    /// The result has the bits of [`vertex_normals`] at `positions`. Does not allocate.
    ///
    /// # Panics
    /// If `mesh`, `positions` or `moved` are of another size than the mesh that this was made for.
    pub fn update(&mut self, mesh: &Mesh, positions: &[DVec3], moved: &[bool]) {
        assert_eq!(
            positions.len(),
            self.normals.len(),
            "one position per normal"
        );
        assert_eq!(
            moved.len(),
            self.blocks_around.len(),
            "one flag per block of vertices"
        );
        assert_eq!(
            mesh.triangles().len(),
            self.area_vectors.len(),
            "the triangles of the mesh that the normals are of"
        );

        let stale = |blocks: &[u32]| blocks.iter().any(|&block| moved[block as usize]);

        // Area vectors first: the normals read them.
        for_each_block_mut(&mut self.area_vectors, |block, start, area_vectors| {
            if stale(&self.corner_blocks[block]) {
                write_area_vectors(&mesh.triangles()[start..], positions, area_vectors);
            }
        });
        for_each_block_mut(&mut self.normals, |block, start, normals| {
            if stale(&self.blocks_around[block]) {
                write_normals(mesh.topology(), &self.area_vectors, start, normals);
            }
        });
    }
}

/// Calls `work(block, start, items)` for each block of items, several blocks in a task.
fn for_each_block_mut(
    items: &mut [DVec3],
    work: impl Fn(usize, usize, &mut [DVec3]) + Sync + Send,
) {
    parallel::for_each_chunk_mut(items, ITEMS_PER_TASK, |start, task| {
        for (k, block) in task.chunks_mut(VertexNormals::BLOCK).enumerate() {
            work(
                start / VertexNormals::BLOCK + k,
                start + k * VertexNormals::BLOCK,
                block,
            );
        }
    });
}

fn distinct(blocks: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut blocks: Vec<u32> = blocks.collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// The area vectors of the first triangles, as many as there is room for.
fn write_area_vectors(triangles: &[[u32; 3]], positions: &[DVec3], area_vectors: &mut [DVec3]) {
    for (area, triangle) in area_vectors.iter_mut().zip(triangles) {
        *area = area_vector(triangle.map(|v| positions[v as usize]));
    }
}

/// The normals of the vertices from `start` on.
fn write_normals(topology: &Topology, area_vectors: &[DVec3], start: usize, normals: &mut [DVec3]) {
    for (k, normal) in normals.iter_mut().enumerate() {
        let around = topology.vertex_triangles().row(start + k);
        let sum: DVec3 = around.iter().map(|&t| area_vectors[t as usize]).sum();
        *normal = sum.normalize_or_zero();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn every_axis_of_symmetry_of_an_icosahedron_is_a_normal() {
        // Corners and middles of edges lie on axes of the rotations that map the solid to itself.
        for sphere in [shapes::icosphere(0), shapes::icosphere(1)] {
            let normals = vertex_normals(&sphere);
            let worst = normals
                .iter()
                .zip(sphere.positions())
                .map(|(n, p)| n.distance(*p))
                .fold(0.0, f64::max);
            assert!(worst < 8.0 * f64::EPSILON, "{worst}");
        }
    }

    #[test]
    fn large_triangles_count_more() {
        // A fold along y: area 2 facing up, area 1 facing along x.
        let points = vec![DVec3::ZERO, DVec3::Y, DVec3::X * -4.0, DVec3::Z * -2.0];
        let mesh = Mesh::from_triangles(points, &[[0, 1, 2], [0, 3, 1]]).unwrap();
        let fold = DVec3::new(1.0, 0.0, 2.0).normalize();
        assert!(vertex_normals(&mesh)[0].abs_diff_eq(fold, f64::EPSILON));
    }

    #[test]
    fn normals_are_unit_or_zero_where_no_triangle_is() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE];
        let mesh = Mesh::from_triangles(points, &[[0, 1, 2]]).unwrap();
        assert_eq!(
            vertex_normals(&mesh),
            [DVec3::Z, DVec3::Z, DVec3::Z, DVec3::ZERO]
        );
    }

    #[test]
    fn a_partial_update_has_the_bits_of_a_full_computation() {
        let mesh = shapes::bumpy_sheet(60, 0.2);
        let mut normals = VertexNormals::new(&mesh);
        let mut positions = mesh.positions().to_vec();

        let mut moved = vec![false; positions.len().div_ceil(VertexNormals::BLOCK)];
        for v in [0, 63, 64, 1000, 3700, positions.len() - 1] {
            positions[v] += DVec3::Z * 0.01;
            moved[v / VertexNormals::BLOCK] = true;
        }

        normals.update(&mesh, &positions, &moved);
        let posed = mesh.posed(positions).unwrap();
        let bits = |normals: &[DVec3]| -> Vec<[u64; 3]> {
            normals
                .iter()
                .map(|n| n.to_array().map(f64::to_bits))
                .collect()
        };

        assert_eq!(bits(normals.as_slice()), bits(&vertex_normals(&posed)));
    }
}
