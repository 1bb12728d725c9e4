//! Skeletons, poses and dual quaternion skinning.
//!
//! **Problem.** Rotate bones and deform the surface without the collapse of linear blend skinning.
//!
//! **Equation.** Bone `b` moves points by the rotation `q_b` and the translation `t_b`; as a dual
//! quaternion `q_b + ε ½ t_b q_b`. A vertex moves by `Σ w_b (q_b + ε ½ t_b q_b)`, divided by the
//! length of its real part.
//!
//! **Source.** Kavan, Collins, Žára, O'Sullivan, "Geometric skinning with approximate dual
//! quaternion blending", TOG 2008.
//!
//! **Departures.** Weights come from the solids that made the surface: `exp(−(d_b − d_min) / s)`
//! with the limb's softness `s`, where only bones of the vertex's own limb compete, and then
//! diffuse over the mesh. So a finger never pulls its neighbour across the gap between them.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DQuat, DVec3};

use crate::implicit::Body;
use crate::math;
use crate::surface_nets::{self, QuadMesh};

/// Vertices in one parallel task.
const GRAIN: usize = 1024;
/// Bones that a vertex may follow.
const INFLUENCES: usize = 6;
/// Weights below this are dropped, so that the sole of a paw follows its own bone alone.
const FAINT: f64 = 0.02;

/// A bone at rest; its head is the joint it rotates about.
#[derive(Debug, Clone)]
pub(crate) struct Bone {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) head: DVec3,
    pub(crate) tail: DVec3,
}

/// Bones with parents before children.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skeleton {
    pub(crate) bones: Vec<Bone>,
}

/// A rigid motion of space: `x ↦ rotation x + shift`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Motion {
    pub(crate) rotation: DQuat,
    pub(crate) shift: DVec3,
}

impl Motion {
    pub(crate) fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.shift
    }
}

impl Skeleton {
    /// Adds a bone and returns its index.
    pub(crate) fn add(
        &mut self,
        name: impl Into<String>,
        parent: Option<usize>,
        head: DVec3,
        tail: DVec3,
    ) -> usize {
        self.bones.push(Bone {
            name: name.into(),
            parent,
            head,
            tail,
        });
        self.bones.len() - 1
    }

    /// Adds a chain of bones through `joints`, each the child of the one before.
    pub(crate) fn add_chain(&mut self, name: &str, parent: usize, joints: &[DVec3]) -> Vec<usize> {
        let mut above = parent;
        let mut chain = Vec::with_capacity(joints.len() - 1);
        for (k, ends) in joints.windows(2).enumerate() {
            above = self.add(format!("{name}_{}", k + 1), Some(above), ends[0], ends[1]);
            chain.push(above);
        }
        chain
    }

    /// The bone called `name`.
    ///
    /// # Panics
    /// If there is none: names are literals of this crate.
    pub(crate) fn find(&self, name: &str) -> usize {
        self.bones
            .iter()
            .position(|b| b.name == name)
            .unwrap_or_else(|| panic!("no bone is named {name}"))
    }

    /// The motion of every bone, given the rotation of each relative to its parent in the axes of
    /// the rest pose, and the shift of those without a parent.
    pub(crate) fn motions(&self, rotations: &[DQuat], root_shift: DVec3) -> Vec<Motion> {
        let mut motions: Vec<Motion> = Vec::with_capacity(self.bones.len());
        for (bone, &rotation) in self.bones.iter().zip(rotations) {
            // A bone rotates about its head, which moves with the parent.
            let (rotation, head) = match bone.parent {
                Some(parent) => (
                    motions[parent].rotation * rotation,
                    motions[parent].apply(bone.head),
                ),
                None => (rotation, bone.head + root_shift),
            };
            motions.push(Motion {
                rotation,
                shift: head - rotation * bone.head,
            });
        }

        motions
    }

    /// No rotation for any bone.
    pub(crate) fn rest(&self) -> Vec<DQuat> {
        vec![DQuat::IDENTITY; self.bones.len()]
    }
}

/// The bones that each vertex follows, and how much; weights of a vertex sum to one.
#[derive(Debug, Clone)]
pub(crate) struct Skin {
    pub(crate) weights: Vec<Vec<(usize, f64)>>,
}

impl Skin {
    /// Binds `mesh` to the bones of the solids of `body`.
    ///
    /// `rounds` of diffusion widen joints by about the root of their number in edges.
    pub(crate) fn bind(body: &Body, bone_count: usize, mesh: &QuadMesh, rounds: usize) -> Self {
        let mut dense = parallel::map(mesh.positions.len(), GRAIN, |v| {
            bone_weights(body, bone_count, mesh.positions[v])
        });
        let neighbours = surface_nets::neighbours(mesh);

        // Diffusion of the weights over the mesh smooths the joints.
        for _ in 0..rounds {
            let old = &dense;
            dense = parallel::map(old.len(), GRAIN, |v| {
                diffuse(&old[v], neighbours[v].iter().map(|&w| &old[w as usize]))
            });
        }

        Self {
            weights: dense.iter().map(|row| strongest(row)).collect(),
        }
    }

