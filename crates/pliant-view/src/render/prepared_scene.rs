//! A scene prepared for pictures from any camera.
//!
//! **Method.** Unit space, normals and ambient occlusion do not depend on the camera. They are
//! computed once, and all pictures of a turntable or a contact sheet share them. On small triangles,
//! ambient occlusion is interpolated between vertices; on large ones, it is computed at each pixel.

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;
use pliant_mesh::{Bounds, Mesh};

use crate::camera::projection::{UnitSpace, is_usable, to_single};
use crate::pbr::{PbrPaint, Transparency};
use crate::shading::{AmbientOcclusion, Normals, Occluder};
use crate::{Object, Paint, Scene, ViewError};

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
    /// The corners of each triangle, for a mesh with materials.
    pub(crate) corners: Vec<[u32; 3]>,
    /// The triangles that cast shadows, if not all do.
    casting: Option<Vec<[u32; 3]>>,
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
            triangles: match &prepared.casting {
                Some(casting) => casting,
                None => object.mesh.triangles(),
            },
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
        let mut normals = Normals::of(&object.mesh, &positions, object.material.crease_rad);
        let mut corners = Vec::new();
        let mut casting = None;
        if let Paint::Pbr(paint) = &object.material.paint {
            corners = triangle_corners(&object.mesh);
            casting = casting_triangles(&object.mesh, paint);
            if object.material.crease_rad > 0.0 {
                take_authored_normals(&mut normals, &object.mesh, &corners);
            }
        }

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
            corners,
            casting,
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

/// The corners of each triangle, counted over the faces of the mesh.
fn triangle_corners(mesh: &Mesh) -> Vec<[u32; 3]> {
    let mut all = Vec::with_capacity(mesh.triangles().len());
    for face in 0..mesh.face_count() {
        let corners = mesh.face_corners(face);
        // Faces are triangulated as fans from their first corner.
        for k in corners.start + 1..corners.end.saturating_sub(1) {
            all.push([corners.start as u32, k as u32, k as u32 + 1]);
        }
    }
    all
}

/// The triangles that are not blended with what is behind them; `None` if that is all of them.
fn casting_triangles(mesh: &Mesh, paint: &PbrPaint) -> Option<Vec<[u32; 3]>> {
    let casts = |face: u32| {
        let material = paint.material(face as usize);
        material.is_none_or(|material| material.transparency != Transparency::Blend)
    };
    let faces = mesh.triangle_faces();
    if faces.iter().all(|&face| casts(face)) {
        return None;
    }

    let pairs = mesh.triangles().iter().zip(faces);
    let casting = pairs.filter(|&(_, &face)| casts(face));
    Some(casting.map(|(&triangle, _)| triangle).collect())
}

/// Replaces normals of corners by those of the file, where it has them.
fn take_authored_normals(normals: &mut Normals, mesh: &Mesh, corners: &[[u32; 3]]) {
    let Some(layer) = mesh.normals() else { return };
    for (into, corners) in normals.corners.iter_mut().zip(corners) {
        for (normal, &corner) in into.iter_mut().zip(corners) {
            let authored = layer.corners[corner as usize].map(|k| layer.values[k as usize]);
            if let Some(unit) = authored.and_then(|n| n.as_vec3().try_normalize()) {
                *normal = unit;
            }
        }
    }
}
