//! Writing what commands make.

use std::path::{Path, PathBuf};

use pliant_io::Asset;

use super::failure::Failure;

/// Declines a path whose ending promises another format than the one of `endings` that will be written.
///
/// A path without an ending, such as a device, promises nothing.
pub(crate) fn require_ending(path: &Path, endings: &[&str]) -> Result<(), Failure> {
    let Some(ending) = path.extension() else { return Ok(()) };
    if endings.iter().any(|known| ending.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let ending = ending.to_string_lossy();
    Err(Failure::could_not(format!("'{}' cannot be written: the result is not '.{ending}'; end it with .{}", path.display(), endings[0])))
}

/// Files that are written together or not at all.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// What formats could not hold, one sentence each.
    pub(crate) problems: Vec<String>,
}

impl Outputs {
    pub(crate) fn add(&mut self, path: &Path, bytes: Vec<u8>) {
        self.files.push((path.to_owned(), bytes));
    }

    pub(crate) fn add_asset(&mut self, path: &Path, asset: &Asset) -> Result<(), Failure> {
        let (files, left_out) = pliant_io::plan_save(asset, path)?;
        self.files.extend(files);
        self.problems.extend(left_out.iter().map(|what| format!("{} leaves out {what}", path.display())));
        Ok(())
    }

    pub(crate) fn write(&self) -> Result<(), Failure> {
        Ok(pliant_io::write_files(&self.files)?)
    }
}

/// Writes one file whole or not at all.
pub(crate) fn write(path: &Path, bytes: Vec<u8>) -> Result<(), Failure> {
    Ok(pliant_io::write_files(&[(path.to_owned(), bytes)])?)
}
