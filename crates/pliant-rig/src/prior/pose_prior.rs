//! Which slider weights occur together in known clips.
//!
//! **Problem.** A few pins do not determine fifty sliders. Of all poses that reach the goals, the one
//! meant is one that a face makes; clips of faces know which.
//!
//! **Equation.** From the weights `wₜ` of `T` poses
//!
//! ```text
//! M = 1/T Σₜ wₜwₜᵀ        C = (1 − ρ) M + ρ diag M + εI        E(w) = ½ wᵀC⁻¹w
//! ```
//!
//! `E` is the negative logarithm of a normal distribution around rest with the second moments `C`.
//!
//! **Source.** Shrinkage towards the diagonal: Schäfer and Strimmer, "A shrinkage approach to
//! large-scale covariance matrix estimation", 2005. A normal distribution over blendshape weights:
//! Lau, Chai, Xu, Shum, "Face poser: interactive modeling of 3D facial expressions using facial
//! priors", 2009.
//!
//! **Departures.** The moments are taken around rest, not around the mean pose: a drag of half the
//! length then gives half the weights as long as no limit is active, and no drag gives rest. On held
//! back performances this recovers poses about as well as the mean and covariance do.

use pliant_linalg::{DenseMatrix, LinalgError, symmetric_eigen};

use crate::{Rig, RigError, Vocabulary, WeightTrack, match_names};

/// The second moments of the slider weights of known clips.
#[derive(Debug, Clone, PartialEq)]
pub struct PosePrior {
    mean: Vec<f64>,
    /// `C`, row by row.
    moments: Vec<f64>,
    /// `C⁻¹`, row by row.
    precision: Vec<f64>,
    poses: usize,
}

impl PosePrior {
    /// `ρ`. *Measured* on a range of motion of 4,030 frames, learnt from its first half on the ICT
    /// head: between 0.02 and 0.1 nothing changes.
    pub const SHRINKAGE: f64 = 0.05;
    /// `ε`: the square of a weight of 0.1. *Measured* on a range of motion, learnt from one quarter and
    /// tried on the poses of another, on the ICT head: the error of the weights is 0.65 to 0.92 of the best
    /// method of Çetinaslan 2016 (four pins); with a weight of 0.01, which hardly lets sliders move that
    /// the clip does not move, 0.65 to 1.38.
    pub const LEAST_MOMENT: f64 = 1e-2;

    /// Learns from the keys of `tracks`, all of which have the same sliders. Every key counts once.
    ///
    /// # Errors
    /// [`RigError::Track`] without keys, or if the tracks differ in their number of sliders.
    pub fn learn(tracks: &[&WeightTrack]) -> Result<Self, RigError> {
        let mut poses = Vec::new();
        for track in tracks {
            poses.extend(track.keys().iter().map(Vec::as_slice));
        }
        let size = poses.first().map_or(0, |pose| pose.len());
        if size == 0 {
            return Err(RigError::Track {
                what: "weights to learn from",
                found: 0,
                expected: 1,
            });
        }
        if let Some(other) = poses.iter().find(|pose| pose.len() != size) {
            return Err(RigError::SliderCount {
                found: other.len(),
                expected: size,
            });
        }

        let share = 1.0 / poses.len() as f64;
        let mut mean = vec![0.0; size];
        let mut moments = vec![0.0; size * size];
        for pose in &poses {
            for i in 0..size {
                mean[i] += pose[i] * share;
                for j in 0..=i {
                    moments[i * size + j] += pose[i] * pose[j] * share;
                }
            }
        }

        // Shrink towards the diagonal, and mirror the lower triangle.
        for i in 0..size {
            for j in 0..i {
                let moment = (1.0 - Self::SHRINKAGE) * moments[i * size + j];
                moments[i * size + j] = moment;
                moments[j * size + i] = moment;
            }
            moments[i * size + i] += Self::LEAST_MOMENT;
        }

        Ok(Self {
            precision: inverse(&moments)?,
            mean,
            moments,
            poses: poses.len(),
        })
    }

