//! Corresponding triangles of two warped meshes, by centroids and normals.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.1.3: triangles
//! are compatible if their centroids are close and their normals differ by less than 90°; a target
//! triangle without a close one takes the closest.
//!
//! **Departures.** "Close" is relative to the mean edge length of the warped target; the sources of
//! one triangle are weighted by their area at rest.

use pliant_linalg::parallel;
use pliant_mesh::{Mesh, triangle_area};

use super::compatible_triangles::{Facet, FacetTree, facets};
use super::map_report::{Coverage, MatchedSources, REACH};
use crate::TransferError;
use crate::extent::size;

/// Target triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 256;

/// The sources of every triangle of `warped_target` on `warped_source`; `closeness` is in mean edge
/// lengths of the former.
pub(crate) fn match_centroids(
    source: &Mesh,
    warped_source: &Mesh,
    warped_target: &Mesh,
    closeness: f64,
) -> Result<Vec<MatchedSources>, TransferError> {
    source.require_surface()?;
    let matcher = CentroidMatcher {
        source,
        tree: FacetTree::new(&facets(
            warped_source.triangles(),
            warped_source.positions(),
        )),
        radius: closeness * warped_target.mean_edge_length(),
        reach: REACH * size(warped_target),
    };

    let queries = facets(warped_target.triangles(), warped_target.positions());
    Ok(parallel::map(queries.len(), TRIANGLES_PER_TASK, |t| {
        matcher.matched(&queries[t])
    }))
}

struct CentroidMatcher<'a> {
    source: &'a Mesh,
    /// Of the warped source.
    tree: FacetTree,
    /// Centroids within this distance are close.
    radius: f64,
    /// Beyond this distance a target triangle is not covered.
    reach: f64,
}

impl CentroidMatcher<'_> {
    fn matched(&self, query: &Facet) -> MatchedSources {
        let (nearest, distance, coverage) = self.nearest(query);
        let mut sources = Vec::new();
        if self.radius > distance {
            for s in self.tree.within(query, self.radius) {
                let area = triangle_area(self.source.triangle_points(s as usize));
                sources.push((s, area));
            }
        }

        // Triangles without area have no weight.
        if !sources.iter().any(|&(_, weight)| weight > 0.0) {
            sources = vec![(nearest, 1.0)];
        }
        MatchedSources {
            sources,
            distance,
            coverage,
        }
    }

    /// The nearest source triangle, its distance, and whether it covers the query: the nearest
    /// compatible one, or the nearest of all if none is compatible.
    fn nearest(&self, query: &Facet) -> (u32, f64, Coverage) {
        let compatible = self.tree.nearest(query);
        if let Some((s, squared)) = compatible
            && squared.sqrt() <= self.reach
        {
            return (s, squared.sqrt(), Coverage::Covered);
        }

        // Nothing compatible within reach: flipped if something else is, uncovered if nothing is.
        let any = self
            .tree
            .nearest_of_all(query)
            .expect("a source with faces has a nearest triangle");
        let coverage = if any.1.sqrt() <= self.reach {
            Coverage::Flipped
        } else {
            Coverage::Uncovered
        };
        let (s, squared) = compatible.unwrap_or(any);
        (s, squared.sqrt(), coverage)
    }
}
