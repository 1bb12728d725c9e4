use thiserror::Error;

/// What can be wrong with a picture that is asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// A picture without pixels, or with more than can be held.
    #[error("a picture of {width} by {height} pixels cannot be made; each side must lie between 1 and {limit}")]
    Size {
        /// Pixels across.
        width: usize,
        /// Pixels down.
        height: usize,
        /// The longest side.
        limit: usize,
    },
    /// An array does not have one entry per vertex or face of its mesh.
    #[error("{what} of mesh {mesh} has {found} entries where {expected} are needed")]
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
    /// Frames of an animation that differ in size, or none at all.
    #[error("an animation needs at least one frame, and all of one size; frame {frame} does not fit")]
    Frames {
        /// The first frame that does not fit, counted from 0.
        frame: usize,
    },
    /// A sheet without cells.
    #[error("the sheet holds no pictures; add one")]
    EmptySheet,
    /// The PNG encoder gave up.
    #[error("the picture could not be encoded as PNG: {0}")]
    Png(#[from] png::EncodingError),
}
