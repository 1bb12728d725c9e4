//! The archive of an Alembic file: versions, time samplings, metadata and the tree of objects.
//!
//! **Format.** The root group holds the version of the layout, that of the library, the top object,
//! the metadata of the archive, the time samplings and a table of metadata. An object is a group of
//! its properties, its child objects, and the names and metadata of these. Metadata are a text
//! `key=value;key=value`, stored in place or as an index into the table.

use std::borrow::Cow;

use super::ogawa::{self, Group};
use super::time_sampling::TimeSampling;
use crate::ReadError;
use crate::parse::binary::Cursor;
use crate::parse::budget::Budget;
use crate::parse::finite::NotFinite;

/// The metadata index of a text that is stored in place.
const IN_PLACE: usize = 0xff;

/// How many bytes of digests follow the names of child objects.
const DIGEST_BYTES: usize = 32;

/// An open archive.
#[derive(Debug)]
pub(super) struct Archive<'a> {
    /// The object that contains all others.
    pub(super) top: Group<'a>,
    /// The metadata of the archive.
    pub(super) metadata: Cow<'a, str>,
    /// The memory that reading may take.
    pub(super) budget: Budget,
    /// The numbers that were replaced.
    pub(super) not_finite: NotFinite,
    samplings: Vec<TimeSampling>,
    table: Vec<Cow<'a, str>>,
}

/// An object below another one.
#[derive(Debug)]
pub(super) struct ChildObject<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) metadata: Cow<'a, str>,
    pub(super) group: Group<'a>,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let root = ogawa::open(bytes)?;
        if root.len() < 6 {
            return Err(ReadError::whole(format!(
                "the root of the file has {} parts, but an Alembic archive has 6; the file is damaged, export it again",
                root.len()
            )));
        }

        let version = root.cursor(0, 0)?.array("the version of the archive")?;
        let version = i32::from_le_bytes(version);
        if version != 0 {
            return Err(ReadError::whole(format!(
                "version {version} of the archive is unknown; only 0 is"
            )));
        }

        let budget = Budget::of_samples(bytes.len());
        Ok(Self {
            top: root.group(2)?,
            metadata: String::from_utf8_lossy(root.data(3)?),
            samplings: TimeSampling::read_all(root.cursor(4, 0)?, &budget)?,
            table: read_table(root.cursor(5, 0)?)?,
            budget,
            not_finite: NotFinite::default(),
        })
    }

    /// The time sampling of this index.
    pub(super) fn sampling(&self, index: usize) -> Result<&TimeSampling, ReadError> {
        self.samplings.get(index).ok_or_else(|| {
            ReadError::whole(format!(
                "time sampling {index} of {} is missing; the file is damaged, export it again",
                self.samplings.len()
            ))
        })
    }

    /// The metadata text of this index; `in_place` reads one that is not in the table.
    pub(super) fn metadata_text(
        &self,
        index: usize,
        in_place: impl FnOnce() -> Result<Cow<'a, str>, ReadError>,
    ) -> Result<Cow<'a, str>, ReadError> {
        if index == IN_PLACE {
            return in_place();
        }
        self.table.get(index).cloned().ok_or_else(|| {
            ReadError::whole(format!(
                "metadata {index} of {} are missing; the file is damaged, export it again",
                self.table.len()
            ))
        })
    }

    /// The children of an object.
    pub(super) fn children(&self, object: Group<'a>) -> Result<Vec<ChildObject<'a>>, ReadError> {
        let mut cursor = object.headers(DIGEST_BYTES)?;
        self.budget
            .spend(cursor.left() / 4, "the names of the objects")?;

        let mut children = Vec::new();
        while cursor.left() > 0 {
            let name = long_text(&mut cursor, "the name of an object")?;
            let [index] = cursor.array("the metadata index of an object")?;
            let metadata = self.metadata_text(index.into(), || {
                long_text(&mut cursor, "the metadata of an object")
            })?;

            // The properties come before the children.
            let group = object.group(children.len() + 1)?;
            children.push(ChildObject {
                name,
                metadata,
                group,
            });
        }

        Ok(children)
    }
}

/// The value of `key` in a metadata text.
pub(super) fn metadata_value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.split(';')
        .filter_map(|entry| entry.split_once('='))
        .find_map(|(found, value)| (found == key).then_some(value))
}

/// The table of metadata, which begins with the empty text.
fn read_table(mut cursor: Cursor<'_>) -> Result<Vec<Cow<'_, str>>, ReadError> {
    let mut table = vec![Cow::Borrowed("")];
    while cursor.left() > 0 && table.len() < IN_PLACE {
        let [length] = cursor.array("the length of metadata")?;
        let text = cursor.take(length.into(), "metadata")?;
        table.push(String::from_utf8_lossy(text));
    }
    Ok(table)
}

/// A text after its length in 32 bits.
fn long_text<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<Cow<'a, str>, ReadError> {
    let length = u32::from_le_bytes(cursor.array(what)?);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    Ok(String::from_utf8_lossy(cursor.take(length, what)?))
}
