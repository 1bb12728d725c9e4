//! Cache of example poses: loaded by a worker, kept while the document names the same sources.

use std::sync::Arc;

use super::poses::PoseSet;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::library::{AssetState, LoadedAsset};
use crate::engine::work::Task;
use crate::model::document::Locator;
use crate::model::learn::{Details, TrainingSettings};

/// The examples, and the detailed ones above them.
#[derive(Debug, Default)]
pub(crate) struct PoseCache {
    base: PoseLoading,
    detailed: PoseLoading,
}

/// Poses of some sources, as far as they are there.
#[derive(Debug, Default)]
struct PoseLoading {
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

impl PoseCache {
    /// Fetches what is there and starts what is missing.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
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
    pub(crate) fn poses(&self) -> Option<&Arc<PoseSet>> {
        self.base.loaded()
    }

    /// The detailed poses, where the recipe names some.
    #[must_use]
    pub(crate) fn detailed(&self) -> Option<&Arc<PoseSet>> {
        self.detailed.loaded()
    }

    /// Whether all that a recipe needs is there.
    #[must_use]
    pub(crate) fn ready_for(&self, recipe: &TrainingSettings) -> bool {
        self.poses().is_some()
            && (!matches!(recipe.details, Details::Asset(_)) || self.detailed().is_some())
    }

    /// Why examples are missing.
    #[must_use]
    pub(crate) fn error(&self) -> Option<&str> {
        [&self.base, &self.detailed]
            .into_iter()
            .find_map(|gathering| match &gathering.state {
                State::Failed(message) => Some(message.as_str()),
                State::Waiting | State::Under(_) | State::Here(_) => None,
            })
    }

    /// Whether poses are in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        [&self.base, &self.detailed]
            .into_iter()
            .any(|gathering| matches!(gathering.state, State::Under(Some(_))))
    }
}

impl PoseLoading {
    fn loaded(&self) -> Option<&Arc<PoseSet>> {
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
        let mut loaded: Vec<Arc<LoadedAsset>> = Vec::new();
        for source in &self.sources {
            match cx.library.get(source) {
                AssetState::Ready(asset) => loaded.push(asset),
                AssetState::Loading => {}
                AssetState::Failed(message) => return self.settle(Err(message), cx),
            }
        }

        // The poses are gathered when all sources are loaded.
        if loaded.len() == self.sources.len() {
            let work = move |_: &_| PoseSet::gather(&loaded);
            self.state = State::Under(Some(Task::start("Reading examples", cx.wake.clone(), work)));
        }
    }

    fn settle(&mut self, result: Result<PoseSet, String>, cx: &mut Cx<'_>) {
        self.state = match result {
            Ok(poses) => State::Here(Arc::new(poses)),
            Err(message) => {
                cx.notify(Notice::error(message.clone()));
                State::Failed(message)
            }
        };
    }
}
