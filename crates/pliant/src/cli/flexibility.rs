//! `pliant flexibility`.

use std::path::PathBuf;
use std::time::Instant;

use pliant_io::npy;
use pliant_transfer::Flexibility;
use serde_json::{Map, json};

use super::console::Console;
use super::failure::Failure;
use super::{output, source};

const EXAMPLES: &str = "\
Examples:
  pliant flexibility walk.glb --out f.npy                 where a walk bends its mesh
  pliant flexibility hound.reference.obj+hound.frames.npy --out f.npy
                                                          from a mesh and its frames
  pliant flexibility 'specimen:hound#walk' --out f.npy    on a built-in model
  pliant render specimen:hound --scalar f.npy --range 0,0.1 --out f.png
                                                          and how that looks

The array holds one float64 per triangle, polygons cut into fans in file order: the largest change
between the deformations of two neighbours over all frames, squared, in the mean over the
neighbours. Stiff parts are near 0; two triangles that bend by 90 degrees at one edge differ by 4.
Units and rigid motions change nothing. Markers for a transfer matter where the values are large.";

/// Where a clip bends its mesh, triangle by triangle.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The clip: any asset with frames.
    clip: String,

    /// Where to write the values.
    #[arg(long, value_name = "FILE.npy")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["npy"])?;
    let _working = console.working("comparing neighbours");
    let asset = pliant_io::load(&args.clip, &source::options(None))?;
    let clip = asset.clip()?;
    clip.reference()
        .require_surface()
        .map_err(|error| Failure::about(&args.clip, &error))?;
    let began = Instant::now();
    let flexibility = Flexibility::of(&clip).map_err(|error| Failure::about(&args.clip, &error))?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let values = flexibility.of_triangles();
    output::write(
        &args.out,
        npy::write_f64(&[values.len()], values.iter().copied()),
    )?;
    let max = values.iter().copied().fold(0.0, f64::max);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("triangles".into(), json!(values.len()));
    object.insert("frames".into(), json!(clip.frames().len()));
    object.insert("max".into(), json!(max));
    object.insert("mean".into(), json!(mean));
    object.insert("ms".into(), json!(ms));
    let text = format!(
        "{} triangles over {} frames, most flexible {max:.4}, mean {mean:.4}; computed in {ms:.1} ms; written to {}\n",
        values.len(),
        clip.frames().len(),
        args.out.display()
    );
    console.done(object, &text, &asset.problems)
}
