//! The manifest of a piece.

use std::path::{Path, PathBuf};

use pliant_io::{ContentHash, FileRead, read_file};
use pliant_rig::FrameSelection;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PieceError;

/// What a piece is a piece of; a file beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this form.
    pub version: u32,
    /// Program and version, since other versions can give other bits.
    pub program: String,
    /// The command.
    pub command: String,
    /// Its arguments, except those that name outputs and frames.
    pub arguments: Vec<String>,
    /// All files that were read.
    pub inputs: Vec<InputFile>,
    /// The frames of the piece, as `--frames` takes them.
    pub frames: String,
    /// Number of frames of the whole result.
    pub whole: usize,
    /// The files of the piece, named from the folder of the manifest.
    pub files: Vec<PieceFile>,
    /// The name of the file with the exact numbers; the first dimension counts the frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// What the command needs to join the piece.
    pub content: Value,
    /// The report of the command.
    pub report: Value,
    /// Its warnings.
    pub problems: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// As it was named.
    pub path: PathBuf,
    /// Hash of its content.
    pub sha256: ContentHash,
}

/// A file that belongs to a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceFile {
    /// Its name in the folder of the manifest.
    pub name: String,
    /// Hash of its content.
    pub sha256: ContentHash,
}

impl Manifest {
    /// The version that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// This program, with its version.
    pub const PROGRAM: &str = concat!("pliant ", env!("CARGO_PKG_VERSION"));

    /// The ending of a manifest, after the name of the piece.
    pub const ENDING: &str = ".piece.json";

    /// Where the manifest of a piece lies.
    #[must_use]
    pub fn path_of(piece: &Path) -> PathBuf {
        let mut name = piece.as_os_str().to_owned();
        name.push(Self::ENDING);
        name.into()
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// Files that cannot be read, or have another form or version.
    pub fn read(path: &Path) -> Result<Self, PieceError> {
        let wrong = |message: String| PieceError::Manifest {
            manifest: path.display().to_string(),
            message,
        };
        let manifest: Self = serde_json::from_slice(&read_file(path)?)
            .map_err(|error| wrong(pliant_io::json_problem(&error)))?;
        if manifest.version != Self::VERSION {
            return Err(wrong(format!(
                "it has version {}, this program reads version {}",
                manifest.version,
                Self::VERSION
            )));
        }
        manifest.frame_numbers().map_err(wrong)?;
        Ok(manifest)
    }

    /// The manifest as a file.
    ///
    /// # Panics
    /// Never: its keys are text.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest has text keys");
        bytes.push(b'\n');
        bytes
    }

    /// The frames of the piece, ascending.
    ///
    /// # Errors
    /// A manifest whose frames cannot be read.
    pub fn frame_numbers(&self) -> Result<Vec<usize>, String> {
        let selection: FrameSelection = self
            .frames
            .parse()
            .map_err(|error| format!("its frames cannot be read: {error}"))?;
        selection.of(self.whole).map_err(|error| error.to_string())
    }

    /// The arguments, in which the hash of the content stands for the path of an input, so that they
    /// are the same on machines with other folders.
    #[must_use]
    pub fn portable_arguments(&self) -> Vec<String> {
        let mut inputs: Vec<(String, String)> = Vec::new();
        for input in &self.inputs {
            let path = input.path.to_string_lossy().into_owned();
            inputs.push((path, format!("<{}>", input.sha256)));
        }
        // Longer paths first: one may be the beginning of another.
        inputs.sort_by_key(|(path, _)| (std::cmp::Reverse(path.len()), path.clone()));

        let portable = |argument: &String| {
            let mut text = argument.clone();
            for (path, hash) in &inputs {
                text = text.replace(path.as_str(), hash);
            }
            // A folder of files: their hashes are among the inputs.
            let value = argument.split_once('=').map_or(&argument[..], |(_, v)| v);
            let value = value.split('#').next().unwrap_or_default();
            let parts = value.split('+').filter(|part| !part.is_empty());
            for part in parts {
                if inputs
                    .iter()
                    .any(|(path, _)| Path::new(path).starts_with(part))
                {
                    text = text.replace(part, "<folder>");
                }
            }
            text
        };
        self.arguments.iter().map(portable).collect()
    }

