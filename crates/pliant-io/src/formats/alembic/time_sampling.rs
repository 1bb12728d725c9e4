//! Time samplings of Alembic: at which times the samples of a property are.
//!
//! **Format.** A sampling is *uniform* (a start and a period), *cyclic* (several times within each
//! period, such as the samples of a shutter) or *acyclic* (a list of times). Many properties may
//! share a sampling. Number 0 is one sample a second.
//!
//! **Departures.** Frames are evenly spaced. If the times within a cycle are not, the whole
//! multiples of the period are the frames, because a shutter opens around a whole frame. Acyclic
//! times are sampled on their own grid if they have one, else at a given rate.

use crate::ReadError;
use crate::parse::binary::Cursor;
use crate::parse::budget::Budget;

/// Two times closer than this are equal, as in Alembic.
const TIME_TOLERANCE_SECS: f64 = 1e-5;

/// A period from here on means acyclic times.
const ACYCLIC_PERIOD: f64 = f64::MAX / 64.0;

/// The times of samples, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeSampling {
    /// The times of the first cycle, ascending; of all samples if acyclic.
    times: Vec<f64>,
    /// The duration of a cycle; `None` if acyclic.
    period: Option<f64>,
}

/// Evenly spaced frames that show some samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SampledFrames {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) period: f64,
    /// Whether every sample is at a frame.
    pub(super) complete: bool,
}

/// Two samples around a time, and its position between them in `[0, 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Around {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) along: f64,
}

impl TimeSampling {
    pub(super) fn read_all(
        mut cursor: Cursor<'_>,
        budget: &Budget,
    ) -> Result<Vec<Self>, ReadError> {
        let what = "a time sampling";
        budget.spend(cursor.left() / 8, "the time samplings")?;
        let mut samplings = Vec::new();
        while cursor.left() > 0 {
            let _greatest_sample = cursor.array::<4>(what)?;
            let period = f64::from_le_bytes(cursor.array(what)?);
            let count = u32::from_le_bytes(cursor.array(what)?);
            cursor.require(count.into(), 8, "times of samples")?;
            let bytes = cursor.take(8 * count as usize, what)?;
            let times = bytes
                .chunks_exact(8)
                .map(|t| f64::from_le_bytes(t.try_into().expect("chunks of eight bytes")))
                .collect();
            samplings.push(Self::new(times, period)?);
        }
        Ok(samplings)
    }

    fn new(times: Vec<f64>, period: f64) -> Result<Self, ReadError> {
        let period = (period < ACYCLIC_PERIOD || !period.is_finite()).then_some(period);
        let ascending = times.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = times.iter().all(|time| time.is_finite());
        // A cycle may end where the next one begins, but not later.
        let span = times.last().copied().unwrap_or(0.0) - times.first().copied().unwrap_or(0.0);
        let fits =
            period.is_none_or(|p| p.is_finite() && p > 0.0 && span <= p + TIME_TOLERANCE_SECS);
        if times.is_empty() || !ascending || !finite || !fits {
            return Err(ReadError::whole(
                "a time sampling has no times that ascend; the file is damaged, export it again",
            ));
        }
        Ok(Self { times, period })
    }

    /// The time of a sample.
    fn time(&self, sample: usize) -> f64 {
        let cycle = self.times.len();
        match self.period {
            Some(period) => self.times[sample % cycle] + period * (sample / cycle) as f64,
            None => self.times[sample.min(cycle - 1)],
        }
    }

    /// The samples around a time, of so many. Outside of them the nearest one is held.
    pub(super) fn around(&self, samples: usize, time: f64) -> Around {
        let held = |sample| Around {
            from: sample,
            to: sample,
            along: 0.0,
        };

        // Binary search for the first sample after the time.
        let mut after = 0;
        let mut end = samples;
        while after < end {
            let middle = after + (end - after) / 2;
            if self.time(middle) <= time + TIME_TOLERANCE_SECS {
                after = middle + 1;
            } else {
                end = middle;
            }
        }
        if after == 0 || after >= samples {
            return held(after.saturating_sub(1).min(samples.saturating_sub(1)));
        }

        let from = self.time(after - 1);
        let to = self.time(after);
        if time - from <= TIME_TOLERANCE_SECS {
            return held(after - 1);
        }
        Around {
            from: after - 1,
            to: after,
            along: (time - from) / (to - from),
        }
    }

