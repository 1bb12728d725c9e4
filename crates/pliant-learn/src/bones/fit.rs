//! Alternating minimisation of skinning weights and bone motions, with extrapolation.

use pliant_linalg::nearest_rotation;
use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_mesh::{Mesh, Progress, ProgressPart, Stopped};
use pliant_rig::{Clip, Influence, Skin};

use super::clustering::{Clusters, RIGID};
use super::decomposition::SkinningDecomposition;
use super::minimum_norm_point::Combination;
use super::motions::{BoneKind, improve_motions};
use super::options::SkinOptions;
use super::trajectories::{Motion, Trajectories};
use super::weights::{SearchSchedule, Smoothing, improve_weights};
use crate::LearnError;

/// The name of the work in progress reports.
pub(super) const STAGE: &str = "fitting bones";

/// The alternation ends when ten rounds lower the squared error by less than this part of it.
/// *Measured*: with a quarter of this value it takes half as long again, and the RMS of the shared
/// clips falls by 1 % at most.
const LEAST_GAIN: f64 = 0.08;

/// Difference below which two motions are equal, in units of the diagonal.
const EQUAL_MOTIONS: f64 = 1e-6;

/// First extrapolation, relative to the last step. It grows while the error falls, and is halved
/// otherwise.
const FIRST_EXTRAPOLATION: f64 = 0.5;

/// Growth of the extrapolation after each successful round.
const EXTRAPOLATION_GROWTH: f64 = 1.2;

/// The largest extrapolation.
const MOST_EXTRAPOLATION: f64 = 8.0;

/// The state of the alternation.
pub(super) struct Fit<'a> {
    points: &'a Trajectories,
    options: &'a SkinOptions,
    mesh: &'a Mesh,
    motions: Vec<Vec<Motion>>,
    combinations: Vec<Combination>,
    schedule: SearchSchedule,
    /// Squared error of the clusters.
    clusters_error: f64,
}

/// The best weights and motions so far.
struct Best {
    error: f64,
    motions: Vec<Vec<Motion>>,
    combinations: Vec<Combination>,
}

impl<'a> Fit<'a> {
    pub(super) fn of(
        points: &'a Trajectories,
        mesh: &'a Mesh,
        clusters: Clusters,
        options: &'a SkinOptions,
    ) -> Self {
        let clusters_error = clusters.error();
        let of_vertex = clusters.of_vertex.iter();
        Self {
            points,
            options,
            mesh,
            combinations: of_vertex
                .map(|&cluster| Combination::one(cluster))
                .collect(),
            motions: clusters.motions,
            schedule: SearchSchedule::new(points.vertex_count()),
            clusters_error,
        }
    }

    fn improve_weights(&mut self, progress: &dyn Progress) -> Result<f64, Stopped> {
        let smoothing = (self.options.smoothness > 0.0).then(|| Smoothing {
            stiffness: self.options.smoothness * self.points.frame_count() as f64,
            neighbors: self.mesh.topology().vertex_neighbors(),
        });
        improve_weights(
            self.points,
            &self.motions,
            self.options.influences,
            smoothing,
            &mut self.schedule,
            &mut self.combinations,
            progress,
        )
    }

    /// Improves weights and motions in alternation until the error falls slowly. Returns the number
    /// of rounds.
    ///
    /// Motions are extrapolated along their last step; a round that increases the error is undone.
    pub(super) fn run(&mut self, progress: &dyn Progress) -> Result<usize, Stopped> {
        let samples = self.points.vertex_count() * self.points.frame_count();
        if self.clusters_error <= RIGID * samples as f64 {
            return Ok(0); // The clusters are exact; rounding would only separate equal bones.
        }

        let rounds = self.options.rounds;
        let part = |round: usize| ProgressPart {
            whole: progress,
            begin: round as f64 / (rounds + 1) as f64,
            size: 0.0,
        };
        let error = self.improve_weights(&part(0))?;
        let mut best = self.state(error);
        let mut errors = vec![error];
        let mut extrapolation = FIRST_EXTRAPOLATION;
        let mut plain = self.motions.clone();
        for round in 1..=rounds {
            let part = part(round);
            // Extrapolation along the step from the previous to the improved motions.
            let before = std::mem::replace(&mut plain, self.motions.clone());
            improve_motions(
                self.points,
                &self.combinations,
                self.options.kind,
                &mut plain,
                &part,
            )?;
            self.motions = extrapolated(&before, &plain, extrapolation, self.options.kind);

            let error = self.improve_weights(&part)?;
            if error < best.error {
                best = self.state(error);
                extrapolation = (extrapolation * EXTRAPOLATION_GROWTH).min(MOST_EXTRAPOLATION);
            } else {
                // Undo the round, and extrapolate less.
                self.motions.clone_from(&best.motions);
                self.combinations.clone_from(&best.combinations);
                plain.clone_from(&self.motions);
                extrapolation *= 0.5;
            }

            errors.push(best.error);
            // Convergence is measured over ten rounds, because single rounds fluctuate.
            if round >= 10 && errors[round - 10] - best.error < LEAST_GAIN * best.error {
                return Ok(round);
            }
        }
        Ok(rounds)
    }

