//! Animations of weights and of nodes.
//!
//! **Problem.** A glTF animation is a bundle of curves, each with its own keys, for the weights of
//! a mesh or for one of scale, rotation and translation of a node; a clip has frames, and an object
//! moves as a whole.
//!
//! **Form.** Curves of weights stay as they are. Of the nodes above a mesh the product is taken at
//! every key of their curves, relative to the place at rest: `W(t) W(0)⁻¹`. Joints are taken at
//! every frame. Frames lie on the grid of the keys where these have one, else at the default rate.
//!
//! **Ours.** Where the product of several curves is not a straight way between keys, frames are
//! keys as well; a step is a key just before the next one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use pliant_rig::{Clip, Interpolation, Target, WeightTrack};

use super::accessor::Source;
use super::document;
use super::memo::{self, ClipMemo};
use super::nodes::{Local, Nodes, unit};
use super::read::Placed;
use super::skin::{BoundSkin, walk};
use crate::{Animation, Motion, Object, PlacementTrack, ReadError, Shape, SkinTrack};

/// Frames that a clip may have.
const MOST_FRAMES: usize = 100_000;

/// Reads every animation that moves an object.
pub(super) fn read(
    source: &Source<'_>,
    nodes: &Nodes<'_>,
    skins: &BTreeMap<usize, BoundSkin>,
    objects: &[Object],
    placed: &[Placed],
    problems: &mut Vec<String>,
) -> Result<Vec<Animation>, ReadError> {
    let reader = Reader {
        source,
        nodes,
        skins,
        objects,
        placed,
    };
    let mut clips = Vec::new();
    for (k, animation) in source.document.animations.iter().enumerate() {
        let name = animation
            .name
            .clone()
            .unwrap_or_else(|| format!("animation{k}"));
        let read = reader.clip(&name, animation, problems);
        clips.extend(read.map_err(|e| ReadError {
            message: format!("animation {k} '{name}': {}", e.message),
            ..e
        })?);
    }
    Ok(clips)
}

struct Reader<'a> {
    source: &'a Source<'a>,
    nodes: &'a Nodes<'a>,
    skins: &'a BTreeMap<usize, BoundSkin>,
    objects: &'a [Object],
    placed: &'a [Placed],
}

/// The curves of one node.
#[derive(Default)]
struct Moves {
    translation: Option<Curve>,
    rotation: Option<Curve>,
    scale: Option<Curve>,
    weights: Option<Curve>,
}

impl Moves {
    fn placing(&self) -> impl Iterator<Item = &Curve> {
        [&self.translation, &self.rotation, &self.scale]
            .into_iter()
            .flatten()
    }
}

