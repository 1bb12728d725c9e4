//! `pliant render`: pictures of an asset.

use std::path::{Path, PathBuf};

use pliant::pictures::{Look, Shot, materials};
use pliant_io::{Asset, npy};
use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_view::{Camera, Image, Projection, View, ViewError, to_apng};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::number::{self, positive};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::slider_weights::{self, parse_weight};
use crate::cli::args::source;
use crate::cli::args::view::{parse_size, view_parser};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # A picture
  pliant render specimen:head --out head.png

  # Without the materials and textures of the file
  pliant render avatar.glb --clay --out clay.png

  # From the side, with the edges of the polygons
  pliant render head.obj --view side --wire --out head.png

  # Numbers as colours, with isolines and a legend
  pliant render head.obj --scalar d.npy --isolines 1 --out d.png

  # One frame of a clip
  pliant render walk.glb --frame 12 --out step.png

  # A rig with some sliders set
  pliant render specimen:head --weights jawOpen=1,browInnerUp=0.8 \\
      --out oh.png

  # A clip as an animated PNG
  pliant render specimen:hound#walk --play --out walk.png

  # A full rotation as an animated PNG
  pliant render specimen:tapir --turntable 36 --out turn.png

  # Print the camera, which `pliant sketch` needs
  pliant render head.glb --view front --out face.png --json

The same input gives the same bytes on every machine, with or without a GPU.";

/// Renders a picture or an animated PNG of an asset.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Asset to show.
    asset: String,

    /// File for the picture.
    #[arg(long, value_name = "PNG")]
    out: PathBuf,

    /// Frame of the clip, counted from 0.
    #[arg(long, value_name = "N", conflicts_with_all = ["weights", "play"])]
    frame: Option<usize>,

    /// Weights of sliders, and of presets such as the expressions of a VRM avatar.
    #[arg(long, value_name = "NAME=W,…", value_delimiter = ',', value_parser = parse_weight, conflicts_with = "play")]
    weights: Vec<(String, f64)>,

    /// File of slider weights, as `pose --weights-out` writes it.
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["weights", "play", "frame"])]
    weights_in: Option<PathBuf>,

    /// Show the whole clip as an animated PNG.
    #[arg(long, conflicts_with = "turntable")]
    play: bool,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Width and height in pixels.
    #[arg(long, value_name = "WxH", default_value = "800x600", value_parser = parse_size)]
    size: [usize; 2],

    /// View direction.
    #[arg(long, default_value = "three-quarter", value_parser = view_parser())]
    view: View,

    /// Numbers to show as colours: one for each vertex, face or triangle. An array of frames x
    /// numbers shows the row of --frame.
    #[arg(long, value_name = "FILE.npy")]
    scalar: Option<PathBuf>,

    /// Values at both ends of the colour scale [default: smallest and largest].
    #[arg(long, value_name = "LOW,HIGH", requires = "scalar", allow_hyphen_values = true, value_parser = parse_range)]
    range: Option<(f64, f64)>,

    /// Spacing of isolines; needs numbers for each vertex.
    #[arg(long, value_name = "STEP", requires = "scalar", allow_negative_numbers = true, value_parser = positive)]
    isolines: Option<f64>,

    /// Draw the edges of the polygons.
    #[arg(long)]
    wire: bool,

    /// Flat shading: one normal for each face.
    #[arg(long)]
    flat: bool,

    /// Plain clay instead of the file's materials and textures.
    #[arg(long)]
    clay: bool,

    /// Rotate once around in N pictures, as an animated PNG.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=720))]
    turntable: Option<u16>,
}

/// The report of `pliant render`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RenderReport {
    /// File of the picture.
    out: String,
    /// Width and height in pixels.
    size: [usize; 2],
    /// Triangles of the mesh.
    triangles: usize,
    /// The camera in the form of a stroke file; null for a parallel projection.
    camera: Option<CameraReport>,
}

/// A perspective camera.
#[derive(Debug, Serialize, JsonSchema)]
struct CameraReport {
    /// Position of the camera.
    eye: [f64; 3],
    /// Position that the camera looks at.
    target: [f64; 3],
    /// Up direction.
    up: [f64; 3],
    /// Vertical field of view in degrees.
    fov_y_degrees: f64,
    /// Width of the picture in pixels.
    width: usize,
    /// Height of the picture in pixels.
    height: usize,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["png", "apng"])?;
    let _spinner = console.spinner("drawing");
    let options = source::options(args.neutral.as_deref());
    let (asset, frame) = if args.has_weights() {
        pliant_io::load_with_frame(&args.asset, &options)?
    } else {
        (pliant_io::load(&args.asset, &options)?, None)
    };
    let asset = args.settings.apply(asset)?;
    let mut warnings = asset.warnings.clone();
    let mesh = args.mesh(&asset, frame, &mut warnings)?;
    let look = args.look(&mesh)?;
    let look = if args.clay || args.scalar.is_some() {
        look
    } else {
        let (paint, problems) = materials(&asset, &mesh);
        warnings.extend(problems);
        look.with_materials(paint)
    };

    let shot = Shot::new(args.view, args.size);
    let camera = shot.camera(&mesh, &look);
    let png = args.draw(&asset, &mesh, &shot, &look)?;
    output::write(&args.out, png)?;

    let report = RenderReport {
        out: path_text(&args.out),
        size: args.size,
        triangles: mesh.triangles().len(),
        camera: CameraReport::new(&camera, args.size),
    };
    let summary = format!("written to {}\n", report.out);
    console.print_summary(&report, &summary, &warnings)
}

