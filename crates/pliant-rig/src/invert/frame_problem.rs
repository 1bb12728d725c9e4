//! The inverse problem of one frame, reduced from vertices to shapes.
//!
//! **Problem.** A frame has tens of thousands of vertices, a rig a few hundred shapes; no step of a
//! solve needs the vertices.
//!
//! **Equation.** With `K = DᵀAD` and `h = DᵀA(y − n)` the squared distance to the frame is
//! `½ φᵀKφ − φᵀh + ½c`. In `x = g w`, units of moved surface, the problem of one frame is
//!
//! ```text
//! min  ½ φᵀKφ − φᵀh  +  ½ ρ |x|²  +  λ γ Σ |xₖ|  +  ½ s Σ μₖxₖ² − pᵀx       l ≤ w ≤ u
//!
//! g²ₖ = Kₖₖ        γ² = mean g²ₖ        s, p from the neighbouring frames
//! ```
//!
//! **Method.** With in-betweens and combinations the problem is solved by Gauss–Newton inside a
//! trust region, which shrinks until the true objective falls; [`BoxQuadratic`] solves each step
//! exactly.

use pliant_linalg::{BoxQuadratic, BoxWorkspace};

use super::InvertOptions;
use super::shape_projections::FrameProjection;
use crate::pose::OwnedBoxTerms;
use crate::{Activation, Limits, Rig};

/// The part of the problem that all frames share.
#[derive(Debug, Clone)]
pub(super) struct FrameProblem {
    activation: Activation,
    /// The sliders that may move, ascending.
    candidates: Vec<usize>,
    /// The index of each slider among them.
    candidate_of: Vec<Option<usize>>,
    /// `g`.
    pub(super) extents: Vec<f64>,
    /// Limits of the candidates, as weights.
    limits: Vec<[f64; 2]>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// The shape of each candidate at weight 1.
    own_shapes: Vec<usize>,
    /// Whether a candidate has in-betweens or drives a combination.
    pub(super) is_bent: Vec<bool>,
    /// `λγ`, the same for all sliders.
    pub(super) penalty: f64,
    pub(super) ridge: f64,
    /// `γ`: the moved surface of a typical slider.
    pub(super) typical: f64,
    tolerance: f64,
    /// The weights of sliders that are not candidates.
    rest: Vec<f64>,
}

/// `K`, and its projection onto the sliders if that is constant.
#[derive(Debug)]
pub(super) struct Gram {
    matrix: Vec<f64>,
    of_sliders: Option<Vec<f64>>,
}

/// The data of one frame: `K`, and `h` with `c`.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) gram: &'a Gram,
    pub(super) projection: &'a FrameProjection,
}

/// `½ s Σ μₖxₖ² − pᵀx`: the coupling of a frame to its neighbours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coupling<'a> {
    /// `s`.
    pub(super) stiffness: f64,
    /// `μ`, one for each slider that may move.
    pub(super) roughness: &'a [f64],
    /// `p`.
    pub(super) pull: &'a [f64],
}

/// A pose of the sliders and its coefficients.
#[derive(Debug)]
struct Point {
    weights: Vec<f64>,
    /// `φ`.
    coefficients: Vec<f64>,
    /// `Kφ`.
    image: Vec<f64>,
}

/// The distance to a frame near a pose, to second order.
#[derive(Debug)]
pub(super) struct Linearised {
    /// `g⁻¹ JᵀKJ g⁻¹`, row by row.
    pub(super) hessian: Vec<f64>,
    /// `g⁻¹ Jᵀ(h − Kφ)`.
    pub(super) force: Vec<f64>,
}

impl Gram {
    /// `K`, row by row.
    pub(super) fn matrix(&self) -> &[f64] {
        &self.matrix
    }
}

impl FrameProblem {
    /// The least extent relative to the largest, so that a slider with almost no motion has a
    /// penalty.
    const LEAST_EXTENT: f64 = 1e-3;
    /// Keeps the quadratic definite without a ridge.
    const LEAST_RIDGE: f64 = 1e-12;
    const MOST_LINEARISATIONS: usize = 60;

