//! Motions with shear, which a node of translation, rotation and scale cannot express.
//!
//! **Method.** Where a placement or a joint shears, the clip stores the positions of the object
//! instead; also where it grows so much that single precision loses its place. If that takes too much memory, the shear is lost.

use std::borrow::Cow;

use pliant_mesh::glam::DAffine3;

use super::skin::local_motion;
use super::transform::Transform;
use crate::{Animation, Asset, Motion};

/// Chosen: shear below this, relative to the largest entry of the matrix, is not seen.
const TOLERANCE: f64 = 1e-4;

/// Chosen: single precision loses the place of an object that is scaled up by more than this.
const MOST_SCALE: f64 = 1e5;

/// Chosen: an asset may hold this many numbers (128 MiB) of positions for shear.
const MOST_NUMBERS: usize = 1 << 24;

/// The asset with positions for motions that shear, and phrases about them.
pub(super) fn without_shear<'a>(asset: &'a Asset) -> (Cow<'a, Asset>, Vec<String>) {
    let mut plain = Cow::Borrowed(asset);
    let mut numbers = 0_usize;
    let [mut baked, mut lost] = [0, 0];
    for (k, clip) in asset.clips.iter().enumerate() {
        for (m, motion) in clip.motions.iter().enumerate() {
            let object = asset.objects.get(motion.object);
            let Some(object) = object.filter(|_| is_sheared(clip, motion)) else {
                continue;
            };
            let points = object.vertex_count();
            numbers = numbers.saturating_add(points.saturating_mul(3 * clip.frame_count));
            if numbers > MOST_NUMBERS {
                lost += 1;
            } else {
                baked += 1;
                plain.to_mut().clips[k].motions[m] = asset.baked(clip, motion.object);
            }
        }
    }

    let phrases = [
        (
            baked,
            "the joints or nodes of {} motion(s) that shear (written as positions)",
        ),
        (lost, "the shear of {} motion(s)"),
    ];
    let phrases = phrases.into_iter().filter(|(count, _)| *count > 0);
    let phrases = phrases.map(|(count, phrase)| phrase.replace("{}", &count.to_string()));
    (plain, phrases.collect())
}

fn is_sheared(clip: &Animation, motion: &Motion) -> bool {
    let placement = motion.placement.as_ref().is_some_and(|placement| {
        let mut frames = 0..clip.frame_count;
        frames.any(|k| has_shear(&placement.at(clip.time_secs(k))))
    });
    let joints = motion.skin.as_ref().is_some_and(|track| {
        let skeleton = &track.binding.skeleton;
        let frames = track.motions.iter();
        let all = frames.flat_map(|f| (0..f.len()).map(move |j| local_motion(skeleton, f, j)));
        all.into_iter().any(|local| has_shear(&local))
    });
    placement || joints
}

fn has_shear(matrix: &DAffine3) -> bool {
    let entries = matrix.matrix3.to_cols_array();
    let size = entries.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let parts = Transform::of(matrix).matrix();
    size > MOST_SCALE || !parts.matrix3.abs_diff_eq(matrix.matrix3, TOLERANCE * size)
}
