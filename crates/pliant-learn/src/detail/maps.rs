//! Height maps of all examples, in a memory layout for fast weighted sums.
//!
//! **Problem.** `h = H ω` for hundreds of thousands of vertices and a dozen examples, in every
//! frame; and where each vertex blends three regressions, `h_v = Σₖ w_{vk} (H ω_{m(v,k)})_v`.
//!
//! **Method.** Vertices in blocks of [`LANES`]; a block holds [`LANES`] heights of the first
//! example, then of the second, and so on: one pass, wide registers, no sum across lanes. Blended
//! vertices are sorted so that those of a block have the same three regressions; the ends of such
//! groups are filled with zeros.

use std::ops::Range;

use pliant_linalg::parallel;
use pliant_linalg::simd::{Kernel, run_vectorized};

use super::blend::BlendEntry;

/// Vertices in a block: one register of AVX-512, two of AVX, four of SSE and NEON.
pub(crate) const LANES: usize = 16;
/// Blocks in one parallel task.
const BLOCKS_PER_TASK: usize = 512;
/// Vertices in one parallel task of sums over all of them.
const VERTICES_PER_TASK: usize = 8192;
/// A slot that holds no vertex.
const NO_VERTEX: u32 = u32::MAX;

pub(crate) type Lane = [f32; LANES];

/// Heights by block and example.
#[derive(Debug, Clone)]
pub(crate) struct HeightMaps {
    examples: usize,
    /// `examples` lanes for each block.
    lanes: Vec<Lane>,
    order: Option<BlendedOrder>,
    vertices: usize,
}

/// The order of blended vertices in blocks.
#[derive(Debug, Clone)]
struct BlendedOrder {
    /// The regressions of each block.
    models: Vec<[u32; BlendEntry::MODELS]>,
    /// The weights of each block, one lane for each regression.
    weights: Vec<[Lane; BlendEntry::MODELS]>,
    slot_of_vertex: Vec<u32>,
}

impl HeightMaps {
    /// `heights` by example and vertex; with a blend, one entry per vertex.
    pub(crate) fn new(heights: &[Vec<f32>], blend: Option<&[BlendEntry]>) -> Self {
        let vertices = heights.first().map_or(0, Vec::len);
        let slots: Vec<u32> = match blend {
            None => (0..vertices as u32).collect(),
            Some(blend) => grouped_slots(blend),
        };

        // The last block is filled with zeros.
        let blocks = slots.len().div_ceil(LANES);
        let examples = heights.len();
        let lanes = parallel::map(blocks * examples, BLOCKS_PER_TASK, |k| {
            let block = &slots[k / examples * LANES..];
            let mut lane = [0.0; LANES];
            for (height, &v) in lane.iter_mut().zip(block) {
                if v != NO_VERTEX {
                    *height = heights[k % examples][v as usize];
                }
            }
            lane
        });

        Self {
            examples,
            lanes,
            order: blend.map(|blend| BlendedOrder::new(blend, &slots)),
            vertices,
        }
    }

    pub(crate) fn examples(&self) -> usize {
        self.examples
    }

    /// The heights of one example, by vertex.
    pub(crate) fn example(&self, example: usize) -> Vec<f32> {
        let mut heights = Vec::with_capacity(self.vertices);
        for v in 0..self.vertices {
            let slot = self.slot(v);
            heights.push(self.lanes[slot / LANES * self.examples + example][slot % LANES]);
        }
        heights
    }

    /// The slot of a vertex.
    fn slot(&self, vertex: usize) -> usize {
        match &self.order {
            Some(order) => order.slot_of_vertex[vertex] as usize,
            None => vertex,
        }
    }

    /// Weighted sums of the heights; `weights` are by regression and example.
    pub(crate) fn sum(&self, omega: &[Vec<f32>]) -> Heights<'_> {
        let mut slots = Vec::new();
        self.sum_into(omega, &mut slots);
        Heights { maps: self, slots }
    }

    /// As [`sum`](Self::sum), into blocks that are reused between frames.
    pub(crate) fn sum_into(&self, omega: &[Vec<f32>], slots: &mut Vec<Lane>) {
        slots.resize(self.lanes.len() / self.examples.max(1), [0.0; LANES]);
        parallel::for_each_chunk_mut(slots, BLOCKS_PER_TASK, |start, out| {
            // The maps hold `examples` lanes for each block.
            let blocks = start..start + out.len();
            let lanes = &self.lanes[blocks.start * self.examples..blocks.end * self.examples];
            match &self.order {
                None => run_vectorized(Plain {
                    lanes,
                    omega: &omega[0],
                    out,
                }),
                Some(order) => run_vectorized(Blended {
                    lanes,
                    order,
                    blocks,
                    omega,
                    out,
                }),
            }
        });
    }

    /// The height of a vertex in blocks that were summed.
    pub(crate) fn at(&self, slots: &[Lane], vertex: usize) -> f32 {
        slots.as_flattened()[self.slot(vertex)]
    }
}

