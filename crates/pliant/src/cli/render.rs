use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pliant::picture::{Look, Shot};
use pliant_io::{Asset, npy};
use pliant_mesh::Mesh;
use pliant_view::{Image, View, to_apng};
use serde_json::{Map, json};

use super::console::Console;
use super::failure::Failure;
use super::source;

const EXAMPLES: &str = "\
Examples:
  pliant render specimen:head --out head.png                       a picture
  pliant render head.obj --out head.png --view side --wire         from the side, with the authored edges
  pliant render head.obj --scalar d.npy --isolines 1 --out d.png   numbers as colours, with a legend
  pliant render walk.glb --frame 12 --out step.png                 one frame of a clip
  pliant render specimen:tapir --turntable 36 --out turn.png       an animated PNG

The same input gives the same bytes on every machine, with or without a GPU.";

/// A picture of an asset.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The asset to show.
    asset: String,

    /// Where to write the picture.
    #[arg(long, value_name = "PNG")]
    out: PathBuf,

    /// A frame of the asset's clip, counted from 0.
    #[arg(long, value_name = "N")]
    frame: Option<usize>,

    /// Width and height in pixels.
    #[arg(long, value_name = "WxH", default_value = "800x600", value_parser = parse_size)]
    size: [usize; 2],

    /// The side to look from.
    #[arg(long, value_enum, default_value_t = Viewpoint::ThreeQuarter)]
    view: Viewpoint,

    /// Numbers to show as colours: one per vertex, face or triangle.
    #[arg(long, value_name = "FILE.npy")]
    scalar: Option<PathBuf>,

    /// Lines of equal value at this spacing (with --scalar per vertex).
    #[arg(long, value_name = "STEP", requires = "scalar")]
    isolines: Option<f64>,

    /// Draw the authored edges.
    #[arg(long)]
    wire: bool,

    /// Flat shading: one normal per face.
    #[arg(long)]
    flat: bool,

    /// Turn once around in this many pictures, as an animated PNG.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=720))]
    turntable: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Viewpoint {
    Front,
    Side,
    ThreeQuarter,
    Back,
    Top,
}

impl From<Viewpoint> for View {
    fn from(viewpoint: Viewpoint) -> Self {
        match viewpoint {
            Viewpoint::Front => Self::Front,
            Viewpoint::Side => Self::Side,
            Viewpoint::ThreeQuarter => Self::ThreeQuarter,
            Viewpoint::Back => Self::Back,
            Viewpoint::Top => Self::Top,
        }
    }
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _working = console.working("drawing");
    let asset = pliant_io::load(&args.asset, &source::options(None))?;
    let mesh = mesh_to_show(&asset, args)?;
    let mut look = Look::default().with_wire(args.wire).with_flat(args.flat);
    if let Some(path) = &args.scalar {
        look = look.with_scalar(read_scalar(path)?, scalar_title(path)).with_isolines(args.isolines);
    }
    let shot = Shot::new(args.view.into(), args.size);
    let failed = |error: pliant_view::ViewError| Failure::about(&args.asset, &error);
    let png = match args.turntable {
        None => shot.of(&mesh, &look).and_then(|image| image.to_png()).map_err(failed)?,
        Some(frames) => shot.turntable(&mesh, &look, frames.into()).and_then(|images| animated(&images)).map_err(failed)?,
    };
    pliant_io::write_files(&[(args.out.clone(), png)])?;
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("size".into(), json!(args.size));
    object.insert("triangles".into(), json!(mesh.triangles().len()));
    console.result(object, &format!("written to {}\n", args.out.display()), &asset.problems);
    Ok(())
}

fn mesh_to_show(asset: &Asset, args: &Args) -> Result<Mesh, Failure> {
    let mesh = match args.frame {
        Some(frame) => asset.at_frame(frame)?.mesh()?,
        None => asset.mesh()?,
    };
    mesh.require_surface().map_err(|error| Failure::about(&args.asset, &error))?;
    Ok(mesh)
}

fn animated(images: &[Image]) -> Result<Vec<u8>, pliant_view::ViewError> {
    const TURN_MILLIS: usize = 4000;
    to_apng(images, (TURN_MILLIS / images.len()).max(20) as u16)
}

fn read_scalar(path: &Path) -> Result<Vec<f64>, Failure> {
    let array = npy::read(&pliant_io::read_file(path)?).map_err(|error| error.in_file(path.display().to_string()))?;
    Ok(array.values)
}

fn scalar_title(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let numbers: Option<Vec<usize>> = text.split(['x', 'X', '×']).map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[width, height]) if width > 0 && height > 0 => Ok([width, height]),
        _ => Err(format!("'{text}' is not WIDTHxHEIGHT in pixels, as in 800x600")),
    }
}
