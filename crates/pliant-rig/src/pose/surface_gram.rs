//! How much surface two shapes move together.
//!
//! **Problem.** A slider's number says nothing about how much of the face it moves: twice the displacement at half the
//! weight is the same slider. Prices on sliders must be prices on moved surface.
//!
//! **Equation.** `Gₛₜ = Σᵥ aᵥ ρᵥ δₛᵥ · δₜᵥ`, with `aᵥ` the vertex' share of the whole area (barycentric cells) and `ρᵥ` a mask.
//! `√(wᵀGw)` is the root mean square displacement of the pose `w`, a length. Outside a geodesic disc of radius `R` around the
//! pins, `ρ = 3t² − 2t³` with `t = min(1, d/R)`.
//!
//! **Ours.** The rest of the surface is the whole minus the disc, so that a new set of pins costs only its disc.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};
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

/// Vertices in one parallel task; partial sums of tasks are added in order.
const VERTICES_PER_TASK: usize = 2048;

impl SurfaceGram {
    pub(crate) fn of(rig: &Rig) -> Self {
        let vertex_count = rig.neutral().vertex_count();
        let mut starts = vec![0; vertex_count + 1];
        rig.shapes().flat_map(|(vertices, _)| vertices).for_each(|&v| starts[v as usize + 1] += 1);
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
        let mut gram = Self { starts, entries, areas: area_shares(rig.neutral()), shape_count, whole: Vec::new() };
        let everywhere: Vec<(u32, f64)> = (0..vertex_count as u32).map(|v| (v, 1.0)).collect();
        gram.whole = gram.over(&everywhere);
        gram
    }

    /// The Gram matrix of all shapes over the whole surface, row by row.
    pub(crate) fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// The Gram matrix over some vertices with their masks, row by row.
    pub(crate) fn over(&self, vertices: &[(u32, f64)]) -> Vec<f64> {
        let tasks = vertices.len().div_ceil(VERTICES_PER_TASK);
        let partial = parallel::map(tasks, 1, |task| {
            let end = vertices.len().min((task + 1) * VERTICES_PER_TASK);
            self.sum(&vertices[task * VERTICES_PER_TASK..end])
        });
        let mut total = vec![0.0; self.shape_count * self.shape_count];
        for part in partial {
            total.iter_mut().zip(part).for_each(|(sum, p)| *sum += p);
        }
        for row in 0..self.shape_count {
            for column in 0..row {
                total[column * self.shape_count + row] = total[row * self.shape_count + column];
            }
        }
        total
    }

    /// The lower triangle of the sum over `vertices`.
    fn sum(&self, vertices: &[(u32, f64)]) -> Vec<f64> {
        let n = self.shape_count;
        let mut sum = vec![0.0; n * n];
        for &(vertex, mask) in vertices {
            let here = &self.entries[self.starts[vertex as usize]..self.starts[vertex as usize + 1]];
            let scale = mask * self.areas[vertex as usize];
            for (k, (shape, delta)) in here.iter().enumerate() {
                let scaled: DVec3 = delta.as_dvec3() * scale;
                let row = &mut sum[*shape as usize * n..][..n];
                for (other, delta) in &here[..=k] {
                    row[*other as usize] += scaled.dot(delta.as_dvec3());
                }
            }
        }
        sum
    }
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
        let slide = Target::from_dense("slide", (0..count).map(|v| if v % 2 == 0 { Vec3::X } else { Vec3::Z }));
        let rig = Rig::new(sheet, vec![lift, slide]).unwrap();
        let gram = SurfaceGram::of(&rig);
        assert!((gram.whole()[0] - 1.0).abs() < 1e-12 && (gram.whole()[3] - 1.0).abs() < 1e-12);
        let odd: f64 = (0..count).filter(|v| v % 2 == 1).map(|v| gram.areas[v]).sum();
        assert!((gram.whole()[1] - odd).abs() < 1e-12 && gram.whole()[1] == gram.whole()[2]);
    }
}
