//! The command line: arguments in, one library call, results out.

mod bake;
mod blend;
mod blend_report;
mod bones;
mod cage;
mod completions;
mod console;
mod convert;
mod demo;
mod drive;
mod drive_control;
mod edited;
mod failure;
mod flexibility;
mod geodesic;
mod info;
mod info_markers;
mod info_model;
mod invert;
mod learn;
mod markers;
mod mirror;
mod obstacle;
mod output;
mod pose;
mod posed;
mod recipe_file;
mod register;
mod rename;
mod render;
mod reproduce;
mod residual;
mod resumable;
mod shapes;
mod sketch;
mod slider_weights;
mod solver;
mod source;
mod split;
mod stiffness;
mod stroke_files;
mod studio;
mod symmetry;
mod touch;
mod touch_material;
mod touch_method;
mod transfer;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use console::Console;
use failure::Failure;

const AFTER_HELP: &str = "\
Examples:
  pliant demo                              every capability on built-in models, as one page
  pliant studio                            a window: pose, touch, blend, transfer and learn by hand
  pliant info head.obj                     what is in a file, and what is wrong with it
  pliant convert head.obj head.glb         between formats; nothing both can hold is lost
  pliant pose head.glb --pin 88:0,-1,0 --out posed.obj
                                           drag a point of a face; sliders follow
  pliant sketch head.glb --stroke smile.json --out smiling.obj
                                           draw on a face; sliders follow
  pliant invert face.glb capture.glb --out weights.glb
                                           a moving mesh back into curves of sliders
  pliant touch head.glb --center 1204 --radius 3 --collider sphere:6,2,8,1 --toward -1.5,0,-1 --out pressed.glb
                                           a soft patch of skin, pressed by a ball
  pliant blend straight.obj bent.obj --out bend.glb
                                           shapes between shapes; nothing shrinks
  pliant transfer --source walk.glb --target camel.obj --markers pairs.json --out camel.glb
                                           one animal's walk on another
  pliant markers check --source walk.glb --target camel.obj --markers pairs.json
                                           which pairs of vertices are wrong, and where more help
  pliant shapes --source face.glb --target head.obj --markers pairs.json --out head.glb
                                           one head's expressions on another, as a rig
  pliant bones walk.glb --count 20 --out rig.glb
                                           a clip as a skinned rig that any engine plays
  pliant bake smooth.obj wrinkled.obj --out maps
                                           wrinkles as a displacement and a normal map
  pliant register hand.toml --out hand     scans with triangles of their own as poses of one mesh
  pliant learn horse.toml --out horse.safetensors
                                           poses of a mesh as a model driven by a few points
  pliant drive horse.safetensors --points p.npy --out run.glb
                                           and the mesh where those points go
  pliant validate horse.toml               how well it predicts poses that it has not seen
  pliant flexibility walk.glb --out f.npy  where a clip bends its mesh
  pliant geodesic head.obj --from 1204 --out d.npy
                                           distances along the surface
  pliant render head.obj --out head.png    a picture
  pliant reproduce --out papers            the papers' tables and figures, beside the published values
  pliant mirror face.glb --from left --out even.glb
                                           the right side of a rig made from its left
  pliant split face.glb --target smile --out sides.glb
                                           one target as a left and a right one
  pliant rename face.glb --map arkit --dry-run
                                           which slider is which of ARKit's

An ASSET is
  FILE                                     a mesh, rig or clip in any format that can be read
  FILE#NAME                                one mesh or clip in it
  ASSET@N                                  frame N of a clip, counted from 0
  specimen:NAME                            a built-in model: head, hand, hound, tapir, bar
  NEUTRAL.obj+DELTAS.npy                   a rig: targets x vertices x 3, target minus neutral
  BASE.obj+FOLDER                          a rig: a folder of MakeHuman .target files
  FOLDER                                   a rig: OBJs, one of them neutral.obj
  NAME.reference.obj+NAME.frames.npy       a clip: frames x vertices x 3
  MESH+CACHE.mdd (or .pc2)                 a clip: a point cache
Vertices are counted from 0 in the file's own order; glTF splits them at seams, and there they count
as welded together again. `pliant COMMAND --help` teaches each command
by example.";

/// Pose, touch, blend, transfer and learn the deformation of a character mesh from examples.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, after_help = AFTER_HELP, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print the result as exactly one JSON object.
    #[arg(long, global = true)]
    json: bool,

    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print only what was asked for and errors: no progress, no warnings, no "written to".
    #[arg(long, short, global = true)]
    quiet: bool,
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
    Touch(Box<touch::Args>),
    Blend(blend::Args),
    Transfer(Box<transfer::Args>),
    Markers(markers::Args),
    Shapes(shapes::Args),
    Bones(bones::Args),
    Bake(bake::Args),
    Flexibility(flexibility::Args),
    Register(register::Args),
    Learn(learn::Args),
    Drive(drive::Args),
    Validate(validate::Args),
    Geodesic(geodesic::Args),
    Render(render::Args),
    Reproduce(reproduce::Args),
    Mirror(mirror::Args),
    Split(split::Args),
    Rename(rename::Args),
    Completions(completions::Args),
}

/// Runs one command: exit 0 done, 1 could not (one line on stderr), 2 wrong usage.
pub(crate) fn run(cli: Cli) -> ExitCode {
    let console = Console::new(cli.json, cli.quiet);
    if let Some(threads) = cli.threads {
        limit_threads(threads.into());
    }
    let outcome = match cli.command {
        Command::Demo(args) => demo::run(&args, &console),
        Command::Studio(args) => studio::run(&args),
        Command::Info(args) => info::run(&args, &console),
        Command::Convert(args) => convert::run(&args, &console),
        Command::Pose(args) => pose::run(&args, &console),
        Command::Sketch(args) => sketch::run(&args, &console),
        Command::Invert(args) => invert::run(&args, &console),
        Command::Touch(args) => touch::run(&args, &console),
        Command::Blend(args) => blend::run(&args, &console),
        Command::Transfer(args) => transfer::run(&args, &console),
        Command::Markers(args) => markers::run(&args, &console),
        Command::Shapes(args) => shapes::run(&args, &console),
        Command::Bones(args) => bones::run(&args, &console),
        Command::Bake(args) => bake::run(&args, &console),
        Command::Flexibility(args) => flexibility::run(&args, &console),
        Command::Register(args) => register::run(&args, &console),
        Command::Learn(args) => learn::run(&args, &console),
        Command::Drive(args) => drive::run(&args, &console),
        Command::Validate(args) => validate::run(&args, &console),
        Command::Geodesic(args) => geodesic::run(&args, &console),
        Command::Render(args) => render::run(&args, &console),
        Command::Reproduce(args) => reproduce::run(&args, &console),
        Command::Mirror(args) => mirror::run(&args, &console),
        Command::Split(args) => split::run(&args, &console),
        Command::Rename(args) => rename::run(&args, &console),
        Command::Completions(args) => completions::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.fail(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn limit_threads(threads: usize) {
    // Only fails where a pool exists already, and nothing has started one yet.
    #[cfg(feature = "parallel")]
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global();
    #[cfg(not(feature = "parallel"))]
    let _ = threads;
}
