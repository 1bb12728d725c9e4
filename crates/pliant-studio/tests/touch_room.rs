//! The Touch room: brush a patch, press, pull, bake, undo.

mod journey;

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, vec2,
};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use journey::Journey;
use pliant::mesh::glam::DVec3;
use pliant_studio::engine::touch::TouchResult;
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::room::RoomName;
use pliant_studio::model::timeline::{TakeFrames, made_frame};
use pliant_studio::model::touch::{ColliderSetup, press_a_cheek};
use pliant_studio::view::View;

/// The centre of the head's left cheek, and how far it is made soft.
const CHEEK: usize = 2134;
const RADIUS: f64 = 4.0;

fn head() -> Document {
    Document {
        character: Character {
            asset: "specimen:head".into(),
            ..Character::default()
        },
        ..Document::default()
    }
}

/// The user who knows where things are on the screen: the camera frames the head and is not moved.
struct Person {
    journey: Journey,
    view: View,
    shape: Vec<DVec3>,
}

impl Person {
    /// Opens the head without patches in the room.
    fn at_the_head() -> Option<Self> {
        let journey = Journey::start(head(), RoomName::Touch)?;
        let rig = pliant::load("specimen:head").unwrap().rig().unwrap();
        Some(Self {
            view: journey.view(0),
            journey,
            shape: rig.neutral().positions().to_vec(),
        })
    }

    fn on_screen(&self, place: DVec3) -> Pos2 {
        self.view.project(place).expect("in front of the eye")
    }

    fn touched(&mut self) -> TouchResult {
        self.journey
            .studio()
            .touched()
            .expect("there is a patch")
            .clone()
    }

    fn document(&self) -> Document {
        self.journey.document()
    }

    /// Brushes the cheek.
    fn brush(&mut self) {
        let center = self.shape[CHEEK];
        let rim = center + self.view.camera.axes().right * RADIUS;
        let from = self.on_screen(center);
        let to = self.on_screen(rim);
        self.journey.drag(&[from, from + (to - from) * 0.5, to]);
    }

    /// Presses at a place and goes up the screen by so many points, in some steps, without letting
    /// go.
    fn hold(&mut self, at: Pos2, up: f32, modifiers: Modifiers) {
        let harness = &mut self.journey.harness;
        harness.event_modifiers(Event::PointerMoved(at), modifiers);
        harness.step();
        harness.event_modifiers(
            Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed: true,
                modifiers,
            },
            modifiers,
        );

        harness.step();
        if modifiers.shift {
            // As a window tells it: the key is pressed while the button is down, and the gesture
            // goes on.
            harness.event_modifiers(
                Event::Key {
                    key: Key::ShiftLeft,
                    physical_key: None,
                    pressed: true,
                    repeat: false,
                    modifiers,
                },
                modifiers,
            );
        }

        for k in 0..=8 {
            harness.event_modifiers(
                Event::PointerMoved(at - vec2(0.0, up * k as f32 / 8.0)),
                modifiers,
            );
            harness.step();
        }

        self.journey.settle();
    }

    fn release(&mut self, at: Pos2) {
        let button = PointerButton::Primary;
        let modifiers = Modifiers::NONE;
        self.journey.harness.event(Event::PointerButton {
            pos: at,
            button,
            pressed: false,
            modifiers,
        });
        self.journey.settle();
    }

    /// The length that so many points show at the cheek.
    fn length(&self, points: f32) -> f64 {
        f64::from(points) * self.view.world_per_pixel(self.shape[CHEEK])
    }

    /// Rests on something until its tip is there.
    fn hover(&mut self, label: &str) {
        self.journey.harness.get_by_label(label).hover();
        (0..8).for_each(|_| self.journey.harness.step());
    }

    fn is_disabled(&self, label: &str) -> bool {
        self.journey
            .harness
            .get_by_label(label)
            .accesskit_node()
            .is_disabled()
    }

    /// Whether these words are somewhere in the window.
    fn reads(&self, words: &str) -> bool {
        self.journey
            .harness
            .query_all_by_label_contains(words)
            .next()
            .is_some()
    }

    /// Chooses from a list.
    fn choose(&mut self, list: &str, what: &str) {
        self.journey
            .harness
            .get_by_role_and_label(Role::ComboBox, list)
            .click();
        self.journey.settle();
        self.journey
            .harness
            .get_by_role_and_label(Role::Button, what)
            .click();

        self.journey.settle();
    }

    /// How far vertices are from the neutral, the farthest; and whether all that are not soft are
    /// where they were, to the bit.
    fn farthest(&mut self) -> f64 {
        let touched = self.touched();
        let mut most = 0.0_f64;
        for (v, (now, own)) in touched.positions.iter().zip(&self.shape).enumerate() {
            assert!(
                now == own || touched.region.node_of(v).is_some(),
                "vertex {v} is not soft but moved"
            );
            most = most.max(now.distance(*own));
        }

        most
    }
}

