//! Vocabularies: published lists of slider names (ARKit, FACS, VRM, MakeHuman).
//!
//! **Sources.** Apple, `ARFaceAnchor.BlendShapeLocation` (52 names). Ekman and Friesen, "Facial
//! Action Coding System", 1978 and 2002: codes and common names. The VRM specifications 0.x (blend
//! shape presets) and 1.0 (expressions). MakeHuman's expression units, by their file names.
//!
//! **Departures.** [`meanings`] relates them in one table. Names in one row move the same part of
//! the face in the same direction, not necessarily by the same amount. The table has no sides: a
//! row holds for each side and for both together.

use std::fmt;

/// A published list of slider names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Vocabulary {
    /// The 52 of Apple's ARKit: `eyeBlinkLeft`.
    Arkit,
    /// Action units by their codes, `AU12`, with `L` or `R` for one side.
    Facs,
    /// Expressions of VRM 1.0: `happy`, `blinkLeft`.
    Vrm,
    /// Presets of VRM 0.x: `joy`, `blink_l`.
    Vrm0,
    /// Expression units of MakeHuman: `eye-left-closure`.
    MakeHuman,
}

impl Vocabulary {
    /// All of them, in the order of the columns of the table of meanings.
    pub const ALL: [Self; 5] = [
        Self::Arkit,
        Self::Facs,
        Self::Vrm,
        Self::Vrm0,
        Self::MakeHuman,
    ];

    /// The vocabulary called `name`, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|vocabulary| vocabulary.to_string() == name.to_lowercase())
    }

    /// Its names, in their own order.
    #[must_use]
    pub fn names(self) -> Vec<String> {
        match self {
            Self::Arkit => owned(ARKIT),
            Self::Facs => FACS
                .iter()
                .flat_map(|&(code, _)| facs_names(code))
                .collect(),
            Self::Vrm => owned(VRM),
            Self::Vrm0 => owned(VRM0),
            Self::MakeHuman => owned(MAKEHUMAN),
        }
    }

    /// Other names for the same, as pairs of the other and its own.
    pub(crate) fn aliases(self) -> Vec<(String, String)> {
        if self != Self::Facs {
            return Vec::new();
        }

        let sides = [("", ""), ("L", " left"), ("R", " right")];
        let both = FACS
            .iter()
            .filter(|(code, _)| *code < FIRST_OF_HEAD_AND_EYES);
        let sided = both.flat_map(|&(code, common)| {
            sides.map(|(short, long)| (format!("{common}{long}"), format!("AU{code}{short}")))
        });

        let whole = FACS
            .iter()
            .filter(|(code, _)| *code >= FIRST_OF_HEAD_AND_EYES)
            .map(|&(code, common)| (common.into(), format!("AU{code}")));

        sided.chain(whole).collect()
    }

    pub(crate) fn column(self) -> usize {
        Self::ALL
            .iter()
            .position(|&vocabulary| vocabulary == self)
            .expect("all are listed")
    }
}

impl fmt::Display for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arkit => "arkit",
            Self::Facs => "facs",
            Self::Vrm => "vrm",
            Self::Vrm0 => "vrm0",
            Self::MakeHuman => "makehuman",
        })
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// An action unit of the face, of both sides and of each; movements of head and eyes have no sides.
fn facs_names(code: u32) -> Vec<String> {
    let sides: &[&str] = if code < FIRST_OF_HEAD_AND_EYES {
        &["", "L", "R"]
    } else {
        &[""]
    };
    sides.iter().map(|side| format!("AU{code}{side}")).collect()
}

/// From this code on FACS speaks of the whole head and of both eyes.
const FIRST_OF_HEAD_AND_EYES: u32 = 51;

/// Rows of one meaning, without sides, in the columns of [`Vocabulary::ALL`]; where one name stands
/// in several rows, the first is preferred.
pub(crate) fn meanings() -> &'static [[&'static str; 5]] {
    MEANINGS
}

