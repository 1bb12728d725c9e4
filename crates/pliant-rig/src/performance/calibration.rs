//! Calibration: rest, range and cross-talk of a device on one face.
//!
//! **Problem.** A device reports a smile of 0.1 for a face at rest, 0.7 for the widest one, and half
//! a squint with it. A calibration take shows the face at rest and at its extremes.
//!
//! **Equation.** With the values `n` at rest, and for each channel `k` with an extreme the values
//! `y⁽ᵏ⁾` in the frame that shows it, the columns of `C` are `y⁽ᵏ⁾ − n`. A recorded `y` becomes
//!
//! ```text
//! c = C⁻¹ (y − n)
//! ```
//!
//! so that an extreme alone gives 1 for its channel and 0 for the others. Channels without an
//! extreme become `y − n`.
//!
//! **Departures.** Channels that share a frame, as both lids in one blink, are no cross-talk of each
//! other. Where extremes are so alike that `C⁻¹` would amplify noise more than threefold, the
//! off-diagonal part of `C` is scaled down in steps of a tenth until it does not.

use super::recording::{ChannelKind, Performance};
use crate::RigError;

/// The most by which separating channels may amplify noise. *Chosen*: devices have a noise of about
/// 0.003.
const LARGEST_GAIN: f64 = 3.0;
/// The least motion of a channel in its extreme.
const LEAST_MOTION: f64 = 0.02;

/// Rest, range and cross-talk of the channels of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Names and values at rest of all weight channels.
    rest: Vec<(String, f64)>,
    /// Channels with an extreme, by their place in `rest`.
    separated: Vec<usize>,
    /// `C⁻¹`, row by row.
    inverse: Vec<Vec<f64>>,
    /// The part of the cross-talk that is removed, from 0 to 1.
    pub cross_talk_removed: f64,
}

impl Calibration {
    /// The calibration of a take: the mean of the frames at rest, and frames that show the extreme
    /// of a channel.
    ///
    /// # Errors
    /// [`RigError::NoSuchFrame`], [`RigError::NoSuchChannel`]; [`RigError::BadOption`] for an extreme
    /// in which its channel does not move.
    pub fn of(
        take: &Performance,
        rest_frames: &[usize],
        extremes: &[(String, usize)],
    ) -> Result<Self, RigError> {
        let frames = take.frame_count();
        let wanted = rest_frames.iter().copied();
        for frame in wanted.chain(extremes.iter().map(|(_, frame)| *frame)) {
            if frame >= frames {
                return Err(RigError::NoSuchFrame { frame, frames });
            }
        }

        let mut rest = Vec::new();
        for channel in take.channels() {
            if channel.kind == ChannelKind::Weight {
                let known = rest_frames.iter().map(|&k| channel.values[k]);
                let known: Vec<f64> = known.filter(|value| value.is_finite()).collect();
                let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
                rest.push((channel.name.clone(), mean));
            }
        }

        let mut separated = Vec::new();
        for (name, _) in extremes {
            take.channel(name)?;
            let place = rest.iter().position(|(other, _)| other == name);
            separated.extend(place.filter(|place| !separated.contains(place)));
        }
        let matrix = columns(take, &rest, &separated, extremes)?;
        let (inverse, cross_talk_removed) = stable_inverse(&matrix);
        Ok(Self {
            rest,
            separated,
            inverse,
            cross_talk_removed,
        })
    }

