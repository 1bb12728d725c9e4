//! Corrective shapes: blendshape targets for the residual of a skinning decomposition.
//!
//! **Problem.** Few bones approximate a clip. Targets in the rest pose with weights over time
//! reduce the error, so that a game engine can play bones and targets together.
//!
//! **Equation.** With the blended map `Aᵥf` of vertex `v` in frame `f` and its residual `eᵥf`
//! there:
//!
//! ```text
//! dᵥf = Aᵥf⁻¹ eᵥf          D = U Σ Wᵀ: columns are frames
//! sₖ = σₖ wₖ uₖ            min over c of Σᵥ |Aᵥf Σₖ cₖf sₖᵥ − eᵥf|²  in each frame f
//! ```
//!
//! where `wₖ` is the entry of column `k` of `W` with the greatest magnitude: in that frame, the
//! weight of the shape is about 1.
//!
//! **Source.** Kry, James, Pai, "EigenSkin", 2002, for correctives in the rest pose; the shapes are
//! the best of their number there (Eckart and Young, 1936).
//!
//! **Departures.** Weights are fitted in the pose, where the error is visible. The shapes of a
//! smaller number are the first of a larger one, so that the error never rises with the number. If
//! bones with opposite rotations blend to a singular map, a displacement in the rest pose cannot
//! correct everything; the inverse of such a map is damped.

use pliant_linalg::{DenseMatrix, Svd, parallel, symmetric_eigen};
use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::{Clip, Influence, Target};

use super::SkinningDecomposition;
use crate::LearnError;

/// Smaller displacements of a shape are set to zero, relative to the diagonal.
const LEAST_MOVE: f64 = 1e-8;

/// Smaller shapes are rounding, relative to the first one.
const LEAST_SIZE: f64 = 1e-7;

/// A map is singular if its determinant is below this part of its size cubed.
const SINGULAR: f64 = 0.02;

/// Damping of the inverse of a singular map, relative to its size.
const DAMPING: f64 = 0.1;

/// Targets in addition to bones, and their weights over time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Correctives {
    /// The targets, the most important first.
    pub targets: Vec<Target>,
    /// Their weights: frame by frame, target by target.
    pub weights: Vec<Vec<f64>>,
    /// RMS distance of all vertices in all frames from the clip, in its units.
    pub rms: f64,
    /// Warnings, one sentence each.
    pub warnings: Vec<String>,
}

/// Residuals of a frame in the rest pose.
struct RestResiduals {
    displacements: Vec<DVec3>,
    /// Number of vertices with a singular map and a residual.
    singular: usize,
}

/// Weights of the shapes in a frame, and the remaining squared error.
struct FrameFit {
    weights: Vec<f64>,
    error: f64,
}

impl SkinningDecomposition {
    /// At most `count` targets for the residual of the bones in `clip`, the clip that was
    /// decomposed.
    ///
    /// Targets that would be rounding are left out, so that there are never more than frames.
    pub fn correctives(&self, clip: &Clip, count: usize) -> Result<Correctives, LearnError> {
        let residual = SkinningResidual {
            decomposition: self,
            clip,
        };
        let frame_count = clip.frames().len();
        let in_rest = parallel::map(frame_count, 1, |frame| residual.in_rest_pose(frame));
        let singular: usize = in_rest.iter().map(|frame| frame.singular).sum();
        let displacements: Vec<Vec<DVec3>> = in_rest
            .into_iter()
            .map(|frame| frame.displacements)
            .collect();

        // Singular vectors of all residuals, then weights in each frame.
        let bounds = clip.reference().bounds();
        let diagonal = bounds.map_or(0.0, |bounds| bounds.diagonal());
        let shapes = shapes(&displacements, count, LEAST_MOVE * diagonal)?;
        let fits = parallel::map(frame_count, 1, |frame| residual.fit(frame, &shapes));
        let fits: Vec<FrameFit> = fits.into_iter().collect::<Result<_, LearnError>>()?;

        let samples = frame_count * clip.reference().vertex_count();
        let squares: f64 = fits.iter().map(|fit| fit.error).sum();
        Ok(Correctives {
            targets: targets(&shapes),
            weights: fits.into_iter().map(|fit| fit.weights).collect(),
            rms: (squares / samples as f64).sqrt(),
            warnings: singular_warning(singular, samples),
        })
    }
}

