//! What a command says: results on stdout, progress and messages on stderr.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use pliant_mesh::Progress;
use serde_json::{Map, Value};

use super::failure::Failure;

/// The terminal, as the global options want it.
#[derive(Debug)]
pub(crate) struct Console {
    json: bool,
    quiet: bool,
}

impl Console {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// The result that was asked for: one JSON object, or the text for a person. Problems go into
    /// the object and to stderr.
    pub(crate) fn result(
        &self,
        mut object: Map<String, Value>,
        text: &str,
        problems: &[String],
    ) -> Result<(), Failure> {
        problems.iter().for_each(|problem| self.warn(problem));
        if self.json {
            object.insert("problems".into(), problems.to_vec().into());
            print(&format!("{}\n", Value::Object(object)))
        } else {
            print(text)
        }
    }

    /// A result that comes with a failure, which is the one line on stderr.
    pub(crate) fn result_of_failure(
        &self,
        mut object: Map<String, Value>,
        text: &str,
    ) -> Result<(), Failure> {
        object.insert("problems".into(), Vec::<String>::new().into());
        print(&if self.json {
            format!("{}\n", Value::Object(object))
        } else {
            text.to_owned()
        })
    }

    /// As [`result`](Self::result) where the result is a file and the text only says so: quiet
    /// leaves it out.
    pub(crate) fn done(
        &self,
        object: Map<String, Value>,
        text: &str,
        problems: &[String],
    ) -> Result<(), Failure> {
        self.result(object, if self.quiet { "" } else { text }, problems)
    }

    /// A message about something odd that did not stop the work.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            complain(&format!("warning: {text}"));
        }
    }

    /// Why the command ends.
    pub(crate) fn fail(&self, failure: &Failure) {
        complain(&format!("error: {failure}"));
    }

    /// A spinner with a message, shown on a terminal for as long as the result lives.
    pub(crate) fn working(&self, what: &str) -> Working {
        if self.quiet {
            return Working(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner().with_message(what.to_owned());
        bar.set_style(
            ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}")
                .expect("a fixed template"),
        );
        bar.enable_steady_tick(Duration::from_millis(100));
        Working(bar)
    }

    /// A bar for work that reports its progress, shown on a terminal for as long as it lives.
    pub(crate) fn progress(&self) -> Bar {
        if self.quiet {
            return Bar(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(1000);
        bar.set_style(
            ProgressStyle::with_template("{bar:30} {msg} {elapsed:.dim}")
                .expect("a fixed template"),
        );
        bar.enable_steady_tick(Duration::from_millis(100));
        Bar(bar)
    }
}

/// A bar that follows reported progress.
pub(crate) struct Bar(ProgressBar);

impl Progress for Bar {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        self.0.set_position((done.clamp(0.0, 1.0) * 1000.0) as u64);
        self.0.set_message(stage.to_owned());
        ControlFlow::Continue(())
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Work under way; its message goes when it is dropped.
pub(crate) struct Working(ProgressBar);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Writes to standard output. A reader that has gone away (`pliant … | head`) is no error, a full
/// disk is.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::about("standard output", &error))
        }
        _ => Ok(()),
    }
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
