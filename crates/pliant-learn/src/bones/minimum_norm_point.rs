//! Minimum-norm point of a polytope with few active points (Wolfe's algorithm).
//!
//! **Problem.** The weights of a vertex are at least 0, sum to 1, and at most `K` are positive.
//! With `aⱼ` the difference between the vertex moved by bone `j` alone and its trajectory, over all
//! frames, minimise `|Σ wⱼ aⱼ|`.
//!
//! **Equation.** With `G = AᵀA` the minimum over a fixed active set satisfies `G w = λ 1` for
//! positive `w`. A bone `j` outside the active set lowers the norm if `(G w)ⱼ < λ`.
//!
//! **Source.** Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976.
//!
//! **Departures.** At most `K` points are active. If the active set is full, the entering point
//! replaces each of the others in turn, and the best exchange that lowers the norm is kept. The
//! result cannot be improved by an exchange with the point of the steepest descent. A penalty
//! `μ |w − w̄|²` towards the weights of the neighbours can be added.

use pliant_linalg::simd::{Kernel, run_vectorized};

/// The most influences on a vertex.
pub(crate) const MOST_INFLUENCES: usize = 8;

/// Regularisation of `G` relative to its trace, so that bones with equal motions get equal weights.
const RIDGE: f64 = 1e-13;

/// The relative gain below which the search ends.
const LEAST_GAIN: f64 = 1e-6;

/// The most exchanges for one vertex in one round.
const MOST_EXCHANGES: usize = 12;

/// A convex combination of a few points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Combination {
    pub(super) points: [u32; MOST_INFLUENCES],
    pub(super) weights: [f64; MOST_INFLUENCES],
    pub(super) len: usize,
}

impl Combination {
    const EMPTY: Self = Self {
        points: [0; MOST_INFLUENCES],
        weights: [0.0; MOST_INFLUENCES],
        len: 0,
    };

    pub(super) fn one(point: u32) -> Self {
        let mut combination = Self::EMPTY;
        combination.push(point, 1.0);
        combination
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.len).map(|k| (self.points[k] as usize, self.weights[k]))
    }

    fn push(&mut self, point: u32, weight: f64) {
        (self.points[self.len], self.weights[self.len]) = (point, weight);
        self.len += 1;
    }

    fn remove(&mut self, k: usize) {
        self.points.copy_within(k + 1..self.len, k);
        self.weights.copy_within(k + 1..self.len, k);
        self.len -= 1;
    }

    /// Whether both have the same points.
    pub(super) fn has_points_of(&self, other: &Self) -> bool {
        self.len == other.len
            && other.points[..other.len]
                .iter()
                .all(|&point| self.contains(point))
    }

    fn contains(&self, point: u32) -> bool {
        self.points[..self.len].contains(&point)
    }
}

/// The points of a combination and one that may enter.
const MOST_ACTIVE: usize = MOST_INFLUENCES + 1;

/// Workspace for the points of one vertex and their inner products.
#[derive(Debug, Default)]
pub(super) struct MinimumNormSolver {
    count: usize,
    dimensions: usize,
    /// Coordinates, each a row over the points.
    rows: Vec<f64>,
    /// The active points, by slot.
    active: [u32; MOST_ACTIVE],
    /// The coordinates of the active points, slot after slot.
    gathered: Vec<f64>,
    /// Inner products of the active points, by slot.
    gram: [[f64; MOST_ACTIVE]; MOST_ACTIVE],
    /// `μ w̄` by point; empty without smoothing.
    pull: Vec<f64>,
    /// `μ`.
    stiffness: f64,
    /// `Σ wⱼ aⱼ`.
    sum: Vec<f64>,
    /// Inner products of the sum with all points.
    gradient: Vec<f64>,
}

/// A combination of slots, and its objective.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    combination: Combination,
    value: f64,
}

impl MinimumNormSolver {
    /// Starts with `count` new points. Returns the buffer for their coordinates: rows of `count`,
    /// one for each of `dimensions`.
    pub(super) fn begin(&mut self, count: usize, dimensions: usize) -> &mut [f64] {
        self.count = count;
        self.dimensions = dimensions;
        self.rows.resize(count * dimensions, 0.0);
        self.gathered.resize(MOST_ACTIVE * dimensions, 0.0);
        self.sum.resize(dimensions, 0.0);
        self.gradient.resize(count, 0.0);
        self.pull.clear();
        self.stiffness = 0.0;
        &mut self.rows
    }

