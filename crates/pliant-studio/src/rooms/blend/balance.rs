//! Shapes in balance, found beside the window.
//!
//! A hand moves the weights faster than springs settle: the newest weights win. Among obstacles a
//! shape depends on its way, so the worker keeps its [`SceneBlend`] and walks from where it is to
//! what is wanted, in strides that are shown one by one. Springs are joined once for a set of
//! shapes; other obstacles start a new walk with the same springs.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;
use pliant::mesh::{ExactGeodesics, Mesh, Progress};
use pliant::physics::{
    ContactFrame, Obstacle, ObstacleMotion, PhysicsError, SceneBlend, SceneOptions, linear_blend,
    vertex_strains,
};
use pliant::rig::{Rig, Target};
use web_time::Instant;

use super::figures::Figures;
use super::joining::Joining;
use super::setup::Setup;
use crate::view::{Surface, Vertices};
use crate::work::{Inbox, Latest, Outbox, Wake};

/// The most that weights change between two pictures of a walk among obstacles: ours, ten pictures
/// from shape to shape.
const STRIDE: f64 = 0.1;
/// How many frames a walk is made ready for, so that weights that are dragged about cost little.
const WALK: usize = 36;

/// Where a shape comes from.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Its rig.
    pub rig: Arc<Rig>,
    /// The target at full weight; empty for none.
    pub target: String,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.target == other.target
            && (Arc::ptr_eq(&self.rig, &other.rig) || self.same_shape(other))
    }
}

impl Source {
    /// Whether rigs that differ elsewhere, such as by a slider that was muted, have this shape
    /// alike.
    fn same_shape(&self, other: &Self) -> bool {
        let (a, b) = (self.rig.neutral(), other.rig.neutral());
        a.same_surface(b) && a.positions() == b.positions() && self.moved() == other.moved()
    }

    fn moved(&self) -> Option<&Target> {
        self.rig
            .targets()
            .iter()
            .find(|target| target.name == self.target)
    }
}

/// What is asked of the worker: the blend of a setup.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// Counts questions.
    pub number: u64,
    /// Its shapes.
    pub sources: Vec<Source>,
    /// All other choices.
    pub setup: Setup,
}

/// A blend as it was balanced.
#[derive(Debug, Clone)]
pub struct Balanced {
    /// The question.
    pub number: u64,
    /// Whether the weights are those that were asked for: otherwise it is on its way.
    pub arrived: bool,
    /// How much of each shape there is.
    pub weights: Vec<f64>,
    /// What all shapes share.
    pub ground: Arc<Ground>,
    /// By straight lines.
    pub linear: Side,
    /// In balance.
    pub physical: Side,
    /// What the solve did.
    pub frame: Solved,
}

/// What all blends of the same shapes share.
#[derive(Debug)]
pub struct Ground {
    /// The first shape.
    pub mesh: Mesh,
    /// Its faces for the card.
    pub surface: Arc<Surface>,
    /// What a user should know.
    pub notes: Vec<String>,
    /// Vertices that are balanced for a mesh with a cage.
    pub cage: Option<usize>,
    /// Distances along it, for brushes; `None` where it has no faces.
    pub geodesics: Option<ExactGeodesics>,
    /// The diagonal of the box around it.
    pub size: f64,
}

/// One of two ways to blend.
#[derive(Debug, Clone)]
pub struct Side {
    /// Where the vertices are.
    pub positions: Arc<Vec<DVec3>>,
    /// The same for the card.
    pub vertices: Arc<Vertices>,
    /// How far edges at each vertex are from their blended length, in percent.
    pub strains: Arc<Vec<f32>>,
    /// In a few numbers.
    pub figures: Figures,
}

/// What a solve did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// Whether forces balance and contacts have settled.
    pub converged: bool,
    /// The largest force that is left.
    pub residual: f64,
    /// Steps of the solver.
    pub iterations: usize,
    /// Vertices that touch an obstacle.
    pub contacts: usize,
    /// Pairs of vertices and faces of the surface that push each other.
    pub self_contacts: usize,
    /// Elements inside that turned over.
    pub inverted: usize,
    /// Seconds that it took.
    pub secs: f64,
}

/// Starts the worker.
#[must_use]
pub(super) fn start(wake: Wake, joining: Joining) -> Latest<Question, Balanced> {
    let told = wake.clone();
    Latest::new(
        "Blending",
        wake,
        move |inbox: &Inbox<Question>, outbox: &Outbox<Balanced>| {
            let mut bench: Option<Bench> = None;
            let mut next = inbox.next();
            while let Some(question) = next {
                let watch = joining.begin(&told);
                let ready = Bench::for_question(bench.take(), &question, &*watch);
                watch.end();
                next = match ready {
                    Ok(ready) => serve(bench.insert(ready), &question, inbox, outbox),
                    Err(sentence) => {
                        outbox.put(Err(sentence));
                        inbox.next()
                    }
                };
            }
        },
    )
}