impl Reader<'_> {
    fn clip(
        &self,
        name: &str,
        animation: &document::Animation,
        problems: &mut Vec<String>,
    ) -> Result<Option<Animation>, ReadError> {
        let memo: Option<ClipMemo> = memo::of(&animation.extras);
        let moves = self.moves(animation, memo.as_ref(), problems, name)?;
        let times = self.times(&moves, memo.as_ref());
        let mut clip = frames_of(name, &times, memo.as_ref(), problems);
        let joints: BTreeMap<usize, Arc<Vec<Vec<DAffine3>>>> = self
            .skins
            .iter()
            .filter_map(|(&k, skin)| {
                Some((
                    k,
                    Arc::new(self.joint_motions(skin, &moves, &clip, problems)?),
                ))
            })
            .collect();
        for (k, place) in self.placed.iter().enumerate() {
            let shape = self.shape(k, place, &moves, memo.as_ref(), &clip)?;
            let placement = self.placement(place, &moves, &clip, problems);
            let motions = place
                .skin
                .and_then(|skin| joints.get(&skin))
                .map(Arc::clone);
            let skin = motions
                .zip(self.objects[k].skin.clone())
                .map(|(motions, binding)| SkinTrack { binding, motions });
            if placement.is_some() || skin.is_some() || !matches!(shape, Shape::Rest) {
                clip.motions.push(Motion {
                    placement,
                    skin,
                    ..Motion::new(k, shape)
                });
            }
        }
        if clip.motions.is_empty() {
            problems.push(format!("clip '{name}' moves no mesh and was not read"));
            return Ok(None);
        }
        Ok(Some(clip))
    }

    fn moves(
        &self,
        animation: &document::Animation,
        memo: Option<&ClipMemo>,
        problems: &mut Vec<String>,
        name: &str,
    ) -> Result<HashMap<usize, Moves>, ReadError> {
        let mut moves: HashMap<usize, Moves> = HashMap::new();
        let mut needed = vec![false; self.nodes.nodes.len()];
        self.placed
            .iter()
            .flat_map(|p| &p.chain)
            .for_each(|&node| needed[node] = true);
        self.skins
            .values()
            .flat_map(|skin| &skin.nodes)
            .for_each(|&node| needed[node] = true);
        let mut dropped = 0;
        for channel in &animation.channels {
            let Some(node) = channel
                .target
                .node
                .filter(|&node| needed.get(node) == Some(&true))
            else {
                continue;
            };
            let path = channel.target.path.as_str();
            if path == "weights" && self.points_of(node, memo).is_some() {
                continue;
            }
            let width = match path {
                "translation" | "scale" => 3,
                "rotation" => 4,
                "weights" => 1,
                _ => continue,
            };
            let curve = self.curve(animation, channel.sampler, width, &mut dropped)?;
            let moves = moves.entry(node).or_default();
            match path {
                "translation" => moves.translation = Some(curve),
                "rotation" => moves.rotation = Some(curve),
                "scale" => moves.scale = Some(curve),
                _ => moves.weights = Some(curve),
            }
        }
        if dropped > 0 {
            problems.push(format!("clip '{name}' has {dropped} key(s) that do not come after the key before; they were left out"));
        }
        Ok(moves)
    }

    fn curve(
        &self,
        animation: &document::Animation,
        sampler: usize,
        width: usize,
        dropped: &mut usize,
    ) -> Result<Curve, ReadError> {
        let Some(about) = animation.samplers.get(sampler) else {
            let message = format!(
                "a channel has sampler {sampler}, but there are {}; export the file again",
                animation.samplers.len()
            );
            return Err(ReadError::whole(message));
        };
        let times = self.source.numbers(about.input, &["SCALAR"])?;
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][width - 1];
        let values = self.source.numbers(about.output, &[kind])?;
        let kind = match about.interpolation.as_deref() {
            Some("STEP") => Kind::Step,
            Some("CUBICSPLINE") => Kind::Cubic,
            _ => Kind::Linear,
        };
        let rows = times.len() * if kind == Kind::Cubic { 3 } else { 1 };
        if rows == 0 || !values.len().is_multiple_of(rows) {
            let message = format!(
                "sampler {sampler} has {} numbers for {} keys; export the file again",
                values.len(),
                times.len()
            );
            return Err(ReadError::whole(message));
        }
        let found = values.len() / rows;
        if width > 1 && found != width {
            return Err(ReadError::whole(format!(
                "sampler {sampler} has {found} numbers a key instead of {width}; export the file again"
            )));
        }
        let mut curve = Curve {
            times,
            values,
            width: found,
            kind,
        };
        *dropped += curve.make_ascend();
        Ok(curve)
    }

    /// The first of the targets that are this clip's frames, where the mesh at `node` has some.
    fn points_of(&self, node: usize, memo: Option<&ClipMemo>) -> Option<usize> {
        let place = self
            .placed
            .iter()
            .find(|p| p.chain.first() == Some(&node) && !p.frames.is_empty())?;
        memo?
            .points
            .iter()
            .find(|(mesh, _)| *mesh == place.mesh)
            .map(|(_, first)| *first)
    }

    /// All key times, ascending, each once.
    fn times(&self, moves: &HashMap<usize, Moves>, memo: Option<&ClipMemo>) -> Vec<f64> {
        let curves = moves.values().flat_map(|m| m.placing().chain(&m.weights));
        let mut times: Vec<f64> = curves.flat_map(|c| &c.times).copied().collect();
        if times.is_empty() && memo.is_some_and(|m| m.frames > 0) {
            times.push(0.0);
        }
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        times
    }

    fn shape(
        &self,
        index: usize,
        place: &Placed,
        moves: &HashMap<usize, Moves>,
        memo: Option<&ClipMemo>,
        clip: &Animation,
    ) -> Result<Shape, ReadError> {
        let Some(&node) = place.chain.first() else {
            return Ok(Shape::Rest);
        };
        let object = &self.objects[index];
        if let Some(first) = self.points_of(node, memo) {
            let frames = first
                .checked_sub(object.rig.targets().len())
                .and_then(|k| place.frames.get(k..)?.get(..clip.frame_count));
            if let Some(frames) = frames {
                return Ok(Shape::Points(
                    frames
                        .iter()
                        .map(|frame| frame_positions(object, frame))
                        .collect(),
                ));
            }
        }
        let Some(curve) = moves.get(&node).and_then(|m| m.weights.as_ref()) else {
            return Ok(Shape::Rest);
        };
        let targets = object.rig.targets().len();
        // Frames of other clips are targets in the file, but not here.
        let spare = if curve.width == targets + place.frames.len() {
            place.frames.len()
        } else {
            0
        };
        if curve.width != targets + spare || targets == 0 {
            let message = format!(
                "it moves {} weights of mesh '{}', which has {targets} targets; export the file again",
                curve.width,
                object.name()
            );
            return if targets == 0 {
                Ok(Shape::Rest)
            } else {
                Err(ReadError::whole(message))
            };
        }
        Ok(Shape::Weights(curve.weight_track(targets)?))
    }

    fn placement(
        &self,
        place: &Placed,
        moves: &HashMap<usize, Moves>,
        clip: &Animation,
        problems: &mut Vec<String>,
    ) -> Option<PlacementTrack> {
        let moving: Vec<&Moves> = place
            .chain
            .iter()
            .filter_map(|node| moves.get(node))
            .filter(|m| m.placing().next().is_some())
            .collect();
        // The joints of a skinned mesh move it, not its node.
        if moving.is_empty() || place.skin.is_some() {
            return None;
        }
        let times = placement_times(&moving, clip);
        let numbers = times.len().saturating_mul(place.chain.len() + 12);
        let inverse = place.world.inverse();
        let too_much = !self.source.buffers.budget.try_spend(numbers);
        if too_much || !inverse.is_finite() {
            let why = if too_much {
                "is more than a file of this size can hold"
            } else {
                "starts from a flat place"
            };
            problems.push(format!(
                "clip '{}' moves an object in a way that {why}; that motion was not read",
                clip.name
            ));
            return None;
        }
        let at = |&time: &f64| self.world_at(place, moves, time) * inverse;
        let moved_from_rest: Vec<DAffine3> = times.iter().map(at).collect();
        let moves_at_all = moved_from_rest
            .iter()
            .any(|m| !m.abs_diff_eq(DAffine3::IDENTITY, 1e-12));
        moves_at_all.then_some(PlacementTrack {
            times_secs: times,
            moved_from_rest,
        })
    }

    fn world_at(&self, place: &Placed, moves: &HashMap<usize, Moves>, time: f64) -> DAffine3 {
        place.chain.iter().fold(DAffine3::IDENTITY, |below, &node| {
            self.local_at(node, moves, time) * below
        })
    }

    /// A node's own place at one moment.
    fn local_at(&self, node: usize, moves: &HashMap<usize, Moves>, time: f64) -> DAffine3 {
        let Some(moves) = moves.get(&node).filter(|m| m.placing().next().is_some()) else {
            return self.nodes.local(node);
        };
        let mut local = self.local_parts(node);
        let three = |curve: &Curve| DVec3::from_slice(&curve.at(time));
        local.translation = moves.translation.as_ref().map_or(local.translation, three);
        local.scale = moves.scale.as_ref().map_or(local.scale, three);
        local.rotation = moves
            .rotation
            .as_ref()
            .map_or(local.rotation, |curve| curve.rotation_at(time));
        local.matrix()
    }

    /// Where each joint takes what follows it, frame by frame; nothing where all of it stays in the
    /// bind pose.
    fn joint_motions(
        &self,
        skin: &BoundSkin,
        moves: &HashMap<usize, Moves>,
        clip: &Animation,
        problems: &mut Vec<String>,
    ) -> Option<Vec<Vec<DAffine3>>> {
        let moving = |node: &usize| {
            moves
                .get(node)
                .is_some_and(|m| m.placing().next().is_some())
        };
        if skin.rests_as_bound && !skin.nodes.iter().any(moving) {
            return None;
        }
        let numbers = clip
            .frame_count
            .saturating_mul(skin.nodes.len() + 12 * skin.joints.len());
        if !self.source.buffers.budget.try_spend(numbers) {
            problems
                .push(format!("clip '{}' moves joints in more frames than a file of this size can hold; they were not read", clip.name));
            return None;
        }
        let mut worlds = vec![DAffine3::IDENTITY; self.nodes.nodes.len()];
        let frame = |frame: usize| {
            walk(
                self.nodes,
                &skin.nodes,
                |node| self.local_at(node, moves, clip.time_secs(frame)),
                &mut worlds,
            );
            skin.joints
                .iter()
                .zip(&skin.from_neutral)
                .map(|(&node, from_neutral)| worlds[node] * *from_neutral)
                .collect()
        };
        Some((0..clip.frame_count).map(frame).collect())
    }

    fn local_parts(&self, node: usize) -> Local {
        if self.nodes.nodes[node].matrix.is_none() {
            return Local::of(&self.nodes.nodes[node]);
        }
        let (scale, rotation, translation) = self.nodes.local(node).to_scale_rotation_translation();
        Local {
            scale,
            rotation: unit(rotation),
            translation,
        }
    }
}

