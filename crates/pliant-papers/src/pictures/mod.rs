//! Pictures of clips and of soft patches.
//!
//! - [`Film`]: a clip from one fixed camera, as single frames, rows or a film.
//! - [`TouchPicture`]: a soft patch from close by, with its vertices in blue.

mod film;
mod touch_picture;

pub use film::Film;
pub use touch_picture::{TouchPicture, with_blue_vertices, with_soft_region};
