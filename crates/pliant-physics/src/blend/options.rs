//! Options of a blend: supports, energy terms, interior and solver.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::PhysicsError;
use crate::blend::energy::EnergyTerms;
use crate::blend::interior::InteriorOptions;
use crate::blend::solvers::Solver;

/// Supports, energy terms, interior and solver of a blend.
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
    /// The energy terms. Default: [`EnergyTerms::springs`].
    #[must_use]
    pub fn with_energy(self, energy: EnergyTerms) -> Self {
        Self { energy, ..self }
    }

    /// The solver. Default: [`Solver::Fast`].
    #[must_use]
    pub fn with_solver(self, solver: Solver) -> Self {
        Self { solver, ..self }
    }

    /// The interior points. Default: [`InteriorOptions::DEFAULT_SHARE`] of the surface vertices.
    #[must_use]
    pub fn with_interior(self, interior: InteriorOptions) -> Self {
        Self { interior, ..self }
    }

    /// Vertices around which anchors lie. A component without one of them has its anchor in the
    /// middle. Default: none.
    #[must_use]
    pub fn with_anchor(self, vertices: Vec<usize>) -> Self {
        Self {
            anchor: vertices,
            ..self
        }
    }

    /// Vertices that move linearly between the shapes; their components have no anchor. Default:
    /// none.
    #[must_use]
    pub fn with_fixed(self, vertices: Vec<usize>) -> Self {
        Self {
            fixed: vertices,
            ..self
        }
    }

    /// Vertices that are held at given positions, also where they are fixed; the last position of a
    /// vertex counts. Default: none.
    #[must_use]
    pub fn with_pulls(self, pulls: Vec<(usize, DVec3)>) -> Self {
        Self { pulls, ..self }
    }

    /// The stiffness of the surface at each vertex; only ratios matter. Default: constant.
    #[must_use]
    pub fn with_stiffness(self, map: Vec<f64>) -> Self {
        Self {
            stiffness: Some(map),
            ..self
        }
    }

    /// Rejects vertices that do not exist, positions that are not finite, and invalid weights and
    /// maps.
    pub(crate) fn check(&self, mesh: &Mesh) -> Result<(), PhysicsError> {
        let pulled = self.pulls.iter().map(|(vertex, _)| vertex);
        for &vertex in self.fixed.iter().chain(&self.anchor).chain(pulled) {
            mesh.require_vertex(vertex)?;
        }
        if let Some(&(vertex, _)) = self.pulls.iter().find(|(_, place)| !place.is_finite()) {
            return Err(PhysicsError::Pull { vertex });
        }

        self.energy.check()?;

        // A stiffness map has one positive number per vertex.
        let Some(map) = &self.stiffness else {
            return Ok(());
        };

        let found = map.len();
        let expected = mesh.vertex_count();
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
}