fn frame_positions(object: &Object, frame: &Target) -> Vec<DVec3> {
    let mut positions = object.rig.neutral().positions().to_vec();
    frame.add_to(1.0, &mut positions);
    positions
}

/// Keys of the curves above an object, with the ends of steps, and frames where keys alone do not
/// tell the way.
fn placement_times(moving: &[&Moves], clip: &Animation) -> Vec<f64> {
    let curves = || moving.iter().flat_map(|m| m.placing());
    let mut times: Vec<f64> = curves().flat_map(|c| &c.times).copied().collect();
    let before = |time: &f64| f64::from((*time as f32).next_down());
    times.extend(
        curves()
            .filter(|c| c.kind == Kind::Step)
            .flat_map(|c| c.times.iter().skip(1).map(before)),
    );
    if moving.len() > 1 || curves().any(|c| c.kind == Kind::Cubic) {
        times.extend((0..clip.frame_count).map(|frame| clip.time_secs(frame)));
    }
    times.sort_unstable_by(f64::total_cmp);
    // A frame that falls on a key up to rounding is that key.
    times.dedup_by(|a, b| (*a as f32) == (*b as f32));
    times
}

/// A clip without motions, with its frames on the grid of `times`.
fn frames_of(
    name: &str,
    times: &[f64],
    memo: Option<&ClipMemo>,
    problems: &mut Vec<String>,
) -> Animation {
    if let Some(memo) = memo.filter(|m| {
        m.frames <= MOST_FRAMES && m.frames_per_second.is_finite() && m.frames_per_second > 0.0
    }) {
        let mut clip = Animation::new(name, memo.frames);
        clip.frames_per_second = memo.frames_per_second;
        clip.start_secs = if memo.start_secs.is_finite() {
            memo.start_secs
        } else {
            0.0
        };
        if memo.frame_names.len() == memo.frames {
            clip.frame_names.clone_from(&memo.frame_names);
        }
        return clip;
    }
    let (start, end) = (
        times.first().copied().unwrap_or(0.0),
        times.last().copied().unwrap_or(0.0),
    );
    let (mut rate, mut steps) = grid(times).unwrap_or_else(|| {
        let rate = Clip::DEFAULT_FRAMES_PER_SECOND;
        (rate, ((end - start) * rate + 1e-3).floor())
    });
    if steps >= MOST_FRAMES as f64 {
        problems.push(format!(
            "clip '{name}' lasts {} s; it was given {MOST_FRAMES} frames",
            end - start
        ));
        (steps, rate) = (
            (MOST_FRAMES - 1) as f64,
            (MOST_FRAMES - 1) as f64 / (end - start),
        );
    }
    let mut clip = Animation::new(name, steps as usize + 1);
    (clip.frames_per_second, clip.start_secs) = (rate, start);
    clip
}

