//! Reader and writer of PLY, the Stanford polygon format.
//!
//! **Format.** A text header lists elements, each with a count and properties (numbers, or lists of
//! numbers). The rows of each element follow, as text or as packed numbers of either byte order.
//!
//! **Source.** Turk, "The PLY polygon file format", 1994; the per-corner `texcoord` list of faces
//! as MeshLab writes it.
//!
//! **Departures.** Elements may come in any order; unknown properties are skipped. The writer uses
//! packed little-endian rows, with single precision if it is exact, else double precision.
//!
//! | module | concept |
//! |---|---|
//! | `header` | encoding, elements and properties |
//! | `body` | the rows, as text or packed |
//! | `read` | elements → a mesh |
//! | `write` | a mesh → packed rows |

mod body;
mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::{CAPABILITIES, write};
