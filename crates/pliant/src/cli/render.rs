//! `pliant render`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use pliant::picture::{Look, Shot};
use pliant_io::{Asset, npy};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_view::{Camera, Image, Projection, View, to_apng};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::{output, slider_weights, source};

const EXAMPLES: &str = "\
Examples:
  pliant render specimen:head --out head.png                     a picture
  pliant render head.obj --out head.png --view side --wire       from the side, with its edges
  pliant render head.obj --scalar d.npy --isolines 1 --out d.png numbers as colours, and a legend
  pliant render walk.glb --frame 12 --out step.png               one frame of a clip
  pliant render specimen:head --weights jawOpen=1,browInnerUp=0.8 --out oh.png
                                                                 a rig with some sliders moved
  pliant render specimen:hound#walk --play --out walk.png        a clip as an animated PNG
  pliant render head.glb --view front --out face.png --json      with its camera, as `sketch` needs it
  pliant render specimen:tapir --turntable 36 --out turn.png     a turn around

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
    #[arg(long, value_name = "N", conflicts_with_all = ["weights", "play"])]
    frame: Option<usize>,

    /// Slider weights of a rig.
    #[arg(long, value_name = "NAME=W,…", value_delimiter = ',', value_parser = parse_weight, conflicts_with = "play")]
    weights: Vec<(String, f64)>,

    /// Slider weights from a file, as `pose --weights-out` writes them.
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["weights", "play", "frame"])]
    weights_in: Option<PathBuf>,

    /// The whole clip, as an animated PNG.
    #[arg(long, conflicts_with = "turntable")]
    play: bool,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Width and height in pixels.
    #[arg(long, value_name = "WxH", default_value = "800x600", value_parser = parse_size)]
    size: [usize; 2],

    /// The side to look from.
    #[arg(long, default_value = "three-quarter", value_parser = view_parser())]
    view: View,

    /// Numbers to show as colours: one per vertex, face or triangle; or such a row for every
    /// frame, of which --frame is shown.
    #[arg(long, value_name = "FILE.npy")]
    scalar: Option<PathBuf>,

    /// The values at the ends of the colours (default: the least and the greatest).
    #[arg(long, value_name = "LOW,HIGH", requires = "scalar", allow_hyphen_values = true, value_parser = parse_range)]
    range: Option<(f64, f64)>,

    /// Lines of equal value at this spacing (with --scalar per vertex).
    #[arg(long, value_name = "STEP", requires = "scalar", allow_negative_numbers = true, value_parser = parse_spacing)]
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

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["png", "apng"])?;
    let _working = console.working("drawing");
    let asset = pliant_io::load(&args.asset, &source::options(args.neutral.as_deref()))?;
    let mesh = mesh_to_show(&asset, args)?;
    let mut look = Look::default().with_wire(args.wire).with_flat(args.flat);
    if let Some(path) = &args.scalar {
        look = look
            .with_scalar(read_scalar(path, &mesh, args)?, scalar_title(path))
            .with_isolines(args.isolines);
        look = args
            .range
            .map_or(look.clone(), |(low, high)| look.with_range(low, high));
    }
    let shot = Shot::new(args.view, args.size);
    let camera = shot.camera(&mesh, &look);
    let failed = |error: pliant_view::ViewError| Failure::about(&args.asset, &error);
    let png = match args.turntable {
        _ if args.play => play(&asset.clip()?, &shot, &look).map_err(failed)?,
        None => shot
            .of(&mesh, &look)
            .and_then(|image| image.to_png())
            .map_err(failed)?,
        Some(frames) => shot
            .turntable(&mesh, &look, frames.into())
            .and_then(|images| turn(&images))
            .map_err(failed)?,
    };
    output::write(&args.out, png)?;
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("size".into(), json!(args.size));
    object.insert("triangles".into(), json!(mesh.triangles().len()));
    object.insert("camera".into(), camera_json(&camera, args.size));
    console.done(
        object,
        &format!("written to {}\n", args.out.display()),
        &asset.problems,
    )
}

/// The camera as stroke files have it, so that what is drawn on the picture can be sketched;
/// nothing for parallel rays.
fn camera_json(camera: &Camera, [width, height]: [usize; 2]) -> Value {
    let Projection::Perspective { vertical_fov_rad } = camera.projection else {
        return Value::Null;
    };
    json!({
        "eye": camera.eye.to_array(),
        "target": camera.target.to_array(),
        "up": camera.up.to_array(),
        "fov_y_degrees": vertical_fov_rad.to_degrees(),
        "width": width,
        "height": height,
    })
}

