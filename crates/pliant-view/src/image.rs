//! Pictures in memory, and their PNG and APNG files.
//!
//! The settings of the encoder are fixed, so that equal pictures give equal files. Animations are
//! APNG files, which browsers play and other programs show as their first frame.

use crate::{Color, ViewError};

/// A picture in 8-bit sRGB, row by row from the top left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Image {
    /// The longest side of a picture, in pixels.
    pub const LONGEST_SIDE: usize = 16_384;

    /// A picture of one colour.
    pub fn filled([width, height]: [usize; 2], color: Color) -> Result<Self, ViewError> {
        check_size([width, height])?;
        Ok(Self {
            width,
            height,
            pixels: vec![color.to_srgb8(); width * height],
        })
    }

    /// A picture of given pixels, row by row from the top left.
    ///
    /// # Errors
    /// [`ViewError::Size`] if a side is zero or too long, or there is not one pixel for each place.
    pub fn from_pixels(
        [width, height]: [usize; 2],
        pixels: Vec<[u8; 3]>,
    ) -> Result<Self, ViewError> {
        check_size([width, height])?;
        if pixels.len() != width * height {
            return Err(ViewError::Size {
                width,
                height,
                limit: Self::LONGEST_SIDE,
            });
        }
        Ok(Self {
            width,
            height,
            pixels,
        })
    }

    /// Pixels across and down.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// All pixels, row by row from the top left.
    #[must_use]
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// The pixel in column `x` and row `y`, counted from the top left.
    ///
    /// # Panics
    /// Outside the picture.
    #[must_use]
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        assert!(
            x < self.width && y < self.height,
            "pixel ({x}, {y}) lies outside the picture"
        );
        self.pixels[y * self.width + x]
    }

    /// Copies `picture` with its top left corner at `(x, y)`; pixels outside are dropped.
    pub fn paste(&mut self, picture: &Self, x: usize, y: usize) {
        let columns = picture.width.min(self.width.saturating_sub(x));
        let rows = picture.height.min(self.height.saturating_sub(y));
        for row in 0..rows {
            let from = row * picture.width;
            let to = (y + row) * self.width + x;
            self.pixels[to..to + columns].copy_from_slice(&picture.pixels[from..from + columns]);
        }
    }

    /// Copies rows of `side` pixels each, the first at `(x, y)`; pixels outside are dropped.
    pub(crate) fn set_block(&mut self, [x, y]: [usize; 2], side: usize, block: &[[u8; 3]]) {
        let columns = side.min(self.width.saturating_sub(x));
        for (row, line) in block
            .chunks(side)
            .enumerate()
            .take(self.height.saturating_sub(y))
        {
            let to = (y + row) * self.width + x;
            self.pixels[to..to + columns].copy_from_slice(&line[..columns]);
        }
    }

    /// Blends `color` over the pixel at `(x, y)` with the given opacity, in linear light; nothing
    /// happens outside.
    pub fn blend(&mut self, x: i64, y: i64, color: Color, opacity: f32) {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 || opacity <= 0.0 {
            return;
        }
        let pixel = &mut self.pixels[y as usize * self.width + x as usize];
        let [r, g, b] = *pixel;
        *pixel = Color::srgb8(r, g, b)
            .mix(color, opacity.min(1.0))
            .to_srgb8();
    }

    /// The picture as a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, ViewError> {
        let mut bytes = Vec::new();
        let mut writer = encoder(&mut bytes, self).write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// `frames` as one animated PNG that plays forever, each shown for `frame_millis`.
pub fn to_apng(frames: &[Image], frame_millis: u16) -> Result<Vec<u8>, ViewError> {
    let first = frames.first().ok_or(ViewError::Frames { frame: 0 })?;
    if let Some(frame) = frames.iter().position(|f| f.size() != first.size()) {
        return Err(ViewError::Frames { frame });
    }

    // Zero repetitions mean an endless loop.
    let mut bytes = Vec::new();
    let mut encoder = encoder(&mut bytes, first);
    encoder.set_animated(frames.len() as u32, 0)?;
    encoder.set_frame_delay(frame_millis, 1000)?;

    let mut writer = encoder.write_header()?;
    for frame in frames {
        writer.write_image_data(frame.pixels.as_flattened())?;
    }

    writer.finish()?;
    Ok(bytes)
}

