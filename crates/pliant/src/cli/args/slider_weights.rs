//! Slider weights by name: JSON files and `NAME=WEIGHT` on the command line.

use std::collections::BTreeMap;
use std::path::Path;

use pliant_io::json_problem;
use pliant_rig::{Preset, Rig};
use serde_json::Value;

use super::number;
use crate::cli::report::failure::Failure;
use crate::cli::report::output;

/// Weights by the names of their sliders.
pub(crate) type WeightsByName = BTreeMap<String, f64>;

/// Parses `NAME=WEIGHT`.
pub(crate) fn parse_weight(text: &str) -> Result<(String, f64), String> {
    let parsed = text.split_once('=').and_then(|(name, weight)| {
        let weight = number::finite(weight).ok()?;
        Some((name.trim().to_owned(), weight))
    });
    parsed.ok_or_else(|| format!("'{text}' is not NAME=WEIGHT, as in jawOpen=0.5"))
}

/// Reads weights of some sliders or presets from a JSON object; the others are zero.
pub(crate) fn read(path: &Path, rig: &Rig, presets: &[Preset]) -> Result<Vec<f64>, Failure> {
    let named = read_named(path)?;
    let amounts = named.iter().map(|(name, weight)| (name.as_str(), *weight));
    rig.weights_of_names(presets, amounts)
        .map_err(|error| Failure::about(path.display(), &error))
}

fn read_named(path: &Path) -> Result<Vec<(String, f64)>, Failure> {
    // Every message about the form ends with an example.
    let wrong = |reason: &str| {
        Failure::new(format!(
            "{}: {reason}; give a JSON object such as {{\"jawOpen\": 0.5}}",
            path.display()
        ))
    };
    let value: Value = serde_json::from_slice(&pliant_io::read_file(path)?)
        .map_err(|error| wrong(&json_problem(&error)))?;
    let Value::Object(map) = value else {
        return Err(wrong("the file holds no map of weights"));
    };

    let mut named = Vec::with_capacity(map.len());
    for (name, value) in map {
        let weight = value
            .as_f64()
            .ok_or_else(|| wrong(&format!("the weight of '{name}' is not a number")))?;
        named.push((name, weight));
    }
    Ok(named)
}

/// The weights of a file, if one is given, and then of the command line, for a rig that was read
/// from `locator`. Names are those of sliders or of presets; the others are zero.
pub(crate) fn choose(
    rig: &Rig,
    presets: &[Preset],
    path: Option<&Path>,
    named: &[(String, f64)],
    locator: &str,
) -> Result<Vec<f64>, Failure> {
    let mut all = match path {
        Some(path) => {
            // A wrong name is reported with its file.
            read(path, rig, presets)?;
            read_named(path)?
        }
        None => Vec::new(),
    };
    all.retain(|(name, _)| named.iter().all(|(other, _)| other != name));
    all.extend_from_slice(named);
    let amounts = all.iter().map(|(name, weight)| (name.as_str(), *weight));
    rig.weights_of_names(presets, amounts)
        .map_err(|error| Failure::about(locator, &error))
}

/// A warning about weights beyond the limits of their sliders, which are used as they are.
pub(crate) fn limit_warnings(rig: &Rig, weights: &[f64]) -> Option<String> {
    let sliders = rig.targets().iter().zip(rig.sliders()).zip(weights);
    let beyond: Vec<String> = sliders
        .filter(|((_, slider), weight)| !slider.limits.contains(**weight))
        .map(|((target, slider), weight)| {
            let limits = slider.limits;
            format!(
                "{} = {weight} ({} to {})",
                target.name, limits.min, limits.max
            )
        })
        .collect();
    (!beyond.is_empty()).then(|| {
        format!(
            "weights beyond the limits of their sliders are used as given: {}",
            beyond.join(", ")
        )
    })
}

/// The weights that are not zero, by name.
pub(crate) fn by_name(rig: &Rig, weights: &[f64]) -> WeightsByName {
    rig.targets()
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight != 0.0)
        .map(|(target, weight)| (target.name.clone(), *weight))
        .collect()
}

/// Writes the weights that are not zero.
pub(crate) fn write(path: &Path, rig: &Rig, weights: &[f64]) -> Result<(), Failure> {
    output::write(path, to_bytes(&by_name(rig, weights)))
}

/// A map of weights as a file.
pub(crate) fn to_bytes(weights: &WeightsByName) -> Vec<u8> {
    let text = serde_json::to_string_pretty(weights).expect("a map of numbers is JSON");
    format!("{text}\n").into_bytes()
}
