//! The tables of binary layers before version 0.4, which are not compressed.
//!
//! **Format.** Lists begin with their length. A field is four unused bytes, a token and a value. In
//! version 0.0.1, specs and paths have four unused bytes before them, too. A path is followed by its
//! first child if it has one, else by its sibling; the sibling of a path with children is at an offset
//! that follows the path.
//!
//! **Source.** OpenUSD, the source of `Sdf_CrateFile`.

use super::container::{Field, Spec, count, cursor_at, damaged};
use super::paths::{PathNode, PathTree};
use crate::ReadError;
use crate::parse::binary::Cursor;
use crate::parse::budget::Budget;

/// What follows a path, and whether it is a property.
const HAS_CHILD: u8 = 1;
const HAS_SIBLING: u8 = 2;
const IS_PROPERTY: u8 = 4;

pub(super) fn tokens(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Vec<String>, ReadError> {
    let what = "the tokens";
    let number = count(cursor, what)?;
    let size = count(cursor, what)?;
    cursor.require(size, 1, "bytes of the tokens")?;
    if number > size {
        return Err(damaged(format!("{size} bytes cannot hold {number} tokens")));
    }
    budget.spend(5 * number as usize, what)?;
    let text = cursor.take(size as usize, what)?;
    let texts = text.split(|byte| *byte == 0).take(number as usize);
    let tokens: Vec<String> = texts
        .map(|token| String::from_utf8_lossy(token).into_owned())
        .collect();
    if (tokens.len() as u64) < number {
        let found = tokens.len();
        return Err(damaged(format!("it holds {found} of {number} tokens")));
    }
    Ok(tokens)
}

pub(super) fn fields(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Vec<Field>, ReadError> {
    let what = "the fields";
    let number = count(cursor, what)?;
    cursor.require(number, 16, "fields")?;
    budget.spend(2 * number as usize, what)?;
    let mut fields = Vec::with_capacity(number as usize);
    for _ in 0..number {
        let [_, _, _, _] = cursor.array(what)?;
        fields.push(Field {
            name: word(cursor, what)?,
            value: count(cursor, what)?,
        });
    }
    Ok(fields)
}

pub(super) fn field_sets(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Vec<u32>, ReadError> {
    let what = "the sets of fields";
    let number = count(cursor, what)?;
    cursor.require(number, 4, "entries of sets of fields")?;
    budget.spend(number as usize, what)?;
    (0..number).map(|_| word(cursor, what)).collect()
}

/// The specs; `padded` in version 0.0.1.
pub(super) fn specs(
    cursor: &mut Cursor<'_>,
    padded: bool,
    budget: &Budget,
) -> Result<Vec<Spec>, ReadError> {
    let what = "the specs";
    let number = count(cursor, what)?;
    cursor.require(number, if padded { 16 } else { 12 }, "specs")?;
    budget.spend(2 * number as usize, what)?;
    let mut specs = Vec::with_capacity(number as usize);
    for _ in 0..number {
        if padded {
            let [_, _, _, _] = cursor.array(what)?;
        }
        specs.push(Spec {
            path: word(cursor, what)?,
            fields: word(cursor, what)?,
            kind: word(cursor, what)?,
        });
    }
    Ok(specs)
}

/// The paths of a section that begins at byte `start` of the file; `padded` in version 0.0.1.
pub(super) fn paths(
    bytes: &[u8],
    start: u64,
    padded: bool,
    budget: &Budget,
) -> Result<PathTree, ReadError> {
    let what = "the paths";
    let mut cursor = cursor_at(bytes, start, what)?;
    let total = count(&mut cursor, what)?;
    cursor.require(total, if padded { 16 } else { 12 }, "paths")?;
    budget.spend(total as usize, what)?;
    let mut nodes: Vec<Option<PathNode>> = vec![None; total as usize];
    let mut pending = Vec::new();
    if total > 0 {
        pending.push((cursor, None));
    }

    // Each path may occur once, so that offsets cannot form cycles.
    while let Some((mut cursor, mut parent)) = pending.pop() {
        loop {
            if padded {
                let [_, _, _, _] = cursor.array(what)?;
            }
            let path = word(&mut cursor, what)?;
            let element = word(&mut cursor, what)?;
            let [bits, _, _, _] = cursor.array(what)?;
            let slot = nodes.get_mut(path as usize).filter(|slot| slot.is_none());
            let Some(slot) = slot else {
                return Err(damaged("its list of paths contradicts itself"));
            };
            *slot = Some(PathNode {
                parent,
                element,
                is_property: bits & IS_PROPERTY != 0,
            });

            let has_child = bits & HAS_CHILD != 0;
            let has_sibling = bits & HAS_SIBLING != 0;
            if has_child {
                if has_sibling {
                    let sibling = count(&mut cursor, what)?;
                    pending.push((cursor_at(bytes, sibling, what)?, parent));
                }
                parent = Some(path);
            } else if !has_sibling {
                break;
            }
        }
    }

    Ok(PathTree::of_nodes(nodes))
}

fn word(cursor: &mut Cursor<'_>, what: &str) -> Result<u32, ReadError> {
    Ok(u32::from_le_bytes(cursor.array(what)?))
}
