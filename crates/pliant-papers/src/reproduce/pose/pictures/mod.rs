//! Pictures of faces with pins.
//!
//! - [`Portraits`]: a face in rows of pictures, with pins and with heat maps.
//! - [`level_segments`]: lines of equal value on a mesh.

mod outline;
mod portrait;

pub(super) use outline::level_segments;
pub(super) use portrait::{PinMarks, Portraits, VIEW};
