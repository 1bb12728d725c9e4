//! `pliant schema`: JSON schemas of the reports that commands print with `--json`.

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::cli::commands::animation::{blend_report, markers, shapes, transfer};
use crate::cli::commands::inspection::{bake, convert, flexibility, geodesic, info, pick, render};
use crate::cli::commands::learning::{bones, drive, learn, register, validate};
use crate::cli::commands::posing::{invert, listen, play, pose, sketch, touch};
use crate::cli::commands::program::{demo, job, join, reproduce};
use crate::cli::commands::rigs::{mirror, rename, repair, split};
use crate::cli::report::console::{Console, print};
use crate::cli::report::failure::Failure;
use crate::cli::report::schema::{VERSION, report_schema};

const EXAMPLES: &str = "\
Examples:
  # The commands that print a report
  pliant schema

  # The schema of one report
  pliant schema pose > pose.schema.json

  # A command with two words
  pliant schema markers check

Schemas follow JSON Schema, draft 2020-12. \"x-version\" is raised when a key is
removed or changes its meaning; new keys do not raise it.";

/// Prints the JSON schema of the --json report of a command.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Command. Without one, all commands with a report are listed.
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    command: Vec<String>,
}

/// The report of `pliant schema` without a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SchemaList {
    /// Version of the schemas.
    version: &'static str,
    /// Commands that print a report.
    commands: Vec<&'static str>,
}

/// Makes the schema of the report of a command.
type MakeSchema = fn(&str) -> Schema;

/// Commands and the schemas of their reports.
const SCHEMAS: [(&str, MakeSchema); 33] = [
    ("bake", report_schema::<bake::BakeReport>),
    ("blend", report_schema::<blend_report::BlendReport>),
    ("bones", report_schema::<bones::BonesReport>),
    ("convert", report_schema::<convert::ConvertOutput>),
    ("demo", report_schema::<demo::DemoReport>),
    ("drive", report_schema::<drive::DriveReport>),
    (
        "flexibility",
        report_schema::<flexibility::FlexibilityReport>,
    ),
    ("geodesic", report_schema::<geodesic::GeodesicReport>),
    ("info", report_schema::<info::InfoReport>),
    ("invert", report_schema::<invert::InvertReport>),
    ("job", report_schema::<job::JobReport>),
    ("join", report_schema::<join::JoinReport>),
    ("learn", report_schema::<learn::LearnReport>),
    ("listen", report_schema::<listen::ListenReport>),
    (
        "markers check",
        report_schema::<markers::check::CheckReport>,
    ),
    (
        "markers mirror",
        report_schema::<markers::mirror::MirrorReport>,
    ),
    (
        "markers suggest",
        report_schema::<markers::suggest::SuggestReport>,
    ),
    ("mirror", report_schema::<mirror::MirrorReport>),
    ("pick", report_schema::<pick::PickReport>),
    ("play", report_schema::<play::PlayReport>),
    ("pose", report_schema::<pose::PoseOutput>),
    ("register", report_schema::<register::RegisterReport>),
    ("rename", report_schema::<rename::RenameReport>),
    ("render", report_schema::<render::RenderReport>),
    ("repair", report_schema::<repair::RepairReport>),
    ("reproduce", report_schema::<reproduce::ReproduceReport>),
    ("schema", report_schema::<SchemaList>),
    ("shapes", report_schema::<shapes::ShapesOutput>),
    ("sketch", report_schema::<sketch::SketchReport>),
    ("split", report_schema::<split::SplitReport>),
    ("touch", report_schema::<touch::TouchReport>),
    ("transfer", report_schema::<transfer::TransferReport>),
    ("validate", report_schema::<validate::ValidateReport>),
];

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if args.command.is_empty() {
        let commands: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
        let text = format!("{}\n", commands.join("\n"));
        let list = SchemaList {
            version: VERSION,
            commands,
        };
        return console.print_result(&list, &text, &[]);
    }

    let name = args.command.join(" ");
    let Some((_, schema)) = SCHEMAS.iter().find(|(known, _)| *known == name) else {
        return Err(Failure::usage(format!(
            "there is no report of '{name}'; `pliant schema` lists the commands that print one"
        )));
    };
    // A schema is one JSON object by itself, with and without --json.
    let text = serde_json::to_string_pretty(&schema(&name)).expect("a schema is JSON");
    print(&format!("{text}\n"))
}
