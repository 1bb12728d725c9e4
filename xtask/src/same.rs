//! `cargo xtask same`: does a change of the code change any result?
//!
//! A fixed list of commands (`same.txt`) runs over all capabilities. For every command the exit
//! status, a hash of each output file and a hash of its `--json` are stored; a later run compares.
//! Times are removed from the JSON, and warnings are counted instead of compared, because their
//! texts may change without a change of results. Pages and plots (HTML, SVG) are not compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Outcome;

/// File endings whose content is text for readers rather than a result.
const TEXT_ENDINGS: [&str; 2] = ["html", "svg"];

/// A result: what was made (a file, or `json`, or `exit`) and its hash or value.
type Results = BTreeMap<String, String>;

/// Runs all commands with `program`, then stores the results or compares them with those stored.
pub(crate) fn run(root: &Path, program: &Path, record: bool, only: Option<&str>) -> Outcome<()> {
    let folder = root.join("target").join("same");
    let baseline_path = folder.join("baseline.json");
    let outputs = folder.join("out");
    if outputs.exists() {
        fs::remove_dir_all(&outputs)?;
    }
    fs::create_dir_all(&outputs)?;

    let list = fs::read_to_string(root.join("xtask").join("same.txt"))?;
    let mut results = Results::new();
    for line in list.lines() {
        let Some((name, arguments)) = parse(line) else {
            continue;
        };
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }

        let Some(arguments) = fill_in(arguments, &outputs, name, root) else {
            println!("{name}: skipped, PLIANT_DATA is not set");
            continue;
        };
        run_command(program, name, &arguments, &outputs, &mut results)?;
    }

    if record {
        fs::write(&baseline_path, serde_json::to_string_pretty(&results)?)?;
        println!("{} results stored", results.len());
        return Ok(());
    }

    let baseline = fs::read_to_string(&baseline_path).map_err(|error| {
        format!(
            "{}: {error}; run with --record first",
            baseline_path.display()
        )
    })?;
    compare(&serde_json::from_str(&baseline)?, &results, only)
}

/// The name and the arguments on a line of the list.
fn parse(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    line.split_once(char::is_whitespace)
}

/// The arguments with all folders put in; nothing where a needed folder is not known.
fn fill_in(arguments: &str, outputs: &Path, name: &str, root: &Path) -> Option<Vec<String>> {
    let data = match std::env::var("PLIANT_DATA") {
        Ok(data) => data,
        Err(_) if arguments.contains("{data}") => return None,
        Err(_) => String::new(),
    };
    let files = root.join("xtask").join("same-files");

    let filled = arguments
        .replace("{data}", &data)
        .replace("{files}", &files.to_string_lossy())
        .replace("{all}", &outputs.to_string_lossy())
        .replace("{out}", &outputs.join(name).to_string_lossy());
    Some(filled.split_whitespace().map(str::to_owned).collect())
}

/// Runs one command and adds what came of it to `results`.
fn run_command(
    program: &Path,
    name: &str,
    arguments: &[String],
    outputs: &Path,
    results: &mut Results,
) -> Outcome<()> {
    let folder = outputs.join(name);
    fs::create_dir_all(&folder)?;
    let output = Command::new(program)
        .args(arguments)
        .args(["--json", "--quiet"])
        .output()
        .map_err(|error| format!("{} could not start: {error}", program.display()))?;

    let status = output.status.code().unwrap_or(-1);
    results.insert(format!("{name} exit"), status.to_string());
    if status != 0 {
        println!(
            "{name}: exit {status}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }

    if let Ok(mut json) = serde_json::from_slice::<Value>(&output.stdout) {
        strip(&mut json, &outputs.to_string_lossy());
        let text = serde_json::to_string(&json)?;
        fs::write(folder.join("result.json"), &text)?;
        results.insert(format!("{name} json"), hash(text.as_bytes()));
    }

    for path in files_below(&folder)? {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let relative = path.strip_prefix(&folder)?.to_string_lossy();
        if relative != "result.json" && !TEXT_ENDINGS.contains(&ending.as_ref()) {
            results.insert(format!("{name} {relative}"), hash(&fs::read(&path)?));
        }
    }
    Ok(())
}

/// Removes from a JSON result what may differ between two equal runs: times, folders and texts.
fn strip(value: &mut Value, outputs: &str) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !is_time(key));
            for (key, entry) in map.iter_mut() {
                if key == "problems" {
                    *entry = Value::from(entry.as_array().map_or(0, Vec::len));
                } else {
                    strip(entry, outputs);
                }
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                strip(entry, outputs);
            }
        }
        Value::String(text) => *text = text.replace(outputs, ""),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_time(key: &str) -> bool {
    key == "ms"
        || ["_ms", "_us", "_secs", "ms_per_frame"]
            .iter()
            .any(|end| key.ends_with(end))
}

/// All files below a folder, in the order of their names.
fn files_below(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// FNV-1a over 64 bits: enough to see a difference, and the same on every machine.
fn hash(bytes: &[u8]) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = bytes.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    });
    format!("{hash:016x}")
}

/// Prints every difference; an error where there is one.
fn compare(baseline: &Results, results: &Results, only: Option<&str>) -> Outcome<()> {
    let mut differences = 0;
    for (key, value) in results {
        if baseline.get(key) != Some(value) {
            differences += 1;
            let before = baseline.get(key).map_or("nothing", String::as_str);
            println!("differs: {key}: {before} before, {value} now");
        }
    }
    for key in baseline.keys() {
        if only.is_none() && !results.contains_key(key) {
            differences += 1;
            println!("missing: {key}");
        }
    }

    println!(
        "{} results compared, {differences} differences",
        results.len()
    );
    if differences > 0 {
        return Err("results changed".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_and_texts_do_not_count_and_numbers_do() {
        let mut slow =
            json!({"ms": 3.0, "solve_us": 1, "problems": ["a"], "w": [0.5], "out": "/x/a.obj"});
        let mut fast =
            json!({"ms": 1.0, "solve_us": 9, "problems": ["b"], "w": [0.5], "out": "/y/a.obj"});
        let mut other = json!({"ms": 1.0, "problems": ["b"], "w": [0.25], "out": "/y/a.obj"});
        strip(&mut slow, "/x");
        strip(&mut fast, "/y");
        strip(&mut other, "/y");

        assert_eq!(slow, fast);
        assert_ne!(slow, other);
    }
}
