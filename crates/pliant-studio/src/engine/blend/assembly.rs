//! Progress of the assembly of the springs, with a way to cancel it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::context::Cx;
use crate::engine::work::{Wake, Watch};

/// The progress of the worker, shared with the room.
#[derive(Debug, Clone, Default)]
pub(crate) struct AssemblyProgress {
    started: Arc<Mutex<Option<Arc<Watch>>>>,
}

impl AssemblyProgress {
    /// Starts a task that the room can show.
    pub(crate) fn begin(&self, wake: &Wake) -> Arc<Watch> {
        let watch = Arc::new(Watch::new("Assembling springs", wake.clone()));
        *self.started.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.clone());
        watch
    }

    /// Shows the progress bar of a running assembly; most requests need none.
    pub(crate) fn show(&self, cx: &mut Cx<'_>) {
        let started = self
            .started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        cx.watches.extend(started.filter(|watch| !watch.over()));
    }
}
