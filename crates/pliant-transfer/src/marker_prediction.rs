//! Where the other markers put a marker.
//!
//! **Problem.** A pair that names two different spots bends the map around it. It gives itself away
//! by lying elsewhere than all the others let expect, but two shapes differ everywhere a little,
//! and here and there much.
//!
//! **Equation.** A similarity `S` takes the markers `pᵢ` near to their places `qᵢ`. What it misses,
//! `dᵢ = qᵢ − S pᵢ`, is taken for a random field of covariance `exp(−r/ρ)` with the markers' mean
//! radius `ρ`, and a hundredth for slips of the hand. Left out of the field, but not
//! of the similarity, marker `k` is missed by `eₖ`, where `vₖ` was to be expected, and stands out
//! by `zₖ`:
//!
//! ```text
//! eₖ = (K⁻¹ d)ₖ / (K⁻¹)ₖₖ        vₖ = 1 / (K⁻¹)ₖₖ        zₖ = |eₖ| / (s √vₖ),   s = median (|e| / √v) / √2.366
//! ```
//!
//! so that a lone marker may be far off and one among many may not. 2.366 is the median of χ² with
//! three degrees of freedom.
//!
//! **Source.** Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section
//! 5.4.2.
//!
//! **Ours.** A wrong marker spoils what is expected of those beside it: the one that stands out
//! most is set aside until none does, and all are judged by the rest. Shapes that are nearly alike
//! have a small `s`; what the eye would not mind then stands out, too, so that
//! [`Predictions::prominence`] takes no less than a hundredth or two of the target's size for it.
//! Of very many markers, every second, third, … is judged by its like.

use pliant_linalg::{SparseMatrix, SpdSolver};
use pliant_mesh::glam::DVec3;

use crate::{Similarity, TransferError};

/// Variance of slips of the hand beside that of the field.
const SLIP: f64 = 1e-2;

/// Most markers that are judged by each other; cost grows with the third power.
const MOST_TOGETHER: usize = 400;

/// The median of χ² with three degrees of freedom.
const MEDIAN_OF_CHI_SQUARED: f64 = 2.366;

/// A marker that stands out this much is not asked about others. Measured: on `horse-camel` the
/// hump and the tail, which a horse does not have, stand out by 9, all others by less than 7; left
/// and right exchanged by 8 to 32.
pub(crate) const STANDS_OUT: f64 = 7.0;

/// What the others say about each marker.
pub(crate) struct Predictions {
    /// Marker `k` is in group `k mod groups`.
    groups: Vec<Group>,
}

impl Predictions {
    /// Predicts each of `to` from the others; what is off by less than `least` never counts as
    /// wrong.
    pub(crate) fn new(from: &[DVec3], to: &[DVec3], least: f64) -> Result<Self, TransferError> {
        let groups = from.len().div_ceil(MOST_TOGETHER).max(1);
        let every = |points: &[DVec3], g: usize| {
            points
                .iter()
                .skip(g)
                .step_by(groups)
                .copied()
                .collect::<Vec<_>>()
        };
        let groups = (0..groups)
            .map(|g| Group::new(every(from, g), every(to, g), least))
            .collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// Where the others put a point of the source that is spoken of by `marker`.
    pub(crate) fn place(&self, marker: usize, point: DVec3) -> DVec3 {
        self.groups[marker % self.groups.len()].place(point)
    }

    /// Where the others put `marker`.
    pub(crate) fn expected(&self, marker: usize) -> DVec3 {
        self.groups[marker % self.groups.len()].expected[marker / self.groups.len()]
    }

    /// By how much `marker` stands out where `s` is no less than `usual`.
    pub(crate) fn prominence(&self, marker: usize, usual: f64) -> f64 {
        let group = &self.groups[marker % self.groups.len()];
        ratio(
            group.surprise[marker / self.groups.len()],
            group.usual.max(usual),
        )
    }
}

/// Markers that judge each other.
struct Group {
    from: Vec<DVec3>,
    radius: f64,
    similarity: Similarity,
    /// `K⁻¹ d` of the trusted, zero for the others.
    pulls: Vec<DVec3>,
    expected: Vec<DVec3>,
    /// `|e| / √v`.
    surprise: Vec<f64>,
    /// `s`.
    usual: f64,
}

impl Group {
    fn new(from: Vec<DVec3>, to: Vec<DVec3>, least: f64) -> Result<Self, TransferError> {
        let mut field = Field::new(&from)?;
        loop {
            let judged = field.judge(&from, &to)?;
            let count = field.trusted.iter().filter(|&&trusted| trusted).count();
            let standing = |k: usize| {
                ratio(judged.surprise[k], judged.usual) > STANDS_OUT
                    && judged.expected[k].distance(to[k]) > least
            };
            let wrong = (0..from.len()).filter(|&k| field.trusted[k] && standing(k));
            let worst = wrong.max_by(|&a, &b| judged.surprise[a].total_cmp(&judged.surprise[b]));
            match worst.filter(|_| 2 * (count - 1) >= from.len()) {
                Some(worst) => field.set_aside(worst),
                None => return Ok(judged),
            }
        }
    }

