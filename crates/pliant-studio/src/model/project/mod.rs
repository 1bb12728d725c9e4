//! The project file: the document and the view state as text, with large results beside it.
//!
//! `docs/project-format.md` describes the file. A file may be truncated, foreign, newer or
//! malicious: each of these is one error message, and reading writes nothing.

mod error;
mod paths;
mod repair;
mod repair_rooms;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use error::ProjectError;
pub use paths::{absolute, portable, resolved};

use super::document::Document;
use super::view_state::ViewState;

/// The format mark of the file.
pub const FORMAT: &str = "pliant project";
/// The version that this program writes, and the newest that it reads.
pub const VERSION: u64 = 1;
/// The ending of a project's file, without dot.
pub const ENDING: &str = "pliant";
/// No project that the user makes has so much text; one that has would only fill the memory.
pub(crate) const MAX_TEXT: u64 = 1 << 30;

/// Contents of a project file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Project {
    /// The document.
    pub document: Document,
    /// How it is looked at.
    pub view_state: ViewState,
    /// In unsaved work: where it belongs.
    pub session: Option<SessionNote>,
}

/// What unsaved work remembers beside the work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionNote {
    /// The project it was opened from or saved to, if any.
    pub project: Option<PathBuf>,
    /// The `stamp` of that project's file at the time.
    pub stamp: Option<String>,
}

/// Read before the rest of the file.
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
    #[serde(default, rename = "desk")]
    view_state: Value,
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
    let view_state = serde_json::to_string(&project.view_state).map_err(unwritable)?;
    let session = serde_json::to_string(&project.session).map_err(unwritable)?;

    let session = project
        .session
        .map(|_| format!("\n\"session\": {session},"))
        .unwrap_or_default();
    let text = format!(
        "{{\"format\": \"{FORMAT}\", \"version\": {VERSION},{session}\n\"document\": {document},\n\"desk\": {view_state}}}\n"
    );

    // A non-finite number has no text in JSON. It is reported now, while the old file still exists.
    serde_json::from_str::<Body>(&text).map_err(unwritable)?;
    Ok(text)
}

/// The project that `text` holds, and what had to be set right; `path` is where it came from. Large
/// results are still to be filled in.
pub fn from_text(
    text: &[u8],
    path: &Path,
    folder: Option<&Path>,
) -> Result<(Project, Vec<String>), ProjectError> {
    // Some editors write a byte order mark.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    check_head(text, path)?;

    let broken = |error: serde_json::Error| ProjectError::broken(path, text, &error);
    let Body {
        document,
        view_state,
        session,
    } = serde_json::from_slice(text).map_err(broken)?;

    // An invalid view state is replaced by the default.
    let view_state = serde_json::from_value(view_state).unwrap_or_default();
    let mut project = Project {
        document,
        view_state,
        session,
    };

    let repaired = repair::repair(&mut project.document);
    repair::repair_view_state(&mut project.view_state);
    if let Some(folder) = folder {
        map_locators(&mut project, |locator| resolved(locator, folder));
    }
    Ok((project, repaired))
}

fn check_head(text: &[u8], path: &Path) -> Result<(), ProjectError> {
    // A truncated project still begins like one; other files are foreign.
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

    // A newer version is reported before anything else in the file is read.
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

/// Changes every locator, and the camera subjects that name it.
fn map_locators(project: &mut Project, change: impl Fn(&str) -> String) {
    let mut changed = BTreeMap::new();
    project.document.for_each_locator(&mut |locator| {
        let new = changed
            .entry(locator.clone())
            .or_insert_with(|| change(locator));
        locator.clone_from(new);
    });

    // Cameras name their subject by its locator.
    for seen in project.view_state.cameras.values_mut().flatten() {
        if let Some(new) = changed.get(&seen.subject) {
            seen.subject.clone_from(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::document::Character;
    use crate::model::room::RoomName;
    use crate::model::view_state::FramedCamera;

    fn project() -> Project {
        let asset = "/data/project/face.glb".to_owned();
        let mut project = Project::default();
        project.view_state.cameras.insert(
            RoomName::Pose,
            vec![FramedCamera {
                subject: asset.clone(),
                ..FramedCamera::default()
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
    fn the_text_has_relative_paths_and_round_trips_exactly() {
        let text = to_text(&project(), Some(Path::new("/data/project"))).unwrap();
        assert!(
            text.starts_with("{\"format\": \"pliant project\", \"version\": 1,")
                && !text.contains("/data"),
            "{text}"
        );
        assert_eq!(read(&text).unwrap(), (project(), vec![]));
    }

    #[test]
    fn a_byte_order_mark_is_ignored() {
        let text = to_text(&project(), Some(Path::new("/data/project"))).unwrap();
        assert_eq!(
            read(&format!("\u{feff}{text}")).unwrap(),
            (project(), vec![])
        );
    }

    #[test]
    fn every_truncation_is_one_error_message() {
        let text = to_text(&project(), None).unwrap();
        for end in 40..text.trim_end().len() {
            let error = read(&text[..end]).unwrap_err().to_string();
            assert!(
                error.contains("face.pliant")
                    && error.contains("ends unexpectedly")
                    && !error.contains('\n'),
                "{end}: {error}"
            );
        }
    }

    #[test]
    fn a_newer_version_is_reported_whatever_the_content() {
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
    fn foreign_and_damaged_files_are_distinguished() {
        // Without the format mark it is no project file at all.
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
    fn deeply_nested_text_does_not_overflow_the_stack() {
        let deep = format!(
            "{{\"format\": \"pliant project\", \"version\": 1, \"document\": {}",
            "[".repeat(1_000_000)
        );
        assert!(read(&deep).is_err());
    }

    #[test]
    fn non_finite_numbers_are_an_error_before_writing() {
        let mut project = project();
        project.document.character.set_weight("smile", f64::NAN);
        assert!(matches!(
            to_text(&project, None),
            Err(ProjectError::Unwritable { .. })
        ));
    }

    #[test]
    fn an_invalid_view_state_does_not_lose_the_document() {
        let text = to_text(&project(), None).unwrap();
        let (work, _) = text.split_once("\n\"desk\"").unwrap();
        let (read, _) = read(&format!("{work}\n\"desk\": {{\"room\": \"cellar\"}}}}")).unwrap();
        assert_eq!(
            (read.document, read.view_state),
            (project().document, ViewState::default())
        );
    }
}
