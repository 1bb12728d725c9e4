//! Terminal output: results on stdout, progress and messages on stderr.

use std::collections::HashMap;
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use pliant_mesh::Progress;
use schemars::JsonSchema;
use serde::Serialize;

use super::failure::Failure;
use super::terminal_text::{message_line, result_text};

/// What `--json` prints: the report of a command, and its warnings.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommandReport<R> {
    #[serde(flatten)]
    report: R,
    /// Warnings about the input or the result.
    #[serde(rename = "problems")]
    warnings: Vec<String>,
}

/// The terminal with the global options `--json` and `--quiet`.
#[derive(Debug)]
pub(crate) struct Console {
    json: bool,
    quiet: bool,
    /// Progress is drawn by a thread of its own.
    draws_progress: bool,
    form: ProgressForm,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ProgressForm {
    /// A bar on a terminal.
    #[default]
    Bar,
    /// Lines on stderr that Open Job Description reads: openjd_progress and openjd_status.
    #[value(name = "openjd")]
    OpenJobDescription,
}

impl Console {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self {
            json,
            quiet,
            draws_progress: !quiet,
            form: ProgressForm::Bar,
        }
    }

    /// The same terminal with further options.
    pub(crate) fn with_options(&self, json: bool, quiet: bool) -> Self {
        Self {
            json: self.json || json,
            quiet: self.quiet || quiet,
            draws_progress: self.draws_progress && !quiet,
            form: self.form,
        }
    }

    /// The same terminal with another form of progress.
    pub(crate) fn with_progress(self, form: ProgressForm) -> Self {
        Self {
            draws_progress: self.draws_progress && form == ProgressForm::Bar,
            form,
            ..self
        }
    }

    /// The terminal where no further thread can be started: without progress.
    pub(crate) fn without_threads(self) -> Self {
        Self {
            draws_progress: false,
            ..self
        }
    }

    /// Prints a result that the user asked to see: one JSON object, or `text`.
    ///
    /// Warnings go to stderr, and with `--json` into the object, too.
    pub(crate) fn print_result(
        &self,
        report: &impl Serialize,
        text: &str,
        warnings: &[String],
    ) -> Result<(), Failure> {
        self.warn_all(warnings);
        self.print_report(report, text, warnings)
    }

    /// Prints a result that comes with a failure. Warnings are left out, because stderr holds
    /// the failure in exactly one line.
    pub(crate) fn print_failed_result(
        &self,
        report: &impl Serialize,
        text: &str,
    ) -> Result<(), Failure> {
        self.print_report(report, text, &[])
    }

    /// Prints the summary of a result that went to a file; `--quiet` leaves the text out.
    pub(crate) fn print_summary(
        &self,
        report: &impl Serialize,
        text: &str,
        warnings: &[String],
    ) -> Result<(), Failure> {
        self.print_result(report, if self.quiet { "" } else { text }, warnings)
    }

    fn print_report(
        &self,
        report: &impl Serialize,
        text: &str,
        warnings: &[String],
    ) -> Result<(), Failure> {
        if !self.json {
            return print(&result_text(text));
        }

        // Non-finite numbers become null, so that the output is JSON in any case.
        let object = CommandReport {
            report,
            warnings: warnings.to_vec(),
        };
        let json = serde_json::to_string(&object).expect("a report has text keys");
        print(&format!("{json}\n"))
    }

