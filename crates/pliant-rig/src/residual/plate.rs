//! Thin-plate energy that is invariant to rotation (as rigid as possible, with bending).
//!
//! **Problem.** A displacement `d` of the rest shape `x` that is smooth at pins and at a clamped
//! rim, and that rotates the edges with the surface instead of shearing them.
//!
//! **Equation.** With cotangent weights `w`, masses `m`, edges `e_ij = x_i − x_j` and a rotation
//! `R_i` for each vertex
//!
//! ```text
//! E(d, R) = Σ_i Σ_j ½ w_ij |e_ij + d_i − d_j − R_i e_ij|²  +  ℓ² Σ_i |(L d)_i|² / m_i
//! ```
//!
//! For fixed `R` it is quadratic in `d` with the constant matrix `L + ℓ² L M⁻¹ L`; for fixed `d`
//! each `R_i` is the rotation nearest to a 3 × 3 matrix. Alternating the two never raises `E`.
//!
//! **Source.** Sorkine and Alexa, "As-rigid-as-possible surface modeling", SGP 2007, for the first
//! sum and the alternation; Botsch and Kobbelt, "An intuitive framework for real-time freeform
//! modeling", SIGGRAPH 2004, for the second and its rim.
//!
//! **Departures.** The first sum alone leaves a spike at a point that is pulled, since a membrane
//! cannot resist a point force, and wrinkles where the surface is compressed; the second smooths
//! both over the length `ℓ`. It penalises the bending of the displacement, not that of the surface:
//! on a bumpy sheet pulled sideways by 0.4 radii, a bi-Laplacian that rotates with the surface
//! folded to 80°, this one to 15°. Vertices beyond the rim neither move nor rotate, and the bending
//! of those next to it counts, which makes slope and value zero there. Weights come from the
//! intrinsic Delaunay triangulation; negative ones, which remain only on boundaries, count as zero
//! among the edges.

use pliant_linalg::{SparseMatrix, nearest_rotation, outer, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Laplacian, MeshError};

use super::patch::Patch;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// Marks the end of an edge beyond the rim, which does not move.
const FIXED: u32 = u32::MAX;

/// *Chosen*: the least mass relative to the mean, so that one needle triangle does not stiffen the
/// surface around it.
const LEAST_MASS: f64 = 0.01;

/// A directed edge from a free vertex.
#[derive(Debug, Clone, Copy)]
struct WeightedEdge {
    /// The number of the other vertex among the free ones, or [`FIXED`].
    to: u32,
    /// `½ w_ij e_ij`.
    weighted: DVec3,
}

/// The energy of a patch whose free vertices are numbered from 0.
#[derive(Debug, Clone)]
pub(super) struct Plate {
    starts: Vec<usize>,
    edges: Vec<WeightedEdge>,
    /// `Σ_j ½ w_ij e_ij e_ijᵀ`, whose nearest rotation is the identity.
    rest: Vec<DMat3>,
    /// `L + ℓ² L M⁻¹ L` among free vertices, with the rows of `L` of the vertices beside them.
    pub(super) stiffness: SparseMatrix,
}

impl Plate {
    /// The plate of a patch: the vertices `free` of the whole may move, and the bending of `bent`,
    /// a superset, counts.
    pub(super) fn new(
        patch: &Patch,
        free: &[u32],
        bent: &[u32],
        length: f64,
    ) -> Result<Self, MeshError> {
        let Laplacian { matrix, mass } = Laplacian::robust(&patch.mesh)?;
        let free: Vec<usize> = free.iter().map(|&v| patch.local(v)).collect();
        let mut number_of = vec![FIXED; patch.vertices.len()];
        for (k, &i) in free.iter().enumerate() {
            number_of[i] = k as u32;
        }

        // The rim bends, too, although it does not move: that makes the slope there zero.
        let bent: Vec<usize> = bent.iter().map(|&v| patch.local(v)).collect();
        let mut plate = Self {
            starts: vec![0],
            edges: Vec::new(),
            rest: Vec::new(),
            stiffness: stiffness(
                &matrix,
                &bending_scales(&mass, &bent, length),
                &bent,
                &free,
                &number_of,
            ),
        };
        for &i in &free {
            plate.push_vertex(patch.mesh.positions(), &matrix, i, &number_of);
        }

        Ok(plate)
    }