fn singular_warning(singular: usize, samples: usize) -> Vec<String> {
    if singular == 0 {
        return Vec::new();
    }
    vec![format!(
        "in {singular} of {samples} vertex positions, bones with opposite rotations blend to a flat map; targets correct these only in part"
    )]
}

/// The residual of a skinning decomposition in its clip.
struct SkinningResidual<'a> {
    decomposition: &'a SkinningDecomposition,
    clip: &'a Clip,
}

impl SkinningResidual<'_> {
    /// The blended map of a vertex in a frame, and its residual.
    fn at(&self, frame: usize, vertex: usize) -> (DMat3, DVec3) {
        let influences = self.decomposition.skin.influences(vertex);
        let map = blended(influences, &self.decomposition.transforms[frame]);
        let skinned = map.transform_point3(self.clip.reference().positions()[vertex]);
        (map.matrix3, self.clip.frames()[frame][vertex] - skinned)
    }

    /// The residuals of a frame, mapped back to the rest pose.
    fn in_rest_pose(&self, frame: usize) -> RestResiduals {
        let mut singular = 0;
        let mut displacements = Vec::with_capacity(self.clip.reference().vertex_count());
        for vertex in 0..self.clip.reference().vertex_count() {
            let (map, left) = self.at(frame, vertex);
            let size = map
                .x_axis
                .length()
                .max(map.y_axis.length())
                .max(map.z_axis.length());
            // The damped inverse is only used for maps that are nearly singular.
            if map.determinant().abs() > SINGULAR * size.powi(3) {
                displacements.push(map.inverse() * left);
                continue;
            }

            singular += usize::from(left != DVec3::ZERO);
            displacements.push(damped_inverse(map, size, left));
        }
        RestResiduals {
            displacements,
            singular,
        }
    }

    /// The best weights of the shapes in a frame, by normal equations.
    fn fit(&self, frame: usize, shapes: &[Vec<DVec3>]) -> Result<FrameFit, LearnError> {
        let count = shapes.len();
        let mut normal = DenseMatrix::<f64>::zeros(count, count);
        let mut right = vec![0.0; count];
        let mut whole = 0.0;
        let mut posed = vec![DVec3::ZERO; count];
        for vertex in 0..self.clip.reference().vertex_count() {
            let (map, left) = self.at(frame, vertex);
            whole += left.length_squared();
            for (posed, shape) in posed.iter_mut().zip(shapes) {
                *posed = map * shape[vertex];
            }

            for i in (0..count).filter(|&i| shapes[i][vertex] != DVec3::ZERO) {
                right[i] += posed[i].dot(left);
                for j in 0..=i {
                    normal[(i, j)] += posed[i].dot(posed[j]);
                }
            }
        }

        // Rounding must not make the result worse than no shape.
        let weights = solve(&normal, &right)?;
        let error = self.squared_error(frame, shapes, &weights).min(whole);
        Ok(FrameFit { weights, error })
    }

    /// The squared error of a frame with the shapes at `weights`.
    fn squared_error(&self, frame: usize, shapes: &[Vec<DVec3>], weights: &[f64]) -> f64 {
        let error = |vertex: usize| {
            let (map, left) = self.at(frame, vertex);
            let shape: DVec3 = shapes
                .iter()
                .zip(weights)
                .map(|(shape, &weight)| shape[vertex] * weight)
                .sum();
            (map * shape - left).length_squared()
        };
        (0..self.clip.reference().vertex_count()).map(error).sum()
    }
}

/// `(AᵀA + ε²I)⁻¹ Aᵀ e`, for a map of the given size.
fn damped_inverse(map: DMat3, size: f64, residual: DVec3) -> DVec3 {
    let damping = DMat3::from_diagonal(DVec3::splat((DAMPING * size).powi(2)));
    if size > 0.0 {
        (map.transpose() * map + damping).inverse() * (map.transpose() * residual)
    } else {
        DVec3::ZERO
    }
}

