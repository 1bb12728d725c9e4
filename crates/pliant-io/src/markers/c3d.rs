//! Optical motion capture: C3D.
//!
//! **Form.** Blocks of 512 bytes: a header, parameters in groups, then frames of points and analog
//! samples. A point is x, y, z and a word whose sign tells whether it was seen; all four are 16-bit
//! integers, times a scale, or all are 32-bit floats, which a negative scale announces.
//!
//! **Source.** "The C3D file format: a technical user guide", c3d.org, chapters on header,
//! parameters and 3D data.
//!
//! **Ours.** Analog samples are passed over. Sizes are compared with the file before anything is
//! allocated. The crates there are (c3dio 0.8, c3d-rs 0.1) slice what a header promises without a
//! check, so that a damaged file ends the program; points and a few parameters are all that is
//! needed here.

use pliant_mesh::glam::DVec3;

use super::MarkerFile;
use super::c3d_parameters::{Parameters, Processor};
use crate::ReadError;
use crate::binary::Cursor;

const BLOCK: usize = 512;
/// The second byte of the header and of the parameters.
const KEY: u8 = 0x50;

/// Reads the points of a capture.
///
/// # Errors
/// Bytes that are no C3D; a file that is cut off.
pub fn read(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let header: &[u8; BLOCK] = bytes
        .first_chunk()
        .filter(|header| header[1] == KEY)
        .ok_or_else(|| ReadError::byte(0, "this is no C3D file; export the capture again"))?;
    let section_at = usize::from(header[0]).saturating_sub(1) * BLOCK;
    let section = bytes.get(section_at..).unwrap_or_default();
    let &[_, _, _, code] = section.first_chunk().ok_or_else(|| {
        ReadError::byte(
            section_at,
            "the parameters are missing; the file is cut off",
        )
    })?;
    let processor = Processor::of(code).ok_or_else(|| {
        ReadError::byte(
            section_at + 3,
            format!("processor {code} is unknown; there are 84 (Intel), 85 (DEC), 86 (MIPS)"),
        )
    })?;
    let parameters = Parameters::read(&section[4..], processor)?;
    let shape = Shape::of(header, &parameters, processor);
    let frames = shape.read(bytes, processor)?;
    let mut file = MarkerFile::of(
        labels(&parameters, shape.points),
        shape.points,
        shape.rate,
        frames,
    )?;
    file.units = parameters
        .get("POINT:UNITS")
        .and_then(|units| units.texts().into_iter().next())
        .filter(|unit| !unit.is_empty());
    if shape.analog > 0 {
        file.ignored
            .push(format!("{} analog samples per frame", shape.analog));
    }
    Ok(file)
}

/// How the data is laid out.
struct Shape {
    points: usize,
    analog: usize,
    frames: usize,
    /// Negative for frames of floats.
    scale: f64,
    data_at: usize,
    rate: Option<f64>,
}

impl Shape {
    fn of(header: &[u8; BLOCK], parameters: &Parameters<'_>, processor: Processor) -> Self {
        let word = |k: usize| usize::from(processor.word([header[2 * k], header[2 * k + 1]]));
        let float = |k: usize| processor.float([0, 1, 2, 3].map(|byte| header[2 * k + byte]));
        let long = |name: &str| match parameters.get(name).map(|field| field.words()).as_deref() {
            Some(&[low, high, ..]) => Some(usize::from(low) + (usize::from(high) << 16)),
            _ => None,
        };
        // Words hold no more than 65,535 frames; longer takes say so in another place.
        let frames = match (
            long("TRIAL:ACTUAL_START_FIELD"),
            long("TRIAL:ACTUAL_END_FIELD"),
        ) {
            (Some(first), Some(last)) if last >= first => last - first + 1,
            _ => (word(4) + 1).saturating_sub(word(3)),
        };
        let scale = parameters
            .number("POINT:SCALE")
            .filter(|&scale| scale != 0.0)
            .unwrap_or_else(|| float(6));
        let data_block = parameters
            .number("POINT:DATA_START")
            .filter(|&block| block > 0.0)
            .map_or(word(8), |block| block as usize);
        Self {
            points: word(1),
            analog: word(2),
            frames,
            scale,
            data_at: data_block.saturating_sub(1).saturating_mul(BLOCK),
            rate: parameters
                .number("POINT:RATE")
                .filter(|&rate| rate > 0.0)
                .or_else(|| Some(float(10)).filter(|&rate| rate > 0.0)),
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        processor: Processor,
    ) -> Result<Vec<Vec<Option<DVec3>>>, ReadError> {
        let size = if self.scale < 0.0 { 4 } else { 2 };
        let mut cursor = Cursor::of(bytes);
        cursor.take(self.data_at, "what stands before the frames")?;
        let frame_bytes = size * (4 * self.points + self.analog);
        if self.points == 0 || frame_bytes == 0 {
            return Ok(Vec::new());
        }
        cursor.require(self.frames as u64, frame_bytes, "frames")?;
        let mut frames = Vec::with_capacity(self.frames);
        for _ in 0..self.frames {
            let (points, _) = cursor
                .take(frame_bytes, "a frame")?
                .split_at(4 * size * self.points);
            frames.push(
                points
                    .chunks_exact(4 * size)
                    .map(|point| self.place(point, processor))
                    .collect(),
            );
        }
        Ok(frames)
    }

    /// Nothing where the sign of the last word says that the point was not seen.
    fn place(&self, point: &[u8], processor: Processor) -> Option<DVec3> {
        let [x, y, z, seen] = match point.as_chunks::<4>().0 {
            &[x, y, z, seen] => [x, y, z, seen].map(|bytes| processor.float(bytes)),
            _ => {
                let words = point.as_chunks::<2>().0;
                let whole = |k: usize| f64::from(processor.word(words[k]) as i16);
                [
                    whole(0) * self.scale,
                    whole(1) * self.scale,
                    whole(2) * self.scale,
                    whole(3),
                ]
            }
        };
        Some(DVec3::new(x, y, z)).filter(|place| seen >= 0.0 && place.is_finite())
    }
}

/// One name per point, from `LABELS`, `LABELS2` and so on; empty ones become numbers.
fn labels(parameters: &Parameters<'_>, points: usize) -> Vec<String> {
    let mut names = parameters
        .get("POINT:LABELS")
        .map(|labels| labels.texts())
        .unwrap_or_default();
    let mut list = 2;
    while let Some(more) = parameters
        .get(&format!("POINT:LABELS{list}"))
        .filter(|_| names.len() < points)
    {
        names.extend(more.texts());
        list += 1;
    }
    if !names.is_empty() {
        names.resize(points, String::new());
    }
    names
}
