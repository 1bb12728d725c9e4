//! Corrective shapes: what bones leave over, as a few targets in the rest pose.
//!
//! **Problem.** Few bones show a clip only nearly. Add shapes with weights over time, in the same
//! mesh, so that an engine plays bones and shapes and shows the clip as nearly as is asked for.
//!
//! **Equation.** With the blended map `Aᵥf` of vertex `v` in frame `f` and what is left over of it
//! there, `eᵥf`:
//!
//! ```text
//! dᵥf = Aᵥf⁻¹ eᵥf          D = U Σ Wᵀ: columns are frames
//! sₖ = σₖ wₖ uₖ            min over c of Σᵥ |Aᵥf Σₖ cₖf sₖᵥ − eᵥf|²  in each frame f
//! ```
//!
//! where `wₖ` is the greatest entry of column `k` of `W`, by magnitude: that frame shows the shape
//! with a weight of about 1.
//!
//! **Source.** Kry, James, Pai, "EigenSkin", 2002, for correctives in the rest pose; the shapes are
//! the best of their number there (Eckart and Young, 1936).
//!
//! **Ours.** Weights are fitted where they are seen, in the pose. Since the shapes of a smaller
//! number are the first of a larger one, the error can only fall with their number. Where bones of
//! contrary turns blend to a flat map, nothing in the rest pose reaches everything; there the map
//! is inverted with damping.

use pliant_linalg::{DenseMatrix, Svd, parallel, symmetric_eigen};
use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::{Clip, Influence, Target};

use super::SkinningDecomposition;
use crate::LearnError;

/// A shape that moves a vertex by less than this part of the diagonal leaves it alone.
const LEAST_MOVE: f64 = 1e-8;

/// Shapes below this part of the first one's size are rounding.
const LEAST_SIZE: f64 = 1e-7;

/// A map is flat where its determinant is below this part of its size to the third.
const FLAT: f64 = 0.02;

/// How a flat map is inverted: motions that it shrinks below this part of its size are damped.
const DAMPING: f64 = 0.1;

/// Shapes beside bones, and their weights over time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Correctives {
    /// The shapes, those that matter most first.
    pub targets: Vec<Target>,
    /// Their weights: frame by frame, shape by shape.
    pub weights: Vec<Vec<f64>>,
    /// The root of the mean squared distance of all vertices in all frames to their examples, in
    /// the clip's units.
    pub rms: f64,
    /// What is odd about them, one sentence each.
    pub problems: Vec<String>,
}

impl SkinningDecomposition {
    /// At most `count` shapes for what the bones leave over of `clip`, of which they were found.
    ///
    /// Shapes that would be rounding are left out, so that there are never more than frames.
    pub fn correctives(&self, clip: &Clip, count: usize) -> Result<Correctives, LearnError> {
        let rest = clip.reference().positions();
        let leftovers = Leftovers { made: self, clip };
        let moved: Vec<(Vec<DVec3>, usize)> = parallel::map(clip.frames().len(), 1, |frame| {
            leftovers.in_rest_pose(frame)
        });
        let flat: usize = moved.iter().map(|(_, flat)| flat).sum();
        let moved: Vec<Vec<DVec3>> = moved.into_iter().map(|(moved, _)| moved).collect();
        let diagonal = clip
            .reference()
            .bounds()
            .map_or(0.0, |bounds| bounds.diagonal());
        let shapes = shapes(&moved, count, LEAST_MOVE * diagonal)?;
        let fits = parallel::map(clip.frames().len(), 1, |frame| {
            leftovers.fit(frame, &shapes)
        });
        let fits: Vec<(Vec<f64>, f64)> = fits.into_iter().collect::<Result<_, LearnError>>()?;
        let rms = (fits.iter().map(|(_, left)| left).sum::<f64>()
            / (fits.len() * rest.len()) as f64)
            .sqrt();
        let weights = fits.into_iter().map(|(weights, _)| weights).collect();
        let flat = (flat > 0).then(|| {
            let places = clip.frames().len() * rest.len();
            format!("in {flat} of {places} places bones of contrary turns blend to a flat map, which shapes mend only in part")
        });
        Ok(Correctives {
            targets: targets(&shapes),
            weights,
            rms,
            problems: flat.into_iter().collect(),
        })
    }
}

/// What the bones of a decomposition leave over of its clip.
struct Leftovers<'a> {
    made: &'a SkinningDecomposition,
    clip: &'a Clip,
}

