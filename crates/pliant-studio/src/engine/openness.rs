//! Ambient occlusion of the models of a viewport, computed beside the window.
//!
//! **Problem.** Ambient occlusion depends on the pose, and takes longer than a frame.
//!
//! **Implementation.** A worker computes it for poses at rest; while a model moves, it keeps that of
//! its last pose at rest.

use std::sync::Arc;

use pliant::mesh::glam::{DAffine3, Vec3};
use pliant::view::{OccludedSurface, vertex_openness};

use super::surface::{Surface, Vertices};
use super::work::{Inbox, Latest, Outbox, Wake};

/// A model that receives and hides light.
#[derive(Debug, Clone)]
pub struct OccludedModel {
    /// Its triangles.
    pub surface: Arc<Surface>,
    /// Where its vertices are.
    pub vertices: Arc<Vertices>,
    /// From its own space to the world.
    pub placement: DAffine3,
}

impl PartialEq for OccludedModel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.surface, &other.surface)
            && Arc::ptr_eq(&self.vertices, &other.vertices)
            && self.placement == other.placement
    }
}

/// Openness of the vertices of models.
#[derive(Debug, Clone)]
pub struct SceneOpenness {
    /// The models.
    pub models: Vec<OccludedModel>,
    /// For each model, a value from 0 to 1 for each vertex.
    pub values: Vec<Arc<Vec<f32>>>,
}

impl SceneOpenness {
    /// Computes it.
    #[must_use]
    pub fn of(models: Vec<OccludedModel>) -> Self {
        let placed: Vec<(Vec<Vec3>, Vec<Vec3>)> = models.iter().map(in_world).collect();
        let surfaces: Vec<OccludedSurface<'_>> = models
            .iter()
            .zip(&placed)
            .map(|(model, (positions, normals))| OccludedSurface {
                positions,
                normals,
                triangles: casting(&model.surface),
            })
            .collect();

        let values = vertex_openness(&surfaces).into_iter().map(Arc::new);
        let values = values.collect();
        Self { models, values }
    }

    /// The values of a surface, in whatever pose.
    #[must_use]
    pub fn of_surface(&self, surface: &Arc<Surface>) -> Option<&Arc<Vec<f32>>> {
        let mut pairs = self.models.iter().zip(&self.values);
        pairs
            .find(|(model, _)| Arc::ptr_eq(&model.surface, surface))
            .map(|(_, values)| values)
    }
}

/// Starts the worker.
#[must_use]
pub fn start(wake: Wake) -> Latest<Vec<OccludedModel>, SceneOpenness> {
    Latest::new(
        "Ambient occlusion",
        wake,
        |inbox: &Inbox<Vec<OccludedModel>>, outbox: &Outbox<SceneOpenness>| {
            while let Some(models) = inbox.next() {
                outbox.put(Ok(SceneOpenness::of(models)));
            }
        },
    )
}

/// The triangles that hide light.
fn casting(surface: &Surface) -> &[[u32; 3]] {
    let appearance = surface.appearance.as_ref();
    let opaque = appearance.and_then(|appearance| appearance.casting.as_deref());
    opaque.unwrap_or(&surface.triangles)
}

fn in_world(model: &OccludedModel) -> (Vec<Vec3>, Vec<Vec3>) {
    let vertices = &model.vertices;
    if model.placement == DAffine3::IDENTITY {
        return (vertices.positions.clone(), vertices.normals.clone());
    }
    let normal_from_model = model.placement.matrix3.inverse().transpose();
    let positions = vertices.positions.iter();
    let normals = vertices.normals.iter();
    (
        positions
            .map(|p| model.placement.transform_point3(p.as_dvec3()).as_vec3())
            .collect(),
        normals
            .map(|n| {
                (normal_from_model * n.as_dvec3())
                    .normalize_or_zero()
                    .as_vec3()
            })
            .collect(),
    )
}