/// Walks to the wanted weights, until it is there or something else is wanted; returns that.
fn serve(
    bench: &mut Bench,
    question: &Question,
    inbox: &Inbox<Question>,
    outbox: &Outbox<Balanced>,
) -> Option<Question> {
    loop {
        match bench.stride(&question.setup.weights) {
            Ok(balanced) => {
                let arrived = balanced.weights == question.setup.weights;
                outbox.put(Ok(Balanced {
                    number: question.number,
                    arrived,
                    ..balanced
                }));
                if arrived || inbox.waits() {
                    return inbox.next();
                }
            }
            Err(error) => {
                outbox.put(Err(question.sentence(&error)));
                return inbox.next();
            }
        }
    }
}

impl Question {
    /// The shapes as poses of one mesh, as far as they are.
    fn shapes(&self) -> Result<Vec<Mesh>, String> {
        let shape = |source: &Source| {
            let rig = &source.rig;
            let mut positions = rig.neutral().positions().to_vec();
            if !source.target.is_empty() {
                let target = rig
                    .slider_named(&source.target)
                    .map_err(|error| format!("{error}."))?;
                rig.targets()[target].add_to(1.0, &mut positions);
            }
            rig.neutral()
                .posed(positions)
                .map_err(|error| error.to_string())
        };
        self.sources.iter().map(shape).collect()
    }

    fn obstacles(&self) -> Result<Vec<Obstacle>, PhysicsError> {
        self.setup
            .obstacles
            .iter()
            .map(super::obstacle::ObstacleMark::solid)
            .collect()
    }

    /// An error as a sentence about a shape by its name.
    pub(super) fn sentence(&self, error: &PhysicsError) -> String {
        let name = |k: usize| self.setup.shapes.get(k).map_or("?", |shape| shape.name());
        match error {
            PhysicsError::OtherCount {
                shape,
                found,
                expected,
            } => format!(
                "'{}' has {found} vertices and '{}' has {expected}. Choose shapes that are poses of one mesh.",
                name(*shape),
                name(0)
            ),
            PhysicsError::OtherFaces { shape } => {
                format!(
                    "'{}' has other faces than '{}'. Choose shapes that are poses of one mesh.",
                    name(*shape),
                    name(0)
                )
            }
            PhysicsError::PerVertex { .. } => {
                "The painted stiffness belongs to another mesh. Clear it and paint it again."
                    .to_owned()
            }
            PhysicsError::Stopped => {
                "Joining the shapes was cancelled. Press Try again, or choose other shapes."
                    .to_owned()
            }
            other => format!("The shapes cannot be blended: {other}."),
        }
    }
}

/// The shapes of a setup, joined by springs among its obstacles.
#[derive(Debug)]
pub(super) struct Bench {
    sources: Vec<Source>,
    setup: Setup,
    scene: SceneBlend,
    ground: Arc<Ground>,
    /// Positions by shape.
    shapes: Vec<Vec<DVec3>>,
    /// Area and volume by shape.
    sizes: Vec<[f64; 2]>,
    obstacles: Vec<Obstacle>,
    /// Where the walk is.
    weights: Option<Vec<f64>>,
}

impl Bench {
    /// The bench for a question: the same one, one with other obstacles, or a new one.
    ///
    /// # Errors
    /// A sentence about shapes that do not belong together.
    pub(super) fn for_question(
        former: Option<Self>,
        question: &Question,
        progress: &dyn Progress,
    ) -> Result<Self, String> {
        let mut bench = match former {
            Some(bench)
                if bench.sources == question.sources
                    && bench.setup.same_springs(&question.setup) =>
            {
                if bench.setup.same_scene(&question.setup) {
                    bench
                } else {
                    bench.among(question)?
                }
            }
            _ => Self::new(question, progress)?,
        };
        bench.setup.clone_from(&question.setup);
        Ok(bench)
    }

