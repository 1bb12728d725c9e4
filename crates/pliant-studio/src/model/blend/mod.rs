//! The part of the document that belongs to blending.
//!
//! - `setup`: shapes, weights, materials, solver settings, baked keys.
//! - `obstacle`: solids that a blended shape may not enter.
//! - `examples`: documents to start with.

mod examples;
mod obstacle;
mod setup;

pub use examples::{bar_around_a_cylinder, examples, expressions, three_shapes};
pub use obstacle::{Form, ObstacleMark};
pub use setup::{Bake, BakePath, BlendKey, Body, Cage, Material, Setup, ShapeMark, Solver};
