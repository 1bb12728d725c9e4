//! What a person writes to name an asset.
//!
//! **Form.** `BASE[#NAME][@FRAME]`, where the base is a file, a folder, a pair `FIRST+SECOND` or
//! `specimen:NAME`.
//!
//! **Ours.** File names may hold `#`, `@` and `+` themselves, so whatever exists as written is
//! taken as written, and a sign only separates where what stands before it exists.

use std::path::{Path, PathBuf};

use crate::IoError;

/// A parsed name of an asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locator {
    /// The file, pair, folder or specimen.
    pub base: Base,
    /// The mesh or clip in it.
    pub part: Option<String>,
    /// The frame of its clip, counted from 0.
    pub frame: Option<usize>,
}

/// Where an asset's bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Base {
    /// A file, or a folder of OBJs.
    Path(PathBuf),
    /// A mesh and what moves it: deltas, frames, a point cache or targets.
    Pair(PathBuf, PathBuf),
    /// A built-in model.
    Specimen(String),
}

impl Locator {
    /// Parses `text`; relative paths start at `folder`, or where the program runs if there is none.
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
            return Ok(whole(Base::Path(self.path(text))));
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
            Err(_) if self.begins(rest) && !frame.contains(['.', '/', '+', '#']) => {
                let why =
                    format!("'{frame}' after the '@' is not a frame number; frames count from 0");
                Err(IoError::Locator {
                    text: text.into(),
                    why,
                })
            }
            Err(_) => Ok(None),
        }
    }

    fn locate_part(&self, text: &str) -> Locator {
        let split = if self.exists(text) {
            None
        } else {
            splits(text, '#').find(|(rest, _)| self.begins(rest))
        };
        match split {
            Some((rest, name)) if !name.is_empty() => Locator {
                part: Some(name.into()),
                ..whole(self.base(rest))
            },
            _ => whole(self.base(text)),
        }
    }

    /// Whether `text` is a path that exists or a pair whose first does.
    fn begins(&self, text: &str) -> bool {
        self.exists(text) || splits(text, '+').any(|(first, _)| self.exists(first))
    }

    fn base(&self, text: &str) -> Base {
        if self.exists(text) {
            return Base::Path(self.path(text));
        }
        let pairs =
            || splits(text, '+').filter(|(first, second)| self.exists(first) && !second.is_empty());
        let pairs =
            || pairs().map(|(first, second)| (self.path(first), self.second(first, second)));
        let complete = pairs().find(|(_, second)| second.exists());
        match complete.or_else(|| pairs().next()) {
            Some((first, second)) => Base::Pair(first, second),
            None => Base::Path(self.path(text)),
        }
    }

    /// A bare name is looked for beside the first file.
    fn second(&self, first: &str, second: &str) -> PathBuf {
        let bare = Path::new(second)
            .parent()
            .is_none_or(|parent| parent.as_os_str().is_empty());
        let beside = self.path(first).with_file_name(second);
        if bare && (beside.exists() || !self.exists(second)) {
            beside
        } else {
            self.path(second)
        }
    }

    fn path(&self, text: &str) -> PathBuf {
        self.folder.join(text)
    }

    fn exists(&self, text: &str) -> bool {
        !text.is_empty() && self.path(text).exists()
    }
}

fn whole(base: Base) -> Locator {
    Locator {
        base,
        part: None,
        frame: None,
    }
}

/// A specimen's name holds none of the signs, so they separate as they stand.
fn specimen_locator(text: &str, specimen: &str) -> Result<Locator, IoError> {
    let (rest, frame) = match specimen.rsplit_once('@') {
        None => (specimen, None),
        Some((rest, frame)) => {
            let why =
                || format!("'{frame}' after the '@' is not a frame number; frames count from 0");
            let frame = frame.parse().map_err(|_| IoError::Locator {
                text: text.into(),
                why: why(),
            })?;
            (rest, Some(frame))
        }
    };
    let (name, part) = rest
        .split_once('#')
        .map_or((rest, None), |(name, part)| (name, Some(part.to_owned())));
    Ok(Locator {
        base: Base::Specimen(name.into()),
        part,
        frame,
    })
}

/// Every way to cut `text` at `sign`, from the left.
fn splits(text: &str, sign: char) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(sign)
        .map(|(at, sign)| (&text[..at], &text[at + sign.len()..]))
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
    fn what_exists_is_taken_as_written_and_signs_separate_elsewhere() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let path = |name| Base::Path(at(name));
        let pair = |a, b| Base::Pair(at(a), at(b));
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
    fn specimens_have_parts_and_frames_too() {
        let found = Locator::parse("specimen:hound#walk@3", None).unwrap();
        assert_eq!(
            found,
            Locator {
                base: Base::Specimen("hound".into()),
                part: Some("walk".into()),
                frame: Some(3)
            }
        );
    }

    #[test]
    fn a_frame_that_is_no_number_is_wrong_usage() {
        let folder = folder();
        for text in ["a.obj@x", "specimen:hound@-1", ""] {
            let error = Locator::parse(text, Some(folder.path())).unwrap_err();
            assert!(error.is_usage(), "{error}");
        }
    }
}
