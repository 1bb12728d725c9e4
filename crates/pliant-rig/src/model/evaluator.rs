//! Fast incremental evaluation of positions and normals of a rig.
//!
//! **Problem.** Every vertex is the sum of dozens of sparse shapes; while a user moves a slider, a
//! frame leaves about a millisecond for all of them and the normals.
//!
//! **Equation.** With a coefficient `c` for each shape `δ` and the area vectors `a` of the
//! triangles around a vertex:
//!
//! ```text
//! x_v = x⁰_v + Σₛ cₛ δₛᵥ        n_v = Σ aₜ / |Σ aₜ|
//! ```
//!
//! **Source.** Lewis and Anjyo, "Direct manipulation blendshapes", 2010, eq. 1, in delta form;
//! [`VertexNormals`].
//!
//! **Implementation.** Shapes are cut into *tiles* of four consecutive vertices, and the pieces are
//! stored tile by tile, shapes ascending: the sum of a tile stays in registers, its pieces come
//! from memory in one stream, and vertices that a shape skips inside a tile cost a product with
//! zero instead of an index and a branch. The terms of a vertex are added in `f64` in the order of
//! the shapes, as in [`Rig::evaluate`](crate::Rig::evaluate). After a change, the affected tiles
//! are summed again from the neutral, never by differences, so that no drift accumulates.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Mesh, VertexNormals};

/// Consecutive vertices in a tile; divides [`BLOCK`]. *Measured* (`evaluate` bench): two are a
/// third slower, eight are no faster and store more zeros.
const TILE: usize = 4;
/// Coordinates in a tile.
const LANES: usize = 3 * TILE;
/// Vertices that are summed again together when a shape that moves one of them changes.
const BLOCK: usize = VertexNormals::BLOCK;
/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1024;
const _: () = assert!(
    VERTICES_PER_TASK.is_multiple_of(BLOCK) && BLOCK.is_multiple_of(TILE),
    "tiles, blocks and tasks nest"
);

/// The shapes of a rig in a layout for fast evaluation; built once per rig.
#[derive(Debug, Clone)]
pub struct Evaluator {
    neutral: Mesh,
    /// The pieces of tile `t` are `starts[t]..starts[t + 1]`.
    starts: Vec<u32>,
    /// The shape of each piece, ascending within a tile.
    piece_shapes: Vec<u32>,
    /// The displacements of each piece, `x, y, z` of one vertex after the other; zero where the
    /// shape moves nothing.
    piece_deltas: Vec<[f32; LANES]>,
    /// For each shape and block of vertices, whether it moves one of them.
    touches: Vec<Vec<bool>>,
}

/// A pose that an [`Evaluator`] keeps up to date.
#[derive(Debug, Clone)]
pub struct EvaluatedPose {
    coefficients: Vec<f64>,
    positions: Vec<DVec3>,
    normals: VertexNormals,
    /// The blocks that the latest update moved; kept to avoid an allocation.
    moved: Vec<bool>,
}

impl EvaluatedPose {
    /// The coefficient of each shape.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The position of each vertex.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// The unit normal of each vertex, weighted by area; zero at unused vertices.
    #[must_use]
    pub fn normals(&self) -> &[DVec3] {
        self.normals.as_slice()
    }
}

