//! A head with 51 named expressions.
//!
//! **Problem.** Posing, blending and learning need a face with production topology that anyone may
//! use and that is the same on every machine.
//!
//! **Implementation.** [`geometry`] builds the neutral head from a volume and a layout of quads;
//! [`expressions`] moves it, muscle group by muscle group, and gives the targets their names.
//!
//! **Departures.** Everything is original: no scanned or third-party data. Lengths are centimetres,
//! x points to the character's left, y up and z forward. Only the left half is computed, so both
//! sides are mirror images to the bit; sines come from [`crate::math`], and all else is IEEE
//! arithmetic and square roots.

mod expressions;
mod geometry;
mod landmarks;

use pliant_mesh::glam::{DVec2, DVec3};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder};
use pliant_rig::Rig;

use crate::Performance;
use expressions::face::Face;
use expressions::{performance, targets};
use geometry::half::{Half, Part};
use geometry::sculpt::Sculpt;
use geometry::{ear, eye, eyebrow, hair, layout, mouth, nose, relax, teeth};

pub use landmarks::HeadFace;

/// The face of the head as a template with landmarks.
#[must_use]
pub fn face() -> HeadFace {
    landmarks::face(&mirror(&model_half()))
}

/// The head's rig and its performance.
pub(crate) fn build() -> (Rig, Performance) {
    let rig = rig();
    let performance = performance::perform(&rig);
    (rig, performance)
}

fn rig() -> Rig {
    let face = Face::new(model_half(), Sculpt);
    let targets = targets::targets(&face);
    Rig::new(mirror(&face.half), targets)
        .expect("targets have distinct names and move vertices of the head")
}

fn model_half() -> Half {
    let sculpt = Sculpt;
    let mut half = Half::default();

    // The grid with its holes, and the parts whose rings must relax together with it.
    let grid = layout::lay(&mut half, sculpt);
    let eye_ring = grid.ring(layout::EYE);
    let mouth_ring = grid.half_ring(layout::MOUTH);
    eye::add_lids(&mut half, sculpt, &eye_ring);
    mouth::add_mouth(&mut half, sculpt, &mouth_ring);

    let on_skin: Vec<bool> = half.parts.iter().map(|p| *p != Part::Throat).collect();
    let ear_ring = grid.ring(layout::EAR);
    let nostril_ring = grid.ring(layout::NOSTRIL);

    // Loops of ear and nostril are pinned before the skin relaxes between them.
    ear::place_root(&mut half, sculpt, &ear_ring);
    nose::place_rim(&mut half, sculpt, &nostril_ring);
    relax::relax(&mut half, sculpt, &on_skin, 20);

    // Parts with shapes of their own come last: relaxation must not move them.
    hair::grow(&mut half, sculpt);
    ear::add_ear(&mut half, sculpt, &ear_ring);
    nose::add_nostril(&mut half, &nostril_ring);
    eye::add_eyeball(&mut half);
    eyebrow::add_brow(&mut half, sculpt);
    teeth::add_teeth(&mut half, sculpt);
    teeth::add_tongue(&mut half, sculpt);

    half
}

/// Both halves: the left vertices in order, then the mirror images of those off the midline.
fn mirror(half: &Half) -> Mesh {
    let mut builder = MeshBuilder {
        name: "head".into(),
        positions: half.points.clone(),
        ..Default::default()
    };

    let image: Vec<u32> = (0..half.points.len())
        .map(|v| {
            if half.midline[v] {
                return v as u32;
            }
            let p = half.points[v];
            builder.positions.push(DVec3::new(-p.x, p.y, p.z));
            builder.positions.len() as u32 - 1
        })
        .collect();

    // The mirror image of a quad has the opposite orientation.
    for quad in &half.quads {
        builder.push_face(quad);
    }
    for quad in &half.quads {
        let [a, b, c, d] = quad.map(|v| image[v as usize]);
        builder.push_face(&[a, d, c, b]);
    }

    builder.materials =
        FaceLabels::from_names(half.materials.iter().chain(&half.materials).copied());
    builder
        .uv_layers
        .push(unwrap(&builder.positions, &builder.corners));

    builder
        .build()
        .expect("the halves name only their own vertices")
}

/// Texture coordinates: directions from the head's middle on an equal-area disc around the face,
/// without a seam. Coordinates inside the mouth overlap.
fn unwrap(positions: &[DVec3], corners: &[u32]) -> CornerLayer<DVec2> {
    let place = |p: &DVec3| {
        let d = (*p - DVec3::new(0.0, -2.0, 0.0)).normalize_or_zero();
        // The disc's rim is the back of the head, which a direction never quite reaches.
        DVec2::splat(0.5) + DVec2::new(d.x, d.y) * (0.25 * (2.0 / (1.0 + d.z).max(1e-9)).sqrt())
    };
    let values = positions.iter().map(place).collect();

    CornerLayer {
        name: "front".into(),
        values,
        corners: corners.iter().map(|&v| Some(v)).collect(),
    }
}

#[cfg(test)]
mod tests;
