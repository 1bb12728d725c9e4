//! One frame's weights, with everything about the mesh folded into a matrix of the shapes' size.
//!
//! **Problem.** A frame has tens of thousands of vertices, a rig a few hundred shapes; no step of a
//! solve needs the vertices.
//!
//! **Equation.** With `K = DᵀAD` and `h = DᵀA(y − x₀)` the distance to the frame is `½ φᵀKφ − φᵀh +
//! ½c`. In `x = g w`, units of moved surface, the problem of one frame is
//!
//! ```text
//! min  ½ φᵀKφ − φᵀh  +  ½ ρ |x|²  +  λ γ Σ |xₖ|  +  ½ s |x|² − pᵀx       l ≤ w ≤ u
//!
//! g²ₖ = Kₖₖ        γ² = mean g²ₖ        s, p from the frames beside it
//! ```
//!
//! **Ours.** With in-betweens and combinations it is solved again at each new pose (Gauss–Newton,
//! inside a trust region that shrinks until the true objective falls), each time exactly by
//! [`BoxQuadratic`].

use pliant_linalg::{BoxQuadratic, BoxWorkspace};

use super::InvertOptions;
use super::shape_pulls::Pull;
use crate::box_terms::Terms;
use crate::{Activation, Rig};

/// All that frames share.
#[derive(Debug)]
pub(super) struct FrameProblem<'r> {
    activation: &'r Activation,
    /// The sliders that may move, ascending.
    candidates: Vec<usize>,
    /// For each slider its place among them.
    places: Vec<Option<usize>>,
    /// `g`.
    pub(super) extents: Vec<f64>,
    /// Limits of the candidates, as weights.
    limits: Vec<[f64; 2]>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    pub(super) prices: Vec<f64>,
    pub(super) ridge: f64,
    tolerance: f64,
    /// The weights of sliders that are no candidates.
    rest: Vec<f64>,
}

/// What measured points know about the shapes: `K`, and its part on the sliders where that never
/// changes.
#[derive(Debug)]
pub(super) struct Gram {
    matrix: Vec<f64>,
    of_sliders: Option<Vec<f64>>,
}

/// One frame: what it pulls at, and by which measure.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) gram: &'a Gram,
    pub(super) pull: &'a Pull,
}

/// `½ s |x|² − pᵀx`: how the frames beside it hold a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coupling<'a> {
    pub(super) stiffness: f64,
    pub(super) pull: &'a [f64],
}

/// A pose of the sliders and what it makes of the shapes.
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

impl<'r> FrameProblem<'r> {
    /// The least extent in parts of the largest: a slider that moves next to nothing is still not
    /// free.
    const LEAST_EXTENT: f64 = 1e-3;
    /// Keeps the quadratic definite where no ridge is wanted.
    const LEAST_RIDGE: f64 = 1e-12;
    const MOST_LINEARISATIONS: usize = 60;

