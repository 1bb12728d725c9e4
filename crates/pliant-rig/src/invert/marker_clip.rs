//! Clips of markers on the surface, some of them missing in some frames.
//!
//! **Equation.** With the rows `R` of the shapes at the markers that are seen in a frame,
//! `K = RᵀR / m` and `h = Rᵀ(y − n) / m`, where `m` counts all markers. The problem is that of
//! whole meshes with these matrices.

use std::collections::BTreeMap;

use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;

use super::noise::{Noise, Window};
use super::shape_projections::FrameProjection;
use crate::{Pin, Rig, RigError};

/// Positions over time of markers at known surface points.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerClip {
    /// The surface point of each marker.
    pub at: Vec<SurfacePoint>,
    /// For each frame the position of each marker, if it is seen.
    pub frames: Vec<Vec<Option<DVec3>>>,
    /// Frames per second.
    pub frames_per_second: f64,
}

/// The matrices of the frame problems of markers.
pub(super) struct MarkerMatrices {
    /// `K` for each set of markers that is seen in some frame.
    pub(super) grams: Vec<Vec<f64>>,
    /// The index of `K` of each frame.
    pub(super) gram_of: Vec<usize>,
    pub(super) projections: Vec<FrameProjection>,
    /// For each shape its displacements of the markers.
    rows: Vec<Vec<DVec3>>,
}

impl MarkerClip {
    pub(super) fn matrices(&self, rig: &Rig) -> Result<MarkerMatrices, RigError> {
        self.check(rig)?;
        let mesh = rig.neutral();
        let mut supports = Vec::with_capacity(self.at.len());
        for &at in &self.at {
            supports.push(Pin { at, ..Pin::hold(0) }.support(mesh));
        }

        let rest: Vec<DVec3> = supports.iter().map(|s| s.of(mesh.positions())).collect();
        let mut rows: Vec<Vec<DVec3>> = Vec::new();
        for shape in rig.shapes() {
            rows.push(supports.iter().map(|s| s.displacement(shape)).collect());
        }

        // Frames with the same markers share their matrix.
        let mut sets: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
        let mut matrices = MarkerMatrices {
            grams: Vec::new(),
            gram_of: Vec::new(),
            projections: Vec::new(),
            rows: Vec::new(),
        };

        for frame in &self.frames {
            let seen: Vec<bool> = frame.iter().map(Option::is_some).collect();
            let gram = *sets.entry(seen).or_insert_with_key(|seen| {
                matrices.grams.push(gram(&rows, seen));
                matrices.grams.len() - 1
            });
            matrices.gram_of.push(gram);
            matrices.projections.push(projection(&rows, &rest, frame));
        }

        matrices.rows = rows;
        Ok(matrices)
    }

    /// Frames in a row that see the same markers, and the index of the matrix of each.
    pub(super) fn windows(&self, matrices: &MarkerMatrices) -> (Vec<Window>, Vec<usize>) {
        let zeros = vec![DVec3::ZERO; self.at.len()];
        let mut windows = Vec::new();
        let mut grams = Vec::new();

        for t in Noise::middles(self.frames.len()) {
            let gram = matrices.gram_of[t];
            if matrices.gram_of[t - 1] != gram || matrices.gram_of[t + 1] != gram {
                continue;
            }

            let seen = self.frames[t].iter().flatten().count() as f64;
            let count = self.at.len() as f64;
            windows.push(Window {
                second_difference: projection(&matrices.rows, &zeros, &self.second_difference(t)),
                middle: matrices.projections[t].clone(),
                measure: [seen / count, seen / (count * count)],
            });
            grams.push(gram);
        }

        (windows, grams)
    }

    /// `yₜ₋₁ − 2yₜ + yₜ₊₁` of the markers that are seen in all three frames.
    fn second_difference(&self, t: usize) -> Vec<Option<DVec3>> {
        let three = |m: usize| {
            let before = self.frames[t - 1][m]?;
            let middle = self.frames[t][m]?;
            let after = self.frames[t + 1][m]?;
            Some(before - 2.0 * middle + after)
        };
        (0..self.at.len()).map(three).collect()
    }

    fn check(&self, rig: &Rig) -> Result<(), RigError> {
        if self.at.is_empty() {
            return Err(RigError::NoPins);
        }

        for &at in &self.at {
            Pin { at, ..Pin::hold(0) }.check(rig.neutral())?;
        }
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

/// `K` of the markers that are seen.
fn gram(rows: &[Vec<DVec3>], seen: &[bool]) -> Vec<f64> {
    let count = seen.len() as f64;
    let mut gram = Vec::with_capacity(rows.len() * rows.len());
    for a in rows {
        for b in rows {
            let markers = (0..seen.len()).filter(|&m| seen[m]);
            gram.push(markers.map(|m| a[m].dot(b[m])).sum::<f64>() / count);
        }
    }

    gram
}

/// `h` and `c` of one frame.
fn projection(rows: &[Vec<DVec3>], rest: &[DVec3], frame: &[Option<DVec3>]) -> FrameProjection {
    let count = frame.len() as f64;

    // Missing markers do not contribute.
    let mut moved = Vec::with_capacity(frame.len());
    for (position, rest) in frame.iter().zip(rest) {
        moved.push(match position {
            Some(position) => *position - *rest,
            None => DVec3::ZERO,
        });
    }

    let mut onto_shapes = Vec::with_capacity(rows.len());
    for row in rows {
        let products = row.iter().zip(&moved).map(|(d, m)| d.dot(*m));
        onto_shapes.push(products.sum::<f64>() / count);
    }

    FrameProjection {
        onto_shapes,
        energy: moved.iter().map(|m| m.length_squared()).sum::<f64>() / count,
    }
}
