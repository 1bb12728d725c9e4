//! Writing what commands make.

use std::path::{Path, PathBuf};

use pliant_io::{Asset, Format};

use super::failure::Failure;

/// Declines a path whose ending promises another format than the one of `endings` that will be
/// written.
///
/// A path without an ending, such as a device, promises nothing.
pub(crate) fn require_ending(path: &Path, endings: &[&str]) -> Result<(), Failure> {
    let Some(ending) = path.extension() else {
        return Ok(());
    };
    if endings
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
    {
        return Ok(());
    }
    let ending = ending.to_string_lossy();
    let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    let good = endings.join(" or ");
    Err(Failure::could_not(format!(
        "'{}' cannot be written: the result is not '.{ending}'; end it with {good}",
        path.display()
    )))
}

/// Declines a path whose format has no place for a clip.
pub(crate) fn require_clip_format(path: &Path) -> Result<(), Failure> {
    require_format(path, "a clip", Format::holds_clips)
}

/// Declines a path whose format has no place for targets.
pub(crate) fn require_rig_format(path: &Path) -> Result<(), Failure> {
    let is_pair = path.to_string_lossy().contains('+');
    if is_pair {
        Ok(())
    } else {
        require_format(path, "targets", Format::holds_targets)
    }
}

fn require_format(path: &Path, what: &str, holds: fn(Format) -> bool) -> Result<(), Failure> {
    if Format::of(path).is_none_or(holds) {
        return Ok(());
    }
    let good = Format::ALL
        .into_iter()
        .filter(|format| format.can_write() && holds(*format));
    let endings: Vec<String> = good.map(|format| format!(".{}", format.ending())).collect();
    Err(Failure::could_not(format!(
        "'{}' cannot hold {what}; end it with {}",
        path.display(),
        endings.join(", ")
    )))
}

/// Declines an output that would replace the asset it comes from by something poorer.
pub(crate) fn require_other_than(path: &Path, locator: &str) -> Result<(), Failure> {
    let input = locator.split(['#', '@', '+']).next().unwrap_or_default();
    match (path.canonicalize(), Path::new(input).canonicalize()) {
        (Ok(out), Ok(input)) if out == input => {
            let message = format!(
                "'{}' is the rig itself, which a posed mesh would replace; write to another file",
                path.display()
            );
            Err(Failure::could_not(message))
        }
        _ => Ok(()),
    }
}

/// Files that are written together or not at all.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// What formats could not hold.
    pub(crate) left_out: Vec<String>,
    /// The same, one sentence each.
    pub(crate) problems: Vec<String>,
}

impl Outputs {
    pub(crate) fn add(&mut self, path: &Path, bytes: Vec<u8>) {
        self.files.push((path.to_owned(), bytes));
    }

    pub(crate) fn add_asset(&mut self, path: &Path, asset: &Asset) -> Result<(), Failure> {
        let (files, left_out) = pliant_io::plan_save(asset, path)?;
        self.files.extend(files);
        self.problems.extend(
            left_out
                .iter()
                .map(|what| format!("{} leaves out {what}", path.display())),
        );
        self.left_out.extend(left_out);
        Ok(())
    }

    pub(crate) fn write(&self) -> Result<(), Failure> {
        let twice = (0..self.files.len()).find(|&k| {
            self.files[..k]
                .iter()
                .any(|(path, _)| *path == self.files[k].0)
        });
        if let Some(k) = twice {
            let path = self.files[k].0.display();
            return Err(Failure::could_not(format!(
                "two results would be written to '{path}'; give each a file of its own"
            )));
        }
        Ok(pliant_io::write_files(&self.files)?)
    }
}

/// Writes one file whole or not at all.
pub(crate) fn write(path: &Path, bytes: Vec<u8>) -> Result<(), Failure> {
    Ok(pliant_io::write_files(&[(path.to_owned(), bytes)])?)
}
