//! Visemes from the amplitude and the spectrum of speech: a simple estimate, no recognition.
//!
//! **Problem.** A mouth should move with speech although nothing was captured.
//!
//! **Method.** In windows of 32 ms the loudness `a` is the root mean square relative to the loud and
//! the quiet parts of the sound. The part `s` of the energy above 3.5 kHz is that of sibilants. The
//! rest is a vowel: the peaks of the smoothed spectrum in 200–1000 Hz and in 700–3000 Hz stand for
//! the formants `F₁` and `F₂`, and the vowels share the loudness by their distances from these
//! formants:
//!
//! ```text
//! wᵥ ∝ exp(−½ (ln²(F₁ / F₁ᵥ) + ln²(F₂ / F₂ᵥ)) / 0.2²)        viseme v: a (1 − s) wᵥ
//! ```
//!
//! **Source.** Formants of vowels: Peterson, Barney, "Control methods used in a study of the
//! vowels", 1952, means of all speakers.
//!
//! **Departures.** Lips close where the sound is quiet; plosives are not recognised. Weights are
//! smoothed over 50 ms without lag.

use std::f64::consts::PI;

use pliant_linalg::portable;

use super::recording::{Channel, Performance};
use crate::RigError;

const WINDOW_SECS: f64 = 0.032;
/// Sibilants are above, vowels below.
const SIBILANT_HZ: f64 = 3500.0;
const F1_HZ: [f64; 2] = [200.0, 1000.0];
const F2_HZ: [f64; 2] = [700.0, 3000.0];
/// Width of a vowel in the logarithm of a formant.
const VOWEL_WIDTH: f64 = 0.2;
/// Deviation of the smoothing.
const SMOOTHING_SECS: f64 = 0.025;

/// Names and formants.
const VOWELS: [(&str, f64, f64); 5] = [
    ("viseme_aa", 800.0, 1250.0),
    ("viseme_E", 580.0, 1950.0),
    ("viseme_I", 310.0, 2450.0),
    ("viseme_O", 590.0, 900.0),
    ("viseme_U", 350.0, 800.0),
];

/// The visemes of a sound: `viseme_aa`, `_E`, `_I`, `_O`, `_U` and `_SS` over time.
///
/// # Errors
/// [`RigError::BadOption`] for a rate below 8 kHz or a sound shorter than a window.
pub fn visemes_of_speech(
    name: &str,
    samples: &[f32],
    samples_per_second: f64,
    frames_per_second: f64,
) -> Result<Performance, RigError> {
    let bad = |what, value, needed| {
        Err(RigError::BadOption {
            what,
            value,
            needed,
        })
    };
    if !(8000.0..=400_000.0).contains(&samples_per_second) {
        return bad("the rate of the sound", samples_per_second, "from 8,000 Hz");
    }
    let window = (WINDOW_SECS * samples_per_second) as usize;
    if samples.len() < window {
        return bad(
            "the length of the sound in samples",
            samples.len() as f64,
            "at least 32 ms",
        );
    }
    if !(1.0..=1000.0).contains(&frames_per_second) {
        return bad("the rate of frames", frames_per_second, "from 1 to 1000");
    }

    let duration = samples.len() as f64 / samples_per_second;
    let count = (duration * frames_per_second).floor() as usize + 1;
    let spectrum = Spectrum::new(window, samples_per_second);
    let mut loudness = Vec::with_capacity(count);
    let mut shares = Vec::with_capacity(count);
    for frame in 0..count {
        let center = frame as f64 / frames_per_second * samples_per_second;
        let first = (center as usize)
            .saturating_sub(window / 2)
            .min(samples.len() - window);
        let (level, share) = spectrum.analyse(&samples[first..first + window]);
        loudness.push(level);
        shares.push(share);
    }

    normalise(&mut loudness);
    let sigma = SMOOTHING_SECS * frames_per_second;
    let mut channels = Vec::new();
    let names = VOWELS.iter().map(|(name, _, _)| *name).chain(["viseme_SS"]);
    for (k, name) in names.enumerate() {
        let values: Vec<f64> = loudness
            .iter()
            .zip(&shares)
            .map(|(a, share)| a * share[k])
            .collect();
        channels.push(Channel::new(name, blurred(&values, sigma)));
    }
    Performance::even(name, frames_per_second, channels)
}

