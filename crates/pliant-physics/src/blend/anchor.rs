//! Rigid anchor that removes the rigid modes of a shape, so that its whole surface moves freely.
//!
//! **Problem.** Springs determine lengths, not positions: without a boundary condition the rigid
//! motion of a blend is undefined, and vertices that a user fixes move along straight lines.
//!
//! **Equation.** Six corners of a rigid octahedron are joined by springs to a region of the shape.
//! In shape `s` the octahedron is placed by the best fit of the mean region, `vˢ ≈ Rₛ p + tₛ`.
//! Between the shapes it is placed at
//!
//! ```text
//! R̄ = mean of the Rₛ        t̄ = Σₛ wₛ tₛ
//! ```
//!
//! The equilibrium is solved in the frame of the octahedron, where its corners are fixed, and then
//! moved to `R̄ x + t̄`.
//!
//! **Source.** Ma et al. 2012, section 3.4, steps 1–5 and figure 4; the mean region: Gower,
//! "Generalized Procrustes analysis", 1975.
//!
//! **Departures.** The region lies in the middle of all shapes; every shape has the same part in
//! it, and the corners lie along directions that rotate with the mean region, so the order of the
//! shapes does not matter. The search of Ma et al. for the placement in the target (the target
//! fixed, the anchor free) becomes a rigid fit, since the anchor is rigid. Its springs have the
//! usual stiffness: a rigid object that is held needs no more.

use std::collections::VecDeque;

use pliant_linalg::{LinalgError, RigidMotion};
use pliant_mesh::glam::{DQuat, DVec3};

use crate::blend::energy::SpringEnergy;
use crate::blend::interior::ComponentFrame;
use crate::blend::rotation_vector::{interpolated, mean_rotation};

/// The rigid anchor of one connected component.
#[derive(Debug, Clone)]
pub(crate) struct Anchor {
    /// Vertices of the shape that are joined to it, the middle one first.
    pub(crate) region: Vec<u32>,
    /// From its own frame to its placement in each shape.
    placements: Vec<RigidMotion>,
    /// From its centre to its corners.
    reach: f64,
}

/// Corners of the octahedron.
pub(crate) const CORNERS: usize = 6;
/// The region's share of its component and the bounds of its size. Chosen: more vertices hold
/// rotations better but constrain more of the shape.
const REGION_SHARE: f64 = 0.05;
const REGION_SIZE: std::ops::RangeInclusive<usize> = 12..=200;
/// Rounds of the Procrustes mean, which converges with the square of the differences.
const PROCRUSTES_ROUNDS: usize = 10;

impl Anchor {
    /// An anchor around `seeds`, or around the middle of `part` without any. `network` gives the
    /// neighbours.
    pub(crate) fn place(
        component: &[u32],
        seeds: &[u32],
        network: &SpringEnergy,
        shapes: &[Vec<DVec3>],
    ) -> Result<Self, LinalgError> {
        let middle = [middle_vertex(component, shapes)];
        let seeds = if seeds.is_empty() { &middle } else { seeds };

        // The region grows from the seeds over the spring network.
        let size = ((REGION_SHARE * component.len() as f64) as usize)
            .clamp(*REGION_SIZE.start(), *REGION_SIZE.end());
        let region = grow(seeds, size, network);
        let regions: Vec<Vec<DVec3>> = shapes
            .iter()
            .map(|shape| region.iter().map(|&v| shape[v as usize]).collect())
            .collect();

        // The anchor is rigid, so one mean region must fit all shapes.
        let (mean, motions) = procrustes_mean(&regions)?;

        // The mean region has the orientation of the first shape; corners with these axes would make
        // that shape special.
        let axes = ComponentFrame::of(&mean).map_or(DQuat::IDENTITY, |frame| {
            DQuat::from_mat3(&frame.axes()).normalize()
        });

        let rotated = |motion: &RigidMotion| RigidMotion {
            rotation: motion.rotation * axes,
            ..*motion
        };

        // The corners are as far out as the region is wide.
        let spread =
            (mean.iter().map(|p| p.length_squared()).sum::<f64>() / mean.len() as f64).sqrt();
        let reach = if spread > 0.0 { spread } else { 1.0 };

        Ok(Self {
            region,
            placements: motions.iter().map(rotated).collect(),
            reach,
        })
    }

