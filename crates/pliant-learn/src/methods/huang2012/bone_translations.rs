//! Bone translations: a linear system for given rotations and control points.
//!
//! **Problem.** The rotation of each bone is predicted on its own. Find the translations with which
//! the surface stays connected and the control points are near their goals.
//!
//! **Equation.** A vertex is `v = Σⱼ wᵥⱼ (Rⱼ vʳ + tⱼ)` (eq. 1), and `Lᵥ = Σⱼ wᵥⱼ Rⱼ` is the blended
//! rotation at it. An edge is predicted as the edge at rest, rotated by the mean of the blended
//! rotations of its ends:
//!
//! ```text
//! min_t Σ_{ab} |(v_a − v_b) − ½(L_a + L_b)(v_aʳ − v_bʳ)|² + β Σ_k |v_k − c_k|²
//! ```
//!
//! With the middle `m` of an edge at rest, an edge's difference is `Σⱼ (w_aj − w_bj)(Rⱼ m + tⱼ)`:
//! the motions of both ends should agree in the middle. Every row is thus `Σⱼ uⱼ (Rⱼ m + tⱼ) ≈ g`,
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
//! driven deformation using kernel canonical correlation analysis", 2008, for the solver that the
//! publication refers to.
//!
//! **Departures.** The publication does not define the predicted edge between two bones; the mean
//! of both ends keeps `f` linear in the rotations. A weak row per bone keeps bones without a
//! control point near the position that the alignment of all points gives. Hard control points have
//! the weight [`HARD_BETA`] here. Bones that are fewer than the points, or shared by them, cannot
//! reach every point; a smooth correction of the surface does the rest.

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver, parallel};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::Skin;

use crate::control::Alignment;
use crate::methods::poisson::ControlConstraint;
use crate::{ControlPoints, LearnError};

/// Weight of the anchor of a bone, relative to the mean weight of a bone in the system.
const ANCHOR: f64 = 1e-9;

/// `β` of hard control points.
const HARD_BETA: f64 = 1e4;

/// Bones in one parallel task.
const BONES_PER_TASK: usize = 64;

/// The factored system of a skin, its mesh and its control points.
#[derive(Debug, Clone)]
pub(crate) struct BoneTranslations {
    solver: SpdSolver,
    /// `A`: only its pattern is used after factoring.
    pattern: SparseMatrix,
    /// `M`, entry by entry as in the pattern.
    moments: Vec<DVec3>,
    /// For each control point, its bones with the weights `β w`.
    point_weights: Vec<Vec<(u32, f64)>>,
    /// Centres of the bones at rest, relative to the origin, and the weight of their anchors.
    centers: Vec<DVec3>,
    anchor: f64,
    /// Rest positions are relative to this point, so that a mesh far from zero loses no digits.
    origin: DVec3,
}

impl BoneTranslations {
    pub(crate) fn factor(
        mesh: &Mesh,
        skin: &Skin,
        control: &ControlPoints,
        constraint: ControlConstraint,
    ) -> Result<Self, LearnError> {
        constraint.check()?;
        let beta = match constraint {
            ControlConstraint::Hard => HARD_BETA,
            ControlConstraint::Soft(beta) => beta,
        };
        let rest = mesh.positions();
        let origin = rest.iter().sum::<DVec3>() / rest.len() as f64;

        // Rows of edges and of control points, then one weak row per bone.
        let mut rows = Rows::default();
        for &[a, b] in mesh.topology().edges() {
            let middle = (rest[a as usize] + rest[b as usize]) * 0.5 - origin;
            rows.push_edge(skin, a as usize, b as usize, middle);
        }
        for &k in control.vertices() {
            let entries = scaled_influences(skin, k, beta.sqrt());
            rows.push(entries, rest[k as usize] - origin);
        }

        let squares: f64 = rows.values.iter().map(|u| u * u).sum();
        let anchor = ANCHOR * squares / skin.bone_count() as f64;
        let mut centers = skin.centers(rest);
        for (bone, center) in centers.iter_mut().enumerate() {
            *center -= origin;
            rows.push(vec![(bone as u32, anchor.sqrt())], *center);
        }

        let (pattern, moments) = rows.products(skin.bone_count());
        let vertices = control.vertices().iter();
        Ok(Self {
            solver: SpdSolver::factor(&pattern)?,
            pattern,
            moments,
            point_weights: vertices
                .map(|&k| scaled_influences(skin, k, beta))
                .collect(),
            centers,
            anchor,
            origin,
        })
    }

