//! Editing of keys: set, move, delete.

use std::collections::{BTreeMap, BTreeSet};

use super::{Ease, Key, Timeline, weight_at};
use crate::model::document::{Document, Weights};
use crate::model::shared::Shared;

/// The keys of each slider, ascending in time.
pub type Keys = BTreeMap<String, Shared<Vec<Key>>>;

/// Weights nearer than this are one weight.
const SAME_WEIGHT: f64 = 1e-9;

/// Names a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyAt {
    /// Its slider.
    pub slider: String,
    /// Its frame.
    pub frame: u32,
}

/// Keys that are chosen.
pub type Picked = BTreeSet<KeyAt>;

impl Timeline {
    /// The weights of keyed sliders at a frame.
    #[must_use]
    pub fn weights_at(&self, frame: f64) -> Weights {
        self.keys
            .iter()
            .filter(|(_, keys)| !keys.is_empty())
            .map(|(slider, keys)| (slider.clone(), weight_at(keys, frame)))
            .collect()
    }

    /// Puts a key; one that is at that frame keeps its ease.
    pub fn set_key(&mut self, slider: &str, frame: u32, weight: f64) {
        put(
            self.keys.entry(slider.to_owned()).or_default(),
            Key::new(frame, weight),
        );
    }

    /// Whether a slider has a key at this frame.
    #[must_use]
    pub fn has_key(&self, slider: &str, frame: u32) -> bool {
        self.keys
            .get(slider)
            .is_some_and(|keys| keys.binary_search_by_key(&frame, |key| key.frame).is_ok())
    }

    /// Every frame at which there is a key.
    #[must_use]
    pub fn key_frames(&self) -> BTreeSet<u32> {
        self.keys
            .values()
            .fold(Vec::new(), |frames, keys| merged(&frames, keys))
            .into_iter()
            .collect()
    }

    /// All keys at a frame.
    #[must_use]
    pub fn keys_at(&self, frame: u32) -> Picked {
        let keyed = self
            .keys
            .keys()
            .filter(|slider| self.has_key(slider, frame));
        keyed
            .map(|slider| KeyAt {
                slider: slider.clone(),
                frame,
            })
            .collect()
    }
}

/// Ascending frames and those of ascending keys, each once.
fn merged(frames: &[u32], keys: &[Key]) -> Vec<u32> {
    let mut all = Vec::with_capacity(frames.len().max(keys.len()));
    let mut known = frames.iter().copied().peekable();
    for key in keys {
        while let Some(before) = known.next_if(|&frame| frame < key.frame) {
            all.push(before);
        }
        // A frame that both have is taken once.
        known.next_if_eq(&key.frame);
        all.push(key.frame);
    }

    all.extend(known);
    all
}

/// The frames of picked keys by slider.
#[must_use]
pub fn picked_frames(picked: &Picked) -> BTreeMap<&str, BTreeSet<u32>> {
    let mut frames: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for at in picked {
        frames.entry(&at.slider).or_default().insert(at.frame);
    }
    frames
}

/// Puts a key into its place; one that is at that frame keeps its ease.
pub(crate) fn put(keys: &mut Vec<Key>, key: Key) {
    match keys.binary_search_by_key(&key.frame, |key| key.frame) {
        Ok(at) => keys[at].weight = key.weight,
        Err(at) => keys.insert(at, key),
    }
}

/// The keys without the picked ones; sliders that lose all of theirs are not there any more.
#[must_use]
pub fn without(keys: &Keys, picked: &Picked) -> Keys {
    let mut left = keys.clone();
    for (slider, frames) in picked_frames(picked) {
        if let Some(keys) = left.get_mut(slider) {
            keys.retain(|key| !frames.contains(&key.frame));
        }
    }
    left.retain(|_, keys| !keys.is_empty());
    left
}

