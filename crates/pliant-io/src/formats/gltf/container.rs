//! The GLB container (a header and two chunks: JSON and bytes), and base64 `data:` URIs.
//!
//! **Source.** "glTF 2.0 Specification", section 4 (GLB file format).

use crate::ReadError;

const MAGIC: &[u8; 4] = b"glTF";
const JSON: &[u8; 4] = b"JSON";
const BIN: &[u8; 4] = b"BIN\0";
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// The JSON text of a file, the bytes of its binary chunk, and its other chunks.
pub(super) struct Chunks<'a> {
    pub(super) json: &'a [u8],
    pub(super) binary: Option<&'a [u8]>,
    /// Chunks of kinds that glTF does not define, with their kinds.
    pub(super) others: Vec<OtherChunk<'a>>,
}

/// A chunk of another kind: the kind and the content.
pub(super) type OtherChunk<'a> = (&'a [u8; 4], &'a [u8]);

/// Whether bytes begin as a GLB does.
pub(super) fn is_glb(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The chunks of a GLB, recognised by its first bytes; anything else is JSON.
pub(super) fn open(bytes: &[u8]) -> Result<Chunks<'_>, ReadError> {
    if !bytes.starts_with(MAGIC) {
        return Ok(Chunks {
            json: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            binary: None,
            others: Vec::new(),
        });
    }
    let (Some(version), Some(length)) = (u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return Err(ReadError::byte(
            bytes.len(),
            "the file ends inside the 12 bytes of a GLB header; copy it again",
        ));
    };
    if version != 2 {
        return Err(ReadError::byte(
            4,
            format!("the file is glTF of version {version}; export it as version 2"),
        ));
    }

    if length as usize > bytes.len() {
        let message = format!(
            "the file is cut off: by its header it has {length} bytes, but there are {}; copy it again",
            bytes.len()
        );
        return Err(ReadError::byte(bytes.len(), message));
    }

    // The first chunk of each kind counts; unknown chunks are kept as they are.
    let bytes = &bytes[..(length as usize).max(HEADER)];
    let mut json = None;
    let mut binary = None;
    let mut others = Vec::new();
    let mut at = HEADER;
    while at < bytes.len() {
        let (kind, content) = chunk(bytes, at)?;
        match kind {
            JSON => json = json.or(Some(content)),
            BIN => binary = binary.or(Some(content)),
            _ => others.push((kind, content)),
        }
        at += CHUNK_HEADER + content.len();
    }

    let json = json.ok_or_else(|| {
        ReadError::byte(
            HEADER,
            "the file has no JSON chunk, so it is not a GLB; export it again",
        )
    })?;

    Ok(Chunks {
        json,
        binary,
        others,
    })
}

/// The kind and the content of the chunk at a byte.
fn chunk(bytes: &[u8], at: usize) -> Result<(&[u8; 4], &[u8]), ReadError> {
    let cut = |message: String| ReadError::byte(at, format!("{message}; copy the file again"));
    let (Some(length), Some(kind)) = (
        u32_at(bytes, at),
        bytes[at..].get(4..8).and_then(|k| k.first_chunk()),
    ) else {
        return Err(cut(format!(
            "a chunk header needs 8 bytes, but {} are left",
            bytes.len() - at
        )));
    };

    let rest = &bytes[at + CHUNK_HEADER..];
    match rest.get(..length as usize) {
        Some(content) => Ok((kind, content)),
        None => Err(cut(format!(
            "a chunk needs {length} bytes, but {} are left",
            rest.len()
        ))),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|b| u32::from_le_bytes(*b))
}

