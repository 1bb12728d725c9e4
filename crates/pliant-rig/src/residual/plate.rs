//! A thin plate that resists stretching and bending but not turning.
//!
//! **Problem.** A displacement `d` of the rest shape `x` that is smooth at pins and at a clamped
//! rim, and that turns the surface's edges with the surface instead of shearing them.
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
//! **Ours.** The first sum alone leaves a spike at a point that is pulled, since a membrane has no
//! answer to a point force, and wrinkles what is pushed together; the second rounds both over the
//! length `ℓ`. It takes the bending of the displacement, not that of the surface: a bi-Laplacian
//! that turns with the surface costs nothing where the relief only changes direction, and on a
//! bumpy sheet pulled sideways by 0.4 radii it folded to 80°, this one to 15°. Vertices beyond
//! the rim neither move nor turn, and the bending of those next to it counts, which makes slope and
//! value vanish there. Weights come from the intrinsic Delaunay triangulation; negative ones, left
//! on boundaries only, count as zero among the edges.

use pliant_linalg::{SparseMatrix, nearest_rotation, outer, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Laplacian, MeshError};

use super::patch::Patch;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// Marks a spoke's far end beyond the rim, which does not move.
const FIXED: u32 = u32::MAX;

/// *Ours*: masses below this part of the mean count as this part, so that one needle does not
/// stiffen its whole surroundings.
const LEAST_MASS: f64 = 0.01;

/// An edge as its first vertex sees it.
#[derive(Debug, Clone, Copy)]
struct Spoke {
    /// The number of the other vertex among the free ones, or [`FIXED`].
    to: u32,
    /// `½ w_ij e_ij`.
    pull: DVec3,
}

/// The energy of a patch whose free vertices are numbered from 0.
#[derive(Debug, Clone)]
pub(super) struct Plate {
    starts: Vec<usize>,
    spokes: Vec<Spoke>,
    /// `Σ_j ½ w_ij e_ij e_ijᵀ`, whose nearest rotation is the identity.
    rest: Vec<DMat3>,
    /// `L + ℓ² L M⁻¹ L` among free vertices, with the rows of `L` of the vertices beside them.
    pub(super) stiffness: SparseMatrix,
}

impl Plate {
    /// The plate of a patch: `free` vertices of the whole may move, the bending of `bent` ones (a
    /// superset) counts.
    pub(super) fn new(
        patch: &Patch,
        free: &[u32],
        bent: &[u32],
        length: f64,
    ) -> Result<Self, MeshError> {
        let Laplacian { matrix, mass } = Laplacian::robust(&patch.mesh)?;
        let mut names = vec![FIXED; patch.vertices.len()];
        let free: Vec<usize> = free.iter().map(|&v| patch.local(v)).collect();
        free.iter()
            .enumerate()
            .for_each(|(k, &i)| names[i] = k as u32);
        let points = patch.mesh.positions();
        let (mut starts, mut spokes, mut rest) = (vec![0], Vec::new(), Vec::new());
        for &i in &free {
            let mut covariance = DMat3::ZERO;
            for (j, weight) in edges(&matrix, i) {
                let edge = points[i] - points[j];
                spokes.push(Spoke {
                    to: names[j],
                    pull: edge * (0.5 * weight),
                });
                covariance += outer(edge, edge * (0.5 * weight));
            }
            starts.push(spokes.len());
            rest.push(covariance);
        }
        let bent: Vec<usize> = bent.iter().map(|&v| patch.local(v)).collect();
        let bending = part(&matrix, &bent, &names, free.len());
        let compliance = SparseMatrix::diagonal(&compliances(&mass, &bent, length));
        let stiffness = membrane(&matrix, &free, &names)
            .plus(1.0, &bending.transpose().times(&compliance.times(&bending)));
        Ok(Self {
            starts,
            spokes,
            rest,
            stiffness,
        })
    }

