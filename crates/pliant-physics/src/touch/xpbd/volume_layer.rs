//! Volume of the soft layer under the skin, by the pressure in it.
//!
//! **Problem.** A finger that dents a cheek displaces flesh, and the flesh rises around it: the
//! layer between skin and bone keeps its volume. Its interior is not modelled.
//!
//! **Equation.** Flesh that leaves the place of a dent flows along the layer. With the volume `V`
//! that the skin swept per vertex and the flow `q` from vertex to vertex, the elastic energy of the
//! flow is that of a thin layer that is fixed below,
//!
//! ```text
//! W = ½ (κ/t²) Σ q²  with  div q = −V        hence  W = ½ (κ/t²) Vᵀ L⁺ V
//! ```
//!
//! with the Laplacian `L` of the patch without flow through its rim. Some of the pressure leaks into
//! the tissue below, over the distance `l`: `L + A/l²` instead of `L`. As XPBD constraints `C = V`
//! with the compliance `α = (t²/κ) (L + A/l²)`, in every iteration of every substep,
//!
//! ```text
//! (D + α/h²) Δλ = −C − (α/h²) λ        Dⱼ = wⱼ Aⱼ²        Δxⱼ = wⱼ gⱼ Δλⱼ        gⱼ = ∂V/∂xⱼ
//! ```
//!
//! `λ/h²` is the pressure; `λ` is zero at the start of a substep. The volume that a triangle sweeps from its rest shape `r` to `r + u` is
//! `ū · (N(0) + 4 N(½) + N(1)) / 6`, with its mean displacement `ū` and its area vector `N` at
//! `r + s u`; each soft corner has an equal part of it.
//!
//! **Source.** The thin incompressible layer: Johnson, "Contact mechanics", 1985, section 5.8;
//! compliance as a matrix: Servin, Lacoursière, Melin, "Interactive simulation of elastic
//! deformable materials", 2006.
//!
//! **Departures.** All substeps of a frame share one factor. `gⱼ` is scaled to the length `Aⱼ` that the factor knows. Pinned vertices are free in the matrix
//! and do not move.

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver};
use pliant_mesh::glam::DVec3;

use super::soft_body::{SoftBody, SoftNodes};
use crate::PhysicsError;
use crate::touch::projection::particle::{place_of, put};
use crate::touch::soft_mesh::SoftMesh;

/// The distance `l` in depths of the layer. Chosen: a patch is three depths wide, so that pressure
/// spreads over all of it, and a patch that is pushed as a whole yields.
const LEAK: f64 = 4.0;
/// The least diagonal relative to the mean one, for vertices without a face. Chosen.
const LEAST_DIAGONAL: f64 = 1e-6;
/// The shortest gradient relative to its length at rest that is scaled up. Chosen: folded skin has
/// no direction out.
const LEAST_GRADIENT: f64 = 0.25;
/// The largest `t²/κ`: practically no stiffness, far from an overflow.
const MOST_FLOW: f64 = 1e60;
/// Times of a step that differ by less share a factor. Chosen: rounding.
const SAME_TIME: f64 = 1e-9;

/// The layer under all patches.
#[derive(Debug, Clone)]
pub(crate) struct VolumeLayer {
    triangles: Vec<[u32; 3]>,
    soft_count: usize,
    /// By soft node.
    areas: Vec<f64>,
    inverse_masses: Vec<f64>,
    /// `α`.
    compliance: SparseMatrix,
    factor: Option<LayerFactor>,
    /// By node.
    rest: Vec<DVec3>,
    displacements: Vec<DVec3>,
    volumes: Vec<f64>,
    gradients: Vec<DVec3>,
    /// `λ`, by soft node.
    multipliers: Vec<f64>,
    /// `α λ`.
    compliant: Vec<f64>,
}

#[derive(Debug, Clone)]
struct LayerFactor {
    secs: f64,
    solver: SpdSolver,
}