    fn new(question: &Question, progress: &dyn Progress) -> Result<Self, String> {
        let (meshes, setup) = (question.shapes()?, &question.setup);
        let told = |error: PhysicsError| question.sentence(&error);
        let obstacles = question.obstacles().map_err(told)?;
        let options = SceneOptions::default()
            .with_blend(setup.blend_options())
            .with_cage(setup.cage.into())
            .with_contact(setup.contact_options());
        let options = obstacles.iter().fold(options, |o, obstacle| {
            o.with_obstacle(obstacle.clone(), ObstacleMotion::still())
        });
        let scene = SceneBlend::ready_for_walk(&meshes, &options, WALK, progress).map_err(told)?;
        let ground = Ground {
            surface: Surface::of(&meshes[0]),
            notes: scene.notes().to_vec(),
            cage: scene.cage().map(|cage| cage.shapes()[0].vertex_count()),
            geodesics: ExactGeodesics::new(&meshes[0]).ok(),
            size: meshes[0]
                .bounds()
                .map_or(1.0, |bounds| bounds.size().length()),
            mesh: meshes[0].clone(),
        };
        Ok(Self {
            sources: question.sources.clone(),
            setup: setup.clone(),
            scene,
            ground: Arc::new(ground),
            sizes: meshes
                .iter()
                .map(|mesh| [mesh.area(), mesh.signed_volume()])
                .collect(),
            shapes: meshes
                .iter()
                .map(|mesh| mesh.positions().to_vec())
                .collect(),
            obstacles,
            weights: None,
        })
    }

    fn among(self, question: &Question) -> Result<Self, String> {
        let told = |error: PhysicsError| question.sentence(&error);
        let obstacles = question.obstacles().map_err(told)?;
        let standing = obstacles
            .iter()
            .map(|obstacle| (obstacle.clone(), ObstacleMotion::still()))
            .collect();
        let scene = self
            .scene
            .among(standing, &question.setup.contact_options())
            .map_err(told)?;
        Ok(Self {
            scene,
            obstacles,
            weights: None,
            ..self
        })
    }

    /// One stride towards the wanted weights, or all the way where nothing is in it.
    ///
    /// # Errors
    /// As [`SceneBlend::step`].
    pub(super) fn stride(&mut self, wanted: &[f64]) -> Result<Balanced, PhysicsError> {
        let weights = match &self.weights {
            Some(now) if !self.obstacles.is_empty() || self.setup.self_contact => {
                strode(now, wanted, STRIDE)
            }
            _ => wanted.to_vec(),
        };
        let begun = Instant::now();
        let frame = self.scene.step(&weights, 0.0)?;
        self.weights = Some(weights.clone());
        self.balanced(weights, frame, begun)
    }

    /// The shape at `weights`, on the way from the last one.
    ///
    /// # Errors
    /// As [`SceneBlend::step`].
    pub(super) fn frame(&mut self, weights: &[f64]) -> Result<Vec<DVec3>, PhysicsError> {
        Ok(self.scene.step(weights, 0.0)?.shape.positions)
    }

    fn balanced(
        &self,
        weights: Vec<f64>,
        frame: ContactFrame,
        begun: Instant,
    ) -> Result<Balanced, PhysicsError> {
        let linear = linear_blend(&self.shapes, &weights, self.ground.mesh.vertex_count());
        let report = frame.shape.report;
        let solved = Solved {
            converged: report.converged,
            residual: report.residual,
            iterations: report.iterations,
            contacts: frame.contacts,
            self_contacts: frame.self_contacts,
            inverted: frame.shape.inverted,
            secs: begun.elapsed().as_secs_f64(),
        };
        Ok(Balanced {
            number: 0,
            arrived: false,
            ground: self.ground.clone(),
            linear: self.side(&weights, linear)?,
            physical: self.side(&weights, frame.shape.positions)?,
            weights,
            frame: solved,
        })
    }

    fn side(&self, weights: &[f64], positions: Vec<DVec3>) -> Result<Side, PhysicsError> {
        let mesh = self.ground.mesh.posed(positions)?;
        let strains = vertex_strains(&mesh, &self.shapes, weights);
        let figures = Figures::of(&mesh, &strains, weights, &self.sizes, &self.obstacles);
        Ok(Side {
            vertices: Vertices::of(&mesh, mesh.positions()),
            positions: Arc::new(mesh.positions().to_vec()),
            strains: Arc::new(
                strains
                    .iter()
                    .map(|&strain| (100.0 * strain) as f32)
                    .collect(),
            ),
            figures,
        })
    }
}

/// Weights on the way to others, no further than `stride`.
fn strode(now: &[f64], wanted: &[f64], stride: f64) -> Vec<f64> {
    let way = now
        .iter()
        .zip(wanted)
        .map(|(a, b)| (b - a).abs())
        .fold(0.0, f64::max);
    // Rounding makes no stride of its own.
    if way <= stride * (1.0 + 1e-9) {
        return wanted.to_vec();
    }
    now.iter()
        .zip(wanted)
        .map(|(a, b)| a + (b - a) * (stride / way))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_lead_to_the_weights_and_keep_their_sum() {
        let (mut now, wanted) = (vec![1.0, 0.0, 0.0], [0.1, 0.4, 0.5]);
        let mut strides = 0;
        while now != wanted {
            now = strode(&now, &wanted, STRIDE);
            assert!((now.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            strides += 1;
        }
        assert_eq!(strides, 9);
    }
}
