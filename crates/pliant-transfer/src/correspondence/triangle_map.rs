//! Triangle map: the source triangles from which a target triangle takes its deformation.
//!
//! **Implementation.** Compressed rows: for each target triangle its source triangles, with weights
//! of sum one; no source if the target has a part that the source lacks.

use pliant_mesh::Mesh;

use crate::TransferError;

/// For each target triangle the source triangles whose deformation it takes, with weights of sum
/// one.
#[derive(Debug, Clone, PartialEq)]
pub struct TriangleMap {
    starts: Vec<usize>,
    sources: Vec<(u32, f64)>,
}

impl TriangleMap {
    /// A map from one row of `(source triangle, weight)` per target triangle; weights are divided
    /// by their sum.
    ///
    /// Weights that are not positive and finite are left out; a row without any has no source.
    #[must_use]
    pub fn new<R: AsRef<[(u32, f64)]>>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut map = Self {
            starts: vec![0],
            sources: Vec::new(),
        };
        for row in rows {
            map.push_row(row.as_ref());
        }
        map
    }

    fn push_row(&mut self, row: &[(u32, f64)]) {
        let start = self.sources.len();
        for &(triangle, weight) in row {
            if weight > 0.0 && weight.is_finite() {
                self.sources.push((triangle, weight));
            }
        }

        let added = &mut self.sources[start..];
        let total: f64 = added.iter().map(|&(_, weight)| weight).sum();
        for (_, weight) in added {
            *weight /= total;
        }
        self.starts.push(self.sources.len());
    }

    /// The map of a mesh of `triangles` triangles onto itself.
    #[must_use]
    pub fn identity(triangles: usize) -> Self {
        Self {
            starts: (0..=triangles).collect(),
            sources: (0..triangles as u32).map(|t| (t, 1.0)).collect(),
        }
    }

    /// The sources of one target triangle; empty if it has none.
    #[must_use]
    #[inline]
    pub fn row(&self, target_triangle: usize) -> &[(u32, f64)] {
        &self.sources[self.starts[target_triangle]..self.starts[target_triangle + 1]]
    }

    /// Number of target triangles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no target triangle.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[(u32, f64)]> {
        (0..self.len()).map(|t| self.row(t))
    }

    /// The highest source triangle in the map.
    #[must_use]
    pub fn highest_source(&self) -> Option<u32> {
        self.sources.iter().map(|&(triangle, _)| triangle).max()
    }

    /// Rejects a map that names triangles beyond those of `source`.
    pub(crate) fn check_source(&self, source: &Mesh) -> Result<(), TransferError> {
        let triangles = source.triangles().len();
        match self.highest_source() {
            Some(highest) if highest as usize >= triangles => {
                Err(TransferError::NoSuchSourceTriangle {
                    triangle: highest as usize,
                    triangles,
                })
            }
            _ => Ok(()),
        }
    }

    /// The same map with a source for every triangle that is connected to one with a source: that
    /// of the nearest, by steps from triangle to triangle over common vertices of `target`.
    ///
    /// # Panics
    /// If `target` has another number of triangles than the map.
    #[must_use]
    pub fn filled(&self, target: &Mesh) -> Self {
        assert_eq!(self.len(), target.triangles().len(), "a map of this target");
        let around = target.topology().vertex_triangles();
        let mut has_source: Vec<bool> = self.rows().map(|row| !row.is_empty()).collect();
        let mut taken_from: Vec<u32> = (0..self.len() as u32).collect();
        let mut reached: Vec<u32> = (0..self.len() as u32)
            .filter(|&t| has_source[t as usize])
            .collect();

        // Breadth-first search from all triangles with a source.
        let mut next = 0;
        while next < reached.len() && reached.len() < self.len() {
            let t = reached[next] as usize;
            next += 1;
            for &v in &target.triangles()[t] {
                for &neighbor in around.row(v as usize) {
                    if !std::mem::replace(&mut has_source[neighbor as usize], true) {
                        taken_from[neighbor as usize] = taken_from[t];
                        reached.push(neighbor);
                    }
                }
            }
        }

        Self::new(taken_from.iter().map(|&t| self.row(t as usize)))
    }

    /// The weighted mean of a source quantity (one value per source triangle) on every target
    /// triangle; `missing` if it has no source.
    ///
    /// # Panics
    /// If the map names a triangle beyond `source_values`.
    #[must_use]
    pub fn carry(&self, source_values: &[f64], missing: f64) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.len());
        for row in self.rows() {
            // Weights sum to one, so this is a mean.
            let weighted = row
                .iter()
                .map(|&(s, weight)| weight * source_values[s as usize]);
            values.push(if row.is_empty() {
                missing
            } else {
                weighted.sum()
            });
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_row_sum_to_one_and_weights_that_are_not_positive_are_left_out() {
        let map = TriangleMap::new([
            vec![(3, 1.0), (5, 3.0), (6, 0.0), (7, f64::NAN)],
            vec![],
            vec![(1, -1.0)],
        ]);
        assert_eq!(map.row(0), &[(3, 0.25), (5, 0.75)]);
        assert!(map.row(1).is_empty() && map.row(2).is_empty());
        assert_eq!((map.len(), map.highest_source()), (3, Some(5)));
    }

    #[test]
    fn triangles_without_a_source_take_that_of_the_nearest_neighbor_on_their_component() {
        let sheet = pliant_mesh::shapes::bumpy_sheet(4, 0.1);
        let mut builder = sheet.to_builder();
        builder.positions.extend([pliant_mesh::glam::DVec3::ONE; 3]);
        builder.push_face(&[25, 26, 27]);

        let mesh = builder.build().unwrap();
        let map = TriangleMap::new((0..33).map(|t| {
            if t == 0 || t == 31 {
                vec![(t, 1.0)]
            } else {
                vec![]
            }
        }))
        .filled(&mesh);

        assert!((0..32).all(|t| matches!(map.row(t), [(0 | 31, 1.0)])));
        assert_eq!(
            (map.row(1), map.row(30)),
            ([(0, 1.0)].as_slice(), [(31, 1.0)].as_slice())
        );
        assert!(map.row(32).is_empty());
    }

    #[test]
    fn the_identity_carries_a_quantity_unchanged() {
        let values = [3.0, 1.0, 4.0];
        assert_eq!(TriangleMap::identity(3).carry(&values, 9.0), values);
        assert_eq!(
            TriangleMap::new([vec![(0, 1.0), (2, 1.0)], vec![]]).carry(&values, 9.0),
            [3.5, 9.0]
        );
    }
}
