//! The Blend room: a bar bends around a cylinder.

mod journey;

use egui_kittest::kittest::{NodeT as _, Queryable};
use journey::Journey;
use pliant_studio::engine::command::{Command, Severity};
use pliant_studio::model::blend;
use pliant_studio::model::document::Document;
use pliant_studio::model::room::RoomName;
use pliant_studio::model::timeline::{TakeFrames, made_frame};

use eframe::egui::{Key, Modifiers, Role, vec2};
use pliant::mesh::Mesh;
use pliant::mesh::glam::{DVec3, Vec3};
use pliant::physics::{Obstacle, linear_blend};

/// The straight bar and the bent one.
fn bars() -> [Mesh; 2] {
    let rig = pliant::load("specimen:bar").unwrap().rig().unwrap();
    let straight = rig.neutral().clone();
    let bent = straight.posed(rig.evaluate(&[1.0])).unwrap();
    [straight, bent]
}

/// The slider that was kept last, at full weight.
fn kept(document: &Document, straight: &Mesh) -> Mesh {
    let added = document.character.added.last().unwrap();
    let mut positions = straight.positions().to_vec();
    for (&vertex, &delta) in added.vertices.iter().zip(added.deltas.iter()) {
        positions[vertex as usize] += Vec3::from_array(delta).as_dvec3();
    }
    straight.posed(positions).unwrap()
}

/// How deep a shape is inside the cylinder of the document, at most.
fn depth(document: &Document, positions: &[DVec3]) -> f64 {
    let mark = &document.blend.obstacles[0];
    let middle = DVec3::from_array(mark.center);
    let half = DVec3::Z * (0.5 * mark.length);
    let cylinder = Obstacle::cylinder(middle - half, middle + half, mark.radius).unwrap();

    cylinder
        .contacts(positions, 0.0)
        .iter()
        .map(|contact| contact.depth)
        .fold(0.0, f64::max)
}

#[test]
fn a_bar_bends_around_a_cylinder_without_shrinking_and_every_step_is_undone_and_redone() {
    let mut document = blend::bar_around_a_cylinder();
    document.blend.bake = blend::Bake {
        path: blend::BakePath::There,
        steps: 6,
    };

    let Some(mut journey) = Journey::start(document, RoomName::Blend) else {
        return;
    };

    journey.picture("blend_bar");
    let [straight, bent] = bars();
    let volume = straight.signed_volume();
    let touching = 1e-3 * straight.mean_edge_length();

    journey.click("Half way");
    assert_eq!(journey.document().blend.weights, [0.5, 0.5]);
    journey.click("Add as target");

    let half = kept(&journey.document(), &straight);
    let shapes = [straight.positions().to_vec(), bent.positions().to_vec()];
    let lines = straight
        .posed(linear_blend(&shapes, &[0.5, 0.5], straight.vertex_count()))
        .unwrap();
    let lost = |mesh: &Mesh| (mesh.signed_volume() / volume - 1.0).abs();

    assert!(
        lost(&half) < 0.01 && lost(&lines) > 0.04,
        "springs lose {}, lines {}",
        lost(&half),
        lost(&lines)
    );

    let deep = [&half, &lines].map(|mesh| depth(&journey.document(), mesh.positions()));
    assert!(deep[0] < touching && deep[1] > 0.05, "{deep:?}");

    // The panel says the same.
    let message = format!("{:.1} %", 100.0 * lines.signed_volume() / volume);
    assert!(
        journey.harness.query_by_label(&message).is_some(),
        "{message}"
    );

    journey.click("Cylinder 1");
    let before = journey.document();
    let handle = journey.rect("Move cylinder 1 along Y").center();
    journey.drag(&[handle, handle - vec2(0.0, 10.0), handle - vec2(0.0, 20.0)]);

    let moved = journey.document();
    let [from, to] = [&before, &moved].map(|document| document.blend.obstacles[0].center);
    assert!(
        to[1] > from[1] + 0.05 && to[0] == from[0],
        "{from:?} {to:?}"
    );

    journey.undo();
    assert_eq!(journey.document(), before);
    journey.redo();

    assert_eq!(journey.document(), moved);

    journey.click("Bake 7 frames");
    let baked = journey.document();
    let take = baked.timeline.takes.last().unwrap();

    assert_eq!((take.frame_count, &*take.of), (7, "specimen:bar"));
    let TakeFrames::Made(blob) = &take.frames else {
        panic!("a take made here")
    };

    for k in 0..7 {
        let frame: Vec<DVec3> = made_frame(blob, k, straight.vertex_count())
            .unwrap()
            .iter()
            .map(|p| p.as_dvec3())
            .collect();
        assert!(depth(&baked, &frame) < touching, "frame {k}");
        let mesh = straight.posed(frame).unwrap();
        assert!(lost(&mesh) < 0.02, "frame {k}: {}", lost(&mesh));
    }

    let reopened: Document = serde_json::from_str(&serde_json::to_string(&baked).unwrap()).unwrap();
    assert_eq!(reopened, baked);
    journey.undo();

    assert!(journey.document().timeline.takes.is_empty());
}