/// The keys with the picked ones moved by `frames`, but not before frame 0, and by `weight`, but
/// not beyond `limits`; and which ones are picked then. A key that arrives where another one is
/// takes its place.
#[must_use]
pub fn moved(
    keys: &Keys,
    picked: &Picked,
    frames: i64,
    weight: f64,
    limits: impl Fn(&str) -> [f64; 2],
) -> (Keys, Picked) {
    let first = picked.iter().map(|key| key.frame).min().unwrap_or(0);
    // All keys stop together when the first reaches frame 0.
    let frames = frames.max(-i64::from(first));
    let mut result = without(keys, picked);
    let mut places = Picked::new();

    for KeyAt { slider, frame } in picked {
        let Some(key) = keys.get(slider).and_then(|keys| key_at(keys, *frame)) else {
            continue;
        };

        let [min, max] = limits(slider);
        // A horizontal move must not clamp weights that already exceed a limit.
        let weight = if weight == 0.0 {
            key.weight
        } else {
            (key.weight + weight).max(min).min(max)
        };

        let key = Key {
            frame: u32::try_from(i64::from(*frame) + frames).unwrap_or(*frame),
            weight,
            ease: key.ease,
        };

        replace(result.entry(slider.clone()).or_default(), key);
        places.insert(KeyAt {
            slider: slider.clone(),
            frame: key.frame,
        });
    }

    (result, places)
}

/// The key at a frame.
#[must_use]
pub fn key_at(keys: &[Key], frame: u32) -> Option<&Key> {
    keys.binary_search_by_key(&frame, |key| key.frame)
        .ok()
        .map(|at| &keys[at])
}

/// Puts a key instead of one that is at that frame.
fn replace(keys: &mut Vec<Key>, key: Key) {
    match keys.binary_search_by_key(&key.frame, |key| key.frame) {
        Ok(at) => keys[at] = key,
        Err(at) => keys.insert(at, key),
    }
}

/// The keys with another ease after the picked ones.
#[must_use]
pub fn eased(keys: &Keys, picked: &Picked, ease: Ease) -> Keys {
    let mut result = keys.clone();
    for (slider, frames) in picked_frames(picked) {
        if let Some(keys) = result.get_mut(slider) {
            for key in keys.iter_mut().filter(|key| frames.contains(&key.frame)) {
                key.ease = ease;
            }
        }
    }
    result
}

/// The sliders whose weight is not what their curve says at a frame, or, for those without keys,
/// not zero; with their weights.
#[must_use]
pub fn changed_sliders(document: &Document, frame: f64) -> Weights {
    let weights = &document.character.weights;
    let keys = &document.timeline.keys;
    let names: BTreeSet<&String> = weights.keys().chain(keys.keys()).collect();
    let weight = |name: &String| weights.get(name).copied().unwrap_or(0.0);
    let expected = |name: &String| keys.get(name).map_or(0.0, |keys| weight_at(keys, frame));
    let changed = names
        .into_iter()
        .filter(|name| (weight(name) - expected(name)).abs() > SAME_WEIGHT);
    changed.map(|name| (name.clone(), weight(name))).collect()
}

impl Document {
    /// Changes keys, and the weights of those sliders whose curve is another one then, as the shown
    /// frame has them.
    pub fn edit_keys(&mut self, change: impl FnOnce(&mut Keys)) {
        let before = self.timeline.keys.clone();
        change(&mut self.timeline.keys);
        self.timeline.keys.retain(|_, keys| !keys.is_empty());

        // Only sliders whose curve changed follow it; others keep manual changes.
        for (slider, keys) in self
            .timeline
            .keys
            .iter()
            .filter(|(slider, keys)| before.get(*slider) != Some(*keys))
        {
            self.character
                .set_weight(slider, weight_at(keys, self.timeline.shown_frame));
        }
    }

    /// Sets keys at the shown frame.
    pub fn key_weights(&mut self, frame: u32, weights: &Weights) {
        self.timeline.shown_frame = f64::from(frame);
        self.edit_keys(|keys| {
            for (slider, &weight) in weights {
                put(
                    keys.entry(slider.clone()).or_default(),
                    Key::new(frame, weight),
                );
            }
        });
    }

    /// Goes to a frame: keyed sliders follow their curves, the others stay.
    pub fn show_frame(&mut self, frame: f64) {
        self.timeline.shown_frame = frame;
        for (slider, weight) in self.timeline.weights_at(frame) {
            self.character.set_weight(&slider, weight);
        }
    }

