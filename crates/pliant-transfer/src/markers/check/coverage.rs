//! Coverage of a mesh by markers: geodesic distances to the nearest marker.

use pliant_mesh::{HeatGeodesics, HeatOptions, Mesh, SurfacePoint};

use crate::extent::diagonal;
use crate::{Markers, TransferError};

/// A vertex that is farther from all markers, relative to the diagonal, gives a warning.
const FAR_FROM_MARKERS: f64 = 0.3;

/// How well the markers cover one mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkerCoverage {
    /// The mean geodesic distance of vertices to the nearest marker, relative to the diagonal.
    pub mean: f64,
    /// The largest distance.
    pub farthest: f64,
    /// The vertex with the largest distance.
    pub farthest_vertex: u32,
    /// Number of connected components.
    pub components: usize,
    /// Components without a marker, which follow their surroundings.
    pub components_without: usize,
}

impl MarkerCoverage {
    /// The coverage of source and target; `None` without markers.
    pub(super) fn of_both(
        markers: &Markers,
        source: &Mesh,
        target: &Mesh,
    ) -> Result<Option<[Self; 2]>, TransferError> {
        if markers.pairs().is_empty() {
            return Ok(None);
        }

        let (sources, targets): (Vec<u32>, Vec<u32>) = markers.pairs().iter().copied().unzip();
        Ok(Some([
            Self::new(source, &sources)?,
            Self::new(target, &targets)?,
        ]))
    }

    fn new(mesh: &Mesh, vertices: &[u32]) -> Result<Self, TransferError> {
        let component_of = mesh.topology().component_of_vertex();
        let has_marker = components_with_marker(mesh, vertices);
        let points: Vec<SurfacePoint> = vertices.iter().map(|&v| SurfacePoint::Vertex(v)).collect();
        let distances = HeatGeodesics::factor(mesh, &HeatOptions::default())?.distances(&points)?;

        // Distances across components are not defined.
        let is_reached = |v: &usize| {
            let is_marked = has_marker.get(component_of[*v] as usize) == Some(&true);
            is_marked && distances[*v].is_finite()
        };
        let reached: Vec<usize> = (0..distances.len()).filter(is_reached).collect();
        let mut farthest = vertices[0] as usize;
        for &v in &reached {
            if distances[v] > distances[farthest] {
                farthest = v;
            }
        }

        let sum: f64 = reached.iter().map(|&v| distances[v]).sum();
        Ok(Self {
            mean: relative(mesh, sum / reached.len().max(1) as f64),
            farthest: if reached.is_empty() {
                0.0
            } else {
                relative(mesh, distances[farthest])
            },
            farthest_vertex: farthest as u32,
            components: has_marker.len(),
            components_without: has_marker.iter().filter(|&&marked| !marked).count(),
        })
    }

    /// A warning if a place of this `side` is far from all markers.
    pub(super) fn warning(&self, side: &str) -> Option<String> {
        if self.farthest <= FAR_FROM_MARKERS {
            return None;
        }
        Some(format!(
            "no marker of the {side} is within {:.0} % of the diagonal of its vertex {}; set one there",
            100.0 * self.farthest,
            self.farthest_vertex
        ))
    }
}

/// For each component whether it holds one of `vertices`.
fn components_with_marker(mesh: &Mesh, vertices: &[u32]) -> Vec<bool> {
    let component_of = mesh.topology().component_of_vertex();
    let mut has_marker = vec![false; mesh.topology().component_count()];
    for &vertex in vertices {
        // A vertex without faces belongs to no component.
        if let Some(marked) = has_marker.get_mut(component_of[vertex as usize] as usize) {
            *marked = true;
        }
    }
    has_marker
}

/// A length relative to the diagonal; distances of the heat method may be slightly negative.
fn relative(mesh: &Mesh, length: f64) -> f64 {
    if diagonal(mesh) > 0.0 {
        length.max(0.0) / diagonal(mesh)
    } else {
        0.0
    }
}
