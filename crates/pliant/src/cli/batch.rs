//! Lists of files: one after another, each by itself, with a table at the end.
//!
//! A file that cannot be used does not stop the others. The command fails in the end if any did.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_mesh::Progress as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::path_text;

/// What happened to the files of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BatchReport {
    /// Files that were done.
    done: usize,
    /// Files that could not be done.
    failed: usize,
    /// Every file, in the order of the list.
    files: Vec<BatchFile>,
}

/// What happened to one file.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchFile {
    /// The file or asset of the list.
    input: String,
    /// The file that was written; null where the work failed.
    out: Option<String>,
    /// Why the work failed; null where it was done.
    error: Option<String>,
    /// Warnings about the file.
    warnings: Vec<String>,
    /// Time, in milliseconds.
    ms: f64,
}

/// The output of each input: its name with another ending, in `folder`.
///
/// Two inputs with one output are refused before anything is done.
pub(crate) fn outputs_in(
    folder: &Path,
    ending: &str,
    inputs: &[String],
) -> Result<Vec<PathBuf>, Failure> {
    let mut outputs = Vec::with_capacity(inputs.len());
    let mut input_of: HashMap<PathBuf, &String> = HashMap::new();
    for input in inputs {
        let out = folder.join(format!("{}.{ending}", name_of(input)));
        if let Some(other) = input_of.insert(out.clone(), input) {
            return Err(Failure::usage(format!(
                "'{other}' and '{input}' would both be written to '{}'; give them to two commands",
                out.display()
            )));
        }
        outputs.push(out);
    }
    Ok(outputs)
}

/// The name of an asset for its output: that of its file, and the part or frame in it.
fn name_of(input: &str) -> String {
    let path = Path::new(input);
    let (file, part) = match input.split_once(['#', '@']) {
        Some((file, part)) if !path.exists() => (Path::new(file), Some(part)),
        _ => (path, None),
    };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_prefix("specimen:").unwrap_or(&stem).to_owned();
    let name = match part {
        Some(part) => format!("{stem}.{part}"),
        None => stem,
    };
    name.replace(['/', '\\', ':', '+'], "-")
}

/// Does `work` for every input; it returns the warnings about the file that it wrote. `report_of`
/// makes the report of the command.
pub(crate) fn run_batch<R: Serialize>(
    inputs: &[String],
    outputs: &[PathBuf],
    console: &Console,
    report_of: impl FnOnce(BatchReport) -> R,
    work: impl Fn(&str, &Path) -> Result<Vec<String>, Failure>,
) -> Result<(), Failure> {
    let folder = outputs.first().and_then(|out| out.parent());
    if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::new(format!(
                "cannot make the folder '{}': {error}",
                folder.display()
            ))
        })?;
    }

    let bar = console.progress_bar();
    let mut files = Vec::with_capacity(inputs.len());
    for (k, (input, out)) in inputs.iter().zip(outputs).enumerate() {
        let _ = bar.report(input, k as f64 / inputs.len() as f64);
        let start = Instant::now();
        // A defect that one file uncovers does not stop the others either.
        let result = catch_unwind(AssertUnwindSafe(|| work(input, out)))
            .unwrap_or_else(|_| Err(Failure::new("a defect of pliant; please report it")));
        files.push(BatchFile::new(
            input,
            out,
            result,
            milliseconds_since(start),
        ));
    }
    drop(bar);

    let failed = files.iter().filter(|file| file.error.is_some()).count();
    let report = BatchReport {
        done: files.len() - failed,
        failed,
        files,
    };
    let table = report.table();
    if failed == 0 {
        return console.print_summary(&report_of(report), &table, &[]);
    }
    let failure = report.failure();
    console.print_failed_result(&report_of(report), &table)?;
    Err(failure)
}

impl BatchFile {
    fn new(input: &str, out: &Path, result: Result<Vec<String>, Failure>, ms: f64) -> Self {
        let (warnings, error) = match result {
            Ok(warnings) => (warnings, None),
            Err(failure) => (Vec::new(), Some(failure.to_string())),
        };
        Self {
            input: input.to_owned(),
            out: error.is_none().then(|| path_text(out)),
            error,
            warnings,
            ms,
        }
    }
}

impl BatchReport {
    /// A line for each file.
    fn table(&self) -> String {
        let width = self.files.iter().map(|file| file.input.chars().count());
        let width = width.max().unwrap_or(0).min(40);
        let mut text = String::new();
        for file in &self.files {
            let input = &file.input;
            let _ = match (&file.out, &file.error) {
                (Some(out), _) => {
                    let warnings = match file.warnings.len() {
                        0 => String::new(),
                        1 => "  1 warning".into(),
                        count => format!("  {count} warnings"),
                    };
                    writeln!(text, "done    {input:width$}  {out}{warnings}")
                }
                (None, error) => {
                    let error = error.as_deref().unwrap_or_default();
                    writeln!(text, "failed  {input:width$}  {error}")
                }
            };
        }
        let _ = writeln!(text, "{} done, {} failed", self.done, self.failed);
        text
    }

    fn failure(&self) -> Failure {
        let mut failed = self.files.iter().filter(|file| file.error.is_some());
        let first = failed.next().map_or("", |file| &file.input);
        let others = match self.failed {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        Failure::new(format!(
            "{} of {} files failed: '{first}'{others}; the table says why",
            self.failed,
            self.files.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_have_the_names_of_their_inputs_and_no_two_are_equal() {
        let inputs = ["a/x.obj", "b.glb#head", "specimen:hand"].map(str::to_owned);
        let outputs = outputs_in(Path::new("out"), "glb", &inputs).unwrap();
        let names: Vec<String> = outputs.iter().map(|path| path_text(path)).collect();
        assert_eq!(names, ["out/x.glb", "out/b.head.glb", "out/hand.glb"]);

        let twice = ["a/x.obj", "b/x.ply"].map(str::to_owned);
        let failure = outputs_in(Path::new("out"), "glb", &twice).unwrap_err();
        assert!(failure.to_string().contains("'a/x.obj' and 'b/x.ply'"));
    }
}
