//! Springs that are being joined: a bar for them, and a button that ends it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::rooms::Cx;
use crate::work::{Wake, Watch};

/// Where the worker shows how far it is, and the room finds it. Both have the same one.
#[derive(Debug, Clone, Default)]
pub(super) struct Joining {
    begun: Arc<Mutex<Option<Arc<Watch>>>>,
}

impl Joining {
    /// Work that the room may show from now on.
    pub(super) fn begin(&self, wake: &Wake) -> Arc<Watch> {
        let watch = Arc::new(Watch::new("Joining shapes", wake.clone()));
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.clone());
        watch
    }

    /// Shows the bar of work that was begun and is not over: most questions need none.
    pub(super) fn show(&self, cx: &mut Cx<'_>) {
        let begun = self
            .begun
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        cx.watches.extend(begun.filter(|watch| !watch.over()));
    }
}
