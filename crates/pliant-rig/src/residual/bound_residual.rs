//! Residuals bound to a pose: displacements that rotate with the surface.

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DeformationGradients, Mesh, MeshError, triangle_area};

use super::patch::Patch;
use crate::{RigError, WeightTrack};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// A sparse displacement of a pose that rotates with the surface when the pose changes.
#[derive(Debug, Clone)]
pub struct Residual {
    pub(super) vertices: Vec<u32>,
    pub(super) displacements: Vec<DVec3>,
    bind: Patch,
    /// From the bind pose of the patch.
    gradients: DeformationGradients,
}

impl Residual {
    /// A residual that moves `vertices` of `mesh`, posed at `bind_positions`, by `displacements`.
    ///
    /// # Errors
    /// [`MeshError::Count`] if the lists do not fit each other, [`MeshError::BadNumber`] if the
    /// vertices do not ascend, [`MeshError::NoSuchVertex`] or [`RigError::NotFinite`] for an
    /// invalid vertex or displacement.
    pub fn new(
        mesh: &Mesh,
        bind_positions: &[DVec3],
        vertices: Vec<u32>,
        displacements: Vec<DVec3>,
    ) -> Result<Self, RigError> {
        check_count(
            "the bind pose of a layer",
            bind_positions.len(),
            mesh.vertex_count(),
        )?;
        check_count(
            "the displacements of a layer",
            displacements.len(),
            vertices.len(),
        )?;
        check_vertices(mesh, &vertices)?;
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

    /// The same residual times `strength`.
    #[must_use]
    pub fn scaled(&self, strength: f64) -> Self {
        let displacements = self.displacements.iter().map(|&d| d * strength).collect();
        Self {
            displacements,
            ..self.clone()
        }
    }

    /// Adds the residual to the pose `positions`; in the bind pose exactly its displacements times
    /// `strength`.
    ///
    /// # Errors
    /// [`MeshError::NoSuchVertex`] if the pose has too few vertices.
    pub fn apply_to(&self, positions: &mut [DVec3], strength: f64) -> Result<(), RigError> {
        let vertices = positions.len();
        if let Some(&last) = self.bind.vertices.last()
            && last as usize >= vertices
        {
            return Err(MeshError::NoSuchVertex {
                vertex: last as usize,
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

        // Displacements rotate with the triangles around their vertices.
        let gradients = self.gradients.at(&posed)?;
        let rotated = parallel::map(self.vertices.len(), VERTICES_PER_TASK, |k| {
            let vertex = self.bind.local(self.vertices[k]);
            match self.rotation_at(vertex, &posed, &gradients) {
                Some(rotation) => rotation * self.displacements[k],
                None => self.displacements[k],
            }
        });

        for (&v, displacement) in self.vertices.iter().zip(rotated) {
            positions[v as usize] += displacement * strength;
        }
        Ok(())
    }

    /// The rotation of the surface at a vertex of the patch since the bind pose; `None` if its
    /// triangles have the bits of the bind pose.
    fn rotation_at(&self, v: usize, posed: &[DVec3], gradients: &[DMat3]) -> Option<DMat3> {
        let mesh = &self.bind.mesh;
        let triangles = mesh.topology().vertex_triangles().row(v);
        // The rounded gradients of an unmoved surface would change the bits of the layer.
        let is_unchanged = triangles.iter().all(|&t| {
            let corners = mesh.triangles()[t as usize];
            corners
                .iter()
                .all(|&c| posed[c as usize] == mesh.positions()[c as usize])
        });
        if is_unchanged {
            return None;
        }

        // Weights by area: slivers around a vertex rotate more than its surface.
        let mut sum = DMat3::ZERO;
        for &t in triangles {
            sum += gradients[t as usize] * triangle_area(mesh.triangle_points(t as usize));
        }
        Some(nearest_rotation(sum))
    }
}

fn check_count(what: &'static str, found: usize, expected: usize) -> Result<(), MeshError> {
    if found == expected {
        Ok(())
    } else {
        Err(MeshError::Count {
            what,
            found,
            expected,
        })
    }
}

/// Checks that the vertices exist and ascend.
fn check_vertices(mesh: &Mesh, vertices: &[u32]) -> Result<(), MeshError> {
    for &v in vertices {
        mesh.require_vertex(v as usize)?;
    }
    match vertices.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err(MeshError::BadNumber {
            what: "a vertex of a layer",
            value: f64::from(pair[1]),
            needed: "above the one before it; sort the layer's vertices",
        }),
        None => Ok(()),
    }
}

/// A residual whose strength changes over time.
#[derive(Debug, Clone)]
pub struct KeyedResidual {
    residual: Residual,
    strengths: WeightTrack,
}

impl KeyedResidual {
    /// A residual with a track of one weight, its strength.
    ///
    /// # Errors
    /// [`RigError::Track`] if the track has another number of weights.
    pub fn new(residual: Residual, strengths: WeightTrack) -> Result<Self, RigError> {
        let found = strengths.keys().first().map_or(0, Vec::len);
        if found != 1 {
            return Err(RigError::Track {
                what: "weights in a key",
                found,
                expected: 1,
            });
        }

        Ok(Self {
            residual,
            strengths,
        })
    }

    /// The residual at strength 1.
    #[must_use]
    pub fn residual(&self) -> &Residual {
        &self.residual
    }

    /// Its strength over time.
    #[must_use]
    pub fn strengths(&self) -> &WeightTrack {
        &self.strengths
    }

    /// Adds the residual with its strength at one time to the pose `positions`.
    ///
    /// # Errors
    /// As [`Residual::apply_to`].
    pub fn apply_at(&self, time_secs: f64, positions: &mut [DVec3]) -> Result<(), RigError> {
        let strength = self.strengths.at(time_secs)[0];
        self.residual.apply_to(positions, strength)
    }
}
