//! Prepared layer of a synthesis: its effect on the gradients below it, the root and the components.

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};

use super::batched_polar::for_each_polar;
use super::branch_forest::BranchForest;
use super::component_placement::{AttachedComponent, ComponentPlacement};
use super::gradient_blend::{mix, relative_log};
use super::layer::ClipTime;
use super::prepared_source::PreparedSource;
use super::weighted_centroid::WeightedCentroid;
use super::{Buffers, Layer, LayerMode, PoseModification, TRIANGLES_PER_TASK};
use pliant_linalg::rotation_from_vector;

/// A layer moves the root if its mean weight on the main component is above this.
const ROOT_SHARE: f64 = 0.5;

/// A layer with what does not change from frame to frame, and the state of the last frame.
#[derive(Debug, Clone)]
pub(super) struct PreparedLayer {
    pub(super) layer: Layer,
    /// Whether the layer replaces everything below it.
    pub(super) hides_all: bool,
    forest: BranchForest,
    /// For each triangle of the forest the interpolation from below to the layer.
    interpolations: Vec<Interpolation>,
    /// For each triangle of the forest the rotation vector on its branch.
    logs: Vec<DVec3>,
    /// The branches at the seeds of the forest in the frame before.
    pub(super) seeds: Vec<DVec3>,
    /// `None` if the layer has too little of the main component.
    root: Option<RootFollower>,
    followers: Vec<Option<ComponentFollower>>,
}

/// The interpolation of a triangle between two deformations:
/// `rotation · exp(weight · log) · stretch`.
#[derive(Debug, Clone, Copy, Default)]
struct Interpolation {
    rotation: DMat3,
    stretch: DMat3,
    /// On the shortest branch.
    log: DVec3,
}

impl Interpolation {
    const IDENTITY: Self = Self {
        rotation: DMat3::IDENTITY,
        stretch: DMat3::IDENTITY,
        log: DVec3::ZERO,
    };

    /// `rotation · exp(log) · stretch`.
    fn at(&self, log: DVec3) -> DMat3 {
        self.rotation * DMat3::from_quat(rotation_from_vector(log)) * self.stretch
    }
}

/// The centroid of the source that moves the root, and its position at rest.
#[derive(Debug, Clone)]
struct RootFollower {
    centroid: WeightedCentroid,
    rest: DVec3,
}

/// The motion of a component of the source relative to its surroundings.
#[derive(Debug, Clone)]
struct ComponentFollower {
    /// The mean weight of the layer on this component.
    weight: f64,
    own: WeightedCentroid,
    own_rest: DVec3,
    anchors: WeightedCentroid,
    /// From the source centroid of each anchor to `own_rest`.
    lever_arms: Vec<DVec3>,
}

impl ComponentFollower {
    /// `δ` at a time: the offset of the component from the prediction of its anchors.
    fn deviation(
        &self,
        source: &PreparedSource<'_>,
        time: ClipTime,
        attached: &AttachedComponent,
        gradients: &[DMat3],
    ) -> DVec3 {
        let mut rotated = DVec3::ZERO;
        for (&t, lever_arm) in attached.attachment.triangles.iter().zip(&self.lever_arms) {
            rotated += nearest_rotation(gradients[t as usize]) * *lever_arm;
        }

        // Without anchors on the source the component moves relative to its rest position.
        let position = |v: usize| source.position(time, v);
        let predicted = if self.anchors.is_empty() {
            self.own_rest
        } else {
            self.anchors.at(position) + rotated / self.lever_arms.len() as f64
        };
        self.own.at(position) - predicted
    }
}

/// The target as layers need it.
pub(super) struct TargetLayout<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) placement: &'a ComponentPlacement,
    pub(super) areas: Vec<f64>,
    /// The triangles of each component.
    pub(super) triangles: Vec<Vec<u32>>,
}

