//! sRGB colours of vertices.

/// An sRGB colour with premultiplied alpha, one byte per channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Srgba(pub [u8; 4]);

impl Srgba {
    /// The colour of an unpainted surface: a light, warm grey.
    pub const CLAY: Self = Self::from_rgb(206, 196, 186);

    /// An opaque colour.
    #[must_use]
    pub const fn from_rgb(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue, 255])
    }

    /// Linear interpolation of the sRGB values; `share` is 0 at `self` and 1 at `other`.
    #[must_use]
    pub fn mix(self, other: Self, share: f32) -> Self {
        let channel = |k: usize| {
            let start = f32::from(self.0[k]);
            let end = f32::from(other.0[k]);
            // Adding a half before the truncating conversion rounds to the nearest integer.
            ((1.0 - share) * start + share * end + 0.5) as u8
        };
        Self([channel(0), channel(1), channel(2), channel(3)])
    }
}