/// A GLB of the two chunks, and others after them. The binary chunk is given in parts, one after the
/// other, because a character file is large and its bytes would be copied to join them.
pub(super) fn pack(mut json: Vec<u8>, binary: &[&[u8]], others: &[OtherChunk<'_>]) -> Vec<u8> {
    // Chunks are padded to four bytes: JSON with spaces, bytes with zeros.
    json.resize(json.len().next_multiple_of(4), b' ');
    let length: usize = binary.iter().map(|part| part.len()).sum();
    let padding = &[0; 3][..length.next_multiple_of(4) - length];
    let padded: Vec<&[u8]> = binary.iter().copied().chain([padding]).collect();
    let mut chunks: Vec<(&[u8; 4], &[&[u8]])> = Vec::with_capacity(2 + others.len());
    let json: &[&[u8]] = &[&json];
    chunks.push((JSON, json));
    if length > 0 {
        chunks.push((BIN, &padded));
    }
    chunks.extend(
        others
            .iter()
            .map(|(kind, content)| (*kind, std::slice::from_ref(content))),
    );

    let length_of = |parts: &[&[u8]]| parts.iter().map(|part| part.len()).sum::<usize>();
    let total = HEADER
        + chunks
            .iter()
            .map(|(_, parts)| CHUNK_HEADER + length_of(parts))
            .sum::<usize>();
    let mut bytes = Vec::with_capacity(total);

    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&2_u32.to_le_bytes());
    bytes.extend_from_slice(&(total as u32).to_le_bytes());

    for (kind, parts) in &chunks {
        bytes.extend_from_slice(&(length_of(parts) as u32).to_le_bytes());
        bytes.extend_from_slice(*kind);
        for part in *parts {
            bytes.extend_from_slice(part);
        }
    }

    bytes
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes of a base64 `data:` URI; `None` for another URI, an error for invalid base64.
pub(super) fn data_uri(uri: &str) -> Option<Result<Vec<u8>, String>> {
    let rest = uri
        .get(..5)
        .filter(|scheme| scheme.eq_ignore_ascii_case("data:"))
        .map(|_| &uri[5..])?;
    Some(match rest.split_once(";base64,") {
        Some((_, text)) => from_base64(text.as_bytes()),
        None => Err("its data: URI is not base64".into()),
    })
}

/// Bytes of a buffer as a `data:` URI.
pub(super) fn to_data_uri(bytes: &[u8]) -> String {
    base64_uri("application/octet-stream", bytes)
}

/// Bytes of a media type as a `data:` URI.
pub(super) fn base64_uri(media_type: &str, bytes: &[u8]) -> String {
    let mut text = format!("data:{media_type};base64,");
    for group in bytes.chunks(3) {
        let word = group
            .iter()
            .enumerate()
            .fold(0, |word, (k, &byte)| word | u32::from(byte) << (16 - 8 * k));
        for k in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * k)) as usize & 63];
            text.push(if k <= group.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }

    text
}

fn from_base64(text: &[u8]) -> Result<Vec<u8>, String> {
    let end = text.iter().rposition(|&c| c != b'=').map_or(0, |k| k + 1);
    let mut bytes = Vec::with_capacity(end / 4 * 3 + 2);
    let mut word = 0_u32;
    let mut bits = 0;
    for (k, &character) in text[..end].iter().enumerate() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return Err(format!("character {k} of its data: URI is not base64")),
        };

        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }

    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_survives_a_round_trip_at_every_length() {
        for length in 0..9_u8 {
            let bytes: Vec<u8> = (0..length).map(|k| k.wrapping_mul(97) ^ 0xa5).collect();
            assert_eq!(data_uri(&to_data_uri(&bytes)).unwrap().unwrap(), bytes);
        }

        assert!(data_uri("buffer.bin").is_none());
        assert!(
            data_uri("data:;base64,@@@@")
                .unwrap()
                .unwrap_err()
                .contains("base64")
        );
    }

    #[test]
    fn chunks_are_padded_to_four_bytes() {
        let file = pack(
            b"{}".to_vec(),
            &[&[1, 2], &[3, 4, 5]],
            &[(b"MORE", b"kept")],
        );
        let parts = open(&file).ok().unwrap();
        assert_eq!(
            (parts.json, parts.binary),
            (&b"{}  "[..], Some(&[1, 2, 3, 4, 5, 0, 0, 0][..]))
        );
        assert_eq!(file.len() % 4, 0);
        assert_eq!(parts.others, [(b"MORE", &b"kept"[..])]);
    }
}
