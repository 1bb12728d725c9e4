//! Reader and writer of point caches: MDD (LightWave) and PC2 (3ds Max), known to Blender and Maya.
//!
//! **Format.** A header with the numbers of frames and points, then the points of each frame as
//! 32-bit floats. MDD is big-endian and stores the time of each frame in seconds; PC2 is
//! little-endian and stores the first frame and the frames from sample to sample.
//!
//! **Source.** NewTek, "MDD file format"; Autodesk 3ds Max SDK, "Point Cache 2 file format".
//!
//! **Departures.** A cache alone is a mesh without faces whose rest pose is the first frame. PC2
//! does not store the duration of a frame.

use std::fmt::Display;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;

use crate::parse::binary::Cursor;
use crate::{Animation, Asset, Capabilities, EncodedAsset, IoError, Motion, ReadError, Shape};

/// What a point cache can store. A user of point caches expects no faces, so that their loss is not
/// reported.
pub const CAPABILITIES: Capabilities = Capabilities {
    targets: false,
    clips: 1,
    ..Capabilities::ALL
};

const PC2_MAGIC: [u8; 12] = *b"POINTCACHE2\0";
const POINT_BYTES: usize = 12;

/// Reads an MDD file.
pub fn read_mdd(bytes: &[u8]) -> Result<Asset, ReadError> {
    let mut cursor = Cursor::of(bytes);
    let frames = count(
        i32::from_be_bytes(cursor.array("the number of frames")?),
        0,
        "frames",
    )?;

    let points = count(
        i32::from_be_bytes(cursor.array("the number of points")?),
        4,
        "points",
    )?;

    cursor.require(
        frames as u64,
        4 + points * POINT_BYTES,
        format_args!("frames of {points} points"),
    )?;

    // All times come before all positions.
    let times = cursor.take(4 * frames, "the times of the frames")?;
    let times: Vec<f64> = times
        .chunks_exact(4)
        .map(|t| f64::from(f32::from_be_bytes(four(t))))
        .collect();
    let positions = read_frames(&mut cursor, frames, points, f32::from_be_bytes)?;

    let mut asset = as_asset(positions, &cursor)?;
    match rate(&times) {
        Some(rate) => asset.clips[0].frames_per_second = rate,
        None => asset.warnings.push(
            "the times of the frames are not evenly spaced; the frames are kept in their order"
                .into(),
        ),
    }

    Ok(asset)
}

/// Reads a PC2 file.
pub fn read_pc2(bytes: &[u8]) -> Result<Asset, ReadError> {
    Ok(read_pc2_sampled(bytes)?.0)
}

/// A PC2 file with the frame of its first sample and the frames from sample to sample.
pub(crate) fn read_pc2_sampled(bytes: &[u8]) -> Result<(Asset, f64, f64), ReadError> {
    let mut cursor = Cursor::of(bytes);
    if cursor.array("the head of a PC2 file")? != PC2_MAGIC {
        return Err(ReadError::byte(
            0,
            "the file does not begin with 'POINTCACHE2'; it is not a PC2 file",
        ));
    }

    let version = i32::from_le_bytes(cursor.array("the version")?);
    if version != 1 {
        return Err(ReadError::byte(
            12,
            format!("the version of the cache is {version}; only 1 is known"),
        ));
    }

    let points = count(
        i32::from_le_bytes(cursor.array("the number of points")?),
        16,
        "points",
    )?;
    // Start and step are in frames of the program that wrote the file.
    let start = f64::from(f32::from_le_bytes(cursor.array("the first frame")?));

    let step = f64::from(f32::from_le_bytes(
        cursor.array("the frames from sample to sample")?,
    ));
    let frames = count(
        i32::from_le_bytes(cursor.array("the number of samples")?),
        28,
        "samples",
    )?;

    cursor.require(
        frames as u64,
        points * POINT_BYTES,
        format_args!("samples of {points} points"),
    )?;

    let positions = read_frames(&mut cursor, frames, points, f32::from_le_bytes)?;
    let mut asset = as_asset(positions, &cursor)?;
    if step.is_finite() && step > 0.0 {
        asset.clips[0].frames_per_second = Clip::DEFAULT_FRAMES_PER_SECOND / step;
    } else {
        asset.warnings.push(format!(
            "the cache has {step} frames from sample to sample; one is assumed"
        ));
    }

    Ok((asset, start, step))
}

/// A count of at least one, at `byte` of the file.
fn count(found: i32, byte: usize, what: impl Display) -> Result<usize, ReadError> {
    match usize::try_from(found) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(ReadError::byte(
            byte,
            format!("the file should have {found} {what}; export it again"),
        )),
    }
}

fn four(bytes: &[u8]) -> [u8; 4] {
    bytes.try_into().expect("chunks of four bytes")
}

