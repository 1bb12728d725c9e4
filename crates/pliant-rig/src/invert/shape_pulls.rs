//! How strongly each frame pulls at each shape: the only pass over whole meshes.
//!
//! **Problem.** A clip has hundreds of frames, a rig a million displacements; read once for every
//! frame they are a matter of memory, not of arithmetic.
//!
//! **Equation.** `hₛₜ = Σᵥ aᵥ δₛᵥ · dₜᵥ` and `cₜ = Σᵥ aᵥ |dₜᵥ|²` with `dₜ = yₜ − x₀`: a sparse
//! matrix times a matrix whose columns are the frames.
//!
//! **Ours.** Eight frames go together, and the last four or fewer by fours. The vertices are cut
//! into blocks; a block of eight frames stays in the cache while every shape's run of displacements
//! in it streams by once, with the eight sums in registers. Blocks are added in order.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};

use crate::Rig;

/// Frames that share one pass.
const FRAMES: usize = 8;
/// Frames in the pass of a rest that is not longer.
const FEW_FRAMES: usize = 4;
/// Vertices in a block: 96 KiB of eight frames. Places inside it fit a `u16`.
const BLOCK: usize = 512;

/// The coordinates of one vertex in the `N` frames of a pass: `x` of each, then `y`, then `z`.
type Row<const N: usize> = [[f64; N]; 3];

/// A rig's displacements block by block, shapes ascending.
#[derive(Debug)]
pub(super) struct ShapePulls {
    shape_count: usize,
    neutral: Vec<DVec3>,
    areas: Vec<f64>,
    /// The runs of block `b` are `blocks[b]..blocks[b + 1]`.
    blocks: Vec<usize>,
    runs: Vec<Run>,
    places: Vec<u16>,
    deltas: Vec<Vec3>,
}

/// One shape's displacements in one block.
#[derive(Debug, Clone, Copy)]
struct Run {
    shape: u32,
    start: u32,
    end: u32,
}

/// What a frame asks of the shapes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pull {
    /// `h`, one for each shape.
    pub(super) of_shapes: Vec<f64>,
    /// `c`: the mean square displacement.
    pub(super) energy: f64,
}

impl ShapePulls {
    pub(super) fn of(rig: &Rig, areas: &[f64]) -> Self {
        let block_count = areas.len().div_ceil(BLOCK);
        let mut entries: Vec<Vec<(u32, u16, Vec3)>> = vec![Vec::new(); block_count];
        for (shape, (vertices, deltas)) in rig.shapes().enumerate() {
            for (&vertex, &delta) in vertices.iter().zip(deltas) {
                entries[vertex as usize / BLOCK].push((
                    shape as u32,
                    (vertex as usize % BLOCK) as u16,
                    delta,
                ));
            }
        }
        let mut pulls = Self {
            shape_count: rig.activation().shape_count(),
            neutral: rig.neutral().positions().to_vec(),
            areas: areas.to_vec(),
            blocks: vec![0],
            runs: Vec::new(),
            places: Vec::new(),
            deltas: Vec::new(),
        };
        entries.iter().for_each(|block| pulls.push_block(block));
        pulls
    }

    fn push_block(&mut self, entries: &[(u32, u16, Vec3)]) {
        for run in entries.chunk_by(|a, b| a.0 == b.0) {
            let start = self.places.len() as u32;
            self.runs.push(Run {
                shape: run[0].0,
                start,
                end: start + run.len() as u32,
            });
            self.places.extend(run.iter().map(|entry| entry.1));
            self.deltas.extend(run.iter().map(|entry| entry.2));
        }
        self.blocks.push(self.runs.len());
    }

    /// The pull of each frame; every frame has one position per vertex.
    pub(super) fn of_frames(&self, frames: &[&[DVec3]]) -> Vec<Pull> {
        let pass = |frames: &[&[DVec3]]| match frames.len() {
            ..=FEW_FRAMES => self.of_pass::<FEW_FRAMES>(frames),
            _ => self.of_pass::<FRAMES>(frames),
        };
        frames.chunks(FRAMES).flat_map(pass).collect()
    }

