//! Eyelid and lip closure: what closes in the source closes in the target.
//!
//! **Problem.** Deformation gradients define how skin rotates and stretches, not where it ends: on a
//! head with larger eyes a blink stays open, on one with smaller eyes the eyelids intersect.
//!
//! **Method.** The pairs of [`ContactFinder`] lie across an [`Opening`], which the correspondence
//! takes to the target approximately; a plane section then finds the two rims on both meshes. The
//! gap of the source's rims in the pose, rotated and scaled to the target, is that which the target's
//! rims should have. The first rim takes the share `ρ` of the correction that it has in the motion
//! of both. A smooth [`ClosureField`] with the mean width of the opening at rest as its length moves
//! the surface; stationary vertices stay.
//!
//! **Departures.** The method is our own. An eyelid that moves alone in the source does so in the
//! target. Before the correction the displacements are [faired](faired()) by as much as the map
//! errs.

use std::collections::BTreeMap;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, TrianglePoint, vertex_normals};

use super::closure_field::{ClosingPair, ClosureField};
use super::contact_pairs::{ContactFinder, ContactPair};
use super::fairing::{FIXED, faired};
use super::opening::Opening;
use crate::extent::size;
use crate::{Correspondence, CorrespondenceMethod, TransferError, TriangleMap};

/// Vertices farther than this from all pairs, in lengths of the field, stay: there the field has
/// faded below a hundredth.
const FIELD_REACH: f64 = 5.0;

/// Pairs whose gap has a larger error, relative to the size, are no closure. Chosen: a surface that
/// passes through other skin, as `mouthClose` does without an open jaw, meets unrelated places.
const LARGEST_CORRECTION: f64 = 0.1;

/// Displacements shorter than this share of the largest error are faired: a map with such an error
/// is not reliable for shorter detail. Chosen by eye: at 0.2 eyelids of a coarse head crumple, at
/// 2 the shape's own motion is gone.
const FAIRED_SHARE: f64 = 0.7;

/// The least width of an opening of the target relative to that of the source.
const LEAST_WIDTH: f64 = 0.5;

/// Pairs in one parallel task.
const PAIRS_PER_TASK: usize = 8;

/// How well the pairs of a shape are closed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ClosureReport {
    /// Pairs with counterparts on the target.
    pub(crate) pairs: usize,
    /// Pairs without counterparts.
    pub(crate) lost: usize,
    /// The largest error of a gap, relative to the target's size.
    pub(crate) before: f64,
    /// The same after the correction.
    pub(crate) after: f64,
}

/// Finds pairs that close on the source and closes them on the target.
#[derive(Debug, Clone)]
pub(crate) struct ClosureCorrection<'a> {
    finder: ContactFinder<'a>,
    source: &'a Mesh,
    target: &'a Mesh,
    laplacian: &'a Laplacian,
    source_on_target: &'a [DVec3],
    /// For components of the source those of the target that take most from them.
    component_on_target: BTreeMap<u32, u32>,
    source_normals: Vec<DVec3>,
    size: f64,
    /// Displacements shorter than this share of the largest error are faired.
    faired_share: f64,
}

/// A pose of the source and its effect.
#[derive(Clone, Copy)]
struct SourcePose<'p> {
    positions: &'p [DVec3],
    /// For each vertex of the target whether the pose leaves it in place.
    stationary: &'p [bool],
}

/// The counterpart of a contact pair on the target.
enum Counterpart {
    /// The source has no opening at the pair.
    NoOpening,
    /// The target has no opening there, or nothing of it moves.
    Lost,
    Found(ClosingPair),
}

impl<'a> ClosureCorrection<'a> {
    /// `source` is rotated and scaled to the target.
    pub(crate) fn new(
        source: &'a Mesh,
        target: &'a Mesh,
        laplacian: &'a Laplacian,
        correspondence: &'a Correspondence,
    ) -> Result<Self, TransferError> {
        // The identity has no error.
        let faired_share = match correspondence.method {
            CorrespondenceMethod::Identity => 0.0,
            _ => FAIRED_SHARE,
        };
        Ok(Self {
            finder: ContactFinder::new(source)?,
            source,
            target,
            laplacian,
            source_on_target: &correspondence.source_on_target,
            component_on_target: components_on_target(source, target, &correspondence.map),
            source_normals: vertex_normals(source),
            size: size(target),
            faired_share,
        })
    }

