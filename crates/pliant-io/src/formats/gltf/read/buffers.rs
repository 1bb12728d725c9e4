//! glTF buffers and buffer views: the bytes of a document.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::meshopt;
use crate::formats::ReadFailure;
use crate::gltf::container::{Chunks, data_uri};
use crate::gltf::document::{Buffer, BufferView, Document};
use crate::parse::budget::Budget;
use crate::{FileProvider, ReadError};

/// The bytes of a document, with a bound on what may be decoded from them.
pub(in crate::formats::gltf) struct Buffers<'a> {
    views: &'a [BufferView],
    /// `None` for a buffer without bytes: the fallback of compressed views.
    buffers: Vec<Option<Cow<'a, [u8]>>>,
    /// For each view, its bytes after decompression.
    unpacked: Vec<OnceCell<Vec<u8>>>,
    pub(super) budget: Budget,
}

impl<'a> Buffers<'a> {
    pub(in crate::formats::gltf) fn open(
        document: &'a Document,
        chunks: &Chunks<'a>,
        files: &dyn FileProvider,
    ) -> Result<Self, ReadFailure> {
        let file_bytes = chunks.json.len() + chunks.binary.map_or(0, <[u8]>::len);
        let budget = Budget::of_arrays(file_bytes);

        let mut buffers = Vec::new();
        for (k, buffer) in document.buffers.iter().enumerate() {
            let bytes = fetch(k, buffer, chunks, files)?;
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

    /// The bytes of a buffer, if it has any.
    pub(in crate::formats::gltf) fn bytes(&self, index: usize) -> Option<&[u8]> {
        self.buffers.get(index)?.as_deref()
    }

    /// The bytes of a view and its stride, where it has one.
    pub(super) fn view(&self, index: usize) -> Result<(&[u8], Option<usize>), ReadError> {
        let view = self.views.get(index).ok_or_else(|| {
            view_error(
                index,
                format!("does not exist; there are {} views", self.views.len()),
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
                .map_err(|message| view_error(index, format!("cannot be unpacked: {message}")))?;
            self.budget.grow(bytes.len());
            // The cell is empty, as checked above, so that setting it cannot fail.
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
            return Err(view_error(
                view,
                format!(
                    "lies in buffer {buffer}, but there are {} buffers",
                    self.buffers.len()
                ),
            ));
        };
        let Some(bytes) = bytes else {
            return Err(view_error(
                view,
                format!("lies in buffer {buffer}, which has no bytes"),
            ));
        };

        let end = offset.checked_add(length).filter(|&end| end <= bytes.len());
        let end = end.ok_or_else(|| {
            view_error(
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

fn view_error(view: usize, message: String) -> ReadError {
    ReadError::whole(format!(
        "buffer view {view} {message}; export the file again"
    ))
}

/// The bytes of buffer `index`.
fn fetch<'a>(
    index: usize,
    buffer: &Buffer,
    chunks: &Chunks<'a>,
    files: &dyn FileProvider,
) -> Result<Option<Cow<'a, [u8]>>, ReadFailure> {
    let bytes: Cow<'a, [u8]> = match &buffer.uri {
        None if index == 0 && chunks.binary.is_some() => {
            Cow::Borrowed(chunks.binary.unwrap_or_default())
        }
        // The fallback buffer of compressed views has no bytes.
        None => return Ok(None),
        Some(uri) => match data_uri(uri) {
            Some(decoded) => Cow::Owned(decoded.map_err(|m| {
                ReadError::whole(format!("buffer {index}: {m}; export the file again"))
            })?),
            None => Cow::Owned(files.read(uri).map_err(ReadFailure::File)?),
        },
    };

    if bytes.len() < buffer.byte_length {
        let found = bytes.len();
        let expected = buffer.byte_length;
        let message = format!(
            "buffer {index} should have {expected} bytes, but has {found}; copy the file again with all its buffers"
        );
        return Err(ReadError::whole(message).into());
    }

    Ok(Some(bytes))
}
