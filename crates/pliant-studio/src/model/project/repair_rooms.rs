//! Repair of the settings of each room.

use pliant::physics::SoftMaterial;
use pliant::rig::Aim;
use pliant::transfer::Layer;

use super::repair::{FAR, is_place, is_size, is_valid, repair_weights, within};
use crate::model::blend::{self, Bake, ObstacleMark};
use crate::model::learn::{self, HoldMode};
use crate::model::pose::{self, DraggedPin, Method};
use crate::model::timeline::Timeline;
use crate::model::touch::{self, RecordedPress};
use crate::model::transfer;

/// The longest press that is baked.
const LONGEST_PRESS_SECS: f64 = 3600.0;
/// More substeps and sweeps than any skin needs.
const MOST_ROUNDS: u32 = 1000;

/// Keeps a number from zero up; others are as in `usual`.
fn repair_amount(number: &mut f64, usual: f64) {
    if !(0.0..=FAR).contains(number) {
        *number = usual;
    }
}

fn repair_number(number: &mut f64, usual: f64) {
    if !is_valid(*number) {
        *number = usual;
    }
}

/// Goals are places, and what was dragged can be dragged again.
pub(crate) fn repair_pose(setup: &mut pose::Setup) {
    for mark in &mut setup.pins {
        mark.goal.take_if(|goal| !is_place(goal));
    }

    // A drag with an invalid pin cannot be repeated.
    setup
        .pull
        .take_if(|pull| !pull.pins.iter().all(can_be_pulled));

    if let Some(pull) = &mut setup.pull {
        repair_weights(&mut pull.base);
        repair_weights(&mut pull.result);
    }

    [Some(&mut setup.method), setup.compared.as_mut()]
        .into_iter()
        .flatten()
        .for_each(repair_method);
    setup.sculpt.radius.take_if(|radius| !is_size(*radius));

    let usual = pose::Setup::default().lines;
    repair_number(&mut setup.lines.middle, usual.middle);
    repair_number(&mut setup.lines.sides, usual.sides);
}

fn can_be_pulled(pin: &DraggedPin) -> bool {
    let can_be_aimed_at = match &pin.aim {
        Aim::Point => true,
        Aim::Across(direction) | Aim::Along(direction) => {
            is_place(&direction.to_array()) && is_size(direction.length())
        }
        Aim::Curve(points) => {
            !points.is_empty() && points.iter().all(|point| is_place(&point.to_array()))
        }
    };
    is_place(&pin.goal) && can_be_aimed_at
}

fn repair_method(method: &mut Method) {
    let usual = Method::default();
    repair_amount(&mut method.sparsity, usual.sparsity);
    repair_amount(&mut method.damping, usual.damping);
    repair_amount(&mut method.alpha, usual.alpha);
    method.reach.take_if(|reach| !(0.0..=FAR).contains(reach));
    method
        .radius
        .take_if(|radius| !(0.0..=FAR).contains(radius));
    method.gamma.take_if(|gamma| !(0.0..=1.0).contains(gamma));
}

/// Solids and patches have a size, and a press has an end.
pub(crate) fn repair_touch(setup: &mut touch::Setup) {
    let usual = touch::Setup::default();
    setup.patches.retain(|patch| is_size(patch.radius));
    let solid = &mut setup.solid;
    solid.radius.take_if(|radius| !is_size(*radius));
    solid.slenderness = within(solid.slenderness, [1.0, 1000.0], usual.solid.slenderness);

    if !is_place(&solid.axis) {
        solid.axis = usual.solid.axis;
    }

    repair_amount(&mut solid.friction, usual.solid.friction);
    solid.depth = within(
        solid.depth,
        [0.0, touch::ColliderSetup::MOST_DEPTH],
        usual.solid.depth,
    );

    solid.place.take_if(|place| !is_place(place));
    solid.from.take_if(|place| !is_place(place));
    setup.pull.take_if(|pull| !is_place(&pull.offset));
    setup.recorded.take_if(|recorded| !can_be_baked(recorded));

    // Iterations without a limit would block the worker.
    let simulation = &mut setup.simulation;
    repair_number(&mut simulation.gravity, usual.simulation.gravity);
    repair_number(&mut simulation.inertia, usual.simulation.inertia);
    repair_amount(
        &mut simulation.verlet_damping,
        usual.simulation.verlet_damping,
    );

    repair_amount(&mut simulation.verlet_bend, usual.simulation.verlet_bend);
    simulation.verlet_iterations = simulation.verlet_iterations.min(MOST_ROUNDS);
    simulation.substeps = simulation
        .substeps
        .map(|substeps| substeps.min(MOST_ROUNDS));
    repair_skin(&mut setup.material, &usual.material);
}

