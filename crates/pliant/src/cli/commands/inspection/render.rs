//! `pliant render`: pictures of an asset.

use std::path::{Path, PathBuf};

use pliant::pictures::{Look, Shot, materials};
use pliant_io::{Asset, npy};
use pliant_mesh::Mesh;
use pliant_rig::Clip;
use pliant_view::{Camera, Image, Projection, ScalarRange, View, ViewError, to_apng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::render_frames;
use crate::cli::args::number::{self, positive};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::slider_weights::{self, parse_weight};
use crate::cli::args::source;
use crate::cli::args::view::{parse_size, view_parser};
use crate::cli::pieces::{Invocation, PieceArgs};
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

  # Frames of a clip as pictures in a folder; finished ones are kept
  pliant render specimen:hound#walk --frames 0-7 --out pictures --resume

  # Two parts of an animated PNG, and the whole
  pliant render specimen:hound#walk --frames 0-15 --out a.png
  pliant render specimen:hound#walk --frames 16-31 --out b.png
  pliant join a.png b.png --out walk.png

  # A full rotation as an animated PNG
  pliant render specimen:tapir --turntable 36 --out turn.png

  # Print the camera, which `pliant sketch` needs
  pliant render head.glb --view front --out face.png --json

--frames shows frames of the clip with the camera of its reference pose: in a
PNG they are an animation (as with --play), in a folder each is a picture,
frame.0007.png. Each picture is complete as soon as it has its name.

The same input gives the same bytes on every machine, with or without a GPU.";

/// Renders a picture or an animated PNG of an asset.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Asset to show.
    asset: String,

    /// File for the picture; a folder for several pictures of --frames.
    #[arg(long, value_name = "PNG")]
    pub(super) out: PathBuf,

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

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    pub(super) piece: PieceArgs,
}

/// The report of `pliant render`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RenderReport {
    /// File of the picture, or folder of the pictures.
    pub(super) out: String,
    /// Width and height in pixels.
    pub(super) size: [usize; 2],
    /// Triangles of the mesh.
    pub(super) triangles: usize,
    /// The camera in the form of a stroke file; null for a parallel projection.
    pub(super) camera: Option<CameraReport>,
    /// Number of frames of a clip; absent for a single picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) frames: Option<usize>,
}

/// A perspective camera.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct CameraReport {
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

pub(crate) fn run(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    args.piece_is_consistent()?;
    if args.piece.writes_manifest() {
        return render_frames::run(args, invocation, console);
    }
    output::require_ending(&args.out, &["png", "apng"])?;
    let _spinner = console.spinner("drawing");
    let mut set = args.open()?;
    let png = args.draw(&set)?;
    output::write(&args.out, png)?;

    let mut report = set.report(args);
    if args.play {
        report.frames = Some(set.asset.clip()?.frames().len());
    }
    let summary = format!("written to {}\n", report.out);
    let warnings = std::mem::take(&mut set.warnings);
    console.print_summary(&report, &summary, &warnings)
}

/// What is drawn, and how.
pub(super) struct PictureSet {
    pub(super) asset: Asset,
    pub(super) mesh: Mesh,
    shot: Shot,
    look: Look,
    /// Numbers of all frames, if the file has them.
    rows: Option<ScalarRows>,
    pub(super) warnings: Vec<String>,
}

/// Numbers to show, one row for each frame.
struct ScalarRows {
    rows: Vec<Vec<f64>>,
    title: String,
}

impl PictureSet {
    pub(super) fn report(&self, args: &Args) -> RenderReport {
        let camera = self.shot.camera(&self.mesh, &self.look);
        RenderReport {
            out: path_text(&args.out),
            size: args.size,
            triangles: self.mesh.triangles().len(),
            camera: CameraReport::new(&camera, args.size),
            frames: None,
        }
    }

    /// The picture of frame `k` of a clip; the reference pose sets the camera.
    pub(super) fn frame(&self, clip: &Clip, k: usize) -> Result<Image, ViewError> {
        let pose = clip
            .reference()
            .posed(clip.frames()[k].clone())
            .expect("frames fit their own reference");
        let row = self.rows.as_ref().and_then(|rows| {
            let values = rows.rows.get(k)?.clone();
            Some(self.look.clone().with_scalar(values, rows.title.clone()))
        });
        self.shot
            .of_pose(&pose, clip.reference(), row.as_ref().unwrap_or(&self.look))
    }
}