impl Evaluator {
    /// Lays out `shapes`, each the vertices it moves and their displacements at coefficient 1.
    ///
    /// # Panics
    /// If a shape moves a vertex that `neutral` does not have; [`Rig::new`](crate::Rig::new)
    /// returns an error for such shapes.
    #[must_use]
    pub fn new<'a>(
        neutral: &Mesh,
        shapes: impl IntoIterator<Item = (&'a [u32], &'a [Vec3])>,
    ) -> Self {
        let mut tiles = vec![Vec::new(); neutral.vertex_count().div_ceil(TILE)];
        let mut touches = Vec::new();
        for (shape, (vertices, deltas)) in shapes.into_iter().enumerate() {
            assert_eq!(
                vertices.len(),
                deltas.len(),
                "one displacement for each vertex that shape {shape} moves"
            );

            // Each displacement goes to its tile; its block is marked.
            let mut touched = vec![false; neutral.vertex_count().div_ceil(BLOCK)];
            for (&vertex, delta) in vertices.iter().zip(deltas) {
                assert!(
                    (vertex as usize) < neutral.vertex_count(),
                    "shape {shape} moves vertices of the mesh only"
                );
                touched[vertex as usize / BLOCK] = true;
                insert_displacement(
                    &mut tiles[vertex as usize / TILE],
                    shape as u32,
                    vertex as usize % TILE,
                    *delta,
                );
            }

            touches.push(touched);
        }

        // Concatenate the tiles.
        let mut starts = vec![0];
        let mut end = 0;
        for pieces in &tiles {
            end += pieces.len() as u32;
            starts.push(end);
        }

        let (piece_shapes, piece_deltas) = tiles.into_iter().flatten().unzip();
        Self {
            neutral: neutral.clone(),
            starts,
            piece_shapes,
            piece_deltas,
            touches,
        }
    }

    /// The number of shapes.
    #[must_use]
    pub fn shape_count(&self) -> usize {
        self.touches.len()
    }

    /// Vertex positions with one coefficient for each shape; missing ones count as zero.
    ///
    /// Equal to the sum of the shapes one after the other, except for the sign of a zero: where the
    /// neutral holds `-0.0`, the result may be `+0.0`. A coefficient that is not finite makes whole
    /// tiles not finite.
    ///
    /// # Panics
    /// If there is not one position per vertex.
    pub fn positions_into(&self, coefficients: &[f64], positions: &mut [DVec3]) {
        self.sum_blocks(coefficients, positions, |_| true);
    }

    /// The neutral pose, ready to be moved by [`Evaluator::update`].
    #[must_use]
    pub fn start(&self) -> EvaluatedPose {
        EvaluatedPose {
            coefficients: vec![0.0; self.shape_count()],
            positions: self.neutral.positions().to_vec(),
            normals: VertexNormals::new(&self.neutral),
            moved: vec![false; self.neutral.vertex_count().div_ceil(BLOCK)],
        }
    }

    /// Updates `pose`, which this evaluator created, to `coefficients`; missing ones count as zero.
    ///
    /// The cost is that of the blocks of vertices that the changed shapes touch, with all their
    /// shapes. Positions have the bits of [`Evaluator::positions_into`] and normals those of
    /// [`vertex_normals`](pliant_mesh::vertex_normals), whatever the path to this pose. Does
    /// not allocate.
    ///
    /// # Panics
    /// If `pose` is of a rig with other numbers of vertices or shapes.
    pub fn update(&self, pose: &mut EvaluatedPose, coefficients: &[f64]) {
        assert_eq!(
            pose.coefficients.len(),
            self.shape_count(),
            "a pose that this evaluator started"
        );

        // Mark the blocks that a changed shape touches.
        pose.moved.fill(false);
        for (shape, current) in pose.coefficients.iter_mut().enumerate() {
            let new = coefficients.get(shape).copied().unwrap_or(0.0);
            if new.to_bits() != current.to_bits() {
                *current = new;
                for (moved, touched) in pose.moved.iter_mut().zip(&self.touches[shape]) {
                    *moved |= touched;
                }
            }
        }
        if !pose.moved.contains(&true) {
            return;
        }

        let moved = &pose.moved;
        self.sum_blocks(&pose.coefficients, &mut pose.positions, |block| {
            moved[block]
        });
        pose.normals.update(&self.neutral, &pose.positions, moved);
    }

    /// Sums the blocks of vertices for which `selected` is true.
    fn sum_blocks(
        &self,
        coefficients: &[f64],
        positions: &mut [DVec3],
        selected: impl Fn(usize) -> bool + Sync + Send,
    ) {
        assert_eq!(
            positions.len(),
            self.neutral.vertex_count(),
            "one position per vertex"
        );
        parallel::for_each_chunk_mut(positions, VERTICES_PER_TASK, |start, task| {
            for (k, block) in task.chunks_mut(BLOCK).enumerate() {
                if !selected(start / BLOCK + k) {
                    continue;
                }
                // Tasks begin at blocks and blocks at tiles, since each size divides the one above.
                let first_tile = (start + k * BLOCK) / TILE;
                for (k, tile) in block.chunks_mut(TILE).enumerate() {
                    self.sum_tile(first_tile + k, coefficients, tile);
                }
            }
        });
    }

    fn sum_tile(&self, tile: usize, coefficients: &[f64], positions: &mut [DVec3]) {
        let mut sum = [0.0; LANES];
        for (sum, point) in sum
            .chunks_exact_mut(3)
            .zip(&self.neutral.positions()[tile * TILE..])
        {
            sum.copy_from_slice(&point.to_array());
        }

        // Shapes in ascending order, as in the plain sum.
        let pieces = self.starts[tile] as usize..self.starts[tile + 1] as usize;
        for (&shape, deltas) in self.piece_shapes[pieces.clone()]
            .iter()
            .zip(&self.piece_deltas[pieces])
        {
            let coefficient = coefficients.get(shape as usize).copied().unwrap_or(0.0);
            if coefficient != 0.0 {
                for lane in 0..LANES {
                    sum[lane] += f64::from(deltas[lane]) * coefficient;
                }
            }
        }

        for (point, sum) in positions.iter_mut().zip(sum.chunks_exact(3)) {
            *point = DVec3::from_slice(sum);
        }
    }
}

