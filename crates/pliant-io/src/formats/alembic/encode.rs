//! Writer of an Ogawa container with objects, properties and samples.
//!
//! **Format.** That of [`super::ogawa`], [`super::archive`] and [`super::property`]. Groups come
//! after what they contain, and the root comes last.

use std::collections::HashMap;

use super::digest::digest;
use super::ogawa::{DATA, HEAD};
use crate::IoError;

/// The version of the library whose layout is written, as `XXYYZZ`.
const LIBRARY_VERSION: i32 = 10803;

/// The reference to empty data.
const EMPTY_DATA: u64 = DATA;

/// The type of the numbers of a written property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenNumber {
    Boolean = 0,
    U8 = 1,
    U32 = 5,
    I32 = 6,
    F32 = 10,
    F64 = 11,
}

/// A property to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct PropertyHead<'s> {
    pub(super) name: &'s str,
    pub(super) metadata: &'s str,
    /// Whether a sample is a list of values.
    pub(super) is_array: bool,
    pub(super) number: WrittenNumber,
    /// How many numbers make a value.
    pub(super) extent: usize,
    pub(super) sampling: usize,
}

/// Properties of a compound, or children of an object: references, headers and digests.
#[derive(Debug, Default)]
pub(super) struct Members {
    references: Vec<u64>,
    headers: Vec<u8>,
    digests: Vec<u8>,
}

/// A file in the making.
#[derive(Debug)]
pub(super) struct Encoder {
    out: Vec<u8>,
    /// Where samples are, by digest and length, so that each is stored once.
    samples: HashMap<([u8; 16], usize), u64>,
    /// The texts of the table of metadata, after the empty one.
    table: Vec<String>,
    /// The most samples of a property of each sampling.
    most_samples: Vec<u32>,
}

/// The samples of a property as they are stored.
#[derive(Default)]
struct StoredSamples {
    references: Vec<u64>,
    count: usize,
    first_changed: usize,
    last_changed: usize,
    /// Whether all samples are one value, and whether all have the same length.
    single: bool,
    even: bool,
    digests: Vec<u8>,
}

