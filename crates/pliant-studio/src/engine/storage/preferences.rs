//! Preferences of the user, independent of the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::Files;
use crate::model::names::{io_reason, to_message};
use crate::model::room::RoomName;

/// Preferences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Light or dark.
    pub theme: Theme,
    /// The scale of the user interface; 1 is the default.
    pub scale: f32,
    /// Projects opened lately, the latest first.
    pub recent: Vec<String>,
    /// Folders in which a file was chosen lately, the latest first.
    pub folders: Vec<String>,
    /// Whether the first steps of all rooms were put away.
    pub hint_seen: bool,
    /// Rooms whose first steps were put away.
    pub hints_seen: BTreeSet<RoomName>,
    /// What moves the camera.
    pub pointer: PointerDevice,
    /// How large the panels are.
    pub panels: PanelSizes,
    /// Width and height of the window in points, once it was not maximised.
    pub window: Option<[f32; 2]>,
}

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Light letters on dark.
    #[default]
    Dark,
    /// Dark letters on light.
    Light,
}

/// What moves the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PointerDevice {
    /// A mouse or a pen: the wheel zooms.
    #[default]
    Mouse,
    /// A touch pad: two fingers orbit.
    TouchPad,
}

/// How large panels are to be, in points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelSizes {
    /// The width of the tools.
    pub tools: f32,
    /// The width of the options.
    pub options: f32,
    /// The height of the timeline.
    pub timeline: f32,
}

impl Default for PanelSizes {
    fn default() -> Self {
        Self {
            tools: 236.0,
            options: 310.0,
            timeline: 112.0,
        }
    }
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            theme: Theme::Dark,
            scale: 1.0,
            recent: Vec::new(),
            folders: Vec::new(),
            hint_seen: false,
            hints_seen: BTreeSet::new(),
            pointer: PointerDevice::default(),
            panels: PanelSizes::default(),
            window: None,
        }
    }
}

impl Preferences {
    /// The smallest and the largest scale.
    pub const SCALES: [f32; 2] = [0.5, 3.0];
    /// How many recent projects are kept: as many as a menu shows at once.
    pub const MAX_RECENT: usize = 12;
    /// How many recent folders are kept.
    const MAX_FOLDERS: usize = 6;
    /// Preferences are a page of text.
    const MAX_TEXT: u64 = 1 << 20;

    /// Those kept in the folder `config`; the usual ones where there are none, or none that can be
    /// understood.
    #[must_use]
    pub fn load(files: &dyn Files, config: &Path) -> Self {
        let text = files
            .read(&file(config), Self::MAX_TEXT)
            .unwrap_or_default();
        let mut kept: Self = serde_json::from_slice(&text).unwrap_or_default();
        let [least, most] = Self::SCALES;

        // A file may contain any number; an unusable scale would hide the window.
        kept.scale = if kept.scale.is_finite() {
            kept.scale.clamp(least, most)
        } else {
            1.0
        };
        kept.window
            .take_if(|window| !window.iter().all(|side| (1.0..1e5).contains(side)));
        kept.recent.truncate(Self::MAX_RECENT);
        kept.folders.truncate(Self::MAX_FOLDERS);
        kept
    }

    /// Saves them in the folder `config`.
    pub fn save(&self, files: &dyn Files, config: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(to_message)?;
        let kept = files
            .create_folder(config)
            .and_then(|()| files.write(&file(config), text.as_bytes()));
        kept.map_err(|error| {
            format!(
                "The preferences were not saved because {}.",
                io_reason(&error)
            )
        })
    }

    /// A project was opened or saved: it is the latest now.
    pub fn used_project(&mut self, path: &Path) {
        move_to_front(&mut self.recent, path, Self::MAX_RECENT);
    }

    /// A file was chosen in this folder.
    pub fn used_folder(&mut self, folder: &Path) {
        move_to_front(&mut self.folders, folder, Self::MAX_FOLDERS);
    }
}

fn file(config: &Path) -> PathBuf {
    config.join("preferences.json")
}

fn move_to_front(list: &mut Vec<String>, path: &Path, most: usize) {
    let text = path.display().to_string();
    list.retain(|known| *known != text);
    list.insert(0, text);
    list.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::storage::files::NativeFiles;

    #[test]
    fn preferences_are_restored_and_invalid_files_give_defaults() {
        let config = tempfile::tempdir().unwrap();
        let folder = config.path().join("not/yet");
        assert_eq!(
            Preferences::load(&NativeFiles, &folder),
            Preferences::default()
        );

        let liked = Preferences {
            theme: Theme::Light,
            scale: 1.5,
            hint_seen: true,
            ..Preferences::default()
        };

        liked.save(&NativeFiles, &folder).unwrap();
        assert_eq!(Preferences::load(&NativeFiles, &folder), liked);
        // A scale out of range is clamped, and unknown keys are ignored.
        std::fs::write(file(&folder), r#"{"scale": 1e30, "unknown": 1}"#).unwrap();

        assert_eq!(Preferences::load(&NativeFiles, &folder).scale, 3.0);
        std::fs::write(file(&folder), "half a").unwrap();
        assert_eq!(
            Preferences::load(&NativeFiles, &folder),
            Preferences::default()
        );
    }

    #[test]
    fn recent_projects_are_ordered_and_unique() {
        let mut preferences = Preferences::default();
        for k in 0..20 {
            preferences.used_project(Path::new(&format!("/p/{k}.pliant")));
        }
        preferences.used_project(Path::new("/p/15.pliant"));

        assert_eq!(
            (&*preferences.recent[0], &*preferences.recent[1]),
            ("/p/15.pliant", "/p/19.pliant")
        );
        assert_eq!(preferences.recent.len(), Preferences::MAX_RECENT);
        assert_eq!(
            preferences
                .recent
                .iter()
                .filter(|path| path.contains("/15."))
                .count(),
            1
        );
    }
}
