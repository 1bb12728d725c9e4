//! How much surface two shapes move together.
//!
//! **Problem.** A slider's number says nothing about how much of the face it moves: twice the
//! displacement at half the weight is the same slider. Prices on sliders must be prices on moved
//! surface.
//!
//! **Equation.** `Gₛₜ = Σᵥ aᵥ ρᵥ δₛᵥ · δₜᵥ`, with `aᵥ` the vertex' share of the whole area
//! (barycentric cells) and `ρᵥ` a mask. `√(wᵀGw)` is the root mean square displacement of the pose
//! `w`, a length. Outside a geodesic disc of radius `R` around the pins, `ρ = 3t² − 2t³` with `t =
//! min(1, d/R)`.
//!
//! **Ours.** The rest of the surface is the whole minus the disc, so that a new set of pins costs
//! only its disc. Products are summed over several vertices side by side, where shapes that move
//! one of them mostly move all.

use pliant_linalg::parallel;
use pliant_mesh::glam::Vec3;
use pliant_mesh::{Mesh, triangle_area};

use crate::Rig;

/// Shapes vertex by vertex, and how much each vertex counts.
#[derive(Debug)]
pub(crate) struct SurfaceGram {
    /// Where each vertex' entries begin.
    starts: Vec<usize>,
    entries: Vec<(u32, Vec3)>,
    areas: Vec<f64>,
    shape_count: usize,
    whole: Vec<f64>,
}

/// Vertices whose products are summed side by side.
const BLOCK: usize = 8;
const LANES: usize = 3 * BLOCK;
/// Vertices in one parallel task; partial sums of tasks are added in order.
const VERTICES_PER_TASK: usize = 2048;

impl SurfaceGram {
    pub(crate) fn of(rig: &Rig) -> Self {
        let vertex_count = rig.neutral().vertex_count();
        let mut starts = vec![0; vertex_count + 1];
        rig.shapes()
            .flat_map(|(vertices, _)| vertices)
            .for_each(|&v| starts[v as usize + 1] += 1);
        (0..vertex_count).for_each(|v| starts[v + 1] += starts[v]);
        let mut next = starts.clone();
        let mut entries = vec![(0, Vec3::ZERO); starts[vertex_count]];
        for (shape, (vertices, deltas)) in rig.shapes().enumerate() {
            for (&vertex, &delta) in vertices.iter().zip(deltas) {
                entries[next[vertex as usize]] = (shape as u32, delta);
                next[vertex as usize] += 1;
            }
        }
        let shape_count = rig.activation().shape_count();
        let mut gram = Self {
            starts,
            entries,
            areas: area_shares(rig.neutral()),
            shape_count,
            whole: Vec::new(),
        };
        let everywhere: Vec<(u32, f64)> = (0..vertex_count as u32).map(|v| (v, 1.0)).collect();
        gram.whole = gram.over(&everywhere, &(0..shape_count).collect::<Vec<_>>());
        gram
    }

    /// Each vertex' share of the whole area.
    pub(crate) fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// The Gram matrix of some shapes over the whole surface, row by row.
    pub(crate) fn whole(&self, shapes: &[usize]) -> Vec<f64> {
        shapes
            .iter()
            .flat_map(|row| {
                shapes
                    .iter()
                    .map(move |column| self.whole[row * self.shape_count + column])
            })
            .collect()
    }

    /// The Gram matrix of some shapes over some vertices with their masks, row by row.
    pub(crate) fn over(&self, vertices: &[(u32, f64)], shapes: &[usize]) -> Vec<f64> {
        let mut places = vec![None; self.shape_count];
        shapes
            .iter()
            .enumerate()
            .for_each(|(place, &shape)| places[shape] = Some(place));
        let tasks = vertices.len().div_ceil(VERTICES_PER_TASK);
        let n = shapes.len();
        let partial = parallel::map(tasks, 1, |task| {
            let end = vertices.len().min((task + 1) * VERTICES_PER_TASK);
            self.sum(&vertices[task * VERTICES_PER_TASK..end], &places, n)
        });
        let mut total = vec![0.0; n * n];
        for part in partial {
            total.iter_mut().zip(part).for_each(|(sum, p)| *sum += p);
        }
        for row in 0..n {
            for column in 0..row {
                total[column * n + row] = total[row * n + column];
            }
        }
        total
    }

