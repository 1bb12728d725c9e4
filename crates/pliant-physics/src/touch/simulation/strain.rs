//! Strain of the simulated skin.
//!
//! **Problem.** Show where skin is stretched most, in a number that depends on neither unit nor
//! resolution.
//!
//! **Equation.** At a soft vertex, the value of `ℓ / ℓ₀ − 1` over its edges with the largest
//! magnitude, with the lengths `ℓ₀` of the animated shape.
//!
//! **Departures.** An edge of zero length has no strain.

use super::Touch;

impl Touch {
    /// The largest strain of an edge at each soft vertex, in the order of the
    /// [region](Self::region): positive where it is longer than in the animated shape, negative
    /// where it is shorter.
    #[must_use]
    pub fn strains(&self) -> Vec<f64> {
        let mut strains = vec![0.0_f64; self.part.soft_count];
        for edge in &self.part.connections.edges {
            let [a, b] = edge.map(|node| self.part.vertices[node as usize] as usize);
            let at_rest = self.rest[a].distance(self.rest[b]);
            if at_rest == 0.0 {
                continue;
            }

            let strain = self.positions[a].distance(self.positions[b]) / at_rest - 1.0;
            for &node in edge {
                // Held ends, which come after the soft ones, have no entry.
                if let Some(most) = strains
                    .get_mut(node as usize)
                    .filter(|most| strain.abs() > most.abs())
                {
                    *most = strain;
                }
            }
        }

        strains
    }
}

#[cfg(test)]
mod tests {
    use crate::{SoftPatch, Touch, TouchFrame, TouchOptions};
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn skin_at_rest_has_no_strain_and_a_pulled_vertex_has_the_strain_of_its_longest_edge() {
        let ball = icosphere(3);
        let mut touch = Touch::new(
            &ball,
            &[SoftPatch {
                center: 7.into(),
                radius: 0.6,
            }],
            &TouchOptions::default(),
        )
        .unwrap();

        assert!(touch.strains().iter().all(|strain| *strain == 0.0));
        let pulled = ball.positions()[7] * 1.3;
        for _ in 0..30 {
            touch
                .step(&TouchFrame {
                    shape: None,
                    colliders: &[],
                    pulls: &[(7, pulled)],
                    secs: 1.0 / 60.0,
                })
                .unwrap();
        }

        // The expected strain from the edges of the mesh.
        let neighbours = ball
            .topology()
            .edges()
            .iter()
            .filter(|edge| edge.contains(&7));

        let strain = |edge: &[u32; 2]| {
            let length = |places: &[pliant_mesh::glam::DVec3]| {
                places[edge[0] as usize].distance(places[edge[1] as usize])
            };
            length(touch.positions()) / length(ball.positions()) - 1.0
        };

        let expected =
            neighbours.map(strain).fold(
                0.0,
                |most: f64, one| if one.abs() > most.abs() { one } else { most },
            );
        let found = touch.strains()[touch.region().node_of(7).unwrap()];

        assert!(
            expected > 0.05 && (found - expected).abs() < 1e-12,
            "{found} for {expected}"
        );
    }
}
