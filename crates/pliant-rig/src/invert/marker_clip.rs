//! A few places on the surface, seen in every frame or in some.
//!
//! **Equation.** With the rows `R` of the rig's shapes at the markers that a frame shows, `K = RᵀR
//! / m` and `h = Rᵀ(y − x₀) / m`, where `m` counts all markers: the problem of whole meshes with
//! other numbers.

use std::collections::BTreeMap;

use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;

use super::shape_pulls::Pull;
use crate::{Pin, Rig, RigError};

/// Moving points that belong to places on a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerClip {
    /// The place of each marker.
    pub at: Vec<SurfacePoint>,
    /// For each frame where each marker was seen, if it was.
    pub frames: Vec<Vec<Option<DVec3>>>,
    /// Frames per second.
    pub frames_per_second: f64,
}

/// What markers tell about shapes.
pub(super) struct Evidence {
    /// `K` for each set of markers that some frame shows.
    pub(super) grams: Vec<Vec<f64>>,
    /// Which of them each frame has.
    pub(super) gram_of: Vec<usize>,
    pub(super) pulls: Vec<Pull>,
}

impl MarkerClip {
    pub(super) fn evidence(&self, rig: &Rig) -> Result<Evidence, RigError> {
        self.check(rig)?;
        let pins: Vec<Pin> = self
            .at
            .iter()
            .map(|&at| Pin { at, ..Pin::hold(0) })
            .collect();
        let supports: Vec<_> = pins.iter().map(|pin| pin.support(rig.neutral())).collect();
        let rest: Vec<DVec3> = supports
            .iter()
            .map(|support| support.of(rig.neutral().positions()))
            .collect();
        let rows: Vec<Vec<DVec3>> = rig
            .shapes()
            .map(|shape| {
                supports
                    .iter()
                    .map(|support| support.displacement(shape))
                    .collect()
            })
            .collect();
        let mut sets: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
        let mut evidence = Evidence {
            grams: Vec::new(),
            gram_of: Vec::new(),
            pulls: Vec::new(),
        };
        for frame in &self.frames {
            let seen: Vec<bool> = frame.iter().map(Option::is_some).collect();
            let next = evidence.grams.len();
            let gram = *sets.entry(seen).or_insert_with_key(|seen| {
                evidence.grams.push(gram(&rows, seen));
                next
            });
            evidence.gram_of.push(gram);
            evidence.pulls.push(pull(&rows, &rest, frame));
        }
        Ok(evidence)
    }

    fn check(&self, rig: &Rig) -> Result<(), RigError> {
        if self.at.is_empty() {
            return Err(RigError::NoPins);
        }
        self.at
            .iter()
            .try_for_each(|&at| Pin { at, ..Pin::hold(0) }.check(rig.neutral()))?;
        for (k, frame) in self.frames.iter().enumerate() {
            if frame.len() != self.at.len() {
                return Err(RigError::MarkerCount {
                    frame: k,
                    found: frame.len(),
                    expected: self.at.len(),
                });
            }
            if let Some(marker) = frame.iter().position(|p| p.is_some_and(|p| !p.is_finite())) {
                return Err(RigError::MarkerNotFinite { frame: k, marker });
            }
        }
        Ok(())
    }
}

fn gram(rows: &[Vec<DVec3>], seen: &[bool]) -> Vec<f64> {
    let count = seen.len() as f64;
    let product = |a: &[DVec3], b: &[DVec3]| {
        (0..seen.len())
            .filter(|&m| seen[m])
            .map(|m| a[m].dot(b[m]))
            .sum::<f64>()
            / count
    };
    rows.iter()
        .flat_map(|a| rows.iter().map(move |b| product(a, b)))
        .collect()
}

fn pull(rows: &[Vec<DVec3>], rest: &[DVec3], frame: &[Option<DVec3>]) -> Pull {
    let count = frame.len() as f64;
    let moved: Vec<DVec3> = frame
        .iter()
        .zip(rest)
        .map(|(seen, rest)| seen.map_or(DVec3::ZERO, |seen| seen - *rest))
        .collect();
    let along =
        |row: &Vec<DVec3>| row.iter().zip(&moved).map(|(d, m)| d.dot(*m)).sum::<f64>() / count;
    Pull {
        of_shapes: rows.iter().map(along).collect(),
        energy: moved.iter().map(|m| m.length_squared()).sum::<f64>() / count,
    }
}