    /// Adds the penalty `μ |w − w̄|²`, up to a constant, for weights `w̄` in `toward`.
    pub(super) fn add_smoothing(
        &mut self,
        stiffness: f64,
        toward: impl Iterator<Item = (usize, f64)>,
    ) {
        self.stiffness = stiffness;
        self.pull.resize(self.count, 0.0);
        for (point, weight) in toward {
            self.pull[point] += stiffness * weight;
        }
    }

    /// Gives the points of a combination their best weights, and removes points of weight zero.
    /// Returns the objective.
    pub(super) fn reweight(&mut self, combination: &mut Combination) -> f64 {
        let start = self.activate_all(combination);
        let best = self.best_weights(start);
        *combination = self.points_of(best.combination);
        best.value
    }

    /// Improves a combination of at most `most` points until no exchange with the entering point
    /// lowers the objective. Returns the objective.
    pub(super) fn minimise(&mut self, combination: &mut Combination, most: usize) -> f64 {
        let start = self.activate_all(combination);
        let mut best = self.best_weights(start);
        for _ in 0..MOST_EXCHANGES {
            let Some(entering) = self.entering_point(&best) else {
                break;
            };
            // The entering point takes the free slot.
            let slot = (0..MOST_ACTIVE as u32)
                .find(|&slot| !best.combination.contains(slot))
                .expect("a combination leaves a slot free");
            self.activate(slot as usize, entering, &best.combination);

            match self.best_exchange(&best.combination, slot, most) {
                Some(next) if next.value < best.value - LEAST_GAIN * best.value.abs() => {
                    best = next;
                }
                _ => break,
            }
        }

        *combination = self.points_of(best.combination);
        best.value
    }

    /// The best combination with the point in `slot`, which is added or, in a full combination,
    /// replaces one of the others.
    fn best_exchange(
        &self,
        combination: &Combination,
        slot: u32,
        most: usize,
    ) -> Option<Candidate> {
        if combination.len < most {
            // There is room for the new point.
            let mut larger = *combination;
            larger.push(slot, 0.0);
            return Some(self.best_weights(larger));
        }

        let mut best: Option<Candidate> = None;
        for k in 0..combination.len {
            let mut exchanged = *combination;
            // The entering point starts with the weight of the leaving one.
            let weight = exchanged.weights[k];
            exchanged.remove(k);
            exchanged.push(slot, weight);

            let candidate = self.best_weights(exchanged);
            if best.is_none_or(|best| candidate.value < best.value) {
                best = Some(candidate);
            }
        }
        best
    }

    /// Activates all points of a combination. Returns the combination in terms of slots.
    fn activate_all(&mut self, combination: &Combination) -> Combination {
        let mut slots = *combination;
        slots.len = 0;
        for (point, weight) in combination.iter() {
            self.activate(slots.len, point as u32, &slots);
            slots.push(slots.len as u32, weight);
        }
        slots
    }

    /// Puts a point into a slot, and computes its inner products with the slots of `combination`.
    fn activate(&mut self, slot: usize, point: u32, combination: &Combination) {
        let n = self.dimensions;
        self.active[slot] = point;
        // Points are columns; the copy makes their coordinates contiguous.
        let column = self.rows.iter().skip(point as usize).step_by(self.count);
        for (own, &value) in self.gathered[slot * n..(slot + 1) * n]
            .iter_mut()
            .zip(column)
        {
            *own = value;
        }

        for (other, _) in combination.iter().chain([(slot, 0.0)]) {
            let product = run_vectorized(Dot {
                a: &self.gathered[slot * n..(slot + 1) * n],
                b: &self.gathered[other * n..(other + 1) * n],
            });
            self.gram[slot][other] = product;
            self.gram[other][slot] = product;
        }
        // μ |w|² of the penalty.
        self.gram[slot][slot] += self.stiffness;
    }

    /// A combination of slots in terms of points.
    fn points_of(&self, mut combination: Combination) -> Combination {
        for slot in &mut combination.points[..combination.len] {
            *slot = self.active[*slot as usize];
        }
        combination
    }

    /// `μ w̄` of the point in a slot.
    fn pull(&self, slot: usize) -> f64 {
        let point = self.active[slot] as usize;
        self.pull.get(point).copied().unwrap_or(0.0)
    }

