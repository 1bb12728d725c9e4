//! Pose modification: another reference pose of the target, with some regions rotated.
//!
//! **Problem.** A clip that lifts an arm from a hanging pose lifts it too far from a raised one. The
//! target's reference pose must be brought near the source's, by hand or from both meshes.
//!
//! **Equation.** A rotation `R_j` per target triangle comes before its deformation: eq. 6 is solved
//! for `M_j R_j`. A region with blend weights `w_j` is rotated about an axis by `R_j ← exp(w_j θ a)
//! R_j`.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eq. 6 and section 3.2.4.
//!
//! **Departures.** For reference poses that differ, [`PoseModification::aligning`] fits one rotation
//! to every stiff partition, from the centroids and normals of its triangles to those of their
//! sources, and spreads their rotation vectors over the flexible triangles by eq. 5. A rotation
//! between the whole meshes (one looks along x, the other along z) is removed first and restored
//! after the deformation: then the animation plays in the target's own directions.

use pliant_linalg::{nearest_rotation, outer, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{Mesh, triangle_area, triangle_normal};

use super::gradient_blend::nearest_branch;
use crate::extent::triangle_centroid;
use crate::regions::blend_weights::spread_over_triangles;
use crate::{Partitions, TransferError, TriangleMap};
use pliant_linalg::{rotation_from_vector, rotation_vector};

/// A source with a smaller rotation has another shape rather than another orientation. Chosen: 30°,
/// in radians; a horse on a camel seems rotated by a few degrees.
const LEAST_ORIENTATION_ANGLE: f64 = 0.52;

/// Weight of a normal relative to a centroid at the distance of the partition's own size. Chosen:
/// enough for the rotation of a long thin partition about its axis, which centroids hardly show.
const NORMAL_WEIGHT: f64 = 0.25;

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 2048;

/// A rotation per target triangle that comes before its deformation.
#[derive(Debug, Clone)]
pub struct PoseModification {
    rotations: Vec<DMat3>,
    /// The inverse of the rotation between the whole meshes; comes after the deformation.
    restoring: DMat3,
}

impl PoseModification {
    /// No modification, for a target of `triangles` triangles.
    #[must_use]
    pub fn none(triangles: usize) -> Self {
        Self {
            rotations: vec![DMat3::IDENTITY; triangles],
            restoring: DMat3::IDENTITY,
        }
    }

    /// The same rotation of every triangle, restored after the deformation.
    fn of_whole(rotation: DMat3, triangles: usize) -> Self {
        Self {
            rotations: vec![rotation; triangles],
            restoring: rotation.transpose(),
        }
    }

    /// Rotates a region, given by [`blend_weights`](crate::blend_weights()), about `axis` by an
    /// angle. Has no effect for an axis of length zero.
    ///
    /// # Errors
    /// Another number of weights than triangles, or numbers that are not finite.
    pub fn rotate_region(
        &mut self,
        weights: &[f64],
        axis: DVec3,
        angle_rad: f64,
    ) -> Result<(), TransferError> {
        let count = self.rotations.len();
        TransferError::check_count("the weights of a rotated region", weights.len(), count)?;
        if !(angle_rad.is_finite() && axis.is_finite()) {
            return Err(TransferError::BadNumber {
                what: "the angle or axis of a rotated region",
                value: angle_rad,
                needed: "finite",
            });
        }

        // R ← exp(w θ a) R: a partial weight is a partial angle.
        let log = axis.normalize_or_zero() * angle_rad;
        for (rotation, &weight) in self.rotations.iter_mut().zip(weights) {
            if weight != 0.0 {
                *rotation = DMat3::from_quat(rotation_from_vector(log * weight)) * *rotation;
            }
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
        map.check_source(source)?;

        let matches = matched_triangles(target, source, map);
        let whole = fit_rotation(&matches, |_| true).unwrap_or(DMat3::IDENTITY);
        let mut goals: Vec<Option<[f64; 3]>> = vec![None; count];
        for members in partition_members(partitions) {
            let Some(goal) = partition_goal(&matches, &members, whole) else {
                continue;
            };
            for t in members {
                goals[t] = Some(goal);
            }
        }

        // Flexible triangles get rotation vectors between those of the partitions around them.
        let [x, y, z] = spread_over_triangles(target, &goals)?;
        let mut modification = Self::of_whole(whole, count);
        for (t, rotation) in modification.rotations.iter_mut().enumerate() {
            let log = DVec3::new(x[t], y[t], z[t]);
            *rotation = DMat3::from_quat(rotation_from_vector(log)) * whole;
        }
        Ok(modification)
    }

    /// The rotation of a source whose orientation differs from the target's; `None` if both have the
    /// same orientation.
    ///
    /// Different shapes seem rotated a little. So only a rotation of at least 30° counts, and it is
    /// rounded to multiples of 90° where that is near.
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
        map.check_source(source)?;

        let matches = matched_triangles(target, source, map);
        let Some(rotation) = fit_rotation(&matches, |_| true) else {
            return Ok(None);
        };
        if angle_between(rotation, DMat3::IDENTITY) < LEAST_ORIENTATION_ANGLE {
            return Ok(None);
        }

        // Exporters differ by right angles (y up, z up); such a rotation is meant exactly.
        let rounded = nearest_axis_permutation(rotation);
        let is_near = angle_between(rotation, rounded) < LEAST_ORIENTATION_ANGLE;
        let whole = if is_near { rounded } else { rotation };
        Ok(Some(Self::of_whole(whole, count)))
    }

    /// The angle between the directions of the source and those of the target.
    #[must_use]
    pub fn whole_angle_rad(&self) -> f64 {
        rotation_vector(DQuat::from_mat3(&self.restoring)).length()
    }

    /// The rotation of every triangle.
    #[must_use]
    pub fn rotations(&self) -> &[DMat3] {
        &self.rotations
    }

    /// A displacement of the source in the target's directions.
    pub(crate) fn in_directions_of_target(&self, displacement: DVec3) -> DVec3 {
        self.restoring * displacement
    }

    /// `M_j ← M_j R_j`, in the target's directions.
    ///
    /// # Panics
    /// If there is not one gradient per triangle.
    pub fn apply(&self, gradients: &mut [DMat3]) {
        assert_eq!(
            gradients.len(),
            self.rotations.len(),
            "one gradient per triangle"
        );
        parallel::for_each_chunk_mut(gradients, TRIANGLES_PER_TASK, |start, chunk| {
            for (gradient, rotation) in chunk.iter_mut().zip(&self.rotations[start..]) {
                *gradient = self.restoring * *gradient * *rotation;
            }
        });
    }

    /// The rotation between the whole meshes alone: `M_j` in the target's directions.
    ///
    /// # Panics
    /// If there is not one gradient per triangle.
    pub(crate) fn apply_whole(&self, gradients: &mut [DMat3]) {
        assert_eq!(
            gradients.len(),
            self.rotations.len(),
            "one gradient per triangle"
        );
        let whole = self.restoring.transpose();
        parallel::for_each_chunk_mut(gradients, TRIANGLES_PER_TASK, |_, chunk| {
            for gradient in chunk {
                *gradient = self.restoring * *gradient * whole;
            }
        });
    }
}

/// The triangles of each partition, ascending.
fn partition_members(partitions: &Partitions) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); partitions.len()];
    for (t, &partition) in partitions.of_triangles().iter().enumerate() {
        members[partition as usize].push(t);
    }
    members
}