    /// Closes in `positions` what is closed in the source's pose `posed`.
    pub(crate) fn close(
        &self,
        posed: &[DVec3],
        moves: &[bool],
        stationary: &[bool],
        positions: &mut [DVec3],
    ) -> Result<ClosureReport, TransferError> {
        let pose = SourcePose {
            positions: posed,
            stationary,
        };
        let contacts = self.contacts(posed, moves)?;
        let (pairs, lost) = self.closing_pairs(&contacts, pose, positions);
        let mut report = ClosureReport {
            pairs: pairs.len(),
            lost,
            ..ClosureReport::default()
        };
        if pairs.is_empty() {
            return Ok(report);
        }

        report.before = self.largest_error(&pairs, positions);
        let corrected = self.corrected(&pairs, stationary, report.before, positions)?;
        let after = self.largest_error(&pairs, &corrected);
        // A correction that does not improve the worst gap is discarded.
        if after < report.before {
            positions.copy_from_slice(&corrected);
        }
        report.after = after.min(report.before);
        Ok(report)
    }

    /// The contact pairs of a pose whose component has a counterpart.
    fn contacts(&self, posed: &[DVec3], moves: &[bool]) -> Result<Vec<ContactPair>, TransferError> {
        let mut contacts = self.finder.pairs(posed, moves)?;
        contacts.retain(|contact| {
            let component = component_of(self.source, contact.partner.triangle);
            self.component_on_target.contains_key(&component)
        });
        Ok(contacts)
    }

    /// The counterparts of contacts on the target, and how many have none.
    fn closing_pairs(
        &self,
        contacts: &[ContactPair],
        pose: SourcePose<'_>,
        positions: &[DVec3],
    ) -> (Vec<ClosingPair>, usize) {
        let found = parallel::map(contacts.len(), PAIRS_PER_TASK, |k| {
            self.counterpart(contacts, k, pose)
        });

        // Lost pairs are reported; pairs without an opening in the source are no closure.
        let mut pairs = Vec::new();
        let mut lost = 0;
        for counterpart in found {
            match counterpart {
                Counterpart::NoOpening => {}
                Counterpart::Found(pair) if self.is_closure(&pair, positions) => pairs.push(pair),
                Counterpart::Found(_) | Counterpart::Lost => lost += 1,
            }
        }
        (pairs, lost)
    }

    fn is_closure(&self, pair: &ClosingPair, positions: &[DVec3]) -> bool {
        let error = pair.error_at(self.target, positions).length();
        error <= LARGEST_CORRECTION * self.size
    }

    fn counterpart(&self, contacts: &[ContactPair], k: usize, pose: SourcePose<'_>) -> Counterpart {
        let Some((opening, rims)) = self.source_opening(contacts, k) else {
            return Counterpart::NoOpening;
        };
        match self.on_target(&contacts[k], &opening, &rims, pose) {
            Some(pair) => Counterpart::Found(pair),
            None => Counterpart::Lost,
        }
    }

    /// The opening of the source at a contact, and its rims.
    fn source_opening(
        &self,
        contacts: &[ContactPair],
        k: usize,
    ) -> Option<(Opening, [TrianglePoint; 2])> {
        let component = component_of(self.source, contacts[k].partner.triangle);
        let opening = self.opening_at(contacts, k)?;
        let rims = opening.rims(self.source, |t| component_of(self.source, t) == component)?;
        Some((opening, rims))
    }

    /// The pair on the target, for an opening of the source with known rims.
    fn on_target(
        &self,
        contact: &ContactPair,
        opening: &Opening,
        rims: &[TrianglePoint; 2],
        pose: SourcePose<'_>,
    ) -> Option<ClosingPair> {
        let component = component_of(self.source, contact.partner.triangle);
        let on_target = *self.component_on_target.get(&component)?;
        let [from, to] = self.ends(contact, self.source_on_target);
        let approximate = Opening {
            middle: from.midpoint(to),
            width: from.distance(to).max(LEAST_WIDTH * opening.width),
            ..*opening
        };
        let ends = approximate.rims(self.target, |t| component_of(self.target, t) == on_target)?;

        // ρ by the motion of both rims in the source; a rim that cannot move takes nothing.
        let triangles = self.source.triangles();
        let before = rims.map(|rim| rim.position(triangles, self.source.positions()));
        let after = rims.map(|rim| rim.position(triangles, pose.positions));
        let mut motions = [0.0; 2];
        for e in 0..2 {
            if self.can_move(&ends[e], pose.stationary) {
                motions[e] = before[e].distance(after[e]);
            }
        }

        let share = motions[0] / (motions[0] + motions[1]);
        share.is_finite().then_some(ClosingPair {
            ends,
            gap: after[1] - after[0],
            share,
        })
    }

    /// Whether some corner of a point's triangle is not stationary.
    fn can_move(&self, point: &TrianglePoint, stationary: &[bool]) -> bool {
        let corners = self.target.triangles()[point.triangle as usize];
        corners.iter().any(|&v| !stationary[v as usize])
    }

    /// The two points of a contact, for `values` of the source's vertices.
    fn ends(&self, contact: &ContactPair, values: &[DVec3]) -> [DVec3; 2] {
        [
            values[contact.vertex as usize],
            contact.partner.position(self.source.triangles(), values),
        ]
    }

