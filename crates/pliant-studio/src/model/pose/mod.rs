//! The part of the document that belongs to posing.
//!
//! - `setup`: everything that the Pose room stores.
//! - `pins`: pins and the last drag.
//! - `method`: the solver that turns pins into weights.
//! - `line_options`: how a drawn line becomes pins.
//! - `examples`: documents to start with.

mod examples;
mod line_options;
mod method;
mod pins;
mod setup;

pub use examples::{beyond, examples, head, smile, two_methods};
pub use line_options::{Ends, LineOptions};
pub use method::{Method, MethodKind};
pub(crate) use pins::REACHED;
pub use pins::{DraggedPin, PinMark, Pull};
pub use setup::{HeatKind, ResidualSettings, Setup, StoredStroke};
