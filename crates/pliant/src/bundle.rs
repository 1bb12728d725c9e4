//! Job bundles: commands as jobs of the Open Job Description, which render farms run.
//!
//! **Problem.** A farm needs to know the tasks of a job, which of them depend on others, which files
//! they read and write, and what a machine must have.
//!
//! **Method.** A [`JobBundle`] is a folder of four files. `template.json` describes the job: its
//! parameters (with the paths of inputs and outputs, which a farm maps to other folders), an
//! environment that finds or installs `pliant`, and its steps. `parameters.json` holds the values of
//! the parameters as `openjd run -p file://…` reads them, `parameter_values.json` and
//! `asset_references.json` the same and all further inputs as AWS Deadline Cloud reads them.
//!
//! **Source.** Open Job Description, "Template Schemas", revision 2023-09, with the extension
//! `TASK_CHUNKING`; AWS Deadline Cloud, "Job bundles".
//!
//! **Departures.** Arguments are passed one by one, without a shell, so that no file name needs
//! quotes.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// A command as a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobBundle {
    /// Name of the job.
    pub name: String,
    /// What the steps read and write.
    pub parameters: Vec<JobParameter>,
    /// The steps; each begins when the one before it is done.
    pub steps: Vec<JobStep>,
    /// Files that are read and named by no parameter.
    pub references: Vec<PathBuf>,
    /// Least number of processors of a machine.
    pub processors: u32,
    /// Least memory of a machine, in MiB.
    pub memory_mib: u32,
}

/// A parameter of a job with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobParameter {
    /// Its name; `{{Param.NAME}}` in arguments.
    pub name: String,
    /// What it is.
    pub kind: ParameterKind,
    /// Its value.
    pub value: String,
}

/// What a parameter of a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A file or folder that is read.
    Input(PathKind),
    /// A file or folder that is written.
    Output(PathKind),
}

/// Whether a path names a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// One file.
    File,
    /// A folder.
    Folder,
}

/// A step of a job: one command line, for one task or for many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStep {
    /// Its name.
    pub name: String,
    /// What differs between its tasks.
    pub tasks: TaskSpace,
    /// The arguments of `pliant`.
    pub arguments: Vec<String>,
}

/// What differs between the tasks of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskSpace {
    /// Nothing: there is one task.
    One,
    /// Ranges of frames, `{{Task.Param.Frames}}`.
    Frames {
        /// Number of frames, from 0.
        count: usize,
        /// Frames of a task.
        chunk: usize,
    },
    /// Files, `{{Task.Param.Item}}`, with their names without endings, `{{Task.Param.Name}}`.
    Files(Vec<PathBuf>),
    /// Words, `{{Task.Param.Item}}`.
    Words(Vec<String>),
}

/// The program that a job runs.
const PROGRAM: &str = "{{Param.Pliant}}";

/// Finds `pliant`, or installs the package that a parameter names, for one session; makes the folders
/// of the outputs.
const PREPARE: &str = r#"set -euo pipefail
program=$1
package=$2
shift 2
for path in "$@"; do
  mkdir -p "$(dirname "$path")"
done
if ! command -v "$program" > /dev/null; then
  if [ -z "$package" ]; then
    echo "openjd_fail: '$program' is not on this machine; install it, or give the parameter PliantPackage a wheel"
    exit 1
  fi
  python3 -m venv "$PWD/pliant-venv"
  "$PWD/pliant-venv/bin/python" -m pip install --quiet "$package"
  echo "openjd_env: PATH=$PWD/pliant-venv/bin:$PATH"
  PATH=$PWD/pliant-venv/bin:$PATH
fi
"$program" --version
"#;

impl JobBundle {
    /// The files of the bundle in `folder`.
    #[must_use]
    pub fn files(&self, folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        vec![
            (folder.join("template.json"), json(&self.template())),
            (folder.join("parameters.json"), json(&self.values())),
            (
                folder.join("parameter_values.json"),
                json(&ParameterValues {
                    parameter_values: self.named_values(),
                }),
            ),
            (
                folder.join("asset_references.json"),
                json(&AssetReferences::of(self)),
            ),
        ]
    }

