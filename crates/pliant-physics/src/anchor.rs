//! A rigid object inside a shape that says where the shape stands, so that all of its surface moves
//! freely.
//!
//! **Problem.** Springs know lengths, not places: without a boundary condition nothing says where a
//! blend lies, and vertices that are fixed by hand move along straight lines.
//!
//! **Equation.** Six corners of a rigid octahedron are joined by springs to a region of the shape.
//! In shape `s` the octahedron stands where the region's mean form fits best, `vˢ ≈ Rₛ p + tₛ`.
//! Between the shapes it stands at
//!
//! ```text
//! R̄ = mean of the Rₛ        t̄ = Σₛ wₛ tₛ
//! ```
//!
//! The equilibrium is found in the octahedron's own frame, where its corners rest, and then taken
//! to `R̄ x + t̄`.
//!
//! **Source.** Ma et al. 2012, section 3.4, steps 1–5 and figure 4; the mean form: Gower,
//! "Generalized Procrustes analysis", 1975.
//!
//! **Ours.** The region is where all shapes have their middle; every shape's part in it is the
//! same, and the corners lie along directions that turn with the mean form, so the order of the
//! shapes does not matter. The published search for the anchor's place in the target (the target
//! fixed, the anchor free) becomes a rigid fit, since the anchor is rigid. Its springs are as stiff
//! as others: a rigid object that is held needs no more.

use std::collections::VecDeque;

use pliant_linalg::{LinalgError, RigidMotion};
use pliant_mesh::glam::{DQuat, DVec3};

use crate::energy::SpringEnergy;
use crate::interior::Frame;
use crate::turning::{interpolated, mean_rotation};

/// The rigid object that holds one connected part.
#[derive(Debug, Clone)]
pub(crate) struct Anchor {
    /// Vertices of the shape that are joined to it, the one in the middle first.
    pub(crate) region: Vec<u32>,
    /// From its own frame to where it stands in each shape.
    placements: Vec<RigidMotion>,
    /// From its middle to its corners.
    reach: f64,
}

/// Corners of the octahedron.
pub(crate) const CORNERS: usize = 6;
/// The region's share of its part and the bounds of its size: ours. More vertices hold turns better
/// but keep more of the shape from moving freely.
const REGION_SHARE: f64 = 0.05;
const REGION_SIZE: std::ops::RangeInclusive<usize> = 12..=200;
/// Rounds of the mean form, which converges with the square of the differences.
const FIT_ROUNDS: usize = 10;

