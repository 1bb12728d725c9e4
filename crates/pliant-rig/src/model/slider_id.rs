//! The index of a slider, as a type of its own.
//!
//! **Problem.** Sliders, vertices, shapes and pins are all counted from 0. A function that takes a
//! plain number accepts each of them for any other.
//!
//! **Implementation.** A 32-bit index that converts from a `usize` but from no other index type.
//! Solvers index lists of weights by `usize`; [`SliderId::index`] is that number.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A slider of a rig, counted from 0 in the order of the targets; also the target that it controls.
///
/// ```
/// use pliant_rig::SliderId;
///
/// let weights = [0.0, 0.5];
/// let smile = SliderId::from(1);
/// assert_eq!(weights[smile.index()], 0.5);
/// assert_eq!(smile.to_string(), "1");
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SliderId(u32);

impl SliderId {
    /// The slider with this index.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The index into a list with one entry per slider.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<usize> for SliderId {
    /// An index beyond 32 bits becomes [`u32::MAX`], a slider that no rig in memory has.
    ///
    /// This is the only conversion from a number, so that literals need no suffix.
    fn from(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for SliderId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
