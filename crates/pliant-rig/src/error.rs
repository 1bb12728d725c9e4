//! Errors of rigs, clips, poses and strokes.

use pliant_linalg::LinalgError;
use pliant_mesh::{MeshError, Stopped};
use thiserror::Error;

/// An error of a rig, a clip, a pose or a stroke.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RigError {
    /// A target or frame with another number of vertices.
    #[error("{what} has {found} vertices, but the mesh has {expected}; export both from one mesh")]
    VertexCount {
        /// The target or frame, by name.
        what: String,
        /// Its number of vertices.
        found: usize,
        /// The mesh's number of vertices.
        expected: usize,
    },
    /// A NaN or infinite number in a target or frame.
    #[error("{what} holds a number that is not finite at vertex {vertex}; repair the file")]
    NotFinite {
        /// The target or frame, by name.
        what: String,
        /// The first such vertex.
        vertex: usize,
    },
    /// Invalid skinning weights of a vertex.
    #[error(
        "the skinning weights of vertex {vertex} sum to {sum}; they must be at least 0, sum to 1 and belong to the {bones} bones"
    )]
    BadInfluences {
        /// The vertex.
        vertex: usize,
        /// The sum of its weights.
        sum: f64,
        /// The number of bones.
        bones: usize,
    },
    /// A joint that is its own ancestor, or whose parent does not exist.
    #[error(
        "joint {joint} is its own ancestor, or its parent is none of the {joints} joints; correct its parent"
    )]
    BadJoint {
        /// The joint.
        joint: usize,
        /// The number of joints.
        joints: usize,
    },
    /// Two targets with one name.
    #[error("two targets are named '{name}'; rename one of them")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A frame that the clip does not have.
    #[error("frame {frame} does not exist; the clip has {frames} frames, counted from 0")]
    NoSuchFrame {
        /// The requested frame.
        frame: usize,
        /// The number of frames.
        frames: usize,
    },
    /// Keys of a track whose counts do not agree.
    #[error(
        "a weight track has {found} {what} where {expected} are needed; export the animation again"
    )]
    Track {
        /// Keys, weights in a key, or tangents.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many fit.
        expected: usize,
    },
    /// Key times of a track that do not ascend or are not finite.
    #[error(
        "key {key} of a weight track is not later than the one before it; sort the keys by time"
    )]
    KeyOrder {
        /// The key, counted from 0.
        key: usize,
    },
    /// A shape whose list of vertices and list of displacements differ in length.
    #[error(
        "{what} lists {vertices} vertices but {displacements} displacements; give one for each"
    )]
    Displacements {
        /// The target or combination, by name.
        what: String,
        /// The number of its vertices.
        vertices: usize,
        /// The number of its displacements.
        displacements: usize,
    },
    /// Settings of more or fewer sliders than there are targets.
    #[error(
        "there are settings for {found} sliders, but the rig has {expected} targets; give one for each"
    )]
    SliderCount {
        /// How many were given.
        found: usize,
        /// How many targets there are.
        expected: usize,
    },
    /// A path of a drag without steps.
    #[error("the path of the drag has no steps; give at least one")]
    NoSteps,
    /// A step of a path with another number of pins.
    #[error(
        "step {step} of the path moves {found} pins, but {expected} pins are set; give one displacement for each"
    )]
    PathPins {
        /// The step, counted from 0.
        step: usize,
        /// Its number of displacements.
        found: usize,
        /// The number of pins.
        expected: usize,
    },
    /// A displacement of a path that is not finite.
    #[error(
        "the displacement of pin {pin} at step {step} of the path is not finite; correct the path"
    )]
    PathNotFinite {
        /// The step, counted from 0.
        step: usize,
        /// The pin, counted from 0.
        pin: usize,
    },
    /// A slider that the rig does not have.
    #[error("the rig has no slider {slider}; {known}")]
    NoSuchSlider {
        /// The requested slider, by number or name.
        slider: String,
        /// The existing sliders.
        known: String,
    },
    /// Limits without any weight between them.
    #[error(
        "the limits {min} to {max} of slider '{name}' contain no weight; give the lower limit first"
    )]
    EmptyLimits {
        /// The slider.
        name: String,
        /// Its lower limit.
        min: f64,
        /// Its upper limit.
        max: f64,
    },
    /// A combination whose drivers are missing, or come after it in the list.
    #[error(
        "the drivers of combination '{name}' must be sliders of the rig or combinations before it; correct its drivers"
    )]
    BadDriver {
        /// The combination.
        name: String,
    },
    /// An exclusive set with fewer than two sliders.
    #[error("an exclusive set names {found} slider(s); name two or more")]
    ExclusiveCount {
        /// The number of its sliders.
        found: usize,
    },
    /// An exclusive pair of a slider with itself.
    #[error("an exclusive pair has slider '{name}' twice; name two different sliders")]
    ExcludesItself {
        /// The slider.
        name: String,
    },
    /// Slider pairs or a mirror map of another rig.
    #[error(
        "the mirror {what} has {found} entries, but the rig has {expected}; compute it from this rig"
    )]
    OtherMirror {
        /// Pairs of sliders or map of vertices.
        what: &'static str,
        /// How many it has.
        found: usize,
        /// How many the rig has.
        expected: usize,
    },
    /// An in-between of a target that is not a slider.
    #[error(
        "'{name}' cannot be an in-between of '{of}', which is itself an in-between or a combination; name a slider"
    )]
    BadInBetween {
        /// The in-between.
        name: String,
        /// The target that is not a slider.
        of: String,
    },
    /// A rig without targets.
    #[error("the rig has no targets, so nothing can be posed; give a mesh with blend shapes")]
    NoTargets,
    /// A prior that shares no slider with the rig.
    #[error(
        "no slider of the prior has a name of the rig or its meaning, '{name}' among them; give a clip with ARKit names, or rename its sliders with `pliant rename`"
    )]
    NoCommonSlider {
        /// The first slider of the prior.
        name: String,
    },
    /// A drag without pins.
    #[error("there is no pin to drag; give at least one pin")]
    NoPins,
    /// A weight that is NaN or infinite.
    #[error("the weight of slider '{name}' is not finite; give a number")]
    BadWeight {
        /// The slider.
        name: String,
    },
    /// A matrix decomposition that failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// An invalid goal, direction or stiffness of a pin.
    #[error(
        "the pin on {place} needs a finite goal, a direction that is not zero and a stiffness of 0 or more; correct it"
    )]
    BadPin {
        /// The pin's vertex or triangle.
        place: String,
    },
    /// An invalid camera.
    #[error("the camera's {what}; correct it")]
    BadCamera {
        /// The part, and its requirement.
        what: &'static str,
    },
    /// A stroke or curve without two different points, or a closed one without three.
    #[error("{what} has {found} different point(s) where {needed} are needed; draw a longer one")]
    TooShort {
        /// The stroke or curve.
        what: &'static str,
        /// The number of its different points.
        found: usize,
        /// The number that it needs.
        needed: usize,
    },
    /// A NaN or infinite number in a stroke or a curve.
    #[error("point {point} of {what} is not finite; remove it")]
    PointNotFinite {
        /// The stroke or curve.
        what: &'static str,
        /// The first such point, counted from 0.
        point: usize,
    },
    /// A stroke that does not cross the model.
    #[error(
        "none of the {points} points of the stroke is on the model in the view of the camera; draw on the model, or check the camera"
    )]
    StrokeOffModel {
        /// The number of points of the stroke.
        points: usize,
    },
    /// Two pins of one stroke on one vertex.
    #[error(
        "two pins of the stroke are on vertex {vertex}; draw a longer stroke, or allow pins anywhere on the surface"
    )]
    PinsCoincide {
        /// The vertex.
        vertex: usize,
    },
    /// An option outside its range.
    #[error("{what} is {value}; it must be {needed}")]
    BadOption {
        /// Which option.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The valid range.
        needed: &'static str,
    },
    /// Another number of landmarks than the saved stroke has.
    #[error(
        "{found} landmarks are given, but the saved stroke has {expected}; give the same landmarks in the same order"
    )]
    Landmarks {
        /// How many are given.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A vertex without a mirror image.
    #[error(
        "vertex {vertex} has no mirror image; choose another vertex, or complete the mirror map"
    )]
    NoMirror {
        /// The vertex.
        vertex: usize,
    },
    /// A frame with another number of markers than there are surface points.
    #[error(
        "frame {frame} has {found} markers, but {expected} are expected; use NaN for a marker that is not visible"
    )]
    MarkerCount {
        /// The frame, counted from 0.
        frame: usize,
        /// How many it has.
        found: usize,
        /// The expected number.
        expected: usize,
    },
    /// A position of a marker that is NaN or infinite.
    #[error("marker {marker} is not finite in frame {frame}; mark it as missing there")]
    MarkerNotFinite {
        /// The frame, counted from 0.
        frame: usize,
        /// The marker, counted from 0.
        marker: usize,
    },
    /// A marker that the track does not have.
    #[error("there is no marker {marker}; {known}")]
    NoSuchMarker {
        /// The requested marker, by number or name.
        marker: String,
        /// The existing markers.
        known: String,
    },
    /// Two rigs that should have the same neutral.
    #[error(
        "the neutral meshes of two rigs differ at vertex {vertex}; transfer the shapes to one mesh first"
    )]
    OtherNeutral {
        /// The first vertex with another position.
        vertex: usize,
    },
    /// A channel that the performance does not have.
    #[error("there is no channel '{channel}'; {known}")]
    NoSuchChannel {
        /// The requested channel.
        channel: String,
        /// The existing channels.
        known: String,
    },
    /// A step or cubic track where a linear one is needed.
    #[error(
        "the weight track has step or cubic interpolation, but linear interpolation is needed; sample it at its frames first"
    )]
    NotLinear,
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped(#[from] Stopped),
    /// An error of the mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}
