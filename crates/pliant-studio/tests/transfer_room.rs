//! The Transfer room: the hound's walk on the tapir.

mod journey;

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, vec2};
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant::recipes::TransferRecipe;
use pliant_studio::engine::command::Command;
use pliant_studio::model::document::Document;
use pliant_studio::model::room::RoomName;
use pliant_studio::model::timeline::{TakeFrames, made_frame};
use pliant_studio::model::transfer::{hound_and_tapir, walking_tapir};

/// The viewports of source and target.
fn panes(journey: &Journey) -> [Rect; 2] {
    let mut rects: Vec<Rect> = journey
        .harness
        .get_all_by_role(Role::Canvas)
        .map(|node| node.rect())
        .collect();
    rects.sort_by(|a, b| a.left().total_cmp(&b.left()));
    [rects[0], rects[1]]
}

/// A quick click, which a drag is not.
fn click_at(journey: &mut Journey, pos: Pos2) {
    let button = |pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };

    journey.harness.event(Event::PointerMoved(pos));
    journey.harness.step();
    journey.harness.event(button(true));
    journey.harness.event(button(false));
    journey.settle();
}

fn pairs(journey: &Journey) -> Arc<Vec<[u32; 2]>> {
    journey.document().transfer.sources[0].pairs.clone()
}

fn reopened(document: &Document) -> Document {
    serde_json::from_str(&serde_json::to_string(document).unwrap()).unwrap()
}

#[test]
fn a_click_on_each_side_makes_a_pair_that_can_be_moved_and_deleted() {
    let Some(mut journey) = Journey::start(hound_and_tapir(), RoomName::Transfer) else {
        return;
    };

    let [source, target] = panes(&journey);
    click_at(&mut journey, source.center());
    assert!(pairs(&journey).is_empty(), "one click waits for the other");
    click_at(&mut journey, target.center());

    let placed = pairs(&journey);
    assert_eq!(placed.len(), 1);

    journey.drag(&[
        target.center(),
        target.center() + vec2(12.0, 0.0),
        target.center() + vec2(30.0, 4.0),
    ]);

    let moved = pairs(&journey);
    assert!(
        moved.len() == 1 && moved[0][0] == placed[0][0] && moved[0][1] != placed[0][1],
        "{moved:?}"
    );
    journey.undo();

    assert_eq!(pairs(&journey), placed, "a drag is one step");

    journey.click("Delete pair 1");
    assert!(pairs(&journey).is_empty());
    journey.undo();

    assert_eq!(pairs(&journey), placed);
    journey.undo();
    journey.redo();

    assert_eq!(pairs(&journey), placed);
    let document = journey.document();
    assert_eq!(reopened(&document), document);

    journey.click("Suggest");
    assert_eq!(pairs(&journey).len(), 5, "four more");
    journey.undo();

    assert_eq!(pairs(&journey), placed);
}

#[test]
fn the_tapir_walks_like_the_hound() {
    let Some(mut journey) = Journey::start(walking_tapir(), RoomName::Transfer) else {
        return;
    };

    journey.picture("transfer_markers");
    journey.click("Flexibility");
    journey.picture("transfer_flexibility");
    journey.click("Materials");

    let before = journey.document();
    journey.click("Run transfer");
    let document = journey.document();
    let outcome = document.transfer.outcome.clone().expect("it ran");

    assert!(
        outcome.frames == 32 && (outcome.lost as f64) < 0.05 * outcome.triangles as f64,
        "{outcome:?}"
    );

    let take = document
        .timeline
        .take(&outcome.take)
        .expect("the take is on the timeline");

    assert_eq!(
        (take.frame_count, &*take.of, document.timeline.last_frame),
        (32, "specimen:tapir", 31)
    );

    assert!(
        feet_travel(take) > 0.05,
        "the feet move by a good part of the tapir: {}",
        feet_travel(take)
    );
    assert_eq!(reopened(&document), document);

    // A frame in which both are in mid-stride.
    (0..12).for_each(|_| journey.press(Modifiers::NONE, Key::Period));
    journey.picture("transfer_result");
    journey.undo();

    assert_eq!(journey.document(), before);
    journey.redo();
    assert_eq!(journey.document(), document);
}

