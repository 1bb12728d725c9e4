//! The outer ear.
//!
//! **Implementation.** Rings of one outline, scaled about the ear canal: up the back of the ear,
//! over the rim (helix), through the groove behind it, over the inner ridge (antihelix) and down
//! into the bowl (concha).

use pliant_mesh::glam::{DVec2, DVec3};

use super::half::{Half, Part};
use super::sculpt::Sculpt;
use crate::math::bell;

/// The outline, clockwise seen from outside from the middle of the front: towards the back of the
/// head, and up.
const OUTLINE: [(f64, f64); 12] = [
    (-1.05, 0.1),
    (-1.1, 1.3),
    (-0.75, 2.35),
    (0.2, 2.95),
    (1.25, 2.75),
    (1.95, 1.9),
    (2.05, 0.6),
    (1.7, -0.75),
    (1.1, -1.8),
    (0.2, -2.55),
    (-0.65, -2.45),
    (-1.0, -1.2),
];
/// Where the ear canal lies in the outline.
const CANAL: DVec2 = DVec2::new(-0.15, -0.1);

/// One ring: its size, how much of the ear's lift it has, and how far it stands above the ear's
/// plane.
const RINGS: [[f64; 3]; 12] = [
    [0.80, 0.40, 0.0],
    [0.86, 0.75, 0.0],
    [0.95, 1.0, 0.02],
    [1.00, 1.0, 0.16],
    [0.98, 1.0, 0.30],
    [0.93, 1.0, 0.36],
    [0.86, 1.0, 0.27],
    [0.79, 1.0, 0.05],
    [0.70, 1.0, 0.06],
    [0.61, 1.0, 0.16],
    [0.51, 1.0, -0.02],
    [0.41, 1.0, -0.42],
];

/// The ear's frame on the side of the head.
struct Frame {
    center: DVec3,
    back: DVec3,
    up: DVec3,
    out: DVec3,
}

fn frame(sculpt: Sculpt) -> Frame {
    let center = sculpt.project(DVec3::new(8.0, -0.9, -1.3), 8);
    let out = sculpt.normal(center);

    // Ears lean back a little.
    let tilted = DVec3::new(0.0, 1.0, -0.22);
    let up = (tilted - out * tilted.dot(out)).normalize();

    Frame {
        center,
        back: out.cross(up).normalize() * -1.0,
        up,
        out,
    }
}

/// The outline at the fraction `rotation` of a full circle, from 0 to 1; a Catmull–Rom curve.
fn outline(rotation: f64) -> DVec2 {
    let n = OUTLINE.len();
    let scaled = rotation * n as f64;
    let first = scaled.floor() as usize;
    let t = scaled - first as f64;
    let p = |k: usize| {
        let (back, up) = OUTLINE[(first + n + k - 1) % n];
        DVec2::new(back, up)
    };

    // The cubic through `b` and `c` with slopes from their neighbours.
    let (a, b, c, d) = (p(0), p(1), p(2), p(3));
    b + (c - a) * (0.5 * t)
        + (a * 2.0 - b * 5.0 + c * 4.0 - d) * (0.5 * t * t)
        + (b * 3.0 - a - c * 3.0 + d) * (0.5 * t * t * t)
}

/// Draws the grid's loop around the ear to where the ear grows out of the head.
pub(in crate::head) fn place_root(half: &mut Half, sculpt: Sculpt, ring: &[u32]) {
    let frame = frame(sculpt);
    let count = ring.len() - 1;
    for (k, &v) in ring[..count].iter().enumerate() {
        let flat = CANAL + (outline(k as f64 / count as f64) - CANAL) * 0.86;
        half.points[v as usize] =
            sculpt.project(frame.center + frame.back * flat.x + frame.up * flat.y, 6);
        half.pinned[v as usize] = true;
    }
}

/// Fills the ear's hole.
pub(in crate::head) fn add_ear(half: &mut Half, sculpt: Sculpt, root: &[u32]) {
    let frame = frame(sculpt);
    let count = root.len() - 1;
    let mut last = root.to_vec();
    for (k, [size, rise, relief]) in RINGS.into_iter().enumerate() {
        // Rings rise from the root on the head to the ear's own plane.
        let mut ids: Vec<u32> = (0..count)
            .map(|step| {
                let foot = half.points[root[step] as usize];
                let p = ear_point(&frame, step as f64 / count as f64, k, size, relief);
                half.point(foot.lerp(p, rise), Part::Ear, true, false)
            })
            .collect();
        ids.push(ids[0]);
        half.strip(&last, &ids, "skin");
        last = ids;
    }

    half.cap(&last, Part::Ear, "skin");
}

fn ear_point(frame: &Frame, rotation: f64, ring: usize, size: f64, relief: f64) -> DVec3 {
    let edge = outline(rotation);
    let flat = CANAL + (edge - CANAL) * size;

    // The tragus, a small flap in front of the canal.
    let tragus = if ring >= 9 {
        bell((edge.y + 0.15) / 0.55) * bell((edge.x + 1.05) / 0.5)
    } else {
        0.0
    };

    // Rim and groove run out towards the lobe and in front.
    let rim =
        0.35 + 0.65 * (1.0 - bell((edge.y + 2.6) / 1.2)) * (1.0 - 0.6 * bell((edge.x + 1.1) / 0.6));
    let lift = 0.16 + 0.40 * (flat.x + 1.1).max(0.0);
    let height = lift + if relief > 0.0 { relief * rim } else { relief } + 0.4 * tragus;

    frame.center + frame.back * (flat.x + 0.2 * tragus) + frame.up * flat.y + frame.out * height
}