#[rustfmt::skip]
const MEANINGS: &[[&str; 5]] = &[
    // ARKit             FACS    VRM 1.0      VRM 0.x      MakeHuman
    ["browInnerUp",     "AU1",  "",          "",          "eyebrows-inner-up"],
    ["browOuterUp",     "AU2",  "",          "",          "eyebrows-extern-up"],
    ["browDown",        "AU4",  "",          "",          "eyebrows-down"],
    ["eyeWide",         "AU5",  "",          "",          "eye-opened-up"],
    ["cheekSquint",     "AU6",  "",          "",          ""],
    ["eyeSquint",       "AU7",  "",          "",          "eye-slit"],
    ["eyeSquint",       "AU44", "",          "",          "eye-slit"],
    ["mouthClose",      "AU8",  "",          "",          ""],
    ["noseSneer",       "AU9",  "",          "",          "nose-elevation"],
    ["mouthUpperUp",    "AU10", "",          "",          ""],
    ["mouthSmile",      "AU12", "happy",     "joy",       "mouth-corner-puller"],
    ["mouthDimple",     "AU14", "",          "",          ""],
    ["mouthFrown",      "AU15", "",          "",          "mouth-depression"],
    ["mouthLowerDown",  "AU16", "",          "",          ""],
    ["mouthShrugLower", "AU17", "",          "",          ""],
    ["mouthPucker",     "AU18", "ou",        "u",         "mouth-pursing"],
    ["tongueOut",       "AU19", "",          "",          ""],
    ["mouthStretch",    "AU20", "",          "",          "mouth-retraction"],
    ["",                "AU21", "",          "",          "neck-platysma"],
    ["mouthFunnel",     "AU22", "oh",        "o",         "mouth-eversion"],
    ["mouthPress",      "AU24", "",          "",          "mouth-compression"],
    ["jawOpen",         "AU26", "aa",        "a",         "mouth-open"],
    ["jawOpen",         "AU27", "aa",        "a",         "mouth-open"],
    ["mouthRollLower",  "AU28", "",          "",          ""],
    ["jawForward",      "AU29", "",          "",          ""],
    ["jaw",             "AU30", "",          "",          ""],
    ["cheekPuff",       "AU34", "",          "",          ""],
    ["cheekPuff",       "AU33", "",          "",          ""],
    ["",                "AU38", "",          "",          "nose-dilatation"],
    ["",                "AU39", "",          "",          "nose-compression"],
    ["eyeBlink",        "AU45", "blink",     "blink",     "eye-closure"],
    ["eyeBlink",        "AU43", "blink",     "blink",     "eye-closure"],
    ["eyeBlink",        "AU46", "blink",     "blink",     "eye-closure"],
    ["",                "AU61", "look",      "look",      ""],
    ["eyeLookUp",       "AU63", "lookUp",    "lookup",    ""],
    ["eyeLookDown",     "AU64", "lookDown",  "lookdown",  ""],
    ["",                "",     "ee",        "e",         ""],
    ["",                "",     "ih",        "i",         ""],
    ["",                "",     "relaxed",   "fun",       ""],
    ["",                "",     "sad",       "sorrow",    ""],
];

#[rustfmt::skip]
const ARKIT: &[&str] = &[
    "browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft", "browOuterUpRight", "cheekPuff", "cheekSquintLeft",
    "cheekSquintRight", "eyeBlinkLeft", "eyeBlinkRight", "eyeLookDownLeft", "eyeLookDownRight", "eyeLookInLeft", "eyeLookInRight",
    "eyeLookOutLeft", "eyeLookOutRight", "eyeLookUpLeft", "eyeLookUpRight", "eyeSquintLeft", "eyeSquintRight", "eyeWideLeft",
    "eyeWideRight", "jawForward", "jawLeft", "jawOpen", "jawRight", "mouthClose", "mouthDimpleLeft", "mouthDimpleRight",
    "mouthFrownLeft", "mouthFrownRight", "mouthFunnel", "mouthLeft", "mouthLowerDownLeft", "mouthLowerDownRight", "mouthPressLeft",
    "mouthPressRight", "mouthPucker", "mouthRight", "mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper",
    "mouthSmileLeft", "mouthSmileRight", "mouthStretchLeft", "mouthStretchRight", "mouthUpperUpLeft", "mouthUpperUpRight",
    "noseSneerLeft", "noseSneerRight", "tongueOut",
];