    /// The point outside the combination with the steepest descent, if it lowers the objective
    /// enough.
    fn entering_point(&mut self, current: &Candidate) -> Option<u32> {
        self.compute_gradient(&current.combination);
        let combination = &current.combination;
        let inside = |p: u32| combination.iter().any(|(slot, _)| self.active[slot] == p);
        let mut least: Option<u32> = None;
        for p in (0..self.count as u32).filter(|&p| !inside(p)) {
            if least.is_none_or(|l| self.gradient[p as usize] < self.gradient[l as usize]) {
                least = Some(p);
            }
        }

        // λ, the weighted mean of the gradient over the active points.
        let slope = |(slot, weight): (usize, f64)| {
            weight * (self.gradient[self.active[slot] as usize] + self.stiffness * weight)
        };
        let lambda: f64 = combination.iter().map(slope).sum();
        least.filter(|&p| lambda - self.gradient[p as usize] > LEAST_GAIN * current.value.abs())
    }

    /// `Aᵀ Σ wⱼ aⱼ − μ w̄` for all points.
    fn compute_gradient(&mut self, combination: &Combination) {
        let n = self.dimensions;
        self.sum.fill(0.0);
        for (slot, weight) in combination.iter() {
            let own = &self.gathered[slot * n..(slot + 1) * n];
            for (sum, value) in self.sum.iter_mut().zip(own) {
                *sum += weight * value;
            }
        }

        run_vectorized(Along {
            rows: &self.rows,
            sum: &self.sum,
            gradient: &mut self.gradient,
        });
        for (g, pull) in self.gradient.iter_mut().zip(&self.pull) {
            *g -= pull;
        }
    }

    /// The best weights of some slots, by Wolfe's minor cycles.
    fn best_weights(&self, mut combination: Combination) -> Candidate {
        while combination.len > 1 {
            let goal = self.affine_minimum(&combination);
            let weights = combination.weights;

            // The first weight that becomes zero on the segment to the affine minimum.
            let mut blocking: Option<(f64, usize)> = None;
            for k in (0..combination.len).filter(|&k| goal[k] <= 0.0) {
                let step = if weights[k] > 0.0 {
                    weights[k] / (weights[k] - goal[k])
                } else {
                    0.0
                };
                if blocking.is_none_or(|(least, _)| step < least) {
                    blocking = Some((step, k));
                }
            }

            let step = blocking.map_or(1.0, |(step, _)| step);
            for k in 0..combination.len {
                combination.weights[k] += step * (goal[k] - combination.weights[k]);
            }
            let Some((_, k)) = blocking else { break };
            combination.remove(k);
        }

        let sum: f64 = combination.weights[..combination.len].iter().sum();
        for weight in &mut combination.weights[..combination.len] {
            *weight /= sum;
        }
        Candidate {
            combination,
            value: self.value(&combination),
        }
    }

    /// The weights of least norm that sum to 1, of any sign.
    fn affine_minimum(&self, combination: &Combination) -> [f64; MOST_INFLUENCES] {
        let n = combination.len;
        let factor = self.regularised_factor(combination);
        let mut even = [1.0; MOST_INFLUENCES];
        substitute(&factor, n, &mut even);

        let mut pulled = [0.0; MOST_INFLUENCES];
        let pulled_sum = if self.pull.is_empty() {
            0.0
        } else {
            for i in 0..n {
                pulled[i] = self.pull(combination.points[i] as usize);
            }
            substitute(&factor, n, &mut pulled);
            pulled[..n].iter().sum()
        };

        // G w = μ w̄ + λ 1 with Σ w = 1.
        let lambda = (1.0 - pulled_sum) / even[..n].iter().sum::<f64>();
        std::array::from_fn(|i| pulled[i] + lambda * even[i])
    }

    /// The Cholesky factor of `G` of some slots, with a ridge.
    fn regularised_factor(&self, combination: &Combination) -> Square {
        let n = combination.len;
        let mut factor = [[0.0; MOST_INFLUENCES]; MOST_INFLUENCES];
        for i in 0..n {
            let row = &self.gram[combination.points[i] as usize];
            for j in 0..=i {
                factor[i][j] = row[combination.points[j] as usize];
            }
        }

        let trace: f64 = (0..n).map(|i| factor[i][i]).sum();
        for i in 0..n {
            factor[i][i] += RIDGE * trace + f64::MIN_POSITIVE;
        }
        cholesky(&mut factor, n);
        factor
    }

