//! Worker that computes blended shapes as equilibria of springs.
//!
//! The weights can change faster than the solver converges; the worker serves the newest request
//! only. Among obstacles a result depends on the path of the weights, so the worker keeps its
//! [`SceneBlend`] and moves from the current weights to the requested ones in small steps, each of
//! which is shown. The springs are assembled once for a set of shapes; other obstacles start a new
//! path with the same springs.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;
use pliant::mesh::{ExactGeodesics, Mesh, Progress};
use pliant::physics::{
    ContactFrame, Obstacle, ObstacleMotion, PhysicsError, SceneBlend, SceneOptions, linear_blend,
    vertex_strains,
};
use pliant::rig::{Rig, Target};
use web_time::Instant;

use super::Figures;
use super::assembly::AssemblyProgress;
use crate::engine::surface::{Surface, Vertices};
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::blend::Setup;
use crate::model::names::to_message;

/// The largest change of weights between two shown steps among obstacles. Chosen: ten steps from
/// shape to shape.
const STRIDE: f64 = 0.1;
/// The number of steps that the solver prepares for, so that dragged weights cost little.
const WALK: usize = 36;

/// The source of a shape.
#[derive(Debug, Clone)]
pub(crate) struct Source {
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
    /// Whether two rigs have the same shape, even if they differ elsewhere, such as by a muted
    /// slider.
    fn same_shape(&self, other: &Self) -> bool {
        let a = self.rig.neutral();
        let b = other.rig.neutral();
        a.same_surface(b) && a.positions() == b.positions() && self.moved() == other.moved()
    }

    fn moved(&self) -> Option<&Target> {
        self.rig
            .targets()
            .iter()
            .find(|target| target.name == self.target)
    }
}

/// Request to the worker: the blend of a setup.
#[derive(Debug, Clone)]
pub(crate) struct BlendRequest {
    /// The number of the request.
    pub number: u64,
    /// Its shapes.
    pub sources: Vec<Source>,
    /// All other settings.
    pub setup: Setup,
}

/// A computed blend.
#[derive(Debug, Clone)]
pub struct BlendResult {
    /// The request.
    pub number: u64,
    /// Whether the weights are the requested ones; otherwise this is an intermediate step.
    pub arrived: bool,
    /// The weight of each shape.
    pub weights: Vec<f64>,
    /// What all shapes share.
    pub ground: Arc<BlendBase>,
    /// The linear blend.
    pub linear: BlendSide,
    /// The physical blend.
    pub physical: BlendSide,
    /// The report of the solver.
    pub frame: Solved,
}

/// What all blends of the same shapes share.
#[derive(Debug)]
pub struct BlendBase {
    /// The first shape.
    pub mesh: Mesh,
    /// Its faces for the graphics card.
    pub surface: Arc<Surface>,
    /// Warnings for the user.
    pub notes: Vec<String>,
    /// The number of cage vertices, for a mesh with a cage.
    pub cage: Option<usize>,
    /// Distances along it, for brushes; `None` where it has no faces.
    pub geodesics: Option<ExactGeodesics>,
    /// The diagonal of the box around it.
    pub size: f64,
}

/// One of the two blends: linear or physical.
#[derive(Debug, Clone)]
pub struct BlendSide {
    /// The vertex positions.
    pub positions: Arc<Vec<DVec3>>,
    /// The vertices for the graphics card.
    pub vertices: Arc<Vertices>,
    /// The strain of the edges at each vertex, in percent.
    pub strains: Arc<Vec<f32>>,
    /// Its figures.
    pub figures: Figures,
}

/// The report of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// Whether the solver and the contacts converged.
    pub converged: bool,
    /// The residual: the largest nodal force.
    pub residual: f64,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Contacts with obstacles.
    pub contacts: usize,
    /// Self-contacts: pairs of a vertex and a face.
    pub self_contacts: usize,
    /// Inverted interior elements.
    pub inverted: usize,
    /// Seconds that it took.
    pub secs: f64,
}

/// Starts the worker.
#[must_use]
pub(crate) fn start(wake: Wake, assembly: AssemblyProgress) -> Latest<BlendRequest, BlendResult> {
    let waker = wake.clone();
    Latest::new(
        "Blending",
        wake,
        move |inbox: &Inbox<BlendRequest>, outbox: &Outbox<BlendResult>| {
            let mut solver: Option<EquilibriumSolver> = None;
            let mut next = inbox.next();
            while let Some(request) = next {
                // Only an assembly takes long enough for a progress bar.
                let watch = assembly.begin(&waker);
                let ready = EquilibriumSolver::for_question(solver.take(), &request, &*watch);
                watch.end();
                next = match ready {
                    Ok(ready) => serve(solver.insert(ready), &request, inbox, outbox),
                    Err(message) => {
                        outbox.put(Err(message));
                        inbox.next()
                    }
                };
            }
        },
    )
}

