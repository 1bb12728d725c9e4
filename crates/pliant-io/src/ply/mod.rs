//! PLY: the polygon format of Stanford.
//!
//! **Form.** A text header lists elements, each with a count and properties (numbers, or lists of
//! numbers); then come the rows of each element in turn, as text or as packed numbers of either
//! byte order.
//!
//! **Source.** Turk, "The PLY polygon file format", 1994; the per-corner `texcoord` list of faces
//! as MeshLab writes it.
//!
//! **Ours.** Elements may come in any order; properties that are not known are skipped. We write
//! packed little-endian rows, with single precision where that is exact and double precision
//! elsewhere.

mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::{HOLDS, write};
