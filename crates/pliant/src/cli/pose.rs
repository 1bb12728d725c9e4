//! `pliant pose`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::Asset;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{ExactGeodesics, SurfacePoint};
use pliant_rig::{Pin, Poser, Rig, RigError, SliderPairs};
use serde_json::Map;

use super::console::Console;
use super::failure::Failure;
use super::output::Outputs;
use super::posed::{Posed, PosedOutputs};
use super::solver::{Method, SolverArgs};
use super::{slider_weights, source};

const EXAMPLES: &str = "\
Examples:
  pliant pose specimen:head --pin 4480:0.7,1.1,0 --out posed.obj
                                               drag a mouth corner; sliders follow
  pliant pose head.glb --pin 88:0,-1,0 --hold 1204,77 --weights-out w.json --out posed.glb
                                               drag one, keep two where they are
  pliant pose head.glb --pin 88:0,0.3,0 --weights-in w.json --out further.glb
                                               go on from a pose: pins count from there
  pliant pose head.glb --pin 88:0,-1,0 --lock jawOpen --limits mouthLeft=-1..1 --out posed.glb
                                               without the jaw; one slider may go below zero
  pliant pose head.glb --pin 88:0,-1,0 --method transpose --out posed.npy
                                               a method of the thesis, and plain positions
  pliant pose head.glb --pin 88:0,0.2,0.4 --residual --heatmap miss.npy --out posed.glb
                                               what no slider reaches is sculpted on top, and mapped
  pliant pose head.glb --pin 88:0,0.2,0.4 --promote cheekPuff --rig-out more.glb --weights-out w.json --out posed.glb
                                               ... and becomes a slider of its own
  pliant render head.glb --weights jawOpen=0.4 --out look.png
                                               look at weights

Settings that files of meshes cannot hold are JSON by the names of targets, every part optional:
  {\"limits\": {\"jawLeft\": [-1, 1]}, \"locked\": [\"eyeWideLeft\"], \"exclusive\": [[\"mouthSmileLeft\", \"mouthFrownLeft\"]],
   \"groups\": {\"brows\": [\"browInnerUp\"]}, \"smooth\": [\"eyeBlinkLeft\"],
   \"in_betweens\": {\"blink50\": {\"of\": \"eyeBlinkLeft\", \"at\": 0.5}},
   \"combinations\": {\"smile_jaw\": {\"drivers\": [\"mouthSmileLeft\", \"jawOpen\"], \"rule\": \"product\"}}}
Rules are product, lowest and smooth-lowest; smooth sliders pass their in-betweens without a kink.

A pin is V:dx,dy,dz: a vertex, and the way it should go from where it is in the current pose.
`--json` tells which sliders moved, what each did at each pin, what a limit held back and what no
slider can reach.";

/// Weights of a rig from dragged points.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The rig: any asset with targets.
    rig: String,

    /// A vertex and where it should go from the current pose; as often as there are pins.
    #[arg(long, value_name = "V:dx,dy,dz", required = true, allow_hyphen_values = true, value_parser = parse_pin)]
    pin: Vec<(usize, DVec3)>,

    /// Vertices that should stay where they are.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    hold: Vec<usize>,

    /// A region that should stay still: the surface within R of a vertex (`box` only).
    #[arg(long, value_name = "V:R", value_delimiter = ',', value_parser = parse_region)]
    protect: Vec<(usize, f64)>,

    /// Move left and right sliders together (`box` only); pairs are found by name.
    #[arg(long)]
    symmetric: bool,

    #[command(flatten)]
    solver: SolverArgs,

    /// The pose to start from: a JSON map from slider to weight [default: all zero].
    #[arg(long, value_name = "FILE.json")]
    weights_in: Option<PathBuf>,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    #[command(flatten)]
    outputs: PosedOutputs,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if args.solver.method != Method::Box && (args.symmetric || !args.protect.is_empty()) {
        return Err(Failure::usage(
            "--symmetric and --protect need --method box; the methods of the thesis know neither",
        ));
    }
    let _working = console.working("posing");
    let (asset, rig) = load_rig(&args.rig, args.neutral.as_deref(), &args.solver)?;
    let start = start_weights(args.weights_in.as_deref(), &rig)?;
    let pins: Vec<Pin> = args
        .pin
        .iter()
        .map(|&(v, d)| Pin::new(v, d))
        .chain(args.hold.iter().map(|&v| Pin::hold(v)))
        .collect();
    let failed = |error: RigError| Failure::about(&args.rig, &error);
    let poser = Poser::new(&rig).map_err(failed)?;
    let solver = args.solver.solver(
        protected(&rig, args)?,
        args.symmetric.then(|| mirrored_sliders(&rig)),
    );
    let mut grab = poser
        .grab(&start, &pins, solver.as_ref(), args.solver.range())
        .map_err(failed)?;
    let displacements: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    let began = Instant::now();
    let pose = grab.solve(&displacements);
    let solve_us = began.elapsed().as_secs_f64() * 1e6;
    let explanation = grab.explain(&pose);
    let posed = Posed {
        name: &args.rig,
        asset: &asset,
        rig: &rig,
        pins,
        pose,
        solve_us,
        explanation,
    };
    posed.write(&args.outputs, Map::new(), Outputs::default(), console)
}

