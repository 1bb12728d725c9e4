//! `pliant shapes`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::marker_files::read_markers;
use pliant::transfer_recipe::RecipeMethod;
use pliant_io::Asset;
use pliant_mesh::{Mesh, Progress as _};
use pliant_rig::Rig;
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, RigTransfer, RigTransferOptions,
    ShapeReport, TransferError, TransferredRig,
};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::transfer::{milliseconds, report_json};
use super::{edited, output, source};

const EXAMPLES: &str = "\
Examples:
  pliant shapes --source face.glb --target head.obj --markers pairs.json --out head.glb
                                              every slider of a face on another head
  pliant shapes --source specimen:head --target mine.obj --markers pairs.csv --out mine.usda
                                              the built-in head's ARKit sliders on a head of your own
  pliant shapes --source face.glb --target 'crowd.glb#guard' --out guard.glb --json
                                              without markers: the shapes alone decide; figures as JSON
  pliant pose head.glb --pin 88:0,-1,0 --out posed.obj
                                              and the new rig is ready to pose

Markers are pairs of vertices that are the same spot, source first, counted from 0: JSON [[source,
target], …] or lines of two numbers. Put them where shapes meet: corners and middles of the lids
and lips, the tip of the nose, chin, brows, ears. Names, limits, in-betweens and combinations are
those of the source. What a slider leaves still in the source stays to the bit, but for specks
amid what moves. Lids and lips that a shape closes in the source are found and closed in the
target; the report tells the largest gap that remains, as a part of the target's size. Markers on
both rims of lids and lips make that precise.";

/// The expressions of one head on another, as a rig.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The rig whose targets are transferred.
    #[arg(long, value_name = "RIG")]
    source: String,

    /// The mesh that gets them.
    #[arg(long, value_name = "MESH")]
    target: String,

    /// Pairs of vertices that are the same spot (default: the shapes alone decide).
    #[arg(long, value_name = "FILE")]
    markers: Option<String>,

    /// The file of a source folder that is the neutral.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// How the meshes are brought together.
    #[arg(long, value_enum, default_value_t = RecipeMethod::Auto)]
    method: RecipeMethod,

    /// Leave gaps as the transfer makes them.
    #[arg(long)]
    no_closing: bool,

    /// Where to write the rig.
    #[arg(long, value_name = "RIG")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let from = edited::load(&args.source, args.neutral.as_deref())?;
    let (asset, mesh) = source::load_surface(&args.target)?;
    let rig = from.rig()?;
    output::require_rig_format(&args.out)?;
    // An ending that cannot be written is told now rather than after the work.
    pliant_io::plan_save(&asset.with_rig(&Rig::still(mesh.clone()))?, &args.out)?;
    let bar = console.progress();
    let _ = bar.report("matching", 0.0);
    let began = Instant::now();
    let found = args.correspondence(&rig, &mesh)?;
    let map_ms = milliseconds(began);
    let began = Instant::now();
    let made = args
        .transferred(&rig, &mesh, &found, &bar)
        .map_err(|error| Failure::about(&args.target, &error))?;
    drop(bar);
    let mut object = describe(&made, &found, map_ms, milliseconds(began));
    let mut problems = problems(&from, &asset, &found, &made);
    edited::save(
        &asset.with_rig(&made.rig)?,
        &args.out,
        &mut object,
        &mut problems,
    )?;
    console.done(object, &told(&made, &found, &args.out), &problems)
}

impl Args {
    fn correspondence(&self, rig: &Rig, target: &Mesh) -> Result<Correspondence, Failure> {
        let options = CorrespondenceOptions::default().with_method(self.method.into());
        let markers = self
            .markers
            .as_deref()
            .map(|file| read_markers(file, None))
            .transpose()?;
        let pairs = markers.as_ref().map(|(pairs, _)| pairs);
        let found = Correspondence::find(rig.neutral(), target, pairs, &options);
        let mut found = found.map_err(|error| Failure::about(&self.target, &error))?;
        if markers.is_none() && found.method != CorrespondenceMethod::Identity {
            found.problems.push("without markers lids and lips are seldom found; look at the shapes, or give --markers there".into());
        }
        found
            .problems
            .extend(markers.into_iter().flat_map(|(_, odd)| odd));
        Ok(found)
    }

    fn transferred(
        &self,
        rig: &Rig,
        target: &Mesh,
        found: &Correspondence,
        bar: &super::console::Bar,
    ) -> Result<TransferredRig, TransferError> {
        let options = RigTransferOptions::default().with_closures(!self.no_closing);
        RigTransfer::new(rig, target, found, options)?.rig(bar)
    }
}

fn problems(
    from: &Asset,
    to: &Asset,
    found: &Correspondence,
    made: &TransferredRig,
) -> Vec<String> {
    [
        &from.problems,
        &to.problems,
        &found.problems,
        &made.problems,
    ]
    .into_iter()
    .flatten()
    .cloned()
    .collect()
}

fn describe(
    made: &TransferredRig,
    found: &Correspondence,
    map_ms: f64,
    shapes_ms: f64,
) -> Map<String, Value> {
    let names: Vec<&str> = made
        .rig
        .targets()
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    let mut map = report_json(&found.report);
    map["method"] = json!(found.method.name());
    let mut object = Map::new();
    object.insert("targets".into(), json!(names));
    object.insert("vertices".into(), json!(made.rig.neutral().vertex_count()));
    object.insert("map".into(), map);
    object.insert(
        "shapes".into(),
        made.shapes.iter().map(shape_json).collect(),
    );
    object.insert("map_ms".into(), json!(map_ms));
    object.insert("shapes_ms".into(), json!(shapes_ms));
    object
}

fn shape_json(shape: &ShapeReport) -> Value {
    json!({
        "name": shape.name,
        "moved": shape.moved,
        "pairs": shape.pairs,
        "lost_pairs": shape.lost_pairs,
        "gap_before": shape.gap_before,
        "gap_after": shape.gap_after,
        "problems": shape.problems(),
    })
}

fn told(made: &TransferredRig, found: &Correspondence, out: &Path) -> String {
    let closing: Vec<&ShapeReport> = made.shapes.iter().filter(|shape| shape.pairs > 0).collect();
    let widest = closing
        .iter()
        .map(|shape| shape.gap_after)
        .fold(0.0, f64::max);
    let gaps = match closing.len() {
        0 => "none of them closes anything".to_owned(),
        count => format!(
            "{count} close lids or lips, to within {:.3} % of the size",
            100.0 * widest
        ),
    };
    format!(
        "{} targets, {} shapes; {gaps}; {} of {} target triangles uncovered, {} flipped, partners {:.2} % of the diagonal apart; \
         written to {}\n",
        made.rig.targets().len(),
        made.shapes.len(),
        found.report.uncovered,
        found.report.triangles,
        found.report.flipped,
        100.0 * found.report.residual,
        out.display()
    )
}
