//! Slider names: words and sides.
//!
//! **Problem.** `eyeBlink_L`, `EyeBlinkLeft`, `Left_eye_blink` and `eyeblinkleft` are one slider,
//! and each has a partner on the other side.
//!
//! **Method.** A name is split at separators, between a lower-case and an upper-case letter, and
//! between letters and digits. `left`, `right`, `l` and `r` are sides, at any position; the rest
//! are its words, in lower case.
//!
//! **Departures.** A letter alone, or after `viseme` or `phoneme`, is a sound and no side. A side
//! may be attached to a word that is written in one case (`eyeblinkleft`) if three letters remain.
//! The action units of FACS that rotate to the left or right have separate numbers; they count as
//! one unit with two sides.

use std::ops::Range;

/// A side of the character, from its own view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The character's left.
    Left,
    /// The character's right.
    Right,
}

impl Side {
    /// The other side.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word.to_lowercase().as_str() {
            "left" | "l" => Some(Self::Left),
            "right" | "r" => Some(Self::Right),
            _ => None,
        }
    }
}

/// The words and sides of a slider's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliderName {
    /// Its words without the sides, in lower case; numbers without leading zeros.
    pub words: Vec<String>,
    /// Its sides in their order. `eyeLookRight_L` has two, most names have one or none.
    pub sides: Vec<Side>,
}

impl SliderName {
    /// Splits a name into words and sides.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        let mut words = Vec::new();
        let mut sides = Vec::new();
        for part in parts(name) {
            match part.side {
                Some(side) => sides.push(side),
                None => words.push(normalized(&name[part.range])),
            }
        }

        Self { words, sides }.with_rotations_as_sides()
    }

    /// Its only side; `None` if it has no side or both.
    #[must_use]
    pub fn side(&self) -> Option<Side> {
        let first = *self.sides.first()?;
        self.sides
            .iter()
            .all(|&side| side == first)
            .then_some(first)
    }

    /// The words without separators.
    #[must_use]
    pub fn stem(&self) -> String {
        self.words.concat()
    }

    /// The same words on the other side.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self {
            words: self.words.clone(),
            sides: self.sides.iter().map(|side| side.mirrored()).collect(),
        }
    }

    /// Whether mirroring changes the name.
    #[must_use]
    pub fn is_sided(&self) -> bool {
        !self.sides.is_empty()
    }

    /// AU51, 55 and 61 rotate to the left; the next number is the same to the right.
    fn with_rotations_as_sides(mut self) -> Self {
        const LEFT_ROTATIONS: [u32; 3] = [51, 55, 61];

        if let [unit, number] = self.words.as_mut_slice()
            && unit == "au"
            && self.sides.is_empty()
            && let Ok(code) = number.parse::<u32>()
        {
            if LEFT_ROTATIONS.contains(&code) {
                self.sides.push(Side::Left);
            } else if LEFT_ROTATIONS.contains(&code.wrapping_sub(1)) {
                *number = (code - 1).to_string();
                self.sides.push(Side::Right);
            }
        }

        self
    }
}

/// The name of the slider on the other side in the same spelling; `None` if the name has no side.
///
/// ```
/// assert_eq!(pliant_rig::mirrored_name("Left_eye_blink").as_deref(), Some("Right_eye_blink"));
/// assert_eq!(pliant_rig::mirrored_name("browDown_L").as_deref(), Some("browDown_R"));
/// assert_eq!(pliant_rig::mirrored_name("jawOpen"), None);
/// ```
#[must_use]
pub fn mirrored_name(name: &str) -> Option<String> {
    let mut mirrored = String::new();
    let mut done = 0;
    for Part { range, side } in parts(name) {
        let Some(side) = side else { continue };
        mirrored.push_str(&name[done..range.start]);
        mirrored.push_str(&spelled_like(&name[range.clone()], side.mirrored()));
        done = range.end;
    }
    (done > 0).then(|| mirrored + &name[done..])
}

/// A side as a letter or a word, in the case of `example`.
pub(crate) fn spelled_like(example: &str, side: Side) -> String {
    let word = match (side, example.len()) {
        (Side::Left, 1) => "l",
        (Side::Right, 1) => "r",
        (Side::Left, _) => "left",
        (Side::Right, _) => "right",
    };

    // All upper case, capitalised, or lower case.
    let mut capitals = example.chars().map(char::is_uppercase);
    match (capitals.next(), capitals.next()) {
        (Some(true), None | Some(true)) => word.to_uppercase(),
        (Some(true), Some(false)) => word[..1].to_uppercase() + &word[1..],
        _ => word.to_owned(),
    }
}

/// A part of a name, by its bytes.
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    pub(crate) side: Option<Side>,
}

/// The parts of a name, each with its side if it is one.
pub(crate) fn parts(name: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for range in word_ranges(name) {
        let is_sound = parts.last().is_some_and(|before| {
            let word = normalized(&name[before.range.clone()]);
            matches!(word.as_str(), "viseme" | "phoneme")
        });
        match Side::of_word(&name[range.clone()]).filter(|_| !is_sound) {
            Some(side) => parts.push(Part {
                range,
                side: Some(side),
            }),
            None => parts.extend(split_attached_side(name, range)),
        }
    }

    // A single letter is a sound.
    if let [only] = parts.as_mut_slice()
        && only.range.len() == 1
    {
        only.side = None;
    }

    parts
}

