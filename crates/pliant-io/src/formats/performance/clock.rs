//! Times of the frames of a performance, from labels, seconds or numbers of frames.
//!
//! **Problem.** Files give times as timecode, as seconds, milliseconds or microseconds, as numbers
//! of frames, or not at all. Frames may be missing, repeated or out of order, and the rate is often
//! not written down.
//!
//! **Method.** The usual step is the median of all steps; its rate is the standard rate next to it.
//! Every guess becomes a note.

use pliant_rig::{FrameRate, Timecode, TimecodeStart};

use super::PerformanceOptions;
use crate::ReadError;

/// How a file tells the time of its frames.
pub(super) enum Clock {
    /// Labels.
    Timecode(Vec<Timecode>),
    /// Numbers in a column of this name.
    Times(Vec<f64>, String),
    /// Numbers of frames.
    Frames(Vec<f64>),
    /// Not at all; so many frames.
    Absent(usize),
}

/// Frames in the order of time.
pub(super) struct FrameTimes {
    /// Seconds from the first frame, ascending.
    pub(super) times_secs: Vec<f64>,
    /// For each time, the row of the file.
    pub(super) rows: Vec<usize>,
    pub(super) frames_per_second: f64,
    pub(super) timecode: Option<TimecodeStart>,
    pub(super) notes: Vec<String>,
}

/// The rate of frames where a file gives none. *Chosen*: that of Live Link Face on most phones.
const DEFAULT_RATE: f64 = 30.0;
/// Half a day, for labels that pass midnight.
const HALF_A_DAY_SECS: f64 = 43_200.0;

impl Clock {
    /// The frames in the order of time. `rate` is that of the file's own declaration, if any.
    pub(super) fn frame_times(
        &self,
        options: &PerformanceOptions,
        rate: Option<f64>,
    ) -> Result<FrameTimes, ReadError> {
        let mut notes = Vec::new();
        let rate = options.frames_per_second.or(rate);
        let (raw, labels) = match self {
            Self::Timecode(labels) => label_times(labels, options, &mut notes)?,
            Self::Times(times, name) => (in_seconds(times, name, &mut notes), None),
            Self::Frames(frames) => {
                let rate = rate.unwrap_or_else(|| guessed_rate(&mut notes));
                (frames.iter().map(|frame| frame / rate).collect(), None)
            }
            Self::Absent(count) => {
                let rate = rate.unwrap_or_else(|| guessed_rate(&mut notes));
                ((0..*count).map(|k| k as f64 / rate).collect(), None)
            }
        };

        if let Some(row) = raw.iter().position(|time: &f64| !time.is_finite()) {
            return Err(ReadError::whole(format!(
                "frame {row} has no time; fill the column of times, or remove the frame"
            )));
        }

        let (raw, rows) = ascending(&raw, &mut notes);
        let first = raw.first().copied().unwrap_or_default();
        let times_secs: Vec<f64> = raw.iter().map(|time| time - first).collect();

        let timecode = labels.map(|rate| TimecodeStart {
            first: match self {
                Self::Timecode(labels) => labels[rows[0]],
                _ => unreachable!("only timecode has labels"),
            },
            rate,
        });
        Ok(FrameTimes {
            frames_per_second: usual_rate(&times_secs).or(rate).unwrap_or(DEFAULT_RATE),
            times_secs,
            rows,
            timecode,
            notes,
        })
    }
}

fn guessed_rate(notes: &mut Vec<String>) -> f64 {
    notes.push(format!(
        "the file gives no frame rate; {DEFAULT_RATE} frames per second were assumed (--take-fps sets it)"
    ));
    DEFAULT_RATE
}

/// The times of labels since midnight, and their rate.
fn label_times(
    labels: &[Timecode],
    options: &PerformanceOptions,
    notes: &mut Vec<String>,
) -> Result<(Vec<f64>, Option<FrameRate>), ReadError> {
    let rate = match options.timecode_rate {
        Some(rate) => rate,
        None => {
            let rate = guessed_label_rate(labels)?;
            let kind = if rate.frames_per_second().fract() == 0.0 {
                ""
            } else {
                " (drop-frame)"
            };
            notes.push(format!(
                "the timecode was read at {rate} labels per second{kind}, the least standard rate with these labels (--timecode-rate sets it)"
            ));
            rate
        }
    };

    if let Some(label) = labels.iter().find(|l| l.frame >= f64::from(rate.nominal())) {
        return Err(ReadError::whole(format!(
            "the timecode {label} does not exist at {rate} frames per second; give a higher --timecode-rate"
        )));
    }

    // A take may pass midnight.
    let mut days = 0.0;
    let mut times: Vec<f64> = Vec::with_capacity(labels.len());
    for label in labels {
        let mut time = label.secs(rate) + days;
        if let Some(&last) = times.last()
            && time < last - HALF_A_DAY_SECS
        {
            days += 2.0 * HALF_A_DAY_SECS;
            time += 2.0 * HALF_A_DAY_SECS;
        }
        times.push(time);
    }
    Ok((times, (!labels.is_empty()).then_some(rate)))
}

