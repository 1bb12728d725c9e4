//! The tables of a binary layer: tokens, strings, fields, sets of fields, paths and specs.
//!
//! **Format.** The file begins with `PXR-USDC`, its version and the offset of the table of contents,
//! which names six sections. A *spec* is a prim, property or variant at a path with a set of fields;
//! a *field* is a name (a token) with a value representation of 64 bits, see `values`.

use std::cell::RefCell;
use std::collections::HashMap;

use super::integers::{self, IntegerWidth};
use super::lz4;
use super::paths::PathTree;
use super::plain_tables;
use crate::ReadError;
use crate::formats::usd::layer::Value;
use crate::parse::binary::Cursor;
use crate::parse::budget::Budget;

/// How a binary layer begins.
pub(in crate::formats::usd) const MAGIC: &[u8] = b"PXR-USDC";

/// The first minor version whose tables are compressed, which OpenUSD writes since 2017.
const FIRST_COMPRESSED: u8 = 4;

/// A binary layer with its tables.
pub(super) struct Tables<'a> {
    pub(super) bytes: &'a [u8],
    /// The minor version of the format.
    pub(super) minor: u8,
    pub(super) tokens: Vec<String>,
    /// For each string, its token.
    pub(super) strings: Vec<u32>,
    pub(super) fields: Vec<Field>,
    /// Lists of fields, each ended by [`END_OF_SET`].
    pub(super) field_sets: Vec<u32>,
    pub(super) paths: PathTree,
    pub(super) specs: Vec<Spec>,
    pub(super) budget: Budget,
    /// Arrays that were read, by their value representations.
    pub(super) known: RefCell<HashMap<u64, Value>>,
}

/// A name and the representation of its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: u32,
    pub(super) value: u64,
}

/// Something at a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    pub(super) path: u32,
    /// Where its fields begin in the list of field sets.
    pub(super) fields: u32,
    /// Its type, as `SdfSpecType` numbers them.
    pub(super) kind: u32,
}

/// The mark at the end of a set of fields.
pub(super) const END_OF_SET: u32 = u32::MAX;

impl<'a> Tables<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let mut cursor = Cursor::of(bytes);
        cursor.take(MAGIC.len(), "the beginning of a binary layer")?;
        let [major, minor, patch] = cursor.array("the version of the layer")?;
        if major != 0 {
            return Err(ReadError::byte(
                MAGIC.len(),
                format!(
                    "binary layers of version {major}.{minor}.{patch} are not supported; save it again as .usda"
                ),
            ));
        }

        let sections = Sections::read(bytes)?;
        let budget = Budget::of_samples(bytes.len());
        let strings = strings(&mut sections.cursor("STRINGS")?)?;
        let section = |name| sections.cursor(name);
        if minor < FIRST_COMPRESSED {
            let padded = minor == 0;
            return Ok(Self {
                bytes,
                minor,
                tokens: plain_tables::tokens(&mut section("TOKENS")?, &budget)?,
                strings,
                fields: plain_tables::fields(&mut section("FIELDS")?, &budget)?,
                field_sets: plain_tables::field_sets(&mut section("FIELDSETS")?, &budget)?,
                paths: plain_tables::paths(bytes, sections.start("PATHS")?, padded, &budget)?,
                specs: plain_tables::specs(&mut section("SPECS")?, padded, &budget)?,
                budget,
                known: RefCell::default(),
            });
        }

        let tokens = tokens(&mut section("TOKENS")?, &budget)?;
        let fields = fields(&mut section("FIELDS")?, &budget)?;
        let field_sets = field_sets(&mut section("FIELDSETS")?, &budget)?;
        let paths = PathTree::read(&mut section("PATHS")?, &budget)?;
        let specs = specs(&mut section("SPECS")?, &budget)?;

        Ok(Self {
            bytes,
            minor,
            tokens,
            strings,
            fields,
            field_sets,
            paths,
            specs,
            budget,
            known: RefCell::default(),
        })
    }

    pub(super) fn token(&self, index: u32) -> Result<&str, ReadError> {
        let token = self.tokens.get(index as usize);
        token.map(String::as_str).ok_or_else(|| {
            let count = self.tokens.len();
            damaged(format!("it names token {index} of {count}"))
        })
    }

    pub(super) fn string(&self, index: u32) -> Result<&str, ReadError> {
        match self.strings.get(index as usize) {
            Some(&token) => self.token(token),
            None => {
                let count = self.strings.len();
                Err(damaged(format!("it names string {index} of {count}")))
            }
        }
    }

    /// The text of a path.
    pub(super) fn path(&self, index: u32) -> Result<String, ReadError> {
        let text = self.paths.text(index, &self.tokens)?;
        self.budget.spend(text.len().div_ceil(8), "the paths")?;
        Ok(text)
    }

    /// The fields of a spec.
    pub(super) fn fields_of(&self, spec: &Spec) -> Result<&[u32], ReadError> {
        let from = self.field_sets.get(spec.fields as usize..);
        let from = from.ok_or_else(|| damaged("a spec names fields that do not exist"))?;
        let end = from.iter().position(|&field| field == END_OF_SET);
        let own = &from[..end.unwrap_or(from.len())];
        self.budget.spend(own.len(), "the fields of the specs")?;
        Ok(own)
    }

    pub(super) fn field(&self, index: u32) -> Result<Field, ReadError> {
        let field = self.fields.get(index as usize).copied();
        field.ok_or_else(|| {
            let count = self.fields.len();
            damaged(format!("it names field {index} of {count}"))
        })
    }
}

