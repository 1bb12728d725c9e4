//! Which axis of a take is which of the model.

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
    /// The place in the model's axes.
    #[must_use]
    pub fn apply(&self, place: DVec3) -> DVec3 {
        DVec3::from_array(self.axes.map(|axis| place[axis])) * self.signs
    }
}

impl FromStr for Axes {
    type Err = LearnError;

    /// `xz-y` is: the model's x is the take's x, its y the take's z, its z the take's y reversed.
    fn from_str(text: &str) -> Result<Self, LearnError> {
        let wrong = || LearnError::Markers {
            why: format!("'{text}' is no order of axes; write x, y and z once each, as xz-y"),
        };
        let (mut axes, mut signs, mut sign) = (Vec::new(), Vec::new(), 1.0);
        for letter in text.chars() {
            match (letter, "xyz".find(letter.to_ascii_lowercase())) {
                ('-', _) => sign = -1.0,
                ('+', _) => sign = 1.0,
                (_, Some(axis)) if !axes.contains(&axis) => {
                    axes.push(axis);
                    signs.push(std::mem::replace(&mut sign, 1.0));
                }
                _ => return Err(wrong()),
            }
        }
        let axes: [usize; 3] = axes.try_into().map_err(|_| wrong())?;
        Ok(Self {
            axes,
            signs: DVec3::from_slice(&signs),
        })
    }
}
