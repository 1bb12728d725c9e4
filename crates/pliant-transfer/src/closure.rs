//! Lids and lips that close in the source close in the target.
//!
//! **Problem.** Deformation gradients say how skin turns and stretches, not where it ends: on a
//! head with larger eyes a blink stays open, on one with smaller eyes the lids run through each
//! other.
//!
//! **Equation.** The pairs `(i, q)` of [`ContactFinder`] lie across a [`Slit`], which is carried to
//! the target roughly; the same plane then finds the rims of both. With the gap `g` of those of the
//! source in the pose, turned and scaled to the target, and the part `ρ` that the first has in the
//! way that both go there, the rims `B₁ x` and `B₂ x` of the target miss by `e = (B₂ − B₁) x − g`.
//! With the Laplacian `L` and mass `M` the shape `x` is corrected by
//!
//! ```text
//! min_u  |M^−½ (M + ℓ² L) u|²  +  ω² Σ |B₁ u − ρ e|² + |B₂ u + (1 − ρ) e|²
//! ```
//!
//! a smooth field that fades over the length `ℓ`, the mean width of the slit at rest; vertices that
//! the shape leaves still stay so.
//!
//! **Ours.** All of it. A lid that goes the way alone in the source does so in the target. Before
//! the correction the displacements are [evened out](faired()) by as much as the map was found to
//! err.

use std::collections::BTreeMap;

use pliant_linalg::{LeastSquares, SparseMatrix, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, TrianglePoint, vertex_normals};

use crate::contact_pairs::{ContactFinder, ContactPair};
use crate::extent::size;
use crate::fairing::{FIXED, faired};
use crate::slit::Slit;
use crate::{Correspondence, CorrespondenceMethod, TransferError, TriangleMap};

/// What a pair counts, squared, against a field of height one over an area `ℓ²`. *Ours*: pairs that
/// agree close to a ten-thousandth of the gap.
const PAIR_WEIGHT: f64 = 1e4;

/// Vertices farther than this from all pairs, in `ℓ`, stay: there the field has faded below a
/// hundredth.
const FIELD_REACH: f64 = 5.0;

/// Pairs that are farther than this from their gaps, as a part of the size, are no closure that the
/// transfer missed. *Ours*: what passes right through other skin, as `mouthClose` does without an
/// open jaw, meets places that mean nothing.
const LARGEST_CORRECTION: f64 = 0.1;

/// Displacements shorter than this part of the largest miss are evened out: a map that misses by so
/// much is not to be trusted with less. Measured by eye: at 0.2 lids of a coarse head crumple, at 2
/// the shape's own motion is gone.
const UNTRUSTED: f64 = 0.7;

/// A slit of the target may be narrower than that of the source by this.
const NARROWER: f64 = 0.5;

/// Pairs in one parallel task.
const PAIRS_PER_TASK: usize = 8;

/// How well the pairs of a shape are closed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ClosureReport {
    pub(crate) pairs: usize,
    pub(crate) lost: usize,
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// A pair on the target and the gap it should have.
#[derive(Debug, Clone, Copy)]
struct Closure {
    ends: [TrianglePoint; 2],
    gap: DVec3,
    /// The part of the way that the first end goes.
    share: f64,
}

/// Finds pairs on the source and closes them on the target.
#[derive(Debug, Clone)]
pub(crate) struct Closures<'a> {
    finder: ContactFinder<'a>,
    source: &'a Mesh,
    target: &'a Mesh,
    laplacian: &'a Laplacian,
    /// The source's vertices on the target.
    laid: &'a [DVec3],
    /// For shells of the source those of the target that take most from them.
    shell_on_target: BTreeMap<u32, u32>,
    normals: Vec<DVec3>,
    size: f64,
    /// Displacements shorter than this part of the largest miss are evened out.
    untrusted: f64,
}

impl<'a> Closures<'a> {
    /// `source` is turned and scaled to the target.
    pub(crate) fn new(
        source: &'a Mesh,
        target: &'a Mesh,
        laplacian: &'a Laplacian,
        found: &'a Correspondence,
    ) -> Result<Self, TransferError> {
        let finder = ContactFinder::new(source)?;
        let shell_on_target = shells_on_target(source, target, &found.map);
        let (normals, size) = (vertex_normals(source), size(target));
        // Triangle by triangle there is nothing to err.
        let untrusted = if found.method == CorrespondenceMethod::Identity {
            0.0
        } else {
            UNTRUSTED
        };
        Ok(Self {
            finder,
            source,
            target,
            laplacian,
            laid: &found.source_on_target,
            shell_on_target,
            normals,
            size,
            untrusted,
        })
    }