/// The least standard rate that has all the labels; that of video if labels are dropped. Within one
/// second the greatest label says little; then only the rates of phones and of video count.
fn guessed_label_rate(labels: &[Timecode]) -> Result<FrameRate, ReadError> {
    let largest = labels.iter().map(|label| label.frame).fold(0.0, f64::max);
    let drops = labels.iter().any(|label| label.drop_frame);
    let passes_a_second = labels.windows(2).any(|pair| pair[0].clock != pair[1].clock);
    let found = FrameRate::STANDARD.into_iter().find(|rate| {
        let is_usual = passes_a_second || rate.nominal().is_multiple_of(30);
        let is_video = rate.frames_per_second().fract() != 0.0;
        let drops_labels = is_video && rate.nominal().is_multiple_of(30);
        is_usual
            && f64::from(rate.nominal()) > largest
            && if drops { drops_labels } else { !is_video }
    });
    found.ok_or_else(|| {
        ReadError::whole(format!(
            "the timecode counts to frame {largest}, which no standard rate has; give the rate by --timecode-rate"
        ))
    })
}

/// Times in seconds, from a column whose name or size tells its unit.
fn in_seconds(times: &[f64], name: &str, notes: &mut Vec<String>) -> Vec<f64> {
    let name = name.to_lowercase();
    let named = [
        (1e-6, "microseconds", &["micro", "usec", "(us)", "_us"][..]),
        (1e-3, "milliseconds", &["milli", "ms"][..]),
        (1.0, "seconds", &["sec", "(s)", "_s"][..]),
    ];
    let by_name = named
        .iter()
        .find(|(_, _, words)| words.iter().any(|word| name.contains(word)));

    let (unit, text) = match by_name {
        Some((unit, _, _)) => (*unit, None),
        None => match median_step(times) {
            Some(step) if step > 1000.0 => (1e-6, Some("microseconds")),
            Some(step) if step > 1.0 => (1e-3, Some("milliseconds")),
            _ => (1.0, None),
        },
    };
    if let Some(text) = text {
        notes.push(format!("the times were read as {text} by their steps"));
    }
    times.iter().map(|time| time * unit).collect()
}

