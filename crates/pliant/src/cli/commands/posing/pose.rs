//! `pliant pose`: slider weights from pins.

use std::path::PathBuf;
use std::time::Instant;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{ExactGeodesics, MeshError, SurfacePoint};
use pliant_rig::{Pin, Poser, Rig, RigError};

pub(crate) use super::pose_output::PoseReport;
use super::pose_output::{PoseOutputArgs, SolvedPose};
use crate::cli::args::pose_solver::{Method, SolverArgs, mirrored_sliders};
use crate::cli::args::slider_weights;
use crate::cli::args::vertex::{parse_disc, parse_pin};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::microseconds_since;
use crate::cli::report::output::OutputFiles;

const EXAMPLES: &str = "\
Examples:
  # Drag a corner of the mouth; the sliders follow
  pliant pose specimen:head --pin 4480:0.7,1.1,0 --out posed.obj

  # Drag one vertex and hold two others
  pliant pose head.glb --pin 88:0,-1,0 --hold 1204,77 \\
      --weights-out w.json --out posed.glb

  # Continue from a pose; pins are displacements from there
  pliant pose head.glb --pin 88:0,0.3,0 --weights-in w.json \\
      --out further.glb

  # Keep the jaw; allow one slider to go below zero
  pliant pose head.glb --pin 88:0,-1,0 --lock jawOpen \\
      --limits mouthLeft=-1..1 --out posed.glb

  # Another method; plain positions as output
  pliant pose head.glb --pin 88:0,-1,0 --method transpose --out posed.npy

  # Add a residual layer for what no slider reaches, and map it
  pliant pose head.glb --pin 88:0,0.2,0.4 --residual \\
      --heatmap miss.npy --out posed.glb

  # Keep the residual layer as a new slider of the rig
  pliant pose head.glb --pin 88:0,0.2,0.4 --promote cheekDent \\
      --rig-out more.glb --weights-out w.json --out posed.glb

  # Look at a pose
  pliant render head.glb --weights jawOpen=0.4 --out look.png

Pins:
  A pin V:dx,dy,dz is a vertex and its displacement from the current pose, in
  asset units.

Rig settings (--settings), a JSON object by target names; all parts optional:
  {\"limits\": {\"jawLeft\": [-1, 1]},
   \"locked\": [\"eyeWideLeft\"],
   \"exclusive\": [[\"mouthSmileLeft\", \"mouthFrownLeft\"]],
   \"groups\": {\"brows\": [\"browInnerUp\"]},
   \"smooth\": [\"eyeBlinkLeft\"],
   \"in_betweens\": {\"blink50\": {\"of\": \"eyeBlinkLeft\", \"at\": 0.5}},
   \"combinations\": {\"smile_jaw\": {
     \"drivers\": [\"mouthSmileLeft\", \"jawOpen\"], \"rule\": \"product\"}}}
  Rules are product, lowest and smooth-lowest. Smooth sliders pass their
  in-betweens without a kink.

Report:
  --json lists which sliders moved, what each did at each pin, which limits
  are active and what no slider can reach; see `pliant schema pose`.";

/// Computes the slider weights of a rig from dragged vertices.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    /// Vertex and its displacement from the current pose, in asset units. Repeat for more pins.
    #[arg(long, value_name = "V:dx,dy,dz", required = true, allow_hyphen_values = true, value_parser = parse_pin)]
    pin: Vec<(usize, DVec3)>,

    /// Vertices that stay at their positions.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    hold: Vec<usize>,

    /// box: region that stays still, the geodesic disc of radius R (asset units) around a vertex.
    #[arg(long, value_name = "V:R", value_delimiter = ',', value_parser = parse_disc)]
    protect: Vec<(usize, f64)>,

    /// box: move left and right sliders together. Sliders are paired by name.
    #[arg(long)]
    symmetric: bool,

    #[command(flatten)]
    solver: SolverArgs,

    /// Pose to start from: a JSON map from slider to weight [default: all zero].
    #[arg(long, value_name = "FILE.json")]
    weights_in: Option<PathBuf>,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    #[command(flatten)]
    outputs: PoseOutputArgs,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if args.solver.method != Method::Box && (args.symmetric || !args.protect.is_empty()) {
        return Err(Failure::usage(
            "--symmetric and --protect need --method box; the other methods do not support them",
        ));
    }

    let _spinner = console.spinner("posing");
    let (asset, rig) = args.solver.load_rig(&args.rig, args.neutral.as_deref())?;
    let start_weights = slider_weights::read_or_zero(args.weights_in.as_deref(), &rig)?;
    let pins = args.pins();
    let mirror = args.symmetric.then(|| mirrored_sliders(&rig));
    let solver = args.solver.solver(args.protected_vertices(&rig)?, mirror);

    let about = |error: RigError| Failure::about(&args.rig, &error);
    let poser = Poser::new(&rig).map_err(about)?;
    let mut drag = poser
        .grab(&start_weights, &pins, solver.as_ref(), args.solver.range())
        .map_err(about)?;

    // Only the solve is timed: it is what an interactive drag repeats.
    let displacements: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    let start = Instant::now();
    let pose = drag.solve(&displacements);
    let solve_us = microseconds_since(start);
    let explanation = drag.explain(&pose);

    let solved = SolvedPose {
        locator: &args.rig,
        asset: &asset,
        rig: &rig,
        pins,
        pose,
        solve_us,
        explanation,
    };
    let written = solved.write(&args.outputs, OutputFiles::default())?;
    console.print_summary(&written.report, &written.summary, &written.warnings)
}

impl Args {
    fn pins(&self) -> Vec<Pin> {
        let dragged = self.pin.iter().map(|&(v, d)| Pin::new(v, d));
        let held = self.hold.iter().map(|&v| Pin::hold(v));
        dragged.chain(held).collect()
    }

    /// The vertices of the protected regions, in order.
    fn protected_vertices(&self, rig: &Rig) -> Result<Vec<u32>, Failure> {
        if self.protect.is_empty() {
            return Ok(Vec::new());
        }

        let about = |error: MeshError| Failure::about(&self.rig, &error);
        let mut geodesics = ExactGeodesics::new(rig.neutral()).map_err(about)?;
        let mut vertices = Vec::new();
        for &(vertex, radius) in &self.protect {
            rig.neutral().require_vertex(vertex).map_err(about)?;
            let center = SurfacePoint::Vertex(vertex as u32);
            let disc = geodesics.disc(&[center], radius).map_err(about)?;
            vertices.extend(disc.vertices);
        }

        // Discs may overlap.
        vertices.sort_unstable();
        vertices.dedup();
        Ok(vertices)
    }
}