/// Frames per second and number of steps, where all keys lie on a grid.
fn grid(times: &[f64]) -> Option<(f64, f64)> {
    const FASTEST: f64 = 1000.0;
    const OFF_GRID: f64 = 0.01;
    let duration = times.last()? - times.first()?;
    let least = times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(f64::INFINITY, f64::min);
    let steps = (duration / least).round();
    let rate = steps / duration;
    if !(steps >= 1.0 && rate.is_finite() && rate <= FASTEST) {
        return None;
    }
    let on_grid = |time: &f64| {
        let step = (time - times[0]) * rate;
        (step - step.round()).abs() < OFF_GRID
    };
    // Key times are single precision: 29.99999 is 30.
    let whole = if (rate - rate.round()).abs() < 1e-4 * rate {
        rate.round()
    } else {
        rate
    };
    times.iter().all(on_grid).then_some((whole, steps))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Step,
    Linear,
    Cubic,
}

/// Rows of `width` numbers at ascending times; a cubic one has three rows per key: arriving, value,
/// leaving.
struct Curve {
    times: Vec<f64>,
    values: Vec<f64>,
    width: usize,
    kind: Kind,
}

impl Curve {
    /// Leaves out keys that do not come after the one before, and gives their number.
    fn make_ascend(&mut self) -> usize {
        let block = self.values.len() / self.times.len();
        let mut kept: Vec<usize> = Vec::with_capacity(self.times.len());
        for (k, &time) in self.times.iter().enumerate() {
            let after = kept.last().is_none_or(|&last| self.times[last] < time);
            if time.is_finite() && after {
                kept.push(k);
            }
        }
        let dropped = self.times.len() - kept.len();
        if dropped > 0 {
            // Keys that are all broken leave the first, at time zero.
            let first = kept.is_empty().then_some(0);
            let kept: Vec<usize> = kept.into_iter().chain(first).collect();
            self.values = kept
                .iter()
                .flat_map(|&k| &self.values[k * block..(k + 1) * block])
                .copied()
                .collect();
            self.times = kept
                .iter()
                .map(|&k| {
                    if self.times[k].is_finite() {
                        self.times[k]
                    } else {
                        0.0
                    }
                })
                .collect();
        }
        dropped
    }

