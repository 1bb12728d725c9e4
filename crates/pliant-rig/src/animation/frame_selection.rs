//! Frame selections: some of the frames of a clip, by their numbers.
//!
//! **Problem.** A farm divides a clip into pieces of frames. A piece is named by the numbers that
//! its frames have in the whole clip, in the notation of schedulers: `A-B`, `A-B:S` (every `S`-th),
//! and lists of both.
//!
//! **Source.** The notation is the range expression of the Open Job Description (`2023-09`,
//! `IntRangeExpr`), without negative numbers. `A-B` includes both ends.
//!
//! **Departures.** The order does not matter and a frame that is named twice is selected once.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Numbers of frames, counted from 0.
///
/// ```
/// use pliant_rig::FrameSelection;
///
/// let frames: FrameSelection = "0-6:3,1".parse()?;
/// assert_eq!(frames.of(10)?, [0, 1, 3, 6]);
/// assert_eq!(FrameSelection::of_frames(&[0, 1, 2, 7]).to_string(), "0-2,7");
/// # Ok::<(), pliant_rig::FrameSelectionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameSelection {
    ranges: Vec<FrameRange>,
}

/// Every `step`-th frame from `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FrameRange {
    first: usize,
    last: usize,
    step: usize,
}

/// Why a text selects no frames.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameSelectionError {
    /// The text is no list of ranges.
    #[error(
        "'{text}' is not a range of frames; write it as 0-9, as 0-9:2 for every second frame, or as a list such as 0-4,7"
    )]
    Text {
        /// The part that is wrong.
        text: String,
    },
    /// A range that ends before it begins.
    #[error("the range '{text}' ends before it begins; write the lower frame first")]
    Descending {
        /// The range.
        text: String,
    },
    /// A frame after the last one.
    #[error("there is no frame {frame}; the whole result has {count} frames, 0 to {}", count.saturating_sub(1))]
    NoFrame {
        /// The first frame that is missing.
        frame: usize,
        /// The number of frames.
        count: usize,
    },
}

impl FrameSelection {
    /// Exactly these frames.
    ///
    /// # Panics
    /// Without a frame.
    #[must_use]
    pub fn of_frames(frames: &[usize]) -> Self {
        assert!(!frames.is_empty(), "a selection holds a frame");
        let mut sorted = frames.to_vec();
        sorted.sort_unstable();
        sorted.dedup();

        let mut ranges: Vec<FrameRange> = Vec::new();
        for frame in sorted {
            match ranges.last_mut() {
                Some(range) if range.last + 1 == frame => range.last = frame,
                _ => ranges.push(FrameRange {
                    first: frame,
                    last: frame,
                    step: 1,
                }),
            }
        }
        Self { ranges }
    }

    /// The selected frames of a clip of `count` frames, ascending and each once.
    ///
    /// # Errors
    /// [`FrameSelectionError::NoFrame`] for frames after the last one.
    pub fn of(&self, count: usize) -> Result<Vec<usize>, FrameSelectionError> {
        let mut is_selected = vec![false; count];
        for range in &self.ranges {
            // The bound is checked first, so that an absurd range takes no time.
            let last = range.last - (range.last - range.first) % range.step;
            if last >= count {
                let steps = count.saturating_sub(range.first).div_ceil(range.step);
                let frame = range.first + steps * range.step;
                return Err(FrameSelectionError::NoFrame { frame, count });
            }
            for frame in (range.first..=last).step_by(range.step) {
                is_selected[frame] = true;
            }
        }
        Ok((0..count).filter(|&frame| is_selected[frame]).collect())
    }
}

impl FromStr for FrameSelection {
    type Err = FrameSelectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ranges: Result<Vec<FrameRange>, _> = text.split(',').map(parse_range).collect();
        Ok(Self { ranges: ranges? })
    }
}

fn parse_range(text: &str) -> Result<FrameRange, FrameSelectionError> {
    let text = text.trim();
    let wrong = || FrameSelectionError::Text { text: text.into() };
    let number = |digits: &str| -> Result<usize, FrameSelectionError> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            digits.parse().map_err(|_| wrong())
        } else {
            Err(wrong())
        }
    };

    let (ends, step) = match text.split_once(':') {
        Some((ends, step)) => (ends, Some(number(step)?)),
        None => (text, None),
    };
    let (first, last) = match ends.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        // A step needs a range.
        None if step.is_none() => (number(ends)?, number(ends)?),
        None => return Err(wrong()),
    };

    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(wrong());
    }
    if last < first {
        return Err(FrameSelectionError::Descending { text: text.into() });
    }
    Ok(FrameRange { first, last, step })
}

impl fmt::Display for FrameSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, range) in self.ranges.iter().enumerate() {
            let FrameRange { first, last, step } = *range;
            f.write_str(if k > 0 { "," } else { "" })?;
            match step {
                _ if first == last => write!(f, "{first}")?,
                1 => write!(f, "{first}-{last}")?,
                _ => write!(f, "{first}-{last}:{step}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_steps_and_lists_select_their_frames_once_and_in_order() {
        let frames = |text: &str| text.parse::<FrameSelection>().unwrap().of(12).unwrap();
        assert_eq!(frames("3"), [3]);
        assert_eq!(frames("2-5"), [2, 3, 4, 5]);
        assert_eq!(frames("0-7:3"), [0, 3, 6]);
        assert_eq!(frames("9,1-2,2"), [1, 2, 9]);
        // The step leaves out the end, so that it may lie after the clip.
        assert_eq!(frames("0-12:5"), [0, 5, 10]);
    }

    #[test]
    fn texts_come_back_and_lists_of_frames_become_ranges() {
        for text in ["3", "2-5", "0-7:3", "9,1-2"] {
            let selection: FrameSelection = text.parse().unwrap();
            assert_eq!(selection.to_string(), text);
        }
        let all: Vec<usize> = (0..40).filter(|k| k % 7 != 3).collect();
        let text = FrameSelection::of_frames(&all).to_string();
        assert_eq!(text.parse::<FrameSelection>().unwrap().of(40).unwrap(), all);
    }

    #[test]
    fn wrong_texts_and_frames_after_the_last_one_are_refused() {
        for text in ["", "a", "-3", "3-", "5-2", "1:2", "0-9:0", "+1", "1,,2"] {
            assert!(text.parse::<FrameSelection>().is_err(), "{text}");
        }
        let error = |text: &str| text.parse::<FrameSelection>().unwrap().of(8).unwrap_err();
        let none = |frame| FrameSelectionError::NoFrame { frame, count: 8 };
        assert_eq!(error("8"), none(8));
        assert_eq!(error("6-9"), none(8));
        assert_eq!(error("0-9:3"), none(9));
        assert_eq!(error("0-18446744073709551615"), none(8));
        assert_eq!(error("20-30:2"), none(20));
    }
}
