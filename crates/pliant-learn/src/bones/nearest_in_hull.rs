//! The point nearest to the origin in the hull of a few of many points.
//!
//! **Problem.** The weights of a vertex are at least 0, sum to 1 and no more than `K` are positive.
//! With `aⱼ` the way from where the vertex is to where bone `j` alone would take it, over all
//! frames, they are to make `|Σ wⱼ aⱼ|` least.
//!
//! **Equation.** With `G = AᵀA` the minimum over a fixed set of bones satisfies `G w = λ 1` where
//! `w > 0`. A bone `j` outside the set lowers the norm if `(G w)ⱼ < λ`.
//!
//! **Source.** Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976.
//!
//! **Ours.** At most `K` points: when the set is full, the point that enters takes the place of
//! each of the others in turn, and the best exchange that lowers the norm is kept. That ends in a
//! set that no single exchange with the most promising point improves. A term `μ |w − w̄|²` that
//! draws the weights to those of the neighbours may be added.

use pliant_linalg::wide::{Kernel, run_wide};

/// The most influences that a vertex can have.
pub(crate) const MOST_INFLUENCES: usize = 8;

/// The part of the trace of `G` that is added to its diagonal, so that bones that move alike share
/// their weight.
const RIDGE: f64 = 1e-13;

/// The relative gain below which no further exchange is tried.
const LEAST_GAIN: f64 = 1e-6;

/// Exchanges tried for one vertex in one round.
const MOST_EXCHANGES: usize = 12;

/// A few points and their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mix {
    pub(super) points: [u32; MOST_INFLUENCES],
    pub(super) weights: [f64; MOST_INFLUENCES],
    pub(super) len: usize,
}

impl Mix {
    pub(super) fn one(point: u32) -> Self {
        let mut mix = Self {
            points: [0; MOST_INFLUENCES],
            weights: [0.0; MOST_INFLUENCES],
            len: 0,
        };
        mix.push(point, 1.0);
        mix
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

    /// Whether both are of the same points.
    pub(super) fn has_points_of(&self, other: &Self) -> bool {
        self.len == other.len
            && other.points[..other.len]
                .iter()
                .all(|&point| self.holds(point))
    }

    fn holds(&self, point: u32) -> bool {
        self.points[..self.len].contains(&point)
    }
}

/// The points of a mix and one that may enter.
const IN_PLAY: usize = MOST_INFLUENCES + 1;

/// Room for the points of one vertex and their products.
#[derive(Debug, Default)]
pub(super) struct Hull {
    count: usize,
    dimensions: usize,
    /// Coordinates, each a row over the points.
    rows: Vec<f64>,
    /// Which points are in play, their coordinates one after the other, and their products.
    in_play: [u32; IN_PLAY],
    gathered: Vec<f64>,
    gram: [[f64; IN_PLAY]; IN_PLAY],
    /// `μ w̄`, point by point; empty where nothing draws.
    pull: Vec<f64>,
    stiffness: f64,
    /// `Σ wⱼ aⱼ`, and its products with all points.
    sum: Vec<f64>,
    gradient: Vec<f64>,
}

impl Hull {
    /// Begins with `count` new points and gives room for their coordinates: rows of `count`, one
    /// for each of `dimensions`.
    pub(super) fn begin(&mut self, count: usize, dimensions: usize) -> &mut [f64] {
        (self.count, self.dimensions) = (count, dimensions);
        self.rows.resize(count * dimensions, 0.0);
        self.gathered.resize(IN_PLAY * dimensions, 0.0);
        self.sum.resize(dimensions, 0.0);
        self.gradient.resize(count, 0.0);
        self.pull.clear();
        self.stiffness = 0.0;
        &mut self.rows
    }

    /// Draws the weights to those of `toward` by `stiffness`.
    pub(super) fn draw(&mut self, stiffness: f64, toward: impl Iterator<Item = (usize, f64)>) {
        self.stiffness = stiffness;
        self.pull.resize(self.count, 0.0);
        toward.for_each(|(point, weight)| self.pull[point] += stiffness * weight);
    }

