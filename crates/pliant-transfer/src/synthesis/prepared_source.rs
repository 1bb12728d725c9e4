//! One source of a synthesis: its gradients at any moment, brought to the target.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DeformationGradients, Mesh, Polar};
use pliant_rig::Clip;

use super::{Buffers, Source, TRIANGLES_PER_TASK};
use crate::blend::{blend_gradients, mean_gradient};
use crate::layer::Moment;
use crate::polar_lanes::for_each_polar;
use crate::probe::Probe;
use crate::root_motion::diagonal_ratio;
use crate::{TransferError, TriangleMap};

/// Height over longest side below which a source triangle has nothing to say. *Ours*: with
/// positions in single precision the gradient of a flatter one is mostly rounding.
const FLAT: f64 = 1e-6;

/// A source, ready for any moment of its clip.
#[derive(Debug, Clone)]
pub(super) struct PreparedSource<'a> {
    pub(super) clip: &'a Clip,
    pub(super) map: TriangleMap,
    gradients: DeformationGradients,
    /// Whether some target triangle takes from several.
    mixes: bool,
    /// How much larger the target is.
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
        let mixes = (0..map.len()).any(|t| map.row(t).len() > 1);
        let gradients = DeformationGradients::from_rest(reference)?;
        Ok(Self {
            clip: source.clip,
            map,
            gradients,
            mixes,
            ratio: ratio.unwrap_or_else(|| diagonal_ratio(target, reference)),
        })
    }

    /// The source's own gradients at a moment, and their polar parts if they will be mixed.
    pub(super) fn gradients_at(&self, moment: Moment, buffers: &mut Buffers) {
        let count = self.clip.reference().triangles().len();
        let Buffers {
            source_gradients,
            after,
            polars,
            ..
        } = buffers;
        source_gradients.resize(count, DMat3::IDENTITY);
        self.frame_into(moment.frame, source_gradients);
        if moment.part > 0.0 {
            after.resize(count, DMat3::IDENTITY);
            self.frame_into(moment.frame + 1, after);
            parallel::for_each_chunk_mut(source_gradients, TRIANGLES_PER_TASK, |start, chunk| {
                for (gradient, next) in chunk.iter_mut().zip(&after[start..]) {
                    *gradient = blend_gradients(*gradient, *next, moment.part);
                }
            });
        }
        if self.mixes {
            polars.resize(
                count,
                Polar {
                    rotation: DMat3::IDENTITY,
                    stretch: DMat3::IDENTITY,
                },
            );
            parallel::for_each_chunk_mut(polars, TRIANGLES_PER_TASK, |start, chunk| {
                for_each_polar(
                    chunk.len(),
                    |k| source_gradients[start + k],
                    |k, polar| chunk[k] = *polar,
                );
            });
        }
    }

    fn frame_into(&self, frame: usize, gradients: &mut [DMat3]) {
        self.gradients
            .at_into(&self.clip.frames()[frame], gradients)
            .expect("a clip's frames have the vertices of its reference");
    }

    /// The layer's gradient on every target triangle, or on those that take from it; then the
    /// others keep what was there.
    pub(super) fn bring_to_target(&self, weights: &[f64], everywhere: bool, buffers: &mut Buffers) {
        let Buffers {
            source_gradients,
            polars,
            layer_gradients,
            ..
        } = buffers;
        parallel::for_each_chunk_mut(layer_gradients, TRIANGLES_PER_TASK, |start, chunk| {
            let mut parts = Vec::new();
            for (k, gradient) in chunk
                .iter_mut()
                .enumerate()
                .filter(|(k, _)| everywhere || weights[start + k] > 0.0)
            {
                *gradient = match self.map.row(start + k) {
                    [] => DMat3::IDENTITY,
                    [(s, _)] => source_gradients[*s as usize],
                    row => {
                        parts.clear();
                        parts.extend(row.iter().map(|&(s, weight)| (polars[s as usize], weight)));
                        mean_gradient(&parts)
                    }
                };
            }
        });
    }

    /// The mean centroid of the source triangles of some target triangles, each with a weight.
    pub(super) fn probe(&self, weighted: impl Iterator<Item = (u32, f64)>) -> Probe {
        let sources = weighted.flat_map(|(t, area)| {
            self.map
                .row(t as usize)
                .iter()
                .map(move |&(s, weight)| (s, area * weight))
        });
        Probe::of_triangles(self.clip.reference().triangles(), sources)
    }

    /// Where a vertex of the source is at a moment.
    pub(super) fn position(&self, moment: Moment, v: usize) -> DVec3 {
        let frames = self.clip.frames();
        let here = frames[moment.frame][v];
        if moment.part > 0.0 {
            here.lerp(frames[moment.frame + 1][v], moment.part)
        } else {
            here
        }
    }
}

/// The map without source triangles whose height at rest is below [`FLAT`] of their longest side:
/// they have no gradient, or one of noise.
fn without_flat_sources(map: &TriangleMap, source: &Mesh) -> TriangleMap {
    let flat = |s: u32| {
        let [a, b, c] = source.triangle_points(s as usize);
        let longest = a
            .distance_squared(b)
            .max(b.distance_squared(c))
            .max(c.distance_squared(a));
        (b - a).cross(c - a).length() <= FLAT * longest
    };
    TriangleMap::new((0..map.len()).map(|t| {
        map.row(t)
            .iter()
            .copied()
            .filter(|&(s, _)| !flat(s))
            .collect::<Vec<_>>()
    }))
}