/// An error of tables that contradict each other.
pub(super) fn damaged(why: impl std::fmt::Display) -> ReadError {
    ReadError::whole(format!(
        "the binary layer is damaged ({why}); export it again"
    ))
}

/// The named sections of a file.
struct Sections<'a> {
    bytes: &'a [u8],
    list: Vec<(String, u64, u64)>,
}

impl<'a> Sections<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        const SECTION_BYTES: usize = 32;

        let what = "the table of contents";
        let mut cursor = Cursor::of(bytes);
        cursor.take(16, what)?;
        let at = u64::from_le_bytes(cursor.array(what)?);
        let mut cursor = cursor_at(bytes, at, what)?;
        let count = u64::from_le_bytes(cursor.array(what)?);
        cursor.require(count, SECTION_BYTES, "sections")?;

        let mut list = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let name: [u8; 16] = cursor.array(what)?;
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            let start = u64::from_le_bytes(cursor.array(what)?);
            let size = u64::from_le_bytes(cursor.array(what)?);
            list.push((name, start, size));
        }
        Ok(Self { bytes, list })
    }

    fn find(&self, name: &str) -> Result<(u64, u64), ReadError> {
        let section = self.list.iter().find(|(known, ..)| known == name);
        let section = section.map(|&(_, start, size)| (start, size));
        section.ok_or_else(|| damaged(format!("it has no section {name}")))
    }

    /// Where a section begins in the file.
    fn start(&self, name: &str) -> Result<u64, ReadError> {
        self.find(name).map(|(start, _)| start)
    }

    fn cursor(&self, name: &str) -> Result<Cursor<'a>, ReadError> {
        let (start, size) = self.find(name)?;
        let what = format!("section {name}");
        let mut cursor = cursor_at(self.bytes, start, &what)?;
        cursor.require(size, 1, format!("bytes of {what}"))?;
        Ok(Cursor::of(cursor.take(size as usize, what)?))
    }
}

/// A cursor at an offset of the file.
pub(super) fn cursor_at<'a>(bytes: &'a [u8], at: u64, what: &str) -> Result<Cursor<'a>, ReadError> {
    let mut cursor = Cursor::of(bytes);
    if at > bytes.len() as u64 {
        return Err(ReadError::byte(
            bytes.len(),
            format!("{what} is at byte {at}, beyond the end; the file is cut off, export it again"),
        ));
    }
    cursor.take(at as usize, what)?;
    Ok(cursor)
}