    /// Gives the points of `mix` the best weights, without those that get none, and gives what it
    /// then measures.
    pub(super) fn balance(&mut self, mix: &mut Mix) -> f64 {
        let began = self.begin_play(mix);
        let (settled, value) = self.settled(began);
        *mix = self.in_points(settled);
        value
    }

    /// Improves `mix` until no exchange of one point is known to help, and gives what it then
    /// measures.
    pub(super) fn nearest(&mut self, mix: &mut Mix, most: usize) -> f64 {
        let began = self.begin_play(mix);
        let mut best = self.settled(began);
        for _ in 0..MOST_EXCHANGES {
            let Some(entering) = self.entering(&best.0, best.1) else {
                break;
            };
            let place = (0..IN_PLAY as u32)
                .find(|&place| !best.0.holds(place))
                .expect("a mix leaves a place free");
            self.play(place as usize, entering, &best.0);
            let mut tried: Option<(Mix, f64)> = None;
            for k in 0..if best.0.len < most { 1 } else { best.0.len } {
                let mut mix = best.0;
                let weight = if best.0.len < most {
                    0.0
                } else {
                    mix.weights[k]
                };
                if best.0.len >= most {
                    mix.remove(k);
                }
                mix.push(place, weight);
                let settled = self.settled(mix);
                if tried.as_ref().is_none_or(|tried| settled.1 < tried.1) {
                    tried = Some(settled);
                }
            }
            match tried {
                Some(tried) if tried.1 < best.1 - LEAST_GAIN * best.1.abs() => best = tried,
                _ => break,
            }
        }
        *mix = self.in_points(best.0);
        best.1
    }

    /// The same mix in terms of places in play.
    fn begin_play(&mut self, mix: &Mix) -> Mix {
        let mut played = *mix;
        played.len = 0;
        for (point, weight) in mix.iter() {
            self.play(played.len, point as u32, &played);
            played.push(played.len as u32, weight);
        }
        played
    }

    /// Puts a point into play, beside those of `mix`.
    fn play(&mut self, place: usize, point: u32, mix: &Mix) {
        let n = self.dimensions;
        self.in_play[place] = point;
        let column = self.rows.iter().skip(point as usize).step_by(self.count);
        self.gathered[place * n..(place + 1) * n]
            .iter_mut()
            .zip(column)
            .for_each(|(own, &value)| *own = value);
        for (other, _) in mix.iter().chain([(place, 0.0)]) {
            let of = |place: usize| &self.gathered[place * n..(place + 1) * n];
            let product = run_wide(Dot {
                a: of(place),
                b: of(other),
            });
            (self.gram[place][other], self.gram[other][place]) = (product, product);
        }
        self.gram[place][place] += self.stiffness;
    }

    /// The mix in terms of points again.
    fn in_points(&self, mut mix: Mix) -> Mix {
        mix.points[..mix.len]
            .iter_mut()
            .for_each(|place| *place = self.in_play[*place as usize]);
        mix
    }

    fn pull(&self, place: usize) -> f64 {
        self.pull
            .get(self.in_play[place] as usize)
            .copied()
            .unwrap_or(0.0)
    }

    /// The point outside that promises most, if any promises enough.
    fn entering(&mut self, mix: &Mix, value: f64) -> Option<u32> {
        let n = self.dimensions;
        self.sum.fill(0.0);
        for (place, weight) in mix.iter() {
            let own = &self.gathered[place * n..(place + 1) * n];
            self.sum
                .iter_mut()
                .zip(own)
                .for_each(|(sum, value)| *sum += weight * value);
        }
        run_wide(Along {
            rows: &self.rows,
            sum: &self.sum,
            gradient: &mut self.gradient,
        });
        self.gradient
            .iter_mut()
            .zip(&self.pull)
            .for_each(|(g, pull)| *g -= pull);
        let inside = |p: u32| mix.iter().any(|(place, _)| self.in_play[place] == p);
        let slope = |(place, weight): (usize, f64)| {
            weight * (self.gradient[self.in_play[place] as usize] + self.stiffness * weight)
        };
        let level: f64 = mix.iter().map(slope).sum();
        let least = (0..self.count as u32)
            .filter(|&p| !inside(p))
            .reduce(|a, b| {
                if self.gradient[b as usize] < self.gradient[a as usize] {
                    b
                } else {
                    a
                }
            });
        least.filter(|&p| level - self.gradient[p as usize] > LEAST_GAIN * value.abs())
    }