fn median_step(times: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.retain(|step| *step > 0.0);
    if steps.is_empty() {
        return None;
    }
    let middle = steps.len() / 2;
    Some(*steps.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The frames per second of ascending times: the standard rate next to the median step, or the rate
/// of that step; `None` for fewer than two times.
#[must_use]
pub fn usual_rate(times: &[f64]) -> Option<f64> {
    let rate = 1.0 / median_step(times)?;
    Some(FrameRate::of(rate).map_or(rate, FrameRate::frames_per_second))
}

/// Ascending times and their rows: sorted, and repeated times dropped or spread.
fn ascending(times: &[f64], notes: &mut Vec<String>) -> (Vec<f64>, Vec<usize>) {
    let mut rows: Vec<usize> = (0..times.len()).collect();
    let disordered = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    if disordered > 0 {
        rows.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        notes.push(format!(
            "frames were not in the order of time at {disordered} places; they were sorted"
        ));
    }

    let repeated = rows
        .windows(2)
        .filter(|pair| times[pair[0]] == times[pair[1]])
        .count();
    if repeated == 0 {
        return (rows.iter().map(|&row| times[row]).collect(), rows);
    }

    // Labels of a rate below that of the frames occur several times each.
    if repeated * 5 > times.len() {
        notes.push(format!(
            "{repeated} frames have the time of the frame before; equal times were spread evenly"
        ));
        return (spread(&rows, times), rows);
    }

    notes.push(format!(
        "{repeated} frames have the time of the frame before; they were left out"
    ));
    rows.dedup_by(|next, row| times[*next] == times[*row]);
    (rows.iter().map(|&row| times[row]).collect(), rows)
}

/// Runs of equal times, spread evenly up to the next time.
fn spread(rows: &[usize], times: &[f64]) -> Vec<f64> {
    let step = median_step(&rows.iter().map(|&row| times[row]).collect::<Vec<_>>());
    let mut result = Vec::with_capacity(rows.len());
    let mut first = 0;
    while first < rows.len() {
        let time = times[rows[first]];
        let run = rows[first..].iter().take_while(|&&row| times[row] == time);
        let count = run.count();
        let next = rows.get(first + count).map(|&row| times[row]);
        // Before a missing frame, a run is as long as any other.
        let usual = step.unwrap_or(1.0);
        let length = next.map_or(usual, |next| (next - time).min(usual));
        for k in 0..count {
            result.push(time + length * k as f64 / count as f64);
        }
        first += count;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Clock {
        let parsed = texts.iter().map(|text| Timecode::parse(text).unwrap());
        Clock::Timecode(parsed.collect())
    }

    fn times_of(clock: &Clock) -> FrameTimes {
        clock
            .frame_times(&PerformanceOptions::default(), None)
            .unwrap()
    }

    #[test]
    fn the_rate_of_frames_may_be_half_that_of_the_labels() {
        let clock = labels(&["13:13:04:57", "13:13:04:59", "13:13:05:01", "13:13:05:05"]);
        let times = times_of(&clock);
        assert_eq!(times.frames_per_second, 30.0);
        assert_eq!(times.timecode.unwrap().rate.frames_per_second(), 60.0);
        let frames: Vec<f64> = times
            .times_secs
            .iter()
            .map(|t| (t * 60.0).round())
            .collect();
        assert_eq!(frames, [0.0, 2.0, 4.0, 8.0]);
        assert!(times.notes[0].contains("60 labels per second"));
    }

    #[test]
    fn drop_frame_labels_give_the_rate_of_video() {
        let times = times_of(&labels(&["00:00:59;28", "00:00:59;29", "00:01:00;02"]));
        let step = times.times_secs[2] - times.times_secs[1];
        assert!((step - 1001.0 / 30000.0).abs() < 1e-9, "{step}");
        assert!((times.frames_per_second - 29.97).abs() < 1e-4);
    }

    #[test]
    fn a_take_may_pass_midnight() {
        let times = times_of(&labels(&["23:59:59:58", "23:59:59:59", "00:00:00:00"]));
        assert!((times.times_secs[2] - 2.0 / 60.0).abs() < 1e-9);
    }

    #[test]
    fn labels_of_a_lower_rate_are_spread() {
        let clock = labels(&[
            "1:0:0:28", "1:0:0:28", "1:0:0:29", "1:0:0:29", "1:0:1:0", "1:0:1:0",
        ]);
        let times = times_of(&clock);
        assert_eq!(times.rows.len(), 6);
        assert!((times.frames_per_second - 60.0).abs() < 1e-9);
    }

    #[test]
    fn units_follow_from_the_name_or_the_steps() {
        for (step, name) in [
            (1.0 / 60.0, "time"),
            (1000.0 / 60.0, "t"),
            (1e6 / 60.0, "t"),
            (1000.0 / 60.0, "time_ms"),
        ] {
            let clock = Clock::Times((0..9).map(|k| step * f64::from(k)).collect(), name.into());
            assert!(
                (times_of(&clock).frames_per_second - 60.0).abs() < 1e-9,
                "{name}"
            );
        }
    }

    #[test]
    fn repeated_and_disordered_frames_are_corrected_and_reported() {
        let mut times: Vec<f64> = (0..20).map(|k| f64::from(k) / 60.0).collect();
        times.swap(4, 5);
        times.push(times[19]);
        let found = times_of(&Clock::Times(times, "time".into()));
        assert_eq!(found.rows.len(), 20);
        assert_eq!(found.rows[4..6], [5, 4]);
        assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
    }

    #[test]
    fn a_guessed_rate_is_reported_and_a_given_one_is_used() {
        let times = times_of(&Clock::Absent(3));
        assert_eq!(times.notes.len(), 1);
        let options = PerformanceOptions::default().with_frames_per_second(59.94);
        let times = Clock::Frames(vec![1.0, 2.0, 4.0])
            .frame_times(&options, None)
            .unwrap();
        assert!(times.notes.is_empty());
        assert!((times.times_secs[2] - 3.0 / 59.94).abs() < 1e-12);
        assert!(
            Clock::Times(vec![0.0, f64::NAN], "t".into())
                .frame_times(&options, None)
                .is_err()
        );
    }
}
