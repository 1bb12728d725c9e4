//! `pliant pose`: slider weights from pins.

use std::path::PathBuf;
use std::time::Instant;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{ExactGeodesics, MeshError, SurfacePoint};
use pliant_rig::{Poser, Rig, RigError};
use schemars::JsonSchema;
use serde::Serialize;

use super::drag::{DragReport, Dragged, PathArgs};
use super::pose_output::{PoseOutputArgs, PoseReport, SolvedPose};
use crate::cli::args::pin::{PinArgs, PinFrame};
use crate::cli::args::place::Places;
use crate::cli::args::pose_solver::{LoadedRig, Method, SolverArgs, mirrored_sliders};
use crate::cli::args::slider_weights;
use crate::cli::args::vertex::parse_disc;
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

  # Drag a chin down as it looks in a front view; the depth is free
  pliant pose head.glb --pin-view 88:0,-1 --view front --out posed.obj

  # Push a cheek in along its normal; half as stiff as a usual pin
  pliant pose head.glb --pin-normal 88:-0.3@0.5 --out posed.obj

  # A vertex by name; `pliant pick --help` lists the landmarks
  pliant pose head.glb --pin 'mouth corner left:0.3,0.5,0' --out posed.obj

  # A face in frame 12 of its clip, as its joints pose it
  pliant pose walk.glb@12 --pin 88:0,0.3,0 --out posed.glb

  # A drag: P.npy holds steps x pins x 3 displacements from the start
  pliant pose head.glb --pin 88 --pin 1204 --path P.npy --out drag.glb

  # Continue from a pose; pins are displacements from there
  pliant pose head.glb --pin 88:0,0.3,0 --weights-in w.json \\
      --out further.glb

  # Keep the jaw; allow one slider to go below zero
  pliant pose head.glb --pin 88:0,-1,0 --lock jawOpen \\
      --limits mouthLeft=-1..1 --out posed.glb

  # Another method; plain positions as output
  pliant pose head.glb --pin 88:0,-1,0 --method transpose --out posed.npy

  # The most probable pose by what the built-in performance does
  pliant pose head.glb --pin 88:0,-1,0 --prior builtin --out posed.glb

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
  asset units. --pin binds all three coordinates of the vertex, --pin-view the
  two of a picture, --pin-normal the surface normal, --pin-tangent the tangent
  plane, and --pin-ray the distance from a ray. What a pin does not bind is
  free. @S after the numbers is a stiffness relative to other pins (1).
  A path names the pins in the order of these options; held pins are not in it.

Rig settings (--settings), a JSON object by target names; all parts optional:
  {\"limits\": {\"jawLeft\": [-1, 1]},
   \"locked\": [\"eyeWideLeft\"],
   \"exclusive\": [[\"mouthSmileLeft\", \"mouthFrownLeft\"]],
   \"groups\": {\"brows\": [\"browInnerUp\"]},
   \"smooth\": [\"eyeBlinkLeft\"],
   \"in_betweens\": {\"blink50\": {\"of\": \"eyeBlinkLeft\", \"at\": 0.5}},
   \"combinations\": {\"smile_jaw\": {
     \"drivers\": [\"mouthSmileLeft\", \"jawOpen\"], \"rule\": \"product\"}}}
  An exclusive set may have more than two sliders.
  Rules are product, lowest and smooth-lowest. Smooth sliders pass their
  in-betweens without a kink.

Driven targets (--driven):
  Targets such as smile_jawOpen, AU6_AU12 or blink_050 are combinations and
  in-betweens if their parts are sliders of the rig and their displacements
  agree; their sliders drive them. `pliant info` lists them, and targets that
  equal others or sums of others, whose weights --lock-aliases keeps. With
  `--driven off` every target is a slider.

Report:
  --json lists which sliders moved, what each did at each pin, which limits
  are active and what no slider can reach; see `pliant schema pose`.";

const USAGE: &str = "\
pliant pose [OPTIONS] --pin <V:dx,dy,dz> --out <FILE> <RIG>
       pliant pose [OPTIONS] --pin-view <V:dx,dy> --out <FILE> <RIG>
       pliant pose [OPTIONS] --pin <V> --path <P.npy> --out <CLIP> <RIG>";

/// Computes the slider weights of a rig from dragged vertices.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE, group(clap::ArgGroup::new("dragged").required(true).multiple(true).args(PinArgs::DRAGGED)))]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    #[command(flatten)]
    pins: PinArgs,

    #[command(flatten)]
    path: PathArgs,

    /// box: region that stays still, the geodesic disc of radius R (asset units) around a vertex.
    #[arg(long, value_name = "V:R", value_delimiter = ',', value_parser = parse_disc)]
    protect: Vec<(usize, f64)>,

    /// box: move left and right sliders together. Sliders are paired by name.
    #[arg(long)]
    symmetric: bool,

    #[command(flatten)]
    solver: SolverArgs,

    /// Pose to start from: a JSON map from slider or preset to weight [default: that of RIG@FRAME,
    /// else all zero].
    #[arg(long, value_name = "FILE.json")]
    weights_in: Option<PathBuf>,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    #[command(flatten)]
    outputs: PoseOutputArgs,
}

