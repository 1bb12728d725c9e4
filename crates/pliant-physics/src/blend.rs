//! Shapes between shapes as equilibria of springs.
//!
//! **Problem.** Linear blending shrinks what turns. Blend lengths instead, and find the shape that
//! has them.
//!
//! **Equation.** At weights `w` that sum to one, the shape is where the springs with rest lengths
//! `r̄ = Σₛ wₛ rˢ` balance. Where one weight is one and the others are zero, that is the shape
//! itself.
//!
//! **Source.** Ma, Wang, Fyffe, Chen, Debevec, "A blendshape model that incorporates physical
//! interaction", Computer Animation and Virtual Worlds 2012, section 3.
//!
//! **Ours.** Every search starts from a prediction ([`crate::predictor`]) and not from the last
//! result, so that a shape does not depend on those asked for before.

mod options;

use std::collections::BTreeMap;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::{Mesh, MeshError, Progress};

pub use options::BlendOptions;

use crate::PhysicsError;
use crate::carry::{Carry, sample_levels};
use crate::distortion::Distortion;
use crate::energy::{Node, SpringEnergy};
use crate::energy_terms::Lengths;
use crate::equilibrium::{BlendReport, Equilibrium};
use crate::error::go_on;
use crate::fast::SpringLaplacian;
use crate::interior::tetrahedron::volume;
use crate::interior::{Interior, check_shapes};
use crate::linear_blend::{linear_blend, sole_shape};
use crate::parts::Parts;
use crate::predictor::Predictor;
use crate::push::Push;
use crate::rigid_modes::RigidModes;
use crate::solver::{Engine, Solver};
use crate::springs::{SpringCounts, Springs};
use crate::support::{Constraint, Support};
use crate::terms::Terms;

/// A shape between shapes.
#[derive(Debug, Clone, PartialEq)]
pub struct BlendFrame {
    /// The weights of the shapes.
    pub weights: Vec<f64>,
    /// Surface vertices.
    pub positions: Vec<DVec3>,
    /// Points inside.
    pub interior: Vec<DVec3>,
    /// How the solve ended.
    pub report: BlendReport,
    /// Area of the surface.
    pub area: f64,
    /// Signed volume of the surface.
    pub volume: f64,
    /// How far edges are from their blended lengths: the mean share.
    pub strain: f64,
    /// The same figures of the linear blend.
    pub linear: Distortion,
    /// Tetrahedra of the interior whose signed volume has another sign than in the first shape.
    pub inverted: usize,
}

/// Shapes ready to be blended.
#[derive(Debug)]
pub struct Blend {
    mesh: Mesh,
    solver: Solver,
    /// Surface vertices and points inside, by shape, in place.
    shapes: Vec<Vec<DVec3>>,
    /// The same in the frames of their anchors, with the anchors' corners.
    local: Vec<Vec<DVec3>>,
    tetrahedra: Vec<[u32; 4]>,
    pulls: Vec<(usize, DVec3)>,
    parts: Parts,
    springs: Springs,
    terms: Terms,
    energy: SpringEnergy,
    support: Support,
    predictor: Predictor,
    engine: Engine,
    /// For pairs of shapes, the lower one first; `None` where predictions need no help.
    carries: BTreeMap<[usize; 2], Option<Carry>>,
    notes: Vec<String>,
}

/// Predictions that are made good in so few steps need no samples: ours, about what the samples of
/// a way of 36 frames cost.
const FEW_STEPS: usize = 10;

/// How far the sum of weights may be from one: what six decimals of each may lose.
const SUM_TOLERANCE: f64 = 1e-5;

/// What an equilibrium is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aim {
    /// To be returned: within the tolerance, whatever it takes.
    Result,
    /// To go on from: about within another tolerance.
    Near(f64),
    /// To start others from: closer, but only as far as it is cheap.
    Sample,
}

impl Blend {
    /// Ways of fewer frames are not sampled: ours, the three samples that a way has at least would
    /// cost more than they save.
    pub const WORTH_SAMPLING: usize = 8;

    /// Fills the shapes, joins their points by springs and factors what serves every blend.
    ///
    /// # Errors
    /// Shapes that are not poses of one mesh or not finite, vertices beyond the last, a stiffness
    /// that is not positive.
    pub fn new(shapes: &[Mesh], options: &BlendOptions) -> Result<Self, PhysicsError> {
        Self::new_with_progress(shapes, options, &())
    }

