//! Triangles of two warped meshes that belong together.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.1.3: compatible
//! are triangles with close centroids whose normals differ by less than 90°; a target triangle with
//! none close enough takes the closest.
//!
//! **Ours.** "Close enough" is a part of the mean edge of the warped target; sources of one
//! triangle count by their area at rest.

use pliant_linalg::parallel;
use pliant_mesh::{Mesh, triangle_area};

use crate::TransferError;
use crate::compatible_triangles::{Facet, FacetTree, facets};
use crate::extent::size;
use crate::map_report::{Coverage, Partners, REACH};

/// Target triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 256;

/// The partners of every triangle of `warped_target` on `warped_source`; `closeness` in mean edges
/// of the former.
pub(crate) fn match_centroids(
    source: &Mesh,
    warped_source: &Mesh,
    warped_target: &Mesh,
    closeness: f64,
) -> Result<Vec<Partners>, TransferError> {
    source.require_surface()?;
    let tree = FacetTree::new(&facets(
        warped_source.triangles(),
        warped_source.positions(),
    ));
    let queries = facets(warped_target.triangles(), warped_target.positions());
    let (radius, reach) = (
        closeness * warped_target.mean_edge_length(),
        REACH * size(warped_target),
    );
    Ok(parallel::map(queries.len(), TRIANGLES_PER_TASK, |t| {
        let query = &queries[t];
        let ((nearest, squared), coverage) = match tree
            .nearest(query)
            .filter(|&(_, squared)| squared.sqrt() <= reach)
        {
            Some(fitting) => (fitting, Coverage::Covered),
            None => beyond_reach(&tree, query, reach),
        };
        let distance = squared.sqrt();
        let area = |s: u32| (s, triangle_area(source.triangle_points(s as usize)));
        let close: Vec<(u32, f64)> = if radius > distance {
            tree.within(query, radius).into_iter().map(area).collect()
        } else {
            Vec::new()
        };
        let sources = if close.iter().any(|&(_, weight)| weight > 0.0) {
            close
        } else {
            vec![(nearest, 1.0)]
        };
        Partners {
            sources,
            distance,
            coverage,
        }
    }))
}

/// The nearest compatible triangle all the same, or the nearest of all where none is compatible.
fn beyond_reach(tree: &FacetTree, query: &Facet, reach: f64) -> ((u32, f64), Coverage) {
    let any = tree
        .nearest_of_all(query)
        .expect("a source with faces has a nearest triangle");
    let coverage = if any.1.sqrt() <= reach {
        Coverage::Flipped
    } else {
        Coverage::Uncovered
    };
    (tree.nearest(query).unwrap_or(any), coverage)
}