#[test]
fn a_cheek_is_brushed_pressed_released_and_baked() {
    let Some(mut person) = Person::at_the_head() else {
        return;
    };

    person.brush();
    let patches = person.document().touch.patches;
    assert_eq!(patches.len(), 1);
    assert_eq!(patches[0].center.index(), CHEEK);
    assert!((patches[0].radius - RADIUS).abs() < 0.02, "{patches:?}");
    assert_eq!(person.farthest(), 0.0, "nothing touches the skin yet");

    let soft = person.touched().region.vertices().len();
    assert!(person.touched().colors.is_some(), "the disc is coloured");
    person.journey.picture("touch_patch");

    person.journey.undo();
    assert!(
        person.document().touch.patches.is_empty() && person.journey.studio().touched().is_none()
    );
    person.journey.redo();

    assert_eq!(
        (
            person.document().touch.patches,
            person.touched().region.vertices().len()
        ),
        (patches, soft)
    );

    person.journey.click("Press");
    let at = person.on_screen(person.shape[CHEEK]);
    person.hold(at, 0.0, Modifiers::NONE);

    let touched = person.touched();
    let held = touched.solid.clone().unwrap();

    // The ball was taken where it hung, a little above the skin.
    let pushed = held.place - held.from;
    let wanted = (ColliderSetup::DEFAULT_DEPTH + ColliderSetup::GAP) * held.radius;

    assert!(
        (pushed.length() - wanted).abs() < 0.02 * wanted,
        "pushed by {} for {wanted}",
        pushed.length()
    );

    let deepest = (0..person.shape.len()).max_by(|&a, &b| {
        let way = |v: usize| touched.positions[v].distance(person.shape[v]);
        way(a).total_cmp(&way(b))
    });
    let deepest = deepest.unwrap();
    let way = touched.positions[deepest] - person.shape[deepest];

    assert!(
        way.dot(pushed.normalize()) > 0.8 * way.length(),
        "the dent goes the way of the ball: {way}"
    );

    assert!(
        touched.positions[deepest].distance(held.place) < 1.1 * held.radius,
        "the deepest skin is at the ball"
    );

    assert!(
        touched.report.contacts + touched.report.face_contacts > 5
            && touched.report.max_penetration < 1e-6,
        "{:?}",
        touched.report
    );
    assert!(person.farthest() > 0.5);

    person.release(at);
    assert!(
        person.farthest() < 0.02,
        "skin comes back, but for {}",
        person.farthest()
    );

    assert!(person.is_disabled("Add as slider"));
    person.hover("Add as slider");
    assert!(
        person.reads("switch on Hold after release"),
        "what is greyed says why"
    );

    let pressed = person.document();
    let recorded = pressed.touch.recorded.clone().unwrap();
    assert!(recorded.secs() > 0.0 && pressed.touch.solid.place == pressed.touch.solid.from);

    person.journey.click("Bake to take");
    let baked = person.document();
    let name = baked
        .timeline
        .playing_take
        .clone()
        .expect("the baked take plays");

    let take = baked.timeline.take(&name).unwrap();
    let TakeFrames::Made(blob) = &take.frames else {
        panic!("made here")
    };

    let frame = |k: u32| made_frame(blob, k as usize, person.shape.len()).unwrap();
    let dent = |k: u32| frame(k)[deepest].as_dvec3().distance(person.shape[deepest]);
    let most = (0..take.frame_count).map(dent).fold(0.0, f64::max);

    assert!(
        most > 0.5 && dent(0) < 0.05 && dent(take.frame_count - 1) < 0.1 * most,
        "{most}"
    );

    assert!(
        person.reads("Space plays the take Touch") && !person.reads("Brush a soft patch first"),
        "the panel knows what can be done"
    );
    person.hover("Add as slider");

    assert!(
        person.is_disabled("Add as slider") && person.reads("A baked take is shown"),
        "what is greyed says why"
    );

    person.journey.undo();
    assert_eq!(person.document(), pressed);
    person.journey.redo();

    assert_eq!(person.document(), baked);
    let text = serde_json::to_string(&baked).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), baked);
    person.journey.click("Bake to take");

    let again = person.document();
    let takes: Vec<&TakeFrames> = again
        .timeline
        .takes
        .iter()
        .map(|take| &take.frames)
        .collect();

    assert_eq!(
        takes[0], takes[1],
        "a bake over a baked take begins below it"
    );
    person.journey.undo();
    person.journey.undo();
    person.journey.undo();

    assert_eq!(
        person.document().touch.recorded,
        None,
        "a press is one step"
    );
}

