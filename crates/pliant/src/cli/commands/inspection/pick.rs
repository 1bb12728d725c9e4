//! `pliant pick`: vertices by place, pixel, slider or landmark.

use std::path::{Path, PathBuf};

use pliant::pictures::{LabelledVertices, Look, Shot};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, SurfaceIndex};
use pliant_rig::{FaceLandmark, Rig, SketchCamera};
use pliant_view::{Framing, Projection, View};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::number;
use crate::cli::args::place::Places;
use crate::cli::args::source;
use crate::cli::args::vertex::parse_displacement;
use crate::cli::args::view::{parse_size, read_camera, view_parser};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # The vertex nearest to a position
  pliant pick head.glb --near 0,-1.2,3.4

  # The vertex under a pixel of the picture of `render --view front`
  pliant pick head.glb --pixel 400,445 --view front

  # The three vertices that a slider moves most
  pliant pick head.glb --most jawOpen --count 3

  # A landmark, and a picture that shows it
  pliant pick head.glb --landmark 'mouth corner left' --picture corner.png

  # All landmarks
  pliant pick head.glb --landmark all --picture face.png

Landmarks:
  chin, nose tip, nose bridge, nose base, lip upper, lip lower, and with left
  or right: mouth corner, nose wing, brow inner, brow middle, brow outer,
  eye inner, eye outer, lid upper, lid lower, cheek. Left is the character's.
  The words may have any order. A name can be given wherever pose, touch and
  geodesic ask for a vertex: --pin 'mouth corner left:0,1,0'.

Confidence:
  From 0 to 1, by the known targets of the rig (ARKit, FACS and related names)
  and by the shape of the head. Commands decline a landmark below 0.3.";

const USAGE: &str = "\
pliant pick [OPTIONS] --near <x,y,z> <ASSET>
       pliant pick [OPTIONS] --pixel <x,y> <ASSET>
       pliant pick [OPTIONS] --most <SLIDER> <ASSET>
       pliant pick [OPTIONS] --landmark <NAME> <ASSET>";

/// Finds vertices by place, pixel, slider or landmark.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE, group(clap::ArgGroup::new("what").required(true).args(["near", "pixel", "most", "landmark"])))]
pub(crate) struct Args {
    /// Rig or mesh.
    asset: String,

    /// Position, in asset units.
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true, value_parser = parse_displacement)]
    near: Option<DVec3>,

    /// Point of a picture, in pixels from the upper left corner.
    #[arg(long, value_name = "x,y", allow_hyphen_values = true, value_parser = parse_pixel)]
    pixel: Option<[f64; 2]>,

    /// Slider whose target moves the vertex most.
    #[arg(long, value_name = "SLIDER")]
    most: Option<String>,

    /// Landmark of a face, or `all`. Repeat for more.
    #[arg(long, value_name = "NAME", value_parser = parse_landmarks)]
    landmark: Vec<Wanted>,

    /// near, most: number of vertices.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,

    /// View direction of --pixel and --picture.
    #[arg(long, default_value = "front", value_parser = view_parser())]
    view: View,

    /// Width and height of the picture of --pixel and --picture.
    #[arg(long, value_name = "WxH", default_value = "800x600", value_parser = parse_size)]
    size: [usize; 2],

    /// pixel: camera of the picture, as in a stroke file, instead of --view and --size.
    #[arg(long, value_name = "C.json", conflicts_with_all = ["view", "size"], requires = "pixel")]
    camera: Option<PathBuf>,

    /// File for a picture that shows the vertices with their numbers.
    #[arg(long, value_name = "PNG")]
    picture: Option<PathBuf>,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

/// The landmarks that one `--landmark` asks for.
#[derive(Debug, Clone)]
enum Wanted {
    All,
    One(FaceLandmark),
}

/// The report of `pliant pick`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PickReport {
    /// The vertices, the best first.
    vertices: Vec<PickedVertex>,
    /// File of the picture; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

