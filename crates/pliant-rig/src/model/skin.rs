//! Linear blend skinning: weights of bones at vertices.
//!
//! **Problem.** Deform a mesh by the motions of bones, so that any engine can play it.
//!
//! **Equation.** With reference position `vʳ`, weights `w ≥ 0`, `Σ w = 1`, and motions `T` from the
//! reference pose:
//!
//! ```text
//! v = Σⱼ wⱼ Tⱼ vʳ
//! ```
//!
//! **Source.** Magnenat-Thalmann, Laperrière, Thalmann, "Joint-dependent local deformations for
//! hand animation and object grasping", 1988.

use pliant_linalg::parallel;
use pliant_mesh::VertexId;
use pliant_mesh::glam::{DAffine3, DMat3, DVec3};

use crate::RigError;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 2048;

/// The largest difference of the sum of a vertex' weights from 1.
const SUM_TOLERANCE: f64 = 1e-6;

/// The weight of one bone at a vertex.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Influence {
    /// The bone, counted from 0.
    pub bone: u32,
    /// Its weight, positive.
    pub weight: f64,
}

/// The bones and weights of each vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    bone_count: usize,
    influences: Vec<Influence>,
    /// Where the influences of each vertex begin, and where the last ones end.
    starts: Vec<usize>,
}

impl Skin {
    /// A skin of `bone_count` bones from the influences of each vertex, which are not negative and
    /// sum to 1.
    ///
    /// Weights of zero are removed and the others normalised to the sum 1; the largest come first.
    pub fn new(
        bone_count: usize,
        vertices: impl IntoIterator<Item = Vec<Influence>>,
    ) -> Result<Self, RigError> {
        let mut influences = Vec::new();
        let mut starts = vec![0];
        for (vertex, own) in vertices.into_iter().enumerate() {
            let sum: f64 = own.iter().map(|influence| influence.weight).sum();
            let valid = own
                .iter()
                .all(|influence| (influence.bone as usize) < bone_count && influence.weight >= 0.0);
            // A sum that is NaN passes the comparison.
            if !valid || (sum - 1.0).abs() > SUM_TOLERANCE || sum.is_nan() {
                return Err(RigError::BadInfluences {
                    vertex,
                    sum,
                    bones: bone_count,
                });
            }

            influences.extend(normalised(own, sum));
            starts.push(influences.len());
        }

        Ok(Self {
            bone_count,
            influences,
            starts,
        })
    }

    /// The number of bones.
    #[must_use]
    pub fn bone_count(&self) -> usize {
        self.bone_count
    }

    /// The number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The influences of a vertex, the largest first.
    #[must_use]
    pub fn influences(&self, vertex: impl Into<VertexId>) -> &[Influence] {
        let vertex = vertex.into().index();
        &self.influences[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// The largest number of bones at a vertex.
    #[must_use]
    pub fn most_influences(&self) -> usize {
        self.starts
            .windows(2)
            .map(|ends| ends[1] - ends[0])
            .max()
            .unwrap_or(0)
    }

    /// The skin of some of the vertices, in the order given.
    #[must_use]
    pub fn of_vertices(&self, vertices: &[u32]) -> Self {
        let mut influences = Vec::new();
        let mut starts = vec![0];
        for &vertex in vertices {
            influences.extend_from_slice(self.influences(vertex as usize));
            starts.push(influences.len());
        }

        Self {
            bone_count: self.bone_count,
            influences,
            starts,
        }
    }

    /// For each bone the mean of `positions` by its weights; for a bone without vertices, the mean
    /// of all positions.
    #[must_use]
    pub fn centers(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0); self.bone_count];
        for (vertex, &position) in positions.iter().enumerate() {
            for influence in self.influences(vertex) {
                let (sum, weight) = &mut sums[influence.bone as usize];
                *sum += position * influence.weight;
                *weight += influence.weight;
            }
        }

        let all = positions.iter().sum::<DVec3>() / positions.len().max(1) as f64;
        sums.into_iter()
            .map(|(sum, weight)| if weight > 0.0 { sum / weight } else { all })
            .collect()
    }

