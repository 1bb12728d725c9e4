//! Viewports: cameras, scenes, picking, gizmos and rendering.
//!
//! A room builds a [`Scene`] from shared arrays, calls [`viewport_ui`] with its camera, and gets a
//! [`Canvas`]: input for its tool, and a painter over the picture. [`install`] sets up rendering
//! for a window, once.
//!
//! - `viewport`, `screen`, `navigation`: a viewport, its projection, and camera control.
//! - `scene`, `solids`: models, picking, simple solids.
//! - `gpu`: rendering.
//! - `occlusion`: ambient occlusion of what is shown.
//! - `axis_gizmo`, `rotation_gizmo`, `drag_plane`, `legend`: what is drawn and dragged over the
//!   picture.

mod axis_gizmo;
pub mod drag_plane;
pub mod gpu;
pub mod legend;
pub mod navigation;
mod occlusion;
mod rotation_gizmo;
pub mod scene;
mod screen;
pub mod solids;
pub mod viewport;

pub use drag_plane::{DragDirection, DragPlane};
pub use gpu::install;
pub use legend::legend_ui;
pub use occlusion::occlusion_busy;
pub use rotation_gizmo::rotation_gizmo_ui;
pub use scene::{Hit, Model, Paint, Scene};
pub use screen::{Ray, View};
pub use solids::{Solids, gizmo_ui};
pub use viewport::{Canvas, viewport_ui};
