//! Linear blend skinning: vertices that follow a few bones each.
//!
//! **Problem.** Move a mesh by the motions of bones, so that any engine can play it.
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
use pliant_mesh::glam::{DAffine3, DVec3};

use crate::RigError;

/// Vertices in one task of a blend.
const GRAIN: usize = 2048;

/// How far the weights of a vertex may sum from 1.
const SUM_TOLERANCE: f64 = 1e-6;

/// The share of one bone in the motion of a vertex.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Influence {
    /// The bone, counted from 0.
    pub bone: u32,
    /// Its weight, positive.
    pub weight: f64,
}

/// Which bones each vertex follows, and how much.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    bone_count: usize,
    influences: Vec<Influence>,
    /// Where the influences of each vertex begin, and where the last ones end.
    starts: Vec<usize>,
}

impl Skin {
    /// A skin of `bone_count` bones from the influences of each vertex, which are positive and sum
    /// to 1.
    ///
    /// Weights of zero are left out, and the others made to sum to 1 exactly but for rounding; the
    /// strongest come first.
    pub fn new(
        bone_count: usize,
        vertices: impl IntoIterator<Item = Vec<Influence>>,
    ) -> Result<Self, RigError> {
        let (mut influences, mut starts) = (Vec::new(), vec![0]);
        for (vertex, mut own) in vertices.into_iter().enumerate() {
            let sum: f64 = own.iter().map(|influence| influence.weight).sum();
            let known = own
                .iter()
                .all(|influence| (influence.bone as usize) < bone_count && influence.weight >= 0.0);
            if !known || (sum - 1.0).abs() > SUM_TOLERANCE || sum.is_nan() {
                return Err(RigError::BadInfluences {
                    vertex,
                    sum,
                    bones: bone_count,
                });
            }
            own.retain(|influence| influence.weight > 0.0);
            own.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
            // What was made to sum to 1 before comes back as it is.
            let sum = if (sum - 1.0).abs() <= own.len() as f64 * f64::EPSILON {
                1.0
            } else {
                sum
            };
            influences.extend(own.iter().map(|influence| Influence {
                weight: influence.weight / sum,
                ..*influence
            }));
            starts.push(influences.len());
        }
        Ok(Self {
            bone_count,
            influences,
            starts,
        })
    }

    /// How many bones there are.
    #[must_use]
    pub fn bone_count(&self) -> usize {
        self.bone_count
    }

    /// How many vertices follow them.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bones that a vertex follows, the strongest first.
    #[must_use]
    pub fn influences(&self, vertex: usize) -> &[Influence] {
        &self.influences[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// The most bones that any vertex follows.
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
        let (mut influences, mut starts) = (Vec::new(), vec![0]);
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

    /// For each bone the mean of `positions` by its weights; the mean of all of them where no
    /// vertex follows it.
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

    /// Where the vertices go from `rest` when bone `j` moves by `motions[j]`.
    #[must_use]
    pub fn blend(&self, rest: &[DVec3], motions: &[DAffine3]) -> Vec<DVec3> {
        let mut positions = vec![DVec3::ZERO; rest.len()];
        self.blend_into(rest, motions, &mut positions);
        positions
    }

    /// As [`blend`](Self::blend), without allocation.
    ///
    /// # Panics
    /// Where the lists do not fit the skin.
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
        parallel::for_each_chunk_mut(positions, GRAIN, |start, chunk| {
            for (k, position) in chunk.iter_mut().enumerate() {
                let own = self.influences(start + k).iter();
                *position = own
                    .map(|i| motions[i.bone as usize].transform_point3(rest[start + k]) * i.weight)
                    .sum();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(shares: &[(u32, f64)]) -> Vec<Influence> {
        shares
            .iter()
            .map(|&(bone, weight)| Influence { bone, weight })
            .collect()
    }

    #[test]
    fn a_vertex_between_two_bones_goes_half_way() {
        let skin = Skin::new(2, [shares(&[(0, 1.0)]), shares(&[(1, 0.5), (0, 0.5)])]).unwrap();
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
    fn influences_are_ordered_and_those_of_nothing_left_out() {
        let skin = Skin::new(3, [shares(&[(2, 0.25), (1, 0.0), (0, 0.75)])]).unwrap();
        assert_eq!(skin.influences(0), shares(&[(0, 0.75), (2, 0.25)]));
    }

    #[test]
    fn weights_that_do_not_sum_to_one_or_lack_a_bone_are_declined() {
        for bad in [
            &[(0, 0.5)][..],
            &[(0, 1.5), (1, -0.5)],
            &[(2, 1.0)],
            &[(0, f64::NAN)],
            &[],
        ] {
            assert!(
                matches!(
                    Skin::new(2, [shares(&[(0, 1.0)]), shares(bad)]),
                    Err(RigError::BadInfluences { vertex: 1, .. })
                ),
                "{bad:?}"
            );
        }
    }
}