    /// The corners in the anchor's own frame.
    pub(crate) fn corners(&self) -> [DVec3; CORNERS] {
        [
            DVec3::X,
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::Z,
            DVec3::NEG_Z,
        ]
        .map(|axis| axis * self.reach)
    }

    /// Its placement in a shape.
    pub(crate) fn in_shape(&self, shape: usize) -> RigidMotion {
        self.placements[shape]
    }

    /// Its placement between the shapes.
    pub(crate) fn at(&self, weights: &[f64]) -> RigidMotion {
        let translation = self
            .placements
            .iter()
            .zip(weights)
            .map(|(placement, &weight)| placement.translation * weight)
            .sum();
        RigidMotion {
            rotation: self.rotation_at(weights),
            translation,
        }
    }

    fn rotation_at(&self, weights: &[f64]) -> DQuat {
        let rotation = |shape: usize| self.placements[shape].rotation;
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        if let [from, to] = active[..] {
            // The mean is ambiguous near half a turn; the interpolation of two rotations is not.
            return interpolated(rotation(from), rotation(to), weights[to]);
        }

        // More than two rotations: the Karcher mean, started at the heaviest shape.
        let heaviest =
            (1..weights.len()).fold(
                0,
                |best, s| if weights[s] > weights[best] { s } else { best },
            );

        mean_rotation(
            active.iter().map(|&s| (weights[s], rotation(s))),
            rotation(heaviest),
        )
    }
}

/// The vertex nearest to the centroid in all shapes together.
fn middle_vertex(component: &[u32], shapes: &[Vec<DVec3>]) -> u32 {
    let centers: Vec<DVec3> = shapes
        .iter()
        .map(|s| component.iter().map(|&v| s[v as usize]).sum::<DVec3>() / component.len() as f64)
        .collect();

    let distance = |v: u32| {
        shapes
            .iter()
            .zip(&centers)
            .map(|(s, c)| s[v as usize].distance_squared(*c))
            .sum::<f64>()
    };

    component
        .iter()
        .copied()
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .expect("a component has a vertex")
}

/// The seeds and their nearest vertices by springs, up to `size` in all; all seeds are included.
fn grow(seeds: &[u32], size: usize, network: &SpringEnergy) -> Vec<u32> {
    let mut seen = vec![false; network.points()];
    let mut region = Vec::new();
    for &seed in seeds {
        if !std::mem::replace(&mut seen[seed as usize], true) {
            region.push(seed);
        }
    }

    // Breadth-first search.
    let mut queue: VecDeque<u32> = region.iter().copied().collect();
    while let Some(vertex) = queue.pop_front() {
        for (other, _) in network.around(vertex as usize) {
            if region.len() >= size {
                return region;
            }
            if !std::mem::replace(&mut seen[other], true) {
                region.push(other as u32);
                queue.push_back(other as u32);
            }
        }
    }

    region
}

/// The Procrustes mean of regions, centred at the origin, and the motions that take it to them.
fn procrustes_mean(regions: &[Vec<DVec3>]) -> Result<(Vec<DVec3>, Vec<RigidMotion>), LinalgError> {
    let mut mean = centered(&regions[0]);
    let mut motions = Vec::new();
    for _ in 0..PROCRUSTES_ROUNDS {
        motions.clear();
        for region in regions {
            motions.push(RigidMotion::fit(&mean, region, None)?);
        }

        // The next mean is that of the regions, moved back onto the present one.
        let mut aligned_mean = Vec::with_capacity(mean.len());
        for i in 0..mean.len() {
            let aligned = regions
                .iter()
                .zip(&motions)
                .map(|(region, motion)| motion.inverse().apply(region[i]));
            aligned_mean.push(aligned.sum::<DVec3>() / regions.len() as f64);
        }
        mean = centered(&aligned_mean);
    }

    Ok((mean, motions))
}