    fn template(&self) -> Template {
        let mut parameters = vec![
            ParameterDefinition::text("Pliant", "pliant", "The program."),
            ParameterDefinition::text(
                "PliantPackage",
                "",
                "Python package that brings the program, where it is not installed.",
            ),
        ];
        parameters.extend(self.parameters.iter().map(ParameterDefinition::of));

        let mut steps: Vec<Step> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            if let TaskSpace::Frames { chunk, .. } = step.tasks {
                parameters.push(ParameterDefinition::number("ChunkSize", chunk));
            }
            let before = steps.last().map(|before| before.name.clone());
            steps.push(self.step(step, before));
        }
        Template {
            specification_version: "jobtemplate-2023-09",
            extensions: ["TASK_CHUNKING"],
            name: self.name.clone(),
            parameter_definitions: parameters,
            job_environments: [Environment::prepare(&self.parameters)],
            steps,
        }
    }

    fn step(&self, step: &JobStep, before: Option<String>) -> Step {
        let amount = |name, min| Amount { name, min };
        Step {
            name: step.name.clone(),
            dependencies: before
                .map(|depends_on| [Dependency { depends_on }])
                .into_iter()
                .flatten()
                .collect(),
            host_requirements: HostRequirements {
                amounts: [
                    amount("amount.worker.vcpu", self.processors),
                    amount("amount.worker.memory", self.memory_mib),
                ],
                attributes: [Attribute {
                    name: "attr.worker.os.family",
                    any_of: ["linux", "macos"],
                }],
            },
            parameter_space: ParameterSpace::of(&step.tasks),
            script: StepScript {
                actions: StepActions {
                    on_run: Action {
                        command: PROGRAM.into(),
                        args: step.arguments.clone(),
                        cancelation: Some(Cancelation {
                            mode: "NOTIFY_THEN_TERMINATE",
                            notify_period_in_seconds: 30,
                        }),
                    },
                },
            },
        }
    }

    /// The values as one object, for `openjd run -p file://…`.
    fn values(&self) -> serde_json::Map<String, serde_json::Value> {
        self.parameters
            .iter()
            .map(|parameter| (parameter.name.clone(), parameter.value.clone().into()))
            .collect()
    }

    fn named_values(&self) -> Vec<NamedValue> {
        self.parameters
            .iter()
            .map(|parameter| NamedValue {
                name: parameter.name.clone(),
                value: parameter.value.clone(),
            })
            .collect()
    }
}