    fn place(&self, point: DVec3) -> DVec3 {
        let pulls = self
            .from
            .iter()
            .zip(&self.pulls)
            .map(|(p, &pull)| pull * covariance(p.distance(point), self.radius));
        self.similarity.apply(point) + pulls.sum::<DVec3>()
    }
}

/// `K⁻¹` of the markers that are trusted.
struct Field {
    radius: f64,
    inverse: Vec<Vec<f64>>,
    trusted: Vec<bool>,
}

impl Field {
    fn new(from: &[DVec3]) -> Result<Self, TransferError> {
        let n = from.len();
        let mean = from.iter().sum::<DVec3>() / n.max(1) as f64;
        let radius =
            (from.iter().map(|p| p.distance_squared(mean)).sum::<f64>() / n.max(1) as f64).sqrt();
        let entry = |i: usize, j: usize| {
            covariance(from[i].distance(from[j]), radius) + if i == j { SLIP } else { 0.0 }
        };
        let triplets: Vec<(u32, u32, f64)> = (0..n)
            .flat_map(|i| (0..n).map(move |j| (i as u32, j as u32, entry(i, j))))
            .collect();
        let mut inverse: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
            .collect();
        SpdSolver::factor(&SparseMatrix::from_triplets(n, n, &triplets))?
            .solve_columns(&mut inverse);
        Ok(Self {
            radius,
            inverse,
            trusted: vec![true; n],
        })
    }

    /// The inverse of the matrix without row and column `k`.
    fn set_aside(&mut self, k: usize) {
        let row = self.inverse[k].clone();
        for (i, other) in self.inverse.iter_mut().enumerate() {
            let share = row[i] / row[k];
            other
                .iter_mut()
                .zip(&row)
                .for_each(|(entry, &in_row)| *entry -= share * in_row);
        }
        self.trusted[k] = false;
        // What rounding leaves of row and column.
        self.inverse[k].fill(0.0);
        self.inverse.iter_mut().for_each(|other| other[k] = 0.0);
    }

    fn judge(&self, from: &[DVec3], to: &[DVec3]) -> Result<Group, TransferError> {
        let trusted = |k: &usize| self.trusted[*k];
        let (near, places): (Vec<DVec3>, Vec<DVec3>) = (0..from.len())
            .filter(trusted)
            .map(|k| (from[k], to[k]))
            .unzip();
        let similarity = Similarity::fit(&near, &places)?;
        let missed: Vec<DVec3> = from
            .iter()
            .zip(to)
            .map(|(&p, &q)| q - similarity.apply(p))
            .collect();
        let pull = |row: &Vec<f64>| {
            row.iter()
                .zip(&missed)
                .map(|(&entry, &d)| d * entry)
                .sum::<DVec3>()
        };
        let pulls: Vec<DVec3> = self.inverse.iter().map(pull).collect();
        let (from, radius) = (from.to_vec(), self.radius);
        let mut group = Group {
            from,
            radius,
            similarity,
            pulls,
            expected: Vec::new(),
            surprise: Vec::new(),
            usual: 0.0,
        };
        let judged: Vec<(DVec3, f64)> = (0..to.len())
            .map(|k| self.expectation(&group, k, to[k]))
            .collect();
        group.surprise = judged
            .iter()
            .zip(to)
            .map(|((place, variance), q)| place.distance(*q) / variance.sqrt())
            .collect();
        group.usual = median(
            (0..to.len())
                .filter(trusted)
                .map(|k| group.surprise[k])
                .collect(),
        ) / MEDIAN_OF_CHI_SQUARED.sqrt();
        group.expected = judged.into_iter().map(|(place, _)| place).collect();
        Ok(group)
    }