/// Milliseconds of a frame of an animated PNG: a 16-bit number.
pub(super) fn frame_millis(clip: &Clip) -> u16 {
    let millis = (1000.0 / clip.frames_per_second()).round();
    millis.clamp(1.0, 60_000.0) as u16
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
    /// Opens what is drawn.
    pub(super) fn open(&self) -> Result<PictureSet, Failure> {
        let options = source::options(self.neutral.as_deref());
        let (asset, frame) = if self.has_weights() {
            pliant_io::load_with_frame(&self.asset, &options)?
        } else {
            (pliant_io::load(&self.asset, &options)?, None)
        };
        let asset = self.settings.apply(asset)?;
        let mut warnings = asset.warnings.clone();
        let mesh = self.mesh(&asset, frame, &mut warnings)?;
        let (look, rows) = self.look(&mesh)?;
        let look = if self.clay || self.scalar.is_some() {
            look
        } else {
            let (paint, problems) = materials(&asset, &mesh);
            warnings.extend(problems);
            look.with_materials(paint)
        };
        Ok(PictureSet {
            asset,
            mesh,
            shot: Shot::new(self.view, self.size),
            look,
            rows,
            warnings,
        })
    }

    /// Refuses `--frames` and `--resume` together with what is not a clip.
    fn piece_is_consistent(&self) -> Result<(), Failure> {
        let is_still = self.frame.is_some() || self.has_weights() || self.turntable.is_some();
        if self.piece.frames.is_some() && is_still {
            return Err(Failure::usage(
                "--frames shows frames of a clip; leave out --frame, --weights, --weights-in and --turntable",
            ));
        }
        Ok(())
    }

    /// Whether the frames of a clip are shown.
    pub(super) fn shows_clip(&self) -> bool {
        self.play || self.piece.frames.is_some()
    }

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

    fn look(&self, mesh: &Mesh) -> Result<(Look, Option<ScalarRows>), Failure> {
        let look = Look::default().with_wire(self.wire).with_flat(self.flat);
        let Some(path) = &self.scalar else {
            return Ok((look, None));
        };

        let title = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut rows = self.read_scalar(path, mesh)?;
        let mut range = self.range;
        if self.shows_clip() && rows.len() > 1 {
            // One scale for all frames.
            let all = ScalarRange::of(&rows.concat());
            range = range.or(Some((all.low, all.high)));
        }

        let shown = self.frame.unwrap_or(0).min(rows.len() - 1);
        let look = look
            .with_scalar(rows[shown].clone(), title.clone().into_owned())
            .with_isolines(self.isolines);
        let look = match range {
            Some((low, high)) => look.with_range(low, high),
            None => look,
        };
        let rows = (rows.len() > 1).then(|| ScalarRows {
            rows: std::mem::take(&mut rows),
            title: title.into_owned(),
        });
        Ok((look, rows))
    }

    /// The numbers of a file: one row for all frames, or one for each.
    fn read_scalar(&self, path: &Path, mesh: &Mesh) -> Result<Vec<Vec<f64>>, Failure> {
        let array = npy::read(&pliant_io::read_file(path)?)
            .map_err(|error| error.in_file(path_text(path)))?;
        let vertices = mesh.vertex_count();
        let faces = mesh.face_count();
        let triangles = mesh.triangles().len();
        let fits = |count: usize| [vertices, faces, triangles].contains(&count);

        // An array over time has a row for each frame; the frame that is shown selects it.
        if let [frames, count] = array.shape[..]
            && fits(count)
            && !fits(array.values.len())
        {
            let frame = self.frame.unwrap_or(0);
            if frame >= frames {
                return Err(Failure::new(format!(
                    "'{}' holds {frames} frames; there is no frame {frame}",
                    path.display()
                )));
            }
            return Ok(array
                .values
                .chunks_exact(count)
                .map(<[f64]>::to_vec)
                .collect());
        }

        if fits(array.values.len()) {
            return Ok(vec![array.values]);
        }
        Err(Failure::new(format!(
            "'{}' holds {} numbers, but {} has {vertices} vertices, {faces} faces and {triangles} triangles; give one number for each \
             vertex, face or triangle",
            path.display(),
            array.values.len(),
            self.asset
        )))
    }

    pub(super) fn draw(&self, set: &PictureSet) -> Result<Vec<u8>, Failure> {
        let png = if self.play {
            let clip = set.asset.clip()?;
            let frames = (0..clip.frames().len()).map(|k| set.frame(&clip, k));
            frames
                .collect::<Result<Vec<_>, _>>()
                .and_then(|images| to_apng(&images, frame_millis(&clip)))
        } else if let Some(pictures) = self.turntable {
            set.shot
                .turntable(&set.mesh, &set.look, pictures.into())
                .and_then(|images| turntable_apng(&images))
        } else {
            set.shot
                .of(&set.mesh, &set.look)
                .and_then(|image| image.to_png())
        };
        png.map_err(|error| self.about(&error))
    }

    pub(super) fn about(&self, error: &ViewError) -> Failure {
        Failure::about(&self.asset, error)
    }
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
