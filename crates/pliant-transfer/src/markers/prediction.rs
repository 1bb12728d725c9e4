//! Leave-one-out prediction of markers by Gaussian process regression.
//!
//! **Problem.** A pair that names two different spots distorts the map around it. It deviates from
//! the position that all other pairs predict, but two shapes differ a little everywhere, and much in
//! some places.
//!
//! **Equation.** A similarity `S` takes the markers `pᵢ` near their goals `qᵢ`. The residuals
//! `dᵢ = qᵢ − S pᵢ` are modelled as a random field with covariance `exp(−r/ρ)`, where `ρ` is the
//! root mean square radius of the markers, plus a hundredth for inaccurate clicks. Left out of the
//! field, but not of the similarity, marker `k` has the error `eₖ` with the variance `vₖ`, and the
//! score `zₖ`:
//!
//! ```text
//! eₖ = (K⁻¹ d)ₖ / (K⁻¹)ₖₖ        vₖ = 1 / (K⁻¹)ₖₖ        zₖ = |eₖ| / (s √vₖ),   s = median (|e| / √v) / √2.366
//! ```
//!
//! So an isolated marker may deviate much, and one among many may not. 2.366 is the median of χ²
//! with three degrees of freedom.
//!
//! **Source.** Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section
//! 5.4.2.
//!
//! **Departures.** A wrong marker spoils the predictions of its neighbours. So the marker with the
//! highest score is excluded until no score is high, and all are compared with the predictions of
//! the rest. Nearly equal shapes have a small `s`, and invisible deviations get high scores;
//! [`Predictions::score`] therefore takes a lower bound for `s`. Very many markers are divided into
//! interleaved groups.

use pliant_linalg::{SparseMatrix, SpdSolver};
use pliant_mesh::glam::DVec3;

use crate::{Similarity, TransferError};

/// Variance of inaccurate clicks, relative to that of the field.
const NOISE_VARIANCE: f64 = 1e-2;

/// Most markers in a group; cost grows with the third power.
const MOST_IN_GROUP: usize = 400;

/// The median of χ² with three degrees of freedom.
const MEDIAN_OF_CHI_SQUARED: f64 = 2.366;

/// A marker with a higher score is an outlier and is excluded from predictions. Measured: on
/// `horse-camel` the hump and the tail, which a horse does not have, score 9, all others less than
/// 7; left and right exchanged 8 to 32.
pub(crate) const OUTLIER_SCORE: f64 = 7.0;

/// The predictions of all markers.
pub(crate) struct Predictions {
    /// Marker `k` is in group `k mod groups`.
    groups: Vec<Group>,
}

impl Predictions {
    /// Predicts each of `to` from the others; a deviation below `least` is never an outlier.
    pub(crate) fn new(from: &[DVec3], to: &[DVec3], least: f64) -> Result<Self, TransferError> {
        let count = from.len().div_ceil(MOST_IN_GROUP).max(1);
        let mut groups = Vec::with_capacity(count);
        for g in 0..count {
            let from: Vec<DVec3> = from.iter().skip(g).step_by(count).copied().collect();
            let to: Vec<DVec3> = to.iter().skip(g).step_by(count).copied().collect();
            groups.push(Group::without_outliers(&from, &to, least)?);
        }
        Ok(Self { groups })
    }

    /// The predicted position of a point of the source, by the group of `marker`.
    pub(crate) fn position(&self, marker: usize, point: DVec3) -> DVec3 {
        self.groups[marker % self.groups.len()].position(point)
    }

    /// The predicted position of `marker`.
    pub(crate) fn expected(&self, marker: usize) -> DVec3 {
        self.groups[marker % self.groups.len()].expected[marker / self.groups.len()]
    }

    /// The score `z` of `marker`, where `s` is at least `least_scale`.
    pub(crate) fn score(&self, marker: usize, least_scale: f64) -> f64 {
        let group = &self.groups[marker % self.groups.len()];
        ratio(
            group.normalized_errors[marker / self.groups.len()],
            group.scale.max(least_scale),
        )
    }
}

/// Markers that predict each other.
struct Group {
    from: Vec<DVec3>,
    radius: f64,
    similarity: Similarity,
    /// `K⁻¹ d` of the included markers, zero for the others.
    coefficients: Vec<DVec3>,
    expected: Vec<DVec3>,
    /// `|e| / √v`.
    normalized_errors: Vec<f64>,
    /// `s`.
    scale: f64,
}

