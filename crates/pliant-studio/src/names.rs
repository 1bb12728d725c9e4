//! Names for people: of files, and such as are unlike all others.

use std::path::Path;

/// A file by its name, for a sentence: the folder is where the person just was.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_name_stays_and_a_taken_one_gets_the_first_number_that_is_free() {
        let taken = ["press", "press 2", "press 4"];
        let free = |name: &str| free_name(name, |name| taken.contains(&name));
        assert_eq!(
            [free("pull"), free("press"), free("press 2")],
            ["pull", "press 3", "press 2 2"]
        );
    }
}