/// One height per vertex, in the order of the blocks.
#[derive(Debug, Clone)]
pub(crate) struct Heights<'a> {
    maps: &'a HeightMaps,
    slots: Vec<Lane>,
}

impl Heights<'_> {
    pub(crate) fn at(&self, vertex: usize) -> f32 {
        self.maps.at(&self.slots, vertex)
    }
}

/// The vertex of each slot: vertices with the same regressions are together and in order, each
/// group filled up to whole blocks.
fn grouped_slots(blend: &[BlendEntry]) -> Vec<u32> {
    let mut vertices: Vec<u32> = (0..blend.len() as u32).collect();
    vertices.sort_by_key(|&v| blend[v as usize].models);
    let mut slots = Vec::with_capacity(vertices.len());
    for group in vertices.chunk_by(|a, b| blend[*a as usize].models == blend[*b as usize].models) {
        slots.extend_from_slice(group);
        slots.resize(slots.len().next_multiple_of(LANES), NO_VERTEX);
    }
    slots
}

impl BlendedOrder {
    fn new(blend: &[BlendEntry], slots: &[u32]) -> Self {
        let mut slot_of_vertex = vec![0; blend.len()];
        for (slot, &v) in slots.iter().enumerate() {
            if v != NO_VERTEX {
                slot_of_vertex[v as usize] = slot as u32;
            }
        }

        // The first slot of a block always holds a vertex.
        let models = slots
            .chunks(LANES)
            .map(|block| blend[block[0] as usize].models)
            .collect();

        let mut weights = Vec::with_capacity(slots.len() / LANES);
        for block in slots.as_chunks::<LANES>().0 {
            let mut lanes = [[0.0; LANES]; BlendEntry::MODELS];
            for (lane, &v) in block.iter().enumerate() {
                if v != NO_VERTEX {
                    for (k, weight) in blend[v as usize].weights.into_iter().enumerate() {
                        lanes[k][lane] = weight;
                    }
                }
            }
            weights.push(lanes);
        }

        Self {
            models,
            weights,
            slot_of_vertex,
        }
    }
}

/// `H ω` with one regression for all vertices.
struct Plain<'a> {
    lanes: &'a [Lane],
    omega: &'a [f32],
    out: &'a mut [Lane],
}

impl Kernel for Plain<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, block) in self
            .out
            .iter_mut()
            .zip(self.lanes.chunks_exact(self.omega.len()))
        {
            *sum = weighted_sum(block, self.omega);
        }
    }
}

/// `H ω` with three weighted regressions for each vertex.
struct Blended<'a> {
    lanes: &'a [Lane],
    order: &'a BlendedOrder,
    blocks: Range<usize>,
    omega: &'a [Vec<f32>],
    out: &'a mut [Lane],
}

impl Kernel for Blended<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let examples = self.omega[0].len();
        for ((sum, block), k) in self
            .out
            .iter_mut()
            .zip(self.lanes.chunks_exact(examples))
            .zip(self.blocks)
        {
            let models = &self.order.models[k];
            let weights = &self.order.weights[k];
            // Written out: the compiler does not use wide registers in a closure.
            let a = weighted_sum(block, &self.omega[models[0] as usize]);
            let b = weighted_sum(block, &self.omega[models[1] as usize]);
            let c = weighted_sum(block, &self.omega[models[2] as usize]);

            for lane in 0..LANES {
                sum[lane] = weights[0][lane] * a[lane]
                    + weights[1][lane] * b[lane]
                    + weights[2][lane] * c[lane];
            }
        }
    }
}

#[inline(always)]
fn weighted_sum(block: &[Lane], omega: &[f32]) -> Lane {
    let mut sum = [0.0; LANES];
    for (lane, &omega) in block.iter().zip(omega) {
        for k in 0..LANES {
            sum[k] += lane[k] * omega;
        }
    }
    sum
}

/// `G = Σ_v w_v h_v h_vᵀ` over the examples, one for each regression. The squared error of any
/// linear predictor is a quadratic form in it.
pub(crate) fn grams(
    heights: &[Vec<f32>],
    blend: Option<&[BlendEntry]>,
    models: usize,
) -> Vec<Vec<f64>> {
    let vertices = heights.first().map_or(0, Vec::len);
    let parts = parallel::map(vertices.div_ceil(VERTICES_PER_TASK), 1, |task| {
        let part = task * VERTICES_PER_TASK..vertices.min((task + 1) * VERTICES_PER_TASK);
        run_vectorized(GramPart {
            heights,
            blend,
            models,
            part,
        })
    });

    // Partial sums are added in a fixed order.
    let mut sum = vec![vec![0.0; heights.len() * heights.len()]; models];
    for part in parts {
        for (sum, value) in sum.iter_mut().flatten().zip(part.iter().flatten()) {
            *sum += value;
        }
    }

    sum
}

