//! What a user says about a blend: what holds it, what is in balance, and how balance is found.

use std::collections::BTreeSet;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::PhysicsError;
use crate::cage::Binding;
use crate::energy_terms::EnergyTerms;
use crate::interior::InteriorOptions;
use crate::solver::Solver;

/// What holds a blend and how it is solved.
#[derive(Debug, Clone, Default)]
pub struct BlendOptions {
    pub(crate) solver: Solver,
    pub(crate) interior: InteriorOptions,
    pub(crate) anchor: Vec<usize>,
    pub(crate) fixed: Vec<usize>,
    pub(crate) pulls: Vec<(usize, DVec3)>,
    pub(crate) stiffness: Option<Vec<f64>>,
    pub(crate) energy: EnergyTerms,
}

impl BlendOptions {
    /// What is in balance. Default: [`EnergyTerms::springs`].
    #[must_use]
    pub fn with_energy(self, energy: EnergyTerms) -> Self {
        Self { energy, ..self }
    }

    /// How equilibria are found. Default: [`Solver::Fast`].
    #[must_use]
    pub fn with_solver(self, solver: Solver) -> Self {
        Self { solver, ..self }
    }

    /// How the inside is filled. Default: [`InteriorOptions::DEFAULT_SHARE`] of the surface's
    /// vertices.
    #[must_use]
    pub fn with_interior(self, interior: InteriorOptions) -> Self {
        Self { interior, ..self }
    }

    /// Anchors lie around these vertices; parts without one of them are anchored in their middle,
    /// as all are by default.
    #[must_use]
    pub fn with_anchor(self, vertices: Vec<usize>) -> Self {
        Self {
            anchor: vertices,
            ..self
        }
    }

    /// These vertices move linearly between the shapes; the parts that they lie in have no anchor.
    /// Default: none.
    #[must_use]
    pub fn with_fixed(self, vertices: Vec<usize>) -> Self {
        Self {
            fixed: vertices,
            ..self
        }
    }

    /// These vertices are held at given places, also where they are fixed; the last place of a
    /// vertex counts.
    #[must_use]
    pub fn with_pulls(self, pulls: Vec<(usize, DVec3)>) -> Self {
        Self { pulls, ..self }
    }

    /// How stiff the surface is at each vertex; only ratios matter. Default: the same everywhere.
    #[must_use]
    pub fn with_stiffness(self, map: Vec<f64>) -> Self {
        Self {
            stiffness: Some(map),
            ..self
        }
    }

    /// Declines vertices beyond the last, places that are none, weights and maps that no energy can
    /// have.
    pub(crate) fn check(&self, mesh: &Mesh) -> Result<(), PhysicsError> {
        let pulled = self.pulls.iter().map(|(vertex, _)| vertex);
        for &vertex in self.fixed.iter().chain(&self.anchor).chain(pulled) {
            mesh.require_vertex(vertex)?;
        }
        if let Some(&(vertex, _)) = self.pulls.iter().find(|(_, place)| !place.is_finite()) {
            return Err(PhysicsError::Pull { vertex });
        }
        self.energy.check()?;
        let Some(map) = &self.stiffness else {
            return Ok(());
        };
        let (found, expected) = (map.len(), mesh.vertex_count());
        if found != expected {
            return Err(PhysicsError::PerVertex {
                what: "the stiffness map",
                found,
                expected,
            });
        }
        match map.iter().position(|k| !(k.is_finite() && *k > 0.0)) {
            Some(vertex) => Err(PhysicsError::Stiffness {
                vertex,
                value: map[vertex],
            }),
            None => Ok(()),
        }
    }

    /// The same on a cage of so many vertices: what is held there is what lies at a cage vertex.
    pub(crate) fn on_cage(&self, binding: &Binding, nodes: usize) -> Self {
        let unique = |list: Vec<usize>| {
            list.into_iter()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        Self {
            anchor: unique(
                self.anchor
                    .iter()
                    .filter_map(|&v| binding.main_node(v))
                    .collect(),
            ),
            fixed: unique(
                self.fixed
                    .iter()
                    .filter_map(|&v| binding.node_at(v))
                    .collect(),
            ),
            pulls: self
                .pulls
                .iter()
                .filter_map(|&(v, place)| Some((binding.node_at(v)?, place)))
                .collect(),
            stiffness: self
                .stiffness
                .as_ref()
                .map(|map| binding.gather(map, nodes)),
            ..self.clone()
        }
    }
}
