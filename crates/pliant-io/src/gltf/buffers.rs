//! Buffers and the views into them.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::container::{Parts, data_uri};
use super::document::{Buffer, BufferView, Document};
use super::meshopt;
use crate::budget::Budget;
use crate::format::Declined;
use crate::{Beside, ReadError};

/// The bytes of a document, and what may be taken from them.
pub(super) struct Buffers<'a> {
    views: &'a [BufferView],
    /// `None` where a buffer has no bytes because a compressed one stands for it.
    buffers: Vec<Option<Cow<'a, [u8]>>>,
    unpacked: Vec<OnceCell<Vec<u8>>>,
    pub(super) budget: Budget,
}

impl<'a> Buffers<'a> {
    pub(super) fn open(
        document: &'a Document,
        parts: &Parts<'a>,
        beside: &dyn Beside,
    ) -> Result<Self, Declined> {
        let budget = Budget::of_arrays(parts.json.len() + parts.binary.map_or(0, <[u8]>::len));
        let mut buffers = Vec::new();
        for (k, buffer) in document.buffers.iter().enumerate() {
            let bytes = fetch(k, buffer, parts, beside)?;
            if let Some(Cow::Owned(bytes)) = &bytes {
                budget.grow(bytes.len());
            }
            buffers.push(bytes);
        }
        let unpacked = document
            .buffer_views
            .iter()
            .map(|_| OnceCell::new())
            .collect();
        Ok(Self {
            views: &document.buffer_views,
            buffers,
            unpacked,
            budget,
        })
    }

    /// The bytes of a view and its stride, where it has one.
    pub(super) fn view(&self, index: usize) -> Result<(&[u8], Option<usize>), ReadError> {
        let view = self.views.get(index).ok_or_else(|| {
            wrong(
                index,
                format!("does not exist; there are {}", self.views.len()),
            )
        })?;
        let Some(packed) = &view.extensions.meshopt else {
            return Ok((
                self.range(index, view.buffer, view.byte_offset, view.byte_length)?,
                view.byte_stride,
            ));
        };
        if self.unpacked[index].get().is_none() {
            let bytes = self.range(index, packed.buffer, packed.byte_offset, packed.byte_length)?;
            let bytes = meshopt::unpack(packed, bytes)
                .map_err(|message| wrong(index, format!("cannot be unpacked: {message}")))?;
            self.budget.grow(bytes.len());
            // Set just now at the latest, so that the value is dropped only where it is there
            // already.
            let _ = self.unpacked[index].set(bytes);
        }
        let bytes = self.unpacked[index].get().expect("it was filled above");
        Ok((bytes, view.byte_stride))
    }

    fn range(
        &self,
        view: usize,
        buffer: usize,
        offset: usize,
        length: usize,
    ) -> Result<&[u8], ReadError> {
        let Some(bytes) = self.buffers.get(buffer) else {
            return Err(wrong(
                view,
                format!(
                    "lies in buffer {buffer}, but there are {}",
                    self.buffers.len()
                ),
            ));
        };
        let Some(bytes) = bytes else {
            return Err(wrong(
                view,
                format!("lies in buffer {buffer}, which has no bytes"),
            ));
        };
        let end = offset.checked_add(length).filter(|&end| end <= bytes.len());
        let end = end.ok_or_else(|| {
            wrong(
                view,
                format!(
                    "needs {length} bytes from byte {offset}, but buffer {buffer} has {} bytes",
                    bytes.len()
                ),
            )
        })?;
        Ok(&bytes[offset..end])
    }
}

fn wrong(view: usize, message: String) -> ReadError {
    ReadError::whole(format!(
        "buffer view {view} {message}; export the file again"
    ))
}

fn fetch<'a>(
    index: usize,
    buffer: &Buffer,
    parts: &Parts<'a>,
    beside: &dyn Beside,
) -> Result<Option<Cow<'a, [u8]>>, Declined> {
    let bytes: Cow<'a, [u8]> = match &buffer.uri {
        None if index == 0 && parts.binary.is_some() => {
            Cow::Borrowed(parts.binary.unwrap_or_default())
        }
        // The place that a compressed buffer unpacks to has no bytes of its own.
        None => return Ok(None),
        Some(uri) => match data_uri(uri) {
            Some(decoded) => Cow::Owned(decoded.map_err(|m| {
                ReadError::whole(format!("buffer {index}: {m}; export the file again"))
            })?),
            None => Cow::Owned(beside.read(uri).map_err(Declined::Other)?),
        },
    };
    if bytes.len() < buffer.byte_length {
        let (has, promised) = (bytes.len(), buffer.byte_length);
        let message = format!(
            "buffer {index} promises {promised} bytes, but has {has}; copy the file again with all its buffers"
        );
        return Err(ReadError::whole(message).into());
    }
    Ok(Some(bytes))
}