/// The rotation vector of a stiff partition relative to the whole, so that it is short and can be
/// mixed; `None` for a flexible partition, or one without sources.
fn partition_goal(
    matches: &[MatchedTriangle],
    members: &[usize],
    whole: DMat3,
) -> Option<[f64; 3]> {
    if members.len() < 2 {
        return None;
    }
    let rotation = fit_rotation(matches, |t| members.binary_search(&t).is_ok())?;
    let log = rotation_vector(DQuat::from_mat3(&(rotation * whole.transpose())));
    Some(nearest_branch(log, DVec3::ZERO).to_array())
}

fn angle_between(a: DMat3, b: DMat3) -> f64 {
    rotation_vector(DQuat::from_mat3(&(a * b.transpose()))).length()
}

/// Of the 24 rotations that take axes to axes, the one nearest to `rotation`: that with the largest
/// trace of `rotationᵀ · other`.
fn nearest_axis_permutation(rotation: DMat3) -> DMat3 {
    let axes = [
        DVec3::X,
        DVec3::Y,
        DVec3::Z,
        DVec3::NEG_X,
        DVec3::NEG_Y,
        DVec3::NEG_Z,
    ];

    let mut best = DMat3::IDENTITY;
    let mut largest = f64::NEG_INFINITY;
    for x in axes {
        for y in axes.into_iter().filter(|y| x.dot(*y) == 0.0) {
            let other = DMat3::from_cols(x, y, x.cross(y));
            let trace = (0..3)
                .map(|k| rotation.col(k).dot(other.col(k)))
                .sum::<f64>();
            // The last one of equal traces.
            if trace.total_cmp(&largest).is_ge() {
                best = other;
                largest = trace;
            }
        }
    }
    best
}