fn centered(points: &[DVec3]) -> Vec<DVec3> {
    let center = points.iter().copied().sum::<DVec3>() / points.len() as f64;
    points.iter().map(|p| *p - center).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Springs;
    use crate::test_shapes::{bar, bent};

    fn placed(shapes: &[Vec<DVec3>], seeds: &[u32]) -> Anchor {
        let bar = bar(12, 3);
        let springs = Springs::new(&bar.mesh, &bar.tetrahedra, &[], shapes);
        let weights = vec![1.0 / shapes.len() as f64; shapes.len()];
        let network =
            SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&weights));
        let all: Vec<u32> = (0..springs.points() as u32).collect();
        Anchor::place(&all, seeds, &network, shapes).unwrap()
    }

    #[test]
    fn an_anchor_moves_with_its_shape() {
        let points = bar(12, 3).points;
        let motion = RigidMotion {
            rotation: DQuat::from_rotation_y(2.0),
            translation: DVec3::new(1.0, 2.0, 3.0),
        };

        let anchor = placed(
            &[
                points.clone(),
                points.iter().map(|p| motion.apply(*p)).collect(),
            ],
            &[],
        );

        for corner in anchor.corners() {
            assert!(
                motion
                    .apply(anchor.in_shape(0).apply(corner))
                    .distance(anchor.in_shape(1).apply(corner))
                    < 1e-12
            );
        }

        let half = anchor.at(&[0.5, 0.5]);
        assert!(
            (half.rotation.angle_between(anchor.in_shape(0).rotation) - 1.0).abs() < 1e-12,
            "half of the rotation"
        );

        assert!(
            half.translation
                .distance((anchor.in_shape(0).translation + anchor.in_shape(1).translation) * 0.5)
                < 1e-12
        );
    }

    #[test]
    fn the_corners_depend_neither_on_the_order_nor_on_the_orientation_of_the_shapes() {
        let points = bar(12, 3).points;
        let second = bent(&points, 80.0);
        let rotation = DQuat::from_rotation_y(1.3) * DQuat::from_rotation_x(0.4);

        let corners_in = |anchor: &Anchor, shape: usize| {
            anchor
                .corners()
                .map(|corner| anchor.in_shape(shape).apply(corner))
        };
        let expected = corners_in(&placed(&[points.clone(), second.clone()], &[]), 1);
        let swapped = corners_in(&placed(&[second.clone(), points.clone()], &[]), 0);

        let rotated = corners_in(
            &placed(
                &[points.iter().map(|p| rotation * *p).collect(), second],
                &[],
            ),
            1,
        );

        for (k, corner) in expected.iter().enumerate() {
            assert!(
                corner.distance(swapped[k]) < 1e-9 && corner.distance(rotated[k]) < 1e-9,
                "corner {k}"
            );
        }
    }

    #[test]
    fn an_anchor_rotates_uniformly_up_to_half_a_turn_and_when_extrapolated() {
        let points = bar(12, 3).points;
        for (angle_rad, share) in [
            (3.1, 0.25),
            (3.1, 0.49),
            (3.1, 0.51),
            (1.7, 1.7),
            (1.7, -0.7),
        ] {
            let rotation = DQuat::from_rotation_y(angle_rad);
            let anchor = placed(
                &[
                    points.clone(),
                    points.iter().map(|p| rotation * *p).collect(),
                ],
                &[],
            );
            let expected = DQuat::from_rotation_y(angle_rad * share) * anchor.in_shape(0).rotation;

            assert!(
                anchor
                    .at(&[1.0 - share, share])
                    .rotation
                    .dot(expected)
                    .abs()
                    > 1.0 - 1e-12,
                "{angle_rad} {share}"
            );
        }
    }

    #[test]
    fn an_anchor_lies_in_the_middle_or_around_given_vertices() {
        let points = bar(12, 3).points;
        let shapes = [points.clone(), bent(&points, 60.0)];
        let middle = points.iter().copied().sum::<DVec3>() / points.len() as f64;

        assert!(
            placed(&shapes, &[])
                .in_shape(0)
                .translation
                .distance(middle)
                < 0.5
        );

        let corner = placed(&shapes, &[0]);
        assert_eq!(corner.region[0], 0);
        assert!(corner.in_shape(0).translation.distance(points[0]) < 1.0);
        assert!(corner.region.len() >= *REGION_SIZE.start());
    }
}
