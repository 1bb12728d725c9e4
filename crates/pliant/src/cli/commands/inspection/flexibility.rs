//! `pliant flexibility`: how much each triangle deforms relative to its neighbours, over a clip.

use std::path::PathBuf;
use std::time::Instant;

use pliant_io::npy;
use pliant_transfer::Flexibility;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # The flexibility of a walk
  pliant flexibility walk.glb --out f.npy

  # From a mesh and its frames
  pliant flexibility hound.reference.obj+hound.frames.npy --out f.npy

  # On a built-in model, with a picture of the result
  pliant flexibility 'specimen:hound#walk' --out f.npy
  pliant render specimen:hound --scalar f.npy --range 0,0.1 --out f.png

Values:
  One float64 for each triangle; polygons are cut into fans in file order. The
  value is the largest squared difference between the deformation gradients of
  a triangle and its neighbours over all frames, averaged over the neighbours
  (Wang and Lee 2008, eq. 1). Rigid parts are near 0. Two triangles that bend
  by 90 degrees at their edge differ by 4. Units and rigid motion have no
  effect. Markers for a transfer matter most where the values are large.";

/// Computes how much each triangle deforms relative to its neighbours, over a clip.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Clip: any asset with frames.
    clip: String,

    /// File for the values, one for each triangle.
    #[arg(long, value_name = "FILE.npy")]
    out: PathBuf,
}

/// The report of `pliant flexibility`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FlexibilityReport {
    /// File of the values.
    out: String,
    /// Triangles of the mesh.
    triangles: usize,
    /// Frames of the clip.
    frames: usize,
    /// Largest value.
    max: f64,
    /// Mean of the values.
    mean: f64,
    /// Time of the computation, in milliseconds.
    ms: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["npy"])?;
    let _spinner = console.spinner("comparing neighbouring triangles");
    let asset = pliant_io::load(&args.clip, &source::options(None))?;
    let clip = asset.clip()?;
    clip.reference()
        .require_surface()
        .map_err(|error| Failure::about(&args.clip, &error))?;

    let start = Instant::now();
    let flexibility = Flexibility::of(&clip).map_err(|error| Failure::about(&args.clip, &error))?;
    let ms = milliseconds_since(start);

    let values = flexibility.of_triangles();
    let array = npy::write_f64(&[values.len()], values.iter().copied());
    output::write(&args.out, array)?;

    let report = FlexibilityReport {
        out: path_text(&args.out),
        triangles: values.len(),
        frames: clip.frames().len(),
        max: values.iter().copied().fold(0.0, f64::max),
        mean: values.iter().sum::<f64>() / values.len() as f64,
        ms,
    };
    console.print_summary(&report, &report.summary(), &asset.warnings)
}

impl FlexibilityReport {
    fn summary(&self) -> String {
        format!(
            "{} triangles over {} frames; largest value {:.4}, mean {:.4}\n  computed in {:.1} ms\nwritten to {}\n",
            self.triangles, self.frames, self.max, self.mean, self.ms, self.out
        )
    }
}
