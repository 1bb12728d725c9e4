//! Errors of training, driving and registration.

use pliant_linalg::LinalgError;
use pliant_mesh::{MeshError, Stopped};
use pliant_rig::RigError;
use pliant_transfer::TransferError;
use thiserror::Error;

/// An error of training a model or of driving one.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// An invalid mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// An invalid clip or rig.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A linear system that cannot be solved.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// Invalid markers, or a failed registration.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// An error in one of several scans.
    #[error("scan '{scan}': {source}")]
    InScan {
        /// Its name.
        scan: String,
        /// The error.
        source: Box<LearnError>,
    },
    /// Too few markers for a rigid alignment.
    #[error(
        "there are {found} different marker pair(s); at least {needed}, not on one line, are needed to align a scan"
    )]
    TooFewMarkers {
        /// The number found.
        found: usize,
        /// The least number.
        needed: usize,
    },
    /// Markers on one line, which do not determine a rotation.
    #[error(
        "all markers of the {side} lie on one line, so that the rotation about it is unknown; add a marker off the line"
    )]
    MarkersOnALine {
        /// "reference" or "scan".
        side: &'static str,
    },
    /// A scan with another number of connected components than the reference.
    #[error(
        "it has {found} connected component(s), but the reference has {expected}; remove separate components, or join those that belong together"
    )]
    OtherParts {
        /// Its components.
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
    #[error("there are {found} examples besides the reference pose; at least {needed} are needed")]
    TooFewExamples {
        /// The number found.
        found: usize,
        /// The least number.
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
        "frame {frame} of the examples has {found} vertices, but the reference has {expected}; all poses need the same vertices in the same order"
    )]
    FrameSize {
        /// The frame, counted from 0.
        frame: usize,
        /// Its vertices.
        found: usize,
        /// Those of the reference.
        expected: usize,
    },
    /// Too few control points to determine a rotation.
    #[error(
        "there are {found} control points; at least {needed} are needed to determine a rotation"
    )]
    TooFewControlPoints {
        /// The number found.
        found: usize,
        /// The least number.
        needed: usize,
    },
    /// More control points than vertices of faces.
    #[error(
        "{asked} control points are requested, but only {vertices} vertices of the mesh belong to a face; request fewer"
    )]
    TooManyControlPoints {
        /// The requested number.
        asked: usize,
        /// The number found.
        vertices: usize,
    },
    /// A control point with a vertex index out of range.
    #[error(
        "control point {point} is vertex {vertex}, but the mesh has {vertices} vertices, counted from 0"
    )]
    NoSuchControlPoint {
        /// Its index in the list, counted from 0.
        point: usize,
        /// The vertex that it names.
        vertex: usize,
        /// The number found.
        vertices: usize,
    },
    /// A vertex that is listed twice as a control point.
    #[error("control points {first} and {second} are both vertex {vertex}; name each vertex once")]
    RepeatedControlPoint {
        /// Index of the first one in the list, counted from 0.
        first: usize,
        /// Index of the second one.
        second: usize,
        /// The vertex.
        vertex: usize,
    },
    /// A number of positions that is not the number of control points.
    #[error(
        "there are {found} positions for {expected} control points; give one for each, in the order of the recipe"
    )]
    ControlCount {
        /// The number of positions.
        found: usize,
        /// The number of control points.
        expected: usize,
    },
    /// A number of goals that is not the number of end effectors.
    #[error(
        "there are {found} goals for {expected} end effectors; give one for each, in the order of the skeleton"
    )]
    EffectorCount {
        /// The number of goals.
        found: usize,
        /// The number of effectors.
        expected: usize,
    },
    /// An invalid skeleton.
    #[error("{why}")]
    Skeleton {
        /// The reason, and what to do.
        why: String,
    },
    /// A take that cannot be converted to control points.
    #[error("{why}")]
    Markers {
        /// The reason, and what to do.
        why: String,
    },
    /// A control point or goal that is not finite.
    #[error("the position of control point {point} is not a finite number; correct it")]
    ControlNotFinite {
        /// Its index in the list, counted from 0.
        point: usize,
    },
    /// An unknown method.
    #[error("there is no method '{name}'; choose auto, paper, feng, meshik or arap")]
    UnknownMethod {
        /// The requested name.
        name: String,
    },
    /// A file that is not a model.
    #[error("this is not a Pliant model: {why}; write it again with `pliant learn`")]
    NotAModel {
        /// The reason.
        why: String,
    },
    /// A file that is not a training log.
    #[error("this is not a training log of this version; delete it to start again")]
    NotALog,
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped(#[from] Stopped),
    /// More bones than one for every three vertices.
    #[error("{bones} bones are too many for {vertices} vertices; use at most {most}")]
    TooManyBones {
        /// The requested number.
        bones: usize,
        /// The number of vertices.
        vertices: usize,
        /// The most bones.
        most: usize,
    },
    /// A reference pose without extent.
    #[error(
        "all vertices of the reference pose have the same position; give a mesh with an extent"
    )]
    NoExtent,
    /// An unknown detail mode.
    #[error("there is no detail mode '{name}'; choose auto, direct, cascaded or static")]
    UnknownDetailMode {
        /// The requested name.
        name: String,
    },
    /// A number of detailed poses that is not the number of examples.
    #[error(
        "there are {found} detailed poses for {expected} examples; give one for each, the reference pose first"
    )]
    DetailCount {
        /// The number found.
        found: usize,
        /// The number of examples, including the reference.
        expected: usize,
    },
    /// A detailed pose with another number of vertices than the subdivided base.
    #[error(
        "detailed pose {example} has {found} vertices, but the base subdivided {levels} times has {expected}; change the levels, or give surfaces instead"
    )]
    DetailSize {
        /// The pose; 0 is the reference.
        example: usize,
        /// Its vertices.
        found: usize,
        /// Those of the subdivided base.
        expected: usize,
        /// The number of subdivisions.
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
    /// Detail of another mesh or of other poses than those of the model.
    #[error(
        "the detail belongs to another base than that of the model; measure it on the examples of the training"
    )]
    OtherBase,
    /// A request for detail from a model without a detail layer.
    #[error("the model has no detail; train it with detailed examples")]
    NoDetail,
}
