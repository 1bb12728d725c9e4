//! What single precision loses of an asset.
//!
//! **Problem.** Most formats store positions in single precision, in frames of their own: relative to
//! nodes, to neutrals, in metres. How much a file lost depends on all of that.
//!
//! **Method.** A bound on the rounding of coordinates tells whether a file may have lost something. If
//! so, it is read again and compared with what was given, vertex by vertex and frame by frame:
//!
//! ```text
//! e = maxᵥ |x′ᵥ − xᵥ|        reported where e > 10⁻⁶ d, refused where e > 10⁻² d
//! ```
//!
//! with the diagonal `d` of the object at rest.
//!
//! **Departures.** Differences that are larger than rounding can explain have other reasons, such as a
//! format without that kind of content, and are reported as such.

use std::collections::HashSet;

use pliant_mesh::glam::DVec3;

use crate::asset::{PRECISION, rounding_error};
use crate::{Asset, EncodedAsset, FileProvider, Format, IoError, Motion, Object, Shape};

/// Chosen: a file whose positions are off by more than this part of an object's diagonal does not show
/// the object.
const REFUSED: f64 = 1e-2;

/// Half the distance of 1 to the next number of single precision.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// How many roundings, one on top of the other, a difference may be.
const MOST_ROUNDINGS: f64 = 16.0;

/// Numbers this small are stored with fewer digits, or as zero.
const SMALLEST: f64 = f32::MIN_POSITIVE as f64;

/// What a written file lost, as phrases.
///
/// # Errors
/// The file does not show the asset.
pub(super) fn losses(
    asset: &Asset,
    format: Format,
    encoded: &EncodedAsset,
) -> Result<Vec<String>, IoError> {
    let scale = match format {
        // In metres.
        Format::Glb | Format::Gltf | Format::Alembic => asset.meters_per_unit.unwrap_or(1.0),
        // Numbers of any length, or in double precision.
        Format::Obj | Format::Ply | Format::Npy => return Ok(Vec::new()),
        _ => 1.0,
    };
    let extents: Vec<Extent> = (0..asset.objects.len())
        .map(|k| Extent::of(asset, k, scale))
        .collect();
    if !extents.iter().any(Extent::may_lose) {
        return Ok(Vec::new());
    }

    // What cannot be read again is not known to have lost anything.
    let Ok(stored) = format.read(&encoded.bytes, &Beside(encoded)) else {
        return Ok(Vec::new());
    };
    let stored = stored.in_space_of(asset);
    let has_rest = !matches!(format, Format::Mdd | Format::Pc2);
    let mut lost = Vec::new();
    for (k, loss) in compare(asset, &stored, &extents, has_rest)
        .into_iter()
        .enumerate()
    {
        let object = &asset.objects[k];
        let part = loss.error / extents[k].diagonal;
        if loss.error == 0.0 || part <= PRECISION {
            continue;
        }
        let phrase = loss.phrase(object, part);
        if part > REFUSED {
            return Err(IoError::Imprecise {
                file: asset.display_name(),
                format: format.ending(),
                loss: phrase,
            });
        }
        lost.push(format!("the exact positions: {phrase}"));
    }
    Ok(lost)
}

/// The size of an object, and how far from the origin it comes.
struct Extent {
    /// The diagonal at rest, in units of the asset.
    diagonal: f64,
    /// The greatest coordinate at rest and in clips, in units of the asset.
    greatest: f64,
    /// A bound on the rounding, in units of the asset.
    rounding: f64,
}

impl Extent {
    fn of(asset: &Asset, index: usize, scale: f64) -> Self {
        let object = &asset.objects[index];
        let neutral = object.rig.neutral();
        let bounds = neutral.bounds();
        let center = bounds.map_or(DVec3::ZERO, |bounds| bounds.center());
        let mut extent = Self {
            diagonal: bounds.map_or(0.0, |bounds| bounds.diagonal()),
            greatest: 0.0,
            rounding: 0.0,
        };

        let motions = asset.clips.iter().flat_map(|clip| &clip.motions);
        let own: Vec<&Motion> = motions.filter(|motion| motion.object == index).collect();
        let frames = own.iter().flat_map(|motion| match &motion.shape {
            Shape::Points(frames) => frames.as_slice(),
            _ => &[],
        });
        for &position in neutral.positions().iter().chain(frames.flatten()) {
            let rounding = rounding_error(position * scale) / scale;
            extent.rounding = extent.rounding.max(rounding);
            extent.greatest = extent.greatest.max(position.abs().max_element());
        }

        // Transformations are rounded, too.
        let placements = own.iter().flat_map(|motion| &motion.placement);
        for moved in placements.flat_map(|track| &track.moved_from_rest) {
            extent.reach(moved.transform_point3(center));
        }
        for track in own.iter().filter_map(|motion| motion.skin.as_ref()) {
            let joints = track.binding.skeleton.joints();
            for motions in track.motions.iter() {
                for (joint, moved) in joints.iter().zip(motions) {
                    extent.reach(moved.transform_point3(joint.origin));
                }
            }
        }

        // One point has no shape to lose.
        if extent.diagonal == 0.0 {
            extent.diagonal = extent.greatest;
        }
        let is_tiny = extent.greatest > 0.0 && extent.diagonal * scale < SMALLEST / PRECISION;
        if is_tiny {
            extent.rounding = extent.rounding.max(extent.diagonal);
        }
        extent
    }