    /// The best rotation of every free vertex for a displacement, less the identity.
    pub(super) fn turns(&self, displacement: &[DVec3], turns: &mut [DMat3]) {
        parallel::for_each_chunk_mut(turns, VERTICES_PER_TASK, |start, chunk| {
            for (k, turn) in chunk.iter_mut().enumerate() {
                *turn =
                    nearest_rotation(well_conditioned(self.covariance(displacement, start + k)))
                        - DMat3::IDENTITY;
            }
        });
    }

    /// The forces that rotations, less the identity, put on free vertices: the right-hand side for
    /// `d`.
    pub(super) fn forces(&self, turns: &[DMat3], forces: &mut [DVec3]) {
        parallel::for_each_chunk_mut(forces, VERTICES_PER_TASK, |start, chunk| {
            for (k, force) in chunk.iter_mut().enumerate() {
                let turn = turns[start + k];
                let both = |spoke: &Spoke| {
                    if spoke.to == FIXED {
                        turn
                    } else {
                        turn + turns[spoke.to as usize]
                    }
                };
                *force = self
                    .spokes_of(start + k)
                    .iter()
                    .map(|spoke| both(spoke) * spoke.pull)
                    .sum();
            }
        });
    }

    /// `Σ_j ½ w_ij (e_ij + d_i − d_j) e_ijᵀ`.
    fn covariance(&self, displacement: &[DVec3], i: usize) -> DMat3 {
        let mut covariance = self.rest[i];
        for spoke in self.spokes_of(i) {
            let other = if spoke.to == FIXED {
                DVec3::ZERO
            } else {
                displacement[spoke.to as usize]
            };
            covariance += outer(displacement[i] - other, spoke.pull);
        }
        covariance
    }

    fn spokes_of(&self, i: usize) -> &[Spoke] {
        &self.spokes[self.starts[i]..self.starts[i + 1]]
    }
}

/// The neighbours of `i` with a positive weight.
fn edges(matrix: &SparseMatrix, i: usize) -> impl Iterator<Item = (usize, f64)> {
    let (columns, values) = matrix.row(i);
    columns
        .iter()
        .zip(values)
        .map(|(&j, &value)| (j as usize, -value))
        .filter(move |&(j, weight)| j != i && weight > 0.0)
}

/// `ℓ² / m_i` of the vertices `bent`.
fn compliances(mass: &[f64], bent: &[usize], length: f64) -> Vec<f64> {
    let used = mass.iter().filter(|&&m| m > 0.0);
    let mean = used.clone().sum::<f64>() / used.count().max(1) as f64;
    bent.iter()
        .map(|&i| {
            if mean > 0.0 {
                length * length / mass[i].max(LEAST_MASS * mean)
            } else {
                0.0
            }
        })
        .collect()
}

/// Rows `rows` of a matrix, with its columns renamed to free vertices and the fixed ones left out.
fn part(matrix: &SparseMatrix, rows: &[usize], names: &[u32], free: usize) -> SparseMatrix {
    let (mut starts, mut indices, mut entries) = (vec![0], Vec::new(), Vec::new());
    for &row in rows {
        let (columns, values) = matrix.row(row);
        let kept = columns
            .iter()
            .zip(values)
            .filter(|&(&column, _)| names[column as usize] != FIXED);
        for (&column, &value) in kept {
            indices.push(names[column as usize]);
            entries.push(value);
        }
        starts.push(indices.len());
    }
    SparseMatrix::from_rows(free, starts, indices, entries)
}

