//! Names and reasons in messages: file names, unique names, causes of file errors.

use std::io::{self, ErrorKind};
use std::path::Path;

/// A file by its name without folder, for a message.
pub(crate) fn shown(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The name itself, or with a number where it is taken.
pub(crate) fn free_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|k| format!("{name} {k}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken(name))
        .unwrap_or_default()
}

/// An error as the text of a message.
pub(crate) fn to_message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Why a file could not be read or written, in words that follow "because".
#[must_use]
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full".into(),
        ErrorKind::PermissionDenied => "access is denied".into(),
        ErrorKind::ReadOnlyFilesystem => "the disk is read-only".into(),
        ErrorKind::NotFound => "the file or folder does not exist".into(),
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder".into(),
        ErrorKind::IsADirectory => "it is a folder".into(),
        _ => error.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_the_first_free_number() {
        let taken = ["press", "press 2", "press 4"];
        let free = |name: &str| free_name(name, |name| taken.contains(&name));
        assert_eq!(
            [free("pull"), free("press"), free("press 2")],
            ["pull", "press 3", "press 2 2"]
        );
    }
}
