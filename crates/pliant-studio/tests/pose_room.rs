//! The Pose room: pins, strokes, methods, residual layer.

mod journey;

use std::path::Path;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2, vec2};
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant::mesh::VertexId;
use pliant::mesh::glam::{DVec3, Vec3};
use pliant::rig::Rig;
use pliant_studio::engine::library;
use pliant_studio::model::document::{Document, Weights};
use pliant_studio::model::pose::{self, DraggedPin, MethodKind, PinMark, Pull, Setup};
use pliant_studio::model::room::RoomName;
use pliant_studio::view::View;

/// Vertices of the built-in head.
const LEFT_MOUTH_CORNER: u32 = 4686;
const LOWER_LIP: u32 = 4867;
const LEFT_BROW: u32 = 7005;

/// The user with a pin being dragged.
struct Posing {
    journey: Journey,
    rig: Rig,
    view: View,
}

impl Posing {
    fn start(document: Document) -> Option<Self> {
        let rig = pliant::load("specimen:head")
            .expect("a specimen")
            .rig()
            .expect("a rig");
        let mut journey = Journey::start(document, RoomName::Pose)?;

        journey.press(Modifiers::NONE, Key::F);
        Some(Self {
            view: journey.view(0),
            journey,
            rig,
        })
    }

    fn weights(&self) -> Weights {
        self.journey.document().character.weights
    }

    fn weight(&self, slider: &str) -> f64 {
        self.weights().get(slider).copied().unwrap_or(0.0)
    }

    /// Where the sliders of the document put a vertex, with the targets that were added.
    fn place(&self, vertex: u32) -> DVec3 {
        let document = self.journey.document();
        let weights: Vec<f64> = self
            .rig
            .targets()
            .iter()
            .map(|target| self.weight(&target.name))
            .collect();

        let added = document.character.added.iter().map(|added| {
            let k = added.vertices.iter().position(|&v| v == vertex);
            k.map_or(DVec3::ZERO, |k| {
                Vec3::from_array(added.deltas[k]).as_dvec3() * self.weight(&added.name)
            })
        });

        self.rig.evaluate(&weights)[vertex as usize] + added.sum::<DVec3>()
    }

    fn on_screen(&self, vertex: u32) -> Pos2 {
        self.view
            .project(self.place(vertex))
            .expect("before the eye")
    }

    /// Drags a vertex by so many points, in steps.
    fn drag(&mut self, vertex: u32, way: Vec2) -> Pos2 {
        let start = self.on_screen(vertex);
        let steps: Vec<Pos2> = (0..=6).map(|k| start + way * (k as f32 / 6.0)).collect();
        self.journey.drag(&steps);
        start + way
    }

    /// Draws a line through places of the screen.
    fn draw(&mut self, line: impl Fn(f32) -> Pos2) {
        self.journey
            .drag(&(0..=24).map(|k| line(k as f32 / 24.0)).collect::<Vec<_>>());
    }

    /// Types into a field.
    fn enter(&mut self, field: &str, text: &str) {
        self.journey.harness.get_by_label(field).focus();
        self.journey.settle();
        self.journey.harness.get_by_label(field).type_text(text);
        self.journey.settle();
    }

    fn click_at(&mut self, place: Pos2) {
        let modifiers = Modifiers::NONE;
        self.journey.harness.event(Event::PointerMoved(place));
        self.journey.harness.step();

        for pressed in [true, false] {
            self.journey.harness.event(Event::PointerButton {
                pos: place,
                button: PointerButton::Primary,
                pressed,
                modifiers,
            });
        }

        self.journey.settle();
    }

    /// Chooses an entry of a list.
    fn choose(&mut self, list: &str, entry: &str) {
        // Lists are in the tab of the solver.
        self.journey.click("Solver");
        self.journey
            .harness
            .get_by_role_and_label(Role::ComboBox, list)
            .click();
        self.journey.settle();
        self.journey
            .harness
            .get_by_role_and_label(Role::Button, entry)
            .click();

        self.journey.settle();
    }
}

