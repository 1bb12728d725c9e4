//! One layer of a synthesis: how it changes the gradients below it, the root and the shells.

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, Polar};

use super::prepared_source::PreparedSource;
use super::{Buffers, TRIANGLES_PER_TASK};
use crate::blend::{mix, relative_log, rotation_exp};
use crate::branch_forest::BranchForest;
use crate::layer::Moment;
use crate::placement::{BondedShell, Placement};
use crate::polar_lanes::for_each_polar;
use crate::probe::Probe;
use crate::{Layer, LayerMode, PoseModification};

/// A layer moves the root if it holds more than this part of the main shell.
const ROOT_SHARE: f64 = 0.5;

/// A layer with all that does not change from frame to frame, and what it remembers of the last
/// one.
#[derive(Debug, Clone)]
pub(super) struct PreparedLayer {
    pub(super) layer: Layer,
    /// Whether nothing of what lies below is left.
    pub(super) hides_all: bool,
    forest: BranchForest,
    /// For each triangle of the forest both sides taken apart, and the logarithm of the turn
    /// between them on its branch.
    between: Vec<Between>,
    logs: Vec<DVec3>,
    /// The branches at the seeds of the forest in the frame before.
    pub(super) seeds: Vec<DVec3>,
    /// What moves the root, and where it is at rest; none if the layer holds too little of the
    /// main shell.
    pub(super) root: Option<(Probe, DVec3)>,
    follows: Vec<Option<ShellFollow>>,
}

/// A triangle on its way between two deformations: `rotation · exp(weight · log) · stretch`.
#[derive(Debug, Clone, Copy, Default)]
struct Between {
    rotation: DMat3,
    stretch: DMat3,
    /// On the shortest branch.
    log: DVec3,
}

/// How a shell of the source moves against what it hangs on.
#[derive(Debug, Clone)]
struct ShellFollow {
    /// What the layer counts on this shell.
    weight: f64,
    own: Probe,
    own_rest: DVec3,
    anchors: Probe,
    /// From the source centroid of each anchor to `own_rest`.
    levers: Vec<DVec3>,
}

/// The target as layers see it.
pub(super) struct OnTarget<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) placement: &'a Placement,
    pub(super) areas: &'a [f64],
    /// The triangles of each shell.
    pub(super) triangles: Vec<Vec<u32>>,
}

impl OnTarget<'_> {
    /// The centroid of what one shell takes from the source, by the area that takes it.
    fn probe(&self, source: &PreparedSource<'_>, shell: u32) -> Probe {
        source.probe(
            self.triangles[shell as usize]
                .iter()
                .map(|&t| (t, self.areas[t as usize])),
        )
    }

    /// The mean weight of a layer on one shell, by area.
    fn mean_weight(&self, weights: &[f64], shell: u32) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for &t in &self.triangles[shell as usize] {
            sum += self.areas[t as usize] * weights[t as usize];
            total += self.areas[t as usize];
        }
        if total > 0.0 { sum / total } else { 0.0 }
    }

    fn follow(
        &self,
        source: &PreparedSource<'_>,
        weights: &[f64],
        bonded: &BondedShell,
    ) -> Option<ShellFollow> {
        let own = self.probe(source, bonded.shell);
        let weight = self.mean_weight(weights, bonded.shell);
        if own.is_empty() || weight == 0.0 {
            return None;
        }
        let rest = |v: usize| source.clip.reference().positions()[v];
        let own_rest = own.at(rest);
        let anchors = source.probe(bonded.bond.triangles.iter().map(|&t| (t, 1.0)));
        let lever = |&t: &u32| match source.probe([(t, 1.0)].into_iter()) {
            probe if probe.is_empty() => DVec3::ZERO,
            probe => own_rest - probe.at(rest),
        };
        Some(ShellFollow {
            weight,
            own,
            own_rest,
            anchors,
            levers: bonded.bond.triangles.iter().map(lever).collect(),
        })
    }
}

impl PreparedLayer {
    pub(super) fn new(
        source: &PreparedSource<'_>,
        mut layer: Layer,
        target: &OnTarget<'_>,
    ) -> Self {
        for (_, weight) in layer
            .weights
            .iter_mut()
            .enumerate()
            .filter(|(t, _)| source.map.row(*t).is_empty())
        {
            *weight = 0.0; // Nothing to take: what lies below stays.
        }
        let weights = &layer.weights;
        let forest = BranchForest::grow(target.mesh, |t| {
            weights[t] > 0.0 && (weights[t] < 1.0 || layer.ease > 0.0)
        });
        let main = target.placement.main;
        let root =
            (target.mean_weight(weights, main) > ROOT_SHARE).then(|| target.probe(source, main));
        let rest = |v: usize| source.clip.reference().positions()[v];
        let root = root.map(|probe| {
            let at_rest = probe.at(rest);
            (probe, at_rest)
        });
        let follows = target
            .placement
            .bonded
            .iter()
            .map(|bonded| target.follow(source, weights, bonded))
            .collect();
        let (between, logs) = (
            vec![Between::default(); forest.triangles().len()],
            vec![DVec3::ZERO; forest.triangles().len()],
        );
        let hides_all = layer.mode == LayerMode::Blend
            && layer.ease == 0.0
            && weights.iter().all(|&weight| weight == 1.0);
        Self {
            layer,
            hides_all,
            forest,
            between,
            logs,
            seeds: Vec::new(),
            root,
            follows,
        }
    }