impl CameraReport {
    /// A camera with parallel rays has no field of view, and no stroke can be drawn with it.
    fn new(camera: &Camera, [width, height]: [usize; 2]) -> Option<Self> {
        let Projection::Perspective { vertical_fov_rad } = camera.projection else {
            return None;
        };
        Some(Self {
            eye: camera.eye.to_array(),
            target: camera.target.to_array(),
            up: camera.up.to_array(),
            fov_y_degrees: vertical_fov_rad.to_degrees(),
            width,
            height,
        })
    }
}

impl Args {
    fn has_weights(&self) -> bool {
        !self.weights.is_empty() || self.weights_in.is_some()
    }

    /// The mesh to show: a frame, a posed rig, or the mesh of the asset. `pose` is the frame of the
    /// locator, in which weights are set.
    fn mesh(
        &self,
        asset: &Asset,
        pose: Option<usize>,
        warnings: &mut Vec<String>,
    ) -> Result<Mesh, Failure> {
        // Clap excludes a frame together with weights.
        let mesh = match self.frame {
            Some(frame) => asset.at_frame(frame)?.mesh()?,
            None if self.has_weights() => self.posed_mesh(asset, pose, warnings)?,
            None => asset.resting_mesh()?,
        };
        mesh.require_surface()
            .map_err(|error| Failure::about(&self.asset, &error))?;
        Ok(mesh)
    }

    /// The rig at the weights of the command line, in the pose of its joints.
    fn posed_mesh(
        &self,
        asset: &Asset,
        frame: Option<usize>,
        warnings: &mut Vec<String>,
    ) -> Result<Mesh, Failure> {
        let rig = asset.rig()?;
        let weights = slider_weights::choose(
            &rig,
            &asset.presets,
            self.weights_in.as_deref(),
            &self.weights,
            &self.asset,
        )?;
        warnings.extend(slider_weights::limit_warnings(&rig, &weights));
        let pose = match frame {
            Some(frame) => asset.pose_at(frame)?,
            None => asset.rest_pose(),
        };
        let rig = pose
            .rig(&rig)
            .map_err(|error| Failure::about(&self.asset, &error))?;
        rig.neutral()
            .posed(rig.evaluate(&weights))
            .map_err(|error| Failure::about(&self.asset, &error))
    }

    fn look(&self, mesh: &Mesh) -> Result<Look, Failure> {
        let look = Look::default().with_wire(self.wire).with_flat(self.flat);
        let Some(path) = &self.scalar else {
            return Ok(look);
        };

        let title = path.file_stem().unwrap_or_default().to_string_lossy();

        let look = look
            .with_scalar(self.read_scalar(path, mesh)?, title.into_owned())
            .with_isolines(self.isolines);
        Ok(match self.range {
            Some((low, high)) => look.with_range(low, high),
            None => look,
        })
    }

    /// The numbers of a file, or those of the frame that is shown.
    fn read_scalar(&self, path: &Path, mesh: &Mesh) -> Result<Vec<f64>, Failure> {
        let array = npy::read(&pliant_io::read_file(path)?)
            .map_err(|error| error.in_file(path_text(path)))?;
        let vertices = mesh.vertex_count();
        let faces = mesh.face_count();
        let triangles = mesh.triangles().len();
        let fits = |count: usize| [vertices, faces, triangles].contains(&count);

        // An array over time has a row for each frame; the frame that is shown selects it.
        let values = match array.shape[..] {
            [frames, count] if fits(count) && !fits(array.values.len()) => {
                let frame = self.frame.unwrap_or(0);
                let Some(row) = array.values.chunks_exact(count).nth(frame) else {
                    return Err(Failure::new(format!(
                        "'{}' holds {frames} frames; there is no frame {frame}",
                        path.display()
                    )));
                };
                row.to_vec()
            }
            _ => array.values,
        };

        if fits(values.len()) {
            return Ok(values);
        }
        Err(Failure::new(format!(
            "'{}' holds {} numbers, but {} has {vertices} vertices, {faces} faces and {triangles} triangles; give one number for each \
             vertex, face or triangle",
            path.display(),
            values.len(),
            self.asset
        )))
    }

    fn draw(
        &self,
        asset: &Asset,
        mesh: &Mesh,
        shot: &Shot,
        look: &Look,
    ) -> Result<Vec<u8>, Failure> {
        let png = if self.play {
            play(&asset.clip()?, shot, look)
        } else if let Some(pictures) = self.turntable {
            shot.turntable(mesh, look, pictures.into())
                .and_then(|images| turntable_apng(&images))
        } else {
            shot.of(mesh, look).and_then(|image| image.to_png())
        };
        png.map_err(|error| Failure::about(&self.asset, &error))
    }
}

/// Every frame of the clip at its own rate. The reference pose sets the camera.
fn play(clip: &Clip, shot: &Shot, look: &Look) -> Result<Vec<u8>, ViewError> {
    let mut images: Vec<Image> = Vec::with_capacity(clip.frames().len());
    for frame in clip.frames() {
        let pose = clip
            .reference()
            .posed(frame.clone())
            .expect("frames fit their own reference");
        images.push(shot.of_pose(&pose, clip.reference(), look)?);
    }

    // The delay of a frame is a 16-bit number of milliseconds.
    let millis = (1000.0 / clip.frames_per_second()).round();
    to_apng(&images, millis.clamp(1.0, 60_000.0) as u16)
}

fn turntable_apng(images: &[Image]) -> Result<Vec<u8>, ViewError> {
    const ROTATION_MILLIS: usize = 4000;
    to_apng(images, (ROTATION_MILLIS / images.len()).max(20) as u16)
}

fn parse_range(text: &str) -> Result<(f64, f64), String> {
    match number::list(text).as_deref() {
        Some(&[low, high]) if low.is_finite() && high.is_finite() && low < high => Ok((low, high)),
        _ => Err(format!("'{text}' is not LOW,HIGH, as in 0,0.1")),
    }
}
