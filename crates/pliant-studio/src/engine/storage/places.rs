//! Folders of the user for unsaved work and preferences.
//!
//! | | unsaved work | preferences |
//! |---|---|---|
//! | Linux | `$XDG_STATE_HOME/pliant`, `~/.local/state/pliant` | `$XDG_CONFIG_HOME/pliant`, `~/.config/pliant` |
//! | macOS | `~/Library/Application Support/pliant/state` | `~/Library/Application Support/pliant` |
//! | Windows | `%LOCALAPPDATA%\pliant\state` | `%APPDATA%\pliant` |
//!
//! `PLIANT_STATE` and `PLIANT_CONFIG` name other folders.

use std::path::PathBuf;

/// The folders of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Unsaved work.
    pub state: PathBuf,
    /// Preferences.
    pub config: PathBuf,
}

impl Places {
    /// The folders of the current user; `None` where the system has no home folder.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let set = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Some(Self {
            state: set("PLIANT_STATE").or_else(|| state(&set))?,
            config: set("PLIANT_CONFIG").or_else(|| config(&set))?,
        })
    }
}

type Set<'a> = &'a dyn Fn(&str) -> Option<PathBuf>;

#[cfg(target_os = "windows")]
fn state(set: Set<'_>) -> Option<PathBuf> {
    Some(set("LOCALAPPDATA")?.join("pliant").join("state"))
}

#[cfg(target_os = "windows")]
fn config(set: Set<'_>) -> Option<PathBuf> {
    Some(set("APPDATA")?.join("pliant"))
}

#[cfg(target_os = "macos")]
fn state(set: Set<'_>) -> Option<PathBuf> {
    Some(config(set)?.join("state"))
}

#[cfg(target_os = "macos")]
fn config(set: Set<'_>) -> Option<PathBuf> {
    Some(set("HOME")?.join("Library/Application Support/pliant"))
}

#[cfg(not(any(target_os = "windows", target_os = "macos")))]
fn state(set: Set<'_>) -> Option<PathBuf> {
    Some(
        set("XDG_STATE_HOME")
            .or_else(|| Some(set("HOME")?.join(".local/state")))?
            .join("pliant"),
    )
}

#[cfg(not(any(target_os = "windows", target_os = "macos")))]
fn config(set: Set<'_>) -> Option<PathBuf> {
    Some(
        set("XDG_CONFIG_HOME")
            .or_else(|| Some(set("HOME")?.join(".config")))?
            .join("pliant"),
    )
}

/// The person's own folder, where a file dialog begins.
#[must_use]
pub fn home() -> Option<PathBuf> {
    // A page keeps the files of its person in one folder of the disk in memory.
    if cfg!(target_arch = "wasm32") {
        return Some(PathBuf::from("/files"));
    }
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

#[cfg(all(test, not(any(target_os = "windows", target_os = "macos"))))]
mod tests {
    use super::*;

    #[test]
    fn folders_follow_the_desktop_specification() {
        let only_home = |name: &str| (name == "HOME").then(|| PathBuf::from("/people/ann"));
        assert_eq!(
            state(&only_home),
            Some("/people/ann/.local/state/pliant".into())
        );

        assert_eq!(
            config(&only_home),
            Some("/people/ann/.config/pliant".into())
        );

        let both = |name: &str| {
            Some(PathBuf::from(if name == "HOME" {
                "/people/ann"
            } else {
                "/xdg"
            }))
        };

        assert_eq!(
            (state(&both), config(&both)),
            (Some("/xdg/pliant".into()), Some("/xdg/pliant".into()))
        );
        assert_eq!(state(&|_| None), None);
    }
}
