//! Nearest compatible triangle: a k-d tree over centroids that compares normals.
//!
//! **Problem.** Two surfaces lie in nearly the same place. For each triangle of one, find the
//! triangles of the other with a close centroid whose normal differs by less than 90°. The two sides
//! of an armpit are close, but do not correspond.
//!
//! **Equation.** `compatible(s, t) ⇔ nₛ · nₜ > 0`; the nearest is the compatible `s` with the least
//! `|cₛ − cₜ|`.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.1.3. The tree is
//! that of Bentley ("Multidimensional binary search trees", 1975), with buckets.
//!
//! **Departures.** A triangle without area has no normal and is compatible with every other. Of
//! triangles at the same distance the one with the lowest index is taken, so the result does not
//! depend on the tree.

use std::ops::Range;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_normal};

use crate::TransferError;

/// Triangles in a leaf of the tree.
const BUCKET: usize = 8;

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 512;

/// The centroid and the normal of a triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facet {
    pub(crate) centroid: DVec3,
    pub(crate) normal: DVec3,
}

impl Facet {
    fn is_compatible(&self, other: &Self) -> bool {
        let none = DVec3::ZERO;
        self.normal.dot(other.normal) > 0.0 || self.normal == none || other.normal == none
    }
}

/// The facets of a surface at `positions`.
pub(crate) fn facets(triangles: &[[u32; 3]], positions: &[DVec3]) -> Vec<Facet> {
    parallel::map(triangles.len(), TRIANGLES_PER_TASK, |t| {
        let [a, b, c] = triangles[t].map(|v| positions[v as usize]);
        Facet {
            centroid: (a + b + c) / 3.0,
            normal: triangle_normal([a, b, c]),
        }
    })
}

/// For every triangle of `target` the compatible triangle of `source` with the nearest centroid,
/// and the distance; `None` if no triangle is compatible.
///
/// # Errors
/// If a position is not finite.
pub fn nearest_compatible_triangles(
    source: &Mesh,
    target: &Mesh,
) -> Result<Vec<Option<(u32, f64)>>, TransferError> {
    source.require_finite()?;
    target.require_finite()?;
    let tree = FacetTree::new(&facets(source.triangles(), source.positions()));
    let queries = facets(target.triangles(), target.positions());

    Ok(parallel::map(queries.len(), TRIANGLES_PER_TASK, |t| {
        let (s, squared) = tree.nearest(&queries[t])?;
        Some((s, squared.sqrt()))
    }))
}

/// A k-d tree over the centroids of a surface.
pub(crate) struct FacetTree {
    /// Facets in the order of the tree, with their indices.
    facets: Vec<(Facet, u32)>,
    /// Split axis and coordinate of every inner node, in heap order (children of `n` are `2n` and
    /// `2n + 1`).
    splits: Vec<(u8, f64)>,
    depth: u32,
}

impl FacetTree {
    pub(crate) fn new(facets: &[Facet]) -> Self {
        let mut ordered: Vec<(Facet, u32)> = facets.iter().copied().zip(0..).collect();
        // Enough levels that a leaf has at most a bucket of facets.
        let depth = usize::BITS - (facets.len().max(1) / BUCKET).leading_zeros();
        let mut splits = vec![(0, 0.0); 1 << depth];
        split(&mut ordered, 1, depth, &mut splits);
        Self {
            facets: ordered,
            splits,
            depth,
        }
    }

    /// The compatible facet nearest to `query` with its squared distance; `None` if no facet is
    /// compatible.
    pub(crate) fn nearest(&self, query: &Facet) -> Option<(u32, f64)> {
        let mut best = (u32::MAX, f64::INFINITY);
        self.visit_nearest(1, 0..self.facets.len(), query, &mut best);
        (best.0 != u32::MAX).then_some(best)
    }

    /// The facet nearest to `query`, compatible or not.
    pub(crate) fn nearest_of_all(&self, query: &Facet) -> Option<(u32, f64)> {
        self.nearest(&Facet {
            normal: DVec3::ZERO,
            ..*query
        })
    }

    /// All compatible facets within `radius`, ascending.
    pub(crate) fn within(&self, query: &Facet, radius: f64) -> Vec<u32> {
        let mut found = Vec::new();
        self.visit_within(1, 0..self.facets.len(), query, radius, &mut found);
        found.sort_unstable();
        found
    }

    fn is_leaf(&self, node: usize) -> bool {
        node >> self.depth != 0
    }

    /// The signed distance of the query from the split plane of a node.
    fn offset(&self, node: usize, query: &Facet) -> f64 {
        let (axis, coordinate) = self.splits[node];
        query.centroid[axis as usize] - coordinate
    }

    fn visit_within(
        &self,
        node: usize,
        range: Range<usize>,
        query: &Facet,
        radius: f64,
        found: &mut Vec<u32>,
    ) {
        if self.is_leaf(node) {
            for (facet, index) in &self.facets[range] {
                let distance = facet.centroid.distance(query.centroid);
                if distance <= radius && facet.is_compatible(query) {
                    found.push(*index);
                }
            }
            return;
        }

        // Both sides if the query is within the radius of the split plane.
        let middle = range.start + range.len() / 2;
        let offset = self.offset(node, query);
        if offset <= radius {
            self.visit_within(2 * node, range.start..middle, query, radius, found);
        }
        if offset >= -radius {
            self.visit_within(2 * node + 1, middle..range.end, query, radius, found);
        }
    }

