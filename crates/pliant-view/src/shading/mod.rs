//! Light on surfaces: normals, lamps, shadows and ambient occlusion, all in unit space.
//!
//! | module | concept |
//! |---|---|
//! | `lighting` | the lamps, the shading of a surface point, the tone curve |
//! | `pbr_lighting` | the same lamps on metallic-roughness materials |
//! | `normals` | normals that are smooth over forms and sharp at creases |
//! | `height_map` | heights of a scene along a direction, for all shadows |
//! | `key_light` | the main light and its soft shadow |
//! | `ambient_occlusion` | light from all directions |
//! | `vertex_openness` | the same at the vertices of moving surfaces |
//! | `floor_shadow` | shadow on an invisible floor |

mod ambient_occlusion;
mod floor_shadow;
mod height_map;
mod key_light;
mod lighting;
mod normals;
mod pbr_lighting;
mod vertex_openness;

pub(crate) use ambient_occlusion::AmbientOcclusion;
pub(crate) use floor_shadow::FloorShadow;
pub(crate) use height_map::Occluder;
pub(crate) use key_light::KeyLight;
pub(crate) use lighting::{LightSetup, ShadingPoint, tone};
pub(crate) use normals::Normals;
pub(crate) use pbr_lighting::PbrPoint;
pub use vertex_openness::{OccludedSurface, vertex_openness};