    /// Appends the edges of free vertex `i` and their covariance.
    fn push_vertex(
        &mut self,
        points: &[DVec3],
        matrix: &SparseMatrix,
        i: usize,
        number_of: &[u32],
    ) {
        let mut covariance = DMat3::ZERO;
        for (j, weight) in neighbours(matrix, i) {
            let edge = points[i] - points[j];
            let weighted = edge * (0.5 * weight);
            self.edges.push(WeightedEdge {
                to: number_of[j],
                weighted,
            });
            covariance += outer(edge, weighted);
        }

        self.starts.push(self.edges.len());
        self.rest.push(covariance);
    }

    /// The best rotation of every free vertex for a displacement, less the identity.
    pub(super) fn update_rotations(&self, displacement: &[DVec3], rotations: &mut [DMat3]) {
        parallel::for_each_chunk_mut(rotations, VERTICES_PER_TASK, |start, chunk| {
            for (k, rotation) in chunk.iter_mut().enumerate() {
                // The rotation that minimises the first sum of the energy.
                let covariance = self.covariance(displacement, start + k);
                *rotation = nearest_rotation(well_conditioned(covariance)) - DMat3::IDENTITY;
            }
        });
    }

    /// The forces of rotations, less the identity, on free vertices: the right-hand side for `d`.
    pub(super) fn forces(&self, rotations: &[DMat3], forces: &mut [DVec3]) {
        parallel::for_each_chunk_mut(forces, VERTICES_PER_TASK, |start, chunk| {
            for (k, force) in chunk.iter_mut().enumerate() {
                let rotation = rotations[start + k];
                let mut sum = DVec3::ZERO;
                for edge in self.edges_of(start + k) {
                    let both = if edge.to == FIXED {
                        rotation
                    } else {
                        rotation + rotations[edge.to as usize]
                    };
                    sum += both * edge.weighted;
                }
                *force = sum;
            }
        });
    }

    /// `Σ_j ½ w_ij (e_ij + d_i − d_j) e_ijᵀ`.
    fn covariance(&self, displacement: &[DVec3], i: usize) -> DMat3 {
        let mut covariance = self.rest[i];
        for edge in self.edges_of(i) {
            let other = if edge.to == FIXED {
                DVec3::ZERO
            } else {
                displacement[edge.to as usize]
            };
            covariance += outer(displacement[i] - other, edge.weighted);
        }

        covariance
    }

    fn edges_of(&self, i: usize) -> &[WeightedEdge] {
        &self.edges[self.starts[i]..self.starts[i + 1]]
    }
}

/// The neighbours of `i` with a positive weight.
fn neighbours(matrix: &SparseMatrix, i: usize) -> impl Iterator<Item = (usize, f64)> {
    let (columns, values) = matrix.row(i);
    columns
        .iter()
        .zip(values)
        .map(|(&j, &value)| (j as usize, -value))
        .filter(move |&(j, weight)| j != i && weight > 0.0)
}

/// `L + ℓ² L M⁻¹ L`, with the `scales` `ℓ² M⁻¹` of the vertices `bent`.
fn stiffness(
    matrix: &SparseMatrix,
    scales: &[f64],
    bent: &[usize],
    free: &[usize],
    number_of: &[u32],
) -> SparseMatrix {
    let bending = submatrix(matrix, bent, number_of, free.len());
    let scaled = SparseMatrix::diagonal(scales).times(&bending);
    let bending_energy = bending.transpose().times(&scaled);
    membrane(matrix, free, number_of).plus(1.0, &bending_energy)
}

