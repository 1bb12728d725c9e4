//! Outputs that would replace an input or another output, found for all commands alike.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use crate::cli::report::failure::Failure;

/// The arguments that name files to be written.
pub(crate) const OUTPUTS: [&str; 10] = [
    "confidence",
    "heatmap",
    "init",
    "out",
    "output",
    "picture",
    "reconstruction",
    "record",
    "rig_out",
    "weights_out",
];

/// Refuses an output that is an input of the same command or another output of it, by whatever
/// spelling or link.
pub(crate) fn refuse_file_conflicts(matches: &ArgMatches) -> Result<(), Failure> {
    let mut outputs: Vec<PathBuf> = Vec::new();
    let mut inputs: Vec<PathBuf> = Vec::new();
    collect(matches, &mut outputs, &mut inputs);

    for (k, output) in outputs.iter().enumerate() {
        if inputs.iter().any(|input| is_same(output, input)) {
            return Err(Failure::new(format!(
                "cannot write '{}': the result would replace the input; write to another file",
                output.display()
            )));
        }
        if outputs[..k].iter().any(|other| is_same(output, other)) {
            return Err(Failure::new(format!(
                "cannot write two results to '{}'; give each result its own file",
                output.display()
            )));
        }
    }
    Ok(())
}

fn collect(matches: &ArgMatches, outputs: &mut Vec<PathBuf>, inputs: &mut Vec<PathBuf>) {
    for id in matches.ids() {
        let values = matches.try_get_raw(id.as_str()).ok().flatten();
        let texts = values
            .into_iter()
            .flatten()
            .filter_map(|text| text.to_str());
        if OUTPUTS.contains(&id.as_str()) {
            // `MESH+ARRAY` names two files.
            outputs.extend(texts.flat_map(|text| text.split('+')).map(PathBuf::from));
        } else {
            inputs.extend(texts.flat_map(files_of));
        }
    }
    if let Some((_, command)) = matches.subcommand() {
        collect(command, outputs, inputs);
    }
}

/// The files that a locator may name: what precedes a mesh name or a frame, and a second file, which
/// may be named relative to the folder of the first.
fn files_of(locator: &str) -> Vec<PathBuf> {
    let whole = Path::new(locator).to_owned();
    let mut parts = locator.split(['#', '@', '+']);
    let first = PathBuf::from(parts.next().unwrap_or_default());
    let others = parts.flat_map(|part| [PathBuf::from(part), first.with_file_name(part)]);
    [whole, first.clone()].into_iter().chain(others).collect()
}

/// Folders hold many files, and devices are written in place.
fn is_same(output: &Path, other: &Path) -> bool {
    let is_other_kind = output.exists() && !output.is_file();
    !is_other_kind && !other.as_os_str().is_empty() && pliant_io::is_same_file(output, other)
}