/// The report of `pliant pose`: of one pose, or with `--path` of a drag.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PoseOutput {
    /// One pose.
    Pose(Box<PoseReport>),
    /// A drag, with `--path`.
    Drag(Box<DragReport>),
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if args.solver.method != Method::Box && (args.symmetric || !args.protect.is_empty()) {
        return Err(Failure::usage(
            "--symmetric and --protect need --method box; the other methods do not support them",
        ));
    }

    args.check_displacements()?;

    let _spinner = console.spinner("posing");
    let LoadedRig {
        mut asset,
        bind,
        pose: character,
        rig,
    } = args.solver.load_rig(&args.rig, args.neutral.as_deref())?;
    let start_weights = match &args.weights_in {
        Some(path) => slider_weights::read(path, &rig, &asset.presets)?,
        None => character.weights().to_vec(),
    };
    let about = |error: RigError| Failure::about(&args.rig, &error);
    let posed = rig
        .neutral()
        .posed(rig.evaluate(&start_weights))
        .map_err(|error| Failure::about(&args.rig, &error))?;
    // Landmarks are found on the neutral, which stands upright.
    let places = Places::on(&bind, &args.rig);
    let pins = args.pins.resolve(&PinFrame {
        mesh: &posed,
        places: &places,
        locator: &args.rig,
    })?;
    asset.warnings.extend(places.warnings(&args.pins.places()));
    let mirror = args.symmetric.then(|| mirrored_sliders(&rig));
    let solver = args.solver.solver(args.protected_vertices(&rig)?, mirror);
    let (solver, prior) = args.solver.with_prior(solver, &rig)?;

    let poser = Poser::new(&rig).map_err(about)?;
    let mut drag = poser
        .grab(
            &start_weights,
            &pins.all,
            solver.as_ref(),
            args.solver.range(),
        )
        .map_err(about)?;

    if let Some(path) = &args.path.path {
        let dragged = Dragged {
            asset: &asset,
            character: &character,
            rig: &rig,
            locator: &args.rig,
            pins: &pins,
        };
        let mut written = dragged.follow(path, &mut drag, &args.path, &args.outputs)?;
        written.warnings.extend(args.unused_displacements());
        let report = PoseOutput::Drag(Box::new(written.report));
        return console.print_summary(&report, &written.summary, &written.warnings);
    }

    // Only the solve is timed: it is what an interactive drag repeats.
    let displacements: Vec<DVec3> = pins.all.iter().map(|pin| pin.displacement).collect();
    let start = Instant::now();
    let pose = drag.solve(&displacements);
    let solve_us = microseconds_since(start);
    let explanation = drag.explain(&pose);

    let solved = SolvedPose {
        locator: &args.rig,
        asset: &asset,
        bind: &bind,
        character: &character,
        rig: &rig,
        pins: pins.all,
        pose,
        solve_us,
        explanation,
        prior,
    };
    let written = solved.write(&args.outputs, OutputFiles::default())?;
    let report = PoseOutput::Pose(Box::new(written.report));
    console.print_summary(&report, &written.summary, &written.warnings)
}

impl Args {
    /// Without a path, every dragged pin has a displacement of its own.
    fn check_displacements(&self) -> Result<(), Failure> {
        if self.pins.lacks_displacement() && self.path.path.is_none() {
            return Err(Failure::usage(
                "a pin has no displacement; write V:dx,dy,dz, or give a --path",
            ));
        }
        Ok(())
    }

    /// A warning about displacements that a path replaces.
    fn unused_displacements(&self) -> Option<String> {
        let unused =
            "--path gives the displacements of the pins; those of the options are not used";
        self.pins.has_displacements().then(|| unused.to_owned())
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