    /// As [`new`](Self::new), watched: `progress` hears of the filling and of the joining.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`PhysicsError::Stopped`] if `progress` asks for it.
    pub fn new_with_progress(
        shapes: &[Mesh],
        options: &BlendOptions,
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        let all: Vec<&Mesh> = shapes.iter().collect();
        check_shapes(&all)?;
        shapes[0].require_surface()?;
        options.check(&shapes[0])?;
        go_on(progress, "Filling the inside", 0.0)?;
        let interior = match options.energy.lengths() {
            Lengths::Springs => Interior::fill(&all, &options.interior)?,
            Lengths::Edges => Interior::none(shapes.len()),
        };
        go_on(progress, "Joining springs", 0.4)?;
        let place = |(s, shape): (usize, &Mesh)| [shape.positions(), interior.points(s)].concat();
        let mut blend = Self::join(
            &shapes[0],
            shapes.iter().enumerate().map(place).collect(),
            interior.tetrahedra(),
            options,
        )?;
        blend.notes.splice(0..0, interior.notes().iter().cloned());
        Ok(blend)
    }

    /// Joins the points of `shapes`, surface vertices first, by springs and anchors.
    fn join(
        mesh: &Mesh,
        shapes: Vec<Vec<DVec3>>,
        tetrahedra: &[[u32; 4]],
        options: &BlendOptions,
    ) -> Result<Self, PhysicsError> {
        let mean = vec![1.0 / shapes.len() as f64; shapes.len()];
        let join = |extra: &[[u32; 2]], shapes: &[Vec<DVec3>]| match options.energy.lengths() {
            Lengths::Springs => Springs::new(mesh, tetrahedra, extra, shapes),
            Lengths::Edges => Springs::edges(mesh, extra, shapes),
        };
        let bare = join(&[], &shapes);
        let network = SpringEnergy::new(bare.points(), bare.ends(), &bare.blended(&mean));
        let parts = Parts::hold(&network, &shapes, &options.fixed, &options.anchor)?;
        let local = parts.to_local(&shapes);
        let mut springs = join(&parts.springs(), &local);
        let stiffness = options
            .stiffness
            .as_ref()
            .map(|map| spread_inside(map, &network, local[0].len()));
        if let Some(map) = &stiffness {
            springs = springs.with_stiffness(map);
        }
        let terms = Terms::of(
            &options.energy,
            mesh,
            tetrahedra,
            &local,
            stiffness.as_deref(),
        );
        let middle = springs.blended(&mean);
        let energy = SpringEnergy::new(springs.points(), springs.ends(), &middle);
        let support = Support::holding(&held(&energy, shapes[0].len(), options));
        let laplacian = SpringLaplacian::factor(&energy, &middle, &support)?;
        let roots: Vec<usize> = (shapes[0].len()..local[0].len())
            .chain(options.fixed.iter().copied())
            .collect();
        Ok(Self {
            mesh: mesh.clone(),
            solver: options.solver,
            tetrahedra: tetrahedra.to_vec(),
            pulls: options.pulls.clone(),
            notes: notes(&parts, options)
                .into_iter()
                .chain(terms.notes().iter().cloned())
                .collect(),
            predictor: Predictor::fit(&energy, laplacian.constants(), &local, &roots),
            engine: Engine::new(laplacian, RigidModes::cut(&energy, &support)),
            shapes,
            local,
            parts,
            springs,
            terms,
            energy,
            support,
            carries: BTreeMap::new(),
        })
    }

    /// How many springs there are.
    #[must_use]
    pub fn spring_counts(&self) -> SpringCounts {
        self.springs.counts()
    }

    /// How many points were added inside.
    #[must_use]
    pub fn interior_points(&self) -> usize {
        self.shapes[0].len() - self.mesh.vertex_count()
    }

    /// What a user should know about this blend.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The mesh of which the shapes are poses.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The shape at `alpha` between the first two: 0 is the first, 1 the second.
    ///
    /// # Errors
    /// Another number of shapes than two; otherwise as [`at`](Self::at).
    pub fn between(&mut self, alpha: f64) -> Result<BlendFrame, PhysicsError> {
        self.at(&[1.0 - alpha, alpha])
    }

