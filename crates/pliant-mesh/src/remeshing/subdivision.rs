//! Loop subdivision as stencils that refine any later pose.
//!
//! **Problem.** Refine a triangulation into four triangles per triangle so that repeated
//! refinement tends to a smooth surface, and do it for every frame of an animation.
//!
//! **Equation.** A new vertex on edge `ab` between triangles `abc` and `bad`, and an old
//! vertex `x` with `n` neighbours `xᵢ`:
//!
//! ```text
//! inside:       3/8 (a + b) + 1/8 (c + d)        (1 − nβ) x + β Σ xᵢ
//! on a crease:  1/2 (a + b)                      3/4 x + 1/8 (x₁ + x₂)
//!
//! Loop:    β = (5/8 − (3/8 + 1/4 cos 2π/n)²) / n
//! Warren:  β = 3/16 for n = 3, else 3/(8n)
//! ```
//!
//! **Source.** Loop, "Smooth Subdivision Surfaces Based on Triangles", master's thesis, 1987;
//! creases after Hoppe et al., "Piecewise Smooth Surface Reconstruction", SIGGRAPH 1994;
//! the second `β` is Warren's.
//!
//! **Departures.** Every edge with another number of triangles than two is a crease. A vertex with
//! two creases follows the curve rule, one with three or more stays, one with a single crease is
//! smooth. The stencils are stored without their weights: a new vertex is four indices (on a
//! crease the wings `c`, `d` repeat the ends `a`, `b`, which gives the same sum), an old one
//! a list of neighbours and one `β`. That is a third of the memory of a sparse matrix, and the cost
//! of applying it is memory traffic.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::ops::{Add, Mul};

use glam::DVec3;
use pliant_linalg::{SparseMatrix, parallel};

use crate::{CornerLayer, FaceLabels, Mesh, MeshBuilder, MeshError, Rows, Topology, VertexLayer};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// How much the neighbours of an inner vertex weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopWeights {
    /// Loop's own, for which the limit has a tangent plane everywhere.
    #[default]
    Loop,
    /// Warren's simpler ones, without a cosine.
    Warren,
}

impl LoopWeights {
    /// `β`, the weight of each of `valence` neighbours of an inner vertex; zero without neighbours.
    #[must_use]
    pub fn beta(self, valence: usize) -> f64 {
        let n = valence as f64;
        match (self, valence) {
            (_, 0) => 0.0,
            (Self::Warren, 3) => 3.0 / 16.0,
            (Self::Warren, _) => 3.0 / (8.0 * n),
            (Self::Loop, _) => (0.625 - (0.375 + 0.25 * (TAU / n).cos()).powi(2)) / n,
        }
    }
}

/// One or more levels of Loop subdivision of a mesh, for all of its poses.
///
/// Vertices of a level: those of the level before in their order, then one for each edge in the
/// order of [`Topology::edges`].
#[derive(Debug, Clone)]
pub struct LoopSubdivision {
    weights: LoopWeights,
    coarse_vertices: usize,
    levels: Vec<Stencils>,
    mesh: Mesh,
}

impl LoopSubdivision {
    /// One level with Loop's weights.
    ///
    /// UVs are interpolated linearly in each triangle, so seams stay; groups and materials are
    /// inherited; vertex colours are interpolated along edges. Authored normals are dropped. A
    /// triangle that repeats a vertex has no edge to split and is kept whole.
    pub fn of(mesh: &Mesh) -> Result<Self, MeshError> {
        Self::levels(mesh, 1)
    }

    /// `count` levels with Loop's weights; each multiplies the triangles by four. None gives the
    /// triangulation itself.
    pub fn levels(mesh: &Mesh, count: usize) -> Result<Self, MeshError> {
        Self::with_weights(mesh, count, LoopWeights::default())
    }

