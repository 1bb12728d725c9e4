//! Notices at the bottom of the window: results disappear after a time, errors stay until
//! dismissed.

use std::time::Duration;

use crate::engine::command::{Notice, Severity};

/// How long a notice that is no error is shown while nothing is in progress, in seconds: long
/// enough to be read twice.
const LIFE_SECS: f64 = 8.0;
/// More errors than anybody reads; the oldest go.
const MOST_ERRORS: usize = 8;

/// What a message is about: it replaces earlier ones about the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Saving the project.
    Save,
    /// Exporting.
    Export,
    /// Loading the character.
    Rig,
    /// Unsaved work to be opened.
    Recovery,
    /// A message that replaces no other.
    Other,
}

/// The messages at the bottom of the window.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Information for the user, and until when it is shown.
    passing: Option<(Notice, f64)>,
    /// What did not work, the newest last.
    errors: Vec<(Topic, Notice)>,
    /// Whether the newest notice is an error.
    ends_in_error: bool,
    now_secs: f64,
}

impl Notices {
    /// Adds a notice.
    pub(crate) fn notify(&mut self, topic: Topic, notice: Notice) {
        self.settle(topic);
        self.ends_in_error = notice.severity == Severity::Error;
        if self.ends_in_error {
            // The same error again is one error.
            self.errors.retain(|(_, known)| *known != notice);
            self.errors.push((topic, notice));
            let surplus = self.errors.len().saturating_sub(MOST_ERRORS);
            self.errors.drain(..surplus);
        } else {
            self.passing = Some((notice, self.now_secs + LIFE_SECS));
        }
    }

    /// Removes notices about a topic that is resolved.
    pub(crate) fn settle(&mut self, topic: Topic) {
        if topic != Topic::Other {
            self.errors.retain(|(about, _)| *about != topic);
        }
    }

    /// Another project replaces this one, whose errors go with it.
    pub(crate) fn leave_project(&mut self) {
        self.errors.retain(|(about, _)| *about == Topic::Recovery);
    }

    /// It is `now_secs`. Returns how long the passing message still stands; while work is in
    /// progress its time does not run.
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

    /// The newest message that stands there.
    pub(crate) fn newest(&self) -> Option<&Notice> {
        let passing = self.passing();
        let error = self.error();
        if self.ends_in_error {
            error.or(passing)
        } else {
            passing.or(error)
        }
    }

    /// Information for the user.
    pub(crate) fn passing(&self) -> Option<&Notice> {
        self.passing.as_ref().map(|(notice, _)| notice)
    }

    /// The newest error.
    pub(crate) fn error(&self) -> Option<&Notice> {
        self.errors.last().map(|(_, notice)| notice)
    }

    /// The errors before the newest, the newest of them first.
    pub(crate) fn older_errors(&self) -> impl Iterator<Item = &str> {
        self.errors
            .iter()
            .rev()
            .skip(1)
            .map(|(_, notice)| &*notice.text)
    }

    /// Puts the newest error away, so that the one before is seen; where there is none, the passing
    /// message.
    pub(crate) fn dismiss(&mut self) {
        if self.errors.pop().is_none() {
            self.passing = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(notices: &Notices) -> Vec<&str> {
        notices
            .error()
            .map(|notice| &*notice.text)
            .into_iter()
            .chain(notices.older_errors())
            .collect()
    }

    #[test]
    fn errors_stay_until_they_are_dismissed_one_by_one() {
        let mut notices = Notices::default();
        for text in ["no disk", "no rig", "no disk"] {
            notices.notify(Topic::Other, Notice::error(text));
        }

        notices.notify(Topic::Other, Notice::done("Opened."));
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
    fn errors_of_a_project_end_with_it_and_recovery_notices_stay() {
        let mut notices = Notices::default();
        notices.notify(Topic::Recovery, Notice::error("it waits"));
        notices.notify(Topic::Other, Notice::error("no such file"));
        notices.leave_project();
        assert_eq!(texts(&notices), ["it waits"]);
    }

    #[test]
    fn results_disappear_after_a_time_that_pauses_during_work() {
        let mut notices = Notices::default();
        notices.tick(100.0, false);
        notices.notify(Topic::Other, Notice::done("Saved."));

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
    fn a_successful_save_removes_the_error_of_a_failed_one() {
        let mut notices = Notices::default();
        notices.notify(Topic::Rig, Notice::error("no rig"));
        notices.notify(Topic::Save, Notice::error("no disk"));
        notices.notify(Topic::Save, Notice::done("Saved."));
        assert_eq!(
            (notices.newest(), texts(&notices)),
            (Some(&Notice::done("Saved.")), vec!["no rig"])
        );
    }

    #[test]
    fn only_the_newest_errors_are_kept() {
        let mut notices = Notices::default();
        for k in 0..20 {
            notices.notify(Topic::Other, Notice::error(k.to_string()));
        }
        assert_eq!(
            texts(&notices),
            ["19", "18", "17", "16", "15", "14", "13", "12"]
        );
    }
}
