//! Blending of shapes by the equilibrium of a mass-spring system.
//!
//! **Problem.** Linear blending shrinks rotating parts. Blend lengths instead, and find the shape
//! that has these lengths.
//!
//! **Equation.** At weights `w` that sum to one, the shape is the equilibrium of springs with the
//! rest lengths `r̄ = Σₛ wₛ rˢ`. Where one weight is one and the others are zero, it is the given
//! shape.
//!
//! **Source.** Ma, Wang, Fyffe, Chen, Debevec, "A blendshape model that incorporates physical
//! interaction", Computer Animation and Virtual Worlds 2012, section 3.
//!
//! **Departures.** Every solve starts from a predictor ([`crate::blend::solvers::predictor`]) and
//! not from the last result, so that a shape does not depend on earlier calls.

use std::collections::BTreeMap;

use pliant_linalg::{LinalgError, RigidMotion};
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::{Mesh, MeshError, Progress};

use crate::PhysicsError;
use crate::blend::components::Components;
use crate::blend::distortion::Distortion;
use crate::blend::energy::LengthTerm;
use crate::blend::energy::UnilateralConstraint;
use crate::blend::energy::shape_terms::ShapeTerms;
use crate::blend::energy::{Constraint, Support};
use crate::blend::energy::{Node, SpringEnergy};
use crate::blend::energy::{SpringCounts, Springs};
use crate::blend::interior::tetrahedron::volume;
use crate::blend::interior::{Interior, check_shapes, twins};
use crate::blend::linear_blend::{linear_blend, sole_shape};
use crate::blend::options::BlendOptions;
use crate::blend::rest_shape::bridges::bridges;
use crate::blend::rest_shape::{RestNetwork, RestShape, canonical_order};
use crate::blend::solvers::RigidModes;
use crate::blend::solvers::SpringLaplacian;
use crate::blend::solvers::predictor_correction::{PredictorCorrection, sample_levels};
use crate::blend::solvers::solver::{Solver, SolverState};
use crate::blend::solvers::{BlendReport, Equilibrium, Predictor, place_by_vectors};

/// A blended shape.
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
    /// Mean relative difference of the edges from their blended lengths.
    pub strain: f64,
    /// Area, volume and strain of the linear blend.
    pub linear: Distortion,
    /// Tetrahedra of the interior whose signed volume has another sign than in the first shape.
    pub inverted: usize,
}

/// Shapes with their springs, prefactored for many blends.
#[derive(Debug)]
pub struct Blend {
    mesh: Mesh,
    solver: Solver,
    /// Surface vertices and interior points of each shape, in world coordinates.
    shapes: Vec<Vec<DVec3>>,
    /// The same in the frames of the anchors, followed by the corners of the anchors.
    local: Vec<Vec<DVec3>>,
    tetrahedra: Vec<[u32; 4]>,
    pulls: Vec<(usize, DVec3)>,
    fixed: Vec<usize>,
    components: Components,
    springs: Springs,
    terms: ShapeTerms,
    energy: SpringEnergy,
    support: Support,
    guide: Guide,
    solver_state: SolverState,
    /// For pairs of shapes, the lower one first; `None` where the predictor is good enough.
    corrections: BTreeMap<[usize; 2], Option<PredictorCorrection>>,
    warnings: Vec<String>,
}

/// Where a solve starts, and with which rest lengths.
#[derive(Debug)]
enum Guide {
    /// Blended rest lengths; a predictor is near an equilibrium.
    Lengths(Predictor),
    /// The springs are at rest in this shape.
    Rest(Box<RestShape>),
}

/// Predictions that so few solver steps correct need no samples. Chosen: about the cost of the
/// samples of a sequence of 36 frames.
const FEW_STEPS: usize = 10;

/// How far the sum of weights may be from one: what six decimals of each may lose.
const SUM_TOLERANCE: f64 = 1e-5;

/// What an equilibrium is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SolveAccuracy {
    /// Within the tolerance of the solver, at any cost.
    Full,
    /// About within the given tolerance.
    Rough(f64),
    /// More accurate than a result, as far as that is cheap: other solves start from it.
    Sample,
}