/// A rig with targets, with the limits and locks of the command line.
pub(crate) fn load_rig(
    locator: &str,
    neutral: Option<&str>,
    solver: &SolverArgs,
) -> Result<(Asset, Rig), Failure> {
    let asset = pliant_io::load(locator, &source::options(neutral))?;
    let rig = solver.prepare(asset.rig()?, locator)?;
    Ok((asset, rig))
}

pub(crate) fn start_weights(path: Option<&Path>, rig: &Rig) -> Result<Vec<f64>, Failure> {
    path.map_or_else(
        || Ok(vec![0.0; rig.targets().len()]),
        |path| slider_weights::read(path, rig),
    )
}

/// For each slider the one of the same name on the other side.
pub(crate) fn mirrored_sliders(rig: &Rig) -> Vec<Option<usize>> {
    let names: Vec<&str> = rig
        .targets()
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    SliderPairs::by_name(&names).partners().to_vec()
}

/// The vertices within the protected regions.
fn protected(rig: &Rig, args: &Args) -> Result<Vec<u32>, Failure> {
    if args.protect.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error| Failure::about(&args.rig, &error);
    let mut geodesics = ExactGeodesics::new(rig.neutral()).map_err(failed)?;
    let mut vertices = Vec::new();
    for &(vertex, radius) in &args.protect {
        rig.neutral().require_vertex(vertex).map_err(failed)?;
        vertices.extend(
            geodesics
                .disc(&[SurfacePoint::Vertex(vertex as u32)], radius)
                .map_err(failed)?
                .vertices,
        );
    }
    vertices.sort_unstable();
    vertices.dedup();
    Ok(vertices)
}

pub(crate) fn parse_pin(text: &str) -> Result<(usize, DVec3), String> {
    vertex_and_triple(text).map_err(|what| {
        format!("'{text}' is not a pin: {what}; write V:dx,dy,dz, as in 1204:0,0.5,0")
    })
}

/// `V:x,y,z`, or what is wrong with it.
pub(crate) fn vertex_and_triple(text: &str) -> Result<(usize, DVec3), String> {
    let (vertex, triple) = text.split_once(':').ok_or("there is no colon")?;
    let vertex = vertex
        .trim()
        .parse()
        .map_err(|_| format!("'{vertex}' is not a vertex"))?;
    let numbers: Option<Vec<f64>> = triple
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) => Ok((vertex, DVec3::new(x, y, z))),
        _ => Err(format!("'{triple}' is not three numbers")),
    }
}

fn parse_region(text: &str) -> Result<(usize, f64), String> {
    let wrong = || format!("'{text}' is not V:R, a vertex and a radius, as in 1204:2.5");
    let (vertex, radius) = text.split_once(':').ok_or_else(wrong)?;
    let radius = radius
        .trim()
        .parse()
        .ok()
        .filter(|r: &f64| *r >= 0.0 && r.is_finite())
        .ok_or_else(wrong)?;
    Ok((vertex.trim().parse().map_err(|_| wrong())?, radius))
}
