//! Weights and motions by turns, until turns gain little.

use pliant_linalg::nearest_rotation;
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Clip, Influence, Skin};

use super::clustering::{Clusters, RIGID};
use super::motions::{BoneKind, improve_motions};
use super::moving_points::{Motion, MovingPoints};
use super::nearest_in_hull::Mix;
use super::weights::{Curiosity, Smoothing, improve_weights};
use super::{SkinOptions, SkinningDecomposition};
use crate::LearnError;

/// Rounds stop where ten of them lower the sum of squared errors by less than this part of it.
/// *Measured*: going on to a quarter of it takes half as long again and lowers the RMS of the
/// shared clips by 1 % at most.
const LEAST_GAIN: f64 = 0.08;

/// How nearly equal motions are one, in units of the diagonal.
const ALIKE: f64 = 1e-6;

/// How far motions are first carried on, as a part of their last step; it grows while that helps,
/// and is halved where it does not.
const FIRST_REACH: f64 = 0.5;

/// How much farther motions are carried on after each round that helped.
const REACH_GROWTH: f64 = 1.2;

/// The farthest that motions are carried on.
const MOST_REACH: f64 = 8.0;

/// Weights and motions on their way.
pub(super) struct Fit<'a> {
    points: &'a MovingPoints,
    options: &'a SkinOptions,
    mesh: &'a Mesh,
    motions: Vec<Vec<Motion>>,
    mixes: Vec<Mix>,
    curiosity: Curiosity,
    /// What the clusters leave of the squared distances.
    clusters_error: f64,
}

impl<'a> Fit<'a> {
    pub(super) fn of(
        points: &'a MovingPoints,
        mesh: &'a Mesh,
        clusters: Clusters,
        options: &'a SkinOptions,
    ) -> Self {
        let mixes = clusters
            .of_vertex
            .iter()
            .map(|&cluster| Mix::one(cluster))
            .collect();
        let clusters_error = clusters.error();
        Self {
            points,
            options,
            mesh,
            motions: clusters.motions,
            mixes,
            curiosity: Curiosity::new(points.vertex_count()),
            clusters_error,
        }
    }

    fn improve_weights(&mut self) -> f64 {
        let smoothing = (self.options.smoothness > 0.0).then(|| Smoothing {
            stiffness: self.options.smoothness * self.points.frame_count() as f64,
            neighbors: self.mesh.topology().vertex_neighbors(),
        });
        improve_weights(
            self.points,
            &self.motions,
            self.options.influences,
            smoothing,
            &mut self.curiosity,
            &mut self.mixes,
        )
    }

    /// Improves weights and motions by turns until that gains little, and gives the number of
    /// rounds.
    ///
    /// Motions are carried on along their last step, since turns alone creep; where that made it
    /// worse, they go back.
    pub(super) fn run(&mut self) -> usize {
        if self.clusters_error
            <= RIGID * (self.points.vertex_count() * self.points.frame_count()) as f64
        {
            return 0; // Nothing is left to improve, and rounding would only pull equal bones apart.
        }
        let mut best = (
            self.improve_weights(),
            self.motions.clone(),
            self.mixes.clone(),
        );
        let (mut errors, mut reach, mut plain) = (vec![best.0], FIRST_REACH, self.motions.clone());
        for round in 1..=self.options.rounds {
            let before = std::mem::replace(&mut plain, self.motions.clone());
            improve_motions(self.points, &self.mixes, self.options.kind, &mut plain);
            self.motions = carried_on(&before, &plain, reach, self.options.kind);
            let error = self.improve_weights();
            if error < best.0 {
                best = (error, self.motions.clone(), self.mixes.clone());
                reach = (reach * REACH_GROWTH).min(MOST_REACH);
            } else {
                (self.motions, self.mixes) = (best.1.clone(), best.2.clone());
                plain.clone_from(&self.motions);
                reach *= 0.5;
            }
            errors.push(best.0);
            if round >= 10 && errors[round - 10] - best.0 < LEAST_GAIN * best.0 {
                return round;
            }
        }
        self.options.rounds
    }

    /// A sentence about bones that move just as others do.
    fn repeated(&self) -> Option<String> {
        let alike = |a: &Motion, b: &Motion| {
            a.turn.abs_diff_eq(b.turn, ALIKE) && a.shift.abs_diff_eq(b.shift, ALIKE)
        };
        let same = |a: usize, b: usize| {
            self.motions[a]
                .iter()
                .zip(&self.motions[b])
                .all(|(a, b)| alike(a, b))
        };
        let bones = self.motions.len();
        let repeated = (0..bones)
            .filter(|&bone| (0..bone).any(|other| same(other, bone)))
            .count();
        (repeated > 0)
            .then(|| format!("{repeated} of {bones} bones move just as others do; {} bones show the clip as well", bones - repeated))
    }

    pub(super) fn finish(
        self,
        clip: &Clip,
        rounds: usize,
    ) -> Result<SkinningDecomposition, LearnError> {
        let influences = |mix: &Mix| {
            mix.iter()
                .map(|(bone, weight)| Influence {
                    bone: bone as u32,
                    weight,
                })
                .collect()
        };
        let skin = Skin::new(self.motions.len(), self.mixes.iter().map(influences))?;
        let in_frame = |frame: usize| {
            self.motions
                .iter()
                .map(|of_bone| self.points.in_clip(frame, &of_bone[frame]))
                .collect()
        };
        let transforms: Vec<Vec<DAffine3>> = (0..self.points.frame_count()).map(in_frame).collect();
        let problems = self.repeated().into_iter().collect();
        let mut made = SkinningDecomposition {
            skin,
            transforms,
            rms: 0.0,
            rounds,
            problems,
        };
        let shown = made.reconstruction(clip.reference().positions());
        made.rms = rms(&shown, clip.frames());
        Ok(made)
    }
}

/// `to` and beyond, by the part `reach` of the way from `from`.
fn carried_on(
    from: &[Vec<Motion>],
    to: &[Vec<Motion>],
    reach: f64,
    kind: BoneKind,
) -> Vec<Vec<Motion>> {
    let beyond = |(from, to): (&Motion, &Motion)| {
        let turn = to.turn + (to.turn - from.turn) * reach;
        let turn = if kind == BoneKind::Rigid {
            nearest_rotation(turn)
        } else {
            turn
        };
        Motion {
            turn,
            shift: to.shift + (to.shift - from.shift) * reach,
        }
    };
    from.iter()
        .zip(to)
        .map(|(from, to)| from.iter().zip(to).map(beyond).collect())
        .collect()
}

/// The root of the mean squared distance between two clips.
fn rms(shown: &[Vec<DVec3>], wanted: &[Vec<DVec3>]) -> f64 {
    let squares = shown
        .iter()
        .flatten()
        .zip(wanted.iter().flatten())
        .map(|(a, b)| a.distance_squared(*b));
    (squares.sum::<f64>() / shown.iter().map(Vec::len).sum::<usize>() as f64).sqrt()
}
