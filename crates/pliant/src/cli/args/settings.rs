//! `--settings`: the file with the settings of a rig.

use std::path::PathBuf;

use pliant_io::{Asset, json_problem};
use pliant_rig::RigSettings;

use crate::cli::report::failure::Failure;

/// The settings of a rig that a command evaluates or saves.
#[derive(Debug, clap::Args)]
pub(crate) struct SettingsArgs {
    /// JSON file with limits, locks, groups, combinations and in-betweens of the rig, by name
    /// (`pliant pose --help` describes it).
    #[arg(long, value_name = "FILE.json", help_heading = "Rig")]
    settings: Option<PathBuf>,
}

impl SettingsArgs {
    /// The asset with the settings of the file, if one is given.
    pub(crate) fn apply(&self, asset: Asset) -> Result<Asset, Failure> {
        let Some(path) = &self.settings else {
            return Ok(asset);
        };
        let bytes = pliant_io::read_file(path)?;
        let settings: RigSettings = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::new(format!("{}: {}", path.display(), json_problem(&error)))
        })?;
        asset
            .with_rig_settings(&settings)
            .map_err(|error| Failure::about(path.display(), &error))
    }
}