impl Anchor {
    /// An anchor around `seeds`, or around the middle of `part` without any. `network` gives the
    /// neighbours.
    pub(crate) fn place(
        part: &[u32],
        seeds: &[u32],
        network: &SpringEnergy,
        shapes: &[Vec<DVec3>],
    ) -> Result<Self, LinalgError> {
        let middle = [middle_vertex(part, shapes)];
        let seeds = if seeds.is_empty() { &middle } else { seeds };
        let size = ((REGION_SHARE * part.len() as f64) as usize)
            .clamp(*REGION_SIZE.start(), *REGION_SIZE.end());
        let region = grow(seeds, size, network);
        let forms: Vec<Vec<DVec3>> = shapes
            .iter()
            .map(|shape| region.iter().map(|&v| shape[v as usize]).collect())
            .collect();
        let (form, motions) = mean_form(&forms)?;
        // The form came with the first shape's directions; corners that turned with that would make
        // it special.
        let axes = Frame::of(&form).map_or(DQuat::IDENTITY, |frame| {
            DQuat::from_mat3(&frame.axes()).normalize()
        });
        let turned = |motion: &RigidMotion| RigidMotion {
            rotation: motion.rotation * axes,
            ..*motion
        };
        let spread =
            (form.iter().map(|p| p.length_squared()).sum::<f64>() / form.len() as f64).sqrt();
        let reach = if spread > 0.0 { spread } else { 1.0 };
        Ok(Self {
            region,
            placements: motions.iter().map(turned).collect(),
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

    /// Where it stands in a shape.
    pub(crate) fn in_shape(&self, shape: usize) -> RigidMotion {
        self.placements[shape]
    }

    /// Where it stands between the shapes.
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
            // The mean has no definite direction near half a turn; the way between two has.
            return interpolated(rotation(from), rotation(to), weights[to]);
        }
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
fn middle_vertex(part: &[u32], shapes: &[Vec<DVec3>]) -> u32 {
    let centers: Vec<DVec3> = shapes
        .iter()
        .map(|s| part.iter().map(|&v| s[v as usize]).sum::<DVec3>() / part.len() as f64)
        .collect();
    let distance = |v: u32| {
        shapes
            .iter()
            .zip(&centers)
            .map(|(s, c)| s[v as usize].distance_squared(*c))
            .sum::<f64>()
    };
    part.iter()
        .copied()
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .expect("a part has a vertex")
}

/// The seeds and their nearest vertices by springs, up to `size` in all; no seed is left out.
fn grow(seeds: &[u32], size: usize, network: &SpringEnergy) -> Vec<u32> {
    let mut seen = vec![false; network.points()];
    let mut region = Vec::new();
    for &seed in seeds {
        if !std::mem::replace(&mut seen[seed as usize], true) {
            region.push(seed);
        }
    }
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

/// The mean of forms that were laid over each other, around the origin, and the motions that take
/// it to them.
fn mean_form(forms: &[Vec<DVec3>]) -> Result<(Vec<DVec3>, Vec<RigidMotion>), LinalgError> {
    let mut mean = centered(&forms[0]);
    let mut motions = Vec::new();
    for _ in 0..FIT_ROUNDS {
        motions = forms
            .iter()
            .map(|form| RigidMotion::fit(&mean, form, None))
            .collect::<Result<Vec<_>, _>>()?;
        let laid = |i: usize| {
            forms
                .iter()
                .zip(&motions)
                .map(|(form, motion)| motion.inverse().apply(form[i]))
                .sum::<DVec3>()
                / forms.len() as f64
        };
        mean = centered(&(0..mean.len()).map(laid).collect::<Vec<_>>());
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
    use crate::springs::Springs;
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
    fn an_anchor_goes_with_the_shape_it_stands_in() {
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
            "half of the turn"
        );
        assert!(
            half.translation
                .distance((anchor.in_shape(0).translation + anchor.in_shape(1).translation) * 0.5)
                < 1e-12
        );
    }

    #[test]
    fn neither_the_order_of_the_shapes_nor_how_the_first_stands_moves_the_corners_in_the_shapes() {
        let points = bar(12, 3).points;
        let (second, turn) = (
            bent(&points, 80.0),
            DQuat::from_rotation_y(1.3) * DQuat::from_rotation_x(0.4),
        );
        let corners_in = |anchor: &Anchor, shape: usize| {
            anchor
                .corners()
                .map(|corner| anchor.in_shape(shape).apply(corner))
        };
        let expected = corners_in(&placed(&[points.clone(), second.clone()], &[]), 1);
        let swapped = corners_in(&placed(&[second.clone(), points.clone()], &[]), 0);
        let turned = corners_in(
            &placed(&[points.iter().map(|p| turn * *p).collect(), second], &[]),
            1,
        );
        for (k, corner) in expected.iter().enumerate() {
            assert!(
                corner.distance(swapped[k]) < 1e-9 && corner.distance(turned[k]) < 1e-9,
                "corner {k}"
            );
        }
    }

    #[test]
    fn an_anchor_turns_evenly_also_by_almost_half_a_turn_and_beyond_a_shape() {
        let points = bar(12, 3).points;
        for (turn_rad, share) in [
            (3.1, 0.25),
            (3.1, 0.49),
            (3.1, 0.51),
            (1.7, 1.7),
            (1.7, -0.7),
        ] {
            let turn = DQuat::from_rotation_y(turn_rad);
            let anchor = placed(
                &[points.clone(), points.iter().map(|p| turn * *p).collect()],
                &[],
            );
            let expected = DQuat::from_rotation_y(turn_rad * share) * anchor.in_shape(0).rotation;
            assert!(
                anchor
                    .at(&[1.0 - share, share])
                    .rotation
                    .dot(expected)
                    .abs()
                    > 1.0 - 1e-12,
                "{turn_rad} {share}"
            );
        }
    }

    #[test]
    fn an_anchor_stands_in_the_middle_or_around_given_vertices() {
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
