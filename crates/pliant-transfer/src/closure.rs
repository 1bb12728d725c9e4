//! Lids and lips that close in the source close in the target.
//!
//! **Problem.** Deformation gradients say how skin turns and stretches, not where it ends: on a head with larger eyes a blink stays open,
//! on one with smaller eyes the lids run through each other.
//!
//! **Equation.** With the pairs `(i, q)` of [`ContactFinder`] carried to points `Bᵢ x`, `B_q x` of the target, their gaps `g` in the source
//! turned and scaled to the target, the Laplacian `L` and mass `M`, the shape `x` is corrected by
//!
//! ```text
//! min_u  |M^−½ (M + ℓ² L) u|²  +  ω² Σ |(B_q − Bᵢ)(x + u) − g|²
//! ```
//!
//! a smooth field that fades over the length `ℓ`, the mean gap of the pairs at rest; vertices that the shape leaves still stay so.
//!
//! **Ours.** All of it. Both sides share the correction; as the gap is a vector, places that meet in the source are the ones that
//! meet in the target, and sides pass each other there only as far as they do in the source.

use pliant_linalg::{LeastSquares, SparseMatrix};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, SurfaceIndex, TrianglePoint};

use crate::contact_pairs::{ContactFinder, ContactPair};
use crate::extent::size;
use crate::map_report::REACH;
use crate::{Correspondence, TransferError, TriangleMap};

/// What a pair counts, squared, against a field of height one over an area `ℓ²`. *Ours*: pairs that agree close to a
/// ten-thousandth of the gap.
const PAIR_WEIGHT: f64 = 1e4;

/// Vertices farther than this from all pairs, in `ℓ`, stay: there the field has faded below a hundredth.
const FIELD_REACH: f64 = 5.0;

/// Pairs that are farther than this from their gaps, as a part of the size, are no closure that the transfer missed. *Ours*: what
/// passes right through other skin, as `mouthClose` does without an open jaw, meets places that mean nothing.
const LARGEST_CORRECTION: f64 = 0.1;

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
    index: SurfaceIndex,
    takers: Vec<Vec<u32>>,
    size: f64,
}

impl<'a> Closures<'a> {
    /// `source` is turned and scaled to the target.
    pub(crate) fn new(
        source: &'a Mesh,
        target: &'a Mesh,
        laplacian: &'a Laplacian,
        found: &'a Correspondence,
    ) -> Result<Self, TransferError> {
        let (finder, index) = (ContactFinder::new(source)?, SurfaceIndex::new(target)?);
        let takers = takers(&found.map, source.triangles().len());
        Ok(Self { finder, source, target, laplacian, laid: &found.source_on_target, index, takers, size: size(target) })
    }

    /// Closes in `positions` what is closed in the source's pose `posed`.
    pub(crate) fn close(
        &mut self,
        posed: &[DVec3],
        moved: &[bool],
        still: &[bool],
        positions: &mut [DVec3],
    ) -> Result<ClosureReport, TransferError> {
        let pairs = self.finder.pairs(posed, moved)?;
        let meant = |closure: &Closure| self.miss(closure, positions) <= LARGEST_CORRECTION;
        let closures: Vec<Closure> = pairs.iter().filter_map(|pair| self.carried(pair, still)).filter(meant).collect();
        let mut report = ClosureReport { pairs: closures.len(), lost: pairs.len() - closures.len(), ..ClosureReport::default() };
        if closures.is_empty() {
            return Ok(report);
        }
        report.before = self.worst(&closures, positions);
        let corrected = self.corrected(&closures, still, positions)?;
        let after = self.worst(&closures, &corrected);
        if after < report.before {
            positions.copy_from_slice(&corrected);
        }
        report.after = after.min(report.before);
        Ok(report)
    }

    /// A pair on the target; none where an end has no place there, or neither end may move.
    fn carried(&self, pair: &ContactPair, still: &[bool]) -> Option<Closure> {
        let triangle = self.source.topology().vertex_triangles().row(pair.vertex as usize).first()?;
        let corner = |v: u32| f64::from(u8::from(v == pair.vertex));
        let own = TrianglePoint { triangle: *triangle, barycentric: self.source.triangles()[*triangle as usize].map(corner) };
        let ends = [self.place(&own)?, self.place(&pair.partner)?];
        let moves = |end: &TrianglePoint| self.target.triangles()[end.triangle as usize].iter().any(|&v| !still[v as usize]);
        (ends[0].triangle != ends[1].triangle && ends.iter().any(moves)).then_some(Closure { ends, gap: pair.gap })
    }

