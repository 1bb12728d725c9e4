//! Root correction: a root motion that leaves standing feet in place.
//!
//! **Problem.** A target whose legs are long for its size covers too short a path: its feet slide.
//!
//! **Method.** A target triangle stands if most of its sources have three planted corners. From one
//! frame to the next the target is shifted along the ground so that the triangles that stand in both
//! stay in place on average; shifts accumulate. So the root motion comes from the feet while they
//! stand, and from the source while they do not.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, name it an open problem in
//! section 5.
//!
//! **Departures.** The method is our own. Heights are unchanged; the slide of a foot relative to the
//! mean of all is left to [`footskate_cleanup`](super::footskate_cleanup). If the ground itself
//! moves, the character stays in place, and so does the root.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_area};
use pliant_rig::Clip;

use super::{FootContactOptions, FootContacts};
use crate::{RootMotion, TransferError, TriangleMap};

/// The contact of the target with the ground in one frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct GroundContact {
    /// Standing triangles of the target, ascending.
    pub(crate) triangles: Vec<u32>,
    /// The displacement of the source's ground from the frame before, scaled to the target.
    pub(crate) ground_step: DVec3,
}

/// Keeps standing target triangles in place from frame to frame.
#[derive(Debug, Clone)]
pub(crate) struct RootCorrection {
    up: DVec3,
    root: RootMotion,
    /// Of each source.
    contacts: Vec<FootContacts>,
    /// The accumulated shift of the target.
    shift: DVec3,
    /// Triangles that stood in the frame before, and their centroids.
    standing: Vec<(u32, DVec3)>,
}

impl RootCorrection {
    pub(crate) fn new<'a>(
        clips: impl Iterator<Item = &'a Clip>,
        options: &FootContactOptions,
        root: RootMotion,
    ) -> Result<Self, TransferError> {
        let mut contacts = Vec::new();
        for clip in clips {
            contacts.push(FootContacts::find(clip, options)?);
        }
        Ok(Self {
            up: options.up(),
            root,
            contacts,
            shift: DVec3::ZERO,
            standing: Vec::new(),
        })
    }

    /// The contacts of a source; `None` if its root motion is removed, so that nothing of it stands.
    pub(crate) fn contacts(&self, source: usize) -> Option<&FootContacts> {
        let contacts = &self.contacts[source];
        let ground_moves = contacts.ground_step() != DVec3::ZERO;
        (self.root == RootMotion::Carry || ground_moves).then_some(contacts)
    }

    /// Clears the state of earlier frames.
    pub(crate) fn restart(&mut self) {
        self.shift = DVec3::ZERO;
        self.standing.clear();
    }

    /// Shifts `positions` so that triangles that stand now and in the frame before stay in place.
    pub(crate) fn hold(&mut self, target: &Mesh, contact: &GroundContact, positions: &mut [DVec3]) {
        let mut slip = DVec3::ZERO;
        let mut total = 0.0;
        for &(t, before) in &self.standing {
            if contact.triangles.binary_search(&t).is_ok() {
                let area = triangle_area(target.triangle_points(t as usize));
                slip += (centroid_at(target, t, positions) + self.shift - before) * area;
                total += area;
            }
        }

        // On a moving ground the character stays in place.
        if total > 0.0 && contact.ground_step == DVec3::ZERO {
            self.shift -= (slip / total).reject_from_normalized(self.up);
        }
        for position in positions.iter_mut() {
            *position += self.shift;
        }

        // Centroids after the shift: shifts accumulate.
        self.standing.clear();
        for &t in &contact.triangles {
            self.standing.push((t, centroid_at(target, t, positions)));
        }
    }
}

/// The centroid of a triangle of `target` at `positions`.
fn centroid_at(target: &Mesh, triangle: u32, positions: &[DVec3]) -> DVec3 {
    let corners = target.triangles()[triangle as usize].map(|v| positions[v as usize]);
    corners.into_iter().sum::<DVec3>() / 3.0
}

/// The target triangles with more than half of their weight on source triangles with three planted
/// corners, ascending.
pub(crate) fn contact_triangles(planted: &[u32], source: &Mesh, map: &TriangleMap) -> Vec<u32> {
    if planted.is_empty() {
        return Vec::new();
    }

    let mut is_planted = vec![false; source.vertex_count()];
    for &v in planted {
        is_planted[v as usize] = true;
    }
    let stands = |s: u32| {
        let corners = source.triangles()[s as usize];
        corners.iter().all(|&v| is_planted[v as usize])
    };

    // A triangle stands if more than half of what it takes stands.
    let mut triangles = Vec::new();
    for (t, row) in map.rows().enumerate() {
        let standing = row.iter().filter(|(s, _)| stands(*s));
        let share: f64 = standing.map(|(_, weight)| weight).sum();
        if share > 0.5 {
            triangles.push(t as u32);
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{leg, stepping};
    use crate::{Layer, Source, Synthesis, SynthesisOptions};
    use std::borrow::Cow;

    #[test]
    fn the_foot_of_a_longer_leg_slides_without_planted_feet_and_stands_with_them() {
        let (source, target) = (leg(1.0), leg(2.5));
        let clip = stepping(&source);
        let slide = |options: SynthesisOptions| {
            let layers = vec![Layer::whole(0, vec![1.0; 6], 9)];
            let sources = vec![Source {
                clip: &clip,
                map: Cow::Owned(TriangleMap::identity(6)),
            }];
            let mut synthesis = Synthesis::new(&target, sources, layers, options).unwrap();
            let first: Vec<DVec3> = synthesis.frame(0).to_vec();

            let slide = (1..6)
                .map(|k| {
                    (0..4)
                        .map(|v| (synthesis.frame(k)[v] - first[v]).length())
                        .fold(0.0, f64::max)
                })
                .fold(0.0, f64::max);

            let in_order = synthesis.frame(8).to_vec();
            synthesis.frame(2);
            assert_eq!(
                synthesis.frame(8),
                in_order,
                "the result does not depend on the order of frames"
            );

            slide
        };

        assert!(slide(SynthesisOptions::default()) > 0.02);
        assert!(
            slide(SynthesisOptions::default().with_planted_feet(FootContactOptions::default()))
                < 1e-9
        );
    }
}
