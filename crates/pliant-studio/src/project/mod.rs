//! A project: everything that is edited, and how it is looked at, in one file of text with big
//! results beside it.
//!
//! `docs/project-format.md` describes the file. What is read here may be cut off, foreign, newer or
//! made to do harm: each of these is one sentence, and nothing is written on the way.

mod error;
mod mend;
mod paths;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use error::ProjectError;
pub use paths::{absolute, portable, resolved};
pub use store::{BlobStore, Opened, data_folder, open, save, stamp};
pub(crate) use store::{blobs, open_with};

use crate::desk::Desk;
use crate::document::Document;

/// What the file says it is.
pub const FORMAT: &str = "pliant project";
/// The version that this program writes, and the newest that it reads.
pub const VERSION: u64 = 1;
/// The ending of a project's file, without dot.
pub const ENDING: &str = "pliant";
/// No project that a person makes has so much text; one that has would only fill the memory.
const MAX_TEXT: u64 = 1 << 30;

/// What a project's file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Project {
    /// What is edited.
    pub document: Document,
    /// How it is looked at.
    pub desk: Desk,
    /// In unsaved work: where it belongs.
    pub session: Option<SessionNote>,
}

/// What unsaved work remembers beside the work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionNote {
    /// The project it was opened from or saved to, if any.
    pub project: Option<PathBuf>,
    /// The [`stamp`] of that project's file at the time.
    pub stamp: Option<String>,
}

/// What is looked at before anything else.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: Value,
    #[serde(default)]
    version: Value,
}

#[derive(Deserialize)]
struct Body {
    document: Document,
    #[serde(default)]
    desk: Value,
    #[serde(default)]
    session: Option<SessionNote>,
}

/// The text of a project whose file is in `folder`, or of one that stays on this machine.
pub fn to_text(project: &Project, folder: Option<&Path>) -> Result<String, ProjectError> {
    let mut project = project.clone();
    if let Some(folder) = folder {
        map_locators(&mut project, |locator| portable(locator, folder));
    }
    let unwritable = |error: serde_json::Error| ProjectError::Unwritable {
        why: error.to_string(),
    };
    let document = serde_json::to_string(&project.document).map_err(unwritable)?;
    let desk = serde_json::to_string(&project.desk).map_err(unwritable)?;
    let session = serde_json::to_string(&project.session).map_err(unwritable)?;
    let session = project
        .session
        .map(|_| format!("\n\"session\": {session},"))
        .unwrap_or_default();
    let text = format!(
        "{{\"format\": \"{FORMAT}\", \"version\": {VERSION},{session}\n\"document\": {document},\n\"desk\": {desk}}}\n"
    );
    // A number that is not finite has no text. Better told now, with the old file still there, than
    // on the day it is opened.
    serde_json::from_str::<Body>(&text).map_err(unwritable)?;
    Ok(text)
}

/// The project that `text` holds, and what had to be set right; `path` is where it came from. Big
/// results are still to be filled in.
pub fn from_text(
    text: &[u8],
    path: &Path,
    folder: Option<&Path>,
) -> Result<(Project, Vec<String>), ProjectError> {
    // Some editors put a mark of their encoding before the text.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    check_head(text, path)?;
    let broken = |error: serde_json::Error| ProjectError::broken(path, text, &error);
    let Body {
        document,
        desk,
        session,
    } = serde_json::from_slice(text).map_err(broken)?;
    // A camera that cannot be read is no reason to lose the work.
    let desk = serde_json::from_value(desk).unwrap_or_default();
    let mut project = Project {
        document,
        desk,
        session,
    };
    let mended = mend::mend(&mut project.document);
    mend::mend_desk(&mut project.desk);
    if let Some(folder) = folder {
        map_locators(&mut project, |locator| resolved(locator, folder));
    }
    Ok((project, mended))
}

fn check_head(text: &[u8], path: &Path) -> Result<(), ProjectError> {
    let begins = text.trim_ascii_start().starts_with(b"{")
        && text
            .windows(FORMAT.len())
            .take(256)
            .any(|part| part == FORMAT.as_bytes());
    let head: Head = match serde_json::from_slice(text) {
        Ok(head) => head,
        Err(error) if begins => return Err(ProjectError::broken(path, text, &error)),
        Err(_) => return Err(ProjectError::Foreign { path: path.into() }),
    };
    if head.format != FORMAT {
        return Err(ProjectError::Foreign { path: path.into() });
    }
    match head.version.as_u64() {
        Some(1..=VERSION) => Ok(()),
        Some(version) if version > VERSION => Err(ProjectError::Newer {
            path: path.into(),
            version,
            known: VERSION,
        }),
        _ => Err(ProjectError::Broken {
            path: path.into(),
            why: format!("its version is {}", head.version),
        }),
    }
}

