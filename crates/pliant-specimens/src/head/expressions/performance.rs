//! A short performance: four seconds of a face that wakes up, looks, speaks, is surprised and
//! laughs.
//!
//! **Implementation.** Sliders have keys `(frame, weight)`; between two keys the weight eases in
//! and out as a smoothstep does.

use pliant_rig::{Clip, Interpolation, Rig, WeightTrack};

use crate::Performance;
use crate::math::smoothstep_between;

/// Length of the clip.
const FRAMES: usize = 96;

/// Keys of one slider. A name is that of a target, or of its `Left` and `Right` versions together.
type Keys = (&'static str, &'static [(f64, f64)]);

#[rustfmt::skip]
const SCORE: &[Keys] = &[
    // Awake: a blink and a glance to the character's left.
    ("eyeBlink", &[(4., 0.), (7., 1.), (8., 1.), (12., 0.), (43., 0.), (45., 1.), (46., 1.), (49., 0.), (71., 0.), (75., 0.3), (84., 0.3), (90., 0.)]),
    ("eyeLookOutLeft", &[(11., 0.), (15., 0.6), (22., 0.6), (26., 0.)]),
    ("eyeLookInRight", &[(11., 0.), (15., 0.6), (22., 0.6), (26., 0.)]),
    ("browOuterUpLeft", &[(12., 0.), (17., 0.7), (22., 0.7), (27., 0.)]),
    ("mouthLeft", &[(12., 0.), (18., 0.5), (23., 0.)]),
    // "Well, hello": open, round, open, narrow.
    ("jawOpen", &[(24., 0.), (27., 0.25), (30., 0.12), (33., 0.32), (36., 0.15), (40., 0.22), (44., 0.), (50., 0.), (54., 0.75), (62., 0.6), (68., 0.05), (74., 0.45), (78., 0.3), (82., 0.45), (90., 0.)]),
    ("mouthPucker", &[(22., 0.), (25., 0.7), (28., 0.), (36., 0.), (40., 0.55), (44., 0.)]),
    ("mouthFunnel", &[(24., 0.), (26., 0.4), (29., 0.), (37., 0.), (40., 0.6), (45., 0.), (52., 0.), (55., 0.35), (64., 0.)]),
    ("mouthUpperUp", &[(28., 0.), (31., 0.35), (35., 0.1), (38., 0.)]),
    // Surprise.
    ("browInnerUp", &[(48., 0.), (53., 1.), (61., 0.9), (68., 0.1), (72., 0.3), (90., 0.)]),
    ("browOuterUp", &[(48., 0.), (53., 0.9), (61., 0.8), (68., 0.)]),
    ("eyeWide", &[(48., 0.), (52., 1.), (61., 0.8), (67., 0.)]),
    // Relief and laughter.
    ("mouthSmile", &[(14., 0.), (20., 0.35), (25., 0.1), (45., 0.15), (52., 0.), (64., 0.), (72., 1.), (84., 1.), (93., 0.)]),
    ("cheekSquint", &[(66., 0.), (73., 0.8), (84., 0.8), (92., 0.)]),
    ("eyeSquint", &[(67., 0.), (73., 0.4), (84., 0.4), (91., 0.)]),
    ("noseSneer", &[(70., 0.), (74., 0.25), (84., 0.25), (90., 0.)]),
];

/// The performance, with a key for every frame.
pub(in crate::head) fn perform(rig: &Rig) -> Performance {
    let frames_per_second = Clip::DEFAULT_FRAMES_PER_SECOND;

    // One key per frame, so that linear interpolation of the track is exact at every frame.
    let times_secs = (0..FRAMES)
        .map(|frame| frame as f64 / frames_per_second)
        .collect();
    let keys = (0..FRAMES)
        .map(|frame| weights(rig, frame as f64))
        .collect();

    let track = WeightTrack::new(times_secs, keys, Interpolation::Linear)
        .expect("frames are in order and weigh every slider");
    Performance {
        name: "performance".into(),
        frame_count: FRAMES,
        frames_per_second,
        track,
    }
}

/// The weight of every slider at a frame.
fn weights(rig: &Rig, frame: f64) -> Vec<f64> {
    let mut weights = vec![0.0; rig.targets().len()];
    for (name, keys) in SCORE {
        // A name without a side plays both sides.
        let plays = |target: &str| {
            target == *name
                || target.strip_suffix("Left").or(target.strip_suffix("Right")) == Some(name)
        };
        let value = ease(keys, frame);

        for (k, _) in rig
            .targets()
            .iter()
            .enumerate()
            .filter(|(_, target)| plays(&target.name))
        {
            weights[k] = value;
        }
    }

    weights
}

/// The value of eased keys; held before the first and after the last.
fn ease(keys: &[(f64, f64)], frame: f64) -> f64 {
    let next = keys.partition_point(|key| key.0 <= frame);
    match (next.checked_sub(1).map(|k| keys[k]), keys.get(next)) {
        (None, _) => keys[0].1,
        (Some(last), None) => last.1,
        (Some((from, a)), Some(&(to, b))) => a + (b - a) * smoothstep_between(from, to, frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_score_moves_a_slider() {
        let rig = crate::head::rig();
        for (name, keys) in SCORE {
            let plays = |target: &str| {
                target == *name
                    || target.strip_suffix("Left").or(target.strip_suffix("Right")) == Some(name)
            };
            assert!(rig.targets().iter().any(|t| plays(&t.name)), "{name}");
            assert!(keys.windows(2).all(|k| k[0].0 < k[1].0), "{name}");
        }
    }

    #[test]
    fn eased_keys_are_met_exactly() {
        let keys = [(2.0, 0.0), (6.0, 1.0), (8.0, 0.25)];
        assert_eq!(
            [0.0, 2.0, 4.0, 6.0, 8.0, 99.0].map(|f| ease(&keys, f)),
            [0.0, 0.0, 0.5, 1.0, 0.25, 0.25]
        );
    }

    #[test]
    fn the_performance_starts_and_ends_at_rest() {
        let rig = crate::head::rig();
        let performance = perform(&rig);
        let pose = |frame: usize| rig.evaluate(&performance.track.keys()[frame]);
        assert_eq!(performance.frame_count, performance.track.keys().len());
        assert_eq!(pose(0), rig.neutral().positions());
        assert_eq!(pose(FRAMES - 1), rig.neutral().positions());
        assert!((0..FRAMES).flat_map(pose).all(|p| p.is_finite()));
    }
}
