//! Key-frame curves of glTF animation samplers: step, linear and cubic spline.
//!
//! **Source.** "glTF 2.0 Specification", appendix C (animation sampler interpolation modes).

use pliant_mesh::glam::DQuat;
use pliant_rig::{Interpolation, WeightTrack};

use crate::ReadError;
use crate::gltf::read::nodes::unit_rotation;

/// The interpolation of a curve between its keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CurveKind {
    Step,
    Linear,
    Cubic,
}

/// Rows of `width` numbers at ascending times. A cubic curve has three rows for each key: arriving
/// tangent, value, leaving tangent.
pub(super) struct Curve {
    pub(super) times: Vec<f64>,
    pub(super) values: Vec<f64>,
    pub(super) width: usize,
    pub(super) kind: CurveKind,
}

/// The rows of a key of a cubic curve.
const ARRIVING: usize = 0;
const VALUE: usize = 1;
const LEAVING: usize = 2;

impl Curve {
    /// Removes keys that do not come after the key before, and returns their number.
    pub(super) fn remove_disordered_keys(&mut self) -> usize {
        let mut kept: Vec<usize> = Vec::with_capacity(self.times.len());
        for (k, &time) in self.times.iter().enumerate() {
            let after = kept.last().is_none_or(|&last| self.times[last] < time);
            if time.is_finite() && after {
                kept.push(k);
            }
        }

        let removed = self.times.len() - kept.len();
        if removed > 0 {
            self.keep(&kept);
        }

        removed
    }

    /// Keeps the given keys. If there are none, it keeps the first at time zero.
    fn keep(&mut self, kept: &[usize]) {
        let numbers_per_key = self.values.len() / self.times.len();
        let kept = if kept.is_empty() { &[0] } else { kept };
        let mut times = Vec::with_capacity(kept.len());
        let mut values = Vec::with_capacity(kept.len() * numbers_per_key);

        for &key in kept {
            let time = self.times[key];
            times.push(if time.is_finite() { time } else { 0.0 });
            values.extend_from_slice(&self.values[key * numbers_per_key..][..numbers_per_key]);
        }

        self.times = times;
        self.values = values;
    }

    /// A row of a key: [`ARRIVING`], [`VALUE`] or [`LEAVING`] for a cubic curve, else its value.
    fn row(&self, key: usize, row: usize) -> &[f64] {
        let at = if self.kind == CurveKind::Cubic {
            3 * key + row
        } else {
            key
        };
        &self.values[at * self.width..][..self.width]
    }

    /// The first `targets` numbers of each key as weights of targets.
    pub(super) fn weight_track(&self, targets: usize) -> Result<WeightTrack, ReadError> {
        let rows = |row: usize| {
            (0..self.times.len())
                .map(|key| self.row(key, row)[..targets].to_vec())
                .collect::<Vec<_>>()
        };

        let interpolation = match self.kind {
            CurveKind::Step => Interpolation::Step,
            CurveKind::Linear => Interpolation::Linear,
            CurveKind::Cubic => Interpolation::Cubic {
                arriving: rows(ARRIVING),
                leaving: rows(LEAVING),
            },
        };

        let track = WeightTrack::new(self.times.clone(), rows(VALUE), interpolation)?;
        Ok(track)
    }

    /// The keys before and after a time, and the position between them in `[0, 1]`.
    fn segment(&self, time: f64) -> (usize, usize, f64) {
        let next = self.times.partition_point(|&t| t <= time);
        if next == 0 || next == self.times.len() {
            let end = next.saturating_sub(1);
            return (end, end, 0.0);
        }
        let s = (time - self.times[next - 1]) / (self.times[next] - self.times[next - 1]);
        (next - 1, next, s)
    }

    /// The interpolated row at a time.
    pub(super) fn at(&self, time: f64) -> Vec<f64> {
        let (last, next, s) = self.segment(time);
        let from = self.row(last, VALUE);
        let to = self.row(next, VALUE);
        match self.kind {
            CurveKind::Step => from.to_vec(),
            CurveKind::Linear => from.iter().zip(to).map(|(a, b)| a + (b - a) * s).collect(),
            CurveKind::Cubic => {
                // Tangents are per second, those of the unit interval are not.
                let span = self.times[next] - self.times[last];
                let leaving = self.row(last, LEAVING);
                let arriving = self.row(next, ARRIVING);
                (0..self.width)
                    .map(|k| hermite(s, from[k], span * leaving[k], to[k], span * arriving[k]))
                    .collect()
            }
        }
    }

    /// The interpolated rotation at a time; linear curves follow the great circle.
    pub(super) fn rotation_at(&self, time: f64) -> DQuat {
        if self.kind != CurveKind::Linear {
            return unit_rotation(DQuat::from_slice(&self.at(time)));
        }
        let (last, next, s) = self.segment(time);
        let from = unit_rotation(DQuat::from_slice(self.row(last, VALUE)));
        let to = unit_rotation(DQuat::from_slice(self.row(next, VALUE)));
        from.slerp(to, s)
    }
}

/// The cubic Hermite spline on the unit interval.
fn hermite(s: f64, from: f64, leaving: f64, to: f64, arriving: f64) -> f64 {
    let s2 = s * s;
    let s3 = s * s * s;
    (2.0 * s3 - 3.0 * s2 + 1.0) * from
        + (s3 - 2.0 * s2 + s) * leaving
        + (3.0 * s2 - 2.0 * s3) * to
        + (s3 - s2) * arriving
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(kind: CurveKind, values: &[f64]) -> Curve {
        Curve {
            times: vec![1.0, 3.0],
            values: values.to_vec(),
            width: 1,
            kind,
        }
    }

    #[test]
    fn curves_follow_their_interpolation() {
        assert_eq!(curve(CurveKind::Step, &[0.0, 8.0]).at(2.9), [0.0]);
        assert_eq!(curve(CurveKind::Linear, &[0.0, 8.0]).at(2.5), [6.0]);

        // The parabola 2 (t − 1)² has slopes 0 and 8.
        let parabola = curve(CurveKind::Cubic, &[0.0, 0.0, 0.0, 8.0, 8.0, 8.0]);
        assert!((parabola.at(2.5)[0] - 4.5).abs() < 1e-14);
    }

    #[test]
    fn keys_out_of_order_are_removed() {
        let mut curve = Curve {
            times: vec![0.0, 0.0, f64::NAN, 1.0],
            values: vec![1.0, 2.0, 3.0, 4.0],
            width: 1,
            kind: CurveKind::Linear,
        };
        assert_eq!(curve.remove_disordered_keys(), 2);
        assert_eq!(curve.at(1.0), [4.0]);
    }
}
