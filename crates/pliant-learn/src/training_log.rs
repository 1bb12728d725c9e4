//! What a training has found out so far, so that one that was stopped goes on where it was.
//!
//! **Layout.** Lines of text: the version, a fingerprint of examples, control points and options,
//! then one line for every trial and for every pose judged. Numbers are the bits of an `f64` in
//! hexadecimal, so that a resumed training ends at the same bits.
//!
//! **Ours.** A line that cannot be read is left out and its work done again; a log of other
//! examples is an error of the reader.

use std::fmt::Write as _;

use crate::{ControlPoints, Examples, LearnError, LearnOptions, LocalSettings};

const FIRST_LINE: &str = "pliant-learn log 1";

/// An error of settings over the poses left out inside a training.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Trial {
    /// The example that the training does not see; 0 where it sees all.
    left_out: usize,
    settings: LocalSettings,
    error: f64,
}

/// A pose that was left out and judged.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Judged {
    left_out: usize,
    rms: f64,
    chosen: Option<LocalSettings>,
}

/// Trials and judged poses of one training.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingLog {
    fingerprint: u64,
    trials: Vec<Trial>,
    judged: Vec<Judged>,
}

impl TrainingLog {
    /// An empty log for a training on these.
    #[must_use]
    pub fn new(examples: &Examples, control: &ControlPoints, options: &LearnOptions) -> Self {
        Self {
            fingerprint: fingerprint(examples, control, options),
            trials: Vec::new(),
            judged: Vec::new(),
        }
    }

    /// How many results it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trials.len() + self.judged.len()
    }

    /// Whether nothing has been found out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes over what `text` holds, and says whether it belongs to the same examples, control
    /// points and options.
    ///
    /// # Errors
    /// [`LearnError::NotALog`] for text of another kind or version.
    pub fn resume(&mut self, text: &str) -> Result<bool, LearnError> {
        // A line without an end was cut off.
        let mut lines = text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'));
        if lines.next() != Some(FIRST_LINE) {
            return Err(LearnError::NotALog);
        }
        if lines.next().and_then(hexadecimal) != Some(self.fingerprint) {
            return Ok(false);
        }
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.split_first() {
                Some((&"trial", rest)) => self.trials.extend(trial_of(rest)),
                Some((&"pose", rest)) => self.judged.extend(judged_of(rest)),
                _ => {}
            }
        }
        Ok(true)
    }

    /// The log as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n{:016x}\n", self.fingerprint);
        for trial in &self.trials {
            let _ = writeln!(
                text,
                "trial {} {:016x} {}",
                trial.left_out,
                trial.error.to_bits(),
                words_of(&trial.settings)
            );
        }
        for pose in &self.judged {
            let chosen = pose
                .chosen
                .map_or_else(|| "-".to_owned(), |settings| words_of(&settings));
            let _ = writeln!(
                text,
                "pose {} {:016x} {chosen}",
                pose.left_out,
                pose.rms.to_bits()
            );
        }
        text
    }

    pub(crate) fn error_of(&self, left_out: usize, settings: &LocalSettings) -> Option<f64> {
        self.trials
            .iter()
            .find(|trial| trial.left_out == left_out && trial.settings == *settings)
            .map(|trial| trial.error)
    }

    pub(crate) fn add_trial(&mut self, left_out: usize, settings: LocalSettings, error: f64) {
        self.trials.push(Trial {
            left_out,
            settings,
            error,
        });
    }

    pub(crate) fn judged(&self, left_out: usize) -> Option<(f64, Option<LocalSettings>)> {
        self.judged
            .iter()
            .find(|pose| pose.left_out == left_out)
            .map(|pose| (pose.rms, pose.chosen))
    }

    pub(crate) fn add_judged(&mut self, left_out: usize, rms: f64, chosen: Option<LocalSettings>) {
        self.judged.push(Judged {
            left_out,
            rms,
            chosen,
        });
    }
}

fn words_of(settings: &LocalSettings) -> String {
    let LocalSettings {
        sharpness,
        ridge,
        refits,
    } = *settings;
    format!(
        "{:016x} {:016x} {refits}",
        sharpness.to_bits(),
        ridge.to_bits()
    )
}