    /// The best weights of some of the points in play, by Wolfe's minor cycles, and the value.
    fn settled(&self, mut mix: Mix) -> (Mix, f64) {
        while mix.len > 1 {
            let wanted = self.affine_minimum(&mix);
            let blocked = (0..mix.len).filter(|&k| wanted[k] <= 0.0);
            let step = |k: usize| mix.weights[k] / (mix.weights[k] - wanted[k]);
            let first = blocked
                .map(|k| (if mix.weights[k] > 0.0 { step(k) } else { 0.0 }, k))
                .reduce(|a, b| if b.0 < a.0 { b } else { a });
            let part = first.map_or(1.0, |first| first.0);
            for k in 0..mix.len {
                mix.weights[k] += part * (wanted[k] - mix.weights[k]);
            }
            let Some((_, k)) = first else { break };
            mix.remove(k);
        }
        let sum: f64 = mix.weights[..mix.len].iter().sum();
        mix.weights[..mix.len]
            .iter_mut()
            .for_each(|weight| *weight /= sum);
        let value = self.value(&mix);
        (mix, value)
    }

    /// The weights of least norm that sum to 1, of any sign.
    fn affine_minimum(&self, mix: &Mix) -> [f64; MOST_INFLUENCES] {
        let n = mix.len;
        let mut factor = [[0.0; MOST_INFLUENCES]; MOST_INFLUENCES];
        for i in 0..n {
            let row = &self.gram[mix.points[i] as usize];
            for j in 0..=i {
                factor[i][j] = row[mix.points[j] as usize];
            }
        }
        let trace: f64 = (0..n).map(|i| factor[i][i]).sum();
        for i in 0..n {
            factor[i][i] += RIDGE * trace + f64::MIN_POSITIVE;
        }
        cholesky(&mut factor, n);
        let (mut even, mut drawn) = ([1.0; MOST_INFLUENCES], [0.0; MOST_INFLUENCES]);
        substitute(&factor, n, &mut even);
        let shift = if self.pull.is_empty() {
            0.0
        } else {
            (0..n).for_each(|i| drawn[i] = self.pull(mix.points[i] as usize));
            substitute(&factor, n, &mut drawn);
            drawn[..n].iter().sum()
        };
        let level = (1.0 - shift) / even[..n].iter().sum::<f64>();
        std::array::from_fn(|i| drawn[i] + level * even[i])
    }

    /// What is made least: the squared length of the mix, and the draw up to a constant.
    fn value(&self, mix: &Mix) -> f64 {
        let mut value = 0.0;
        for (a, weight) in mix.iter() {
            for (b, other) in mix.iter() {
                value += weight * other * self.gram[a][b];
            }
            value -= 2.0 * weight * self.pull(a);
        }
        value
    }
}

/// The products of a sum with all points.
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

/// Sums kept side by side, so that they need not wait for each other.
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
        let ((a, a_rest), (b, b_rest)) = (self.a.as_chunks::<LANES>(), self.b.as_chunks::<LANES>());
        for (a, b) in a.iter().zip(b) {
            for k in 0..LANES {
                sums[k] += a[k] * b[k];
            }
        }
        sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
    }
}

/// `L` of `L Lᵀ` in place, of the leading `n` rows.
fn cholesky(a: &mut [[f64; MOST_INFLUENCES]; MOST_INFLUENCES], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            let left = a[i][j] - known;
            // Points that coincide: rounding may leave nothing, and any small pivot keeps their
            // weights even.
            a[i][j] = if i == j {
                left.max(RIDGE * a[i][i]).sqrt()
            } else {
                left / a[j][j]
            };
        }
    }
}

