//! A cheek that a ball presses, at a pose of the face, and the dent as one more slider.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::io::{Asset, save};
use pliant::linalg::RigidMotion;
use pliant::mesh::glam::DVec3;
use pliant::physics::{Collider, Obstacle, SoftPatch, Touch, TouchFrame, TouchOptions};
use pliant::rig::{Clip, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rig = pliant::load("specimen:head")?.rig()?;
    let mut weights = vec![0.0; rig.targets().len()];
    weights[rig.slider_named("mouthSmileLeft")?.index()] = 0.8;

    let smiling = rig.neutral().posed(rig.evaluate(&weights))?;

    let cheek = SoftPatch {
        center: 2134.into(),
        radius: 4.0,
    };
    let mut touch = Touch::new(&smiling, &[cheek], &TouchOptions::default())?; // once per patch

    touch.add_collider(Collider::new(
        Obstacle::sphere(DVec3::new(6.2, -3.0, 10.2), 1.5)?,
        0.3,
    )?)?;

    let way = DVec3::new(-0.9, -0.3, -1.7);
    let (mut frames, mut deepest) = (Vec::new(), (0.0, 0));
    for k in 0..90 {
        // There in half a second, back in another, and half a second to settle.
        let share = (1.0 - (f64::from(k) / 30.0 - 1.0).abs()).max(0.0);
        let at = RigidMotion {
            translation: way * share,
            ..RigidMotion::IDENTITY
        };

        let report = touch.step(&TouchFrame {
            shape: None,
            colliders: &[at],
            pulls: &[],
            secs: 1.0 / 60.0,
        })?; // with every frame

        if report.max_displacement > deepest.0 {
            deepest = (report.max_displacement, frames.len());
        }

        frames.push(touch.positions().to_vec());
    }

    println!(
        "{} soft vertices, pressed by up to {:.2} in frame {}",
        touch.region().vertices().len(),
        deepest.0,
        deepest.1
    );

    let dent = frames[deepest.1]
        .iter()
        .zip(smiling.positions())
        .map(|(touched, own)| (*touched - *own).as_vec3());

    let targets = rig
        .targets()
        .iter()
        .cloned()
        .chain([Target::from_dense("cheekPressLeft", dent)])
        .collect();

    save(
        &Asset::from_rig(rig.with_targets(targets)?),
        "08_pressed_rig.usda",
    )?;

    save(
        &Asset::from_clip(&Clip::new("press", smiling, frames)?.with_frames_per_second(60.0)),
        "08_pressed_cheek.glb",
    )?;
    println!("written to 08_pressed_cheek.glb, and as a slider to 08_pressed_rig.usda");

    Ok(())
}
