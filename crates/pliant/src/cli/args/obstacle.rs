//! `--obstacle` and `--collider`: a solid given in numbers, or a closed mesh in a file.

use pliant_io::Asset;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_physics::{Obstacle, ObstacleMotion, PhysicsError};

use super::{number, source};
use crate::cli::report::failure::Failure;

/// How help pages show the values of an obstacle or collider.
pub(crate) const VALUE_NAME: &str = "FILE|SOLID";

/// Section of a help page that describes the solids.
macro_rules! solids_help {
    () => {
        "\
Solids:
  sphere:x,y,z,r             centre and radius
  capsule:x,y,z,x,y,z,r      both ends of the axis, and the radius
  cylinder:x,y,z,x,y,z,r     both ends of the axis, and the radius
  box:x,y,z,a,b,c            centre, and the side lengths along x, y and z
  FILE                       a closed mesh; it moves as the clip in the file"
    };
}
pub(crate) use solids_help;

/// An obstacle as the user names it.
#[derive(Debug, Clone)]
pub(crate) enum ObstacleArg {
    Solid {
        obstacle: Obstacle,
        /// Its radius or its longest side.
        size: f64,
    },
    File(String),
}

/// A solid that is given in numbers.
struct SolidForm {
    name: &'static str,
    numbers: &'static str,
}

const SOLIDS: [SolidForm; 4] = [
    SolidForm {
        name: "sphere",
        numbers: "x,y,z,r",
    },
    SolidForm {
        name: "capsule",
        numbers: "x,y,z,x,y,z,r",
    },
    SolidForm {
        name: "cylinder",
        numbers: "x,y,z,x,y,z,r",
    },
    SolidForm {
        name: "box",
        numbers: "x,y,z,a,b,c",
    },
];

/// Parses `NAME:NUMBERS`; any other text is a file.
pub(crate) fn parse_obstacle(text: &str) -> Result<ObstacleArg, String> {
    let Some((name, listed)) = text.split_once(':') else {
        return Ok(ObstacleArg::File(text.to_owned()));
    };

    match SOLIDS.iter().find(|solid| solid.name == name) {
        Some(form) => form.parse(text, listed),
        // A word, a colon and numbers are not the name of a file.
        None if number::list(listed).is_some() => Err(unknown_solid(text)),
        None => Ok(ObstacleArg::File(text.to_owned())),
    }
}

fn unknown_solid(text: &str) -> String {
    let forms: Vec<String> = SOLIDS
        .iter()
        .map(|solid| format!("{}:{}", solid.name, solid.numbers))
        .collect();
    format!(
        "'{text}' is not a solid; give a file or one of {}",
        forms.join(", ")
    )
}

impl SolidForm {
    fn parse(&self, text: &str, listed: &str) -> Result<ObstacleArg, String> {
        let Self { name, numbers } = self;
        let wrong =
            |reason: &str| format!("'{text}' is not a {name}: {reason}; write {name}:{numbers}");
        let values = number::list(listed)
            .ok_or_else(|| wrong(&format!("'{listed}' is not a list of numbers")))?;

        // The count is checked here, so that `build` may index.
        let needed = numbers.split(',').count();
        if values.len() != needed {
            let count = values.len();
            return Err(wrong(&format!("{count} number(s) instead of {needed}")));
        }
        let obstacle = self
            .build(&values)
            .map_err(|error| wrong(&error.to_string()))?;
        Ok(ObstacleArg::Solid {
            obstacle,
            size: self.size(&values),
        })
    }

    /// The radius or the longest side.
    fn size(&self, values: &[f64]) -> f64 {
        match self.name {
            "box" => values[3..]
                .iter()
                .fold(0.0, |longest, side| side.max(longest)),
            _ => values[values.len() - 1],
        }
    }

    /// The solid of as many numbers as the form has.
    fn build(&self, values: &[f64]) -> Result<Obstacle, PhysicsError> {
        let triple = |k: usize| DVec3::new(values[k], values[k + 1], values[k + 2]);
        match self.name {
            "sphere" => Obstacle::sphere(triple(0), values[3]),
            "capsule" => Obstacle::capsule(triple(0), triple(3), values[6]),
            "cylinder" => Obstacle::cylinder(triple(0), triple(3), values[6]),
            // A cuboid is built from half of its sides.
            _ => Obstacle::cuboid(triple(0), 0.5 * triple(3), DQuat::IDENTITY),
        }
    }
}

/// An obstacle and how it moves.
pub(crate) struct MovingObstacle {
    pub(crate) obstacle: Obstacle,
    pub(crate) motion: ObstacleMotion,
    /// Duration of the motion; zero without one.
    pub(crate) secs: f64,
}

impl MovingObstacle {
    fn at_rest(obstacle: Obstacle) -> Self {
        Self {
            obstacle,
            motion: ObstacleMotion::still(),
            secs: 0.0,
        }
    }
}

impl ObstacleArg {
    /// The obstacle in the unit of `scene`, and its motion in seconds.
    pub(crate) fn load(&self, scene: &Asset) -> Result<MovingObstacle, Failure> {
        match self {
            Self::Solid { obstacle, .. } => Ok(MovingObstacle::at_rest(obstacle.clone())),
            Self::File(file) => load_file(file, scene),
        }
    }

    /// A warning about a solid that is far smaller than the model `scene`.
    pub(crate) fn size_warning(&self, option: &str, scene: &Asset) -> Option<String> {
        match self {
            Self::Solid { size, .. } => scene.small_length_warning(option, *size),
            Self::File(_) => None,
        }
    }
}

fn load_file(file: &str, scene: &Asset) -> Result<MovingObstacle, Failure> {
    let about = |error: PhysicsError| Failure::about(file, &error);
    let asset = pliant_io::load(file, &source::options(None))?;
    let asset = asset.in_space_of(scene);
    let mesh = asset.mesh()?;
    let obstacle = Obstacle::mesh(&mesh).map_err(about)?;
    if asset.clips.is_empty() {
        return Ok(MovingObstacle::at_rest(obstacle));
    }

    // Obstacles move rigidly; the frames of a clip are fitted by rotations and translations.
    let clip = asset.clip()?;
    let secs = clip.duration_secs();
    let motion = ObstacleMotion::fit(mesh.positions(), clip.frames()).map_err(about)?;
    Ok(MovingObstacle {
        obstacle,
        motion: motion.with_duration(secs),
        secs,
    })
}
