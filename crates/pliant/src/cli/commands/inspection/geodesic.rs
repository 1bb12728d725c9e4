//! `pliant geodesic`: geodesic distances from vertices to all others.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use pliant_io::{Asset, npy};
use pliant_mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, Mesh, MeshError, SurfacePoint};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::place::{Place, Places, parse_place};
use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # From one vertex to all others
  pliant geodesic head.obj --from 1204 --out d.npy

  # From the nearest of two vertices
  pliant geodesic head.obj --from 1204,88 --out d.npy

  # On one frame of a clip
  pliant geodesic walk.glb@7 --from 0 --out d.npy

  # Exact distances up to 3 units
  pliant geodesic head.obj --from 1204 --method exact --radius 3 \\
      --out d.npy

  # A picture of the distances
  pliant render head.obj --scalar d.npy --out d.png

Values:
  One float64 for each vertex in file order. Vertices that are not reached
  (another component, or beyond --radius) have the value inf.

Accuracy:
  The heat method (Crane et al. 2013) has a mean error of 1 to 5 percent;
  single vertices can have more. Several sources cost no more than one. The
  exact method propagates windows over the triangles (Chen and Han 1990).";

/// Computes distances along the surface.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Mesh on which to measure.
    asset: String,

    /// Source vertices, counted from 0, or landmarks such as 'nose tip'.
    #[arg(long, value_name = "V,V…", value_delimiter = ',', required = true, allow_hyphen_values = true, value_parser = parse_place)]
    from: Vec<Place>,

    /// File for the distances, one for each vertex.
    #[arg(long, value_name = "FILE.npy")]
    out: PathBuf,

    /// Method.
    #[arg(long, value_enum, default_value_t = Method::Heat)]
    method: Method,

    /// exact: stop at this distance, in asset units.
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    radius: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Heat method (Crane et al. 2013): two sparse solves, an error of a few percent.
    Heat,
    /// Exact shortest paths over the triangles.
    Exact,
}

/// The report of `pliant geodesic`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GeodesicReport {
    /// File of the distances.
    out: String,
    /// Method.
    method: Method,
    /// Source vertices.
    from: Vec<usize>,
    /// Vertices of the mesh.
    vertices: usize,
    /// Largest distance of a reached vertex, in asset units.
    max: f64,
    /// Vertices that were not reached.
    unreached: usize,
    /// Time of the factorisation, in milliseconds.
    factor_ms: f64,
    /// Time of the solve, in milliseconds.
    solve_ms: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if args.radius.is_some() && args.method == Method::Heat {
        return Err(Failure::usage(
            "--radius needs --method exact; the heat method always measures the whole mesh",
        ));
    }

    // Everything that can be refused is refused before the factorisation.
    output::require_ending(&args.out, &["npy"])?;
    let (mut asset, mesh) = source::load_surface(&args.asset)?;
    let about = |error: MeshError| Failure::about(&args.asset, &error);
    let from = args.vertices(&mut asset)?;
    let sources = sources(&mesh, &from).map_err(about)?;

    let _spinner = console.spinner("measuring");
    let field = match args.method {
        Method::Heat => heat_distances(&mesh, &sources),
        Method::Exact => exact_distances(&mesh, &sources, args.radius.unwrap_or(f64::INFINITY)),
    };
    let field = field.map_err(about)?;

    let count = field.distances.len();
    let array = npy::write_f64(&[count], field.distances.iter().copied());
    output::write(&args.out, array)?;

    let report = field.report(args, from);
    let mut warnings = asset.warnings.clone();
    warnings.extend(
        args.radius
            .and_then(|radius| asset.length_warning("--radius", radius)),
    );
    console.print_summary(&report, &report.summary(), &warnings)
}

impl Args {
    /// The vertices of `--from`; an uncertain landmark gives a warning.
    fn vertices(&self, asset: &mut Asset) -> Result<Vec<usize>, Failure> {
        let rig = asset.rig()?;
        let places = Places::on(&rig, &self.asset);
        let vertices = places.vertices(&self.from)?;
        asset.warnings.extend(places.warnings(&self.from));
        Ok(vertices)
    }
}

fn sources(mesh: &Mesh, vertices: &[usize]) -> Result<Vec<SurfacePoint>, MeshError> {
    let mut sources = Vec::with_capacity(vertices.len());
    for &vertex in vertices {
        mesh.require_vertex(vertex)?;
        sources.push(SurfacePoint::Vertex(vertex as u32));
    }
    Ok(sources)
}

/// Distances of all vertices, with the times of their computation.
struct DistanceField {
    distances: Vec<f64>,
    factor_ms: f64,
    solve_ms: f64,
}

fn heat_distances(mesh: &Mesh, sources: &[SurfacePoint]) -> Result<DistanceField, MeshError> {
    let start = Instant::now();
    let geodesics = HeatGeodesics::factor(mesh, &HeatOptions::default())?;
    let factor_ms = milliseconds_since(start);

    let start = Instant::now();
    Ok(DistanceField {
        distances: geodesics.distances(sources)?,
        factor_ms,
        solve_ms: milliseconds_since(start),
    })
}

fn exact_distances(
    mesh: &Mesh,
    sources: &[SurfacePoint],
    radius: f64,
) -> Result<DistanceField, MeshError> {
    let start = Instant::now();
    let mut geodesics = ExactGeodesics::new(mesh)?;
    let factor_ms = milliseconds_since(start);

    let start = Instant::now();
    let disc = geodesics.disc(sources, radius)?;
    Ok(DistanceField {
        distances: disc.to_dense(mesh.vertex_count()),
        factor_ms,
        solve_ms: milliseconds_since(start),
    })
}

impl DistanceField {
    fn report(&self, args: &Args, from: Vec<usize>) -> GeodesicReport {
        // Vertices of other components and beyond the radius have the distance infinity.
        let mut max = 0.0_f64;
        let mut unreached = 0;
        for &distance in &self.distances {
            if distance.is_finite() {
                max = max.max(distance);
            } else if distance.is_infinite() {
                unreached += 1;
            }
        }

        GeodesicReport {
            out: path_text(&args.out),
            method: args.method,
            from,
            vertices: self.distances.len(),
            max,
            unreached,
            factor_ms: self.factor_ms,
            solve_ms: self.solve_ms,
        }
    }
}

impl GeodesicReport {
    fn summary(&self) -> String {
        format!(
            "{} distances; largest {:.6}, {} vertices not reached\n  set up in {:.1} ms, solved in {:.1} ms\nwritten to {}\n",
            self.vertices, self.max, self.unreached, self.factor_ms, self.solve_ms, self.out
        )
    }
}
