//! Reader of C3D, optical motion capture.
//!
//! **Format.** Blocks of 512 bytes: a header, parameters in groups, then frames of points and analog
//! samples. A point is x, y, z and a word whose sign says whether it was seen. All four are 16-bit
//! integers, times a scale, or all are 32-bit floats, which a negative scale indicates.
//!
//! **Source.** "The C3D file format: a technical user guide", c3d.org, chapters on header,
//! parameters and 3D data.
//!
//! **Departures.** Analog samples are skipped. Sizes are compared with the file before memory is
//! allocated. The existing crates (c3dio 0.8, c3d-rs 0.1) slice by the sizes of the header without
//! a check, so that a damaged file ends the program.

use pliant_mesh::glam::DVec3;

use super::MarkerFile;
use super::c3d_parameters::{Parameters, Processor};
use crate::ReadError;
use crate::parse::binary::Cursor;

const BLOCK: usize = 512;
/// The second byte of the header and of the parameters.
const KEY: u8 = 0x50;

/// Reads the points of a capture.
///
/// # Errors
/// Bytes that are not C3D; a file that is cut off.
pub fn read(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let header: &[u8; BLOCK] = bytes
        .first_chunk()
        .filter(|header| header[1] == KEY)
        .ok_or_else(|| ReadError::byte(0, "this is not a C3D file; export the capture again"))?;
    let section_at = usize::from(header[0]).saturating_sub(1) * BLOCK;
    let section = bytes.get(section_at..).unwrap_or_default();

    let &[_, _, _, code] = section.first_chunk().ok_or_else(|| {
        ReadError::byte(
            section_at,
            "the parameters are missing; the file is cut off, export it again",
        )
    })?;

    // The processor decides byte order and floating-point format of the whole file.
    let processor = Processor::of(code).ok_or_else(|| {
        ReadError::byte(
            section_at + 3,
            format!("processor {code} is unknown; known are 84 (Intel), 85 (DEC), 86 (MIPS)"),
        )
    })?;

    let parameters = Parameters::read(&section[4..], processor)?;
    let layout = FrameLayout::of(header, &parameters, processor);
    let frames = layout.read(bytes, processor)?;
    let mut file = MarkerFile::of(
        labels(&parameters, layout.points),
        layout.points,
        layout.rate,
        frames,
    )?;

    file.units = parameters
        .get("POINT:UNITS")
        .and_then(|units| units.texts().into_iter().next())
        .filter(|unit| !unit.is_empty());

    if layout.analog > 0 {
        file.ignored
            .push(format!("{} analog samples per frame", layout.analog));
    }

    Ok(file)
}

/// How the frames are stored.
struct FrameLayout {
    points: usize,
    analog: usize,
    frames: usize,
    /// Negative for frames of floats.
    scale: f64,
    data_at: usize,
    rate: Option<f64>,
}

impl FrameLayout {
    fn of(header: &[u8; BLOCK], parameters: &Parameters<'_>, processor: Processor) -> Self {
        let word = |k: usize| usize::from(processor.word([header[2 * k], header[2 * k + 1]]));
        let float = |k: usize| processor.float([0, 1, 2, 3].map(|byte| header[2 * k + byte]));
        let long = |name: &str| match parameters.get(name).map(|field| field.words()).as_deref() {
            Some(&[low, high, ..]) => Some(usize::from(low) + (usize::from(high) << 16)),
            _ => None,
        };

        // A word counts to 65,535 frames; the length of a longer take is in the parameters.
        let frames = match (
            long("TRIAL:ACTUAL_START_FIELD"),
            long("TRIAL:ACTUAL_END_FIELD"),
        ) {
            (Some(first), Some(last)) if last >= first => last - first + 1,
            _ => (word(4) + 1).saturating_sub(word(3)),
        };

        // The parameters come first; the header is the fallback.
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
        cursor.take(self.data_at, "the part before the frames")?;

        let frame_bytes = size * (4 * self.points + self.analog);
        if self.points == 0 || frame_bytes == 0 {
            return Ok(Vec::new());
        }

        cursor.require(self.frames as u64, frame_bytes, "frames")?;
        let mut frames = Vec::with_capacity(self.frames);
        for _ in 0..self.frames {
            // Analog samples follow the points.
            let frame = cursor.take(frame_bytes, "a frame")?;
            let points = frame[..4 * size * self.points].chunks_exact(4 * size);
            frames.push(points.map(|p| self.position(p, processor)).collect());
        }

        Ok(frames)
    }

    /// The position of a point; `None` if the sign of the last word says that it was not seen.
    fn position(&self, point: &[u8], processor: Processor) -> Option<DVec3> {
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
        Some(DVec3::new(x, y, z)).filter(|position| seen >= 0.0 && !position.is_nan())
    }
}

/// One name for each point, from `LABELS`, `LABELS2` and so on; empty names become numbers.
fn labels(parameters: &Parameters<'_>, points: usize) -> Vec<String> {
    let mut names = parameters
        .get("POINT:LABELS")
        .map(|labels| labels.texts())
        .unwrap_or_default();

    // A parameter lists at most 255 labels; further lists continue it.
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