    /// Learns for the sliders of `rig` from a track whose sliders have `names`: those of the same
    /// name, or of the same meaning in the vocabulary of ARKit. Returns also the number of sliders
    /// that were found.
    ///
    /// Sliders that the track does not have are independent of all others, with the moment of a
    /// typical one.
    ///
    /// # Errors
    /// [`RigError::NoCommonSlider`] if the two have no slider in common.
    pub fn learn_by_name(
        names: &[&str],
        track: &WeightTrack,
        rig: &Rig,
    ) -> Result<(Self, usize), RigError> {
        let own: Vec<&str> = rig.targets().iter().map(|t| t.name.as_str()).collect();
        let source = sources_by_name(&own, names);
        let found = source.iter().flatten().count();
        if found == 0 {
            return Err(RigError::NoCommonSlider {
                name: names.first().copied().unwrap_or_default().to_owned(),
            });
        }

        let mapped = track.mapped(|key| {
            let weight = |source: &Option<usize>| source.map_or(0.0, |k| key[k]);
            source.iter().map(weight).collect()
        });
        let mut prior = Self::learn(&[&mapped])?;

        // Nothing is known of the others.
        let n = own.len();
        let diagonal = |k: usize| prior.moments[k * n + k];
        let known = (0..n).filter(|&k| source[k].is_some()).map(diagonal);
        let typical = known.sum::<f64>() / found as f64;
        for k in (0..n).filter(|&k| source[k].is_none()) {
            prior.moments[k * n + k] = typical;
        }
        prior.precision = inverse(&prior.moments)?;
        Ok((prior, found))
    }

    /// The number of sliders.
    #[must_use]
    pub fn slider_count(&self) -> usize {
        self.mean.len()
    }

    /// The number of poses it was learnt from.
    #[must_use]
    pub fn pose_count(&self) -> usize {
        self.poses
    }

    /// The mean of the poses.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The second moments `C` around rest, row by row.
    #[must_use]
    pub fn moments(&self) -> &[f64] {
        &self.moments
    }

    /// `C⁻¹`, row by row: the Hessian of [`energy`](Self::energy).
    #[must_use]
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    /// `E(w)`: how improbable a pose is.
    ///
    /// # Panics
    /// If there is not one weight for each slider.
    #[must_use]
    pub fn energy(&self, weights: &[f64]) -> f64 {
        let gradient = self.gradient(weights);
        0.5 * weights
            .iter()
            .zip(gradient)
            .map(|(w, g)| w * g)
            .sum::<f64>()
    }

    /// `C⁻¹w`.
    ///
    /// # Panics
    /// If there is not one weight for each slider.
    #[must_use]
    pub fn gradient(&self, weights: &[f64]) -> Vec<f64> {
        assert_eq!(
            weights.len(),
            self.slider_count(),
            "one weight for each slider"
        );
        let rows = self.precision.chunks_exact(weights.len());
        rows.map(|row| row.iter().zip(weights).map(|(p, w)| p * w).sum())
            .collect()
    }

    /// The `count` directions in which the poses differ most from rest, with their root mean square
    /// weights, in descending order.
    pub fn principal_poses(&self, count: usize) -> Result<Vec<(f64, Vec<f64>)>, RigError> {
        let (values, vectors) = eigen(&self.moments)?;
        let n = values.len();
        let directions = (0..n).rev().take(count).map(|k| {
            let direction = (0..n).map(|i| vectors[(i, k)]).collect();
            (values[k].max(0.0).sqrt(), direction)
        });
        Ok(directions.collect())
    }
}

/// For each of `own` the index among `names` of the same name, or else of the same meaning.
fn sources_by_name(own: &[&str], names: &[&str]) -> Vec<Option<usize>> {
    let own_meanings = arkit_names(own);
    let meanings = arkit_names(names);
    let mut sources = Vec::with_capacity(own.len());
    for (name, meaning) in own.iter().zip(&own_meanings) {
        let same = names.iter().position(|other| other == name);
        let meant = || {
            meanings
                .iter()
                .position(|other| meaning.is_some() && other == meaning)
        };
        sources.push(same.or_else(meant));
    }
    sources
}

/// The name that ARKit has for each slider; two halves of one name share it.
fn arkit_names(names: &[&str]) -> Vec<Option<String>> {
    let map = match_names(names, Vocabulary::Arkit);
    let mut meanings = vec![None; names.len()];
    for pair in map.pairs {
        meanings[pair.source] = Some(pair.name);
    }
    for (halves, name) in map.to_merge {
        for half in halves {
            meanings[half] = Some(name.clone());
        }
    }
    meanings
}

/// The inverse of a positive definite matrix, row by row.
fn inverse(matrix: &[f64]) -> Result<Vec<f64>, LinalgError> {
    let (values, vectors) = eigen(matrix)?;
    let n = values.len();
    let mut inverse = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let products = (0..n).map(|k| vectors[(i, k)] * vectors[(j, k)] / values[k]);
            let entry = products.sum();
            inverse[i * n + j] = entry;
            inverse[j * n + i] = entry;
        }
    }
    Ok(inverse)
}