/// Steps to the requested weights until they are reached or another request arrives; returns that
/// request.
fn serve(
    solver: &mut EquilibriumSolver,
    request: &BlendRequest,
    inbox: &Inbox<BlendRequest>,
    outbox: &Outbox<BlendResult>,
) -> Option<BlendRequest> {
    loop {
        match solver.stride(&request.setup.weights) {
            Ok(blend_result) => {
                let arrived = blend_result.weights == request.setup.weights;
                outbox.put(Ok(BlendResult {
                    number: request.number,
                    arrived,
                    ..blend_result
                }));

                // Intermediate steps are shown until a newer request waits.
                if arrived || inbox.waits() {
                    return inbox.next();
                }
            }
            Err(error) => {
                outbox.put(Err(request.message(&error)));
                return inbox.next();
            }
        }
    }
}

impl BlendRequest {
    /// The shapes as poses of one mesh.
    fn shapes(&self) -> Result<Vec<Mesh>, String> {
        let shape = |source: &Source| {
            let rig = &source.rig;
            let mut positions = rig.neutral().positions().to_vec();
            // A shape is a target at full weight.
            if !source.target.is_empty() {
                let target = rig
                    .slider_named(&source.target)
                    .map_err(|error| format!("{error}."))?;
                rig.targets()[target.index()].add_to(1.0, &mut positions);
            }

            rig.neutral().posed(positions).map_err(to_message)
        };
        self.sources.iter().map(shape).collect()
    }

    fn obstacles(&self) -> Result<Vec<Obstacle>, PhysicsError> {
        self.setup
            .obstacles
            .iter()
            .map(crate::model::blend::ObstacleMark::solid)
            .collect()
    }

    /// An error as a message about a shape by its name.
    pub(crate) fn message(&self, error: &PhysicsError) -> String {
        let name = |k: usize| self.setup.shapes.get(k).map_or("?", |shape| shape.name());
        // The errors of the library count shapes; the user knows them by name.
        match error {
            PhysicsError::VertexCountMismatch {
                shape,
                found,
                expected,
            } => format!(
                "'{}' has {found} vertices and '{}' has {expected}. Choose shapes that are poses of one mesh.",
                name(*shape),
                name(0)
            ),
            PhysicsError::FaceMismatch { shape } => {
                format!(
                    "The faces of '{}' and '{}' differ. Choose shapes that are poses of one mesh.",
                    name(*shape),
                    name(0)
                )
            }
            PhysicsError::PerVertex { .. } => {
                "The painted stiffness belongs to another mesh. Clear it and paint it again."
                    .to_owned()
            }
            PhysicsError::Stopped(_) => {
                "The assembly of the springs was cancelled. Press Try again, or choose other shapes."
                    .to_owned()
            }
            other => format!("The shapes cannot be blended: {other}."),
        }
    }
}

/// The springs of the shapes of a setup, with its obstacles.
#[derive(Debug)]
pub(crate) struct EquilibriumSolver {
    sources: Vec<Source>,
    setup: Setup,
    scene: SceneBlend,
    ground: Arc<BlendBase>,
    /// Positions by shape.
    shapes: Vec<Vec<DVec3>>,
    /// Area and volume by shape.
    sizes: Vec<[f64; 2]>,
    obstacles: Vec<Obstacle>,
    /// The current weights.
    weights: Option<Vec<f64>>,
}

impl EquilibriumSolver {
    /// The solver for a request: the same one, one with other obstacles, or a new one.
    ///
    /// # Errors
    /// A message about shapes that are not poses of one mesh.
    pub(crate) fn for_question(
        former: Option<Self>,
        request: &BlendRequest,
        progress: &dyn Progress,
    ) -> Result<Self, String> {
        // The springs depend on shapes and material only; obstacles can change around them.
        let mut solver = match former {
            Some(solver)
                if solver.sources == request.sources
                    && solver.setup.same_springs(&request.setup) =>
            {
                if solver.setup.same_scene(&request.setup) {
                    solver
                } else {
                    solver.among(request)?
                }
            }
            _ => Self::new(request, progress)?,
        };

        solver.setup.clone_from(&request.setup);
        Ok(solver)
    }