    /// The shape at `weights`, which sum to one.
    ///
    /// # Errors
    /// Weights of another number or sum; a system that cannot be factored.
    pub fn at(&mut self, weights: &[f64]) -> Result<BlendFrame, PhysicsError> {
        self.constrained_at(weights, &[], None)
    }

    /// The shape at `weights` with some vertices held or kept on planes, all in place. Points
    /// inside are numbered after the surface. The search begins at `start`, surface vertices
    /// and points inside, or at the prediction.
    ///
    /// # Errors
    /// As [`at`](Self::at); vertices beyond the last, a start of another length.
    pub fn constrained_at(
        &mut self,
        weights: &[f64],
        constraints: &[(usize, Constraint)],
        start: Option<&[DVec3]>,
    ) -> Result<BlendFrame, PhysicsError> {
        self.pressed_at(weights, constraints, &[], start, Aim::Result)
    }

    /// As [`constrained_at`](Self::constrained_at), with pushes in place between vertices.
    pub(crate) fn pressed_at(
        &mut self,
        weights: &[f64],
        constraints: &[(usize, Constraint)],
        pushes: &[Push],
        start: Option<&[DVec3]>,
        aim: Aim,
    ) -> Result<BlendFrame, PhysicsError> {
        self.require_weights(weights)?;
        self.require_constraints(constraints, start)?;
        if let Some(shape) = self
            .sole_shape(weights)
            .filter(|_| constraints.is_empty() && pushes.is_empty())
        {
            return self.shape_itself(shape, weights);
        }
        let free = constraints.is_empty()
            && start.is_none()
            && self.pulls.is_empty()
            && self.solver != Solver::Newton;
        let carry = if free { self.carry(weights) } else { None };
        let frames = self.blend_springs(weights);
        self.press(pushes, &frames);
        self.support
            .constrain(constraints.iter().map(|&(vertex, constraint)| {
                (
                    vertex,
                    into_frame(constraint, &self.parts.frame_of(vertex, &frames)),
                )
            }));
        let mut positions = self.held_positions(weights, &frames);
        let rotations = self.predictor.rotations(weights);
        match start {
            Some(start) => self.start_at(start, &frames, &mut positions),
            None => self.predict(weights, &rotations, &mut positions),
        }
        if let Some((alpha, pair)) = carry {
            let carry = self.carries[&pair]
                .as_ref()
                .expect("carries that are used were sampled");
            positions = self.carried(carry, alpha, &rotations, &positions);
        }
        let balanced = self.balance(positions, aim);
        self.energy.press(Vec::new());
        let (positions, report) = balanced?;
        self.frame(weights, self.in_place(&positions, &frames), report)
    }

    /// Adds pushes, given in place, to the energy.
    fn press(&mut self, pushes: &[Push], frames: &[RigidMotion]) {
        let local = pushes.iter().map(|push| {
            let mut local = *push;
            for (vertex, gradient) in &mut local.ends {
                let motion = self.parts.frame_of(*vertex as usize, frames);
                local.offset -= gradient.dot(motion.translation);
                *gradient = motion.rotation.conjugate() * *gradient;
            }
            local
        });
        self.energy.press(local.collect());
    }

    /// Whether `weights` ask for a shape as it was given.
    pub(crate) fn is_given(&self, weights: &[f64]) -> bool {
        self.sole_shape(weights).is_some()
    }

    /// The surface in each shape.
    pub(crate) fn surfaces(&self) -> Vec<Vec<DVec3>> {
        self.shapes
            .iter()
            .map(|shape| shape[..self.mesh.vertex_count()].to_vec())
            .collect()
    }

    /// How stiff the springs of a vertex are together where the last shape was asked for.
    pub(crate) fn stiffness_at(&self, vertex: usize) -> f64 {
        self.energy.stiffness(vertex)
    }

    /// The forces of the springs at `weights` on surface vertices and points inside, all in place;
    /// none on held ones.
    pub(crate) fn forces_at(&mut self, weights: &[f64], points: &[DVec3]) -> Vec<DVec3> {
        let frames = self.blend_springs(weights);
        let mut local = self.held_positions(weights, &frames);
        self.start_at(points, &frames, &mut local);
        let mut nodes = vec![Node::default(); self.energy.points()];
        self.energy.evaluate(&local, &mut nodes);
        let force = |v: usize| {
            if self.holds(v) {
                DVec3::ZERO
            } else {
                self.parts.frame_of(v, &frames).rotation * nodes[v].force
            }
        };
        (0..points.len()).map(force).collect()
    }

