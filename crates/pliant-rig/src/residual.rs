//! What the sliders cannot reach, kept as a layer on top of them.
//!
//! **Problem.** After a solve for weights some pins still miss their goals. A smooth displacement
//! of the disc around them takes up the rest: exact at the pins, with value and slope zero at the
//! rim, as rigid as possible between, and nowhere else. It stays beside the weights until it is
//! keyed, promoted to a shape of the rig or thrown away.
//!
//! **Equation.** [`ResidualLayer`] minimises the energy of a clamped plate whose edges turn with it
//! (`plate`), under the constraint that every pin moves by its residual (`hold`). The result, a
//! [`Residual`], holds a vector `u_v` per vertex of the pose it was made in, the *bind pose*. In
//! another pose the vector turns with the surface:
//!
//! ```text
//! x_v ← x_v + s R_v u_v        R_v: the rotation nearest to Σ_t a_t F_t over the triangles at v
//! ```
//!
//! with the strength `s`, areas `a_t` and deformation gradients `F_t` from the bind pose.
//!
//! **Source.** The split into a solve and a sculpt on top is that of Lewis and Anjyo, "Direct
//! manipulation blendshapes", 2010, whose pins leave a residual; the plate names its own sources.
//!
//! **Ours.** The disc is one of exact distances along the posed surface, so a pin on a lid leaves
//! the other lid alone. Strengths over time are a [`WeightTrack`] with one weight per layer.

mod heat_map;
mod hold;
mod layer;
mod patch;
mod plate;
mod promotion;
#[cfg(test)]
mod tests;

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DeformationGradients, Mesh, MeshError, triangle_area};

pub use heat_map::unreachable_map;
pub use layer::{ResidualLayer, ResidualOptions, ResidualReport};

use crate::{RigError, WeightTrack};
use patch::Patch;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// A sparse displacement of a pose that turns with the surface when the pose changes.
#[derive(Debug, Clone)]
pub struct Residual {
    vertices: Vec<u32>,
    displacements: Vec<DVec3>,
    bind: Patch,
    /// From the bind pose of the patch.
    gradients: DeformationGradients,
}

impl Residual {
    /// A layer that moves `vertices` of `mesh`, posed at `bind_positions`, by `displacements`.
    ///
    /// # Errors
    /// [`MeshError::Count`] if the lists do not fit each other, [`MeshError::BadNumber`] if the
    /// vertices do not ascend, [`MeshError::NoSuchVertex`] or [`RigError::NotFinite`] where one
    /// is wrong.
    pub fn new(
        mesh: &Mesh,
        bind_positions: &[DVec3],
        vertices: Vec<u32>,
        displacements: Vec<DVec3>,
    ) -> Result<Self, RigError> {
        let count = |what, found, expected| {
            if found == expected {
                Ok(())
            } else {
                Err(MeshError::Count {
                    what,
                    found,
                    expected,
                })
            }
        };
        count(
            "the bind pose of a layer",
            bind_positions.len(),
            mesh.vertex_count(),
        )?;
        count(
            "the displacements of a layer",
            displacements.len(),
            vertices.len(),
        )?;
        vertices
            .iter()
            .try_for_each(|&v| mesh.require_vertex(v as usize))?;
        if let Some(pair) = vertices.windows(2).find(|pair| pair[0] >= pair[1]) {
            let needed = "above the one before it; sort the layer's vertices";
            return Err(MeshError::BadNumber {
                what: "a vertex of a layer",
                value: f64::from(pair[1]),
                needed,
            }
            .into());
        }
        if let Some(k) = displacements.iter().position(|d| !d.is_finite()) {
            return Err(RigError::NotFinite {
                what: "the layer".into(),
                vertex: vertices[k] as usize,
            });
        }
        let bind = Patch::around(mesh, bind_positions, &vertices)?;
        let gradients = DeformationGradients::from_rest(&bind.mesh)?;
        Ok(Self {
            vertices,
            displacements,
            bind,
            gradients,
        })
    }

