//! Axis order of a take: permutation and signs of its axes.

use std::str::FromStr;

use pliant_mesh::glam::DVec3;

use crate::LearnError;

/// For each axis of the model, the axis of the take and its sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    axes: [usize; 3],
    signs: DVec3,
}

impl Default for Axes {
    fn default() -> Self {
        Self {
            axes: [0, 1, 2],
            signs: DVec3::ONE,
        }
    }
}

impl Axes {
    /// A position in the axes of the model.
    #[must_use]
    pub fn apply(&self, position: DVec3) -> DVec3 {
        DVec3::from_array(self.axes.map(|axis| position[axis])) * self.signs
    }
}

impl FromStr for Axes {
    type Err = LearnError;

    /// `xz-y` means: x of the model is x of the take, y is z of the take, z is −y of the take.
    fn from_str(text: &str) -> Result<Self, LearnError> {
        let error = || LearnError::Markers {
            why: format!(
                "'{text}' is not an order of axes; write x, y and z once each, as in xz-y"
            ),
        };
        let mut axes = Vec::new();
        let mut signs = Vec::new();
        let mut sign = 1.0;

        for letter in text.chars() {
            match (letter, "xyz".find(letter.to_ascii_lowercase())) {
                // A sign belongs to the next axis.
                ('-', _) => sign = -1.0,
                ('+', _) => sign = 1.0,
                (_, Some(axis)) if !axes.contains(&axis) => {
                    axes.push(axis);
                    signs.push(std::mem::replace(&mut sign, 1.0));
                }
                _ => return Err(error()),
            }
        }

        let axes: [usize; 3] = axes.try_into().map_err(|_| error())?;
        Ok(Self {
            axes,
            signs: DVec3::from_slice(&signs),
        })
    }
}
