//! Helpers for format readers: text lines, binary cursors and memory budgets.
//!
//! | module | concept |
//! |---|---|
//! | `text` | lines, words and numbers of text formats |
//! | `binary` | a cursor over the bytes of binary formats |
//! | `json` | what is wrong with a JSON text |
//! | `budget` | a bound on the memory that a file may ask for |
//! | `memory` | memory that cannot be had |
//! | `finite` | numbers that are NaN or infinite |

pub(crate) mod binary;
pub(crate) mod budget;
pub(crate) mod finite;
pub(crate) mod json;
pub(crate) mod memory;
pub(crate) mod text;