    /// The rest and the range of a take that shows a face at rest and at its extremes, without
    /// frames given by the user. The rest is the mean of the frames with the least sum of weights, a
    /// tenth of all; the extreme of a channel is its greatest value, if it moves by a quarter or more.
    /// Cross-talk is not removed: a cheek that rises in a smile may be meant.
    ///
    /// # Errors
    /// [`RigError::BadOption`] for a take in which no channel moves that far.
    pub fn of_range(take: &Performance) -> Result<Self, RigError> {
        const REST_PART: usize = 10;
        const LEAST_EXTREME: f64 = 0.25;
        let weights = || {
            take.channels()
                .iter()
                .filter(|c| c.kind == ChannelKind::Weight)
        };
        let sum_at = |frame: usize| -> f64 {
            let known = weights().map(|channel| channel.values[frame]);
            known.filter(|value| value.is_finite()).sum()
        };
        let sums: Vec<f64> = (0..take.frame_count()).map(sum_at).collect();
        let mut frames: Vec<usize> = (0..sums.len()).collect();
        frames.sort_by(|&a, &b| sums[a].total_cmp(&sums[b]));
        frames.truncate(sums.len().div_ceil(REST_PART));

        let mut calibration = Self::of(take, &frames, &[])?;
        for (place, channel) in weights().enumerate() {
            let greatest = channel.values.iter().copied().fold(f64::NAN, f64::max);
            let range = greatest - calibration.rest[place].1;
            if range >= LEAST_EXTREME {
                calibration.separated.push(place);
                calibration.inverse.push(vec![1.0 / range]);
            }
        }

        let count = calibration.separated.len();
        if count == 0 {
            return Err(RigError::BadOption {
                what: "the largest range of a channel in the calibration take",
                value: 0.0,
                needed: "a take in which the face goes to its extremes",
            });
        }
        for (k, row) in calibration.inverse.iter_mut().enumerate() {
            let own = row[0];
            *row = vec![0.0; count];
            row[k] = own;
        }
        calibration.cross_talk_removed = 0.0;
        Ok(calibration)
    }

    /// How many channels have a range.
    #[must_use]
    pub fn ranged(&self) -> usize {
        self.separated.len()
    }

    /// The performance with the device's rest, range and cross-talk removed. Channels that the
    /// calibration does not know stay.
    #[must_use]
    pub fn apply(&self, performance: &Performance) -> Performance {
        let mut calibrated = performance.clone();
        let names = performance.channels().iter().map(|channel| &*channel.name);
        let bound = self.bind(names);
        let mut values = vec![0.0; performance.channels().len()];
        for frame in 0..performance.frame_count() {
            for (value, channel) in values.iter_mut().zip(performance.channels()) {
                *value = channel.values[frame];
            }
            bound.apply(&mut values);
            for (channel, value) in calibrated.channels_mut().iter_mut().zip(&values) {
                channel.values[frame] = *value;
            }
        }
        calibrated
    }

    /// The calibration for channels in this order, for use frame by frame.
    #[must_use]
    pub fn bind<'a>(&self, names: impl Iterator<Item = &'a str>) -> BoundCalibration {
        let names: Vec<&str> = names.collect();
        let place = |name: &str| names.iter().position(|other| *other == name);
        let rest = names.iter().map(|name| {
            let known = self.rest.iter().find(|(other, _)| other == name);
            known.map_or(0.0, |(_, value)| *value)
        });
        BoundCalibration {
            rest: rest.collect(),
            places: self
                .separated
                .iter()
                .map(|&k| place(&self.rest[k].0))
                .collect(),
            inverse: self.inverse.clone(),
        }
    }
}

/// A calibration whose names are resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundCalibration {
    /// The value at rest of each channel.
    rest: Vec<f64>,
    /// The channels of the rows of `inverse`.
    places: Vec<Option<usize>>,
    inverse: Vec<Vec<f64>>,
}

impl BoundCalibration {
    /// Calibrates the values of one frame, one for each channel.
    pub fn apply(&self, values: &mut [f64]) {
        for (value, rest) in values.iter_mut().zip(&self.rest) {
            *value -= rest;
        }

        // A missing value must not spread to the other channels.
        let moved = |place: &Option<usize>| place.map_or(0.0, |k| values[k]);
        let own: Vec<f64> = self.places.iter().map(moved).collect();
        for (row, place) in self.inverse.iter().zip(&self.places) {
            let Some(place) = *place else { continue };
            if values[place].is_nan() {
                continue;
            }
            let known = row.iter().zip(&own).filter(|(_, value)| value.is_finite());
            values[place] = known.map(|(a, b)| a * b).sum();
        }
    }
}