impl VolumeLayer {
    /// The layer under a soft mesh; none where the material has no volume.
    pub(crate) fn new(mesh: &SoftMesh, nodes: &SoftNodes<'_>) -> Option<Self> {
        let soft_count = mesh.soft_count;
        let has_volume = nodes.constants[..soft_count]
            .iter()
            .any(|constants| constants.volume > 0.0);
        if !has_volume {
            return None;
        }

        Some(Self {
            areas: nodes.masses[..soft_count].to_vec(),
            inverse_masses: nodes.masses[..soft_count].iter().map(|m| 1.0 / m).collect(),
            compliance: compliance(mesh, nodes),
            factor: None,
            rest: nodes.rest.to_vec(),
            displacements: vec![DVec3::ZERO; nodes.rest.len()],
            volumes: vec![0.0; soft_count],
            gradients: vec![DVec3::ZERO; soft_count],
            multipliers: vec![0.0; soft_count],
            compliant: vec![0.0; soft_count],
            triangles: mesh.connections.triangles.clone(),
            soft_count,
        })
    }

    /// Sets another rest shape, by node.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        self.rest.copy_from_slice(rest);
    }

    /// Sets the pressure to zero at the start of a substep.
    pub(crate) fn reset_multipliers(&mut self) {
        self.multipliers.fill(0.0);
    }

    /// Prepares solves in substeps of `secs`.
    ///
    /// # Errors
    /// A system that cannot be factored.
    pub(crate) fn prepare(&mut self, secs: f64) -> Result<(), PhysicsError> {
        let is_ready = |factor: &LayerFactor| (factor.secs / secs - 1.0).abs() < SAME_TIME;
        if self.factor.as_ref().is_some_and(is_ready) {
            return Ok(());
        }

        let diagonal: Vec<f64> = self
            .areas
            .iter()
            .zip(&self.inverse_masses)
            .map(|(area, w)| w * area * area)
            .collect();
        let mean = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
        let diagonal: Vec<f64> = diagonal
            .iter()
            .map(|value| value.max(LEAST_DIAGONAL * mean))
            .collect();

        let matrix = SparseMatrix::diagonal(&diagonal).plus(1.0 / (secs * secs), &self.compliance);
        match &mut self.factor {
            Some(factor) => {
                factor.solver.refactor(&matrix)?;
                factor.secs = secs;
            }
            None => {
                let solver = SpdSolver::factor(&matrix)?;
                self.factor = Some(LayerFactor { secs, solver });
            }
        }
        Ok(())
    }

    /// Moves the nodes of `body` so that the layer keeps its volume.
    pub(crate) fn project(&mut self, body: &mut SoftBody, workspace: &mut SolveWorkspace) {
        for node in 0..self.soft_count {
            self.displacements[node] = place_of(body.particle_mut(node)) - self.rest[node];
        }
        self.measure();
        let Some(factor) = &self.factor else {
            return;
        };
        if self.volumes.iter().all(|volume| *volume == 0.0) {
            return;
        }

        // The first solve of a substep has no pressure yet.
        self.compliant.fill(0.0);
        if self.multipliers.iter().any(|multiplier| *multiplier != 0.0) {
            self.compliance
                .multiply_into(&self.multipliers, &mut self.compliant);
        }
        let inverse_square_time = 1.0 / (factor.secs * factor.secs);
        for (volume, compliant) in self.volumes.iter_mut().zip(&self.compliant) {
            *volume = -*volume - inverse_square_time * compliant;
        }
        factor.solver.solve_in_place(&mut self.volumes, workspace);
        for (multiplier, step) in self.multipliers.iter_mut().zip(&self.volumes) {
            *multiplier += step;
        }

        for node in 0..self.soft_count {
            let particle = body.particle_mut(node);
            if particle[3] == 0.0 {
                continue;
            }
            let area = self.areas[node];
            let gradient = self.gradients[node];
            let length = gradient.length().max(LEAST_GRADIENT * area);
            let scale = area / length;
            let step = self.inverse_masses[node] * self.volumes[node] * scale * scale;
            let place = place_of(particle);
            put(particle, place + gradient * step);
        }
    }

    /// Computes the swept volumes of the soft nodes and their gradients.
    fn measure(&mut self) {
        self.volumes.fill(0.0);
        self.gradients.fill(DVec3::ZERO);
        for &triangle in &self.triangles {
            let rest = triangle.map(|n| self.rest[n as usize]);
            let moved = triangle.map(|n| self.displacements[n as usize]);
            let now = area_vector([rest[0] + moved[0], rest[1] + moved[1], rest[2] + moved[2]]);
            let volume = swept_volume(rest, moved);

            let is_soft = |n: &u32| (*n as usize) < self.soft_count;
            let share = 1.0 / triangle.iter().filter(|n| is_soft(n)).count().max(1) as f64;
            for node in triangle.into_iter().filter(|n| is_soft(n)) {
                self.volumes[node as usize] += volume * share;
                self.gradients[node as usize] += now / 3.0;
            }
        }
    }
}