fn repair_skin(skin: &mut SoftMaterial, usual: &SoftMaterial) {
    repair_amount(&mut skin.frequency_hz, usual.frequency_hz);
    repair_amount(&mut skin.damping_ratio, usual.damping_ratio);
    repair_amount(&mut skin.spread, usual.spread);
    repair_amount(&mut skin.roundness, usual.roundness);
    repair_amount(&mut skin.shear, usual.shear);
    repair_amount(&mut skin.area, usual.area);
    repair_amount(&mut skin.depth, usual.depth);
    repair_amount(&mut skin.volume, usual.volume);
    repair_amount(&mut skin.strain_limit, usual.strain_limit);
}

fn can_be_baked(recorded: &RecordedPress) -> bool {
    let starts = (0.0..=f64::from(Timeline::MAX_FRAME)).contains(&recorded.start_frame);
    starts
        && recorded.secs() <= LONGEST_PRESS_SECS
        && !recorded.places.is_empty()
        && recorded.places.iter().all(is_place)
}

/// None, two or three shapes, with shares of one whole.
pub(crate) fn repair_blend(setup: &mut blend::Setup) {
    let usual = blend::Setup::default();
    setup.shapes.truncate(blend::Setup::MOST_SHAPES);
    // A blend has no shapes, or two or three.
    if let [only] = &setup.shapes[..] {
        let other = only.clone();
        setup.shapes.push(other);
    }

    let shapes = setup.shapes.len();
    repair_shares(&mut setup.weights, shapes);
    setup
        .keys
        .retain(|key| key.frame <= Timeline::MAX_FRAME && key.weights.len() == shapes);
    for key in &mut setup.keys {
        repair_shares(&mut key.weights, shapes);
    }

    setup.keys.sort_by_key(|key| key.frame);
    setup.keys.dedup_by_key(|key| key.frame);
    setup.obstacles.retain(is_solid);
    repair_amount(&mut setup.friction, usual.friction);
    repair_amount(&mut setup.material.angles, usual.material.angles);
    repair_amount(&mut setup.material.volume, usual.material.volume);

    if !setup
        .stiffness
        .iter()
        .all(|&stiffness| (0.0..=FAR).contains(&f64::from(stiffness)))
    {
        setup.stiffness = usual.stiffness;
    }

    setup.bake.steps = setup.bake.steps.clamp(1, Bake::MOST_STEPS);
}

/// As many shares as shapes, none below zero, that sum to one; all is the first one's where they
/// say nothing.
fn repair_shares(shares: &mut Vec<f64>, shapes: usize) {
    let is_share = |share: &f64| (0.0..=FAR).contains(share);
    let sum: f64 = shares.iter().sum();
    let is_whole = shares.len() == shapes && shares.iter().all(is_share);
    if is_whole && (shapes == 0 || (sum - 1.0).abs() < 1e-9) {
        return;
    }

    // Weights are normalised; unusable ones give the first shape.
    if is_whole && is_size(sum) {
        for share in shares.iter_mut() {
            *share /= sum;
        }
    } else {
        *shares = (0..shapes)
            .map(|shape| if shape == 0 { 1.0 } else { 0.0 })
            .collect();
    }
}

fn is_solid(mark: &ObstacleMark) -> bool {
    let sizes = [mark.radius, mark.length].into_iter().chain(mark.sides);
    is_place(&mark.center) && is_place(&mark.turned_deg) && sizes.into_iter().all(is_size)
}

