//! glTF buffers and buffer views: the bytes of a document.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::meshopt;
use crate::files::plain_uri;
use crate::formats::ReadFailure;
use crate::gltf::container::{Chunks, data_uri};
use crate::gltf::document::{Buffer, BufferView, CompressedView, Document};
use crate::parse::budget::Budget;
use crate::{FileProvider, ReadError};

/// The bytes of a document, with a bound on what may be decoded from them.
pub(in crate::formats::gltf) struct Buffers<'a> {
    views: &'a [BufferView],
    /// `None` for a buffer without bytes: the fallback of compressed views.
    buffers: Vec<Option<BufferBytes<'a>>>,
    /// For each view, its bytes after decompression.
    unpacked: Vec<OnceCell<Rc<Vec<u8>>>>,
    /// The same bytes by what they were unpacked from.
    unpacked_from: RefCell<HashMap<PackedKey, Rc<Vec<u8>>>>,
    pub(super) budget: Budget,
    /// Bounds the bytes after decompression.
    pub(super) unpacking: Budget,
}

/// What a compressed view is unpacked from: buffer, offset and length of the bytes, then count, stride,
/// mode and filter.
type PackedKey = ([usize; 5], String, Option<String>);

/// The bytes of a buffer. Buffers of one file share theirs.
enum BufferBytes<'a> {
    InFile(&'a [u8]),
    Owned(Rc<Vec<u8>>),
}

impl BufferBytes<'_> {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::InFile(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
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
        let mut fetched = HashMap::new();
        for (k, buffer) in document.buffers.iter().enumerate() {
            let bytes = fetch(k, buffer, chunks, files, &budget, &mut fetched)?;
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
            unpacked_from: RefCell::default(),
            unpacking: Budget::of_unpacked(budget.bytes()),
            budget,
        })
    }

    /// The bytes of a buffer, if it has any.
    pub(in crate::formats::gltf) fn bytes(&self, index: usize) -> Option<&[u8]> {
        self.buffers.get(index)?.as_ref().map(BufferBytes::as_slice)
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
            let bytes = self.unpack(index, packed)?;
            // The cell is empty, as checked above, so that setting it cannot fail.
            let _ = self.unpacked[index].set(bytes);
        }

        let bytes = self.unpacked[index].get().expect("it was filled above");
        Ok((bytes, view.byte_stride))
    }

    /// The bytes of a compressed view; equal views share them.
    fn unpack(&self, index: usize, packed: &CompressedView) -> Result<Rc<Vec<u8>>, ReadError> {
        let (buffer, offset, length) = (packed.buffer, packed.byte_offset, packed.byte_length);
        let key = (
            [buffer, offset, length, packed.count, packed.byte_stride],
            packed.mode.clone(),
            packed.filter.clone(),
        );
        if let Some(known) = self.unpacked_from.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }

        let bytes = self.range(index, buffer, offset, length)?;
        let size = packed.count.saturating_mul(packed.byte_stride);
        self.unpacking
            .spend(size, format_args!("buffer view {index}"))?;
        let bytes = meshopt::unpack(packed, bytes)
            .map_err(|message| view_error(index, format!("cannot be unpacked: {message}")))?;
        self.budget.grow(bytes.len());
        let bytes = Rc::new(bytes);
        self.unpacked_from
            .borrow_mut()
            .insert(key, Rc::clone(&bytes));
        Ok(bytes)
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
        let bytes = bytes.as_slice();

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

/// The bytes of buffer `index`; `fetched` has those of the files that were read.
fn fetch<'a>(
    index: usize,
    buffer: &Buffer,
    chunks: &Chunks<'a>,
    files: &dyn FileProvider,
    budget: &Budget,
    fetched: &mut HashMap<String, Rc<Vec<u8>>>,
) -> Result<Option<BufferBytes<'a>>, ReadFailure> {
    let bytes = match &buffer.uri {
        None if index == 0 && chunks.binary.is_some() => {
            BufferBytes::InFile(chunks.binary.unwrap_or_default())
        }
        // The fallback buffer of compressed views has no bytes.
        None => return Ok(None),
        Some(uri) => {
            let owned = match data_uri(uri) {
                Some(decoded) => Rc::new(decoded.map_err(|m| {
                    ReadError::whole(format!("buffer {index}: {m}; export the file again"))
                })?),
                None => match fetched.get(&plain_uri(uri)) {
                    Some(known) => Rc::clone(known),
                    None => {
                        let bytes = Rc::new(files.read(uri).map_err(ReadFailure::File)?);
                        budget.grow(bytes.len());
                        fetched.insert(plain_uri(uri), Rc::clone(&bytes));
                        bytes
                    }
                },
            };
            BufferBytes::Owned(owned)
        }
    };

    let found = bytes.as_slice().len();
    if found < buffer.byte_length {
        let expected = buffer.byte_length;
        let message = format!(
            "buffer {index} should have {expected} bytes, but has {found}; copy the file again with all its buffers"
        );
        return Err(ReadError::whole(message).into());
    }

    Ok(Some(bytes))
}
