//! Gram matrix of the shapes of a rig over its surface.
//!
//! **Problem.** The weight of a slider does not say how much of the face it moves: twice the
//! displacement at half the weight is the same slider. Penalties on sliders must be penalties on
//! moved surface.
//!
//! **Equation.** `Gₛₜ = Σᵥ aᵥ ρᵥ δₛᵥ · δₜᵥ`, with the area `aᵥ` of the barycentric cell of a vertex
//! relative to the whole area, and a mask `ρᵥ`. `√(wᵀGw)` is the root mean square displacement of
//! the pose `w`, a length. Outside a geodesic disc of radius `R` around the pins, `ρ = 3t² − 2t³`
//! with `t = min(1, d/R)`.
//!
//! **Implementation.** The surface outside the disc is the whole minus the disc, so a new set of
//! pins costs only its disc. Products are summed over several vertices side by side, as shapes that
//! move one of them mostly move all.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Mesh, triangle_area};

use crate::Rig;

/// Shapes vertex by vertex, and the area of each vertex.
#[derive(Debug)]
pub(crate) struct SurfaceGram {
    /// The entries of vertex `v` are `starts[v]..starts[v + 1]`.
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
        let (starts, entries) = entries_by_vertex(rig);
        let shape_count = rig.activation().shape_count();
        let mut gram = Self {
            starts,
            entries,
            areas: relative_areas(rig.neutral()),
            shape_count,
            whole: Vec::new(),
        };