#[test]
fn three_shapes_are_blended_by_a_point_in_a_triangle() {
    let Some(mut journey) = Journey::start(blend::three_shapes(), RoomName::Blend) else {
        return;
    };

    // Before the drag: the ground keeps below whatever was shown, and how much of a drag is shown
    // is up to the machine.
    journey.picture("blend_three");

    let before = journey.document();
    let triangle = journey.rect("Blend of three shapes");
    let corner = triangle.right_bottom();
    journey.drag(&[
        triangle.center(),
        triangle.lerp_inside(vec2(0.8, 0.8)),
        corner,
    ]);

    assert_eq!(journey.document().blend.weights, [0.0, 0.0, 1.0]);
    journey.undo();
    assert_eq!(journey.document(), before);
}

#[test]
fn shapes_of_different_meshes_are_declined_and_a_brush_fixes_vertices() {
    let mut document = blend::bar_around_a_cylinder();
    document.blend.shapes[1] = blend::ShapeMark::asset("specimen:hand");
    let Some(journey) = Journey::start(document, RoomName::Blend) else {
        return;
    };

    let message = journey
        .harness
        .query_all_by_label_contains("Choose shapes that are poses of one mesh")
        .count();

    assert!(message > 0);

    let Some(mut journey) = Journey::start(blend::three_shapes(), RoomName::Blend) else {
        return;
    };

    journey.click("Fix vertices");
    let middle = journey
        .harness
        .get_by_role_and_label(Role::Canvas, "Physical")
        .rect()
        .center();

    journey.drag(&[middle - vec2(20.0, 0.0), middle, middle + vec2(20.0, 0.0)]);
    let fixed = journey.document().blend.fixed;
    assert!(
        !fixed.is_empty() && fixed.len() < 1500 && fixed.is_sorted(),
        "{}",
        fixed.len()
    );

    journey.click("Paint stiffness");
    journey.drag(&[middle - vec2(20.0, 0.0), middle, middle + vec2(20.0, 0.0)]);
    let document = journey.document();
    let most = document.blend.stiffness.iter().copied().fold(0.0, f32::max);

    assert!(
        document.blend.stiffness.len() == 2786 && most > 5.0 && most <= 10.001,
        "{most}"
    );
    assert!(document.blend.stiffness.iter().all(|k| *k >= 0.999));
    journey.picture("blend_stiffness");
    journey.undo();

    assert!(
        journey.document().blend.stiffness.is_empty() && journey.document().blend.fixed == fixed
    );
}

#[test]
fn a_third_shape_is_the_next_target_and_does_not_change_the_blend() {
    let Some(mut journey) = Journey::start(blend::bar_around_a_cylinder(), RoomName::Blend) else {
        return;
    };

    let before = journey.studio().blend_result().unwrap().clone();
    journey.click("Add third shape");
    let added = journey.document().blend;
    let names: Vec<&str> = added.shapes.iter().map(blend::ShapeMark::name).collect();

    assert_eq!(names, ["Neutral", "bent", "twisted"]);
    assert_eq!(added.weights, [0.2, 0.8, 0.0]);

    let after = journey.studio().blend_result().unwrap().clone();
    let apart = before
        .linear
        .positions
        .iter()
        .zip(after.linear.positions.iter())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);

    assert!(apart < 1e-9, "nothing moves: {apart}");
    journey.click("Remove shape C");
    assert_eq!(journey.document().blend.weights, [0.2, 0.8]);
}

