//! Edges, triangles and hinges between numbered nodes.

use std::collections::BTreeMap;

/// Connected nodes, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections {
    pub(crate) edges: Vec<[u32; 2]>,
    /// The area of the triangles at each edge.
    pub(crate) edge_areas: Vec<f64>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Both ends of an edge with two triangles, then their third corners.
    pub(crate) hinges: Vec<[u32; 4]>,
}

impl Connections {
    /// The connections of nodes with one owner out of `count`, by owner, and those of nodes with
    /// several owners. Nodes without an owner do not count.
    pub(crate) fn split(
        &self,
        count: usize,
        owner_of: impl Fn(u32) -> Option<u32>,
    ) -> (Vec<Self>, Self) {
        let mut owned = vec![Self::default(); count];
        let mut shared = Self::default();

        for (edge, area) in self.edges.iter().zip(&self.edge_areas) {
            let target = match sole_owner(edge, &owner_of) {
                Some(owner) => &mut owned[owner as usize],
                None => &mut shared,
            };
            target.edges.push(*edge);
            target.edge_areas.push(*area);
        }
        for triangle in &self.triangles {
            match sole_owner(triangle, &owner_of) {
                Some(owner) => owned[owner as usize].triangles.push(*triangle),
                None => shared.triangles.push(*triangle),
            }
        }
        for hinge in &self.hinges {
            match sole_owner(hinge, &owner_of) {
                Some(owner) => owned[owner as usize].hinges.push(*hinge),
                None => shared.hinges.push(*hinge),
            }
        }

        (owned, shared)
    }

    /// The same connections in another numbering.
    pub(crate) fn renumbered(&self, numbering: &mut Numbering) -> Self {
        Self {
            edges: numbering.all(&self.edges),
            edge_areas: self.edge_areas.clone(),
            triangles: numbering.all(&self.triangles),
            hinges: numbering.all(&self.hinges),
        }
    }
}

/// The owner of all nodes that have one; `None` where there are several owners, or none.
fn sole_owner(nodes: &[u32], owner_of: &impl Fn(u32) -> Option<u32>) -> Option<u32> {
    let mut owners = nodes.iter().filter_map(|&node| owner_of(node));
    let first = owners.next()?;
    owners.all(|owner| owner == first).then_some(first)
}

/// Consecutive numbers for items, in the order of their first use.
#[derive(Debug, Clone)]
pub(crate) struct Numbering {
    number_of: BTreeMap<u32, u32>,
    items: Vec<u32>,
}

impl Numbering {
    /// `first` have the first numbers.
    pub(crate) fn starting_with(first: &[u32]) -> Self {
        Self {
            number_of: first.iter().copied().zip(0..).collect(),
            items: first.to_vec(),
        }
    }

    /// The items in the order of their numbers.
    pub(crate) fn into_items(self) -> Vec<u32> {
        self.items
    }

    fn all<const N: usize>(&mut self, elements: &[[u32; N]]) -> Vec<[u32; N]> {
        elements
            .iter()
            .map(|element| element.map(|item| self.number(item)))
            .collect()
    }

    fn number(&mut self, item: u32) -> u32 {
        *self.number_of.entry(item).or_insert_with(|| {
            self.items.push(item);
            self.items.len() as u32 - 1
        })
    }
}