    /// The motions of bones with given rotations, for positions of the control points with the
    /// common rigid motion `alignment`.
    pub(crate) fn solve(
        &self,
        rotations: &[DMat3],
        alignment: &Alignment,
        control: &[DVec3],
    ) -> Vec<DAffine3> {
        // f, relative to the origin.
        let world = alignment.to_present(self.origin);
        let mut translations = vec![DVec3::ZERO; rotations.len()];
        parallel::for_each_chunk_mut(&mut translations, BONES_PER_TASK, |first, chunk| {
            for (k, translation) in chunk.iter_mut().enumerate() {
                let anchor = alignment.rotation * self.centers[first + k] * self.anchor;
                *translation = anchor - self.rotated_moments(first + k, rotations);
            }
        });
        for (weights, position) in self.point_weights.iter().zip(control) {
            for &(bone, weight) in weights {
                translations[bone as usize] += (*position - world) * weight;
            }
        }

        self.solver
            .solve_points_in_place(&mut translations, &mut SolveWorkspace::new());
        let mut motions = Vec::with_capacity(rotations.len());
        for (rotation, translation) in rotations.iter().zip(translations) {
            motions.push(DAffine3 {
                matrix3: *rotation,
                translation: world + translation - *rotation * self.origin,
            });
        }
        motions
    }

    /// `Σⱼ Rⱼ M_ij` of bone `i`.
    fn rotated_moments(&self, bone: usize, rotations: &[DMat3]) -> DVec3 {
        let starts = self.pattern.starts();
        let range = starts[bone]..starts[bone + 1];
        self.pattern.indices()[range.clone()]
            .iter()
            .zip(&self.moments[range])
            .map(|(&j, moment)| rotations[j as usize] * *moment)
            .sum::<DVec3>()
    }
}

