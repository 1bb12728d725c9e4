//! The models of a viewport, and ray picking.
//!
//! **Implementation.** Large arrays are shared. An array is unchanged if its `Arc` is the same; the
//! graphics card gets an array again only when it is another one. Picking searches the drawn
//! arrays, so a moving pose needs no index.

use std::collections::BTreeSet;
use std::sync::Arc;

use eframe::egui::Color32;
use pliant::mesh::glam::{DAffine3, DVec3};
use pliant::mesh::{Bounds, Mesh, VertexId, nearest_ray_hit};

use super::screen::Ray;
use crate::engine::color::Srgba;
use crate::engine::heat::Heat;
use crate::engine::surface::{Surface, Vertices};
use crate::model::look::Shading;

/// Colours of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Paint {
    /// The materials of its surface; clay where it has none.
    Own,
    /// One colour.
    Plain(Color32),
    /// One colour per vertex, over the surface's own by its opacity.
    Colors(Arc<Vec<Srgba>>),
    /// A value per vertex, through a colour map.
    Heat(Heat),
}

/// An opaque vertex colour as egui has it.
#[must_use]
pub const fn color32(Srgba([red, green, blue, _]): Srgba) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// A model of the scene.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its triangles and lines.
    pub surface: Arc<Surface>,
    /// Where its vertices are.
    pub vertices: Arc<Vertices>,
    /// Its colours.
    pub paint: Paint,
    /// From its own space to the world.
    pub placement: DAffine3,
    /// 1 hides what is behind, less lets it through.
    pub opacity: f32,
    /// How it is shaded; `None` leaves that to the viewport's look.
    pub shading: Option<Shading>,
    /// Whether it is only seen: rays and cameras ignore it.
    pub ghost: bool,
    /// Vertices that tools do not touch.
    pub locked: Option<Arc<BTreeSet<u32>>>,
}

impl Model {
    /// The colour of an unpainted surface, [`Srgba::CLAY`].
    pub const CLAY: Color32 = color32(Srgba::CLAY);
    /// Below this opacity a model lets through what is behind it.
    pub(super) const OPAQUE: f32 = 0.995;

    /// An opaque model in its own materials.
    #[must_use]
    pub fn new(surface: Arc<Surface>, vertices: Arc<Vertices>) -> Self {
        Self {
            surface,
            vertices,
            paint: Paint::Own,
            placement: DAffine3::IDENTITY,
            opacity: 1.0,
            shading: None,
            ghost: false,
            locked: None,
        }
    }

    /// A mesh in its current state.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Self {
        Self::new(Surface::of(mesh), Vertices::of(mesh, mesh.positions()))
    }

    /// With other colours.
    #[must_use]
    pub fn with_paint(self, paint: Paint) -> Self {
        Self { paint, ..self }
    }

    /// With another placement.
    #[must_use]
    pub fn with_placement(self, placement: DAffine3) -> Self {
        Self { placement, ..self }
    }

    /// Translucent.
    #[must_use]
    pub fn with_opacity(self, opacity: f32) -> Self {
        Self { opacity, ..self }
    }

    /// In one colour, translucent, and ignored by rays and cameras.
    #[must_use]
    pub fn as_ghost(self, color: Color32, opacity: f32) -> Self {
        Self {
            paint: Paint::Plain(color),
            opacity,
            ghost: true,
            ..self
        }
    }

    /// Its bounds in the world.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        let own = self.vertices.bounds()?;
        let corners: Vec<DVec3> = (0..8)
            .map(|k| {
                own.min
                    + own.size()
                        * DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2))
            })
            .map(|corner| self.placement.transform_point3(corner))
            .collect();

        Bounds::of(&corners)
    }

    fn hit(&self, index: usize, ray: &Ray) -> Option<Hit> {
        // The ray is transformed instead of all vertices.
        let model_from_world = self.placement.inverse();
        let origin = model_from_world.transform_point3(ray.origin);
        let direction = model_from_world.transform_vector3(ray.direction);

        let found = nearest_ray_hit(
            &self.vertices.positions,
            &self.surface.triangles,
            origin,
            direction,
        )?;

        let triangle = found.place.triangle;
        let barycentric = found.place.barycentric;
        let corners = self.surface.triangles[triangle as usize];
        let weighted =
            |k: usize| self.vertices.positions[corners[k] as usize].as_dvec3() * barycentric[k];
        let position = self
            .placement
            .transform_point3(weighted(0) + weighted(1) + weighted(2));

        let away = |vertex: u32| self.position(vertex).distance_squared(position);
        let vertex = corners
            .into_iter()
            .min_by(|a, b| away(*a).total_cmp(&away(*b)))?;

        Some(Hit {
            model: index,
            triangle,
            barycentric,
            vertex: VertexId::new(vertex),
            position,
            distance: position.distance(ray.origin),
        })
    }

    /// Where a vertex is in the world.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[must_use]
    pub fn position(&self, vertex: u32) -> DVec3 {
        self.placement
            .transform_point3(self.vertices.positions[vertex as usize].as_dvec3())
    }
}

/// Contents of a viewport.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The models, in any order.
    pub models: Vec<Model>,
}

/// Where a ray first meets a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Index of the model.
    pub model: usize,
    /// Index of the triangle in its surface, which is that of the mesh it was made of.
    pub triangle: u32,
    /// Weights of the triangle's corners.
    pub barycentric: [f64; 3],
    /// The nearest corner.
    pub vertex: VertexId,
    /// The place in the world.
    pub position: DVec3,
    /// How far it is from the ray's origin.
    pub distance: f64,
}

impl Scene {
    /// A scene of one model.
    #[must_use]
    pub fn of(model: Model) -> Self {
        Self {
            models: vec![model],
        }
    }

