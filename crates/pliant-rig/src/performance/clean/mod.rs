//! Cleaning of performances: gaps, spikes, noise, holds and contacts.
//!
//! **Method.** For each channel: spikes become gaps, gaps are filled, and what remains is smoothed
//! as strongly as its noise asks for, with closed lids and lips kept; then holds become constant.
//!
//! - [`CleanOptions`], [`CleanReport`], [`clean`]: the whole of it.
//! - `gaps`, `spikes`, `noise`, `smoothing`, `holds`, `contacts`: the steps, each with its equation.

mod contacts;
mod gaps;
mod holds;
mod noise;
mod smoothing;
mod spikes;

use super::recording::{ChannelKind, Performance};

/// How strong smoothing is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smoothing {
    /// None.
    Off,
    /// For the noise that each channel has, times this factor.
    Measured(f64),
    /// For noise of this deviation.
    Given(f64),
}

/// What is cleaned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CleanOptions {
    /// Whether spikes are removed.
    pub spikes: bool,
    /// The longest gap that is filled by a cubic, in seconds; longer ones ease from end to end.
    pub longest_gap_secs: f64,
    /// How strong smoothing is.
    pub smoothing: Smoothing,
    /// Whether holds become constant.
    pub holds: bool,
    /// Whether closed lids and lips stay closed.
    pub contacts: bool,
}

impl CleanOptions {
    /// *Chosen*: in a quarter of a second a face makes one motion.
    pub const DEFAULT_LONGEST_GAP_SECS: f64 = 0.25;

    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self {
            spikes: true,
            longest_gap_secs: Self::DEFAULT_LONGEST_GAP_SECS,
            smoothing: Smoothing::Measured(1.0),
            holds: true,
            contacts: true,
        }
    }

    /// Only missing values are filled.
    #[must_use]
    pub fn fill_only() -> Self {
        Self {
            spikes: false,
            longest_gap_secs: Self::DEFAULT_LONGEST_GAP_SECS,
            smoothing: Smoothing::Off,
            holds: false,
            contacts: true,
        }
    }
}

impl Default for CleanOptions {
    fn default() -> Self {
        Self::all()
    }
}

/// What cleaning did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CleanReport {
    /// Values that were missing in the file.
    pub filled: usize,
    /// Spikes that were removed.
    pub spikes: usize,
    /// Holds that became constant.
    pub holds: usize,
    /// For each channel, the deviation of its noise.
    pub noise: Vec<f64>,
    /// The greatest change of a value that was not missing and no spike.
    pub largest_change: f64,
}

/// *Chosen*: what a contact frame weighs against a free one.
const CONTACT_WEIGHT: f64 = 25.0;
/// The least height of the band of a hold, as a part of the range of a slider. *Chosen*: not visible.
const LEAST_BAND: f64 = 0.002;
/// The band of a hold, in deviations of the noise before smoothing. *Chosen*: smooth curves keep
/// about a third of the noise, within ± 3 deviations.
const BAND_DEVIATIONS: f64 = 2.0;

/// The performance without gaps and, as the options say, without spikes, noise and jitter.
#[must_use]
pub fn clean(performance: &Performance, options: &CleanOptions) -> (Performance, CleanReport) {
    let mut cleaned = performance.clone();
    let mut report = CleanReport::default();
    let times = performance.times_secs().to_vec();

    let known_values: Vec<Vec<f64>> = performance
        .channels()
        .iter()
        .map(|c| known(&c.values))
        .collect();
    report.noise = noise::deviations(&known_values);
    for (k, channel) in cleaned.channels_mut().iter_mut().enumerate() {
        let sigma = report.noise[k];
        report.filled += channel.missing();
        if options.spikes && channel.kind != ChannelKind::Other {
            report.spikes += spikes::remove(&mut channel.values, sigma);
        }
        gaps::fill(&times, &mut channel.values, options.longest_gap_secs);
    }

    let contacts = if options.contacts {
        contacts::frames_of_contact(cleaned.channels())
    } else {
        Default::default()
    };
    let strength = |noise: f64| match options.smoothing {
        Smoothing::Off => 0.0,
        Smoothing::Measured(factor) => factor * noise,
        Smoothing::Given(sigma) => sigma,
    };

    for (k, channel) in cleaned.channels_mut().iter_mut().enumerate() {
        let sigma = strength(report.noise[k]);
        if sigma > 0.0 {
            let weights: Vec<f64> = match contacts.get(&k) {
                Some(closed) => closed
                    .iter()
                    .map(|&closed| if closed { CONTACT_WEIGHT } else { 1.0 })
                    .collect(),
                None => vec![1.0; times.len()],
            };
            channel.values = smoothing::smoothed(&channel.values, &weights, sigma);
        }
        if options.holds {
            let band = f64::max(LEAST_BAND, BAND_DEVIATIONS * report.noise[k]);
            report.holds += holds::flatten(&times, &mut channel.values, band);
        }
    }

    for (before, after) in performance.channels().iter().zip(cleaned.channels()) {
        for (a, b) in before.values.iter().zip(&after.values) {
            if !a.is_nan() {
                report.largest_change = report.largest_change.max((a - b).abs());
            }
        }
    }
    (cleaned, report)
}