impl Blend {
    /// Sequences of fewer frames are not sampled. Chosen: their three samples would cost more than
    /// they save.
    pub const MIN_SAMPLED_FRAMES: usize = 8;

    /// Fills the shapes, joins their points by springs and factors what serves every blend.
    ///
    /// # Errors
    /// Shapes that are not poses of one mesh or not finite, vertices beyond the last, a stiffness
    /// that is not positive.
    pub fn new(shapes: &[Mesh], options: &BlendOptions) -> Result<Self, PhysicsError> {
        Self::new_with_progress(shapes, options, &())
    }

    /// As [`new`](Self::new), with reports to `progress`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`PhysicsError::Stopped`] if `progress` stops the work.
    pub fn new_with_progress(
        shapes: &[Mesh],
        options: &BlendOptions,
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        let all: Vec<&Mesh> = shapes.iter().collect();
        check_shapes(&all)?;
        shapes[0].require_surface()?;
        options.check(&shapes[0])?;
        progress.proceed("Filling the interior", 0.0)?;

        // The energy of edges is that of the surface alone.
        let interior = match options.energy.lengths() {
            LengthTerm::Path | LengthTerm::Springs => Interior::fill(&all, &options.interior)?,
            LengthTerm::Edges => Interior::none(shapes.len()),
        };

        progress.proceed("Connecting springs", 0.4)?;
        let mut all_points = Vec::with_capacity(shapes.len());
        for (s, shape) in shapes.iter().enumerate() {
            all_points.push([shape.positions(), interior.points(s)].concat());
        }
        let twins = twins(&all);
        let tetrahedra = interior.tetrahedra();
        let mut blend = Self::connect(&shapes[0], all_points, tetrahedra, &twins, options)?;

        // Warnings in the order of the work.
        let mut warnings = interior.warnings().to_vec();
        warnings.append(&mut blend.warnings);
        blend.warnings = warnings;

        Ok(blend)
    }

    /// Connects the points of `shapes`, surface vertices first, by springs and anchors.
    fn connect(
        mesh: &Mesh,
        shapes: Vec<Vec<DVec3>>,
        tetrahedra: &[[u32; 4]],
        twins: &[u32],
        options: &BlendOptions,
    ) -> Result<Self, PhysicsError> {
        // Anchors need the spring network, and their own springs join it afterwards.
        let lengths = options.energy.lengths();
        let mean = vec![1.0 / shapes.len() as f64; shapes.len()];
        let bare = springs_of(lengths, mesh, tetrahedra, &[], &shapes);
        let network = SpringEnergy::new(bare.points(), bare.ends(), &bare.blended(&mean));
        let rest = match lengths {
            LengthTerm::Path => Some(rest_shape(
                mesh, &shapes, tetrahedra, &network, &bare, twins, options,
            )?),
            LengthTerm::Springs | LengthTerm::Edges => None,
        };

        let seeds = match &rest {
            Some(rest) if options.anchor.is_empty() => vec![rest.middle()],
            _ => options.anchor.clone(),
        };
        let components = Components::hold(&network, &shapes, &options.fixed, &seeds)?;
        let local = components.to_local(&shapes);
        let mut springs = springs_of(lengths, mesh, tetrahedra, &components.springs(), &local);

        let map = options.stiffness.as_ref();
        let map = map.map(|map| extend_inside(map, &network, local[0].len()));
        if let Some(map) = &map {
            springs = springs.with_stiffness(map);
        }
        let terms = ShapeTerms::of(&options.energy, mesh, tetrahedra, &local, map.as_deref());

        // Factors at the mean of all shapes serve every blend.
        let middle = springs.blended(&mean);
        let energy = SpringEnergy::new(springs.points(), springs.ends(), &middle);
        let support = Support::holding(&held(&energy, shapes[0].len(), options));
        let laplacian = SpringLaplacian::factor(&energy, &middle, &support)?;

        let mut warnings = anchor_warnings(&components, options);
        warnings.extend_from_slice(terms.warnings());
        let guide = match rest {
            Some(rest) => {
                warnings.extend(torn_warning(rest.torn()));
                Guide::Rest(Box::new(rest))
            }
            None => {
                // The rotations of anchors and fixed vertices have at most half a turn.
                let mut roots: Vec<usize> = (shapes[0].len()..local[0].len()).collect();
                roots.extend_from_slice(&options.fixed);
                Guide::Lengths(Predictor::fit(
                    &energy,
                    laplacian.constants(),
                    &local,
                    &roots,
                ))
            }
        };

        Ok(Self {
            mesh: mesh.clone(),
            solver: options.solver,
            tetrahedra: tetrahedra.to_vec(),
            pulls: options.pulls.clone(),
            fixed: options.fixed.clone(),
            warnings,
            guide,
            solver_state: SolverState::new(laplacian, RigidModes::aggregate(&energy, &support)),
            shapes,
            local,
            components,
            springs,
            terms,
            energy,
            support,
            corrections: BTreeMap::new(),
        })
    }

