//! Sentences at the bottom of the window: what was done goes by itself, trouble stays until
//! somebody puts it away.

use std::time::Duration;

use crate::command::{Mood, Notice};

/// How long a sentence that is no trouble stands there while nothing is under way, in seconds: long
/// enough to be read twice.
const LIFE_SECS: f64 = 8.0;
/// More troubles than anybody reads; the oldest go.
const MOST_TROUBLES: usize = 8;

/// What a sentence is about: it takes the place of earlier ones about the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Saving the project.
    Save,
    /// Exporting.
    Export,
    /// Loading the character.
    Rig,
    /// Unsaved work that waits.
    Recovery,
    /// Something else, beside whatever else was said.
    Other,
}

/// The sentences that stand at the bottom of the window.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// What was done or should be known, and until when it stands there.
    passing: Option<(Notice, f64)>,
    /// What did not work, the newest last.
    troubles: Vec<(Topic, Notice)>,
    /// Whether the newest sentence is a trouble.
    ends_in_trouble: bool,
    now_secs: f64,
}

impl Notices {
    /// Says something.
    pub(crate) fn tell(&mut self, topic: Topic, notice: Notice) {
        self.settle(topic);
        self.ends_in_trouble = notice.mood == Mood::Trouble;
        if self.ends_in_trouble {
            // The same trouble again is one trouble.
            self.troubles.retain(|(_, known)| *known != notice);
            self.troubles.push((topic, notice));
            let surplus = self.troubles.len().saturating_sub(MOST_TROUBLES);
            self.troubles.drain(..surplus);
        } else {
            self.passing = Some((notice, self.now_secs + LIFE_SECS));
        }
    }

    /// What was wrong about this is no longer.
    pub(crate) fn settle(&mut self, topic: Topic) {
        if topic != Topic::Other {
            self.troubles.retain(|(about, _)| *about != topic);
        }
    }

    /// Another project takes the place of this one, whose troubles go with it.
    pub(crate) fn leave_project(&mut self) {
        self.troubles.retain(|(about, _)| *about == Topic::Recovery);
    }

    /// It is `now_secs`. Returns how long the passing sentence still stands; while work is under
    /// way its time does not run.
    pub(crate) fn tick(&mut self, now_secs: f64, at_work: bool) -> Option<Duration> {
        self.now_secs = now_secs;
        if let Some((_, until)) = self.passing.as_mut().filter(|_| at_work) {
            *until = now_secs + LIFE_SECS;
        }
        self.passing.take_if(|(_, until)| *until <= now_secs);
        self.passing
            .as_ref()
            .map(|(_, until)| Duration::from_secs_f64(until - now_secs))
    }

    /// The newest sentence that stands there.
    pub(crate) fn newest(&self) -> Option<&Notice> {
        let (passing, trouble) = (self.passing(), self.trouble());
        if self.ends_in_trouble {
            trouble.or(passing)
        } else {
            passing.or(trouble)
        }
    }

    /// What was done or should be known.
    pub(crate) fn passing(&self) -> Option<&Notice> {
        self.passing.as_ref().map(|(notice, _)| notice)
    }

    /// The newest trouble.
    pub(crate) fn trouble(&self) -> Option<&Notice> {
        self.troubles.last().map(|(_, notice)| notice)
    }

    /// The troubles before the newest, the newest of them first.
    pub(crate) fn older_troubles(&self) -> impl Iterator<Item = &str> {
        self.troubles
            .iter()
            .rev()
            .skip(1)
            .map(|(_, notice)| &*notice.text)
    }

    /// Puts the newest trouble away, so that the one before is seen; where there is none, the
    /// passing sentence.
    pub(crate) fn dismiss(&mut self) {
        if self.troubles.pop().is_none() {
            self.passing = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(notices: &Notices) -> Vec<&str> {
        notices
            .trouble()
            .map(|notice| &*notice.text)
            .into_iter()
            .chain(notices.older_troubles())
            .collect()
    }

    #[test]
    fn trouble_stays_whatever_is_done_after_it_and_goes_one_by_one() {
        let mut notices = Notices::default();
        for text in ["no disk", "no rig", "no disk"] {
            notices.tell(Topic::Other, Notice::trouble(text));
        }
        notices.tell(Topic::Other, Notice::done("Opened."));
        notices.tick(1e9, false);
        assert_eq!(
            (notices.passing(), texts(&notices)),
            (None, vec!["no disk", "no rig"])
        );
        notices.dismiss();
        assert_eq!(texts(&notices), ["no rig"]);
        notices.dismiss();
        assert_eq!(notices.newest(), None);
    }

    #[test]
    fn troubles_of_a_project_go_with_it_and_work_that_waits_is_still_told() {
        let mut notices = Notices::default();
        notices.tell(Topic::Recovery, Notice::trouble("it waits"));
        notices.tell(Topic::Other, Notice::trouble("no such file"));
        notices.leave_project();
        assert_eq!(texts(&notices), ["it waits"]);
    }

    #[test]
    fn what_was_done_goes_after_its_time_which_does_not_run_during_work() {
        let mut notices = Notices::default();
        notices.tick(100.0, false);
        notices.tell(Topic::Other, Notice::done("Saved."));
        assert_eq!(
            notices.tick(100.5 + LIFE_SECS, true),
            Some(Duration::from_secs_f64(LIFE_SECS))
        );
        assert!(notices.tick(100.0 + 2.0 * LIFE_SECS, false).is_some());
        assert_eq!(
            (
                notices.tick(100.5 + 2.0 * LIFE_SECS, false),
                notices.newest()
            ),
            (None, None)
        );
    }

    #[test]
    fn a_save_that_works_settles_the_one_that_did_not() {
        let mut notices = Notices::default();
        notices.tell(Topic::Rig, Notice::trouble("no rig"));
        notices.tell(Topic::Save, Notice::trouble("no disk"));
        notices.tell(Topic::Save, Notice::done("Saved."));
        assert_eq!(
            (notices.newest(), texts(&notices)),
            (Some(&Notice::done("Saved.")), vec!["no rig"])
        );
    }

    #[test]
    fn of_many_troubles_the_newest_are_kept() {
        let mut notices = Notices::default();
        (0..20).for_each(|k| notices.tell(Topic::Other, Notice::trouble(k.to_string())));
        assert_eq!(
            texts(&notices),
            ["19", "18", "17", "16", "15", "14", "13", "12"]
        );
    }
}