fn blended(influences: &[Influence], motions: &[DAffine3]) -> DAffine3 {
    let mut sum = DAffine3 {
        matrix3: DMat3::ZERO,
        translation: DVec3::ZERO,
    };

    for influence in influences {
        let motion = &motions[influence.bone as usize];
        sum.matrix3 += motion.matrix3 * influence.weight;
        sum.translation += motion.translation * influence.weight;
    }

    sum
}

/// The first left singular vectors of the frames, in single precision. Each has the size of its
/// part in the frame that contains most of it.
fn shapes(frames: &[Vec<DVec3>], count: usize, least: f64) -> Result<Vec<Vec<DVec3>>, LearnError> {
    let gram = gram_matrix(frames);
    let (values, vectors) = symmetric_eigen(gram.as_ref())?;
    let largest = values.last().copied().unwrap_or(0.0);

    // Eigenvalues ascend.
    let mut shapes = Vec::new();
    for k in (0..frames.len()).rev().take(count) {
        let is_kept = values[k] > LEAST_SIZE * LEAST_SIZE * largest;
        if !is_kept {
            break;
        }
        let own: Vec<f64> = (0..frames.len()).map(|frame| vectors[(frame, k)]).collect();
        let shape = shape_of(frames, &own, least);
        if shape.iter().any(|d| *d != DVec3::ZERO) {
            shapes.push(shape);
        }
    }
    Ok(shapes)
}

/// The inner products of all pairs of frames.
fn gram_matrix(frames: &[Vec<DVec3>]) -> DenseMatrix<f64> {
    let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let lower = parallel::map(frames.len(), 1, |row| {
        let columns = frames[..=row].iter();
        columns
            .map(|column| dot(&frames[row], column))
            .collect::<Vec<f64>>()
    });
    DenseMatrix::from_fn(frames.len(), frames.len(), |row, column| {
        lower[row.max(column)][row.min(column)]
    })
}

/// The combination of the frames by an eigenvector.
fn shape_of(frames: &[Vec<DVec3>], eigenvector: &[f64], least: f64) -> Vec<DVec3> {
    // The first entry of the greatest magnitude gives size and sign: in its frame, the weight is 1.
    let most = eigenvector
        .iter()
        .copied()
        .reduce(|most, own| if own.abs() > most.abs() { own } else { most })
        .unwrap_or(1.0);

    parallel::map(frames[0].len(), 1024, |vertex| {
        let sum: DVec3 = eigenvector
            .iter()
            .zip(frames)
            .map(|(weight, frame)| frame[vertex] * *weight)
            .sum();
        let displacement = (sum * most).as_vec3().as_dvec3();
        if displacement.length() >= least {
            displacement
        } else {
            DVec3::ZERO
        }
    })
}

fn targets(shapes: &[Vec<DVec3>]) -> Vec<Target> {
    let digits = shapes.len().saturating_sub(1).to_string().len();
    let mut targets = Vec::with_capacity(shapes.len());
    for (k, shape) in shapes.iter().enumerate() {
        let name = format!("corrective_{k:0digits$}");
        targets.push(Target::from_dense(name, shape.iter().map(|d| d.as_vec3())));
    }
    targets
}