struct GramPart<'a> {
    heights: &'a [Vec<f32>],
    blend: Option<&'a [BlendEntry]>,
    models: usize,
    part: Range<usize>,
}

impl Kernel for GramPart<'_> {
    type Output = Vec<Vec<f64>>;

    #[inline(always)]
    fn run(self) -> Vec<Vec<f64>> {
        let examples = self.heights.len();
        let mut grams = vec![vec![0.0; examples * examples]; self.models];
        let mut row = vec![0.0; examples];

        for v in self.part {
            for (value, heights) in row.iter_mut().zip(self.heights) {
                *value = f64::from(heights[v]);
            }
            match self.blend {
                None => add_outer(&mut grams[0], &row, 1.0),
                Some(blend) => {
                    for (&model, &weight) in blend[v].models.iter().zip(&blend[v].weights) {
                        add_outer(&mut grams[model as usize], &row, f64::from(weight));
                    }
                }
            }
        }

        grams
    }
}

#[inline(always)]
fn add_outer(gram: &mut [f64], row: &[f64], weight: f64) {
    for (line, &value) in gram.chunks_exact_mut(row.len()).zip(row) {
        let scaled = value * weight;
        for (sum, other) in line.iter_mut().zip(row) {
            *sum += scaled * other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heights() -> Vec<Vec<f32>> {
        (0..5)
            .map(|i| {
                (0..100)
                    .map(|v| ((i * 37 + v * 11) % 23) as f32 * 0.25 - 2.0)
                    .collect()
            })
            .collect()
    }

    fn blend() -> Vec<BlendEntry> {
        let entry = |v: usize| {
            let first = (v * 7 % 4) as u32;
            BlendEntry {
                models: [first, first + 1, first + 2],
                weights: [
                    0.5,
                    0.25 + (v % 2) as f32 * 0.125,
                    0.25 - (v % 2) as f32 * 0.125,
                ],
            }
        };
        (0..100).map(entry).collect()
    }

    fn omega(models: usize) -> Vec<Vec<f32>> {
        (0..models)
            .map(|m| (0..5).map(|i| (i * 3 + m) as f32 * 0.125 - 0.5).collect())
            .collect()
    }

    #[test]
    fn sums_are_those_of_the_matrix_product_blended_or_not() {
        let heights = heights();
        let blend = blend();
        let product = |v: usize, omega: &[f32]| {
            (0..5)
                .map(|i| f64::from(heights[i][v]) * f64::from(omega[i]))
                .sum::<f64>()
        };

        let plain = HeightMaps::new(&heights, None);
        let blended = HeightMaps::new(&heights, Some(&blend));
        let omega = omega(6);
        let one = plain.sum(&omega[..1]);
        let many = blended.sum(&omega);

        for v in 0..100 {
            assert!((f64::from(one.at(v)) - product(v, &omega[0])).abs() < 1e-5);
            let entry = blend[v];
            let direct: f64 = (0..3)
                .map(|k| f64::from(entry.weights[k]) * product(v, &omega[entry.models[k] as usize]))
                .sum();
            assert!((f64::from(many.at(v)) - direct).abs() < 1e-5);
        }

        assert!((0..5).all(|i| plain.example(i) == heights[i] && blended.example(i) == heights[i]));
    }

    #[test]
    fn a_gram_gives_the_squared_sum_of_any_mixture() {
        let heights = heights();
        let blend = blend();
        let mixture = [0.5, -1.0, 2.0, 0.0, 0.25];
        let mixed = |v: usize| {
            (0..5)
                .map(|i| f64::from(heights[i][v]) * mixture[i])
                .sum::<f64>()
        };

        let form = |gram: &[f64]| {
            (0..25)
                .map(|k| mixture[k / 5] * gram[k] * mixture[k % 5])
                .sum::<f64>()
        };
        // Σ_v (Σᵢ cᵢ h_{iv})² = cᵀ G c.
        let direct: f64 = (0..100).map(|v| mixed(v).powi(2)).sum();

        assert!((form(&grams(&heights, None, 1)[0]) - direct).abs() < 1e-9 * direct);
        let all: f64 = grams(&heights, Some(&blend), 6)
            .iter()
            .map(|gram| form(gram))
            .sum();

        assert!((all - direct).abs() < 1e-6 * direct);
    }
}
