//! Training log: intermediate results of a training, so that a cancelled one can resume.
//!
//! **Layout.** Lines of text: the version, a fingerprint of examples, control points and options,
//! then one line for every trial and one for every validated pose. Numbers are the bits of an `f64`
//! in hexadecimal, so that a resumed training ends at the same bits.
//!
//! **Implementation.** A line that cannot be read is ignored, and its work is repeated. A log of
//! other examples is not used.

use std::fmt::Write as _;

use super::{Examples, LearnOptions, LocalSettings};
use crate::{ControlPoints, LearnError};

const FIRST_LINE: &str = "pliant-learn log 1";

/// The error of hyper-parameters over the folds inside a training.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Trial {
    /// The example that the training leaves out; 0 if it uses all.
    left_out: usize,
    settings: LocalSettings,
    error: f64,
}

/// The error of a left-out pose.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PoseResult {
    left_out: usize,
    rms: f64,
    chosen: Option<LocalSettings>,
}

/// Trials and errors of left-out poses of one training.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingLog {
    fingerprint: u64,
    trials: Vec<Trial>,
    pose_results: Vec<PoseResult>,
}

impl TrainingLog {
    /// An empty log for a training with these inputs.
    #[must_use]
    pub fn new(examples: &Examples, control: &ControlPoints, options: &LearnOptions) -> Self {
        Self {
            fingerprint: fingerprint(examples, control, options),
            trials: Vec::new(),
            pose_results: Vec::new(),
        }
    }

    /// Number of results in the log.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trials.len() + self.pose_results.len()
    }

    /// Whether the log has no result.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the results in `text`. Returns whether the text belongs to the same examples, control
    /// points and options.
    ///
    /// # Errors
    /// [`LearnError::NotALog`] for text of another kind or version.
    pub fn resume(&mut self, text: &str) -> Result<bool, LearnError> {
        // A last line without a newline was cut off while writing.
        let mut lines = text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'));
        if lines.next() != Some(FIRST_LINE) {
            return Err(LearnError::NotALog);
        }
        if lines.next().and_then(hexadecimal) != Some(self.fingerprint) {
            return Ok(false);
        }

        // Lines of an unknown kind are ignored.
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.split_first() {
                Some((&"trial", rest)) => self.trials.extend(trial_of(rest)),
                Some((&"pose", rest)) => self.pose_results.extend(pose_result_of(rest)),
                _ => {}
            }
        }

        Ok(true)
    }

    /// The log as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n{:016x}\n", self.fingerprint);
        // Numbers as bits: a decimal could lose the last one.
        for trial in &self.trials {
            let _ = writeln!(
                text,
                "trial {} {:016x} {}",
                trial.left_out,
                trial.error.to_bits(),
                words_of(&trial.settings)
            );
        }

        for pose in &self.pose_results {
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

    pub(crate) fn pose_result(&self, left_out: usize) -> Option<(f64, Option<LocalSettings>)> {
        self.pose_results
            .iter()
            .find(|pose| pose.left_out == left_out)
            .map(|pose| (pose.rms, pose.chosen))
    }

    pub(crate) fn add_pose_result(
        &mut self,
        left_out: usize,
        rms: f64,
        chosen: Option<LocalSettings>,
    ) {
        self.pose_results.push(PoseResult {
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

fn pose_result_of(words: &[&str]) -> Option<PoseResult> {
    let [left_out, rms, settings @ ..] = words else {
        return None;
    };

    let chosen = if *settings == ["-"] {
        None
    } else {
        Some(settings_of(settings)?)
    };

    Some(PoseResult {
        left_out: left_out.parse().ok()?,
        rms: number(rms)?,
        chosen,
    })
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word, 16).ok()
}

/// Errors and settings are finite and not negative; other values are ignored.
fn number(word: &str) -> Option<f64> {
    hexadecimal(word)
        .map(f64::from_bits)
        .filter(|value| value.is_finite() && *value >= 0.0)
}

/// A 64-bit FNV-1a hash (Fowler, Noll, Vo).
struct Fnv1a {
    hash: u64,
}

impl Fnv1a {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    fn add(&mut self, bits: u64) {
        for byte in bits.to_le_bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(Self::PRIME);
        }
    }
}

/// A hash of all inputs that a result depends on.
fn fingerprint(examples: &Examples, control: &ControlPoints, options: &LearnOptions) -> u64 {
    let mut fnv = Fnv1a {
        hash: Fnv1a::OFFSET_BASIS,
    };
    for byte in options.log_text().bytes() {
        fnv.add(u64::from(byte));
    }

    // Topology, control points and all positions.
    for &corner in examples.reference().triangles().iter().flatten() {
        fnv.add(u64::from(corner));
    }
    for &vertex in control.vertices() {
        fnv.add(u64::from(vertex));
    }

    for example in 0..examples.count() {
        for position in examples.pose(example) {
            for value in position.to_array() {
                fnv.add(value.to_bits());
            }
        }
    }
    fnv.hash
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
        log.add_pose_result(2, 1.0 / 3.0, Some(SETTINGS));
        log.add_pose_result(4, 0.25, None);
        log
    }

    #[test]
    fn a_log_read_back_has_the_same_bits() {
        let mut again = empty();
        assert_eq!(again.resume(&filled().to_text()), Ok(true));
        assert_eq!(again, filled());
        assert_eq!(again.error_of(3, &SETTINGS), Some(0.1 + 0.2));
        assert_eq!(again.error_of(0, &SETTINGS), None);
    }

    #[test]
    fn a_log_of_other_control_points_or_options_is_not_used() {
        let examples = bar_examples();
        let control = bar_control();
        let options = LearnOptions::default();
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
    fn a_damaged_log_is_rejected_or_its_damaged_lines_are_ignored() {
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
        assert!(log.trials.is_empty() && log.pose_results.len() == 2);
        assert_eq!(log.resume("something else"), Err(LearnError::NotALog));
    }
}
