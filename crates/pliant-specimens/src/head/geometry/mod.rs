//! The neutral head: a volume, the quads that cover it, and the parts with shapes of their own.
//!
//! - [`anatomy`]: where things are, in centimetres
//! - [`sculpt`]: the head as a volume; [`layout`]: the quads; [`relax`]: quads drawn onto the volume
//! - [`half`]: vertices and quads of the left half, and the part that each belongs to
//! - [`eye`], [`mouth`], [`teeth`], [`nose`], [`ear`], [`eyebrow`], [`hair`]: the parts

pub(super) mod anatomy;
pub(super) mod ear;
pub(super) mod eye;
pub(super) mod eyebrow;
pub(super) mod hair;
pub(super) mod half;
pub(super) mod layout;
pub(super) mod mouth;
pub(super) mod nose;
pub(super) mod relax;
pub(super) mod sculpt;
pub(super) mod teeth;