    /// Whether a vertex is fixed, pulled, or without a spring.
    pub(crate) fn holds(&self, vertex: usize) -> bool {
        self.support.unknown_of(vertex).is_none()
    }

    /// The largest force that is left where a search succeeded.
    pub(crate) fn tolerance(&self) -> f64 {
        self.solver.tolerance()
    }

    /// A shape as it was given.
    fn shape_itself(&mut self, shape: usize, weights: &[f64]) -> Result<BlendFrame, PhysicsError> {
        self.blend_springs(weights);
        self.support.constrain([]);
        let report = Equilibrium::start(&self.energy, &self.support, self.local[shape].clone())
            .report(self.solver.tolerance());
        self.frame(weights, self.shapes[shape].clone(), report)
    }

    /// Gives the springs their lengths; returns where the anchors stand.
    fn blend_springs(&mut self, weights: &[f64]) -> Vec<RigidMotion> {
        self.energy.set(&self.springs.blended(weights));
        self.energy.set_further(self.terms.blended(
            weights,
            self.springs.points(),
            self.springs.mean_edge(weights),
        ));
        self.parts.frames(weights)
    }

    fn predict(&mut self, weights: &[f64], rotations: &[DQuat], positions: &mut [DVec3]) {
        self.predictor.predict(
            weights,
            rotations,
            &self.local,
            &self.energy,
            &mut self.engine.laplacian,
            &self.support,
            positions,
        );
    }

    fn balance(
        &mut self,
        start: Vec<DVec3>,
        aim: Aim,
    ) -> Result<(Vec<DVec3>, BlendReport), PhysicsError> {
        let mut state = Equilibrium::start(&self.energy, &self.support, start);
        let tolerance = self.solver.tolerance();
        match aim {
            Aim::Result => self.engine.balance(self.solver, &mut state)?,
            Aim::Near(tolerance) => self.engine.near(self.solver, &mut state, tolerance)?,
            Aim::Sample => self.engine.sample(self.solver, &mut state)?,
        }
        let report = state.report(tolerance);
        Ok((state.positions, report))
    }

    /// Gets ready for `frames` frames between the first two shapes: where they are many, the way is
    /// sampled, so that each starts closer to balance. Frames asked for without it are the same
    /// within the tolerance of the solver.
    ///
    /// # Errors
    /// A system that cannot be factored.
    pub fn prepare_walk(&mut self, frames: usize) -> Result<(), PhysicsError> {
        self.prepare_walk_with_progress(frames, &())
    }

