//! Another reference pose for the target: parts of it turned before the animation is applied.
//!
//! **Problem.** A clip that lifts an arm from a hanging pose lifts it too far from a raised one.
//! The target's reference pose has to be brought near the source's, by hand or by what both meshes
//! tell.
//!
//! **Equation.** A rotation `R_j` per target triangle comes before its deformation: eq. 6 is solved
//! for `M_j R_j`. A region with blend weights `w_j` is turned about an axis by `R_j ← exp(w_j θ a)
//! R_j`.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eq. 6 and section 3.2.4.
//!
//! **Ours.** For references that differ, [`PoseModification::aligning`] fits one rotation to every
//! stiff partition, from the centroids and normals of its triangles to those of their sources, and
//! spreads their logarithms over the flexible triangles by eq. 5. A difference of the whole meshes
//! (one looks along x, the other along z) is taken out first and put back after the deformation:
//! then the animation plays in the target's own directions.

use pliant_linalg::{nearest_rotation, outer, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{Mesh, triangle_area, triangle_normal};

use crate::blend::{nearest_branch, rotation_exp, rotation_log};
use crate::blend_weights::spread_over_triangles;
use crate::{Partitions, TransferError, TriangleMap};

/// A source that seems turned by less is one of another shape. *Ours*: 30°, in radians; a horse on
/// a camel seems turned by a few degrees.
const TURNED: f64 = 0.52;

/// What a normal counts against a centroid at the distance of the partition's own size. *Ours*:
/// enough to tell the turn of a long thin partition about its axis, which centroids hardly show.
const NORMAL_WEIGHT: f64 = 0.25;

/// A rotation per target triangle that comes before its deformation.
#[derive(Debug, Clone)]
pub struct PoseModification {
    rotations: Vec<DMat3>,
    /// Comes after the deformation of every triangle.
    turned_back: DMat3,
}

impl PoseModification {
    /// None, for a target of `triangles` triangles.
    #[must_use]
    pub fn none(triangles: usize) -> Self {
        Self {
            rotations: vec![DMat3::IDENTITY; triangles],
            turned_back: DMat3::IDENTITY,
        }
    }

    /// Turns a region, given by [`blend_weights`](crate::blend_weights()), about `axis` by an
    /// angle. Does nothing for an axis without length.
    ///
    /// # Errors
    /// Another number of weights than triangles, or numbers that are not finite.
    pub fn turn_region(
        &mut self,
        weights: &[f64],
        axis: DVec3,
        angle_rad: f64,
    ) -> Result<(), TransferError> {
        TransferError::check_count(
            "the weights of a turned region",
            weights.len(),
            self.rotations.len(),
        )?;
        if !(angle_rad.is_finite() && axis.is_finite()) {
            return Err(TransferError::BadNumber {
                what: "the angle or axis of a turned region",
                value: angle_rad,
                needed: "finite",
            });
        }
        let log = axis.normalize_or_zero() * angle_rad;
        for (rotation, &weight) in self
            .rotations
            .iter_mut()
            .zip(weights)
            .filter(|(_, weight)| **weight != 0.0)
        {
            *rotation = DMat3::from_quat(rotation_exp(log * weight)) * *rotation;
        }
        Ok(())
    }

    /// The rotations that bring the stiff partitions of `target` into the pose of `source` at rest.
    ///
    /// # Errors
    /// A map or partitions of another target, or a map of another source.
    pub fn aligning(
        target: &Mesh,
        source: &Mesh,
        map: &TriangleMap,
        partitions: &Partitions,
    ) -> Result<Self, TransferError> {
        let count = target.triangles().len();
        TransferError::check_count("the map", map.len(), count)?;
        TransferError::check_count("the partitions", partitions.of_triangles().len(), count)?;
        crate::synthesis::check_map(map, source)?;
        let pairs = matched_faces(target, source, map);
        let whole = fit_turn(&pairs, |_| true).unwrap_or(DMat3::IDENTITY);
        let mut goals: Vec<Option<[f64; 3]>> = vec![None; count];
        let mut members = vec![Vec::new(); partitions.len()];
        partitions
            .of_triangles()
            .iter()
            .enumerate()
            .for_each(|(t, &p)| members[p as usize].push(t));
        for members in members.iter().filter(|members| members.len() > 1) {
            let Some(turn) = fit_turn(&pairs, |t| members.binary_search(&t).is_ok()) else {
                continue;
            };
            // Relative to the whole, so that the logarithms are short and may be mixed.
            let log = rotation_log(DQuat::from_mat3(&(turn * whole.transpose())));
            members
                .iter()
                .for_each(|&t| goals[t] = Some(nearest_branch(log, DVec3::ZERO).to_array()));
        }
        let [x, y, z] = spread_over_triangles(target, &goals)?;
        let turn = |t: usize| DMat3::from_quat(rotation_exp(DVec3::new(x[t], y[t], z[t]))) * whole;
        Ok(Self {
            rotations: (0..count).map(turn).collect(),
            turned_back: whole.transpose(),
        })
    }

    /// The turn of a source that faces another way than the target, or lies on another side;
    /// nothing where both face alike.
    ///
    /// Shapes that differ seem turned a little, which is left to them: a turn counts from 30° on,
    /// and a right angle or a multiple of it is taken for meant.
    ///
    /// # Errors
    /// A map of another target or source.
    pub fn facing(
        target: &Mesh,
        source: &Mesh,
        map: &TriangleMap,
    ) -> Result<Option<Self>, TransferError> {
        let count = target.triangles().len();
        TransferError::check_count("the map", map.len(), count)?;
        crate::synthesis::check_map(map, source)?;
        let Some(turn) = fit_turn(&matched_faces(target, source, map), |_| true) else {
            return Ok(None);
        };
        let apart =
            |other: DMat3| rotation_log(DQuat::from_mat3(&(turn * other.transpose()))).length();
        if apart(DMat3::IDENTITY) < TURNED {
            return Ok(None);
        }
        let whole = right_angled(turn);
        let whole = if apart(whole) < TURNED { whole } else { turn };
        Ok(Some(Self {
            rotations: vec![whole; count],
            turned_back: whole.transpose(),
        }))
    }

    /// The angle by which directions of the source are turned into those of the target.
    #[must_use]
    pub fn whole_angle_rad(&self) -> f64 {
        rotation_log(DQuat::from_mat3(&self.turned_back)).length()
    }

    /// The rotation of every triangle.
    #[must_use]
    pub fn rotations(&self) -> &[DMat3] {
        &self.rotations
    }

    /// A way of the source, in the target's own directions.
    pub(crate) fn in_directions_of_target(&self, way: DVec3) -> DVec3 {
        self.turned_back * way
    }

    /// `M_j ← M_j R_j`, in the target's own directions.
    ///
    /// # Panics
    /// If there is not one gradient per triangle.
    pub fn apply(&self, gradients: &mut [DMat3]) {
        assert_eq!(
            gradients.len(),
            self.rotations.len(),
            "one gradient per triangle"
        );
        parallel::for_each_chunk_mut(gradients, 2048, |start, chunk| {
            for (gradient, rotation) in chunk.iter_mut().zip(&self.rotations[start..]) {
                *gradient = self.turned_back * *gradient * *rotation;
            }
        });
    }
}

impl PoseModification {
    /// The whole turn alone: `M_j` in the target's own directions.
    ///
    /// # Panics
    /// If there is not one gradient per triangle.
    pub(crate) fn apply_whole(&self, gradients: &mut [DMat3]) {
        assert_eq!(
            gradients.len(),
            self.rotations.len(),
            "one gradient per triangle"
        );
        let whole = self.turned_back.transpose();
        parallel::for_each_chunk_mut(gradients, 2048, |_, chunk| {
            chunk
                .iter_mut()
                .for_each(|gradient| *gradient = self.turned_back * *gradient * whole);
        });
    }
}

/// The rotation that takes axes to axes and is nearest to `turn`: of the 24, that with the largest
/// trace beside it.
fn right_angled(turn: DMat3) -> DMat3 {
    let axes = [
        DVec3::X,
        DVec3::Y,
        DVec3::Z,
        DVec3::NEG_X,
        DVec3::NEG_Y,
        DVec3::NEG_Z,
    ];
    let pairs = axes.iter().flat_map(|&x| {
        axes.iter()
            .filter(move |y| x.dot(**y) == 0.0)
            .map(move |&y| DMat3::from_cols(x, y, x.cross(y)))
    });
    let likeness = |other: &DMat3| (0..3).map(|k| turn.col(k).dot(other.col(k))).sum::<f64>();
    pairs
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .expect("there are 24")
}

/// A target triangle and what it takes from: area, centroids and normals.
struct MatchedFace {
    triangle: usize,
    area: f64,
    target: [DVec3; 2],
    source: [DVec3; 2],
}

fn matched_faces(target: &Mesh, source: &Mesh, map: &TriangleMap) -> Vec<MatchedFace> {
    let face = |mesh: &Mesh, t: usize| {
        let points = mesh.triangle_points(t);
        [
            points.into_iter().sum::<DVec3>() / 3.0,
            triangle_normal(points),
        ]
    };
    let matched = (0..map.len()).filter(|&t| !map.row(t).is_empty());
    matched
        .map(|t| {
            let mean = map
                .row(t)
                .iter()
                .fold([DVec3::ZERO; 2], |sum, &(s, weight)| {
                    let [centroid, normal] = face(source, s as usize);
                    [sum[0] + centroid * weight, sum[1] + normal * weight]
                });
            MatchedFace {
                triangle: t,
                area: triangle_area(target.triangle_points(t)),
                target: face(target, t),
                source: mean,
            }
        })
        .collect()
}

/// The rotation from target to source that fits centroids (about their means, each in units of its
/// own spread) and normals.
fn fit_turn(faces: &[MatchedFace], member: impl Fn(usize) -> bool) -> Option<DMat3> {
    let own = || faces.iter().filter(|face| member(face.triangle));
    let total: f64 = own().map(|face| face.area).sum();
    if total <= 0.0 {
        return None;
    }
    let mean = |of: fn(&MatchedFace) -> DVec3| {
        own().map(|face| of(face) * face.area).sum::<DVec3>() / total
    };
    let (from, to) = (mean(|face| face.target[0]), mean(|face| face.source[0]));
    let spread = |of: fn(&MatchedFace) -> DVec3, center: DVec3| {
        let squares: f64 = own()
            .map(|face| face.area * of(face).distance_squared(center))
            .sum();
        (squares / total).sqrt().max(f64::MIN_POSITIVE)
    };
    let (from_size, to_size) = (
        spread(|face| face.target[0], from),
        spread(|face| face.source[0], to),
    );
    let mut covariance = DMat3::ZERO;
    for face in own() {
        let (p, q) = (
            (face.target[0] - from) / from_size,
            (face.source[0] - to) / to_size,
        );
        covariance += (outer(q, p) + outer(face.source[1], face.target[1]) * NORMAL_WEIGHT)
            * (face.area / total);
    }
    Some(nearest_rotation(covariance))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::{Membership, Reconstruction, ReconstructionForm, blend_weights};
    use pliant_mesh::shapes;

    fn largest(m: DMat3) -> f64 {
        m.to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, b| a.max(b.abs()))
    }

    /// A sheet of 12 × 12 quads with a crease across the middle, in columns of 24 triangles; the
    /// far half bends by `angle`.
    fn bent(angle: f64) -> Mesh {
        let sheet = shapes::bumpy_sheet(12, 0.2);
        let hinge = DVec3::new(0.5, 0.0, 0.0);
        let bend = |p: DVec3| {
            let way = ((p.x - 0.4) / 0.2).clamp(0.0, 1.0);
            if p.x < 0.4 {
                p
            } else {
                DMat3::from_rotation_y(-angle * way) * (p - hinge) + hinge
            }
        };
        sheet
            .posed(sheet.positions().iter().map(|p| bend(*p)).collect())
            .unwrap()
    }

    fn halves(mesh: &Mesh) -> Partitions {
        let flexibility: Vec<f64> = (0..288)
            .map(|t| if (4..8).contains(&(t / 24)) { 1.0 } else { 0.0 })
            .collect();
        Partitions::new(mesh, &flexibility, 0.1).unwrap()
    }

    #[test]
    fn a_turned_region_turns_its_stiff_part_by_the_angle_and_leaves_the_other() {
        let mesh = bent(0.0);
        let members: Vec<Membership> = halves(&mesh)
            .refine(&(0..288).map(|t| t >= 144).collect::<Vec<_>>())
            .unwrap();
        let mut pose = PoseModification::none(288);
        pose.turn_region(
            &blend_weights(&mesh, &members).unwrap(),
            DVec3::Y * 3.0,
            0.8,
        )
        .unwrap();
        let mut gradients = vec![DMat3::IDENTITY; 288];
        pose.apply(&mut gradients);
        assert!(
            largest(gradients[0] - DMat3::IDENTITY) < 1e-15
                && largest(gradients[280] - DMat3::from_rotation_y(0.8)) < 1e-14
        );
        let posed = Reconstruction::factor(&mesh, ReconstructionForm::default())
            .unwrap()
            .solve(&gradients);
        let [a, b] = [mesh.vertex_count() - 1, mesh.vertex_count() - 14];
        let turned = DMat3::from_rotation_y(0.8) * (mesh.positions()[a] - mesh.positions()[b]);
        assert!((posed[a] - posed[b]).distance(turned) < 1e-2);
    }

    #[test]
    fn the_same_reference_pose_needs_no_correction() {
        let mesh = bent(0.3);
        let pose =
            PoseModification::aligning(&mesh, &mesh, &TriangleMap::identity(288), &halves(&mesh))
                .unwrap();
        assert!(
            pose.rotations()
                .iter()
                .all(|r| largest(*r - DMat3::IDENTITY) < 1e-12)
        );
    }

    #[test]
    fn a_target_bent_otherwise_is_brought_into_the_pose_of_the_source() {
        let (source, target) = (bent(0.9), bent(0.0));
        let pose = PoseModification::aligning(
            &target,
            &source,
            &TriangleMap::identity(288),
            &halves(&target),
        )
        .unwrap();
        let mut gradients = vec![DMat3::IDENTITY; 288];
        pose.apply(&mut gradients);
        let angle_between = |a: usize, b: usize| {
            rotation_log(DQuat::from_mat3(&(gradients[a].transpose() * gradients[b]))).length()
        };
        assert!(
            (angle_between(0, 280) - 0.9).abs() < 0.02,
            "{}",
            angle_between(0, 280)
        );
        assert!((0..48).all(|t| largest(gradients[t] - gradients[0]) < 1e-3));
    }

    #[test]
    fn a_source_that_looks_elsewhere_plays_in_the_targets_directions() {
        let target = bent(0.2);
        let turn = DMat3::from_rotation_z(1.9);
        let source = target
            .posed(target.positions().iter().map(|p| turn * *p * 5.0).collect())
            .unwrap();
        let pose = PoseModification::aligning(
            &target,
            &source,
            &TriangleMap::identity(288),
            &halves(&target),
        )
        .unwrap();
        // The source bends about its own axis: the target bends about the same, seen from itself.
        let bend = DMat3::from_axis_angle(turn * DVec3::X, 0.7);
        let mut gradients = vec![bend; 288];
        pose.apply(&mut gradients);
        assert!(
            gradients
                .iter()
                .all(|g| largest(*g - DMat3::from_rotation_x(0.7)) < 1e-3)
        );
    }

    #[test]
    fn a_copy_that_faces_another_way_is_found_turned_and_a_slight_turn_is_not() {
        let rest = crate::test_shapes::lump(2, 0.3);
        let map = TriangleMap::identity(rest.triangles().len());
        let facing = |angle: f64| {
            let turn = DMat3::from_axis_angle(DVec3::Y, angle);
            let target = rest
                .posed(rest.positions().iter().map(|p| turn * *p).collect())
                .unwrap();
            PoseModification::facing(&target, &rest, &map)
                .unwrap()
                .map(|pose| (pose.whole_angle_rad(), pose.rotations()[0]))
        };
        assert!(facing(0.2).is_none());
        // Near a right angle it is the right angle; far from one, the turn itself.
        for (angle, expected) in [(1.5, FRAC_PI_2), (0.8, 0.8), (-1.7, FRAC_PI_2), (3.0, PI)] {
            let (found, rotation) = facing(angle).unwrap();
            assert!((found - expected).abs() < 1e-9, "{angle}: {found}");
            assert!((rotation * DVec3::Y - DVec3::Y).length() < 1e-9);
        }
    }
}