    /// The pulls of up to `N` frames.
    fn of_pass<const N: usize>(&self, frames: &[&[DVec3]]) -> Vec<Pull> {
        let parts = parallel::map(self.blocks.len() - 1, 1, |block| {
            self.of_block::<N>(block, frames)
        });
        let mut pulls = vec![
            Pull {
                of_shapes: vec![0.0; self.shape_count],
                energy: 0.0
            };
            frames.len()
        ];
        for (block, (sums, energies)) in parts.iter().enumerate() {
            for (frame, pull) in pulls.iter_mut().enumerate() {
                pull.energy += energies[frame];
                for (run, sum) in self.runs[self.blocks[block]..self.blocks[block + 1]]
                    .iter()
                    .zip(sums)
                {
                    pull.of_shapes[run.shape as usize] += sum[frame];
                }
            }
        }
        pulls
    }

    /// For each run of a block its sums, and the block's energies.
    fn of_block<const N: usize>(
        &self,
        block: usize,
        frames: &[&[DVec3]],
    ) -> (Vec<[f64; N]>, [f64; N]) {
        let vertices = block * BLOCK..self.areas.len().min((block + 1) * BLOCK);
        let mut rows: Vec<Row<N>> = vec![[[0.0; N]; 3]; vertices.len()];
        let mut energies = [0.0; N];
        for (frame, positions) in frames.iter().enumerate() {
            for (row, v) in rows.iter_mut().zip(vertices.clone()) {
                let moved = positions[v] - self.neutral[v];
                let scaled = moved * self.areas[v];
                energies[frame] += scaled.dot(moved);
                (0..3).for_each(|axis| row[axis][frame] = scaled[axis]);
            }
        }
        let runs = self.runs[self.blocks[block]..self.blocks[block + 1]].iter();
        let sums = runs.map(|run| {
            let range = run.start as usize..run.end as usize;
            sum_run(&self.places[range.clone()], &self.deltas[range], &rows)
        });
        (sums.collect(), energies)
    }
}

fn sum_run<const N: usize>(places: &[u16], deltas: &[Vec3], rows: &[Row<N>]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (&place, delta) in places.iter().zip(deltas) {
        let [row_x, row_y, row_z] = &rows[place as usize];
        let [x, y, z] = delta.to_array().map(f64::from);
        for frame in 0..N {
            sums[frame] += x * row_x[frame] + y * row_y[frame] + z * row_z[frame];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn pulls_are_the_plain_sums_whatever_block_and_pass_a_vertex_and_a_frame_fall_into() {
        let sheet = bumpy_sheet(30, 0.2);
        let at = |k: usize, v: usize, p: DVec3| {
            if v.is_multiple_of(k + 2) {
                (p * k as f64).as_vec3()
            } else {
                Vec3::ZERO
            }
        };
        let wave = |k: usize| {
            sheet
                .positions()
                .iter()
                .enumerate()
                .map(move |(v, p)| at(k, v, *p))
        };
        let targets = (0..5)
            .map(|k| Target::from_dense(format!("{k}"), wave(k)))
            .collect();
        let rig = Rig::new(sheet.clone(), targets).unwrap();
        let areas: Vec<f64> = (0..sheet.vertex_count())
            .map(|v| 1.0 + (v % 7) as f64)
            .collect();
        assert!(areas.len() > BLOCK, "several blocks");
        let frames: Vec<Vec<DVec3>> = (0..2 * FRAMES + 3)
            .map(|t| {
                sheet
                    .positions()
                    .iter()
                    .map(|p| *p + DVec3::new(p.y, t as f64, p.x * p.y))
                    .collect()
            })
            .collect();
        let borrowed: Vec<&[DVec3]> = frames.iter().map(Vec::as_slice).collect();
        let pulls = ShapePulls::of(&rig, &areas).of_frames(&borrowed);
        for (frame, pull) in frames.iter().zip(&pulls) {
            let moved: Vec<DVec3> = frame
                .iter()
                .zip(sheet.positions())
                .map(|(y, x)| *y - *x)
                .collect();
            for (shape, (vertices, deltas)) in rig.shapes().enumerate() {
                let plain: f64 = vertices
                    .iter()
                    .zip(deltas)
                    .map(|(&v, d)| areas[v as usize] * d.as_dvec3().dot(moved[v as usize]))
                    .sum();
                assert!((pull.of_shapes[shape] - plain).abs() <= 1e-12 * plain.abs().max(1.0));
            }
            let energy: f64 = moved
                .iter()
                .zip(&areas)
                .map(|(d, a)| a * d.length_squared())
                .sum();
            assert!((pull.energy - energy).abs() <= 1e-12 * energy);
        }
    }
}