/// The pictures of a PNG or an animated PNG that [`Image::to_png`] or [`to_apng`] made.
///
/// # Errors
/// [`ViewError::Texture`] for other files.
pub fn from_apng(bytes: &[u8]) -> Result<Vec<Image>, ViewError> {
    let wrong = |message: String| ViewError::Texture { message };
    let failed = |error: png::DecodingError| wrong(error.to_string());
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .map_err(failed)?;
    let info = reader.info();
    let is_ours = info.color_type == png::ColorType::Rgb && info.bit_depth == png::BitDepth::Eight;
    if !is_ours {
        return Err(wrong("it does not hold colours of 3 × 8 bits".into()));
    }
    let size = [info.width as usize, info.height as usize];
    check_size(size)?;
    let count = info
        .animation_control()
        .map_or(1, |animation| animation.num_frames);

    let mut images = Vec::new();
    let mut buffer = vec![0; 3 * size[0] * size[1]];
    for _ in 0..count {
        let frame = reader.next_frame(&mut buffer).map_err(failed)?;
        if [frame.width as usize, frame.height as usize] != size {
            return Err(wrong("its frames have several sizes".into()));
        }
        let pixels = buffer.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        images.push(Image::from_pixels(size, pixels)?);
    }
    Ok(images)
}

fn encoder<'a>(bytes: &'a mut Vec<u8>, image: &Image) -> png::Encoder<'a, &'a mut Vec<u8>> {
    let mut encoder = png::Encoder::new(bytes, image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    encoder
}

/// Rejects sizes that no picture can have.
pub(crate) fn check_size([width, height]: [usize; 2]) -> Result<(), ViewError> {
    let limit = Image::LONGEST_SIDE;
    let fits = |side: usize| (1..=limit).contains(&side);
    if fits(width) && fits(height) {
        Ok(())
    } else {
        Err(ViewError::Size {
            width,
            height,
            limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info, pixels)
    }

    #[test]
    fn a_png_has_the_pixels_of_its_picture() {
        let mut image = Image::filled([5, 3], Color::srgb8(10, 20, 30)).unwrap();
        image.blend(4, 2, Color::WHITE, 1.0);
        let (info, pixels) = decoded(&image.to_png().unwrap());
        assert_eq!((info.width, info.height), (5, 3));
        assert_eq!(pixels, image.pixels().as_flattened());
    }

    #[test]
    fn an_animation_begins_with_its_first_frame() {
        let frames = [
            Image::filled([4, 4], Color::BLACK).unwrap(),
            Image::filled([4, 4], Color::WHITE).unwrap(),
        ];
        let (_, pixels) = decoded(&to_apng(&frames, 40).unwrap());

        assert_eq!(pixels, frames[0].pixels().as_flattened());
        let misfit = [
            frames[0].clone(),
            Image::filled([4, 5], Color::BLACK).unwrap(),
        ];

        assert!(matches!(
            to_apng(&misfit, 40),
            Err(ViewError::Frames { frame: 1 })
        ));
    }

    #[test]
    fn the_frames_of_an_animation_come_back() {
        let gray = |k: u8| Image::filled([7, 4], Color::srgb8(k, 2 * k, 90)).unwrap();
        let frames = [gray(3), gray(40), gray(40), gray(120)];
        assert_eq!(from_apng(&to_apng(&frames, 40).unwrap()).unwrap(), frames);
        assert_eq!(
            from_apng(&frames[1].to_png().unwrap()).unwrap(),
            frames[1..2]
        );
        assert!(from_apng(b"no picture").is_err());
    }

    #[test]
    fn a_picture_without_pixels_is_rejected() {
        assert!(matches!(
            Image::filled([0, 9], Color::BLACK),
            Err(ViewError::Size {
                width: 0,
                height: 9,
                ..
            })
        ));
    }

    #[test]
    fn pasting_drops_pixels_outside() {
        let mut image = Image::filled([3, 3], Color::BLACK).unwrap();
        image.paste(&Image::filled([2, 2], Color::WHITE).unwrap(), 2, 2);
        let white = image.pixels().iter().filter(|&&p| p == [255; 3]).count();
        assert_eq!((white, image.pixel(2, 2)), (1, [255; 3]));
    }
}