    /// Number of springs of each kind.
    #[must_use]
    pub fn spring_counts(&self) -> SpringCounts {
        self.springs.counts()
    }

    /// Number of interior points.
    #[must_use]
    pub fn interior_points(&self) -> usize {
        self.shapes[0].len() - self.mesh.vertex_count()
    }

    /// Warnings about the shapes and options.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The mesh of the first shape.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The shape at `alpha` between the first two: 0 is the first, 1 the second.
    ///
    /// # Errors
    /// The number of shapes is not two; otherwise as [`at`](Self::at).
    pub fn between(&mut self, alpha: f64) -> Result<BlendFrame, PhysicsError> {
        self.at(&[1.0 - alpha, alpha])
    }

    /// The shape at `weights`, which sum to one.
    ///
    /// # Errors
    /// A wrong number or sum of weights; a system that cannot be factored.
    pub fn at(&mut self, weights: &[f64]) -> Result<BlendFrame, PhysicsError> {
        self.constrained_at(weights, &[], None)
    }

    /// The shape at `weights` with constrained vertices, in world coordinates. Interior points are
    /// numbered after the surface vertices. The solve starts at `start` (surface vertices and
    /// interior points), or at the predictor.
    ///
    /// # Errors
    /// As [`at`](Self::at); vertices that do not exist, a start of another length.
    pub fn constrained_at(
        &mut self,
        weights: &[f64],
        constraints: &[(usize, Constraint)],
        start: Option<&[DVec3]>,
    ) -> Result<BlendFrame, PhysicsError> {
        self.unilaterally_constrained_at(weights, constraints, &[], start, SolveAccuracy::Full)
    }

    /// As [`constrained_at`](Self::constrained_at), with unilateral constraints between vertices.
    pub(crate) fn unilaterally_constrained_at(
        &mut self,
        weights: &[f64],
        constraints: &[(usize, Constraint)],
        unilateral: &[UnilateralConstraint],
        start: Option<&[DVec3]>,
        accuracy: SolveAccuracy,
    ) -> Result<BlendFrame, PhysicsError> {
        self.require_weights(weights)?;
        self.require_constraints(constraints, start)?;
        if let Some(shape) = self.sole_shape(weights)
            && constraints.is_empty()
            && unilateral.is_empty()
        {
            return self.given_shape(shape, weights);
        }

        let free = constraints.is_empty() && unilateral.is_empty() && start.is_none();
        if free && self.pulls.is_empty() && self.fixed.is_empty() && self.has_rest_shape() {
            return self.rest_frame(weights);
        }

        // Constraints are given in world coordinates and solved in the frames of the anchors.
        let frames = self.blend_springs(weights)?;
        self.set_unilateral(unilateral, &frames);
        let mut local_constraints = Vec::with_capacity(constraints.len());
        for &(vertex, constraint) in constraints {
            let frame = self.components.frame_of(vertex, &frames);
            local_constraints.push((vertex, into_frame(constraint, &frame)));
        }
        self.support.constrain(local_constraints);

        let mut positions = self.held_positions(weights, &frames);
        match start {
            Some(start) => self.start_at(start, &frames, &mut positions),
            None => self.predict(weights, &frames, constraints.is_empty(), &mut positions)?,
        }

        // The constraints leave the energy also where the solve fails.
        let solved = self.solve(positions, accuracy);
        self.energy.set_unilateral(Vec::new());
        let (positions, report) = solved?;

        self.frame(weights, self.to_world(&positions, &frames), report)
    }

