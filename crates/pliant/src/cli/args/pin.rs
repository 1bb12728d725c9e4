//! `--pin` and its kinds: which vertices move, in which coordinates, and how far.

use std::path::PathBuf;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, vertex_normals};
use pliant_rig::{Pin, SketchCamera};
use pliant_view::View;

use super::number;
use super::place::{Place, Places, parse_place};
use super::view::{camera_along, read_camera, view_parser};
use crate::cli::report::failure::Failure;

const HEADING: &str = "Pins";

/// The pins of a drag.
#[derive(Debug, clap::Args)]
pub(crate) struct PinArgs {
    /// Vertex and its displacement from the current pose, in asset units. Repeat for more pins.
    #[arg(long, value_name = "V:dx,dy,dz", allow_hyphen_values = true, value_parser = parse_pin, help_heading = HEADING)]
    pin: Vec<PinArg>,

    /// Vertex and its displacement in a picture, to the right and up; its depth is free.
    #[arg(long, value_name = "V:dx,dy", allow_hyphen_values = true, value_parser = parse_view_pin, help_heading = HEADING)]
    pin_view: Vec<PinArg>,

    /// Direction of the picture of --pin-view [default: front].
    #[arg(long, value_parser = view_parser(), requires = "pin_view", conflicts_with = "camera", help_heading = HEADING)]
    view: Option<View>,

    /// Camera of the picture of --pin-view, as in a stroke file.
    #[arg(long, value_name = "C.json", requires = "pin_view", help_heading = HEADING)]
    camera: Option<PathBuf>,

    /// Vertex and its displacement along the surface normal; both tangents are free.
    #[arg(long, value_name = "V:d", allow_hyphen_values = true, value_parser = parse_normal_pin, help_heading = HEADING)]
    pin_normal: Vec<PinArg>,

    /// Vertex and its displacement in the tangent plane of the surface; the normal is free.
    #[arg(long, value_name = "V:dx,dy,dz", allow_hyphen_values = true, value_parser = parse_tangent_pin, help_heading = HEADING)]
    pin_tangent: Vec<PinArg>,

    /// Vertex and a ray that it should lie on: a point and a direction. It is free to slide.
    #[arg(long, value_name = "V:x,y,z,dx,dy,dz", allow_hyphen_values = true, value_parser = parse_ray_pin, help_heading = HEADING)]
    pin_ray: Vec<PinArg>,

    /// Vertices that stay at their positions.
    #[arg(long, value_name = "V,V…", value_delimiter = ',', value_parser = parse_place, help_heading = HEADING)]
    hold: Vec<Place>,
}

/// A vertex, the numbers after it, and its stiffness.
#[derive(Debug, Clone)]
struct PinArg {
    place: Place,
    /// Empty for a pin whose displacement comes from a path.
    numbers: Vec<f64>,
    stiffness: f64,
}

/// The pose in which pins are placed.
pub(crate) struct PinFrame<'a> {
    /// The mesh in that pose.
    pub(crate) mesh: &'a Mesh,
    /// Where landmarks are.
    pub(crate) places: &'a Places<'a>,
    /// The asset, for messages.
    pub(crate) locator: &'a str,
}

/// The pins of a drag, the held ones last.
pub(crate) struct Pins {
    pub(crate) all: Vec<Pin>,
    /// How many of them are dragged.
    pub(crate) dragged: usize,
    /// The camera of the view pins, where all dragged pins are view pins.
    pub(crate) camera: Option<SketchCamera>,
}

impl PinArgs {
    /// Names of the arguments of which one must be given.
    pub(crate) const DRAGGED: [&'static str; 5] =
        ["pin", "pin_view", "pin_normal", "pin_tangent", "pin_ray"];

    /// Whether a dragged pin has no displacement; a path gives it one.
    pub(crate) fn lacks_displacement(&self) -> bool {
        self.dragged().any(|pin| pin.numbers.is_empty())
    }

    /// The places of all pins.
    pub(crate) fn places(&self) -> Vec<Place> {
        let dragged = self.dragged().map(|pin| pin.place);
        dragged.chain(self.hold.iter().copied()).collect()
    }

    /// Whether a dragged pin has a displacement other than zero.
    pub(crate) fn has_displacements(&self) -> bool {
        self.dragged()
            .any(|pin| pin.numbers.iter().any(|n| *n != 0.0))
    }

    fn dragged(&self) -> impl Iterator<Item = &PinArg> {
        let in_space = self.pin.iter().chain(&self.pin_view);
        let on_surface = self.pin_normal.iter().chain(&self.pin_tangent);
        in_space.chain(on_surface).chain(&self.pin_ray)
    }

    /// The pins in the order of the options in the help, the held ones last.
    pub(crate) fn resolve(&self, frame: &PinFrame<'_>) -> Result<Pins, Failure> {
        let camera = self.camera()?;
        let mut all = Vec::new();
        for pin in &self.pin {
            let vertex = frame.vertex(pin.place)?;
            all.push(pin.set(Pin::new(vertex, pin.vector(0))));
        }
        for pin in &self.pin_view {
            let vertex = frame.vertex(pin.place)?;
            all.push(pin.set(camera.view_pin(vertex, [pin.number(0), pin.number(1)])));
        }

        let normals = if self.pin_normal.is_empty() && self.pin_tangent.is_empty() {
            Vec::new()
        } else {
            vertex_normals(frame.mesh)
        };
        for pin in &self.pin_normal {
            let vertex = frame.vertex(pin.place)?;
            let normal = frame.normal(&normals, vertex)?;
            all.push(pin.set(Pin::along(vertex, normal, pin.number(0))));
        }
        for pin in &self.pin_tangent {
            let vertex = frame.vertex(pin.place)?;
            let normal = frame.normal(&normals, vertex)?;
            all.push(pin.set(Pin::across(vertex, pin.vector(0), normal)));
        }
        for pin in &self.pin_ray {
            let vertex = frame.vertex(pin.place)?;
            let position = frame.position(vertex)?;
            let ray = Pin::onto_ray(vertex, position, pin.vector(0), pin.vector(3));
            all.push(pin.set(ray));
        }

        let dragged = all.len();
        for &place in &self.hold {
            all.push(Pin::hold(frame.vertex(place)?));
        }
        Ok(Pins {
            all,
            dragged,
            camera: (self.pin_view.len() == dragged).then_some(camera),
        })
    }

    fn camera(&self) -> Result<SketchCamera, Failure> {
        match &self.camera {
            Some(path) => read_camera(path),
            None => Ok(camera_along(self.view.unwrap_or(View::Front))),
        }
    }
}

impl PinArg {
    fn set(&self, pin: Pin) -> Pin {
        pin.with_stiffness(self.stiffness)
    }

