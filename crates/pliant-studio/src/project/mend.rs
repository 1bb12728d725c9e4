//! What a project's file may say but no document may hold: numbers that everything else takes for granted.

use crate::document::Document;
use crate::timeline::Timeline;

/// Longer than any shot; a timeline beyond it could not be drawn.
const MAX_FRAME: u32 = 1_000_000;

/// Sets right what no document may hold, and says what it was.
pub(super) fn mend(document: &mut Document) -> Vec<String> {
    let mut mended = Vec::new();
    if mend_timeline(&mut document.timeline) {
        mended.push("the timeline's numbers were set right".into());
    }
    let count = document.character.added.len();
    document.character.added.retain(|target| target.vertices.len() == target.deltas.len());
    if document.character.added.len() < count {
        mended.push("an added target that is not whole was left out".into());
    }
    mended
}

/// Keys ascend, each frame has one, and time runs.
fn mend_timeline(timeline: &mut Timeline) -> bool {
    let before = timeline.clone();
    let runs = |rate: f64| rate.is_finite() && (0.01..=10_000.0).contains(&rate);
    if !runs(timeline.frames_per_second) {
        timeline.frames_per_second = Timeline::default().frames_per_second;
    }
    timeline.last_frame = timeline.last_frame.min(MAX_FRAME);
    for keys in timeline.keys.values_mut() {
        keys.sort_by_key(|key| key.frame);
        keys.dedup_by_key(|key| key.frame);
    }
    for take in timeline.takes.iter_mut().filter(|take| !runs(take.frames_per_second)) {
        take.frames_per_second = Timeline::default().frames_per_second;
    }
    *timeline != before
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::document::AddedTarget;
    use crate::timeline::{Ease, Key};

    #[test]
    fn a_sound_document_stays_and_a_wild_one_becomes_sound() {
        let mut document = Document::default();
        document.timeline.set_key("smile", 3, 0.5);
        let sound = document.clone();
        assert_eq!((mend(&mut document), &document), (vec![], &sound));
        document.timeline.keys.insert("jaw".into(), [9, 2, 9].map(|frame| Key { frame, weight: 1.0, ease: Ease::Linear }).to_vec());
        document.timeline.frames_per_second = -0.0;
        document.timeline.last_frame = u32::MAX;
        document.character.added.push(AddedTarget { name: "half".into(), vertices: Arc::new(vec![1, 2]), deltas: Arc::default() });
        assert_eq!(mend(&mut document).len(), 2);
        assert_eq!(document.timeline.keys["jaw"].iter().map(|key| key.frame).collect::<Vec<_>>(), [2, 9]);
        assert!(document.character.added.is_empty() && document.timeline.frames_per_second > 0.0);
    }
}