/// A target triangle and the weighted mean of its sources.
struct MatchedTriangle {
    triangle: usize,
    area: f64,
    target: OrientedCentroid,
    source: OrientedCentroid,
}

#[derive(Clone, Copy)]
struct OrientedCentroid {
    centroid: DVec3,
    normal: DVec3,
}

impl OrientedCentroid {
    fn of(mesh: &Mesh, t: usize) -> Self {
        Self {
            centroid: triangle_centroid(mesh, t),
            normal: triangle_normal(mesh.triangle_points(t)),
        }
    }
}

fn matched_triangles(target: &Mesh, source: &Mesh, map: &TriangleMap) -> Vec<MatchedTriangle> {
    let mut matches = Vec::new();
    for (t, row) in map.rows().enumerate() {
        if row.is_empty() {
            continue;
        }

        // Several sources of one triangle count as their weighted mean.
        let mut mean = OrientedCentroid {
            centroid: DVec3::ZERO,
            normal: DVec3::ZERO,
        };
        for &(s, weight) in row {
            let own = OrientedCentroid::of(source, s as usize);
            mean.centroid += own.centroid * weight;
            mean.normal += own.normal * weight;
        }
        matches.push(MatchedTriangle {
            triangle: t,
            area: triangle_area(target.triangle_points(t)),
            target: OrientedCentroid::of(target, t),
            source: mean,
        });
    }
    matches
}

