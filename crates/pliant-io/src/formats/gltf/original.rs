//! The original bytes of a glTF file, kept so that saving edits the file instead of rewriting it.
//!
//! **Problem.** A file holds more than an [`Asset`](crate::Asset): cameras, lights, extensions,
//! `extras`, animations of other nodes. What no field of an asset stores would be lost on saving.
//!
//! **Method.** An asset that was read from glTF keeps the bytes of its file and of all files that it
//! refers to. The writer reads them again, compares the result with the asset, and changes only the
//! parts of the document that differ (module `edit`).
//!
//! The objects as they were read are kept, too. They share targets and faces with the asset until it is
//! edited, so that a save decodes none of them again and holds no second copy.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::container;
use super::read::{Buffers, ReadObject, Scene, Source, open_document, target_normals};
use super::seams::{Block, Displacements};
use crate::files::plain_uri;
use crate::{FileProvider, IoError, NoFiles};

/// The bytes that an asset was read from.
#[derive(Debug)]
pub(crate) struct Original {
    /// The GLB, or the JSON text.
    pub(super) bytes: Arc<Vec<u8>>,
    /// The files that it refers to and that could be read, by their plain URI.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// The objects as they were read, in the order of the reader.
    pub(super) objects: Vec<ReadObject>,
}

impl Original {
    /// How the targets of an object displace the normals of its stored vertices, which have these
    /// blocks; `None` if the object is not one that was read.
    pub(super) fn target_normals(
        &self,
        object: usize,
        blocks: &[Block],
    ) -> Option<Vec<Displacements>> {
        let chunks = container::open(&self.bytes).ok()?;
        let document = open_document(chunks.json).ok()?;
        let buffers = Buffers::open(&document, &chunks, self).ok()?;
        let source = Source::open(&document, buffers, &chunks).ok()?;
        let scene = Scene::read(&source, &NoFiles, &self.objects).ok()?;
        target_normals(&source, scene.placed.get(object)?, blocks).ok()
    }
}

impl FileProvider for Original {
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
        match self.files.get(&plain_uri(uri)) {
            Some(bytes) => Ok(bytes.clone()),
            None => Err(IoError::Missing { path: uri.into() }),
        }
    }
}

/// Opens files and remembers what they hold.
pub(super) struct RecordingFiles<'a> {
    files: &'a dyn FileProvider,
    recorded: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl<'a> RecordingFiles<'a> {
    pub(super) fn new(files: &'a dyn FileProvider) -> Self {
        Self {
            files,
            recorded: RefCell::default(),
        }
    }

    /// The original of a document of these bytes.
    pub(super) fn into_original(self, bytes: &Arc<Vec<u8>>, objects: Vec<ReadObject>) -> Original {
        Original {
            bytes: Arc::clone(bytes),
            files: self.recorded.into_inner(),
            objects,
        }
    }
}

impl FileProvider for RecordingFiles<'_> {
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
        if let Some(known) = self.recorded.borrow().get(&plain_uri(uri)) {
            return Ok(known.clone());
        }

        let bytes = self.files.read(uri)?;
        self.recorded
            .borrow_mut()
            .insert(plain_uri(uri), bytes.clone());
        Ok(bytes)
    }
}