    fn number(&self, k: usize) -> f64 {
        self.numbers.get(k).copied().unwrap_or(0.0)
    }

    fn vector(&self, first: usize) -> DVec3 {
        DVec3::new(
            self.number(first),
            self.number(first + 1),
            self.number(first + 2),
        )
    }
}

impl PinFrame<'_> {
    fn vertex(&self, place: Place) -> Result<usize, Failure> {
        self.places.vertex(place)
    }

    fn position(&self, vertex: usize) -> Result<DVec3, Failure> {
        self.mesh
            .require_vertex(vertex)
            .map_err(|error| Failure::about(self.locator, &error))?;
        Ok(self.mesh.positions()[vertex])
    }

    fn normal(&self, normals: &[DVec3], vertex: usize) -> Result<DVec3, Failure> {
        self.position(vertex)?;
        if normals[vertex] == DVec3::ZERO {
            return Err(Failure::new(format!(
                "{}: vertex {vertex} belongs to no face and has no normal; use --pin",
                self.locator
            )));
        }
        Ok(normals[vertex])
    }
}

fn parse_pin(text: &str) -> Result<PinArg, String> {
    pin(text, 3, "V:dx,dy,dz, as in 1204:0,0.5,0")
}

fn parse_view_pin(text: &str) -> Result<PinArg, String> {
    pin(text, 2, "V:dx,dy, as in 1204:0,-0.5")
}

fn parse_normal_pin(text: &str) -> Result<PinArg, String> {
    pin(text, 1, "V:d, as in 1204:0.5")
}

fn parse_tangent_pin(text: &str) -> Result<PinArg, String> {
    pin(text, 3, "V:dx,dy,dz, as in 1204:0,0.5,0")
}

fn parse_ray_pin(text: &str) -> Result<PinArg, String> {
    let parsed = pin(text, 6, "V:x,y,z,dx,dy,dz, as in 1204:0,1.5,0,0,0,1")?;
    if parsed.numbers.is_empty() {
        return Err(format!(
            "'{text}' is not a pin: there is no ray; write V:x,y,z,dx,dy,dz"
        ));
    }
    Ok(parsed)
}

/// Parses `V`, `V:numbers` or `V:numbers@stiffness`.
fn pin(text: &str, count: usize, form: &str) -> Result<PinArg, String> {
    let wrong = |reason: String| Err(format!("'{text}' is not a pin: {reason}; write {form}"));
    let (place, rest) = match text.split_once(':') {
        Some((place, rest)) => (place, Some(rest)),
        None => (text, None),
    };
    let Ok(place) = parse_place(place) else {
        return wrong(format!("'{place}' is neither a vertex nor a landmark"));
    };
    let Some(rest) = rest else {
        return Ok(PinArg {
            place,
            numbers: Vec::new(),
            stiffness: 1.0,
        });
    };

    let (numbers, stiffness) = match rest.split_once('@') {
        Some((numbers, stiffness)) => (numbers, number::non_negative(stiffness)),
        None => (rest, Ok(1.0)),
    };
    let Ok(stiffness) = stiffness else {
        return wrong("the stiffness after '@' is not a number from zero up".into());
    };
    match number::list(numbers) {
        Some(numbers) if numbers.len() == count => Ok(PinArg {
            place,
            numbers,
            stiffness,
        }),
        _ => wrong(format!("'{numbers}' is not {}", COUNTS[count])),
    }
}

const COUNTS: [&str; 7] = [
    "",
    "one number",
    "two numbers",
    "three numbers",
    "",
    "",
    "six numbers",
];
