//! Reader of sounds: WAV with samples of 8, 16, 24 or 32 bits, or 32-bit floats.
//!
//! **Format.** `RIFF`, a length, `WAVE`, then chunks of a name, a length and that many bytes, padded
//! to an even number. `fmt ` tells the kind, the number of channels, the rate and the bits of a
//! sample; `data` holds the samples. Numbers are little-endian.
//!
//! **Source.** Microsoft, "Multiple channel audio data and WAVE files".
//!
//! **Departures.** Channels are averaged. A length beyond the end of the file means the rest of it,
//! as programs write that stream.

use crate::ReadError;

/// A sound of one channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// Samples from −1 to 1.
    pub samples: Vec<f32>,
    /// Samples per second.
    pub rate: f64,
}

struct SampleFormat {
    is_float: bool,
    channels: usize,
    rate: u32,
    bytes: usize,
}

/// Reads a sound.
///
/// # Errors
/// Bytes that are not WAV, or a kind of samples that is compressed.
pub fn read_wav(bytes: &[u8]) -> Result<Sound, ReadError> {
    if bytes.len() < 12 || &bytes[..4] != b"RIFF" || &bytes[8..12] != b"WAVE" {
        return Err(ReadError::byte(
            0,
            "the file is no WAV; export the sound as WAV (PCM)",
        ));
    }

    let mut rest = &bytes[12..];
    let mut format = None;
    while rest.len() >= 8 {
        let position = bytes.len() - rest.len();
        let length = u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]) as usize;
        let content = &rest[8..(8 + length.min(rest.len() - 8))];
        match &rest[..4] {
            b"fmt " => format = Some(sample_format(content, position)?),
            b"data" => {
                let format = format.ok_or_else(|| {
                    ReadError::byte(position, "the sound has no format before its samples")
                })?;
                return Ok(sound(content, &format));
            }
            _ => {}
        }
        let next = (8 + length).saturating_add(length % 2).min(rest.len());
        rest = &rest[next..];
    }
    Err(ReadError::whole(
        "the sound has no samples; export it again",
    ))
}

fn sample_format(content: &[u8], position: usize) -> Result<SampleFormat, ReadError> {
    let wrong = |message: String| Err(ReadError::byte(position, message));
    if content.len() < 16 {
        return wrong("the format of the sound is cut off".into());
    }
    let short = |at: usize| u16::from_le_bytes([content[at], content[at + 1]]);
    // The extensible kind names the true one behind the usual fields.
    let kind = match short(0) {
        0xfffe if content.len() >= 26 => short(24),
        kind => kind,
    };
    let rate = u32::from_le_bytes([content[4], content[5], content[6], content[7]]);
    let (channels, bits) = (short(2), short(14));
    let is_known = matches!((kind, bits), (1, 8 | 16 | 24 | 32) | (3, 32));
    if !is_known || channels == 0 || rate == 0 {
        return wrong(format!(
            "samples of kind {kind} with {bits} bits in {channels} channels are not read; export the sound as PCM of 16 bits"
        ));
    }
    Ok(SampleFormat {
        is_float: kind == 3,
        channels: usize::from(channels),
        rate,
        bytes: usize::from(bits / 8),
    })
}

fn sound(content: &[u8], format: &SampleFormat) -> Sound {
    let sample = |bytes: &[u8]| match *bytes {
        [a] => (f32::from(a) - 128.0) / 128.0,
        [a, b] => f32::from(i16::from_le_bytes([a, b])) / 32_768.0,
        [a, b, c] => (i32::from_le_bytes([0, a, b, c]) >> 8) as f32 / 8_388_608.0,
        [a, b, c, d] if format.is_float => f32::from_le_bytes([a, b, c, d]),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]) as f32 / 2_147_483_648.0,
        _ => 0.0,
    };
    let frames = content.chunks_exact(format.bytes * format.channels);
    let samples = frames.map(|frame| {
        let sum: f32 = frame.chunks_exact(format.bytes).map(sample).sum();
        sum / format.channels as f32
    });
    Sound {
        samples: samples.collect(),
        rate: f64::from(format.rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A WAV of these samples.
    pub(in super::super) fn wav(kind: u16, bits: u16, channels: u16, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt \x10\0\0\0".to_vec();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(channels.to_le_bytes());
        bytes.extend(16_000_u32.to_le_bytes());
        bytes.extend([0; 6]);
        bytes.extend(bits.to_le_bytes());
        bytes.extend(b"data");
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn samples_of_every_width_are_the_same_sound() {
        for (kind, bits, data) in [
            (1, 8, &[192_u8, 64][..]),
            (1, 16, &[0, 64, 0, 192]),
            (1, 24, &[0, 0, 64, 0, 0, 192]),
            (1, 32, &[0, 0, 0, 64, 0, 0, 0, 192]),
            (3, 32, &[0, 0, 0, 63, 0, 0, 0, 191]),
        ] {
            let sound = read_wav(&wav(kind, bits, 1, data)).unwrap();
            assert_eq!(sound.samples, [0.5, -0.5], "{kind} {bits}");
            let both = read_wav(&wav(kind, bits, 2, data)).unwrap();
            assert_eq!(both.samples, [0.0], "channels are averaged");
            assert_eq!(sound.rate, 16_000.0);
        }
    }

    #[test]
    fn damaged_sounds_are_errors_or_short_sounds() {
        let whole = wav(1, 16, 1, &[0; 64]);
        for length in 0..whole.len() {
            let _ = read_wav(&whole[..length]);
        }
        assert!(read_wav(b"RIFFxxxxWAVE").is_err());
        let message = read_wav(&wav(2, 4, 1, &[0])).unwrap_err().message;
        assert!(message.contains("PCM"), "{message}");
    }
}