        let everywhere: Vec<(u32, f64)> = (0..vertex_count as u32).map(|v| (v, 1.0)).collect();
        gram.whole = gram.over(&everywhere, &(0..shape_count).collect::<Vec<_>>());
        gram
    }

    /// The area of each vertex relative to the whole.
    pub(crate) fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// The displacement of a vertex by shapes with the given coefficients.
    pub(crate) fn displacement(&self, vertex: usize, coefficients: &[f64]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (shape, delta) in self.entries_of(vertex) {
            sum += delta.as_dvec3() * coefficients[*shape as usize];
        }

        sum
    }

    /// The shapes that move a vertex, with their displacements.
    pub(crate) fn entries_of(&self, vertex: usize) -> &[(u32, Vec3)] {
        &self.entries[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// The Gram matrix of some shapes over the whole surface, row by row.
    pub(crate) fn whole(&self, shapes: &[usize]) -> Vec<f64> {
        let mut gram = Vec::with_capacity(shapes.len() * shapes.len());
        for row in shapes {
            for column in shapes {
                gram.push(self.whole[row * self.shape_count + column]);
            }
        }

        gram
    }

    /// The Gram matrix of some shapes over some vertices with their masks, row by row.
    pub(crate) fn over(&self, vertices: &[(u32, f64)], shapes: &[usize]) -> Vec<f64> {
        let mut index_of = vec![None; self.shape_count];
        for (index, &shape) in shapes.iter().enumerate() {
            index_of[shape] = Some(index);
        }

        let tasks = vertices.len().div_ceil(VERTICES_PER_TASK);
        let n = shapes.len();
        let partial = parallel::map(tasks, 1, |task| {
            let end = vertices.len().min((task + 1) * VERTICES_PER_TASK);
            self.lower_triangle(&vertices[task * VERTICES_PER_TASK..end], &index_of, n)
        });

        // The tasks are added in order, so the result does not depend on the number of threads.
        let mut total = vec![0.0; n * n];
        for part in partial {
            for (sum, p) in total.iter_mut().zip(part) {
                *sum += p;
            }
        }

        // Mirror the lower triangle.
        for row in 0..n {
            for column in 0..row {
                total[column * n + row] = total[row * n + column];
            }
        }

        total
    }

    /// The lower triangle of the sum over `vertices`, for the `n` shapes that have an index.
    fn lower_triangle(
        &self,
        vertices: &[(u32, f64)],
        index_of: &[Option<usize>],
        n: usize,
    ) -> Vec<f64> {
        let mut sum = vec![0.0; n * n];
        let mut block = Block {
            rows: vec![[0.0; LANES]; n],
            scales: [0.0; LANES],
            present: Vec::new(),
            is_present: vec![false; n],
        };

        // One block serves all chunks: clearing it resets only the shapes that it met.
        for vertices in vertices.chunks(BLOCK) {
            self.gather(vertices, index_of, &mut block);
            block.add_products(&mut sum);
            block.clear();
        }

        sum
    }

    /// Fills an empty block with the displacements of all shapes at its vertices.
    fn gather(&self, vertices: &[(u32, f64)], index_of: &[Option<usize>], block: &mut Block) {
        for (k, &(vertex, mask)) in vertices.iter().enumerate() {
            let v = vertex as usize;
            block.scales[3 * k..][..3].fill(mask * self.areas[v]);
            for (shape, delta) in &self.entries[self.starts[v]..self.starts[v + 1]] {
                if let Some(index) = index_of[*shape as usize] {
                    block.add(index, k, *delta);
                }
            }
        }
    }
}

/// The displacements of all shapes sorted by vertex, and where those of each vertex start.
fn entries_by_vertex(rig: &Rig) -> (Vec<usize>, Vec<(u32, Vec3)>) {
    let vertex_count = rig.neutral().vertex_count();

    // Counting sort.
    let mut starts = vec![0; vertex_count + 1];
    for (vertices, _) in rig.shapes() {
        for &v in vertices {
            starts[v as usize + 1] += 1;
        }
    }
    for v in 0..vertex_count {
        starts[v + 1] += starts[v];
    }

    // Shapes ascend within each vertex.
    let mut next = starts.clone();
    let mut entries = vec![(0, Vec3::ZERO); starts[vertex_count]];
    for (shape, (vertices, deltas)) in rig.shapes().enumerate() {
        for (&vertex, &delta) in vertices.iter().zip(deltas) {
            entries[next[vertex as usize]] = (shape as u32, delta);
            next[vertex as usize] += 1;
        }
    }

    (starts, entries)
}

/// The displacements of all shapes at a few vertices.
struct Block {
    /// For each shape three lanes per vertex.
    rows: Vec<[f64; LANES]>,
    /// Mask times area of the vertex of each lane.
    scales: [f64; LANES],
    /// The shapes that move a vertex of the block; only their rows are not zero.
    present: Vec<usize>,
    is_present: Vec<bool>,
}

impl Block {
    fn add(&mut self, shape: usize, vertex: usize, delta: Vec3) {
        if !std::mem::replace(&mut self.is_present[shape], true) {
            self.present.push(shape);
        }
        let lanes = &mut self.rows[shape][3 * vertex..][..3];
        for (sum, d) in lanes.iter_mut().zip(delta.to_array()) {
            *sum += f64::from(d);
        }
    }

    /// Adds the products of all pairs of shapes to the lower triangle `sum`.
    fn add_products(&mut self, sum: &mut [f64]) {
        let n = self.rows.len();
        self.present.sort_unstable();
        for (k, &a) in self.present.iter().enumerate() {
            let scaled = std::array::from_fn(|lane| self.rows[a][lane] * self.scales[lane]);
            for four in self.present[..=k].chunks(4) {
                // The last shape fills up the four.
                let others = std::array::from_fn(|i| &self.rows[four[i.min(four.len() - 1)]]);
                for (&b, product) in four.iter().zip(dots(&scaled, others)) {
                    sum[a * n + b] += product;
                }
            }
        }
    }

    fn clear(&mut self) {
        self.scales = [0.0; LANES];
        for shape in self.present.drain(..) {
            self.rows[shape] = [0.0; LANES];
            self.is_present[shape] = false;
        }
    }
}

/// The products of a row with four others at once, each in two sums: eight sums that do not depend
/// on each other.
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

/// The area of each vertex relative to the whole; equal for all if the mesh has no area.
fn relative_areas(mesh: &Mesh) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for (k, triangle) in mesh.triangles().iter().enumerate() {
        let third = triangle_area(mesh.triangle_points(k)) / 3.0;
        for &v in triangle {
            areas[v as usize] += third;
        }
    }

    // Relative areas make the Gram matrix independent of the size of the mesh.
    let total: f64 = areas.iter().sum();
    if total > 0.0 {
        for area in &mut areas {
            *area /= total;
        }
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
    fn a_shape_that_moves_all_vertices_by_one_has_inner_product_one() {
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
        let odd_area: f64 = (0..count)
            .filter(|v| v % 2 == 1)
            .map(|v| gram.areas[v])
            .sum();

        assert!((whole[1] - odd_area).abs() < 1e-12 && whole[1] == whole[2]);
    }

    #[test]
    fn the_gram_matrix_is_the_sum_of_products_over_the_vertices() {
        let sheet = flat_sheet(6, 0.1);
        let count = sheet.vertex_count();

        // Each shape leaves out every fourth vertex.
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

            // Gₛₜ = Σ a ρ δₛ · δₜ, summed directly.
            let expected: f64 = vertices
                .iter()
                .map(|&(v, mask)| mask * gram.areas[v as usize] * product(v as usize))
                .sum();

            assert!(
                (value - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                "{k}: {value} {expected}"
            );
        }
    }
}