    /// `whole` is the Gram matrix of all shapes over the whole surface.
    pub(super) fn new(rig: &Rig, whole: &[f64], options: &InvertOptions) -> Self {
        let sliders = rig.sliders();
        let candidates: Vec<usize> = (0..sliders.len()).filter(|&k| !sliders[k].locked).collect();
        let mut candidate_of = vec![None; sliders.len()];
        for (k, &slider) in candidates.iter().enumerate() {
            candidate_of[slider] = Some(k);
        }

        // γ: the root mean square extent of all sliders.
        let all = extents(rig, whole);
        let typical = (all.iter().map(|g| g * g).sum::<f64>() / all.len().max(1) as f64).sqrt();
        let extents: Vec<f64> = candidates.iter().map(|&k| all[k]).collect();

        // The limits as weights, and in units of moved surface.
        let mut limits = Vec::with_capacity(candidates.len());
        let mut lower = Vec::with_capacity(candidates.len());
        let mut upper = Vec::with_capacity(candidates.len());
        for (&k, extent) in candidates.iter().zip(&extents) {
            let Limits { min, max } = sliders[k].limits;
            limits.push([min, max]);
            lower.push(min * extent);
            upper.push(max * extent);
        }

        let first_shapes = first_shapes(rig);
        Self {
            activation: rig.activation().clone(),
            own_shapes: candidates.iter().map(|&k| first_shapes[k]).collect(),
            is_bent: candidates.iter().map(|&k| is_bent(rig, k)).collect(),
            lower,
            upper,
            penalty: options.sparsity.unwrap_or(0.0) * typical,
            typical,
            ridge: options.ridge.max(Self::LEAST_RIDGE),
            tolerance: options.tolerance,
            rest: sliders
                .iter()
                .map(|slider| slider.limits.clamp(0.0))
                .collect(),
            candidates,
            candidate_of,
            extents,
            limits,
        }
    }

    pub(super) fn gram(&self, matrix: Vec<f64>) -> Gram {
        let mut gram = Gram {
            matrix,
            of_sliders: None,
        };
        if self.activation.is_linear() {
            gram.of_sliders = Some(self.hessian(&gram, &self.rest));
        }
        gram
    }

    /// The same problem with another penalty `λγ`.
    pub(super) fn with_penalty(&self, penalty: f64) -> Self {
        Self {
            penalty,
            ..self.clone()
        }
    }

    /// Whether coefficients are the weights themselves.
    pub(super) fn is_linear(&self) -> bool {
        self.activation.is_linear()
    }

    /// The solution of a frame without in-betweens and combinations.
    pub(super) fn linear_start(&self, frame: &Frame<'_>) -> Vec<f64> {
        let n = self.size();
        let shapes = self.activation.shape_count();
        let mut hessian = vec![0.0; n * n];
        let mut linear = Vec::with_capacity(n);
        for (row, &a) in self.own_shapes.iter().enumerate() {
            linear.push(frame.projection.onto_shapes[a] / self.extents[row]);
            for (column, &b) in self.own_shapes.iter().enumerate() {
                let scale = self.extents[row] * self.extents[column];
                hessian[row * n + column] = frame.gram.matrix[a * shapes + b] / scale;
            }
            hessian[row * n + row] += self.ridge;
        }

        let terms = OwnedBoxTerms {
            linear,
            penalties: vec![self.penalty; n],
            lower: self.lower.clone(),
            upper: self.upper.clone(),
        };
        let mut x = self.start();
        let quadratic = BoxQuadratic::trusted(hessian);
        quadratic.solve(&terms.borrow(), &mut x, &mut BoxWorkspace::default());
        x
    }

    /// The number of sliders that may move.
    pub(super) fn size(&self) -> usize {
        self.candidates.len()
    }

    /// The start of a solve: all sliders at rest.
    pub(super) fn start(&self) -> Vec<f64> {
        self.candidates
            .iter()
            .zip(&self.extents)
            .map(|(&k, g)| self.rest[k] * g)
            .collect()
    }

    /// The weights of all sliders, inside their limits to the bit.
    pub(super) fn weights(&self, x: &[f64]) -> Vec<f64> {
        let mut weights = self.rest.clone();
        for (k, &slider) in self.candidates.iter().enumerate() {
            let [min, max] = self.limits[k];
            weights[slider] = match x[k] {
                x if x >= self.upper[k] => max,
                x if x <= self.lower[k] => min,
                x => (x / self.extents[k]).max(min).min(max),
            };
        }

        weights
    }

    /// Whether a variable is at a limit, or at zero, where the penalty has a kink.
    pub(super) fn at_kink(&self, k: usize, x: f64) -> bool {
        x <= self.lower[k] || x >= self.upper[k] || (x == 0.0 && self.penalty > 0.0)
    }

    /// Moves a variable, but not past a limit or a kink.
    pub(super) fn step_to_kink(&self, k: usize, from: f64, step: f64) -> f64 {
        let to = (from + step).max(self.lower[k]).min(self.upper[k]);
        if self.penalty > 0.0 && from * to < 0.0 {
            0.0
        } else {
            to
        }
    }

