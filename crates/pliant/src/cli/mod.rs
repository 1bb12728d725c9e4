//! The command line: arguments in, one library call, report out.
//!
//! - `args`: arguments that several commands share
//! - `batch`: lists of files, one after another
//! - `commands`: the subcommands
//! - `pieces`: commands that compute pieces of their result
//! - `help`: the help page of the program, with its commands in groups
//! - `report`: results, messages, files and exit codes
//! - `threads`: the number of threads, also where the system gives fewer

mod args;
mod batch;
mod commands;
mod help;
mod pieces;
mod report;
mod threads;

use std::ffi::OsString;
use std::io::Write;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use args::file_conflicts::refuse_file_conflicts;
use commands::animation::{blend, markers, shapes, transfer};
use commands::inspection::{bake, convert, flexibility, geodesic, info, pick, render};
use commands::learning::{bones, drive, learn, register, validate};
use commands::posing::{invert, listen, play, pose, sketch, touch};
use commands::program::{completions, demo, job, join, man, reproduce, schema, studio};
use commands::rigs::{mirror, rename, repair, split};
use pieces::Invocation;
use report::console::{Console, ProgressForm};
use report::defect::report_defects;
use report::failure::Failure;
use report::interrupt::end_cleanly_on_signals;

/// Exit code of wrong usage.
const USAGE: u8 = 2;

/// Heading of the options that all commands have.
const GLOBAL: &str = "Global options";

/// Pose, touch, blend, transfer and learn the deformation of a character mesh.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, after_help = help::AFTER_HELP, propagate_version = true, max_term_width = help::MAX_WIDTH)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print the result as one JSON object (see `pliant schema`).
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,

    /// Number of threads [default: all cores]. It does not change results.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print results and errors only: no progress, no warnings, no summary.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    quiet: bool,

    /// Form of progress messages: a bar, or lines for Open Job Description.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FORM", value_enum, default_value_t)]
    progress: ProgressForm,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Studio(studio::Args),
    Info(info::Args),
    Convert(convert::Args),
    Pose(Box<pose::Args>),
    Sketch(Box<sketch::Args>),
    Invert(Box<invert::Args>),
    Play(Box<play::Args>),
    Listen(listen::Args),
    Touch(Box<touch::Args>),
    Blend(Box<blend::Args>),
    Transfer(Box<transfer::Args>),
    Markers(markers::Args),
    Shapes(shapes::Args),
    Bones(bones::Args),
    Bake(bake::Args),
    Flexibility(flexibility::Args),
    Register(register::Args),
    Learn(learn::Args),
    Drive(Box<drive::Args>),
    Validate(validate::Args),
    Geodesic(geodesic::Args),
    Pick(pick::Args),
    Render(render::Args),
    Reproduce(reproduce::Args),
    Mirror(mirror::Args),
    Split(split::Args),
    Rename(rename::Args),
    Repair(repair::Args),
    Join(join::Args),
    Job(job::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the command line `arguments`, whose first is the name of the program, and returns its exit
/// code: 0 done; 1 failed, with one line on stderr; 2 wrong usage; 70 a defect of the program; 130
/// stopped by a signal.
///
/// It handles Ctrl-C and sets the panic hook of the process: for a process that runs one command.
pub fn run_arguments(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let code = report_defects(|| {
        let matches = help::with_groups(Cli::command()).try_get_matches_from(arguments);
        let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
        match parsed {
            Ok((cli, matches)) => run(&cli, &matches),
            Err(error) => {
                // A closed pipe is no reason to fail.
                let _ = error.print();
                u8::try_from(error.exit_code()).unwrap_or(USAGE)
            }
        }
    });
    // A process that Rust does not end keeps what is not flushed.
    let _ = std::io::stdout().flush();
    code
}

fn run(cli: &Cli, matches: &ArgMatches) -> u8 {
    end_cleanly_on_signals();
    let mut console = Console::new(cli.json, cli.quiet).with_progress(cli.progress);
    if threads::start(cli.threads.map(usize::from), &console).is_err() {
        console = console.without_threads();
    }

    let invocation = Invocation::of(&Cli::command(), matches);
    let done = refuse_file_conflicts(matches)
        .and_then(|()| run_command(&cli.command, &invocation, &console));
    match done {
        Ok(()) => 0,
        Err(failure) => {
            console.fail(&failure);
            failure.exit_code()
        }
    }
}

fn run_command(
    command: &Command,
    invocation: &Invocation,
    console: &Console,
) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args, console),
        Command::Studio(args) => studio::run(args),
        Command::Info(args) => info::run(args, console),
        Command::Convert(args) => convert::run(args, console),
        Command::Pose(args) => pose::run(args, console),
        Command::Sketch(args) => sketch::run(args, console),
        Command::Invert(args) => invert::run(args, invocation, console),
        Command::Listen(args) => listen::run(args, console),
        Command::Play(args) => play::run(args, console),
        Command::Touch(args) => touch::run(args, console),
        Command::Blend(args) => blend::run(args, invocation, console),
        Command::Transfer(args) => transfer::run(args, invocation, console),
        Command::Markers(args) => markers::run(args, console),
        Command::Shapes(args) => shapes::run(args, console),
        Command::Bones(args) => bones::run(args, console),
        Command::Bake(args) => bake::run(args, console),
        Command::Flexibility(args) => flexibility::run(args, console),
        Command::Register(args) => register::run(args, console),
        Command::Learn(args) => learn::run(args, console),
        Command::Drive(args) => drive::run(args, invocation, console),
        Command::Validate(args) => validate::run(args, invocation, console),
        Command::Geodesic(args) => geodesic::run(args, console),
        Command::Pick(args) => pick::run(args, console),
        Command::Render(args) => render::run(args, invocation, console),
        Command::Reproduce(args) => reproduce::run(args, console),
        Command::Mirror(args) => mirror::run(args, console),
        Command::Split(args) => split::run(args, console),
        Command::Rename(args) => rename::run(args, console),
        Command::Repair(args) => repair::run(args, console),
        Command::Join(args) => join::run(args, console),
        Command::Job(args) => job::run(args, console),
        Command::Schema(args) => schema::run(args, console),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}
