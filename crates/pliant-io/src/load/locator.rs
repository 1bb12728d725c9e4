//! Locators: the text that names an asset, such as `head.glb#walk@12`.
//!
//! **Syntax.** `BASE[#NAME][@FRAME]`, where the base is a file, a folder, a pair `FIRST+SECOND` or
//! `specimen:NAME`.
//!
//! **Departures.** File names may contain `#`, `@` and `+`. A text that exists as a path is that
//! path, and a separator only separates if the text before it exists.

use std::path::{Path, PathBuf};

use crate::IoError;
use crate::file_names::is_bare;
use crate::files::exists;

/// A parsed locator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locator {
    /// The file, pair, folder or specimen.
    pub base: LocatorBase,
    /// The mesh or clip in it.
    pub part: Option<String>,
    /// The frame of its clip, counted from 0.
    pub frame: Option<usize>,
}

/// Where the bytes of an asset come from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocatorBase {
    /// A file, or a folder of OBJs.
    Path(PathBuf),
    /// A mesh and what moves it: displacements, frames, a point cache or targets.
    Pair(PathBuf, PathBuf),
    /// A built-in model.
    Specimen(String),
}

impl Locator {
    /// Parses `text`. Relative paths start at `folder`, or at the working directory if there is
    /// none.
    pub fn parse(text: &str, folder: Option<&Path>) -> Result<Self, IoError> {
        if text.is_empty() {
            return Err(IoError::Locator {
                text: text.into(),
                why: "it is empty; name a file".into(),
            });
        }
        Parser {
            folder: folder.unwrap_or(Path::new("")),
        }
        .locate(text)
    }
}

struct Parser<'a> {
    folder: &'a Path,
}

impl Parser<'_> {
    fn locate(&self, text: &str) -> Result<Locator, IoError> {
        if let Some(specimen) = text.strip_prefix("specimen:") {
            return specimen_locator(text, specimen);
        }
        if self.exists(text) {
            return Ok(whole(LocatorBase::Path(self.path(text))));
        }
        if let Some((rest, frame)) = self.split_frame(text)? {
            return Ok(Locator {
                frame: Some(frame),
                ..self.locate_part(rest)
            });
        }

        Ok(self.locate_part(text))
    }

    /// `REST@N`, where the rest may be an asset.
    fn split_frame<'t>(&self, text: &'t str) -> Result<Option<(&'t str, usize)>, IoError> {
        let Some((rest, frame)) = text.rsplit_once('@') else {
            return Ok(None);
        };
        match frame.parse() {
            Ok(frame) => Ok(Some((rest, frame))),
            Err(_) if self.is_base(rest) && !frame.contains(['.', '/', '+', '#']) => {
                Err(frame_error(text, frame))
            }
            Err(_) => Ok(None),
        }
    }

    fn locate_part(&self, text: &str) -> Locator {
        // The first `#` after which the text before exists separates the part.
        let split = if self.exists(text) {
            None
        } else {
            splits(text, '#').find(|(rest, _)| self.is_base(rest))
        };
        match split {
            Some((rest, name)) if !name.is_empty() => Locator {
                part: Some(name.into()),
                ..whole(self.base(rest))
            },
            _ => whole(self.base(text)),
        }
    }

    /// Whether `text` is a path that exists or a pair whose first file exists.
    fn is_base(&self, text: &str) -> bool {
        self.exists(text) || splits(text, '+').any(|(first, _)| self.exists(first))
    }

    fn base(&self, text: &str) -> LocatorBase {
        if self.exists(text) {
            return LocatorBase::Path(self.path(text));
        }

        // A pair of files that both exist comes before one whose second file is missing.
        let mut incomplete = None;
        for (first, second) in splits(text, '+') {
            if !self.exists(first) || second.is_empty() {
                continue;
            }
            let pair = LocatorBase::Pair(self.path(first), self.second(first, second));
            if matches!(&pair, LocatorBase::Pair(_, second) if exists(second)) {
                return pair;
            }
            incomplete.get_or_insert(pair);
        }

        incomplete.unwrap_or_else(|| LocatorBase::Path(self.path(text)))
    }

    /// The second file of a pair; a bare name is looked for in the folder of the first file.
    fn second(&self, first: &str, second: &str) -> PathBuf {
        let same_folder = self.path(first).with_file_name(second);
        if is_bare(Path::new(second)) && (exists(&same_folder) || !self.exists(second)) {
            same_folder
        } else {
            self.path(second)
        }
    }

    fn path(&self, text: &str) -> PathBuf {
        self.folder.join(text)
    }

    fn exists(&self, text: &str) -> bool {
        !text.is_empty() && exists(&self.path(text))
    }
}

