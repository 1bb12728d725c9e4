//! The poses of the hand, by the angles of their joints.

use pliant_mesh::glam::{DQuat, DVec3};

use super::anatomy::Anatomy;
use crate::math::rotation_about;

/// Bends of the three joints of a finger and its spread away from the middle one, in degrees.
type FingerAngles = [f64; 4];

/// A hand gesture in degrees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gesture {
    pub(super) name: &'static str,
    /// Bend of the wrist towards the palm.
    wrist: f64,
    /// The thumb's root towards the fingers, across the palm, away from the palm, its twist, and
    /// its two outer bends.
    thumb: [f64; 6],
    /// Index, middle, ring, little.
    fingers: [FingerAngles; 4],
}

const fn gesture(
    name: &'static str,
    wrist: f64,
    thumb: [f64; 6],
    fingers: [FingerAngles; 4],
) -> Gesture {
    Gesture {
        name,
        wrist,
        thumb,
        fingers,
    }
}

const STRAIGHT: FingerAngles = [0.0, 0.0, 0.0, 0.0];
const FOLDED: [FingerAngles; 4] = [
    [88.0, 110.0, 76.0, -1.0],
    [88.0, 111.0, 78.0, 0.0],
    [88.0, 110.0, 76.0, -1.0],
    [86.0, 106.0, 70.0, -5.0],
];

/// Every gesture in the order of the clip's frames.
pub(super) const GESTURES: [Gesture; 14] = [
    gesture(
        "flat",
        0.0,
        [14.0, 0.0, 0.0, 0.0, 4.0, 0.0],
        [
            [0.0, 0.0, 0.0, -4.0],
            STRAIGHT,
            [0.0, 0.0, 0.0, -3.5],
            [0.0, 0.0, 0.0, -8.5],
        ],
    ),
    gesture(
        "spread",
        -8.0,
        [-16.0, -6.0, 0.0, 0.0, -6.0, -10.0],
        [
            [-6.0, 0.0, 0.0, 11.0],
            [-5.0, 0.0, 0.0, 0.0],
            [-6.0, 0.0, 0.0, 9.0],
            [-6.0, 0.0, 0.0, 16.0],
        ],
    ),
    gesture(
        "relaxed",
        6.0,
        [8.0, -14.0, 0.0, -8.0, 14.0, 18.0],
        [
            [18.0, 24.0, 12.0, -1.0],
            [24.0, 30.0, 16.0, 0.0],
            [28.0, 34.0, 18.0, -1.0],
            [30.0, 36.0, 20.0, -2.0],
        ],
    ),
    gesture(
        "fist",
        -12.0,
        [-6.0, -33.0, 21.0, -17.0, 38.0, 48.0],
        FOLDED,
    ),
    gesture(
        "point",
        -4.0,
        [-4.0, -34.0, 20.0, -17.0, 40.0, 50.0],
        [[2.0, 4.0, 2.0, 0.0], FOLDED[1], FOLDED[2], FOLDED[3]],
    ),
    gesture(
        "victory",
        -4.0,
        [6.0, -40.0, 19.0, -20.0, 36.0, 48.0],
        [
            [-2.0, 2.0, 2.0, 10.0],
            [-2.0, 2.0, 2.0, -8.0],
            FOLDED[2],
            FOLDED[3],
        ],
    ),
    gesture(
        "thumb_up",
        -8.0,
        [-12.0, 14.0, 0.0, 0.0, -8.0, -14.0],
        FOLDED,
    ),
    gesture(
        "pinch",
        0.0,
        [9.0, -38.0, 11.0, -16.0, 6.0, 4.0],
        [
            [48.0, 52.0, 33.0, 0.0],
            [22.0, 22.0, 10.0, 0.0],
            [14.0, 16.0, 8.0, 3.0],
            [8.0, 12.0, 6.0, 6.0],
        ],
    ),
    gesture(
        "claw",
        -14.0,
        [-6.0, -16.0, 8.0, -6.0, 22.0, 46.0],
        [
            [-4.0, 74.0, 52.0, 6.0],
            [-2.0, 78.0, 54.0, 0.0],
            [-4.0, 76.0, 52.0, 5.0],
            [-4.0, 70.0, 48.0, 9.0],
        ],
    ),
    gesture(
        "grab",
        4.0,
        [-4.0, -34.0, 16.0, -14.0, 14.0, 22.0],
        [
            [44.0, 42.0, 24.0, 6.0],
            [46.0, 46.0, 26.0, 0.0],
            [48.0, 46.0, 26.0, 4.0],
            [50.0, 42.0, 24.0, 8.0],
        ],
    ),
    gesture(
        "hook",
        0.0,
        [4.0, 4.0, 0.0, 0.0, 6.0, 10.0],
        [
            [6.0, 92.0, 58.0, -3.0],
            [6.0, 94.0, 60.0, 0.0],
            [6.0, 94.0, 60.0, -3.0],
            [6.0, 90.0, 56.0, -6.0],
        ],
    ),
    gesture(
        "horns",
        -4.0,
        [0.0, -38.0, 20.0, -18.0, 34.0, 50.0],
        [
            [0.0, 2.0, 2.0, 4.0],
            FOLDED[1],
            FOLDED[2],
            [0.0, 4.0, 2.0, 8.0],
        ],
    ),
    gesture(
        "cup",
        14.0,
        [10.0, -26.0, 6.0, -12.0, 10.0, 12.0],
        [
            [34.0, 22.0, 10.0, -4.0],
            [36.0, 24.0, 12.0, 0.0],
            [40.0, 26.0, 12.0, -4.0],
            [44.0, 26.0, 12.0, -9.0],
        ],
    ),
    gesture(
        "stop",
        -48.0,
        [2.0, 2.0, 0.0, 0.0, -4.0, -8.0],
        [
            [-10.0, 0.0, 0.0, 3.0],
            [-10.0, 0.0, 0.0, 0.0],
            [-10.0, 0.0, 0.0, 2.0],
            [-10.0, 0.0, 0.0, 4.0],
        ],
    ),
];

