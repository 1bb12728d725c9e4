//! Teeth and tongue, components of their own inside the mouth bag.

use std::f64::consts::{FRAC_PI_2, PI};

use pliant_mesh::glam::DVec3;

use super::anatomy as an;
use super::half::{Half, Part};
use super::sculpt::Sculpt;
use crate::math::{cos, sin};

const STATIONS: usize = 12;

/// A cross-section of the upper teeth: height above the line of the lips and depth behind the front
/// of the teeth, from the biting edge up the front and down the back. The first three sides are
/// enamel.
const UPPER: [[f64; 2]; 8] = [
    [-0.16, 0.06],
    [0.05, 0.0],
    [0.62, -0.02],
    [0.78, -0.02],
    [1.12, 0.05],
    [1.15, 0.4],
    [0.6, 0.5],
    [-0.12, 0.26],
];

/// Adds both rows of teeth.
pub(in crate::head) fn add_teeth(half: &mut Half, sculpt: Sculpt) {
    let upper = UPPER.map(|[y, depth]| [an::MOUTH_Y + y, 0.68 + depth]);
    let lower = UPPER.map(|[y, depth]| [an::MOUTH_Y - 0.36 - y * 0.72, 0.92 + 0.2 * y + depth]);
    add_row(half, sculpt, &upper, Part::UpperTeeth, false);
    add_row(half, sculpt, &lower, Part::LowerTeeth, true);
}

/// Sweeps a cross-section of heights and depths behind the lips along the dental arch.
fn add_row(half: &mut Half, sculpt: Sculpt, section: &[[f64; 2]; 8], part: Part, flipped: bool) {
    let front = sculpt.front(0.0, an::MOUTH_Y).z;
    let mut last: Option<Vec<u32>> = None;
    for station in 0..=STATIONS {
        // Along the lips in front, then straight back along the cheek.
        let t = station as f64 / STATIONS as f64;
        let x = 2.0 * sin(FRAC_PI_2 * t);
        let back = 0.16 * x * x + 9.0 * (t - 0.6).max(0.0) * (t - 0.6).max(0.0);
        let mut ids: Vec<u32> = section
            .iter()
            .map(|&[y, depth]| {
                // Deeper points run on a smaller arch.
                let inset = 1.0 - 0.25 * (depth - section[1][1]);
                half.point(
                    DVec3::new(x * inset, y, front - depth - back),
                    part,
                    true,
                    station == 0,
                )
            })
            .collect();

        ids.push(ids[0]);

        // Sections are joined by quads; the lower row is a mirror image, with opposite orientation.
        if let Some(before) = &last {
            for k in 0..8 {
                let material = if (2..6).contains(&k) { "gums" } else { "teeth" };
                let corners = [before[k], ids[k], ids[k + 1], before[k + 1]];
                half.quad(
                    if flipped {
                        [corners[0], corners[3], corners[2], corners[1]]
                    } else {
                        corners
                    },
                    material,
                );
            }
        }

        last = Some(ids);
    }

    let mut end = last.expect("there are stations");
    if flipped {
        end.reverse();
    }

    half.cap(&end, part, "teeth");
}

/// Adds the tongue: a flattened drop, its tip behind the lower teeth.
pub(in crate::head) fn add_tongue(half: &mut Half, sculpt: Sculpt) {
    const SIDES: usize = 8;

    let front = sculpt.front(0.0, an::MOUTH_Y).z - 2.1;
    let mut first: Option<Vec<u32>> = None;
    let mut last: Option<Vec<u32>> = None;
    for station in 0..=8 {
        // Round at the tip, of constant width from the middle on.
        let t = station as f64 / 8.0;
        let round = (1.0 - (1.0 - t.min(0.5) * 2.0) * (1.0 - t.min(0.5) * 2.0) * 0.75).sqrt();
        let ids: Vec<u32> = (0..=SIDES)
            .map(|k| {
                let rotation = PI * k as f64 / SIDES as f64;
                let p = DVec3::new(
                    1.35 * round * sin(rotation),
                    an::MOUTH_Y - 0.85 + 0.3 * t + 0.42 * round * cos(rotation),
                    front - 2.6 * t,
                );
                half.point(p, Part::Tongue, true, k == 0 || k == SIDES)
            })
            .collect();

        if let Some(before) = &last {
            half.strip(&ids, before, "tongue");
        }

        first = first.or_else(|| Some(ids.clone()));
        last = Some(ids);
    }

    // Both ends are closed, in opposite orientations.
    half.half_cap(
        &first.expect("there are stations"),
        2,
        Part::Tongue,
        true,
        "tongue",
    );

    half.half_cap(
        &last.expect("there are stations"),
        2,
        Part::Tongue,
        false,
        "tongue",
    );
}
