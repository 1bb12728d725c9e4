//! The pointer over soft skin: picking, normals, labels.

use eframe::egui::{Align2, Color32, FontId, Painter, Pos2, Ui, Vec2};
use pliant::mesh::glam::DVec3;

use crate::engine::character::PosedCharacter;
use crate::model::touch::Patch;
use crate::rooms::PaneCanvas;
use crate::view::{Hit, Model, Ray, Scene, View};

/// The face among the models of the scene.
pub(super) const FACE: usize = 0;

/// Where the tool's button went down in this frame.
pub(super) fn pressed(on: &PaneCanvas<'_>, ui: &Ui) -> Option<Pos2> {
    let down = on.canvas.response.is_pointer_button_down_on() && !on.canvas.navigating;
    ui.input(|input| {
        (down && input.pointer.primary_pressed() && !input.modifiers.alt)
            .then(|| input.pointer.interact_pos())
            .flatten()
    })
}

/// Whether the button is still down, or came up in this frame; otherwise the release was lost, as
/// when another window took it.
pub(super) fn holds(ui: &Ui) -> bool {
    ui.input(|input| input.pointer.primary_down() || input.pointer.primary_released())
}

/// What of the face is under a place, through the collider.
pub(super) fn pick_face(on: &PaneCanvas<'_>, place: Pos2) -> Option<Hit> {
    on.scene
        .pick_where(&on.canvas.view.ray(place), |model| model == FACE)
        .and_then(|hit| on.scene.unlocked(hit))
}

/// The face's normal at a hit, towards the camera.
pub(super) fn normal_at(on: &PaneCanvas<'_>, place: Pos2, hit: &Hit) -> DVec3 {
    normal_of(&on.scene.models[hit.model], &on.canvas.view.ray(place), hit)
}

/// A model's normal where a ray hits it, against the ray.
fn normal_of(model: &Model, ray: &Ray, hit: &Hit) -> DVec3 {
    let corners = model.surface.triangles[hit.triangle as usize];
    let weighted =
        |k: usize| model.vertices.normals[corners[k] as usize].as_dvec3() * hit.barycentric[k];
    let normal = (weighted(0) + weighted(1) + weighted(2)).normalize_or(-ray.direction);
    if normal.dot(ray.direction) > 0.0 {
        -normal
    } else {
        normal
    }
}

/// The character's own skin: what is pressed, as it would be without it.
pub(super) struct Skin(Scene);

/// A place of the skin with its outward normal.
#[derive(Debug, Clone, Copy)]
pub(super) struct SkinPoint {
    pub(super) place: DVec3,
    pub(super) normal: DVec3,
}

impl Skin {
    pub(super) fn of(posed: &PosedCharacter) -> Self {
        Self(Scene::of(Model::new(
            posed.surface.clone(),
            posed.vertices.clone(),
        )))
    }

    /// Any scene as skin.
    #[cfg(test)]
    pub(super) fn of_scene(scene: Scene) -> Self {
        Self(scene)
    }

    /// Where a ray meets it first.
    pub(super) fn at(&self, ray: &Ray) -> Option<SkinPoint> {
        let hit = self.0.pick(ray)?;
        Some(SkinPoint {
            place: hit.position,
            normal: normal_of(&self.0.models[hit.model], ray, &hit),
        })
    }
}

/// Where the centre of a patch is on the screen, on the face as it is shown; `None` behind the
/// head.
pub(super) fn center(on: &PaneCanvas<'_>, patch: &Patch) -> Option<Pos2> {
    let model = on.scene.models.get(FACE)?;
    let vertex = patch.center.index();
    let place = model.vertices.positions.get(vertex)?.as_dvec3();
    let normal = model.vertices.normals.get(vertex)?.as_dvec3();
    faces(&on.canvas.view, place, normal)
        .then(|| on.canvas.view.project(place))
        .flatten()
}

/// Whether the surface at a point faces the camera.
pub(super) fn faces(view: &View, place: DVec3, normal: DVec3) -> bool {
    view.project(place)
        .is_some_and(|at| view.ray(at).direction.dot(normal) < 0.0)
}

/// Words over the picture that read on any ground.
pub(super) fn label(painter: &Painter, place: Pos2, anchor: Align2, text: &str, font: FontId) {
    // A dark outline keeps the text readable on any background.
    for side in [
        Vec2::new(1.0, 1.0),
        Vec2::new(-1.0, 1.0),
        Vec2::new(1.0, -1.0),
        Vec2::new(-1.0, -1.0),
    ] {
        painter.text(
            place + side,
            anchor,
            text,
            font.clone(),
            Color32::from_black_alpha(170),
        );
    }
    painter.text(place, anchor, text, font, Color32::WHITE);
}
