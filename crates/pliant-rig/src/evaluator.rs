//! Positions and normals of a rig at the speed of a hand on a slider.
//!
//! **Problem.** While sliders move, every vertex is the sum of dozens of sparse shapes; a frame
//! leaves about a millisecond for all of them and the normals.
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
//! **Ours.** Shapes are cut into *tiles* of four consecutive vertices, and the pieces are stored
//! tile by tile, shapes ascending: the sum of a tile stays in registers, its pieces come from
//! memory in one stream, and vertices that a shape skips inside a tile cost a product with zero
//! instead of an index and a branch. A vertex's terms are added in `f64` in the order of the
//! shapes, as [`Rig::evaluate`](crate::Rig::evaluate) adds them. After a change the touched
//! tiles are summed again from the neutral, never by differences, so a drag of any length leaves no
//! drift.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Mesh, VertexNormals};

/// Consecutive vertices in a tile; divides [`BLOCK`]. Measured (`evaluate` bench): two are a third
/// slower, eight are no faster and store more zeros.
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

/// A rig's shapes, laid out for evaluation; made once per rig.
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
    /// The blocks that the latest update moved; kept to spare an allocation.
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
    /// declines such shapes.
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
            let mut touched = vec![false; neutral.vertex_count().div_ceil(BLOCK)];
            for (&vertex, delta) in vertices.iter().zip(deltas) {
                assert!(
                    (vertex as usize) < neutral.vertex_count(),
                    "shape {shape} moves vertices of the mesh only"
                );
                touched[vertex as usize / BLOCK] = true;
                place(
                    &mut tiles[vertex as usize / TILE],
                    shape as u32,
                    vertex as usize % TILE,
                    *delta,
                );
            }
            touches.push(touched);
        }
        let mut starts = vec![0];
        starts.extend(tiles.iter().scan(0, |end, pieces| {
            *end += pieces.len() as u32;
            Some(*end)
        }));
        let (piece_shapes, piece_deltas) = tiles.into_iter().flatten().unzip();
        Self {
            neutral: neutral.clone(),
            starts,
            piece_shapes,
            piece_deltas,
            touches,
        }
    }

    /// How many shapes there are.
    #[must_use]
    pub fn shape_count(&self) -> usize {
        self.touches.len()
    }

    /// Vertex positions with one coefficient for each shape; missing ones count as zero.
    ///
    /// Equal to the sum of the shapes one after the other, but for the sign of a zero: where the
    /// neutral holds `-0.0`, the result may be `+0.0`. A coefficient that is not finite spoils
    /// whole tiles.
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

    /// Moves `pose`, which this evaluator started, to `coefficients`; missing ones count as zero.
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
        let EvaluatedPose {
            coefficients: current,
            positions,
            normals,
            moved,
        } = pose;
        moved.fill(false);
        for (shape, current) in current.iter_mut().enumerate() {
            let wanted = coefficients.get(shape).copied().unwrap_or(0.0);
            if wanted.to_bits() != current.to_bits() {
                *current = wanted;
                moved
                    .iter_mut()
                    .zip(&self.touches[shape])
                    .for_each(|(moved, touched)| *moved |= touched);
            }
        }
        if !moved.contains(&true) {
            return;
        }
        self.sum_blocks(current, positions, |block| moved[block]);
        normals.update(&self.neutral, positions, moved);
    }

    fn sum_blocks(
        &self,
        coefficients: &[f64],
        positions: &mut [DVec3],
        wanted: impl Fn(usize) -> bool + Sync + Send,
    ) {
        assert_eq!(
            positions.len(),
            self.neutral.vertex_count(),
            "one position per vertex"
        );
        parallel::for_each_chunk_mut(positions, VERTICES_PER_TASK, |start, task| {
            for (k, block) in task
                .chunks_mut(BLOCK)
                .enumerate()
                .filter(|(k, _)| wanted(start / BLOCK + k))
            {
                let first_tile = (start + k * BLOCK) / TILE;
                block
                    .chunks_mut(TILE)
                    .enumerate()
                    .for_each(|(k, tile)| self.sum_tile(first_tile + k, coefficients, tile));
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

/// Writes one displacement into the last piece of a tile, or opens a piece where that one is taken.
fn place(pieces: &mut Vec<(u32, [f32; LANES])>, shape: u32, corner: usize, delta: Vec3) {
    let lanes = 3 * corner..3 * corner + 3;
    // A vertex that a shape lists twice gets both displacements, as in the plain sum.
    let open = pieces
        .last()
        .is_some_and(|(last, deltas)| *last == shape && deltas[lanes.clone()] == [0.0; 3]);
    if !open {
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
        fn a_drag_ends_with_the_bits_of_its_last_pose_alone(rig in rigs(), drag in prop::collection::vec(coefficients(), 1..6)) {
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
    fn what_no_changed_shape_moves_is_left_alone() {
        let neutral = shapes::bumpy_sheet(40, 0.2);
        let evaluator = Evaluator::new(&neutral, [([0_u32].as_slice(), [Vec3::Z].as_slice())]);
        let mut pose = evaluator.start();
        pose.positions.fill(DVec3::NAN);
        evaluator.update(&mut pose, &[1.0]);
        assert_eq!(pose.positions.iter().filter(|p| !p.is_nan()).count(), BLOCK);
    }

    #[test]
    fn every_large_pose_is_the_plain_sum_whatever_tasks_it_is_cut_into() {
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
