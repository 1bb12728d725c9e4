//! Translations of bones from their rotations and from where the control points are.
//!
//! **Problem.** Rotations of bones are predicted one by one; find the translations by which the
//! pieces meet and the control points are followed.
//!
//! **Equation.** A vertex is `v = Σⱼ wᵥⱼ (Rⱼ vʳ + tⱼ)` (eq. 1), and `Lᵥ = Σⱼ wᵥⱼ Rⱼ` is the blended
//! rotation at it. An edge is predicted as the edge at rest turned by the blended rotations of its
//! ends, half each:
//!
//! ```text
//! min_t Σ_{ab} |(v_a − v_b) − ½(L_a + L_b)(v_aʳ − v_bʳ)|² + β Σ_k |v_k − c_k|²
//! ```
//!
//! With the middle `m` of an edge at rest, an edge's difference is `Σⱼ (w_aj − w_bj)(Rⱼ m + tⱼ)`:
//! the motions at both ends are to agree in the middle. Every row is thus `Σⱼ uⱼ (Rⱼ m + tⱼ) ≈ g`,
//! and with all rows
//!
//! ```text
//! A t = f,    A_ij = Σ uᵢ uⱼ,    fᵢ = Σ uᵢ g − Σⱼ Rⱼ M_ij,    M_ij = Σ uᵢ uⱼ m
//! ```
//!
//! `A` is sparse, definite and factored once; `f` is linear in rotations and control points: `t = P
//! f`.
//!
//! **Source.** Huang et al. 2012, section 6.1.3 (`Σ E_e + β Σ E_c`); Feng, Kim, Yu, "Real-time data
//! driven deformation using kernel canonical correlation analysis", 2008, for the solver that they
//! refer to.
//!
//! **Ours.** The text is silent on the predicted edge where two bones meet: half of each end keeps
//! `f` linear in the rotations. A weak row per bone holds what no control point reaches near where
//! the points as a whole carry it. Points that are held hard weigh [`HARD_BETA`] here; since bones
//! that are fewer than points, or shared by them, cannot meet every point, what is left is
//! for a smooth correction of the surface.

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver, parallel};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::Skin;

use crate::control_points::Alignment;
use crate::poisson::Hold;
use crate::{ControlPoints, LearnError};

/// Part of a bone's mean weight in the system by which it is held where no control point reaches.
const ANCHOR: f64 = 1e-9;

/// `β` of points that are held hard: all that translations can do for them.
const HARD_BETA: f64 = 1e4;

/// Bones in one task.
const GRAIN: usize = 64;

/// The system of one skin, its mesh and its control points, factored.
#[derive(Debug, Clone)]
pub(crate) struct BoneTranslations {
    solver: SpdSolver,
    /// `A`: only its pattern is used after factoring.
    pattern: SparseMatrix,
    /// `M`, entry by entry as in the pattern.
    moments: Vec<DVec3>,
    /// What each control point gives to bones: `β w`.
    shares: Vec<Vec<(u32, f64)>>,
    /// Centres of the bones at rest, about the origin, and the weight by which they are held.
    centers: Vec<DVec3>,
    anchor: f64,
    /// Rest positions are measured from here, so that the place of the scene costs no digits.
    origin: DVec3,
}