/// The rotation from target to source that fits centroids (about their means, each relative to its
/// own spread) and normals.
fn fit_rotation(matches: &[MatchedTriangle], is_member: impl Fn(usize) -> bool) -> Option<DMat3> {
    let members: Vec<&MatchedTriangle> = matches
        .iter()
        .filter(|matched| is_member(matched.triangle))
        .collect();
    let total: f64 = members.iter().map(|matched| matched.area).sum();
    if total <= 0.0 {
        return None;
    }

    // Means and spreads by area; the rotation then does not depend on position and size.
    let mut target_mean = DVec3::ZERO;
    let mut source_mean = DVec3::ZERO;
    for matched in &members {
        target_mean += matched.target.centroid * matched.area;
        source_mean += matched.source.centroid * matched.area;
    }
    target_mean /= total;
    source_mean /= total;

    let mut target_squares = 0.0;
    let mut source_squares = 0.0;
    for matched in &members {
        target_squares += matched.area * matched.target.centroid.distance_squared(target_mean);
        source_squares += matched.area * matched.source.centroid.distance_squared(source_mean);
    }
    let target_spread = f64::sqrt(target_squares / total).max(f64::MIN_POSITIVE);
    let source_spread = f64::sqrt(source_squares / total).max(f64::MIN_POSITIVE);

    // Kabsch: the nearest rotation of the covariance of matched vectors.
    let mut covariance = DMat3::ZERO;
    for matched in &members {
        let p = (matched.target.centroid - target_mean) / target_spread;
        let q = (matched.source.centroid - source_mean) / source_spread;
        let normals = outer(matched.source.normal, matched.target.normal);
        covariance += (outer(q, p) + normals * NORMAL_WEIGHT) * (matched.area / total);
    }
    Some(nearest_rotation(covariance))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::{Membership, Reconstruction, ReconstructionWeighting, blend_weights};
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
            let fraction = ((p.x - 0.4) / 0.2).clamp(0.0, 1.0);
            if p.x < 0.4 {
                p
            } else {
                DMat3::from_rotation_y(-angle * fraction) * (p - hinge) + hinge
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
    fn a_rotated_region_rotates_its_stiff_part_by_the_angle_and_leaves_the_rest() {
        let mesh = bent(0.0);
        let members: Vec<Membership> = halves(&mesh)
            .refine(&(0..288).map(|t| t >= 144).collect::<Vec<_>>())
            .unwrap();
        let mut pose = PoseModification::none(288);

        pose.rotate_region(
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

        let posed = Reconstruction::factor(&mesh, ReconstructionWeighting::default())
            .unwrap()
            .solve(&gradients);
        let [a, b] = [mesh.vertex_count() - 1, mesh.vertex_count() - 14];
        let rotated = DMat3::from_rotation_y(0.8) * (mesh.positions()[a] - mesh.positions()[b]);

        assert!((posed[a] - posed[b]).distance(rotated) < 1e-2);
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
    fn a_target_with_another_bend_is_brought_into_the_pose_of_the_source() {
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
            rotation_vector(DQuat::from_mat3(&(gradients[a].transpose() * gradients[b]))).length()
        };

        assert!(
            (angle_between(0, 280) - 0.9).abs() < 0.02,
            "{}",
            angle_between(0, 280)
        );
        assert!((0..48).all(|t| largest(gradients[t] - gradients[0]) < 1e-3));
    }

    #[test]
    fn a_source_of_another_orientation_plays_in_the_targets_directions() {
        let target = bent(0.2);
        let rotation = DMat3::from_rotation_z(1.9);
        let source = target
            .posed(
                target
                    .positions()
                    .iter()
                    .map(|p| rotation * *p * 5.0)
                    .collect(),
            )
            .unwrap();
        let pose = PoseModification::aligning(
            &target,
            &source,
            &TriangleMap::identity(288),
            &halves(&target),
        )
        .unwrap();

        // The source bends about its own axis: the target bends about the same, seen from itself.
        let bend = DMat3::from_axis_angle(rotation * DVec3::X, 0.7);
        let mut gradients = vec![bend; 288];
        pose.apply(&mut gradients);

        assert!(
            gradients
                .iter()
                .all(|g| largest(*g - DMat3::from_rotation_x(0.7)) < 1e-3)
        );
    }

    #[test]
    fn a_large_rotation_of_a_copy_is_detected_and_a_small_one_is_not() {
        let rest = crate::test_shapes::lump(2, 0.3);
        let map = TriangleMap::identity(rest.triangles().len());
        let facing = |angle: f64| {
            let rotation = DMat3::from_axis_angle(DVec3::Y, angle);
            let target = rest
                .posed(rest.positions().iter().map(|p| rotation * *p).collect())
                .unwrap();
            PoseModification::facing(&target, &rest, &map)
                .unwrap()
                .map(|pose| (pose.whole_angle_rad(), pose.rotations()[0]))
        };

        assert!(facing(0.2).is_none());
        // Rounded to 90° where that is near, otherwise the rotation itself.
        for (angle, expected) in [(1.5, FRAC_PI_2), (0.8, 0.8), (-1.7, FRAC_PI_2), (3.0, PI)] {
            let (found, rotation) = facing(angle).unwrap();
            assert!((found - expected).abs() < 1e-9, "{angle}: {found}");
            assert!((rotation * DVec3::Y - DVec3::Y).length() < 1e-9);
        }
    }
}