fn eigen(matrix: &[f64]) -> Result<(Vec<f64>, DenseMatrix<f64>), LinalgError> {
    let n = matrix.len().isqrt();
    symmetric_eigen(DenseMatrix::from_fn(n, n, |i, j| matrix[i * n + j]).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interpolation;

    fn track(keys: &[[f64; 3]]) -> WeightTrack {
        let times = (0..keys.len()).map(|t| t as f64).collect();
        let keys = keys.iter().map(|key| key.to_vec()).collect();
        WeightTrack::new(times, keys, Interpolation::Linear).unwrap()
    }

    #[test]
    fn sliders_that_move_together_are_more_probable_together() {
        let known = track(&[[0.0; 3], [0.5, 0.5, 0.0], [1.0, 1.0, 0.0], [0.2, 0.2, 0.0]]);
        let prior = PosePrior::learn(&[&known]).unwrap();
        assert_eq!((prior.pose_count(), prior.slider_count()), (4, 3));

        let together = prior.energy(&[0.5, 0.5, 0.0]);
        assert!(together < 0.2 * prior.energy(&[0.5, 0.0, 0.0]));
        assert!(
            together < 0.05 * prior.energy(&[0.0, 0.0, 0.5]),
            "the third never moves"
        );
        assert_eq!(prior.energy(&[0.0; 3]), 0.0);
    }

    #[test]
    fn precision_is_the_inverse_of_the_shrunk_moments() {
        let known = track(&[[0.1, 0.9, 0.3], [0.4, 0.2, 0.8], [0.7, 0.6, 0.1]]);
        let prior = PosePrior::learn(&[&known, &known]).unwrap();
        let moment = (0.1 * 0.9 + 0.4 * 0.2 + 0.7 * 0.6) / 3.0;
        assert!((prior.moments()[1] - (1.0 - PosePrior::SHRINKAGE) * moment).abs() < 1e-15);

        for i in 0..3 {
            for j in 0..3 {
                let products =
                    (0..3).map(|k| prior.moments()[3 * i + k] * prior.precision()[3 * k + j]);
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((products.sum::<f64>() - expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn sliders_are_found_by_name_and_by_meaning() {
        let sheet = pliant_mesh::shapes::flat_sheet(2, 0.0);
        let names = ["jawOpen", "EyeBlink_L", "tail"];
        let target = |name: &str| crate::Target::from_dense(name, []);
        let rig = Rig::new(sheet, names.map(target).to_vec()).unwrap();

        let known = track(&[[0.2, 0.4, 0.0], [0.6, 0.8, 0.0]]);
        let (prior, found) =
            PosePrior::learn_by_name(&["eyeBlinkLeft", "jawOpen", "noseSneerLeft"], &known, &rig)
                .unwrap();
        assert_eq!(found, 2);
        let moment = |i: usize, j: usize| prior.moments()[3 * i + j];
        let together = (0.2 * 0.4 + 0.6 * 0.8) / 2.0;
        assert!((moment(0, 1) - (1.0 - PosePrior::SHRINKAGE) * together).abs() < 1e-12);
        assert_eq!(moment(0, 2), 0.0);
        assert!((moment(2, 2) - 0.5 * (moment(0, 0) + moment(1, 1))).abs() < 1e-12);

        let error = PosePrior::learn_by_name(&["wing", "claw", "fin"], &known, &rig).unwrap_err();
        assert!(error.to_string().contains("wing"), "{error}");
    }

    #[test]
    fn the_gradient_is_that_of_the_energy() {
        let known = track(&[[0.1, 0.9, 0.3], [0.4, 0.2, 0.8], [0.7, 0.6, 0.1]]);
        let prior = PosePrior::learn(&[&known]).unwrap();
        let at = [0.3, 0.2, 0.9];
        for k in 0..3 {
            let shifted = |by: f64| {
                let mut weights = at;
                weights[k] += by;
                prior.energy(&weights)
            };
            let slope = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!((slope - prior.gradient(&at)[k]).abs() < 1e-6 * (1.0 + slope.abs()));
        }
    }

    #[test]
    fn tracks_without_keys_or_with_other_sliders_are_errors() {
        assert!(PosePrior::learn(&[]).is_err());
        let two = WeightTrack::new(vec![0.0], vec![vec![0.0; 2]], Interpolation::Linear).unwrap();
        assert!(matches!(
            PosePrior::learn(&[&track(&[[0.0; 3]]), &two]),
            Err(RigError::SliderCount {
                found: 2,
                expected: 3
            })
        ));
    }
}
