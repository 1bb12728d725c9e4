//! sRGB colours of vertices.

/// An sRGB colour with opacity (straight alpha), one byte per channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Srgba(pub [u8; 4]);

impl Srgba {
    /// The colour of an unpainted surface: warm clay, as in the pictures of `pliant render`.
    pub const CLAY: Self = Self::from_rgb(221, 191, 170);
    /// Nothing over the surface's own colour.
    pub const CLEAR: Self = Self([0; 4]);

    /// An opaque colour.
    #[must_use]
    pub const fn from_rgb(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue, 255])
    }

    /// The colour with an opacity from 0 to 1.
    #[must_use]
    pub fn with_opacity(self, opacity: f32) -> Self {
        let [red, green, blue, _] = self.0;
        // Adding a half before the truncating conversion rounds to the nearest integer.
        Self([
            red,
            green,
            blue,
            (opacity.clamp(0.0, 1.0) * 255.0 + 0.5) as u8,
        ])
    }

    /// `upper` over this colour ("over" of Porter and Duff, 1984), on sRGB values.
    #[must_use]
    pub fn under(self, upper: Self) -> Self {
        let over = f32::from(upper.0[3]) / 255.0;
        let left = f32::from(self.0[3]) / 255.0 * (1.0 - over);
        let opacity = over + left;
        if opacity <= 0.0 {
            return Self::CLEAR;
        }
        let channel = |k: usize| {
            let sum = f32::from(upper.0[k]) * over + f32::from(self.0[k]) * left;
            (sum / opacity + 0.5) as u8
        };
        Self([
            channel(0),
            channel(1),
            channel(2),
            (opacity * 255.0 + 0.5) as u8,
        ])
    }
}