    /// Row `row` (0 arriving, 1 value, 2 leaving) of a key.
    fn row(&self, key: usize, row: usize) -> &[f64] {
        let at = if self.kind == Kind::Cubic {
            3 * key + row
        } else {
            key
        };
        &self.values[at * self.width..][..self.width]
    }

    fn weight_track(&self, targets: usize) -> Result<WeightTrack, ReadError> {
        let rows = |row: usize| {
            (0..self.times.len())
                .map(|key| self.row(key, row)[..targets].to_vec())
                .collect::<Vec<_>>()
        };
        let interpolation = match self.kind {
            Kind::Step => Interpolation::Step,
            Kind::Linear => Interpolation::Linear,
            Kind::Cubic => Interpolation::Cubic {
                arriving: rows(0),
                leaving: rows(2),
            },
        };
        Ok(WeightTrack::new(
            self.times.clone(),
            rows(1),
            interpolation,
        )?)
    }

    /// The keys around a moment and the way between them.
    fn segment(&self, time: f64) -> (usize, usize, f64) {
        let next = self.times.partition_point(|&t| t <= time);
        if next == 0 || next == self.times.len() {
            let end = next.saturating_sub(1);
            return (end, end, 0.0);
        }
        let s = (time - self.times[next - 1]) / (self.times[next] - self.times[next - 1]);
        (next - 1, next, s)
    }