/// Loudness from 0 in the quiet tenth to 1 in the loud twentieth, by decibels.
fn normalise(loudness: &mut [f64]) {
    let mut sorted = loudness.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |part: f64| sorted[(part * (sorted.len() - 1) as f64) as usize];
    let loud = at(0.95);
    // Sound 30 dB below the loud parts closes the mouth, whatever the background is.
    let quiet = at(0.1).clamp(0.03 * loud, 0.3 * loud);
    for value in loudness.iter_mut() {
        let relative = (*value - quiet) / (loud - quiet);
        *value = if loud > 0.0 {
            relative.clamp(0.0, 1.0).sqrt()
        } else {
            0.0
        };
    }
}

/// A Gaussian mean over time.
fn blurred(values: &[f64], sigma: f64) -> Vec<f64> {
    let reach = (3.0 * sigma).ceil() as usize;
    let weight = |distance: usize| {
        let t = distance as f64 / sigma.max(1e-9);
        portable::exp(-0.5 * t * t)
    };
    let mut blurred = Vec::with_capacity(values.len());
    for k in 0..values.len() {
        let [mut sum, mut total] = [0.0; 2];
        for other in k.saturating_sub(reach)..(k + reach + 1).min(values.len()) {
            let weight = weight(k.abs_diff(other));
            sum += weight * values[other];
            total += weight;
        }
        blurred.push(sum / total);
    }
    blurred
}

/// The analysis of one window: sums of cosines and sines at frequencies 60 Hz apart.
struct Spectrum {
    hann: Vec<f64>,
    /// For each frequency its sines and cosines over the window.
    waves: Vec<(f64, Vec<[f64; 2]>)>,
}

impl Spectrum {
    const STEP_HZ: f64 = 60.0;

    fn new(window: usize, rate: f64) -> Self {
        let hann = (0..window).map(|k| {
            let phase = 2.0 * PI * (k as f64 + 0.5) / window as f64;
            0.5 - 0.5 * portable::cos(phase)
        });
        let highest = (0.45 * rate).min(8000.0);
        let mut waves = Vec::new();
        let mut hertz = 120.0;
        while hertz < highest {
            let wave = (0..window).map(|k| {
                let phase = 2.0 * PI * hertz * k as f64 / rate;
                [portable::cos(phase), portable::sin(phase)]
            });
            waves.push((hertz, wave.collect()));
            hertz += Self::STEP_HZ;
        }
        Self {
            hann: hann.collect(),
            waves,
        }
    }

    /// The loudness, and the share of each vowel and of the sibilant.
    fn analyse(&self, samples: &[f32]) -> (f64, [f64; 6]) {
        let windowed: Vec<f64> = samples
            .iter()
            .zip(&self.hann)
            .map(|(s, h)| f64::from(*s) * h)
            .collect();
        let level = (windowed.iter().map(|s| s * s).sum::<f64>() / windowed.len() as f64).sqrt();
        let mut powers = Vec::with_capacity(self.waves.len());
        for (hertz, wave) in &self.waves {
            let mut sum = [0.0; 2];
            for (sample, [cosine, sine]) in windowed.iter().zip(wave) {
                sum[0] += sample * cosine;
                sum[1] += sample * sine;
            }
            powers.push((*hertz, sum[0] * sum[0] + sum[1] * sum[1]));
        }

        let total: f64 = powers.iter().map(|(_, power)| power).sum();
        if !(total > 0.0 && level.is_finite()) {
            return (0.0, [0.0; 6]);
        }
        let high = powers.iter().filter(|(hertz, _)| *hertz >= SIBILANT_HZ);
        let sibilant = (2.0 * high.map(|(_, p)| p).sum::<f64>() / total - 0.3).clamp(0.0, 1.0);

        let f1 = peak(&envelope(&powers, false), F1_HZ);
        let f2 = peak(&envelope(&powers, true), [F2_HZ[0].max(1.3 * f1), F2_HZ[1]]);
        let mut shares = [0.0; 6];
        let mut sum = 0.0;
        for (share, (_, own1, own2)) in shares.iter_mut().zip(VOWELS) {
            let d1 = portable_ln(f1 / own1) / VOWEL_WIDTH;
            let d2 = portable_ln(f2 / own2) / VOWEL_WIDTH;
            *share = portable::exp(-0.5 * (d1 * d1 + d2 * d2).min(60.0));
            sum += *share;
        }
        for share in &mut shares[..5] {
            *share *= (1.0 - sibilant) / sum;
        }
        shares[5] = sibilant;
        (level, shares)
    }
}

