//! `pliant pose`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant_io::Asset;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{ExactGeodesics, SurfacePoint};
use pliant_rig::{Explanation, Pin, Pose, Poser, Rig, RigError, SliderPairs};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::solver::SolverArgs;
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
  pliant render head.glb --weights jawOpen=0.4 --out look.png
                                               look at weights

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

    /// Where to write the weights that were found.
    #[arg(long, value_name = "FILE.json")]
    weights_out: Option<PathBuf>,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Where to write the posed mesh.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _working = console.working("posing");
    let (asset, rig) = load_rig(&args.rig, args.neutral.as_deref(), &args.solver)?;
    let start = start_weights(args.weights_in.as_deref(), &rig)?;
    let pins: Vec<Pin> = args.pin.iter().map(|&(v, d)| Pin::new(v, d)).chain(args.hold.iter().map(|&v| Pin::hold(v))).collect();
    let drag = Drag { name: &args.rig, asset: &asset, rig: &rig, start, pins };
    let mirror = args.symmetric.then(|| mirrored_sliders(&rig));
    drag.run(&args.solver, protected(&rig, args)?, mirror, args.weights_out.as_deref(), &args.out, Map::new(), console)
}

/// A rig with targets, with the limits and locks of the command line.
pub(crate) fn load_rig(locator: &str, neutral: Option<&str>, solver: &SolverArgs) -> Result<(Asset, Rig), Failure> {
    let asset = pliant_io::load(locator, &source::options(neutral))?;
    let rig = solver.prepare(asset.rig()?, locator)?;
    Ok((asset, rig))
}

pub(crate) fn start_weights(path: Option<&Path>, rig: &Rig) -> Result<Vec<f64>, Failure> {
    path.map_or_else(|| Ok(vec![0.0; rig.targets().len()]), |path| slider_weights::read(path, rig))
}

/// Pins on a rig, to be solved, evaluated, written and reported.
pub(crate) struct Drag<'a> {
    pub(crate) name: &'a str,
    pub(crate) asset: &'a Asset,
    pub(crate) rig: &'a Rig,
    pub(crate) start: Vec<f64>,
    pub(crate) pins: Vec<Pin>,
}