    /// The objective: the squared norm of the combination and the penalty, up to a constant.
    fn value(&self, combination: &Combination) -> f64 {
        let mut value = 0.0;
        for (a, weight) in combination.iter() {
            for (b, other) in combination.iter() {
                value += weight * other * self.gram[a][b];
            }
            value -= 2.0 * weight * self.pull(a);
        }
        value
    }
}

/// The rows and columns of an active set.
type Square = [[f64; MOST_INFLUENCES]; MOST_INFLUENCES];

/// Inner products of a sum with all points.
struct Along<'a> {
    rows: &'a [f64],
    sum: &'a [f64],
    gradient: &'a mut [f64],
}

impl Kernel for Along<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.gradient.fill(0.0);
        for (row, sum) in self.rows.chunks_exact(self.gradient.len()).zip(self.sum) {
            for (product, value) in self.gradient.iter_mut().zip(row) {
                *product += sum * value;
            }
        }
    }
}

/// Independent partial sums, for wide registers.
const LANES: usize = 8;

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl Kernel for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sums = [0.0; LANES];
        let (a, a_rest) = self.a.as_chunks::<LANES>();
        let (b, b_rest) = self.b.as_chunks::<LANES>();
        for (a, b) in a.iter().zip(b) {
            for k in 0..LANES {
                sums[k] += a[k] * b[k];
            }
        }
        sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
    }
}

/// `L` of `L Lᵀ` in place, of the leading `n` rows.
fn cholesky(a: &mut Square, n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            let left = a[i][j] - known;

            // Coincident points: rounding may leave a pivot of zero, and any small pivot gives them
            // equal weights.
            a[i][j] = if i == j {
                left.max(RIDGE * a[i][i]).sqrt()
            } else {
                left / a[j][j]
            };
        }
    }
}

/// Solves `L Lᵀ y = x` in place.
fn substitute(factor: &Square, n: usize, x: &mut [f64; MOST_INFLUENCES]) {
    for i in 0..n {
        x[i] = (x[i] - (0..i).map(|k| factor[i][k] * x[k]).sum::<f64>()) / factor[i][i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|k| factor[k][i] * x[k]).sum::<f64>()) / factor[i][i];
    }
}

#[cfg(test)]
mod tests {
    use pliant_linalg::{DenseMatrix, Svd};
    use proptest::prelude::*;

    use super::*;

    /// `count` points of four coordinates each, laid out by coordinates.
    fn solver(points: &[[f64; 4]]) -> MinimumNormSolver {
        let mut solver = MinimumNormSolver::default();
        let rows = solver.begin(points.len(), 4);
        for axis in 0..4 {
            for (k, point) in points.iter().enumerate() {
                rows[axis * points.len() + k] = point[axis];
            }
        }
        solver
    }

    fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    fn mixed(points: &[[f64; 4]], combination: &Combination) -> [f64; 4] {
        std::array::from_fn(|axis| {
            combination
                .iter()
                .map(|(k, weight)| weight * points[k][axis])
                .sum()
        })
    }

    /// The least `|Σ wⱼ aⱼ|² + μ |w − w̄|²` over `w ≥ 0`, `Σ w = 1`: the best of the affine minima
    /// of all subsets that lie inside.
    fn least_of_all_subsets(points: &[[f64; 4]], stiffness: f64, toward: &[f64]) -> f64 {
        let value = |weights: &[f64]| {
            let sum: [f64; 4] = std::array::from_fn(|axis| {
                points
                    .iter()
                    .zip(weights)
                    .map(|(point, w)| w * point[axis])
                    .sum()
            });
            dot(&sum, &sum)
                + stiffness
                    * weights
                        .iter()
                        .zip(toward)
                        .map(|(w, to)| (w - to) * (w - to))
                        .sum::<f64>()
        };

        let mut least = f64::INFINITY;
        for subset in 1_u32..1 << points.len() {
            let of: Vec<usize> = (0..points.len()).filter(|k| subset >> k & 1 == 1).collect();
            // [G + μI, 1; 1ᵀ, 0] [w; −λ] = [μ w̄; 1]
            let n = of.len();
            let entry = |i: usize, j: usize| match (i == n, j == n) {
                (true, true) => 0.0,
                (true, _) | (_, true) => 1.0,
                _ => dot(&points[of[i]], &points[of[j]]) + if i == j { stiffness } else { 0.0 },
            };

            let inverse = Svd::of(DenseMatrix::from_fn(n + 1, n + 1, entry).as_ref())
                .unwrap()
                .pseudo_inverse(1e-12);
            let right = |j: usize| {
                if j == n {
                    1.0
                } else {
                    stiffness * toward[of[j]]
                }
            };

            let mut weights = vec![0.0; points.len()];
            for i in 0..n {
                weights[of[i]] = (0..=n).map(|j| inverse[(i, j)] * right(j)).sum();
            }
            if weights.iter().all(|w| *w > -1e-9)
                && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-6
            {
                least = least.min(value(&weights));
            }
        }

        least
    }