    fn visit_nearest(
        &self,
        node: usize,
        range: Range<usize>,
        query: &Facet,
        best: &mut (u32, f64),
    ) {
        if self.is_leaf(node) {
            for (facet, index) in &self.facets[range] {
                let squared = facet.centroid.distance_squared(query.centroid);
                let is_nearer = squared < best.1 || (squared == best.1 && *index < best.0);
                if is_nearer && facet.is_compatible(query) {
                    *best = (*index, squared);
                }
            }
            return;
        }

        let middle = range.start + range.len() / 2;
        let low = (2 * node, range.start..middle);
        let high = (2 * node + 1, middle..range.end);
        let offset = self.offset(node, query);
        let (near, far) = if offset < 0.0 {
            (low, high)
        } else {
            (high, low)
        };

        self.visit_nearest(near.0, near.1, query, best);
        // Equality matters: a facet at the same distance may have a lower index.
        if offset * offset <= best.1 {
            self.visit_nearest(far.0, far.1, query, best);
        }
    }
}

/// Orders `facets` below `node` so that each half lies on one side of the split.
fn split(facets: &mut [(Facet, u32)], node: usize, levels: u32, splits: &mut [(u8, f64)]) {
    if levels == 0 || facets.is_empty() {
        return;
    }

    // Split the longest side of the bounding box at the median.
    let mut low = facets[0].0.centroid;
    let mut high = low;
    for (facet, _) in facets.iter() {
        low = low.min(facet.centroid);
        high = high.max(facet.centroid);
    }
    let axis = (high - low).max_position();
    let middle = facets.len() / 2;
    let key = |f: &(Facet, u32)| f.0.centroid[axis];
    facets.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)).then(a.1.cmp(&b.1)));
    splits[node] = (axis as u8, key(&facets[middle]));

    let (low, high) = facets.split_at_mut(middle);
    split(low, 2 * node, levels - 1, splits);
    split(high, 2 * node + 1, levels - 1, splits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    fn facets_of(mesh: &Mesh) -> Vec<Facet> {
        facets(mesh.triangles(), mesh.positions())
    }

    /// Two spheres, one in the other, the inner one inside out: many near triangles are not compatible.
    fn nested_spheres() -> Vec<Facet> {
        let mut all = facets_of(&icosphere(3));
        all.extend(facets_of(&icosphere(3)).into_iter().map(|f| Facet {
            centroid: f.centroid * 0.97,
            normal: -f.normal,
        }));
        all
    }

    #[test]
    fn the_nearest_facet_equals_that_of_a_brute_force_search() {
        for known in [
            nested_spheres(),
            facets_of(&bumpy_sheet(1, 0.3)),
            facets_of(&bumpy_sheet(9, 0.2)),
        ] {
            let tree = FacetTree::new(&known);
            for query in facets_of(&icosphere(2))
                .iter()
                .chain(&facets_of(&bumpy_sheet(5, 0.3)))
            {
                let squared = |f: &Facet| f.centroid.distance_squared(query.centroid);
                let fitting = known
                    .iter()
                    .zip(0..)
                    .filter(|(f, _)| f.is_compatible(query));
                let expected = fitting
                    .map(|(f, k)| (k, squared(f)))
                    .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));

                assert_eq!(tree.nearest(query), expected);
                let all = known
                    .iter()
                    .zip(0..)
                    .map(|(f, k)| (k, squared(f)))
                    .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));

                assert_eq!(tree.nearest_of_all(query), all);
            }
        }
    }

    #[test]
    fn the_facets_within_a_radius_equal_those_of_a_brute_force_search() {
        let known = nested_spheres();
        let tree = FacetTree::new(&known);
        for (query, radius) in facets_of(&icosphere(2))
            .iter()
            .zip([0.0, 0.01, 0.1, 0.3, 3.0].into_iter().cycle())
        {
            let near =
                |f: &Facet| f.centroid.distance(query.centroid) <= radius && f.is_compatible(query);
            let expected: Vec<u32> = known
                .iter()
                .zip(0..)
                .filter(|(f, _)| near(f))
                .map(|(_, k)| k)
                .collect();
            assert_eq!(tree.within(query, radius), expected);
        }
    }

    #[test]
    fn an_empty_tree_and_a_tree_of_coincident_facets_answer() {
        assert_eq!(
            FacetTree::new(&[]).nearest(&Facet {
                centroid: DVec3::ZERO,
                normal: DVec3::Z
            }),
            None
        );

        let same = vec![
            Facet {
                centroid: DVec3::ONE,
                normal: DVec3::Z
            };
            100
        ];

        let tree = FacetTree::new(&same);
        assert_eq!(tree.nearest(&same[0]), Some((0, 0.0)));
        assert_eq!(
            tree.nearest(&Facet {
                centroid: DVec3::ONE,
                normal: -DVec3::Z
            }),
            None
        );
    }
}