#[test]
fn a_held_press_becomes_a_slider_and_a_pull_is_released() {
    let Some(mut person) = Person::at_the_head() else {
        return;
    };

    person.brush();
    person.journey.click("Press");
    person.journey.click("Hold after release");

    let at = person.on_screen(person.shape[CHEEK]);
    person.hold(at, 0.0, Modifiers::NONE);
    person.release(at);

    let dent = person.farthest();
    assert!(dent > 0.5, "it stays: {dent}");
    person.journey.picture("touch_pressed");

    person.journey.click("Add as slider");
    let added = person.document().character.added;
    assert_eq!((added.len(), &*added[0].name), (1, "touch"));

    let longest = added[0]
        .deltas
        .iter()
        .map(|d| f64::from(d.map(|x| x * x).iter().sum::<f32>()).sqrt())
        .fold(0.0, f64::max);

    assert!((longest - dent).abs() < 1e-3, "{longest} for {dent}");
    person.journey.undo();
    assert!(person.document().character.added.is_empty());

    person.journey.click("Hold after release");
    person.journey.undo();
    person.journey.undo();

    assert!(person.farthest() < 0.02, "the press was taken back");
    person.journey.click("Pull");
    person.hold(at, 40.0, Modifiers::COMMAND);

    let touched = person.touched();
    let pull = person.document().touch.pull.unwrap();
    let vertex = pull.vertex.index();
    let wanted = person.shape[vertex] + DVec3::from_array(pull.offset);

    assert!(
        pull.holds && touched.positions[vertex].distance(wanted) < 0.05,
        "the vertex is in the fingers"
    );
    assert!(person.farthest() > 0.5);
}

#[test]
fn a_plain_drag_moves_the_collider_along_the_skin() {
    let Some(mut person) = Person::at_the_head() else {
        return;
    };

    person.brush();
    person.journey.click("Press");
    let at = person.on_screen(person.shape[CHEEK]);
    person.hold(at, 0.0, Modifiers::NONE);

    let mut places = Vec::new();
    for k in 0..6 {
        let pointer = at + vec2(-4.0, 3.0) * k as f32;
        person.journey.harness.event(Event::PointerMoved(pointer));
        person.journey.harness.step();
        person.journey.settle();

        let touched = person.touched();
        let held = touched.solid.unwrap();
        assert!(
            touched.report.contacts + touched.report.face_contacts > 5,
            "step {k}: {:?}",
            touched.report
        );

        let off = person.on_screen(held.place).distance(pointer);
        assert!(
            person.length(off) < 1.5 * held.radius,
            "step {k}: the ball is under the pointer, but for {off}"
        );
        places.push(held.place);
    }

    assert!(
        places[0].distance(places[5]) > 0.5 * person.length(vec2(20.0, 15.0).length()),
        "{places:?}"
    );

    let before = person.document().touch.solid.depth;
    let unit = MouseWheelUnit::Point;
    let source = MouseWheelSource::Unknown;
    let wheel = Event::MouseWheel {
        unit,
        delta: vec2(0.0, 50.0),
        phase: TouchPhase::Move,
        source,
        modifiers: Modifiers::NONE,
    };

    person.journey.harness.event(wheel);
    (0..8).for_each(|_| person.journey.harness.step());
    person.journey.settle();

    let solid = person.document().touch.solid;
    assert!(
        solid.depth > before + 0.02,
        "the wheel presses deeper: {} after {before}",
        solid.depth
    );

    person.release(at + vec2(-20.0, 15.0));
    person.journey.undo();
    assert_eq!(
        person.document().touch.solid.depth,
        before,
        "a press is one step"
    );
}

#[test]
fn distances_from_the_patch_are_shown_over_the_whole_face() {
    let Some(mut person) = Person::at_the_head() else {
        return;
    };

    person.brush();
    person.choose("Colours", "Geodesic distance");
    let heat = person.touched().colors.expect("there are colours").heat;

    assert_eq!(
        (heat.values[CHEEK], heat.title()),
        (0.0, "Distance".to_owned())
    );

    for (v, (place, value)) in person
        .shape
        .iter()
        .zip(heat.values.iter())
        .enumerate()
        .filter(|(_, (_, value))| !value.is_nan())
    {
        let straight = place.distance(person.shape[CHEEK]);
        assert!(
            f64::from(*value) > straight - 1e-4,
            "vertex {v}: no way along the skin is shorter than the straight one"
        );
    }

    assert!(
        f64::from(heat.range[1]) > 3.0 * RADIUS,
        "it goes beyond the patch: {:?}",
        heat.range
    );
}

#[test]
fn the_example_is_ready_to_be_pressed() {
    let Some(mut journey) = Journey::start(press_a_cheek(), RoomName::Touch) else {
        return;
    };

    assert_eq!(
        journey.document(),
        press_a_cheek(),
        "to look is not to change"
    );

    let touched = journey
        .studio()
        .touched()
        .expect("there is a patch")
        .clone();
    let held = touched.solid.unwrap();

    assert!(touched.report.max_displacement < 1e-9 && held.radius > 0.0);
    let nearest = touched
        .positions
        .iter()
        .map(|p| p.distance(held.place) - held.radius)
        .fold(f64::INFINITY, f64::min);

    assert!(
        nearest > 0.0 && nearest < held.radius,
        "the ball hangs {nearest} above the skin"
    );
}
