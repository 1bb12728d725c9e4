//! A root motion that leaves standing feet where they are.
//!
//! **Problem.** A target with longer legs than its size suggests covers too little way: its feet
//! skate.
//!
//! **Method.** A target triangle stands while most of what it takes from has three planted corners.
//! From one frame to the next the target is shifted along the ground so that the triangles that
//! stand in both stay where they are, in the mean; what was shifted stays shifted. So the way comes
//! from the feet while they stand, and from the source while they do not.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, name it an open problem in
//! section 5.
//!
//! **Ours.** All of it. Heights are left as they are; what a foot creeps against the mean of all is
//! left to [`planted_feet`](crate::planted_feet). Where the ground itself moves, the animal stays
//! in place, and so does the root.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_area};
use pliant_rig::Clip;

use crate::{ContactOptions, FootContacts, RootMotion, TransferError, TriangleMap};

/// What stands in one frame of the target.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stance {
    /// Triangles of the target, ascending.
    pub(crate) triangles: Vec<u32>,
    /// How far the source's ground moves from the frame before, at the size of the target.
    pub(crate) ground_step: DVec3,
}

/// Keeps standing target triangles in place from frame to frame.
#[derive(Debug, Clone)]
pub(crate) struct Planting {
    up: DVec3,
    root: RootMotion,
    /// Of each source.
    contacts: Vec<FootContacts>,
    /// What the target was shifted by so far.
    shift: DVec3,
    /// Triangles that stood in the frame before, and where.
    standing: Vec<(u32, DVec3)>,
}

impl Planting {
    pub(crate) fn new<'a>(
        clips: impl Iterator<Item = &'a Clip>,
        options: &ContactOptions,
        root: RootMotion,
    ) -> Result<Self, TransferError> {
        let contacts = clips
            .map(|clip| FootContacts::find(clip, options))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            up: options.up(),
            root,
            contacts,
            shift: DVec3::ZERO,
            standing: Vec::new(),
        })
    }

    /// The contacts of a source, unless its own way is taken from it: then nothing of it stands.
    pub(crate) fn contacts(&self, source: usize) -> Option<&FootContacts> {
        let contacts = &self.contacts[source];
        (self.root == RootMotion::Carry || contacts.ground_step() != DVec3::ZERO)
            .then_some(contacts)
    }

    /// Forgets all frames.
    pub(crate) fn restart(&mut self) {
        self.shift = DVec3::ZERO;
        self.standing.clear();
    }

    /// Shifts `positions` so that triangles that stand now and before stay in place.
    pub(crate) fn hold(&mut self, target: &Mesh, stance: &Stance, positions: &mut [DVec3]) {
        let place = |t: u32, positions: &[DVec3]| {
            target.triangles()[t as usize]
                .iter()
                .map(|&v| positions[v as usize])
                .sum::<DVec3>()
                / 3.0
        };
        let (mut slip, mut total) = (DVec3::ZERO, 0.0);
        for &(t, before) in self
            .standing
            .iter()
            .filter(|(t, _)| stance.triangles.binary_search(t).is_ok())
        {
            let area = triangle_area(target.triangle_points(t as usize));
            slip += (place(t, positions) + self.shift - before) * area;
            total += area;
        }
        if total > 0.0 && stance.ground_step == DVec3::ZERO {
            self.shift -= (slip / total).reject_from_normalized(self.up);
        }
        positions
            .iter_mut()
            .for_each(|position| *position += self.shift);
        self.standing = stance
            .triangles
            .iter()
            .map(|&t| (t, place(t, positions)))
            .collect();
    }
}

/// The target triangles that take more than half from source triangles with three planted corners,
/// ascending.
pub(crate) fn planted_triangles(planted: &[u32], source: &Mesh, map: &TriangleMap) -> Vec<u32> {
    if planted.is_empty() {
        return Vec::new();
    }
    let mut stands = vec![false; source.vertex_count()];
    planted.iter().for_each(|&v| stands[v as usize] = true);
    let whole = |s: u32| {
        source.triangles()[s as usize]
            .iter()
            .all(|&v| stands[v as usize])
    };
    let share = |t: usize| {
        map.row(t)
            .iter()
            .filter(|(s, _)| whole(*s))
            .map(|(_, w)| w)
            .sum::<f64>()
    };
    (0..map.len() as u32)
        .filter(|&t| share(t as usize) > 0.5)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{leg, stepping};
    use crate::{Layer, Source, Synthesis, SynthesisOptions};
    use std::borrow::Cow;

    #[test]
    fn the_foot_of_a_longer_leg_skates_without_planting_and_stands_with_it() {
        let (source, target) = (leg(1.0), leg(2.5));
        let clip = stepping(&source);
        let creep = |options: SynthesisOptions| {
            let layers = vec![Layer::whole(0, vec![1.0; 6], 9)];
            let sources = vec![Source {
                clip: &clip,
                map: Cow::Owned(TriangleMap::identity(6)),
            }];
            let mut synthesis = Synthesis::new(&target, sources, layers, options).unwrap();
            let first: Vec<DVec3> = synthesis.frame(0).to_vec();
            let creep = (1..6)
                .map(|k| {
                    (0..4)
                        .map(|v| (synthesis.frame(k)[v] - first[v]).length())
                        .fold(0.0, f64::max)
                })
                .fold(0.0, f64::max);
            let in_order = synthesis.frame(8).to_vec();
            synthesis.frame(2);
            assert_eq!(synthesis.frame(8), in_order, "any order gives the same");
            creep
        };
        assert!(creep(SynthesisOptions::default()) > 0.02);
        assert!(
            creep(SynthesisOptions::default().with_planted_feet(ContactOptions::default())) < 1e-9
        );
    }
}