/// Solves normal equations, given their lower half, with columns scaled to length 1.
fn solve(normal: &DenseMatrix<f64>, right: &[f64]) -> Result<Vec<f64>, LearnError> {
    let count = right.len();
    if count == 0 {
        return Ok(Vec::new());
    }

    // Equal scales keep the pseudo-inverse tolerance meaningful.
    let mut unit = vec![1.0; count];
    for k in 0..count {
        if normal[(k, k)] > 0.0 {
            unit[k] = normal[(k, k)].sqrt();
        }
    }
    let scaled = DenseMatrix::from_fn(count, count, |i, j| {
        normal[(i.max(j), i.min(j))] / (unit[i] * unit[j])
    });
    let inverse = Svd::of(scaled.as_ref())?.pseudo_inverse(Svd::default_tolerance(count, count));

    let row = |i: usize| {
        (0..count)
            .map(|j| inverse[(i, j)] * right[j] / unit[j])
            .sum::<f64>()
            / unit[i]
    };
    Ok((0..count).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SkinOptions;
    use crate::test_bar::{POSES, bar, bent};

    fn two_bones() -> (Clip, SkinningDecomposition) {
        let frames = POSES
            .iter()
            .map(|&(bend, twist)| bent(bend, twist))
            .collect();
        let clip = Clip::new("bar", bar(), frames).unwrap();
        let decomposition =
            SkinningDecomposition::of(&clip, &SkinOptions::default().with_bones(2).with_rounds(5))
                .unwrap();
        (clip, decomposition)
    }

    #[test]
    fn the_error_falls_with_the_number_of_shapes_and_ends_at_zero() {
        let (clip, decomposition) = two_bones();
        let frames = clip.frames().len();
        let errors: Vec<f64> = (0..=frames)
            .map(|count| decomposition.correctives(&clip, count).unwrap().rms)
            .collect();

        assert!(
            (errors[0] - decomposition.rms).abs() < 1e-12 * decomposition.rms,
            "no shape, no change: {} and {}",
            errors[0],
            decomposition.rms
        );

        assert!(
            errors
                .windows(2)
                .all(|pair| pair[1] <= pair[0] * (1.0 + 1e-9)),
            "{errors:?}"
        );

        // With one shape per frame, the residual is reproduced up to single precision.
        let diagonal = clip.reference().bounds().unwrap().diagonal();
        assert!(
            errors[frames] < 1e-6 * diagonal && decomposition.rms > 1e-4 * diagonal,
            "{errors:?}"
        );
    }

    #[test]
    fn bones_and_shapes_together_have_the_reported_error() {
        let (clip, decomposition) = two_bones();
        let two = decomposition.correctives(&clip, 2).unwrap();
        assert_eq!(
            (two.targets.len(), two.weights[0].len(), two.weights.len()),
            (2, 2, clip.frames().len())
        );

        // In the order of an engine: targets first, then bones.
        let rig = pliant_rig::Rig::new(clip.reference().clone(), two.targets.clone()).unwrap();
        let mut squares = 0.0;
        for (frame, goal) in clip.frames().iter().enumerate() {
            let skinned = decomposition.skin.blend(
                &rig.evaluate(&two.weights[frame]),
                &decomposition.transforms[frame],
            );
            squares += skinned
                .iter()
                .zip(goal)
                .map(|(a, b)| a.distance_squared(*b))
                .sum::<f64>();
        }

        let rms = (squares / (clip.frames().len() * clip.reference().vertex_count()) as f64).sqrt();
        assert!(
            (rms - two.rms).abs() < 1e-6 * two.rms,
            "{rms} and {}",
            two.rms
        );
    }

    #[test]
    fn a_clip_that_bones_reproduce_needs_no_shape() {
        let (clip, decomposition) = two_bones();
        let skinned = decomposition.reconstruction(clip.reference().positions());
        let exact = Clip::new("exact", clip.reference().clone(), skinned).unwrap();
        assert!(
            decomposition
                .correctives(&exact, 4)
                .unwrap()
                .targets
                .is_empty()
        );
    }

    #[test]
    fn a_singular_map_gives_a_warning_and_finite_shapes() {
        let (clip, mut decomposition) = two_bones();
        for motions in &mut decomposition.transforms {
            for motion in motions.iter_mut() {
                motion.matrix3 = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0))
            }
        }

        let corrected = decomposition.correctives(&clip, 3).unwrap();
        assert!(
            corrected.warnings[0].contains("flat map"),
            "{:?}",
            corrected.warnings
        );

        assert!(
            corrected.rms.is_finite() && corrected.weights.iter().flatten().all(|w| w.is_finite())
        );
    }
}