    /// The bounds of all models.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        self.models
            .iter()
            .filter_map(Model::bounds)
            .reduce(|all, one| all.union(&one))
    }

    /// Where all vertices are in the world: what a camera frames.
    #[must_use]
    pub fn points(&self) -> Vec<DVec3> {
        let solid = self.models.iter().filter(|model| !model.ghost);
        solid
            .flat_map(|model| {
                (0..model.vertices.positions.len() as u32).map(|vertex| model.position(vertex))
            })
            .collect()
    }

    /// The nearest place where a ray meets a model, from either side.
    #[must_use]
    pub fn pick(&self, ray: &Ray) -> Option<Hit> {
        self.pick_where(ray, |_| true)
    }

    /// As [`pick`](Self::pick), through all models but those that `accepted` takes by their index.
    #[must_use]
    pub fn pick_where(&self, ray: &Ray, accepted: impl Fn(usize) -> bool) -> Option<Hit> {
        let candidates = self
            .models
            .iter()
            .enumerate()
            .filter(|(index, model)| !model.ghost && accepted(*index));
        candidates
            .filter_map(|(index, model)| model.hit(index, ray))
            .min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// As [`pick`](Self::pick), for tools: nothing where the nearest vertex is locked.
    #[must_use]
    pub fn pick_unlocked(&self, ray: &Ray) -> Option<Hit> {
        self.pick(ray).and_then(|hit| self.unlocked(hit))
    }

    /// A hit, unless the vertex nearest to it is locked.
    #[must_use]
    pub fn unlocked(&self, hit: Hit) -> Option<Hit> {
        let locked = self.models[hit.model].locked.as_ref();
        let is_locked = locked.is_some_and(|locked| locked.contains(&hit.vertex.get()));
        (!is_locked).then_some(hit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::SurfaceIndex;
    use pliant::mesh::glam::DQuat;
    use pliant::mesh::shapes::{bumpy_sheet, closed_box, icosphere};

    #[test]
    fn quads_are_drawn_without_diagonals() {
        let mesh = closed_box([3, 2, 1], DVec3::ONE);
        let surface = Surface::of(&mesh);
        assert_eq!(surface.triangles.len(), 2 * mesh.face_count());
        // A closed surface of quads has two edges per face.
        assert_eq!(surface.edges.len(), 2 * mesh.face_count());
    }

    #[test]
    fn picking_agrees_with_a_search_tree() {
        let mesh = bumpy_sheet(40, 0.3);
        // A placement that is no rotation, so that distances along the ray are scaled.
        let placement = DAffine3::from_scale_rotation_translation(
            DVec3::new(2.0, 0.5, 3.0),
            DQuat::from_rotation_y(0.8),
            DVec3::Y * 4.0,
        );

        let scene = Scene::of(Model::of(&mesh).with_placement(placement));
        let placed = mesh
            .posed(
                mesh.positions()
                    .iter()
                    .map(|&p| placement.transform_point3(p))
                    .collect(),
            )
            .unwrap();

        let index = SurfaceIndex::new(&placed).unwrap();
        let mut hits = 0;
        for k in 0..200 {
            let origin = DVec3::new(f64::from(k % 14) * 0.31, 8.0, f64::from(k / 14) * -0.2);
            // The rays go to points of the sheet and a little beyond it.
            let toward = placement.transform_point3(DVec3::new(
                f64::from(k % 20) * 0.06,
                f64::from(k / 20) * 0.12,
                0.0,
            ));

            let ray = Ray {
                origin,
                direction: (toward - origin).normalize(),
            };

            let found = scene.pick(&ray);
            let expected = index.cast_ray(ray.origin, ray.direction, f64::INFINITY);

            assert_eq!(found.is_some(), expected.is_some());
            let Some((found, expected)) = found.zip(expected) else {
                continue;
            };

            hits += 1;
            assert!((found.distance - expected.distance).abs() < 1e-5);
            assert!(
                found.position.distance(
                    expected
                        .place
                        .position(placed.triangles(), placed.positions())
                ) < 1e-5
            );
        }

        assert!(hits > 100, "only {hits} rays hit");
    }

    #[test]
    fn the_nearest_accepted_model_is_picked() {
        let ball = Model::of(&icosphere(3));
        let behind = ball
            .clone()
            .with_placement(DAffine3::from_translation(DVec3::Z * -5.0));
        let scene = Scene {
            models: vec![behind, ball],
        };

        let ray = Ray {
            origin: DVec3::new(0.01, 0.02, 9.0),
            direction: DVec3::NEG_Z,
        };
        let hit = scene.pick(&ray).unwrap();

        assert_eq!(hit.model, 1);
        assert!((hit.distance - 8.0).abs() < 0.01);

        // The picked vertex is the nearest of the three corners.
        let corners = scene.models[1].surface.triangles[hit.triangle as usize];
        assert!(corners.iter().all(|&v| {
            scene.models[1].position(v).distance(hit.position)
                >= scene.models[1]
                    .position(hit.vertex.get())
                    .distance(hit.position)
        }));
        assert_eq!(scene.pick_where(&ray, |model| model == 0).unwrap().model, 0);
        assert_eq!(scene.pick_where(&ray, |_| false), None);
    }

    #[test]
    fn the_bounds_of_a_scene_follow_its_models() {
        let ball = Model::of(&icosphere(3));
        let scene = Scene {
            models: vec![
                ball.clone(),
                ball.with_placement(DAffine3::from_translation(DVec3::X * 3.0)),
            ],
        };

        let bounds = scene.bounds().unwrap();
        assert!(
            (bounds.size() - DVec3::new(5.0, 2.0, 2.0))
                .abs()
                .max_element()
                < 0.02
        );

        assert_eq!(Scene::default().bounds(), None);
    }
}
