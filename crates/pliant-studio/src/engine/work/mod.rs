//! Background work: workers that serve the newest request, and long tasks that can be cancelled.
//!
//! Nothing here blocks the caller. Where no thread can be started, as in a browser that shares no
//! memory, the work is done at the call.

pub mod host;
mod latest;
mod task;

pub use latest::{Inbox, Latest, Outbox, Wake};
pub use task::{Task, TaskView, Watch};

/// The text of a panic, as a message for the user.
fn panic_message(what: &str, panic: &(dyn std::any::Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    let message = message.unwrap_or_else(|| "no reason given".into());
    format!("{what} stopped because of a program error ({message}). The document is unchanged.")
}