impl Leftovers<'_> {
    /// The blended map of a vertex in a frame, and what it leaves over.
    fn at(&self, frame: usize, vertex: usize) -> (DMat3, DVec3) {
        let map = blended(
            self.made.skin.influences(vertex),
            &self.made.transforms[frame],
        );
        let shown = map.transform_point3(self.clip.reference().positions()[vertex]);
        (map.matrix3, self.clip.frames()[frame][vertex] - shown)
    }

    /// What a frame leaves over, taken back to the rest pose, and in how many places that is only
    /// in part.
    fn in_rest_pose(&self, frame: usize) -> (Vec<DVec3>, usize) {
        let mut flat = 0;
        let back = |vertex: usize| {
            let (map, left) = self.at(frame, vertex);
            let size = map
                .x_axis
                .length()
                .max(map.y_axis.length())
                .max(map.z_axis.length());
            if map.determinant().abs() > FLAT * size.powi(3) {
                return map.inverse() * left;
            }
            flat += usize::from(left != DVec3::ZERO);
            let damped = map.transpose() * map
                + DMat3::from_diagonal(DVec3::splat((DAMPING * size).powi(2)));
            if size > 0.0 {
                damped.inverse() * (map.transpose() * left)
            } else {
                DVec3::ZERO
            }
        };
        let moved = (0..self.clip.reference().vertex_count())
            .map(back)
            .collect();
        (moved, flat)
    }

    /// The weights of the shapes that mend a frame best, and what they leave of its squared
    /// distances.
    fn fit(&self, frame: usize, shapes: &[Vec<DVec3>]) -> Result<(Vec<f64>, f64), LearnError> {
        let count = shapes.len();
        let (mut normal, mut wanted, mut whole) = (
            DenseMatrix::<f64>::zeros(count, count),
            vec![0.0; count],
            0.0,
        );
        let mut seen = vec![DVec3::ZERO; count];
        for vertex in 0..self.clip.reference().vertex_count() {
            let (map, left) = self.at(frame, vertex);
            whole += left.length_squared();
            seen.iter_mut()
                .zip(shapes)
                .for_each(|(seen, shape)| *seen = map * shape[vertex]);
            for i in (0..count).filter(|&i| shapes[i][vertex] != DVec3::ZERO) {
                wanted[i] += seen[i].dot(left);
                (0..=i).for_each(|j| normal[(i, j)] += seen[i].dot(seen[j]));
            }
        }
        let weights = solve(&normal, &wanted)?;
        Ok((
            weights.clone(),
            self.missed(frame, shapes, &weights).min(whole),
        ))
    }

    /// The squared distances of a frame with the shapes at `weights`.
    fn missed(&self, frame: usize, shapes: &[Vec<DVec3>], weights: &[f64]) -> f64 {
        let miss = |vertex: usize| {
            let (map, left) = self.at(frame, vertex);
            let shape: DVec3 = shapes
                .iter()
                .zip(weights)
                .map(|(shape, &weight)| shape[vertex] * weight)
                .sum();
            (map * shape - left).length_squared()
        };
        (0..self.clip.reference().vertex_count()).map(miss).sum()
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

/// The first left singular vectors of the frames, each as large as the frame that has most of it,
/// in single precision.
fn shapes(frames: &[Vec<DVec3>], count: usize, least: f64) -> Result<Vec<Vec<DVec3>>, LearnError> {
    let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let products = parallel::map(frames.len(), 1, |row| {
        (0..=row)
            .map(|column| dot(&frames[row], &frames[column]))
            .collect::<Vec<f64>>()
    });
    let gram = DenseMatrix::from_fn(frames.len(), frames.len(), |row, column| {
        products[row.max(column)][row.min(column)]
    });
    let (values, vectors) = symmetric_eigen(gram.as_ref())?;
    let largest = values.last().copied().unwrap_or(0.0);
    let kept = (0..frames.len())
        .rev()
        .take(count)
        .take_while(|&k| values[k] > LEAST_SIZE * LEAST_SIZE * largest);
    let shape = |k: usize| {
        let own: Vec<f64> = (0..frames.len()).map(|frame| vectors[(frame, k)]).collect();
        // The first of the greatest gives size and sign: its weight is 1.
        let most = own
            .iter()
            .copied()
            .reduce(|most, own| if own.abs() > most.abs() { own } else { most })
            .unwrap_or(1.0);
        let at = |vertex: usize| {
            let sum: DVec3 = own
                .iter()
                .zip(frames)
                .map(|(weight, frame)| frame[vertex] * *weight)
                .sum();
            let moved = (sum * most).as_vec3().as_dvec3();
            if moved.length() >= least {
                moved
            } else {
                DVec3::ZERO
            }
        };
        parallel::map(frames[0].len(), 1024, at)
    };
    Ok(kept
        .map(shape)
        .filter(|shape| shape.iter().any(|d| *d != DVec3::ZERO))
        .collect())
}

fn targets(shapes: &[Vec<DVec3>]) -> Vec<Target> {
    let digits = shapes.len().saturating_sub(1).to_string().len();
    let target = |(k, shape): (usize, &Vec<DVec3>)| {
        Target::from_dense(
            format!("corrective_{k:0digits$}"),
            shape.iter().map(|d| d.as_vec3()),
        )
    };
    shapes.iter().enumerate().map(target).collect()
}

/// Solves normal equations of which the lower half is given, in units in which all columns are of
/// length 1.
fn solve(normal: &DenseMatrix<f64>, wanted: &[f64]) -> Result<Vec<f64>, LearnError> {
    let count = wanted.len();
    if count == 0 {
        return Ok(Vec::new());
    }
    let unit: Vec<f64> = (0..count)
        .map(|k| {
            if normal[(k, k)] > 0.0 {
                normal[(k, k)].sqrt()
            } else {
                1.0
            }
        })
        .collect();
    let scaled = DenseMatrix::from_fn(count, count, |i, j| {
        normal[(i.max(j), i.min(j))] / (unit[i] * unit[j])
    });
    let inverse = Svd::of(scaled.as_ref())?.pseudo_inverse(Svd::default_tolerance(count, count));
    let row = |i: usize| {
        (0..count)
            .map(|j| inverse[(i, j)] * wanted[j] / unit[j])
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
        let made =
            SkinningDecomposition::of(&clip, &SkinOptions::default().with_bones(2).with_rounds(5))
                .unwrap();
        (clip, made)
    }

    #[test]
    fn the_error_only_falls_with_the_number_of_shapes_and_ends_at_nothing() {
        let (clip, made) = two_bones();
        let frames = clip.frames().len();
        let errors: Vec<f64> = (0..=frames)
            .map(|count| made.correctives(&clip, count).unwrap().rms)
            .collect();
        assert!(
            (errors[0] - made.rms).abs() < 1e-12 * made.rms,
            "no shape, no change: {} and {}",
            errors[0],
            made.rms
        );
        assert!(
            errors
                .windows(2)
                .all(|pair| pair[1] <= pair[0] * (1.0 + 1e-9)),
            "{errors:?}"
        );
        let diagonal = clip.reference().bounds().unwrap().diagonal();
        assert!(
            errors[frames] < 1e-6 * diagonal && made.rms > 1e-4 * diagonal,
            "{errors:?}"
        );
    }

    #[test]
    fn shapes_and_bones_together_are_as_far_from_the_clip_as_told() {
        let (clip, made) = two_bones();
        let two = made.correctives(&clip, 2).unwrap();
        assert_eq!(
            (two.targets.len(), two.weights[0].len(), two.weights.len()),
            (2, 2, clip.frames().len())
        );
        let rig = pliant_rig::Rig::new(clip.reference().clone(), two.targets.clone()).unwrap();
        let mut squares = 0.0;
        for (frame, wanted) in clip.frames().iter().enumerate() {
            let shown = made
                .skin
                .blend(&rig.evaluate(&two.weights[frame]), &made.transforms[frame]);
            squares += shown
                .iter()
                .zip(wanted)
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
    fn a_clip_that_bones_show_exactly_needs_no_shape() {
        let (clip, made) = two_bones();
        let shown = made.reconstruction(clip.reference().positions());
        let exact = Clip::new("exact", clip.reference().clone(), shown).unwrap();
        assert!(made.correctives(&exact, 4).unwrap().targets.is_empty());
    }

    #[test]
    fn a_map_that_blends_to_nothing_is_told_and_stays_finite() {
        let (clip, mut made) = two_bones();
        for motions in &mut made.transforms {
            motions.iter_mut().for_each(|motion| {
                motion.matrix3 = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0))
            });
        }
        let mended = made.correctives(&clip, 3).unwrap();
        assert!(
            mended.problems[0].contains("flat map"),
            "{:?}",
            mended.problems
        );
        assert!(mended.rms.is_finite() && mended.weights.iter().flatten().all(|w| w.is_finite()));
    }
}
