//! A shape between shapes in a few numbers: what shrank, what is strained, and what is inside
//! something.
//!
//! **Equation.** Area and volume are shares of the weighted means `Σ wₛ Aₛ` and `Σ wₛ Vₛ` of the
//! shapes that are blended: 1 lost nothing. The strain is the mean of the vertices', whichever way,
//! see [`vertex_strains`](crate::vertex_strains).

use pliant_mesh::Mesh;

use crate::Obstacle;

/// A blend in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BlendFigures {
    /// Its area as a share of the shapes', weighted as they are.
    pub area: f64,
    /// The same of its volume; `None` where the shapes enclose none.
    pub volume: Option<f64>,
    /// The mean of how far vertices are stretched or pressed, whichever way.
    pub strain: f64,
    /// How deep a vertex is inside an obstacle, at most.
    pub depth: f64,
    /// Vertices inside obstacles, deeper than touching.
    pub inside: usize,
}

impl BlendFigures {
    /// Deeper than this part of the mean edge is inside, less is touching: ours, a tenth of what is
    /// seen.
    pub const TOUCHING: f64 = 1e-3;

    /// The figures of a shape with the strains of its vertices; `sizes` are area and volume of the
    /// shapes it is blended from.
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
        let closed = mesh.topology().is_closed() && mean(1) != 0.0;
        let touching = Self::TOUCHING * mesh.mean_edge_length();
        let contacts = obstacles
            .iter()
            .flat_map(|obstacle| obstacle.contacts(mesh.positions(), 0.0));
        let depths: Vec<f64> = contacts
            .map(|contact| contact.depth)
            .filter(|depth| *depth > touching)
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
    fn a_box_that_shrank_evenly_lost_its_square_of_area_and_its_cube_of_volume() {
        let whole = closed_box([4, 3, 2], DVec3::new(2.0, 1.5, 1.0));
        let shrunk = whole
            .posed(whole.positions().iter().map(|p| *p * 0.5).collect())
            .unwrap();
        let sizes = [[whole.area(), whole.signed_volume()]; 2];
        let figures = BlendFigures::of(&shrunk, &[-0.5, 0.5], &[0.25, 0.75], &sizes, &[]);
        assert!(
            (figures.area - 0.25).abs() < 1e-12 && (figures.volume.unwrap() - 0.125).abs() < 1e-12
        );
        assert_eq!(
            (figures.strain, figures.depth, figures.inside),
            (0.5, 0.0, 0)
        );
    }

    #[test]
    fn vertices_on_an_obstacle_touch_it_and_those_within_are_inside() {
        let cube = closed_box([1, 1, 1], DVec3::ONE);
        let sizes = [[cube.area(), cube.signed_volume()]];
        let corner = cube.positions()[0];
        let figures = |radius: f64, away: f64| {
            let ball =
                Obstacle::sphere(corner + corner.normalize_or(DVec3::X) * away, radius).unwrap();
            BlendFigures::of(&cube, &[0.0; 8], &[1.0], &sizes, &[ball])
        };
        assert_eq!(figures(0.1, 0.1).inside, 0);
        let inside = figures(0.1, 0.04);
        assert!(
            inside.inside == 1 && (inside.depth - 0.06).abs() < 1e-9,
            "{inside:?}"
        );
    }
}