    /// The motion of each vertex when bone `j` moves by `motions[j]`: the mean of those of its bones
    /// by weight.
    ///
    /// # Panics
    /// If there is not one motion for each bone.
    #[must_use]
    pub fn vertex_motions(&self, motions: &[DAffine3]) -> Vec<DAffine3> {
        assert_eq!(
            motions.len(),
            self.bone_count,
            "a motion for each bone of the skin"
        );

        let mut of_vertices = Vec::with_capacity(self.vertex_count());
        for vertex in 0..self.vertex_count() {
            let mut linear = DMat3::ZERO;
            let mut translation = DVec3::ZERO;
            for influence in self.influences(vertex) {
                let motion = &motions[influence.bone as usize];
                linear += motion.matrix3 * influence.weight;
                translation += motion.translation * influence.weight;
            }
            of_vertices.push(DAffine3::from_mat3_translation(linear, translation));
        }
        of_vertices
    }

    /// The positions of the vertices when bone `j` moves by `motions[j]` from `rest`.
    #[must_use]
    pub fn blend(&self, rest: &[DVec3], motions: &[DAffine3]) -> Vec<DVec3> {
        let mut positions = vec![DVec3::ZERO; rest.len()];
        self.blend_into(rest, motions, &mut positions);
        positions
    }

    /// As [`blend`](Self::blend), without allocation.
    ///
    /// # Panics
    /// If the lists do not fit the skin.
    pub fn blend_into(&self, rest: &[DVec3], motions: &[DAffine3], positions: &mut [DVec3]) {
        assert_eq!(
            (rest.len(), positions.len()),
            (self.vertex_count(), self.vertex_count()),
            "a position for each vertex of the skin"
        );
        assert_eq!(
            motions.len(),
            self.bone_count,
            "a motion for each bone of the skin"
        );

        parallel::for_each_chunk_mut(positions, VERTICES_PER_TASK, |start, chunk| {
            for (k, position) in chunk.iter_mut().enumerate() {
                let vertex = start + k;
                let mut sum = DVec3::ZERO;
                for influence in self.influences(vertex) {
                    let motion = &motions[influence.bone as usize];
                    sum += motion.transform_point3(rest[vertex]) * influence.weight;
                }
                *position = sum;
            }
        });
    }
}

/// The influences of a vertex without zeros, with sum 1, the largest first.
fn normalised(mut influences: Vec<Influence>, sum: f64) -> Vec<Influence> {
    influences.retain(|influence| influence.weight > 0.0);
    influences.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));

    // Weights that were normalised before keep their bits.
    let is_normalised = (sum - 1.0).abs() <= influences.len() as f64 * f64::EPSILON;
    let sum = if is_normalised { 1.0 } else { sum };
    for influence in &mut influences {
        influence.weight /= sum;
    }

    influences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn influences(weights: &[(u32, f64)]) -> Vec<Influence> {
        weights
            .iter()
            .map(|&(bone, weight)| Influence { bone, weight })
            .collect()
    }

    #[test]
    fn a_vertex_with_two_equal_influences_moves_by_their_mean() {
        let skin = Skin::new(
            2,
            [influences(&[(0, 1.0)]), influences(&[(1, 0.5), (0, 0.5)])],
        )
        .unwrap();

        // The second bone moves up by 2, so the second vertex by half of it.
        let motions = [
            DAffine3::IDENTITY,
            DAffine3::from_translation(DVec3::Z * 2.0),
        ];

        assert_eq!(
            skin.blend(&[DVec3::X, DVec3::Y], &motions),
            [DVec3::X, DVec3::Y + DVec3::Z]
        );
        assert_eq!(
            skin.centers(&[DVec3::ZERO, DVec3::X * 3.0]),
            [DVec3::X, DVec3::X * 3.0]
        );
        assert_eq!(
            (
                skin.most_influences(),
                skin.of_vertices(&[1, 1]).vertex_count()
            ),
            (2, 2)
        );
    }

    #[test]
    fn influences_are_sorted_and_zero_weights_removed() {
        let skin = Skin::new(3, [influences(&[(2, 0.25), (1, 0.0), (0, 0.75)])]).unwrap();
        assert_eq!(skin.influences(0), influences(&[(0, 0.75), (2, 0.25)]));
    }

    #[test]
    fn weights_that_do_not_sum_to_one_or_lack_a_bone_are_errors() {
        for bad in [
            &[(0, 0.5)][..],
            &[(0, 1.5), (1, -0.5)],
            &[(2, 1.0)],
            &[(0, f64::NAN)],
            &[],
        ] {
            assert!(
                matches!(
                    Skin::new(2, [influences(&[(0, 1.0)]), influences(bad)]),
                    Err(RigError::BadInfluences { vertex: 1, .. })
                ),
                "{bad:?}"
            );
        }
    }
}
