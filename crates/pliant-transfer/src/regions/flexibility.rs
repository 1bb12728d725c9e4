//! Flexibility: how much each triangle deforms relative to its neighbours over a clip.
//!
//! **Problem.** Markers matter where neighbouring triangles deform differently, and hardly elsewhere.
//!
//! **Equation.** Over the frames `f` and the pairs `U` of triangles with a common edge,
//!
//! ```text
//! G_ij = max_f ‖D_fi − D_fj‖²_F,   {i, j} ∈ U
//! ```
//!
//! with the deformation gradients of [`DeformationGradients`]. The flexibility of a triangle is the
//! mean of its `G`. It does not change with the units, nor with a rigid motion of any frame.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eq. 1.
//!
//! **Departures.** On an edge with three or more triangles each pair counts, and a pair counts for
//! every edge it shares; a triangle without neighbours has flexibility zero. Frames are processed one
//! by one, so only one set of gradients is in memory.

use pliant_linalg::parallel;
use pliant_mesh::DeformationGradients;
use pliant_mesh::glam::DMat3;
use pliant_rig::Clip;

use super::dual_graph::neighbor_pairs;
use crate::TransferError;

/// Pairs in one parallel task.
const PAIRS_PER_TASK: usize = 4096;

/// The flexibility of every pair of neighbours and of every triangle.
#[derive(Debug, Clone)]
pub struct Flexibility {
    pairs: Vec<[u32; 2]>,
    of_pairs: Vec<f64>,
    of_triangles: Vec<f64>,
}

impl Flexibility {
    /// Measures all frames of `clip`.
    ///
    /// # Errors
    /// A clip without frames, or a position that is not finite.
    pub fn of(clip: &Clip) -> Result<Self, TransferError> {
        let reference = clip.reference();
        reference.require_surface()?;
        TransferError::check_frames(clip)?;

        // G is the maximum over frames, so one array over pairs is enough.
        let gradients = DeformationGradients::from_rest(reference)?;
        let pairs = neighbor_pairs(reference.topology());
        let mut of_pairs = vec![0.0_f64; pairs.len()];

        let mut pose = vec![DMat3::IDENTITY; reference.triangles().len()];
        for frame in clip.frames() {
            gradients.at_into(frame, &mut pose)?;
            parallel::for_each_chunk_mut(&mut of_pairs, PAIRS_PER_TASK, |start, chunk| {
                for (largest, [i, j]) in chunk.iter_mut().zip(&pairs[start..]) {
                    *largest = largest.max(squared_norm(pose[*i as usize] - pose[*j as usize]));
                }
            });
        }

        let of_triangles = mean_over_neighbors(&pairs, &of_pairs, pose.len());
        Ok(Self {
            pairs,
            of_pairs,
            of_triangles,
        })
    }

    /// One value per triangle of the fan triangulation: the mean of `G` over its neighbours.
    #[must_use]
    pub fn of_triangles(&self) -> &[f64] {
        &self.of_triangles
    }

    /// The pairs of neighbours, each with its `G`.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = ([u32; 2], f64)> + '_ {
        self.pairs
            .iter()
            .copied()
            .zip(self.of_pairs.iter().copied())
    }
}

fn squared_norm(m: DMat3) -> f64 {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

fn mean_over_neighbors(pairs: &[[u32; 2]], values: &[f64], triangles: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u32); triangles];
    for (pair, value) in pairs.iter().zip(values) {
        for &t in pair {
            sums[t as usize].0 += value;
            sums[t as usize].1 += 1;
        }
    }

    sums.into_iter()
        .map(|(sum, neighbors)| sum / f64::from(neighbors.max(1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::{Mesh, shapes};

    /// Three triangles; the last rotates about the edge it shares with the second.
    fn bending_strip(degrees: &[f64]) -> Clip {
        let points = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]
            .map(|(x, y)| DVec3::new(f64::from(x), f64::from(y), 0.0));
        let mesh =
            Mesh::from_triangles(points.to_vec(), &[[0, 1, 2], [1, 3, 2], [2, 3, 4]]).unwrap();
        let frame = |angle: &f64| {
            let mut pose = points.to_vec();
            pose[4] =
                points[2] + DMat3::from_rotation_x(angle.to_radians()) * (points[4] - points[2]);
            pose
        };

        Clip::new("strip", mesh, degrees.iter().map(frame).collect()).unwrap()
    }

    #[test]
    fn a_strip_whose_last_triangle_rotates_by_ninety_degrees_has_flexibility_0_2_4() {
        // A rotation by t is 4 (1 − cos t) away from the identity.
        let flexibility = Flexibility::of(&bending_strip(&[30.0, 90.0, 60.0, 10.0])).unwrap();
        let apart = flexibility
            .of_triangles()
            .iter()
            .zip([0.0, 2.0, 4.0])
            .map(|(f, e)| (f - e).abs());

        assert!(apart.fold(0.0, f64::max) < 1e-14, "{flexibility:?}");
        assert_eq!(
            flexibility
                .pairs()
                .map(|(pair, _)| pair)
                .collect::<Vec<_>>(),
            vec![[0, 1], [1, 2]]
        );
    }

    #[test]
    fn rigid_motions_and_units_do_not_change_the_flexibility() {
        let clip = bending_strip(&[20.0, 70.0]);
        let plain = Flexibility::of(&clip).unwrap();
        let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 2.0);
        let moved = clip
            .frames()
            .iter()
            .map(|f| {
                f.iter()
                    .map(|p| rotation * (*p * 1000.0) + DVec3::ONE)
                    .collect()
            })
            .collect();

        let large = clip
            .reference()
            .posed(
                clip.reference()
                    .positions()
                    .iter()
                    .map(|p| *p * 1000.0)
                    .collect(),
            )
            .unwrap();

        let other = Flexibility::of(&Clip::new("moved", large, moved).unwrap()).unwrap();
        assert!(
            plain
                .of_triangles()
                .iter()
                .zip(other.of_triangles())
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
    }

    #[test]
    fn three_face_edges_slivers_and_isolated_triangles_give_finite_values() {
        let points = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::Z,
            DVec3::X * 2.0,
            DVec3::ONE,
            DVec3::ONE * 3.0,
        ];

        let faces = [[0, 1, 2], [0, 1, 3], [0, 1, 4], [5, 5, 6]];
        let mesh = Mesh::from_triangles(points.clone(), &faces).unwrap();
        let pose = points
            .iter()
            .map(|p| DVec3::new(p.y, p.x * p.x, p.z))
            .collect();

        let flexibility = Flexibility::of(&Clip::new("book", mesh, vec![pose]).unwrap()).unwrap();
        assert!(
            flexibility
                .of_triangles()
                .iter()
                .all(|f| f.is_finite() && *f >= 0.0)
        );

        assert_eq!(
            (flexibility.pairs().len(), flexibility.of_triangles()[3]),
            (3, 0.0)
        );
    }

    #[test]
    fn a_clip_without_frames_and_a_frame_with_nan_are_rejected() {
        let sheet = shapes::bumpy_sheet(2, 0.1);
        assert_eq!(
            Flexibility::of(&Clip::new("none", sheet.clone(), vec![]).unwrap()).unwrap_err(),
            TransferError::NoFrames
        );

        let mut bad = sheet.positions().to_vec();
        bad[4].y = f64::NAN;
        let clip = Clip::new("nan", sheet.clone(), vec![sheet.positions().to_vec(), bad]).unwrap();

        assert_eq!(
            Flexibility::of(&clip).unwrap_err(),
            TransferError::FrameNotFinite {
                frame: 1,
                vertex: 4
            }
        );
    }
}