    /// Counts a place to which a transformation moves something.
    fn reach(&mut self, place: DVec3) {
        let greatest = place.abs().max_element();
        self.greatest = self.greatest.max(greatest);
        self.rounding = self.rounding.max(greatest * ROUNDING);
    }

    fn may_lose(&self) -> bool {
        self.rounding > PRECISION * self.diagonal
    }

    /// Whether rounding can explain a difference.
    fn explains(&self, difference: f64) -> bool {
        let rounding = MOST_ROUNDINGS * ROUNDING * self.greatest.max(self.diagonal);
        difference <= rounding.max(SMALLEST)
    }
}

/// What an object lost.
#[derive(Debug, Clone, Copy, Default)]
struct Loss {
    /// The largest distance of a position from where it was, in units of the asset.
    error: f64,
    /// How many vertices at rest lie on another one that they did not lie on.
    merged: usize,
}

impl Loss {
    fn phrase(&self, object: &Object, part: f64) -> String {
        let name = object.name();
        let mut phrase = format!(
            "'{name}' is off by up to {:.2e} units, {part:.1e} of its diagonal",
            self.error
        );
        if self.merged > 0 {
            phrase.push_str(&format!(", and {} vertices lie on others", self.merged));
        }
        phrase
    }
}

/// What each object lost.
fn compare(asset: &Asset, stored: &Asset, extents: &[Extent], has_rest: bool) -> Vec<Loss> {
    let mut losses = vec![Loss::default(); asset.objects.len()];
    let indices = asset.file_indices();
    let count = asset.vertex_count();
    if stored.vertex_count() != count {
        return losses;
    }

    let mut add = |given: &[DVec3], found: &[DVec3], at_rest: bool| {
        for (k, own) in indices.iter().enumerate() {
            let pairs = own.iter().map(|&v| (given[v as usize], found[v as usize]));
            let error = pairs
                .clone()
                .map(|(a, b)| a.distance(b))
                .fold(0.0, f64::max);
            if !extents[k].explains(error) {
                continue;
            }
            losses[k].error = losses[k].error.max(error);
            if at_rest && error > 0.0 {
                let distinct = |points: &mut dyn Iterator<Item = DVec3>| {
                    let bits = points.map(|p| (p + DVec3::ZERO).to_array().map(f64::to_bits));
                    bits.collect::<HashSet<_>>().len()
                };
                let before = distinct(&mut pairs.clone().map(|(given, _)| given));
                let after = distinct(&mut pairs.map(|(_, found)| found));
                losses[k].merged = before.saturating_sub(after);
            }
        }
    };

    // A point cache has no rest pose; its mesh is the first frame.
    let rest = asset.mesh().ok().zip(stored.mesh().ok());
    if let Some((given, found)) = rest.filter(|_| has_rest) {
        add(given.positions(), found.positions(), true);
    }

    // Formats with one clip store the main one.
    let pairs: Vec<(usize, usize)> = if asset.clips.len() == stored.clips.len() {
        (0..asset.clips.len()).map(|k| (k, k)).collect()
    } else {
        let main = asset.only_clip().ok();
        let index = asset
            .clips
            .iter()
            .position(|clip| main.is_some_and(|main| std::ptr::eq(main, clip)));
        index.map(|k| (k, 0)).into_iter().collect()
    };
    for (k, other) in pairs {
        let frames = asset.clips[k].frame_count;
        for frame in 0..frames {
            let given = asset.clip_positions(k, frame);
            let found = stored.clip_positions(other, frame);
            if let (Some(given), Some(found)) = (given, found) {
                add(&given, &found, false);
            }
        }
    }
    losses
}

/// The files beside a file that is not on disk yet.
struct Beside<'a>(&'a EncodedAsset);

impl FileProvider for Beside<'_> {
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
        let mut files = self.0.sidecar_files.iter();
        match files.find(|(name, _)| name == uri) {
            Some((_, bytes)) => Ok(bytes.clone()),
            None => Err(IoError::Missing { path: uri.into() }),
        }
    }
}
