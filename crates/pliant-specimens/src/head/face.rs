//! What the targets know about the neutral head, and the fall-offs they share.
//!
//! **Equation.** A pull at `c` with radii `r` weighs `(1 − d²)²` at scaled distance `d = |(p − c) /
//! r| < 1`, and exactly zero beyond: once continuously differentiable, and sparse.

use pliant_mesh::glam::{DVec2, DVec3};

use super::anatomy as an;
use super::eye;
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
    /// From 1 in the middle of the upper lip over 0 at the corners to −1 in the middle of the
    /// lower lip.
    pub(super) upness: f64,
    /// How much it goes with the jaw.
    pub(super) jaw: f64,
    /// 1 for what muscles move, 0 for what hangs on bone or lies deep in the mouth.
    pub(super) flesh: f64,
}

impl Face {
    pub(super) fn new(half: Half, sculpt: Sculpt) -> Self {
        let rim: Vec<f64> = half
            .mouth_loop
            .iter()
            .map(|&v| skin_jaw(half.points[v as usize]))
            .collect();
        let sites = (0..half.points.len())
            .map(|v| site(half.points[v], half.parts[v], &rim))
            .collect();
        let line = |v: &usize| matches!(half.parts[*v], Part::Mouth { ring, .. } if usize::from(ring) == mouth::CONTACT);
        let contact = (0..half.points.len()).filter(line).collect();
        Self {
            half,
            sculpt,
            sites,
            contact,
        }
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

    /// As a site's `lip`, but ending where the lips meet.
    pub(super) fn outer_lip(&self, v: usize) -> f64 {
        match self.half.parts[v] {
            Part::Mouth { ring, .. } => {
                self.sites[v].lip * smooth_step(3.0, 0.0, f64::from(ring) - mouth::CONTACT as f64)
            }
            _ => 0.0,
        }
    }

    /// 1 on the red of the lips, 0 outside its border and inside the mouth.
    pub(super) fn redness(&self, v: usize) -> f64 {
        match self.half.parts[v] {
            Part::Mouth { ring, .. } => {
                let ring = f64::from(ring);
                smooth_step(-1.0, 3.0, ring - mouth::SKIN_RINGS as f64)
                    * smooth_step(2.0, -1.0, ring - mouth::CONTACT as f64)
            }
            _ => 0.0,
        }
    }

    pub(super) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The displacement that takes `p` by `step` along the sculpt: it keeps its height above the
    /// skin.
    pub(super) fn slide(&self, p: DVec3, step: DVec3) -> DVec3 {
        if step == DVec3::ZERO {
            return step;
        }
        let q = p + step;
        let lost = self.sculpt.distance(q) - self.sculpt.distance(p);
        step - self.sculpt.normal(q) * lost
    }
}

/// `rim` holds the jaw's weights around the mouth, where its rings meet the face.
fn site(p: DVec3, part: Part, rim: &[f64]) -> Site {
    let (lip, upness, flesh) = match part {
        Part::Mouth { ring, step } => {
            let t = f64::from(ring) / mouth::SKIN_RINGS as f64;
            let bag = (f64::from(ring) - (mouth::CONTACT + 3) as f64) / 5.0;
            let flesh = 1.0 - smooth_step(0.0, 1.0, bag);
            let upness =
                mouth::upness(usize::from(step)) * t.min(1.0) + face_upness(p) * (1.0 - t.min(1.0));
            (smooth_step(0.0, 1.0, t) * flesh, upness, flesh)
        }
        // Lids belong to the eyeball: what brow and cheek do ends before them.
        Part::Eye { ring, .. } => (
            0.0,
            face_upness(p),
            1.0 - smooth_step(0.15, 0.95, f64::from(ring) / eye::SKIN_RINGS as f64),
        ),
        Part::Skin | Part::Nostril | Part::Brow => (0.0, face_upness(p), 1.0),
        _ => (0.0, face_upness(p), 0.0),
    };
    Site {
        p,
        part,
        lip,
        upness,
        jaw: jaw_weight(p, part, lip, rim),
        flesh,
    }
}

fn face_upness(p: DVec3) -> f64 {
    ((p.y - an::MOUTH_Y) / 1.5).clamp(-1.0, 1.0)
}

/// How much a point of the skin goes with the jaw.
fn skin_jaw(p: DVec3) -> f64 {
    // The line from the hinge to the corner of the mouth; level behind the hinge.
    let ahead = 0.5 * (p.z + (p.z * p.z + 3.0).sqrt());
    let line = an::HINGE.y + (an::MOUTH_Y - an::HINGE.y) * ahead / 7.5;
    let below = smooth_step(1.9, -1.4, p.y - line);
    let front = smooth_step(-3.5, 2.5, p.z);
    // The floor of the mouth goes along, the neck does not.
    let above_neck = smooth_step(-13.5, -9.5, p.y + 2.1 * smooth_step(-1.0, 7.0, p.z));
    // The ear's root stays with the skull.
    let from_ear = smooth_step(
        1.0,
        1.8,
        DVec2::new((p.y + 0.9) / 3.4, (p.z + 1.3) / 2.2).length(),
    );
    below * front * above_neck * from_ear
}

fn jaw_weight(p: DVec3, part: Part, lip: f64, rim: &[f64]) -> f64 {
    match part {
        Part::LowerTeeth => 1.0,
        Part::Tongue => jaw_depth(p),
        Part::UpperTeeth | Part::Eyeball | Part::Brow | Part::Ear | Part::Nostril => 0.0,
        Part::Throat => jaw_depth(p) * smooth_step(1.4, -1.4, p.y - an::MOUTH_Y),
        Part::Mouth { ring, step } => {
            lip_jaw(usize::from(ring), usize::from(step), lip, rim) * jaw_depth(p)
        }
        _ => skin_jaw(p),
    }
}

fn lip_jaw(ring: usize, step: usize, lip: f64, rim: &[f64]) -> f64 {
    let upness = mouth::upness(step);
    // Upper and lower lip differ by the cosine of the sweep, so the open mouth is an ellipse.
    let on_lips = if upness > 0.0 {
        CORNER_JAW * (1.0 - upness)
    } else {
        CORNER_JAW - (1.0 - CORNER_JAW) * upness
    };
    if ring < mouth::CONTACT {
        return rim[step] + (on_lips - rim[step]) * lip;
    }
    // Behind the lips, where teeth are, the bag parts at its sides.
    let behind = smooth_step(0.0, 3.0, ring as f64 - (mouth::CONTACT + 1) as f64);
    on_lips + (smooth_step(0.45, -0.45, upness) - on_lips) * behind
}

/// The jaw takes less of what lies deep in the mouth along.
fn jaw_depth(p: DVec3) -> f64 {
    1.0 - 0.4 * smooth_step(6.0, 3.0, p.z)
}

/// Weight of a pull at `center`, zero beyond `radii`.
pub(super) fn bump(p: DVec3, center: DVec3, radii: DVec3) -> f64 {
    let d = ((p - center) / radii).length_squared();
    if d < 1.0 { (1.0 - d) * (1.0 - d) } else { 0.0 }
}

/// The same in front view, for what lies before the ears.
pub(super) fn front_bump(p: DVec3, center: DVec2, radii: DVec2) -> f64 {
    let d = ((DVec2::new(p.x, p.y) - center) / radii).length_squared();
    if d < 1.0 {
        (1.0 - d) * (1.0 - d) * smooth_step(2.0, 6.0, p.z)
    } else {
        0.0
    }
}

/// `p` turned about the axis through `center`.
pub(super) fn turned(p: DVec3, center: DVec3, axis: DVec3, angle_rad: f64) -> DVec3 {
    center + turn(axis, angle_rad) * (p - center)
}
