//! The Learn room: a hand is trained and driven.

mod journey;

use std::path::PathBuf;

use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Vec2};
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant::mesh::glam::DVec3;
use pliant_studio::engine::command::Command;
use pliant_studio::model::document::Document;
use pliant_studio::model::learn::{self, DrivenBy, TrainingSettings};
use pliant_studio::model::room::RoomName;
use pliant_studio::model::timeline::{TakeFrames, made_frame};

/// Vertices of the built-being dragged's landmarks, and their numbers in the room.
const WRIST: usize = 249;
const INDEX_TIP: (usize, &str) = (7086, "Control point 10");

fn example(name: &str) -> Document {
    learn::examples()
        .into_iter()
        .find(|(label, _)| *label == name)
        .map(|(_, document)| document())
        .expect("an example of the room")
}

/// The hand with its model, trained by itself on opening.
fn ready() -> Option<Journey> {
    let journey = Journey::start(example("Drive a hand"), RoomName::Learn)?;
    assert!(
        journey.document().learn.trained.is_some(),
        "it trains itself"
    );
    Some(journey)
}

/// Bakes the pose that stands and gives its vertices.
fn baked(journey: &mut Journey) -> Vec<DVec3> {
    journey.click("Bake take");
    let document = journey.document();
    let take = document.timeline.takes.last().expect("a take was baked");
    let TakeFrames::Made(blob) = &take.frames else {
        panic!("made here")
    };

    let vertices = pliant::load(&take.of).unwrap().vertex_count();
    let positions = made_frame(blob, 0, vertices).expect("as many vertices as the asset it is of");
    journey.undo();

    positions.into_iter().map(|p| p.as_dvec3()).collect()
}

fn moved(from: &[DVec3], to: &[DVec3], vertex: usize) -> f64 {
    from[vertex].distance(to[vertex])
}

/// A way from a place over some steps.
fn way(from: Pos2, by: Vec2) -> Vec<Pos2> {
    (0..=4).map(|k| from + by * (k as f32 / 4.0)).collect()
}

/// Presses and lets go, quickly enough to be a click.
fn tap(journey: &mut Journey, pos: Pos2) {
    let button = |pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };

    for event in [Event::PointerMoved(pos), button(true), button(false)] {
        journey.harness.event(event);
        journey.harness.step();
    }

    journey.settle();
}

fn view(journey: &Journey) -> Rect {
    journey
        .harness
        .get_all_by_label("Learn")
        .map(|node| node.rect())
        .max_by(|a, b| a.area().total_cmp(&b.area()))
        .expect("a viewport")
}

#[test]
fn dragging_a_control_point_moves_its_finger_and_not_the_wrist() {
    let Some(mut journey) = ready() else { return };
    journey.click("Points");
    let rest = baked(&mut journey);
    let before = journey.document();
    let start = journey.rect(INDEX_TIP.1).center();

    journey.drag(&way(start, Vec2::new(60.0, 30.0)));
    let document = journey.document();
    let goal = DVec3::from_array(document.learn.drive.goals[9]);
    let goals: Vec<DVec3> = document
        .learn
        .drive
        .goals
        .iter()
        .map(|goal| DVec3::from_array(*goal))
        .collect();

    let way = |(point, vertex): (usize, usize)| goals[point].distance(rest[vertex]);
    let [tip, joint, knuckle, middle_tip] = [(9, 7086), (8, 3647), (6, 1618), (13, 6419)].map(way);
    assert!(
        joint > 0.4 * tip && joint < tip && knuckle < joint,
        "the finger's own points go along, the less the farther: {joint} {knuckle}"
    );

    assert!(
        middle_tip < 0.02 * tip,
        "the next finger is near in space and far along the surface: {middle_tip}"
    );

    let posed = baked(&mut journey);
    let wanted = goal.distance(rest[INDEX_TIP.0]);
    assert!(wanted > 0.5, "the goal is {wanted} away");

    let near: Vec<usize> = (0..rest.len())
        .filter(|&v| rest[v].distance(rest[INDEX_TIP.0]) < 0.4)
        .collect();

    assert!(
        near.len() > 3 && near.iter().all(|&v| moved(&rest, &posed, v) > 0.6 * wanted),
        "the fingertip follows"
    );

    assert!(
        moved(&rest, &posed, WRIST) < 0.02 * wanted,
        "the wrist stays"
    );
    journey.picture("learn_points");
    journey.undo();

    assert_eq!(journey.document(), before, "one gesture is one step");
    journey.redo();
    assert_eq!(journey.document(), document);
}

