//! Decoding of PNG, JPEG and WebP files, with limits that are checked before decoding.

use std::io::Cursor;

use image::{ImageDecoder as _, ImageReader, Limits};

use super::{TexelEncoding, Texture};
use crate::ViewError;

impl Texture {
    /// Decodes the bytes of a PNG, JPEG or WebP file. An image of more than
    /// [`MOST_PIXELS`](Self::MOST_PIXELS) is refused before memory is allocated for it.
    pub fn decode(bytes: &[u8], encoding: TexelEncoding) -> Result<Self, ViewError> {
        let size = stored_size(bytes)?;
        let [width, height] = size.map(|side| side as usize);
        let pixels = width.saturating_mul(height);
        if pixels > Self::MOST_PIXELS {
            let most = Self::MOST_PIXELS;
            return Err(texture_error(format!(
                "it has {width} by {height} pixels, but at most {most} are shown; make it smaller"
            )));
        }

        // Decoders may need several bytes for each pixel while they work.
        let mut limits = Limits::no_limits();
        limits.max_image_width = Some(size[0]);
        limits.max_image_height = Some(size[1]);
        limits.max_alloc = Some((pixels as u64).saturating_mul(16) + (64 << 20));

        let mut reader = reader(bytes)?;
        reader.limits(limits);
        let image = reader.decode().map_err(undecodable)?.into_rgba8();

        let texels = image.pixels().map(|pixel| pixel.0).collect();
        Self::from_rgba8([width, height], texels, encoding)
    }
}

/// Width and height as the header says.
fn stored_size(bytes: &[u8]) -> Result<[u32; 2], ViewError> {
    let decoder = reader(bytes)?.into_decoder().map_err(undecodable)?;
    let (width, height) = decoder.dimensions();
    Ok([width, height])
}

fn reader(bytes: &[u8]) -> Result<ImageReader<Cursor<&[u8]>>, ViewError> {
    let reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| texture_error(error.to_string()))?;
    if reader.format().is_some() {
        return Ok(reader);
    }
    let known = if bytes.starts_with(b"\xabKTX 20") {
        "it is in the format KTX2, which is not shown"
    } else {
        "it is neither PNG nor JPEG nor WebP"
    };
    Err(texture_error(format!("{known}; convert it to PNG")))
}

fn undecodable(error: image::ImageError) -> ViewError {
    let message = error.to_string().replace(char::is_control, " ");
    texture_error(format!("it cannot be decoded ({message}); export it again"))
}

fn texture_error(message: String) -> ViewError {
    ViewError::Texture { message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, Image};

    #[test]
    fn a_png_is_decoded_and_other_bytes_are_refused_with_their_format() {
        let image = Image::filled([3, 2], Color::srgb8(10, 20, 30)).unwrap();
        let texture = Texture::decode(&image.to_png().unwrap(), TexelEncoding::Srgb).unwrap();
        assert_eq!(texture.size(), [3, 2]);
        assert!(!texture.is_translucent());

        let message = |bytes: &[u8]| {
            Texture::decode(bytes, TexelEncoding::Srgb)
                .unwrap_err()
                .to_string()
        };
        assert!(message(b"\xabKTX 20\xbb\r\n\x1a\nrest").contains("KTX2"));
        assert!(message(b"").contains("neither PNG nor JPEG"));
        assert!(message(b"\x89PNG\r\n\x1a\n cut").contains("cannot be decoded"));
    }

    #[test]
    fn an_image_of_a_billion_pixels_is_refused_before_it_is_decoded() {
        // Only the header of the PNG is real.
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(32_000_u32.to_be_bytes());
        bytes.extend(32_000_u32.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0]);
        bytes.extend(crc32(&bytes[12..]).to_be_bytes());
        bytes.extend(b"\0\0\0\x08IDAT\x78\x9c\x03\0\0\0\0\x01");
        let crc = crc32(&bytes[bytes.len() - 12..]);
        bytes.extend(crc.to_be_bytes());

        let message = Texture::decode(&bytes, TexelEncoding::Srgb)
            .unwrap_err()
            .to_string();
        assert!(message.contains("32000 by 32000 pixels"), "{message}");
    }

    /// The checksum of PNG chunks.
    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = crc >> 1 ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1));
            }
        }
        !crc
    }
}
