//! Which source triangles a target triangle takes its deformation from.
//!
//! **Form.** Compressed rows: for each target triangle some source triangles with weights of sum
//! one, or none where the target has a part that the source lacks.

use pliant_mesh::Mesh;

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
    /// Weights that are not positive numbers are left out; a row without any has no source.
    #[must_use]
    pub fn new<R: AsRef<[(u32, f64)]>>(rows: impl IntoIterator<Item = R>) -> Self {
        let (mut starts, mut sources) = (vec![0], Vec::new());
        for row in rows {
            let good = |&&(_, weight): &&(u32, f64)| weight > 0.0 && weight.is_finite();
            let total: f64 = row
                .as_ref()
                .iter()
                .filter(good)
                .map(|&(_, weight)| weight)
                .sum();
            sources.extend(
                row.as_ref()
                    .iter()
                    .filter(good)
                    .map(|&(triangle, weight)| (triangle, weight / total)),
            );
            starts.push(sources.len());
        }
        Self { starts, sources }
    }

    /// The map of a mesh of `triangles` triangles onto itself.
    #[must_use]
    pub fn identity(triangles: usize) -> Self {
        Self {
            starts: (0..=triangles).collect(),
            sources: (0..triangles as u32).map(|t| (t, 1.0)).collect(),
        }
    }

    /// The sources of one target triangle; empty where it has none.
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

    /// The highest source triangle that is named.
    #[must_use]
    pub fn highest_source(&self) -> Option<u32> {
        self.sources.iter().map(|&(triangle, _)| triangle).max()
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
        let mut taken_from: Vec<u32> = (0..self.len() as u32).collect();
        let mut has_source: Vec<bool> = (0..self.len()).map(|t| !self.row(t).is_empty()).collect();
        let mut reached: Vec<u32> = (0..self.len() as u32)
            .filter(|&t| has_source[t as usize])
            .collect();
        let mut next = 0;
        while next < reached.len() && reached.len() < self.len() {
            let t = reached[next];
            next += 1;
            for &neighbor in target.triangles()[t as usize]
                .iter()
                .flat_map(|&v| around.row(v as usize))
            {
                if !std::mem::replace(&mut has_source[neighbor as usize], true) {
                    taken_from[neighbor as usize] = taken_from[t as usize];
                    reached.push(neighbor);
                }
            }
        }
        Self::new(taken_from.iter().map(|&t| self.row(t as usize)))
    }

    /// The weighted mean of a source quantity (one value per source triangle) on every target
    /// triangle; `missing` where it has no source.
    ///
    /// # Panics
    /// If the map names a triangle beyond `source_values`.
    #[must_use]
    pub fn carry(&self, source_values: &[f64], missing: f64) -> Vec<f64> {
        let mean = |row: &[(u32, f64)]| {
            row.iter()
                .map(|&(s, weight)| weight * source_values[s as usize])
                .sum()
        };
        (0..self.len())
            .map(|t| {
                if self.row(t).is_empty() {
                    missing
                } else {
                    mean(self.row(t))
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_row_sum_to_one_and_useless_ones_are_left_out() {
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
    fn triangles_without_a_source_take_that_of_the_nearest_neighbor_on_their_shell() {
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
