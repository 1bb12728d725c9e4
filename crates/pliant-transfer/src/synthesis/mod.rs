//! Animation synthesis: layers of deformations of other meshes, reconstructed on the target.
//!
//! **Problem.** Given sources (a clip and a map to the target each) and layers (which frames of
//! which clip apply to which triangles, when and how), compute the target's vertices in every frame.
//!
//! **Method.** Each frame starts with the identity on every triangle. Each layer adds the
//! deformation gradients of its clip at its time: they are brought to the target through the map
//! (several sources of one triangle are averaged by their polar factors) and blended or compounded
//! with the result so far by the layer's weights. Then eq. 6 is solved, and the components are
//! placed.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, sections 3.2.2 and 3.2.3.
//!
//! **Departures.** Frames are computed one at a time; memory does not grow with the length of the
//! clip. If a weight is one and the triangle has one source, the gradient is unchanged, so a mesh on
//! itself returns its clip. Between frames of a clip, gradients are blended. Rotations beyond `π`
//! are followed over the mesh and from frame to frame.
//!
//! **Files.**
//!
//! - [`options`]: root motion, reference poses, foot contacts.
//! - [`layer`]: which frames of a source apply where, when and how.
//! - [`prepared_source`], [`prepared_layer`]: what does not change from frame to frame.
//! - [`gradient_blend`]: interpolation and mean of deformation gradients.
//! - [`branch_forest`]: branches of rotation vectors beyond `π`.
//! - [`batched_polar`]: polar decompositions in SIMD lanes.
//! - [`pose_modification`]: another reference pose of the target.
//! - [`reconstruction`]: positions from deformation gradients.
//! - [`components`], [`component_placement`]: the positions of connected components.
//! - [`weighted_centroid`]: a weighted mean of vertices in any pose.
//! - [`self_intersection`]: removal of new self-intersections.

mod batched_polar;
mod branch_forest;
mod component_placement;
mod components;
mod gradient_blend;
mod layer;
mod options;
mod pose_modification;
mod prepared_layer;
mod prepared_source;
mod reconstruction;
mod self_intersection;
mod weighted_centroid;

use std::borrow::Cow;

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, MeshError, Polar, Progress, triangle_area};
use pliant_rig::Clip;

use crate::feet::footskate_cleanup::remove_footskate;
use crate::feet::root_correction::{GroundContact, RootCorrection, contact_triangles};
use crate::{FootContactReport, RootMotion, TransferError, TriangleMap};
use component_placement::ComponentPlacement;
use components::Components;
use prepared_layer::{PreparedLayer, TargetLayout};
use prepared_source::PreparedSource;

pub use gradient_blend::{blend_gradients, mean_gradient};
pub use layer::{Layer, LayerMode};
pub use options::SynthesisOptions;
pub use pose_modification::PoseModification;
pub use reconstruction::{Reconstruction, ReconstructionWeighting, ReconstructionWorkspace};
pub use self_intersection::{SelfIntersectionRemoval, SelfIntersectionReport};

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 1024;

/// A triangle belongs to the uppermost layer whose weight is above this.
const HOLDING_WEIGHT: f64 = 0.5;

/// A clip and the map of its triangles to the target.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// The animation.
    pub clip: &'a Clip,
    /// For each target triangle those of the clip's mesh.
    pub map: Cow<'a, TriangleMap>,
}

/// All frames of a synthesis.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// The target's vertices in every frame.
    pub frames: Vec<Vec<DVec3>>,
    /// The report of the foot contacts, if
    /// [requested](SynthesisOptions::with_planted_feet).
    pub feet: Option<FootContactReport>,
}

/// A new animation of the target, ready to be computed frame by frame.
#[derive(Debug, Clone)]
pub struct Synthesis<'a> {
    target: &'a Mesh,
    sources: Vec<PreparedSource<'a>>,
    layers: Vec<PreparedLayer>,
    options: SynthesisOptions,
    reconstruction: Cow<'a, Reconstruction>,
    placement: ComponentPlacement,
    root_correction: Option<RootCorrection>,
    frame_count: usize,
    /// The frame after the last one composed: only there the branches of rotations continue.
    next_frame: usize,
    buffers: Buffers,
}

