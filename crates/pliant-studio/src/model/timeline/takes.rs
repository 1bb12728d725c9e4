//! Which take a room plays, and how long it is.

use pliant::io::Animation;

use crate::model::document::Document;
use crate::model::room::RoomName;

impl Document {
    /// The take that plays instead of the keys in a room: one of the document's, or a clip of the
    /// character's file.
    #[must_use]
    pub fn take_shown_in(&self, room: RoomName) -> Option<&str> {
        let name = self.timeline.playing_take.as_deref()?;
        let of = self.timeline.take(name).map(|take| &*take.of);
        let is_shown = match room {
            RoomName::Pose | RoomName::Touch => of.is_none_or(|of| of == self.character.asset),
            RoomName::Blend => true,
            // These rooms show their own animations over the whole timeline.
            RoomName::Transfer | RoomName::Learn => false,
        };
        is_shown.then_some(name)
    }

    /// The last frame that there is to see in a room, in frames of the timeline: of its keys, or of
    /// the take in their place, which may be one of `clips`, those of the character's file.
    /// `None` for a take that is not known.
    #[must_use]
    pub fn last_frame_in(&self, room: RoomName, clips: &[Animation]) -> Option<u32> {
        let timeline = &self.timeline;
        let Some(name) = self.take_shown_in(room) else {
            return Some(timeline.last_frame);
        };

        let made = timeline
            .take(name)
            .map(|take| (take.frame_count as usize, take.frames_per_second));
        let clip = clips
            .iter()
            .find(|clip| clip.name == name)
            .map(|clip| (clip.frame_count, clip.frames_per_second));

        // A take of the document hides a clip of the same name.
        made.or(clip)
            .map(|(count, rate)| timeline.frames_of(count, rate))
    }
}