/// `C`, row by row.
fn columns(
    take: &Performance,
    rest: &[(String, f64)],
    separated: &[usize],
    extremes: &[(String, usize)],
) -> Result<Vec<Vec<f64>>, RigError> {
    let count = separated.len();
    let mut matrix = vec![vec![0.0; count]; count];
    for (column, &place) in separated.iter().enumerate() {
        let name = &rest[place].0;
        let shown = extremes.iter().find(|(other, _)| other == name);
        let frame = shown.map_or(0, |(_, frame)| *frame);
        for (row, &other) in separated.iter().enumerate() {
            let (other_name, value_at_rest) = &rest[other];
            let shares = extremes.iter().any(|(n, f)| n == other_name && *f == frame);
            if shares && row != column {
                continue;
            }
            let value = take.channel(other_name)?.values[frame];
            let motion = value - value_at_rest;
            matrix[row][column] = if motion.is_finite() { motion } else { 0.0 };
        }
        if matrix[column][column].abs() < LEAST_MOTION {
            return Err(RigError::BadOption {
                what: "the frame of an extreme",
                value: frame as f64,
                needed: "a frame in which its channel moves by at least 0.02",
            });
        }
    }
    Ok(matrix)
}

/// The inverse of the matrix with as much of its off-diagonal part as noise permits, and that part.
fn stable_inverse(matrix: &[Vec<f64>]) -> (Vec<Vec<f64>>, f64) {
    const STEPS: i32 = 10;
    for step in (0..=STEPS).rev() {
        let part = f64::from(step) / f64::from(STEPS);
        let mut scaled = matrix.to_vec();
        for (j, row) in scaled.iter_mut().enumerate() {
            for (k, value) in row.iter_mut().enumerate() {
                if j != k {
                    *value *= part;
                }
            }
        }

        // Noise in each channel, relative to its own range.
        let Some(inverse) = inverted(&scaled) else {
            continue;
        };
        let gain = |row: &Vec<f64>| -> f64 {
            let terms = row.iter().zip(matrix.iter().enumerate());
            terms.map(|(a, (k, line))| (a * line[k]).abs()).sum()
        };
        if inverse.iter().all(|row| gain(row) <= LARGEST_GAIN) {
            return (inverse, part);
        }
    }
    unreachable!("a diagonal matrix amplifies nothing")
}

