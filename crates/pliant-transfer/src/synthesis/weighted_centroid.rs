//! Weighted centroid: a weighted mean of vertices that can be evaluated in any pose.

use pliant_mesh::glam::DVec3;

/// Vertices with weights of sum one; empty if there is nothing to weigh.
#[derive(Debug, Clone, Default)]
pub(crate) struct WeightedCentroid {
    vertices: Vec<(u32, f64)>,
}

impl WeightedCentroid {
    /// The weighted mean of the centroids of some triangles; the weights are divided by their sum.
    pub(crate) fn of_triangles(
        triangles: &[[u32; 3]],
        weighted: impl Iterator<Item = (u32, f64)>,
    ) -> Self {
        let mut corners: Vec<(u32, f64)> = weighted
            .flat_map(|(t, weight)| triangles[t as usize].map(|v| (v, weight / 3.0)))
            .collect();
        let total: f64 = corners.iter().map(|&(_, weight)| weight).sum();
        if total <= 0.0 {
            return Self::default();
        }

        // A stable sort: weights of one vertex are summed in the order given.
        corners.sort_by_key(|&(v, _)| v);
        let mut vertices: Vec<(u32, f64)> = Vec::new();
        for (v, weight) in corners {
            match vertices.last_mut() {
                Some(last) if last.0 == v => last.1 += weight / total,
                _ => vertices.push((v, weight / total)),
            }
        }
        Self { vertices }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// The centroid in the pose `positions`.
    pub(crate) fn at(&self, positions: impl Fn(usize) -> DVec3) -> DVec3 {
        self.vertices
            .iter()
            .map(|&(v, weight)| positions(v as usize) * weight)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_weighted_mean_of_triangle_centroids() {
        let points = [
            DVec3::ZERO,
            DVec3::X * 3.0,
            DVec3::Y * 3.0,
            DVec3::ONE * 3.0,
        ];

        let centroid = WeightedCentroid::of_triangles(
            &[[0, 1, 2], [1, 3, 2]],
            [(0, 1.0), (1, 3.0)].into_iter(),
        );
        let expected = DVec3::new(1.0, 1.0, 0.0) * 0.25 + DVec3::new(2.0, 2.0, 1.0) * 0.75;
        assert!(centroid.at(|v| points[v]).distance(expected) < 1e-15);
        assert!(WeightedCentroid::of_triangles(&[[0, 1, 2]], std::iter::empty()).is_empty());
        assert!(
            WeightedCentroid::of_triangles(&[[0, 1, 2]], [(0, 0.0)].into_iter()).is_empty(),
            "nothing to weigh"
        );
    }
}
