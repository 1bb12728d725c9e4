//! Files that a room inspects before they enter the document.

use std::path::Path;

use super::command::Notice;
use super::context::Cx;
use super::work::Task;

/// Files that wait for a worker, and the worker that inspects them. Files that arrive in one frame
/// are inspected together, so that they become one step of the history.
#[derive(Debug)]
pub(crate) struct FileQueue<F, R> {
    waiting: Vec<F>,
    task: Option<Task<R>>,
}

impl<F, R> Default for FileQueue<F, R> {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            task: None,
        }
    }
}

impl<F, R: Send + 'static> FileQueue<F, R> {
    /// Adds a file; it is inspected from the next frame on.
    pub(crate) fn push(&mut self, file: F) {
        self.waiting.push(file);
    }

    /// Whether files wait or are inspected.
    pub(crate) fn busy(&self) -> bool {
        self.task.is_some() || !self.waiting.is_empty()
    }

    /// Starts to inspect the waiting files with the work that `inspection` returns for them, unless
    /// others are being inspected.
    pub(crate) fn start<W>(&mut self, cx: &Cx<'_>, inspection: impl FnOnce(Vec<F>) -> W)
    where
        W: FnOnce() -> R + Send + 'static,
    {
        if self.task.is_none() && !self.waiting.is_empty() {
            let work = inspection(std::mem::take(&mut self.waiting));
            let task = Task::start("Reading files", cx.wake.clone(), move |_| Ok(work()));
            self.task = Some(task);
        }
    }

    /// The result of an inspection that ended in this frame; an error becomes a notice.
    pub(crate) fn fetch(&mut self, cx: &mut Cx<'_>) -> Option<R> {
        match Task::finished(&mut self.task)? {
            Ok(result) => Some(result),
            Err(message) => {
                cx.notify(Notice::error(message));
                None
            }
        }
    }
}

/// One notice about several files: what was added, then what was declined.
pub(crate) fn summary(done: &[String], declined: &[String]) -> Notice {
    let messages: Vec<&str> = done.iter().chain(declined).map(String::as_str).collect();
    let text = messages.join(" ");
    if declined.is_empty() {
        Notice::done(text)
    } else {
        Notice::error(text)
    }
}

/// A path as text, as a locator needs it.
///
/// # Errors
/// A message for a path that is not valid Unicode.
pub(crate) fn path_text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| {
        format!(
            "The name of '{}' is not valid Unicode text; rename the file.",
            path.display()
        )
    })
}
