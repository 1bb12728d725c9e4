//! The table of a corpus: for each folder and format, how many files were read and came back.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};

/// A file and what happened to it.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) outcome: Outcome,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// The reader gave a message.
    Refused { why: String },
    /// It was read; `differences` after a save in its own format, and what the save listed.
    Read {
        differences: Vec<String>,
        left_out: usize,
        saved: bool,
    },
    /// The process ended otherwise.
    Crash { why: String },
}

impl Outcome {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Refused { why } => json!({ "refused": why }),
            Self::Read {
                differences,
                left_out,
                saved,
            } => json!({ "differences": differences, "leftOut": left_out, "saved": saved }),
            Self::Crash { why } => json!({ "crash": why }),
        }
    }

    pub(super) fn from_json(text: &str) -> Option<Self> {
        let line = text.lines().last()?;
        let value: Value = serde_json::from_str(line).ok()?;
        if let Some(why) = value.get("refused").and_then(Value::as_str) {
            return Some(Self::Refused { why: why.into() });
        }
        let differences = value.get("differences")?.as_array()?;
        let texts = differences.iter().filter_map(Value::as_str);
        Some(Self::Read {
            differences: texts.map(Into::into).collect(),
            left_out: value.get("leftOut")?.as_u64()? as usize,
            saved: value.get("saved")?.as_bool()?,
        })
    }

    /// Whether a file was refused because it has nothing that could be read.
    fn is_empty(&self) -> bool {
        let Self::Refused { why } = self else {
            return false;
        };
        [
            "no mesh",
            "no polygon",
            "holds nothing",
            "no vertices",
            "no objects",
            "is empty",
        ]
        .iter()
        .any(|text| why.contains(text))
    }
}

impl Entry {
    pub(super) fn to_json(&self) -> String {
        let mut value = self.outcome.to_json();
        value["path"] = json!(self.path.to_string_lossy());
        value.to_string()
    }

    /// The folder and the format.
    fn key(&self) -> (String, String) {
        let folder = self.path.components().next();
        let folder = folder.map(|c| c.as_os_str().to_string_lossy().into_owned());
        let ending = self.path.extension().unwrap_or_default();
        (
            folder.unwrap_or_default(),
            ending.to_string_lossy().to_lowercase(),
        )
    }
}

/// The counts of one line.
#[derive(Debug, Default)]
struct Line {
    files: usize,
    read: usize,
    empty: usize,
    refused: usize,
    equal: usize,
    listed: usize,
    silent: usize,
    crashes: usize,
}

/// Counts by folder and format, and the reasons.
pub(super) struct Table {
    lines: BTreeMap<(String, String), Line>,
    reasons: BTreeMap<String, (usize, String)>,
}

impl Table {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut table = Self {
            lines: BTreeMap::new(),
            reasons: BTreeMap::new(),
        };
        for entry in entries {
            table.add(entry);
        }
        table
    }

    fn add(&mut self, entry: &Entry) {
        let line = self.lines.entry(entry.key()).or_default();
        line.files += 1;
        let reason = match &entry.outcome {
            Outcome::Crash { why } => {
                line.crashes += 1;
                Some(format!("crash: {why}"))
            }
            refused @ Outcome::Refused { why } => {
                if refused.is_empty() {
                    line.empty += 1;
                } else {
                    line.refused += 1;
                }
                Some(format!("refused: {why}"))
            }
            Outcome::Read {
                differences,
                left_out,
                saved,
            } => {
                line.read += 1;
                match (saved, differences.is_empty(), left_out) {
                    (false, ..) => {}
                    (true, true, _) => line.equal += 1,
                    (true, false, 0) => line.silent += 1,
                    (true, false, _) => line.listed += 1,
                }
                differences.first().map(|text| format!("changed: {text}"))
            }
        };

        if let Some(reason) = reason {
            let first = entry.path.to_string_lossy().into_owned();
            let known = self.reasons.entry(class(&reason)).or_insert((0, first));
            known.0 += 1;
        }
    }
}

/// A reason without names and numbers, so that equal ones are counted together.
fn class(reason: &str) -> String {
    let mut class = String::new();
    let mut quoted = false;
    for character in reason.chars() {
        match character {
            '\'' => {
                quoted = !quoted;
                class.push(character);
            }
            _ if quoted => {}
            digit if digit.is_ascii_digit() => {
                if !class.ends_with('#') {
                    class.push('#');
                }
            }
            other => class.push(other),
        }
    }
    class.chars().take(160).collect()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| folder | format | files | read | nothing to read | refused | saved: equal | changed and listed | changed silently | crashes |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|---|")?;
        let mut sum = Line::default();
        for ((folder, format), line) in &self.lines {
            write_line(f, folder, format, line)?;
            sum.files += line.files;
            sum.read += line.read;
            sum.empty += line.empty;
            sum.refused += line.refused;
            sum.equal += line.equal;
            sum.listed += line.listed;
            sum.silent += line.silent;
            sum.crashes += line.crashes;
        }
        write_line(f, "all", "", &sum)?;

        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        writeln!(f)?;
        for (reason, (count, first)) in reasons {
            writeln!(f, "{count:5}  {reason}\n       first: {first}")?;
        }
        Ok(())
    }
}

fn write_line(f: &mut fmt::Formatter<'_>, folder: &str, format: &str, line: &Line) -> fmt::Result {
    writeln!(
        f,
        "| {folder} | {format} | {} | {} | {} | {} | {} | {} | {} | {} |",
        line.files,
        line.read,
        line.empty,
        line.refused,
        line.equal,
        line.listed,
        line.silent,
        line.crashes
    )
}