fn read_frames(
    cursor: &mut Cursor<'_>,
    frames: usize,
    points: usize,
    float: fn([u8; 4]) -> f32,
) -> Result<Vec<Vec<DVec3>>, ReadError> {
    let mut positions = Vec::with_capacity(frames);
    for k in 0..frames {
        let bytes = cursor.take(points * POINT_BYTES, format_args!("frame {k} of {frames}"))?;
        let mut frame = Vec::with_capacity(points);
        for point in bytes.chunks_exact(POINT_BYTES) {
            let coordinate = |at: usize| f64::from(float(four(&point[at..at + 4])));
            frame.push(DVec3::new(coordinate(0), coordinate(4), coordinate(8)));
        }
        positions.push(frame);
    }

    Ok(positions)
}

fn as_asset(frames: Vec<Vec<DVec3>>, cursor: &Cursor<'_>) -> Result<Asset, ReadError> {
    let mut asset = Asset::from_mesh(Mesh::from_polygons(frames[0].clone(), &[])?);
    let mut clip = Animation::new("", frames.len());
    clip.motions = vec![Motion::new(0, Shape::Points(frames))];
    asset.clips.push(clip);

    if cursor.left() > 0 {
        asset.warnings.push(format!(
            "{} byte(s) after the last frame were not read",
            cursor.left()
        ));
    }

    Ok(asset)
}

/// Frames per second of evenly spaced times; a whole number if the difference is within the
/// rounding of single precision.
fn rate(times: &[f64]) -> Option<f64> {
    if times.len() == 1 {
        return Some(Clip::DEFAULT_FRAMES_PER_SECOND);
    }

    let first = times[0];
    let last = times[times.len() - 1];
    let rate = (times.len() - 1) as f64 / (last - first);
    // Times are single precision, so that even spacing holds up to rounding.
    let rounding = 4.0 * f64::from(f32::EPSILON) * last.abs().max(first.abs()).max(1.0 / rate);
    let even = |k: usize| (times[k] - first - k as f64 / rate).abs() <= rounding;
    if !(rate.is_finite() && rate > 0.0 && (0..times.len()).all(even)) {
        return None;
    }

    let whole = rate.round();
    let is_whole = (rate - whole).abs() <= 1e-5 * whole;
    Some(if is_whole { whole } else { rate })
}

/// The only clip as an MDD file.
pub fn write_mdd(asset: &Asset) -> Result<EncodedAsset, IoError> {
    let clip = clip_of(asset, "MDD")?;
    let [frames, points] = sizes(&clip);
    let mut bytes = [frames.to_be_bytes(), points.to_be_bytes()].concat();

    for k in 0..clip.frames().len() {
        bytes.extend_from_slice(&((k as f64 / clip.frames_per_second()) as f32).to_be_bytes());
    }

    bytes.extend(floats(&clip).flat_map(f32::to_be_bytes));
    Ok(EncodedAsset {
        bytes,
        left_out: CAPABILITIES.left_out_of(asset),
        ..EncodedAsset::default()
    })
}

/// The only clip as a PC2 file from frame 0 with a sample per frame.
pub fn write_pc2(asset: &Asset) -> Result<EncodedAsset, IoError> {
    let clip = clip_of(asset, "PC2")?;
    let [frames, points] = sizes(&clip);
    let mut bytes = PC2_MAGIC.to_vec();

    for number in [
        1_i32.to_le_bytes(),
        points.to_le_bytes(),
        0_f32.to_le_bytes(),
        1_f32.to_le_bytes(),
        frames.to_le_bytes(),
    ] {
        bytes.extend_from_slice(&number);
    }

    bytes.extend(floats(&clip).flat_map(f32::to_le_bytes));
    let mut left_out = CAPABILITIES.left_out_of(asset);
    if clip.frames_per_second() != Clip::DEFAULT_FRAMES_PER_SECOND {
        left_out.push(format!(
            "the rate of {} frames a second",
            clip.frames_per_second()
        ));
    }

    Ok(EncodedAsset {
        bytes,
        left_out,
        ..EncodedAsset::default()
    })
}

/// The only clip, if a cache can store its sizes and numbers.
fn clip_of(asset: &Asset, format: &str) -> Result<Clip, IoError> {
    let clip = asset.clip()?;
    let frames = clip.frames().len();
    let points = clip.reference().vertex_count();
    let can_count = |count: usize| count > 0 && i32::try_from(count).is_ok();
    if !can_count(frames) || !can_count(points) {
        return Err(asset.clip_error(&format!(
            "{format} cannot store {frames} frames of {points} points; it needs 1 to 2^31 - 1 of each"
        )));
    }

    let Some(at) = floats(&clip).position(|x| !x.is_finite()) else {
        return Ok(clip);
    };
    let frame = at / 3 / points;
    let vertex = at / 3 % points;
    Err(asset.clip_error(&format!(
        "vertex {vertex} of frame {frame} exceeds the 32-bit numbers of {format}; scale the asset down"
    )))
}

fn sizes(clip: &Clip) -> [i32; 2] {
    [clip.frames().len(), clip.reference().vertex_count()]
        .map(|n| i32::try_from(n).expect("sizes were checked with the clip"))
}