#[test]
fn an_end_effector_bends_its_finger_by_the_skeleton() {
    let Some(mut journey) = ready() else { return };
    let rest = baked(&mut journey);
    assert_eq!(
        journey.document().learn.drive.by,
        DrivenBy::Effectors,
        "the example opens ready for its fingertips"
    );

    let start = journey.rect("End effector index tip").center();
    journey.drag(&way(start, Vec2::new(20.0, 150.0)));
    let posed = baked(&mut journey);
    let document = journey.document();

    assert_eq!(document.learn.drive.by, DrivenBy::Effectors);
    let tip = moved(&rest, &posed, INDEX_TIP.0);
    let [knuckle, middle_tip] = [2561, 6419].map(|vertex| moved(&rest, &posed, vertex));

    assert!(
        tip > 1.0 && knuckle > 0.1 * tip,
        "joints between palm and tip turn too: {tip}, {knuckle}"
    );

    assert!(
        middle_tip < 0.1 * tip && moved(&rest, &posed, WRIST) < 0.05 * tip,
        "the others stay: {middle_tip}"
    );
    journey.click("Confidence colours");
    journey.picture("learn_end_effectors");
    journey.click("Show details");

    let smooth = baked(&mut journey);
    let creases = (0..rest.len())
        .map(|v| moved(&posed, &smooth, v))
        .fold(0.0, f64::max);

    assert!(
        creases > 0.01 && creases < 0.3,
        "without details the creases are gone and nothing else: {creases}"
    );
}

#[test]
fn a_model_of_a_hand_is_trained_from_examples() {
    let Some(mut journey) = Journey::start(example("Train a hand model"), RoomName::Learn) else {
        return;
    };

    assert!(journey.document().learn.trained.is_none());
    journey.click("1  Examples");
    journey.click("Next");
    journey.click("Learn from fist");
    journey.click("victory");
    journey.picture("learn_examples");
    journey.click("2  Control points");

    let placed = journey.document();
    let middle = view(&journey).center();
    tap(&mut journey, middle);

    assert_eq!(
        journey.document().learn.recipe.points.len(),
        1,
        "a click places a point"
    );
    journey.press(Modifiers::NONE, Key::Delete);

    assert_eq!(journey.document(), placed, "and Delete takes it off");
    journey.click("Suggest");
    let document = journey.document();

    assert_eq!(
        (
            document.learn.recipe.points.len(),
            document.learn.recipe.left_out.len()
        ),
        (20, 1)
    );

    journey.click("Suggest");
    assert!(
        journey.notice_text().contains("replaced the previous 20"),
        "{}",
        journey.notice_text()
    );

    journey.click("Validate");
    let judged = journey.document().learn.judged.expect("errors by example");
    assert_eq!(
        judged.errors.len(),
        13,
        "14 gestures, one of them left out by hand"
    );

    assert!(
        judged
            .worst()
            .is_some_and(|worst| worst.rms >= judged.mean() && worst.rms < 0.05)
    );
    journey.picture("learn_validated");
    journey.undo();
    journey.undo();

    assert_eq!(journey.document(), placed);
    journey.redo();
    assert_eq!(journey.document(), document);
}

#[test]
fn a_cancelled_training_does_not_change_the_document() {
    let recipe = TrainingSettings {
        points: vec![5, 249, 1006, 7086],
        ..example("Train a hand model").learn.recipe
    };
    let mut document = Document::default();

    document.learn.recipe = recipe;
    let Some(mut journey) = Journey::start(document.clone(), RoomName::Learn) else {
        return;
    };

    journey.harness.get_by_label("Train").click();
    journey.harness.step();
    journey.harness.step();
    journey.click("Stop training");

    assert_eq!(journey.document(), document);
    journey.click("Train");
    let trained = journey
        .document()
        .learn
        .trained
        .expect("it can be trained afterwards");

    assert_eq!(trained.of, document.learn.recipe);
    journey.undo();
    assert_eq!(journey.document(), document);
}

#[test]
fn a_reopened_document_drives_the_same_model() {
    let Some(mut journey) = ready() else { return };
    journey.click("Points");
    let start = journey.rect(INDEX_TIP.1).center();
    journey.drag(&way(start, Vec2::new(-40.0, 60.0)));

    let document = journey.document();
    let posed = baked(&mut journey);
    let bytes = document
        .learn
        .trained
        .as_ref()
        .unwrap()
        .model
        .bytes()
        .to_vec();

    let mut read: Document =
        serde_json::from_str(&serde_json::to_string(&document).unwrap()).unwrap();
    let trained = read.learn.trained.as_mut().unwrap();

    assert!(
        trained.model.fill(bytes),
        "the bytes beside the project are those of the model"
    );
    assert_eq!(read, document);

    let mut again = Journey::start(read, RoomName::Learn).expect("an adapter, as before");
    assert_eq!(baked(&mut again), posed);
}

