//! The tour: five short tasks, one for each room, each with a goal that the document shows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::document::Document;
use super::room::RoomName;
use super::timeline::TakeFrames;
use super::{blend, learn, pose, touch, transfer};

/// A task of the tour.
#[derive(Debug, Clone, Copy)]
pub struct TourTask {
    /// Where it is done.
    pub room: RoomName,
    /// What is to be reached.
    pub goal: &'static str,
    /// How.
    pub how: &'static str,
    /// The document to begin with.
    pub example: fn() -> Document,
    /// Whether a document has reached it since the one before.
    pub reached: fn(before: &Document, now: &Document) -> bool,
}

/// The tasks, in the order of the rooms.
pub const TASKS: [TourTask; 5] = [
    TourTask {
        room: RoomName::Pose,
        goal: "Make the head smile on its left side",
        how: "Press on the corner of the mouth on the right of the picture, drag it up and outwards, and let go.",
        example: pose::head,
        reached: |_, now| weight_of(now, "mouthSmileLeft") >= 0.25,
    },
    TourTask {
        room: RoomName::Touch,
        goal: "Press a ball into the cheek and keep the motion",
        how: "Press on the coloured disc and drag towards the nose. Then choose Bake to take.",
        example: touch::press_a_cheek,
        reached: has_new_take,
    },
    TourTask {
        room: RoomName::Blend,
        goal: "Straighten the bar half way",
        how: "Drag the weight to the middle. On the left the linear blend loses volume, on the right the physical blend keeps it.",
        example: blend::bar_around_a_cylinder,
        reached: |before, now| {
            let half = |weight: &f64| (0.35..=0.65).contains(weight);
            before.blend.weights != now.blend.weights && now.blend.weights.iter().any(half)
        },
    },
    TourTask {
        room: RoomName::Transfer,
        goal: "Let the tapir walk like the hound",
        how: "Choose Run transfer, wait for the progress bar, and play the result with Space.",
        example: transfer::walking_tapir,
        reached: has_new_take,
    },
    TourTask {
        room: RoomName::Learn,
        goal: "Train a hand that follows its control points",
        how: "Choose Train and wait for the progress bar. Then drag a fingertip.",
        example: learn::train_a_hand_model,
        reached: |before, now| before.learn.trained.is_none() && now.learn.trained.is_some(),
    },
];

fn weight_of(document: &Document, slider: &str) -> f64 {
    let weights = &document.character.weights;
    weights.get(slider).copied().unwrap_or(0.0)
}

/// Whether a take was made.
fn has_new_take(before: &Document, now: &Document) -> bool {
    let made = |document: &Document| {
        let takes = document.timeline.takes.iter();
        takes
            .filter(|take| matches!(take.frames, TakeFrames::Made(_)))
            .count()
    };
    made(now) > made(before)
}

/// A tour in progress.
#[derive(Debug, Clone, Default)]
pub struct Tour {
    /// The task at hand, and the document with which it began.
    current: Option<(usize, Arc<Document>)>,
    /// Whether the open document is that of the task.
    open: bool,
    /// Whether the document of an earlier task is left for that of the next one.
    leaves_task: bool,
    done: BTreeSet<usize>,
}

impl Tour {
    /// The task at hand and its number; `None` while there is no tour.
    #[must_use]
    pub fn task(&self) -> Option<(usize, &'static TourTask)> {
        self.current.as_ref().map(|(k, _)| (*k, &TASKS[*k]))
    }

    /// Whether a task was done.
    #[must_use]
    pub fn is_done(&self, task: usize) -> bool {
        self.done.contains(&task)
    }

    /// Begins a task with its document.
    pub fn begin(&mut self, task: usize, document: &Document) {
        if task < TASKS.len() {
            self.leaves_task = std::mem::take(&mut self.open);
            self.current = Some((task, Arc::new(document.clone())));
        }
    }

    /// Another document was opened: that of the task, or one of the user's.
    pub fn opened(&mut self, document: &Document) {
        let before = self.current.as_ref().map(|(_, before)| before);
        self.open = before.is_some_and(|before| **before == *document);
        self.leaves_task = false;
    }

    /// Whether `next` replaces the document of an earlier task, which nobody wants to save.
    #[must_use]
    pub fn may_replace(&self, next: &Document) -> bool {
        let before = self.current.as_ref().map(|(_, before)| before);
        self.leaves_task && before.is_some_and(|before| **before == *next)
    }

    /// Ends the tour; what was done is remembered until the program ends.
    pub fn end(&mut self) {
        (self.current, self.open) = (None, false);
    }

    /// Notes whether the document has reached the goal of the task at hand.
    pub fn note(&mut self, now: &Document) {
        if let Some((k, before)) = &self.current
            && self.open
            && !self.done.contains(k)
            && (TASKS[*k].reached)(before, now)
        {
            self.done.insert(*k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::timeline::Take;

    #[test]
    fn each_room_has_one_task_that_is_open_at_its_beginning() {
        let rooms: Vec<RoomName> = TASKS.iter().map(|task| task.room).collect();
        assert_eq!(rooms, RoomName::ALL);

        for (k, task) in TASKS.iter().enumerate() {
            let document = (task.example)();
            let mut tour = Tour::default();
            tour.begin(k, &document);
            tour.opened(&document);
            tour.note(&document);
            assert!(!tour.is_done(k), "{}", task.goal);
        }
    }

    #[test]
    fn a_task_is_done_once_its_goal_is_reached_and_stays_done() {
        let mut document = pose::head();
        let mut tour = Tour::default();
        tour.begin(0, &document);
        tour.opened(&document);
        document.character.set_weight("mouthSmileLeft", 0.1);
        tour.note(&document);
        assert!(!tour.is_done(0));
        document.character.set_weight("mouthSmileLeft", 0.5);
        tour.note(&document);
        assert!(tour.is_done(0));
        tour.note(&pose::head());
        assert!(tour.is_done(0));

        let mut document = touch::press_a_cheek();
        // The next task asks nobody to save the last one; a document of the user's is asked about.
        tour.begin(1, &document);
        assert!(tour.may_replace(&document) && !tour.may_replace(&pose::head()));
        tour.opened(&document);
        document
            .timeline
            .add_take(Take::made("press", "specimen:head", &[vec![]], 24.0));
        tour.note(&document);
        assert!(tour.is_done(1));

        let mut document = blend::bar_around_a_cylinder();
        tour.begin(2, &document);
        tour.opened(&document);
        document.blend.weights = vec![0.5, 0.5];
        tour.note(&document);
        assert!(tour.is_done(2));
    }

    #[test]
    fn work_of_the_user_is_neither_judged_nor_dropped() {
        let mut tour = Tour::default();
        tour.begin(0, &pose::head());
        tour.opened(&pose::head());

        let mut own = pose::head();
        own.character.set_weight("mouthSmileLeft", 1.0);
        tour.opened(&own);
        tour.note(&own);
        assert!(!tour.is_done(0));

        let next = touch::press_a_cheek();
        tour.begin(1, &next);
        assert!(!tour.may_replace(&next));
    }
}
