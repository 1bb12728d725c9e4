//! Projections of frames onto the shapes of a rig: the only pass over whole meshes.
//!
//! **Problem.** A clip has hundreds of frames, a rig a million displacements; if these are read
//! once for every frame, memory bandwidth is the limit, not arithmetic.
//!
//! **Equation.** `hₛₜ = Σᵥ aᵥ δₛᵥ · dₜᵥ` and `cₜ = Σᵥ aᵥ |dₜᵥ|²` with `dₜ = yₜ − n`: a sparse
//! matrix times a matrix whose columns are the frames. `a` is the measure of the fit (`noise`).
//!
//! **Implementation.** Eight frames are processed together, and a rest of at most four frames as
//! four. The vertices are divided into blocks; the eight frames of a block stay in the cache while
//! the displacements of every shape in it are read once, with the eight sums in registers. Blocks
//! are added in order.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Progress, Stopped};

use crate::Rig;

/// Frames that share one pass.
const FRAMES: usize = 8;
/// Frames in the pass of a rest that is not longer.
const FEW_FRAMES: usize = 4;
/// Vertices in a block: 96 KiB of eight frames. Offsets inside it fit a `u16`.
const BLOCK: usize = 512;

/// The coordinates of one vertex in the `N` frames of a pass: `x` of each, then `y`, then `z`.
type Row<const N: usize> = [[f64; N]; 3];

/// The displacements of a rig block by block, shapes ascending.
#[derive(Debug)]
pub(super) struct ShapeProjections {
    shape_count: usize,
    neutral: Vec<DVec3>,
    /// The runs of block `b` are `blocks[b]..blocks[b + 1]`.
    blocks: Vec<usize>,
    runs: Vec<Run>,
    offsets: Vec<u16>,
    deltas: Vec<Vec3>,
}

/// The displacements of one shape in one block.
#[derive(Debug, Clone, Copy)]
struct Run {
    shape: u32,
    start: u32,
    end: u32,
}

/// The projection of a frame onto the shapes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FrameProjection {
    /// `h`, one for each shape.
    pub(super) onto_shapes: Vec<f64>,
    /// `c`: the mean square displacement.
    pub(super) energy: f64,
}

impl ShapeProjections {
    pub(super) fn of(rig: &Rig) -> Self {
        // A block of vertices needs only the shapes that move one of them.
        let block_count = rig.neutral().vertex_count().div_ceil(BLOCK);
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

        let mut projections = Self {
            shape_count: rig.activation().shape_count(),
            neutral: rig.neutral().positions().to_vec(),
            blocks: vec![0],
            runs: Vec::new(),
            offsets: Vec::new(),
            deltas: Vec::new(),
        };

        for block in &entries {
            projections.push_block(block);
        }
        projections
    }

    fn push_block(&mut self, entries: &[(u32, u16, Vec3)]) {
        // Entries of one shape are consecutive.
        for run in entries.chunk_by(|a, b| a.0 == b.0) {
            let start = self.offsets.len() as u32;
            self.runs.push(Run {
                shape: run[0].0,
                start,
                end: start + run.len() as u32,
            });
            self.offsets.extend(run.iter().map(|entry| entry.1));
            self.deltas.extend(run.iter().map(|entry| entry.2));
        }
        self.blocks.push(self.runs.len());
    }

    /// The projection of each frame in the measure `a`; every frame has one position per vertex.
    pub(super) fn of_frames(
        &self,
        frames: &[&[DVec3]],
        measure: &[f64],
        progress: &dyn Progress,
    ) -> Result<Vec<FrameProjection>, Stopped> {
        let count = frames.len() as f64;
        let mut projections = Vec::with_capacity(frames.len());
        for frames in frames.chunks(FRAMES) {
            progress.proceed("projecting frames", projections.len() as f64 / count)?;
            projections.extend(match frames.len() {
                ..=FEW_FRAMES => self.of_pass::<FEW_FRAMES>(frames, measure),
                _ => self.of_pass::<FRAMES>(frames, measure),
            });
        }

        Ok(projections)
    }

    /// The projections of up to `N` frames.
    fn of_pass<const N: usize>(
        &self,
        frames: &[&[DVec3]],
        measure: &[f64],
    ) -> Vec<FrameProjection> {
        let parts = parallel::map(self.blocks.len() - 1, 1, |block| {
            self.of_block::<N>(block, frames, measure)
        });
        let mut projections = vec![
            FrameProjection {
                onto_shapes: vec![0.0; self.shape_count],
                energy: 0.0
            };
            frames.len()
        ];

        // In the order of the blocks, so that threads do not change a bit.
        for (block, (sums, energies)) in parts.iter().enumerate() {
            for (frame, projection) in projections.iter_mut().enumerate() {
                projection.energy += energies[frame];
                for (run, sum) in self.runs_of(block).iter().zip(sums) {
                    projection.onto_shapes[run.shape as usize] += sum[frame];
                }
            }
        }

        projections
    }

