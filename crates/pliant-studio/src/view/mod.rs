//! Everything that is seen in three dimensions: cameras, scenes, and the viewport that draws them.
//!
//! A room builds a [`Scene`] from shared arrays, calls [`viewport_ui`] with its camera, and gets a
//! [`Canvas`] back: input for its tool, and a painter for what lies over the picture. [`install`]
//! tells a window's viewports about its graphics card, once.

mod axis_gizmo;
mod buffers;
pub mod camera;
pub mod drag_plane;
mod drawing;
pub mod gpu;
pub mod heat;
pub mod navigation;
mod pipelines;
pub mod scene;
mod screen;
pub mod solids;
mod turn_gizmo;
pub mod viewport;

pub use camera::{Camera, Projection, Ray, Side, View};
pub use drag_plane::{DragPlane, DragWay};
pub use gpu::install;
pub use heat::{Heat, HeatMap, legend_ui};
pub use scene::{Hit, Model, Paint, Scene, Surface, Vertices};
pub use solids::{Solids, gizmo_ui};
pub use turn_gizmo::turn_gizmo_ui;
pub use viewport::{Canvas, Look, Shading, viewport_ui};
