use pliant_linalg::LinalgError;
use pliant_mesh::MeshError;
use pliant_rig::RigError;
use thiserror::Error;

/// What can be wrong with a transfer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// A mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A clip or rig.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A linear system.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// An array does not have one entry per triangle.
    #[error(
        "{what}: {found} entries where {expected} are needed, one per triangle of the fan triangulation"
    )]
    Count {
        /// The array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits.
        expected: usize,
    },
    /// A number outside its range.
    #[error("{what} is {value}; it must be {needed}")]
    BadNumber {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The range that works.
        needed: &'static str,
    },
    /// A clip without frames.
    #[error("the clip has no frames; give one with at least one pose")]
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
    /// A map that names a triangle which the source does not have.
    #[error(
        "the map takes triangle {triangle} of a source that has {triangles}; make the map for this source"
    )]
    NoSuchSourceTriangle {
        /// The triangle named.
        triangle: usize,
        /// How many there are.
        triangles: usize,
    },
    /// A layer that names a source which is not there.
    #[error("layer {layer} takes source {source_index}, but there are {sources} (counted from 0)")]
    NoSuchSource {
        /// The layer, counted from 0.
        layer: usize,
        /// The source it names.
        source_index: usize,
        /// How many there are.
        sources: usize,
    },
    /// A layer whose frames the clip does not have.
    #[error(
        "layer {layer} takes frames {first} to {last} of a clip with {frames} (counted from 0); give a range inside"
    )]
    BadFrames {
        /// The layer, counted from 0.
        layer: usize,
        /// The first frame it takes.
        first: usize,
        /// The last one.
        last: usize,
        /// How many there are.
        frames: usize,
    },
    /// A layer that never ends.
    #[error(
        "layer {layer} ends after {end} frames, and {most} is the most; check where it begins and its speed"
    )]
    EndlessLayer {
        /// The layer, counted from 0.
        layer: usize,
        /// The frame after its last.
        end: usize,
        /// The most frames.
        most: usize,
    },
    /// A synthesis without layers.
    #[error("no layer is given; name at least one source and region")]
    NoLayers,
    /// A stroke that leaves its part of the mesh.
    #[error(
        "no edges lead from vertex {from} of a stroke to vertex {to}; keep a stroke on one part of the mesh"
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
        /// The marker, as messages call it.
        marker: String,
        /// "source" or "target".
        side: &'static str,
        /// The vertex it names.
        vertex: usize,
        /// How many vertices that mesh has.
        vertices: usize,
    },
    /// Too few different markers to hold a correspondence.
    #[error(
        "{found} different marker pair(s); at least {needed} are needed, spread over the shape"
    )]
    TooFewMarkers {
        /// How many different pairs there are.
        found: usize,
        /// How many are needed.
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
        /// What is wrong there.
        what: String,
    },
    /// A file of landmarks cannot be read.
    #[error(
        "landmarks, {place}: {what}; expected JSON {{\"name\": vertex, ...}} or lines of a name and a vertex number, counted from 0"
    )]
    LandmarkSyntax {
        /// The line, counted from 1, or the entry's name.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// A marker's name that a table cannot hold.
    #[error(
        "the marker name '{name}' has a separator in it that a CSV cannot hold; write JSON, or rename it"
    )]
    NameNotForCsv {
        /// The name.
        name: String,
    },
    /// A rig without targets.
    #[error("the source has no targets; name a rig")]
    NoTargets,
    /// The work was asked to stop.
    #[error("stopped")]
    Stopped,
    /// A mesh that is a single point.
    #[error("all vertices of the {what} are in one place; there is no shape to go by")]
    NoExtent {
        /// "source" or "target".
        what: &'static str,
    },
    /// The paper's warp knows nothing but markers.
    #[error("the warp goes by markers alone; give some, or take another method")]
    WarpWithoutMarkers,
    /// Triangle by triangle is only for poses of one mesh.
    #[error(
        "source and target have other faces, so that their triangles do not correspond one by one; take another method"
    )]
    OtherSurface,
    /// A map that is better not used, where the caller asked to be refused.
    #[error("the correspondence is not usable: {problems}")]
    BadMap {
        /// What is wrong with it.
        problems: String,
    },
}

impl TransferError {
    /// Declines an array without one entry per triangle.
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
}
