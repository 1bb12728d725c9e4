//! Disjoint sets that are merged pair by pair (union-find).
//!
//! **Method.** Every set is a tree whose root is its lowest member; `find` compresses paths.
//!
//! **Source.** Tarjan, "Efficiency of a good but not linear set union algorithm", 1975.
//!
//! **Departures.** Roots are the lowest members instead of those of higher rank, so that sets have
//! the same names for every order of the merges.

/// A partition of the items `0..count` into sets.
#[derive(Debug, Clone)]
pub struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Every item in a set of its own.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
        }
    }

    /// The lowest member of the set that holds `item`.
    pub fn find(&mut self, item: u32) -> u32 {
        let mut root = item;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }

        // Path compression: every item on the path now points at the root.
        let mut next = item;
        while next != root {
            next = std::mem::replace(&mut self.parent[next as usize], root);
        }
        root
    }

    /// Merges the sets of two items; `false` if both were in one set already.
    pub fn merge(&mut self, a: u32, b: u32) -> bool {
        let root_a = self.find(a);
        let root_b = self.find(b);
        self.parent[root_a.max(root_b) as usize] = root_a.min(root_b);
        root_a != root_b
    }

    /// For each item the index of its set, and how many sets there are. Sets are in the order of
    /// their lowest members.
    #[must_use]
    pub fn into_labels(mut self) -> (Vec<u32>, usize) {
        let mut count = 0;
        let mut labels = vec![0; self.parent.len()];
        for item in 0..self.parent.len() as u32 {
            let root = self.find(item);
            if root == item {
                labels[item as usize] = count;
                count += 1;
            } else {
                labels[item as usize] = labels[root as usize];
            }
        }
        (labels, count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_labelled_in_the_order_of_their_lowest_members() {
        let mut sets = DisjointSets::new(5);
        assert!(sets.merge(4, 1));
        assert!(sets.merge(3, 2));
        assert!(!sets.merge(1, 4));
        assert_eq!(sets.into_labels(), (vec![0, 1, 2, 2, 1], 3));
    }

    #[test]
    fn labels_do_not_depend_on_the_order_of_merges() {
        let pairs = [[0, 5], [5, 3], [2, 4], [3, 9], [7, 8], [8, 2]];
        let mut forward = DisjointSets::new(10);
        let mut backward = DisjointSets::new(10);
        for [a, b] in pairs {
            forward.merge(a, b);
        }
        for [a, b] in pairs.into_iter().rev() {
            backward.merge(b, a);
        }
        assert_eq!(forward.into_labels(), backward.into_labels());
    }
}
