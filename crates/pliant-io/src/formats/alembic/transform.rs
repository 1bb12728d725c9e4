//! Transforms of Alembic objects: operations with values over time.
//!
//! **Format.** An `Xform` object lists its operations once and their values in each sample. The
//! last operation applies first. Matrices are stored by rows for row vectors, so that a row of the
//! file is a column of ours; angles are in degrees. An object may ignore the transforms above it.
//!
//! **Departures.** Between samples, scale and translation are interpolated linearly and rotations
//! along the great circle.

use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};

use super::archive::Archive;
use super::property::{Property, PropertyKind, find};
use super::time_sampling::TimeSampling;
use crate::{PlacementTrack, ReadError};

/// The transform of an object and its place among the others.
#[derive(Debug)]
pub(super) struct Transform {
    /// The nearest transform above it.
    parent: Option<usize>,
    inherits: bool,
    /// One transformation for each sample; at least one.
    locals: Vec<DAffine3>,
    sampling: Option<TimeSampling>,
}

/// All transforms of an archive.
#[derive(Debug, Default)]
pub(super) struct Transforms {
    all: Vec<Transform>,
}

impl Transforms {
    /// Adds the transform with these properties below another one, and gives its index.
    pub(super) fn add<'a>(
        &mut self,
        archive: &Archive<'a>,
        properties: &[Property<'a>],
        parent: Option<usize>,
    ) -> Result<usize, ReadError> {
        let mut inherits = true;
        if let Some(property) = find(properties, ".inherits").filter(|p| p.holds(1)) {
            inherits = property.numbers(archive, 0)?.first() != Some(&0.0);
        }

        let codes = match find(properties, ".ops") {
            Some(operations) if operations.samples() > 0 => operations.indices(archive, 0)?,
            _ => Vec::new(),
        };

        let mut locals = Vec::new();
        let mut sampling = None;
        let values = find(properties, ".vals").filter(|p| p.kind != PropertyKind::Compound);
        if let Some(values) = values.filter(|_| !codes.is_empty()) {
            let count = if values.is_animated() {
                sampling = Some(values.sampling(archive)?.clone());
                values.samples()
            } else {
                values.samples().min(1)
            };
            archive
                .budget
                .spend(12_usize.saturating_mul(count), "the transforms")?;
            for sample in 0..count {
                let local = local(&codes, &values.numbers(archive, sample)?);
                let numbers = local.to_cols_array();
                archive
                    .not_finite
                    .check(numbers, format_args!("sample {sample} of a transform"));
                let local = Some(local).filter(DAffine3::is_finite);
                locals.push(local.unwrap_or(DAffine3::IDENTITY));
            }
        }
        if locals.is_empty() {
            locals.push(DAffine3::IDENTITY);
        }

        self.all.push(Transform {
            parent,
            inherits,
            locals,
            sampling,
        });
        Ok(self.all.len() - 1)
    }

    /// The samplings of all animated transforms from `index` to the root, with their samples.
    pub(super) fn samplings(
        &self,
        index: Option<usize>,
    ) -> impl Iterator<Item = (&TimeSampling, usize)> {
        self.chain(index)
            .filter_map(|transform| Some((transform.sampling.as_ref()?, transform.locals.len())))
    }

    /// How many transforms apply to what is below `index`.
    pub(super) fn depth(&self, index: Option<usize>) -> usize {
        self.chain(index).count()
    }

    /// The transformation from below `index` to the scene, at a time or in the first samples.
    pub(super) fn scene_from(&self, index: Option<usize>, time: Option<f64>) -> DAffine3 {
        let mut whole = DAffine3::IDENTITY;
        for transform in self.chain(index) {
            whole = product(&transform.at(time), &whole);
        }
        whole
    }

    /// The transforms that apply to what is below `index`, from there to the root.
    fn chain(&self, index: Option<usize>) -> impl Iterator<Item = &Transform> {
        let first = index.map(|k| &self.all[k]);
        std::iter::successors(first, |transform| {
            let parent = transform.parent.filter(|_| transform.inherits)?;
            Some(&self.all[parent])
        })
    }
}