fn floats(clip: &Clip) -> impl Iterator<Item = f32> {
    clip.frames()
        .iter()
        .flatten()
        .flat_map(|p| p.to_array())
        .map(|x| x as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FilePosition;

    fn clip() -> Asset {
        let frames: Vec<Vec<DVec3>> = (0..5)
            .map(|k| {
                (0..3)
                    .map(|v| DVec3::new(f64::from(k), f64::from(v), 0.5))
                    .collect()
            })
            .collect();

        let mesh = Mesh::from_triangles(frames[0].clone(), &[[0, 1, 2]]).unwrap();
        Asset::from_clip(
            &Clip::new("hop", mesh, frames)
                .unwrap()
                .with_frames_per_second(29.97),
        )
    }

    #[test]
    fn frames_survive_a_round_trip_and_faces_are_not_reported_as_lost() {
        type Both = (
            fn(&Asset) -> Result<EncodedAsset, IoError>,
            fn(&[u8]) -> Result<Asset, ReadError>,
        );

        let formats: [Both; 2] = [(write_mdd, read_mdd), (write_pc2, read_pc2)];
        for (write, read) in formats {
            let written = write(&clip()).unwrap();
            assert!(
                !written.left_out.iter().any(|lost| lost.contains("face")),
                "{:?}",
                written.left_out
            );

            let copy = read(&written.bytes).unwrap();
            assert!(copy.warnings.is_empty(), "{:?}", copy.warnings);
            assert_eq!(
                copy.clip().unwrap().frames(),
                clip().clip().unwrap().frames()
            );

            assert_eq!(copy.mesh().unwrap().face_count(), 0);
        }

        let rate = read_mdd(&write_mdd(&clip()).unwrap().bytes).unwrap().clips[0].frames_per_second;
        assert!((rate - 29.97).abs() < 1e-4, "{rate}");
    }

    #[test]
    fn a_whole_rate_survives_single_precision() {
        for rate in [1.0, 24.0, 25.0, 30.0, 60.0, 120.0] {
            let mut asset = clip();
            asset.clips[0].frames_per_second = rate;
            assert_eq!(
                read_mdd(&write_mdd(&asset).unwrap().bytes).unwrap().clips[0].frames_per_second,
                rate
            );
        }
    }

    #[test]
    fn uneven_times_and_trailing_bytes_are_reported() {
        let mut bytes = write_mdd(&clip()).unwrap().bytes;
        bytes[12..16].copy_from_slice(&7.0_f32.to_be_bytes());
        bytes.push(0);

        let warnings = read_mdd(&bytes).unwrap().warnings;
        assert!(
            warnings.iter().any(|p| p.contains("not evenly spaced")),
            "{warnings:?}"
        );

        assert!(
            warnings
                .iter()
                .any(|p| p.contains("1 byte(s) after the last frame")),
            "{warnings:?}"
        );
    }

    #[test]
    fn sizes_beyond_the_file_and_invalid_counts_are_rejected() {
        let mdd = |frames: i32, points: i32| {
            let error =
                read_mdd(&[&frames.to_be_bytes()[..], &points.to_be_bytes(), &[0; 64]].concat())
                    .unwrap_err();
            (error.position, error.message)
        };

        let (position, message) = mdd(i32::MAX, i32::MAX);
        assert_eq!(position, FilePosition::Byte(8));
        assert!(
            message.contains("2147483647 frames of 2147483647 points are announced")
                && message.contains("64 are left"),
            "{message}"
        );

        assert_eq!(mdd(-1, 24).0, FilePosition::Byte(0));
        assert!(mdd(2, 0).1.contains("0 points"));

        let whole = write_pc2(&clip()).unwrap().bytes;
        let error = read_pc2(&whole[..whole.len() - 1]).unwrap_err();
        assert!(
            error
                .message
                .contains("5 samples of 3 points are announced"),
            "{error}"
        );

        assert!(
            read_pc2(&whole[..20])
                .unwrap_err()
                .message
                .contains("the first frame needs 4 bytes, but 0 are left")
        );

        assert!(
            read_pc2(b"POINTCACHE3\0....")
                .unwrap_err()
                .message
                .contains("not a PC2 file")
        );

        let mut other = whole.clone();
        other[12] = 9;
        assert!(
            read_pc2(&other)
                .unwrap_err()
                .message
                .contains("version of the cache is 9")
        );
    }

    #[test]
    fn clips_that_a_cache_cannot_store_are_rejected() {
        let mut asset = clip();
        let Shape::Points(frames) = &mut asset.clips[0].motions[0].shape else {
            unreachable!()
        };

        frames[2][1].x = 1e39;
        let error = write_mdd(&asset).unwrap_err().to_string();
        assert!(error.contains("vertex 1 of frame 2"), "{error}");
        asset.clips.clear();

        assert!(
            write_pc2(&asset)
                .unwrap_err()
                .to_string()
                .contains("no clip")
        );
    }
}
