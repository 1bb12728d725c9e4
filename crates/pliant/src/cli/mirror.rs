//! `pliant mirror`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pliant_io::Asset;
use pliant_rig::{Rig, Side, SliderPairs, VertexMirror, mirror_rig, symmetric_rig};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::symmetry::{PlaneChoice, parse_plane, plane, plane_json};
use super::{edited, output, slider_weights};

const EXAMPLES: &str = "\
Examples:
  pliant mirror face.glb --weights-in smirk.json --weights-out other-smirk.json
                                              a pose on the other side
  pliant mirror face.glb --from left --out even.glb
                                              the right side made from the left
  pliant mirror face.glb --out flipped.glb    each target the mirror image of its partner
  pliant mirror scan.obj+deltas.npy --plane x:0.2 --pairs shape --out flipped.glb
                                              the plane given, partners by what they move

Partners are found by name (smile_L and smile_R, jawLeft and jawRight), or with --pairs shape by
their displacements; a slider without a side is its own. Vertices are matched by place, and from
there over the faces. What has no partner stays as it is and is counted.";

/// Mirrors a pose, or makes a rig symmetric.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group(clap::ArgGroup::new("what").required(true).args(["weights_in", "out"])))]
pub(crate) struct Args {
    /// The rig.
    rig: String,

    /// A pose to mirror: a map of names to weights.
    #[arg(long, value_name = "W.json", requires = "weights_out", conflicts_with_all = ["out", "from"])]
    weights_in: Option<PathBuf>,

    /// Where to write the mirrored pose.
    #[arg(long, value_name = "W.json", requires = "weights_in")]
    weights_out: Option<PathBuf>,

    /// Where to write the mirrored rig.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Keep this side and make the other from it.
    #[arg(long, value_enum, value_name = "SIDE")]
    from: Option<FromSide>,

    /// How sliders find their partners.
    #[arg(long, value_enum, default_value_t = By::Name)]
    pairs: By,

    /// The plane of symmetry: x, y or z, and where it lies, as x:0.5 (default: found).
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    plane: Option<PlaneChoice>,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FromSide {
    /// The character's left.
    Left,
    /// The character's right.
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// By the side in their names.
    Name,
    /// By what they move.
    Shape,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _working = console.working("mirroring");
    let asset = edited::load(&args.rig, args.neutral.as_deref())?;
    let rig = asset.rig()?;
    match (&args.weights_in, &args.weights_out, &args.out) {
        (Some(from), Some(to), _) => mirror_pose(args, &asset, &rig, from, to, console),
        (_, _, Some(out)) => mirror_targets(args, &asset, &rig, out, console),
        _ => unreachable!("the argument group asks for one of them"),
    }
}

fn mirror_pose(
    args: &Args,
    asset: &Asset,
    rig: &Rig,
    from: &Path,
    to: &Path,
    console: &Console,
) -> Result<(), Failure> {
    output::require_ending(to, &["json"])?;
    let weights = slider_weights::read(from, rig)?;
    let names = names(rig);
    let pairs = match args.pairs {
        By::Name => SliderPairs::by_name(&names),
        By::Shape => SliderPairs::by_shape(rig, &vertex_mirror(args, rig)?),
    };
    let mirrored = pairs.mirror_weights(&weights);
    slider_weights::write(to, rig, &mirrored)?;
    let lost: Vec<usize> = pairs
        .unpaired()
        .into_iter()
        .filter(|&k| weights[k] != 0.0)
        .collect();
    let mut problems = asset.problems.clone();
    problems.extend(unpaired_problem(&lost, &names));
    let mut object = pairs_json(&pairs, &names);
    object.insert(
        "weights".into(),
        Value::Object(slider_weights::by_name(rig, &mirrored)),
    );
    object.insert("out".into(), json!(to.display().to_string()));
    console.done(
        object,
        &format!("mirrored the pose; written to {}\n", to.display()),
        &problems,
    )
}

fn mirror_targets(
    args: &Args,
    asset: &Asset,
    rig: &Rig,
    out: &Path,
    console: &Console,
) -> Result<(), Failure> {
    let mirror = vertex_mirror(args, rig)?;
    let names = names(rig);
    let pairs = match args.pairs {
        By::Name => SliderPairs::by_name(&names),
        By::Shape => SliderPairs::by_shape(rig, &mirror),
    };
    let made = match args.from {
        None => mirror_rig(rig, &mirror, &pairs),
        Some(FromSide::Left) => symmetric_rig(rig, &mirror, &pairs, Side::Left),
        Some(FromSide::Right) => symmetric_rig(rig, &mirror, &pairs, Side::Right),
    };
    let made = made.map_err(|error| Failure::about(&args.rig, &error))?;
    let unmatched = mirror.unmatched();
    let mut problems = asset.problems.clone();
    problems.extend(unpaired_problem(&pairs.unpaired(), &names));
    if !unmatched.is_empty() {
        problems.push(format!(
            "{} of {} vertices have no mirror image and stay as they are",
            unmatched.len(),
            mirror.partners().len()
        ));
    }
    let mut object = pairs_json(&pairs, &names);
    object.insert("plane".into(), plane_json(mirror.plane()));
    object.insert("unmatched_vertices".into(), json!(unmatched));
    edited::save(
        &asset.with_targets(made.targets())?,
        out,
        &mut object,
        &mut problems,
    )?;
    console.done(
        object,
        &format!(
            "mirrored {} targets; written to {}\n",
            names.len(),
            out.display()
        ),
        &problems,
    )
}

fn vertex_mirror(args: &Args, rig: &Rig) -> Result<VertexMirror, Failure> {
    let mirror = VertexMirror::by_position(
        rig.neutral(),
        plane(
            args.plane,
            rig.neutral(),
            &args.rig,
            "name one, as --plane x:0.5",
        )?,
    );
    if mirror.partners().iter().all(Option::is_none) {
        let message = format!(
            "{}: no vertex has a mirror image at this plane; name another, as --plane x",
            args.rig
        );
        return Err(Failure::could_not(message));
    }
    Ok(mirror)
}

fn names(rig: &Rig) -> Vec<&str> {
    rig.targets()
        .iter()
        .map(|target| target.name.as_str())
        .collect()
}

fn unpaired_problem(unpaired: &[usize], names: &[&str]) -> Option<String> {
    let quoted: Vec<String> = unpaired
        .iter()
        .map(|&k| format!("'{}'", names[k]))
        .collect();
    (!quoted.is_empty()).then(|| {
        format!(
            "{} target(s) have no partner and stay as they are: {}",
            quoted.len(),
            quoted.join(", ")
        )
    })
}

fn pairs_json(pairs: &SliderPairs, names: &[&str]) -> Map<String, Value> {
    let partners: Vec<(usize, usize)> = pairs
        .partners()
        .iter()
        .enumerate()
        .filter_map(|(k, p)| Some((k, (*p)?)))
        .collect();
    let sided: Vec<[&str; 2]> = partners
        .iter()
        .filter(|(k, p)| k < p)
        .map(|&(k, p)| [names[k], names[p]])
        .collect();
    let middle: Vec<&str> = partners
        .iter()
        .filter(|(k, p)| k == p)
        .map(|&(k, _)| names[k])
        .collect();
    let unpaired: Vec<&str> = pairs.unpaired().into_iter().map(|k| names[k]).collect();
    let mut object = Map::new();
    object.insert("pairs".into(), json!(sided));
    object.insert("middle".into(), json!(middle));
    object.insert("unpaired".into(), json!(unpaired));
    object
}
