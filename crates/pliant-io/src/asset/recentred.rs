//! Objects far from the origin, brought near it, for files in single precision.
//!
//! **Problem.** Single precision has 24 binary digits. Of a sheet 0.5 wide at 10⁷ from the origin it
//! keeps one point.
//!
//! **Equation.** With an offset `o` in single precision near the middle of the object, a file stores
//! `x − o` and a node with the translation `o`. The rounding error is then relative to the size of the
//! object instead of its distance:
//!
//! ```text
//! |x − fl(x)| ≤ 2⁻²⁴ |x|        |(x − o) − fl(x − o)| ≤ 2⁻²⁴ |x − o|
//! ```
//!
//! **Departures.** Objects whose rounding error is at most [`TOLERANCE`] of their diagonal stay where
//! they are. Objects that share joints share an offset.

use pliant_mesh::glam::DVec3;

use super::{Asset, Object, Shape};

/// Chosen: a rounding error up to this part of the diagonal is no loss.
pub(crate) const TOLERANCE: f64 = 1e-6;

impl Asset {
    /// The asset with its far objects near the origin, and what to add to the positions of each
    /// object; `None` if no object is far. `leaders` are the first objects of those with the same
    /// joints.
    pub(crate) fn recentred(&self, leaders: &[Option<usize>]) -> Option<(Self, Vec<DVec3>)> {
        let own: Vec<Option<DVec3>> = (0..self.objects.len()).map(|k| self.offset(k)).collect();
        if own.iter().all(Option::is_none) {
            return None;
        }

        let mut offsets = Vec::with_capacity(own.len());
        for (k, offset) in own.iter().enumerate() {
            let shared = leaders[k].and_then(|leader| {
                let mut members = (0..own.len()).filter(|&other| leaders[other] == Some(leader));
                members.find_map(|other| own[other])
            });
            offsets.push(shared.or(*offset).unwrap_or(DVec3::ZERO));
        }

        let mut moved = self.clone();
        for (object, &offset) in moved.objects.iter_mut().zip(&offsets) {
            if offset != DVec3::ZERO {
                object.translate(-offset);
            }
        }
        for motion in moved.clips.iter_mut().flat_map(|clip| &mut clip.motions) {
            let offset = offsets[motion.object];
            if let Shape::Points(frames) = &mut motion.shape {
                for position in frames.iter_mut().flatten() {
                    *position -= offset;
                }
            }
        }
        Some((moved, offsets))
    }

    /// Where to put the origin of an object whose positions lose precision.
    fn offset(&self, index: usize) -> Option<DVec3> {
        let neutral = self.objects[index].rig.neutral();
        let bounds = neutral.bounds()?;
        let motions = self.clips.iter().flat_map(|clip| &clip.motions);
        let frames = motions.filter(|motion| motion.object == index);
        let frames = frames.flat_map(|motion| match &motion.shape {
            Shape::Points(frames) => frames.as_slice(),
            _ => &[],
        });
        let positions = neutral.positions().iter().chain(frames.flatten());
        let error = positions.map(|&p| rounding_error(p)).fold(0.0, f64::max);

        let offset = bounds.center().as_vec3().as_dvec3();
        let diagonal = bounds.diagonal();
        let is_far = diagonal > 0.0 && error > TOLERANCE * diagonal;
        Some(offset).filter(|offset| is_far && offset.is_finite() && *offset != DVec3::ZERO)
    }
}

impl Object {
    /// Moves the positions of its neutral.
    fn translate(&mut self, by: DVec3) {
        let mut builder = self.rig.neutral().to_builder();
        for position in &mut builder.positions {
            *position += by;
        }
        let moved = builder.build().expect("a mesh stays a mesh elsewhere");
        let rig = self.rig.clone().with_neutral(moved);
        self.rig = rig.expect("the moved mesh has the same vertices");
    }
}

/// How far single precision moves a position.
pub(crate) fn rounding_error(position: DVec3) -> f64 {
    position.distance(position.as_vec3().as_dvec3())
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;

    use super::*;

    fn sheet(offset: DVec3) -> Asset {
        let corners = [DVec3::ZERO, DVec3::X * 0.5, DVec3::Y * 0.3].map(|p| p + offset);
        Asset::from_mesh(Mesh::from_triangles(corners.to_vec(), &[[0, 1, 2]]).unwrap())
    }

    #[test]
    fn only_objects_that_lose_precision_are_moved_and_an_offset_is_a_single() {
        assert!(sheet(DVec3::X * 2.1).recentred(&[None]).is_none());
        // Whole numbers lose nothing in single precision.
        let far = sheet(DVec3::splat(12_345_678.9));
        let (near, offsets) = far.recentred(&[None]).unwrap();
        assert_eq!(rounding_error(offsets[0]), 0.0);
        for (near, far) in near
            .mesh()
            .unwrap()
            .positions()
            .iter()
            .zip(far.mesh().unwrap().positions())
        {
            assert!(near.length() < 2.0);
            assert_eq!(*near + offsets[0], *far);
        }
    }
}