    /// Moves `x` to the minimum; returns the number of linearisations.
    pub(super) fn solve(
        &self,
        frame: &Frame<'_>,
        coupling: Coupling<'_>,
        x: &mut Vec<f64>,
    ) -> usize {
        let mut workspace = BoxWorkspace::default();
        let mut point = self.point(frame, x);
        let mut objective = self.objective(frame, coupling, &point, x);

        let mut trust_radius = f64::INFINITY;
        for iteration in 1..=Self::MOST_LINEARISATIONS {
            let linearised = self.linearised_at(frame, &point);
            let (quadratic, terms) = self.quadratic(linearised, coupling, x, trust_radius);
            let before = x.clone();

            // For a linear rig the first problem is exact.
            quadratic.solve(&terms.borrow(), x, &mut workspace);
            if self.activation.is_linear() {
                return iteration;
            }

            let step = self.largest_change(&before, x);
            let new_point = self.point(frame, x);
            let new_objective = self.objective(frame, coupling, &new_point, x);

            // The objective is a difference of large numbers; a change below their rounding is
            // accepted.
            let rounding = 16.0 * f64::EPSILON * frame.projection.energy;
            if new_objective <= objective + rounding {
                objective = new_objective;
                point = new_point;
                trust_radius *= 2.0;
            } else {
                *x = before;
                trust_radius = 0.25 * trust_radius.min(step);
            }

            if step.min(trust_radius) < self.tolerance {
                return iteration;
            }
        }

        Self::MOST_LINEARISATIONS
    }

    /// The largest difference of two poses, in weight.
    pub(super) fn largest_change(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter()
            .zip(b)
            .zip(&self.extents)
            .map(|((a, b), g)| ((a - b) / g).abs())
            .fold(0.0, f64::max)
    }

    /// The KKT residual at `x`, relative to the largest force on a slider.
    pub(super) fn certificate(&self, frame: &Frame<'_>, coupling: Coupling<'_>, x: &[f64]) -> f64 {
        let (quadratic, terms) =
            self.quadratic(self.linearised(frame, x), coupling, x, f64::INFINITY);
        quadratic.certificate(&terms.borrow(), x, &mut BoxWorkspace::default())
    }

    /// The objective of a frame without the coupling.
    pub(super) fn energy(&self, frame: &Frame<'_>, x: &[f64]) -> f64 {
        let zeros = vec![0.0; x.len()];
        let uncoupled = Coupling {
            stiffness: 0.0,
            roughness: &zeros,
            pull: &zeros,
        };
        self.objective(frame, uncoupled, &self.point(frame, x), x)
    }

    /// `φᵀKφ − 2φᵀh + c`: the mean square distance to the frame.
    pub(super) fn squared_error(&self, frame: &Frame<'_>, x: &[f64]) -> f64 {
        (2.0 * distance(frame, &self.point(frame, x))).max(0.0)
    }

    pub(super) fn linearised(&self, frame: &Frame<'_>, x: &[f64]) -> Linearised {
        self.linearised_at(frame, &self.point(frame, x))
    }

    fn point(&self, frame: &Frame<'_>, x: &[f64]) -> Point {
        let weights = self.weights(x);
        let coefficients = self.activation.coefficients(&weights);
        let shapes = coefficients.len();

        let mut image = vec![0.0; shapes];
        for (shape, &value) in coefficients.iter().enumerate() {
            if value != 0.0 {
                // Few shapes are active in one frame, and each costs a whole row.
                let row = &frame.gram.matrix[shape * shapes..][..shapes];
                add_scaled(&mut image, row, value);
            }
        }

        Point {
            weights,
            coefficients,
            image,
        }
    }

    fn objective(
        &self,
        frame: &Frame<'_>,
        coupling: Coupling<'_>,
        point: &Point,
        x: &[f64],
    ) -> f64 {
        let mut terms = 0.0;
        for (k, x) in x.iter().enumerate() {
            let square = self.ridge + coupling.stiffness * coupling.roughness[k];
            terms += x * (0.5 * square * x - coupling.pull[k]) + self.penalty * x.abs();
        }
        distance(frame, point) + terms
    }

    fn linearised_at(&self, frame: &Frame<'_>, point: &Point) -> Linearised {
        let hessian = frame
            .gram
            .of_sliders
            .clone()
            .unwrap_or_else(|| self.hessian(frame.gram, &point.weights));

        let mut force = vec![0.0; self.size()];
        for entry in self.activation.derivatives(&point.weights) {
            if let Some(k) = self.candidate_of[entry.slider] {
                let residual = frame.projection.onto_shapes[entry.shape] - point.image[entry.shape];
                force[k] += entry.value * residual;
            }
        }
        // The unknowns are `x = g w`, so derivatives by weights are divided by `g`.
        for (f, g) in force.iter_mut().zip(&self.extents) {
            *f /= g;
        }

        Linearised { hessian, force }
    }

