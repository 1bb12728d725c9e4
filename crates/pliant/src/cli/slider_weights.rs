//! Slider weights in files: a bare map from name to value.

use std::path::Path;

use pliant_rig::Rig;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::output;

/// Reads weights of some sliders; the others are zero.
pub(crate) fn read(path: &Path, rig: &Rig) -> Result<Vec<f64>, Failure> {
    let wrong = |what: &str| {
        Failure::could_not(format!(
            "{}: {what}; give a JSON object such as {{\"jawOpen\": 0.5}}",
            path.display()
        ))
    };
    let value: Value = serde_json::from_slice(&pliant_io::read_file(path)?)
        .map_err(|error| wrong(&format!("is not JSON ({error})")))?;
    let Value::Object(map) = value else {
        return Err(wrong("holds no map of weights"));
    };
    let mut weights = vec![0.0; rig.targets().len()];
    for (name, value) in &map {
        let slider = rig
            .slider_named(name)
            .map_err(|error| Failure::about(path.display(), &error))?;
        weights[slider] = value
            .as_f64()
            .ok_or_else(|| wrong(&format!("gives '{name}' no number")))?;
    }
    Ok(weights)
}

/// The weights of a file, if one is given, and of the command line, for a rig that was read from
/// `asset`; the others are zero.
pub(crate) fn choose(
    rig: &Rig,
    path: Option<&Path>,
    named: &[(String, f64)],
    asset: &str,
) -> Result<Vec<f64>, Failure> {
    let mut weights = path.map_or_else(
        || Ok(vec![0.0; rig.targets().len()]),
        |path| read(path, rig),
    )?;
    for (name, weight) in named {
        weights[rig
            .slider_named(name)
            .map_err(|error| Failure::about(asset, &error))?] = *weight;
    }
    Ok(weights)
}

/// The weights that are not zero, by name.
pub(crate) fn by_name(rig: &Rig, weights: &[f64]) -> Map<String, Value> {
    let named = rig
        .targets()
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight != 0.0);
    named
        .map(|(target, weight)| (target.name.clone(), json!(weight)))
        .collect()
}

/// Writes the weights that are not zero.
pub(crate) fn write(path: &Path, rig: &Rig, weights: &[f64]) -> Result<(), Failure> {
    output::write(path, to_bytes(&by_name(rig, weights)))
}

/// A map of weights as a file.
pub(crate) fn to_bytes(weights: &Map<String, Value>) -> Vec<u8> {
    let text = serde_json::to_string_pretty(weights).expect("a map of numbers is JSON");
    format!("{text}\n").into_bytes()
}
