//! `cargo xtask corpus`: are public files read, and does a save keep what it did not touch?
//!
//! Every file is read in a process of its own, so that a crash or an endless loop counts as such and
//! ends nothing else. A glTF file gets one new target and is saved; a comparison of the raw JSON and
//! bytes, which uses no reader of ours, finds what else changed. Other formats are saved and read
//! again. `checks/corpus.md` lists the files.

mod gltf_file;
mod probe;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub(crate) use self::probe::probe;
use self::table::{Entry, Outcome as Result_, Table};
use crate::Outcome;

/// Endings of the files that are read.
const ENDINGS: [&str; 13] = [
    "gltf", "glb", "vrm", "fbx", "usd", "usda", "usdc", "usdz", "abc", "obj", "ply", "stl", "off",
];

/// A file that takes longer counts as a crash.
const LONGEST: Duration = Duration::from_secs(180);

/// Options of the task.
pub(crate) struct Options {
    /// The folder of files; its folders are the lines of the table.
    pub(crate) folder: PathBuf,
    /// Only files whose path contains this.
    pub(crate) only: Option<String>,
    /// Where to write one line of JSON per file.
    pub(crate) list: Option<PathBuf>,
    /// Files at a time.
    pub(crate) jobs: usize,
}

/// Reads all files and prints the table.
pub(crate) fn run(options: &Options) -> Outcome<()> {
    let mut files = Vec::new();
    collect(&options.folder, &mut files)?;
    files.retain(|path| {
        let wanted = options.only.as_deref();
        wanted.is_none_or(|text| path.to_string_lossy().contains(text))
    });
    files.sort();

    let next = Mutex::new(0_usize);
    let entries = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let index = {
                        let mut next = next.lock().expect("no thread panics with the lock");
                        *next += 1;
                        *next - 1
                    };
                    let Some(path) = files.get(index) else { break };
                    let entry = Entry {
                        path: path.strip_prefix(&options.folder).unwrap_or(path).into(),
                        outcome: outcome_of(path),
                    };
                    let mut entries = entries.lock().expect("no thread panics with the lock");
                    entries.push(entry);
                }
            });
        }
    });

    let mut entries = entries
        .into_inner()
        .expect("no thread panics with the lock");
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(list) = &options.list {
        let lines: Vec<String> = entries.iter().map(Entry::to_json).collect();
        fs::write(list, lines.join("\n") + "\n")?;
    }
    print!("{}", Table::of(&entries));
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| {
            ENDINGS
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
        }) {
            files.push(path);
        }
    }
    Ok(())
}

/// What happened to one file, in a process of its own.
fn outcome_of(path: &Path) -> Result_ {
    let crash = |why: String| Result_::Crash { why };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return crash(error.to_string()),
    };
    let child = Command::new(program)
        .arg("corpus-file")
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return crash(error.to_string()),
    };

    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if start.elapsed() > LONGEST => {
                // The process may have ended by itself in between.
                let _ = child.kill();
                let _ = child.wait();
                return crash(format!("took more than {} s", LONGEST.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => return crash(error.to_string()),
        }
    }

    match child.wait_with_output() {
        Ok(output) if output.status.success() => {
            Result_::from_json(&String::from_utf8_lossy(&output.stdout))
                .unwrap_or_else(|| crash("gave no answer".into()))
        }
        Ok(output) => crash(format!("ended with {}", output.status)),
        Err(error) => crash(error.to_string()),
    }
}