    /// `g⁻¹ JᵀKJ g⁻¹`, row by row.
    fn hessian(&self, gram: &Gram, weights: &[f64]) -> Vec<f64> {
        let n = self.size();
        let shapes = self.activation.shape_count();

        let columns = self.scaled_jacobian(weights);
        let mut hessian = vec![0.0; n * n];
        let mut sum = vec![0.0; shapes];
        for row in 0..n {
            let (image, scale) = match *columns[row] {
                // Most sliders move one shape: its row of `K` needs no copy.
                [(shape, value)] => (&gram.matrix[shape * shapes..][..shapes], value),
                ref several => {
                    sum.fill(0.0);
                    for &(shape, value) in several {
                        add_scaled(&mut sum, &gram.matrix[shape * shapes..][..shapes], value);
                    }
                    (&sum[..], 1.0)
                }
            };
            for column in 0..=row {
                let products = columns[column]
                    .iter()
                    .map(|&(shape, value)| value * image[shape]);
                let entry = scale * products.sum::<f64>();
                hessian[row * n + column] = entry;
                hessian[column * n + row] = entry;
            }
        }

        hessian
    }

    /// The columns of `J g⁻¹`: (shape, derivative) for each candidate.
    fn scaled_jacobian(&self, weights: &[f64]) -> Vec<Vec<(usize, f64)>> {
        let mut columns = vec![Vec::new(); self.size()];
        for entry in self.activation.derivatives(weights) {
            if let Some(k) = self.candidate_of[entry.slider] {
                columns[k].push((entry.shape, entry.value / self.extents[k]));
            }
        }

        columns
    }

    /// The quadratic problem that agrees with the true one at `x`, within the trust region.
    fn quadratic(
        &self,
        linearised: Linearised,
        coupling: Coupling<'_>,
        x: &[f64],
        trust_radius: f64,
    ) -> (BoxQuadratic, OwnedBoxTerms) {
        let n = self.size();
        let Linearised { mut hessian, force } = linearised;
        let mut linear: Vec<f64> = force
            .iter()
            .zip(coupling.pull)
            .map(|(f, p)| f + p)
            .collect();

        // The unknown is x itself: H x is added to the force at x.
        for (k, &value) in x.iter().enumerate() {
            if value != 0.0 {
                add_scaled(&mut linear, &hessian[k * n..][..n], value);
            }
        }

        for k in 0..n {
            hessian[k * n + k] += self.ridge + coupling.stiffness * coupling.roughness[k];
        }
        let terms = OwnedBoxTerms {
            linear,
            penalties: vec![self.penalty; n],
            lower: (0..n)
                .map(|k| self.lower[k].max(x[k] - trust_radius * self.extents[k]))
                .collect(),
            upper: (0..n)
                .map(|k| self.upper[k].min(x[k] + trust_radius * self.extents[k]))
                .collect(),
        };

        (BoxQuadratic::trusted(hessian), terms)
    }
}

/// `½ φᵀKφ − φᵀh + ½c`.
fn distance(frame: &Frame<'_>, point: &Point) -> f64 {
    let projection = frame.projection;
    let terms = point
        .coefficients
        .iter()
        .zip(point.image.iter().zip(&projection.onto_shapes))
        .map(|(c, (image, h))| c * (0.5 * image - h));
    terms.sum::<f64>() + 0.5 * projection.energy
}

/// The shape of each slider at weight 1; its in-betweens follow.
fn first_shapes(rig: &Rig) -> Vec<usize> {
    let mut next = 0;
    let mut first = Vec::with_capacity(rig.targets().len());
    for target in rig.targets() {
        first.push(next);
        next += 1 + target.in_betweens.len();
    }
    first
}

/// Whether a slider has in-betweens or drives a combination.
fn is_bent(rig: &Rig, slider: usize) -> bool {
    let drives = |k: usize| {
        rig.drivers_of(k)
            .iter()
            .any(|driver| driver.index() == slider)
    };
    !rig.targets()[slider].in_betweens.is_empty() || (0..rig.combinations().len()).any(drives)
}

/// `g`: the surface that each slider moves at weight 1, or at its largest in-between.
fn extents(rig: &Rig, whole: &[f64]) -> Vec<f64> {
    let shapes = rig.activation().shape_count();
    let mut first = 0;
    let mut extents: Vec<f64> = Vec::with_capacity(rig.targets().len());

    for target in rig.targets() {
        let own = first..first + 1 + target.in_betweens.len();
        first = own.end;

        // The diagonal of K over the shapes of one slider.
        let squares = own.map(|s| whole[s * shapes + s]);
        extents.push(squares.fold(0.0, f64::max).sqrt());
    }

    let largest = extents.iter().copied().fold(0.0, f64::max);
    for extent in &mut extents {
        *extent = if largest > 0.0 {
            extent.max(FrameProblem::LEAST_EXTENT * largest)
        } else {
            1.0 // The vertices have no area: any extent serves.
        };
    }

    extents
}

fn add_scaled(out: &mut [f64], row: &[f64], scale: f64) {
    for (o, r) in out.iter_mut().zip(row) {
        *o += r * scale;
    }
}
