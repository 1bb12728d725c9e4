//! Values per triangle averaged to values per vertex.

use crate::Mesh;

impl Mesh {
    /// The mean of the values of the triangles around each vertex; NaN where there is none, and
    /// where one of them has no value.
    ///
    /// # Panics
    /// If there are fewer values than triangles.
    #[must_use]
    pub fn vertex_means(&self, of_triangles: &[f64]) -> Vec<f64> {
        let around = self.topology().vertex_triangles();
        let mean = |vertex: usize| {
            let row = around.row(vertex);
            row.iter()
                .map(|&triangle| of_triangles[triangle as usize])
                .sum::<f64>()
                / row.len() as f64
        };
        (0..self.vertex_count()).map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::Mesh;
    use crate::shapes::icosphere;
    use glam::DVec3;

    #[test]
    fn a_constant_is_kept_and_nan_in_a_triangle_reaches_its_corners() {
        let mesh = icosphere(1);
        let mut values = vec![2.5; mesh.triangles().len()];
        assert!(mesh.vertex_means(&values).iter().all(|&value| value == 2.5));
        values[0] = f64::NAN;

        let without = mesh
            .vertex_means(&values)
            .iter()
            .filter(|value| value.is_nan())
            .count();

        assert_eq!(without, 3);
    }

    #[test]
    fn a_vertex_without_triangles_has_no_value() {
        let places = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let mesh = Mesh::from_triangles(places, &[[0, 1, 2]]).unwrap();
        let means = mesh.vertex_means(&[4.0]);
        assert!(means[..3] == [4.0; 3] && means[3].is_nan());
    }
}