#[derive(Debug, Clone, Default)]
struct Buffers {
    /// On the source: at the time of the layer, at the frame after it, and their polar factors.
    source_gradients: Vec<DMat3>,
    after: Vec<DMat3>,
    polars: Vec<Polar>,
    /// On the target: of one layer, and of all layers so far.
    layer_gradients: Vec<DMat3>,
    gradients: Vec<DMat3>,
    root: DVec3,
    /// `δ` of each attached component.
    deviations: Vec<DVec3>,
    workspace: ReconstructionWorkspace,
    positions: Vec<DVec3>,
}

impl Buffers {
    fn new(target: &Mesh, placement: &ComponentPlacement) -> Self {
        let triangles = target.triangles().len();
        Self {
            layer_gradients: vec![DMat3::IDENTITY; triangles],
            gradients: vec![DMat3::IDENTITY; triangles],
            deviations: vec![DVec3::ZERO; placement.attached.len()],
            positions: vec![DVec3::ZERO; target.vertex_count()],
            ..Self::default()
        }
    }
}

impl<'a> Synthesis<'a> {
    /// Factors the target's system and prepares every layer.
    ///
    /// # Errors
    /// Layers without a source; frames, weights, maps or numbers that do not fit; positions that are
    /// not finite.
    pub fn new(
        target: &'a Mesh,
        sources: Vec<Source<'a>>,
        layers: Vec<Layer>,
        options: SynthesisOptions,
    ) -> Result<Self, TransferError> {
        let reconstruction = Reconstruction::factor(target, options.weighting)?;
        Self::prepare(target, Cow::Owned(reconstruction), sources, layers, options)
    }

    /// As [`new`](Self::new), with an existing factorisation of the same target.
    ///
    /// # Errors
    /// As [`new`](Self::new), and a factorisation of another mesh.
    pub fn with_factor(
        target: &'a Mesh,
        factor: &'a Reconstruction,
        sources: Vec<Source<'a>>,
        layers: Vec<Layer>,
        options: SynthesisOptions,
    ) -> Result<Self, TransferError> {
        TransferError::check_count(
            "the factor",
            factor.triangle_count(),
            target.triangles().len(),
        )?;
        // Two meshes may have equally many triangles and different vertices.
        if factor.vertex_count() != target.vertex_count() {
            let error = MeshError::Count {
                what: "the vertices of the factor",
                found: factor.vertex_count(),
                expected: target.vertex_count(),
            };
            return Err(error.into());
        }

        Self::prepare(target, Cow::Borrowed(factor), sources, layers, options)
    }

    fn prepare(
        target: &'a Mesh,
        reconstruction: Cow<'a, Reconstruction>,
        sources: Vec<Source<'a>>,
        layers: Vec<Layer>,
        options: SynthesisOptions,
    ) -> Result<Self, TransferError> {
        check_layers(target, &sources, &layers, &options)?;
        let mut prepared_sources = Vec::with_capacity(sources.len());
        for source in sources {
            prepared_sources.push(PreparedSource::new(target, source, options.size_ratio)?);
        }

        // Which components a layer animates decides which one is the main component.
        let components = reconstruction.components();
        let moved = moved_components(target, components, &prepared_sources, &layers);
        let placement = ComponentPlacement::new(target, components, &moved)?;

        let frame_count = layers.iter().map(Layer::end).max().unwrap_or(0);
        // Layers read the layout of the target only while they are prepared.
        let layout = TargetLayout {
            mesh: target,
            placement: &placement,
            areas: triangle_areas(target),
            triangles: component_triangles(target, components),
        };
        let mut prepared_layers = Vec::with_capacity(layers.len());
        for layer in layers {
            let source = &prepared_sources[layer.source];
            prepared_layers.push(PreparedLayer::new(source, layer, &layout));
        }

        let root_correction = match &options.planted_feet {
            Some(contacts) => {
                let clips = prepared_sources.iter().map(|source| source.clip);
                Some(RootCorrection::new(clips, contacts, options.root)?)
            }
            None => None,
        };

        Ok(Self {
            target,
            sources: prepared_sources,
            layers: prepared_layers,
            options,
            reconstruction,
            buffers: Buffers::new(target, &placement),
            placement,
            root_correction,
            frame_count,
            next_frame: 0,
        })
    }

