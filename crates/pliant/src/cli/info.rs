//! `pliant info`.

use std::fmt::Write;
use std::path::Path;

use pliant_io::{Animation, Asset, Object};
use pliant_mesh::{Bounds, Health};
use pliant_rig::{Scrambled, find_scrambled};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::{info_markers, info_model, source};

const EXAMPLES: &str = "\
Examples:
  pliant info head.glb                    counts, targets, clips, and what is wrong with the mesh
  pliant info head.glb#teeth              one mesh of several
  pliant info walk.reference.obj+walk.frames.npy@12
  pliant info head.obj --intersections    also counts triangles that cut through each other
  pliant info take.c3d                    markers by name, frames, rate and gaps (also .bvh, .csv)
  pliant info hand.safetensors            a learned model: its control points in their order
  pliant info head.obj --json             the same for a program";

/// What is in an asset: counts, bounds, targets, clips, and the problems found.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The asset to look at.
    asset: String,

    /// Also count pairs of triangles that cut through each other.
    #[arg(long)]
    intersections: bool,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let path = Path::new(&args.asset);
    if pliant_io::holds_markers(path) {
        return info_markers::run(path, console);
    }
    if path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors"))
    {
        return info_model::run(path, console);
    }
    let asset = {
        let _working = console.working("reading");
        pliant_io::load(
            &args.asset,
            &source::options(args.neutral.as_deref()).keeping_not_finite(),
        )?
    };
    let reports: Vec<Health> = asset
        .objects
        .iter()
        .map(|object| examine(object, args.intersections))
        .collect();
    let problems = problems(&asset, &reports);
    let mut text = describe(&asset, &reports);
    if problems.is_empty() {
        text.push_str("no problems found\n");
    }
    console.result(describe_json(&asset, &reports), &text, &problems)
}

fn examine(object: &Object, intersections: bool) -> Health {
    let mesh = object.rig.neutral();
    let health = Health::of(mesh);
    if intersections {
        health.with_self_intersections(mesh)
    } else {
        health
    }
}

/// What reading found, then what the meshes have; a mesh is named where there are several.
fn problems(asset: &Asset, reports: &[Health]) -> Vec<String> {
    let mut problems = asset.problems.clone();
    for (object, health) in asset.objects.iter().zip(reports) {
        let prefix = if asset.objects.len() > 1 {
            format!("mesh '{}': ", object.path)
        } else {
            String::new()
        };
        let scrambled = find_scrambled(&object.rig);
        let found = health
            .problems()
            .into_iter()
            .chain(scrambled.iter().map(other_order));
        problems.extend(found.map(|problem| format!("{prefix}{problem}")));
    }
    problems
}