/// A vertex that was found.
#[derive(Debug, Serialize, JsonSchema)]
struct PickedVertex {
    /// Number of the vertex.
    vertex: u32,
    /// Its position.
    position: [f64; 3],
    /// Name of the landmark; absent for other ways to pick.
    #[serde(skip_serializing_if = "Option::is_none")]
    landmark: Option<String>,
    /// From 0 (a guess) to 1 (certain); absent for other ways to pick.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if let Some(path) = &args.picture {
        output::require_ending(path, &["png"])?;
    }

    let _spinner = console.spinner("picking");
    let options = source::options(args.neutral.as_deref());
    let (asset, frame) = pliant_io::load_with_frame(&args.asset, &options)?;
    let bind = asset.rig()?;
    let pose = match frame {
        Some(frame) => asset.pose_at(frame)?,
        None => asset.rest_pose(),
    };
    let rig = pose
        .rig(&bind)
        .map_err(|error| Failure::about(&args.asset, &error))?;
    let shown = match frame {
        Some(_) => rig.neutral().posed(rig.evaluate(pose.weights())),
        None => Ok(asset.resting_mesh()?),
    };
    let shown = shown.map_err(|error| Failure::about(&args.asset, &error))?;
    let vertices = args.pick(&shown, &bind, &rig)?;

    if let Some(path) = &args.picture {
        args.draw(rig.neutral(), &vertices, path)?;
    }
    let report = PickReport {
        vertices,
        picture: args.picture.as_deref().map(path_text),
    };
    console.print_result(&report, &report.text(), &asset.warnings)
}

impl Args {
    /// `shown` is the mesh as a picture shows it, `bind` the rig before joints move it.
    fn pick(&self, shown: &Mesh, bind: &Rig, rig: &Rig) -> Result<Vec<PickedVertex>, Failure> {
        let count = self.count as usize;
        if let Some(position) = self.near {
            let distances = distances_from(position, rig.neutral());
            return self.lowest(rig, &distances, count);
        }
        if let Some(slider) = &self.most {
            return self.moved_most(rig, slider, count);
        }
        if let Some(pixel) = self.pixel {
            return self.under_pixel(shown, rig, pixel);
        }
        self.landmarks(bind, rig)
    }

    /// The `count` vertices with the lowest values.
    fn lowest(
        &self,
        rig: &Rig,
        values: &[f64],
        count: usize,
    ) -> Result<Vec<PickedVertex>, Failure> {
        let mut order: Vec<u32> = (0..values.len() as u32)
            .filter(|&v| values[v as usize].is_finite())
            .collect();
        if order.is_empty() {
            return Err(Failure::new(format!("{}: it has no vertices", self.asset)));
        }
        order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        order.truncate(count);
        Ok(order.into_iter().map(|v| picked(rig, v)).collect())
    }

    fn moved_most(
        &self,
        rig: &Rig,
        slider: &str,
        count: usize,
    ) -> Result<Vec<PickedVertex>, Failure> {
        let slider = rig
            .slider_named(slider)
            .map_err(|error| Failure::about(&self.asset, &error))?;
        let target = &rig.targets()[slider.index()];

        let mut values = vec![f64::INFINITY; rig.neutral().vertex_count()];
        for (&vertex, delta) in target.vertices.iter().zip(&target.deltas) {
            values[vertex as usize] = -f64::from(delta.length());
        }
        if target.vertices.is_empty() {
            return Err(Failure::new(format!(
                "{}: target '{}' moves no vertex; name another slider",
                self.asset, target.name
            )));
        }
        self.lowest(rig, &values, count)
    }

    /// The corner nearest to the point of the surface that the picture shows there.
    fn under_pixel(
        &self,
        mesh: &Mesh,
        rig: &Rig,
        pixel: [f64; 2],
    ) -> Result<Vec<PickedVertex>, Failure> {
        let about = |error: MeshError| Failure::about(&self.asset, &error);
        mesh.require_surface().map_err(about)?;
        let camera = match &self.camera {
            Some(path) => read_camera(path)?,
            None => framing_camera(mesh, self.view, self.size),
        };

        let size = [camera.width, camera.height];
        let is_inside = |k: usize| (0.0..=f64::from(size[k])).contains(&pixel[k]);
        if !(is_inside(0) && is_inside(1)) {
            return Err(Failure::new(format!(
                "pixel {},{} is outside the picture, which has {} by {} pixels; give a pixel inside it, or --size",
                pixel[0], pixel[1], size[0], size[1]
            )));
        }

        let index = SurfaceIndex::new(mesh).map_err(about)?;
        let (eye, direction) = camera.ray(pixel);
        let Some(hit) = index.cast_ray(eye, direction, f64::from(f32::MAX)) else {
            return Err(Failure::new(format!(
                "{}: the picture shows nothing at pixel {},{}; look at it with `pliant render`",
                self.asset, pixel[0], pixel[1]
            )));
        };

        let point = eye + direction * hit.distance;
        let corners = mesh.triangles()[hit.place.triangle as usize];
        let distance = |v: &u32| mesh.positions()[*v as usize].distance(point);
        let nearest = corners
            .into_iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .expect("a triangle has corners");
        Ok(vec![picked(rig, nearest)])
    }