impl TargetLayout<'_> {
    /// The centroid of the sources of one component, weighted by the areas of the target.
    fn source_centroid(&self, source: &PreparedSource<'_>, component: u32) -> WeightedCentroid {
        let triangles = &self.triangles[component as usize];
        source.centroid_of(triangles.iter().map(|&t| (t, self.areas[t as usize])))
    }

    /// The mean weight of a layer on one component, by area.
    fn mean_weight(&self, weights: &[f64], component: u32) -> f64 {
        let mut sum = 0.0;
        let mut total = 0.0;
        for &t in &self.triangles[component as usize] {
            sum += self.areas[t as usize] * weights[t as usize];
            total += self.areas[t as usize];
        }
        if total > 0.0 { sum / total } else { 0.0 }
    }

    fn root_follower(&self, source: &PreparedSource<'_>, weights: &[f64]) -> Option<RootFollower> {
        let main = self.placement.main;
        if self.mean_weight(weights, main) <= ROOT_SHARE {
            return None;
        }
        let centroid = self.source_centroid(source, main);
        let rest = centroid.at(|v| source.rest_position(v));
        Some(RootFollower { centroid, rest })
    }

    fn component_follower(
        &self,
        source: &PreparedSource<'_>,
        weights: &[f64],
        attached: &AttachedComponent,
    ) -> Option<ComponentFollower> {
        let own = self.source_centroid(source, attached.component);
        let weight = self.mean_weight(weights, attached.component);
        if own.is_empty() || weight == 0.0 {
            return None;
        }

        let own_rest = own.at(|v| source.rest_position(v));
        // The anchors are those of the target, read on the source through the map.
        let triangles = &attached.attachment.triangles;
        let mut lever_arms = Vec::with_capacity(triangles.len());
        for &t in triangles {
            let anchor = source.centroid_of([(t, 1.0)].into_iter());
            lever_arms.push(if anchor.is_empty() {
                DVec3::ZERO
            } else {
                own_rest - anchor.at(|v| source.rest_position(v))
            });
        }

        Some(ComponentFollower {
            weight,
            own,
            own_rest,
            anchors: source.centroid_of(triangles.iter().map(|&t| (t, 1.0))),
            lever_arms,
        })
    }
}

impl PreparedLayer {
    pub(super) fn new(
        source: &PreparedSource<'_>,
        mut layer: Layer,
        target: &TargetLayout<'_>,
    ) -> Self {
        // Triangles without a source keep the result below.
        for (t, weight) in layer.weights.iter_mut().enumerate() {
            if source.map.row(t).is_empty() {
                *weight = 0.0;
            }
        }

        let weights = &layer.weights;
        let is_eased = layer.ease > 0.0;
        let forest = BranchForest::grow(target.mesh, |t| {
            weights[t] > 0.0 && (weights[t] < 1.0 || is_eased)
        });
        let attached = &target.placement.attached;
        let followers = attached
            .iter()
            .map(|attached| target.component_follower(source, weights, attached))
            .collect();
        let hides_all = layer.mode == LayerMode::Blend
            && layer.ease == 0.0
            && weights.iter().all(|&weight| weight == 1.0);

        Self {
            hides_all,
            interpolations: vec![Interpolation::default(); forest.triangles().len()],
            logs: vec![DVec3::ZERO; forest.triangles().len()],
            forest,
            seeds: Vec::new(),
            root: target.root_follower(source, weights),
            followers,
            layer,
        }
    }

    /// Adds the layer's motion of the root and of components other than the main one, in the
    /// directions of the target by `pose`.
    pub(super) fn place(
        &self,
        source: &PreparedSource<'_>,
        time: ClipTime,
        presence: f64,
        placement: &ComponentPlacement,
        pose: Option<&PoseModification>,
        buffers: &mut Buffers,
    ) {
        let in_target = |displacement: DVec3| match pose {
            Some(pose) => pose.in_directions_of_target(displacement),
            None => displacement,
        };

        // Blending replaces the root motion below by the layer's, compounding adds to it.
        if let Some(root) = &self.root {
            let position = root.centroid.at(|v| source.position(time, v));
            let displacement = in_target(position - root.rest) * source.ratio;
            buffers.root = buffers.root * self.kept(presence) + displacement * presence;
        }

        // A component follows a layer by the mean weight of the layer on it.
        let attached = placement.attached.iter().zip(&mut buffers.deviations);
        for (follower, (attached, deviation)) in self.followers.iter().zip(attached) {
            let Some(follower) = follower else { continue };
            let weight = follower.weight * presence;
            let own = follower.deviation(source, time, attached, &buffers.layer_gradients);
            *deviation = *deviation * self.kept(weight) + in_target(own) * source.ratio * weight;
        }
    }

