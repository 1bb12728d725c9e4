//! Area, volume, strain and penetration of a blended shape.
//!
//! **Equation.** Area and volume are relative to the weighted means `Σ wₛ Aₛ` and `Σ wₛ Vₛ` of the
//! blended shapes: 1 means no loss. The strain is the mean of the absolute vertex strains, see
//! [`vertex_strains`](crate::vertex_strains).

use pliant_mesh::Mesh;

use crate::Obstacle;

/// Measures of a blended shape.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BlendMetrics {
    /// Area relative to the weighted mean of the shapes.
    pub area: f64,
    /// Volume relative to the weighted mean of the shapes; `None` where the shapes are not closed.
    pub volume: Option<f64>,
    /// Mean absolute strain of the vertices.
    pub strain: f64,
    /// The largest penetration of a vertex into an obstacle.
    pub depth: f64,
    /// Number of vertices inside obstacles.
    pub inside: usize,
}

impl BlendMetrics {
    /// A smaller depth, relative to the mean edge, is contact and not penetration. Chosen: a tenth
    /// of what is visible.
    pub const CONTACT_DEPTH: f64 = 1e-3;

    /// The measures of a shape with the given vertex strains; `sizes` are area and volume of the
    /// blended shapes.
    #[must_use]
    pub fn of(
        mesh: &Mesh,
        strains: &[f64],
        weights: &[f64],
        sizes: &[[f64; 2]],
        obstacles: &[Obstacle],
    ) -> Self {
        let mean = |k: usize| {
            weights
                .iter()
                .zip(sizes)
                .map(|(weight, size)| weight * size[k])
                .sum::<f64>()
        };

        // A volume needs a closed surface.
        let closed = mesh.topology().is_closed() && mean(1) != 0.0;
        let least_depth = Self::CONTACT_DEPTH * mesh.mean_edge_length();
        let contacts = obstacles
            .iter()
            .flat_map(|obstacle| obstacle.contacts(mesh.positions(), 0.0));
        let depths: Vec<f64> = contacts
            .map(|contact| contact.depth)
            .filter(|depth| *depth > least_depth)
            .collect();

        Self {
            area: mesh.area() / mean(0),
            volume: closed.then(|| mesh.signed_volume() / mean(1)),
            strain: strains.iter().map(|strain| strain.abs()).sum::<f64>()
                / strains.len().max(1) as f64,
            depth: depths.iter().copied().fold(0.0, f64::max),
            inside: depths.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes::closed_box;

    #[test]
    fn the_area_of_a_scaled_box_changes_by_the_square_and_its_volume_by_the_cube() {
        let whole = closed_box([4, 3, 2], DVec3::new(2.0, 1.5, 1.0));
        let shrunk = whole
            .posed(whole.positions().iter().map(|p| *p * 0.5).collect())
            .unwrap();
        let sizes = [[whole.area(), whole.signed_volume()]; 2];
        let figures = BlendMetrics::of(&shrunk, &[-0.5, 0.5], &[0.25, 0.75], &sizes, &[]);

        assert!(
            (figures.area - 0.25).abs() < 1e-12 && (figures.volume.unwrap() - 0.125).abs() < 1e-12
        );
        assert_eq!(
            (figures.strain, figures.depth, figures.inside),
            (0.5, 0.0, 0)
        );
    }

    #[test]
    fn vertices_on_an_obstacle_are_in_contact_and_deeper_ones_are_inside() {
        let cube = closed_box([1, 1, 1], DVec3::ONE);
        let sizes = [[cube.area(), cube.signed_volume()]];
        let corner = cube.positions()[0];
        let figures = |radius: f64, away: f64| {
            let ball =
                Obstacle::sphere(corner + corner.normalize_or(DVec3::X) * away, radius).unwrap();
            BlendMetrics::of(&cube, &[0.0; 8], &[1.0], &sizes, &[ball])
        };

        assert_eq!(figures(0.1, 0.1).inside, 0);
        let inside = figures(0.1, 0.04);
        assert!(
            inside.inside == 1 && (inside.depth - 0.06).abs() < 1e-9,
            "{inside:?}"
        );
    }
}