    /// Reports a warning on stderr.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            print_message(&format!("warning: {}", message_line(text)));
        }
    }

    /// Reports warnings on stderr: equal ones once, with their number, and a few of very many.
    fn warn_all(&self, warnings: &[String]) {
        let counted = count_equal(warnings);
        for (text, count) in counted.iter().take(MOST_WARNINGS) {
            match count {
                1 => self.warn(text),
                _ => self.warn(&format!("{text} ({count} times)")),
            }
        }

        if let Some(more @ 1..) = counted.len().checked_sub(MOST_WARNINGS) {
            self.warn(&format!("{more} more warnings; `--json` lists all of them"));
        }
    }

    /// Reports on stderr why the command ends.
    pub(crate) fn fail(&self, failure: &Failure) {
        print_message(&message_line(&format!("error: {failure}")));
    }

    /// A spinner with a message, for work of unknown length. It is shown until it is dropped.
    pub(crate) fn spinner(&self, message: &str) -> Spinner {
        if !self.draws_progress {
            return Spinner(ProgressBar::hidden());
        }

        let bar = ProgressBar::new_spinner().with_message(message.to_owned());
        Spinner(styled(bar, "{spinner} {msg} {elapsed:.dim}"))
    }

    /// A bar for work that reports its progress. It is shown until it is dropped.
    pub(crate) fn progress_bar(&self) -> Bar {
        let lines = (self.form == ProgressForm::OpenJobDescription).then(Mutex::default);
        let bar = if self.draws_progress {
            styled(ProgressBar::new(BAR_STEPS), "{bar:30} {msg} {elapsed:.dim}")
        } else {
            ProgressBar::hidden()
        };
        Bar { bar, lines }
    }
}

/// *Chosen*: lines of warnings that a person reads. `--json` holds all of them.
const MOST_WARNINGS: usize = 20;

/// Distinct texts in the order of their first appearance, each with its number.
fn count_equal(texts: &[String]) -> Vec<(&str, usize)> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    for text in texts {
        let place = *place_of.entry(text).or_insert(counted.len());
        match counted.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counted.push((text, 1)),
        }
    }
    counted
}

/// Resolution of a progress bar.
const BAR_STEPS: u64 = 1000;

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    bar.set_style(ProgressStyle::with_template(template).expect("a fixed template"));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// A bar, or lines, that follow reported progress.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// The last lines for Open Job Description, where these are asked for.
    lines: Option<Mutex<OpenJobDescriptionLines>>,
}

/// Lines that an Open Job Description session reads from the output of a task.
///
/// Source: Open Job Description, "How jobs are run", 2023-09: `openjd_progress: NUMBER` with a number
/// from 0 to 100, `openjd_status: TEXT`.
#[derive(Debug, Default)]
struct OpenJobDescriptionLines {
    percent: u64,
    stage: String,
}

impl OpenJobDescriptionLines {
    /// The lines that are new.
    fn next(&mut self, stage: &str, done: f64) -> Vec<String> {
        let mut lines = Vec::new();
        if self.stage != stage {
            stage.clone_into(&mut self.stage);
            self.percent = 0;
            lines.push(format!("openjd_status: {}", message_line(stage)));
        }
        let percent = (done.clamp(0.0, 1.0) * 100.0) as u64;
        if percent > self.percent {
            self.percent = percent;
            lines.push(format!("openjd_progress: {percent}"));
        }
        lines
    }
}

impl Bar {
    /// A bar that is not shown.
    pub(crate) fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            lines: None,
        }
    }
}

impl Progress for Bar {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        let step = (done.clamp(0.0, 1.0) * BAR_STEPS as f64) as u64;
        self.bar.set_position(step);
        self.bar.set_message(stage.to_owned());
        if let Some(lines) = &self.lines {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            for line in lines.next(stage, done) {
                print_message(&line);
            }
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A message that is shown while work is under way.
pub(crate) struct Spinner(ProgressBar);

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Writes to stdout. A reader that stopped reading (`pliant … | head`) is no error; a full disk
/// is one.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());

    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::about("standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Writes one line to stderr. There is nobody to tell where that fails.
pub(super) fn print_message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_lines_are_new_percents_and_new_stages() {
        let mut lines = OpenJobDescriptionLines::default();
        assert_eq!(lines.next("solving", 0.0), ["openjd_status: solving"]);
        assert_eq!(lines.next("solving", 0.126), ["openjd_progress: 12"]);
        assert!(lines.next("solving", 0.129).is_empty());
        let next = lines.next("writing", 0.5);
        assert_eq!(next, ["openjd_status: writing", "openjd_progress: 50"]);
        assert!(lines.next("writing", f64::NAN).is_empty());
    }

    #[test]
    fn equal_warnings_are_counted_and_keep_their_order() {
        let texts = ["a", "b", "a", "c", "a"].map(str::to_owned);
        assert_eq!(count_equal(&texts), [("a", 3), ("b", 1), ("c", 1)]);
    }
}