impl BoneTranslations {
    pub(crate) fn factor(
        mesh: &Mesh,
        skin: &Skin,
        control: &ControlPoints,
        hold: Hold,
    ) -> Result<Self, LearnError> {
        let beta = match hold {
            Hold::Hard => HARD_BETA,
            Hold::Soft(beta) if beta > 0.0 && beta.is_finite() => beta,
            Hold::Soft(beta) => {
                return Err(LearnError::BadNumber {
                    what: "beta",
                    value: beta,
                    needed: "a number above zero",
                });
            }
        };
        let rest = mesh.positions();
        let origin = rest.iter().sum::<DVec3>() / rest.len() as f64;
        let mut rows = Rows::default();
        for &[a, b] in mesh.topology().edges() {
            rows.push_edge(
                skin,
                a as usize,
                b as usize,
                (rest[a as usize] + rest[b as usize]) * 0.5 - origin,
            );
        }
        for &k in control.vertices() {
            let own = skin
                .influences(k as usize)
                .iter()
                .map(|i| (i.bone, i.weight * beta.sqrt()));
            rows.push(own.collect(), rest[k as usize] - origin);
        }
        let anchor =
            ANCHOR * rows.values.iter().map(|u| u * u).sum::<f64>() / skin.bone_count() as f64;
        let centers: Vec<DVec3> = skin
            .centers(rest)
            .into_iter()
            .map(|center| center - origin)
            .collect();
        centers
            .iter()
            .enumerate()
            .for_each(|(bone, center)| rows.push(vec![(bone as u32, anchor.sqrt())], *center));
        let (pattern, moments) = rows.products(skin.bone_count());
        let of_point = |&k: &u32| {
            skin.influences(k as usize)
                .iter()
                .map(|i| (i.bone, i.weight * beta))
                .collect()
        };
        let shares = control.vertices().iter().map(of_point).collect();
        Ok(Self {
            solver: SpdSolver::factor(&pattern)?,
            pattern,
            moments,
            shares,
            centers,
            anchor,
            origin,
        })
    }

    /// The motions of bones that turn by `turns`, for places of the control points, which as a
    /// whole moved by `alignment`.
    pub(crate) fn solve(
        &self,
        turns: &[DMat3],
        alignment: &Alignment,
        control: &[DVec3],
    ) -> Vec<DAffine3> {
        let world = alignment.to_present(self.origin);
        let mut shifts = vec![DVec3::ZERO; turns.len()];
        let (starts, indices) = (self.pattern.starts(), self.pattern.indices());
        parallel::for_each_chunk_mut(&mut shifts, GRAIN, |first, chunk| {
            for (k, shift) in chunk.iter_mut().enumerate() {
                let range = starts[first + k]..starts[first + k + 1];
                let turned = indices[range.clone()]
                    .iter()
                    .zip(&self.moments[range])
                    .map(|(&j, moment)| turns[j as usize] * *moment);
                *shift = alignment.rotation * self.centers[first + k] * self.anchor
                    - turned.sum::<DVec3>();
            }
        });
        for (own, place) in self.shares.iter().zip(control) {
            own.iter()
                .for_each(|&(bone, share)| shifts[bone as usize] += (*place - world) * share);
        }
        self.solver
            .solve_points_in_place(&mut shifts, &mut SolveWorkspace::new());
        let motion = |(turn, shift): (&DMat3, DVec3)| DAffine3 {
            matrix3: *turn,
            translation: world + shift - *turn * self.origin,
        };
        turns.iter().zip(shifts).map(motion).collect()
    }
}

/// Rows `Σⱼ uⱼ (Rⱼ m + tⱼ)`.
#[derive(Debug)]
struct Rows {
    starts: Vec<usize>,
    bones: Vec<u32>,
    values: Vec<f64>,
    /// `m` of each row.
    points: Vec<DVec3>,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            starts: vec![0],
            bones: Vec::new(),
            values: Vec::new(),
            points: Vec::new(),
        }
    }
}

impl Rows {
    fn push(&mut self, mut entries: Vec<(u32, f64)>, point: DVec3) {
        entries.sort_by_key(|entry| entry.0);
        self.bones.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        self.starts.push(self.bones.len());
        self.points.push(point);
    }

    /// The difference of two vertices; none where they follow the same bones alike.
    fn push_edge(&mut self, skin: &Skin, a: usize, b: usize, middle: DVec3) {
        let mut entries: Vec<(u32, f64)> = skin
            .influences(a)
            .iter()
            .map(|i| (i.bone, i.weight))
            .collect();
        for other in skin.influences(b) {
            match entries.iter_mut().find(|entry| entry.0 == other.bone) {
                Some(entry) => entry.1 -= other.weight,
                None => entries.push((other.bone, -other.weight)),
            }
        }
        entries.retain(|entry| entry.1 != 0.0);
        if !entries.is_empty() {
            self.push(entries, middle);
        }
    }

