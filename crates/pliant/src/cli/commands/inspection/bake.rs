//! `pliant bake`: the detail between two surfaces as displacement and normal maps.

use std::fs;
use std::path::PathBuf;

use pliant_io::{Asset, IoError};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{LoopSubdivision, Mesh};
use pliant_view::{BakeOptions, Baker, HeightRange, ViewError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{OutputFiles, path_text};

const EXAMPLES: &str = "\
Examples:
  # Write displacement.png and normal.png into the folder maps
  pliant bake smooth.obj wrinkled.obj --out maps

  # The detail that frame 12 adds to frame 0, at 2048 x 2048 texels
  pliant bake 'face.glb@0' 'face.glb@12' --size 2048 --out maps

  # Two clips: a pair of maps for every frame
  pliant bake smooth.glb wrinkled.glb --out maps

  # Subdivide the base twice before the comparison
  pliant bake coarse.glb fine.glb --levels 2 --out maps

Input:
  Both surfaces have the same vertices in the same order. The base gives the
  UV layout.

Maps:
  displacement.png  16-bit grey; height = offset + value / 65535 * scale along
                    the smooth normal of the base, in asset units. Offset and
                    scale are the same for all frames.
  normal.png        8-bit; (128, 128, 255) is the normal of the base, red grows
                    along u, green along v (+Y, as in glTF).
  maps.json         offset, scale and file names

  Load both maps as linear data, not as colours. Detail that moves along the
  surface is not in the maps; 'sideways' is the largest such displacement.";

/// Bakes detail into a displacement map and a normal map.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Smooth surface: a mesh with UV coordinates, or a clip.
    base: String,

    /// Detailed surface: the same vertices at other positions, or a clip.
    detailed: String,

    /// Texels along a side of the maps.
    #[arg(long, value_name = "N", default_value_t = BakeOptions::DEFAULT_SIZE)]
    size: usize,

    /// Texels by which UV borders are extended outwards, so that mipmaps show no seams.
    #[arg(long, value_name = "N", default_value_t = BakeOptions::DEFAULT_PADDING)]
    padding: usize,

    /// Loop subdivisions of the base before the comparison.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=5))]
    levels: u8,

    /// Folder for the maps. It is created if it does not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// The report of `pliant bake`, and the content of `maps.json`. Its keys are in alphabetical
/// order in that file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BakeReport {
    /// Part of the texels that the UV layout covers, from 0 to 1.
    coverage: f64,
    /// The files of each frame.
    maps: Vec<MapFiles>,
    /// Convention of the normal map.
    normals: &'static str,
    /// Height of black in the displacement map, in asset units.
    offset: f64,
    /// Folder of the maps.
    out: String,
    /// Difference of the heights of white and black, in asset units.
    scale: f64,
    /// Largest displacement along the surface, which the maps do not contain, in asset units.
    sideways: f64,
    /// Texels along a side.
    size: usize,
}

/// The maps of one frame.
#[derive(Debug, Serialize, JsonSchema)]
struct MapFiles {
    displacement: String,
    normal: String,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _spinner = console.spinner("baking");
    let base = pliant_io::load(&args.base, &source::options(None))?;
    let detailed = pliant_io::load(&args.detailed, &source::options(None))?;
    let detailed = detailed.in_space_of(&base).into_owned();
    let poses = PosePairs::new(args, &base, &detailed)?;

    let about = |error: ViewError| Failure::about(&args.base, &error);
    let options = BakeOptions::default()
        .with_size(args.size)
        .with_padding(args.padding);
    let baker = Baker::new(&poses.mesh, &options).map_err(about)?;

    // One range for all frames, so that a shader needs one offset and one scale.
    let (range, sideways) = height_range(&baker, &poses).map_err(about)?;
    let mut outputs = OutputFiles::default();
    let maps = bake_frames(args, &baker, &poses, &range, &mut outputs).map_err(about)?;

    let report = BakeReport {
        coverage: baker.coverage(),
        maps,
        normals: "tangent space, +X along u, +Y along v (up)",
        offset: range.least,
        out: path_text(&args.out),
        scale: range.scale(),
        sideways,
        size: args.size,
    };
    let description = serde_json::to_vec_pretty(&report).expect("numbers and names are JSON");
    outputs.add(&args.out.join("maps.json"), description);

    // The folder comes last: a failure before leaves nothing behind.
    fs::create_dir_all(&args.out).map_err(|source| IoError::Write {
        path: args.out.clone(),
        source,
    })?;
    outputs.write()?;

    let warnings = [base.warnings, detailed.warnings, baker.warnings().to_vec()].concat();
    console.print_summary(&report, &report.summary(&range), &warnings)
}