/// The volume between a triangle and the same with displaced corners, positive along its normal;
/// exactly zero without displacements.
pub(crate) fn swept_volume(rest: [DVec3; 3], moved: [DVec3; 3]) -> f64 {
    let at = |share: f64| {
        area_vector([
            rest[0] + moved[0] * share,
            rest[1] + moved[1] * share,
            rest[2] + moved[2] * share,
        ])
    };
    let mean = (moved[0] + moved[1] + moved[2]) / 3.0;
    mean.dot(at(0.0) + at(0.5) * 4.0 + at(1.0)) / 6.0
}

fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a) * 0.5
}

/// `α = (t²/κ) (L + A/l²)`, `L` over triangles whose corners are all soft.
fn compliance(mesh: &SoftMesh, nodes: &SoftNodes<'_>) -> SparseMatrix {
    let mut triplets = Vec::new();
    for node in 0..mesh.soft_count {
        let constants = &nodes.constants[node];
        let flow = flow(constants.depth, constants.volume);
        let leak = flow * nodes.masses[node] / (LEAK * constants.depth).powi(2);
        triplets.push((node as u32, node as u32, leak));
    }
    for triangle in &mesh.connections.triangles {
        if triangle.iter().any(|&n| n as usize >= mesh.soft_count) {
            continue;
        }

        let mean = |value: fn(&crate::touch::soft_material::SheetConstants) -> f64| {
            triangle
                .iter()
                .map(|&n| value(&nodes.constants[n as usize]))
                .sum::<f64>()
                / 3.0
        };
        let flow = flow(mean(|s| s.depth), mean(|s| s.volume));
        let places = triangle.map(|n| nodes.rest[n as usize]);
        for k in 0..3 {
            let [i, j] = [triangle[(k + 1) % 3], triangle[(k + 2) % 3]];
            let first = places[(k + 1) % 3] - places[k];
            let second = places[(k + 2) % 3] - places[k];
            let doubled = first.cross(second).length();
            let weight = 0.5 * flow * first.dot(second) / doubled;
            if !weight.is_finite() {
                continue;
            }
            triplets.extend([
                (i, i, weight),
                (j, j, weight),
                (i, j, -weight),
                (j, i, -weight),
            ]);
        }
    }

    SparseMatrix::from_triplets(mesh.soft_count, mesh.soft_count, &triplets)
}

/// `t²/κ`, where `modulus` is `κ t`; bounded where there is no stiffness.
fn flow(depth: f64, modulus: f64) -> f64 {
    (depth * depth * depth / modulus).min(MOST_FLOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: [DVec3; 3] = [
        DVec3::new(0.1, -0.2, 0.3),
        DVec3::new(1.2, 0.1, 0.2),
        DVec3::new(0.4, 0.9, 0.5),
    ];
    const MOVED: [DVec3; 3] = [
        DVec3::new(0.05, 0.1, -0.3),
        DVec3::new(-0.1, 0.2, 0.4),
        DVec3::new(0.2, -0.1, 0.6),
    ];

    #[test]
    fn a_shifted_triangle_sweeps_its_area_times_the_height() {
        let shift = DVec3::new(0.3, -0.2, 0.7);
        let expected = area_vector(REST).dot(shift);
        assert!((swept_volume(REST, [shift; 3]) - expected).abs() < 1e-15);
        assert_eq!(swept_volume(REST, [DVec3::ZERO; 3]), 0.0);
    }

    #[test]
    fn the_swept_volume_is_that_of_thin_slices() {
        // The integral of u·n over the moving triangle, by the midpoint rule.
        let slices = 2000;
        let mean = (MOVED[0] + MOVED[1] + MOVED[2]) / 3.0;
        let mut expected = 0.0;
        for k in 0..slices {
            let share = (f64::from(k) + 0.5) / f64::from(slices);
            let corners = std::array::from_fn(|c| REST[c] + MOVED[c] * share);
            expected += mean.dot(area_vector(corners)) / f64::from(slices);
        }
        assert!((swept_volume(REST, MOVED) - expected).abs() < 1e-7);
    }
}
