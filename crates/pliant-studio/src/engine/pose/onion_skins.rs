//! Ghosts: the pose before a drag, and the poses at the keys before and after a frame.
//!
//! **Problem.** Where did the mouth come from, and where does it go? Both are seen when the other
//! poses shine through beside the shown one.
//!
//! **Implementation.** A ghost consists of the triangles that are elsewhere than in the shown pose;
//! those in the same place would only flicker. Poses at keys are evaluated by a worker.

use std::collections::BTreeSet;
use std::sync::Arc;

use pliant::rig::Rig;

use crate::engine::character::PosedCharacter;
use crate::engine::context::Cx;
use crate::engine::surface::{Surface, Vertices};
use crate::engine::work::{Inbox, Latest, Outbox};
use crate::model::document::Weights;
use crate::model::timeline::Timeline;

/// How many keys are shown before the frame, and after it.
const KEYS: usize = 2;
/// Chosen: triangles that are nearer to the shown ones than this share of the diagonal are left out.
const LEAST: f64 = 6e-3;

/// Where a ghost is in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// Another pose of the character.
#[derive(Debug, Clone)]
pub(crate) struct Ghost {
    pub(crate) surface: Arc<Surface>,
    pub(crate) vertices: Arc<Vertices>,
    pub(crate) side: Side,
    /// 1 for the next key, less for those further away.
    pub(crate) strength: f32,
}

/// The part of `surface` that is elsewhere in `other` than in `shown`; `None` if nothing is.
pub(crate) fn ghost_surface(
    surface: &Surface,
    shown: &Vertices,
    other: &Vertices,
) -> Option<Arc<Surface>> {
    if shown.positions.len() != other.positions.len() {
        return None;
    }
    let least = (LEAST * shown.bounds()?.diagonal()) as f32;
    let pairs = shown.positions.iter().zip(&other.positions);
    let elsewhere: Vec<bool> = pairs.map(|(a, b)| a.distance(*b) > least).collect();

    let moved = |corners: &&[u32; 3]| corners.iter().any(|&v| elsewhere[v as usize]);
    let triangles: Vec<[u32; 3]> = surface.triangles.iter().filter(moved).copied().collect();
    (!triangles.is_empty()).then(|| {
        Arc::new(Surface {
            triangles,
            ..Surface::default()
        })
    })
}

/// The weights at keys before and after a frame: the nearest first.
fn weights_at_keys(timeline: &Timeline, own: &Weights, frame: f64) -> Vec<(Side, Weights)> {
    let frames: BTreeSet<u32> = timeline
        .keys
        .values()
        .flatten()
        .map(|key| key.frame)
        .collect();
    let before = frames.iter().rev().filter(|key| f64::from(**key) < frame);
    let after = frames.iter().filter(|key| f64::from(**key) > frame);
    let before = before.take(KEYS).map(|key| (Side::Before, *key));
    let after = after.take(KEYS).map(|key| (Side::After, *key));

    let weights_at = |(side, key): (Side, u32)| {
        let mut weights = own.clone();
        for (name, weight) in timeline.weights_at(f64::from(key)) {
            weights.insert(name, weight);
        }
        (side, weights)
    };
    before.chain(after).map(weights_at).collect()
}

/// A request to the worker: poses of a rig.
#[derive(Clone)]
struct Question {
    rig: Arc<Rig>,
    poses: Vec<(Side, Weights)>,
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rig, &other.rig) && self.poses == other.poses
    }
}

type Answer = Vec<(Side, Arc<Vertices>)>;

/// The poses at the keys around the shown frame.
#[derive(Default)]
pub(crate) struct OnionSkins {
    worker: Option<Latest<Question, Answer>>,
    asked: Option<Question>,
    poses: Answer,
    /// The ghosts beside this pose: they stay the same arrays until it changes.
    shown: Option<(Arc<Vertices>, Vec<Ghost>)>,
}