/// `L` among free vertices, without its negative weights.
fn membrane(matrix: &SparseMatrix, free: &[usize], names: &[u32]) -> SparseMatrix {
    let mut triplets = Vec::new();
    for (k, &i) in free.iter().enumerate() {
        triplets.push((
            k as u32,
            k as u32,
            edges(matrix, i).map(|(_, weight)| weight).sum(),
        ));
        let free_edges = edges(matrix, i).filter(|&(j, _)| names[j] != FIXED);
        triplets.extend(free_edges.map(|(j, weight)| (k as u32, names[j], -weight)));
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
    fn lifting_the_least_singular_value_keeps_the_nearest_rotation() {
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

    /// Numbers between −1 and 1 without a pattern.
    fn number(k: u32) -> f64 {
        f64::from(k.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 23) - 1.0
    }

    fn vector(k: u32) -> DVec3 {
        DVec3::new(number(3 * k), number(3 * k + 1), number(3 * k + 2))
    }

    /// A part of a sheet, with a hole of fixed vertices and a free boundary.
    fn piece() -> (Patch, Vec<u32>, Vec<u32>) {
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
        let (patch, free, bent) = piece();
        let plate = Plate::new(&patch, &free, &bent, 0.1).unwrap();
        let vectors = |from: u32| {
            (from..from + free.len() as u32)
                .map(vector)
                .collect::<Vec<DVec3>>()
        };
        let (displacement, step) = (vectors(0), vectors(1000));
        let turns: Vec<DMat3> = vectors(2000)
            .iter()
            .map(|v| DMat3::from_axis_angle(v.normalize(), v.x) - DMat3::IDENTITY)
            .collect();
        let at = |t: f64| {
            let moved: Vec<DVec3> = displacement
                .iter()
                .zip(&step)
                .map(|(&d, &v)| d + v * t)
                .collect();
            energy(&patch, &free, &bent, 0.1, &moved, &turns)
        };
        let mut forces = vec![DVec3::ZERO; free.len()];
        plate.forces(&turns, &mut forces);
        let pulls = plate.stiffness.multiply(&displacement);
        let slope: f64 = (0..free.len())
            .map(|k| 2.0 * step[k].dot(pulls[k] - forces[k]))
            .sum();
        // The energy is quadratic, so its central difference is exact for any step.
        assert!(
            ((at(1.0) - at(-1.0)) / 2.0 - slope).abs() < 1e-12 * at(0.0),
            "{} {slope}",
            (at(1.0) - at(-1.0)) / 2.0
        );
    }

    #[test]
    fn no_other_rotations_have_less_energy() {
        let (patch, free, bent) = piece();
        let plate = Plate::new(&patch, &free, &bent, 0.1).unwrap();
        let displacement: Vec<DVec3> = (0..free.len() as u32).map(|k| vector(k) * 0.1).collect();
        let mut turns = vec![DMat3::ZERO; free.len()];
        plate.turns(&displacement, &mut turns);
        let least = energy(&patch, &free, &bent, 0.1, &displacement, &turns);
        for k in 0..60 {
            let turn = DMat3::from_axis_angle(vector(500 + k).normalize(), number(k));
            let mut others = turns.clone();
            let i = k as usize % free.len();
            others[i] = turn * (turns[i] + DMat3::IDENTITY) - DMat3::IDENTITY;
            assert!(
                energy(&patch, &free, &bent, 0.1, &displacement, &others) >= least * (1.0 - 1e-12)
            );
        }
    }

    /// `E(d, R)` as the module doc has it, summed over the patch.
    fn energy(
        patch: &Patch,
        free: &[u32],
        bent: &[u32],
        length: f64,
        displacement: &[DVec3],
        turns: &[DMat3],
    ) -> f64 {
        let Laplacian { matrix, mass } = Laplacian::robust(&patch.mesh).unwrap();
        let n = patch.vertices.len();
        let (mut d, mut turn) = (vec![DVec3::ZERO; n], vec![DMat3::ZERO; n]);
        for (k, &v) in free.iter().enumerate() {
            (d[patch.local(v)], turn[patch.local(v)]) = (displacement[k], turns[k]);
        }
        let points = patch.mesh.positions();
        let spoke = |i: usize, (j, weight): (usize, f64)| {
            0.5 * weight * (d[i] - d[j] - turn[i] * (points[i] - points[j])).length_squared()
        };
        let stretching: f64 = (0..n)
            .map(|i| edges(&matrix, i).map(|edge| spoke(i, edge)).sum::<f64>())
            .sum();
        let bent: Vec<usize> = bent.iter().map(|&v| patch.local(v)).collect();
        let bending = matrix.multiply(&d);
        stretching
            + bent
                .iter()
                .zip(compliances(&mass, &bent, length))
                .map(|(&i, c)| c * bending[i].length_squared())
                .sum::<f64>()
    }
}