/// Writes one displacement into the last piece of a tile, or into a new piece if that one is taken.
fn insert_displacement(
    pieces: &mut Vec<(u32, [f32; LANES])>,
    shape: u32,
    corner: usize,
    delta: Vec3,
) {
    let lanes = 3 * corner..3 * corner + 3;

    // A vertex that a shape lists twice gets both displacements, as in the plain sum.
    let is_free = pieces
        .last()
        .is_some_and(|(last, deltas)| *last == shape && deltas[lanes.clone()] == [0.0; 3]);

    if !is_free {
        pieces.push((shape, [0.0; LANES]));
    }
    if let Some((_, deltas)) = pieces.last_mut() {
        deltas[lanes].copy_from_slice(&delta.to_array());
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::{shapes, vertex_normals};
    use proptest::prelude::*;

    use super::*;
    use crate::{Rig, Target};

    fn evaluator(rig: &Rig) -> Evaluator {
        Evaluator::new(
            rig.neutral(),
            rig.targets()
                .iter()
                .map(|t| (t.vertices.as_slice(), t.deltas.as_slice())),
        )
    }

    fn bits(points: &[DVec3]) -> Vec<[u64; 3]> {
        points
            .iter()
            .map(|p| p.to_array().map(f64::to_bits))
            .collect()
    }

    /// A sheet of 2 to 13 vertices a side and up to seven shapes, of which a third of the
    /// displacements is not zero.
    fn rigs() -> impl Strategy<Value = Rig> {
        (1_usize..13).prop_flat_map(|n| {
            let component = prop_oneof![Just(0.0_f32), -1.0_f32..1.0];
            let delta = prop_oneof![2 => Just(Vec3::ZERO), 1 => [component.clone(), component.clone(), component].prop_map(Vec3::from)];
            let target = prop::collection::vec(delta, (n + 1) * (n + 1));
            prop::collection::vec(target, 0..8).prop_map(move |targets| {
                let named = targets.into_iter().enumerate().map(|(k, deltas)| Target::from_dense(format!("{k}"), deltas));
                Rig::new(shapes::bumpy_sheet(n, 0.2), named.collect()).unwrap()
            })
        })
    }

    /// As many coefficients as there are shapes, fewer or more, some of them zero.
    fn coefficients() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(prop_oneof![Just(0.0), -2.0..2.0_f64], 0..9)
    }

    proptest! {
        #[test]
        fn positions_have_the_bits_of_the_plain_sum(rig in rigs(), coefficients in coefficients()) {
            let mut positions = vec![DVec3::NAN; rig.neutral().vertex_count()];
            evaluator(&rig).positions_into(&coefficients, &mut positions);
            prop_assert_eq!(bits(&positions), bits(&rig.evaluate(&coefficients)));
        }

        #[test]
        fn updates_end_with_the_bits_of_the_last_pose_alone(rig in rigs(), drag in prop::collection::vec(coefficients(), 1..6)) {
            let evaluator = evaluator(&rig);
            let mut pose = evaluator.start();
            for coefficients in &drag {
                evaluator.update(&mut pose, coefficients);
            }
            let alone = rig.neutral().posed(rig.evaluate(&drag[drag.len() - 1])).unwrap();
            prop_assert_eq!(bits(pose.positions()), bits(alone.positions()));
            prop_assert_eq!(bits(pose.normals()), bits(&vertex_normals(&alone)));
        }
    }

    #[test]
    fn blocks_that_no_changed_shape_moves_are_not_written() {
        let neutral = shapes::bumpy_sheet(40, 0.2);
        let evaluator = Evaluator::new(&neutral, [([0_u32].as_slice(), [Vec3::Z].as_slice())]);
        let mut pose = evaluator.start();
        pose.positions.fill(DVec3::NAN);
        evaluator.update(&mut pose, &[1.0]);
        assert_eq!(pose.positions.iter().filter(|p| !p.is_nan()).count(), BLOCK);
    }

    #[test]
    fn a_large_pose_is_the_plain_sum_whatever_the_number_of_tasks() {
        let neutral = shapes::bumpy_sheet(70, 0.2);
        let wave = |k: usize| {
            neutral
                .positions()
                .iter()
                .map(move |p| (*p * (k as f64 * p.x).sin()).as_vec3())
        };

        let targets = (0..5)
            .map(|k| Target::from_dense(format!("{k}"), wave(k)))
            .collect();
        let rig = Rig::new(neutral.clone(), targets).unwrap();
        let coefficients = [0.3, -0.7, 0.0, 1.9, 0.4];

        assert!(neutral.vertex_count() > 3 * VERTICES_PER_TASK);
        let mut positions = neutral.positions().to_vec();
        evaluator(&rig).positions_into(&coefficients, &mut positions);

        assert_eq!(bits(&positions), bits(&rig.evaluate(&coefficients)));
    }

    #[test]
    fn a_vertex_that_a_shape_lists_twice_moves_twice() {
        let triangle =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let evaluator = Evaluator::new(
            &triangle,
            [(
                [2_u32, 0, 2].as_slice(),
                [Vec3::X, Vec3::Y, Vec3::Z].as_slice(),
            )],
        );

        let mut positions = triangle.positions().to_vec();
        evaluator.positions_into(&[1.0], &mut positions);
        assert_eq!(positions, [DVec3::Y, DVec3::X, DVec3::ONE]);
    }

    #[test]
    fn a_mesh_without_vertices_or_shapes_has_a_pose() {
        let empty = Mesh::from_triangles(Vec::new(), &[]).unwrap();
        let evaluator = Evaluator::new(&empty, []);
        let mut pose = evaluator.start();
        evaluator.update(&mut pose, &[1.0]);
        assert!(
            pose.positions().is_empty()
                && pose.normals().is_empty()
                && pose.coefficients().is_empty()
        );
    }
}