    /// The part of the skeleton that each quad follows most: the name of the bone without its
    /// number in a chain.
    pub(crate) fn parts<'a>(&self, skeleton: &'a Skeleton, mesh: &QuadMesh) -> Vec<&'a str> {
        let part = |quad: &[u32; 4]| {
            let strongest = quad
                .iter()
                .map(|&v| self.weights[v as usize][0])
                .max_by(|a, b| a.1.total_cmp(&b.1));
            let name = &skeleton.bones[strongest.map_or(0, |(bone, _)| bone)].name;
            name.trim_end_matches(|c: char| c.is_ascii_digit())
                .trim_end_matches('_')
        };
        mesh.quads.iter().map(part).collect()
    }

    /// The positions that `motions` give to vertices resting at `rest`.
    pub(crate) fn pose(&self, motions: &[Motion], rest: &[DVec3]) -> Vec<DVec3> {
        let doubles: Vec<[DQuat; 2]> = motions.iter().map(dual_quaternion).collect();
        parallel::map(rest.len(), GRAIN, |v| {
            blend(&doubles, &self.weights[v], rest[v])
        })
    }
}

fn bone_weights(body: &Body, bone_count: usize, point: DVec3) -> Vec<f64> {
    let limb = body.closest_limb(point);

    // The closest solid of a bone counts.
    let mut distances = vec![f64::INFINITY; bone_count];
    for (bone, distance) in body.bone_distances(limb, point) {
        distances[bone] = distances[bone].min(distance);
    }
    let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let mut weights: Vec<f64> = distances.iter().map(|d| math::exp(least - d)).collect();
    normalize(&mut weights);
    weights
}

fn diffuse<'a>(own: &[f64], around: impl ExactSizeIterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let share = 0.5 / around.len() as f64;
    let mut mixed: Vec<f64> = own.iter().map(|w| 0.5 * w).collect();
    for other in around {
        for (sum, w) in mixed.iter_mut().zip(other) {
            *sum += share * w;
        }
    }
    mixed
}

/// The strongest weights, each less [`FAINT`], which fades faint ones to nothing without a jump.
fn strongest(row: &[f64]) -> Vec<(usize, f64)> {
    let cut = FAINT.min(0.5 * row.iter().copied().fold(0.0, f64::max));
    let mut kept: Vec<(usize, f64)> = row
        .iter()
        .map(|w| w - cut)
        .enumerate()
        .filter(|(_, w)| *w > 0.0)
        .collect();

    // Ties go by bone index, so that the result is always the same.
    kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    kept.truncate(INFLUENCES);
    let total: f64 = kept.iter().map(|(_, w)| w).sum();
    for (_, weight) in &mut kept {
        *weight /= total;
    }

    kept
}

fn normalize(weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    for weight in weights {
        *weight /= total;
    }
}

fn dual_quaternion(motion: &Motion) -> [DQuat; 2] {
    let shift = DQuat::from_xyzw(motion.shift.x, motion.shift.y, motion.shift.z, 0.0);
    [motion.rotation, shift * motion.rotation * 0.5]
}

fn blend(doubles: &[[DQuat; 2]], weights: &[(usize, f64)], point: DVec3) -> DVec3 {
    let Some(&(strongest, _)) = weights.first() else {
        return point;
    };

    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let (mut real, mut dual) = (zero, zero);
    for &(bone, weight) in weights {
        // Both signs stand for one rotation; take the one on the side of the strongest bone.
        let sign = if doubles[bone][0].dot(doubles[strongest][0]) < 0.0 {
            -weight
        } else {
            weight
        };
        real += doubles[bone][0] * sign;
        dual += doubles[bone][1] * sign;
    }

    // The blended dual quaternion, normalised, is a rigid motion again.
    let length = real.length();
    let (real, dual) = (real * (1.0 / length), dual * (1.0 / length));
    let shift = dual * real.conjugate() * 2.0;

    real * point + DVec3::new(shift.x, shift.y, shift.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    fn two_bones() -> Skeleton {
        let mut skeleton = Skeleton::default();
        let root = skeleton.add("root", None, DVec3::ZERO, DVec3::Y);
        skeleton.add("tip", Some(root), DVec3::Y, DVec3::Y * 2.0);
        skeleton
    }

    #[test]
    fn a_child_bone_rotates_about_its_own_head_and_follows_its_parent() {
        let skeleton = two_bones();
        let quarter = math::rotation_about(DVec3::Z, FRAC_PI_2); // Takes y to −x.
        let motions = skeleton.motions(&[quarter, quarter], DVec3::Z);
        let end = motions[1].apply(DVec3::Y * 2.0);
        assert!(end.distance(DVec3::new(-1.0, -1.0, 1.0)) < 1e-15);
    }

    #[test]
    fn skin_that_follows_bones_with_one_motion_moves_rigidly() {
        let skeleton = two_bones();
        let rotation = math::rotation_about(DVec3::new(0.6, 0.0, 0.8), 2.1);
        let motions = skeleton.motions(&[rotation, DQuat::IDENTITY], DVec3::X);
        let skin = Skin {
            weights: vec![vec![(0, 0.4), (1, 0.6)]],
        };
        let point = DVec3::new(0.3, 1.2, -0.4);
        assert!(skin.pose(&motions, &[point])[0].distance(rotation * point + DVec3::X) < 1e-14);
    }

    #[test]
    fn half_of_a_90_degree_rotation_is_45_degrees_and_keeps_the_distance_from_the_joint() {
        let skeleton = two_bones();
        let motions = skeleton.motions(
            &[DQuat::IDENTITY, math::rotation_about(DVec3::Z, FRAC_PI_2)],
            DVec3::ZERO,
        );
        let skin = Skin {
            weights: vec![vec![(0, 0.5), (1, 0.5)]],
        };

        let bent = skin.pose(&motions, &[DVec3::new(0.5, 1.0, 0.0)])[0];
        let eighth = math::rotation_about(DVec3::Z, 0.5 * FRAC_PI_2) * DVec3::X * 0.5 + DVec3::Y;
        assert!(bent.distance(eighth) < 1e-15);
    }
}
