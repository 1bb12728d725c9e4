//! Claims about the recognition of driven shapes.

use pliant_mesh::glam::Vec3;
use pliant_mesh::shapes::bumpy_sheet;

use super::*;

/// A bump of a sheet at `x` from 0 to 1, with this displacement at its middle.
fn bump(name: &str, x: f32, motion: Vec3) -> Target {
    let sheet = bumpy_sheet(12, 0.0);
    let falloff = |p: f32| (1.0 - ((p - x) / 0.3).powi(2)).max(0.0);
    let deltas = sheet
        .positions()
        .iter()
        .map(|p| motion * falloff(p.x as f32));
    Target::from_dense(name, deltas.collect::<Vec<_>>())
}

fn sum(name: &str, parts: &[(&Target, f32)]) -> Target {
    let count = bumpy_sheet(12, 0.0).vertex_count();
    let mut dense = vec![Vec3::ZERO; count];
    for (part, weight) in parts {
        for (&vertex, &delta) in part.vertices.iter().zip(&part.deltas) {
            dense[vertex as usize] += delta * *weight;
        }
    }
    Target::from_dense(name, dense)
}

fn rig(targets: Vec<Target>) -> Rig {
    Rig::new(bumpy_sheet(12, 0.0), targets).unwrap()
}

#[test]
fn a_correction_is_a_combination_and_a_half_way_shape_an_in_between() {
    let smile = bump("smile", 0.4, Vec3::Y);
    let jaw = bump("jaw", 0.6, Vec3::NEG_Z);
    let correction = bump("smile_jaw", 0.5, Vec3::new(0.0, 0.1, 0.3));
    let blink = bump("blink", 0.8, Vec3::Z);
    let half = bump("blink_050", 0.8, Vec3::new(0.2, 0.0, 0.5));
    let rig = rig(vec![smile, jaw, correction, blink, half]);

    let found = Recognition::of(&rig);
    assert_eq!(
        found.combinations,
        [("smile_jaw".into(), vec!["smile".into(), "jaw".into()])]
    );
    assert_eq!(
        found.in_betweens,
        [("blink_050".into(), "blink".into(), 0.5)]
    );
    assert!(
        found.aliases.is_empty() && found.declined.is_empty(),
        "{found:?}"
    );

    let driven = found.settings().apply(&rig).unwrap();
    let names: Vec<&str> = driven.targets().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["smile", "jaw", "blink"]);
    assert_eq!(driven.combinations().len(), 1);
}

#[test]
fn a_name_without_fitting_displacements_stays_a_slider() {
    let smile = bump("smile", 0.2, Vec3::Y);
    let jaw = bump("jaw", 0.3, Vec3::NEG_Z);
    let elsewhere = bump("smile_jaw", 0.9, Vec3::Y);
    let opposite = bump("jaw_50", 0.3, Vec3::Z);
    let whole = sum("jaw+smile", &[(&smile, 1.0), (&jaw, 1.0)]);
    let found = Recognition::of(&rig(vec![smile, jaw, elsewhere, opposite, whole]));

    assert!(found.combinations.is_empty() && found.in_betweens.is_empty());
    let declined: Vec<&str> = found
        .declined
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(declined, ["smile_jaw", "jaw_50", "jaw+smile"]);
    assert_eq!(found.aliases[0].name, "jaw+smile", "it is a composite");
    assert!(found.sentences().len() == 4, "{:?}", found.sentences());
}

#[test]
fn twins_and_sums_are_aliases_and_are_locked() {
    let left = bump("smile_L", 0.25, Vec3::Y);
    let right = bump("smile_R", 0.75, Vec3::Y);
    let squint = bump("squint", 0.5, Vec3::Z);
    let twin = Target {
        name: "A15".into(),
        ..squint.clone()
    };
    let joy = sum("joy", &[(&left, 1.0), (&right, 1.0), (&squint, 0.5)]);
    let near = sum("near", &[(&left, 1.0), (&right, 1.0), (&squint, 0.5)]).map_shapes(
        "near".into(),
        |_, vertices, deltas| {
            let moved = vertices.iter().zip(deltas);
            moved.map(|(&v, &d)| (v, d + Vec3::X * 0.1)).collect()
        },
    );
    let rig = rig(vec![left, right, squint, twin, joy, near]);

    let found = Recognition::of(&rig);
    let names: Vec<&str> = found.aliases.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["A15", "joy"]);
    let joy = &found.aliases[1].parts;
    assert_eq!(joy.len(), 3);
    assert!((joy[2].1 - 0.5).abs() < 1e-3, "{joy:?}");
    assert_eq!(found.aliases[0].text(), "'A15' = squint");

    let locked = found.lock_aliases(rig).unwrap();
    let locks: Vec<bool> = locked.sliders().iter().map(|s| s.locked).collect();
    assert_eq!(locks, [false, false, false, true, true, false]);
}

#[test]
fn targets_without_motion_are_no_twins() {
    let none = |name: &str| Target::from_dense(name, [Vec3::ZERO]);
    let found = Recognition::of(&rig(vec![none("a"), none("b"), none("a_b"), none("a50")]));
    assert!(found.aliases.is_empty() && found.combinations.is_empty());
}
