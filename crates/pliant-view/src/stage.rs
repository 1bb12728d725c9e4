//! A scene made ready for pictures from any side.
//!
//! **Ours.** What does not depend on the camera (unit space, normals, ambient occlusion) is
//! computed once; a turntable or a sheet of views shares it. On small triangles ambient occlusion
//! is interpolated between vertices; on large ones, where a vertex is far from what it should stand
//! for, it is computed at pixels.

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;
use pliant_mesh::Bounds;

use crate::height_map::Occluder;
use crate::lens::{UnitSpace, is_usable, to_single};
use crate::normals::Normals;
use crate::sky::Sky;
use crate::{Object, Scene, ViewError};

/// Light is found at each pixel of triangles with an edge longer than this, in radii of the scene.
const COARSE_EDGE: f64 = 0.06;
/// Vertices in one parallel task.
pub(crate) const VERTICES_PER_TASK: usize = 1024;

/// A scene with everything that all of its pictures share.
#[derive(Debug)]
pub struct Stage<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) space: UnitSpace,
    pub(crate) objects: Vec<StagedObject>,
    pub(crate) sky: Sky,
}

/// A mesh in unit space.
#[derive(Debug)]
pub(crate) struct StagedObject {
    pub(crate) positions: Vec<DVec3>,
    pub(crate) single: Vec<Vec3>,
    pub(crate) normals: Normals,
    /// Ambient openness of each vertex.
    pub(crate) openness: Vec<f32>,
    /// Whether a triangle is so small that light may be interpolated between its corners.
    pub(crate) fine: Vec<bool>,
    /// The scene-wide number of the first triangle.
    pub(crate) first_triangle: u32,
}

impl<'a> Stage<'a> {
    /// Makes a scene ready; paint that does not fit its mesh is declined here.
    pub fn prepare(scene: &'a Scene) -> Result<Self, ViewError> {
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
            objects.push(StagedObject::new(object, &space, first_triangle));
            first_triangle += object.mesh.triangles().len() as u32;
        }
        let sky = Sky::draw(&occluders(scene, &objects));
        for (object, staged) in scene.objects.iter().zip(&mut objects) {
            staged.openness = parallel::map(object.mesh.vertex_count(), VERTICES_PER_TASK, |v| {
                staged.openness_at(v, &sky)
            });
        }
        Ok(Self {
            scene,
            space,
            objects,
            sky,
        })
    }

    pub(crate) fn occluders(&self) -> Vec<Occluder<'_>> {
        occluders(self.scene, &self.objects)
    }
}

fn occluders<'a>(scene: &'a Scene, objects: &'a [StagedObject]) -> Vec<Occluder<'a>> {
    let pairs = scene.objects.iter().zip(objects);
    pairs
        .map(|(object, staged)| Occluder {
            positions: &staged.single,
            triangles: object.mesh.triangles(),
        })
        .collect()
}

impl StagedObject {
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

    fn openness_at(&self, vertex: usize, sky: &Sky) -> f32 {
        sky.seen(self.single[vertex], self.normals.vertices[vertex])
    }
}

fn is_fine([a, b, c]: [DVec3; 3]) -> bool {
    let longest = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    longest < COARSE_EDGE * COARSE_EDGE
}