    /// Closes in `positions` what is closed in the source's pose `posed`.
    pub(crate) fn close(
        &self,
        posed: &[DVec3],
        moved: &[bool],
        still: &[bool],
        positions: &mut [DVec3],
    ) -> Result<ClosureReport, TransferError> {
        let mut pairs = self.finder.pairs(posed, moved)?;
        pairs.retain(|pair| {
            self.shell_on_target
                .contains_key(&shell_of(self.source, pair.partner.triangle))
        });
        let meant = |closure: &Closure| {
            self.miss(closure, positions).length() <= LARGEST_CORRECTION * self.size
        };
        let slits = parallel::map(pairs.len(), PAIRS_PER_TASK, |k| {
            self.carried(&pairs, k, posed, still)
        });
        let all = slits.iter().flatten().count();
        let closures: Vec<Closure> = slits
            .into_iter()
            .flatten()
            .flatten()
            .filter(meant)
            .collect();
        let mut report = ClosureReport {
            pairs: closures.len(),
            lost: all - closures.len(),
            ..ClosureReport::default()
        };
        if closures.is_empty() {
            return Ok(report);
        }
        report.before = self.worst(&closures, positions);
        let width = closures
            .iter()
            .map(|closure| self.gap(closure, self.target.positions()).length())
            .sum::<f64>()
            / closures.len() as f64;
        let number = self.numbered(&closures, still, FIELD_REACH * width);
        let even = self.evened(
            &number,
            positions,
            self.untrusted * report.before * self.size,
        )?;
        let corrected = self.corrected(&closures, &number, width, &even)?;
        let after = self.worst(&closures, &corrected);
        if after < report.before {
            positions.copy_from_slice(&corrected);
        }
        report.after = after.min(report.before);
        Ok(report)
    }

    /// Places without what is shorter than the map can be trusted.
    fn evened(
        &self,
        number: &[u32],
        positions: &[DVec3],
        length: f64,
    ) -> Result<Vec<DVec3>, TransferError> {
        let rest = self.target.positions();
        let displacements: Vec<DVec3> = positions
            .iter()
            .zip(rest)
            .map(|(to, from)| *to - *from)
            .collect();
        let even = faired(self.laplacian, number, &displacements, length)?;
        Ok(rest.iter().zip(even).map(|(&p, d)| p + d).collect())
    }

    /// A pair on the target, if there is a slit and one of its rims may move; nothing at all where
    /// the source has no slit.
    fn carried(
        &self,
        pairs: &[ContactPair],
        k: usize,
        posed: &[DVec3],
        still: &[bool],
    ) -> Option<Option<Closure>> {
        let from = shell_of(self.source, pairs[k].partner.triangle);
        let on_target = *self.shell_on_target.get(&from)?;
        let slit = self.slit(pairs, k)?;
        let rims = slit.rims(self.source, |t| shell_of(self.source, t) == from)?;
        Some(self.on_target(&pairs[k], posed, still, &slit, &rims, on_target))
    }

    /// A pair whose rims in the source are known.
    fn on_target(
        &self,
        pair: &ContactPair,
        posed: &[DVec3],
        still: &[bool],
        slit: &Slit,
        rims: &[TrianglePoint; 2],
        shell: u32,
    ) -> Option<Closure> {
        let [laid_from, laid_to] = self.ends(pair, self.laid);
        let laid = Slit {
            middle: laid_from.midpoint(laid_to),
            width: laid_from.distance(laid_to).max(NARROWER * slit.width),
            ..*slit
        };
        let ends = laid.rims(self.target, |t| shell_of(self.target, t) == shell)?;
        let at = |points: &[DVec3]| rims.map(|rim| rim.position(self.source.triangles(), points));
        let (before, after) = (at(self.source.positions()), at(posed));
        let moves = |end: &TrianglePoint| {
            self.target.triangles()[end.triangle as usize]
                .iter()
                .any(|&v| !still[v as usize])
        };
        let [first, second] = [0, 1].map(|e| {
            if moves(&ends[e]) {
                before[e].distance(after[e])
            } else {
                0.0
            }
        });
        let share = first / (first + second);
        share.is_finite().then_some(Closure {
            ends,
            gap: after[1] - after[0],
            share,
        })
    }

    /// The places of a pair among `points` of the source's vertices.
    fn ends(&self, pair: &ContactPair, points: &[DVec3]) -> [DVec3; 2] {
        [
            points[pair.vertex as usize],
            pair.partner.position(self.source.triangles(), points),
        ]
    }

    /// The plane across a pair in the source.
    fn slit(&self, pairs: &[ContactPair], k: usize) -> Option<Slit> {
        let rest = self.source.positions();
        let apart =
            |pair: &ContactPair| self.ends(pair, rest)[0].distance(self.ends(pair, rest)[1]);
        let [from, to] = self.ends(&pairs[k], rest);
        let across = (to - from).try_normalize()?;
        // Rims point anywhere; those about the pair point out of the slit together.
        let widest = pairs.iter().map(apart).fold(0.0, f64::max);
        let near = |pair: &&ContactPair| self.ends(pair, rest)[0].distance(from) <= widest;
        let normals = pairs
            .iter()
            .filter(near)
            .flat_map(|pair| self.ends(pair, &self.normals))
            .sum::<DVec3>();
        let outward = normals.reject_from(across).try_normalize()?;
        Some(Slit {
            middle: from.midpoint(to),
            across,
            outward,
            width: from.distance(to),
        })
    }

