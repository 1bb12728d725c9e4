//! Shapes between shapes as equilibria of springs, with contact.

mod error;

pub use error::PhysicsError;
