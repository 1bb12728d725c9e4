//! What the targets know about the neutral head, and the fall-offs they share.
//!
//! **Equation.** A pull at `c` with radii `r` weighs `(1 − d²)²` at scaled distance `d = |(p − c) / r| < 1`, and
//! exactly zero beyond: once continuously differentiable, and sparse.

use pliant_mesh::glam::{DVec2, DVec3};

use super::anatomy as an;
use super::half::{Half, Part};
use super::mouth;
use super::sculpt::Sculpt;
use crate::math::{smooth_step, turn};

/// How much the corner of the mouth goes with the jaw.
const CORNER_JAW: f64 = 0.42;

/// The neutral left half with what fields need to know of each vertex.
pub(super) struct Face {
    pub(super) half: Half,
    pub(super) sculpt: Sculpt,
    sites: Vec<Site>,
    /// The vertex of the line of contact at each step around the mouth.
    contact: Vec<usize>,
}

/// A vertex as the fields see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) p: DVec3,
    pub(super) part: Part,
    /// 1 on the lips, 0 where the mouth's rings meet the face and deep in the mouth bag.
    pub(super) lip: f64,
    /// From 1 in the middle of the upper lip over 0 at the corners to −1 in the middle of the lower lip.
    pub(super) upness: f64,
    /// How much it goes with the jaw.
    pub(super) jaw: f64,
    /// 1 for what muscles move, 0 for what hangs on bone or lies deep in the mouth.
    pub(super) flesh: f64,
}

impl Face {
    pub(super) fn new(half: Half, sculpt: Sculpt) -> Self {
        let sites = (0..half.points.len()).map(|v| site(half.points[v], half.parts[v])).collect();
        let line = |v: &usize| matches!(half.parts[*v], Part::Mouth { ring, .. } if usize::from(ring) == mouth::CONTACT);
        let contact = (0..half.points.len()).filter(line).collect();
        Self { half, sculpt, sites, contact }
    }

    /// The vertex where the lips meet at a step around the mouth.
    pub(super) fn contact(&self, step: usize) -> usize {
        self.contact[step]
    }

    /// Where the lips meet at the step of a vertex around the mouth; the vertex itself elsewhere.
    pub(super) fn contact_point(&self, v: usize) -> DVec3 {
        match self.half.parts[v] {
            Part::Mouth { step, .. } => self.sites[self.contact[usize::from(step)]].p,
            _ => self.sites[v].p,
        }
    }

    /// 1 on the red of the lips and inside, 0 at its border.
    pub(super) fn redness(&self, v: usize) -> f64 {
        match self.half.parts[v] {
            Part::Mouth { ring, .. } => {
                let inside = (f64::from(ring) - mouth::SKIN_RINGS as f64 + 1.0) / 5.0;
                smooth_step(0.0, 1.0, inside) * self.sites[v].lip
            }
            _ => 0.0,
        }
    }

    pub(super) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The displacement that takes `p` by `step` along the sculpt: it keeps its height above the skin.
    pub(super) fn slide(&self, p: DVec3, step: DVec3) -> DVec3 {
        if step == DVec3::ZERO {
            return step;
        }
        let q = p + step;
        let lost = self.sculpt.distance(q) - self.sculpt.distance(p);
        step - self.sculpt.normal(q) * lost
    }
}

fn site(p: DVec3, part: Part) -> Site {
    let (lip, upness, flesh) = match part {
        Part::Mouth { ring, step } => {
            let t = f64::from(ring) / mouth::SKIN_RINGS as f64;
            let bag = (f64::from(ring) - (mouth::CONTACT + 3) as f64) / 5.0;
            let flesh = 1.0 - smooth_step(0.0, 1.0, bag);
            let upness = mouth::upness(usize::from(step)) * t.min(1.0) + face_upness(p) * (1.0 - t.min(1.0));
            (smooth_step(0.0, 1.0, t) * flesh, upness, flesh)
        }
        Part::Skin | Part::Eye { .. } | Part::Nostril | Part::Brow => (0.0, face_upness(p), 1.0),
        _ => (0.0, face_upness(p), 0.0),
    };
    Site { p, part, lip, upness, jaw: jaw_weight(p, part, lip, upness), flesh }
}

fn face_upness(p: DVec3) -> f64 {
    ((p.y - an::MOUTH_Y) / 1.5).clamp(-1.0, 1.0)
}

fn jaw_weight(p: DVec3, part: Part, lip: f64, upness: f64) -> f64 {
    // The line from the hinge to the corner of the mouth; level behind the hinge.
    let ahead = 0.5 * (p.z + (p.z * p.z + 3.0).sqrt());
    let line = an::HINGE.y + (an::MOUTH_Y - an::HINGE.y) * ahead / 7.5;
    let below = smooth_step(1.8, -2.0, p.y - line);
    let front = smooth_step(-3.5, 2.5, p.z);
    // The floor of the mouth goes along, the neck does not.
    let above_neck = smooth_step(-13.5, -9.5, p.y + 2.1 * smooth_step(-1.0, 7.0, p.z));
    // The ear's root stays with the skull.
    let from_ear = smooth_step(1.0, 1.8, DVec2::new((p.y + 0.9) / 3.4, (p.z + 1.3) / 2.2).length());
    let skin = below * front * above_neck * from_ear;
    match part {
        Part::LowerTeeth | Part::Tongue => 1.0,
        Part::UpperTeeth | Part::Eyeball | Part::Brow | Part::Ear | Part::Nostril => 0.0,
        Part::Throat => 0.6 * smooth_step(1.0, -1.6, p.y - an::MOUTH_Y),
        Part::Mouth { ring, .. } => {
            // Upper and lower lip differ by the cosine of the sweep, so the open mouth is an ellipse.
            let on_lips = if upness > 0.0 { CORNER_JAW * (1.0 - upness) } else { CORNER_JAW - (1.0 - CORNER_JAW) * upness };
            let near = if usize::from(ring) > mouth::SKIN_RINGS { 1.0 } else { lip };
            let depth = 1.0 - 0.4 * smooth_step(7.0, 3.5, p.z);
            (on_lips * near + skin * (1.0 - near)) * depth
        }
        _ => skin,
    }
}

/// Weight of a pull at `center`, zero beyond `radii`.
pub(super) fn bump(p: DVec3, center: DVec3, radii: DVec3) -> f64 {
    let d = ((p - center) / radii).length_squared();
    if d < 1.0 { (1.0 - d) * (1.0 - d) } else { 0.0 }
}

/// The same in front view, for what lies before the ears.
pub(super) fn front_bump(p: DVec3, center: DVec2, radii: DVec2) -> f64 {
    let d = ((DVec2::new(p.x, p.y) - center) / radii).length_squared();
    if d < 1.0 { (1.0 - d) * (1.0 - d) * smooth_step(2.0, 6.0, p.z) } else { 0.0 }
}

/// `p` turned about the axis through `center`.
pub(super) fn turned(p: DVec3, center: DVec3, axis: DVec3, angle_rad: f64) -> DVec3 {
    center + turn(axis, angle_rad) * (p - center)
}