    fn gap(&self, closure: &Closure, positions: &[DVec3]) -> DVec3 {
        let [from, to] = closure
            .ends
            .map(|end| end.position(self.target.triangles(), positions));
        to - from
    }

    /// By how much a pair misses the gap it should have.
    fn miss(&self, closure: &Closure, positions: &[DVec3]) -> DVec3 {
        self.gap(closure, positions) - closure.gap
    }

    /// How far pairs are at most from the gaps they should have, as a part of the target's size.
    fn worst(&self, closures: &[Closure], positions: &[DVec3]) -> f64 {
        closures
            .iter()
            .map(|closure| self.miss(closure, positions).length() / self.size)
            .fold(0.0, f64::max)
    }

    fn corrected(
        &self,
        closures: &[Closure],
        number: &[u32],
        fade: f64,
        positions: &[DVec3],
    ) -> Result<Vec<DVec3>, TransferError> {
        let columns = number.iter().filter(|&&k| k != FIXED).count();
        let (mut triplets, mut goals) = (Vec::new(), Vec::new());
        self.add_field(number, fade, &mut triplets, &mut goals);
        let weight = PAIR_WEIGHT.sqrt() * fade;
        for closure in closures {
            let miss = self.miss(closure, positions);
            for (end, part) in closure
                .ends
                .iter()
                .zip([closure.share, closure.share - 1.0])
            {
                let corners = self.target.triangles()[end.triangle as usize];
                let free = corners
                    .iter()
                    .zip(end.barycentric)
                    .filter(|(v, _)| number[**v as usize] != FIXED);
                triplets.extend(
                    free.map(|(&v, share)| {
                        (goals.len() as u32, number[v as usize], weight * share)
                    }),
                );
                goals.push(miss * part * weight);
            }
        }
        let matrix = SparseMatrix::from_triplets(goals.len(), columns, &triplets);
        let field = LeastSquares::factor(&matrix, &[], &[])?.solve_points(&goals, &[], &[]);
        let at = |v: usize| {
            if number[v] == FIXED {
                DVec3::ZERO
            } else {
                field[number[v] as usize]
            }
        };
        Ok(positions
            .iter()
            .enumerate()
            .map(|(v, &p)| p + at(v))
            .collect())
    }

    /// Numbers for the vertices that the correction may move: near a pair, of its shells, and not
    /// still.
    fn numbered(&self, closures: &[Closure], still: &[bool], reach: f64) -> Vec<u32> {
        let (rest, shells) = (
            self.target.positions(),
            self.target.topology().component_of_vertex(),
        );
        let ends: Vec<(u32, DVec3)> = closures
            .iter()
            .flat_map(|closure| closure.ends)
            .map(|end| {
                (
                    shells[self.target.triangles()[end.triangle as usize][0] as usize],
                    end.position(self.target.triangles(), rest),
                )
            })
            .collect();
        let near = |v: usize| {
            ends.iter()
                .any(|&(shell, end)| shells[v] == shell && rest[v].distance(end) <= reach)
        };
        let mut next = 0;
        let number = |v: usize| {
            if still[v] || self.laplacian.mass[v] <= 0.0 || !near(v) {
                return FIXED;
            }
            next += 1;
            next - 1
        };
        (0..rest.len()).map(number).collect()
    }

    /// The rows of `M^−½ (M + ℓ² L)` that speak of numbered vertices.
    fn add_field(
        &self,
        number: &[u32],
        fade: f64,
        triplets: &mut Vec<(u32, u32, f64)>,
        goals: &mut Vec<DVec3>,
    ) {
        for v in (0..number.len()).filter(|&v| self.laplacian.mass[v] > 0.0) {
            let (columns, values) = self.laplacian.matrix.row(v);
            let (row, root) = (goals.len() as u32, self.laplacian.mass[v].sqrt());
            let first = triplets.len();
            for (&column, &value) in columns
                .iter()
                .zip(values)
                .filter(|(c, _)| number[**c as usize] != FIXED)
            {
                let own = if column as usize == v {
                    self.laplacian.mass[v]
                } else {
                    0.0
                };
                triplets.push((
                    row,
                    number[column as usize],
                    (own + fade * fade * value) / root,
                ));
            }
            if triplets.len() > first {
                goals.push(DVec3::ZERO);
            }
        }
    }
}

fn shell_of(mesh: &Mesh, triangle: u32) -> u32 {
    mesh.topology().component_of_vertex()[mesh.triangles()[triangle as usize][0] as usize]
}

/// For shells of the source those of the target with most triangles that take from them.
fn shells_on_target(source: &Mesh, target: &Mesh, map: &TriangleMap) -> BTreeMap<u32, u32> {
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (t, row) in map.rows().enumerate() {
        row.iter().for_each(|&(s, _)| {
            *counts
                .entry((shell_of(source, s), shell_of(target, t as u32)))
                .or_default() += 1
        });
    }
    // In ascending order the last one of a shell is the one with most.
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