    /// Number of frames of the output: until the last layer ends.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// The target's vertices in frame `k`.
    ///
    /// Ascending order is fastest. After a jump, the rotations of the frames before are followed
    /// without solving them, so the result does not depend on the order, to the bit. A frame without
    /// any layer is the rest pose.
    pub fn frame(&mut self, k: usize) -> &[DVec3] {
        if k > self.next_frame && self.next_frame > 0 {
            self.follow_to(k);
        } else if k != self.next_frame {
            self.replay_until(k);
        }
        self.compose(k);
        self.reconstruct(k);
        self.next_frame = k + 1;
        &self.buffers.positions
    }

    /// All frames, with each standing foot held in place.
    ///
    /// # Errors
    /// - a system of the target that cannot be factored, because positions are near the limits of
    ///   floating-point numbers,
    /// - [`TransferError::Stopped`] if `progress` asks for it.
    pub fn motion(&mut self, progress: &dyn Progress) -> Result<Motion, TransferError> {
        let all: Vec<usize> = (0..self.frame_count).collect();
        self.motion_of(&all, progress)
    }

    /// As [`motion`](Self::motion), for some of its frames in ascending order. They are those of the
    /// whole motion to the bit: rotations are followed from the first frame without solving. With
    /// planted feet all frames are solved, since corrections reach over the whole clip.
    ///
    /// # Errors
    /// As [`motion`](Self::motion).
    ///
    /// # Panics
    /// For a frame after the last one.
    pub fn motion_of(
        &mut self,
        frames: &[usize],
        progress: &dyn Progress,
    ) -> Result<Motion, TransferError> {
        let is_coupled = self.root_correction.is_some();
        let is_part = frames.len() < self.frame_count;
        if is_coupled && is_part {
            let Motion {
                frames: mut all,
                feet,
            } = self.motion(progress)?;
            let frames = frames
                .iter()
                .map(|&k| std::mem::take(&mut all[k]))
                .collect();
            return Ok(Motion { frames, feet });
        }

        let selected = frames;
        let mut frames = Vec::with_capacity(selected.len());
        let mut contacts = Vec::new();
        for (done, &k) in selected.iter().enumerate() {
            assert!(k < self.frame_count, "frame {k} is after the last one");
            let done = done as f64 / selected.len() as f64;
            progress.proceed("making frames", done)?;

            frames.push(self.frame(k).to_vec());
            if let Some(correction) = &self.root_correction {
                contacts.push(self.ground_contact(correction, k));
            }
        }

        // Feet are held over all frames at once, because corrections fade in before a foot lands.
        let feet = match self.root_correction {
            Some(_) => Some(remove_footskate(self.target, &contacts, &mut frames)?),
            None => None,
        };
        Ok(Motion { frames, feet })
    }

    /// The same as a clip of the target, at the frame rate of the lowest layer's source.
    ///
    /// # Errors
    /// As [`motion`](Self::motion).
    pub fn clip(&mut self, name: impl Into<String>) -> Result<Clip, TransferError> {
        let Motion { frames, .. } = self.motion(&())?;
        let lowest = &self.sources[self.layers[0].layer.source];
        let rate = lowest.clip.frames_per_second();
        let clip = Clip::new(name, self.target.clone(), frames)
            .expect("every frame has the target's vertices");
        Ok(clip.with_frames_per_second(rate))
    }

