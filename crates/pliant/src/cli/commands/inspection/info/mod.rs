//! `pliant info`: the content of a file, and warnings about it.
//!
//! - this file: assets with meshes, targets and clips
//! - [`model`]: trained models
//! - [`take`]: captures of markers

mod model;
mod take;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use pliant_io::{Animation, Asset, Object};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, MeshReport};
use pliant_rig::{Preset, Recognition, ReorderedTarget, find_reordered_targets};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::counted;
use crate::cli::report::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  # Counts, targets and clips, with warnings about the mesh
  pliant info head.glb

  # One mesh of several
  pliant info head.glb#teeth

  # One frame of a clip
  pliant info walk.reference.obj+walk.frames.npy@12

  # Count triangles that intersect each other, too
  pliant info head.obj --intersections

  # A capture: markers, frames, rate and gaps (also .bvh and .csv)
  pliant info take.c3d

  # A trained model: its control points in their order
  pliant info hand.safetensors

  # The same as one JSON object
  pliant info head.obj --json";

/// Lists the content of an asset, with warnings.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Asset, capture of markers, or trained model.
    asset: String,

    /// Also count pairs of triangles that intersect each other.
    #[arg(long)]
    intersections: bool,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

/// The report of `pliant info`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum InfoReport {
    /// A file with meshes, targets and clips.
    Asset(AssetReport),
    /// A capture of markers.
    Take(take::TakeReport),
    /// A trained model.
    Model(model::ModelReport),
}

/// The content of an asset.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AssetReport {
    /// Objects of the file.
    meshes: Vec<MeshSummary>,
    /// Vertices of all meshes.
    vertices: usize,
    /// Names of the targets.
    targets: Vec<String>,
    /// Presets: weights of several sliders under one name, as the expressions of a VRM avatar.
    presets: Vec<PresetSummary>,
    /// Clips of the file.
    clips: Vec<ClipSummary>,
    /// Bounding box of all meshes, in asset units; null without a finite vertex.
    bounds: Option<BoundsReport>,
    /// How many metres one unit is; null where the file does not contain it.
    meters_per_unit: Option<f64>,
    /// Axis that points up: X, Y or Z. Y where the file does not contain it.
    up_axis: String,
    /// Size of the bounding box in metres; null without a known unit or a finite vertex.
    size_m: Option<[f64; 3]>,
}

/// One mesh of an asset.
#[derive(Debug, Serialize, JsonSchema)]
struct MeshSummary {
    /// Name of the object.
    name: String,
    /// Path of the object in the scene.
    path: String,
    /// Welded vertices.
    vertices: usize,
    /// Vertices as stored in the file.
    file_vertices: usize,
    /// Authored polygons.
    faces: usize,
    /// Triangles of the fan triangulation.
    triangles: usize,
    /// Connected components, without unused vertices.
    components: usize,
    /// Closed chains of edges with one triangle only.
    boundary_loops: usize,
    /// Edges with more than two triangles.
    non_manifold_edges: usize,
    /// Vertices at which surfaces touch in a point.
    non_manifold_vertices: usize,
    /// Triangles without area.
    degenerate_triangles: usize,
    /// Triangles with the same three vertices as another one.
    duplicate_triangles: usize,
    /// Vertices without a face.
    unused_vertices: usize,
    /// Edges whose two triangles have opposite orientations.
    flipped_edges: usize,
    /// Pairs of triangles that intersect each other; null without `--intersections`.
    self_intersections: Option<usize>,
    /// UV layers.
    uv_sets: usize,
    /// Names of the face groups.
    groups: Vec<String>,
    /// Names of the materials.
    materials: Vec<String>,
    /// Number of targets.
    targets: usize,
}

/// One preset of an asset.
#[derive(Debug, Serialize, JsonSchema)]
struct PresetSummary {
    name: String,
    /// Weights of its sliders.
    weights: BTreeMap<String, f64>,
}

/// One clip of an asset.
#[derive(Debug, Serialize, JsonSchema)]
struct ClipSummary {
    name: String,
    /// Number of frames, without the reference pose.
    frames: usize,
    /// Frames per second.
    fps: f64,
}

/// A bounding box.
#[derive(Debug, Serialize, JsonSchema)]
struct BoundsReport {
    min: [f64; 3],
    max: [f64; 3],
}