impl TaskSpace {
    /// Number of tasks.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::One => 1,
            Self::Frames { count, chunk } => count.div_ceil(*chunk),
            Self::Files(files) => files.len(),
            Self::Words(words) => words.len(),
        }
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("a template has text keys");
    bytes.push(b'\n');
    bytes
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Template {
    specification_version: &'static str,
    extensions: [&'static str; 1],
    name: String,
    parameter_definitions: Vec<ParameterDefinition>,
    job_environments: [Environment; 1],
    steps: Vec<Step>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ParameterDefinition {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_flow: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_value: Option<usize>,
}

impl ParameterDefinition {
    fn new(name: &str, kind: &'static str) -> Self {
        Self {
            name: name.into(),
            kind,
            description: None,
            object_type: None,
            data_flow: None,
            default: None,
            min_value: None,
        }
    }

    fn text(name: &str, default: &str, description: &'static str) -> Self {
        Self {
            description: Some(description),
            default: Some(default.into()),
            ..Self::new(name, "STRING")
        }
    }

    fn number(name: &str, default: usize) -> Self {
        Self {
            description: Some("Frames of a task."),
            default: Some(default.into()),
            min_value: Some(1),
            ..Self::new(name, "INT")
        }
    }

    fn of(parameter: &JobParameter) -> Self {
        let (flow, path) = match parameter.kind {
            ParameterKind::Input(path) => ("IN", path),
            ParameterKind::Output(path) => ("OUT", path),
        };
        let object = match path {
            PathKind::File => "FILE",
            PathKind::Folder => "DIRECTORY",
        };
        Self {
            object_type: Some(object),
            data_flow: Some(flow),
            ..Self::new(&parameter.name, "PATH")
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Environment {
    name: &'static str,
    script: EnvironmentScript,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnvironmentScript {
    actions: EnvironmentActions,
    embedded_files: [EmbeddedFile; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnvironmentActions {
    on_enter: Action,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EmbeddedFile {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    data: &'static str,
}

impl Environment {
    fn prepare(parameters: &[JobParameter]) -> Self {
        let mut args = ["{{Env.File.Prepare}}", PROGRAM, "{{Param.PliantPackage}}"]
            .map(str::to_owned)
            .to_vec();
        for parameter in parameters {
            // The name of something in the folder that is to exist.
            match parameter.kind {
                ParameterKind::Input(_) => {}
                ParameterKind::Output(PathKind::File) => {
                    args.push(format!("{{{{Param.{}}}}}", parameter.name));
                }
                ParameterKind::Output(PathKind::Folder) => {
                    args.push(format!("{{{{Param.{}}}}}/any", parameter.name));
                }
            }
        }
        Self {
            name: "Pliant",
            script: EnvironmentScript {
                actions: EnvironmentActions {
                    on_enter: Action {
                        command: "bash".into(),
                        args,
                        cancelation: None,
                    },
                },
                embedded_files: [EmbeddedFile {
                    name: "Prepare",
                    kind: "TEXT",
                    data: PREPARE,
                }],
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<Dependency>,
    host_requirements: HostRequirements,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_space: Option<ParameterSpace>,
    script: StepScript,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dependency {
    depends_on: String,
}

#[derive(Serialize)]
struct HostRequirements {
    amounts: [Amount; 2],
    attributes: [Attribute; 1],
}

#[derive(Serialize)]
struct Amount {
    name: &'static str,
    min: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attribute {
    name: &'static str,
    any_of: [&'static str; 2],
}

#[derive(Serialize)]
struct StepScript {
    actions: StepActions,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepActions {
    on_run: Action,
}

#[derive(Serialize)]
struct Action {
    command: String,
    args: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelation: Option<Cancelation>,
}

/// The signal that stops a task, and the time until it is ended for good.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cancelation {
    mode: &'static str,
    notify_period_in_seconds: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ParameterSpace {
    task_parameter_definitions: Vec<TaskParameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    combination: Option<&'static str>,
}

#[derive(Serialize)]
struct TaskParameter {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    range: serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<Chunks>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Chunks {
    default_task_count: &'static str,
    target_runtime_seconds: u32,
    range_constraint: &'static str,
}

impl ParameterSpace {
    fn of(tasks: &TaskSpace) -> Option<Self> {
        let list = |name, kind, range: Vec<String>| TaskParameter {
            name,
            kind,
            range: range.into(),
            chunks: None,
        };
        let text = |path: &PathBuf| path.display().to_string();
        let space = |definitions, combination| {
            Some(Self {
                task_parameter_definitions: definitions,
                combination,
            })
        };
        match tasks {
            TaskSpace::One => None,
            TaskSpace::Frames { count, .. } => {
                let frames = TaskParameter {
                    name: "Frames",
                    kind: "CHUNK[INT]",
                    range: match count {
                        1 => "0".into(),
                        count => format!("0-{}", count - 1).into(),
                    },
                    chunks: Some(Chunks {
                        default_task_count: "{{Param.ChunkSize}}",
                        target_runtime_seconds: 0,
                        range_constraint: "CONTIGUOUS",
                    }),
                };
                space(vec![frames], None)
            }
            TaskSpace::Files(files) => {
                let stem = |path: &PathBuf| {
                    let stem = path.file_stem().unwrap_or_default();
                    stem.to_string_lossy().into_owned()
                };
                let paths = list("Item", "PATH", files.iter().map(text).collect());
                let names = list("Name", "STRING", files.iter().map(stem).collect());
                space(vec![paths, names], Some("(Item, Name)"))
            }
            TaskSpace::Words(words) => space(vec![list("Item", "STRING", words.clone())], None),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ParameterValues {
    parameter_values: Vec<NamedValue>,
}

#[derive(Serialize)]
struct NamedValue {
    name: String,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssetReferences {
    asset_references: References,
}

#[derive(Serialize)]
struct References {
    inputs: ReferencedInputs,
    outputs: ReferencedOutputs,
}

#[derive(Serialize)]
struct ReferencedInputs {
    filenames: Vec<String>,
    directories: Vec<String>,
}

#[derive(Serialize)]
struct ReferencedOutputs {
    directories: Vec<String>,
}

impl AssetReferences {
    fn of(bundle: &JobBundle) -> Self {
        let filenames = bundle.references.iter();
        Self {
            asset_references: References {
                inputs: ReferencedInputs {
                    filenames: filenames.map(|path| path.display().to_string()).collect(),
                    directories: Vec::new(),
                },
                outputs: ReferencedOutputs {
                    directories: Vec::new(),
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn bundle(tasks: TaskSpace) -> Value {
        let bundle = JobBundle {
            name: "pliant transfer".into(),
            parameters: vec![JobParameter {
                name: "Input1".into(),
                kind: ParameterKind::Input(PathKind::File),
                value: "/a/walk.glb".into(),
            }],
            steps: vec![
                JobStep {
                    name: "Pieces".into(),
                    tasks,
                    arguments: vec!["transfer".into(), "--source={{Param.Input1}}".into()],
                },
                JobStep {
                    name: "Join".into(),
                    tasks: TaskSpace::One,
                    arguments: vec!["join".into()],
                },
            ],
            references: vec!["/a/walk.bin".into()],
            processors: 2,
            memory_mib: 1024,
        };
        let files = bundle.files(Path::new("b"));
        assert_eq!(files.len(), 4);
        serde_json::from_slice(&files[0].1).unwrap()
    }

    #[test]
    fn frames_become_chunks_and_the_join_waits_for_them() {
        let template = bundle(TaskSpace::Frames {
            count: 32,
            chunk: 8,
        });
        let steps = &template["steps"];
        let frames = &steps[0]["parameterSpace"]["taskParameterDefinitions"][0];
        assert_eq!(frames["range"], "0-31");
        assert_eq!(frames["chunks"]["defaultTaskCount"], "{{Param.ChunkSize}}");
        let parameters = template["parameterDefinitions"].as_array().unwrap();
        assert!(
            parameters
                .iter()
                .any(|p| p["name"] == "ChunkSize" && p["default"] == 8)
        );
        assert_eq!(steps[1]["dependencies"][0]["dependsOn"], "Pieces");
        assert!(steps[1].get("parameterSpace").is_none());
        assert!(steps[0].get("dependencies").is_none());
    }

    #[test]
    fn files_become_tasks_with_their_names() {
        let files = TaskSpace::Files(vec!["/a/x.obj".into(), "/a/y.obj".into()]);
        assert_eq!(files.count(), 2);
        let template = bundle(files);
        let space = &template["steps"][0]["parameterSpace"];
        assert_eq!(space["combination"], "(Item, Name)");
        assert_eq!(space["taskParameterDefinitions"][1]["range"][1], "y");
    }
}
