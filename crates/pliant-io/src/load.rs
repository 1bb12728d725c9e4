//! From what a person writes to an [`Asset`].

use std::fmt;
use std::path::{Path, PathBuf};

use crate::files::BesideFile;
use crate::format::Declined;
use crate::left_out::counted;
use crate::sniff::under_wrong_name;
use crate::{Asset, Base, Format, IoError, Locator, folder, pair, read_file};

/// Built-in models, which a crate above this one makes.
pub trait Specimens {
    /// The names of all of them.
    fn names(&self) -> Vec<String>;
    /// The one of this name.
    fn specimen(&self, name: &str) -> Option<Asset>;
}

/// How to load an asset.
#[derive(Clone, Copy, Default)]
pub struct LoadOptions<'a> {
    folder: Option<&'a Path>,
    neutral: Option<&'a str>,
    specimens: Option<&'a dyn Specimens>,
    keeps_not_finite: bool,
}

impl<'a> LoadOptions<'a> {
    /// Where relative paths start. Default: where the program runs.
    #[must_use]
    pub fn with_folder(self, folder: &'a Path) -> Self {
        Self {
            folder: Some(folder),
            ..self
        }
    }

    /// The file that is the neutral of a folder of OBJs. Default:
    /// [`DEFAULT_NEUTRAL`](Self::DEFAULT_NEUTRAL).
    #[must_use]
    pub fn with_neutral(self, neutral: &'a str) -> Self {
        Self {
            neutral: Some(neutral),
            ..self
        }
    }

    /// The built-in models that `specimen:NAME` means. Default: none.
    #[must_use]
    pub fn with_specimens(self, specimens: &'a dyn Specimens) -> Self {
        Self {
            specimens: Some(specimens),
            ..self
        }
    }

    /// Lists NaN and infinity in the asset's problems instead of declining it: for reports only.
    #[must_use]
    pub fn keeping_not_finite(self) -> Self {
        Self {
            keeps_not_finite: true,
            ..self
        }
    }

    /// The neutral's file name in a folder of OBJs.
    pub const DEFAULT_NEUTRAL: &'static str = "neutral.obj";
}

impl fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LoadOptions");
        shown
            .field("folder", &self.folder)
            .field("neutral", &self.neutral);
        shown
            .field("specimens", &self.specimens.map(Specimens::names))
            .field("keeps_not_finite", &self.keeps_not_finite)
            .finish()
    }
}

/// The asset that `locator` names: a file, `file#name`, a pair, a folder, `specimen:NAME`, each
/// with `@N`.
pub fn load(locator: &str, options: &LoadOptions<'_>) -> Result<Asset, IoError> {
    let parsed = Locator::parse(locator, options.folder)?;
    let mut asset = load_base(&parsed.base, options)?;
    asset.check().map_err(|e| e.in_file(asset.shown_source()))?;
    if let Some(part) = &parsed.part {
        asset = asset.part(part)?;
    }
    if let Some(frame) = parsed.frame {
        asset = asset.at_frame(frame)?;
    }
    if !options.keeps_not_finite {
        asset.require_finite()?;
    } else if let Some(message) = asset.not_finite() {
        asset.problems.push(message);
    }
    asset.problems = counted(asset.problems);
    Ok(asset)
}

fn load_base(base: &Base, options: &LoadOptions<'_>) -> Result<Asset, IoError> {
    match base {
        Base::Specimen(name) => load_specimen(name, options),
        Base::Path(path) if path.is_dir() => folder::load(
            path,
            options.neutral.unwrap_or(LoadOptions::DEFAULT_NEUTRAL),
        ),
        Base::Path(path) => load_file(path),
        Base::Pair(first, second) => pair::load(load_file(first)?, second),
    }
}

fn load_specimen(name: &str, options: &LoadOptions<'_>) -> Result<Asset, IoError> {
    let asset = options
        .specimens
        .and_then(|s| s.specimen(name))
        .ok_or_else(|| {
            let known = options.specimens.map_or_else(Vec::new, |s| s.names());
            let known = if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            };
            IoError::NoSuchSpecimen {
                name: name.into(),
                known,
            }
        })?;
    Ok(Asset {
        source: format!("specimen:{name}"),
        ..asset
    })
}

/// One file, by the format that its ending names.
pub(crate) fn load_file(path: &Path) -> Result<Asset, IoError> {
    // What is not there is more to the point than what it would be.
    std::fs::metadata(path).map_err(|e| IoError::reading(path, e))?;
    let read = Format::reader_for(path)?;
    let bytes = read_file(path)?;
    let source = path.display().to_string();
    let mut asset = read(&bytes, &BesideFile::new(path)).map_err(|declined| match declined {
        Declined::Bytes(error) => under_wrong_name(path, &bytes)
            .unwrap_or(error)
            .in_file(&*source),
        Declined::Other(error) => error,
    })?;
    // Formats of plain lines skip what they do not know, down to nothing.
    if asset
        .objects
        .iter()
        .all(|object| object.vertex_count() == 0)
    {
        under_wrong_name(path, &bytes).map_or(Ok(()), |error| Err(error.in_file(&*source)))?;
    }
    asset.name = stem(path);
    asset
        .clips
        .iter_mut()
        .filter(|clip| clip.name.is_empty())
        .for_each(|clip| clip.name = stem(path));
    asset.source = source;
    Ok(asset)
}

/// A file's name without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The same path with the text `old` at its end replaced.
pub(crate) fn with_ending(path: &Path, old: &str, new: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{}{new}", name.strip_suffix(old).unwrap_or(&name)))
}
