//! `pliant bake`.

use std::fs;
use std::path::PathBuf;

use pliant_io::{Asset, IoError};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{LoopSubdivision, Mesh};
use pliant_view::{BakeOptions, Baker, HeightRange, ViewError};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::output::Outputs;
use super::source;

const EXAMPLES: &str = "\
Examples:
  pliant bake smooth.obj wrinkled.obj --out maps           displacement.png and normal.png
  pliant bake 'face.glb@0' 'face.glb@12' --size 2048 --out maps
                                                           what frame 12 adds to frame 0
  pliant bake smooth.glb wrinkled.glb --out maps           clips: a pair of maps for every frame
  pliant bake coarse.glb fine.glb --levels 2 --out maps
                                                           the base is subdivided first

Both surfaces have the same vertices in the same order; the base gives the UV layout. displacement.png
is 16-bit grey: height = offset + value / 65535 * scale along the base's smooth normal, in the asset's
units, with one offset and scale for all frames. normal.png is 8-bit: (128, 128, 255) is the base's
normal, red grows along u and green along v, up in the picture (+Y, as in glTF). Load both as plain
numbers, not as colours. maps.json beside them holds offset, scale and all file names. What the detail
moves along the surface has no place in a height: 'sideways' says how much that is at most.";

/// The detail between two surfaces as a displacement and a normal map.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The plain surface: a mesh with UVs, or a clip.
    base: String,

    /// The detailed surface: the same vertices elsewhere, or a clip.
    detailed: String,

    /// Texels along a side.
    #[arg(long, value_name = "N", default_value_t = BakeOptions::DEFAULT_SIZE)]
    size: usize,

    /// How many texels borders are carried outwards, so that smaller versions of the maps show no
    /// seams.
    #[arg(long, value_name = "N", default_value_t = BakeOptions::DEFAULT_PADDING)]
    padding: usize,

    /// Subdivide the base so often before it is compared (Loop).
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=5))]
    levels: u8,

    /// The folder for the maps; it is made if need be.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _working = console.working("baking");
    let [base, detailed] = [&args.base, &args.detailed]
        .map(|locator| pliant_io::load(locator, &source::options(None)));
    let (base, detailed) = (base?, detailed?);
    let problems = [base.problems.clone(), detailed.problems.clone()].concat();
    let pairs = Pairs::of(args, &base, &detailed)?;
    let about = |error: ViewError| Failure::about(&args.base, &error);
    let options = BakeOptions::default()
        .with_size(args.size)
        .with_padding(args.padding);
    let baker = Baker::new(&pairs.mesh, &options).map_err(about)?;
    let (mut range, mut sideways) = (HeightRange::default(), 0.0_f64);
    for (plain, fine) in pairs.frames() {
        let (heights, aside) = baker.heights(plain, fine).map_err(about)?;
        (range, sideways) = (range.with(&heights), sideways.max(aside));
    }
    let mut outputs = Outputs::default();
    let mut files = Vec::new();
    for (frame, (plain, fine)) in pairs.frames().enumerate() {
        let maps = baker.bake(plain, fine, &range).map_err(about)?;
        let number = if pairs.detailed.len() > 1 {
            format!(".{frame:04}")
        } else {
            String::new()
        };
        let names = [
            format!("displacement{number}.png"),
            format!("normal{number}.png"),
        ];
        outputs.add(
            &args.out.join(&names[0]),
            maps.displacement_png().map_err(about)?,
        );
        outputs.add(&args.out.join(&names[1]), maps.normal_png().map_err(about)?);
        files.push(json!({ "displacement": names[0], "normal": names[1] }));
    }
    let object = report(args, &range, sideways, &baker, files);
    let sidecar = serde_json::to_vec_pretty(&object).expect("numbers and names are JSON");
    outputs.add(&args.out.join("maps.json"), sidecar);
    fs::create_dir_all(&args.out).map_err(|source| IoError::Write {
        path: args.out.clone(),
        source,
    })?;
    outputs.write()?;
    let text = format!(
        "{} pair(s) of maps of {} x {} texels; heights from {:.4} to {:.4}; written to {}\n",
        pairs.detailed.len(),
        args.size,
        args.size,
        range.least,
        range.most,
        args.out.display()
    );
    console.done(
        object,
        &text,
        &[problems, baker.problems().to_vec()].concat(),
    )
}

fn report(
    args: &Args,
    range: &HeightRange,
    sideways: f64,
    baker: &Baker,
    files: Vec<Value>,
) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("size".into(), json!(args.size));
    object.insert("offset".into(), json!(range.least));
    object.insert("scale".into(), json!(range.scale()));
    object.insert("sideways".into(), json!(sideways));
    object.insert("coverage".into(), json!(baker.coverage()));
    object.insert(
        "normals".into(),
        json!("tangent space, +X along u, +Y along v (up)"),
    );
    object.insert("maps".into(), json!(files));
    object
}

/// The poses to compare, over one mesh.
struct Pairs {
    mesh: Mesh,
    base: Vec<Vec<DVec3>>,
    detailed: Vec<Vec<DVec3>>,
}

impl Pairs {
    fn of(args: &Args, base: &Asset, detailed: &Asset) -> Result<Self, Failure> {
        base.require_finite()?;
        detailed.require_finite()?;
        let (coarse, fine) = (base.mesh()?, detailed.mesh()?);
        let subdivision = LoopSubdivision::levels(&coarse, args.levels.into())
            .map_err(|error| Failure::about(&args.base, &error))?;
        let (base, detailed): (Vec<Vec<DVec3>>, _) = (
            poses(base)?
                .iter()
                .map(|pose| subdivision.apply(pose))
                .collect(),
            poses(detailed)?,
        );
        let mesh = if args.levels > 0 {
            subdivision.mesh().clone()
        } else {
            coarse
        };
        let (own, other) = (mesh.vertex_count(), fine.vertex_count());
        if own != other {
            let message = format!(
                "'{}' has {other} vertices and '{}' {own}; both need the same ones in the same order (--levels subdivides the base)",
                args.detailed, args.base
            );
            return Err(Failure::could_not(message));
        }
        if base.len() != 1 && base.len() != detailed.len() {
            let (own, other) = (base.len(), detailed.len());
            let message = format!(
                "'{}' has {own} frames and '{}' {other}; give as many, or one base for all",
                args.base, args.detailed
            );
            return Err(Failure::could_not(message));
        }
        // The same vertices: the layout may come from either.
        let is_bare = mesh
            .uv_layers()
            .first()
            .is_none_or(|layer| layer.corners.iter().all(Option::is_none));
        let mesh = if is_bare && mesh.triangles() == fine.triangles() {
            fine
        } else {
            mesh
        };
        Ok(Self {
            mesh,
            base,
            detailed,
        })
    }

    fn frames(&self) -> impl Iterator<Item = (&[DVec3], &[DVec3])> {
        let base =
            |frame: usize| self.base[if self.base.len() == 1 { 0 } else { frame }].as_slice();
        self.detailed
            .iter()
            .enumerate()
            .map(move |(frame, detailed)| (base(frame), detailed.as_slice()))
    }
}

/// The frames of a clip, or a mesh as the only one.
fn poses(asset: &Asset) -> Result<Vec<Vec<DVec3>>, Failure> {
    Ok(if asset.clips.is_empty() {
        vec![asset.mesh()?.positions().to_vec()]
    } else {
        asset.clip()?.frames().to_vec()
    })
}
