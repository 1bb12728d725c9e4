//! Errors of the libraries as exceptions of Python, with the same one-line messages.

use std::any::Any;
use std::error::Error;

use numpy::AsSliceError;
use pliant::io::{IoError, ReadError};
use pliant::learn::{DrivenError, LearnError};
use pliant::linalg::LinalgError;
use pliant::mesh::{MeshError, Stopped};
use pliant::physics::{PhysicsError, TouchError};
use pliant::recipes::RecipeError;
use pliant::rig::RigError;
use pliant::transfer::TransferError;
use pliant::view::ViewError;
use pyo3::prelude::*;

// Written in Python, because an exception with two bases cannot be created here.
pyo3::import_exception!(pliant.errors, DefectError);
pyo3::import_exception!(pliant.errors, FileError);
pyo3::import_exception!(pliant.errors, InputError);
mod python {
    pyo3::import_exception!(pliant.errors, Stopped);
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure(PyErr);

/// Input that cannot be used.
pub(crate) fn input_error(message: impl Into<String>) -> Failure {
    Failure(InputError::new_err(one_line(&message.into())))
}

/// A message of the libraries with the options of the command line as keywords of a call:
/// `max_gap=N` for `--max-gap N`.
pub(crate) fn with_keywords(text: &str) -> String {
    let mut parts = text.split("--");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
        let (name, mut rest) = part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len()));
        // Dashes in names and paths stay.
        let begins_a_word = result.is_empty() || result.ends_with([' ', '(', '`']);
        let is_option = begins_a_word && name.starts_with(|c: char| c.is_ascii_lowercase());
        if !is_option {
            result.push_str("--");
            result.push_str(part);
            continue;
        }
        match name {
            "take-fps" => result.push_str("frames_per_second"),
            name => result.push_str(&name.replace('-', "_")),
        }
        result.push('=');
        // A value in capitals stands for what the caller gives.
        if rest.starts_with(' ') && rest[1..].starts_with(|c: char| c.is_ascii_uppercase()) {
            rest = &rest[1..];
        }
        result.push_str(rest);
    }
    result
}

/// The work was stopped by its caller.
pub(crate) fn stopped() -> Failure {
    Failure(python::Stopped::new_err("stopped by the progress callback"))
}

/// A panic of the libraries, which is a defect and not the caller's fault.
pub(crate) fn defect(payload: &(dyn Any + Send)) -> Failure {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    Failure(DefectError::new_err(one_line(&format!(
        "defect in pliant {}: {text}; please report it at {}/issues",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_REPOSITORY"),
    ))))
}

/// The error and its causes, joined by colons. A cause that is already quoted is not repeated.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    one_line(&text)
}

fn one_line(text: &str) -> String {
    let text = with_keywords(text);
    let lines = text.split(['\n', '\r']).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<AsSliceError> for Failure {
    fn from(error: AsSliceError) -> Self {
        Self(error.into())
    }
}

impl From<IoError> for Failure {
    fn from(error: IoError) -> Self {
        if error.is_usage() {
            input_error(chain(&error))
        } else {
            Self(FileError::new_err(chain(&error)))
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        input_error(chain(&error))
    }
}

impl From<RecipeError> for Failure {
    fn from(error: RecipeError) -> Self {
        match error {
            RecipeError::File(error) => error.into(),
            error => declined(&error),
        }
    }
}

/// An error of a library: stopped where it, or a cause of it, says so, else input that cannot be
/// used.
fn declined(error: &(dyn Error + 'static)) -> Failure {
    if Stopped::is_cause_of(error) {
        return stopped();
    }
    input_error(chain(error))
}

macro_rules! declined_input {
    ($($error:ty),+) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                declined(&error)
            }
        })+
    };
}

declined_input!(
    DrivenError,
    LearnError,
    LinalgError,
    MeshError,
    PhysicsError,
    RigError,
    Stopped,
    TouchError,
    TransferError,
    ViewError
);
