//! Names of landmarks of a face.
//!
//! **Method.** A name is its words in any order and spelling, with a side where there are two:
//! `mouth corner left`, `left mouth corner`, `MouthCorner_L`.
//!
//! **Source.** The places are those of the 68 points of Gross and others, "Multi-PIE", 2010, of
//! which one stands for each feature, and the cheeks.

use std::fmt;

use crate::{Side, SliderName};

/// A landmark: a place, and its side where there are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaceLandmark {
    /// The place.
    pub place: FacePlace,
    /// The side; none on the midline.
    pub side: Option<Side>,
}

/// A place of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FacePlace {
    /// The lowest point of the chin that a front view shows.
    Chin,
    /// The front of the nose.
    NoseTip,
    /// The root of the nose, between the eyes.
    NoseBridge,
    /// The base of the nose, above the upper lip.
    NoseBase,
    /// The middle of the upper edge of the upper lip.
    LipUpper,
    /// The middle of the lower edge of the lower lip.
    LipLower,
    /// The corner of the mouth.
    MouthCorner,
    /// The side of the nose.
    NoseWing,
    /// The end of the brow at the nose.
    BrowInner,
    /// The middle of the brow.
    BrowMiddle,
    /// The end of the brow at the temple.
    BrowOuter,
    /// The corner of the eye at the nose.
    EyeInner,
    /// The corner of the eye at the temple.
    EyeOuter,
    /// The middle of the edge of the upper lid.
    LidUpper,
    /// The middle of the edge of the lower lid.
    LidLower,
    /// The front of the cheek.
    Cheek,
}

impl FacePlace {
    /// All places, those on the midline first.
    pub const ALL: [Self; 16] = [
        Self::Chin,
        Self::NoseTip,
        Self::NoseBridge,
        Self::NoseBase,
        Self::LipUpper,
        Self::LipLower,
        Self::MouthCorner,
        Self::NoseWing,
        Self::BrowInner,
        Self::BrowMiddle,
        Self::BrowOuter,
        Self::EyeInner,
        Self::EyeOuter,
        Self::LidUpper,
        Self::LidLower,
        Self::Cheek,
    ];

    /// Its words, without a side.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chin => "chin",
            Self::NoseTip => "nose tip",
            Self::NoseBridge => "nose bridge",
            Self::NoseBase => "nose base",
            Self::LipUpper => "lip upper",
            Self::LipLower => "lip lower",
            Self::MouthCorner => "mouth corner",
            Self::NoseWing => "nose wing",
            Self::BrowInner => "brow inner",
            Self::BrowMiddle => "brow middle",
            Self::BrowOuter => "brow outer",
            Self::EyeInner => "eye inner",
            Self::EyeOuter => "eye outer",
            Self::LidUpper => "lid upper",
            Self::LidLower => "lid lower",
            Self::Cheek => "cheek",
        }
    }

    /// Whether it is on the midline and has no side.
    #[must_use]
    pub fn is_on_midline(self) -> bool {
        self <= Self::LipLower
    }
}

impl FaceLandmark {
    /// All landmarks: those of the midline, then left and right of each place.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for place in FacePlace::ALL {
            if place.is_on_midline() {
                all.push(Self { place, side: None });
            } else {
                for side in [Side::Left, Side::Right] {
                    all.push(Self {
                        place,
                        side: Some(side),
                    });
                }
            }
        }
        all
    }

    /// The landmark of that name, in any order and spelling of its words.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let reading = SliderName::parse(name);
        let mut words: Vec<&str> = reading.words.iter().map(|word| usual(word)).collect();
        words.sort_unstable();
        let side = reading.side();
        Self::all().into_iter().find(|landmark| {
            let mut own: Vec<&str> = landmark.place.name().split(' ').collect();
            own.sort_unstable();
            own == words && landmark.side == side && reading.sides.len() < 2
        })
    }

    /// The same place on the other side.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self {
            side: self.side.map(Side::mirrored),
            ..self
        }
    }
}

/// The usual one of several words for the same.
fn usual(word: &str) -> &str {
    match word {
        "eyelid" => "lid",
        "eyebrow" => "brow",
        "lips" => "lip",
        "mid" => "middle",
        word => word,
    }
}

impl fmt::Display for FaceLandmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.place.name())?;
        match self.side {
            Some(Side::Left) => f.write_str(" left"),
            Some(Side::Right) => f.write_str(" right"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_landmark_is_found_by_its_own_name_and_by_its_words_in_any_order() {
        let all = FaceLandmark::all();
        assert_eq!(all.len(), 26);
        for landmark in all {
            assert_eq!(
                FaceLandmark::from_name(&landmark.to_string()),
                Some(landmark)
            );
        }
        let corner = FaceLandmark::from_name("mouth corner left");
        assert!(corner.is_some());
        for name in ["left mouth corner", "MouthCorner_L", "corner_mouth.l"] {
            assert_eq!(FaceLandmark::from_name(name), corner, "{name}");
        }
        let other = corner.unwrap().mirrored();
        assert_eq!(FaceLandmark::from_name("mouth corner right"), Some(other));
    }

    #[test]
    fn a_name_without_its_side_or_with_a_wrong_one_is_no_landmark() {
        for name in ["mouth corner", "chin left", "ear left", "", "12", "mouth"] {
            assert_eq!(FaceLandmark::from_name(name), None, "{name}");
        }
    }
}
