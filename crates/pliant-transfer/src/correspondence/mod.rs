//! Correspondence: a map from target triangles to source triangles.
//!
//! **Problem.** Find for every triangle of the target the source triangles whose deformation it
//! takes, and report how far this map can be trusted.
//!
//! **Method.** Poses of one mesh correspond triangle by triangle. Other pairs of meshes are brought
//! together, either by the warp of Wang and Lee 2008 (both become
//! [least-squares meshes](least_squares_mesh()) of the same markers) or by
//! [registration](register()) of the source onto the target. Triangles that then lie on each other
//! correspond. The [`MapReport`] measures the result.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.1.
//!
//! **Departures.** Registration is the default: on `horse-camel` its error against the published
//! poses is a fifth to a third lower than that of the warp. If its report is doubtful, further
//! methods are tried, the warp last, and the map with the best report is taken.
//!
//! **Files.**
//!
//! - [`options`]: method, parameters, treatment of a bad map.
//! - [`search`]: runs the methods and takes the best map; without markers, tries orientations.
//! - [`winding`]: reverses the triangles of a target that is inside out.
//! - [`alignment`]: the similarity transformation of one shape onto another, without markers.
//! - [`registration`]: non-rigid registration with annealed stiffness.
//! - [`loose_parts`]: components without markers follow their surroundings.
//! - [`least_squares_mesh`](mod@least_squares_mesh): the warp of Wang and Lee 2008.
//! - [`surface_map`]: corresponding triangles of a registered source.
//! - [`centroid_map`]: corresponding triangles of two warped meshes.
//! - [`boundary`]: boundary vertices and points.
//! - [`compatible_triangles`]: nearest centroids whose normals agree.
//! - [`triangle_map`]: the map itself.
//! - [`map_report`]: its quality.
//! - [`marker_suggestion`]: where the next marker helps most.

pub(crate) mod alignment;
mod boundary;
mod centroid_map;
mod compatible_triangles;
mod least_squares_mesh;
mod loose_parts;
mod map_report;
pub(crate) mod marker_suggestion;
mod options;
mod registration;
mod search;
mod surface_map;
mod triangle_map;
mod winding;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress};

use crate::extent::diagonal;
use crate::markers::check::inconsistencies;
use crate::{Markers, TransferError};
use search::CorrespondenceSearch;
use winding::with_winding_of;

pub use alignment::{Alignment, AlignmentCandidate, align};
pub use compatible_triangles::nearest_compatible_triangles;
pub use least_squares_mesh::{MARKER_WEIGHT, least_squares_mesh};
pub use map_report::MapReport;
pub use marker_suggestion::{MarkerSuggestion, MarkerSuggestions, suggest_markers};
pub use options::{BadMapPolicy, CorrespondenceMethod, CorrespondenceOptions};
pub use registration::{RegistrationOptions, register};
pub use triangle_map::TriangleMap;

/// The source triangles of each target triangle, with a quality report.
#[derive(Debug, Clone)]
pub struct Correspondence {
    /// The sources of every target triangle.
    pub map: TriangleMap,
    /// How good the map is.
    pub report: MapReport,
    /// The method that gave the map; never [`CorrespondenceMethod::Auto`].
    pub method: CorrespondenceMethod,
    /// The source's vertices on the target: registered, or aligned as a whole.
    pub source_on_target: Vec<DVec3>,
    /// The distance of every target triangle from its source triangles, in the target's units. NaN
    /// where no part of the source is near, or only parts that face away.
    pub distances: Vec<f64>,
    /// For every target triangle whether its component has no counterpart in the source. Such
    /// components follow their surroundings.
    pub unmatched: Vec<bool>,
    /// Without markers, the candidate orientations of the source; the one that was taken comes
    /// first.
    pub candidates: Vec<AlignmentCandidate>,
    /// Warnings for the user, one sentence each.
    pub warnings: Vec<String>,
}