fn whole(base: LocatorBase) -> Locator {
    Locator {
        base,
        part: None,
        frame: None,
    }
}

/// A locator of a specimen, whose name contains no separators.
fn specimen_locator(text: &str, specimen: &str) -> Result<Locator, IoError> {
    let (rest, frame) = match specimen.rsplit_once('@') {
        None => (specimen, None),
        Some((rest, frame)) => match frame.parse() {
            Ok(frame) => (rest, Some(frame)),
            Err(_) => return Err(frame_error(text, frame)),
        },
    };

    let (name, part) = match rest.split_once('#') {
        Some((name, part)) => (name, Some(part.to_owned())),
        None => (rest, None),
    };

    Ok(Locator {
        base: LocatorBase::Specimen(name.into()),
        part,
        frame,
    })
}

fn frame_error(text: &str, frame: &str) -> IoError {
    IoError::Locator {
        text: text.into(),
        why: format!("'{frame}' after the '@' is not a frame number; frames count from 0"),
    }
}

/// Every pair of texts before and after a `separator`, from the left.
fn splits(text: &str, separator: char) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(separator)
        .map(|(at, separator)| (&text[..at], &text[at + separator.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        for name in [
            "a.obj",
            "b.npy",
            "sub/c.npy",
            "sub/d.obj",
            "odd@3.obj",
            "a+b.obj",
            "x#y.obj",
            "a+b.obj#1",
        ] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }

        folder
    }

    #[test]
    fn an_existing_path_is_taken_as_written_and_separators_apply_elsewhere() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let path = |name| LocatorBase::Path(at(name));
        let pair = |a, b| LocatorBase::Pair(at(a), at(b));
        let cases = [
            ("a.obj", path("a.obj"), None, None),
            ("odd@3.obj", path("odd@3.obj"), None, None),
            ("odd@3.obj@4", path("odd@3.obj"), None, Some(4)),
            ("a+b.obj", path("a+b.obj"), None, None),
            ("a+b.obj#2", path("a+b.obj"), Some("2"), None),
            ("a+b.obj#1", path("a+b.obj#1"), None, None),
            ("x#y.obj+b.npy@0", pair("x#y.obj", "b.npy"), None, Some(0)),
            ("x#y.obj#z", path("x#y.obj"), Some("z"), None),
            (
                "a.obj#/rig/child@7",
                path("a.obj"),
                Some("/rig/child"),
                Some(7),
            ),
            (
                "a.obj+b.npy#n@2",
                pair("a.obj", "b.npy"),
                Some("n"),
                Some(2),
            ),
            (
                "sub/d.obj+c.npy",
                pair("sub/d.obj", "sub/c.npy"),
                None,
                None,
            ),
            ("sub/d.obj+b.npy", pair("sub/d.obj", "b.npy"), None, None),
            ("a.obj+sub/c.npy", pair("a.obj", "sub/c.npy"), None, None),
            ("a.obj+none.npy", pair("a.obj", "none.npy"), None, None),
            ("none.obj+b.npy", path("none.obj+b.npy"), None, None),
        ];

        for (text, base, part, frame) in cases {
            let found = Locator::parse(text, Some(folder.path())).unwrap();
            assert_eq!(
                found,
                Locator {
                    base,
                    part: part.map(str::to_owned),
                    frame
                },
                "{text}"
            );
        }
    }

    #[test]
    fn a_specimen_can_have_a_part_and_a_frame() {
        let found = Locator::parse("specimen:hound#walk@3", None).unwrap();
        assert_eq!(
            found,
            Locator {
                base: LocatorBase::Specimen("hound".into()),
                part: Some("walk".into()),
                frame: Some(3)
            }
        );
    }

    #[test]
    fn a_frame_that_is_not_a_number_is_a_usage_error() {
        let folder = folder();
        for text in ["a.obj@x", "specimen:hound@-1", ""] {
            let error = Locator::parse(text, Some(folder.path())).unwrap_err();
            assert!(error.is_usage(), "{error}");
        }
    }
}
