//! The paths of a binary layer, as a tree.
//!
//! **Format.** Paths are listed parents first, each with the token of its last part; a negative
//! token is a property. A *jump* says what follows a path: 0 a sibling, −1 a child, −2 neither, and
//! a positive number a child, with the sibling so many entries ahead.

use super::container::{count, damaged, indices};
use crate::ReadError;
use crate::formats::usd::stage::LONGEST_PATH;
use crate::parse::binary::Cursor;
use crate::parse::budget::Budget;

/// The paths by their index.
pub(super) struct PathTree {
    nodes: Vec<Option<PathNode>>,
}

/// A path as its parent and its last part.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathNode {
    /// `None` for the root.
    pub(super) parent: Option<u32>,
    /// The token of its last part.
    pub(super) element: u32,
    pub(super) is_property: bool,
}

/// One entry of the list of paths.
struct Entries {
    paths: Vec<u32>,
    elements: Vec<u32>,
    jumps: Vec<u32>,
}

impl PathTree {
    pub(super) fn read(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Self, ReadError> {
        let what = "the paths";
        let total = count(cursor, what)?;
        let number = count(cursor, what)?;
        if number > total {
            return Err(damaged(format!("it lists {number} of {total} paths")));
        }

        let entries = Entries {
            paths: indices(cursor, number, budget, what)?,
            elements: indices(cursor, number, budget, what)?,
            jumps: indices(cursor, number, budget, what)?,
        };
        budget.spend(usize::try_from(total).unwrap_or(usize::MAX), what)?;
        Self::of(&entries, total as usize)
    }

    fn of(entries: &Entries, total: usize) -> Result<Self, ReadError> {
        let mut nodes: Vec<Option<PathNode>> = vec![None; total];
        let mut visited = vec![false; entries.paths.len()];
        let mut pending = Vec::new();
        if !entries.paths.is_empty() {
            pending.push((0, None));
        }

        // Each entry and each path may occur once, so that jumps cannot form cycles.
        while let Some((first, mut parent)) = pending.pop() {
            let mut at: usize = first;
            loop {
                let new = visited.get(at) == Some(&false);
                let path = entries.paths.get(at).copied().unwrap_or(u32::MAX);
                let slot = nodes.get_mut(path as usize).filter(|slot| slot.is_none());
                let (true, Some(slot)) = (new, slot) else {
                    return Err(damaged("its list of paths contradicts itself"));
                };
                visited[at] = true;
                *slot = Some(path_node(parent, entries.elements[at]));

                let jump = entries.jumps[at] as i32;
                let has_child = jump > 0 || jump == -1;
                if has_child && jump > 0 {
                    pending.push((at + jump as usize, parent));
                }
                if has_child {
                    parent = Some(path);
                } else if jump != 0 {
                    break;
                }
                at += 1;
            }
        }

        Ok(Self { nodes })
    }

    pub(super) fn of_nodes(nodes: Vec<Option<PathNode>>) -> Self {
        Self { nodes }
    }

    pub(super) fn node(&self, index: u32) -> Result<PathNode, ReadError> {
        let node = self.nodes.get(index as usize).copied().flatten();
        node.ok_or_else(|| damaged(format!("it names path {index}, which does not exist")))
    }

    /// The number of path indices.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The text of a path.
    pub(super) fn text(&self, index: u32, tokens: &[String]) -> Result<String, ReadError> {
        let mut parts: Vec<(&str, &str)> = Vec::new();
        let mut length = 0;
        let mut node = self.node(index)?;
        while let Some(parent) = node.parent {
            let element = tokens.get(node.element as usize);
            let element = element.ok_or_else(|| damaged("a path names a token out of range"))?;
            let separator = match element.as_bytes().first() {
                _ if node.is_property => ".",
                Some(b'{' | b'[') => "",
                _ => "/",
            };
            length += separator.len() + element.len();
            if length > LONGEST_PATH {
                return Err(ReadError::whole(format!(
                    "the path of a prim has more than {LONGEST_PATH} bytes; shorten the names of its parents"
                )));
            }
            parts.push((separator, element));
            node = self.node(parent)?;
        }

        if parts.is_empty() {
            return Ok("/".into());
        }
        let parts = parts.iter().rev().flat_map(|(a, b)| [*a, *b]);
        Ok(parts.collect())
    }
}

fn path_node(parent: Option<u32>, element: u32) -> PathNode {
    let element = element as i32;
    PathNode {
        parent,
        element: element.unsigned_abs(),
        is_property: element < 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(jumps: &[i32]) -> Result<PathTree, ReadError> {
        let count = jumps.len();
        let entries = Entries {
            paths: (0..count as u32).collect(),
            elements: (0..count as u32).collect(),
            jumps: jumps.iter().map(|&jump| jump as u32).collect(),
        };
        PathTree::of(&entries, count)
    }

    #[test]
    fn jumps_give_children_and_siblings() {
        let tokens = ["", "a", "b", "c", "d"].map(String::from);
        // The root; a with child b, and its sibling c with child d.
        let tree = tree(&[-1, 2, -2, -1, -2]).unwrap();
        let texts = (0..5).map(|k| tree.text(k, &tokens).unwrap());
        assert_eq!(texts.collect::<Vec<_>>(), ["/", "/a", "/a/b", "/c", "/c/d"]);
    }

    #[test]
    fn jumps_that_lead_back_or_out_are_errors() {
        assert!(tree(&[-1, 0, -2]).is_ok());
        for bad in [&[-1, 1, 0][..], &[-1, 7, -2], &[0, 0], &[1, -1, -2]] {
            assert!(tree(bad).is_err(), "{bad:?}");
        }
    }
}