fn last_notice(journey: &mut Journey) -> (String, Severity) {
    let notice = journey.studio().notice().expect("a notice");
    (notice.text.clone(), notice.severity)
}

#[test]
fn a_dropped_pose_becomes_the_next_shape_and_another_mesh_is_declined() {
    let folder = tempfile::tempdir().unwrap();
    let [straight, bent] = bars();
    let [pose, hand] = ["pose.obj", "hand.obj"].map(|name| folder.path().join(name));
    let asset = pliant::load("specimen:bar").unwrap();
    let lifted: Vec<DVec3> = bent
        .positions()
        .iter()
        .map(|p| *p + DVec3::Y * 0.5)
        .collect();

    pliant::io::save(&asset.posed(&lifted).unwrap(), &pose).unwrap();
    pliant::io::save(&pliant::load("specimen:hand").unwrap(), &hand).unwrap();
    let Some(mut journey) = Journey::start(blend::bar_around_a_cylinder(), RoomName::Blend) else {
        return;
    };

    let before = journey.document();

    journey.drop_files(std::slice::from_ref(&hand));
    let (message, severity) = last_notice(&mut journey);
    assert!(
        severity == Severity::Error
            && message.contains("hand.obj")
            && message.contains("poses of one mesh"),
        "{message}"
    );

    assert_eq!(journey.document(), before, "nothing changed");

    journey.drop_files(std::slice::from_ref(&pose));
    let after = journey.document();
    assert_eq!(after.blend.shapes[2].asset, pose.display().to_string());
    assert_eq!(
        (&after.blend.weights[..], &*after.character.asset),
        (&[0.2, 0.8, 0.0][..], "specimen:bar")
    );

    assert_eq!(last_notice(&mut journey).1, Severity::Done);
    let dropped = journey.studio().blend_result().unwrap().clone();
    assert_eq!(dropped.ground.mesh.vertex_count(), straight.vertex_count());
    journey.undo();

    assert_eq!(journey.document(), before, "one step");
}

#[test]
fn the_blend_is_exported_as_it_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blend.obj");
    let Some(mut journey) = Journey::start(blend::bar_around_a_cylinder(), RoomName::Blend) else {
        return;
    };

    journey
        .studio()
        .request_command(Command::Export(path.clone()));
    journey.harness.step();
    journey.settle();

    assert_eq!(
        last_notice(&mut journey).1,
        Severity::Done,
        "{:?}",
        last_notice(&mut journey)
    );
    let written = pliant::load(path.to_str().unwrap())
        .unwrap()
        .mesh()
        .unwrap();

    let shown = journey
        .studio()
        .blend_result()
        .unwrap()
        .physical
        .positions
        .clone();

    let apart = written
        .positions()
        .iter()
        .zip(shown.iter())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);

    assert!(
        written.vertex_count() == shown.len() && apart < 1e-5,
        "{apart}"
    );
}

#[test]
fn a_key_chooses_a_tool_and_a_list_the_scale_of_the_colours() {
    let Some(mut journey) = Journey::start(blend::three_shapes(), RoomName::Blend) else {
        return;
    };

    let middle = journey
        .harness
        .get_by_role_and_label(Role::Canvas, "Physical")
        .rect()
        .center();

    journey.harness.hover_at(middle);
    journey.press(Modifiers::NONE, Key::E);
    assert!(
        journey
            .harness
            .query_by_label("Clear fixed vertices")
            .is_some(),
        "E fixes vertices"
    );

    journey.press(Modifiers::NONE, Key::Q);
    assert!(
        journey
            .harness
            .query_by_label("Clear fixed vertices")
            .is_none()
    );

    journey
        .harness
        .get_by_role_and_label(Role::ComboBox, "Strain scale")
        .click();
    journey.settle();
    journey
        .harness
        .get_by_role_and_label(Role::Button, "± 50 %")
        .click();

    journey.settle();
    let chosen = journey
        .harness
        .get_by_role_and_label(Role::ComboBox, "Strain scale")
        .accesskit_node()
        .value();

    assert_eq!(chosen.as_deref(), Some("± 50 %"));
}