fn reopened(document: &Document) -> Document {
    serde_json::from_str(&serde_json::to_string(document).expect("written")).expect("read")
}

#[test]
fn a_mouth_corner_dragged_up_is_a_smile_and_one_step() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    let goal = posing.drag(LEFT_MOUTH_CORNER, vec2(8.0, -16.0));
    let document = posing.journey.document();
    assert!(
        posing.weight("mouthSmileLeft") > 0.2,
        "{:?}",
        posing.weights()
    );

    assert!(
        posing.weight("mouthSmileRight") < 0.05,
        "{:?}",
        posing.weights()
    );

    let miss = posing.on_screen(LEFT_MOUTH_CORNER).distance(goal);
    assert!(
        miss < 3.0,
        "the corner is {miss} points from where it was let go"
    );

    assert_eq!(
        document.pose.pins,
        [PinMark::new(VertexId::new(LEFT_MOUTH_CORNER))],
        "a pin that arrived rides on the skin"
    );
    posing.journey.picture("pose_smile");
    posing.journey.undo();

    assert_eq!(posing.journey.document(), pose::head());
    posing.journey.redo();
    assert_eq!(posing.journey.document(), document);
    assert_eq!(reopened(&document), document);
}

#[test]
fn another_method_repeats_the_last_drag() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.drag(LEFT_MOUTH_CORNER, vec2(8.0, -16.0));
    let few = posing.weights();
    posing.choose("Method", "Pseudo-inverse");

    let many = posing.weights();
    assert_eq!(
        posing.journey.document().pose.method.kind,
        MethodKind::PseudoInverse
    );

    assert!(
        many.len() > few.len(),
        "a pseudo-inverse spreads a drag: {few:?} {many:?}"
    );
    posing.journey.undo();

    assert_eq!(posing.weights(), few, "method and weights are one step");
    posing.choose("Compare with", "Hybrid");
    posing.journey.picture("pose_compare");

    assert_eq!(posing.weights(), few, "comparing changes nothing");
}

#[test]
fn a_method_is_not_compared_with_itself() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.journey.click("Solver");
    posing
        .journey
        .harness
        .get_by_role_and_label(Role::ComboBox, "Compare with")
        .click();
    posing.journey.settle();

    let offered = |name: &str| {
        posing
            .journey
            .harness
            .query_by_role_and_label(Role::Button, name)
            .is_some()
    };

    assert!(offered("Hybrid") && !offered("Bounded"));
    posing
        .journey
        .harness
        .get_by_role_and_label(Role::Button, "Hybrid")
        .click();

    posing.journey.settle();
    posing.choose("Method", "Hybrid");
    assert_eq!(posing.journey.document().pose.compared, None);
}

#[test]
fn dragging_a_pin_stops_playback_and_takes_cannot_be_posed() {
    let mut document = pose::head();
    // So long that it does not end by itself.
    document.timeline.last_frame = 100_000;

    let Some(mut posing) = Posing::start(document) else {
        return;
    };

    posing.journey.harness.get_by_label("Play").click();
    posing.journey.harness.step();
    posing.drag(LEFT_MOUTH_CORNER, vec2(8.0, -16.0));

    assert!(
        posing.journey.harness.query_by_label("Play").is_some(),
        "it stands"
    );
    assert!(posing.weight("mouthSmileLeft") > 0.2);

    let mut document = pose::head();
    document.timeline.playing_take = Some("performance".into());
    let Some(mut posing) = Posing::start(document.clone()) else {
        return;
    };

    let at = posing.on_screen(LEFT_MOUTH_CORNER);
    posing.journey.harness.drag_at(at);
    posing.journey.harness.step();
    posing.journey.harness.hover_at(at + vec2(8.0, -16.0));
    posing.journey.harness.run_steps(2);

    assert!(
        posing
            .journey
            .harness
            .query_by_label_contains("choose Keys in the timeline")
            .is_some()
    );

    posing.journey.harness.drop_at(at + vec2(8.0, -16.0));
    posing.journey.settle();
    assert_eq!(posing.journey.document(), document);
}

