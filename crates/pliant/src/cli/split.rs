//! `pliant split`.

use std::path::PathBuf;

use pliant_rig::{Rig, Side, SideStyle, SplitOptions, SplitRig, split_rig, splittable_targets};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::edited;
use super::failure::Failure;
use super::symmetry::{PlaneChoice, parse_plane, plane, plane_json};

const EXAMPLES: &str = "\
Examples:
  pliant split face.glb --target smile --out sides.glb      smile becomes smileLeft and smileRight
  pliant split face.glb --target smile frown --width 0.8 --out sides.glb
                                                            two of them, over 0.8 units
  pliant split face.glb --out sides.glb                     all that have no side and move both

Left and right fade into each other over the width (default: 5 % of the diagonal) and add up to
the target to the last bit. Names follow the rig: with eyeBlink_L in it, smile becomes smile_L and
smile_R.";

/// Splits targets into a left and a right one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The rig.
    rig: String,

    /// The targets to split (default: all without a side that move both).
    #[arg(long, value_name = "NAME", num_args = 1..)]
    target: Vec<String>,

    /// From all left to all right, in the asset's units; 0 cuts sharply.
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = parse_width)]
    width: Option<f64>,

    /// The plane between the sides: x, y or z, and where it lies, as x:0.5 (default: found).
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    plane: Option<PlaneChoice>,

    /// Where to write the rig.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _working = console.working("splitting");
    let asset = edited::load(&args.rig, args.neutral.as_deref())?;
    let rig = asset.rig()?;
    let plane = plane(
        args.plane,
        rig.neutral(),
        &args.rig,
        "name one, as --plane x:0.5",
    )?;
    let options = SplitOptions::new(&rig, plane);
    let options = args
        .width
        .map_or(options, |width| options.with_width(width));
    let chosen = if args.target.is_empty() {
        splittable_targets(&rig, plane)
    } else {
        by_name(args, &rig)?
    };
    let names: Vec<&str> = chosen
        .iter()
        .map(|&k| rig.targets()[k].name.as_str())
        .collect();
    // Of the whole rig: one object of it may have no sides to go by.
    let style = SideStyle::of_rig(&rig);
    let made = asset.map_rigs(|object| {
        let own = object
            .rig
            .targets()
            .iter()
            .enumerate()
            .filter(|(_, target)| names.contains(&target.name.as_str()));
        let own: Vec<usize> = own.map(|(k, _)| k).collect();
        let SplitRig { rig, sources } = split_rig(&object.rig, &own, &options, &style)?;
        Ok((rig, sources.into_iter().map(Some).collect()))
    })?;
    let halves = |name: &&str| json!({"target": name, "left": style.name(name, Side::Left), "right": style.name(name, Side::Right)});
    let split: Vec<Value> = names.iter().map(halves).collect();
    let mut object = Map::new();
    let mut problems = asset.problems.clone();
    object.insert("split".into(), json!(split));
    object.insert("width".into(), json!(options.width));
    object.insert("plane".into(), plane_json(plane));
    edited::save(&made, &args.out, &mut object, &mut problems)?;
    if chosen.is_empty() {
        problems.push(
            "no target was split: all have a side in their names or move one side only".into(),
        );
    }
    console.done(
        object,
        &format!(
            "split {} targets; written to {}\n",
            chosen.len(),
            args.out.display()
        ),
        &problems,
    )
}

fn by_name(args: &Args, rig: &Rig) -> Result<Vec<usize>, Failure> {
    let find = |name: &String| {
        let place = rig.targets().iter().position(|target| target.name == *name);
        place.ok_or_else(|| {
            Failure::could_not(format!(
                "{}: it has no target '{name}'; `pliant info` lists them",
                args.rig
            ))
        })
    };
    args.target.iter().map(find).collect()
}

fn parse_width(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(width) if width.is_finite() && width >= 0.0 => Ok(width),
        _ => Err(format!("'{text}' is not a width of zero or more")),
    }
}