    /// Adds unilateral constraints, given in world coordinates, to the energy.
    fn set_unilateral(&mut self, constraints: &[UnilateralConstraint], frames: &[RigidMotion]) {
        let mut local = constraints.to_vec();
        for constraint in &mut local {
            for (vertex, gradient) in &mut constraint.ends {
                // g · (R x + t) = (Rᵀ g) · x + g · t
                let motion = self.components.frame_of(*vertex as usize, frames);
                constraint.offset -= gradient.dot(motion.translation);
                *gradient = motion.rotation.conjugate() * *gradient;
            }
        }
        self.energy.set_unilateral(local);
    }

    /// Whether `weights` select one of the given shapes.
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

    /// Sum of the spring constants at a vertex, at the weights of the last solve.
    pub(crate) fn stiffness_at(&self, vertex: usize) -> f64 {
        self.energy.stiffness(vertex)
    }

    /// The forces of the springs at `weights` on surface vertices and interior points, in world
    /// coordinates; zero on held vertices.
    pub(crate) fn forces_at(
        &mut self,
        weights: &[f64],
        points: &[DVec3],
    ) -> Result<Vec<DVec3>, PhysicsError> {
        let frames = self.blend_springs(weights)?;
        let mut local = self.held_positions(weights, &frames);
        self.start_at(points, &frames, &mut local);
        let mut nodes = vec![Node::default(); self.energy.points()];
        self.energy.evaluate(&local, &mut nodes);

        let mut forces = vec![DVec3::ZERO; points.len()];
        for (v, force) in forces.iter_mut().enumerate() {
            if !self.holds(v) {
                *force = self.components.frame_of(v, &frames).rotation * nodes[v].force;
            }
        }

        Ok(forces)
    }

    /// Whether a vertex is fixed, pulled, or without a spring.
    pub(crate) fn holds(&self, vertex: usize) -> bool {
        self.support.unknown_of(vertex).is_none()
    }

    /// The largest residual of a converged solve.
    pub(crate) fn tolerance(&self) -> f64 {
        self.solver.tolerance()
    }

    /// One of the given shapes.
    fn given_shape(&mut self, shape: usize, weights: &[f64]) -> Result<BlendFrame, PhysicsError> {
        let frames = self.blend_springs(weights)?;
        self.support.constrain([]);
        let mut positions = self.held_positions(weights, &frames);
        self.start_at(&self.shapes[shape], &frames, &mut positions);
        let report = Equilibrium::start(&self.energy, &self.support, positions)
            .report(self.solver.tolerance());
        self.frame(weights, self.shapes[shape].clone(), report)
    }

    /// Whether the springs are at rest in a shape.
    fn has_rest_shape(&self) -> bool {
        matches!(self.guide, Guide::Rest(_))
    }

    /// The rest shape, which no constraint moves.
    fn rest_frame(&mut self, weights: &[f64]) -> Result<BlendFrame, PhysicsError> {
        let frames = self.blend_springs(weights)?;
        self.support.constrain([]);
        let Guide::Rest(rest) = &mut self.guide else {
            unreachable!("there is a rest shape");
        };
        let points = rest.at(weights)?.to_vec();

        let mut positions = self.held_positions(weights, &frames);
        self.start_at(&points, &frames, &mut positions);
        let report = Equilibrium::start(&self.energy, &self.support, positions)
            .report(self.solver.tolerance());
        self.frame(weights, points, report)
    }