    /// The deformation gradient of every target triangle in the frame composed last.
    #[must_use]
    pub fn gradients(&self) -> &[DMat3] {
        &self.buffers.gradients
    }

    /// The target triangles on the ground in frame `k`: each triangle stands as in the uppermost
    /// layer that holds it.
    fn ground_contact(&self, correction: &RootCorrection, k: usize) -> GroundContact {
        let mut contact = GroundContact::default();
        let mut is_covered = vec![false; self.target.triangles().len()];
        // From the top down: a triangle belongs to the first layer that holds it. Compound layers
        // hold nothing; they deform what is below.
        for prepared in self.layers.iter().rev() {
            let layer = &prepared.layer;
            let Some(time) = layer
                .clip_time(k)
                .filter(|_| layer.mode == LayerMode::Blend)
            else {
                continue;
            };

            let source = &self.sources[layer.source];
            if let Some(contacts) = correction.contacts(layer.source) {
                let standing = contacts.at(time.frame);
                let mut own = contact_triangles(standing, source.clip.reference(), &source.map);
                own.retain(|&t| layer.holds(t as usize) && !is_covered[t as usize]);
                // Layers with other ground steps are rare; the lowest standing layer decides.
                if !own.is_empty() {
                    let step = contacts.ground_step() * (layer.speed * source.ratio);
                    contact.ground_step = self.options.in_directions_of_target(layer.source, step);
                }
                contact.triangles.extend(own);
            }

            for (t, is_covered) in is_covered.iter_mut().enumerate() {
                *is_covered |= layer.holds(t);
            }
        }

        contact.triangles.sort_unstable();
        contact
    }

    /// Continues the state from the frame composed last to frame `k` after it.
    fn follow_to(&mut self, k: usize) {
        for between in self.next_frame..k {
            self.compose(between);
            if self.root_correction.is_some() {
                self.reconstruct(between);
            }
        }
    }

    /// Recomputes the state that frame `k` needs: branches of rotations, and foot contacts.
    fn replay_until(&mut self, k: usize) {
        for layer in &mut self.layers {
            layer.seeds.clear();
        }
        if let Some(correction) = &mut self.root_correction {
            correction.restart();
            for earlier in 0..k {
                self.compose(earlier);
                self.reconstruct(earlier);
            }
            return;
        }

        // Only layers that are active in this frame have a past that matters.
        let active = self
            .layers
            .iter()
            .filter(|prepared| prepared.layer.clip_time(k).is_some());
        let first = active.map(|prepared| prepared.layer.at).min().unwrap_or(k);
        for earlier in first..k {
            self.compose(earlier);
        }
    }

    /// The gradients of frame `k` on the target, its root motion, and the deviations of components.
    fn compose(&mut self, k: usize) {
        let lowest = self
            .layers
            .iter()
            .find(|prepared| prepared.layer.clip_time(k).is_some());
        let buffers = &mut self.buffers;
        // A layer that replaces everything needs no start value.
        if !lowest.is_some_and(|layer| layer.hides_all) {
            buffers.gradients.fill(DMat3::IDENTITY);
        }
        buffers.deviations.fill(DVec3::ZERO);
        buffers.root = DVec3::ZERO;

        for layer in &mut self.layers {
            let Some(time) = layer.layer.clip_time(k) else {
                layer.seeds.clear();
                continue;
            };

            // Components are attached to triangles that this layer may not animate itself.
            let source = &self.sources[layer.layer.source];
            let everywhere = !self.placement.attached.is_empty();
            source.gradients_at(time, buffers);
            source.bring_to_target(&layer.layer.weights, everywhere, buffers);

            // Components before the pose modification: their anchors use the gradients in the
            // source's directions.
            let presence = layer.layer.presence(k);
            let pose = self.options.aligned_with(layer.layer.source);
            layer.place(source, time, presence, &self.placement, pose, buffers);
            match (pose, layer.layer.mode) {
                (Some(pose), LayerMode::Blend) => pose.apply(&mut buffers.layer_gradients),
                (Some(pose), LayerMode::Compound) => pose.apply_whole(&mut buffers.layer_gradients),
                (None, _) => {}
            }
            layer.combine(presence, buffers);
        }

        if let Some(pose) = &self.options.pose {
            pose.apply(&mut buffers.gradients);
            buffers.root = pose.in_directions_of_target(buffers.root);
            for deviation in &mut buffers.deviations {
                *deviation = pose.in_directions_of_target(*deviation);
            }
        }
    }