    /// Where the trusted put marker `k` when it has no say, and the variance of that.
    fn expectation(&self, group: &Group, k: usize, place: DVec3) -> (DVec3, f64) {
        if self.trusted[k] {
            let variance = 1.0 / self.inverse[k][k];
            return (place - group.pulls[k] * variance, variance);
        }
        let to_others: Vec<f64> = group
            .from
            .iter()
            .map(|p| covariance(p.distance(group.from[k]), self.radius))
            .collect();
        let dot = |row: &Vec<f64>| row.iter().zip(&to_others).map(|(a, b)| a * b).sum::<f64>();
        let known: f64 = self
            .inverse
            .iter()
            .zip(&to_others)
            .map(|(row, &c)| c * dot(row))
            .sum();
        (group.place(group.from[k]), (1.0 + SLIP - known).max(SLIP))
    }
}

/// Beside markers that fit to the last bit any surprise is large.
fn ratio(surprise: f64, usual: f64) -> f64 {
    if surprise > 0.0 {
        surprise / usual.max(f64::MIN_POSITIVE)
    } else {
        0.0
    }
}

fn covariance(distance: f64, radius: f64) -> f64 {
    if radius > 0.0 {
        (-distance / radius).exp()
    } else {
        1.0
    }
}

/// The lower one of two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    /// Markers on a sphere and on a bent and stretched one.
    fn sphere_and_bean() -> (Vec<DVec3>, Vec<DVec3>) {
        let from = icosphere(1).positions().to_vec();
        let bent =
            |p: &DVec3| DVec3::new(p.x * 2.0, p.y + 0.3 * p.x * p.x, p.z * (1.0 + 0.2 * p.x));
        let to = from.iter().map(bent).collect();
        (from, to)
    }

    #[test]
    fn leaving_a_marker_out_by_the_formula_is_leaving_it_out() {
        let (from, to) = sphere_and_bean();
        let field = Field::new(&from).unwrap();
        let judged = field.judge(&from, &to).unwrap();
        for k in [0, 7, 20] {
            let mut without = Field::new(&from).unwrap();
            without.set_aside(k);
            // The same similarity for both: only the field is told to forget the marker.
            let missed: Vec<DVec3> = from
                .iter()
                .zip(&to)
                .map(|(&p, &q)| q - judged.similarity.apply(p))
                .collect();
            let pulls = without
                .inverse
                .iter()
                .map(|row| row.iter().zip(&missed).map(|(&e, &d)| d * e).sum())
                .collect();
            let group = Group {
                from: from.clone(),
                radius: field.radius,
                similarity: judged.similarity,
                pulls,
                expected: vec![],
                surprise: vec![],
                usual: 0.0,
            };
            let (place, variance) = without.expectation(&group, k, to[k]);
            let (by_formula, its_variance) = field.expectation(&judged, k, to[k]);
            assert!(
                place.distance(by_formula) < 1e-9 && (variance - its_variance).abs() < 1e-9,
                "{place} {by_formula}"
            );
        }
    }

    #[test]
    fn exchanged_markers_stand_out_and_no_others_do() {
        let (from, mut to) = sphere_and_bean();
        let before = Predictions::new(&from, &to, 0.05).unwrap();
        assert!((0..from.len()).all(|k| before.prominence(k, 0.0) < STANDS_OUT));
        to.swap(3, 30);
        let after = Predictions::new(&from, &to, 0.05).unwrap();
        let standing: Vec<usize> = (0..from.len())
            .filter(|&k| after.prominence(k, 0.0) > STANDS_OUT)
            .collect();
        assert_eq!(standing, [3, 30]);
        assert!(after.expected(3).distance(to[30]) < 0.3 * after.expected(3).distance(to[3]));
    }

    #[test]
    fn moving_and_scaling_changes_no_prominence() {
        let (from, mut to) = sphere_and_bean();
        to.swap(1, 11);
        let plain = Predictions::new(&from, &to, 0.05).unwrap();
        let far = |points: &[DVec3], scale: f64| {
            points
                .iter()
                .map(|p| *p * scale + DVec3::new(3.0, -5.0, 2.0) * scale)
                .collect::<Vec<_>>()
        };
        let scaled = Predictions::new(&far(&from, 0.01), &far(&to, 1000.0), 50.0).unwrap();
        assert!(
            (0..from.len())
                .all(|k| (plain.prominence(k, 0.0) / scaled.prominence(k, 0.0) - 1.0).abs() < 1e-6)
        );
    }

    #[test]
    fn very_many_markers_are_judged_in_groups() {
        let from = icosphere(4).positions().to_vec();
        assert!(from.len() > 3 * MOST_TOGETHER);
        let mut to = from.clone();
        to.swap(5, 700);
        let judged = Predictions::new(&from, &to, 0.05).unwrap();
        let off: Vec<usize> = (0..from.len())
            .filter(|&k| judged.expected(k).distance(to[k]) > 0.05)
            .collect();
        assert_eq!(off, [5, 700]);
    }
}
