//! The nostril.

use std::f64::consts::TAU;

use pliant_mesh::glam::DVec3;

use super::half::{Half, Part};
use super::sculpt::Sculpt;
use crate::math::{cos, sin};

const CENTER: DVec3 = DVec3::new(0.74, -3.95, 9.2);
/// Half the length and half the width of the rim.
const RADII: [f64; 2] = [0.46, 0.30];

/// Draws the grid's loop to the nostril's rim.
pub(in crate::head) fn place_rim(half: &mut Half, sculpt: Sculpt, ring: &[u32]) {
    let count = ring.len() - 1;
    let along = DVec3::new(-0.38, 0.0, 0.92);
    let across = DVec3::new(0.92, 0.0, 0.38);

    // An ellipse in the plane of the nostril, drawn onto the skin.
    for (k, &v) in ring[..count].iter().enumerate() {
        let rotation = TAU * k as f64 / count as f64;
        let p = CENTER + along * (RADII[0] * sin(rotation)) - across * (RADII[1] * cos(rotation));
        half.points[v as usize] = sculpt.project(p, 6);
        half.pinned[v as usize] = true;
    }
}

/// Sinks a pit into the nostril.
pub(in crate::head) fn add_nostril(half: &mut Half, ring: &[u32]) {
    let rim: Vec<DVec3> = ring[..ring.len() - 1]
        .iter()
        .map(|&v| half.points[v as usize])
        .collect();
    let center = rim.iter().sum::<DVec3>() / rim.len() as f64;
    let inward = DVec3::new(-0.12, 0.9, -0.1).normalize();

    let mut last = ring.to_vec();
    for (k, (size, depth)) in [(0.84, 0.06), (0.72, 0.24), (0.6, 0.5), (0.45, 0.8)]
        .into_iter()
        .enumerate()
    {
        // Each ring is smaller and deeper than the one before.
        let mut ids: Vec<u32> = rim
            .iter()
            .map(|&p| {
                half.point(
                    center + (p - center) * size + inward * depth,
                    Part::Nostril,
                    true,
                    false,
                )
            })
            .collect();

        ids.push(ids[0]);
        half.strip(&last, &ids, if k == 0 { "skin" } else { "nostril" });
        last = ids;
    }

    half.cap(&last, Part::Nostril, "nostril");
}
