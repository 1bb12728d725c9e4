//! Keys as text for the clipboard, for another time, project or window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::keys::put;
use super::{Key, KeyAt, Keys, Picked, Timeline};
use crate::model::shared::Shared;

/// What the text holds: keys of sliders, with frames counted from the first of them.
#[derive(Debug, Serialize, Deserialize)]
struct Copied {
    pliant_keys: BTreeMap<String, Vec<Key>>,
}

/// The picked keys as text; `None` where none is picked.
#[must_use]
pub fn copied(keys: &Keys, picked: &Picked) -> Option<String> {
    let first = picked.iter().map(|key| key.frame).min()?;
    let chosen = |slider: &String, frame: u32| {
        picked.contains(&KeyAt {
            slider: slider.clone(),
            frame,
        })
    };

    let of = |(slider, keys): (&String, &Shared<Vec<Key>>)| {
        let keys: Vec<Key> = keys
            .iter()
            .filter(|key| chosen(slider, key.frame))
            .map(|key| Key {
                // Frames count from the first copied key.
                frame: key.frame - first,
                ..*key
            })
            .collect();
        (!keys.is_empty()).then(|| (slider.clone(), keys))
    };

    serde_json::to_string(&Copied {
        pliant_keys: keys.iter().filter_map(of).collect(),
    })
    .ok()
}

/// The keys with those of the text beginning at `frame`, and which ones these are. A key that
/// arrives where another one is takes its place. `None` where the text holds no keys.
#[must_use]
pub fn pasted(keys: &Keys, text: &str, frame: u32) -> Option<(Keys, Picked)> {
    let copied: Copied = serde_json::from_str(text).ok()?;
    let mut result = keys.clone();
    let mut places = Picked::new();
    for (slider, brought) in copied.pliant_keys {
        for key in brought.into_iter().filter(|key| key.weight.is_finite()) {
            // Keys beyond the end of any timeline are dropped.
            let Some(frame) = frame
                .checked_add(key.frame)
                .filter(|frame| *frame <= Timeline::MAX_FRAME)
            else {
                continue;
            };

            let row = result.entry(slider.clone()).or_default();
            row.retain(|other| other.frame != frame);
            put(row, Key { frame, ..key });
            places.insert(KeyAt {
                slider: slider.clone(),
                frame,
            });
        }
    }

    (!places.is_empty()).then_some((result, places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::timeline::Ease;

    fn keys() -> Keys {
        let key = |frame, weight| Key {
            frame,
            weight,
            ease: Ease::Step,
        };
        Keys::from([
            (
                "jaw".into(),
                vec![key(4, 0.1), key(6, 0.2), key(9, 0.3)].into(),
            ),
            ("brow".into(), vec![key(6, 0.9)].into()),
        ])
    }

    fn at(slider: &str, frame: u32) -> KeyAt {
        KeyAt {
            slider: slider.into(),
            frame,
        }
    }

    #[test]
    fn pasted_keys_keep_their_distances_weights_and_eases() {
        let picked = Picked::from([at("jaw", 6), at("jaw", 9), at("brow", 6)]);
        let text = copied(&keys(), &picked).unwrap();
        let (result, places) = pasted(&keys(), &text, 20).unwrap();

        assert_eq!(
            places,
            Picked::from([at("jaw", 20), at("jaw", 23), at("brow", 20)])
        );

        // The keys that were there stay before the pasted ones.
        let jaw: Vec<(u32, f64, Ease)> = result["jaw"]
            .iter()
            .map(|key| (key.frame, key.weight, key.ease))
            .collect();

        assert_eq!(
            jaw[..3],
            keys()["jaw"]
                .iter()
                .map(|key| (key.frame, key.weight, key.ease))
                .collect::<Vec<_>>()
        );

        assert_eq!(jaw[3..], [(20, 0.2, Ease::Step), (23, 0.3, Ease::Step)]);
    }

    #[test]
    fn pasting_keys_at_their_own_frame_changes_nothing() {
        let picked = Picked::from([at("jaw", 6), at("brow", 6)]);
        assert_eq!(
            pasted(&keys(), &copied(&keys(), &picked).unwrap(), 6)
                .unwrap()
                .0,
            keys()
        );
    }

    #[test]
    fn foreign_text_and_invalid_numbers_paste_no_keys() {
        assert_eq!(copied(&keys(), &Picked::new()), None);
        for text in [
            "",
            "jaw",
            "{}",
            r#"{"pliant_keys": {}}"#,
            r#"{"pliant_keys": {"jaw": [{"frame": 4294967295, "weight": 0.5}]}}"#,
        ] {
            assert_eq!(pasted(&keys(), text, 7), None, "{text}");
        }
    }
}