    /// Sets the blended energy terms; returns the frames of the anchors.
    fn blend_springs(&mut self, weights: &[f64]) -> Result<Vec<RigidMotion>, PhysicsError> {
        if let Guide::Rest(rest) = &mut self.guide {
            let points = rest.at(weights)?;
            let frames = self.components.frames_around(points, &self.local)?;
            let mut local = self.components.local_points(points, &frames);
            local.extend_from_slice(&self.local[0][points.len()..]);
            self.energy.set(&self.springs.at_rest(weights, &local));
            return Ok(frames);
        }

        self.energy.set(&self.springs.blended(weights));
        self.energy.set_elements(self.terms.blended(
            weights,
            self.springs.points(),
            self.springs.mean_edge(weights),
        ));
        Ok(self.components.frames(weights))
    }

    /// Sets the unknown `positions` to a start of the solve; `sampled` corrections help free solves
    /// only.
    fn predict(
        &mut self,
        weights: &[f64],
        frames: &[RigidMotion],
        sampled: bool,
        positions: &mut Vec<DVec3>,
    ) -> Result<(), PhysicsError> {
        let rotations = match &mut self.guide {
            Guide::Lengths(predictor) => predictor.rotations(weights),
            Guide::Rest(rest) => {
                let points = rest.at(weights)?;
                let mut local = self.components.local_points(points, frames);
                local.extend_from_slice(&self.local[0][points.len()..]);
                turn_to_fixed(&mut local, &self.fixed, positions)?;
                place_by_vectors(
                    |vertex, other, _| local[vertex] - local[other],
                    &self.energy,
                    &mut self.solver_state.laplacian,
                    &self.support,
                    positions,
                );
                return Ok(());
            }
        };
        self.predict_by_lengths(weights, &rotations, positions);

        let free = sampled && self.pulls.is_empty() && self.solver != Solver::Newton;
        if let Some((alpha, pair)) = self.correction(weights).filter(|_| free) {
            let correction = self.corrections[&pair]
                .as_ref()
                .expect("a correction that is used was sampled");
            *positions = self.corrected(correction, alpha, &rotations, positions);
        }
        Ok(())
    }

    fn predict_by_lengths(
        &mut self,
        weights: &[f64],
        rotations: &[DQuat],
        positions: &mut [DVec3],
    ) {
        let Guide::Lengths(predictor) = &self.guide else {
            unreachable!("rest lengths are blended");
        };
        predictor.predict(
            weights,
            rotations,
            &self.local,
            &self.energy,
            &mut self.solver_state.laplacian,
            &self.support,
            positions,
        );
    }

    /// Solves for the equilibrium from `start`.
    fn solve(
        &mut self,
        start: Vec<DVec3>,
        accuracy: SolveAccuracy,
    ) -> Result<(Vec<DVec3>, BlendReport), PhysicsError> {
        // The solver moves the unknowns only; held vertices are already exact.
        let mut state = Equilibrium::start(&self.energy, &self.support, start);
        match accuracy {
            SolveAccuracy::Full => self.solver_state.solve(self.solver, &mut state)?,
            SolveAccuracy::Rough(tolerance) => {
                self.solver_state
                    .solve_roughly(self.solver, &mut state, tolerance)?
            }
            SolveAccuracy::Sample => self.solver_state.solve_sample(self.solver, &mut state)?,
        }

        let report = state.report(self.solver.tolerance());
        Ok((state.positions, report))
    }

    /// Prepares `frames` frames between the first two shapes. Where they are many, equilibria along
    /// the path are sampled, so that each solve starts closer to its equilibrium. Without this call
    /// the frames are the same within the tolerance of the solver.
    ///
    /// # Errors
    /// A system that cannot be factored.
    pub fn prepare_frames(&mut self, frames: usize) -> Result<(), PhysicsError> {
        self.prepare_frames_with_progress(frames, &())
    }