/// `ℓ² / m_i` of the vertices `bent`.
fn bending_scales(mass: &[f64], bent: &[usize], length: f64) -> Vec<f64> {
    let used = mass.iter().filter(|&&m| m > 0.0);
    let mean = used.clone().sum::<f64>() / used.count().max(1) as f64;
    if mean > 0.0 {
        let scale = |&i: &usize| length * length / mass[i].max(LEAST_MASS * mean);
        bent.iter().map(scale).collect()
    } else {
        vec![0.0; bent.len()]
    }
}

/// Rows `rows` of a matrix, with the columns of free vertices by their numbers.
fn submatrix(
    matrix: &SparseMatrix,
    rows: &[usize],
    number_of: &[u32],
    free: usize,
) -> SparseMatrix {
    let mut starts = vec![0];
    let mut indices = Vec::new();
    let mut entries = Vec::new();
    for &row in rows {
        // Fixed vertices have zero displacement, so their columns are dropped.
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            let number = number_of[column as usize];
            if number != FIXED {
                indices.push(number);
                entries.push(value);
            }
        }

        starts.push(indices.len());
    }

    SparseMatrix::from_rows(free, starts, indices, entries)
}

/// `L` among free vertices, without its negative weights.
fn membrane(matrix: &SparseMatrix, free: &[usize], number_of: &[u32]) -> SparseMatrix {
    let mut triplets = Vec::new();
    for (k, &i) in (0..).zip(free) {
        let sum = neighbours(matrix, i).map(|(_, weight)| weight).sum();
        triplets.push((k, k, sum));
        for (j, weight) in neighbours(matrix, i) {
            if number_of[j] != FIXED {
                triplets.push((k, number_of[j], -weight));
            }
        }
    }

    SparseMatrix::from_triplets(free.len(), free.len(), &triplets)
}