    /// The lower triangle of the sum over `vertices`, of the `n` shapes that have a place.
    fn sum(&self, vertices: &[(u32, f64)], places: &[Option<usize>], n: usize) -> Vec<f64> {
        let mut sum = vec![0.0; n * n];
        let mut rows = vec![[0.0; LANES]; n];
        // The places of shapes that move a vertex of the block; only their rows are not zero.
        let mut present: Vec<usize> = Vec::new();
        let mut is_present = vec![false; n];
        for block in vertices.chunks(BLOCK) {
            let mut scales = [0.0; LANES];
            for (k, &(vertex, mask)) in block.iter().enumerate() {
                scales[3 * k..][..3].fill(mask * self.areas[vertex as usize]);
                let here =
                    &self.entries[self.starts[vertex as usize]..self.starts[vertex as usize + 1]];
                for (place, delta) in here
                    .iter()
                    .filter_map(|(shape, delta)| Some((places[*shape as usize]?, delta)))
                {
                    if !std::mem::replace(&mut is_present[place], true) {
                        present.push(place);
                    }
                    rows[place][3 * k..][..3]
                        .iter_mut()
                        .zip(delta.to_array())
                        .for_each(|(sum, d)| *sum += f64::from(d));
                }
            }
            present.sort_unstable();
            for (k, &a) in present.iter().enumerate() {
                let scaled = std::array::from_fn(|lane| rows[a][lane] * scales[lane]);
                for four in present[..=k].chunks(4) {
                    let products = dots(
                        &scaled,
                        std::array::from_fn(|i| &rows[four[i.min(four.len() - 1)]]),
                    );
                    four.iter()
                        .zip(products)
                        .for_each(|(&b, product)| sum[a * n + b] += product);
                }
            }
            for place in present.drain(..) {
                (rows[place], is_present[place]) = ([0.0; LANES], false);
            }
        }
        sum
    }
}

/// The products of a row with four others at once, each in two sums: eight that do not wait for
/// each other.
fn dots(a: &[f64; LANES], others: [&[f64; LANES]; 4]) -> [f64; 4] {
    let mut sums = [[0.0; 2]; 4];
    for lane in (0..LANES).step_by(2) {
        for (sum, b) in sums.iter_mut().zip(others) {
            sum[0] += a[lane] * b[lane];
            sum[1] += a[lane + 1] * b[lane + 1];
        }
    }
    sums.map(|[even, odd]| even + odd)
}

/// Each vertex' part of the whole area; equal parts where there is none.
fn area_shares(mesh: &Mesh) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for (k, triangle) in mesh.triangles().iter().enumerate() {
        let third = triangle_area(mesh.triangle_points(k)) / 3.0;
        triangle.iter().for_each(|&v| areas[v as usize] += third);
    }
    let total: f64 = areas.iter().sum();
    if total > 0.0 {
        areas.iter_mut().for_each(|a| *a /= total);
    } else {
        areas.fill(1.0 / mesh.vertex_count().max(1) as f64);
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use pliant_mesh::shapes::flat_sheet;

    #[test]
    fn a_shape_that_moves_everything_by_one_has_energy_one() {
        let sheet = flat_sheet(5, 0.1);
        let count = sheet.vertex_count();
        let lift = Target::from_dense("lift", vec![Vec3::Z; count]);
        let slide = Target::from_dense(
            "slide",
            (0..count).map(|v| if v % 2 == 0 { Vec3::X } else { Vec3::Z }),
        );
        let rig = Rig::new(sheet, vec![lift, slide]).unwrap();
        let gram = SurfaceGram::of(&rig);
        let whole = gram.whole(&[0, 1]);
        assert!((whole[0] - 1.0).abs() < 1e-12 && (whole[3] - 1.0).abs() < 1e-12);
        let odd: f64 = (0..count)
            .filter(|v| v % 2 == 1)
            .map(|v| gram.areas[v])
            .sum();
        assert!((whole[1] - odd).abs() < 1e-12 && whole[1] == whole[2]);
    }

    #[test]
    fn some_shapes_over_some_vertices_are_the_sum_of_their_products() {
        let sheet = flat_sheet(6, 0.1);
        let count = sheet.vertex_count();
        let wave = |k: usize, v: usize| {
            Vec3::new((k + v) as f32 % 3.0, (k * v) as f32 % 5.0, 1.0)
                * if (v + k).is_multiple_of(4) { 0.0 } else { 1.0 }
        };
        let targets = (0..5)
            .map(|k| Target::from_dense(format!("wave {k}"), (0..count).map(|v| wave(k, v))))
            .collect();
        let gram = SurfaceGram::of(&Rig::new(sheet, targets).unwrap());
        let vertices: Vec<(u32, f64)> = (3..count as u32 - 2)
            .step_by(2)
            .map(|v| (v, 0.1 + f64::from(v % 7)))
            .collect();
        let shapes = [1, 2, 4];
        let found = gram.over(&vertices, &shapes);
        for (k, value) in found.iter().enumerate() {
            let product = |v: usize| {
                wave(shapes[k / 3], v)
                    .as_dvec3()
                    .dot(wave(shapes[k % 3], v).as_dvec3())
            };
            let wanted: f64 = vertices
                .iter()
                .map(|&(v, mask)| mask * gram.areas[v as usize] * product(v as usize))
                .sum();
            assert!(
                (value - wanted).abs() < 1e-12 * (1.0 + wanted.abs()),
                "{k}: {value} {wanted}"
            );
        }
    }
}