    /// The point of the target that a point of the source lies on, among the triangles that take from its surroundings.
    fn place(&self, point: &TrianglePoint) -> Option<TrianglePoint> {
        let corners = self.source.triangles()[point.triangle as usize];
        let around = self.source.topology().vertex_triangles();
        let near = corners.iter().flat_map(|&v| around.row(v as usize));
        let mut takers: Vec<u32> = near.flat_map(|&s| self.takers[s as usize].iter().copied()).collect();
        takers.sort_unstable();
        takers.dedup();
        let laid = point.position(self.source.triangles(), self.laid);
        let found = self.index.closest_point_where(laid, |t| takers.binary_search(&t).is_ok())?;
        (found.distance <= REACH * self.size).then_some(found.place)
    }

    fn gap(&self, closure: &Closure, positions: &[DVec3]) -> DVec3 {
        let [from, to] = closure.ends.map(|end| end.position(self.target.triangles(), positions));
        to - from
    }

    /// How far a pair is from the gap it should have, as a part of the target's size.
    fn miss(&self, closure: &Closure, positions: &[DVec3]) -> f64 {
        self.gap(closure, positions).distance(closure.gap) / self.size
    }

    fn worst(&self, closures: &[Closure], positions: &[DVec3]) -> f64 {
        closures.iter().map(|closure| self.miss(closure, positions)).fold(0.0, f64::max)
    }

    fn corrected(&self, closures: &[Closure], still: &[bool], positions: &[DVec3]) -> Result<Vec<DVec3>, TransferError> {
        let rest = self.target.positions();
        let fade = closures.iter().map(|closure| self.gap(closure, rest).length()).sum::<f64>() / closures.len() as f64;
        let number = self.numbered(closures, still, FIELD_REACH * fade);
        let columns = number.iter().filter(|&&k| k != u32::MAX).count();
        let (mut triplets, mut goals) = (Vec::new(), Vec::new());
        self.add_field(&number, fade, &mut triplets, &mut goals);
        let weight = PAIR_WEIGHT.sqrt() * fade;
        for closure in closures {
            let row = goals.len() as u32;
            for (end, sign) in closure.ends.iter().zip([-weight, weight]) {
                let corners = self.target.triangles()[end.triangle as usize];
                let free = corners.iter().zip(end.barycentric).filter(|(v, _)| number[**v as usize] != u32::MAX);
                triplets.extend(free.map(|(&v, share)| (row, number[v as usize], sign * share)));
            }
            goals.push((closure.gap - self.gap(closure, positions)) * weight);
        }
        let matrix = SparseMatrix::from_triplets(goals.len(), columns, &triplets);
        let field = LeastSquares::factor(&matrix, &[], &[])?.solve_points(&goals, &[], &[]);
        let at = |v: usize| if number[v] == u32::MAX { DVec3::ZERO } else { field[number[v] as usize] };
        Ok(positions.iter().enumerate().map(|(v, &p)| p + at(v)).collect())
    }

    /// Numbers for the vertices that the correction may move: near a pair, of its shells, and not still.
    fn numbered(&self, closures: &[Closure], still: &[bool], reach: f64) -> Vec<u32> {
        let (rest, shells) = (self.target.positions(), self.target.topology().component_of_vertex());
        let ends: Vec<(u32, DVec3)> = closures
            .iter()
            .flat_map(|closure| closure.ends)
            .map(|end| (shells[self.target.triangles()[end.triangle as usize][0] as usize], end.position(self.target.triangles(), rest)))
            .collect();
        let near = |v: usize| ends.iter().any(|&(shell, end)| shells[v] == shell && rest[v].distance(end) <= reach);
        let mut next = 0;
        let number = |v: usize| {
            if still[v] || self.laplacian.mass[v] <= 0.0 || !near(v) {
                return u32::MAX;
            }
            next += 1;
            next - 1
        };
        (0..rest.len()).map(number).collect()
    }

    /// The rows of `M^−½ (M + ℓ² L)` that speak of numbered vertices.
    fn add_field(&self, number: &[u32], fade: f64, triplets: &mut Vec<(u32, u32, f64)>, goals: &mut Vec<DVec3>) {
        for v in (0..number.len()).filter(|&v| self.laplacian.mass[v] > 0.0) {
            let (columns, values) = self.laplacian.matrix.row(v);
            let (row, root) = (goals.len() as u32, self.laplacian.mass[v].sqrt());
            let first = triplets.len();
            for (&column, &value) in columns.iter().zip(values).filter(|(c, _)| number[**c as usize] != u32::MAX) {
                let own = if column as usize == v { self.laplacian.mass[v] } else { 0.0 };
                triplets.push((row, number[column as usize], (own + fade * fade * value) / root));
            }
            if triplets.len() > first {
                goals.push(DVec3::ZERO);
            }
        }
    }
}

/// For each source triangle the target triangles that take from it.
fn takers(map: &TriangleMap, sources: usize) -> Vec<Vec<u32>> {
    let mut takers = vec![Vec::new(); sources];
    for (t, row) in map.rows().enumerate() {
        row.iter().for_each(|&(s, _)| takers[s as usize].push(t as u32));
    }
    takers
}