/// An unsigned count or size.
pub(super) fn count(cursor: &mut Cursor<'_>, what: &str) -> Result<u64, ReadError> {
    Ok(u64::from_le_bytes(cursor.array(what)?))
}

/// A compressed block that its size precedes.
pub(super) fn sized_block<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<&'a [u8], ReadError> {
    let size = count(cursor, what)?;
    cursor.require(size, 1, format_args!("bytes of {what}"))?;
    cursor.take(size as usize, what)
}

/// `count` compressed integers, as many as the budget allows.
pub(super) fn integers(
    cursor: &mut Cursor<'_>,
    count: u64,
    width: IntegerWidth,
    budget: &Budget,
    what: &str,
) -> Result<Vec<i64>, ReadError> {
    let block = sized_block(cursor, what)?;
    if !integers::is_possible(count, block.len()) {
        return Err(damaged(format!(
            "{} bytes cannot hold {count} of {what}",
            block.len()
        )));
    }
    budget.spend(count as usize, what)?;
    integers::decode(block, count as usize, width, what)
}

/// Compressed indices.
pub(super) fn indices(
    cursor: &mut Cursor<'_>,
    count: u64,
    budget: &Budget,
    what: &str,
) -> Result<Vec<u32>, ReadError> {
    let values = integers(cursor, count, IntegerWidth::Bits32, budget, what)?;
    Ok(values.into_iter().map(|value| value as u32).collect())
}

fn tokens(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Vec<String>, ReadError> {
    let what = "the tokens";
    let number = count(cursor, what)?;
    let size = count(cursor, what)?;
    let block = sized_block(cursor, what)?;
    if !lz4::is_possible(size, block.len()) || number > size {
        return Err(damaged(format!(
            "{} bytes cannot hold {number} tokens of {size} bytes",
            block.len()
        )));
    }

    // A short token takes its record and an allocation, about five numbers.
    let numbers = (size / 8).saturating_add(number.saturating_mul(5));
    budget.spend(numbers as usize, what)?;
    let text = lz4::decompress(block, size as usize, what)?;
    let tokens: Vec<String> = text
        .split(|byte| *byte == 0)
        .take(number as usize)
        .map(|token| String::from_utf8_lossy(token).into_owned())
        .collect();

    if (tokens.len() as u64) < number {
        return Err(damaged(format!(
            "it holds {} of {number} tokens",
            tokens.len()
        )));
    }
    Ok(tokens)
}

fn strings(cursor: &mut Cursor<'_>) -> Result<Vec<u32>, ReadError> {
    let what = "the strings";
    let number = count(cursor, what)?;
    cursor.require(number, 4, "strings")?;
    let bytes = cursor.take(4 * number as usize, what)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

fn fields(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Vec<Field>, ReadError> {
    let what = "the fields";
    let number = count(cursor, what)?;
    let names = indices(cursor, number, budget, what)?;
    let block = sized_block(cursor, what)?;
    let values = lz4::decompress(block, names.len() * 8, what)?;
    let (values, _) = values.as_chunks::<8>();
    if values.len() < names.len() {
        return Err(damaged(format!(
            "it holds {} values of {} fields",
            values.len(),
            names.len()
        )));
    }

    Ok(names
        .into_iter()
        .zip(values)
        .map(|(name, value)| Field {
            name,
            value: u64::from_le_bytes(*value),
        })
        .collect())
}

fn field_sets(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Vec<u32>, ReadError> {
    let what = "the sets of fields";
    let number = count(cursor, what)?;
    indices(cursor, number, budget, what)
}

fn specs(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Vec<Spec>, ReadError> {
    let what = "the specs";
    let number = count(cursor, what)?;
    let paths = indices(cursor, number, budget, what)?;
    let fields = indices(cursor, number, budget, what)?;
    let kinds = indices(cursor, number, budget, what)?;

    let rows = paths.into_iter().zip(fields).zip(kinds);
    Ok(rows
        .map(|((path, fields), kind)| Spec { path, fields, kind })
        .collect())
}