impl From<Bounds> for BoundsReport {
    fn from(bounds: Bounds) -> Self {
        Self {
            min: bounds.min.to_array(),
            max: bounds.max.to_array(),
        }
    }
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    // Captures and models have no meshes, so they are not assets of the usual loaders.
    let path = Path::new(&args.asset);
    if pliant_io::is_marker_file(path) || take::is_performance(path) {
        return take::run(path, console);
    }
    if path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors"))
    {
        return model::run(path, console);
    }

    // NaN and infinite numbers are part of the report, so they do not stop the reading.
    let asset = {
        let _spinner = console.spinner("reading");
        let options = source::options(args.neutral.as_deref()).keeping_not_finite();
        pliant_io::load(&args.asset, &options)?
    };
    let healths: Vec<MeshReport> = asset
        .objects
        .iter()
        .map(|object| examine(object, args.intersections))
        .collect();

    let warnings = warnings(&asset, &healths);
    let mut text = asset_text(&asset, &healths);
    if warnings.is_empty() {
        text.push_str("no warnings\n");
    }

    let report = InfoReport::Asset(AssetReport::new(&asset, &healths));
    console.print_result(&report, &text, &warnings)
}

fn examine(object: &Object, intersections: bool) -> MeshReport {
    let mesh = object.rig.neutral();
    let health = MeshReport::of(mesh);
    if intersections {
        health.with_self_intersections(mesh)
    } else {
        health
    }
}

/// Warnings of reading the file, then of the meshes. A mesh is named where there are several.
fn warnings(asset: &Asset, healths: &[MeshReport]) -> Vec<String> {
    let mut warnings = asset.warnings.clone();
    for (object, health) in asset.objects.iter().zip(healths) {
        let prefix = if asset.objects.len() > 1 {
            format!("mesh '{}': ", object.path)
        } else {
            String::new()
        };

        for warning in health.problems() {
            warnings.push(format!("{prefix}{warning}"));
        }
        for sentence in Recognition::of(&object.rig).sentences() {
            warnings.push(format!("{prefix}{sentence}"));
        }
        for scrambled in find_reordered_targets(&object.rig) {
            warnings.push(format!("{prefix}{}", order_warning(&scrambled)));
        }
    }
    warnings
}

/// A target whose vertices are in another order than those of the neutral.
fn order_warning(ReorderedTarget { target, vertices }: &ReorderedTarget) -> String {
    const SHOWN: usize = 6;

    let first: Vec<String> = vertices.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if vertices.len() > SHOWN {
        format!(" and {} more", vertices.len() - SHOWN)
    } else {
        String::new()
    };
    format!(
        "target '{target}' has vertices in another order than the neutral ({}{more}); export both from one mesh",
        first.join(", ")
    )
}

fn size_in_meters(asset: &Asset) -> Option<DVec3> {
    Some(asset.bounds()?.size() * asset.meters_per_unit?)
}

impl AssetReport {
    fn new(asset: &Asset, healths: &[MeshReport]) -> Self {
        let meshes = asset.objects.iter().zip(healths);
        Self {
            meshes: meshes
                .map(|(object, health)| MeshSummary::new(object, health))
                .collect(),
            vertices: asset.vertex_count(),
            targets: asset.target_names(),
            presets: asset.presets.iter().map(PresetSummary::from).collect(),
            clips: asset.clips.iter().map(ClipSummary::from).collect(),
            bounds: asset.bounds().map(BoundsReport::from),
            meters_per_unit: asset.meters_per_unit,
            up_axis: asset.up_axis.to_string(),
            size_m: size_in_meters(asset).map(|size| size.to_array()),
        }
    }
}

impl MeshSummary {
    fn new(object: &Object, health: &MeshReport) -> Self {
        let mesh = object.rig.neutral();

        Self {
            name: object.name().to_owned(),
            path: object.path.clone(),
            vertices: mesh.vertex_count(),
            file_vertices: object.file_vertices,
            faces: mesh.face_count(),
            triangles: mesh.triangles().len(),
            components: health.components,
            boundary_loops: health.boundary_loops,
            non_manifold_edges: health.non_manifold_edges,
            non_manifold_vertices: health.non_manifold_vertices,
            degenerate_triangles: health.degenerate_triangles,
            duplicate_triangles: health.duplicate_triangles,
            unused_vertices: health.unused_vertices,
            flipped_edges: health.flipped_edges,
            self_intersections: health.self_intersections,
            uv_sets: mesh.uv_layers().len(),
            groups: mesh.groups().names.clone(),
            materials: mesh.materials().names.clone(),
            targets: object.rig.targets().len(),
        }
    }
}