    /// As [`prepare_walk`](Self::prepare_walk), watched: `progress` hears of every sample.
    ///
    /// # Errors
    /// As [`prepare_walk`](Self::prepare_walk), and [`PhysicsError::Stopped`] if `progress` asks
    /// for it.
    pub fn prepare_walk_with_progress(
        &mut self,
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<(), PhysicsError> {
        let free = self.pulls.is_empty() && self.solver != Solver::Newton && self.shapes.len() > 1;
        if free && frames >= Self::WORTH_SAMPLING && !self.carries.contains_key(&[0, 1]) {
            let sampled = self.sample([0, 1], frames, progress)?;
            self.carries.insert([0, 1], sampled);
        }
        Ok(())
    }

    /// Where `weights` lie on a way that was sampled and whose predictions lack enough to be
    /// carried along.
    fn carry(&self, weights: &[f64]) -> Option<(f64, [usize; 2])> {
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        let &[a, b] = active.as_slice() else {
            return None;
        };
        let between = (0.0..=1.0).contains(&weights[b]);
        let sampled = self.carries.get(&[a, b]).is_some_and(Option::is_some);
        (between && sampled).then_some((weights[b], [a, b]))
    }

    /// Samples what predictions between two shapes lack, unless they lack little.
    fn sample(
        &mut self,
        pair: [usize; 2],
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<Option<Carry>, PhysicsError> {
        self.support.constrain([]);
        let (mut carry, mut samples) = (None, 0);
        for level in sample_levels(frames) {
            let mut most = 0;
            for alpha in level {
                go_on(
                    progress,
                    "Sampling the way",
                    f64::from(samples) / frames as f64,
                )?;
                samples += 1;
                most = most.max(self.sample_at(pair, alpha, &mut carry)?);
            }
            if most <= FEW_STEPS {
                break;
            }
        }
        Ok(carry)
    }

    /// Adds the sample at `alpha`; returns the steps it took. Where it is the first and they are
    /// few, nothing need be carried.
    fn sample_at(
        &mut self,
        [a, b]: [usize; 2],
        alpha: f64,
        carry: &mut Option<Carry>,
    ) -> Result<usize, PhysicsError> {
        let mut weights = vec![0.0; self.shapes.len()];
        (weights[a], weights[b]) = (1.0 - alpha, alpha);
        let frames = self.blend_springs(&weights);
        let rotations = self.predictor.rotations(&weights);
        let mut predicted = self.held_positions(&weights, &frames);
        self.predict(&weights, &rotations, &mut predicted);
        let start = match carry {
            Some(carry) => self.carried(carry, alpha, &rotations, &predicted),
            None => predicted.clone(),
        };
        let (found, report) = self.balance(start, Aim::Sample)?;
        if carry.is_some() || report.iterations > FEW_STEPS {
            carry
                .get_or_insert_default()
                .learn(alpha, &found, &predicted, &rotations);
        }
        Ok(report.iterations)
    }

    /// A prediction with what it is expected to lack. Where shapes snap between samples, that may
    /// be worse than nothing.
    fn carried(
        &self,
        carry: &Carry,
        alpha: f64,
        rotations: &[DQuat],
        predicted: &[DVec3],
    ) -> Vec<DVec3> {
        let mut carried = predicted.to_vec();
        carry.add_to(&mut carried, alpha, rotations);
        if self.energy.at(&carried) < self.energy.at(predicted) {
            carried
        } else {
            predicted.to_vec()
        }
    }

    /// Surface vertices and points inside where they belong, pulled ones to the bit.
    fn in_place(&self, local: &[DVec3], frames: &[RigidMotion]) -> Vec<DVec3> {
        let own = &local[..self.shapes[0].len()];
        let mut placed: Vec<DVec3> = own
            .iter()
            .enumerate()
            .map(|(vertex, p)| self.parts.frame_of(vertex, frames).apply(*p))
            .collect();
        for &(vertex, place) in &self.pulls {
            placed[vertex] = place;
        }
        placed
    }

    fn require_weights(&self, weights: &[f64]) -> Result<(), PhysicsError> {
        let (found, expected) = (weights.len(), self.shapes.len());
        if found != expected {
            return Err(PhysicsError::WeightCount { found, expected });
        }
        let sum: f64 = weights.iter().sum();
        if (sum - 1.0).abs() <= SUM_TOLERANCE {
            Ok(())
        } else {
            Err(PhysicsError::WeightSum { sum })
        }
    }

    fn require_constraints(
        &self,
        constraints: &[(usize, Constraint)],
        start: Option<&[DVec3]>,
    ) -> Result<(), PhysicsError> {
        let vertices = self.shapes[0].len();
        if let Some(&(vertex, _)) = constraints.iter().find(|(vertex, _)| *vertex >= vertices) {
            return Err(MeshError::NoSuchVertex { vertex, vertices }.into());
        }
        match start.map(<[DVec3]>::len) {
            Some(found) if found != vertices => Err(PhysicsError::PerVertex {
                what: "the start of the search",
                found,
                expected: vertices,
            }),
            _ => Ok(()),
        }
    }

    /// The shape that has all the weight, where nothing pulls.
    fn sole_shape(&self, weights: &[f64]) -> Option<usize> {
        sole_shape(weights).filter(|_| self.pulls.is_empty())
    }

    /// The linear blend in the anchors' frames with pulled vertices in place: right for all that is
    /// held.
    fn held_positions(&self, weights: &[f64], frames: &[RigidMotion]) -> Vec<DVec3> {
        let mut positions = linear_blend(&self.local, weights, self.local[0].len());
        for &(vertex, place) in &self.pulls {
            positions[vertex] = self.parts.frame_of(vertex, frames).inverse().apply(place);
        }
        positions
    }

    fn start_at(&self, start: &[DVec3], frames: &[RigidMotion], positions: &mut [DVec3]) {
        for &vertex in self.support.unknown_vertices() {
            let vertex = vertex as usize;
            positions[vertex] = self
                .parts
                .frame_of(vertex, frames)
                .inverse()
                .apply(start[vertex]);
        }
    }

    /// Surface vertices and points inside as a frame.
    pub(crate) fn frame(
        &self,
        weights: &[f64],
        mut positions: Vec<DVec3>,
        report: BlendReport,
    ) -> Result<BlendFrame, PhysicsError> {
        let inverted = self
            .tetrahedra
            .iter()
            .filter(|t| turned_over(t, &self.shapes[0], &positions))
            .count();
        let interior = positions.split_off(self.mesh.vertex_count());
        let surface = self.mesh.posed(positions)?;
        let Distortion {
            area,
            volume,
            strain,
        } = Distortion::of(&surface, &self.shapes, weights);
        let linear = self.mesh.posed(linear_blend(
            &self.shapes,
            weights,
            self.mesh.vertex_count(),
        ))?;
        let linear = Distortion::of(&linear, &self.shapes, weights);
        let positions = surface.positions().to_vec();
        Ok(BlendFrame {
            weights: weights.to_vec(),
            positions,
            interior,
            report,
            area,
            volume,
            strain,
            linear,
            inverted,
        })
    }
}

/// Whether a tetrahedron has another orientation in `now` than in `before`.
fn turned_over(tetrahedron: &[u32; 4], before: &[DVec3], now: &[DVec3]) -> bool {
    let volume = |points: &[DVec3]| volume(tetrahedron.map(|v| points[v as usize]));
    volume(before) * volume(now) < 0.0
}

/// A constraint in the frame that `motion` takes to its place.
fn into_frame(constraint: Constraint, motion: &RigidMotion) -> Constraint {
    match constraint {
        Constraint::Fixed(point) => Constraint::Fixed(motion.inverse().apply(point)),
        Constraint::Plane { normal, offset } => Constraint::Plane {
            normal: motion.rotation.conjugate() * normal,
            offset: offset - normal.dot(motion.translation),
        },
        Constraint::Line { point, direction } => Constraint::Line {
            point: motion.inverse().apply(point),
            direction: motion.rotation.conjugate() * direction,
        },
    }
}

/// Vertices that are no unknowns: fixed, pulled, corners of anchors, and those without a spring.
fn held(energy: &SpringEnergy, points: usize, options: &BlendOptions) -> Vec<bool> {
    let mut held: Vec<bool> = (0..energy.points())
        .map(|v| v >= points || energy.around(v).next().is_none())
        .collect();
    for &vertex in options
        .fixed
        .iter()
        .chain(options.pulls.iter().map(|(vertex, _)| vertex))
    {
        held[vertex] = true;
    }
    held
}

/// The map continued to points inside, ring after ring: the mean of the neighbours that have a
/// value.
fn spread_inside(map: &[f64], network: &SpringEnergy, points: usize) -> Vec<f64> {
    let mut values: Vec<Option<f64>> = map.iter().map(|&k| Some(k)).collect();
    values.resize(network.points(), None);
    loop {
        let known = |v: usize| {
            let (sum, count) = network
                .around(v)
                .filter_map(|(other, _)| values[other])
                .fold((0.0, 0), |(s, c), k| (s + k, c + 1));
            (count > 0).then(|| sum / f64::from(count))
        };
        let found: Vec<(usize, f64)> = (0..values.len())
            .filter(|&v| values[v].is_none())
            .filter_map(|v| Some((v, known(v)?)))
            .collect();
        if found.is_empty() {
            break;
        }
        for (vertex, value) in found {
            values[vertex] = Some(value);
        }
    }
    let mut all: Vec<f64> = values.into_iter().map(|k| k.unwrap_or(1.0)).collect();
    let mean = map.iter().sum::<f64>() / map.len().max(1) as f64;
    all.resize(points, mean); // Corners of anchors.
    all
}

fn notes(parts: &Parts, options: &BlendOptions) -> Vec<String> {
    let mut notes = Vec::new();
    let anchors = parts.anchors().len();
    if anchors > 1 {
        notes.push(format!(
            "{anchors} connected parts have no fixed vertex; each has an anchor of its own"
        ));
    } else if anchors == 1 && !options.fixed.is_empty() {
        notes.push("a connected part has no fixed vertex; it has an anchor of its own".into());
    }
    if !options.fixed.is_empty() && !options.anchor.is_empty() {
        notes.push("fixed vertices take the place of the anchor in the parts they lie in".into());
    }
    notes
}

#[cfg(test)]
mod energy_tests;
#[cfg(test)]
mod tests;