    fn landmarks(&self, bind: &Rig, rig: &Rig) -> Result<Vec<PickedVertex>, Failure> {
        bind.neutral()
            .require_surface()
            .map_err(|error| Failure::about(&self.asset, &error))?;
        let places = Places::on(bind, &self.asset);

        let mut vertices = Vec::new();
        for wanted in &self.landmark {
            let found = match wanted {
                Wanted::One(landmark) => vec![places.landmark(*landmark)?],
                Wanted::All => places.landmarks()?.to_vec(),
            };
            for found in found {
                vertices.push(PickedVertex {
                    landmark: Some(found.landmark.to_string()),
                    confidence: Some(found.confidence),
                    ..picked(rig, found.vertex)
                });
            }
        }
        Ok(vertices)
    }

    fn draw(&self, mesh: &Mesh, vertices: &[PickedVertex], path: &Path) -> Result<(), Failure> {
        let numbers: Vec<u32> = vertices.iter().map(|found| found.vertex).collect();
        let mut labels = Vec::new();
        for found in vertices {
            labels.push(match &found.landmark {
                Some(landmark) => format!("{} {landmark}", found.vertex),
                None => found.vertex.to_string(),
            });
        }

        let picture = LabelledVertices {
            mesh,
            vertices: &numbers,
            labels: &labels,
            emphasised: &vec![false; numbers.len()],
            view: self.view,
            size: self.size,
        };
        let about = |error: &dyn std::error::Error| Failure::about(&self.asset, error);
        let image = picture.draw().map_err(|error| about(&error))?;
        output::write(path, image.to_png().map_err(|error| about(&error))?)
    }
}

impl PickReport {
    fn text(&self) -> String {
        let mut text = String::new();
        for found in &self.vertices {
            let [x, y, z] = found.position;
            text += &format!("vertex {} at ({x:.4}, {y:.4}, {z:.4})", found.vertex);
            if let (Some(landmark), Some(confidence)) = (&found.landmark, found.confidence) {
                text += &format!("   {landmark}, confidence {confidence:.2}");
            }
            text.push('\n');
        }
        if let Some(picture) = &self.picture {
            text += &format!("written to {picture}\n");
        }
        text
    }
}

fn picked(rig: &Rig, vertex: u32) -> PickedVertex {
    PickedVertex {
        vertex,
        position: rig.neutral().positions()[vertex as usize].to_array(),
        landmark: None,
        confidence: None,
    }
}

fn distances_from(position: DVec3, mesh: &Mesh) -> Vec<f64> {
    let positions = mesh.positions().iter();
    positions.map(|p| p.distance(position)).collect()
}

/// The camera with which `render` shows the mesh.
fn framing_camera(mesh: &Mesh, view: View, size: [usize; 2]) -> SketchCamera {
    let camera = Shot::new(view, size).camera(mesh, &Look::default());
    let vertical_fov_rad = match camera.projection {
        Projection::Perspective { vertical_fov_rad } => vertical_fov_rad,
        // Shots are in perspective.
        Projection::Orthographic { .. } => Framing::DEFAULT_VERTICAL_FOV_RAD,
    };
    SketchCamera {
        eye: camera.eye,
        target: camera.target,
        up: camera.up,
        fov_y_degrees: vertical_fov_rad.to_degrees(),
        width: size[0] as u32,
        height: size[1] as u32,
    }
}

fn parse_pixel(text: &str) -> Result<[f64; 2], String> {
    match number::list(text).as_deref() {
        Some(&[x, y]) if x.is_finite() && y.is_finite() => Ok([x, y]),
        _ => Err(format!(
            "'{text}' is not a pixel; give two numbers, as in 400,300"
        )),
    }
}

fn parse_landmarks(text: &str) -> Result<Wanted, String> {
    if text.trim() == "all" {
        return Ok(Wanted::All);
    }
    match FaceLandmark::from_name(text) {
        Some(landmark) => Ok(Wanted::One(landmark)),
        None => {
            let names: Vec<String> = FaceLandmark::all()
                .iter()
                .map(ToString::to_string)
                .collect();
            Err(format!(
                "there is no landmark '{text}'; the landmarks are {}, and all",
                names.join(", ")
            ))
        }
    }
}