fn other_order(Scrambled { target, vertices }: &Scrambled) -> String {
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

fn bounds(asset: &Asset) -> Option<Bounds> {
    asset
        .objects
        .iter()
        .filter_map(|o| o.rig.neutral().bounds())
        .reduce(|a, b| a.union(&b))
}

fn describe_json(asset: &Asset, reports: &[Health]) -> Map<String, Value> {
    let meshes: Vec<Value> = asset
        .objects
        .iter()
        .zip(reports)
        .map(|(object, health)| mesh_json(object, health))
        .collect();
    let clips: Vec<Value> = asset.clips.iter().map(clip_json).collect();
    let bounds = bounds(asset).map_or(
        Value::Null,
        |b| json!({"min": b.min.to_array(), "max": b.max.to_array()}),
    );
    let object = json!({
        "meshes": meshes,
        "vertices": asset.vertex_count(),
        "targets": asset.target_names(),
        "clips": clips,
        "bounds": bounds,
    });
    match object {
        Value::Object(map) => map,
        _ => unreachable!("a JSON object was written above"),
    }
}

fn mesh_json(object: &Object, health: &Health) -> Value {
    let mesh = object.rig.neutral();
    json!({
        "name": object.name(),
        "path": object.path,
        "vertices": mesh.vertex_count(),
        "file_vertices": object.file_vertices,
        "faces": mesh.face_count(),
        "triangles": mesh.triangles().len(),
        "components": health.components,
        "boundary_loops": health.boundary_loops,
        "non_manifold_edges": health.non_manifold_edges,
        "non_manifold_vertices": health.non_manifold_vertices,
        "degenerate_triangles": health.degenerate_triangles,
        "duplicate_triangles": health.duplicate_triangles,
        "unused_vertices": health.unused_vertices,
        "flipped_edges": health.flipped_edges,
        "self_intersections": health.self_intersections,
        "uv_sets": mesh.uv_layers().len(),
        "groups": mesh.groups().names,
        "materials": mesh.materials().names,
        "targets": object.rig.targets().len(),
    })
}

fn clip_json(clip: &Animation) -> Value {
    json!({"name": clip.name, "frames": clip.frame_count, "fps": clip.frames_per_second})
}

fn describe(asset: &Asset, reports: &[Health]) -> String {
    let mut text = String::new();
    for (object, health) in asset.objects.iter().zip(reports) {
        describe_mesh(&mut text, object, health);
    }
    let targets = asset.target_names();
    if !targets.is_empty() {
        let _ = writeln!(text, "targets ({}): {}", targets.len(), some(&targets));
    }
    for clip in &asset.clips {
        let _ = writeln!(
            text,
            "clip '{}': {} frames at {} fps",
            clip.name, clip.frame_count, clip.frames_per_second
        );
    }
    if let Some(b) = bounds(asset) {
        let show = |p: pliant_mesh::glam::DVec3| p.to_array().map(five_digits).join(", ");
        let _ = writeln!(
            text,
            "bounds: ({}) to ({}), diagonal {}",
            show(b.min),
            show(b.max),
            five_digits(b.diagonal())
        );
    }
    text
}

fn describe_mesh(text: &mut String, object: &Object, health: &Health) {
    let mesh = object.rig.neutral();
    let name = if object.path.is_empty() {
        "mesh".to_owned()
    } else {
        format!("mesh '{}'", object.path)
    };
    let _ = writeln!(text, "{name}");
    let _ = writeln!(
        text,
        "  {} vertices{}, {} faces ({}), {} triangles",
        mesh.vertex_count(),
        if object.file_vertices == mesh.vertex_count() {
            String::new()
        } else {
            format!(" ({} in the file)", object.file_vertices)
        },
        mesh.face_count(),
        face_mix(object),
        mesh.triangles().len(),
    );
    let _ = writeln!(
        text,
        "  {} component(s), {} boundary loop(s), {} unused vertices, mean edge {}",
        health.components,
        health.boundary_loops,
        health.unused_vertices,
        five_digits(mesh.mean_edge_length())
    );
    let labels = [("group", mesh.groups()), ("material", mesh.materials())];
    for (what, labels) in labels
        .into_iter()
        .filter(|(_, labels)| labels.names.len() > 1)
    {
        let _ = writeln!(
            text,
            "  {} {what}s: {}",
            labels.names.len(),
            some(&labels.names)
        );
    }
}

/// The first names of a list; `--json` has them all.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let first = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        format!(
            "{first}, and {} more (--json lists all)",
            names.len() - SHOWN
        )
    } else {
        first
    }
}

/// A length with five significant digits, whatever the unit.
fn five_digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let decimals = (4.0 - x.abs().log10().floor()).clamp(0.0, 300.0) as usize;
    format!("{x:.decimals$}")
}

fn face_mix(object: &Object) -> String {
    let sizes = object.rig.neutral().faces().map(<[u32]>::len);
    let [mut triangles, mut quads, mut others] = [0, 0, 0];
    sizes.for_each(|size| match size {
        3 => triangles += 1,
        4 => quads += 1,
        _ => others += 1,
    });
    let kinds = [
        (triangles, "triangles"),
        (quads, "quads"),
        (others, "larger"),
    ];
    let shown: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    if shown.is_empty() {
        "none".into()
    } else {
        shown.join(", ")
    }
}
