use pliant_linalg::LinalgError;
use pliant_mesh::MeshError;
use thiserror::Error;

/// What can be wrong with a rig or a clip.
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
    /// Influences of a vertex that are no weights of bones.
    #[error(
        "the influences of vertex {vertex} sum to {sum}; they must be at least 0, sum to 1 and be of the {bones} bones there are"
    )]
    BadInfluences {
        /// The vertex.
        vertex: usize,
        /// What its weights sum to.
        sum: f64,
        /// How many bones there are.
        bones: usize,
    },
    /// A joint that hangs on itself or on nothing that is there.
    #[error("joint {joint} hangs on itself, or on none of the {joints} joints; correct its parent")]
    BadJoint {
        /// The joint.
        joint: usize,
        /// How many there are.
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
        /// The frame asked for.
        frame: usize,
        /// How many there are.
        frames: usize,
    },
    /// Keys of a track that do not fit together.
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
    /// The times of a track's keys go back or are not finite.
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
        /// How many vertices it lists.
        vertices: usize,
        /// How many displacements.
        displacements: usize,
    },
    /// Settings of more or fewer sliders than there are targets.
    #[error(
        "there are settings of {found} sliders, but the rig has {expected} targets; give one for each"
    )]
    SliderCount {
        /// How many were given.
        found: usize,
        /// How many targets there are.
        expected: usize,
    },
    /// A slider that the rig does not have.
    #[error("the rig has no slider {slider}; {known}")]
    NoSuchSlider {
        /// The slider asked for, by number or name.
        slider: String,
        /// What there is instead.
        known: String,
    },
    /// A range with nothing inside.
    #[error("the limits {min} to {max} of slider '{name}' hold no weight; put the lower one first")]
    EmptyLimits {
        /// The slider.
        name: String,
        /// Its lower limit.
        min: f64,
        /// Its upper limit.
        max: f64,
    },
    /// A combination whose drivers are missing, or come after it.
    #[error(
        "combination '{name}' needs drivers that are sliders of the rig or combinations before it; correct its drivers"
    )]
    BadDriver {
        /// The combination.
        name: String,
    },
    /// A slider paired with itself.
    #[error("slider '{name}' is to exclude itself; name two sliders")]
    ExcludesItself {
        /// The slider.
        name: String,
    },
    /// Pairs or a mirror map of another rig.
    #[error(
        "the mirror {what} has {found} entries, but the rig has {expected}; make it from this rig"
    )]
    OtherMirror {
        /// Sliders or vertices.
        what: &'static str,
        /// How many it has.
        found: usize,
        /// How many the rig has.
        expected: usize,
    },
    /// An in-between that cannot be placed.
    #[error("'{name}' is to be an in-between of '{of}', which is no slider then; name a slider")]
    BadInBetween {
        /// The in-between.
        name: String,
        /// What it is to be on the way of.
        of: String,
    },
    /// A rig that nothing can pose.
    #[error("the rig has no targets, so nothing can be posed; give a mesh with blend shapes")]
    NoTargets,
    /// A drag of nothing.
    #[error("there is no pin to drag; give at least one")]
    NoPins,
    /// A weight that is not a number.
    #[error("the weight of slider '{name}' is not finite; give a number")]
    BadWeight {
        /// The slider.
        name: String,
    },
    /// A decomposition that failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A pin that asks for nothing that can be reached.
    #[error(
        "the pin on {place} needs a finite goal, a direction that is not zero and a stiffness of 0 or more; correct it"
    )]
    BadPin {
        /// The pin's vertex or triangle.
        place: String,
    },
    /// A camera through which nothing can be drawn.
    #[error("the camera's {what}; correct it")]
    BadCamera {
        /// Which part, and what it needs.
        what: &'static str,
    },
    /// A stroke or a curve without two different points, or a closed one without extent.
    #[error("{what} has {found} different point(s) where {needed} are needed; draw a longer one")]
    TooShort {
        /// The stroke or curve.
        what: &'static str,
        /// How many different points it has.
        found: usize,
        /// How many it needs.
        needed: usize,
    },
    /// A NaN or infinite number in a stroke or a curve.
    #[error("point {point} of {what} is not finite; leave it out")]
    PointNotFinite {
        /// The stroke or curve.
        what: &'static str,
        /// The first such point, counted from 0.
        point: usize,
    },
    /// A stroke that no ray carries onto the model.
    #[error(
        "none of the stroke's {points} points lies on the model as the camera sees it; draw on the model, or check the camera"
    )]
    StrokeOffModel {
        /// How many points were drawn.
        points: usize,
    },
    /// Pins of one stroke on one vertex.
    #[error(
        "two pins of the stroke fall on vertex {vertex}; draw a longer stroke, or put its pins anywhere on the surface"
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
        /// The range that works.
        needed: &'static str,
    },
    /// Landmarks that cannot be paired.
    #[error(
        "{found} landmarks are given where the saved stroke has {expected}; name the same places in the same order"
    )]
    Landmarks {
        /// How many are given.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A vertex without a counterpart on the other side.
    #[error("vertex {vertex} has no mirror image; pick another place, or complete the mirror map")]
    NoMirror {
        /// The vertex.
        vertex: usize,
    },
    /// A frame of markers with more or fewer of them than there are places.
    #[error(
        "frame {frame} has {found} markers, but {expected} places are given; mark missing ones as missing"
    )]
    MarkerCount {
        /// The frame, counted from 0.
        frame: usize,
        /// How many it has.
        found: usize,
        /// How many places there are.
        expected: usize,
    },
    /// A marker that is seen at infinity.
    #[error("marker {marker} is not finite in frame {frame}; mark it as missing there")]
    MarkerNotFinite {
        /// The frame, counted from 0.
        frame: usize,
        /// The marker, counted from 0.
        marker: usize,
    },
    /// A marker that a take does not have.
    #[error("there is no marker {marker}; {known}")]
    NoSuchMarker {
        /// The marker asked for, by number or name.
        marker: String,
        /// What there is instead.
        known: String,
    },
    /// A track of steps or cubic curves where straight lines are needed.
    #[error(
        "the weight track goes in steps or cubic curves, but straight lines are needed; sample it at its frames first"
    )]
    NotLinear,
    /// The mesh itself.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}
