//! A mouth corner dragged up: grab once, solve with every move of the hand.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::mesh::glam::DVec3;
use pliant::pictures::{Look, Shot};
use pliant::rig::{Bounded, Evaluator, Pin, Poser, Range};
use pliant::view::View;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rig = pliant::load("specimen:head")?.rig()?;
    let poser = Poser::new(&rig)?; // once per rig
    let pins = [Pin::hold(4480), Pin::hold(855)]; // a mouth corner and the chin
    let mut grab = poser.grab(&[], &pins, &Bounded::default(), Range::Clip)?; // once per set of pins
    let evaluator = Evaluator::new(rig.neutral(), rig.shapes());
    let mut face = evaluator.start();
    let mut pose = grab.solve(&[DVec3::ZERO; 2]);
    let moves = 30;

    for step in 1..=moves {
        let way = DVec3::new(0.7, 1.1, 0.0) * (f64::from(step) / f64::from(moves));
        pose = grab.step(&[way, DVec3::ZERO], 0.06); // with every move of the hand
        evaluator.update(&mut face, &rig.activation().coefficients(&pose.weights));
    }

    let smile = rig.neutral().posed(face.positions().to_vec())?;
    std::fs::write(
        "04_smile.png",
        Shot::new(View::ThreeQuarter, [800, 600])
            .of(&smile, &Look::default())?
            .to_png()?,
    )?;

    let moved: Vec<String> = grab
        .explain(&pose)
        .moves
        .iter()
        .map(|m| format!("{} {:.2}", rig.targets()[m.slider.index()].name, m.to))
        .collect();

    println!(
        "{}: {:.3} cm off; drawn to 04_smile.png",
        moved.join(", "),
        pose.pins[0].error
    );

    Ok(())
}