/// The gestures of the clip `play`, in order.
pub(super) const PLAY: [&str; 5] = ["point", "victory", "pinch", "fist", "spread"];

/// From the open hand through [`PLAY`] and back, each transition in `steps` frames that start and
/// end slowly.
pub(super) fn play(steps: usize) -> Vec<Gesture> {
    let named = |name: &&str| {
        *GESTURES
            .iter()
            .find(|gesture| gesture.name == *name)
            .expect("a play shows gestures of the list")
    };
    let stops: Vec<Gesture> = [Gesture::REST]
        .into_iter()
        .chain(PLAY.iter().map(named))
        .chain([Gesture::REST])
        .collect();

    // The end of each transition is the start of the next one.
    let between = stops.windows(2).flat_map(|pair| {
        (0..steps).map(move |k| {
            pair[0].towards(
                &pair[1],
                crate::math::smoothstep_between(0.0, 1.0, k as f64 / steps as f64),
            )
        })
    });

    between.chain([Gesture::REST]).collect()
}

impl Gesture {
    /// Interpolates linearly to another gesture, angle by angle.
    fn towards(&self, other: &Self, part: f64) -> Self {
        let mix = |from: f64, to: f64| from + part * (to - from);
        Self {
            name: other.name,
            wrist: mix(self.wrist, other.wrist),
            thumb: std::array::from_fn(|k| mix(self.thumb[k], other.thumb[k])),
            fingers: std::array::from_fn(|f| {
                std::array::from_fn(|k| mix(self.fingers[f][k], other.fingers[f][k]))
            }),
        }
    }

    /// The open hand at rest.
    pub(super) const REST: Self = gesture("open", 0.0, [0.0; 6], [STRAIGHT; 4]);

    /// The bend of joint `k` of `digit` (0 is the thumb) in radians.
    pub(super) fn bend_rad(&self, digit: usize, k: usize) -> f64 {
        let degrees = match (digit, k) {
            (0, 0) => -self.thumb[1],
            (0, k) => self.thumb[3 + k],
            (digit, k) => self.fingers[digit - 1][k],
        };
        degrees.to_radians()
    }

    /// The bend of the wrist in radians.
    pub(super) fn wrist_rad(&self) -> f64 {
        self.wrist.to_radians()
    }

    /// The rotation of every bone against its parent.
    pub(super) fn rotations(&self, anatomy: &Anatomy) -> Vec<DQuat> {
        // The wrist and the root of the thumb rotate about the axes of the hand …
        let mut rotations = anatomy.skeleton.rest();
        rotations[anatomy.skeleton.find("palm")] = rotation_about(DVec3::X, self.wrist_rad());

        let [towards, across, away, twist, ..] = self.thumb.map(f64::to_radians);
        let thumb = &anatomy.digits[0];
        rotations[thumb.first_bone] = rotation_about(DVec3::Z, towards)
            * rotation_about(DVec3::X, away)
            * rotation_about(DVec3::Y, across)
            * rotation_about(thumb.along(0), twist);

        // … all other joints about their hinges.
        for (d, digit) in anatomy.digits.iter().enumerate() {
            for k in usize::from(d == 0)..3 {
                rotations[digit.first_bone + k] =
                    rotation_about(digit.hinge(k), self.bend_rad(d, k));
            }
        }

        for (angles, digit) in self.fingers.iter().zip(&anatomy.digits[1..]) {
            // Away from the middle finger is towards the thumb for the index and towards −x for the
            // others.
            let sign = if digit.name == "index" { -1.0 } else { 1.0 };
            let knuckle = &mut rotations[digit.first_bone];
            *knuckle = rotation_about(DVec3::Z, sign * angles[3].to_radians()) * *knuckle;
        }

        rotations
    }
}