    /// `whole` is the Gram matrix of all shapes over the whole surface.
    pub(super) fn new(rig: &'r Rig, whole: &[f64], options: &InvertOptions) -> Self {
        let sliders = rig.sliders();
        let candidates: Vec<usize> = (0..sliders.len()).filter(|&k| !sliders[k].locked).collect();
        let mut places = vec![None; sliders.len()];
        candidates
            .iter()
            .enumerate()
            .for_each(|(place, &slider)| places[slider] = Some(place));
        let all = extents(rig, whole);
        let typical = (all.iter().map(|g| g * g).sum::<f64>() / all.len().max(1) as f64).sqrt();
        let extents: Vec<f64> = candidates.iter().map(|&k| all[k]).collect();
        let limits: Vec<[f64; 2]> = candidates
            .iter()
            .map(|&k| [sliders[k].limits.min, sliders[k].limits.max])
            .collect();
        let bound = |side: usize| {
            limits
                .iter()
                .zip(&extents)
                .map(|(l, g)| l[side] * g)
                .collect()
        };
        Self {
            activation: rig.activation(),
            lower: bound(0),
            upper: bound(1),
            prices: vec![options.sparsity * typical; candidates.len()],
            ridge: options.ridge.max(Self::LEAST_RIDGE),
            tolerance: options.tolerance,
            rest: sliders
                .iter()
                .map(|slider| slider.limits.clamp(0.0))
                .collect(),
            candidates,
            places,
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

    /// How many sliders may move.
    pub(super) fn size(&self) -> usize {
        self.candidates.len()
    }

    /// Where a solve starts: at rest.
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
        for (place, &slider) in self.candidates.iter().enumerate() {
            let [min, max] = self.limits[place];
            weights[slider] = match x[place] {
                x if x >= self.upper[place] => max,
                x if x <= self.lower[place] => min,
                x => (x / self.extents[place]).max(min).min(max),
            };
        }
        weights
    }

    /// Whether a variable rests where the objective or its range has an edge.
    pub(super) fn at_edge(&self, place: usize, x: f64) -> bool {
        x <= self.lower[place] || x >= self.upper[place] || (x == 0.0 && self.prices[place] > 0.0)
    }

    /// Moves a variable, but not past an edge.
    pub(super) fn step_to_edge(&self, place: usize, from: f64, step: f64) -> f64 {
        let to = (from + step).max(self.lower[place]).min(self.upper[place]);
        if self.prices[place] > 0.0 && from * to < 0.0 {
            0.0
        } else {
            to
        }
    }

    /// Moves `x` to the lowest point; the number of linearisations.
    pub(super) fn solve(
        &self,
        frame: &Frame<'_>,
        coupling: Coupling<'_>,
        x: &mut Vec<f64>,
    ) -> usize {
        let mut workspace = BoxWorkspace::default();
        let mut point = self.point(frame, x);
        let mut objective = self.objective(frame, coupling, &point, x);
        let mut trust = f64::INFINITY;
        for iteration in 1..=Self::MOST_LINEARISATIONS {
            let near = self.linearised_at(frame, &point);
            let (quadratic, terms) = self.quadratic(near, coupling, x, trust);
            let before = x.clone();
            quadratic.solve(&terms.borrow(), x, &mut workspace);
            if self.activation.is_linear() {
                return iteration;
            }
            let step = self.largest_change(&before, x);
            let moved = self.point(frame, x);
            let now = self.objective(frame, coupling, &moved, x);
            // The objective is a difference of large numbers; below their rounding any step is as
            // good.
            if now <= objective + 16.0 * f64::EPSILON * frame.pull.energy {
                (objective, point) = (now, moved);
                trust *= 2.0;
            } else {
                *x = before;
                trust = 0.25 * trust.min(step);
            }
            if step.min(trust) < self.tolerance {
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

    /// The largest violation of the conditions of optimality at `x`, relative to the largest force
    /// on a slider.
    pub(super) fn certificate(&self, frame: &Frame<'_>, coupling: Coupling<'_>, x: &[f64]) -> f64 {
        let (quadratic, terms) =
            self.quadratic(self.linearised(frame, x), coupling, x, f64::INFINITY);
        quadratic.certificate(&terms.borrow(), x, &mut BoxWorkspace::default())
    }

    /// All of a frame's own objective.
    pub(super) fn energy(&self, frame: &Frame<'_>, x: &[f64]) -> f64 {
        let alone = vec![0.0; x.len()];
        self.objective(
            frame,
            Coupling {
                stiffness: 0.0,
                pull: &alone,
            },
            &self.point(frame, x),
            x,
        )
    }

    /// `φᵀKφ − 2φᵀh + c`: the mean square distance to the frame.
    pub(super) fn square_miss(&self, frame: &Frame<'_>, x: &[f64]) -> f64 {
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
        for (shape, &value) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0) {
            add_scaled(
                &mut image,
                &frame.gram.matrix[shape * shapes..][..shapes],
                value,
            );
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
        let square: f64 = x.iter().map(|x| x * x).sum();
        let paid: f64 = x.iter().zip(&self.prices).map(|(x, c)| c * x.abs()).sum();
        let held: f64 = x.iter().zip(coupling.pull).map(|(x, p)| x * p).sum();
        distance(frame, point) + 0.5 * (self.ridge + coupling.stiffness) * square + paid - held
    }

    fn linearised_at(&self, frame: &Frame<'_>, point: &Point) -> Linearised {
        let hessian = frame
            .gram
            .of_sliders
            .clone()
            .unwrap_or_else(|| self.hessian(frame.gram, &point.weights));
        let mut force = vec![0.0; self.size()];
        for slope in self.activation.slopes(&point.weights) {
            if let Some(place) = self.places[slope.slider] {
                force[place] +=
                    slope.value * (frame.pull.of_shapes[slope.shape] - point.image[slope.shape]);
            }
        }
        force
            .iter_mut()
            .zip(&self.extents)
            .for_each(|(f, g)| *f /= g);
        Linearised { hessian, force }
    }

    fn hessian(&self, gram: &Gram, weights: &[f64]) -> Vec<f64> {
        let (n, shapes) = (self.size(), self.activation.shape_count());
        let mut slopes: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for slope in self.activation.slopes(weights) {
            if let Some(place) = self.places[slope.slider] {
                slopes[place].push((slope.shape, slope.value / self.extents[place]));
            }
        }
        let mut hessian = vec![0.0; n * n];
        let mut sum = vec![0.0; shapes];
        for row in 0..n {
            let (image, scale) = match *slopes[row] {
                // Most sliders move one shape: its row of `K` needs no copy.
                [(shape, value)] => (&gram.matrix[shape * shapes..][..shapes], value),
                ref several => {
                    sum.fill(0.0);
                    several.iter().for_each(|&(shape, value)| {
                        add_scaled(&mut sum, &gram.matrix[shape * shapes..][..shapes], value)
                    });
                    (&sum[..], 1.0)
                }
            };
            for column in 0..=row {
                let entry = scale
                    * slopes[column]
                        .iter()
                        .map(|&(shape, value)| value * image[shape])
                        .sum::<f64>();
                hessian[row * n + column] = entry;
                hessian[column * n + row] = entry;
            }
        }
        hessian
    }

    /// The quadratic problem that agrees with the true one at `x`, within `trust` of it.
    fn quadratic(
        &self,
        near: Linearised,
        coupling: Coupling<'_>,
        x: &[f64],
        trust: f64,
    ) -> (BoxQuadratic, Terms) {
        let n = self.size();
        let Linearised { mut hessian, force } = near;
        let mut linear: Vec<f64> = force
            .iter()
            .zip(coupling.pull)
            .map(|(f, p)| f + p)
            .collect();
        for (place, &value) in x.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            add_scaled(&mut linear, &hessian[place * n..][..n], value);
        }
        (0..n).for_each(|k| hessian[k * n + k] += self.ridge + coupling.stiffness);
        let terms = Terms {
            linear,
            prices: self.prices.clone(),
            lower: (0..n)
                .map(|k| self.lower[k].max(x[k] - trust * self.extents[k]))
                .collect(),
            upper: (0..n)
                .map(|k| self.upper[k].min(x[k] + trust * self.extents[k]))
                .collect(),
        };
        (BoxQuadratic::trusted(hessian), terms)
    }
}

/// `½ φᵀKφ − φᵀh + ½c`.
fn distance(frame: &Frame<'_>, point: &Point) -> f64 {
    let along = point
        .coefficients
        .iter()
        .zip(point.image.iter().zip(&frame.pull.of_shapes));
    along
        .map(|(c, (image, pull))| c * (0.5 * image - pull))
        .sum::<f64>()
        + 0.5 * frame.pull.energy
}

/// `g`: how much surface each slider moves at weight 1, or at the in-between that moves most.
fn extents(rig: &Rig, whole: &[f64]) -> Vec<f64> {
    let shapes = rig.activation().shape_count();
    let mut first = 0;
    let mut extents: Vec<f64> = Vec::with_capacity(rig.targets().len());
    for target in rig.targets() {
        let own = first..first + 1 + target.in_betweens.len();
        first = own.end;
        extents.push(
            own.map(|s| whole[s * shapes + s])
                .fold(0.0, f64::max)
                .sqrt(),
        );
    }
    let largest = extents.iter().copied().fold(0.0, f64::max);
    // Shapes of vertices without area: any extent serves.
    extents.iter_mut().for_each(|g| {
        *g = if largest > 0.0 {
            g.max(FrameProblem::LEAST_EXTENT * largest)
        } else {
            1.0
        }
    });
    extents
}

fn add_scaled(out: &mut [f64], row: &[f64], scale: f64) {
    out.iter_mut().zip(row).for_each(|(o, r)| *o += r * scale);
}