    /// `A` and `M`.
    fn products(self, bones: usize) -> (SparseMatrix, Vec<DVec3>) {
        let by_axis = |axis: usize| {
            let mut scaled = self.values.clone();
            for (ends, point) in self.starts.windows(2).zip(&self.points) {
                scaled[ends[0]..ends[1]]
                    .iter_mut()
                    .for_each(|value| *value *= point[axis]);
            }
            SparseMatrix::from_rows(bones, self.starts.clone(), self.bones.clone(), scaled)
        };
        let rows = SparseMatrix::from_rows(
            bones,
            self.starts.clone(),
            self.bones.clone(),
            self.values.clone(),
        );
        let transpose = rows.transpose();
        let [x, y, z] = [0, 1, 2].map(|axis| transpose.times(&by_axis(axis)));
        let entries = x.values().iter().zip(y.values()).zip(z.values());
        let moments = entries.map(|((&x, &y), &z)| DVec3::new(x, y, z)).collect();
        (transpose.times(&rows), moments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bar::{bar, bar_control};
    use pliant_linalg::{DenseMatrix, Svd};
    use pliant_mesh::glam::DQuat;
    use pliant_rig::Influence;

    /// Three bones along the bar, which blend around −1 and 1.
    fn skin() -> Skin {
        let weights = |p: &DVec3| {
            let (first, second) = ((-0.5 - p.x).clamp(0.0, 1.0), (1.5 - p.x).clamp(0.0, 1.0));
            let all = [first, second - first, 1.0 - second]
                .into_iter()
                .enumerate();
            all.map(|(k, weight)| Influence {
                bone: k as u32,
                weight,
            })
            .collect()
        };
        Skin::new(3, bar().positions().iter().map(weights)).unwrap()
    }

    /// Bones that turn about −1 and 1.
    fn motions() -> Vec<DAffine3> {
        let about = |x: f64, turn: DQuat| {
            DAffine3::from_translation(DVec3::X * x)
                * DAffine3::from_quat(turn)
                * DAffine3::from_translation(-DVec3::X * x)
        };
        let root = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(0.4),
            DVec3::new(3.0, -2.0, 5.0),
        );
        let second = root * about(-1.0, DQuat::from_rotation_z(0.5));
        vec![
            root,
            second,
            second * about(1.0, DQuat::from_rotation_z(-0.7)),
        ]
    }

    fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    }

    #[test]
    fn the_translations_are_those_of_the_dense_least_squares() {
        let (mesh, skin, control, beta) = (bar(), skin(), bar_control(), 3.0);
        let turns: Vec<DMat3> = motions().iter().map(|motion| motion.matrix3).collect();
        let goals: Vec<DVec3> = control
            .at(mesh.positions())
            .iter()
            .map(|p| *p * 1.2 + DVec3::new(p.y, -0.3 * p.x, 1.0))
            .collect();
        // By the first equation, as it stands: rows for (v_a − v_b) and for √β v_k, less what the
        // rotations do.
        let weight = |v: u32, bone: usize| {
            skin.influences(v as usize)
                .iter()
                .find(|i| i.bone as usize == bone)
                .map_or(0.0, |i| i.weight)
        };
        let blended = |v: u32| {
            (0..3)
                .map(|bone| turns[bone] * weight(v, bone))
                .fold(DMat3::ZERO, |sum, turn| sum + turn)
        };
        let rest = |v: u32| mesh.positions()[v as usize];
        let edges = mesh.topology().edges();
        let matrix = DenseMatrix::from_fn(edges.len() + goals.len(), 3, |row, bone| {
            match edges.get(row) {
                Some(&[a, b]) => weight(a, bone) - weight(b, bone),
                None => f64::sqrt(beta) * weight(control.vertices()[row - edges.len()], bone),
            }
        });
        let of_edge = |&[a, b]: &[u32; 2]| {
            (blended(a) + blended(b)) * 0.5 * (rest(a) - rest(b))
                - (blended(a) * rest(a) - blended(b) * rest(b))
        };
        let of_point =
            |(&k, goal): (&u32, &DVec3)| (*goal - blended(k) * rest(k)) * f64::sqrt(beta);
        let right: Vec<DVec3> = edges
            .iter()
            .map(of_edge)
            .chain(control.vertices().iter().zip(&goals).map(of_point))
            .collect();
        let inverse = Svd::of(matrix.as_ref()).unwrap().pseudo_inverse(1e-12);
        let expected: Vec<DVec3> = (0..3)
            .map(|bone| {
                right
                    .iter()
                    .enumerate()
                    .map(|(row, r)| *r * inverse[(bone, row)])
                    .sum()
            })
            .collect();
        let system = BoneTranslations::factor(&mesh, &skin, &control, Hold::Soft(beta)).unwrap();
        let alignment = Alignment::of(&control.at(mesh.positions()), &goals);
        let found: Vec<DVec3> = system
            .solve(&turns, &alignment, &goals)
            .iter()
            .map(|motion| motion.translation)
            .collect();
        assert!(farthest(&found, &expected) < 1e-6, "{found:?} {expected:?}");
    }

