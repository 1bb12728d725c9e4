//! Errors of rendering and baking.

use thiserror::Error;

/// Why a picture or a map cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// A picture without pixels, or with too many.
    #[error(
        "a picture of {width} by {height} pixels cannot be made; each side must lie between 1 and {limit}"
    )]
    Size {
        /// Pixels across.
        width: usize,
        /// Pixels down.
        height: usize,
        /// The longest side.
        limit: usize,
    },
    /// An array does not have one entry per vertex or face of its mesh.
    #[error(
        "{what} of mesh {mesh} has {found} entries, but needs {expected}; give one for each vertex or face"
    )]
    Count {
        /// The array.
        what: &'static str,
        /// The mesh in the scene, counted from 0.
        mesh: usize,
        /// Its length.
        found: usize,
        /// The length that fits.
        expected: usize,
    },
    /// Frames of an animation that differ in size, or no frame.
    #[error(
        "an animation needs at least one frame, and all of one size; frame {frame} does not fit"
    )]
    Frames {
        /// The first frame that does not fit, counted from 0.
        frame: usize,
    },
    /// A sheet without cells.
    #[error("the sheet holds no pictures; add one")]
    EmptySheet,
    /// A mesh without UVs.
    #[error(
        "the mesh has no UVs to bake maps into; unwrap it in a modelling program and export it with UVs"
    )]
    NoUvs,
    /// UVs that cover no texel of the map.
    #[error(
        "no triangle of the UVs covers a texel of the square from 0 to 1; move the UVs into it, or ask for a larger map"
    )]
    UvsOutside,
    /// Positions with NaN or infinity.
    #[error(
        "{what} has a position that is not a finite number, at vertex {vertex}; export it again"
    )]
    NotFinite {
        /// The surface.
        what: &'static str,
        /// The first such vertex.
        vertex: usize,
    },
    /// An image that cannot be shown as a texture.
    #[error("the image cannot be shown: {message}")]
    Texture {
        /// Why, and what to do.
        message: String,
    },
    /// The PNG encoder failed.
    #[error("the picture cannot be encoded as PNG: {0}")]
    Png(#[from] png::EncodingError),
}
