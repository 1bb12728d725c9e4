//! Tables and figures of the papers behind Pliant, reproduced on open data as HTML pages.
//!
//! - [`reproduce`]: one page for each paper, with the published values beside ours.
//! - [`page`]: static HTML pages with SVG plots and tables.
//! - [`subjects`]: the built-in models as the reproductions and the demo use them.
//! - [`pictures`]: pictures of clips and of soft patches.
//!
//! ```
//! use pliant_papers::reproduce::REPRODUCTIONS;
//!
//! let names: Vec<&str> = REPRODUCTIONS.iter().map(|reproduction| reproduction.name).collect();
//! assert_eq!(names, ["pose", "touch", "blend", "transfer", "learn", "capture"]);
//! ```

pub mod page;
pub mod pictures;
pub mod reproduce;
pub mod subjects;