fn mesh_to_show(asset: &Asset, args: &Args) -> Result<Mesh, Failure> {
    let mesh = match args.frame {
        Some(frame) => asset.at_frame(frame)?.mesh()?,
        None if !args.weights.is_empty() || args.weights_in.is_some() => posed(asset, args)?,
        None => asset.mesh()?,
    };
    mesh.require_surface()
        .map_err(|error| Failure::about(&args.asset, &error))?;
    Ok(mesh)
}

/// The rig with the named sliders moved.
fn posed(asset: &Asset, args: &Args) -> Result<Mesh, Failure> {
    let rig = asset.rig()?;
    let weights =
        slider_weights::choose(&rig, args.weights_in.as_deref(), &args.weights, &args.asset)?;
    rig.neutral()
        .posed(rig.evaluate(&weights))
        .map_err(|error| Failure::about(&args.asset, &error))
}

/// Every frame of the clip at its own rate, framed by the mesh at rest.
fn play(clip: &Clip, shot: &Shot, look: &Look) -> Result<Vec<u8>, pliant_view::ViewError> {
    let draw = |frame: &Vec<DVec3>| {
        let pose = clip
            .reference()
            .posed(frame.clone())
            .expect("frames fit their own reference");
        shot.of_pose(&pose, clip.reference(), look)
    };
    let images: Vec<Image> = clip.frames().iter().map(draw).collect::<Result<_, _>>()?;
    to_apng(
        &images,
        (1000.0 / clip.frames_per_second())
            .round()
            .clamp(1.0, 60_000.0) as u16,
    )
}

fn turn(images: &[Image]) -> Result<Vec<u8>, pliant_view::ViewError> {
    const TURN_MILLIS: usize = 4000;
    to_apng(images, (TURN_MILLIS / images.len()).max(20) as u16)
}

pub(crate) fn parse_weight(text: &str) -> Result<(String, f64), String> {
    let parsed = text.split_once('=').and_then(|(name, weight)| {
        Some((name.trim().to_owned(), weight.trim().parse::<f64>().ok()?))
    });
    match parsed {
        Some((name, weight)) if weight.is_finite() => Ok((name, weight)),
        _ => Err(format!("'{text}' is not NAME=WEIGHT, as in jawOpen=0.5")),
    }
}

fn read_scalar(path: &Path, mesh: &Mesh, args: &Args) -> Result<Vec<f64>, Failure> {
    let array = npy::read(&pliant_io::read_file(path)?)
        .map_err(|error| error.in_file(path.display().to_string()))?;
    let asset = &args.asset;
    let (vertices, faces, triangles) = (
        mesh.vertex_count(),
        mesh.face_count(),
        mesh.triangles().len(),
    );
    let fits = |count: usize| [vertices, faces, triangles].contains(&count);
    let values = match array.shape[..] {
        // Numbers over time: those of the frame that is shown.
        [frames, count] if fits(count) && !fits(array.values.len()) => {
            let frame = args.frame.unwrap_or(0);
            let row = array.values.chunks_exact(count).nth(frame);
            row.ok_or_else(|| {
                Failure::could_not(format!(
                    "'{}' holds {frames} frames; there is no frame {frame}",
                    path.display()
                ))
            })?
            .to_vec()
        }
        _ => array.values,
    };
    if fits(values.len()) {
        return Ok(values);
    }
    Err(Failure::could_not(format!(
        "'{}' holds {} numbers, but {asset} has {vertices} vertices, {faces} faces and {triangles} triangles; give one number for each \
         vertex, face or triangle",
        path.display(),
        values.len()
    )))
}

fn scalar_title(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The named views, so that help lists them.
fn view_parser() -> impl TypedValueParser<Value = View> {
    PossibleValuesParser::new(View::NAMED.map(|(name, _)| name))
        .map(|name| View::from_name(&name).expect("only named views pass"))
}

fn parse_range(text: &str) -> Result<(f64, f64), String> {
    let wrong = || format!("'{text}' is not LOW,HIGH, as in 0,0.1");
    let (low, high) = text.split_once(',').ok_or_else(wrong)?;
    let [low, high] = [low, high].map(|part| {
        part.trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
    });
    low.zip(high)
        .filter(|(low, high)| low < high)
        .ok_or_else(wrong)
}

fn parse_spacing(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(spacing) if spacing > 0.0 && f64::is_finite(spacing) => Ok(spacing),
        _ => Err(format!("'{text}' is not a spacing above zero, as in 0.5")),
    }
}

fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let numbers: Option<Vec<usize>> = text
        .split(['x', 'X', '×'])
        .map(|part| part.trim().parse().ok())
        .collect();
    match numbers.as_deref() {
        Some(&[width, height]) if width > 0 && height > 0 => Ok([width, height]),
        _ => Err(format!(
            "'{text}' is not WIDTHxHEIGHT in pixels, as in 800x600"
        )),
    }
}
