//! Measurements of the neutral head that targets use, and the falloffs they share.
//!
//! **Equation.** A pull at `c` with radii `r` weighs `(1 − d²)²` at scaled distance `d = |(p − c) /
//! r| < 1`, and exactly zero beyond: once continuously differentiable, and sparse.

use pliant_mesh::glam::{DVec2, DVec3};

use crate::head::geometry::anatomy as an;
use crate::head::geometry::eye;
use crate::head::geometry::half::{Half, Part};
use crate::head::geometry::mouth;
use crate::head::geometry::sculpt::Sculpt;
use crate::math::{rotation_about, smoothstep_between};

/// How much the corner of the mouth follows the jaw.
const CORNER_JAW: f64 = 0.42;

/// The neutral left half, with the properties of each vertex that fields use.
pub(in crate::head) struct Face {
    pub(in crate::head) half: Half,
    pub(in crate::head) sculpt: Sculpt,
    sites: Vec<Site>,
    /// The vertex of the line of contact at each step around the mouth.
    contact: Vec<usize>,
}

/// The properties of a vertex that fields use.
#[derive(Debug, Clone, Copy)]
pub(in crate::head) struct Site {
    pub(in crate::head) p: DVec3,
    pub(in crate::head) part: Part,
    /// 1 on the lips, 0 where the mouth's rings meet the face and deep in the mouth bag.
    pub(in crate::head) lip: f64,
    /// From 1 in the middle of the upper lip over 0 at the corners to −1 in the middle of the
    /// lower lip.
    pub(in crate::head) upness: f64,
    /// How much it follows the jaw.
    pub(in crate::head) jaw: f64,
    /// 1 where muscles move the skin, 0 on bone and deep in the mouth.
    pub(in crate::head) flesh: f64,
}

impl Face {
    pub(in crate::head) fn new(half: Half, sculpt: Sculpt) -> Self {
        // Weights of the jaw around the mouth, which its rings continue.
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
    pub(in crate::head) fn contact(&self, step: usize) -> usize {
        self.contact[step]
    }

    /// Where the lips meet at the step of a vertex around the mouth; the vertex itself elsewhere.
    pub(in crate::head) fn contact_point(&self, v: usize) -> DVec3 {
        match self.half.parts[v] {
            Part::Mouth { step, .. } => self.sites[self.contact[usize::from(step)]].p,
            _ => self.sites[v].p,
        }
    }

    /// As a site's `lip`, but ending where the lips meet.
    pub(in crate::head) fn outer_lip(&self, v: usize) -> f64 {
        match self.half.parts[v] {
            Part::Mouth { ring, .. } => {
                self.sites[v].lip
                    * smoothstep_between(3.0, 0.0, f64::from(ring) - mouth::CONTACT as f64)
            }
            _ => 0.0,
        }
    }

    /// 1 on the red of the lips, 0 outside its border and inside the mouth.
    pub(in crate::head) fn redness(&self, v: usize) -> f64 {
        match self.half.parts[v] {
            Part::Mouth { ring, .. } => {
                let ring = f64::from(ring);
                smoothstep_between(-1.0, 3.0, ring - mouth::SKIN_RINGS as f64)
                    * smoothstep_between(2.0, -1.0, ring - mouth::CONTACT as f64)
            }
            _ => 0.0,
        }
    }

    pub(in crate::head) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The displacement that takes `p` by `step` along the sculpt: it keeps its height above the
    /// skin.
    pub(in crate::head) fn slide(&self, p: DVec3, step: DVec3) -> DVec3 {
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
        // From the skin (first rings) over the lips to the inside of the mouth.
        Part::Mouth { ring, step } => {
            let t = f64::from(ring) / mouth::SKIN_RINGS as f64;
            let bag = (f64::from(ring) - (mouth::CONTACT + 3) as f64) / 5.0;
            let flesh = 1.0 - smoothstep_between(0.0, 1.0, bag);
            let upness =
                mouth::upness(usize::from(step)) * t.min(1.0) + face_upness(p) * (1.0 - t.min(1.0));
            (smoothstep_between(0.0, 1.0, t) * flesh, upness, flesh)
        }

        // Lids belong to the eyeball: motions of brow and cheek end before them.
        Part::Eye { ring, .. } => (
            0.0,
            face_upness(p),
            1.0 - smoothstep_between(0.15, 0.95, f64::from(ring) / eye::SKIN_RINGS as f64),
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

/// How much a point of the skin follows the jaw.
fn skin_jaw(p: DVec3) -> f64 {
    // The line from the hinge to the corner of the mouth; level behind the hinge.
    let ahead = 0.5 * (p.z + (p.z * p.z + 3.0).sqrt());
    let line = an::HINGE.y + (an::MOUTH_Y - an::HINGE.y) * ahead / 7.5;
    let below = smoothstep_between(1.9, -1.4, p.y - line);
    let front = smoothstep_between(-3.5, 2.5, p.z);

    // The floor of the mouth follows, the neck does not.
    let above_neck =
        smoothstep_between(-13.5, -9.5, p.y + 2.1 * smoothstep_between(-1.0, 7.0, p.z));

    // The ear's root stays with the skull.
    let from_ear = smoothstep_between(
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
        Part::Throat => jaw_depth(p) * smoothstep_between(1.4, -1.4, p.y - an::MOUTH_Y),
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

    // Outside the line of contact the lips continue the weights of the skin.
    if ring < mouth::CONTACT {
        return rim[step] + (on_lips - rim[step]) * lip;
    }

    // Behind the lips, where teeth are, the bag parts at its sides.
    let behind = smoothstep_between(0.0, 3.0, ring as f64 - (mouth::CONTACT + 1) as f64);
    on_lips + (smoothstep_between(0.45, -0.45, upness) - on_lips) * behind
}

/// Points deep in the mouth follow the jaw less.
fn jaw_depth(p: DVec3) -> f64 {
    1.0 - 0.4 * smoothstep_between(6.0, 3.0, p.z)
}

/// Weight of a pull at `center`, zero beyond `radii`.
pub(in crate::head) fn bump(p: DVec3, center: DVec3, radii: DVec3) -> f64 {
    let d = ((p - center) / radii).length_squared();
    if d < 1.0 { (1.0 - d) * (1.0 - d) } else { 0.0 }
}

/// The same in front view, for points in front of the ears.
pub(in crate::head) fn front_bump(p: DVec3, center: DVec2, radii: DVec2) -> f64 {
    let d = ((DVec2::new(p.x, p.y) - center) / radii).length_squared();
    if d < 1.0 {
        (1.0 - d) * (1.0 - d) * smoothstep_between(2.0, 6.0, p.z)
    } else {
        0.0
    }
}

/// `p` rotated about the axis through `center`.
pub(in crate::head) fn rotated(p: DVec3, center: DVec3, axis: DVec3, angle_rad: f64) -> DVec3 {
    center + rotation_about(axis, angle_rad) * (p - center)
}