    /// Whether both hold the same work, at whichever frame they are shown. A model that an example
    /// trains by itself is no work.
    #[must_use]
    pub fn same_work(&self, other: &Self) -> bool {
        let begun = |document: &Self| {
            let mut begun = document.at_start();
            let learn = &mut begun.learn;
            let recipe = &learn.recipe;
            let alone = learn.trains_itself;
            learn
                .trained
                .take_if(|trained| alone && trained.of == *recipe);
            begun
        };
        self == other || begun(self) == begun(other)
    }

    /// The document at frame 0; as it is where the user moved keyed sliders off their curves, which
    /// is work.
    fn at_start(&self) -> Self {
        let mut document = self.clone();
        let weights = &self.character.weights;
        let follows = |(slider, weight): (&String, &f64)| {
            weights.get(slider).copied().unwrap_or(0.0) == *weight
        };

        // Manual changes at this frame are work, so such a document is left as it is.
        if self
            .timeline
            .weights_at(self.timeline.shown_frame)
            .iter()
            .all(follows)
        {
            document.show_frame(0.0);
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: fn(&str) -> [f64; 2] = |_| [f64::NEG_INFINITY, f64::INFINITY];

    fn timeline(keys: &[(&str, u32, f64)]) -> Timeline {
        let mut timeline = Timeline::default();
        for (slider, frame, weight) in keys {
            timeline.set_key(slider, *frame, *weight);
        }
        timeline
    }

    #[test]
    fn frames_with_keys_are_those_of_all_sliders_each_once() {
        let timeline = timeline(&[
            ("smile", 9, 0.1),
            ("smile", 2, 0.2),
            ("jaw", 2, 0.3),
            ("jaw", 5, 0.4),
            ("brow", 11, 0.5),
        ]);
        assert_eq!(
            timeline.key_frames().into_iter().collect::<Vec<_>>(),
            [2, 5, 9, 11]
        );
    }

    #[test]
    fn editing_keys_of_one_slider_keeps_the_others_shared() {
        let before = timeline(&[("smile", 2, 0.1), ("smile", 5, 0.5), ("jaw", 2, 0.3)]).keys;
        let hand = picked(&[("smile", 5)]);
        for after in [
            moved(&before, &hand, 3, 0.1, FREE).0,
            without(&before, &hand),
            eased(&before, &hand, Ease::Step),
        ] {
            assert!(after["jaw"].is(&before["jaw"]) && after["smile"] != before["smile"]);
        }
    }

    #[test]
    fn scrubbing_is_no_edit_but_moving_a_keyed_slider_is() {
        let timeline = timeline(&[("smile", 0, 0.25), ("smile", 20, 1.0)]);
        let mut saved = Document {
            timeline,
            ..Document::default()
        };

        saved.show_frame(0.0);
        let mut scrubbed = saved.clone();
        scrubbed.show_frame(7.0);

        assert!(scrubbed != saved && scrubbed.same_work(&saved));
        let mut moved = scrubbed.clone();
        moved.character.set_weight("smile", 0.5);

        assert!(!moved.same_work(&saved) && !moved.same_work(&scrubbed));
        // Another frame replaces the weight of a keyed slider, so the change is gone.
        moved.show_frame(9.0);
        assert!(moved.same_work(&saved));
        // A slider without keys keeps its weight at every frame.
        moved.character.set_weight("jawOpen", 0.5);

        assert!(!moved.same_work(&saved));
    }

    fn picked(keys: &[(&str, u32)]) -> Picked {
        keys.iter()
            .map(|&(slider, frame)| KeyAt {
                slider: slider.into(),
                frame,
            })
            .collect()
    }

    fn row(keys: &Keys, slider: &str) -> Vec<(u32, f64)> {
        keys[slider]
            .iter()
            .map(|key| (key.frame, key.weight))
            .collect()
    }

    #[test]
    fn only_changed_sliders_are_keyed() {
        let mut document = Document {
            timeline: timeline(&[("smile", 0, 0.0), ("smile", 10, 1.0), ("jaw", 0, 0.2)]),
            ..Document::default()
        };

        document.show_frame(5.0);
        assert_eq!(
            changed_sliders(&document, 5.0),
            Weights::new(),
            "all follow their curves"
        );

        // One keyed slider, one without keys, and one that stays at zero.
        document.character.set_weight("jaw", 0.9);
        document.character.set_weight("brow", 0.3);
        document.character.set_weight("nose", 0.0);

        let changed = changed_sliders(&document, 5.0);
        assert_eq!(
            changed,
            Weights::from([("brow".into(), 0.3), ("jaw".into(), 0.9)])
        );
        document.key_weights(5, &changed);

        assert_eq!(row(&document.timeline.keys, "jaw"), [(0, 0.2), (5, 0.9)]);
        assert_eq!(row(&document.timeline.keys, "smile").len(), 2);
        assert_eq!(changed_sliders(&document, 5.0), Weights::new());
    }

    #[test]
    fn moved_keys_stay_in_order_and_replace_those_they_meet() {
        let before = timeline(&[
            ("smile", 2, 0.1),
            ("smile", 5, 0.5),
            ("smile", 8, 0.8),
            ("jaw", 5, 1.0),
        ])
        .keys;

        let (after, places) = moved(
            &before,
            &picked(&[("smile", 2), ("smile", 5)]),
            3,
            0.0,
            FREE,
        );

        assert_eq!(row(&after, "smile"), [(5, 0.1), (8, 0.5)]);
        assert_eq!(places, picked(&[("smile", 5), ("smile", 8)]));
        assert_eq!(row(&after, "jaw"), [(5, 1.0)]);

        // A key may pass another one, which keeps its frame.
        let (across, _) = moved(&before, &picked(&[("smile", 2)]), 4, 0.0, FREE);
        assert_eq!(row(&across, "smile"), [(5, 0.5), (6, 0.1), (8, 0.8)]);

        let (back, _) = moved(&across, &picked(&[("smile", 6)]), -4, 0.0, FREE);
        assert_eq!(back, before, "there and back is where it was");
    }

    #[test]
    fn moved_keys_stop_together_at_frame_zero_and_each_at_its_limits() {
        let before = timeline(&[("smile", 2, 0.1), ("smile", 5, 0.5)]).keys;
        let all = picked(&[("smile", 2), ("smile", 5)]);
        let (after, _) = moved(&before, &all, -9, 0.7, |_| [0.0, 1.0]);
        assert_eq!(row(&after, "smile"), [(0, 0.7999999999999999), (3, 1.0)]);
    }

    #[test]
    fn a_slider_without_keys_is_removed_and_keeps_its_weight() {
        let mut document = Document {
            timeline: timeline(&[("smile", 0, 0.25)]),
            ..Document::default()
        };
        document.show_frame(0.0);
        document.edit_keys(|keys| *keys = without(keys, &picked(&[("smile", 0)])));
        assert!(document.timeline.keys.is_empty());
        assert_eq!(document.character.weights["smile"], 0.25);
    }

    #[test]
    fn a_changed_curve_moves_its_own_slider_only() {
        let mut document = Document {
            timeline: timeline(&[("smile", 0, 0.0), ("smile", 10, 1.0), ("jaw", 0, 0.2)]),
            ..Document::default()
        };

        document.show_frame(10.0);
        document.character.set_weight("jaw", 0.7);
        document.edit_keys(|keys| *keys = moved(keys, &picked(&[("smile", 10)]), 0, -0.5, FREE).0);

        assert_eq!(
            document.character.weights,
            Weights::from([("jaw".into(), 0.7), ("smile".into(), 0.5)])
        );
    }

    #[test]
    fn eases_change_where_they_are_picked() {
        let keys = eased(
            &timeline(&[("smile", 0, 0.0), ("smile", 9, 1.0)]).keys,
            &picked(&[("smile", 9)]),
            Ease::Step,
        );
        assert_eq!(
            keys["smile"].iter().map(|key| key.ease).collect::<Vec<_>>(),
            [Ease::Smooth, Ease::Step]
        );
    }
}