/// The natural logarithm near 1, by its series in `(x − 1) / (x + 1)`.
fn portable_ln(x: f64) -> f64 {
    let z = (x - 1.0) / (x + 1.0);
    let z2 = z * z;
    let mut term = z;
    let mut sum = 0.0;
    for k in 0..24 {
        sum += term / f64::from(2 * k + 1);
        term *= z2;
    }
    2.0 * sum
}

/// Powers over ± 120 Hz, which hides the harmonics of the voice, and if `tilted` with the
/// 6 dB per octave that voices lose.
fn envelope(powers: &[(f64, f64)], tilted: bool) -> Vec<(f64, f64)> {
    let mut smooth = Vec::with_capacity(powers.len());
    for (k, &(hertz, _)) in powers.iter().enumerate() {
        let near = &powers[k.saturating_sub(2)..(k + 3).min(powers.len())];
        let mean = near.iter().map(|(_, power)| power).sum::<f64>() / near.len() as f64;
        smooth.push((hertz, if tilted { mean * hertz * hertz } else { mean }));
    }
    smooth
}

/// The frequency of the largest power in a range.
fn peak(smooth: &[(f64, f64)], [low, high]: [f64; 2]) -> f64 {
    let inside = smooth
        .iter()
        .filter(|(hertz, _)| (low..=high).contains(hertz));
    let best = inside.max_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(low, |(hertz, _)| *hertz)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 16_000.0;

    /// A vowel: pulses of 110 Hz through two resonators.
    fn vowel(f1: f64, f2: f64, count: usize) -> Vec<f32> {
        let mut samples: Vec<f64> = (0..count)
            .map(|k| f64::from(u8::from(k % 145 == 0)))
            .collect();
        for (hertz, width) in [(f1, 70.0), (f2, 110.0)] {
            let r = (-PI * width / RATE).exp();
            let (a, b) = (2.0 * r * (2.0 * PI * hertz / RATE).cos(), -r * r);
            let [mut y1, mut y2] = [0.0; 2];
            for sample in &mut samples {
                let y = *sample + a * y1 + b * y2;
                (y2, y1) = (y1, y);
                *sample = y;
            }
        }
        let largest = samples.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
        samples.iter().map(|s| (0.5 * s / largest) as f32).collect()
    }

    #[test]
    fn synthetic_vowels_hisses_and_silence_are_told_apart() {
        let second = RATE as usize;
        let mut state = 1_u32;
        let mut hiss = Vec::new();
        let mut last = 0.0_f32;
        for _ in 0..second {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            let white = (state >> 8) as f32 / (1 << 24) as f32 - 0.5;
            hiss.push(0.5 * (white - last));
            last = white;
        }

        let mut samples = vec![0.0; second];
        for (_, f1, f2) in VOWELS {
            samples.extend(vowel(f1, f2, second));
        }
        samples.extend(hiss);
        let take = visemes_of_speech("speech", &samples, RATE, 60.0).unwrap();

        for (k, channel) in take.channels().iter().enumerate() {
            let middle = |second: usize| channel.values[60 * second + 30];
            assert!(middle(0) < 1e-6, "silence moves {}", channel.name);
            let own = middle(k + 1);
            assert!(own > 0.3, "{}: {own}", channel.name);
            let others = take
                .channels()
                .iter()
                .filter(|other| other.name != channel.name);
            for other in others {
                let value = other.values[60 * (k + 1) + 30];
                assert!(
                    value < own,
                    "{} at {}: {value} of {own}",
                    other.name,
                    channel.name
                );
            }
        }
    }

    #[test]
    fn loudness_does_not_matter_and_bad_sounds_are_errors() {
        let loud = vowel(800.0, 1250.0, 16_000);
        let soft: Vec<f32> = loud.iter().map(|s| s / 64.0).collect();
        let visemes = |samples: &[f32]| visemes_of_speech("x", samples, RATE, 30.0).unwrap();
        let (loud, soft) = (visemes(&loud), visemes(&soft));
        for (a, b) in loud.channels().iter().zip(soft.channels()) {
            for (a, b) in a.values.iter().zip(&b.values) {
                assert!((a - b).abs() < 1e-6);
            }
        }
        assert!(visemes_of_speech("x", &[0.0; 10], RATE, 30.0).is_err());
        assert!(visemes_of_speech("x", &[0.0; 9999], 100.0, 30.0).is_err());
        let broken = visemes_of_speech("x", &[f32::NAN; 9999], RATE, 30.0).unwrap();
        assert!(
            broken
                .channels()
                .iter()
                .flat_map(|c| &c.values)
                .all(|v| v.is_finite())
        );
    }
}
