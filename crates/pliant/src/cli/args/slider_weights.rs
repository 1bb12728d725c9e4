//! Slider weights by name: JSON files and `NAME=WEIGHT` on the command line.

use std::collections::BTreeMap;
use std::path::Path;

use pliant_rig::Rig;
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

/// Reads weights of some sliders from a JSON object; the others are zero.
pub(crate) fn read(path: &Path, rig: &Rig) -> Result<Vec<f64>, Failure> {
    // Every message about the form ends with an example.
    let wrong = |reason: &str| {
        Failure::new(format!(
            "{}: {reason}; give a JSON object such as {{\"jawOpen\": 0.5}}",
            path.display()
        ))
    };
    let value: Value = serde_json::from_slice(&pliant_io::read_file(path)?)
        .map_err(|error| wrong(&format!("the file is not JSON ({error})")))?;
    let Value::Object(map) = value else {
        return Err(wrong("the file holds no map of weights"));
    };

    // Sliders that the file does not name are zero.
    let mut weights = vec![0.0; rig.targets().len()];
    for (name, value) in &map {
        let slider = rig
            .slider_named(name)
            .map_err(|error| Failure::about(path.display(), &error))?;
        weights[slider.index()] = value
            .as_f64()
            .ok_or_else(|| wrong(&format!("the weight of '{name}' is not a number")))?;
    }

    Ok(weights)
}

/// The weights of a file; all zero without one.
pub(crate) fn read_or_zero(path: Option<&Path>, rig: &Rig) -> Result<Vec<f64>, Failure> {
    match path {
        Some(path) => read(path, rig),
        None => Ok(vec![0.0; rig.targets().len()]),
    }
}

/// The weights of a file, if one is given, and then of the command line, for a rig that was read
/// from `locator`. The others are zero.
pub(crate) fn choose(
    rig: &Rig,
    path: Option<&Path>,
    named: &[(String, f64)],
    locator: &str,
) -> Result<Vec<f64>, Failure> {
    let mut weights = read_or_zero(path, rig)?;
    for (name, weight) in named {
        let slider = rig
            .slider_named(name)
            .map_err(|error| Failure::about(locator, &error))?;
        weights[slider.index()] = *weight;
    }
    Ok(weights)
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