    fn state(&self, error: f64) -> Best {
        Best {
            error,
            motions: self.motions.clone(),
            combinations: self.combinations.clone(),
        }
    }

    /// A warning about bones with the same motions as others.
    fn equal_bones_warning(&self) -> Option<String> {
        let bones = self.motions.len();
        let mut repeated = 0;
        for bone in 0..bones {
            let others = &self.motions[..bone];
            if others
                .iter()
                .any(|other| are_equal(other, &self.motions[bone]))
            {
                repeated += 1;
            }
        }
        if repeated == 0 {
            return None;
        }
        Some(format!(
            "{repeated} of {bones} bones have the same motion as others; {} bones approximate the clip equally well",
            bones - repeated
        ))
    }

    pub(super) fn finish(
        self,
        clip: &Clip,
        rounds: usize,
    ) -> Result<SkinningDecomposition, LearnError> {
        let skin = Skin::new(self.motions.len(), self.combinations.iter().map(influences))?;
        let mut transforms: Vec<Vec<DAffine3>> = Vec::with_capacity(self.points.frame_count());
        for frame in 0..self.points.frame_count() {
            let bones = self.motions.iter();
            let in_clip = bones.map(|of_bone| self.points.in_clip(frame, &of_bone[frame]));
            transforms.push(in_clip.collect());
        }

        let mut decomposition = SkinningDecomposition {
            skin,
            transforms,
            rms: 0.0,
            rounds,
            warnings: self.equal_bones_warning().into_iter().collect(),
        };
        // The error in the units of the clip, with the rounded weights of the skin.
        let reconstruction = decomposition.reconstruction(clip.reference().positions());
        decomposition.rms = rms(&reconstruction, clip.frames());
        Ok(decomposition)
    }
}

fn influences(combination: &Combination) -> Vec<Influence> {
    let weights = combination.iter();
    weights
        .map(|(bone, weight)| Influence {
            bone: bone as u32,
            weight,
        })
        .collect()
}

fn are_equal(a: &[Motion], b: &[Motion]) -> bool {
    a.iter().zip(b).all(|(a, b)| {
        a.linear.abs_diff_eq(b.linear, EQUAL_MOTIONS)
            && a.translation.abs_diff_eq(b.translation, EQUAL_MOTIONS)
    })
}

/// Motions beyond `to`, by `factor` times the step from `from` to `to`.
fn extrapolated(
    from: &[Vec<Motion>],
    to: &[Vec<Motion>],
    factor: f64,
    kind: BoneKind,
) -> Vec<Vec<Motion>> {
    let beyond = |(from, to): (&Motion, &Motion)| {
        // An extrapolated rotation is projected back to SO(3).
        let linear = to.linear + (to.linear - from.linear) * factor;
        Motion {
            linear: match kind {
                BoneKind::Rigid => nearest_rotation(linear),
                BoneKind::Affine => linear,
            },
            translation: to.translation + (to.translation - from.translation) * factor,
        }
    };
    let bones = from.iter().zip(to);
    bones
        .map(|(from, to)| from.iter().zip(to).map(beyond).collect())
        .collect()
}

/// RMS distance between two clips.
fn rms(a: &[Vec<DVec3>], b: &[Vec<DVec3>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    let squares: f64 = pairs.map(|(a, b)| a.distance_squared(*b)).sum();
    let count: usize = a.iter().map(Vec::len).sum();
    (squares / count as f64).sqrt()
}