fn known(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .copied()
        .filter(|value| !value.is_nan())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::noise::tests::normal;
    use super::*;
    use crate::Channel;

    /// Eyes that blink and a jaw that speaks and rests, for 20 s at 60 frames per second.
    fn planted() -> Vec<Channel> {
        let blink = |k: usize| {
            let phase = k % 170;
            if phase < 9 {
                (std::f64::consts::PI * phase as f64 / 9.0).sin()
            } else {
                0.0
            }
        };
        let jaw = |k: usize| {
            let t = k as f64 / 60.0;
            if (t % 4.0) < 2.5 {
                (0.3 - 0.3 * (9.0 * t).cos()) * (0.5 + 0.5 * (1.3 * t).sin())
            } else {
                0.1
            }
        };
        vec![
            Channel::new("eyeBlinkLeft", (0..1200).map(blink).collect()),
            Channel::new("jawOpen", (0..1200).map(jaw).collect()),
        ]
    }

    fn rms(a: &[Channel], b: &[Channel]) -> f64 {
        let values = |c: &[Channel]| c.iter().flat_map(|c| c.values.clone()).collect::<Vec<_>>();
        let (a, b) = (values(a), values(b));
        let squares = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b));
        (squares.sum::<f64>() / a.len() as f64).sqrt()
    }

    #[test]
    fn a_damaged_performance_is_nearer_to_the_planted_one_after_cleaning() {
        let planted = planted();
        let mut normal = normal(11);
        let mut damaged = planted.clone();
        for channel in &mut damaged {
            for (k, value) in channel.values.iter_mut().enumerate() {
                *value += 0.012 * normal();
                // Dropouts of one to eight frames, and spikes.
                if k % 97 < k % 8 {
                    *value = f64::NAN;
                } else if k % 131 == 60 {
                    *value += 0.5;
                }
            }
        }
        let take = Performance::even("take", 60.0, damaged).unwrap();
        let (filled, _) = clean(&take, &CleanOptions::fill_only());
        let (cleaned, report) = clean(&take, &CleanOptions::all());

        assert!(cleaned.channels().iter().all(|c| c.missing() == 0));
        assert!(report.spikes >= 8, "{}", report.spikes);
        let (before, after) = (
            rms(filled.channels(), &planted),
            rms(cleaned.channels(), &planted),
        );
        assert!(after < 0.5 * before, "{after} of {before}");
    }

    #[test]
    fn a_clean_performance_stays_and_closed_lids_stay_closed() {
        let planted = planted();
        let take = Performance::even("take", 60.0, planted.clone()).unwrap();
        let (cleaned, report) = clean(&take, &CleanOptions::all());
        assert!(
            rms(cleaned.channels(), &planted) < 2e-3,
            "{}",
            rms(cleaned.channels(), &planted)
        );
        assert_eq!(report.filled, 0);

        let mut normal = normal(13);
        let mut noisy = planted.clone();
        for value in noisy.iter_mut().flat_map(|c| &mut c.values) {
            *value += 0.01 * normal();
        }
        let take = Performance::even("take", 60.0, noisy).unwrap();
        let (cleaned, _) = clean(&take, &CleanOptions::all());
        let (lid, planted) = (&cleaned.channels()[0].values, &planted[0].values);
        for first in (0..1200 - 9).step_by(170) {
            let peak = |v: &[f64]| v[first..first + 9].iter().copied().fold(0.0, f64::max);
            assert!(
                (peak(lid) - peak(planted)).abs() < 0.04,
                "{} of {}",
                peak(lid),
                peak(planted)
            );
        }
    }
}