    /// The plane across a contact in the source at rest.
    fn opening_at(&self, contacts: &[ContactPair], k: usize) -> Option<Opening> {
        let rest = self.source.positions();
        let [from, to] = self.ends(&contacts[k], rest);
        let across = (to - from).try_normalize()?;

        // Normals at a rim vary; the mean of those near the contact points out of the opening.
        let mut widest: f64 = 0.0;
        for contact in contacts {
            let [a, b] = self.ends(contact, rest);
            widest = widest.max(a.distance(b));
        }
        let mut normals = DVec3::ZERO;
        for contact in contacts {
            if self.ends(contact, rest)[0].distance(from) <= widest {
                for normal in self.ends(contact, &self.source_normals) {
                    normals += normal;
                }
            }
        }

        Some(Opening {
            middle: from.midpoint(to),
            across,
            outward: normals.reject_from(across).try_normalize()?,
            width: from.distance(to),
        })
    }

    /// The largest error of a gap, relative to the target's size.
    fn largest_error(&self, pairs: &[ClosingPair], positions: &[DVec3]) -> f64 {
        let mut largest: f64 = 0.0;
        for pair in pairs {
            let error = pair.error_at(self.target, positions).length();
            largest = largest.max(error / self.size);
        }
        largest
    }

    /// The positions faired and moved by the closure field.
    fn corrected(
        &self,
        pairs: &[ClosingPair],
        stationary: &[bool],
        error: f64,
        positions: &[DVec3],
    ) -> Result<Vec<DVec3>, TransferError> {
        let rest = self.target.positions();
        let widths = pairs
            .iter()
            .map(|pair| pair.gap_at(self.target, rest).length());
        let width = widths.sum::<f64>() / pairs.len() as f64;
        let index_of = self.unknowns(pairs, stationary, FIELD_REACH * width);

        // Detail below the error of the map is unreliable and is removed first.
        let length = self.faired_share * error * self.size;
        let smooth = self.faired_positions(&index_of, positions, length)?;
        let mut field = ClosureField::new(self.target, self.laplacian, &index_of, width);
        for pair in pairs {
            field.add_pair(pair, &smooth);
        }
        Ok(field.solve(&smooth)?)
    }

    /// The positions without detail shorter than `length`.
    fn faired_positions(
        &self,
        index_of: &[u32],
        positions: &[DVec3],
        length: f64,
    ) -> Result<Vec<DVec3>, TransferError> {
        let rest = self.target.positions();
        let displacements: Vec<DVec3> = positions
            .iter()
            .zip(rest)
            .map(|(to, from)| *to - *from)
            .collect();
        let smooth = faired(self.laplacian, index_of, &displacements, length)?;
        Ok(rest.iter().zip(smooth).map(|(&p, d)| p + d).collect())
    }

    /// The indices of the vertices that the correction may move: within `reach` of a pair on its
    /// component, and not stationary. The others are [`FIXED`].
    fn unknowns(&self, pairs: &[ClosingPair], stationary: &[bool], reach: f64) -> Vec<u32> {
        let rest = self.target.positions();
        let components = self.target.topology().component_of_vertex();
        let mut ends = Vec::with_capacity(2 * pairs.len());
        for end in pairs.iter().flat_map(|pair| pair.ends) {
            let component = component_of(self.target, end.triangle);
            ends.push((component, end.position(self.target.triangles(), rest)));
        }

        // Distances are Euclidean, so the component must match: the eyeball is near the eyelid.
        let mut index_of = vec![FIXED; rest.len()];
        let mut next = 0;
        for (v, index) in index_of.iter_mut().enumerate() {
            let is_free = !stationary[v] && self.laplacian.mass[v] > 0.0;
            let is_near = |&(component, end): &(u32, DVec3)| {
                components[v] == component && rest[v].distance(end) <= reach
            };
            if is_free && ends.iter().any(is_near) {
                *index = next;
                next += 1;
            }
        }
        index_of
    }
}

fn component_of(mesh: &Mesh, triangle: u32) -> u32 {
    mesh.topology().component_of_vertex()[mesh.triangles()[triangle as usize][0] as usize]
}

/// For components of the source those of the target with most triangles that take from them.
fn components_on_target(source: &Mesh, target: &Mesh, map: &TriangleMap) -> BTreeMap<u32, u32> {
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (t, row) in map.rows().enumerate() {
        let to = component_of(target, t as u32);
        for &(s, _) in row {
            *counts.entry((component_of(source, s), to)).or_default() += 1;
        }
    }

    // In ascending order of the count, the last entry of a component replaces the others.
    let mut by_count: Vec<(usize, u32, u32)> = counts
        .into_iter()
        .map(|((from, to), count)| (count, from, to))
        .collect();
    by_count.sort_unstable();
    by_count
        .into_iter()
        .map(|(_, from, to)| (from, to))
        .collect()
}
