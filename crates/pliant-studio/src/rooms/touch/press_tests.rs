use super::*;
use crate::model::camera::Camera;
use crate::view::{Model, Scene};
use eframe::egui::{Rect, pos2, vec2};
use pliant::mesh::shapes::icosphere;

const RADIUS: f64 = 0.2;
/// Longer than a collider takes to sink.
const LONG: f64 = 10.0;

fn view() -> View {
    View {
        camera: Camera::default(),
        rect: Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0)),
    }
}

/// The unit ball as skin: the depth of a place is known in closed form.
fn ball() -> Skin {
    Skin::of_scene(Scene::of(Model::of(&icosphere(5))))
}

/// The user that pressed on the ball at a place of the screen.
fn pressed(skin: &Skin, at: Pos2) -> PressDrag {
    let point = skin.at(&view().ray(at)).unwrap();
    let solid = ColliderSetup::default().turned(point.normal);
    let middle = solid.against(RADIUS, point.place, point.normal, 0.0);
    let mut drag = PressDrag::new(0, solid, RADIUS, middle, point.normal, at, 0.0);
    drag.settle(skin, &view(), at);
    drag.wanted_depth = 0.5 * RADIUS;
    drag
}

/// How deep the collider is in the unit ball, but for its flat faces.
fn depth(drag: &PressDrag) -> f64 {
    1.0 + RADIUS - drag.place.length()
}

/// How far flat faces are from the ball, doubled.
const FLAT: f64 = 4e-3;

#[test]
fn long_frames_and_rests_are_not_recorded() {
    let mut drag = PressDrag::new(
        0,
        ColliderSetup::default(),
        RADIUS,
        DVec3::ZERO,
        DVec3::X,
        Pos2::ZERO,
        0.0,
    );

    let mut look = |now: f64, x: Option<f64>| {
        drag.place.x = x.unwrap_or(drag.place.x);
        let passed = drag.passed(now);
        drag.record(passed);
        drag.seen[drag.seen.len() - 1].0
    };

    let times = [(10.0, 0.0), (10.05, 1.0), (14.0, 2.0)].map(|(now, x)| look(now, Some(x)));
    assert!(
        (times[1] - 0.05).abs() < 1e-9 && (times[2] - 0.05 - LONGEST_GAP_SECS).abs() < 1e-9,
        "{times:?}"
    );

    let last = (0..600)
        .map(|k| look(14.0 + 0.02 * f64::from(k), None))
        .last()
        .unwrap();

    assert!((last - times[2] - LONGEST_REST_SECS).abs() < 0.03, "{last}");
}

#[test]
fn a_plain_drag_sinks_in_and_keeps_its_depth() {
    let skin = ball();
    let view = view();
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut drag = pressed(&skin, at);

    assert!(
        depth(&drag).abs() < FLAT && drag.sinks(),
        "it begins on the skin"
    );
    drag.follow(&skin, &view, at, Modifiers::NONE, 0.0, 0.2 * SINK_SECS);

    assert!(
        (depth(&drag) - 0.2 * RADIUS).abs() < FLAT,
        "{}",
        depth(&drag)
    );

    for k in 0..=20 {
        let pointer = at + vec2(-4.0, 1.5) * k as f32;
        drag.follow(&skin, &view, pointer, Modifiers::NONE, 0.0, LONG);
        assert!(
            (depth(&drag) - 0.5 * RADIUS).abs() < FLAT,
            "step {k}: {}",
            depth(&drag)
        );

        assert!(
            view.project(drag.place).unwrap().distance(pointer) < 12.0,
            "it is under the pointer"
        );
    }

    assert!(!drag.sinks());
}

#[test]
fn the_wheel_changes_the_depth_and_the_depth_is_stored() {
    let skin = ball();
    let view = view();
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut drag = pressed(&skin, at);
    drag.follow(&skin, &view, at, Modifiers::NONE, 0.0, LONG);

    assert_eq!(drag.chosen_depth(), None, "nobody chose");
    let before = depth(&drag);
    drag.follow(&skin, &view, at, Modifiers::NONE, 100.0, LONG);

    let deeper = 100.0 * WHEEL * RADIUS;
    assert!(
        (depth(&drag) - before - deeper).abs() < 0.1 * deeper,
        "{before} {}",
        depth(&drag)
    );

    let chosen = drag.chosen_depth().unwrap();
    assert!((chosen * RADIUS - depth(&drag)).abs() < FLAT, "{chosen}");
    drag.follow(&skin, &view, at, Modifiers::NONE, 1e6, LONG);

    assert!(
        depth(&drag) < (ColliderSetup::MOST_DEPTH + 0.1) * RADIUS,
        "no wheel goes through a head"
    );
}

#[test]
fn modifier_keys_move_the_collider_without_jumps() {
    let skin = ball();
    let view = view();
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut drag = pressed(&skin, at);

    let mut pointer = at;
    for keys in [
        Modifiers::COMMAND,
        Modifiers::NONE,
        Modifiers::SHIFT,
        Modifiers::NONE,
        Modifiers::COMMAND | Modifiers::SHIFT,
    ] {
        drag.follow(&skin, &view, pointer, Modifiers::NONE, 0.0, LONG);
        let before = drag.place;
        drag.follow(&skin, &view, pointer, keys, 0.0, LONG);

        assert!(
            drag.place.distance(before) < 1e-9,
            "a key alone moves nothing: {keys:?}"
        );
        pointer += vec2(3.0, -6.0);
        drag.follow(&skin, &view, pointer, keys, 0.0, LONG);

        assert!(
            drag.place.distance(before) > 1e-3,
            "the pointer does: {keys:?}"
        );

        let moved = drag.place;
        drag.follow(&skin, &view, pointer, Modifiers::NONE, 0.0, LONG);
        assert!(
            drag.place.distance(moved) < 1e-5,
            "nor does letting it go: {keys:?}"
        );
    }
}

#[test]
fn beside_the_face_the_collider_moves_in_the_view_plane() {
    let skin = ball();
    let view = view();
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut drag = pressed(&skin, at);
    let beside = pos2(4.0, 150.0);

    assert!(skin.at(&view.ray(beside)).is_none());
    let before = drag.place;
    drag.follow(&skin, &view, beside, Modifiers::NONE, 0.0, LONG);

    let displacement = drag.place - before;
    assert!(
        displacement.length() > 1.0 && displacement.dot(view.camera.axes().back).abs() < 1e-9,
        "{displacement}"
    );
}