impl Drag<'_> {
    pub(crate) fn run(
        &self,
        solver: &SolverArgs,
        protected: Vec<u32>,
        mirror: Option<Vec<Option<usize>>>,
        weights_out: Option<&Path>,
        out: &Path,
        mut object: Map<String, Value>,
        console: &Console,
    ) -> Result<(), Failure> {
        let failed = |error: RigError| Failure::about(self.name, &error);
        let poser = Poser::new(self.rig).map_err(failed)?;
        let solver_of = solver.solver(protected, mirror);
        let mut grab = poser.grab(&self.start, &self.pins, solver_of.as_ref(), solver.range()).map_err(failed)?;
        let displacements: Vec<DVec3> = self.pins.iter().map(|pin| pin.displacement).collect();
        let pose = grab.solve(&displacements);
        let why = grab.explain(&pose);
        let began = Instant::now();
        let positions = self.rig.evaluate(&pose.weights);
        let evaluate_us = began.elapsed().as_secs_f64() * 1e6;
        if let Some(path) = weights_out {
            slider_weights::write(path, self.rig, &pose.weights)?;
        }
        let saved = pliant_io::save(&self.asset.posed(&positions)?, out)?;
        let mut problems = self.asset.problems.clone();
        problems.extend(pose.problems.iter().cloned());
        problems.extend(saved.left_out.iter().map(|what| format!("{} leaves out {what}", out.display())));
        self.describe(&pose, &why, &mut object);
        object.insert("out".into(), json!(out.display().to_string()));
        object.insert("evaluate_us".into(), json!(evaluate_us));
        console.done(object, &self.told(&pose, &why, out), &problems)
    }

    fn describe(&self, pose: &Pose, why: &Explanation, object: &mut Map<String, Value>) {
        let name = |slider: &usize| self.rig.targets()[*slider].name.clone();
        let pins = self.pins.iter().zip(&pose.pins).zip(&why.unreachable).map(|((pin, result), unreachable)| {
            json!({
                "vertex": vertex_of(pin),
                "goal": result.goal.to_array(),
                "reached": result.reached.to_array(),
                "error": result.error,
                "unreachable": unreachable.length(),
            })
        });
        let moved = why.moves.iter().map(|m| {
            let shares: Vec<Value> =
                m.shares.iter().map(|s| json!({"displacement": s.displacement.to_array(), "of_goal": s.of_goal})).collect();
            json!({"slider": name(&m.slider), "from": m.from, "to": m.to, "pins": shares})
        });
        object.insert("method".into(), json!(pose.method));
        object.insert("weights".into(), Value::Object(slider_weights::by_name(self.rig, &pose.weights)));
        object.insert("pins".into(), pins.collect());
        object.insert("active_sliders".into(), json!(pose.active_sliders()));
        object.insert("at_limit".into(), json!(pose.at_limit.iter().map(name).collect::<Vec<_>>()));
        object.insert("moved".into(), moved.collect());
        object.insert("kkt".into(), json!(pose.kkt));
        object.insert("iterations".into(), json!(pose.iterations));
        object.insert("solve_us".into(), json!(pose.solve_us));
    }

    /// For a person: the sliders, the pins, and what stands in the way.
    fn told(&self, pose: &Pose, why: &Explanation, out: &Path) -> String {
        let mut text = String::new();
        let dragged: Vec<usize> = (0..self.pins.len()).filter(|&k| self.pins[k].displacement != DVec3::ZERO).collect();
        for m in &why.moves {
            let held = if pose.at_limit.contains(&m.slider) { ", at its limit" } else { "" };
            let share = |k: &usize| format!("{:+.0} % of the way at {}", 100.0 * m.shares[*k].of_goal, self.pins[*k].place());
            let shares: Vec<String> = dragged.iter().map(share).collect();
            let name = &self.rig.targets()[m.slider].name;
            let _ = writeln!(text, "  {name:24} {:6.3} → {:6.3}   {}{held}", m.from, m.to, shares.join(", "));
        }
        let longest = self.pins.iter().map(|pin| pin.displacement.length()).fold(0.0, f64::max);
        for ((pin, result), unreachable) in self.pins.iter().zip(&pose.pins).zip(&why.unreachable) {
            let _ = write!(text, "  {}: {:.4} from its goal", pin.place(), result.error);
            if unreachable.length() > 0.01 * longest {
                let _ = write!(text, "; no slider comes nearer than {:.4}", unreachable.length());
            }
            text.push('\n');
        }
        let certificate = pose.kkt.map_or_else(String::new, |kkt| format!(", KKT {kkt:.0e}"));
        let _ = writeln!(
            text,
            "{} in {:.0} µs{certificate}: {} active slider(s); written to {}",
            pose.method,
            pose.solve_us,
            pose.active_sliders(),
            out.display()
        );
        text
    }
}

fn mirrored_sliders(rig: &Rig) -> Vec<Option<usize>> {
    let names: Vec<&str> = rig.targets().iter().map(|target| target.name.as_str()).collect();
    SliderPairs::by_name(&names).partners().to_vec()
}

fn vertex_of(pin: &Pin) -> Option<u32> {
    match pin.at {
        SurfacePoint::Vertex(v) => Some(v),
        SurfacePoint::InTriangle(_) => None,
    }
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
        vertices.extend(geodesics.disc(&[SurfacePoint::Vertex(vertex as u32)], radius).map_err(failed)?.vertices);
    }
    vertices.sort_unstable();
    vertices.dedup();
    Ok(vertices)
}

fn parse_pin(text: &str) -> Result<(usize, DVec3), String> {
    let wrong = |what: &str| format!("'{text}' is not a pin: {what}; write V:dx,dy,dz, as in 1204:0,0.5,0");
    let (vertex, way) = text.split_once(':').ok_or_else(|| wrong("there is no colon"))?;
    let vertex = vertex.trim().parse().map_err(|_| wrong(&format!("'{vertex}' is not a vertex")))?;
    let numbers: Option<Vec<f64>> = way.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) => Ok((vertex, DVec3::new(x, y, z))),
        _ => Err(wrong(&format!("'{way}' is not three numbers"))),
    }
}

fn parse_region(text: &str) -> Result<(usize, f64), String> {
    let wrong = || format!("'{text}' is not V:R, a vertex and a radius, as in 1204:2.5");
    let (vertex, radius) = text.split_once(':').ok_or_else(wrong)?;
    let radius = radius.trim().parse().ok().filter(|r: &f64| *r >= 0.0 && r.is_finite()).ok_or_else(wrong)?;
    Ok((vertex.trim().parse().map_err(|_| wrong())?, radius))
}