impl Group {
    /// Excludes the worst outlier until there is none, or half of the markers are left.
    fn without_outliers(from: &[DVec3], to: &[DVec3], least: f64) -> Result<Self, TransferError> {
        let mut field = Field::new(from)?;
        loop {
            let group = field.predict(from, to)?;
            let included = field.included.iter().filter(|&&included| included).count();
            let may_exclude = 2 * included.saturating_sub(1) >= from.len();
            match group.worst_outlier(&field.included, to, least) {
                Some(worst) if may_exclude => field.exclude(worst),
                _ => return Ok(group),
            }
        }
    }

    /// The included marker with the largest error among those that are outliers.
    fn worst_outlier(&self, included: &[bool], to: &[DVec3], least: f64) -> Option<usize> {
        let mut worst: Option<usize> = None;
        for k in (0..to.len()).filter(|&k| included[k]) {
            // Small deviations are never outliers, however exact the other markers are.
            let error = self.normalized_errors[k];
            let is_outlier = ratio(error, self.scale) > OUTLIER_SCORE
                && self.expected[k].distance(to[k]) > least;
            let is_worst =
                worst.is_none_or(|w| error.total_cmp(&self.normalized_errors[w]).is_ge());
            if is_outlier && is_worst {
                worst = Some(k);
            }
        }
        worst
    }

    fn position(&self, point: DVec3) -> DVec3 {
        let mut residual = DVec3::ZERO;
        for (p, &coefficient) in self.from.iter().zip(&self.coefficients) {
            residual += coefficient * covariance(p.distance(point), self.radius);
        }
        self.similarity.apply(point) + residual
    }
}

/// `K⁻¹` of the included markers.
struct Field {
    radius: f64,
    inverse: Vec<Vec<f64>>,
    included: Vec<bool>,
}

impl Field {
    fn new(from: &[DVec3]) -> Result<Self, TransferError> {
        let n = from.len();
        let mean = from.iter().sum::<DVec3>() / n.max(1) as f64;
        let squares = from.iter().map(|p| p.distance_squared(mean)).sum::<f64>();
        let radius = (squares / n.max(1) as f64).sqrt();

        let mut triplets = Vec::with_capacity(n * n);
        let mut inverse = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..n {
                let noise = if i == j { NOISE_VARIANCE } else { 0.0 };
                let value = covariance(from[i].distance(from[j]), radius) + noise;
                triplets.push((i as u32, j as u32, value));
            }
            inverse[i][i] = 1.0;
        }

        let matrix = SparseMatrix::from_triplets(n, n, &triplets);
        SpdSolver::factor(&matrix)?.solve_columns(&mut inverse);
        Ok(Self {
            radius,
            inverse,
            included: vec![true; n],
        })
    }

    /// Updates the inverse to that of the matrix without row and column `k`.
    fn exclude(&mut self, k: usize) {
        let row = self.inverse[k].clone();
        for (i, other) in self.inverse.iter_mut().enumerate() {
            let factor = row[i] / row[k];
            for (entry, &in_row) in other.iter_mut().zip(&row) {
                *entry -= factor * in_row;
            }
            // Rounding leaves something in the column.
            other[k] = 0.0;
        }

        self.inverse[k].fill(0.0);
        self.included[k] = false;
    }

    fn predict(&self, from: &[DVec3], to: &[DVec3]) -> Result<Group, TransferError> {
        let similarity = self.similarity(from, to)?;
        let residuals: Vec<DVec3> = from
            .iter()
            .zip(to)
            .map(|(&p, &q)| q - similarity.apply(p))
            .collect();
        let coefficients = self.inverse.iter().map(|row| product(row, &residuals));

        let mut group = Group {
            from: from.to_vec(),
            radius: self.radius,
            similarity,
            coefficients: coefficients.collect(),
            expected: Vec::with_capacity(to.len()),
            normalized_errors: Vec::with_capacity(to.len()),
            scale: 0.0,
        };
        // The scale is the median over included markers; outliers would enlarge it.
        let mut included_errors = Vec::new();
        for (k, &q) in to.iter().enumerate() {
            let (expected, variance) = self.left_out(&group, k, q);
            let error = expected.distance(q) / variance.sqrt();
            group.expected.push(expected);
            group.normalized_errors.push(error);
            if self.included[k] {
                included_errors.push(error);
            }
        }
        group.scale = median(included_errors) / MEDIAN_OF_CHI_SQUARED.sqrt();
        Ok(group)
    }

    /// The similarity that fits the included markers best.
    fn similarity(&self, from: &[DVec3], to: &[DVec3]) -> Result<Similarity, TransferError> {
        let mut included_from = Vec::new();
        let mut included_to = Vec::new();
        for k in (0..from.len()).filter(|&k| self.included[k]) {
            included_from.push(from[k]);
            included_to.push(to[k]);
        }
        Similarity::fit(&included_from, &included_to)
    }

    /// The prediction of marker `k` at `position` from the other included markers, and its variance.
    fn left_out(&self, group: &Group, k: usize, position: DVec3) -> (DVec3, f64) {
        if self.included[k] {
            let variance = 1.0 / self.inverse[k][k];
            return (position - group.coefficients[k] * variance, variance);
        }

        // An excluded marker: the posterior variance 1 + noise − cᵀ K⁻¹ c.
        let covariances: Vec<f64> = group
            .from
            .iter()
            .map(|p| covariance(p.distance(group.from[k]), self.radius))
            .collect();
        let rows = self.inverse.iter().zip(&covariances);
        let known: f64 = rows.map(|(row, &c)| c * dot(row, &covariances)).sum();
        let variance = (1.0 + NOISE_VARIANCE - known).max(NOISE_VARIANCE);
        (group.position(group.from[k]), variance)
    }
}

