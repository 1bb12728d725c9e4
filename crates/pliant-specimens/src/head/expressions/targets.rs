//! The head's targets, by their ARKit names.
//!
//! **Problem.** Left and right must be mirror images to the bit, and the sum of both sides must be
//! smooth.
//!
//! **Departures.** A field is written once for the left half: `field(face, v, side, w)` is the
//! displacement of vertex `v` at weight `w`, with x pointing out of the head, where `side` is 1 on
//! the side that the target is named after and −1 on the other. Mirroring the two answers gives the
//! left and the right target.

use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{InBetween, Target};

use super::face::Face;
use super::{brow_muscles as brows, jaw, lids, lips};

/// The displacement of a vertex of the left half: `(face, vertex, side, weight)`.
pub(in crate::head) type Field = fn(&Face, usize, f64, f64) -> DVec3;

/// One field and how to make targets of it.
struct Slider {
    name: &'static str,
    /// Two targets, `Left` and `Right`, rather than one.
    sided: bool,
    field: Field,
    /// Weights at which the field's path bends.
    bends: &'static [f64],
}

const ARC: &[f64] = &[0.25, 0.5, 0.75];
const HALFWAY: &[f64] = &[0.5];

const fn sided(name: &'static str, field: Field, bends: &'static [f64]) -> Slider {
    Slider {
        name,
        sided: true,
        field,
        bends,
    }
}

const fn both(name: &'static str, field: Field, bends: &'static [f64]) -> Slider {
    Slider {
        name,
        sided: false,
        field,
        bends,
    }
}

const SLIDERS: [Slider; 31] = [
    sided("eyeBlink", lids::blink, ARC),
    sided("eyeLookDown", lids::look_down, HALFWAY),
    sided("eyeLookIn", lids::look_in, HALFWAY),
    sided("eyeLookOut", lids::look_out, HALFWAY),
    sided("eyeLookUp", lids::look_up, HALFWAY),
    sided("eyeSquint", lids::squint, &[]),
    sided("eyeWide", lids::wide, &[]),
    both("jawForward", jaw::forward, &[]),
    sided("jaw", jaw::sideways, &[]),
    both("jawOpen", jaw::open, HALFWAY),
    both("mouthClose", jaw::close_lips, &[]),
    both("mouthFunnel", lips::funnel, &[]),
    both("mouthPucker", lips::pucker, &[]),
    sided("mouth", lips::sideways, &[]),
    sided("mouthSmile", lips::smile, &[]),
    sided("mouthFrown", lips::frown, &[]),
    sided("mouthDimple", lips::dimple, &[]),
    sided("mouthStretch", lips::stretch, &[]),
    both("mouthRollLower", lips::roll_lower, &[]),
    both("mouthRollUpper", lips::roll_upper, &[]),
    both("mouthShrugLower", lips::shrug_lower, &[]),
    both("mouthShrugUpper", lips::shrug_upper, &[]),
    sided("mouthPress", lips::press, &[]),
    sided("mouthLowerDown", lips::lower_down, &[]),
    sided("mouthUpperUp", lips::upper_up, &[]),
    sided("browDown", brows::down, &[]),
    both("browInnerUp", brows::inner_up, &[]),
    sided("browOuterUp", brows::outer_up, &[]),
    both("cheekPuff", brows::puff, &[]),
    sided("cheekSquint", brows::cheek_squint, &[]),
    sided("noseSneer", brows::sneer, &[]),
];

/// All targets of the mirrored head.
pub(in crate::head) fn targets(face: &Face) -> Vec<Target> {
    SLIDERS
        .iter()
        .flat_map(|slider| make(face, slider))
        .collect()
}

fn make(face: &Face, slider: &Slider) -> Vec<Target> {
    // For sided sliders the other half of the face has a field of its own.
    let near = shapes(face, slider, 1.0);
    let far = if slider.sided {
        shapes(face, slider, -1.0)
    } else {
        Vec::new()
    };
    if slider.sided {
        vec![
            target(face, format!("{}Left", slider.name), slider, &near, &far),
            target(face, format!("{}Right", slider.name), slider, &far, &near),
        ]
    } else {
        vec![target(face, slider.name.to_owned(), slider, &near, &near)]
    }
}

/// Displacements of the left half at each bend and at weight 1.
fn shapes(face: &Face, slider: &Slider, side: f64) -> Vec<Vec<Vec3>> {
    let at = |w: f64| {
        (0..face.half.points.len())
            .map(|v| (slider.field)(face, v, side, w).as_vec3())
            .collect()
    };
    slider.bends.iter().chain(&[1.0]).map(|&w| at(w)).collect()
}

fn target(
    face: &Face,
    name: String,
    slider: &Slider,
    left: &[Vec<Vec3>],
    right: &[Vec<Vec3>],
) -> Target {
    let mirror_midline = name.ends_with("Right");
    let dense: Vec<Vec<Vec3>> = (0..left.len())
        .map(|k| {
            // On the midline the side that the target is named after decides.
            if mirror_midline {
                whole(face, &left[k], &right[k], Some(&right[k]))
            } else {
                whole(face, &left[k], &right[k], None)
            }
        })
        .collect();

    // The last shape is the target, the others are its in-betweens.
    let mut target = Target::from_dense(name, dense[dense.len() - 1].iter().copied());
    for (k, &weight) in slider.bends.iter().enumerate() {
        let shape = Target::from_dense("", dense[k].iter().copied());
        target.in_betweens.push(InBetween {
            name: String::new(),
            weight,
            vertices: shape.vertices,
            deltas: shape.deltas,
        });
    }

    target
}

/// Both halves in the order of the mirrored mesh.
fn whole(face: &Face, left: &[Vec3], right: &[Vec3], midline: Option<&[Vec3]>) -> Vec<Vec3> {
    let image = |d: Vec3| Vec3::new(-d.x, d.y, d.z);
    let on_left = (0..left.len()).map(|v| match midline {
        Some(own) if face.half.midline[v] => image(own[v]),
        _ => left[v],
    });
    let on_right = (0..right.len())
        .filter(|&v| !face.half.midline[v])
        .map(|v| image(right[v]));
    on_left.chain(on_right).collect()
}