impl Correspondence {
    /// Finds the correspondence that `markers` define, or that the shapes alone define if there are
    /// none. Markers that contradict the others are left out if the map is better without them; a
    /// warning says so.
    ///
    /// Without markers, every plausible orientation is fitted and the one with the best report is
    /// taken: see [`candidates`](Self::candidates). A [warning](Self::warnings) reports an ambiguous
    /// match.
    ///
    /// # Errors
    /// - as [`Markers::check`] if markers are missing or wrong,
    /// - if a mesh has no faces or a position is not finite,
    /// - [`TransferError::WarpWithoutMarkers`] and [`TransferError::OtherSurface`] if the requested
    ///   method cannot work,
    /// - [`TransferError::BadMap`] if the map is bad and [`BadMapPolicy::Reject`] is set.
    pub fn find<'m>(
        source: &Mesh,
        target: &Mesh,
        markers: impl Into<Option<&'m Markers>>,
        options: &CorrespondenceOptions,
    ) -> Result<Self, TransferError> {
        Self::find_with_progress(source, target, markers, options, &())
    }

    /// As [`find`](Self::find), with a report to `progress` for every method that is tried.
    ///
    /// # Errors
    /// As [`find`](Self::find), and [`TransferError::Stopped`] if `progress` asks for it.
    pub fn find_with_progress<'m>(
        source: &Mesh,
        target: &Mesh,
        markers: impl Into<Option<&'m Markers>>,
        options: &CorrespondenceOptions,
        progress: &dyn Progress,
    ) -> Result<Self, TransferError> {
        let markers = markers.into();
        source.require_surface()?;
        target.require_surface()?;
        require_extent(source, "source")?;
        require_extent(target, "target")?;

        let mut warnings = Vec::new();
        let mut pairs = Vec::new();
        let mut doubtful = Vec::new();
        if let Some(markers) = markers {
            warnings = markers.check(source, target)?;
            let distinct = markers.distinct();
            let found = inconsistencies(source, target, &distinct)?;
            warnings.extend(found.warnings);
            doubtful = found.wrong;
            pairs = distinct.pairs().to_vec();
        }

        // With other markers than the identity, the same faces may still correspond differently.
        let same_surface = source.same_surface(target);
        check_method(options.method, same_surface, markers)?;
        let is_pose = same_surface && markers.is_none_or(Markers::is_identity);
        if options.method == CorrespondenceMethod::Auto && is_pose {
            return Self::identity(target).checked(warnings, options.bad_map);
        }

        // The search compares normals.
        let rewound = with_winding_of(source, target)?;
        if rewound.is_some() {
            warnings.push(
                "the target's faces are wound in the opposite direction to the source's; normals are compared accordingly".into(),
            );
        }

        let search = CorrespondenceSearch {
            source,
            target: rewound.as_ref().unwrap_or(target),
            pairs,
            options,
            progress,
        };
        let found = match markers {
            Some(_) => search.by_consistent_markers(&doubtful, &mut warnings)?,
            None => search.over_orientations(&mut warnings)?,
        };
        found.checked(warnings, options.bad_map)
    }

    /// The correspondence of a mesh with a pose of itself.
    fn identity(target: &Mesh) -> Self {
        let triangles = target.triangles().len();
        Self {
            map: TriangleMap::identity(triangles),
            report: MapReport::identity(triangles),
            method: CorrespondenceMethod::Identity,
            source_on_target: target.positions().to_vec(),
            distances: vec![0.0; triangles],
            unmatched: vec![false; triangles],
            candidates: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds the report's warnings to those given, or rejects a bad map.
    fn checked(
        mut self,
        mut warnings: Vec<String>,
        policy: BadMapPolicy,
    ) -> Result<Self, TransferError> {
        let of_report = self.report.warnings();
        if policy == BadMapPolicy::Reject && self.report.is_bad() {
            return Err(TransferError::BadMap {
                warnings: of_report.join("; "),
            });
        }

        warnings.extend(of_report);
        self.warnings = warnings;
        Ok(self)
    }
}

/// Rejects a mesh whose vertices all coincide.
fn require_extent(mesh: &Mesh, what: &'static str) -> Result<(), TransferError> {
    if diagonal(mesh) > 0.0 {
        Ok(())
    } else {
        Err(TransferError::NoExtent { what })
    }
}

/// Rejects a method that cannot work with these meshes or without markers.
fn check_method(
    method: CorrespondenceMethod,
    same_surface: bool,
    markers: Option<&Markers>,
) -> Result<(), TransferError> {
    match method {
        CorrespondenceMethod::Identity if !same_surface => Err(TransferError::OtherSurface),
        CorrespondenceMethod::Wang2008 if markers.is_none() => {
            Err(TransferError::WarpWithoutMarkers)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
