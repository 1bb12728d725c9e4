//! Work beside the window: loading, solving, simulating, reading and writing files.
//!
//! The engine knows the [model](crate::model) and no user interface.
//!
//! - [`work`]: worker threads and long tasks.
//! - [`context`], [`command`]: what a room reads in a frame and what it requests.
//! - [`library`]: loaded assets.
//! - [`character`]: the posed character.
//! - [`playback`]: the pose at a frame of the timeline.
//! - [`surface`], [`appearance`], [`heat`], [`color`]: meshes, materials, values and colours ready to
//!   be drawn.
//! - [`openness`]: ambient occlusion of what is shown.
//! - [`import`], [`export`], [`file_request`]: files of other programs.
//! - `arrivals`: files that a room inspects before they enter the document.
//! - [`capture`]: live and recorded performances.
//! - [`storage`]: projects, unsaved work, preferences.
//! - [`pose`], [`touch`], [`blend`], [`transfer`], [`learn`]: workers of the rooms.

pub mod appearance;
pub(crate) mod arrivals;
pub mod blend;
pub mod capture;
pub mod character;
pub mod color;
pub mod command;
pub mod context;
pub mod export;
pub mod file_request;
pub mod heat;
pub mod import;
pub mod learn;
pub mod library;
pub mod openness;
pub mod playback;
pub mod pose;
pub mod storage;
pub mod surface;
pub mod touch;
pub mod transfer;
pub mod work;
