//! Recipes on disk.

use std::path::Path;

use pliant_io::read_file;

use super::failure::Failure;

/// The text of a recipe, and the folder that its paths start at; none for the one we are in.
pub(crate) fn read(recipe: &Path) -> Result<(String, Option<&Path>), Failure> {
    let text = String::from_utf8(read_file(recipe)?).map_err(|error| {
        Failure::could_not(format!(
            "{}: {}; save it as UTF-8 text",
            recipe.display(),
            error.utf8_error()
        ))
    })?;
    Ok((
        text,
        recipe
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty()),
    ))
}