impl From<&Preset> for PresetSummary {
    fn from(preset: &Preset) -> Self {
        Self {
            name: preset.name.clone(),
            weights: preset.weights.clone(),
        }
    }
}

impl From<&Animation> for ClipSummary {
    fn from(clip: &Animation) -> Self {
        Self {
            name: clip.name.clone(),
            frames: clip.frame_count,
            fps: clip.frames_per_second,
        }
    }
}

fn asset_text(asset: &Asset, healths: &[MeshReport]) -> String {
    let mut text = String::new();
    for (object, health) in asset.objects.iter().zip(healths) {
        text += &mesh_text(object, health);
    }

    let targets = asset.target_names();
    if !targets.is_empty() {
        let _ = writeln!(text, "targets ({}): {}", targets.len(), shortened(&targets));
    }
    if !asset.presets.is_empty() {
        let names = asset.presets.iter().map(|preset| preset.name.clone());
        let names: Vec<String> = names.collect();
        let _ = writeln!(text, "presets ({}): {}", names.len(), shortened(&names));
    }
    for clip in &asset.clips {
        let _ = writeln!(
            text,
            "clip '{}': {} frames at {} fps",
            clip.name, clip.frame_count, clip.frames_per_second
        );
    }
    if let Some(bounds) = asset.bounds() {
        let _ = writeln!(
            text,
            "bounds: ({}) to ({}), diagonal {}",
            position_text(bounds.min),
            position_text(bounds.max),
            five_digits(bounds.diagonal())
        );
    }

    let unit = match (asset.meters_per_unit, size_in_meters(asset)) {
        (Some(unit), Some(size)) => {
            let [x, y, z] = size.to_array().map(five_digits);
            format!("{unit} m; size {x} x {y} x {z} m")
        }
        (Some(unit), None) => format!("{unit} m"),
        (None, _) => "unknown".into(),
    };
    let _ = writeln!(text, "unit: {unit}; {} is up", asset.up_axis);

    text
}

fn mesh_text(object: &Object, health: &MeshReport) -> String {
    let mesh = object.rig.neutral();
    let name = if object.path.is_empty() {
        "mesh".to_owned()
    } else {
        format!("mesh '{}'", object.path)
    };

    // glTF stores a vertex once for each side of a UV seam.
    let stored = if object.file_vertices == mesh.vertex_count() {
        String::new()
    } else {
        format!(" ({} in the file)", object.file_vertices)
    };

    let mut text = format!(
        "{name}\n  {}{stored}, {} ({}), {}\n",
        counted(mesh.vertex_count(), "vertex", "vertices"),
        counted(mesh.face_count(), "face", "faces"),
        face_sizes(object),
        counted(mesh.triangles().len(), "triangle", "triangles"),
    );
    let _ = writeln!(
        text,
        "  {} component(s), {} boundary loop(s), {} unused vertices, mean edge length {}",
        health.components,
        health.boundary_loops,
        health.unused_vertices,
        five_digits(mesh.mean_edge_length())
    );

    // A single group or material is the default of most formats and says nothing.
    for (kind, labels) in [("group", mesh.groups()), ("material", mesh.materials())] {
        let count = labels.names.len();
        if count > 1 {
            let _ = writeln!(text, "  {count} {kind}s: {}", shortened(&labels.names));
        }
    }

    text
}

/// The first names of a list; `--json` has all of them.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 12;

    let first = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        let more = names.len() - SHOWN;
        format!("{first}, and {more} more (--json lists all)")
    } else {
        first
    }
}

fn position_text(position: DVec3) -> String {
    position.to_array().map(five_digits).join(", ")
}

/// A length with five significant digits in any unit.
fn five_digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }

    // Assets come in metres, centimetres and other units, so digits count, not decimals.
    let decimals = (4.0 - x.abs().log10().floor()).clamp(0.0, 300.0) as usize;
    format!("{x:.decimals$}")
}

/// How many faces are triangles, quads and larger polygons.
fn face_sizes(object: &Object) -> String {
    let mut triangles = 0;
    let mut quads = 0;
    let mut larger = 0;
    for face in object.rig.neutral().faces() {
        match face.len() {
            3 => triangles += 1,
            4 => quads += 1,
            _ => larger += 1,
        }
    }

    let mut kinds = Vec::new();
    for (count, kind) in [
        (triangles, "triangles"),
        (quads, "quads"),
        (larger, "larger"),
    ] {
        if count > 0 {
            kinds.push(format!("{count} {kind}"));
        }
    }
    if kinds.is_empty() {
        "none".into()
    } else {
        kinds.join(", ")
    }
}
