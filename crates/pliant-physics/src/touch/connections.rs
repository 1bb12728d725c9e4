//! Edges, triangles and hinges between numbered things.

use std::collections::BTreeMap;

/// What is connected, by number.
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
    /// Those whose numbers have one owner out of `count`, by owner, and those with several. What
    /// has no owner is passed over.
    pub(crate) fn split(
        &self,
        count: usize,
        owner_of: impl Fn(u32) -> Option<u32>,
    ) -> (Vec<Self>, Self) {
        let (mut owned, mut shared) = (vec![Self::default(); count], Self::default());
        let mut give = |numbers: &[u32], add: &dyn Fn(&mut Self)| {
            let mut owners = numbers.iter().filter_map(|&number| owner_of(number));
            let first = owners.next();
            match first.filter(|first| owners.all(|owner| owner == *first)) {
                Some(owner) => add(&mut owned[owner as usize]),
                None => add(&mut shared),
            }
        };
        for (edge, area) in self.edges.iter().zip(&self.edge_areas) {
            give(edge, &|c| {
                c.edges.push(*edge);
                c.edge_areas.push(*area);
            });
        }
        self.triangles
            .iter()
            .for_each(|triangle| give(triangle, &|c| c.triangles.push(*triangle)));
        self.hinges
            .iter()
            .for_each(|hinge| give(hinge, &|c| c.hinges.push(*hinge)));
        (owned, shared)
    }

    /// The same with other numbers.
    pub(crate) fn renumbered(&self, numbering: &mut Numbering) -> Self {
        Self {
            edges: numbering.all(&self.edges),
            edge_areas: self.edge_areas.clone(),
            triangles: numbering.all(&self.triangles),
            hinges: numbering.all(&self.hinges),
        }
    }
}

/// Numbers for things in the order in which they are met.
#[derive(Debug, Clone)]
pub(crate) struct Numbering {
    number_of: BTreeMap<u32, u32>,
    things: Vec<u32>,
}

impl Numbering {
    /// `first` have the first numbers.
    pub(crate) fn beginning_with(first: &[u32]) -> Self {
        Self {
            number_of: first.iter().copied().zip(0..).collect(),
            things: first.to_vec(),
        }
    }

    /// The things in the order of their numbers.
    pub(crate) fn into_things(self) -> Vec<u32> {
        self.things
    }

    fn all<const N: usize>(&mut self, elements: &[[u32; N]]) -> Vec<[u32; N]> {
        elements
            .iter()
            .map(|element| element.map(|thing| self.number(thing)))
            .collect()
    }

    fn number(&mut self, thing: u32) -> u32 {
        *self.number_of.entry(thing).or_insert_with(|| {
            self.things.push(thing);
            self.things.len() as u32 - 1
        })
    }
}