/// The inverse by Gauss–Jordan elimination with row pivots; `None` for a singular matrix.
fn inverted(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
    for (k, row) in matrix.iter().enumerate() {
        let mut wide = row.clone();
        wide.extend((0..n).map(|j| f64::from(u8::from(j == k))));
        rows.push(wide);
    }

    for column in 0..n {
        let pivot =
            (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let scale = rows[column][column];
        if scale.abs() < 1e-12 {
            return None;
        }
        for value in &mut rows[column] {
            *value /= scale;
        }
        let base = rows[column].clone();
        for (k, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if k != column && factor != 0.0 {
                for (value, base) in row.iter_mut().zip(&base) {
                    *value -= factor * base;
                }
            }
        }
    }
    Some(rows.into_iter().map(|row| row[n..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Channel;

    const NAMES: [&str; 3] = ["jawOpen", "mouthSmileLeft", "mouthSmileRight"];

    /// What a device reports for true weights: rest, range and cross-talk.
    fn device(truth: [f64; 3]) -> [f64; 3] {
        let [jaw, left, right] = truth;
        [
            0.05 + 0.8 * jaw,
            0.1 + 0.6 * left + 0.2 * jaw,
            0.12 + 0.65 * right + 0.25 * jaw,
        ]
    }

    fn take(frames: &[[f64; 3]]) -> Performance {
        let channels = NAMES.iter().enumerate().map(|(k, name)| {
            Channel::new(
                *name,
                frames.iter().map(|frame| device(*frame)[k]).collect(),
            )
        });
        Performance::even("take", 30.0, channels.collect()).unwrap()
    }

    #[test]
    fn a_planted_cross_talk_is_removed() {
        let rom = take(&[[0.0; 3], [0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]);
        let extremes = [
            ("jawOpen", 2),
            ("mouthSmileLeft", 3),
            ("mouthSmileRight", 3),
        ];
        let extremes = extremes.map(|(name, frame)| (name.to_owned(), frame));
        let calibration = Calibration::of(&rom, &[0, 1], &extremes).unwrap();
        assert_eq!(calibration.cross_talk_removed, 1.0);

        let truth = [[0.3, 0.8, 0.1], [1.0, 0.5, 0.5], [0.0, 0.0, 0.0]];
        let calibrated = calibration.apply(&take(&truth));
        for (k, channel) in calibrated.channels().iter().enumerate() {
            for (frame, value) in channel.values.iter().enumerate() {
                assert!((value - truth[frame][k]).abs() < 1e-12, "{}", channel.name);
            }
        }
    }

    #[test]
    fn a_take_without_marked_frames_gives_rest_and_range() {
        let channel = |name: &str, rest: f64, at: usize, greatest: f64| {
            let value = |k: usize| if k == at { greatest } else { rest };
            Channel::new(name, (0..22).map(value).collect())
        };
        let rom = vec![
            channel("jawOpen", 0.1, 20, 0.6),
            channel("mouthSmileLeft", 0.05, 21, 0.85),
            channel("cheekPuff", 0.02, 21, 0.1),
        ];
        let rom = Performance::even("rom", 30.0, rom).unwrap();
        let calibration = Calibration::of_range(&rom).unwrap();
        assert_eq!(calibration.ranged(), 2, "the third hardly moves");

        let calibrated = calibration.apply(&rom);
        let values = |k: usize| &calibrated.channels()[k].values;
        assert!(values(0)[0].abs() < 1e-12 && (values(0)[20] - 1.0).abs() < 1e-12);
        assert!((values(1)[21] - 1.0).abs() < 1e-12);
        assert!((values(2)[21] - 0.08).abs() < 1e-12);

        let still = Performance::even("rest", 30.0, vec![Channel::new("a", vec![0.1; 9])]);
        assert!(Calibration::of_range(&still.unwrap()).is_err());
    }

    #[test]
    fn a_missing_value_stays_missing_and_does_not_spread() {
        let rom = take(&[[0.0; 3], [1.0, 0.0, 0.0]]);
        let calibration = Calibration::of(&rom, &[0], &[("jawOpen".into(), 1)]).unwrap();
        let mut broken = take(&[[0.5, 0.5, 0.5]]);
        broken.channels_mut()[0].values[0] = f64::NAN;
        let calibrated = calibration.apply(&broken);
        assert!(calibrated.channels()[0].values[0].is_nan());
        assert!(calibrated.channels()[1].values[0].is_finite());
    }

    #[test]
    fn extremes_that_are_alike_are_not_separated_by_force() {
        let alike = |jaw: f64, smile: f64| {
            let channels = [("jawOpen", jaw), ("mouthSmileLeft", smile)];
            channels
                .map(|(name, value)| Channel::new(name, vec![0.0, value, 0.99 * value]))
                .to_vec()
        };
        let rom = Performance::even("rom", 30.0, alike(1.0, 1.0)).unwrap();
        let extremes = [("jawOpen".to_owned(), 1), ("mouthSmileLeft".to_owned(), 2)];
        let calibration = Calibration::of(&rom, &[0], &extremes).unwrap();
        assert!(calibration.cross_talk_removed < 1.0);
        for row in &calibration.inverse {
            assert!(row.iter().all(|value| value.abs() < 4.0), "{row:?}");
        }

        assert!(Calibration::of(&rom, &[0], &[("jawOpen".into(), 0)]).is_err());
        assert!(Calibration::of(&rom, &[9], &[]).is_err());
        assert!(Calibration::of(&rom, &[0], &[("tail".into(), 1)]).is_err());
    }
}
