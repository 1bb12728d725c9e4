//! Recipes in files.

use std::path::Path;

use pliant_io::read_file;

use crate::cli::report::failure::Failure;

/// The text of a recipe, and the folder that its paths are relative to; no folder means the
/// current one.
pub(crate) fn read(recipe: &Path) -> Result<(String, Option<&Path>), Failure> {
    let text = String::from_utf8(read_file(recipe)?).map_err(|error| {
        Failure::new(format!(
            "{}: {}; save the recipe as UTF-8 text",
            recipe.display(),
            error.utf8_error()
        ))
    })?;

    Ok((text, folder_of(recipe)))
}

/// The folder of a recipe; none for the current one.
pub(crate) fn folder_of(recipe: &Path) -> Option<&Path> {
    recipe
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
}
