//! Connected components of a mesh with their centroids.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology};

use crate::extent::vertex_areas;

/// The connected components of a mesh and their centroids by area.
#[derive(Debug, Clone)]
pub(crate) struct Components {
    /// The component of each vertex; [`Topology::NONE`] for vertices without a face.
    pub(crate) of_vertex: Vec<u32>,
    /// The weight of each vertex in the centroid of its component; their sum is one in each.
    weights: Vec<f64>,
    /// The centroids in the rest pose.
    pub(crate) centroids: Vec<DVec3>,
}

impl Components {
    pub(crate) fn of(mesh: &Mesh) -> Self {
        let count = mesh.topology().component_count();
        let mut components = Self {
            of_vertex: mesh.topology().component_of_vertex().to_vec(),
            weights: vertex_areas(mesh),
            centroids: vec![DVec3::ZERO; count],
        };
        components.normalize_weights();
        components.centroids = components.centroids_at(mesh.positions());
        components
    }

    /// Divides areas by those of the components; the vertices of a component without area have
    /// equal weights.
    fn normalize_weights(&mut self) {
        // Area and number of vertices of each component.
        let mut totals = vec![(0.0, 0_u32); self.centroids.len()];
        for (weight, &component) in self.weights.iter().zip(&self.of_vertex) {
            if component != Topology::NONE {
                let (area, vertices) = &mut totals[component as usize];
                *area += weight;
                *vertices += 1;
            }
        }

        for (weight, &component) in self.weights.iter_mut().zip(&self.of_vertex) {
            *weight = match totals.get(component as usize) {
                None => 0.0,
                Some(&(area, _)) if area > 0.0 => *weight / area,
                Some(&(_, vertices)) => 1.0 / f64::from(vertices),
            };
        }
    }

    /// The centroid of every component in another pose.
    pub(crate) fn centroids_at(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut centroids = vec![DVec3::ZERO; self.centroids.len()];
        let weighted = positions.iter().zip(&self.weights);
        for ((&position, &weight), &component) in weighted.zip(&self.of_vertex) {
            if component != Topology::NONE {
                centroids[component as usize] += position * weight;
            }
        }
        centroids
    }
}
