//! The eyebrow: a tapered roll that floats on the skin.

use std::f64::consts::TAU;

use super::half::{Half, Part};
use super::sculpt::Sculpt;
use crate::math::{cos, sin};

const STATIONS: usize = 20;
const AROUND: usize = 8;
/// How far the brow floats above the skin.
const CLEARANCE: f64 = 0.05;

/// The brow's middle line, from the nose (0) outwards (1).
fn spine(t: f64) -> (f64, f64) {
    (
        1.15 + 4.6 * t,
        2.75 + 1.7 * t - 1.7 * t * t * t - 0.1 * t * t,
    )
}

/// Half the brow's height.
fn half_height(t: f64) -> f64 {
    let rise = (t / 0.18).min(1.0);
    let fall = ((1.0 - t) / 0.75).min(1.0);
    0.40 * (0.25 + 0.75 * rise * (2.0 - rise)) * (0.12 + 0.88 * fall * (2.0 - fall))
}

/// Adds the eyebrow, a component of its own.
pub(in crate::head) fn add_brow(half: &mut Half, sculpt: Sculpt) {
    let mut last: Option<Vec<u32>> = None;
    for station in 0..=STATIONS {
        let t = station as f64 / STATIONS as f64;

        // The section is perpendicular to the middle line and stands on the skin.
        let (x, y) = spine(t);
        let (x1, y1) = spine(t + 0.01);
        let base = sculpt.front(x, y);
        let normal = sculpt.normal(base);
        let along = (sculpt.front(x1, y1) - base).normalize();
        let up = normal.cross(along);
        let height = half_height(t);

        let mut ids: Vec<u32> = (0..AROUND)
            .map(|k| {
                // Clockwise seen from the nose end.
                let rotation = -TAU * k as f64 / AROUND as f64;
                let p = base
                    + up * (height * sin(rotation))
                    + normal * (CLEARANCE + 0.42 * height * (1.0 + cos(rotation)));
                half.point(p, Part::Brow, true, false)
            })
            .collect();

        ids.push(ids[0]);
        match &last {
            None => half.cap(&ids, Part::Brow, "brow"),
            Some(inner) => half.strip(&ids, inner, "brow"),
        }

        last = Some(ids);
    }

    // The outer end is closed in the opposite orientation.
    let mut end = last.expect("there are stations");
    end.reverse();
    half.cap(&end, Part::Brow, "brow");
}
