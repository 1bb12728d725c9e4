//! Reader and writer of Wavefront OBJ, without loss: polygons, seams, groups, objects, and their order.
//!
//! **Format.** Lines of a keyword and its values: `v`, `vt`, `vn` append to lists; `f` refers to
//! their entries, from 1 or backwards from −1; `g`, `usemtl`, `s` and `o` label the faces that
//! follow.
//!
//! **Source.** Wavefront, "Advanced Visualizer manual", appendix B1.
//!
//! **Departures.** Three or four numbers after a position are a vertex colour, as common programs
//! write them. A vertex belongs to every object whose faces use it, else to the object in which it
//! was declared. Lines, points, curves and faces of fewer than three corners are skipped and
//! counted in the warnings of the asset.
//!
//! | module | concept |
//! |---|---|
//! | `read` | lines → lists of positions, UVs, normals and faces |
//! | `mtl_read`, `mtl_write` | materials and their images, in files beside |
//! | `objects` | the lists, split into objects |
//! | `write` | objects → lines |

mod mtl_read;
mod mtl_write;
mod objects;
mod read;
mod write;

pub use read::{read, read_with_files};
pub use write::{CAPABILITIES, write};

#[cfg(test)]
mod tests;