fn substitute(
    factor: &[[f64; MOST_INFLUENCES]; MOST_INFLUENCES],
    n: usize,
    x: &mut [f64; MOST_INFLUENCES],
) {
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
    fn hull(points: &[[f64; 4]]) -> Hull {
        let mut hull = Hull::default();
        let rows = hull.begin(points.len(), 4);
        for axis in 0..4 {
            points
                .iter()
                .enumerate()
                .for_each(|(k, point)| rows[axis * points.len() + k] = point[axis]);
        }
        hull
    }

    fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    fn mixed(points: &[[f64; 4]], mix: &Mix) -> [f64; 4] {
        std::array::from_fn(|axis| mix.iter().map(|(k, weight)| weight * points[k][axis]).sum())
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
            (0..n).for_each(|i| weights[of[i]] = (0..=n).map(|j| inverse[(i, j)] * right(j)).sum());
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
        fn with_room_for_all_nothing_is_better_drawn_or_not(
            points in prop::collection::vec(prop::array::uniform4(-1.0..1.0), 1..8),
            shift in -1.0..1.0,
            stiffness in prop::sample::select(vec![0.0, 0.01, 1.0]),
        ) {
            // Shifted, so that the origin is often outside and the least is not always zero.
            let points: Vec<[f64; 4]> = points.iter().map(|point| point.map(|x: f64| x + shift)).collect();
            let total = (points.len() * (points.len() + 1)) as f64 / 2.0;
            let toward: Vec<f64> = (0..points.len()).map(|k| (k + 1) as f64 / total).collect();
            let mut hull = hull(&points);
            let constant = if stiffness > 0.0 {
                hull.draw(stiffness, toward.iter().copied().enumerate());
                stiffness * toward.iter().map(|w| w * w).sum::<f64>()
            } else {
                0.0
            };
            let mut mix = Mix::one(0);
            let found = hull.nearest(&mut mix, MOST_INFLUENCES) + constant;
            let least = least_of_all_subsets(&points, stiffness, &toward);
            prop_assert!((found - least).abs() < 1e-5 * least + 1e-6, "{found} for {least}");
        }

        #[test]
        fn with_room_for_all_no_point_lies_on_the_near_side(points in prop::collection::vec(prop::array::uniform4(-1.0..1.0), 1..8)) {
            let mut mix = Mix::one(0);
            let value = hull(&points).nearest(&mut mix, MOST_INFLUENCES);
            let found = mixed(&points, &mix);
            prop_assert!((dot(&found, &found) - value).abs() < 1e-9);
            prop_assert!(mix.iter().all(|(_, weight)| weight >= 0.0) && (mix.iter().map(|own| own.1).sum::<f64>() - 1.0).abs() < 1e-12);
            // The nearest point x of a hull has x·a ≥ x·x for every point a of it.
            for point in &points {
                prop_assert!(dot(&found, point) >= value - 1e-3 * value.sqrt().max(1e-3));
            }
        }

        #[test]
        fn few_points_are_never_worse_than_the_one_begun_with(points in prop::collection::vec(prop::array::uniform4(-1.0..1.0), 3..12), most in 1_usize..4) {
            let mut mix = Mix::one(2);
            let value = hull(&points).nearest(&mut mix, most);
            prop_assert!(mix.len <= most && value <= dot(&points[2], &points[2]) + 1e-12);
        }
    }

    #[test]
    fn points_that_coincide_share_their_weight() {
        let mut mix = Mix::one(0);
        hull(&[
            [1.0, 1.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0],
        ])
        .nearest(&mut mix, 3);
        assert!((mix.iter().find(|own| own.0 == 0).unwrap().1 - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_strong_draw_gives_the_weights_that_it_draws_to() {
        let mut hull = hull(&[
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, 0.0, 0.0],
            [0.0, 0.0, 3.0, 0.0],
        ]);
        hull.draw(1e9, [(0, 0.2), (2, 0.8)].into_iter());
        let mut mix = Mix::one(1);
        hull.nearest(&mut mix, 3);
        assert!(
            mix.iter()
                .all(|(k, weight)| (weight - [0.2, 0.0, 0.8][k]).abs() < 1e-6),
            "{mix:?}"
        );
    }
}