/// How far the lowest vertices get from where they are in the first frame, as a part of the tapir's
/// height.
fn feet_travel(take: &pliant_studio::model::timeline::Take) -> f32 {
    let TakeFrames::Made(blob) = &take.frames else {
        panic!("made here")
    };

    let count = pliant::load("specimen:tapir")
        .unwrap()
        .mesh()
        .unwrap()
        .vertex_count();
    let frames: Vec<_> = (0..take.frame_count as usize)
        .map(|k| made_frame(blob, k, count).unwrap())
        .collect();

    let heights = frames[0].iter().map(|p| p.y);
    let (low, high) = heights.fold((f32::MAX, f32::MIN), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    let feet: Vec<usize> = (0..count)
        .filter(|&v| frames[0][v].y < low + 0.05 * (high - low))
        .collect();

    let way = |v: &usize| {
        frames
            .iter()
            .map(|frame| frame[*v].distance(frames[0][*v]))
            .fold(0.0, f32::max)
    };

    feet.iter().map(way).fold(f32::MAX, f32::min) / (high - low)
}

/// Begins long work by its button and cancels it: nothing changes, and the bar goes.
fn cancelled(button: &str) {
    let Some(mut journey) = Journey::start(walking_tapir(), RoomName::Transfer) else {
        return;
    };

    let before = journey.document();
    journey.harness.get_by_label(button).click();
    while journey.harness.query_by_label("Cancel").is_none() {
        journey.harness.step();
    }

    journey.click("Cancel");
    assert_eq!(journey.document(), before);
    assert!(
        journey.harness.query_by_label("Cancel").is_none(),
        "the bar is gone"
    );
}

#[test]
fn a_cancelled_transfer_leaves_the_document_as_it_was() {
    cancelled("Run transfer");
}

#[test]
fn a_region_is_painted_refined_and_erased() {
    let Some(mut journey) = Journey::start(walking_tapir(), RoomName::Transfer) else {
        return;
    };

    journey.click("Paint regions");
    journey.click("Add region");
    let target = panes(&journey)[1];

    // Down a foreleg.
    let way: Vec<Pos2> = (0..8)
        .map(|k| target.center() + vec2(38.0, 50.0 + 10.0 * k as f32))
        .collect();

    journey.drag(&way);
    let painted = journey.document().transfer.regions[0].faces.clone();
    assert!(painted.len() > 4 && painted.is_sorted(), "{painted:?}");
    journey.picture("transfer_regions");
    journey.undo();

    assert!(
        journey.document().transfer.regions[0].faces.is_empty(),
        "a stroke is one step"
    );
    journey.redo();
    journey.click("Erase");
    journey.drag(&way);

    assert!(journey.document().transfer.regions[0].faces.is_empty());
}

/// Files of a hound that walks and of a tapir that does not.
fn files() -> (tempfile::TempDir, [PathBuf; 3]) {
    let folder = tempfile::tempdir().unwrap();
    let save = |specimen: &str, name: &str| {
        let path = folder.path().join(name);
        pliant::io::save(&pliant::load(specimen).unwrap(), &path).unwrap();
        path
    };

    let paths = [
        save("specimen:hound#walk", "walk.glb"),
        save("specimen:tapir", "tapir.obj"),
        save("specimen:hound#stretch", "stretch.glb"),
    ];

    (folder, paths)
}

#[test]
fn files_become_source_or_target_by_the_pane_they_are_dropped_on() {
    let Some(mut journey) = Journey::start(Document::default(), RoomName::Transfer) else {
        return;
    };

    let (_folder, [walk, tapir, stretch]) = files();
    let [left, right] = panes(&journey);
    journey.drop_files_at(left.center(), std::slice::from_ref(&tapir));

    assert!(
        journey.notice_text().contains("drop it on the right"),
        "{}",
        journey.notice_text()
    );

    assert_eq!(
        journey.document(),
        Document::default(),
        "what does not move is no source"
    );

    journey.drop_files_at(left.center(), std::slice::from_ref(&walk));
    assert_eq!(journey.notice_text(), "Added walk.glb as a source.");
    journey.drop_files_at(right.center(), std::slice::from_ref(&tapir));

    assert_eq!(journey.notice_text(), "tapir.obj is the target mesh now.");
    let document = journey.document();
    assert_eq!(
        (
            &*document.transfer.sources[0].clip,
            &*document.transfer.target
        ),
        (walk.to_str().unwrap(), tapir.to_str().unwrap())
    );

    assert!(
        document.character.asset.is_empty(),
        "the character is none of it"
    );

    journey.drop_files_at(left.center(), &[stretch]);
    assert_eq!(
        journey.document().transfer.sources.len(),
        2,
        "one more clip"
    );

    journey.undo();
    assert_eq!(journey.document(), document, "a drop is one step");
}

#[test]
fn sources_and_target_are_browsed_for_or_built_in() {
    let Some(mut journey) = Journey::start(Document::default(), RoomName::Transfer) else {
        return;
    };

    let (_folder, [walk, ..]) = files();
    journey.click("Browse for source file");
    journey.choose_file(&walk);

    assert_eq!(
        journey.document().transfer.sources[0].clip,
        walk.to_str().unwrap()
    );
    journey.click("Built-in target file");
    journey.click("specimen:tapir");

    assert_eq!(journey.document().transfer.target, "specimen:tapir");
}

#[test]
fn a_recipe_is_exported_with_confirmation_and_loads_again() {
    let Some(mut journey) = Journey::start(walking_tapir(), RoomName::Transfer) else {
        return;
    };

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.toml");
    let export = |journey: &mut Journey| {
        journey.studio().request_command(Command::AskExport);
        journey.settle();
        assert!(
            journey
                .harness
                .query_by_role_and_label(Role::ComboBox, "What")
                .is_some()
        );

        journey.choose_file(&path.with_extension(""));
    };

    export(&mut journey);
    assert!(
        journey
            .notice_text()
            .starts_with("Exported walk.toml and walk-markers-1.json"),
        "{}",
        journey.notice_text()
    );

    let recipe = TransferRecipe::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        (&*recipe.target, &*recipe.sources[0].clip),
        ("specimen:tapir", "specimen:hound#walk")
    );

    let text = std::fs::read(&path).unwrap();
    export(&mut journey);
    journey.click("Keep it");

    assert_eq!(std::fs::read(&path).unwrap(), text);
    journey.press(Modifiers::NONE, Key::Escape);

    let Some(mut again) = Journey::start(Document::default(), RoomName::Transfer) else {
        return;
    };

    again.drop_files(std::slice::from_ref(&path));
    let before = journey.document().transfer;
    let after = again.document().transfer;
    assert_eq!(
        (&after.target, &after.layers),
        (&before.target, &before.layers)
    );

    assert!(
        before.sources[0]
            .pairs
            .iter()
            .all(|pair| after.sources[0].pairs.contains(pair)),
        "with its markers"
    );

    again.undo();
    assert_eq!(again.document(), Document::default());
}