/// Layers go forward and end.
pub(crate) fn repair_transfer(setup: &mut transfer::Setup) {
    for layer in &mut setup.layers {
        layer.at = layer.at.min(Layer::MOST_FRAMES);
        layer.speed = if is_size(layer.speed) {
            layer.speed.clamp(1e-3, 1e3)
        } else {
            1.0
        };

        layer.ease = within(layer.ease, [0.0, Layer::MOST_FRAMES as f64], 0.0);
        layer
            .frames
            .take_if(|[first, last]| first > last || *last > Layer::MOST_FRAMES);
    }
    setup.turns.retain(|turn| is_place(&turn.degrees));
}

/// Goals are places, and what drives is a number.
pub(crate) fn repair_learn(setup: &mut learn::Setup) {
    let usual = learn::Drive::default();
    let drive = &mut setup.drive;
    for goals in [&mut drive.goals, &mut drive.effectors] {
        // A missing entry would shift the others.
        if !goals.iter().all(is_place) {
            goals.clear();
        }
    }

    repair_amount(&mut drive.swing_hertz, usual.swing_hertz);
    repair_amount(&mut drive.swing_damping, usual.swing_damping);
    drive.reach = within(drive.reach, [0.0, 1.0], usual.reach);

    if matches!(drive.hold, HoldMode::Soft(weight) if !is_size(weight)) {
        drive.hold = usual.hold;
    }

    setup.recipe.beta.take_if(|beta| !is_size(*beta));
    if let Some(capture) = &mut setup.capture {
        capture.scale = if is_size(capture.scale) {
            capture.scale
        } else {
            1.0
        };
        capture.smooth_frames = within(capture.smooth_frames, [0.0, 1e4], 0.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::model::document::Document;
    use crate::model::project::repair::repair;
    use crate::model::{blend, learn, pose, touch};

    /// The repaired document of a text. Repairing it again changes nothing.
    fn repaired(text: &str) -> Document {
        let mut document: Document = serde_json::from_str(text).unwrap();
        assert_eq!(repair(&mut document).len(), 1, "{text}");
        assert_eq!(
            repair(&mut document),
            Vec::<String>::new(),
            "once is enough: {text}"
        );
        document
    }

    #[test]
    fn repair_of_pose_keeps_pins_and_drops_invalid_goals() {
        let pose = repaired(
            r#"{"pose": {"pins": [{"vertex": 4294967295, "goal": [1e300, 0, 0], "stroke": 4294967295}, {"goal": [1, 2, 3]}],
            "pull": {"pins": [{"vertex": 1, "goal": [0, 0, 0], "aim": {"Curve": []}}]},
            "method": {"sparsity": -1, "alpha": 1e300, "reach": -1}, "sculpt": {"radius": -1}, "lines": {"middle": 1e300}}}"#,
        )
        .pose;

        assert_eq!(
            (pose.pins.len(), pose.pins[0].goal, pose.pins[1].goal),
            (2, None, Some([1.0, 2.0, 3.0]))
        );
        assert_eq!((&pose.pull, pose.method), (&None, pose::Method::default()));
        assert_eq!(
            (pose.sculpt.radius, pose.lines),
            (None, pose::Setup::default().lines)
        );

        assert_eq!(pose.next_stroke(), u32::MAX);
    }

    #[test]
    fn repair_of_touch_limits_presses_and_sizes() {
        // Nearly every number of this text is out of range.
        let touch = repaired(
            r#"{"touch": {"patches": [{"center": 0, "radius": -1}, {"center": 1, "radius": 0.5}],
            "solid": {"radius": 0, "slenderness": 1e300, "axis": [1e300, 0, 0], "place": [0, 1e300, 0], "friction": -3},
            "pull": {"vertex": 0, "offset": [1e300, 0, 0], "holds": true},
            "recorded": {"start_frame": 1e18, "places": [[0, 0, 0]]},
            "material": {"frequency_hz": 1e300}, "simulation": {"gravity": -1e300, "substeps": 4294967295, "verlet_iterations": 4294967295}}}"#,
        )
        .touch;

        assert_eq!(
            (touch.patches.len(), &touch.recorded, touch.pull),
            (1, &None, None)
        );

        assert_eq!(
            touch.solid,
            touch::ColliderSetup {
                slenderness: 1000.0,
                ..touch::ColliderSetup::default()
            }
        );

        assert_eq!(
            (touch.material, touch.simulation.gravity),
            (touch::Setup::default().material, 0.0)
        );
        assert!(
            touch.simulation.substeps == Some(1000) && touch.simulation.verlet_iterations == 1000
        );
    }

    #[test]
    fn repair_of_blend_limits_shapes_and_normalises_weights() {
        let blend = repaired(
            r#"{"blend": {"shapes": [{}, {}, {}, {}, {}], "weights": [3, 1, 0, 1, 1], "friction": -1, "stiffness": [1e30],
            "keys": [{"frame": 4294967295, "weights": [1, 0, 0]}, {"frame": 9, "weights": [1, 3, 0]}, {"frame": 2, "weights": [1]},
            {"frame": 4, "weights": [-1, 2, 0]}], "obstacles": [{"radius": 0}, {}], "bake": {"steps": 4000000000}}}"#,
        )
        .blend;

        assert_eq!(
            (blend.shapes.len(), &blend.weights[..]),
            (3, &[1.0, 0.0, 0.0][..])
        );

        // Keys with another number of weights are removed; the others are sorted and sum to one.
        let key = |frame, weights: [f64; 3]| blend::BlendKey {
            frame,
            weights: weights.to_vec(),
        };

        assert_eq!(
            blend.keys,
            [key(4, [1.0, 0.0, 0.0]), key(9, [0.25, 0.75, 0.0])]
        );

        assert_eq!(
            (
                blend.obstacles.len(),
                blend.bake.steps,
                blend.stiffness.len()
            ),
            (1, blend::Bake::MOST_STEPS, 0)
        );

        // A single shape cannot be blended, so it is there twice.
        let one =
            repaired(r#"{"blend": {"shapes": [{"target": "smile"}], "weights": [0.5, 0.5]}}"#)
                .blend;
        assert_eq!((one.shapes.len(), &one.weights[..]), (2, &[0.5, 0.5][..]));
    }

    #[test]
    fn repair_of_transfer_makes_layers_finite() {
        let transfer = repaired(
            r#"{"transfer": {"layers": [{"at": 18446744073709551615, "speed": 0, "ease": 1e300, "frames": [9, 3]},
            {"at": 5, "speed": 1e-9, "frames": [0, 18446744073709551615]}, {"at": 7, "speed": 0.5, "frames": [2, 8]}],
            "turns": [{"region": "Trunk", "degrees": [1e300, 0, 0]}]}}"#,
        )
        .transfer;

        let most = pliant::transfer::Layer::MOST_FRAMES;
        let layers: Vec<_> = transfer
            .layers
            .iter()
            .map(|layer| (layer.at, layer.speed, layer.frames))
            .collect();

        assert_eq!(
            layers,
            [(most, 1.0, None), (5, 1e-3, None), (7, 0.5, Some([2, 8]))]
        );
        assert!(transfer.layers[0].ease <= most as f64 && transfer.turns.is_empty());
    }

    #[test]
    fn repair_of_learn_drives_from_the_rest_pose() {
        let learn = repaired(
            r#"{"learn": {"recipe": {"beta": -1}, "capture": {"scale": 0, "smooth_frames": 1e300},
            "drive": {"goals": [[0, 0, 0], [1e300, 0, 0]], "effectors": [[0, 1, 0]], "swing_hertz": -1, "reach": 7,
            "hold": {"Soft": 0}}}}"#,
        )
        .learn;

        assert_eq!(
            (
                learn.drive.goals.len(),
                learn.drive.effectors.len(),
                learn.recipe.beta
            ),
            (0, 1, None)
        );

        assert_eq!(
            (learn.drive.hold, learn.drive.swing_hertz, learn.drive.reach),
            (learn::HoldMode::Learned, 0.0, 1.0)
        );

        assert_eq!(
            learn
                .capture
                .map(|capture| (capture.scale, capture.smooth_frames)),
            Some((1.0, 1e4))
        );
    }
}
