//! The frames of a clip: a uniform grid of times through the keys of its curves.

use pliant_rig::Clip;

use crate::Animation;
use crate::gltf::extras::ClipExtras;

/// Chosen: the greatest number of frames of a clip, about an hour at 30 frames per second.
const MOST_FRAMES: usize = 100_000;

/// A clip without motions. Its frames are those that our own writer noted, or else they lie on the
/// grid of the key `times`.
pub(super) fn empty_clip(
    name: &str,
    times: &[f64],
    own: Option<&ClipExtras>,
    warnings: &mut Vec<String>,
) -> Animation {
    match own.filter(|own| is_usable(own)) {
        Some(own) => noted_frames(name, own),
        None => frames_on_grid(name, times, warnings),
    }
}

fn is_usable(own: &ClipExtras) -> bool {
    own.frames <= MOST_FRAMES && own.frames_per_second.is_finite() && own.frames_per_second > 0.0
}

fn noted_frames(name: &str, own: &ClipExtras) -> Animation {
    let mut clip = Animation::new(name, own.frames);
    clip.frames_per_second = own.frames_per_second;
    clip.start_secs = if own.start_secs.is_finite() {
        own.start_secs
    } else {
        0.0
    };

    if own.frame_names.len() == own.frames {
        clip.frame_names.clone_from(&own.frame_names);
    }

    clip
}

fn frames_on_grid(name: &str, times: &[f64], warnings: &mut Vec<String>) -> Animation {
    let start = times.first().copied().unwrap_or(0.0);
    let end = times.last().copied().unwrap_or(0.0);
    let (mut rate, mut steps) = grid(times).unwrap_or_else(|| {
        // The tolerance keeps an end that rounding moved just before a frame.
        let rate = Clip::DEFAULT_FRAMES_PER_SECOND;
        (rate, ((end - start) * rate + 1e-3).floor())
    });

    if steps >= MOST_FRAMES as f64 {
        warnings.push(format!(
            "clip '{name}' lasts {} s; it was given {MOST_FRAMES} frames",
            end - start
        ));
        steps = (MOST_FRAMES - 1) as f64;
        rate = (MOST_FRAMES - 1) as f64 / (end - start);
    }

    let mut clip = Animation::new(name, steps as usize + 1);
    clip.frames_per_second = rate;
    clip.start_secs = start;
    clip
}

/// Frames per second and the number of steps, if all keys lie on a uniform grid.
fn grid(times: &[f64]) -> Option<(f64, f64)> {
    const GREATEST_RATE: f64 = 1000.0;
    const TOLERANCE_STEPS: f64 = 0.01;

    let duration = times.last()? - times.first()?;
    let least = times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(f64::INFINITY, f64::min);

    let steps = (duration / least).round();
    let rate = steps / duration;
    if !(steps >= 1.0 && rate.is_finite() && rate <= GREATEST_RATE) {
        return None;
    }

    let on_grid = |time: &f64| {
        let step = (time - times[0]) * rate;
        (step - step.round()).abs() < TOLERANCE_STEPS
    };
    if !times.iter().all(on_grid) {
        return None;
    }

    // Key times are single precision: 29.99999 is 30.
    let whole = if (rate - rate.round()).abs() < 1e-4 * rate {
        rate.round()
    } else {
        rate
    };

    Some((whole, steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_on_a_grid_give_its_rate_and_others_the_default() {
        let single = |t: f64| f64::from(t as f32);
        let (rate, steps) = grid(&[
            single(0.1),
            single(0.1 + 1.0 / 24.0),
            single(0.1 + 5.0 / 24.0),
        ])
        .unwrap();

        assert_eq!((rate, steps), (24.0, 5.0));
        assert_eq!(grid(&[0.0, 0.3, 1.0, 1.07]), None);
        assert_eq!(grid(&[1.0]), None);
        assert_eq!(grid(&[0.0, 1e-9]), None);
    }

    #[test]
    fn the_number_of_frames_follows_from_the_key_times() {
        let mut warnings = Vec::new();
        let mut frame_count = |times: &[f64]| {
            let clip = empty_clip("x", times, None, &mut warnings);
            clip.frame_count
        };

        assert_eq!(frame_count(&[2.0]), 1);
        assert_eq!(frame_count(&[0.0, 0.5]), 2);
        let at_default_rate = (1.07 * Clip::DEFAULT_FRAMES_PER_SECOND) as usize + 1;
        assert_eq!(frame_count(&[0.0, 0.3, 1.0, 1.07]), at_default_rate);
        assert_eq!(frame_count(&[0.0, 1e-3, 1e9]), MOST_FRAMES);
        assert_eq!(warnings.len(), 1, "only the endless clip is reported");
    }
}