fn product(row: &[f64], points: &[DVec3]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (&entry, &point) in row.iter().zip(points) {
        sum += point * entry;
    }
    sum
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// If all other markers fit exactly, any error has a high score.
fn ratio(error: f64, scale: f64) -> f64 {
    if error > 0.0 {
        error / scale.max(f64::MIN_POSITIVE)
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
    fn the_leave_one_out_formula_equals_a_prediction_without_the_marker() {
        let (from, to) = sphere_and_bean();
        let field = Field::new(&from).unwrap();
        let predicted = field.predict(&from, &to).unwrap();

        for k in [0, 7, 20] {
            let mut without = Field::new(&from).unwrap();
            without.exclude(k);

            // The same similarity for both: only the field excludes the marker.
            let residuals: Vec<DVec3> = from
                .iter()
                .zip(&to)
                .map(|(&p, &q)| q - predicted.similarity.apply(p))
                .collect();

            let coefficients = without
                .inverse
                .iter()
                .map(|row| product(row, &residuals))
                .collect();

            let group = Group {
                from: from.clone(),
                radius: field.radius,
                similarity: predicted.similarity,
                coefficients,
                expected: vec![],
                normalized_errors: vec![],
                scale: 0.0,
            };

            let (position, variance) = without.left_out(&group, k, to[k]);
            let (by_formula, its_variance) = field.left_out(&predicted, k, to[k]);
            assert!(
                position.distance(by_formula) < 1e-9 && (variance - its_variance).abs() < 1e-9,
                "{position} {by_formula}"
            );
        }
    }

    #[test]
    fn only_exchanged_markers_are_outliers() {
        let (from, mut to) = sphere_and_bean();
        let before = Predictions::new(&from, &to, 0.05).unwrap();
        assert!((0..from.len()).all(|k| before.score(k, 0.0) < OUTLIER_SCORE));
        to.swap(3, 30);

        let after = Predictions::new(&from, &to, 0.05).unwrap();
        let outliers: Vec<usize> = (0..from.len())
            .filter(|&k| after.score(k, 0.0) > OUTLIER_SCORE)
            .collect();

        assert_eq!(outliers, [3, 30]);
        assert!(after.expected(3).distance(to[30]) < 0.3 * after.expected(3).distance(to[3]));
    }

    #[test]
    fn translation_and_scale_change_no_score() {
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
                .all(|k| (plain.score(k, 0.0) / scaled.score(k, 0.0) - 1.0).abs() < 1e-6)
        );
    }

    #[test]
    fn very_many_markers_are_predicted_in_groups() {
        let from = icosphere(4).positions().to_vec();
        assert!(from.len() > 3 * MOST_IN_GROUP);
        let mut to = from.clone();
        to.swap(5, 700);
        let predictions = Predictions::new(&from, &to, 0.05).unwrap();
        let off: Vec<usize> = (0..from.len())
            .filter(|&k| predictions.expected(k).distance(to[k]) > 0.05)
            .collect();
        assert_eq!(off, [5, 700]);
    }
}