const FACS: &[(u32, &str)] = &[
    (1, "inner brow raiser"),
    (2, "outer brow raiser"),
    (4, "brow lowerer"),
    (5, "upper lid raiser"),
    (6, "cheek raiser"),
    (7, "lid tightener"),
    (8, "lips toward each other"),
    (9, "nose wrinkler"),
    (10, "upper lip raiser"),
    (11, "nasolabial deepener"),
    (12, "lip corner puller"),
    (13, "sharp lip puller"),
    (14, "dimpler"),
    (15, "lip corner depressor"),
    (16, "lower lip depressor"),
    (17, "chin raiser"),
    (18, "lip pucker"),
    (19, "tongue show"),
    (20, "lip stretcher"),
    (21, "neck tightener"),
    (22, "lip funneler"),
    (23, "lip tightener"),
    (24, "lip pressor"),
    (25, "lips part"),
    (26, "jaw drop"),
    (27, "mouth stretch"),
    (28, "lip suck"),
    (29, "jaw thrust"),
    (30, "jaw sideways"),
    (31, "jaw clencher"),
    (32, "lip bite"),
    (33, "cheek blow"),
    (34, "cheek puff"),
    (35, "cheek suck"),
    (36, "tongue bulge"),
    (37, "lip wipe"),
    (38, "nostril dilator"),
    (39, "nostril compressor"),
    (41, "lid droop"),
    (42, "slit"),
    (43, "eyes closed"),
    (44, "squint"),
    (45, "blink"),
    (46, "wink"),
    (51, "head turn left"),
    (52, "head turn right"),
    (53, "head up"),
    (54, "head down"),
    (55, "head tilt left"),
    (56, "head tilt right"),
    (57, "head forward"),
    (58, "head back"),
    (61, "eyes turn left"),
    (62, "eyes turn right"),
    (63, "eyes up"),
    (64, "eyes down"),
];

#[rustfmt::skip]
const VRM: &[&str] = &[
    "happy", "angry", "sad", "relaxed", "surprised", "aa", "ih", "ou", "ee", "oh", "blink", "blinkLeft", "blinkRight", "lookUp",
    "lookDown", "lookLeft", "lookRight", "neutral",
];

#[rustfmt::skip]
const VRM0: &[&str] = &[
    "neutral", "a", "i", "u", "e", "o", "blink", "joy", "angry", "sorrow", "fun", "lookup", "lookdown", "lookleft", "lookright",
    "blink_l", "blink_r",
];

#[rustfmt::skip]
const MAKEHUMAN: &[&str] = &[
    "eye-left-closure", "eye-left-opened-up", "eye-left-slit", "eye-right-closure", "eye-right-opened-up", "eye-right-slit",
    "eyebrows-left-down", "eyebrows-left-extern-up", "eyebrows-left-inner-up", "eyebrows-left-up", "eyebrows-right-down",
    "eyebrows-right-extern-up", "eyebrows-right-inner-up", "eyebrows-right-up", "mouth-compression", "mouth-corner-puller",
    "mouth-depression", "mouth-depression-retraction", "mouth-elevation", "mouth-eversion", "mouth-open", "mouth-parling",
    "mouth-part-later", "mouth-protusion", "mouth-pursing", "mouth-retraction", "mouth-upward-retraction", "neck-platysma",
    "nose-compression", "nose-depression", "nose-left-dilatation", "nose-left-elevation", "nose-right-dilatation",
    "nose-right-elevation",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::SliderName;

    #[test]
    fn all_names_of_a_vocabulary_are_distinct() {
        assert_eq!(ARKIT.len(), 52);
        for vocabulary in Vocabulary::ALL {
            let names = vocabulary.names();
            let readings: BTreeSet<_> = names.iter().map(|name| SliderName::parse(name)).collect();
            assert_eq!(readings.len(), names.len(), "{vocabulary}");
            assert_eq!(
                Vocabulary::from_name(&vocabulary.to_string().to_uppercase()),
                Some(vocabulary)
            );
        }
    }

    #[test]
    fn the_table_of_meanings_has_only_existing_names() {
        for row in meanings() {
            for (vocabulary, stem) in Vocabulary::ALL
                .into_iter()
                .zip(row)
                .filter(|(_, stem)| !stem.is_empty())
            {
                let stem = SliderName::parse(stem).stem();
                assert!(
                    vocabulary
                        .names()
                        .iter()
                        .any(|name| SliderName::parse(name).stem() == stem),
                    "{vocabulary}: {stem}"
                );
            }
        }
    }
}