    /// The share of the result below that a layer with this weight keeps.
    fn kept(&self, weight: f64) -> f64 {
        match self.layer.mode {
            LayerMode::Blend => 1.0 - weight,
            LayerMode::Compound => 1.0,
        }
    }

    /// Blends or compounds the layer's gradients with those below.
    pub(super) fn combine(&mut self, presence: f64, buffers: &mut Buffers) {
        let layer_gradients = &mut buffers.layer_gradients;
        let gradients = &mut buffers.gradients;
        if self.hides_all {
            std::mem::swap(layer_gradients, gradients);
            return;
        }

        self.interpolate(presence, layer_gradients, gradients);
        self.forest.unwrap(&mut self.logs, &mut self.seeds);

        let weights = &self.layer.weights;
        let triangles = self.forest.triangles();
        parallel::for_each_chunk_mut(gradients, TRIANGLES_PER_TASK, |start, chunk| {
            // Triangles of the forest are in ascending order; `next` is the first one not passed.
            let mut next = triangles.partition_point(|&t| (t as usize) < start);
            for (t, gradient) in (start..).zip(chunk) {
                let layer = if triangles.get(next) == Some(&(t as u32)) {
                    let log = self.logs[next] * (weights[t] * presence);
                    next += 1;
                    self.interpolations[next - 1].at(log)
                } else if weights[t] == 1.0 {
                    layer_gradients[t]
                } else {
                    continue; // Weight zero.
                };
                *gradient = match self.layer.mode {
                    LayerMode::Blend => layer,
                    LayerMode::Compound => layer * *gradient,
                };
            }
        });
    }

    /// Computes the interpolation and the shortest rotation vector of every triangle of the forest.
    fn interpolate(&mut self, presence: f64, layer_gradients: &[DMat3], gradients: &[DMat3]) {
        let weights = &self.layer.weights;
        let mode = self.layer.mode;
        let triangles = self.forest.triangles();
        let interpolations = &mut self.interpolations;
        parallel::for_each_chunk_mut(interpolations, TRIANGLES_PER_TASK, |start, chunk| {
            let count = chunk.len();
            let triangle = |k: usize| triangles[start + k] as usize;

            // The polar factors below; compounding interpolates from the identity.
            match mode {
                LayerMode::Compound => chunk.fill(Interpolation::IDENTITY),
                LayerMode::Blend => for_each_polar(
                    count,
                    |k| gradients[triangle(k)],
                    |k, below| {
                        chunk[k].rotation = below.rotation;
                        chunk[k].stretch = below.stretch;
                    },
                ),
            }

            for_each_polar(
                count,
                |k| layer_gradients[triangle(k)],
                |k, layer| {
                    let own = &mut chunk[k];
                    let weight = weights[triangle(k)] * presence;
                    own.log = relative_log(&own.rotation, &layer.rotation);
                    own.stretch = mix(own.stretch, layer.stretch, weight);
                },
            );
        });

        // Unwrapping visits the logs in the order of the forest; on their own they fit the cache.
        let interpolations = &self.interpolations;
        parallel::for_each_chunk_mut(&mut self.logs, TRIANGLES_PER_TASK, |start, chunk| {
            for (log, interpolation) in chunk.iter_mut().zip(&interpolations[start..]) {
                *log = interpolation.log;
            }
        });
    }
}