    /// `count` levels with weights of choice.
    pub fn with_weights(
        mesh: &Mesh,
        count: usize,
        weights: LoopWeights,
    ) -> Result<Self, MeshError> {
        let mut subdivision = Self {
            weights,
            coarse_vertices: mesh.vertex_count(),
            levels: Vec::new(),
            mesh: triangulated(mesh)?,
        };

        for _ in 0..count {
            subdivision = subdivision.then()?;
        }

        Ok(subdivision)
    }

    /// The same with one more level.
    pub fn then(mut self) -> Result<Self, MeshError> {
        let stencils = Stencils::of(self.mesh.topology(), self.mesh.triangles(), self.weights);
        let positions = stencils.apply(self.mesh.positions());
        self.mesh = split(&self.mesh, positions)?;
        self.levels.push(stencils);
        Ok(self)
    }

    /// The refined mesh, in the pose of the mesh it was made from.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// How many levels there are.
    #[must_use]
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// The refined positions of another pose.
    ///
    /// # Panics
    /// If `positions` has another length than the coarse mesh has vertices.
    #[must_use]
    pub fn apply(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut refined = vec![DVec3::ZERO; self.mesh.vertex_count()];
        self.apply_into(positions, &mut refined);
        refined
    }

    /// As [`apply`](Self::apply), into the caller's buffer; allocates only between several levels.
    ///
    /// # Panics
    /// If the lengths do not fit the coarse and the refined mesh.
    pub fn apply_into(&self, positions: &[DVec3], refined: &mut [DVec3]) {
        assert_eq!(
            positions.len(),
            self.coarse_vertices,
            "one position per coarse vertex"
        );

        assert_eq!(
            refined.len(),
            self.mesh.vertex_count(),
            "one position per refined vertex"
        );

        // Without a level the triangulation is only copied.
        let Some((last, before)) = self.levels.split_last() else {
            refined.copy_from_slice(positions);
            return;
        };

        // Each level but the last needs a buffer of its own.
        let mut between: Option<Vec<DVec3>> = None;
        for level in before {
            between = Some(level.apply(between.as_deref().unwrap_or(positions)));
        }

        last.apply_into(between.as_deref().unwrap_or(positions), refined);
    }

    /// All levels as one matrix from coarse to refined positions; made on each call.
    #[must_use]
    pub fn matrix(&self) -> SparseMatrix {
        let identity = SparseMatrix::diagonal(&vec![1.0; self.coarse_vertices]);
        self.levels
            .iter()
            .fold(identity, |product, level| level.matrix().times(&product))
    }
}

/// One level of refinement.
#[derive(Debug, Clone)]
struct Stencils {
    /// For each old vertex the ones it moves towards: its ring, its two crease neighbours or none.
    rings: Rows,
    /// The weight of each of them.
    betas: Vec<f64>,
    /// For each new vertex the ends of its edge and the wings, or the ends again.
    edges: Vec<[u32; 4]>,
}

impl Stencils {
    fn of(topology: &Topology, triangles: &[[u32; 3]], weights: LoopWeights) -> Self {
        let vertices = topology.vertex_neighbors().len();
        let crease_neighbors = crease_neighbors(topology);

        // Creases at a vertex: none or one is smooth, two follow the curve, more fix the vertex.
        let choice = (0..vertices).map(|v| match crease_neighbors.row(v).len() {
            0 | 1 => (
                topology.vertex_neighbors().row(v),
                weights.beta(topology.vertex_neighbors().row(v).len()),
            ),
            2 => (crease_neighbors.row(v), 1.0 / 8.0),
            _ => (&[][..], 0.0),
        });

        let betas = choice.clone().map(|(_, beta)| beta).collect();
        let pairs = choice
            .enumerate()
            .flat_map(|(v, (ring, _))| ring.iter().map(move |&w| (v as u32, w)));

        let edges = (0..topology.edges().len())
            .map(|e| edge_stencil(topology, triangles, e))
            .collect();
        Self {
            rings: Rows::group(vertices, pairs),
            betas,
            edges,
        }
    }