#[test]
fn after_undo_the_explanation_is_empty() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.drag(LEFT_MOUTH_CORNER, vec2(8.0, -16.0));
    posing.drag(LEFT_BROW, vec2(0.0, -8.0));
    posing.journey.click("Explain");
    posing.journey.undo();

    assert!(
        posing
            .journey
            .harness
            .query_by_label_contains("There is no result yet")
            .is_some()
    );
}

#[test]
fn a_held_pin_keeps_its_place() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.click_at(posing.on_screen(LEFT_MOUTH_CORNER));
    let corner = posing.journey.document().pose.pins[0].vertex.get();
    let before = posing.place(corner);
    posing.drag(LOWER_LIP, vec2(0.0, 30.0));

    let free = posing.place(corner).distance(before);
    assert!(
        free > 0.2,
        "a jaw that opens takes the corner along, by {free}"
    );
    posing.journey.undo();
    posing.click_at(posing.on_screen(corner));
    posing.journey.press(Modifiers::NONE, Key::H);

    assert!(posing.journey.document().pose.pins[0].held);
    posing.drag(LOWER_LIP, vec2(0.0, 30.0));
    let held = posing.place(corner).distance(before);

    assert!(held < 0.05 * free, "free it goes {free}, held {held}");
    posing.journey.press(Modifiers::NONE, Key::X);
    assert_eq!(
        posing.journey.document().pose.pins.len(),
        1,
        "the pin that was dragged is the selected one"
    );
}

#[test]
fn a_mirrored_drag_moves_both_corners_alike() {
    let Some(mut posing) = Posing::start(pose::smile()) else {
        return;
    };

    posing.drag(LEFT_MOUTH_CORNER, vec2(10.0, -24.0));
    let left = posing.weight("mouthSmileLeft");
    let right = posing.weight("mouthSmileRight");

    assert!(
        left > 0.2 && (left - right).abs() < 0.02 * left,
        "{left} {right}"
    );
    assert_eq!(posing.journey.document().pose.pins.len(), 3);
    posing.journey.picture("pose_mirror");
}

#[test]
fn a_stroke_raises_the_brow_and_its_pins_can_be_adjusted() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.journey.press(Modifiers::NONE, Key::W);
    let before = posing.place(LEFT_BROW);
    let middle = posing.on_screen(LEFT_BROW);
    posing.draw(|t| middle + vec2(-45.0 + 90.0 * t, -80.0 * t * (1.0 - t)));

    let document = posing.journey.document();
    assert_eq!(document.pose.pins.len(), 3, "{:?}", document.pose.pins);

    let raised = posing.place(LEFT_BROW).y - before.y;
    assert!(raised > 0.1, "raised by {raised}: {:?}", posing.weights());
    posing.journey.picture("pose_stroke");
    posing.journey.undo();

    assert_eq!(posing.weights(), Weights::new());
    posing.journey.redo();
    assert_eq!(posing.journey.document(), document);

    let pin = document.pose.pins[1].vertex.get();
    posing.drag(pin, vec2(0.0, -12.0));
    assert_eq!(
        posing.journey.document().pose.pins.len(),
        3,
        "the pin is adjusted, not drawn over"
    );

    assert!(posing.place(LEFT_BROW).y - before.y > raised);
}

#[test]
fn a_curve_follows_its_goal_curve() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.journey.press(Modifiers::NONE, Key::E);
    let before = posing.place(LEFT_BROW);
    let middle = posing.on_screen(LEFT_BROW);
    posing.draw(|t| middle + vec2(-40.0 + 80.0 * t, 6.0));

    assert_eq!(
        posing.journey.document(),
        pose::head(),
        "the first line only marks the brow"
    );
    posing.draw(|t| middle + vec2(-40.0 + 80.0 * t, -10.0));

    let raised = posing.place(LEFT_BROW).y - before.y;
    assert!(raised > 0.1, "raised by {raised}: {:?}", posing.weights());
    assert!(posing.journey.document().pose.pins.len() >= 2);
}