/// A word that begins or ends with a side, split in two; any other word as it is.
fn split_attached_side(name: &str, range: Range<usize>) -> Vec<Part> {
    const LEAST_LETTERS: usize = 3;

    let text = name[range.clone()].to_lowercase();
    let part = |range, side| Part { range, side };

    // Offsets are valid only if the lower-case text has the same length.
    if text.len() == range.len() {
        for (word, side) in [("left", Side::Left), ("right", Side::Right)] {
            // A short rest is part of an ordinary word, as in `cleft`.
            let rest = text.len().saturating_sub(word.len());
            if rest < LEAST_LETTERS {
                continue;
            }

            if text.ends_with(word) {
                let cut = range.start + rest;
                return vec![
                    part(range.start..cut, None),
                    part(cut..range.end, Some(side)),
                ];
            }

            if text.starts_with(word) {
                let cut = range.start + word.len();
                return vec![
                    part(range.start..cut, Some(side)),
                    part(cut..range.end, None),
                ];
            }
        }
    }

    vec![part(range, None)]
}

/// A word in lower case, without leading zeros; `00` is `0`.
fn normalized(word: &str) -> String {
    let lower = word.to_lowercase();
    let trimmed = lower.trim_start_matches('0');
    if lower.starts_with('0') && trimmed.is_empty() {
        "0".into()
    } else {
        trimmed.to_owned()
    }
}

/// Runs of letters or digits, split where a new word begins with an upper-case letter.
fn word_ranges(name: &str) -> Vec<Range<usize>> {
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut in_word = false;

    for (k, &(at, letter)) in letters.iter().enumerate() {
        let end = at + letter.len_utf8();
        if !letter.is_alphanumeric() {
            in_word = false;
        } else if in_word && !begins_word(&letters, k) {
            ranges.last_mut().expect("a word has begun").end = end;
        } else {
            ranges.push(at..end);
            in_word = true;
        }
    }

    ranges
}

/// Whether a word begins at letter `k`, whose predecessor is a letter or digit: `aB`, `a1`, `1a`,
/// or the `B` of `ABc`.
fn begins_word(letters: &[(usize, char)], k: usize) -> bool {
    let before = letters[k - 1].1;
    let here = letters[k].1;
    let lower_follows = letters.get(k + 1).is_some_and(|next| next.1.is_lowercase());
    before.is_numeric() != here.is_numeric()
        || here.is_uppercase() && (before.is_lowercase() || lower_follows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_slider_have_the_same_words_and_side() {
        let blink = SliderName {
            words: vec!["eye".into(), "blink".into()],
            sides: vec![Side::Left],
        };

        for name in [
            "eyeBlink_L",
            "EyeBlinkLeft",
            "Left_eye_blink",
            "eye.blink.l",
            "L_EyeBlink",
            "lEyeBlink",
            "EYE-BLINK-LEFT",
        ] {
            assert_eq!(SliderName::parse(name), blink, "{name}");
        }

        assert_eq!(SliderName::parse("eyeblinkleft").stem(), "eyeblink");
        assert_eq!(SliderName::parse("AU04").words, ["au", "4"]);
    }

    #[test]
    fn a_mirrored_name_keeps_its_spelling_and_mirroring_twice_returns_it() {
        let pairs = [
            ("eyeBlink_L", "eyeBlink_R"),
            ("eye-left-slit", "eye-right-slit"),
            ("EYE_LEFT", "EYE_RIGHT"),
            ("eyeLookRight.l", "eyeLookLeft.r"),
            ("jawLeft", "jawRight"),
            ("LipCornerLeftUp", "LipCornerRightUp"),
            ("mouthsmileleft", "mouthsmileright"),
        ];
        for (left, right) in pairs {
            assert_eq!(mirrored_name(left).as_deref(), Some(right));
            assert_eq!(mirrored_name(right).as_deref(), Some(left));
            assert_eq!(SliderName::parse(left).mirrored(), SliderName::parse(right));
        }
    }

    #[test]
    fn words_that_only_look_like_a_side_have_none() {
        for name in [
            "upright",
            "bright",
            "cleft",
            "viseme_R",
            "phoneme.L",
            "r",
            "roll",
            "lower",
            "",
            "眉_上",
        ] {
            assert!(!SliderName::parse(name).is_sided(), "{name}");
            assert_eq!(mirrored_name(name), None, "{name}");
        }
    }

    #[test]
    fn rotations_to_the_left_and_right_are_partners() {
        assert_eq!(
            SliderName::parse("AU51").mirrored(),
            SliderName::parse("AU52")
        );
        assert_eq!(
            SliderName::parse("AU61").mirrored(),
            SliderName::parse("au_62")
        );
        assert!(!SliderName::parse("AU53").is_sided());
    }
}
