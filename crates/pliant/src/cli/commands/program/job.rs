//! `pliant job`: a command as a job of a render farm.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches};
use pliant::bundle::{JobBundle, JobParameter, JobStep, ParameterKind, PathKind, TaskSpace};
use pliant::reproduce::REPRODUCTIONS;
use pliant_io::record_reads;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::file_conflicts::OUTPUTS;
use crate::cli::args::source;
use crate::cli::commands::animation::{blend, transfer};
use crate::cli::commands::inspection::render_frames;
use crate::cli::commands::learning::{drive, validate};
use crate::cli::commands::posing::invert;
use crate::cli::pieces::GivenArgument;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::path_text;
use crate::cli::{Cli, Command};

const EXAMPLES: &str = "\
Examples:
  # A transfer as a job, in tasks of 8 frames, and its run on this machine
  pliant job transfer --source walk.glb --target camel.obj \\
      --out camel.glb --bundle camel-job --chunk 8
  openjd run camel-job/template.json -p file://camel-job/parameters.json

  # The same on AWS Deadline Cloud
  deadline bundle submit camel-job

  # One task for each file of a list
  pliant job convert heads/*.obj --out-dir glb --to glb --bundle heads-job

  # One task for each shot: {} is the file, {name} its name
  pliant job touch {} --center 2134 --radius 4 \\
      --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 \\
      --out 'touched/{name}.glb' --each shots/*.glb --bundle touch-job

Tasks:
  blend, drive, invert, render (--play), transfer and validate are divided into
  ranges of frames, whose pieces a second step joins. Every task of invert
  solves the whole clip, so by default it has one. convert and shapes have a
  task for each file, reproduce one for each page. With --each, any command has
  a task for each file. All other commands are one task.

Bundle, a folder (Open Job Description 2023-09 with TASK_CHUNKING):
  template.json           the job: parameters, steps, what a machine needs
  parameters.json         values of the parameters, for openjd run -p
  parameter_values.json   the same, and
  asset_references.json   all other files that are read: AWS Deadline Cloud

A task that is started again finds finished pieces and does not make them
again. `pip install openjd-cli` brings openjd.";

const USAGE: &str =
    "pliant job <COMMAND> [ARGUMENTS]… --bundle <DIR> [--chunk <N>] [--each <FILE>…]";

/// Writes a command as a job for a render farm (Open Job Description).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// Folder for the bundle.
    #[arg(long, value_name = "DIR")]
    bundle: Option<PathBuf>,

    /// Frames of a task [default: 24].
    #[arg(long, value_name = "N", value_parser = parse_count)]
    chunk: Option<usize>,

    /// Files of which each is a task; {} and {name} in the arguments stand for them.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    each: Vec<PathBuf>,

    /// Least number of processors of a machine.
    #[arg(long, value_name = "N", default_value_t = 1)]
    processors: u32,

    /// Least memory of a machine, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    memory: u32,

    /// The command with its arguments; the options above may follow them.
    #[arg(
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    command: Vec<OsString>,
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("'{text}' is not a number of frames from 1 up")),
    }
}

/// *Chosen*: frames of a task. A second of film: the start of a process and the preparation of the
/// command take less than the frames.
const DEFAULT_CHUNK: usize = 24;

/// The report of `pliant job`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobReport {
    /// Folder of the bundle.
    bundle: String,
    /// Files of the bundle.
    files: Vec<String>,
    /// The steps in order.
    steps: Vec<StepReport>,
    /// Files that the job reads.
    inputs: Vec<String>,
    /// Frames of the whole result; null for a job that is not divided into frames.
    frames: Option<usize>,
}

/// A step of a job.
#[derive(Debug, Serialize, JsonSchema)]
struct StepReport {
    name: String,
    /// Number of tasks.
    tasks: usize,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let line = JobLine::of(args)?;
    let console = console.with_options(line.json, line.quiet);
    let bundle_folder = line.bundle.clone().ok_or_else(|| {
        Failure::usage("there is no folder for the bundle; give --bundle DIR after the command")
    })?;
    let job = Job::read(line)?;
    let bundle = job.bundle();

    std::fs::create_dir_all(&bundle_folder).map_err(|error| {
        Failure::new(format!(
            "cannot make the folder '{}': {error}",
            bundle_folder.display()
        ))
    })?;
    let files = bundle.files(&bundle_folder);
    pliant_io::write_files(&files)?;

    let steps: Vec<StepReport> = bundle
        .steps
        .iter()
        .map(|step| StepReport {
            name: step.name.clone(),
            tasks: step.tasks.count(),
        })
        .collect();
    let mut summary = String::new();
    for step in &steps {
        summary += &format!("{}: {} task(s)\n", step.name, step.tasks);
    }
    let template = bundle_folder.join("template.json");
    let values = bundle_folder.join("parameters.json");
    summary += &format!(
        "written to {}; try it here with\n  openjd run {} -p file://{}\n",
        bundle_folder.display(),
        template.display(),
        values.display()
    );
    let report = JobReport {
        bundle: path_text(&bundle_folder),
        files: files.iter().map(|(path, _)| path_text(path)).collect(),
        steps,
        inputs: job.inputs.iter().map(|path| path_text(path)).collect(),
        frames: job.frames,
    };
    console.print_summary(&report, &summary, &[])
}

/// The command line of a job, with its own options taken out of the command.
struct JobLine {
    bundle: Option<PathBuf>,
    chunk: Option<usize>,
    each: Vec<PathBuf>,
    processors: u32,
    memory: u32,
    json: bool,
    quiet: bool,
    command: Vec<OsString>,
}

impl JobLine {
    fn of(args: &Args) -> Result<Self, Failure> {
        let mut line = Self {
            bundle: args.bundle.clone(),
            chunk: args.chunk,
            each: args.each.clone(),
            processors: args.processors,
            memory: args.memory,
            json: false,
            quiet: false,
            command: Vec::new(),
        };

        let mut words = args.command.iter().peekable();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let (name, own) = match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(OsString::from(value))),
                None => (text.clone().into_owned(), None),
            };
            let mut value = || {
                let next = own.clone().or_else(|| words.next().cloned());
                next.ok_or_else(|| Failure::usage(format!("{name} needs a value")))
            };
            match name.as_str() {
                "--bundle" => line.bundle = Some(value()?.into()),
                "--chunk" => {
                    let count = parse_count(&value()?.to_string_lossy());
                    line.chunk = Some(count.map_err(Failure::usage)?);
                }
                "--processors" => line.processors = number(&name, &value()?)?,
                "--memory" => line.memory = number(&name, &value()?)?,
                "--each" => {
                    line.each.push(value()?.into());
                    while let Some(next) =
                        words.next_if(|next| !next.to_string_lossy().starts_with("--"))
                    {
                        line.each.push(next.into());
                    }
                }
                "--json" => line.json = true,
                "--quiet" | "-q" => line.quiet = true,
                _ => line.command.push(word.clone()),
            }
        }
        Ok(line)
    }
}

fn number(name: &str, text: &OsString) -> Result<u32, Failure> {
    let text = text.to_string_lossy();
    text.parse()
        .map_err(|_| Failure::usage(format!("{name} needs a whole number, not '{text}'")))
}

/// A command that is to be a job.
struct Job {
    line: JobLine,
    name: String,
    arguments: Vec<GivenArgument>,
    /// Frames of the whole; none for a command that is not divided into frames.
    frames: Option<usize>,
    /// All files that are read, from the root.
    inputs: BTreeSet<PathBuf>,
}

impl Job {
    /// Reads what the command reads before its work: how many frames it has, and from which files.
    fn read(line: JobLine) -> Result<Self, Failure> {
        let mut words = vec![OsString::from("pliant")];
        match line.each.first() {
            // The first file stands for all of them.
            Some(first) => words.extend(line.command.iter().map(|word| with_item(word, first))),
            None => words.extend(line.command.iter().cloned()),
        }
        let matches = Cli::command()
            .try_get_matches_from(&words)
            .map_err(|error| wrong_command(&error))?;
        let cli = Cli::from_arg_matches(&matches).map_err(|error| wrong_command(&error))?;
        let arguments = GivenArgument::all(&Cli::command(), &matches);

        let (frames, mut reads) = if line.each.is_empty() {
            let (frames, reads) = record_reads(|| frame_count(&cli.command));
            (frames?, reads)
        } else {
            (None, Vec::new())
        };
        for argument in &arguments {
            reads.extend(reads_of(argument));
        }
        for item in &line.each {
            let text = item.to_string_lossy();
            reads.extend(record_reads(|| load(&text)).1);
        }

        let mut inputs = BTreeSet::new();
        for read in reads {
            inputs.insert(absolute(&read.path));
        }
        Ok(Self {
            name: matches.subcommand_name().unwrap_or_default().to_owned(),
            line,
            arguments,
            frames,
            inputs,
        })
    }

    fn bundle(&self) -> JobBundle {
        let mut plan = Plan::default();
        let steps = if self.line.each.is_empty() {
            match (self.frames, self.name.as_str()) {
                (Some(count), _) => self.frame_steps(count, &mut plan),
                (None, "convert" | "shapes" | "reproduce") => self.list_step(&mut plan),
                (None, _) => vec![self.one_step(TaskSpace::One, &mut plan)],
            }
        } else {
            let files = self.line.each.iter().map(|file| absolute(file)).collect();
            vec![self.each_step(TaskSpace::Files(files), &mut plan)]
        };

        let named: BTreeSet<PathBuf> = plan
            .parameters
            .iter()
            .map(|p| PathBuf::from(&p.value))
            .collect();
        JobBundle {
            name: format!("pliant {}", self.name),
            parameters: plan.parameters,
            steps,
            references: self.inputs.difference(&named).cloned().collect(),
            processors: self.line.processors,
            memory_mib: self.line.memory,
        }
    }

    /// Ranges of frames, and a step that joins them.
    fn frame_steps(&self, count: usize, plan: &mut Plan) -> Vec<JobStep> {
        let mut arguments = Vec::new();
        for argument in &self.arguments {
            if argument.is_of_the_job() {
                arguments.push(self.word(argument, plan));
            }
        }

        // Arrays hold exact positions in one file; other results keep their form.
        let out = self.output_or("out", &format!("{}.npy", self.name));
        let whole = plan.output("Output", &out, kind_of(&out));
        // Without a dot, since a path without an ending names a folder.
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let folder = out.with_file_name(format!("{}-pieces", name.replace('.', "-")));
        let pieces = plan.output("Pieces", &folder, PathKind::Folder);
        let piece = match self.name.as_str() {
            "render" => pieces.clone(),
            "invert" | "validate" => format!("{pieces}/piece.{{{{Task.Param.Frames}}}}.json"),
            _ => format!("{pieces}/piece.{{{{Task.Param.Frames}}}}.npy"),
        };

        let mut make = vec![self.name.clone()];
        make.extend(arguments.iter().cloned());
        make.push("--frames={{Task.Param.Frames}}".into());
        make.push(format!("--out={piece}"));
        make.extend(["--resume", "--progress=openjd"].map(str::to_owned));

        let mut join = vec![
            "join".to_owned(),
            pieces,
            format!("--out={whole}"),
            "--".into(),
        ];
        join.extend(arguments);
        let chunk = self.line.chunk.unwrap_or(match self.name.as_str() {
            "invert" => count,
            _ => DEFAULT_CHUNK,
        });
        vec![
            JobStep {
                name: "Pieces".into(),
                tasks: TaskSpace::Frames {
                    count,
                    chunk: chunk.min(count),
                },
                arguments: make,
            },
            JobStep {
                name: "Join".into(),
                tasks: TaskSpace::One,
                arguments: join,
            },
        ]
    }

    /// A task for each file of a list, or for each page.
    fn list_step(&self, plan: &mut Plan) -> Vec<JobStep> {
        let ids: &[&str] = match self.name.as_str() {
            "convert" => &["input", "output", "more"],
            "shapes" => &["targets"],
            _ => &["names"],
        };
        let is_batch = self
            .arguments
            .iter()
            .any(|argument| argument.id == "out_dir");
        let mut items: Vec<String> = Vec::new();
        for argument in &self.arguments {
            if ids.contains(&argument.id.as_str()) {
                items.extend(argument.value.clone());
            }
        }

        if self.name == "reproduce" {
            if items.is_empty() {
                items = REPRODUCTIONS
                    .iter()
                    .map(|page| page.name.to_owned())
                    .collect();
            }
            let mut step = self.step_without(ids, TaskSpace::Words(items), plan);
            for word in &mut step.arguments {
                if word.starts_with("--out=") {
                    // Pages of several tasks have an index each.
                    word.push_str("/{{Task.Param.Item}}");
                }
            }
            step.arguments.push("{{Task.Param.Item}}".into());
            return vec![step];
        }
        if !is_batch {
            return vec![self.one_step(TaskSpace::One, plan)];
        }

        let files = items.iter().map(|item| absolute(Path::new(item))).collect();
        let mut step = self.step_without(ids, TaskSpace::Files(files), plan);
        step.arguments.push(match self.name.as_str() {
            "shapes" => "--targets={{Task.Param.Item}}".into(),
            _ => "{{Task.Param.Item}}".into(),
        });
        vec![step]
    }

    fn one_step(&self, tasks: TaskSpace, plan: &mut Plan) -> JobStep {
        self.step_without(&[], tasks, plan)
    }

    /// The command without some of its arguments.
    fn step_without(&self, ids: &[&str], tasks: TaskSpace, plan: &mut Plan) -> JobStep {
        let mut arguments = vec![self.name.clone()];
        for argument in &self.arguments {
            if !ids.contains(&argument.id.as_str()) {
                arguments.push(self.word(argument, plan));
            }
        }
        JobStep {
            name: "Run".into(),
            tasks,
            arguments,
        }
    }

    /// The command as it was given, with parameters of a task for `{}` and `{name}`.
    fn each_step(&self, tasks: TaskSpace, plan: &mut Plan) -> JobStep {
        let mut arguments = Vec::new();
        for word in &self.line.command {
            let text = word.to_string_lossy();
            let text = text
                .replace("{name}", "{{Task.Param.Name}}")
                .replace("{}", "{{Task.Param.Item}}");
            let (option, value) = match text.split_once('=') {
                Some((option, value)) if option.starts_with("--") => {
                    (format!("{option}="), value.to_owned())
                }
                _ => (String::new(), text.clone()),
            };
            let is_output = !value.starts_with('-') && value.contains("{{Task.Param.Name}}");
            arguments.push(if is_output {
                // The folder is the same for all tasks.
                let path = Path::new(&value);
                let folder = path.parent().unwrap_or(Path::new(""));
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let folder = plan.output("Output", folder, PathKind::Folder);
                format!("{option}{folder}/{name}")
            } else {
                option + &self.with_inputs(&value, plan)
            });
        }
        JobStep {
            name: "Run".into(),
            tasks,
            arguments,
        }
    }

    /// An argument as a word, in which parameters stand for paths.
    fn word(&self, argument: &GivenArgument, plan: &mut Plan) -> String {
        let Some(value) = &argument.value else {
            return argument.word();
        };
        let is_output = argument.id == "out_dir" || OUTPUTS.contains(&argument.id.as_str());
        let value = if is_output {
            let path = Path::new(value);
            let kind = match argument.id.as_str() {
                "out_dir" => PathKind::Folder,
                _ => kind_of(path),
            };
            plan.output("Output", path, kind)
        } else {
            self.with_inputs(value, plan)
        };
        GivenArgument {
            value: Some(value),
            ..argument.clone()
        }
        .word()
    }

    /// A value in which parameters stand for the files that are read.
    fn with_inputs(&self, value: &str, plan: &mut Plan) -> String {
        let path = Path::new(value);
        if value.is_empty() {
            return String::new();
        }
        let whole = absolute(path);
        if self.inputs.contains(&whole) {
            return plan.input(&whole, PathKind::File);
        }
        if path.is_dir() && self.inputs.iter().any(|input| input.starts_with(&whole)) {
            return plan.input(&whole, PathKind::Folder);
        }

        // A locator: the file comes before the part, the frame or the second file.
        for (k, separator) in value.char_indices().rev() {
            if !matches!(separator, '#' | '@' | '+') {
                continue;
            }
            let file = absolute(Path::new(&value[..k]));
            if self.inputs.contains(&file) {
                return plan.input(&file, PathKind::File) + &value[k..];
            }
        }
        value.to_owned()
    }

    /// The value of an output, or `other` in the current folder.
    fn output_or(&self, id: &str, other: &str) -> PathBuf {
        let given = self.arguments.iter().find(|argument| argument.id == id);
        let value = given.and_then(|argument| argument.value.clone());
        PathBuf::from(value.unwrap_or_else(|| other.to_owned()))
    }
}

/// Parameters of a bundle in the making.
#[derive(Default)]
struct Plan {
    parameters: Vec<JobParameter>,
}

impl Plan {
    /// The reference to an input.
    fn input(&mut self, path: &Path, kind: PathKind) -> String {
        self.reference("Input", path, ParameterKind::Input(kind))
    }

    fn output(&mut self, name: &str, path: &Path, kind: PathKind) -> String {
        self.reference(name, &absolute(path), ParameterKind::Output(kind))
    }

    fn reference(&mut self, name: &str, path: &Path, kind: ParameterKind) -> String {
        let value = path.display().to_string();
        let known = self
            .parameters
            .iter()
            .find(|p| p.value == value && p.kind == kind);
        let name = match known {
            Some(parameter) => parameter.name.clone(),
            None => {
                let same = self
                    .parameters
                    .iter()
                    .filter(|p| p.name.starts_with(name))
                    .count();
                let name = match (name, same) {
                    ("Input", same) => format!("Input{}", same + 1),
                    (name, 0) => name.to_owned(),
                    (name, same) => format!("{name}{}", same + 1),
                };
                self.parameters.push(JobParameter {
                    name: name.clone(),
                    kind,
                    value,
                });
                name
            }
        };
        format!("{{{{Param.{name}}}}}")
    }
}

/// Frames of the whole result; none for a command that is not divided into frames.
fn frame_count(command: &Command) -> Result<Option<usize>, Failure> {
    match command {
        Command::Blend(args) => blend::frame_count(args),
        Command::Drive(args) => drive::frame_count(args),
        Command::Invert(args) => invert::frame_count(args),
        Command::Render(args) => render_frames::frame_count(args),
        Command::Transfer(args) => transfer::frame_count(args),
        Command::Validate(args) => validate::frame_count(args),
        _ => Ok(None),
    }
}

/// The files that an argument names, with those that they refer to.
fn reads_of(argument: &GivenArgument) -> Vec<pliant_io::FileRead> {
    let Some(value) = &argument.value else {
        return Vec::new();
    };
    let is_list = matches!(argument.id.as_str(), "output") && Path::new(value).is_file();
    if OUTPUTS.contains(&argument.id.as_str()) && !is_list {
        return Vec::new();
    }
    let names_file = value
        .split(['#', '@', '+'])
        .next()
        .is_some_and(|file| !file.is_empty() && Path::new(file).exists());
    if !names_file {
        return Vec::new();
    }

    let mut reads = record_reads(|| load(value)).1;
    let path = Path::new(value);
    if path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
    {
        reads.extend(record_reads(|| load_of_recipe(path)).1);
    }
    reads
}

/// Reads an asset, or else the file alone.
fn load(value: &str) {
    if pliant_io::load(value, &source::options(None)).is_err() {
        let _ = pliant_io::read_file(Path::new(value));
    }
}

/// Reads every file that a text in a recipe names; its paths start at its folder.
fn load_of_recipe(recipe: &Path) {
    let Ok(bytes) = pliant_io::read_file(recipe) else {
        return;
    };
    let text = String::from_utf8_lossy(&bytes);
    let Ok(table) = text.parse::<toml::Table>() else {
        return;
    };
    let folder = recipe.parent().unwrap_or(Path::new(""));
    let mut values: Vec<toml::Value> = table.into_iter().map(|(_, value)| value).collect();
    while let Some(value) = values.pop() {
        match value {
            toml::Value::String(text) => {
                let first = text.split(['#', '@', '+']).next().unwrap_or_default();
                if !first.is_empty() && folder.join(first).exists() {
                    load(&folder.join(&text).to_string_lossy());
                }
            }
            toml::Value::Array(items) => values.extend(items),
            toml::Value::Table(table) => values.extend(table.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

/// A word with the file of a task for `{}` and its name for `{name}`.
fn with_item(word: &OsString, item: &Path) -> OsString {
    let name = item.file_stem().unwrap_or_default().to_string_lossy();
    let text = word.to_string_lossy();
    text.replace("{name}", &name)
        .replace("{}", &item.to_string_lossy())
        .into()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A path without an ending names a folder.
fn kind_of(path: &Path) -> PathKind {
    if path.extension().is_none() || path.is_dir() {
        PathKind::Folder
    } else {
        PathKind::File
    }
}

fn wrong_command(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let reason = text.lines().next().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    Failure::usage(format!(
        "the command of the job is wrong: {reason}; `pliant COMMAND --help` explains it"
    ))
}
