//! Prepared source of a synthesis: its gradients at any time, brought to the target.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DeformationGradients, Mesh, Polar};
use pliant_rig::Clip;

use super::batched_polar::for_each_polar;
use super::gradient_blend::{blend_gradients, mean_gradient};
use super::layer::ClipTime;
use super::weighted_centroid::WeightedCentroid;
use super::{Buffers, Source, TRIANGLES_PER_TASK};
use crate::extent::diagonal_ratio;
use crate::{TransferError, TriangleMap};

/// A source triangle whose height is below this share of its longest side is ignored. Chosen: with
/// positions in single precision the gradient of a flatter one is mostly rounding.
const FLATNESS: f64 = 1e-6;

/// A source, ready for any time of its clip.
#[derive(Debug, Clone)]
pub(super) struct PreparedSource<'a> {
    pub(super) clip: &'a Clip,
    pub(super) map: TriangleMap,
    gradients: DeformationGradients,
    /// Whether some target triangle has several sources.
    has_mixed_rows: bool,
    /// The size of the target relative to the source.
    pub(super) ratio: f64,
}

impl<'a> PreparedSource<'a> {
    pub(super) fn new(
        target: &Mesh,
        source: Source<'a>,
        ratio: Option<f64>,
    ) -> Result<Self, TransferError> {
        let reference = source.clip.reference();
        let map = without_flat_sources(&source.map, reference).filled(target);
        let has_mixed_rows = map.rows().any(|row| row.len() > 1);
        Ok(Self {
            clip: source.clip,
            gradients: DeformationGradients::from_rest(reference)?,
            has_mixed_rows,
            map,
            ratio: ratio.unwrap_or_else(|| diagonal_ratio(target, reference)),
        })
    }

    /// The gradients on the source at a time, and their polar factors if rows are mixed.
    pub(super) fn gradients_at(&self, time: ClipTime, buffers: &mut Buffers) {
        let count = self.clip.reference().triangles().len();
        let gradients = &mut buffers.source_gradients;
        gradients.resize(count, DMat3::IDENTITY);
        self.frame_into(time.frame, gradients);

        // Between frames: slerp of rotations, linear stretch.
        if time.fraction > 0.0 {
            let after = &mut buffers.after;
            after.resize(count, DMat3::IDENTITY);
            self.frame_into(time.frame + 1, after);
            parallel::for_each_chunk_mut(gradients, TRIANGLES_PER_TASK, |start, chunk| {
                for (gradient, next) in chunk.iter_mut().zip(&after[start..]) {
                    *gradient = blend_gradients(*gradient, *next, time.fraction);
                }
            });
        }

        // A mean of several sources needs their polar factors.
        if self.has_mixed_rows {
            polar_factors(gradients, &mut buffers.polars);
        }
    }

    fn frame_into(&self, frame: usize, gradients: &mut [DMat3]) {
        self.gradients
            .at_into(&self.clip.frames()[frame], gradients)
            .expect("a clip's frames have the vertices of its reference");
    }

    /// Brings the source's gradients to the target: to every triangle, or only to those with a
    /// weight. The others keep their values.
    pub(super) fn bring_to_target(&self, weights: &[f64], everywhere: bool, buffers: &mut Buffers) {
        let source_gradients = &buffers.source_gradients;
        let polars = &buffers.polars;
        let on_target = &mut buffers.layer_gradients;
        parallel::for_each_chunk_mut(on_target, TRIANGLES_PER_TASK, |start, chunk| {
            let mut factors = Vec::new();
            for (t, gradient) in (start..).zip(chunk) {
                if !everywhere && weights[t] <= 0.0 {
                    continue;
                }
                // A single source passes unchanged, which keeps a mesh on itself exact.
                *gradient = match self.map.row(t) {
                    [] => DMat3::IDENTITY,
                    [(s, _)] => source_gradients[*s as usize],
                    row => {
                        factors.clear();
                        for &(s, weight) in row {
                            factors.push((polars[s as usize], weight));
                        }
                        mean_gradient(&factors)
                    }
                };
            }
        });
    }

    /// The mean centroid of the source triangles of some target triangles, each with a weight.
    pub(super) fn centroid_of(
        &self,
        weighted: impl Iterator<Item = (u32, f64)>,
    ) -> WeightedCentroid {
        let mut sources = Vec::new();
        for (t, area) in weighted {
            for &(s, weight) in self.map.row(t as usize) {
                sources.push((s, area * weight));
            }
        }
        WeightedCentroid::of_triangles(self.clip.reference().triangles(), sources.into_iter())
    }

    /// The position of a vertex of the source at a time.
    pub(super) fn position(&self, time: ClipTime, v: usize) -> DVec3 {
        let frames = self.clip.frames();
        let position = frames[time.frame][v];
        if time.fraction > 0.0 {
            position.lerp(frames[time.frame + 1][v], time.fraction)
        } else {
            position
        }
    }

    /// The position of a vertex of the source at rest.
    pub(super) fn rest_position(&self, v: usize) -> DVec3 {
        self.clip.reference().positions()[v]
    }
}

fn polar_factors(gradients: &[DMat3], polars: &mut Vec<Polar>) {
    let identity = Polar {
        rotation: DMat3::IDENTITY,
        stretch: DMat3::IDENTITY,
    };
    polars.resize(gradients.len(), identity);
    parallel::for_each_chunk_mut(polars, TRIANGLES_PER_TASK, |start, chunk| {
        let count = chunk.len();
        for_each_polar(
            count,
            |k| gradients[start + k],
            |k, polar| chunk[k] = *polar,
        );
    });
}

/// The map without source triangles that are flat at rest: they have no gradient, or a noisy one.
fn without_flat_sources(map: &TriangleMap, source: &Mesh) -> TriangleMap {
    let mut rows = Vec::with_capacity(map.len());
    for row in map.rows() {
        let mut row = row.to_vec();
        row.retain(|&(s, _)| !is_flat(source.triangle_points(s as usize)));
        rows.push(row);
    }
    TriangleMap::new(rows)
}

fn is_flat([a, b, c]: [DVec3; 3]) -> bool {
    let longest_squared = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    (b - a).cross(c - a).length() <= FLATNESS * longest_squared
}
