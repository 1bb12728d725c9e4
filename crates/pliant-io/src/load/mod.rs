//! Loading: from a locator to an [`Asset`].
//!
//! | module | concept |
//! |---|---|
//! | `locator` | the text that names an asset, such as `head.glb#walk@12` |
//! | `folder` | a folder of OBJs or MakeHuman targets as a rig |
//! | `pair` | a mesh and a second file with its targets or frames |

mod folder;
mod locator;
mod pair;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub use self::locator::{Locator, LocatorBase};
use crate::file_names::stem;
use crate::files::{FolderFiles, finish_interrupted_writes, is_folder, require_existing};
use crate::formats::{ReadFailure, with_repeat_counts, wrong_ending_error};
use crate::parse::finite::NotFinite;
use crate::parse::memory;
use crate::{Asset, Format, IoError, ReadError, gltf, read_file};

/// Built-in models, which a crate above this one provides.
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
    /// The folder of relative paths. Default: the working directory.
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

    /// Reports NaN and infinity as warnings instead of errors, and loads files without a vertex. For
    /// reports only.
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
    let (asset, frame) = load_whole(locator, options)?;
    match frame {
        Some(frame) => checked(asset.at_frame(frame)?, options),
        None => checked(asset, options),
    }
}

/// Like [`load`], with a frame `@N` beside the whole asset, so that targets and skins stay.
/// [`Asset::pose_at`] then gives the pose.
pub fn load_with_frame(
    locator: &str,
    options: &LoadOptions<'_>,
) -> Result<(Asset, Option<usize>), IoError> {
    let (asset, frame) = load_whole(locator, options)?;
    Ok((checked(asset, options)?, frame))
}

/// The asset and the part of a locator, and its frame beside it.
fn load_whole(locator: &str, options: &LoadOptions<'_>) -> Result<(Asset, Option<usize>), IoError> {
    // First the whole asset, then the part, whose clip the frame is of.
    let parsed = Locator::parse(locator, options.folder)?;
    let mut asset = load_base(&parsed.base, options)?;
    asset.check().map_err(|e| e.in_file(asset.display_name()))?;
    if let Some(part) = &parsed.part {
        asset = asset.part(part)?;
    }
    Ok((asset, parsed.frame))
}

/// The asset without NaN and infinity, and with its warnings counted.
fn checked(mut asset: Asset, options: &LoadOptions<'_>) -> Result<Asset, IoError> {
    if !options.keeps_not_finite {
        asset.require_finite()?;
        require_vertices(&asset)?;
    } else {
        let places = asset.not_finite_places(NotFinite::MOST_PLACES);
        asset.warnings.extend(places);
    }

    asset.warnings = with_repeat_counts(asset.warnings);
    Ok(asset)
}

/// Rejects a file with nothing to work on: an exporter that failed leaves such a file.
fn require_vertices(asset: &Asset) -> Result<(), IoError> {
    if asset.objects.iter().any(|object| object.vertex_count() > 0) {
        return Ok(());
    }
    let error = ReadError::whole("it holds no vertex; export it again with a mesh");
    Err(error.in_file(asset.display_name()))
}

fn load_base(base: &LocatorBase, options: &LoadOptions<'_>) -> Result<Asset, IoError> {
    match base {
        LocatorBase::Specimen(name) => load_specimen(name, options),
        LocatorBase::Path(path) if is_folder(path) => folder::load(
            path,
            options.neutral.unwrap_or(LoadOptions::DEFAULT_NEUTRAL),
        ),
        LocatorBase::Path(path) => load_file(path),
        LocatorBase::Pair(first, second) => pair::load(load_file(first)?, second),
    }
}

fn load_specimen(name: &str, options: &LoadOptions<'_>) -> Result<Asset, IoError> {
    let specimens = options.specimens;
    if let Some(asset) = specimens.and_then(|specimens| specimens.specimen(name)) {
        return Ok(Asset {
            source: format!("specimen:{name}"),
            ..asset
        });
    }

    let names = specimens.map_or_else(Vec::new, |specimens| specimens.names());
    let known = if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    };
    Err(IoError::NoSuchSpecimen {
        name: name.into(),
        known,
    })
}

/// Chosen: bytes in memory for each byte of a file while it is read; measured on rigs and meshes: 3 to 6.
const MEMORY_PER_BYTE: usize = 4;

/// One file, in the format of its ending.
fn load_file(path: &Path) -> Result<Asset, IoError> {
    // A missing file is reported before an unknown ending.
    require_existing(path)?;
    finish_interrupted_writes(path);
    let read = Format::reader_for(path)?;
    let bytes = Arc::new(read_file(path)?);
    let source = path.display().to_string();
    // Positions become doubles, faces get indices and triangles.
    memory::require(bytes.len().saturating_mul(MEMORY_PER_BYTE), "the asset")
        .map_err(|error| error.in_file(&*source))?;

    // An asset of a glTF file keeps its bytes.
    let files = FolderFiles::new(path);
    let read = if Format::of(path).is_some_and(Format::is_gltf) {
        gltf::read_shared(&bytes, &files)
    } else {
        read(&bytes, &files)
    };
    let mut asset = read.map_err(|failure| match failure {
        ReadFailure::Content(error) => wrong_ending_error(path, &bytes)
            .unwrap_or(error)
            .in_file(&*source),
        ReadFailure::File(error) => error,
    })?;

    // Text formats skip unknown lines, so that a file of another format may read as empty.
    let is_empty = asset.objects.iter().all(|o| o.vertex_count() == 0);
    if is_empty && let Some(error) = wrong_ending_error(path, &bytes) {
        return Err(error.in_file(source));
    }

    asset.name = stem(path);
    asset.source = source;
    for clip in &mut asset.clips {
        if clip.name.is_empty() {
            clip.name.clone_from(&asset.name);
        }
    }

    Ok(asset)
}
