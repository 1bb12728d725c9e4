//! A software renderer for meshes that gives the same bytes on every machine.
//!
//! A [`Scene`] holds meshes with their [`Material`]s, [`Stroke`]s, [`Marker`]s and a [`Legend`]; a
//! [`Camera`] looks at it; [`render`] draws an [`Image`]. A [`PreparedScene`] holds what several
//! pictures of one scene share.
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
//! **Determinism.** From the scene to the pixels, only sums, products, quotients, square roots,
//! comparisons and conversions are used. IEEE 754 fixes all of them, and they are never contracted;
//! trigonometry and the sRGB curve are built from them. The work is divided into tiles of fixed
//! size that share nothing, so that the number of threads does not matter. The settings of the PNG
//! encoder are fixed.
//!
//! The layers, from below: `color`, `image`, `text`, `texture`, `pbr` (materials of files); `camera` and `scene`; `raster` (which
//! primitive each sample sees) and `shading` (light on surfaces); `render`. `bake` (texture maps)
//! and `contact_sheet` are the top layer.

mod bake;
mod camera;
mod color;
mod contact_sheet;
mod error;
mod image;
mod look;
mod min_max;
mod pbr;
mod raster;
mod render;
mod scene;
mod shading;
mod shot;
mod text;
mod texture;

pub use bake::{BakeOptions, Baker, DetailMaps, HeightRange};
pub use camera::{Camera, Framing, Projection, View};
pub use color::{Color, ColorMap, ScalarRange};
pub use contact_sheet::{ContactSheet, turntable};
pub use error::ViewError;
pub use image::{Image, from_apng, to_apng};
pub use look::{Look, face_means, own_paint};
pub use pbr::{PbrMaterial, PbrPaint, Transparency};
pub use render::{PreparedScene, render};
pub use scene::{
    Backdrop, Ground, Marker, Material, Object, Paint, ScalarPaint, Scene, Stroke, Wire,
};
pub use shading::{OccludedSurface, vertex_openness};
pub use shot::Shot;
pub use text::{Anchor, Legend, LegendBar, TextStyle, draw_text, text_width};
pub use texture::{TexelEncoding, Texture, TextureMap, TextureWrap};
