//! Contacts: frames in which lids or lips close, which cleaning must keep closed.
//!
//! **Method.** A lid is in contact where its channel is near its own greatest value: within a tenth
//! of its range, if that range is more than a third of a whole blink. Lips are in contact where the
//! opening `jawOpen − mouthClose` is within a tenth of its range from its least value, if the mouth
//! opens at all. Channels and lists are those of [`Vocabulary::Arkit`](crate::Vocabulary).

use std::collections::BTreeMap;

use crate::{Channel, Vocabulary, match_names};

/// The part of a range that counts as closed.
const CLOSED: f64 = 0.1;
/// A range below this is no blink and no opening of the mouth.
const LEAST_RANGE: f64 = 0.3;

/// For each channel that makes a contact, the frames of contact.
pub(super) fn frames_of_contact(channels: &[Channel]) -> BTreeMap<usize, Vec<bool>> {
    let names: Vec<&str> = channels
        .iter()
        .map(|channel| channel.name.as_str())
        .collect();
    let map = match_names(&names, Vocabulary::Arkit);
    let channel = |wanted: &str| {
        let found = map.pairs.iter().find(|pair| pair.name == wanted);
        found.map(|pair| pair.source)
    };

    let mut contacts = BTreeMap::new();
    for lid in ["eyeBlinkLeft", "eyeBlinkRight"] {
        if let Some(k) = channel(lid) {
            let opening: Vec<f64> = channels[k].values.iter().map(|value| -value).collect();
            if let Some(closed) = closed_frames(&opening) {
                contacts.insert(k, closed);
            }
        }
    }

    let (jaw, lips) = (channel("jawOpen"), channel("mouthClose"));
    if let Some(jaw) = jaw {
        let values = channels[jaw].values.iter().enumerate();
        let opening: Vec<f64> = values
            .map(|(t, value)| value - lips.map_or(0.0, |k| channels[k].values[t]))
            .collect();
        if let Some(closed) = closed_frames(&opening) {
            for k in [Some(jaw), lips].into_iter().flatten() {
                contacts.insert(k, closed.clone());
            }
        }
    }
    contacts
}

/// The frames near the least opening; `None` if it hardly changes.
fn closed_frames(opening: &[f64]) -> Option<Vec<bool>> {
    let mut known: Vec<f64> = opening.iter().copied().filter(|v| v.is_finite()).collect();
    if known.len() < 3 {
        return None;
    }
    known.sort_by(f64::total_cmp);
    // Single outliers must not set the range.
    let at = |part: f64| known[(part * (known.len() - 1) as f64).round() as usize];
    let (least, greatest) = (at(0.005), at(0.995));
    let range = greatest - least;
    (range > LEAST_RANGE).then(|| {
        let closed = opening.iter().map(|v| *v <= least + CLOSED * range);
        closed.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_lids_and_lips_are_found() {
        let wave = |k: usize| 0.5 - 0.5 * (k as f64 / 10.0).cos();
        let channels = [
            Channel::new("EyeBlinkLeft", (0..200).map(wave).collect()),
            Channel::new("EyeBlinkRight", vec![0.1; 200]),
            Channel::new("JawOpen", (0..200).map(wave).collect()),
            Channel::new("MouthClose", (0..200).map(|k| 0.5 * wave(k)).collect()),
        ];
        let contacts = frames_of_contact(&channels);
        assert_eq!(contacts.keys().copied().collect::<Vec<_>>(), [0, 2, 3]);
        assert!(contacts[&0][31] && !contacts[&0][0], "a lid closes at 1");
        assert!(contacts[&2][0] && !contacts[&2][31], "lips close at 0");
    }
}