    fn vertex_count(&self) -> usize {
        self.betas.len() + self.edges.len()
    }

    fn apply(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut refined = vec![DVec3::ZERO; self.vertex_count()];
        self.apply_into(positions, &mut refined);
        refined
    }

    fn apply_into(&self, positions: &[DVec3], refined: &mut [DVec3]) {
        let (old, new) = refined.split_at_mut(self.betas.len());
        // Both at once: threads that finish one part take from the other.
        parallel::join(
            || self.move_old(positions, old),
            || self.place_new(positions, new),
        );
    }

    fn move_old(&self, positions: &[DVec3], old: &mut [DVec3]) {
        parallel::for_each_chunk_mut(old, VERTICES_PER_TASK, |start, chunk| {
            for (k, out) in chunk.iter_mut().enumerate() {
                let ring = self.rings.row(start + k);
                let sum: DVec3 = ring.iter().map(|&v| positions[v as usize]).sum();
                let beta = self.betas[start + k];
                *out = positions[start + k] * (1.0 - ring.len() as f64 * beta) + sum * beta;
            }
        });
    }

    fn place_new(&self, positions: &[DVec3], new: &mut [DVec3]) {
        parallel::for_each_chunk_mut(new, VERTICES_PER_TASK, |start, chunk| {
            for (out, stencil) in chunk.iter_mut().zip(&self.edges[start..]) {
                let [a, b, c, d] = stencil.map(|v| positions[v as usize]);
                *out = (a + b) * 0.375 + (c + d) * 0.125;
            }
        });
    }

    fn matrix(&self) -> SparseMatrix {
        // Rows of old vertices first, then one row for each edge.
        let old = (0..self.betas.len()).flat_map(|v| {
            let ring = self.rings.row(v);
            let beta = self.betas[v];
            let own = (v as u32, v as u32, 1.0 - ring.len() as f64 * beta);
            std::iter::once(own).chain(ring.iter().map(move |&w| (v as u32, w, beta)))
        });

        let new = self
            .edges
            .iter()
            .enumerate()
            .flat_map(|(e, &[a, b, c, d])| {
                let row = (self.betas.len() + e) as u32;
                [
                    (row, a, 0.375),
                    (row, b, 0.375),
                    (row, c, 0.125),
                    (row, d, 0.125),
                ]
            });

        SparseMatrix::from_triplets(
            self.vertex_count(),
            self.betas.len(),
            &old.chain(new).collect::<Vec<_>>(),
        )
    }
}

/// For each vertex its neighbours over edges with another number of triangles than two.
fn crease_neighbors(topology: &Topology) -> Rows {
    let is_crease = |edge: usize| topology.edge_triangles().row(edge).len() != 2;
    let creases = (0..topology.edges().len())
        .filter(|&e| is_crease(e))
        .map(|e| topology.edges()[e]);
    let both_directions: Vec<(u32, u32)> = creases.flat_map(|[a, b]| [(a, b), (b, a)]).collect();
    Rows::group(
        topology.vertex_neighbors().len(),
        both_directions.into_iter(),
    )
}

fn edge_stencil(topology: &Topology, triangles: &[[u32; 3]], edge: usize) -> [u32; 4] {
    let [a, b] = topology.edges()[edge];
    let opposite = |t: u32| {
        triangles[t as usize]
            .into_iter()
            .find(|&v| v != a && v != b)
    };

    match topology.edge_triangles().row(edge) {
        &[s, t] => [a, b, opposite(s).unwrap_or(a), opposite(t).unwrap_or(b)],
        _ => [a, b, a, b],
    }
}