    /// The vertices it moves, ascending.
    #[must_use]
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The displacement of each of them in the bind pose.
    #[must_use]
    pub fn displacements(&self) -> &[DVec3] {
        &self.displacements
    }

    /// The same layer, `strength` times as strong.
    #[must_use]
    pub fn scaled(&self, strength: f64) -> Self {
        let displacements = self.displacements.iter().map(|&d| d * strength).collect();
        Self {
            displacements,
            ..self.clone()
        }
    }

    /// Adds the layer to the pose `positions`; in the bind pose exactly its displacements times
    /// `strength`.
    ///
    /// # Errors
    /// [`MeshError::NoSuchVertex`] if the pose has fewer vertices than the layer needs.
    pub fn apply_to(&self, positions: &mut [DVec3], strength: f64) -> Result<(), RigError> {
        let vertices = positions.len();
        if let Some(&vertex) = self
            .bind
            .vertices
            .last()
            .filter(|&&v| v as usize >= vertices)
        {
            return Err(MeshError::NoSuchVertex {
                vertex: vertex as usize,
                vertices,
            }
            .into());
        }
        let posed: Vec<DVec3> = self
            .bind
            .vertices
            .iter()
            .map(|&v| positions[v as usize])
            .collect();
        let gradients = self.gradients.at(&posed)?;
        let turned = parallel::map(self.vertices.len(), VERTICES_PER_TASK, |k| {
            let turn = self.turn_of(self.bind.local(self.vertices[k]), &posed, &gradients);
            turn.map_or(self.displacements[k], |turn| turn * self.displacements[k])
        });
        for (&v, displacement) in self.vertices.iter().zip(turned) {
            positions[v as usize] += displacement * strength;
        }
        Ok(())
    }

    /// How the surface at a vertex of the patch has turned since the bind pose; none where it is in
    /// it, to the bit.
    fn turn_of(&self, v: usize, posed: &[DVec3], gradients: &[DMat3]) -> Option<DMat3> {
        let around = self.bind.mesh.topology().vertex_triangles().row(v);
        let at_rest = |&t: &u32| {
            self.bind.mesh.triangles()[t as usize]
                .iter()
                .all(|&c| posed[c as usize] == self.bind.mesh.positions()[c as usize])
        };
        if around.iter().all(at_rest) {
            return None;
        }
        let part = |&t: &u32| {
            gradients[t as usize] * triangle_area(self.bind.mesh.triangle_points(t as usize))
        };
        Some(nearest_rotation(
            around
                .iter()
                .map(part)
                .fold(DMat3::ZERO, |sum, part| sum + part),
        ))
    }
}

/// A layer whose strength changes over time.
#[derive(Debug, Clone)]
pub struct KeyedResidual {
    residual: Residual,
    strengths: WeightTrack,
}

impl KeyedResidual {
    /// A layer with a track of one weight: its strength.
    ///
    /// # Errors
    /// [`RigError::Track`] if the track has another number of weights.
    pub fn new(residual: Residual, strengths: WeightTrack) -> Result<Self, RigError> {
        match strengths.keys().first().map_or(0, Vec::len) {
            1 => Ok(Self {
                residual,
                strengths,
            }),
            found => Err(RigError::Track {
                what: "weights in a key",
                found,
                expected: 1,
            }),
        }
    }

    /// The layer at strength 1.
    #[must_use]
    pub fn residual(&self) -> &Residual {
        &self.residual
    }

    /// Its strength over time.
    #[must_use]
    pub fn strengths(&self) -> &WeightTrack {
        &self.strengths
    }

    /// Adds the layer, as strong as it is at one moment, to the pose `positions`.
    ///
    /// # Errors
    /// As [`Residual::apply_to`].
    pub fn apply_at(&self, time_secs: f64, positions: &mut [DVec3]) -> Result<(), RigError> {
        self.residual
            .apply_to(positions, self.strengths.at(time_secs)[0])
    }
}
