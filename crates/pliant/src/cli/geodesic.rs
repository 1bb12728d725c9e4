//! `pliant geodesic`.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use pliant_io::npy;
use pliant_mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, Mesh, MeshError, SurfacePoint};
use serde_json::{Map, json};

use super::console::Console;
use super::failure::Failure;
use super::transfer::milliseconds;
use super::{output, source};

const EXAMPLES: &str = "\
Examples:
  pliant geodesic head.obj --from 1204 --out d.npy          from one vertex to all others
  pliant geodesic head.obj --from 1204,88 --out d.npy       from the nearest of two
  pliant geodesic walk.glb@7 --from 0 --out d.npy           on one frame of a clip
  pliant geodesic head.obj --from 1204 --method exact --radius 3 --out d.npy
                                                            exact, and only up to 3 units
  pliant render head.obj --scalar d.npy --out d.png         look at it

The array holds one float64 per vertex in file order, `inf` where nothing reaches (another
component, or beyond --radius). The heat method is a few percent off (1 to 5 on scans), but exact
next to the source, and a second source on the same mesh costs it next to nothing; `exact` follows
the shortest paths themselves.";

/// Distances along the surface.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The mesh to measure on.
    asset: String,

    /// Source vertices, counted from 0.
    #[arg(long, value_name = "V,V…", value_delimiter = ',', required = true, allow_hyphen_values = true, value_parser = parse_vertex)]
    from: Vec<usize>,

    /// Where to write the distances.
    #[arg(long, value_name = "FILE.npy")]
    out: PathBuf,

    /// How to measure.
    #[arg(long, value_enum, default_value_t = Method::Heat)]
    method: Method,

    /// Stop at this distance, in the asset's units (`exact` only).
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    radius: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Two sparse solves: all distances at once, a few percent off.
    Heat,
    /// Exact shortest paths over the triangles.
    Exact,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if args.radius.is_some() && args.method == Method::Heat {
        return Err(Failure::usage(
            "--radius needs --method exact; the heat method always measures the whole mesh",
        ));
    }
    output::require_ending(&args.out, &["npy"])?;
    let (asset, mesh) = source::load_surface(&args.asset)?;
    let failed = |error: MeshError| Failure::about(&args.asset, &error);
    args.from
        .iter()
        .try_for_each(|&v| mesh.require_vertex(v))
        .map_err(failed)?;
    let sources: Vec<SurfacePoint> = args
        .from
        .iter()
        .map(|&v| SurfacePoint::Vertex(v as u32))
        .collect();
    let _working = console.working("measuring");
    let measured = match args.method {
        Method::Heat => by_heat(&mesh, &sources),
        Method::Exact => exactly(&mesh, &sources, args.radius.unwrap_or(f64::INFINITY)),
    };
    let measured = measured.map_err(failed)?;
    let bytes = npy::write_f64(
        &[measured.distances.len()],
        measured.distances.iter().copied(),
    );
    output::write(&args.out, bytes)?;
    report(&measured, args, &asset.problems, console)
}

fn parse_vertex(text: &str) -> Result<usize, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("'{text}' is not a vertex; vertices are whole numbers from 0"))
}

struct Measured {
    distances: Vec<f64>,
    factor_ms: f64,
    solve_ms: f64,
}

fn by_heat(mesh: &Mesh, sources: &[SurfacePoint]) -> Result<Measured, MeshError> {
    let began = Instant::now();
    let geodesics = HeatGeodesics::factor(mesh, &HeatOptions::default())?;
    let factor_ms = milliseconds(began);
    let began = Instant::now();
    Ok(Measured {
        distances: geodesics.distances(sources)?,
        factor_ms,
        solve_ms: milliseconds(began),
    })
}

fn exactly(mesh: &Mesh, sources: &[SurfacePoint], radius: f64) -> Result<Measured, MeshError> {
    let began = Instant::now();
    let mut geodesics = ExactGeodesics::new(mesh)?;
    let factor_ms = milliseconds(began);
    let began = Instant::now();
    let distances = geodesics
        .disc(sources, radius)?
        .to_dense(mesh.vertex_count());
    Ok(Measured {
        distances,
        factor_ms,
        solve_ms: milliseconds(began),
    })
}

fn report(
    measured: &Measured,
    args: &Args,
    problems: &[String],
    console: &Console,
) -> Result<(), Failure> {
    let max = measured
        .distances
        .iter()
        .copied()
        .filter(|d| d.is_finite())
        .fold(0.0, f64::max);
    let unreached = measured
        .distances
        .iter()
        .filter(|d| d.is_infinite())
        .count();
    let method = args
        .method
        .to_possible_value()
        .expect("no method is hidden");
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("method".into(), json!(method.get_name()));
    object.insert("from".into(), json!(args.from));
    object.insert("vertices".into(), json!(measured.distances.len()));
    object.insert("max".into(), json!(max));
    object.insert("unreached".into(), json!(unreached));
    object.insert("factor_ms".into(), json!(measured.factor_ms));
    object.insert("solve_ms".into(), json!(measured.solve_ms));
    let text = format!(
        "{} distances, farthest {max:.6}, {unreached} unreached; set up in {:.1} ms, measured in {:.1} ms; written to {}\n",
        measured.distances.len(),
        measured.factor_ms,
        measured.solve_ms,
        args.out.display()
    );
    console.done(object, &text, problems)
}