    /// The positions of frame `k` from the composed gradients.
    fn reconstruct(&mut self, k: usize) {
        let buffers = &mut self.buffers;
        self.reconstruction.solve_into(
            &buffers.gradients,
            &mut buffers.workspace,
            &mut buffers.positions,
        );

        // The solution has every component at its rest centroid; the root motion moves it.
        let root = match self.options.root {
            RootMotion::Carry => buffers.root,
            RootMotion::Fix => DVec3::ZERO,
        };
        self.placement.apply(
            self.target,
            self.reconstruction.components(),
            &buffers.gradients,
            root,
            &buffers.deviations,
            &mut buffers.positions,
        );

        // Taken out, because the contact borrows the whole synthesis.
        if let Some(mut correction) = self.root_correction.take() {
            let contact = self.ground_contact(&correction, k);
            correction.hold(self.target, &contact, &mut self.buffers.positions);
            self.root_correction = Some(correction);
        }
    }
}

/// Rejects sources, layers and options that do not fit together.
fn check_layers(
    target: &Mesh,
    sources: &[Source<'_>],
    layers: &[Layer],
    options: &SynthesisOptions,
) -> Result<(), TransferError> {
    let triangles = target.triangles().len();
    if layers.is_empty() {
        return Err(TransferError::NoLayers);
    }

    // Maps and clips first: layers refer to them.
    for source in sources {
        TransferError::check_count("the map of a source", source.map.len(), triangles)?;
        source.map.check_source(source.clip.reference())?;
        TransferError::check_frames(source.clip)?;
    }

    for (index, layer) in layers.iter().enumerate() {
        let Some(source) = sources.get(layer.source) else {
            return Err(TransferError::NoSuchSource {
                layer: index,
                source_index: layer.source,
                sources: sources.len(),
            });
        };
        layer.check(index, triangles, source.clip.frames().len())?;
    }

    // Pose modifications have one rotation per target triangle.
    let aligned = options.aligned.iter().map(|(_, pose)| pose);
    for pose in options.pose.iter().chain(aligned) {
        let count = pose.rotations().len();
        TransferError::check_count("the pose modification", count, triangles)?;
    }
    Ok(())
}

fn triangle_areas(mesh: &Mesh) -> Vec<f64> {
    (0..mesh.triangles().len())
        .map(|t| triangle_area(mesh.triangle_points(t)))
        .collect()
}

/// The triangles of each component.
fn component_triangles(target: &Mesh, components: &Components) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); components.centroids.len()];
    for (t, triangle) in target.triangles().iter().enumerate() {
        let component = components.of_vertex[triangle[0] as usize];
        if let Some(list) = lists.get_mut(component as usize) {
            list.push(t as u32);
        }
    }
    lists
}

/// For each component whether some layer animates it.
fn moved_components(
    target: &Mesh,
    components: &Components,
    sources: &[PreparedSource<'_>],
    layers: &[Layer],
) -> Vec<bool> {
    let mut moved = vec![false; components.centroids.len()];
    for (t, triangle) in target.triangles().iter().enumerate() {
        // A triangle without a source stays as it is, whatever its weight.
        let component = components.of_vertex[triangle[0] as usize];
        if let Some(moved) = moved.get_mut(component as usize) {
            *moved = *moved
                || layers.iter().any(|layer| {
                    layer.weights[t] > 0.0 && !sources[layer.source].map.row(t).is_empty()
                });
        }
    }
    moved
}

#[cfg(test)]
mod tests;
