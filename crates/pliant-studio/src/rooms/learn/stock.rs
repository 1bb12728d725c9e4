//! Poses by their sources, gathered beside the window and kept while the document names the same
//! ones.

use std::sync::Arc;

use super::poses::PoseSet;
use super::setup::{Details, Recipe};
use crate::command::Notice;
use crate::document::Locator;
use crate::library::{Loaded, Slot};
use crate::rooms::Cx;
use crate::work::Task;

/// The examples, and the detailed ones above them.
#[derive(Debug, Default)]
pub(super) struct Stock {
    base: Gathering,
    detailed: Gathering,
}

/// Poses of some sources, as far as they are there.
#[derive(Debug, Default)]
struct Gathering {
    sources: Vec<Locator>,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Waiting,
    Under(Option<Task<PoseSet>>),
    Here(Arc<PoseSet>),
    Failed(String),
}

impl Stock {
    /// Fetches what is there and starts what is missing.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        let recipe = &cx.document.learn.recipe;
        let detailed = match &recipe.details {
            Details::Asset(locator) => vec![locator.clone()],
            Details::None | Details::Smoothing => Vec::new(),
        };
        let sources = recipe.sources.clone();
        self.base.update(sources, cx);
        self.detailed.update(detailed, cx);
    }

    /// The examples.
    #[must_use]
    pub(super) fn poses(&self) -> Option<&Arc<PoseSet>> {
        self.base.here()
    }

    /// The detailed poses, where the recipe names some.
    #[must_use]
    pub(super) fn detailed(&self) -> Option<&Arc<PoseSet>> {
        self.detailed.here()
    }

    /// Whether all that a recipe needs is there.
    #[must_use]
    pub(super) fn ready_for(&self, recipe: &Recipe) -> bool {
        self.poses().is_some()
            && (!matches!(recipe.details, Details::Asset(_)) || self.detailed().is_some())
    }

    /// Why examples are missing.
    #[must_use]
    pub(super) fn trouble(&self) -> Option<&str> {
        [&self.base, &self.detailed]
            .into_iter()
            .find_map(|gathering| match &gathering.state {
                State::Failed(sentence) => Some(sentence.as_str()),
                State::Waiting | State::Under(_) | State::Here(_) => None,
            })
    }

    /// Whether poses are on their way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        [&self.base, &self.detailed]
            .into_iter()
            .any(|gathering| matches!(gathering.state, State::Under(Some(_))))
    }
}

impl Gathering {
    fn here(&self) -> Option<&Arc<PoseSet>> {
        match &self.state {
            State::Here(poses) => Some(poses),
            State::Waiting | State::Under(_) | State::Failed(_) => None,
        }
    }

    fn update(&mut self, sources: Vec<Locator>, cx: &mut Cx<'_>) {
        if self.sources != sources {
            *self = Self {
                sources,
                state: State::Waiting,
            };
        }
        if matches!(self.state, State::Waiting) && !self.sources.is_empty() {
            self.begin(cx);
        }
        if let State::Under(task) = &mut self.state
            && let Some(result) = Task::finished(task)
        {
            self.settle(result, cx);
        }
    }

    /// Begins once all sources are loaded.
    fn begin(&mut self, cx: &mut Cx<'_>) {
        let mut loaded: Vec<Arc<Loaded>> = Vec::new();
        for source in &self.sources {
            match cx.library.get(source) {
                Slot::Ready(asset) => loaded.push(asset),
                Slot::Loading => {}
                Slot::Failed(sentence) => return self.settle(Err(sentence), cx),
            }
        }
        if loaded.len() == self.sources.len() {
            let work = move |_: &_| PoseSet::gather(&loaded);
            self.state = State::Under(Some(Task::start("Reading examples", cx.wake.clone(), work)));
        }
    }

    fn settle(&mut self, result: Result<PoseSet, String>, cx: &mut Cx<'_>) {
        self.state = match result {
            Ok(poses) => State::Here(Arc::new(poses)),
            Err(sentence) => {
                cx.tell(Notice::trouble(sentence.clone()));
                State::Failed(sentence)
            }
        };
    }
}
