//! What markers show and the sliders do not reach, as few targets with curves.
//!
//! **Problem.** Sliders reach captured markers only in part. A residual layer closes the gaps, but a
//! layer for each frame is no animation that can be edited or played by other programs.
//!
//! **Equation.** The residuals `r` of all markers, smoothed like channels, are the rows of `R`, one
//! for each frame. With the eigenvectors `e` of `RᵀR` by descending eigenvalue,
//!
//! ```text
//! R ≈ Σₖ (R eₖ) eₖᵀ        k = 1 … K
//! ```
//!
//! where `K` is the least number for which no marker of any frame is off by more than a tolerance.
//! Each `eₖ` becomes a target, by the [`ResidualLayer`] that moves the markers so at rest.
//!
//! **Departures.** Missing residuals are filled along time. Targets are scaled so that the largest
//! weight of each is 1; the others are from −1 to 1.

use pliant_linalg::{DenseMatrix, symmetric_eigen};
use pliant_mesh::glam::DVec3;

use super::clean::{CleanOptions, Smoothing, clean};
use super::marker_attachment::{MarkerAttachment, MarkerInverse};
use super::recording::{Channel, ChannelKind, Performance};
use crate::{Limits, ResidualLayer, ResidualOptions, Rig, RigError, Target};

/// A residual layer over time as targets with weights.
#[derive(Debug, Clone)]
pub struct MarkerResidual {
    /// The targets, the most important one first.
    pub targets: Vec<Target>,
    /// For each frame the weight of each target, from −1 to 1.
    pub weights: Vec<Vec<f64>>,
    /// Root mean square distance of the markers from their goals, without the layer.
    pub rms_before: f64,
    /// The same with the layer.
    pub rms_after: f64,
    /// The radius around the markers in which the layer moves the surface.
    pub radius: f64,
}

impl MarkerInverse {
    /// The residual layer of the attached markers, within `tolerance` in units of the rig.
    ///
    /// # Errors
    /// Those of [`ResidualLayer::factor`].
    pub fn residual_layer(
        &self,
        rig: &Rig,
        attachment: &MarkerAttachment,
        tolerance: f64,
        frames_per_second: f64,
    ) -> Result<MarkerResidual, RigError> {
        let rows = smooth_rows(&self.residuals, frames_per_second)?;
        let modes = modes(&rows, tolerance)?;

        let mesh = rig.neutral();
        let longest = modes
            .iter()
            .flat_map(|mode| &mode.residuals)
            .copied()
            .collect::<Vec<_>>();
        let radius = ResidualLayer::suggested_radius(mesh, mesh.positions(), &longest);
        let mut targets = Vec::with_capacity(modes.len());
        if !modes.is_empty() {
            let options = ResidualOptions::default();
            let rest = mesh.positions();
            let layer = ResidualLayer::factor(mesh, rest, &attachment.at, radius, &options)?;
            for (k, mode) in modes.iter().enumerate() {
                let (residual, _) = layer.residual(&mode.residuals)?;
                targets.push(residual.to_target(format!("markerResidual.{}", k + 1), 1.0)?);
            }
        }

        let weights: Vec<Vec<f64>> = (0..rows.len())
            .map(|frame| modes.iter().map(|mode| mode.weights[frame]).collect())
            .collect();
        let [rms_before, rms_after] = self.rms_with(&modes, &weights);
        Ok(MarkerResidual {
            targets,
            weights,
            rms_before,
            rms_after,
            radius,
        })
    }

    /// The root mean square residual without and with the layer.
    fn rms_with(&self, modes: &[Mode], weights: &[Vec<f64>]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        let mut count = 0;
        for (frame, weights) in self.residuals.iter().zip(weights) {
            for (m, residual) in frame.iter().enumerate() {
                let Some(residual) = residual else { continue };
                let mut rest = *residual;
                for (mode, weight) in modes.iter().zip(weights) {
                    rest -= mode.residuals[m] * *weight;
                }
                sums[0] += residual.length_squared();
                sums[1] += rest.length_squared();
                count += 1;
            }
        }
        sums.map(|sum| (sum / f64::from(count.max(1))).sqrt())
    }
}

impl MarkerResidual {
    /// The rig with the targets of the layer after its own.
    ///
    /// # Errors
    /// A rig that already has targets of these names.
    pub fn with_targets(&self, rig: &Rig) -> Result<Rig, RigError> {
        let mut targets = rig.targets().to_vec();
        let mut sources: Vec<Option<usize>> = (0..targets.len()).map(Some).collect();
        targets.extend(self.targets.iter().cloned());
        sources.resize(targets.len(), None);

        let grown = rig.with_targets_from(targets, &sources)?;
        let mut sliders = grown.sliders().to_vec();
        for slider in &mut sliders[rig.targets().len()..] {
            slider.limits = Limits::new(-1.0, 1.0);
        }
        grown.with_sliders(sliders)
    }

