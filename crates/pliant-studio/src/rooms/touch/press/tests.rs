use super::*;
use crate::view::{Camera, Model, Scene};
use eframe::egui::{Rect, pos2, vec2};
use pliant::mesh::shapes::icosphere;

const RADIUS: f64 = 0.2;
/// Longer than a solid takes to sink.
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

/// A hand that pressed on the ball at a place of the screen.
fn pressed(skin: &Skin, at: Pos2) -> Grip {
    let point = skin.at(&view().ray(at)).unwrap();
    let solid = Solid::default().turned(point.normal);
    let middle = solid.against(RADIUS, point.place, point.normal, 0.0);
    let mut grip = Grip::new(0, solid, RADIUS, middle, point.normal, at, 0.0);
    grip.settle(skin, &view(), at);
    grip.wanted_depth = 0.5 * RADIUS;
    grip
}

/// How deep the solid is in the unit ball, but for its flat faces.
fn depth(grip: &Grip) -> f64 {
    1.0 + RADIUS - grip.place.length()
}

/// How far flat faces are from the ball, doubled.
const FLAT: f64 = 4e-3;

#[test]
fn a_window_that_hangs_and_a_hand_that_rests_are_no_part_of_the_way() {
    let mut grip = Grip::new(
        0,
        Solid::default(),
        RADIUS,
        DVec3::ZERO,
        DVec3::X,
        Pos2::ZERO,
        0.0,
    );
    let mut look = |now: f64, x: Option<f64>| {
        grip.place.x = x.unwrap_or(grip.place.x);
        let passed = grip.passed(now);
        grip.record(passed);
        grip.seen[grip.seen.len() - 1].0
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
fn a_plain_drag_sinks_in_and_stays_as_deep_over_the_skin() {
    let (skin, view) = (ball(), view());
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut grip = pressed(&skin, at);
    assert!(
        depth(&grip).abs() < FLAT && grip.sinks(),
        "it begins on the skin"
    );
    grip.follow(&skin, &view, at, Modifiers::NONE, 0.0, 0.2 * SINK_SECS);
    assert!(
        (depth(&grip) - 0.2 * RADIUS).abs() < FLAT,
        "{}",
        depth(&grip)
    );
    for k in 0..=20 {
        let pointer = at + vec2(-4.0, 1.5) * k as f32;
        grip.follow(&skin, &view, pointer, Modifiers::NONE, 0.0, LONG);
        assert!(
            (depth(&grip) - 0.5 * RADIUS).abs() < FLAT,
            "step {k}: {}",
            depth(&grip)
        );
        assert!(
            view.project(grip.place).unwrap().distance(pointer) < 12.0,
            "it is under the pointer"
        );
    }
    assert!(!grip.sinks());
}

#[test]
fn the_wheel_presses_deeper_and_the_depth_is_remembered() {
    let (skin, view) = (ball(), view());
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut grip = pressed(&skin, at);
    grip.follow(&skin, &view, at, Modifiers::NONE, 0.0, LONG);
    assert_eq!(grip.chosen_depth(), None, "nobody chose");
    let before = depth(&grip);
    grip.follow(&skin, &view, at, Modifiers::NONE, 100.0, LONG);
    let deeper = 100.0 * WHEEL * RADIUS;
    assert!(
        (depth(&grip) - before - deeper).abs() < 0.1 * deeper,
        "{before} {}",
        depth(&grip)
    );
    let chosen = grip.chosen_depth().unwrap();
    assert!((chosen * RADIUS - depth(&grip)).abs() < FLAT, "{chosen}");
    grip.follow(&skin, &view, at, Modifiers::NONE, 1e6, LONG);
    assert!(
        depth(&grip) < (Solid::MOST_DEPTH + 0.1) * RADIUS,
        "no wheel goes through a head"
    );
}

#[test]
fn keys_move_it_freely_and_nothing_jumps_between_them() {
    let (skin, view) = (ball(), view());
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut grip = pressed(&skin, at);
    let mut pointer = at;
    for keys in [
        Modifiers::COMMAND,
        Modifiers::NONE,
        Modifiers::SHIFT,
        Modifiers::NONE,
        Modifiers::COMMAND | Modifiers::SHIFT,
    ] {
        grip.follow(&skin, &view, pointer, Modifiers::NONE, 0.0, LONG);
        let before = grip.place;
        grip.follow(&skin, &view, pointer, keys, 0.0, LONG);
        assert!(
            grip.place.distance(before) < 1e-9,
            "a key alone moves nothing: {keys:?}"
        );
        pointer += vec2(3.0, -6.0);
        grip.follow(&skin, &view, pointer, keys, 0.0, LONG);
        assert!(
            grip.place.distance(before) > 1e-3,
            "the pointer does: {keys:?}"
        );
        let moved = grip.place;
        grip.follow(&skin, &view, pointer, Modifiers::NONE, 0.0, LONG);
        assert!(
            grip.place.distance(moved) < 1e-5,
            "nor does letting it go: {keys:?}"
        );
    }
}

#[test]
fn beside_the_face_it_goes_along_the_screen() {
    let (skin, view) = (ball(), view());
    let at = view.project(DVec3::new(0.3, 0.1, 0.9)).unwrap();
    let mut grip = pressed(&skin, at);
    let beside = pos2(4.0, 150.0);
    assert!(skin.at(&view.ray(beside)).is_none());
    let before = grip.place;
    grip.follow(&skin, &view, beside, Modifiers::NONE, 0.0, LONG);
    let way = grip.place - before;
    assert!(
        way.length() > 1.0 && way.dot(view.camera.axes().back).abs() < 1e-9,
        "{way}"
    );
}
