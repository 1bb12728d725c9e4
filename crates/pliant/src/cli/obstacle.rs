//! What `--obstacle` names.

use pliant_mesh::glam::{DQuat, DVec3};
use pliant_physics::{Obstacle, ObstacleMotion, PhysicsError};

use super::failure::Failure;
use super::source;

/// A solid in numbers, or a file that holds one.
#[derive(Debug, Clone)]
pub(crate) enum ObstacleArg {
    Solid(Obstacle),
    File(String),
}

/// Forms of solids, with their numbers.
const FORMS: [(&str, &str); 4] = [
    ("sphere", "x,y,z,r"),
    ("capsule", "x,y,z,x,y,z,r"),
    ("cylinder", "x,y,z,x,y,z,r"),
    ("box", "x,y,z,a,b,c"),
];

pub(crate) fn parse_obstacle(text: &str) -> Result<ObstacleArg, String> {
    let form = text
        .split_once(':')
        .and_then(|(name, numbers)| Some((FORMS.iter().find(|form| form.0 == name)?, numbers)));
    let Some((&(name, wanted), listed)) = form else {
        // A word, a colon and numbers are no file that anyone has.
        let is_solid = text.split_once(':').is_some_and(|(_, listed)| {
            listed
                .split(',')
                .all(|part| part.trim().parse::<f64>().is_ok())
        });
        let forms = || {
            FORMS
                .map(|(name, wanted)| format!("{name}:{wanted}"))
                .join(", ")
        };
        return if is_solid {
            Err(format!(
                "'{text}' is no solid; give a file or one of {}",
                forms()
            ))
        } else {
            Ok(ObstacleArg::File(text.to_owned()))
        };
    };
    let wrong = |what: &str| format!("'{text}' is no {name}: {what}; write {name}:{wanted}");
    let numbers: Option<Vec<f64>> = listed
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    let numbers = numbers.ok_or_else(|| wrong(&format!("'{listed}' is not a list of numbers")))?;
    let solid = match (name, &numbers[..]) {
        ("sphere", &[x, y, z, radius]) => Obstacle::sphere(DVec3::new(x, y, z), radius),
        ("capsule" | "cylinder", &[x, y, z, u, v, w, radius]) => {
            let (start, end) = (DVec3::new(x, y, z), DVec3::new(u, v, w));
            if name == "capsule" {
                Obstacle::capsule(start, end, radius)
            } else {
                Obstacle::cylinder(start, end, radius)
            }
        }
        ("box", &[x, y, z, a, b, c]) => Obstacle::cuboid(
            DVec3::new(x, y, z),
            0.5 * DVec3::new(a, b, c),
            DQuat::IDENTITY,
        ),
        _ => {
            return Err(wrong(&format!(
                "{} number(s) instead of {}",
                numbers.len(),
                wanted.split(',').count()
            )));
        }
    };
    solid
        .map(ObstacleArg::Solid)
        .map_err(|error| wrong(&error.to_string()))
}

impl ObstacleArg {
    /// The obstacle and its motion; the frames of a clip last from time 0 to 1.
    pub(crate) fn load(&self) -> Result<(Obstacle, ObstacleMotion), Failure> {
        let (obstacle, motion, _) = self.load_timed()?;
        Ok((obstacle, motion.lasting(1.0)))
    }

    /// The obstacle, its motion in seconds and how long that lasts.
    pub(crate) fn load_timed(&self) -> Result<(Obstacle, ObstacleMotion, f64), Failure> {
        let file = match self {
            Self::Solid(obstacle) => return Ok((obstacle.clone(), ObstacleMotion::still(), 0.0)),
            Self::File(file) => file,
        };
        let failed = |error: PhysicsError| Failure::about(file, &error);
        let asset = pliant_io::load(file, &source::options(None))?;
        let mesh = asset.mesh()?;
        let obstacle = Obstacle::mesh(&mesh).map_err(failed)?;
        if asset.clips.is_empty() {
            return Ok((obstacle, ObstacleMotion::still(), 0.0));
        }
        let clip = asset.clip()?;
        let secs = clip.duration_secs();
        let motion = ObstacleMotion::fit(mesh.positions(), clip.frames()).map_err(failed)?;
        Ok((obstacle, motion.lasting(secs), secs))
    }
}
