//! What a person likes, whatever the project.

use serde::{Deserialize, Serialize};

/// Preferences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Light or dark.
    pub theme: Theme,
    /// How large everything is; 1 is usual.
    pub scale: f32,
    /// Projects opened lately, the latest first.
    pub recent: Vec<String>,
    /// Whether the hint of the first start was put away.
    pub hint_seen: bool,
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

impl Default for Preferences {
    fn default() -> Self {
        Self { theme: Theme::Dark, scale: 1.0, recent: Vec::new(), hint_seen: false }
    }
}