    /// The hashes of all inputs, each once, sorted.
    #[must_use]
    pub fn input_hashes(&self) -> Vec<ContentHash> {
        let mut hashes: Vec<ContentHash> = self.inputs.iter().map(|input| input.sha256).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Whether all inputs have the content that they had.
    #[must_use]
    pub fn inputs_are_unchanged(&self) -> bool {
        self.inputs.iter().all(|input| {
            read_file(&input.path).is_ok_and(|bytes| ContentHash::of(&bytes) == input.sha256)
        })
    }

    /// The files of the piece at `path` have the content that the manifest says.
    ///
    /// # Errors
    /// The first file that is missing or has another content.
    pub fn check_files(&self, path: &Path) -> Result<(), PieceError> {
        for file in &self.files {
            let place = path.with_file_name(&file.name);
            if ContentHash::of(&read_file(&place)?) != file.sha256 {
                return Err(PieceError::Changed {
                    file: place.display().to_string(),
                    manifest: path.display().to_string(),
                });
            }
        }
        Ok(())
    }

    /// What makes `other` a piece of another job.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.command != other.command {
            return Some(format!(
                "it is a piece of '{}', not of '{}'",
                other.command, self.command
            ));
        }
        if self.program != other.program {
            return Some(format!(
                "it was made by {}, not by {}",
                other.program, self.program
            ));
        }

        let (mine, others) = (self.portable_arguments(), other.portable_arguments());
        let is_input = |text: &&String| text.contains('<');
        let lacking = |from: &[String], of: &[String]| {
            let mut lacking = from.iter().filter(|text| !of.contains(text));
            lacking.find(|text| !is_input(text)).cloned()
        };
        if let Some(argument) = lacking(&others, &mine) {
            return Some(format!("it was made with {argument}"));
        }
        if let Some(argument) = lacking(&mine, &others) {
            return Some(format!("it was made without {argument}"));
        }
        if mine != others || self.input_hashes() != other.input_hashes() {
            let hashes = self.input_hashes();
            let changed = other
                .inputs
                .iter()
                .find(|input| !hashes.contains(&input.sha256));
            return Some(match changed {
                Some(input) => format!("its input '{}' has another content", input.path.display()),
                None => "it has fewer inputs".into(),
            });
        }
        (self.whole != other.whole).then(|| {
            format!(
                "its whole has {} frames instead of {}",
                other.whole, self.whole
            )
        })
    }
}

impl From<FileRead> for InputFile {
    fn from(read: FileRead) -> Self {
        Self {
            path: read.path,
            sha256: read.hash,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::pieces) fn manifest(frames: &str) -> Manifest {
        Manifest {
            version: Manifest::VERSION,
            program: Manifest::PROGRAM.into(),
            command: "transfer".into(),
            arguments: vec![
                "--source=/a/walk.glb#run".into(),
                "--target=/a/t.obj".into(),
            ],
            inputs: vec![
                InputFile {
                    path: "/a/walk.glb".into(),
                    sha256: ContentHash::of(b"walk"),
                },
                InputFile {
                    path: "/a/t.obj".into(),
                    sha256: ContentHash::of(b"t"),
                },
            ],
            frames: frames.into(),
            whole: 10,
            files: Vec::new(),
            exact: None,
            content: Value::Null,
            report: Value::Null,
            problems: Vec::new(),
        }
    }

    #[test]
    fn the_folder_of_an_input_does_not_matter_and_its_content_does() {
        let here = manifest("0-4");
        let mut there = manifest("5-9");
        there.arguments = vec![
            "--source=/b/c/walk.glb#run".into(),
            "--target=/b/t.obj".into(),
        ];
        there.inputs[0].path = "/b/c/walk.glb".into();
        there.inputs[1].path = "/b/t.obj".into();
        assert_eq!(here.difference(&there), None);

        let mut changed = manifest("5-9");
        changed.inputs[1].sha256 = ContentHash::of(b"other");
        assert!(here.difference(&changed).unwrap().contains("'/a/t.obj'"));
    }

    #[test]
    fn other_options_clips_versions_and_commands_are_named() {
        let here = manifest("0-4");
        let difference = |change: &dyn Fn(&mut Manifest)| {
            let mut other = manifest("5-9");
            change(&mut other);
            here.difference(&other).unwrap()
        };
        assert!(difference(&|m| m.arguments.push("--feet".into())).contains("with --feet"));
        assert!(difference(&|m| m.program = "pliant 0.0.1".into()).contains("pliant 0.0.1"));
        assert!(difference(&|m| m.command = "blend".into()).contains("'blend'"));
        assert!(difference(&|m| m.whole = 11).contains("11 frames"));
        let mut other = manifest("5-9");
        other.arguments[0] = "--source=/a/walk.glb#jump".into();
        assert!(here.difference(&other).is_some());
    }

    #[test]
    fn a_manifest_comes_back_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = Manifest::path_of(&folder.path().join("a.glb"));
        assert!(path.ends_with("a.glb.piece.json"));
        let written = manifest("0-4:2");
        std::fs::write(&path, written.to_bytes()).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), written);

        for (frames, version) in [("0-10", 1), ("x", 1), ("0", 2)] {
            let mut broken = manifest(frames);
            broken.version = version;
            std::fs::write(&path, broken.to_bytes()).unwrap();
            assert!(matches!(
                Manifest::read(&path),
                Err(PieceError::Manifest { .. })
            ));
        }
    }
}
