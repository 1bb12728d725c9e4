//! Pose: dragged pins on the head, the sliders that follow, and goals beyond the sliders.

use pliant_linalg::portable;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_papers::page::Section;
use pliant_rig::{
    Bounded, Evaluator, Pin, Pose, PoseSolver, Poser, Range, ResidualLayer, ResidualOptions, Rig,
    Tikhonov, Transpose,
};
use pliant_view::{
    Camera, Color, ContactSheet, Framing, Ground, Image, Look, Marker, PreparedScene, Scene,
    Stroke, View, ViewError,
};

use super::{DemoError, milliseconds, timed};

const SIZE: [usize; 2] = [400, 420];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.02,
};

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let rig = pliant_specimens::specimen("head")
        .expect("a head ships with the product")
        .rig;
    let mut section = Section::new(
        "Pose",
        "The user drags points of the face, and the sliders follow: only a few, inside their \
         limits, and near the pin. A pin is drawn as a dot with a line to its goal. Two methods of \
         Çetinaslan 2016 are shown for comparison.",
    );

    let (poser, prepare_ms) = timed(|| Poser::new(&rig));
    let poser = poser?;
    section.figure("prepare the rig", milliseconds(prepare_ms));
    smirk(&poser, &mut section)?;
    drag(&poser, &mut section)?;
    beyond_reach(&poser, &mut section)?;
    sections.push(section);

    Ok(())
}

/// The vertex that a target moves most.
fn peak(rig: &Rig, name: &str) -> usize {
    let target = &rig.targets()[rig.slider_named(name).expect("the head has it").index()];
    let longest = (0..target.deltas.len()).max_by(|&a, &b| {
        target.deltas[a]
            .length()
            .total_cmp(&target.deltas[b].length())
    });
    target.vertices[longest.expect("a target moves something")] as usize
}

/// A mouth corner and a brow are pulled up and the chin is held, by three methods.
fn smirk(poser: &Poser, section: &mut Section) -> Result<(), DemoError> {
    let rig = poser.rig();
    let pins = [
        Pin::new(peak(rig, "mouthSmileLeft"), DVec3::new(0.6, 1.0, 0.0)),
        Pin::new(peak(rig, "browOuterUpRight"), DVec3::new(0.0, 0.7, -0.1)),
        Pin::hold(peak(rig, "jawOpen")),
    ];

    let rest = rig.neutral();
    let mut sheet = ContactSheet::new("", 4);
    sheet.push(picture(rest, rest, &pins)?, "pins and their goals");

    let solvers: [Box<dyn PoseSolver>; 3] = [
        Box::new(Bounded::default()),
        Box::new(Tikhonov::default()),
        Box::new(Transpose::default()),
    ];

    for solver in &solvers {
        let mut grab = poser.grab(&[], &pins, solver.as_ref(), Range::Clip)?;
        let (pose, ms) = timed(|| grab.solve(&pins.each_ref().map(|pin| pin.displacement)));
        let posed = rest.posed(rig.evaluate(&pose.weights))?;
        sheet.push(picture(&posed, rest, &[])?, caption(&pose, &pins));

        // The optimality residual exists for the bounded solver only.
        if pose.method == "box" {
            section.figure("box: one solve", format!("{:.0} µs", 1e3 * ms));
            section.figure("box: KKT", format!("{:.0e}", pose.kkt.unwrap_or(0.0)));
        }
    }

    section.wide(
        "pose-methods.png",
        "The same three pins by the default method and by two methods of Çetinaslan 2016, clipped.",
        &sheet.compose()?,
    )?;

    Ok(())
}

/// Method, sliders and remaining distance.
fn caption(pose: &Pose, pins: &[Pin]) -> String {
    format!(
        "{}: {} sliders, {:.0} % off",
        pose.method,
        pose.active_sliders(),
        100.0 * miss(pose, pins)
    )
}

fn solve(poser: &Poser, pins: &[Pin], solver: &dyn PoseSolver) -> Result<Pose, DemoError> {
    let displacements: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    Ok(poser
        .grab(&[], pins, solver, Range::Clip)?
        .solve(&displacements))
}

/// The remaining distance to the goals, relative to the drags.
fn miss(pose: &Pose, pins: &[Pin]) -> f64 {
    let errors: Vec<f64> = pose.pins.iter().map(|pin| pin.error).collect();
    let drags: Vec<f64> = pins.iter().map(|pin| pin.displacement.length()).collect();
    root_sum_square(&errors) / root_sum_square(&drags)
}

fn root_sum_square(lengths: &[f64]) -> f64 {
    lengths.iter().map(|l| l * l).sum::<f64>().sqrt()
}

