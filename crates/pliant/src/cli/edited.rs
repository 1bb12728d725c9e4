//! Rigs that commands change: read with targets, written with what was lost on the way.

use std::path::Path;

use pliant_io::Asset;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::source;

/// Loads an asset that has targets.
pub(crate) fn load(locator: &str, neutral: Option<&str>) -> Result<Asset, Failure> {
    let asset = pliant_io::load(locator, &source::options(neutral))?;
    if asset
        .objects
        .iter()
        .all(|object| object.rig.targets().is_empty())
    {
        return Err(Failure::could_not(format!(
            "{locator}: it has no targets; name a rig"
        )));
    }
    Ok(asset)
}

/// Writes the changed asset, and tells `object` and `problems` where and without what.
pub(crate) fn save(
    asset: &Asset,
    out: &Path,
    object: &mut Map<String, Value>,
    problems: &mut Vec<String>,
) -> Result<(), Failure> {
    let saved = pliant_io::save(asset, out)?;
    problems.extend(
        saved
            .left_out
            .iter()
            .map(|what| format!("{} leaves out {what}", out.display())),
    );
    object.insert("out".into(), json!(out.display().to_string()));
    object.insert("left_out".into(), json!(saved.left_out));
    Ok(())
}
