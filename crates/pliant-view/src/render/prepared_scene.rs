//! A scene prepared for pictures from any camera.
//!
//! **Method.** Unit space, normals and ambient occlusion do not depend on the camera. They are
//! computed once, and all pictures of a turntable or a contact sheet share them. On small triangles,
//! ambient occlusion is interpolated between vertices; on large ones, it is computed at each pixel.

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;
use pliant_mesh::Bounds;

use crate::camera::projection::{UnitSpace, is_usable, to_single};
use crate::shading::{AmbientOcclusion, Normals, Occluder};
use crate::{Object, Scene, ViewError};

/// Chosen: on triangles with a longer edge, in radii of the scene, light is computed at each pixel.
const COARSE_EDGE: f64 = 0.06;
/// Vertices in one parallel task.
pub(crate) const VERTICES_PER_TASK: usize = 1024;

/// A scene with everything that its pictures share.
#[derive(Debug)]
pub struct PreparedScene<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) space: UnitSpace,
    pub(crate) objects: Vec<PreparedObject>,
    pub(crate) ambient: AmbientOcclusion,
}

/// A mesh in unit space.
#[derive(Debug)]
pub(crate) struct PreparedObject {
    pub(crate) positions: Vec<DVec3>,
    pub(crate) single: Vec<Vec3>,
    pub(crate) normals: Normals,
    /// The visible fraction of the sky at each vertex.
    pub(crate) openness: Vec<f32>,
    /// For each triangle, whether it is small enough to interpolate light between its corners.
    pub(crate) fine: Vec<bool>,
    /// The index of the first triangle in the scene.
    pub(crate) first_triangle: u32,
}

impl<'a> PreparedScene<'a> {
    /// Prepares a scene. Paint that does not fit its mesh is rejected here.
    pub fn new(scene: &'a Scene) -> Result<Self, ViewError> {
        scene.check()?;
        let usable: Vec<DVec3> = scene
            .points()
            .into_iter()
            .filter(|p| is_usable(*p))
            .collect();

        let space = UnitSpace::of(Bounds::of(&usable));
        let mut objects = Vec::with_capacity(scene.objects.len());
        let mut first_triangle = 0;
        for object in &scene.objects {
            objects.push(PreparedObject::new(object, &space, first_triangle));
            first_triangle += object.mesh.triangles().len() as u32;
        }

        // Occlusion needs all objects in unit space, so that it comes second.
        let ambient = AmbientOcclusion::draw(&occluders(scene, &objects));
        for (object, prepared) in scene.objects.iter().zip(&mut objects) {
            prepared.openness = parallel::map(object.mesh.vertex_count(), VERTICES_PER_TASK, |v| {
                prepared.openness_at(v, &ambient)
            });
        }

        Ok(Self {
            scene,
            space,
            objects,
            ambient,
        })
    }

    pub(crate) fn occluders(&self) -> Vec<Occluder<'_>> {
        occluders(self.scene, &self.objects)
    }
}

fn occluders<'a>(scene: &'a Scene, objects: &'a [PreparedObject]) -> Vec<Occluder<'a>> {
    let pairs = scene.objects.iter().zip(objects);
    pairs
        .map(|(object, prepared)| Occluder {
            positions: &prepared.single,
            triangles: object.mesh.triangles(),
        })
        .collect()
}

impl PreparedObject {
    fn new(object: &Object, space: &UnitSpace, first_triangle: u32) -> Self {
        let positions: Vec<DVec3> = object
            .mesh
            .positions()
            .iter()
            .map(|&p| space.point(p))
            .collect();

        let single = positions.iter().map(|&p| to_single(p)).collect();
        let normals = Normals::of(&object.mesh, &positions, object.material.crease_rad);
        let triangles = object.mesh.triangles();
        let fine = parallel::map(triangles.len(), 4 * VERTICES_PER_TASK, |t| {
            is_fine(triangles[t].map(|v| positions[v as usize]))
        });

        Self {
            positions,
            single,
            normals,
            openness: Vec::new(),
            fine,
            first_triangle,
        }
    }

    fn openness_at(&self, vertex: usize, ambient: &AmbientOcclusion) -> f32 {
        ambient.openness(self.single[vertex], self.normals.vertices[vertex])
    }
}

fn is_fine([a, b, c]: [DVec3; 3]) -> bool {
    let longest = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    longest < COARSE_EDGE * COARSE_EDGE
}