#[test]
fn a_stroke_is_saved_and_drawn_again() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.journey.press(Modifiers::NONE, Key::W);
    let middle = posing.on_screen(LEFT_BROW);
    posing.draw(|t| middle + vec2(-45.0 + 90.0 * t, -80.0 * t * (1.0 - t)));

    let drawn = posing.weights();
    posing.enter("Name of the stroke", "lift");
    posing.journey.click("Save stroke");
    posing.journey.click("Clear pins");

    for name in drawn.keys() {
        let name = name.clone();
        assert!(posing.weights().contains_key(&name), "the pose stays");
    }

    let saved = posing.journey.document();
    assert_eq!(saved.pose.strokes[0].stroke.name, "lift");

    let fresh = Document {
        pose: Setup {
            strokes: saved.pose.strokes,
            ..Setup::default()
        },
        ..pose::head()
    };

    let Some(mut again) = Posing::start(reopened(&fresh)) else {
        return;
    };

    again.journey.click("Draw lift");
    for (name, weight) in &drawn {
        assert!(
            (again.weight(name) - weight).abs() < 0.02,
            "{name}: {} instead of {weight}",
            again.weight(name)
        );
    }
}

#[test]
fn the_residual_layer_becomes_a_target() {
    let Some(mut posing) = Posing::start(pose::head()) else {
        return;
    };

    posing.journey.click("Solver");
    posing.journey.click("Residual layer");
    let goal = posing.drag(LEFT_MOUTH_CORNER, vec2(40.0, -70.0));
    let mark = posing.journey.document().pose.pins[0].clone();
    let wanted = mark.goal().expect("it is out of reach");
    let miss = posing
        .view
        .project(wanted)
        .expect("before the eye")
        .distance(goal);

    assert!(
        miss < 6.0,
        "the goal is {miss} points from where the pin was let go"
    );
    posing.choose("Colours", "Unreachable");
    posing.journey.picture("pose_sculpt");

    let before = posing.journey.document();
    posing.enter("Name of the target", "wideSmile");
    posing.journey.click("Promote to target");

    let document = posing.journey.document();
    assert_eq!(document.character.added[0].name, "wideSmile");

    let miss = posing.place(LEFT_MOUTH_CORNER).distance(wanted);
    assert!(
        miss < 1e-3,
        "the new slider takes the corner to its goal but for {miss}"
    );
    assert_eq!(reopened(&document), document);
    posing.journey.undo();

    assert_eq!(posing.journey.document(), before);
}

#[test]
fn a_failing_worker_is_reported_and_the_document_stays() {
    let nowhere = DraggedPin::new(VertexId::new(u32::MAX), DVec3::ONE, pliant::rig::Aim::Point);
    let pull = Pull {
        pins: vec![nowhere],
        ..Pull::default()
    };

    let document = Document {
        pose: Setup {
            pull: Some(pull),
            ..Setup::default()
        },
        ..pose::head()
    };

    let Some(mut posing) = Posing::start(document.clone()) else {
        return;
    };

    posing.choose("Method", "Hybrid");
    assert!(
        posing.journey.harness.query_by_label("Dismiss").is_some(),
        "a sentence is shown"
    );
    posing.journey.undo();

    assert_eq!(posing.journey.document(), document);
    posing.drag(LEFT_MOUTH_CORNER, vec2(8.0, -16.0));
    assert!(posing.weight("mouthSmileLeft") > 0.2, "posing goes on");
}

#[test]
fn examples_fit_their_rig() {
    let loaded = library::load("specimen:head", Path::new(".")).expect("a specimen");
    for (name, document) in pose::examples() {
        let document = document();
        assert_eq!(document.character.asset, "specimen:head", "{name}");
        assert!(
            document
                .pose
                .pins
                .iter()
                .all(|pin| pin.vertex.index() < loaded.rig.neutral().vertex_count()),
            "{name}"
        );

        assert_eq!(reopened(&document), document, "{name}");
    }
}