/// The heights of all frames, and the largest displacement along the surface.
fn height_range(baker: &Baker, poses: &PosePairs) -> Result<(HeightRange, f64), ViewError> {
    let mut range = HeightRange::default();
    let mut sideways = 0.0_f64;
    for (base, detailed) in poses.frames() {
        let (heights, aside) = baker.heights(base, detailed)?;
        range = range.with(&heights);
        sideways = sideways.max(aside);
    }
    Ok((range, sideways))
}

/// Adds the maps of all frames to `outputs`.
fn bake_frames(
    args: &Args,
    baker: &Baker,
    poses: &PosePairs,
    range: &HeightRange,
    outputs: &mut OutputFiles,
) -> Result<Vec<MapFiles>, ViewError> {
    let mut files = Vec::new();
    for (frame, (base, detailed)) in poses.frames().enumerate() {
        // A single frame has no number in its file names.
        let number = if poses.detailed.len() > 1 {
            format!(".{frame:04}")
        } else {
            String::new()
        };
        let names = MapFiles {
            displacement: format!("displacement{number}.png"),
            normal: format!("normal{number}.png"),
        };

        let maps = baker.bake(base, detailed, range)?;
        outputs.add(
            &args.out.join(&names.displacement),
            maps.displacement_png()?,
        );
        outputs.add(&args.out.join(&names.normal), maps.normal_png()?);
        files.push(names);
    }
    Ok(files)
}

impl BakeReport {
    fn summary(&self, range: &HeightRange) -> String {
        format!(
            "{} pair(s) of maps of {} x {} texels; heights from {:.4} to {:.4}\nwritten to {}\n",
            self.maps.len(),
            self.size,
            self.size,
            range.least,
            range.most,
            self.out
        )
    }
}

/// The poses to compare, over one mesh.
struct PosePairs {
    mesh: Mesh,
    base: Vec<Vec<DVec3>>,
    detailed: Vec<Vec<DVec3>>,
}

impl PosePairs {
    fn new(args: &Args, base: &Asset, detailed: &Asset) -> Result<Self, Failure> {
        base.require_finite()?;
        detailed.require_finite()?;
        let coarse = base.mesh()?;
        let fine = detailed.mesh()?;

        // Without levels, the subdivision is the identity.
        let subdivision = LoopSubdivision::levels(&coarse, args.levels.into())
            .map_err(|error| Failure::about(&args.base, &error))?;
        let base_poses: Vec<Vec<DVec3>> = poses(base)?
            .iter()
            .map(|pose| subdivision.apply(pose))
            .collect();
        let detailed_poses = poses(detailed)?;
        let mesh = if args.levels > 0 {
            subdivision.mesh().clone()
        } else {
            coarse
        };

        require_same_counts(args, &mesh, &fine, base_poses.len(), detailed_poses.len())?;
        Ok(Self {
            mesh: with_uvs(mesh, fine),
            base: base_poses,
            detailed: detailed_poses,
        })
    }

    /// Each frame as base and detailed positions; a single base serves all frames.
    fn frames(&self) -> impl Iterator<Item = (&[DVec3], &[DVec3])> {
        self.detailed.iter().enumerate().map(|(frame, detailed)| {
            let frame = if self.base.len() == 1 { 0 } else { frame };
            (self.base[frame].as_slice(), detailed.as_slice())
        })
    }
}

fn require_same_counts(
    args: &Args,
    base: &Mesh,
    detailed: &Mesh,
    base_frames: usize,
    detailed_frames: usize,
) -> Result<(), Failure> {
    let base_vertices = base.vertex_count();
    let detailed_vertices = detailed.vertex_count();
    if base_vertices != detailed_vertices {
        return Err(Failure::new(format!(
            "'{}' has {detailed_vertices} vertices and '{}' has {base_vertices}; both need the same vertices in the same order (--levels subdivides the base)",
            args.detailed, args.base
        )));
    }

    if base_frames != 1 && base_frames != detailed_frames {
        return Err(Failure::new(format!(
            "'{}' has {base_frames} frames and '{}' has {detailed_frames}; give clips of equal length, or one base mesh for all frames",
            args.base, args.detailed
        )));
    }
    Ok(())
}

/// The mesh with UV coordinates: both have the same vertices, so either may give the layout.
fn with_uvs(mesh: Mesh, fine: Mesh) -> Mesh {
    let has_uvs = mesh
        .uv_layers()
        .first()
        .is_some_and(|layer| layer.corners.iter().any(Option::is_some));
    if !has_uvs && mesh.triangles() == fine.triangles() {
        fine
    } else {
        mesh
    }
}

/// The frames of a clip, or a mesh as the only frame.
fn poses(asset: &Asset) -> Result<Vec<Vec<DVec3>>, Failure> {
    Ok(if asset.clips.is_empty() {
        vec![asset.mesh()?.positions().to_vec()]
    } else {
        asset.clip()?.frames().to_vec()
    })
}