#[test]
fn cancelled_suggestions_change_nothing() {
    cancelled("Suggest");
}

#[test]
fn a_ring_rotates_a_region_of_the_rest_pose() {
    let mut document = walking_tapir();
    let mesh = pliant::load("specimen:tapir").unwrap().mesh().unwrap();
    document.transfer.add_region("hound walk");

    let trunk = (0..mesh.face_count() as u32)
        .filter(|&face| mesh.groups().of(face as usize) == Some("trunk"));
    document.transfer.regions[0].faces = Arc::new(trunk.collect());

    // A trunk bends everywhere: no part of it is rigid.
    document.transfer.regions[0].refine = false;
    let Some(mut journey) = Journey::start(document.clone(), RoomName::Transfer) else {
        return;
    };

    journey.click("Rotate regions");
    let from = journey.rect("Rotate Region about Y").center();
    journey.drag(&[
        from,
        from + vec2(10.0, 0.0),
        from + vec2(25.0, 0.0),
        from + vec2(40.0, 0.0),
    ]);

    let [x, y, z] = journey.document().transfer.rotation_of("Region");
    assert!(
        x == 0.0 && z == 0.0 && y > 10.0 && y < 90.0 && y.fract() == 0.0,
        "to the right is by the right hand: {x} {y} {z}"
    );

    // The rings stay where they were taken while the trunk moves under the user.
    let from = journey.rect("Rotate Region about Y").center();
    journey.drag(&[
        from,
        from + vec2(10.0, 0.0),
        from + vec2(25.0, 0.0),
        from + vec2(40.0, 0.0),
        from,
    ]);

    assert_eq!(
        journey.document().transfer.rotation_of("Region"),
        [x, y, z],
        "there and back is no turn"
    );
    journey.picture("transfer_turn");
    journey.undo();
    journey.undo();

    assert_eq!(journey.document(), document, "each turn is one step");
}
