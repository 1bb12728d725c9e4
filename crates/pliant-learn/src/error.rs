use pliant_linalg::LinalgError;
use pliant_mesh::MeshError;
use pliant_rig::RigError;
use pliant_transfer::TransferError;
use thiserror::Error;

/// What can be wrong with learning a deformation or with driving one.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A clip or rig.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A linear system.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// Markers, or laying one surface onto another.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// One scan of several.
    #[error("scan '{scan}': {source}")]
    InScan {
        /// Its name.
        scan: String,
        /// What is wrong.
        source: Box<LearnError>,
    },
    /// Too few corresponding points to align a scan by.
    #[error(
        "{found} different marker pair(s); at least {needed}, not on one line, tell how a scan lies"
    )]
    TooFewMarkers {
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// Corresponding points that leave a turn open.
    #[error(
        "all markers of the {side} lie on one line, which leaves the turn about it open; add one off it"
    )]
    MarkersOnALine {
        /// "reference" or "scan".
        side: &'static str,
    },
    /// A scan in more or fewer pieces than the reference.
    #[error(
        "it has {found} connected part(s), the reference {expected}; remove loose pieces, or join those that belong together"
    )]
    OtherParts {
        /// Its parts.
        found: usize,
        /// Those of the reference.
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
    /// Too few examples to learn from.
    #[error("{found} examples besides the reference pose; at least {needed} are needed")]
    TooFewExamples {
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// A frame with NaN or infinite positions.
    #[error(
        "frame {frame} of the examples has a position that is not a finite number, at vertex {vertex}; export the clip again"
    )]
    FrameNotFinite {
        /// The frame, counted from 0.
        frame: usize,
        /// The first such vertex.
        vertex: usize,
    },
    /// A frame with another number of vertices than the reference.
    #[error(
        "frame {frame} of the examples has {found} vertices, the reference {expected}; all poses need the same vertices in the same order"
    )]
    FrameSize {
        /// The frame, counted from 0.
        frame: usize,
        /// Its vertices.
        found: usize,
        /// Those of the reference.
        expected: usize,
    },
    /// Too few control points to steer by.
    #[error("{found} control points; at least {needed} are needed to tell a turn")]
    TooFewControlPoints {
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// More control points than there are vertices to take.
    #[error(
        "{asked} control points are asked for; the mesh has {vertices} vertices that a face uses"
    )]
    TooManyControlPoints {
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        vertices: usize,
    },
    /// A control point that is no vertex.
    #[error(
        "control point {point} is vertex {vertex}, but the mesh has {vertices} vertices, counted from 0"
    )]
    NoSuchControlPoint {
        /// Its place in the list, counted from 0.
        point: usize,
        /// The vertex that it names.
        vertex: usize,
        /// How many there are.
        vertices: usize,
    },
    /// A vertex that is a control point twice.
    #[error("control points {first} and {second} are both vertex {vertex}; name each vertex once")]
    RepeatedControlPoint {
        /// Places in the list, counted from 0.
        first: usize,
        /// The later one.
        second: usize,
        /// The vertex.
        vertex: usize,
    },
    /// Places for another number of control points.
    #[error(
        "{found} places for {expected} control points; give one for each, in the order of the recipe"
    )]
    ControlCount {
        /// How many places there are.
        found: usize,
        /// How many control points.
        expected: usize,
    },
    /// Goals for another number of end effectors.
    #[error(
        "{found} goals for {expected} end effectors; give one for each, in the order of the skeleton"
    )]
    EffectorCount {
        /// How many goals there are.
        found: usize,
        /// How many effectors.
        expected: usize,
    },
    /// A skeleton that makes no sense.
    #[error("{why}")]
    Skeleton {
        /// What is wrong with it and what to do.
        why: String,
    },
    /// Markers that cannot become control points.
    #[error("{why}")]
    Markers {
        /// What is wrong with them and what to do.
        why: String,
    },
    /// A control point at NaN or infinity.
    #[error("the place of control point {point} is not a finite number")]
    ControlNotFinite {
        /// Its place in the list, counted from 0.
        point: usize,
    },
    /// A method that does not exist.
    #[error("there is no method '{name}'; choose auto, paper, feng, meshik or arap")]
    UnknownMethod {
        /// What was asked for.
        name: String,
    },
    /// A file that is no model.
    #[error("this is no model of ours: {why}; write it anew with `pliant learn`")]
    NotAModel {
        /// What is wrong with it.
        why: String,
    },
    /// A file that is no log of a training.
    #[error("this is no log of a training of this version; delete it to begin anew")]
    NotALog,
    /// Someone asked the work to stop.
    #[error("cancelled")]
    Cancelled,
    /// More bones than the vertices can tell apart.
    #[error("{bones} bones are too many for {vertices} vertices; ask for at most {most}")]
    TooManyBones {
        /// How many were asked for.
        bones: usize,
        /// How many vertices there are.
        vertices: usize,
        /// How many make sense.
        most: usize,
    },
    /// A reference pose in one point.
    #[error("all vertices of the reference pose are in one place; give a mesh with an extent")]
    NoExtent,
    /// A mode of detail that does not exist.
    #[error("there is no detail mode '{name}'; choose auto, direct, cascaded or static")]
    UnknownDetailMode {
        /// What was asked for.
        name: String,
    },
    /// Detailed poses for another number of examples.
    #[error(
        "{found} detailed poses for {expected} examples; give one for each, the reference pose first"
    )]
    DetailCount {
        /// How many there are.
        found: usize,
        /// How many examples, the reference included.
        expected: usize,
    },
    /// A detailed pose that is not the subdivided base.
    #[error(
        "detailed pose {example} has {found} vertices; the base subdivided {levels} times has {expected}; change the levels, or give surfaces instead"
    )]
    DetailSize {
        /// The pose; 0 is the reference.
        example: usize,
        /// Its vertices.
        found: usize,
        /// Those of the subdivided base.
        expected: usize,
        /// How often it is subdivided.
        levels: usize,
    },
    /// A detailed pose with NaN or infinite positions.
    #[error(
        "detailed pose {example} has a position that is not a finite number, at vertex {vertex}; export it again"
    )]
    DetailNotFinite {
        /// The pose; 0 is the reference.
        example: usize,
        /// The first such vertex.
        vertex: usize,
    },
    /// Details of another mesh or other poses than the model's.
    #[error(
        "the details stand on another base than the model's; measure them on the examples that it was trained with"
    )]
    OtherBase,
    /// Detail asked of a model without any.
    #[error("the model has no detail; train it with detailed examples")]
    NoDetail,
}
