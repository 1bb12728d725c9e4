//! Errors of this crate.

use pliant_linalg::LinalgError;
use pliant_mesh::{MeshError, Stopped};
use pliant_rig::{Clip, RigError};
use thiserror::Error;

/// An error of a transfer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// An error of a mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// An error of a clip or rig.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// An error of a linear solver.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// An array does not have one entry per triangle.
    #[error(
        "{what}: {found} entries instead of {expected}, one per triangle of the fan triangulation"
    )]
    Count {
        /// The array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The required length.
        expected: usize,
    },
    /// A number outside its range.
    #[error("{what} is {value}; it must be {needed}")]
    BadNumber {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The valid range.
        needed: &'static str,
    },
    /// A clip without frames.
    #[error("the clip has no frames; use a clip with at least one frame")]
    NoFrames,
    /// A frame with NaN or infinite positions.
    #[error(
        "frame {frame} of the clip has a position that is not a finite number, at vertex {vertex}; export the clip again"
    )]
    FrameNotFinite {
        /// The frame, counted from 0.
        frame: usize,
        /// The first such vertex.
        vertex: usize,
    },
    /// A map names a triangle that the source does not have.
    #[error(
        "the map names triangle {triangle} of a source with {triangles} triangles, counted from 0; compute the map for this source"
    )]
    NoSuchSourceTriangle {
        /// The triangle in the map.
        triangle: usize,
        /// Number that exist.
        triangles: usize,
    },
    /// A layer names a source that does not exist.
    #[error(
        "layer {layer} uses source {source_index}, but there are {sources} sources, counted from 0; correct the layer"
    )]
    NoSuchSource {
        /// The layer, counted from 0.
        layer: usize,
        /// The source it names.
        source_index: usize,
        /// Number that exist.
        sources: usize,
    },
    /// A layer uses frames that the clip does not have.
    #[error(
        "layer {layer} uses frames {first} to {last} of a clip with {frames} frames, counted from 0; give a range inside"
    )]
    BadFrames {
        /// The layer, counted from 0.
        layer: usize,
        /// The first frame it uses.
        first: usize,
        /// The last one.
        last: usize,
        /// Number that exist.
        frames: usize,
    },
    /// A layer that is too long.
    #[error(
        "layer {layer} ends after {end} frames, and {most} is the most; check its start and its speed"
    )]
    EndlessLayer {
        /// The layer, counted from 0.
        layer: usize,
        /// The frame after its last.
        end: usize,
        /// The most frames.
        most: usize,
    },
    /// A synthesis has no layers.
    #[error("no layer is given; give at least one source and region")]
    NoLayers,
    /// A stroke crosses to another component.
    #[error(
        "no edges connect vertex {from} of a stroke to vertex {to}; keep a stroke on one connected component of the mesh"
    )]
    BrokenStroke {
        /// A vertex of the stroke.
        from: u32,
        /// The one after it.
        to: u32,
    },
    /// A marker names a vertex that its mesh does not have.
    #[error(
        "{marker} names {side} vertex {vertex}, but the {side} has {vertices} vertices, counted from 0; correct the pair or remove it"
    )]
    MarkerOutOfRange {
        /// The marker's label.
        marker: String,
        /// "source" or "target".
        side: &'static str,
        /// The vertex it names.
        vertex: usize,
        /// How many vertices that mesh has.
        vertices: usize,
    },
    /// Too few distinct markers for a correspondence.
    #[error(
        "{found} distinct marker pair(s) are given; at least {needed} are needed, spread over the shape"
    )]
    TooFewMarkers {
        /// Number of distinct pairs.
        found: usize,
        /// Number of required pairs.
        needed: usize,
    },
    /// A marker file cannot be read.
    #[error(
        "markers, {place}: {what}; expected JSON [[source, target], ...] or {{\"name\": [source, target], ...}}, or lines of two vertex \
         numbers, counted from 0"
    )]
    MarkerSyntax {
        /// The line, counted from 1, or the entry, counted from 0.
        place: String,
        /// The mistake.
        what: String,
    },
    /// A file of landmarks cannot be read.
    #[error(
        "landmarks, {place}: {what}; expected JSON {{\"name\": vertex, ...}} or lines of a name and a vertex number, counted from 0"
    )]
    LandmarkSyntax {
        /// The line, counted from 1, or the entry's name.
        place: String,
        /// The mistake.
        what: String,
    },
    /// A marker name that a CSV file cannot contain.
    #[error(
        "the marker name '{name}' contains a separator, which a CSV file cannot contain; write JSON, or rename the marker"
    )]
    NameNotForCsv {
        /// The name.
        name: String,
    },
    /// A rig has no targets.
    #[error("the source has no targets; use a rig")]
    NoTargets,
    /// The progress asked to stop.
    #[error("stopped")]
    Stopped(#[from] Stopped),
    /// All vertices of a mesh coincide.
    #[error("all vertices of the {what} coincide, so it has no shape; check the file")]
    NoExtent {
        /// "source" or "target".
        what: &'static str,
    },
    /// The warp of Wang and Lee 2008 needs markers.
    #[error("the warp needs markers; give some, or use another method")]
    WarpWithoutMarkers,
    /// The identity is defined for poses of one mesh only.
    #[error(
        "source and target have different faces, so their triangles do not correspond one by one; use another method"
    )]
    OtherSurface,
    /// A bad map, with [`BadMapPolicy::Reject`](crate::BadMapPolicy::Reject).
    #[error("the correspondence is not usable: {warnings}")]
    BadMap {
        /// The report's warnings.
        warnings: String,
    },
}

impl TransferError {
    /// Whether the cause is in the given markers, so that a message should name their file.
    #[must_use]
    pub fn is_about_markers(&self) -> bool {
        matches!(
            self,
            Self::MarkerOutOfRange { .. }
                | Self::TooFewMarkers { .. }
                | Self::MarkerSyntax { .. }
                | Self::LandmarkSyntax { .. }
        )
    }

    /// Rejects an array without one entry per triangle.
    pub(crate) fn check_count(
        what: &'static str,
        found: usize,
        expected: usize,
    ) -> Result<(), Self> {
        if found == expected {
            Ok(())
        } else {
            Err(Self::Count {
                what,
                found,
                expected,
            })
        }
    }

    /// Rejects a clip that has no frames or a position that is not finite.
    pub(crate) fn check_frames(clip: &Clip) -> Result<(), Self> {
        if clip.frames().is_empty() {
            return Err(Self::NoFrames);
        }

        for (frame, positions) in clip.frames().iter().enumerate() {
            if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
                return Err(Self::FrameNotFinite { frame, vertex });
            }
        }
        Ok(())
    }
}
