//! Work beside the window: the newest question wins, or a long task with a bar and a cancel button.
//!
//! Nothing here blocks the caller. Without the `parallel` feature, as in a browser without threads,
//! work is done where it is asked for.

mod latest;
mod task;

pub use latest::{Inbox, Latest, Outbox, Wake};
pub use task::{Task, TaskView, Watch};

/// What a panic said, as a sentence for a person.
fn panic_sentence(what: &str, panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    let said = said.unwrap_or_else(|| "no reason given".into());
    format!("{what} stopped by a fault of the program ({said}). Your document is as it was.")
}
