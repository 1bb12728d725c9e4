//! The format of a file by how it begins.
//!
//! **Ours.** The ending decides how a file is read. Only where that fails is its content asked what
//! it is, so that a file under a wrong name is told from a damaged one.

use std::path::Path;

use crate::text::Lines;
use crate::{Format, ReadError};

/// How much of a text is looked at.
const GLANCE_BYTES: usize = 4096;

/// What to say about `bytes` that could not be read by the ending of `path`, if they are another
/// format's.
pub(crate) fn under_wrong_name(path: &Path, bytes: &[u8]) -> Option<ReadError> {
    let (named, found) = (Format::of(path)?, format_of(bytes)?);
    // One reader takes glTF in either form.
    let is_gltf = |format| matches!(format, Format::Glb | Format::Gltf);
    if named == found || (is_gltf(named) && is_gltf(found)) {
        return None;
    }
    let ending = found.ending();
    let article = if matches!(
        found,
        Format::Obj | Format::Off | Format::Stl | Format::Fbx | Format::Npy
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
    const BEGINNINGS: [(&[u8], Format); 10] = [
        (b"glTF", Format::Glb),
        (b"Kaydara FBX Binary", Format::Fbx),
        (b"; FBX", Format::Fbx),
        (b"#usda", Format::Usda),
        (b"ply\n", Format::Ply),
        (b"ply\r", Format::Ply),
        (b"POINTCACHE2", Format::Pc2),
        (b"\x93NUMPY", Format::Npy),
        (b"OFF\n", Format::Off),
        (b"OFF\r", Format::Off),
    ];
    let known = BEGINNINGS
        .into_iter()
        .find(|(beginning, _)| bytes.starts_with(beginning));
    known
        .map(|(_, format)| format)
        .or_else(|| text_format(&bytes[..bytes.len().min(GLANCE_BYTES)]))
}

fn text_format(glance: &[u8]) -> Option<Format> {
    let has = |word: &[u8]| glance.windows(word.len()).any(|w| w == word);
    let first = glance.iter().find(|b| !b.is_ascii_whitespace())?;
    if *first == b'{' && has(b"\"asset\"") {
        return Some(Format::Gltf);
    }
    if glance.starts_with(b"solid") && has(b"facet") {
        return Some(Format::Stl);
    }
    looks_like_obj(glance).then_some(Format::Obj)
}

/// Whether the first line that says something is a statement of OBJ.
fn looks_like_obj(glance: &[u8]) -> bool {
    const STATEMENTS: [&[u8]; 9] = [
        b"v", b"vt", b"vn", b"f", b"o", b"g", b"s", b"mtllib", b"usemtl",
    ];
    let mut lines = Lines::of(glance).map(|(_, line)| line.trim_ascii());
    let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")) else {
        return false;
    };
    let mut words = line.split(u8::is_ascii_whitespace);
    let statement = words.next().unwrap_or_default();
    STATEMENTS.contains(&statement) && words.next().is_some() && glance.iter().all(|b| *b != 0)
}
