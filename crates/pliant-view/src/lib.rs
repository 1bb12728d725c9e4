//! Pictures of meshes without a GPU, with the same bytes on every machine.
//!
//! A [`Scene`] holds meshes with their [`Material`]s, [`Stroke`]s, [`Marker`]s and a [`Legend`]; a
//! [`Camera`] looks at it; [`render`] draws an [`Image`]. A [`Stage`] keeps what several pictures
//! of one scene share.
//!
//! ```
//! use pliant_mesh::{Mesh, glam::DVec3};
//! use pliant_view::{Material, Scene, View, render};
//!
//! let square = Mesh::from_polygons(
//!     vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y],
//!     &[vec![0, 1, 2, 3]],
//! )?;
//! let scene = Scene::of(&square, Material::clay());
//! let size = [160, 120];
//! let png = render(&scene, &scene.camera(View::ThreeQuarter, size), size)?.to_png()?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **The same bytes everywhere.** From the scene to the pixels only sums, products, quotients,
//! square roots, comparisons and conversions are used, all fixed by IEEE 754 and never contracted;
//! trigonometry and the sRGB curve are built from them. Work is cut into tiles of fixed size that
//! share nothing, so the number of threads does not matter either. The PNG encoder's settings are
//! fixed.

mod bake;
mod bins;
mod camera;
mod color;
mod colormap;
mod error;
mod fifth_root;
mod glyphs;
mod ground;
mod height_map;
mod image;
mod key_light;
mod legend;
mod lens;
mod normals;
mod raster;
mod render;
mod scene;
mod shade;
mod sheet;
mod sky;
mod stage;
mod surface;
mod text;

pub use bake::{BakeOptions, Baker, DetailMaps, HeightRange};
pub use camera::{Camera, Framing, Projection, View};
pub use color::Color;
pub use colormap::{ColorMap, ScalarRange};
pub use error::ViewError;
pub use image::{Image, to_apng};
pub use legend::{Legend, LegendBar};
pub use render::render;
pub use scene::{
    Backdrop, Ground, Marker, Material, Object, Paint, ScalarPaint, Scene, Stroke, Wire,
};
pub use sheet::{ContactSheet, turntable};
pub use stage::Stage;
pub use text::{Anchor, TextStyle, draw_text, text_width};
