use pliant_linalg::LinalgError;
use pliant_mesh::{MeshError, Progress};
use thiserror::Error;

/// What can be wrong with shapes, springs or obstacles.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PhysicsError {
    /// A mesh that cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A system of equations that cannot be solved.
    #[error(transparent)]
    Solver(#[from] LinalgError),
    /// There is nothing to blend.
    #[error("there is no shape to blend; give one or more poses of one mesh")]
    NoShapes,
    /// A shape cannot be blended with the first one.
    #[error(
        "shape {shape} has {found} vertices where the first has {expected}; shapes to be blended are poses of one mesh"
    )]
    OtherCount {
        /// The shape, counted from 0.
        shape: usize,
        /// Its vertices.
        found: usize,
        /// Those of the first shape.
        expected: usize,
    },
    /// A shape joins its vertices otherwise than the first one.
    #[error(
        "shape {shape} has as many vertices as the first but other faces; shapes to be blended are poses of one mesh"
    )]
    OtherFaces {
        /// The shape, counted from 0.
        shape: usize,
    },
    /// A position of a shape is NaN or infinite.
    #[error("shape {shape}: {source}")]
    Shape {
        /// The shape, counted from 0.
        shape: usize,
        /// What is wrong with it.
        source: MeshError,
    },
    /// An obstacle has holes, so that nothing is inside it.
    #[error(
        "the obstacle is not closed: {holes} hole(s) with {edges} boundary edges, one at vertex {vertex}; fill them"
    )]
    OpenObstacle {
        /// Boundary loops.
        holes: usize,
        /// Edges along them.
        edges: usize,
        /// A vertex on the first.
        vertex: usize,
    },
    /// An obstacle has no extent, or lies nowhere.
    #[error(
        "a {what} of size {size} is no obstacle; size and place must be finite, the size positive"
    )]
    ObstacleSize {
        /// The kind of obstacle.
        what: &'static str,
        /// Its radius or length.
        size: f64,
    },
    /// Friction that nothing has.
    #[error("a friction of {value} is none; give a finite number that is not negative")]
    Friction {
        /// Coulomb's coefficient.
        value: f64,
    },
    /// An obstacle changes its form as it moves.
    #[error(
        "the obstacle bends in frame {frame}: vertex {vertex} is {off:.3e} off the best rigid motion; obstacles move as a whole"
    )]
    BendingObstacle {
        /// The frame, counted from 0.
        frame: usize,
        /// The vertex that is furthest off.
        vertex: usize,
        /// By how much.
        off: f64,
    },
    /// The number of weights does not fit.
    #[error("{found} weight(s) for {expected} shapes; give one for each")]
    WeightCount {
        /// How many were given.
        found: usize,
        /// How many shapes there are.
        expected: usize,
    },
    /// The weights are not shares of a whole.
    #[error(
        "the weights sum to {sum:.6}; weights of a blend sum to 1, so divide them by their sum"
    )]
    WeightSum {
        /// What they sum to.
        sum: f64,
    },
    /// A list over the vertices has another length.
    #[error("{what} has {found} entries for {expected} vertices; give one for each")]
    PerVertex {
        /// The list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// How many vertices there are.
        expected: usize,
    },
    /// A stiffness that no spring can have.
    #[error(
        "the stiffness {value} of vertex {vertex} is none; give finite numbers above 0, of which only ratios matter"
    )]
    Stiffness {
        /// The vertex.
        vertex: usize,
        /// Its value.
        value: f64,
    },
    /// There are no colours to read stiffness from.
    #[error(
        "the first shape has no vertex colours; paint how stiff it is, black for soft and white for stiff, or give numbers"
    )]
    NoColors,
    /// A term of the energy that is not known.
    #[error(
        "'{term}' is no term of the energy; give springs, edges or shell, and angles and volume, as in springs,volume or edges,angles:0.5"
    )]
    Term {
        /// What was given.
        term: String,
    },
    /// What keeps lengths, with a weight or a second time.
    #[error(
        "'{term}' keeps lengths: it stands once and has no weight; weigh angles and volume against it, as in springs,volume:2"
    )]
    LengthsTerm {
        /// What was given.
        term: String,
    },
    /// The weight of a term that no energy can have.
    #[error("the weight {value} of {term} is none; give a finite number above 0, as in {term}:2")]
    TermWeight {
        /// The term.
        term: &'static str,
        /// Its weight.
        value: f64,
    },
    /// Terms that leave lengths open.
    #[error(
        "angles and volumes do not hold a shape together without lengths; add springs or edges, as in springs,volume"
    )]
    NoLengths,
    /// Nothing is to be soft.
    #[error("there is no soft patch; give a vertex and a radius")]
    NoPatch,
    /// A patch without extent.
    #[error(
        "a patch of radius {radius} holds nothing; give a finite radius above 0, in the mesh's own unit"
    )]
    PatchRadius {
        /// What was given.
        radius: f64,
    },
    /// A patch around a vertex of no surface.
    #[error(
        "vertex {vertex} belongs to no face, so that no patch is around it; choose a vertex of the surface"
    )]
    LoosePatch {
        /// The vertex.
        vertex: usize,
    },
    /// A material that nothing is made of.
    #[error(
        "a {what} of {value} is none that a soft patch can have; give a finite number, {least}"
    )]
    Material {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it is at least.
        least: &'static str,
    },
    /// An animated shape with a position that is NaN or infinite.
    #[error(
        "vertex {vertex} of the animated shape is at no finite place; repair the clip or the pose"
    )]
    AnimatedShape {
        /// The vertex.
        vertex: usize,
    },
    /// A frame that takes no time.
    #[error("a frame of {secs} seconds is none; give a finite time above 0")]
    FrameTime {
        /// What was given.
        secs: f64,
    },
    /// A setting of a simulation that makes no sense.
    #[error("{what} is {value}; give {bound}")]
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        bound: &'static str,
    },
    /// A soft region of another mesh.
    #[error(
        "the soft region was selected on a mesh of {found} vertices and this one has {expected}; select it anew"
    )]
    OtherRegion {
        /// Vertices of the mesh it was selected on.
        found: usize,
        /// Vertices of this mesh.
        expected: usize,
    },
    /// A pull of a vertex that is to stay.
    #[error("vertex {vertex} is both pinned and pulled; leave out the pin or the pull")]
    PinnedPull {
        /// The vertex.
        vertex: usize,
    },
    /// Two pulls of one vertex.
    #[error("vertex {vertex} is pulled to two places; give it one")]
    PulledTwice {
        /// The vertex.
        vertex: usize,
    },
    /// Places of colliders that do not fit.
    #[error("{found} place(s) for {expected} collider(s); give one for each")]
    ColliderCount {
        /// How many were given.
        found: usize,
        /// How many colliders there are.
        expected: usize,
    },
    /// A collider that is nowhere.
    #[error("collider {collider} goes to a place that is not finite; give finite coordinates")]
    ColliderPath {
        /// The collider, counted from 0.
        collider: usize,
    },
    /// A pull of what does not give way.
    #[error(
        "vertex {vertex} is pulled but outside every soft patch; pull a soft vertex, or make the patch larger"
    )]
    RigidPull {
        /// The vertex.
        vertex: usize,
    },
    /// Something that the thesis' method does not have.
    #[error("the method verlet knows no {what}; leave it out, or take the method xpbd")]
    NotInVerlet {
        /// What was asked for.
        what: &'static str,
    },
    /// A vertex is pulled to a place that is none.
    #[error(
        "vertex {vertex} is pulled to a place that is not finite; give three finite coordinates"
    )]
    Pull {
        /// The vertex.
        vertex: usize,
    },
    /// The work was asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Tells how far the work is, and ends it where that is asked for.
pub(crate) fn go_on(progress: &dyn Progress, stage: &str, done: f64) -> Result<(), PhysicsError> {
    if progress.report(stage, done).is_break() {
        Err(PhysicsError::Stopped)
    } else {
        Ok(())
    }
}

impl PhysicsError {
    /// The shape that it is about, counted from 0, where it is about one.
    #[must_use]
    pub fn shape(&self) -> Option<usize> {
        match *self {
            Self::OtherCount { shape, .. }
            | Self::OtherFaces { shape }
            | Self::Shape { shape, .. } => Some(shape),
            _ => None,
        }
    }
}