    fn at(&self, time: f64) -> Vec<f64> {
        let (last, next, s) = self.segment(time);
        let (from, to) = (self.row(last, 1), self.row(next, 1));
        match self.kind {
            Kind::Step => from.to_vec(),
            Kind::Linear => from.iter().zip(to).map(|(a, b)| a + (b - a) * s).collect(),
            Kind::Cubic => {
                let span = self.times[next] - self.times[last];
                let (leaving, arriving) = (self.row(last, 2), self.row(next, 0));
                (0..self.width)
                    .map(|k| hermite(s, from[k], span * leaving[k], to[k], span * arriving[k]))
                    .collect()
            }
        }
    }

    fn rotation_at(&self, time: f64) -> DQuat {
        if self.kind != Kind::Linear {
            return unit(DQuat::from_slice(&self.at(time)));
        }
        let (last, next, s) = self.segment(time);
        let [from, to] = [last, next].map(|key| unit(DQuat::from_slice(self.row(key, 1))));
        from.slerp(to, s)
    }
}

fn hermite(s: f64, from: f64, leaving: f64, to: f64, arriving: f64) -> f64 {
    let (s2, s3) = (s * s, s * s * s);
    (2.0 * s3 - 3.0 * s2 + 1.0) * from
        + (s3 - 2.0 * s2 + s) * leaving
        + (3.0 * s2 - 2.0 * s3) * to
        + (s3 - s2) * arriving
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_on_a_grid_give_its_rate_and_others_the_default() {
        let single = |t: f64| f64::from(t as f32);
        let (rate, steps) = grid(&[
            single(0.1),
            single(0.1 + 1.0 / 24.0),
            single(0.1 + 5.0 / 24.0),
        ])
        .unwrap();
        assert_eq!((rate, steps), (24.0, 5.0));
        assert_eq!(grid(&[0.0, 0.3, 1.0, 1.07]), None);
        assert_eq!(grid(&[1.0]), None);
        assert_eq!(grid(&[0.0, 1e-9]), None);
        let mut problems = Vec::new();
        assert_eq!(frames_of("x", &[2.0], None, &mut problems).frame_count, 1);
        assert_eq!(
            frames_of("x", &[0.0, 0.5], None, &mut problems).frame_count,
            2
        );
        assert_eq!(
            frames_of("x", &[0.0, 0.3, 1.0, 1.07], None, &mut problems).frame_count,
            (1.07 * Clip::DEFAULT_FRAMES_PER_SECOND) as usize + 1
        );
        assert!(problems.is_empty());
        assert_eq!(
            frames_of("x", &[0.0, 1e-3, 1e9], None, &mut problems).frame_count,
            MOST_FRAMES
        );
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn curves_follow_their_interpolation() {
        let curve = |kind, values: &[f64]| Curve {
            times: vec![1.0, 3.0],
            values: values.to_vec(),
            width: 1,
            kind,
        };
        assert_eq!(curve(Kind::Step, &[0.0, 8.0]).at(2.9), [0.0]);
        assert_eq!(curve(Kind::Linear, &[0.0, 8.0]).at(2.5), [6.0]);
        // The parabola 2 (t − 1)² has slopes 0 and 8.
        assert!(
            (curve(Kind::Cubic, &[0.0, 0.0, 0.0, 8.0, 8.0, 8.0]).at(2.5)[0] - 4.5).abs() < 1e-14
        );
        let mut broken = Curve {
            times: vec![0.0, 0.0, f64::NAN, 1.0],
            values: vec![1.0, 2.0, 3.0, 4.0],
            width: 1,
            kind: Kind::Linear,
        };
        assert_eq!((broken.make_ascend(), broken.at(1.0)), (2, vec![4.0]));
    }
}