/// A mouth corner is dragged along a loop while a brow is held.
fn drag(poser: &Poser, section: &mut Section) -> Result<(), DemoError> {
    let rig = poser.rig();
    let corner = peak(rig, "mouthSmileLeft");
    let pins = [Pin::hold(corner), Pin::hold(peak(rig, "browInnerUp"))];
    // One factorisation for all steps of the drag.
    let mut grab = poser.grab(&[], &pins, &Bounded::default(), Range::Clip)?;
    let evaluator = Evaluator::new(rig.neutral(), rig.shapes());
    let mut face = evaluator.start();
    let moments = 28;
    let mut frames = Vec::with_capacity(moments);
    let mut solve_us = 0.0;
    let mut evaluate_ms = 0.0;

    for k in 0..moments {
        let displacement = loop_displacement(k as f64 / moments as f64);
        let (pose, solve_ms) = timed(|| grab.step(&[displacement, DVec3::ZERO], 0.2));
        let ((), ms) =
            timed(|| evaluator.update(&mut face, &rig.activation().coefficients(&pose.weights)));
        solve_us += 1e3 * solve_ms / moments as f64;
        evaluate_ms += ms / moments as f64;

        let posed = rig.neutral().posed(face.positions().to_vec())?;
        let marker = Marker::new(pose.pins[0].reached).colored(pin_color());
        let scene = Look::default().scene(&posed).with_marker(marker);
        frames.push(render(scene, rig.neutral())?);
    }

    section.figure("drag: solve", format!("{solve_us:.0} µs"));
    section.figure("drag: evaluate with normals", milliseconds(evaluate_ms));
    section.moving(
        "pose-drag.png",
        "A mouth corner dragged along a loop.",
        &frames,
        70,
    )?;

    Ok(())
}

/// The displacement at a share of the loop. Portable functions give the same pictures on every
/// machine.
fn loop_displacement(share: f64) -> DVec3 {
    let angle = share * std::f64::consts::TAU;
    DVec3::new(
        0.8 * portable::sin(angle),
        0.6 - 0.8 * portable::cos(angle),
        0.1 * portable::sin(angle),
    )
}

/// A goal that no slider reaches, and the residual layer that reaches it.
fn beyond_reach(poser: &Poser, section: &mut Section) -> Result<(), DemoError> {
    let rig = poser.rig();
    let rest = rig.neutral();
    let places = rest.positions();
    // The head looks along z, so the tip of the nose is farthest in front.
    let tip = (0..places.len())
        .max_by(|&a, &b| places[a].z.total_cmp(&places[b].z))
        .expect("a head has vertices");

    let pins = [Pin::new(tip, DVec3::new(0.4, 0.9, 1.6))];
    let pose = solve(poser, &pins, &Bounded::default())?;
    let mut positions = rig.evaluate(&pose.weights);
    section.small(
        "pose-reach.png",
        "The tip of the nose is pulled to a goal that no slider reaches.",
        &picture(&rest.posed(positions.clone())?, rest, &pins)?,
    )?;

    // The layer receives only what the sliders do not reach.
    let missing = [pose.pins[0].goal - pose.pins[0].reached];
    let radius = ResidualLayer::suggested_radius(rest, &positions, &missing);
    let layer = ResidualLayer::factor(
        rest,
        &positions,
        &[pins[0].at],
        radius,
        &ResidualOptions::default(),
    )?;

    let (result, ms) = timed(|| layer.residual(&missing));
    let (residual, _) = result?;
    residual.apply_to(&mut positions, 1.0)?;
    section.figure(
        "residual layer",
        format!(
            "{} vertices in {}",
            residual.vertices().len(),
            milliseconds(ms)
        ),
    );

    section.small(
        "pose-residual.png",
        "A residual layer reaches the goal; it moves only the vertices within its disc.",
        &picture(&rest.posed(positions)?, rest, &pins)?,
    )?;

    Ok(())
}

/// The colour of pins.
fn pin_color() -> Color {
    Color::srgb8(214, 72, 40)
}

/// A pose with pins at their rest positions and lines to their goals.
fn picture(pose: &Mesh, rest: &Mesh, pins: &[Pin]) -> Result<Image, ViewError> {
    let mut scene = Look::default().scene(pose);
    for pin in pins {
        let at = pin.at.position(rest);
        scene = scene.with_marker(Marker::new(at).colored(pin_color()));
        if pin.displacement != DVec3::ZERO {
            scene = scene
                .with_stroke(Stroke::new(vec![at, at + pin.displacement]).colored(pin_color()));
        }
    }

    render(scene, rest)
}

fn render(mut scene: Scene, rest: &Mesh) -> Result<Image, ViewError> {
    scene.backdrop.ground = Ground::None;
    // The face fills the picture; neck and crown may be outside.
    let face: Vec<DVec3> = rest
        .positions()
        .iter()
        .copied()
        .filter(|p| p.z > 2.0 && p.y > -12.0 && p.y < 7.0)
        .collect();

    PreparedScene::new(&scene)?.render(
        &Camera::framing_points(&face, &Framing::new(VIEW, SIZE)),
        SIZE,
    )
}
