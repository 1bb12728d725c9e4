//! Keywords that blends of shapes and of rigs have in common.

use pliant::physics::{
    BlendOptions, CageSize, ContactMethod, ContactOptions, EnergyTerms, InteriorOptions,
    InteriorPoints, SceneOptions, Solver,
};
use pyo3::prelude::*;

use super::obstacle::Obstacle;
use crate::failure::{Failure, input_error};
use crate::report::choice;

/// A size: `"auto"`, `None`, or a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Amount {
    Auto,
    None,
    Number(f64),
}

impl<'py> FromPyObject<'_, 'py> for Amount {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self::None);
        }
        if let Ok(text) = value.extract::<String>() {
            return match &*text {
                "auto" => Ok(Self::Auto),
                "none" => Ok(Self::None),
                _ => Err(input_error(format!(
                    "'{text}' is no size; give 'auto', None or a number"
                ))
                .into()),
            };
        }
        match value.extract::<f64>() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => Err(input_error("give 'auto', None or a number").into()),
        }
    }
}

/// What the caller gave.
pub(super) struct SceneKeywords<'k> {
    pub(super) solver: &'k str,
    pub(super) energy: &'k str,
    pub(super) interior: Amount,
    pub(super) cage: Amount,
    pub(super) friction: f64,
    pub(super) self_contact: bool,
    pub(super) contact: &'k str,
}

impl SceneKeywords<'_> {
    pub(super) fn blend(&self) -> Result<BlendOptions, Failure> {
        let solvers = [
            ("fast", Solver::Fast),
            ("tight", Solver::Tight),
            ("newton", Solver::Newton),
        ];
        let energy: EnergyTerms = self.energy.parse()?;
        let blend = BlendOptions::default()
            .with_solver(choice("solver", self.solver, &solvers)?)
            .with_energy(energy);

        let points = match self.interior {
            Amount::Auto => return Ok(blend),
            Amount::None => InteriorPoints::None,
            Amount::Number(share) if share > 0.0 && share.is_finite() => {
                InteriorPoints::Share(share)
            }
            Amount::Number(share) => {
                return Err(input_error(format!(
                    "interior is {share}; give 'auto', None, or the interior points for each vertex, as in 0.5"
                )));
            }
        };
        Ok(blend.with_interior(InteriorOptions::default().with_points(points)))
    }

    pub(super) fn scene(
        &self,
        blend: BlendOptions,
        obstacles: Vec<Obstacle>,
    ) -> Result<SceneOptions, Failure> {
        let methods = [
            ("active-set", ContactMethod::ActiveSet),
            ("ma2012", ContactMethod::Ma2012),
        ];
        let contact = ContactOptions::default()
            .with_method(choice("contact", self.contact, &methods)?)
            .with_friction(self.friction)
            .with_self_contact(self.self_contact);

        let mut options = SceneOptions::default()
            .with_blend(blend)
            .with_contact(contact)
            .with_cage(self.cage_size()?);
        for obstacle in obstacles {
            let motion = obstacle.motion.with_duration(1.0);
            options = options.with_obstacle(obstacle.obstacle, motion);
        }
        Ok(options)
    }

    fn cage_size(&self) -> Result<CageSize, Failure> {
        match self.cage {
            Amount::Auto => Ok(CageSize::Auto),
            Amount::None => Ok(CageSize::None),
            Amount::Number(vertices) if vertices >= 1.0 && vertices.fract() == 0.0 => {
                Ok(CageSize::Vertices(vertices as usize))
            }
            Amount::Number(vertices) => Err(input_error(format!(
                "cage is {vertices}; give 'auto', None or a number of vertices"
            ))),
        }
    }
}