    /// The frames that show so many samples; acyclic times without a grid are sampled every
    /// `fallback_period`. At most `most_frames` frames.
    pub(super) fn frames(
        &self,
        samples: usize,
        fallback_period: f64,
        most_frames: f64,
    ) -> SampledFrames {
        let last = self.time(samples.saturating_sub(1));
        let Some(cycle) = self.period else {
            return self.acyclic_frames(samples, fallback_period, most_frames);
        };

        let count = self.times.len();
        let even = cycle / count as f64;
        if self.is_even(count, even) {
            return SampledFrames {
                start: self.times[0],
                end: last,
                period: even,
                complete: true,
            };
        }

        // Whole frames between the samples of a cycle are interpolated.
        let distance = |time: f64| (time / cycle - (time / cycle).round()).abs();
        let times = self.times.iter().copied();
        let nearest = times.min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        let nearest = nearest.unwrap_or(self.times[0]);
        let whole = (nearest / cycle).round() * cycle;
        let start = if whole >= self.times[0] && whole <= self.times[count - 1] {
            whole
        } else {
            nearest
        };

        let cycles = samples.saturating_sub(1) / count;
        SampledFrames {
            start,
            end: start + cycle * cycles as f64,
            period: cycle,
            complete: false,
        }
    }

    fn acyclic_frames(
        &self,
        samples: usize,
        fallback_period: f64,
        most_frames: f64,
    ) -> SampledFrames {
        let times = &self.times[..samples.clamp(1, self.times.len())];
        let start = times[0];
        let end = times[times.len() - 1];
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        let least = gaps.fold(f64::INFINITY, f64::min);

        // The mean over a whole number of gaps is more exact than the least gap.
        let steps = ((end - start) / least).round();
        let grid = if steps >= 1.0 {
            (end - start) / steps
        } else {
            fallback_period
        };
        let complete = steps < most_frames && self.on_grid(times, grid);
        SampledFrames {
            start,
            end,
            period: if complete { grid } else { fallback_period },
            complete,
        }
    }

    fn on_grid(&self, times: &[f64], grid: f64) -> bool {
        times.iter().all(|time| {
            let steps = (time - times[0]) / grid;
            (steps - steps.round()).abs() * grid <= TIME_TOLERANCE_SECS
        })
    }

    fn is_even(&self, count: usize, gap: f64) -> bool {
        let first = self.times[0];
        (0..count).all(|k| {
            (self.times[k] - first - k as f64 * gap).abs() <= TIME_TOLERANCE_SECS.min(1e-3 * gap)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(times: &[f64], period: f64) -> TimeSampling {
        TimeSampling::new(times.to_vec(), period).unwrap()
    }

    fn frames(sampling: &TimeSampling, samples: usize) -> (f64, f64, f64, bool) {
        let found = sampling.frames(samples, 1.0 / 24.0, 1e5);
        (found.start, found.end, found.period, found.complete)
    }

    #[test]
    fn each_kind_of_sampling_gives_even_frames() {
        let uniform = sampling(&[1.5], 0.5);
        assert_eq!(frames(&uniform, 5), (1.5, 3.5, 0.5, true));

        let half_frames = sampling(&[1.0, 1.5], 1.0);
        assert_eq!(frames(&half_frames, 6), (1.0, 3.5, 0.5, true));

        let shutter = sampling(&[0.75, 1.0, 1.25], 1.0);
        assert_eq!(frames(&shutter, 9), (1.0, 3.0, 1.0, false));

        let around_whole = sampling(&[1.75, 2.125], 1.0);
        assert_eq!(frames(&around_whole, 6), (2.0, 4.0, 1.0, false));

        let after_whole = sampling(&[1.125, 1.25], 1.0);
        assert_eq!(frames(&after_whole, 6), (1.125, 3.125, 1.0, false));

        let listed = sampling(&[0.0, 0.5, 2.0], f64::MAX / 32.0);
        assert_eq!(frames(&listed, 3), (0.0, 2.0, 0.5, true));

        let uneven = sampling(&[0.0, 0.3, 1.0], f64::MAX / 32.0);
        assert_eq!(frames(&uneven, 3), (0.0, 1.0, 1.0 / 24.0, false));
    }

    #[test]
    fn a_time_is_between_two_samples_or_at_one() {
        let shutter = sampling(&[0.75, 1.0, 1.25], 1.0);
        let around = |time| {
            let found = shutter.around(9, time);
            (found.from, found.to, found.along)
        };
        assert_eq!(around(0.0), (0, 0, 0.0));
        assert_eq!(around(2.0), (4, 4, 0.0));
        assert_eq!(around(2.0 + 1e-7), (4, 4, 0.0));
        assert_eq!(around(1.5), (2, 3, 0.5));
        assert_eq!(around(9.0), (8, 8, 0.0));
    }

    #[test]
    fn times_that_do_not_ascend_are_rejected() {
        for (times, period) in [
            (vec![], 1.0),
            (vec![1.0, 1.0], 4.0),
            (vec![f64::NAN], 1.0),
            (vec![0.0], 0.0),
            (vec![0.0, 2.0], 1.0),
            (vec![0.0], f64::NAN),
        ] {
            assert!(TimeSampling::new(times, period).is_err());
        }
    }
}