/// The influences on a vertex, with weights times `factor`.
fn scaled_influences(skin: &Skin, vertex: u32, factor: f64) -> Vec<(u32, f64)> {
    let influences = skin.influences(vertex as usize).iter();
    influences.map(|i| (i.bone, i.weight * factor)).collect()
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

    /// The difference of two vertices; no row if both have the same weights.
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

        // Equal weights cancel: such an edge is rigid for any translations.
        entries.retain(|entry| entry.1 != 0.0);
        if !entries.is_empty() {
            self.push(entries, middle);
        }
    }

    /// `A` and `M`.
    fn products(self, bones: usize) -> (SparseMatrix, Vec<DVec3>) {
        let rows = self.matrix(bones, self.values.clone());
        let transpose = rows.transpose();
        // Rows scaled by one coordinate of m give that coordinate of M.
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let mut scaled = self.values.clone();
            for (ends, point) in self.starts.windows(2).zip(&self.points) {
                for value in &mut scaled[ends[0]..ends[1]] {
                    *value *= point[axis];
                }
            }
            transpose.times(&self.matrix(bones, scaled))
        });
        let entries = x.values().iter().zip(y.values()).zip(z.values());
        let moments = entries.map(|((&x, &y), &z)| DVec3::new(x, y, z)).collect();

        (transpose.times(&rows), moments)
    }

    fn matrix(&self, bones: usize, values: Vec<f64>) -> SparseMatrix {
        SparseMatrix::from_rows(bones, self.starts.clone(), self.bones.clone(), values)
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
            let first = (-0.5 - p.x).clamp(0.0, 1.0);
            let second = (1.5 - p.x).clamp(0.0, 1.0);
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
        let about = |x: f64, rotation: DQuat| {
            DAffine3::from_translation(DVec3::X * x)
                * DAffine3::from_quat(rotation)
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

    fn weight(skin: &Skin, v: u32, bone: usize) -> f64 {
        let mut influences = skin.influences(v as usize).iter();
        let own = influences.find(|i| i.bone as usize == bone);
        own.map_or(0.0, |i| i.weight)
    }

    /// `L_v`.
    fn blended(skin: &Skin, rotations: &[DMat3], v: u32) -> DMat3 {
        let mut sum = DMat3::ZERO;
        for (bone, rotation) in rotations.iter().enumerate() {
            sum += *rotation * weight(skin, v, bone);
        }
        sum
    }

    /// The translations by the first equation of the module: rows for `v_a − v_b` and for `√β v_k`,
    /// minus the parts of the rotations.
    fn dense_translations(rotations: &[DMat3], goals: &[DVec3], beta: f64) -> Vec<DVec3> {
        let mesh = bar();
        let skin = skin();
        let control = bar_control();
        let rest = |v: u32| mesh.positions()[v as usize];
        let blended = |v: u32| blended(&skin, rotations, v);

        let mut rows: Vec<[f64; 3]> = Vec::new();
        let mut right: Vec<DVec3> = Vec::new();
        for &[a, b] in mesh.topology().edges() {
            rows.push([0, 1, 2].map(|bone| weight(&skin, a, bone) - weight(&skin, b, bone)));
            let predicted = (blended(a) + blended(b)) * 0.5 * (rest(a) - rest(b));
            right.push(predicted - (blended(a) * rest(a) - blended(b) * rest(b)));
        }
        for (&k, goal) in control.vertices().iter().zip(goals) {
            rows.push([0, 1, 2].map(|bone| f64::sqrt(beta) * weight(&skin, k, bone)));
            right.push((*goal - blended(k) * rest(k)) * f64::sqrt(beta));
        }

        let matrix = DenseMatrix::from_fn(rows.len(), 3, |row, bone| rows[row][bone]);
        let inverse = Svd::of(matrix.as_ref()).unwrap().pseudo_inverse(1e-12);
        let mut translations = vec![DVec3::ZERO; 3];
        for (bone, translation) in translations.iter_mut().enumerate() {
            for (row, value) in right.iter().enumerate() {
                *translation += *value * inverse[(bone, row)];
            }
        }
        translations
    }

    #[test]
    fn the_translations_are_those_of_the_dense_least_squares() {
        let mesh = bar();
        let control = bar_control();
        let rotations: Vec<DMat3> = motions().iter().map(|motion| motion.matrix3).collect();
        let rest = control.at(mesh.positions());
        let goals: Vec<DVec3> = rest
            .iter()
            .map(|p| *p * 1.2 + DVec3::new(p.y, -0.3 * p.x, 1.0))
            .collect();

        let constraint = ControlConstraint::Soft(3.0);
        let system = BoneTranslations::factor(&mesh, &skin(), &control, constraint).unwrap();
        let alignment = Alignment::of(&rest, &goals);
        let motions = system.solve(&rotations, &alignment, &goals);
        let found: Vec<DVec3> = motions.iter().map(|motion| motion.translation).collect();

        let expected = dense_translations(&rotations, &goals, 3.0);
        assert!(farthest(&found, &expected) < 1e-6, "{found:?} {expected:?}");
    }

    #[test]
    fn the_rotations_of_a_skinned_pose_reproduce_the_pose() {
        // Blended edges bend, so that the pose is reproduced approximately.
        let mesh = bar();
        let skin = skin();
        let control = bar_control();
        let pose = skin.blend(mesh.positions(), &motions());
        let rotations: Vec<DMat3> = motions().iter().map(|motion| motion.matrix3).collect();
        let alignment = Alignment::of(&control.at(mesh.positions()), &control.at(&pose));

        let found = |constraint: ControlConstraint| {
            let system = BoneTranslations::factor(&mesh, &skin, &control, constraint).unwrap();
            skin.blend(
                mesh.positions(),
                &system.solve(&rotations, &alignment, &control.at(&pose)),
            )
        };

        assert!(
            farthest(&found(ControlConstraint::Soft(3.0)), &pose) < 0.02,
            "{}",
            farthest(&found(ControlConstraint::Soft(3.0)), &pose)
        );

        assert!(
            farthest(&found(ControlConstraint::Hard), &pose) < 1e-4,
            "{}",
            farthest(&found(ControlConstraint::Hard), &pose)
        );
    }

    #[test]
    fn a_component_without_control_points_follows_the_alignment_of_all_points() {
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
        // All control points are on the first bar and move rigidly.
        let moved = DAffine3::from_rotation_translation(
            DQuat::from_rotation_x(0.8),
            DVec3::new(40.0, 2.0, -7.0),
        );

        let goals: Vec<DVec3> = control
            .at(mesh.positions())
            .iter()
            .map(|p| moved.transform_point3(*p))
            .collect();
        let system =
            BoneTranslations::factor(&mesh, &skin, &control, ControlConstraint::Soft(3.0)).unwrap();
        let alignment = Alignment::of(&control.at(mesh.positions()), &goals);

        for motion in system.solve(&[moved.matrix3; 2], &alignment, &goals) {
            assert!(
                motion.translation.distance(moved.translation) < 1e-5,
                "{motion:?}"
            );
        }
    }

    #[test]
    fn a_weight_that_is_not_positive_is_rejected() {
        let bad = |beta| {
            BoneTranslations::factor(
                &bar(),
                &skin(),
                &bar_control(),
                ControlConstraint::Soft(beta),
            )
            .is_err()
        };
        assert!([0.0, -1.0, f64::NAN].into_iter().all(bad));
    }
}
