//! Dictionaries of Python as settings, and names of choices.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{Failure, input_error};

/// What Python gave as dictionaries, lists and numbers.
pub(crate) fn from_python<T: serde::de::DeserializeOwned>(
    what: &str,
    value: &Bound<'_, PyAny>,
) -> Result<T, Failure> {
    let py = value.py();
    // Arrays and numbers of numpy become lists and numbers.
    let plain = py
        .import(intern!(py, "operator"))?
        .call_method1(intern!(py, "methodcaller"), (intern!(py, "tolist"),))?;
    let options = PyDict::new(py);
    options.set_item(intern!(py, "default"), plain)?;
    let json = py.import(intern!(py, "json"))?;
    let text = json.call_method(intern!(py, "dumps"), (value,), Some(&options));
    let text: String = match text {
        Ok(text) => text.extract()?,
        Err(error) => {
            return Err(input_error(format!(
                "{what}: give dictionaries, lists, texts and numbers: {}",
                error.value(py)
            )));
        }
    };
    serde_json::from_str(&text).map_err(|error| input_error(format!("{what}: {error}")))
}

/// Settings as dictionaries, lists and numbers.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &impl serde::Serialize,
) -> Result<Bound<'py, PyAny>, Failure> {
    let text = serde_json::to_string(value)
        .map_err(|error| input_error(format!("this has no text: {error}")))?;
    let json = py.import(intern!(py, "json"))?;
    Ok(json.call_method1(intern!(py, "loads"), (text,))?)
}

/// The choice of that name.
pub(crate) fn choice<T: Copy>(what: &str, name: &str, choices: &[(&str, T)]) -> Result<T, Failure> {
    if let Some((_, choice)) = choices.iter().find(|(known, _)| *known == name) {
        return Ok(*choice);
    }
    let known: Vec<String> = choices
        .iter()
        .map(|(known, _)| format!("'{known}'"))
        .collect();
    Err(input_error(format!(
        "{what} is '{name}'; give one of {}",
        known.join(", ")
    )))
}