impl OnionSkins {
    /// Asks for the poses around the frame, where they are wanted.
    pub(crate) fn update(&mut self, wanted: bool, cx: &Cx<'_>) {
        let timeline = &cx.document.timeline;
        let shown = cx
            .posed
            .filter(|_| wanted && !timeline.keys.is_empty() && timeline.playing_take.is_none());
        let Some(posed) = shown else {
            *self = Self::default();
            return;
        };

        let answer = self.worker.as_ref().and_then(Latest::result);
        let is_new = answer.is_some();
        if let Some(Ok(poses)) = answer {
            self.poses = poses;
        }
        let same_pose = |(vertices, _): &(Arc<Vertices>, _)| Arc::ptr_eq(vertices, &posed.vertices);
        if is_new || !self.shown.as_ref().is_some_and(same_pose) {
            self.shown = Some((posed.vertices.clone(), ghosts(&self.poses, posed)));
        }

        let weights = &cx.document.character.weights;
        let question = Question {
            rig: posed.rig.clone(),
            poses: weights_at_keys(timeline, weights, cx.clock.frame.round()),
        };
        if self.asked.as_ref() != Some(&question) {
            let worker = self
                .worker
                .get_or_insert_with(|| Latest::new("Onion skins", cx.wake.clone(), serve));
            worker.send(question.clone());
            self.asked = Some(question);
        }
    }

    /// The ghosts beside the shown pose.
    pub(crate) fn ghosts(&self) -> &[Ghost] {
        self.shown.as_ref().map_or(&[], |(_, ghosts)| ghosts)
    }

    /// Whether poses are still being evaluated.
    pub(crate) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }
}

fn ghosts(poses: &Answer, posed: &PosedCharacter) -> Vec<Ghost> {
    let mut ghosts = Vec::new();
    for side in [Side::Before, Side::After] {
        let own = poses.iter().filter(|(at, _)| *at == side);
        for (k, (_, vertices)) in own.enumerate() {
            let surface = ghost_surface(&posed.surface, &posed.vertices, vertices);
            ghosts.extend(surface.map(|surface| Ghost {
                surface,
                vertices: vertices.clone(),
                side,
                strength: 1.0 / (k as f32 + 1.0),
            }));
        }
    }
    ghosts
}

fn serve(inbox: &Inbox<Question>, outbox: &Outbox<Answer>) {
    while let Some(Question { rig, poses }) = inbox.next() {
        let evaluated = poses.into_iter().map(|(side, weights)| {
            let weight = |name: &str| weights.get(name).copied().unwrap_or(0.0);
            let all: Vec<f64> = rig.targets().iter().map(|t| weight(&t.name)).collect();
            (side, Vertices::of(rig.neutral(), &rig.evaluate(&all)))
        });
        outbox.put(Ok(evaluated.collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::glam::Vec3;
    use pliant::mesh::shapes::icosphere;

    #[test]
    fn a_ghost_holds_only_what_is_elsewhere() {
        let mesh = icosphere(2);
        let surface = Surface::of(&mesh);
        let shown = Vertices::of(&mesh, mesh.positions());
        assert!(ghost_surface(&surface, &shown, &shown).is_none());

        let mut other = (*shown).clone();
        other.positions[7] += Vec3::X;
        let ghost = ghost_surface(&surface, &shown, &other).unwrap();
        let around = surface.triangles.iter().filter(|t| t.contains(&7)).count();
        assert_eq!(ghost.triangles.len(), around);
        assert!(ghost.triangles.iter().all(|corners| corners.contains(&7)));
    }

    #[test]
    fn two_keys_before_and_after_the_frame_are_shown() {
        let mut timeline = Timeline::default();
        for (frame, weight) in [
            (0, 0.0),
            (5, 0.5),
            (10, 1.0),
            (20, 0.2),
            (30, 0.1),
            (40, 0.0),
        ] {
            timeline.set_key("smile", frame, weight);
        }

        let own = Weights::from([("jawOpen".to_owned(), 0.3)]);
        let skins = weights_at_keys(&timeline, &own, 10.0);
        let found: Vec<(Side, f64)> = skins.iter().map(|(s, w)| (*s, w["smile"])).collect();
        assert_eq!(
            found,
            [
                (Side::Before, 0.5),
                (Side::Before, 0.0),
                (Side::After, 0.2),
                (Side::After, 0.1)
            ]
        );
        assert!(skins.iter().all(|(_, weights)| weights["jawOpen"] == 0.3));
    }
}