impl Transform {
    fn at(&self, time: Option<f64>) -> DAffine3 {
        let (Some(time), Some(sampling)) = (time, &self.sampling) else {
            return self.locals[0];
        };
        let around = sampling.around(self.locals.len(), time);
        if around.along == 0.0 {
            return self.locals[around.from];
        }

        let ends = PlacementTrack {
            times_secs: vec![0.0, 1.0],
            moved_from_rest: vec![self.locals[around.from], self.locals[around.to]],
        };
        ends.at(around.along)
    }
}

/// The transformation of operations with the given codes and the values of all of them.
fn local(codes: &[u32], values: &[f64]) -> DAffine3 {
    let mut whole = DAffine3::IDENTITY;
    let mut values = values;
    for &code in codes {
        // The lower four bits are a hint for programs that show the operations.
        let kind = code >> 4;
        let count = match kind {
            0 | 1 => 3,
            2 => 4,
            3 => 16,
            4..=6 => 1,
            _ => 0,
        };
        let Some((own, rest)) = values.split_at_checked(count) else {
            break;
        };
        values = rest;
        whole = product(&whole, &operation(kind, own));
    }
    whole
}

/// The product of transformations, which keeps every bit of one if the other is the identity.
pub(super) fn product(first: &DAffine3, second: &DAffine3) -> DAffine3 {
    if *first == DAffine3::IDENTITY {
        *second
    } else if *second == DAffine3::IDENTITY {
        *first
    } else {
        *first * *second
    }
}

/// Moves points; the identity keeps every bit, such as the sign of zero.
pub(super) fn transform_points(points: &mut [DVec3], scene_from_mesh: &DAffine3) {
    if *scene_from_mesh == DAffine3::IDENTITY {
        return;
    }
    for point in points {
        *point = scene_from_mesh.transform_point3(*point);
    }
}

/// An operation with as many values as its kind has.
fn operation(kind: u32, values: &[f64]) -> DAffine3 {
    match kind {
        0 => DAffine3::from_scale(DVec3::from_slice(values)),
        1 => DAffine3::from_translation(DVec3::from_slice(values)),
        2 => {
            let axis = DVec3::from_slice(values).normalize_or_zero();
            let angle = values[3].to_radians();
            if axis == DVec3::ZERO {
                DAffine3::IDENTITY
            } else {
                DAffine3::from_quat(DQuat::from_axis_angle(axis, angle))
            }
        }
        3 => {
            let mut columns = [0.0; 16];
            columns.copy_from_slice(values);
            DAffine3::from_mat4(DMat4::from_cols_array(&columns))
        }
        4 => DAffine3::from_rotation_x(values[0].to_radians()),
        5 => DAffine3::from_rotation_y(values[0].to_radians()),
        6 => DAffine3::from_rotation_z(values[0].to_radians()),
        _ => DAffine3::IDENTITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_operation_applies_first() {
        // Translate, rotate about an axis, scale: scale applies first.
        let values = [1.0, 2.0, 3.0, 0.0, 0.0, 2.0, 90.0, 2.0, 1.0, 1.0];
        let moved = local(&[0x10, 0x21, 0x00], &values).transform_point3(DVec3::X);
        assert!((moved - DVec3::new(1.0, 4.0, 3.0)).length() < 1e-15);
    }

    #[test]
    fn rotations_about_an_axis_equal_those_about_any_axis() {
        for (code, axis) in [(0x40, DVec3::X), (0x50, DVec3::Y), (0x60, DVec3::Z)] {
            let about_any = local(&[0x20], &[axis.x, axis.y, axis.z, 30.0]);
            assert!(local(&[code], &[30.0]).abs_diff_eq(about_any, 1e-15));
        }
    }

    #[test]
    fn missing_values_and_unknown_operations_change_nothing() {
        assert_eq!(local(&[0x10, 0x30], &[0.0; 5]), DAffine3::IDENTITY);
        assert_eq!(local(&[0xf0], &[]), DAffine3::IDENTITY);
        assert_eq!(local(&[0x20], &[0.0, 0.0, 0.0, 30.0]), DAffine3::IDENTITY);
    }
}
