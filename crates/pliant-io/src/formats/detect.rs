//! Detection of a file's format by its first bytes.
//!
//! **Departures.** The ending decides how a file is read. Its content is inspected only if that
//! fails, to distinguish a file with a wrong ending from a damaged one.

use std::path::Path;

use crate::parse::text::Lines;
use crate::{Format, ReadError};

/// How many bytes of a text are inspected.
const INSPECTED_BYTES: usize = 4096;

/// The error for `bytes` that look like another format than the ending of `path` says.
pub(crate) fn wrong_ending_error(path: &Path, bytes: &[u8]) -> Option<ReadError> {
    let named = Format::of(path)?;
    let found = format_of(bytes)?;

    // One reader takes glTF in either form, and USD in any.
    let is_gltf = |format| matches!(format, Format::Glb | Format::Gltf);
    if named == found || (is_gltf(named) && is_gltf(found)) || (named.is_usd() && found.is_usd()) {
        return None;
    }

    // The article depends on how the letters are pronounced.
    let ending = found.ending();
    let article = if matches!(
        found,
        Format::Obj | Format::Off | Format::Stl | Format::Fbx | Format::Alembic | Format::Npy
    ) {
        "an"
    } else {
        "a"
    };

    Some(ReadError::whole(format!(
        "this looks like {article} {} file; rename it to end in '.{ending}'",
        ending.to_uppercase()
    )))
}

fn format_of(bytes: &[u8]) -> Option<Format> {
    const MAGIC_BYTES: [(&[u8], Format); 12] = [
        (b"glTF", Format::Glb),
        (b"Kaydara FBX Binary", Format::Fbx),
        (b"; FBX", Format::Fbx),
        (b"#usda", Format::Usda),
        (b"Ogawa", Format::Alembic),
        (b"PXR-USDC", Format::Usdc),
        (b"ply\n", Format::Ply),
        (b"ply\r", Format::Ply),
        (b"POINTCACHE2", Format::Pc2),
        (b"\x93NUMPY", Format::Npy),
        (b"OFF\n", Format::Off),
        (b"OFF\r", Format::Off),
    ];

    let known = MAGIC_BYTES
        .into_iter()
        .find(|(magic, _)| bytes.starts_with(magic));

    known
        .map(|(_, format)| format)
        .or_else(|| text_format(&bytes[..bytes.len().min(INSPECTED_BYTES)]))
}

fn text_format(beginning: &[u8]) -> Option<Format> {
    let has = |word: &[u8]| beginning.windows(word.len()).any(|w| w == word);
    let first = beginning.iter().find(|b| !b.is_ascii_whitespace())?;
    if *first == b'{' && has(b"\"asset\"") {
        return Some(Format::Gltf);
    }
    if beginning.starts_with(b"solid") && has(b"facet") {
        return Some(Format::Stl);
    }
    looks_like_obj(beginning).then_some(Format::Obj)
}

/// Whether the first line that is neither empty nor a comment is an OBJ statement.
fn looks_like_obj(beginning: &[u8]) -> bool {
    const STATEMENTS: [&[u8]; 9] = [
        b"v", b"vt", b"vn", b"f", b"o", b"g", b"s", b"mtllib", b"usemtl",
    ];

    let mut lines = Lines::of(beginning).map(|(_, line)| line.trim_ascii());
    let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")) else {
        return false;
    };

    let mut words = line.split(u8::is_ascii_whitespace);
    let statement = words.next().unwrap_or_default();
    STATEMENTS.contains(&statement) && words.next().is_some() && beginning.iter().all(|b| *b != 0)
}