/// The mesh with one face per triangle, so that levels have one form of input.
fn triangulated(mesh: &Mesh) -> Result<Mesh, MeshError> {
    let corners = triangle_corners(mesh);

    // Without authored normals: they do not fit the refined surface.
    let mut builder = MeshBuilder {
        name: mesh.name().to_owned(),
        positions: mesh.positions().to_vec(),
        uv_layers: mesh
            .uv_layers()
            .iter()
            .map(|layer| gather_corners(layer, &corners))
            .collect(),
        colors: mesh.colors().to_vec(),
        groups: inherit(mesh.groups(), mesh.triangle_faces().iter().copied()),
        materials: inherit(mesh.materials(), mesh.triangle_faces().iter().copied()),
        material_library: mesh.material_library().to_vec(),
        ..Default::default()
    };

    for triangle in mesh.triangles().iter() {
        builder.push_face(triangle);
    }

    builder.build()
}

/// For each triangle of the fans its corners among the face corners.
fn triangle_corners(mesh: &Mesh) -> Vec<[usize; 3]> {
    let faces = (0..mesh.face_count()).map(|face| mesh.face_corners(face));
    faces
        .flat_map(|range| (range.start + 1..range.end - 1).map(move |k| [range.start, k, k + 1]))
        .collect()
}

fn gather_corners<T: Clone>(
    layer: &CornerLayer<T>,
    triangle_corners: &[[usize; 3]],
) -> CornerLayer<T> {
    let corners = triangle_corners
        .iter()
        .flatten()
        .map(|&corner| layer.corners[corner])
        .collect();
    CornerLayer {
        name: layer.name.clone(),
        values: layer.values.clone(),
        corners,
    }
}

fn inherit(labels: &FaceLabels, parents: impl Iterator<Item = u32>) -> FaceLabels {
    let of_face = if labels.of_face.is_empty() {
        Vec::new()
    } else {
        parents.map(|face| labels.of_face[face as usize]).collect()
    };
    FaceLabels {
        names: labels.names.clone(),
        of_face,
    }
}

/// Four triangles for each triangle of a triangle mesh: three at its corners, in order, then the
/// middle one.
fn split(mesh: &Mesh, positions: Vec<DVec3>) -> Result<Mesh, MeshError> {
    // Twelve corners for each triangle, counted with room to spare before any is made.
    let corners = mesh.triangles().len().saturating_mul(12);
    if corners >= u32::MAX as usize || positions.len() >= u32::MAX as usize {
        return Err(MeshError::TooLarge {
            what: "face corners after subdivision",
            count: corners,
        });
    }

    // Attributes are inherited from the triangle that a child lies in.
    let parents: Vec<u32> = (0..mesh.triangles().len())
        .flat_map(|t| std::iter::repeat_n(t as u32, children(mesh, t)))
        .collect();
    let mut builder = MeshBuilder {
        name: mesh.name().to_owned(),
        positions,
        uv_layers: mesh
            .uv_layers()
            .iter()
            .map(|layer| split_corners(mesh, layer))
            .collect(),
        colors: mesh
            .colors()
            .iter()
            .map(|layer| split_colors(mesh.topology(), layer))
            .collect(),
        groups: inherit(mesh.groups(), parents.iter().copied()),
        materials: inherit(mesh.materials(), parents.iter().copied()),
        material_library: mesh.material_library().to_vec(),
        ..Default::default()
    };

    // The new vertex of edge `e` has the index `old + e`.
    let old = mesh.vertex_count() as u32;
    for (&corners, &edges) in mesh
        .triangles()
        .iter()
        .zip(mesh.topology().triangle_edges())
    {
        if edges[0] == Topology::NONE {
            builder.push_face(&corners);
        } else {
            for child in quarter(corners, edges.map(|e| old + e)).iter() {
                builder.push_face(child);
            }
        }
    }

    builder.build()
}

fn children(mesh: &Mesh, triangle: usize) -> usize {
    if mesh.topology().triangle_edges()[triangle][0] == Topology::NONE {
        1
    } else {
        4
    }
}

/// Four triangles from the corners `a, b, c` and the midpoints of `ab`, `bc`, `ca`.
fn quarter<T: Copy>([a, b, c]: [T; 3], [ab, bc, ca]: [T; 3]) -> [[T; 3]; 4] {
    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
}