    #[test]
    fn with_the_rotations_of_a_skinned_pose_the_pose_returns() {
        // Edges inside a blend are not turned rigidly by it, so the pose is met to what the blend
        // bends them, not exactly.
        let (mesh, skin, control) = (bar(), skin(), bar_control());
        let pose = skin.blend(mesh.positions(), &motions());
        let turns: Vec<DMat3> = motions().iter().map(|motion| motion.matrix3).collect();
        let alignment = Alignment::of(&control.at(mesh.positions()), &control.at(&pose));
        let found = |hold: Hold| {
            let system = BoneTranslations::factor(&mesh, &skin, &control, hold).unwrap();
            skin.blend(
                mesh.positions(),
                &system.solve(&turns, &alignment, &control.at(&pose)),
            )
        };
        assert!(
            farthest(&found(Hold::Soft(3.0)), &pose) < 0.02,
            "{}",
            farthest(&found(Hold::Soft(3.0)), &pose)
        );
        assert!(
            farthest(&found(Hold::Hard), &pose) < 1e-4,
            "{}",
            farthest(&found(Hold::Hard), &pose)
        );
    }

    #[test]
    fn a_part_without_control_points_goes_where_the_points_as_a_whole_go() {
        let one = bar();
        let count = one.vertex_count() as u32;
        let positions: Vec<DVec3> = [DVec3::ZERO, DVec3::Y * 5.0]
            .iter()
            .flat_map(|at| one.positions().iter().map(move |p| *p + *at))
            .collect();
        let triangles: Vec<[u32; 3]> = [0, count]
            .iter()
            .flat_map(|from| one.triangles().iter().map(move |t| t.map(|v| v + from)))
            .collect();
        let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
        let skin = Skin::new(
            2,
            (0..2 * count).map(|v| {
                vec![Influence {
                    bone: v / count,
                    weight: 1.0,
                }]
            }),
        )
        .unwrap();
        let control = bar_control();
        let moved = DAffine3::from_rotation_translation(
            DQuat::from_rotation_x(0.8),
            DVec3::new(40.0, 2.0, -7.0),
        );
        let goals: Vec<DVec3> = control
            .at(mesh.positions())
            .iter()
            .map(|p| moved.transform_point3(*p))
            .collect();
        let system = BoneTranslations::factor(&mesh, &skin, &control, Hold::Soft(3.0)).unwrap();
        let alignment = Alignment::of(&control.at(mesh.positions()), &goals);
        for motion in system.solve(&[moved.matrix3; 2], &alignment, &goals) {
            assert!(
                motion.translation.distance(moved.translation) < 1e-5,
                "{motion:?}"
            );
        }
    }

    #[test]
    fn a_weight_that_is_none_is_declined() {
        let bad = |beta| {
            BoneTranslations::factor(&bar(), &skin(), &bar_control(), Hold::Soft(beta)).is_err()
        };
        assert!([0.0, -1.0, f64::NAN].into_iter().all(bad));
    }
}