    /// Adds what this layer does to the root and to shells beside the main one, in the directions
    /// that `pose` says.
    pub(super) fn place(
        &self,
        source: &PreparedSource<'_>,
        moment: Moment,
        presence: f64,
        placement: &Placement,
        pose: Option<&PoseModification>,
        buffers: &mut Buffers,
    ) {
        let in_target = |way: DVec3| pose.map_or(way, |pose| pose.in_directions_of_target(way));
        let position = |v: usize| source.position(moment, v);
        let kept = |weight: f64| {
            if self.layer.mode == LayerMode::Blend {
                1.0 - weight
            } else {
                1.0
            }
        };
        if let Some((probe, at_rest)) = &self.root {
            let way = in_target(probe.at(position) - *at_rest) * source.ratio;
            buffers.root = buffers.root * kept(presence) + way * presence;
        }
        for ((follow, bonded), deviation) in self
            .follows
            .iter()
            .zip(&placement.bonded)
            .zip(&mut buffers.deviations)
        {
            let Some(follow) = follow else { continue };
            let turned = bonded
                .bond
                .triangles
                .iter()
                .zip(&follow.levers)
                .map(|(&t, lever)| nearest_rotation(buffers.layer_gradients[t as usize]) * *lever);
            let predicted = if follow.anchors.is_empty() {
                follow.own_rest
            } else {
                follow.anchors.at(position) + turned.sum::<DVec3>() / follow.levers.len() as f64
            };
            let weight = follow.weight * presence;
            *deviation = *deviation * kept(weight)
                + in_target(follow.own.at(position) - predicted) * source.ratio * weight;
        }
    }

    /// Blends or compounds the layer's gradients with those below.
    pub(super) fn combine(&mut self, presence: f64, buffers: &mut Buffers) {
        let Buffers {
            layer_gradients,
            gradients,
            ..
        } = buffers;
        if self.hides_all {
            std::mem::swap(layer_gradients, gradients);
            return;
        }
        self.take_apart(presence, layer_gradients, gradients);
        self.forest.unwrap(&mut self.logs, &mut self.seeds);
        let (weights, mode, triangles) = (
            &self.layer.weights,
            self.layer.mode,
            self.forest.triangles(),
        );
        parallel::for_each_chunk_mut(gradients, TRIANGLES_PER_TASK, |start, chunk| {
            let mut place = triangles.partition_point(|&t| (t as usize) < start);
            for (t, gradient) in (start..).zip(chunk) {
                let layer = if triangles.get(place) == Some(&(t as u32)) {
                    place += 1;
                    self.between[place - 1].turned(self.logs[place - 1] * (weights[t] * presence))
                } else if weights[t] == 1.0 {
                    layer_gradients[t]
                } else {
                    continue; // Weight zero.
                };
                *gradient = if mode == LayerMode::Compound {
                    layer * *gradient
                } else {
                    layer
                };
            }
        });
    }

    /// Splits both sides of every triangle that blends into turn and stretch.
    fn take_apart(&mut self, presence: f64, layer_gradients: &[DMat3], gradients: &[DMat3]) {
        let (weights, mode, triangles) = (
            &self.layer.weights,
            self.layer.mode,
            self.forest.triangles(),
        );
        parallel::for_each_chunk_mut(&mut self.between, TRIANGLES_PER_TASK, |start, chunk| {
            let (count, triangle) = (chunk.len(), |k: usize| triangles[start + k] as usize);
            match mode {
                LayerMode::Compound => chunk.fill(Between {
                    rotation: DMat3::IDENTITY,
                    stretch: DMat3::IDENTITY,
                    log: DVec3::ZERO,
                }),
                // Part by part, which spares a copy of the whole.
                LayerMode::Blend => for_each_polar(
                    count,
                    |k| gradients[triangle(k)],
                    |k, below| {
                        (chunk[k].rotation, chunk[k].stretch) = (below.rotation, below.stretch)
                    },
                ),
            }
            let mix_in = |k: usize, layer: &Polar| {
                let between = &mut chunk[k];
                between.log = relative_log(&between.rotation, &layer.rotation);
                between.stretch = mix(
                    between.stretch,
                    layer.stretch,
                    weights[triangle(k)] * presence,
                );
            };
            for_each_polar(count, |k| layer_gradients[triangle(k)], mix_in);
        });
        // Apart from the rest they fit into a fast memory, where the forest's order may jump about.
        parallel::for_each_chunk_mut(&mut self.logs, TRIANGLES_PER_TASK, |start, chunk| {
            chunk
                .iter_mut()
                .zip(&self.between[start..])
                .for_each(|(log, between)| *log = between.log);
        });
    }
}

impl Between {
    /// `rotation · exp(log) · stretch`.
    fn turned(&self, log: DVec3) -> DMat3 {
        self.rotation * DMat3::from_quat(rotation_exp(log)) * self.stretch
    }
}