fn split_corners<T: Copy + Add<Output = T> + Mul<f64, Output = T>>(
    mesh: &Mesh,
    layer: &CornerLayer<T>,
) -> CornerLayer<T> {
    let mut values = layer.values.clone();
    // Triangles that share both values of an edge share its middle; across a seam they differ.
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut middle = |i: Option<u32>, j: Option<u32>| {
        let (i, j) = (i?, j?);
        Some(*middles.entry([i.min(j), i.max(j)]).or_insert_with(|| {
            values.push((values[i as usize] + values[j as usize]) * 0.5);
            values.len() as u32 - 1
        }))
    };

    let mut corners = Vec::with_capacity(4 * layer.corners.len());
    for (t, triple) in layer.corners.as_chunks::<3>().0.iter().enumerate() {
        let &[a, b, c] = triple;

        // A triangle that repeats a vertex is not split.
        if children(mesh, t) == 1 {
            corners.extend([a, b, c]);
        } else {
            corners.extend(
                quarter([a, b, c], [middle(a, b), middle(b, c), middle(c, a)]).as_flattened(),
            );
        }
    }

    CornerLayer {
        name: layer.name.clone(),
        values,
        corners,
    }
}

fn split_colors<T: Copy + Add<Output = T> + Mul<f64, Output = T>>(
    topology: &Topology,
    layer: &VertexLayer<T>,
) -> VertexLayer<T> {
    let middles = topology
        .edges()
        .iter()
        .map(|&[a, b]| (layer.values[a as usize] + layer.values[b as usize]) * 0.5);
    VertexLayer {
        name: layer.name.clone(),
        values: layer.values.iter().copied().chain(middles).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;
    use crate::test_shapes::{grid, irregular_torus, random_points};
    use glam::DVec2;

    fn assert_near(a: &[DVec3], b: &[DVec3], tolerance: f64) {
        assert_eq!(a.len(), b.len());
        let worst = a
            .iter()
            .zip(b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(worst <= tolerance, "{worst} > {tolerance}");
    }

    #[test]
    fn counts_follow_from_euler() {
        for mesh in [icosphere(0), grid(5, 4), irregular_torus(9, 7)] {
            let v = mesh.vertex_count();
            let e = mesh.topology().edges().len();
            let t = mesh.triangles().len();
            let fine = LoopSubdivision::of(&mesh).unwrap();
            let fine = fine.mesh();

            assert_eq!(
                (fine.vertex_count(), fine.triangles().len()),
                (v + e, 4 * t)
            );
            assert_eq!(fine.topology().edges().len(), 2 * e + 3 * t);
            assert_eq!(
                fine.topology().boundary_loops().len(),
                mesh.topology().boundary_loops().len()
            );

            assert_eq!(fine.topology().flipped_edges().count(), 0);
        }
    }

    #[test]
    fn a_regular_vertex_has_one_sixteenth_of_each_neighbour_by_either_rule() {
        for weights in [LoopWeights::Loop, LoopWeights::Warren] {
            assert!(
                (weights.beta(6) - 1.0 / 16.0).abs() < 4.0 * f64::EPSILON,
                "{weights:?}"
            );
            assert!(
                (weights.beta(3) - 3.0 / 16.0).abs() < 4.0 * f64::EPSILON,
                "{weights:?}"
            );
        }
    }

    #[test]
    fn every_row_sums_to_one_and_has_no_negative_weight() {
        let matrix = LoopSubdivision::levels(&irregular_torus(11, 8), 2)
            .unwrap()
            .matrix();

        assert!(
            matrix
                .row_sums()
                .iter()
                .all(|sum| (sum - 1.0).abs() < 16.0 * f64::EPSILON)
        );

        assert!(matrix.values().iter().all(|&value| value >= 0.0));
    }

    #[test]
    fn planes_stay_planes_and_affine_maps_commute() {
        let mesh = grid(6, 5);
        let subdivision = LoopSubdivision::levels(&mesh, 2).unwrap();
        assert!(
            subdivision
                .mesh()
                .positions()
                .iter()
                .all(|p| p.z.abs() < 1e-15)
        );

        let map = |p: DVec3| {
            DVec3::new(p.x + 2.0 * p.y - p.z, 3.0 * p.z - p.x, 0.5 * p.y)
                + DVec3::new(1.0, -2.0, 4.0)
        };
        let pose = random_points(7, mesh.vertex_count());
        let mapped: Vec<DVec3> = pose.iter().map(|&p| map(p)).collect();
        let refined: Vec<DVec3> = subdivision.apply(&pose).into_iter().map(map).collect();

        assert_near(&subdivision.apply(&mapped), &refined, 1e-14);
    }

    #[test]
    fn stencils_and_matrix_agree_on_any_pose() {
        for mesh in [grid(7, 3), irregular_torus(9, 8)] {
            let pose = random_points(3, mesh.vertex_count());
            for levels in 0..3 {
                let subdivision = LoopSubdivision::levels(&mesh, levels).unwrap();
                assert_near(
                    &subdivision.apply(&pose),
                    &subdivision.matrix().multiply(&pose),
                    1e-14,
                );
            }
        }
    }

    #[test]
    fn two_levels_equal_one_level_applied_twice() {
        let mesh = irregular_torus(8, 6);
        let two = LoopSubdivision::levels(&mesh, 2).unwrap();
        let first = LoopSubdivision::of(&mesh).unwrap();
        let second = LoopSubdivision::of(first.mesh()).unwrap();
        assert_eq!(two.mesh().positions(), second.mesh().positions());
        assert!(two.mesh().same_surface(first.then().unwrap().mesh()));
    }

    #[test]
    fn the_refined_boundary_does_not_depend_on_inner_vertices() {
        let mesh = grid(6, 6);
        let subdivision = LoopSubdivision::levels(&mesh, 3).unwrap();
        let rim: Vec<u32> = mesh.topology().boundary_loops().concat();
        let moved: Vec<DVec3> = (0..mesh.vertex_count())
            .map(|v| {
                mesh.positions()[v]
                    + if rim.contains(&(v as u32)) {
                        DVec3::ZERO
                    } else {
                        DVec3::Z
                    }
            })
            .collect();

        let before = subdivision.apply(mesh.positions());
        let after = subdivision.apply(&moved);

        for v in subdivision.mesh().topology().boundary_loops().concat() {
            assert_eq!(before[v as usize], after[v as usize]);
        }
    }

    /// The limit of an inner vertex is the average of itself, weighing `3 / (8β)`, and its ring.
    #[test]
    fn vertices_tend_to_their_closed_form_limit() {
        let mesh = irregular_torus(6, 5);
        let refined = LoopSubdivision::levels(&mesh, 6)
            .unwrap()
            .apply(mesh.positions());

        for v in 0..mesh.vertex_count() {
            let ring = mesh.topology().vertex_neighbors().row(v);
            let own = 3.0 / (8.0 * LoopWeights::Loop.beta(ring.len()));
            let sum: DVec3 = ring.iter().map(|&w| mesh.positions()[w as usize]).sum();
            let limit = (mesh.positions()[v] * own + sum) / (own + ring.len() as f64);

            // The slowest part of the error shrinks by 5/8 − nβ ≤ 2/5 in each level.
            assert!(
                refined[v].distance(limit) < 0.4_f64.powi(6) * 4.0,
                "vertex {v}: {}",
                refined[v].distance(limit)
            );
        }
    }

    #[test]
    fn seams_labels_and_colours_are_carried_to_the_refined_mesh() {
        let mut builder = grid(2, 1).to_builder();
        let (faces, corners) = (builder.face_sizes.len(), builder.corners.len());

        // Every face has UVs of its own: all edges but the fans' diagonals are seams.
        let values: Vec<DVec2> = (0..corners)
            .map(|k| DVec2::new(k as f64, (k * k) as f64))
            .collect();

        builder.uv_layers = vec![CornerLayer {
            name: "map".into(),
            values,
            corners: (0..corners as u32).map(Some).collect(),
        }];
        builder.materials =
            FaceLabels::from_names((0..faces).map(|f| if f == 0 { "left" } else { "right" }));

        builder.colors = vec![VertexLayer {
            name: String::new(),
            values: builder.positions.iter().map(|p| p.extend(1.0)).collect(),
        }];

        let mesh = builder.build().unwrap();
        let fine = LoopSubdivision::of(&mesh).unwrap();
        let fine = fine.mesh();
        let layer = &fine.uv_layers()[0];

        assert_eq!(layer.values.len(), corners + 5 * faces);
        for t in 0..fine.triangles().len() {
            let parent = mesh.triangle_faces()[t / 4] as usize;
            assert_eq!(fine.materials().of(t), mesh.materials().of(parent));
        }

        // The middle triangle of the first triangle lies between its corners' UVs.
        let uv = |corner: usize| layer.values[layer.corners[corner].unwrap() as usize];
        assert_eq!(uv(9), (uv(0) + uv(4)) * 0.5);

        let edge = mesh.topology().edges()[0];
        let expected =
            (mesh.positions()[edge[0] as usize] + mesh.positions()[edge[1] as usize]) * 0.5;

        assert_eq!(
            fine.colors()[0].values[mesh.vertex_count()],
            expected.extend(1.0)
        );
    }

    #[test]
    fn a_vertex_with_a_hundred_neighbours_follows_the_same_rule() {
        let count = 100;
        let ring = (0..count)
            .map(|k| DVec2::from_angle(TAU * f64::from(k) / f64::from(count)).extend(0.3));

        // Two cones on one ring, so that nothing is a boundary.
        let positions: Vec<DVec3> = ring.chain([DVec3::ZERO, DVec3::Z]).collect();
        let sides = (0..count).map(|k| (k, (k + 1) % count));
        let triangles: Vec<[u32; 3]> = sides
            .flat_map(|(i, j)| [[j, i, count], [i, j, count + 1]])
            .collect();

        let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
        let subdivision = LoopSubdivision::of(&mesh).unwrap();
        let beta = LoopWeights::Loop.beta(100);
        let expected = DVec3::Z * 0.3 * 100.0 * beta;

        assert!(subdivision.mesh().positions()[count as usize].distance(expected) < 1e-14);
        assert_near(
            subdivision.mesh().positions(),
            &subdivision.matrix().multiply(mesh.positions()),
            1e-14,
        );
    }

    #[test]
    fn non_manifold_and_degenerate_meshes_are_refined() {
        let positions = random_points(5, 8);

        // Three triangles on one edge, a triangle that repeats a vertex, one unused vertex.
        let mesh = Mesh::from_triangles(
            positions.clone(),
            &[[0, 1, 2], [1, 0, 3], [0, 1, 4], [5, 5, 6]],
        )
        .unwrap();

        let subdivision = LoopSubdivision::levels(&mesh, 2).unwrap();
        let fine = subdivision.mesh();
        assert_eq!(fine.triangles().len(), 3 * 16 + 1);
        assert_eq!(&fine.positions()[5..8], &positions[5..8]);
        assert!(fine.positions().iter().all(|p| p.is_finite()));

        // The common edge is a crease: the new vertex is its midpoint.
        let middle = mesh.vertex_count() + mesh.topology().edge_between(0, 1).unwrap();
        let once = LoopSubdivision::of(&mesh).unwrap();

        assert!(
            once.mesh().positions()[middle].distance((positions[0] + positions[1]) * 0.5) < 1e-15
        );

        let empty = Mesh::from_triangles(Vec::new(), &[]).unwrap();
        assert_eq!(
            LoopSubdivision::levels(&empty, 3).unwrap().apply(&[]),
            Vec::new()
        );
    }
}
