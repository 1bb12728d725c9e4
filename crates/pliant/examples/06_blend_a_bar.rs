//! A bar half way between straight and bent, by springs instead of lines, and the same with a ball
//! in its way.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::io::{Asset, save};
use pliant::mesh::glam::DVec3;
use pliant::physics::{
    Blend, BlendOptions, ContactBlend, ContactOptions, Obstacle, ObstacleMotion,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let straight = pliant::load("specimen:bar")?.mesh()?;
    let bent = pliant::load("specimen:bar#bend@24")?.mesh()?;
    let volume = straight.signed_volume();
    let lines = straight
        .positions()
        .iter()
        .zip(bent.positions())
        .map(|(a, b)| a.lerp(*b, 0.5))
        .collect();

    println!(
        "lines lose {:.1} % of the volume",
        100.0 * (1.0 - straight.posed(lines)?.signed_volume() / volume)
    );

    let shapes = [straight.clone(), bent];
    let mut blend = Blend::new(&shapes, &BlendOptions::default())?; // once per set of shapes
    let half = blend.between(0.5)?; // as often as you like
    println!(
        "springs lose {:.1} %, and balance to {:.0e}",
        100.0 * (1.0 - half.volume / volume),
        half.report.residual
    );

    let ball = Obstacle::sphere(DVec3::new(0.0, 1.0, 0.0), 0.7)?;
    let mut among = ContactBlend::new(
        blend,
        vec![(ball, ObstacleMotion::still())],
        &ContactOptions::default(),
    )?;

    let held = among.step(&[0.5, 0.5], 0.5)?;
    save(
        &Asset::from_mesh(straight.posed(held.shape.positions)?),
        "06_around_a_ball.obj",
    )?;

    println!(
        "{} contacts with the ball, written to 06_around_a_ball.obj",
        held.contacts
    );

    Ok(())
}
