//! Textures: images on surfaces, with mipmaps against aliasing.
//!
//! **Problem.** An image must look the same near and far, without flicker, and whatever its file
//! claims, memory stays bounded.
//!
//! **Method.** Texels stay 8-bit as in the file; a pyramid of halved copies (mipmaps) serves
//! surfaces that are seen small. Colours are averaged in linear light and by opacity, so that
//! transparent texels do not bleed in. A look-up takes the level of the shorter axis of the pixel's
//! footprint and averages some bilinear probes along the longer one.
//!
//! **Source.** L. Williams, "Pyramidal parametrics", SIGGRAPH 1983; J. McCormack et al., "Feline:
//! fast elliptical lines for anisotropic texture mapping", SIGGRAPH 1999.
//!
//! **Departures.** Levels are blended by a piecewise linear logarithm, which is the same on every
//! machine.
//!
//! | module | concept |
//! |---|---|
//! | `decode` | PNG, JPEG and WebP files, with limits checked before decoding |
//! | `mipmap` | the pyramid of halved copies |
//! | `sampler` | the look-up: wrapping, interpolation, the level of a footprint |

mod decode;
mod mipmap;
mod sampler;

use std::sync::Arc;

use glam::{Mat2, Vec2};

use self::mipmap::Level;
pub(crate) use self::sampler::Footprint;
use crate::ViewError;

/// What the bytes of a texture mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TexelEncoding {
    /// Colours in sRGB, with linear opacity.
    Srgb,
    /// Plain numbers, such as normals or roughness.
    Linear,
}

/// An image for surfaces, with its mipmaps.
#[derive(Debug, Clone)]
pub struct Texture {
    levels: Vec<Level>,
    encoding: TexelEncoding,
}

impl Texture {
    /// Chosen: images of more pixels are not decoded. A square of 8192 is the largest that
    /// characters use.
    pub const MOST_PIXELS: usize = 1 << 26;

    /// A texture of `size` (width, height) from RGBA bytes, row by row from the top left.
    pub fn from_rgba8(
        size: [usize; 2],
        texels: Vec<[u8; 4]>,
        encoding: TexelEncoding,
    ) -> Result<Self, ViewError> {
        let [width, height] = size;
        if width == 0 || height == 0 || texels.len() != width * height {
            return Err(ViewError::Texture {
                message: format!("{} texels do not fill {width} by {height}", texels.len()),
            });
        }

        let base = Level {
            width,
            height,
            texels,
        };
        Ok(Self {
            levels: mipmap::pyramid(base, encoding),
            encoding,
        })
    }

    /// Width and height in texels.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.levels[0].width, self.levels[0].height]
    }

    /// The texture without its largest levels, so that at most `most_texels` remain in the first.
    #[must_use]
    pub fn reduced(mut self, most_texels: usize) -> Self {
        let texels = |level: &Level| level.width * level.height;
        let large = self.levels.iter().take_while(|l| texels(l) > most_texels);
        let drop = large.count().min(self.levels.len() - 1);
        self.levels.drain(..drop);
        self
    }

    /// What its bytes mean.
    #[must_use]
    pub fn encoding(&self) -> TexelEncoding {
        self.encoding
    }

    /// The image and its halved copies, each with width, height and RGBA bytes row by row. Odd sizes
    /// are rounded up.
    pub fn levels(&self) -> impl Iterator<Item = ([usize; 2], &[[u8; 4]])> {
        let levels = self.levels.iter();
        levels.map(|level| ([level.width, level.height], level.texels.as_slice()))
    }

    /// Whether any texel is not opaque.
    #[must_use]
    pub fn is_translucent(&self) -> bool {
        self.levels[0].texels.iter().any(|texel| texel[3] != 255)
    }
}

/// What is beyond the borders of a texture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextureWrap {
    /// The image again.
    #[default]
    Repeat,
    /// Its mirror image.
    Mirror,
    /// The texels of its border.
    Clamp,
}

/// A texture as it lies on a surface.
#[derive(Debug, Clone)]
pub struct TextureMap {
    /// The texture.
    pub texture: Arc<Texture>,
    /// The UV set of the mesh.
    pub uv_set: usize,
    /// What is beyond the borders, along U and V.
    pub wrap: [TextureWrap; 2],
    /// Whether texels are shown as squares.
    pub nearest: bool,
    /// The linear part of the transformation of UVs whose V points **down** the image.
    pub linear: Mat2,
    /// Added after it.
    pub offset: Vec2,
}

impl TextureMap {
    /// The whole texture over the first UV set, repeated.
    #[must_use]
    pub fn new(texture: Arc<Texture>) -> Self {
        Self {
            texture,
            uv_set: 0,
            wrap: [TextureWrap::Repeat; 2],
            nearest: false,
            linear: Mat2::IDENTITY,
            offset: Vec2::ZERO,
        }
    }
}
