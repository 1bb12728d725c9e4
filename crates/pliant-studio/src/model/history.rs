//! Undo and redo: one gesture is one step.
//!
//! The history stores whole documents, which share unchanged data. An [`Edit`] of the gesture that
//! made the latest step joins that step. A gesture is everything from one press of a button or key
//! to the next, however late the result of a worker arrives.

use super::document::Document;

/// A change of the document, and what it is called in the menu.
pub struct Edit {
    /// Its name in the Edit menu, such as `Move pin`.
    pub label: String,
    /// The gesture it belongs to; `None` for one that stands alone.
    pub gesture: Option<u64>,
    /// What changes.
    pub change: Box<dyn FnOnce(&mut Document) + Send>,
}

impl std::fmt::Debug for Edit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edit")
            .field("label", &self.label)
            .field("gesture", &self.gesture)
            .finish_non_exhaustive()
    }
}

/// A document with its past and its future.
#[derive(Debug, Default)]
pub struct History {
    present: Document,
    past: Vec<Step>,
    future: Vec<Step>,
    /// The gesture of the latest step, while it may still grow.
    open: Option<(u64, String)>,
    revision: u64,
}

/// A document before (in the past) or after (in the future) a change of this name.
#[derive(Debug)]
struct Step {
    label: String,
    document: Document,
}

impl History {
    /// A document without a past.
    #[must_use]
    pub fn new(document: Document) -> Self {
        Self {
            present: document,
            ..Self::default()
        }
    }

    /// The current document.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.present
    }

    /// A number that changes with each edit.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Makes a change. One that changes nothing leaves no step.
    pub fn apply(&mut self, edit: Edit) {
        let joins = edit.gesture.is_some_and(|gesture| {
            self.open
                .as_ref()
                .is_some_and(|(g, label)| (*g, label) == (gesture, &edit.label))
        });
        let before = self.present.clone();

        (edit.change)(&mut self.present);
        // A drag that returns to its start leaves no step.
        if self.present == before {
            return;
        }

        self.revision += 1;
        self.future.clear();
        // The first edit of a gesture makes the step; the others only change the present.
        if !joins {
            self.past.push(Step {
                label: edit.label.clone(),
                document: before,
            });
            self.open = edit.gesture.map(|gesture| (gesture, edit.label));
        }
    }

    /// Makes a change as a part of the latest step, if `gesture` made that and it may still grow: a
    /// worker's result for it.
    pub fn apply_to_open(&mut self, gesture: u64, change: impl FnOnce(&mut Document)) {
        if self.open.as_ref().is_some_and(|(open, _)| *open == gesture) {
            change(&mut self.present);
            self.revision += 1;
        }
    }

    /// Shows another frame of the document, such as the weights at another time; this is no edit.
    pub fn show(&mut self, change: impl FnOnce(&mut Document)) {
        change(&mut self.present);
    }

    /// The name of the step that undo reverts.
    #[must_use]
    pub fn undo_label(&self) -> Option<&str> {
        self.past.last().map(|step| &*step.label)
    }

    /// The name of the step that redo repeats.
    #[must_use]
    pub fn redo_label(&self) -> Option<&str> {
        self.future.last().map(|step| &*step.label)
    }

    /// Undoes the latest step.
    pub fn undo(&mut self) {
        if let Some(step) = self.past.pop() {
            let document = std::mem::replace(&mut self.present, step.document);
            self.future.push(Step {
                label: step.label,
                document,
            });
            self.settle();
        }
    }

    /// Redoes the step that was undone last.
    pub fn redo(&mut self) {
        if let Some(step) = self.future.pop() {
            let document = std::mem::replace(&mut self.present, step.document);
            self.past.push(Step {
                label: step.label,
                document,
            });
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.open = None;
        self.revision += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight_edit(label: &str, gesture: Option<u64>, weight: f64) -> Edit {
        Edit {
            label: label.into(),
            gesture,
            change: Box::new(move |d| d.character.set_weight("smile", weight)),
        }
    }

    fn weight(history: &History) -> f64 {
        history
            .document()
            .character
            .weights
            .get("smile")
            .copied()
            .unwrap_or(0.0)
    }

    #[test]
    fn each_gesture_is_one_undo_step() {
        let mut history = History::default();
        for (gesture, value) in [(1, 0.1), (1, 0.2), (1, 0.3), (2, 0.4), (2, 0.5)] {
            history.apply(weight_edit("Move", Some(gesture), value));
        }

        history.undo();
        assert_eq!(weight(&history), 0.3);
        history.undo();

        assert_eq!((weight(&history), history.undo_label()), (0.0, None));
        history.redo();
        history.redo();

        assert_eq!((weight(&history), history.redo_label()), (0.5, None));
    }

    #[test]
    fn an_edit_after_undo_starts_a_new_step_and_clears_redo() {
        let mut history = History::default();
        history.apply(weight_edit("Move", Some(1), 0.1));
        history.apply(weight_edit("Move", Some(2), 0.2));
        history.undo();
        history.apply(weight_edit("Move", Some(2), 0.9));
        assert_eq!(history.redo_label(), None);
        history.undo();
        assert_eq!(weight(&history), 0.1);
    }

    #[test]
    fn an_edit_without_effect_makes_no_step() {
        let mut history = History::default();
        history.apply(weight_edit("Move", None, 0.0));
        assert_eq!((history.undo_label(), history.revision()), (None, 0));
    }

    #[test]
    fn a_thousand_steps_are_undone_one_by_one() {
        let mut history = History::default();
        for k in 1..=1000 {
            history.apply(weight_edit("Move", None, k as f64));
        }
        for k in (0..1000).rev() {
            history.undo();
            assert_eq!(weight(&history), k as f64);
        }
    }
}