    fn new(request: &BlendRequest, progress: &dyn Progress) -> Result<Self, String> {
        let meshes = request.shapes()?;
        let setup = &request.setup;
        let to_text = |error: PhysicsError| request.message(&error);
        let obstacles = request.obstacles().map_err(to_text)?;
        let options = SceneOptions::default()
            .with_blend(setup.blend_options())
            .with_cage(setup.cage.into())
            .with_contact(setup.contact_options());

        // Obstacles of the studio do not move during a blend.
        let options = obstacles.iter().fold(options, |o, obstacle| {
            o.with_obstacle(obstacle.clone(), ObstacleMotion::still())
        });
        let scene =
            SceneBlend::new_for_frames(&meshes, &options, WALK, progress).map_err(to_text)?;
        // The first shape carries the topology that all shapes share.
        let ground = BlendBase {
            surface: Surface::of(&meshes[0]),
            notes: scene.warnings().to_vec(),
            cage: scene.cage().map(|cage| cage.shapes()[0].vertex_count()),
            geodesics: ExactGeodesics::new(&meshes[0]).ok(),
            size: meshes[0]
                .bounds()
                .map_or(1.0, |bounds| bounds.size().length()),
            mesh: meshes[0].clone(),
        };

        Ok(Self {
            sources: request.sources.clone(),
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

    fn among(self, request: &BlendRequest) -> Result<Self, String> {
        let to_text = |error: PhysicsError| request.message(&error);
        let obstacles = request.obstacles().map_err(to_text)?;
        let standing = obstacles
            .iter()
            .map(|obstacle| (obstacle.clone(), ObstacleMotion::still()))
            .collect();

        let scene = self
            .scene
            .with_obstacles(standing, &request.setup.contact_options())
            .map_err(to_text)?;

        // The path starts again, because contacts of the old obstacles mean nothing here.
        Ok(Self {
            scene,
            obstacles,
            weights: None,
            ..self
        })
    }

    /// One step towards the requested weights, or all of it without obstacles.
    ///
    /// # Errors
    /// As [`SceneBlend::step`].
    pub(crate) fn stride(&mut self, wanted: &[f64]) -> Result<BlendResult, PhysicsError> {
        // Only contacts depend on the path; without them one step is enough.
        let weights = match &self.weights {
            Some(now) if !self.obstacles.is_empty() || self.setup.self_contact => {
                stepped_weights(now, wanted, STRIDE)
            }
            _ => wanted.to_vec(),
        };

        let started = Instant::now();
        let frame = self.scene.step(&weights, 0.0)?;
        self.weights = Some(weights.clone());

        self.blend_result(weights, frame, started)
    }

    /// The shape at `weights`, on the path from the last one.
    ///
    /// # Errors
    /// As [`SceneBlend::step`].
    pub(crate) fn frame(&mut self, weights: &[f64]) -> Result<Vec<DVec3>, PhysicsError> {
        Ok(self.scene.step(weights, 0.0)?.shape.positions)
    }

    fn blend_result(
        &self,
        weights: Vec<f64>,
        frame: ContactFrame,
        started: Instant,
    ) -> Result<BlendResult, PhysicsError> {
        // The linear blend is shown beside the physical one for comparison.
        let linear = linear_blend(&self.shapes, &weights, self.ground.mesh.vertex_count());
        let report = frame.shape.report;
        let solved = Solved {
            converged: report.converged,
            residual: report.residual,
            iterations: report.iterations,
            contacts: frame.contacts,
            self_contacts: frame.self_contacts,
            inverted: frame.shape.inverted,
            secs: started.elapsed().as_secs_f64(),
        };

        Ok(BlendResult {
            number: 0,
            arrived: false,
            ground: self.ground.clone(),
            linear: self.side(&weights, linear)?,
            physical: self.side(&weights, frame.shape.positions)?,
            weights,
            frame: solved,
        })
    }

    fn side(&self, weights: &[f64], positions: Vec<DVec3>) -> Result<BlendSide, PhysicsError> {
        let mesh = self.ground.mesh.posed(positions)?;
        let strains = vertex_strains(&mesh, &self.shapes, weights);
        let figures = Figures::of(&mesh, &strains, weights, &self.sizes, &self.obstacles);

        Ok(BlendSide {
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

/// Weights on the path to others, at most `stride` away.
fn stepped_weights(now: &[f64], wanted: &[f64], stride: f64) -> Vec<f64> {
    let distance = now
        .iter()
        .zip(wanted)
        .map(|(a, b)| (b - a).abs())
        .fold(0.0, f64::max);

    // A remainder from rounding is not an extra step.
    if distance <= stride * (1.0 + 1e-9) {
        return wanted.to_vec();
    }

    now.iter()
        .zip(wanted)
        .map(|(a, b)| a + (b - a) * (stride / distance))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_reach_the_weights_and_keep_their_sum() {
        let mut now = vec![1.0, 0.0, 0.0];
        let wanted = [0.1, 0.4, 0.5];
        let mut strides = 0;
        while now != wanted {
            now = stepped_weights(&now, &wanted, STRIDE);
            assert!((now.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            strides += 1;
        }
        assert_eq!(strides, 9);
    }
}