    proptest! {
        #[test]
        fn with_all_points_allowed_the_result_is_the_global_minimum(
            points in prop::collection::vec(prop::array::uniform4(-1.0..1.0), 1..8),
            shift in -1.0..1.0,
            stiffness in prop::sample::select(vec![0.0, 0.01, 1.0]),
        ) {
            // Shifted, so that the origin is often outside and the least is not always zero.
            let points: Vec<[f64; 4]> = points.iter().map(|point| point.map(|x: f64| x + shift)).collect();
            let total = (points.len() * (points.len() + 1)) as f64 / 2.0;
            let toward: Vec<f64> = (0..points.len()).map(|k| (k + 1) as f64 / total).collect();
            let mut solver = solver(&points);
            let constant = if stiffness > 0.0 {
                solver.add_smoothing(stiffness, toward.iter().copied().enumerate());
                stiffness * toward.iter().map(|w| w * w).sum::<f64>()
            } else {
                0.0
            };
            let mut combination = Combination::one(0);
            let found = solver.minimise(&mut combination, MOST_INFLUENCES) + constant;
            let least = least_of_all_subsets(&points, stiffness, &toward);
            prop_assert!((found - least).abs() < 1e-5 * least + 1e-6, "{found} for {least}");
        }

        #[test]
        fn with_all_points_allowed_the_optimality_condition_holds(points in prop::collection::vec(prop::array::uniform4(-1.0..1.0), 1..8)) {
            let mut combination = Combination::one(0);
            let value = solver(&points).minimise(&mut combination, MOST_INFLUENCES);
            let found = mixed(&points, &combination);
            prop_assert!((dot(&found, &found) - value).abs() < 1e-9);
            prop_assert!(combination.iter().all(|(_, weight)| weight >= 0.0) && (combination.iter().map(|own| own.1).sum::<f64>() - 1.0).abs() < 1e-12);
            // The nearest point x of a solver has x·a ≥ x·x for every point a of it.
            for point in &points {
                prop_assert!(dot(&found, point) >= value - 1e-3 * value.sqrt().max(1e-3));
            }
        }

        #[test]
        fn few_points_are_never_worse_than_the_start(points in prop::collection::vec(prop::array::uniform4(-1.0..1.0), 3..12), most in 1_usize..4) {
            let mut combination = Combination::one(2);
            let value = solver(&points).minimise(&mut combination, most);
            prop_assert!(combination.len <= most && value <= dot(&points[2], &points[2]) + 1e-12);
        }
    }

    #[test]
    fn coincident_points_share_their_weight() {
        let mut combination = Combination::one(0);
        solver(&[
            [1.0, 1.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0],
        ])
        .minimise(&mut combination, 3);
        assert!((combination.iter().find(|own| own.0 == 0).unwrap().1 - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_strong_smoothing_gives_the_weights_of_the_neighbours() {
        let mut solver = solver(&[
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, 0.0, 0.0],
            [0.0, 0.0, 3.0, 0.0],
        ]);

        solver.add_smoothing(1e9, [(0, 0.2), (2, 0.8)].into_iter());
        let mut combination = Combination::one(1);
        solver.minimise(&mut combination, 3);

        assert!(
            combination
                .iter()
                .all(|(k, weight)| (weight - [0.2, 0.0, 0.8][k]).abs() < 1e-6),
            "{combination:?}"
        );
    }
}
