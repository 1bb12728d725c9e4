//! Writing what commands make.

use std::path::Path;

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

/// Writes one file whole or not at all.
pub(crate) fn write(path: &Path, bytes: Vec<u8>) -> Result<(), Failure> {
    Ok(pliant_io::write_files(&[(path.to_owned(), bytes)])?)
}
