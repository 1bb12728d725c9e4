//! Wavefront OBJ, with everything kept: polygons, seams, groups, objects and the order of it all.
//!
//! **Form.** Lines of a keyword and its values: `v`, `vt`, `vn` append to lists; `f` names their
//! entries, from 1 or backwards from −1; `g`, `usemtl`, `s` and `o` label the faces that follow.
//!
//! **Source.** Wavefront, "Advanced Visualizer manual", appendix B1.
//!
//! **Ours.** Three or four numbers after a position are a vertex colour, as common programs write
//! them. A vertex belongs to every object whose faces use it, else to the object it was declared
//! in. Lines, points, curves and faces of fewer than three corners are skipped with a count in the
//! asset's problems.

mod objects;
mod read;
mod write;

pub use read::read;
pub use write::{HOLDS, write};

#[cfg(test)]
mod tests;
