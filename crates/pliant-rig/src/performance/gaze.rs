//! Gaze: rotations of the eyes as the eight shapes of ARKit, and back.
//!
//! **Problem.** Some devices give only angles of the eyes where a rig has shapes, others only shapes
//! where a rig has joints or objects.
//!
//! **Equation.** With the weights `c` of the shapes of one eye and the angles `ψ₁`, `θ₁` at weight 1:
//!
//! ```text
//! ψ = ψ₁ (c_right − c_left)        θ = θ₁ (c_down − c_up)
//! ```
//!
//! where the left eye looks right by `eyeLookIn`, the right eye by `eyeLookOut`. The inverse gives
//! each shape the positive part of its direction; the limits of the slider cut the rest.
//!
//! **Source.** *Measured*: the least-squares fit over 4,030 frames of Live Link Face is 0.43 rad
//! (left) and 0.53 rad (right) for `ψ₁`, 0.60 rad for `θ₁`.

use super::recording::{Channel, ChannelKind};
use super::rotation::{RotatingPart, RotationAngle, RotationChannel};
use crate::{Vocabulary, match_names};

/// The yaw at weight 1, in radians: the mean of both eyes.
const YAW_RAD: f64 = 0.48;
/// The pitch at weight 1, in radians.
const PITCH_RAD: f64 = 0.60;

/// A shape, the eye and the angle that it shows, and the sign.
type GazeShape = (&'static str, RotatingPart, RotationAngle, f64);

const SHAPES: [GazeShape; 8] = {
    use RotatingPart::{LeftEye, RightEye};
    use RotationAngle::{Pitch, Yaw};
    [
        ("eyeLookInLeft", LeftEye, Yaw, 1.0),
        ("eyeLookOutLeft", LeftEye, Yaw, -1.0),
        ("eyeLookDownLeft", LeftEye, Pitch, 1.0),
        ("eyeLookUpLeft", LeftEye, Pitch, -1.0),
        ("eyeLookOutRight", RightEye, Yaw, 1.0),
        ("eyeLookInRight", RightEye, Yaw, -1.0),
        ("eyeLookDownRight", RightEye, Pitch, 1.0),
        ("eyeLookUpRight", RightEye, Pitch, -1.0),
    ]
};

fn angle_rad(angle: RotationAngle) -> f64 {
    match angle {
        RotationAngle::Pitch => PITCH_RAD,
        _ => YAW_RAD,
    }
}

/// The shapes that rotations among `channels` stand for: the channel, the shape of ARKit, the gain.
/// Eyes whose shapes are recorded, too, need none.
pub(super) fn shapes_of_rotations(channels: &[Channel]) -> Vec<(&str, &'static str, f64)> {
    let recorded = recorded_shapes(channels);
    let mut found = Vec::new();
    for channel in channels {
        let ChannelKind::Rotation(rotation) = channel.kind else {
            continue;
        };
        for (shape, part, angle, sign) in SHAPES {
            let is_shown = recorded.iter().any(|&(k, _)| SHAPES[k].1 == part);
            if (part, angle) == (rotation.part, rotation.angle) && !is_shown {
                found.push((&*channel.name, shape, sign / angle_rad(angle)));
            }
        }
    }
    found
}

/// Rotations of eyes by the recorded shapes, for eyes without recorded rotations, none of whose
/// shapes is `used` otherwise. They are in radians.
#[must_use]
pub fn gaze_of_shapes(channels: &[Channel], used: impl Fn(&str) -> bool) -> Vec<Channel> {
    let recorded = recorded_shapes(channels);
    let mut made = Vec::new();
    for (part, prefix) in [
        (RotatingPart::LeftEye, "LeftEye"),
        (RotatingPart::RightEye, "RightEye"),
    ] {
        let rotates = |c: &Channel| matches!(c.kind, ChannelKind::Rotation(r) if r.part == part);
        let own = || recorded.iter().filter(|&&(k, _)| SHAPES[k].1 == part);
        if channels.iter().any(rotates) || own().any(|&(_, c)| used(&channels[c].name)) {
            continue;
        }

        for (angle, name) in [(RotationAngle::Yaw, "Yaw"), (RotationAngle::Pitch, "Pitch")] {
            let mut values: Option<Vec<f64>> = None;
            for &(k, c) in own().filter(|&&(k, _)| SHAPES[k].2 == angle) {
                let gain = SHAPES[k].3 * angle_rad(angle);
                let sums = values.get_or_insert_with(|| vec![0.0; channels[c].values.len()]);
                for (sum, value) in sums.iter_mut().zip(&channels[c].values) {
                    *sum += gain * value;
                }
            }
            made.extend(values.map(|values| Channel {
                name: format!("{prefix}{name}"),
                kind: ChannelKind::Rotation(RotationChannel { part, angle }),
                values,
            }));
        }
    }
    made
}

/// Which shapes are recorded: the place in [`SHAPES`] and the channel.
fn recorded_shapes(channels: &[Channel]) -> Vec<(usize, usize)> {
    let weights: Vec<usize> = (0..channels.len())
        .filter(|&k| channels[k].kind == ChannelKind::Weight)
        .collect();
    let names: Vec<&str> = weights.iter().map(|&k| &*channels[k].name).collect();
    let mut found = Vec::new();
    for pair in match_names(&names, Vocabulary::Arkit).pairs {
        let shape = SHAPES.iter().position(|(shape, ..)| *shape == pair.name);
        found.extend(shape.map(|shape| (shape, weights[pair.source])));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_rotations_of_eyes_are_inverse() {
        let shapes = [
            ("EyeLookInLeft", 0.5),
            ("EyeLookOutLeft", 0.0),
            ("EyeLookDownLeft", 0.0),
            ("EyeLookUpLeft", 0.25),
        ];
        let channels: Vec<Channel> = shapes
            .iter()
            .map(|(name, value)| Channel::new(*name, vec![*value]))
            .collect();
        let gaze = gaze_of_shapes(&channels, |_| false);
        assert_eq!(gaze.len(), 2, "no right eye");
        assert!((gaze[0].values[0] - 0.5 * YAW_RAD).abs() < 1e-12);
        assert!((gaze[1].values[0] + 0.25 * PITCH_RAD).abs() < 1e-12);

        let back = shapes_of_rotations(&gaze);
        for (name, value) in shapes {
            let sum: f64 = back
                .iter()
                .filter(|(_, shape, _)| shape.eq_ignore_ascii_case(name))
                .map(|(from, _, gain)| {
                    let channel = gaze.iter().find(|c| c.name == **from).unwrap();
                    gain * channel.values[0]
                })
                .sum();
            assert!((sum.max(0.0) - value).abs() < 1e-12, "{name}: {sum}");
        }
    }

    #[test]
    fn recorded_rotations_and_used_shapes_are_left_alone() {
        let channels = [
            Channel::new("eyeLookInLeft", vec![1.0]),
            Channel::new("LeftEyeYaw", vec![0.1]),
            Channel::new("eyeLookInRight", vec![1.0]),
        ];
        assert!(gaze_of_shapes(&channels, |name| name == "eyeLookInRight").is_empty());
        assert!(shapes_of_rotations(&channels).is_empty());
    }
}