impl WrittenNumber {
    fn bytes(self) -> usize {
        match self {
            Self::Boolean | Self::U8 => 1,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

impl Encoder {
    /// A file with so many time samplings.
    pub(super) fn new(samplings: usize) -> Self {
        let mut out = HEAD.to_vec();
        out.extend_from_slice(&[0; 8]);
        Self {
            out,
            samples: HashMap::new(),
            table: Vec::new(),
            most_samples: vec![0; samplings],
        }
    }

    /// Adds a property whose samples are the bytes of its values.
    pub(super) fn property(
        &mut self,
        into: &mut Members,
        head: &PropertyHead<'_>,
        samples: impl IntoIterator<Item = Result<Vec<u8>, IoError>>,
    ) -> Result<(), IoError> {
        let value_bytes = head.extent * head.number.bytes();
        let stored = self.store(samples, value_bytes, head.is_array)?;

        let most = &mut self.most_samples[head.sampling];
        let distinct = if stored.last_changed == 0 {
            stored.count.min(1)
        } else {
            stored.count
        };
        *most = (*most).max(distinct as u32);

        let header = self.property_header(head, &stored);
        let mut identity = header.clone();
        identity.extend_from_slice(&stored.digests);
        into.references.push(self.group(&stored.references));
        into.headers.extend_from_slice(&header);
        into.digests.extend_from_slice(&digest(&identity));
        Ok(())
    }

    /// Adds a compound with its properties.
    pub(super) fn compound(
        &mut self,
        into: &mut Members,
        name: &str,
        metadata: &str,
        properties: Members,
    ) {
        let index = self.metadata_index(metadata);
        let width = width_of(name.len().max(metadata.len()));
        let flags = (width << 2) | (u32::from(index) << 20);
        let mut header = flags.to_le_bytes().to_vec();
        push_texts(&mut header, name, metadata, index, width);

        into.digests
            .extend_from_slice(&digest(&[&header[..], &properties.digests].concat()));
        into.headers.extend_from_slice(&header);
        into.references.push(self.compound_group(&properties));
    }

    /// Adds an object with its properties and children.
    pub(super) fn object(
        &mut self,
        into: &mut Members,
        name: &str,
        metadata: &str,
        properties: &Members,
        children: Members,
    ) {
        into.headers
            .extend_from_slice(&(name.len() as u32).to_le_bytes());
        into.headers.extend_from_slice(name.as_bytes());
        let index = self.metadata_index(metadata);
        into.headers.push(index);
        if index == u8::MAX {
            into.headers
                .extend_from_slice(&(metadata.len() as u32).to_le_bytes());
            into.headers.extend_from_slice(metadata.as_bytes());
        }

        into.digests.extend_from_slice(&digest(
            &[name.as_bytes(), &properties.digests, &children.digests].concat(),
        ));
        let group = self.object_group(properties, children);
        into.references.push(group);
    }

    /// The file with the `objects` of its top, and `samplings` as periods and starts.
    pub(super) fn finish(
        mut self,
        objects: Members,
        metadata: &str,
        samplings: &[(f64, f64)],
    ) -> Vec<u8> {
        let version = self.data(&0_i32.to_le_bytes());
        let library = self.data(&LIBRARY_VERSION.to_le_bytes());
        let top = self.object_group(&Members::default(), objects);
        let metadata = self.data(metadata.as_bytes());

        let mut times = Vec::new();
        for (&(period, start), most) in samplings.iter().zip(&self.most_samples) {
            times.extend_from_slice(&most.to_le_bytes());
            times.extend_from_slice(&period.to_le_bytes());
            times.extend_from_slice(&1_u32.to_le_bytes());
            times.extend_from_slice(&start.to_le_bytes());
        }
        let times = self.data(&times);

        let mut table = Vec::new();
        for text in &self.table {
            table.push(text.len() as u8);
            table.extend_from_slice(text.as_bytes());
        }
        let table = self.data(&table);

        let root = self.group(&[version, library, top, metadata, times, table]);
        self.out[8..16].copy_from_slice(&root.to_le_bytes());
        self.out
    }

    /// Stores samples; those before the first change and after the last one once.
    fn store(
        &mut self,
        samples: impl IntoIterator<Item = Result<Vec<u8>, IoError>>,
        value_bytes: usize,
        is_array: bool,
    ) -> Result<StoredSamples, IoError> {
        let mut stored = StoredSamples {
            single: true,
            even: true,
            ..StoredSamples::default()
        };
        let mut previous = None;
        let mut first_length = 0;
        for (k, sample) in samples.into_iter().enumerate() {
            let sample = sample?;
            let own = digest(&sample);
            stored.count = k + 1;
            stored.single &= sample.len() == value_bytes;
            stored.even &= k == 0 || sample.len() == first_length;
            if k == 0 {
                first_length = sample.len();
            }

            let reference = self.sample(&sample, own);
            if previous == Some(reference) {
                continue;
            }
            // Samples since the last change repeat the one before.
            if let Some(held) = previous.filter(|_| stored.first_changed > 0) {
                for _ in stored.last_changed + 1..k {
                    stored.push(held, is_array);
                }
            }
            stored.push(reference, is_array);
            stored.digests.extend_from_slice(&(k as u64).to_le_bytes());
            stored.digests.extend_from_slice(&own);
            if k > 0 {
                stored.last_changed = k;
                if stored.first_changed == 0 {
                    stored.first_changed = k;
                }
            }
            previous = Some(reference);
        }
        Ok(stored)
    }

    /// The reference to the data of a sample.
    fn sample(&mut self, sample: &[u8], own: [u8; 16]) -> u64 {
        if sample.is_empty() {
            return EMPTY_DATA;
        }
        let key = (own, sample.len());
        if let Some(&known) = self.samples.get(&key) {
            return known;
        }

        let reference = self.out.len() as u64 | DATA;
        let length = own.len() + sample.len();
        self.out.extend_from_slice(&(length as u64).to_le_bytes());
        self.out.extend_from_slice(&own);
        self.out.extend_from_slice(sample);
        self.samples.insert(key, reference);
        reference
    }

    fn property_header(&mut self, head: &PropertyHead<'_>, stored: &StoredSamples) -> Vec<u8> {
        let index = self.metadata_index(head.metadata);
        let longest = [
            head.name.len(),
            head.metadata.len(),
            stored.count,
            head.sampling,
        ];
        let width = width_of(longest.into_iter().max().unwrap_or(0));

        let is_constant = stored.last_changed == 0;
        let is_usual = stored.first_changed == 1 && stored.last_changed + 1 == stored.count;
        let kind = match (head.is_array, stored.single) {
            (false, _) => 1,
            (true, false) => 2,
            (true, true) => 3,
        };
        let flags = kind
            | (width << 2)
            | ((head.number as u32) << 4)
            | (u32::from(head.sampling != 0) << 8)
            | (u32::from(!is_constant && !is_usual) << 9)
            | (u32::from(stored.even) << 10)
            | (u32::from(is_constant) << 11)
            | ((head.extent as u32) << 12)
            | (u32::from(index) << 20);

        let mut header = flags.to_le_bytes().to_vec();
        push_number(&mut header, stored.count, width);
        if !is_constant && !is_usual {
            push_number(&mut header, stored.first_changed, width);
            push_number(&mut header, stored.last_changed, width);
        }
        if head.sampling != 0 {
            push_number(&mut header, head.sampling, width);
        }
        push_texts(&mut header, head.name, head.metadata, index, width);
        header
    }

    /// The index of a metadata text in the table; 255 if it is stored in place.
    fn metadata_index(&mut self, text: &str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        let known = self.table.iter().position(|known| known == text);
        if known.is_none() && (text.len() > 255 || self.table.len() >= 254) {
            return u8::MAX;
        }
        let index = known.unwrap_or_else(|| {
            self.table.push(text.to_owned());
            self.table.len() - 1
        });
        index as u8 + 1
    }

    fn compound_group(&mut self, properties: &Members) -> u64 {
        if properties.references.is_empty() {
            return 0;
        }
        let mut references = properties.references.clone();
        references.push(self.data(&properties.headers));
        self.group(&references)
    }

    fn object_group(&mut self, properties: &Members, children: Members) -> u64 {
        let mut references = vec![self.compound_group(properties)];
        references.extend_from_slice(&children.references);

        let mut headers = children.headers;
        headers.extend_from_slice(&digest(&properties.digests));
        headers.extend_from_slice(&digest(&children.digests));
        references.push(self.data(&headers));
        self.group(&references)
    }

    fn group(&mut self, references: &[u64]) -> u64 {
        if references.is_empty() {
            return 0;
        }
        let position = self.out.len() as u64;
        self.out
            .extend_from_slice(&(references.len() as u64).to_le_bytes());
        for reference in references {
            self.out.extend_from_slice(&reference.to_le_bytes());
        }
        position
    }

    fn data(&mut self, bytes: &[u8]) -> u64 {
        if bytes.is_empty() {
            return EMPTY_DATA;
        }
        let position = self.out.len() as u64;
        self.out
            .extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.out.extend_from_slice(bytes);
        position | DATA
    }
}

impl Members {
    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.references.is_empty()
    }
}

impl StoredSamples {
    fn push(&mut self, reference: u64, is_array: bool) {
        self.references.push(reference);
        // The sizes of a list of one dimension follow from its bytes.
        if is_array {
            self.references.push(EMPTY_DATA);
        }
    }
}

/// The code of the number of bytes that the numbers of a header take.
fn width_of(greatest: usize) -> u32 {
    match greatest {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        _ => 2,
    }
}

fn push_number(header: &mut Vec<u8>, number: usize, width: u32) {
    let bytes = (number as u32).to_le_bytes();
    header.extend_from_slice(&bytes[..1 << width]);
}

fn push_texts(header: &mut Vec<u8>, name: &str, metadata: &str, index: u8, width: u32) {
    push_number(header, name.len(), width);
    header.extend_from_slice(name.as_bytes());
    if index == u8::MAX {
        push_number(header, metadata.len(), width);
        header.extend_from_slice(metadata.as_bytes());
    }
}