#[test]
fn a_captured_motion_plays_on_the_clock_and_is_baked() {
    let Some(mut journey) = ready() else { return };
    journey.click("Capture");
    journey.click("Load capture");

    let document = journey.document();
    assert_eq!(
        (document.learn.drive.by, document.timeline.last_frame),
        (DrivenBy::Capture, 72)
    );
    journey.click("Bake take");

    let document = journey.document();
    let take = document.timeline.takes.last().expect("a take");
    let TakeFrames::Made(blob) = &take.frames else {
        panic!("made here")
    };

    let truth = pliant::load("specimen:hand:play").unwrap().clip().unwrap();
    assert_eq!(take.frame_count as usize, truth.frames().len());

    let side = truth.reference().bounds().unwrap().size().max_element();
    for frame in [10, 40] {
        let found = made_frame(blob, frame, truth.reference().vertex_count()).unwrap();
        let squares: f64 = found
            .iter()
            .zip(&truth.frames()[frame])
            .map(|(a, b)| a.as_dvec3().distance_squared(*b))
            .sum();

        let rms = (squares / found.len() as f64).sqrt() / side;
        assert!(
            rms < 0.01,
            "frame {frame} of a motion that was not learned comes back to {rms} of the longest side"
        );
    }
}

#[test]
fn dropped_meshes_become_examples_and_one_of_another_mesh_is_left_out() {
    let Some(mut journey) = Journey::start(Document::default(), RoomName::Learn) else {
        return;
    };

    let folder = tempfile::tempdir().unwrap();
    let save = |asset: &pliant::io::Asset, name: &str| {
        let path = folder.path().join(name);
        pliant::io::save(asset, &path).unwrap();
        path
    };

    let bar = pliant::load("specimen:bar").unwrap();
    let bent = pliant::load("specimen:bar#bend")
        .unwrap()
        .at_frame(12)
        .unwrap();

    let paths = [
        save(&bar, "bar.obj"),
        save(&bent, "bent.obj"),
        save(&pliant::load("specimen:tapir").unwrap(), "tapir.obj"),
    ];

    journey.drop_files(&paths);
    let sources = journey.document().learn.recipe.sources;
    assert_eq!(
        sources,
        [paths[0].to_str().unwrap(), paths[1].to_str().unwrap()]
    );

    let text = journey.notice_text();
    assert!(
        text.starts_with("Added the examples bar.obj, bent.obj.")
            && text.contains("'tapir.obj' was left out"),
        "{text}"
    );

    assert!(
        journey
            .harness
            .query_by_label("Learn from bent.obj")
            .is_some(),
        "both are in the list"
    );

    journey.undo();
    assert_eq!(
        journey.document(),
        Document::default(),
        "a drop is one step"
    );
}

#[test]
fn an_exported_model_is_driven_in_another_project() {
    let Some(mut journey) = ready() else { return };
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("hand.safetensors");
    journey
        .studio()
        .request_command(Command::Export(model.clone()));
    journey.settle();

    assert_eq!(journey.notice_text(), "Exported hand.safetensors.");

    let Some(mut other) = Journey::start(Document::default(), RoomName::Learn) else {
        return;
    };

    let capture = captured(&folder);
    other.drop_files(std::slice::from_ref(&capture));
    assert!(
        other.notice_text().contains("need a model"),
        "{}",
        other.notice_text()
    );

    assert_eq!(other.document(), Document::default());
    other.drop_files(&[model]);
    let [here, there] =
        [&journey, &other].map(|journey| journey.document().learn.trained.expect("a model"));

    assert_eq!(
        (&here.model, &here.of.points),
        (&there.model, &there.of.points)
    );
    assert!(!other.document().learn.is_outdated());

    let start = other.rect(INDEX_TIP.1).center();
    other.drag(&way(start, Vec2::new(30.0, 20.0)));
    assert_eq!(other.document().learn.drive.goals.len(), 22);

    let skeleton = folder.path().join("hand.json");
    std::fs::write(
        &skeleton,
        serde_json::to_string(&learn::hand_skeleton()).unwrap(),
    )
    .unwrap();

    other.drop_files(&[skeleton]);
    assert_eq!(other.document().learn.drive.by, DrivenBy::Effectors);
    assert!(
        other
            .harness
            .query_by_label("End effector index tip")
            .is_some()
    );

    other.drop_files(&[capture]);
    let document = other.document();
    assert_eq!(
        (document.learn.drive.by, document.timeline.last_frame),
        (DrivenBy::Capture, 72)
    );

    for _ in 0..4 {
        other.undo();
    }

    assert_eq!(
        other.document(),
        Document::default(),
        "model, drag, skeleton and capture are a step each"
    );
}

/// The places of the user's control points in a motion, as a file.
fn captured(folder: &tempfile::TempDir) -> PathBuf {
    let clip = pliant::load("specimen:hand:play").unwrap().clip().unwrap();
    let points = example("Drive a hand").learn.recipe.points;
    let places = clip.frames().iter().flat_map(|frame| {
        points
            .iter()
            .flat_map(|&point| frame[point as usize].to_array())
    });

    let bytes = pliant::io::npy::write_f64(&[clip.frames().len(), points.len(), 3], places);
    let path = folder.path().join("play.npy");
    std::fs::write(&path, bytes).unwrap();

    path
}
