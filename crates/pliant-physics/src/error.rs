use pliant_linalg::LinalgError;
use pliant_mesh::{MeshError, Stopped};
use thiserror::Error;

/// Errors of blending, contact and touch.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PhysicsError {
    /// The mesh cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A linear system cannot be factored or solved.
    #[error(transparent)]
    Solver(#[from] LinalgError),
    /// The list of shapes is empty.
    #[error("there is no shape to blend; give one or more poses of one mesh")]
    NoShapes,
    /// A shape has another number of vertices than the first shape.
    #[error(
        "shape {shape} has {found} vertices, the first shape has {expected}; give poses of one mesh"
    )]
    VertexCountMismatch {
        /// The shape, counted from 0.
        shape: usize,
        /// Its number of vertices.
        found: usize,
        /// The number of vertices of the first shape.
        expected: usize,
    },
    /// A shape has other faces than the first shape.
    #[error(
        "shape {shape} has as many vertices as the first shape but different faces; give poses of one mesh"
    )]
    FaceMismatch {
        /// The shape, counted from 0.
        shape: usize,
    },
    /// A position of a shape is NaN or infinite.
    #[error("shape {shape}: {source}")]
    Shape {
        /// The shape, counted from 0.
        shape: usize,
        /// The error of the mesh.
        source: MeshError,
    },
    /// The surface of an obstacle has holes, so that its inside is undefined.
    #[error(
        "the obstacle is not closed: {holes} hole(s) with {edges} boundary edges, one at vertex {vertex}; fill the hole(s)"
    )]
    OpenObstacle {
        /// Number of boundary loops.
        holes: usize,
        /// Number of edges of these loops.
        edges: usize,
        /// A vertex of the first loop.
        vertex: usize,
    },
    /// All of the surface is inside an obstacle, so that it has no way out.
    #[error(
        "obstacle {obstacle} encloses all {vertices} vertices of the first shape; make it smaller, or move it next to the shape"
    )]
    EnclosingObstacle {
        /// Counted from 0.
        obstacle: usize,
        /// Vertices of the shape.
        vertices: usize,
    },
    /// An obstacle is so large that positions on its surface are lost in rounding.
    #[error(
        "obstacle {obstacle} is {size:.3e} long, and the edges of the surface {edge:.3e}; make it at most 1e8 edges long"
    )]
    ObstacleScale {
        /// Counted from 0.
        obstacle: usize,
        /// The diagonal of its bounds.
        size: f64,
        /// The mean edge of the surface.
        edge: f64,
    },
    /// The size of an obstacle is not positive, or its position is not finite.
    #[error(
        "the size {size} of the {what} is not valid; give a positive finite size and a finite position"
    )]
    ObstacleSize {
        /// The kind of obstacle.
        what: &'static str,
        /// Its radius or length.
        size: f64,
    },
    /// A friction coefficient is negative or not finite.
    #[error("the friction {value} is not valid; give a finite number of 0 or more")]
    Friction {
        /// Coulomb's coefficient.
        value: f64,
    },
    /// An obstacle deforms while it moves.
    #[error(
        "the obstacle deforms in frame {frame}: vertex {vertex} is {off:.3e} away from the best rigid motion; give an obstacle that moves rigidly"
    )]
    DeformingObstacle {
        /// The frame, counted from 0.
        frame: usize,
        /// The vertex with the largest distance from the rigid motion.
        vertex: usize,
        /// That distance.
        off: f64,
    },
    /// The number of weights is not the number of shapes.
    #[error("{found} weight(s) for {expected} shapes; give one weight for each shape")]
    WeightCount {
        /// Number of weights given.
        found: usize,
        /// Number of shapes.
        expected: usize,
    },
    /// The weights do not sum to 1.
    #[error("the weights sum to {sum:.6}; divide them by their sum, so that they sum to 1")]
    WeightSum {
        /// The sum of the weights.
        sum: f64,
    },
    /// A list does not have one entry per vertex.
    #[error("{what} has {found} entries for {expected} vertices; give one entry for each vertex")]
    PerVertex {
        /// The list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Number of vertices.
        expected: usize,
    },
    /// A painted softness is not a number from 0 to 1.
    #[error("the softness {value} of vertex {vertex} is not valid; give 0 for rigid to 1 for soft")]
    Softness {
        /// The vertex.
        vertex: usize,
        /// Its softness.
        value: f64,
    },
    /// No painted softness is above 0.
    #[error("no vertex has a softness above 0; paint the soft vertices up to 1")]
    NoSoftVertex,
    /// The keys of a timing curve are not in order.
    #[error(
        "key {key} of the timing, counted from 0, is not valid; give finite times in ascending order, each with a share"
    )]
    Timing {
        /// The key.
        key: usize,
    },
    /// The stiffness of a vertex is not positive and finite.
    #[error(
        "the stiffness {value} of vertex {vertex} is not valid; give finite numbers above 0 (only their ratios matter)"
    )]
    Stiffness {
        /// The vertex.
        vertex: usize,
        /// Its value.
        value: f64,
    },
    /// The mesh has no vertex colours to read a stiffness from.
    #[error(
        "the first shape has no vertex colours; paint the stiffness, black for soft and white for stiff, or give numbers"
    )]
    NoColors,
    /// The name of an energy term is unknown.
    #[error(
        "'{term}' is not an energy term; give path, springs, edges or shell, and after springs or edges optionally angles and volume, as in springs,volume or edges,angles:0.5"
    )]
    Term {
        /// The given text.
        term: String,
    },
    /// A length term has a weight, or is given twice.
    #[error(
        "'{term}' is a length term: give it once and without a weight; weight angles and volume relative to it, as in springs,volume:2"
    )]
    LengthsTerm {
        /// The given text.
        term: String,
    },
    /// The weight of an energy term is not positive and finite.
    #[error(
        "the weight {value} of {term} is not valid; give a finite number above 0, as in {term}:2"
    )]
    TermWeight {
        /// The term.
        term: &'static str,
        /// Its weight.
        value: f64,
    },
    /// A term besides springs at rest on a path.
    #[error(
        "{term} cannot be added to path, whose springs are at rest in a whole shape; give springs,{term} or edges,{term}"
    )]
    PathTerm {
        /// The term.
        term: &'static str,
    },
    /// The energy has no length term.
    #[error(
        "angles and volumes alone do not determine a shape; add springs or edges, as in springs,volume"
    )]
    NoLengths,
    /// The list of soft patches is empty.
    #[error("there is no soft patch; give a vertex and a radius")]
    NoPatch,
    /// The radius of a patch is not positive and finite.
    #[error(
        "the patch radius {radius} is not valid; give a finite radius above 0, in the unit of the mesh"
    )]
    PatchRadius {
        /// The given radius.
        radius: f64,
    },
    /// The centre of a patch belongs to no face.
    #[error(
        "vertex {vertex} belongs to no face, so a patch around it is empty; choose a vertex of the surface"
    )]
    PatchWithoutFace {
        /// The vertex.
        vertex: usize,
    },
    /// A number of the material is not in its range.
    #[error("the {what} {value} of the soft material is not valid; give a finite number, {least}")]
    Material {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Its lower bound, in words.
        least: &'static str,
    },
    /// A position of the animated shape is NaN or infinite.
    #[error(
        "vertex {vertex} of the animated shape has a position that is not finite; repair the clip or the pose"
    )]
    AnimatedShape {
        /// The vertex.
        vertex: usize,
    },
    /// The duration of a frame is not positive and finite.
    #[error("the frame time of {secs} seconds is not valid; give a finite time above 0")]
    FrameTime {
        /// The given time.
        secs: f64,
    },
    /// A setting of a simulation is not in its range.
    #[error("{what} is {value}; give {bound}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Its range, in words.
        bound: &'static str,
    },
    /// A soft region belongs to another mesh.
    #[error(
        "the soft region was selected on a mesh of {found} vertices, this mesh has {expected}; select the region again"
    )]
    RegionMismatch {
        /// Vertices of the mesh it was selected on.
        found: usize,
        /// Vertices of this mesh.
        expected: usize,
    },
    /// A vertex is pinned and pulled.
    #[error("vertex {vertex} is both pinned and pulled; leave out the pin or the pull")]
    PinnedPull {
        /// The vertex.
        vertex: usize,
    },
    /// A vertex has two pulls.
    #[error("vertex {vertex} is pulled to two positions; give it one")]
    PulledTwice {
        /// The vertex.
        vertex: usize,
    },
    /// The number of collider positions is not the number of colliders.
    #[error("{found} position(s) for {expected} collider(s); give one position for each collider")]
    ColliderCount {
        /// Number of positions given.
        found: usize,
        /// Number of colliders.
        expected: usize,
    },
    /// The position of a collider is not finite.
    #[error("collider {collider} moves to a position that is not finite; give finite coordinates")]
    ColliderPosition {
        /// The collider, counted from 0.
        collider: usize,
    },
    /// A pulled vertex belongs to no soft patch.
    #[error(
        "vertex {vertex} is pulled but outside every soft patch; pull a soft vertex, or make the patch larger"
    )]
    PullOutsidePatch {
        /// The vertex.
        vertex: usize,
    },
    /// The method of Çetinaslan 2016 does not support a feature.
    #[error(
        "the method verlet does not support {what}; leave out {what}, or choose the method xpbd"
    )]
    UnsupportedByVerlet {
        /// The feature.
        what: &'static str,
    },
    /// The goal of a pull is not finite.
    #[error(
        "vertex {vertex} is pulled to a position that is not finite; give three finite coordinates"
    )]
    Pull {
        /// The vertex.
        vertex: usize,
    },
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped(#[from] Stopped),
}

impl PhysicsError {
    /// The shape that caused the error, counted from 0, if a shape did.
    #[must_use]
    pub fn shape(&self) -> Option<usize> {
        match *self {
            Self::VertexCountMismatch { shape, .. }
            | Self::FaceMismatch { shape }
            | Self::Shape { shape, .. } => Some(shape),
            _ => None,
        }
    }
}