fn settings_of(words: &[&str]) -> Option<LocalSettings> {
    let [sharpness, ridge, refits] = words else {
        return None;
    };
    let settings = LocalSettings {
        sharpness: number(sharpness)?,
        ridge: number(ridge)?,
        refits: refits.parse().ok()?,
    };
    settings.check().is_ok().then_some(settings)
}

fn trial_of(words: &[&str]) -> Option<Trial> {
    let [left_out, error, settings @ ..] = words else {
        return None;
    };
    Some(Trial {
        left_out: left_out.parse().ok()?,
        error: number(error)?,
        settings: settings_of(settings)?,
    })
}

fn judged_of(words: &[&str]) -> Option<Judged> {
    let [left_out, rms, settings @ ..] = words else {
        return None;
    };
    let chosen = if *settings == ["-"] {
        None
    } else {
        Some(settings_of(settings)?)
    };
    Some(Judged {
        left_out: left_out.parse().ok()?,
        rms: number(rms)?,
        chosen,
    })
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word, 16).ok()
}

/// Errors and settings are finite and not negative; what is not was not written by us.
fn number(word: &str) -> Option<f64> {
    hexadecimal(word)
        .map(f64::from_bits)
        .filter(|value| value.is_finite() && *value >= 0.0)
}

/// Fowler, Noll, Vo (FNV-1a, 64 bits) of everything that a result depends on.
fn fingerprint(examples: &Examples, control: &ControlPoints, options: &LearnOptions) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bits: u64| {
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    format!("{options:?}")
        .bytes()
        .for_each(|byte| take(u64::from(byte)));
    examples
        .reference()
        .triangles()
        .iter()
        .flatten()
        .for_each(|&corner| take(u64::from(corner)));
    control
        .vertices()
        .iter()
        .for_each(|&vertex| take(u64::from(vertex)));
    (0..examples.count())
        .flat_map(|i| examples.pose(i))
        .flat_map(|p| p.to_array())
        .for_each(|value| take(value.to_bits()));
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bar::{bar_control, bar_examples};

    const SETTINGS: LocalSettings = LocalSettings {
        sharpness: 0.1,
        ridge: 1e-5,
        refits: 2,
    };

    fn empty() -> TrainingLog {
        TrainingLog::new(&bar_examples(), &bar_control(), &LearnOptions::default())
    }

    fn filled() -> TrainingLog {
        let mut log = empty();
        log.add_trial(3, SETTINGS, 0.1 + 0.2);
        log.add_judged(2, 1.0 / 3.0, Some(SETTINGS));
        log.add_judged(4, 0.25, None);
        log
    }

    #[test]
    fn a_log_comes_back_to_the_bit() {
        let mut again = empty();
        assert_eq!(again.resume(&filled().to_text()), Ok(true));
        assert_eq!(again, filled());
        assert_eq!(again.error_of(3, &SETTINGS), Some(0.1 + 0.2));
        assert_eq!(again.error_of(0, &SETTINGS), None);
    }

    #[test]
    fn a_log_of_other_points_or_options_is_not_taken_over() {
        let (examples, control, options) = (bar_examples(), bar_control(), LearnOptions::default());
        let other_points: Vec<usize> = control
            .vertices()
            .iter()
            .rev()
            .map(|&v| v as usize)
            .collect();
        let other_points = ControlPoints::new(examples.reference(), &other_points).unwrap();
        for mut other in [
            TrainingLog::new(&examples, &other_points, &options),
            TrainingLog::new(&examples, &control, &options.with_beta(2.0)),
        ] {
            assert_eq!(other.resume(&filled().to_text()), Ok(false));
            assert!(other.is_empty());
        }
    }

    #[test]
    fn whatever_is_cut_off_or_changed_is_declined_or_left_out_but_never_taken_for_a_number() {
        let text = filled().to_text();
        for length in 0..text.len() {
            let mut log = empty();
            if log.resume(&text[..length]).is_ok() {
                assert!(
                    log.trials
                        .iter()
                        .all(|trial| trial.error.is_finite() && trial.settings.check().is_ok())
                );
            }
        }
        let infinite = text.replace(
            &format!("{:016x}", (0.1_f64 + 0.2).to_bits()),
            &format!("{:016x}", f64::NAN.to_bits()),
        );
        let mut log = empty();
        assert_eq!(log.resume(&infinite), Ok(true));
        assert!(log.trials.is_empty() && log.judged.len() == 2);
        assert_eq!(log.resume("something else"), Err(LearnError::NotALog));
    }
}