/// Changes every locator, and what the desk calls by it.
fn map_locators(project: &mut Project, change: impl Fn(&str) -> String) {
    let mut changed = BTreeMap::new();
    project.document.for_each_locator(&mut |locator| {
        let new = changed
            .entry(locator.clone())
            .or_insert_with(|| change(locator));
        locator.clone_from(new);
    });
    for seen in project.desk.cameras.values_mut().flatten() {
        if let Some(new) = changed.get(&seen.subject) {
            seen.subject.clone_from(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::SeenBy;
    use crate::document::Character;
    use crate::rooms::RoomName;

    fn project() -> Project {
        let asset = "/data/project/face.glb".to_owned();
        let mut project = Project::default();
        project.desk.cameras.insert(
            RoomName::Pose,
            vec![SeenBy {
                subject: asset.clone(),
                ..SeenBy::default()
            }],
        );
        project.document.character = Character {
            asset,
            mirrored: true,
            ..Character::default()
        };
        project.document.character.set_weight("smile", 0.1 + 0.2);
        project
    }

    fn read(text: &str) -> Result<(Project, Vec<String>), ProjectError> {
        from_text(
            text.as_bytes(),
            Path::new("face.pliant"),
            Some(Path::new("/data/project")),
        )
    }

    #[test]
    fn text_holds_no_path_of_the_machine_and_comes_back_to_the_bit() {
        let text = to_text(&project(), Some(Path::new("/data/project"))).unwrap();
        assert!(
            text.starts_with("{\"format\": \"pliant project\", \"version\": 1,")
                && !text.contains("/data"),
            "{text}"
        );
        assert_eq!(read(&text).unwrap(), (project(), vec![]));
    }

    #[test]
    fn a_mark_of_the_encoding_before_the_text_does_no_harm() {
        let text = to_text(&project(), Some(Path::new("/data/project"))).unwrap();
        assert_eq!(
            read(&format!("\u{feff}{text}")).unwrap(),
            (project(), vec![])
        );
    }

    #[test]
    fn every_cut_is_one_sentence_about_a_part_that_is_missing() {
        let text = to_text(&project(), None).unwrap();
        for end in 40..text.trim_end().len() {
            let error = read(&text[..end]).unwrap_err().to_string();
            assert!(
                error.contains("face.pliant") && error.contains("cut off") && !error.contains('\n'),
                "{end}: {error}"
            );
        }
    }

    #[test]
    fn a_newer_version_says_so_even_if_nothing_else_is_known() {
        let error =
            read(r#"{"format": "pliant project", "version": 7, "document": [], "cloud": {}}"#)
                .unwrap_err();
        assert!(
            matches!(error, ProjectError::Newer { version: 7, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("newer"), "{error}");
    }

    #[test]
    fn foreign_files_are_told_from_broken_ones() {
        for text in [
            "",
            "solid cube",
            "{}",
            r#"{"asset": {"version": "2.0"}}"#,
            "[1, 2",
            "\u{0}\u{1}\u{2}",
        ] {
            assert!(
                matches!(read(text), Err(ProjectError::Foreign { .. })),
                "{text:?}"
            );
        }
        for text in [
            r#"{"format": "pliant project"}"#,
            r#"{"format": "pliant project", "version": "1"}"#,
            r#"{"format": "pliant project", "version": -1}"#,
            r#"{"format": "pliant project", "version": 1}"#,
            r#"{"format": "pliant project", "version": 1, "document": {"character": 5}}"#,
            r#"{"format": "pliant project", "version": 1, "document": {"timeline": {"last_frame": 99999999999}}}"#,
            r#"{"format": "pliant project", "version": 1, "document": {"character": {"weights": {"a": 1e999}}}}"#,
        ] {
            assert!(
                matches!(read(text), Err(ProjectError::Broken { .. })),
                "{text}: {:?}",
                read(text)
            );
        }
    }

    #[test]
    fn nests_without_end_do_not_overflow() {
        let deep = format!(
            "{{\"format\": \"pliant project\", \"version\": 1, \"document\": {}",
            "[".repeat(1_000_000)
        );
        assert!(read(&deep).is_err());
    }

    #[test]
    fn a_number_without_text_is_told_before_anything_is_written() {
        let mut project = project();
        project.document.character.set_weight("smile", f64::NAN);
        assert!(matches!(
            to_text(&project, None),
            Err(ProjectError::Unwritable { .. })
        ));
    }

    #[test]
    fn a_desk_that_cannot_be_read_leaves_the_work() {
        let text = to_text(&project(), None).unwrap();
        let (work, _) = text.split_once("\n\"desk\"").unwrap();
        let (read, _) = read(&format!("{work}\n\"desk\": {{\"room\": \"cellar\"}}}}")).unwrap();
        assert_eq!(
            (read.document, read.desk),
            (project().document, Desk::default())
        );
    }
}