    /// As [`prepare_frames`](Self::prepare_frames), with a report to `progress` for every sample.
    ///
    /// # Errors
    /// As [`prepare_frames`](Self::prepare_frames), and [`PhysicsError::Stopped`] if `progress`
    /// stops the work.
    pub fn prepare_frames_with_progress(
        &mut self,
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<(), PhysicsError> {
        let free = self.pulls.is_empty() && self.solver != Solver::Newton && self.shapes.len() > 1;
        let free = free && !self.has_rest_shape();
        if free && frames >= Self::MIN_SAMPLED_FRAMES && !self.corrections.contains_key(&[0, 1]) {
            let sampled = self.sample([0, 1], frames, progress)?;
            self.corrections.insert([0, 1], sampled);
        }

        Ok(())
    }

    /// The parameter of `weights` between two shapes, and these shapes, where they have a sampled
    /// correction.
    fn correction(&self, weights: &[f64]) -> Option<(f64, [usize; 2])> {
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        let &[a, b] = active.as_slice() else {
            return None;
        };

        let between = (0.0..=1.0).contains(&weights[b]);
        let sampled = self.corrections.get(&[a, b]).is_some_and(Option::is_some);
        (between && sampled).then_some((weights[b], [a, b]))
    }

    /// Samples the error of the predictor between two shapes; `None` where it is small.
    fn sample(
        &mut self,
        pair: [usize; 2],
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<Option<PredictorCorrection>, PhysicsError> {
        self.support.constrain([]);
        let mut correction = None;
        let mut samples = 0;
        for level in sample_levels(frames) {
            // A level whose solves are short makes further levels unnecessary.
            let mut most = 0;
            for alpha in level {
                progress.proceed("Sampling the path", f64::from(samples) / frames as f64)?;
                samples += 1;
                most = most.max(self.sample_at(pair, alpha, &mut correction)?);
            }

            if most <= FEW_STEPS {
                break;
            }
        }

        Ok(correction)
    }

    /// Adds the sample at `alpha`; returns its number of solver steps. A first sample with few
    /// steps is not added, since no correction is needed.
    fn sample_at(
        &mut self,
        [a, b]: [usize; 2],
        alpha: f64,
        correction: &mut Option<PredictorCorrection>,
    ) -> Result<usize, PhysicsError> {
        let mut weights = vec![0.0; self.shapes.len()];
        weights[a] = 1.0 - alpha;
        weights[b] = alpha;
        let frames = self.blend_springs(&weights)?;
        let Guide::Lengths(predictor) = &self.guide else {
            return Ok(0);
        };
        let rotations = predictor.rotations(&weights);
        let mut predicted = self.held_positions(&weights, &frames);
        self.predict_by_lengths(&weights, &rotations, &mut predicted);

        let start = match correction {
            Some(correction) => self.corrected(correction, alpha, &rotations, &predicted),
            None => predicted.clone(),
        };
        let (solved, report) = self.solve(start, SolveAccuracy::Sample)?;

        if correction.is_some() || report.iterations > FEW_STEPS {
            correction
                .get_or_insert_default()
                .add_sample(alpha, &solved, &predicted, &rotations);
        }

        Ok(report.iterations)
    }

    /// A prediction with its correction, where that lowers the energy. Where shapes snap between
    /// samples, the correction may be worse than none.
    fn corrected(
        &self,
        correction: &PredictorCorrection,
        alpha: f64,
        rotations: &[DQuat],
        predicted: &[DVec3],
    ) -> Vec<DVec3> {
        let mut corrected = predicted.to_vec();
        correction.add_to(&mut corrected, alpha, rotations);

        if self.energy.at(&corrected) < self.energy.at(predicted) {
            corrected
        } else {
            predicted.to_vec()
        }
    }

    /// Surface vertices and interior points in world coordinates; pulled vertices are exact.
    fn to_world(&self, local: &[DVec3], frames: &[RigidMotion]) -> Vec<DVec3> {
        let mut world = Vec::with_capacity(self.shapes[0].len());
        for (vertex, p) in local[..self.shapes[0].len()].iter().enumerate() {
            world.push(self.components.frame_of(vertex, frames).apply(*p));
        }
        for &(vertex, goal) in &self.pulls {
            world[vertex] = goal;
        }

        world
    }

    fn require_weights(&self, weights: &[f64]) -> Result<(), PhysicsError> {
        let found = weights.len();
        let expected = self.shapes.len();
        if found != expected {
            return Err(PhysicsError::WeightCount { found, expected });
        }

        // Written so that NaN is rejected, too.
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
        // Interior points may be constrained, corners of anchors may not.
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

    /// The shape that has all the weight, if no vertex is pulled.
    fn sole_shape(&self, weights: &[f64]) -> Option<usize> {
        sole_shape(weights).filter(|_| self.pulls.is_empty())
    }

    /// The linear blend in the frames of the anchors, with pulled vertices at their goals: exact
    /// for all held vertices.
    fn held_positions(&self, weights: &[f64], frames: &[RigidMotion]) -> Vec<DVec3> {
        let mut positions = linear_blend(&self.local, weights, self.local[0].len());
        for &(vertex, goal) in &self.pulls {
            let frame = self.components.frame_of(vertex, frames);
            positions[vertex] = frame.inverse().apply(goal);
        }

        positions
    }

    /// Sets the unknown vertices to `start`, which is in world coordinates.
    fn start_at(&self, start: &[DVec3], frames: &[RigidMotion], positions: &mut [DVec3]) {
        for &vertex in self.support.unknown_vertices() {
            let vertex = vertex as usize;
            let frame = self.components.frame_of(vertex, frames);
            positions[vertex] = frame.inverse().apply(start[vertex]);
        }
    }

    /// The frame of given surface vertices and interior points, with its measures.
    pub(crate) fn frame(
        &self,
        weights: &[f64],
        mut positions: Vec<DVec3>,
        report: BlendReport,
    ) -> Result<BlendFrame, PhysicsError> {
        // Inversion is measured against the first shape.
        let inverted = self
            .tetrahedra
            .iter()
            .filter(|t| is_inverted(t, &self.shapes[0], &positions))
            .count();
        let interior = positions.split_off(self.mesh.vertex_count());
        let surface = self.mesh.posed(positions)?;
        let Distortion {
            area,
            volume,
            strain,
        } = Distortion::of(&surface, &self.shapes, weights);

        let linear = linear_blend(&self.shapes, weights, self.mesh.vertex_count());
        let linear = Distortion::of(&self.mesh.posed(linear)?, &self.shapes, weights);
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

/// Rotates `points` so that the fixed vertices are nearest to their `positions`. Fewer than three
/// leave the rotation as it is.
fn turn_to_fixed(
    points: &mut [DVec3],
    fixed: &[usize],
    positions: &[DVec3],
) -> Result<(), LinalgError> {
    if fixed.len() < 3 {
        return Ok(());
    }

    let from: Vec<DVec3> = fixed.iter().map(|&v| points[v]).collect();
    let to: Vec<DVec3> = fixed.iter().map(|&v| positions[v]).collect();
    let motion = RigidMotion::fit(&from, &to, None)?;
    for point in points {
        *point = motion.apply(*point);
    }
    Ok(())
}

/// A warning where rotations are not continuous over the mesh.
fn torn_warning(torn: usize) -> Option<String> {
    (torn > 0).then(|| {
        format!(
            "rotations of neighbours differ by more than half a turn over {torn} spring(s), which are strained between the shapes; check that the shapes are poses of the same mesh"
        )
    })
}

/// The rest shape over the springs of `bare` and bridges between their components.
fn rest_shape(
    mesh: &Mesh,
    shapes: &[Vec<DVec3>],
    tetrahedra: &[[u32; 4]],
    network: &SpringEnergy,
    bare: &Springs,
    twins: &[u32],
    options: &BlendOptions,
) -> Result<RestShape, LinalgError> {
    let order = canonical_order(shapes, bare.ends());
    let ordered: Vec<&[DVec3]> = order.iter().map(|&s| &shapes[s][..]).collect();
    let bridges = bridges(bare.ends(), twins, mesh.vertex_count(), &ordered);

    let mut springs = springs_of(LengthTerm::Path, mesh, tetrahedra, &bridges, shapes);
    if let Some(map) = &options.stiffness {
        springs = springs.with_stiffness(&extend_inside(map, network, shapes[0].len()));
    }
    let mean = vec![1.0 / shapes.len() as f64; shapes.len()];
    let rest_network = RestNetwork {
        ends: springs.ends(),
        springs: &springs.blended(&mean),
        edges: springs.counts().structure,
        bridges: bridges.len(),
        twins,
        tetrahedra,
    };
    RestShape::new(mesh, shapes, &rest_network, &options.anchor)
}

/// The springs of the selected length term, and `extra` ones.
fn springs_of(
    lengths: LengthTerm,
    mesh: &Mesh,
    tetrahedra: &[[u32; 4]],
    extra: &[[u32; 2]],
    shapes: &[Vec<DVec3>],
) -> Springs {
    match lengths {
        LengthTerm::Path | LengthTerm::Springs => Springs::new(mesh, tetrahedra, extra, shapes),
        LengthTerm::Edges => Springs::edges(mesh, extra, shapes),
    }
}

/// Whether a tetrahedron has another orientation in `now` than in `before`.
fn is_inverted(tetrahedron: &[u32; 4], before: &[DVec3], now: &[DVec3]) -> bool {
    let volume = |points: &[DVec3]| volume(tetrahedron.map(|v| points[v as usize]));
    volume(before) * volume(now) < 0.0
}

/// A constraint in the frame that `motion` takes to world coordinates.
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

/// Vertices that are not unknowns: fixed, pulled, corners of anchors, and those without a spring.
fn held(energy: &SpringEnergy, points: usize, options: &BlendOptions) -> Vec<bool> {
    let mut held = vec![false; energy.points()];
    for (v, held) in held.iter_mut().enumerate() {
        *held = v >= points || energy.around(v).next().is_none();
    }
    for &vertex in &options.fixed {
        held[vertex] = true;
    }
    for &(vertex, _) in &options.pulls {
        held[vertex] = true;
    }

    held
}

/// A stiffness map of the surface extended to interior points, ring by ring: each point takes the
/// mean of its neighbours that have a value.
fn extend_inside(map: &[f64], network: &SpringEnergy, points: usize) -> Vec<f64> {
    let mut values: Vec<Option<f64>> = map.iter().copied().map(Some).collect();
    values.resize(network.points(), None);

    // All points of a ring read the values before it, so their order does not matter.
    loop {
        let mut ring = Vec::new();
        for v in 0..values.len() {
            if values[v].is_none()
                && let Some(mean) = mean_around(v, network, &values)
            {
                ring.push((v, mean));
            }
        }
        if ring.is_empty() {
            break;
        }
        for (vertex, value) in ring {
            values[vertex] = Some(value);
        }
    }

    let mut all: Vec<f64> = values.into_iter().map(|k| k.unwrap_or(1.0)).collect();
    let mean = map.iter().sum::<f64>() / map.len().max(1) as f64;
    all.resize(points, mean); // Corners of anchors.

    all
}

/// The mean of the known values of the neighbours of a vertex.
fn mean_around(vertex: usize, network: &SpringEnergy, values: &[Option<f64>]) -> Option<f64> {
    let mut sum = 0.0;
    let mut count = 0;
    for (other, _) in network.around(vertex) {
        if let Some(value) = values[other] {
            sum += value;
            count += 1;
        }
    }

    (count > 0).then(|| sum / f64::from(count))
}

fn anchor_warnings(components: &Components, options: &BlendOptions) -> Vec<String> {
    let mut warnings = Vec::new();
    let anchors = components.anchors().len();
    if anchors > 1 {
        warnings.push(format!(
            "{anchors} connected components have no fixed vertex; each has its own anchor"
        ));
    } else if anchors == 1 && !options.fixed.is_empty() {
        warnings.push("a connected component has no fixed vertex; it has its own anchor".into());
    }

    if !options.fixed.is_empty() && !options.anchor.is_empty() {
        warnings.push("fixed vertices replace the anchor in the components that hold them".into());
    }

    warnings
}

#[cfg(test)]
mod energy_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod tests;