/// A matrix with the same nearest rotation that is far from singular where the surface is flat.
///
/// With `S = U Σ Vᵀ` the cofactors are `± U cof(Σ) Vᵀ`: they share both bases, keep the order of
/// the singular values and lift the least one, so the rotation stays and its quick path is taken.
fn well_conditioned(s: DMat3) -> DMat3 {
    let norm =
        (s.x_axis.length_squared() + s.y_axis.length_squared() + s.z_axis.length_squared()).sqrt();
    if norm.is_normal() {
        let [a, b, c] = [s.x_axis, s.y_axis, s.z_axis].map(|column| column / norm);
        DMat3::from_cols(a + b.cross(c), b + c.cross(a), c + a.cross(b))
    } else {
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residual::patch::grown;
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn raising_the_least_singular_value_keeps_the_nearest_rotation() {
        for k in 0..200 {
            let mut matrix =
                DMat3::from_cols_array(&std::array::from_fn(|i| number(9 * k + i as u32)));
            if k % 4 == 0 {
                matrix.z_axis = matrix.x_axis * 0.3 - matrix.y_axis; // Flat.
            }

            let difference = nearest_rotation(well_conditioned(matrix)) - nearest_rotation(matrix);
            assert!(
                difference.to_cols_array().iter().all(|d| d.abs() < 1e-7),
                "{matrix:?}"
            );
        }
        assert_eq!(
            nearest_rotation(well_conditioned(DMat3::ZERO)),
            DMat3::IDENTITY
        );
    }

    /// Arbitrary numbers between −1 and 1.
    fn number(k: u32) -> f64 {
        f64::from(k.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 23) - 1.0
    }

    fn vector(k: u32) -> DVec3 {
        DVec3::new(number(3 * k), number(3 * k + 1), number(3 * k + 2))
    }

    /// A part of a sheet, with a hole of fixed vertices and a free boundary.
    fn sheet_part() -> (Patch, Vec<u32>, Vec<u32>) {
        let mesh = bumpy_sheet(9, 0.3);
        let free: Vec<u32> = (0..mesh.vertex_count() as u32)
            .filter(|v| !(42..47).contains(v) && v % 10 > 2)
            .collect();
        let bent = grown(&mesh, &free);

        (
            Patch::around(&mesh, mesh.positions(), &bent).unwrap(),
            free,
            bent,
        )
    }

    #[test]
    fn stiffness_and_forces_are_the_derivative_of_the_energy() {
        let (patch, free, bent) = sheet_part();
        let plate = Plate::new(&patch, &free, &bent, 0.1).unwrap();
        let vectors = |from: u32| {
            (from..from + free.len() as u32)
                .map(vector)
                .collect::<Vec<DVec3>>()
        };

        let (displacement, step) = (vectors(0), vectors(1000));
        let rotations: Vec<DMat3> = vectors(2000)
            .iter()
            .map(|v| DMat3::from_axis_angle(v.normalize(), v.x) - DMat3::IDENTITY)
            .collect();

        let at = |t: f64| {
            let moved: Vec<DVec3> = displacement
                .iter()
                .zip(&step)
                .map(|(&d, &v)| d + v * t)
                .collect();
            energy(&patch, &free, &bent, 0.1, &moved, &rotations)
        };

        let mut forces = vec![DVec3::ZERO; free.len()];
        plate.forces(&rotations, &mut forces);
        let images = plate.stiffness.multiply(&displacement);
        let slope: f64 = (0..free.len())
            .map(|k| 2.0 * step[k].dot(images[k] - forces[k]))
            .sum();

        // The energy is quadratic, so its central difference is exact for any step.
        assert!(
            ((at(1.0) - at(-1.0)) / 2.0 - slope).abs() < 1e-12 * at(0.0),
            "{} {slope}",
            (at(1.0) - at(-1.0)) / 2.0
        );
    }

    #[test]
    fn the_updated_rotations_minimise_the_energy() {
        let (patch, free, bent) = sheet_part();
        let plate = Plate::new(&patch, &free, &bent, 0.1).unwrap();
        let displacement: Vec<DVec3> = (0..free.len() as u32).map(|k| vector(k) * 0.1).collect();
        let mut rotations = vec![DMat3::ZERO; free.len()];

        plate.update_rotations(&displacement, &mut rotations);
        let least = energy(&patch, &free, &bent, 0.1, &displacement, &rotations);
        for k in 0..60 {
            let rotation = DMat3::from_axis_angle(vector(500 + k).normalize(), number(k));
            let mut others = rotations.clone();
            let i = k as usize % free.len();
            others[i] = rotation * (rotations[i] + DMat3::IDENTITY) - DMat3::IDENTITY;
            assert!(
                energy(&patch, &free, &bent, 0.1, &displacement, &others) >= least * (1.0 - 1e-12)
            );
        }
    }

    /// `E(d, R)` of the module documentation, summed over the patch.
    fn energy(
        patch: &Patch,
        free: &[u32],
        bent: &[u32],
        length: f64,
        displacement: &[DVec3],
        rotations: &[DMat3],
    ) -> f64 {
        let Laplacian { matrix, mass } = Laplacian::robust(&patch.mesh).unwrap();
        let n = patch.vertices.len();
        let mut d = vec![DVec3::ZERO; n];
        let mut rotation = vec![DMat3::ZERO; n];

        for (k, &v) in free.iter().enumerate() {
            (d[patch.local(v)], rotation[patch.local(v)]) = (displacement[k], rotations[k]);
        }

        // The first sum of the energy, over all edges of the patch.
        let points = patch.mesh.positions();
        let stretch = |i: usize, (j, weight): (usize, f64)| {
            0.5 * weight * (d[i] - d[j] - rotation[i] * (points[i] - points[j])).length_squared()
        };
        let stretching: f64 = (0..n)
            .map(|i| {
                neighbours(&matrix, i)
                    .map(|edge| stretch(i, edge))
                    .sum::<f64>()
            })
            .sum();

        let bent: Vec<usize> = bent.iter().map(|&v| patch.local(v)).collect();
        let bending = matrix.multiply(&d);
        stretching
            + bent
                .iter()
                .zip(bending_scales(&mass, &bent, length))
                .map(|(&i, c)| c * bending[i].length_squared())
                .sum::<f64>()
    }
}
