//! Writer of NumPy arrays.

use pliant_mesh::glam::DVec3;

use super::MAGIC;
use crate::{Asset, Capabilities, EncodedAsset, IoError};

/// An array of `f64` as a file.
#[must_use]
pub fn write_f64(shape: &[usize], values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    write(shape, "<f8", values.into_iter().flat_map(f64::to_le_bytes))
}

/// An array of `f32` as a file.
#[must_use]
pub fn write_f32(shape: &[usize], values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    write(shape, "<f4", values.into_iter().flat_map(f32::to_le_bytes))
}

/// An array of `i64` as a file.
#[must_use]
pub fn write_i64(shape: &[usize], values: impl IntoIterator<Item = i64>) -> Vec<u8> {
    write(shape, "<i8", values.into_iter().flat_map(i64::to_le_bytes))
}

/// Points as a file, in the shape of `leading` × 3.
#[must_use]
pub fn write_points<'a>(leading: &[usize], points: impl IntoIterator<Item = &'a DVec3>) -> Vec<u8> {
    let shape: Vec<_> = leading.iter().copied().chain([3]).collect();
    write_f64(&shape, points.into_iter().flat_map(|p| p.to_array()))
}

fn write(shape: &[usize], descr: &str, body: impl Iterator<Item = u8>) -> Vec<u8> {
    let lengths: String = shape.iter().map(|n| format!("{n},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");

    // The numbers begin at a multiple of 64 bytes, so that a reader can map them into memory.
    let used = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(used.next_multiple_of(64) - used));
    header.push('\n');

    let size: usize = shape.iter().product();
    let mut bytes = Vec::with_capacity(used + 64 + 8 * size);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(body);

    bytes
}

/// The positions of an asset: V × 3, or frames × V × 3 if there is a clip.
pub(crate) fn encode_positions(asset: &Asset) -> Result<EncodedAsset, IoError> {
    // Faces and attributes do not belong to an array of positions, so that their loss is no news.
    let capabilities = Capabilities {
        targets: false,
        ..Capabilities::ALL
    };
    let left_out = capabilities.left_out_of(asset);

    let bytes = if asset.clips.is_empty() {
        let mesh = asset.mesh()?;
        write_points(&[mesh.positions().len()], mesh.positions())
    } else {
        encode_frames(asset)?
    };

    Ok(EncodedAsset {
        bytes,
        left_out,
        ..EncodedAsset::default()
    })
}

/// The frames of the only clip, frames × V × 3.
pub(crate) fn encode_frames(asset: &Asset) -> Result<Vec<u8>, IoError> {
    let clip = asset.clip()?;
    let shape = [clip.frames().len(), asset.vertex_count()];
    Ok(write_points(&shape, clip.frames().iter().flatten()))
}