    fn runs_of(&self, block: usize) -> &[Run] {
        &self.runs[self.blocks[block]..self.blocks[block + 1]]
    }

    /// The sums of each run of a block, and the energies of the block.
    fn of_block<const N: usize>(
        &self,
        block: usize,
        frames: &[&[DVec3]],
        measure: &[f64],
    ) -> (Vec<[f64; N]>, [f64; N]) {
        let vertices = block * BLOCK..measure.len().min((block + 1) * BLOCK);
        let mut rows: Vec<Row<N>> = vec![[[0.0; N]; 3]; vertices.len()];
        let mut energies = [0.0; N];

        // Weighted displacements of the block, frame by frame in lanes.
        for (frame, positions) in frames.iter().enumerate() {
            for (row, v) in rows.iter_mut().zip(vertices.clone()) {
                let moved = positions[v] - self.neutral[v];
                let scaled = moved * measure[v];
                energies[frame] += scaled.dot(moved);
                for axis in 0..3 {
                    row[axis][frame] = scaled[axis];
                }
            }
        }

        // Each run reads the rows of the block once for all frames.
        let mut sums = Vec::new();
        for run in self.runs_of(block) {
            let range = run.start as usize..run.end as usize;
            sums.push(sum_run(
                &self.offsets[range.clone()],
                &self.deltas[range],
                &rows,
            ));
        }

        (sums, energies)
    }
}

fn sum_run<const N: usize>(offsets: &[u16], deltas: &[Vec3], rows: &[Row<N>]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (&offset, delta) in offsets.iter().zip(deltas) {
        let [row_x, row_y, row_z] = &rows[offset as usize];
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

    const SHAPES: usize = 5;

    /// Shape `k` moves every vertex whose index is a multiple of `k + 2`.
    fn sheet_rig() -> Rig {
        let sheet = bumpy_sheet(30, 0.2);
        let mut targets = Vec::new();
        for k in 0..SHAPES {
            let mut deltas = vec![Vec3::ZERO; sheet.vertex_count()];
            for (v, p) in sheet.positions().iter().enumerate().step_by(k + 2) {
                deltas[v] = (*p * k as f64).as_vec3();
            }
            targets.push(Target::from_dense(format!("{k}"), deltas));
        }

        Rig::new(sheet, targets).unwrap()
    }

    /// Enough frames for two full passes and a short one.
    fn frames(rest: &[DVec3]) -> Vec<Vec<DVec3>> {
        let moved = |p: &DVec3, t: usize| *p + DVec3::new(p.y, t as f64, p.x * p.y);
        (0..2 * FRAMES + 3)
            .map(|t| rest.iter().map(|p| moved(p, t)).collect())
            .collect()
    }

    #[test]
    fn projections_are_the_plain_sums_in_every_block_and_pass() {
        let rig = sheet_rig();
        let rest = rig.neutral().positions();
        let areas: Vec<f64> = (0..rest.len()).map(|v| 1.0 + (v % 7) as f64).collect();
        assert!(areas.len() > BLOCK, "several blocks");

        let frames = frames(rest);
        let borrowed: Vec<&[DVec3]> = frames.iter().map(Vec::as_slice).collect();
        let shapes = ShapeProjections::of(&rig);
        let projections = shapes.of_frames(&borrowed, &areas, &()).unwrap();

        for (frame, projection) in frames.iter().zip(&projections) {
            let moved: Vec<DVec3> = frame.iter().zip(rest).map(|(y, x)| *y - *x).collect();
            for (shape, (vertices, deltas)) in rig.shapes().enumerate() {
                // hₛₜ, summed directly.
                let mut plain = 0.0;
                for (&v, delta) in vertices.iter().zip(deltas) {
                    plain += areas[v as usize] * delta.as_dvec3().dot(moved[v as usize]);
                }
                let difference = projection.onto_shapes[shape] - plain;
                assert!(difference.abs() <= 1e-12 * plain.abs().max(1.0));
            }

            let energies = moved
                .iter()
                .zip(&areas)
                .map(|(d, a)| a * d.length_squared());
            let energy: f64 = energies.sum();
            assert!((projection.energy - energy).abs() <= 1e-12 * energy);
        }
    }
}
