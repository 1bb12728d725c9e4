//! The head as an implicit volume, from a signed distance function.
//!
//! **Problem.** A face needs surfaces that join smoothly; vertices written by hand do not
//! give that.
//!
//! **Equation.** A signed distance `f(p)`, negative inside, blended from ellipsoids and capsules by
//! the quadratic smooth minimum
//!
//! ```text
//! smin(a, b; k) = min(a, b) − h² k / 4,   h = max(k − |a − b|, 0) / k
//! ```
//!
//! which keeps both shapes where they are farther apart than `k`.
//!
//! **Source.** Quilez, "Smooth minimum" (quadratic form); the shapes and numbers are ours.
//!
//! **Departures.** Distances of ellipsoids are first-order estimates: only the zero set matters
//! here, and [`Sculpt::project`] finds it by Newton's method.

use pliant_mesh::glam::DVec3;

use super::anatomy as an;
use crate::math::smoothstep_between;

/// The skin as the zero set of a signed distance.
#[derive(Debug, Clone, Copy)]
pub(in crate::head) struct Sculpt;

impl Sculpt {
    /// Signed distance to the skin, negative inside.
    pub(in crate::head) fn distance(self, p: DVec3) -> f64 {
        let q = DVec3::new(p.x.abs(), p.y, p.z);
        let head = with_sockets(skull_and_jaw(q), q);
        // The lower lid flows into the cheek, the upper one folds under the brow.
        let fold = 1.3 - 0.85 * smoothstep_between(-1.6, 0.6, q.y);
        let head = smin(head, lid_ball(q), fold);
        let head = smin(
            head,
            nose(q),
            0.6 + 0.8 * smoothstep_between(-3.0, -1.0, q.y),
        );
        smin(head, neck(q), 2.2)
    }

    /// Gradient of [`distance`](Self::distance) by central differences.
    pub(in crate::head) fn gradient(self, p: DVec3) -> DVec3 {
        const STEP: f64 = 1e-3;
        let slope = |axis: DVec3| {
            (self.distance(p + axis * STEP) - self.distance(p - axis * STEP)) / (2.0 * STEP)
        };
        DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z))
    }

    /// The outward unit normal of the level set through `p`.
    pub(in crate::head) fn normal(self, p: DVec3) -> DVec3 {
        self.gradient(p).normalize_or_zero()
    }

    /// The point of the skin reached from `p` down the gradient.
    pub(in crate::head) fn project(self, mut p: DVec3, steps: usize) -> DVec3 {
        for _ in 0..steps {
            let gradient = self.gradient(p);
            let step = self.distance(p) / gradient.length_squared().max(0.05);
            p -= gradient * step.clamp(-1.0, 1.0);
        }
        p
    }

    /// The skin in front of `(x, y)`, found by walking back from far in front.
    pub(in crate::head) fn front(self, x: f64, y: f64) -> DVec3 {
        let mut p = DVec3::new(x, y, 14.0);
        for _ in 0..60 {
            p.z -= 0.8 * self.distance(p).max(-0.5);
            if p.z < -2.0 {
                break;
            }
        }
        p
    }
}

fn skull_and_jaw(q: DVec3) -> f64 {
    let cranium = ellipsoid(q, DVec3::new(0.0, 3.4, -1.2), DVec3::new(8.3, 9.1, 9.7));
    let jaw = ellipsoid(q, DVec3::new(0.0, -3.6, 1.9), DVec3::new(6.6, 6.9, 6.6));
    let chin = ellipsoid(q, DVec3::new(0.0, -9.0, 6.7), DVec3::new(2.3, 1.75, 1.9));
    let cheek = ellipsoid(q, DVec3::new(3.8, -4.2, 5.0), DVec3::new(3.1, 2.6, 2.9));
    let brow = capsule(q, DVec3::new(1.1, 2.1, 7.2), DVec3::new(5.1, 2.5, 5.2), 1.0);
    let muzzle = ellipsoid(q, DVec3::new(0.0, -6.1, 5.9), DVec3::new(3.6, 2.7, 2.9));

    // Large shapes first, each with a fillet that suits the smaller of the two.
    let head = smin(cranium, jaw, 4.5);
    let head = smin(head, cheek, 2.5);
    let head = smin(head, chin, 2.2);
    let head = smin(head, muzzle, 1.8);

    smin(head, brow, 1.6)
}

/// Hollows around the eyes, in which the eyeballs sit.
fn with_sockets(head: f64, q: DVec3) -> f64 {
    let socket = ellipsoid(
        q,
        an::EYE + DVec3::new(0.1, 0.35, 2.2),
        DVec3::new(2.6, 2.0, 1.9),
    );
    -smin(-head, socket, 1.9)
}

/// The lids lie on a ball a little larger than the eyeball.
fn lid_ball(q: DVec3) -> f64 {
    q.distance(an::EYE) - (an::EYE_RADIUS + an::LID_THICKNESS)
}

fn nose(q: DVec3) -> f64 {
    let bridge = cone(
        q,
        DVec3::new(0.0, 0.9, 7.2),
        DVec3::new(0.0, -2.5, 9.5),
        0.7,
        0.8,
    );

    let tip = ellipsoid(
        q,
        DVec3::new(0.0, -2.95, 9.75),
        DVec3::new(1.12, 0.98, 1.05),
    );
    let wing = ellipsoid(q, DVec3::new(1.12, -3.3, 9.0), DVec3::new(0.66, 0.6, 0.85));

    smin(smin(bridge, tip, 0.8), wing, 0.4)
}

fn neck(q: DVec3) -> f64 {
    let along = smoothstep_between(-18.0, -8.0, q.y);
    let center = DVec3::new(0.0, q.y, -4.2 + 1.4 * along);
    let radius = 5.2 - 0.5 * along;
    let flat = DVec3::new(q.x, q.y, q.z);
    let side = (flat - center).length() - radius;
    let above = q.y + 3.0;
    -smin(-side, -above, 2.0)
}

/// The smaller of two distances, with a fillet of width `k` where they meet.
fn smin(a: f64, b: f64, k: f64) -> f64 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - h * h * k * 0.25
}

/// Distance to an ellipsoid, exact to first order on its surface.
fn ellipsoid(p: DVec3, center: DVec3, radii: DVec3) -> f64 {
    let scaled = (p - center) / radii;
    let k = scaled.length();
    let slope = (scaled / radii).length();
    if slope == 0.0 {
        -radii.min_element()
    } else {
        k * (k - 1.0) / slope
    }
}

fn capsule(p: DVec3, a: DVec3, b: DVec3, radius: f64) -> f64 {
    cone(p, a, b, radius, radius)
}

/// A capsule whose radius changes from one end to the other.
fn cone(p: DVec3, a: DVec3, b: DVec3, radius_a: f64, radius_b: f64) -> f64 {
    let axis = b - a;
    let t = ((p - a).dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
    (p - a - axis * t).length() - (radius_a + (radius_b - radius_a) * t)
}