    /// The weights as channels with the names of the targets.
    #[must_use]
    pub fn channels(&self) -> Vec<Channel> {
        let channel = |(k, target): (usize, &Target)| Channel {
            name: target.name.clone(),
            kind: ChannelKind::Weight,
            values: self.weights.iter().map(|row| row[k]).collect(),
        };
        self.targets.iter().enumerate().map(channel).collect()
    }
}

/// A direction of all markers, and its weight in each frame.
struct Mode {
    residuals: Vec<DVec3>,
    weights: Vec<f64>,
}

/// The coordinates of all markers in each frame, without gaps and noise.
fn smooth_rows(
    residuals: &[Vec<Option<DVec3>>],
    frames_per_second: f64,
) -> Result<Vec<Vec<f64>>, RigError> {
    let count = residuals.first().map_or(0, Vec::len);
    let mut channels = Vec::with_capacity(3 * count);
    for m in 0..count {
        for axis in 0..3 {
            let value = |frame: &Vec<Option<DVec3>>| frame[m].map_or(f64::NAN, |r| r[axis]);
            channels.push(Channel {
                name: format!("{m}.{axis}"),
                kind: ChannelKind::Other,
                values: residuals.iter().map(value).collect(),
            });
        }
    }

    let options = CleanOptions {
        smoothing: Smoothing::Measured(1.0),
        contacts: false,
        ..CleanOptions::fill_only()
    };
    let performance = Performance::even("residuals", frames_per_second, channels)?;
    let (smooth, _) = clean(&performance, &options);
    let row = |frame: usize| smooth.channels().iter().map(|c| c.values[frame]).collect();
    Ok((0..residuals.len()).map(row).collect())
}

/// The fewest directions that are within `tolerance` of all rows.
fn modes(rows: &[Vec<f64>], tolerance: f64) -> Result<Vec<Mode>, RigError> {
    let size = rows.first().map_or(0, Vec::len);
    let gram = DenseMatrix::from_fn(size, size, |i, j| {
        rows.iter().map(|row| row[i] * row[j]).sum::<f64>()
    });
    let mut rest = rows.to_vec();
    let mut modes = Vec::new();
    if largest(&rest) <= tolerance {
        return Ok(modes);
    }

    let (_, vectors) = symmetric_eigen(gram.as_ref())?;
    // Eigenvalues ascend.
    for k in (0..size).rev() {
        let direction: Vec<f64> = (0..size).map(|row| vectors[(row, k)]).collect();
        let along = |row: &Vec<f64>| row.iter().zip(&direction).map(|(a, b)| a * b).sum();
        let weights: Vec<f64> = rest.iter().map(along).collect();
        let most = weights.iter().fold(0.0, |a: f64, w| a.max(w.abs()));
        if most == 0.0 {
            break;
        }

        for (row, weight) in rest.iter_mut().zip(&weights) {
            for (value, part) in row.iter_mut().zip(&direction) {
                *value -= weight * part;
            }
        }
        let scaled = direction.chunks_exact(3);
        modes.push(Mode {
            residuals: scaled
                .map(|c| DVec3::new(c[0], c[1], c[2]) * most)
                .collect(),
            weights: weights.iter().map(|weight| weight / most).collect(),
        });
        if largest(&rest) <= tolerance {
            break;
        }
    }
    Ok(modes)
}

/// The longest vector of any marker in any row.
fn largest(rows: &[Vec<f64>]) -> f64 {
    let vectors = rows.iter().flat_map(|row| row.chunks_exact(3));
    vectors
        .map(|c| DVec3::new(c[0], c[1], c[2]).length())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_two_directions_need_two_modes() {
        let row = |t: f64| {
            let (a, b) = (t.sin(), 0.3 * (2.0 * t).cos());
            vec![a, 0.0, 2.0 * b, 0.5 * a, b, 0.0]
        };
        let rows: Vec<Vec<f64>> = (0..40).map(|k| row(f64::from(k) / 5.0)).collect();
        let found = modes(&rows, 1e-9).unwrap();
        assert_eq!(found.len(), 2);
        for (t, row) in rows.iter().enumerate() {
            for m in 0..2 {
                let mut sum = DVec3::ZERO;
                for mode in &found {
                    sum += mode.residuals[m] * mode.weights[t];
                    assert!(mode.weights[t].abs() <= 1.0 + 1e-12);
                }
                let wanted = DVec3::new(row[3 * m], row[3 * m + 1], row[3 * m + 2]);
                assert!(sum.distance(wanted) < 1e-9);
            }
        }
        assert!(modes(&rows, 10.0).unwrap().is_empty());
    }
}
