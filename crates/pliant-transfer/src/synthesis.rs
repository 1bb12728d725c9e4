//! Animation synthesis: layers of other meshes' deformations, reconstructed on the target frame by
//! frame.
//!
//! **Problem.** Given sources (a clip and a map to the target each) and layers (which part of which
//! clip goes to which triangles, when and how), give the target's vertices in every frame.
//!
//! **Method.** For each frame, starting from the identity on every triangle: take the deformation
//! gradients of each layer's clip at its moment, bring them to the target through the map (several
//! sources of one triangle are averaged by their polar parts), and blend or compound them with what
//! lies below by the layer's weights. Then solve eq. 6 and put the shells in place.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, sections 3.2.2 and 3.2.3.
//!
//! **Ours.** Frames are made one at a time; nothing grows with the length of the clip. Where a
//! weight is one and the triangle has one source, the gradient passes untouched, so a mesh on
//! itself returns its clip. Between frames of a clip the gradients are blended. Rotations beyond a
//! half turn are followed over the mesh and from frame to frame.

mod prepared_layer;
mod prepared_source;

use std::borrow::Cow;

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, MeshError, Polar, Progress, triangle_area};
use pliant_rig::Clip;

use crate::flexibility::require_frames;
use crate::placement::Placement;
use crate::planted_feet::plant_feet;
use crate::planting::{Planting, Stance, planted_triangles};
use crate::reconstruction::Shells;
use crate::{
    ContactOptions, FeetReport, Layer, LayerMode, PoseModification, Reconstruction,
    ReconstructionForm, ReconstructionWorkspace, RootMotion, TransferError, TriangleMap,
};
use prepared_layer::{OnTarget, PreparedLayer};
use prepared_source::PreparedSource;

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 1024;

/// A clip and the map of its triangles to the target.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// The animation.
    pub clip: &'a Clip,
    /// For each target triangle those of the clip's mesh.
    pub map: Cow<'a, TriangleMap>,
}

/// What a synthesis does beside its layers.
#[derive(Debug, Clone, Default)]
pub struct SynthesisOptions {
    root: RootMotion,
    form: ReconstructionForm,
    pose: Option<PoseModification>,
    /// By source.
    aligned: Vec<(usize, PoseModification)>,
    planted_feet: Option<ContactOptions>,
    size_ratio: Option<f64>,
}

impl SynthesisOptions {
    /// What becomes of the way that a source covers. Default: [`RootMotion::Carry`].
    #[must_use]
    pub fn with_root(self, root: RootMotion) -> Self {
        Self { root, ..self }
    }

    /// What a triangle counts in the reconstruction. Default: [`ReconstructionForm::AreaWeighted`].
    #[must_use]
    pub fn with_form(self, form: ReconstructionForm) -> Self {
        Self { form, ..self }
    }

    /// Another reference pose of the target. Default: none.
    #[must_use]
    pub fn with_pose(self, pose: PoseModification) -> Self {
        Self {
            pose: Some(pose),
            ..self
        }
    }

    /// Corrects the deformations of one source for a reference pose unlike the target's, as
    /// [`PoseModification::aligning`] finds it. A layer that compounds keeps to the turn of the
    /// whole. Default: none.
    #[must_use]
    pub fn with_aligned_source(mut self, source: usize, pose: PoseModification) -> Self {
        self.aligned.retain(|(other, _)| *other != source);
        self.aligned.push((source, pose));
        self
    }

    /// Keeps feet that stand in a source standing in the target: [`Synthesis::frame`] by its root
    /// motion alone, [`Synthesis::motion`] foot by foot. With [`RootMotion::Fix`] this holds
    /// for sources whose ground moves. Default: not.
    #[must_use]
    pub fn with_planted_feet(self, contacts: ContactOptions) -> Self {
        Self {
            planted_feet: Some(contacts),
            ..self
        }
    }

    /// How much longer the ways of roots and shells are than those of the sources. Default: as the
    /// target is larger, by the diagonals.
    #[must_use]
    pub fn with_size_ratio(self, ratio: f64) -> Self {
        Self {
            size_ratio: Some(ratio),
            ..self
        }
    }
}

impl SynthesisOptions {
    fn aligned_with(&self, source: usize) -> Option<&PoseModification> {
        self.aligned
            .iter()
            .find(|(other, _)| *other == source)
            .map(|(_, pose)| pose)
    }

    /// A way of a source, in the target's own directions.
    fn in_directions_of_target(&self, source: usize, way: DVec3) -> DVec3 {
        [self.aligned_with(source), self.pose.as_ref()]
            .into_iter()
            .flatten()
            .fold(way, |way, pose| pose.in_directions_of_target(way))
    }
}

/// All frames of a synthesis.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// The target's vertices in every frame.
    pub frames: Vec<Vec<DVec3>>,
    /// What was done to hold feet, if that was asked for.
    pub feet: Option<FeetReport>,
}

/// A new animation of the target, ready to be computed frame by frame.
#[derive(Debug, Clone)]
pub struct Synthesis<'a> {
    target: &'a Mesh,
    sources: Vec<PreparedSource<'a>>,
    layers: Vec<PreparedLayer>,
    options: SynthesisOptions,
    reconstruction: Cow<'a, Reconstruction>,
    placement: Placement,
    planting: Option<Planting>,
    frame_count: usize,
    /// The frame that follows the last one composed: only there the branches of rotations go on.
    next_frame: usize,
    buffers: Buffers,
}

#[derive(Debug, Clone, Default)]
struct Buffers {
    /// On the source: at the moment, at the frame after it, and taken apart.
    source_gradients: Vec<DMat3>,
    after: Vec<DMat3>,
    polars: Vec<Polar>,
    /// On the target: of one layer, and of all so far.
    layer_gradients: Vec<DMat3>,
    gradients: Vec<DMat3>,
    root: DVec3,
    deviations: Vec<DVec3>,
    workspace: ReconstructionWorkspace,
    positions: Vec<DVec3>,
}

impl<'a> Synthesis<'a> {
    /// Factors the target's system and prepares every layer.
    ///
    /// # Errors
    /// Layers without a source, frames, weights, maps or numbers that do not fit, and positions
    /// that are not finite.
    pub fn new(
        target: &'a Mesh,
        sources: Vec<Source<'a>>,
        layers: Vec<Layer>,
        options: SynthesisOptions,
    ) -> Result<Self, TransferError> {
        let reconstruction = Reconstruction::factor(target, options.form)?;
        Self::prepare(target, Cow::Owned(reconstruction), sources, layers, options)
    }

    /// As [`new`](Self::new), with a factor of the same target that is at hand.
    ///
    /// # Errors
    /// As [`new`](Self::new), and a factor of another mesh.
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
        if factor.vertex_count() != target.vertex_count() {
            let (found, expected) = (factor.vertex_count(), target.vertex_count());
            return Err(MeshError::Count {
                what: "the vertices of the factor",
                found,
                expected,
            }
            .into());
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
        let prepared = |source| PreparedSource::new(target, source, options.size_ratio);
        let sources = sources
            .into_iter()
            .map(prepared)
            .collect::<Result<Vec<_>, _>>()?;
        let shells = reconstruction.shells();
        let areas: Vec<f64> = (0..target.triangles().len())
            .map(|t| triangle_area(target.triangle_points(t)))
            .collect();
        let placement = Placement::new(
            target,
            shells,
            &moved_shells(target, shells, &sources, &layers),
        )?;
        let frame_count = layers.iter().map(Layer::end).max().unwrap_or(0);
        let on_target = OnTarget {
            mesh: target,
            placement: &placement,
            areas: &areas,
            triangles: shell_triangles(target, shells),
        };
        let layers = layers
            .into_iter()
            .map(|layer| PreparedLayer::new(&sources[layer.source], layer, &on_target))
            .collect();
        let clips = sources.iter().map(|source| source.clip);
        let planting = options
            .planted_feet
            .map(|contacts| Planting::new(clips, &contacts, options.root))
            .transpose()?;
        let buffers = Buffers {
            layer_gradients: vec![DMat3::IDENTITY; areas.len()],
            gradients: vec![DMat3::IDENTITY; areas.len()],
            deviations: vec![DVec3::ZERO; placement.bonded.len()],
            positions: vec![DVec3::ZERO; target.vertex_count()],
            ..Buffers::default()
        };
        Ok(Self {
            target,
            sources,
            layers,
            options,
            reconstruction,
            placement,
            planting,
            frame_count,
            next_frame: 0,
            buffers,
        })
    }

    /// Frames of the output: until the last layer ends.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// The target's vertices in frame `k`.
    ///
    /// Frames in ascending order are fastest; after a jump, the rotations of the frames before are
    /// followed anew, so the result is the same. A frame in which no layer shows is the rest
    /// pose.
    pub fn frame(&mut self, k: usize) -> &[DVec3] {
        if k != self.next_frame {
            self.go_back_to(k);
        }
        self.compose(k);
        self.reconstruct(k);
        self.next_frame = k + 1;
        &self.buffers.positions
    }

    /// All frames, with standing feet held one by one.
    ///
    /// # Errors
    /// - a system of the target that cannot be factored, as positions near the limits of numbers
    ///   give,
    /// - [`TransferError::Stopped`] if `progress` asks for it.
    pub fn motion(&mut self, progress: &dyn Progress) -> Result<Motion, TransferError> {
        let (mut frames, mut stances) = (Vec::with_capacity(self.frame_count), Vec::new());
        for k in 0..self.frame_count {
            if progress
                .report("making frames", k as f64 / self.frame_count as f64)
                .is_break()
            {
                return Err(TransferError::Stopped);
            }
            frames.push(self.frame(k).to_vec());
            stances.extend(
                self.planting
                    .as_ref()
                    .map(|planting| self.stance(planting, k)),
            );
        }
        let feet = self
            .planting
            .as_ref()
            .map(|_| plant_feet(self.target, &stances, &mut frames))
            .transpose()?;
        Ok(Motion { frames, feet })
    }

    /// What stands in frame `k`: on each triangle by the uppermost layer that holds it.
    fn stance(&self, planting: &Planting, k: usize) -> Stance {
        let mut stance = Stance::default();
        let mut covered = vec![false; self.target.triangles().len()];
        for layer in self
            .layers
            .iter()
            .rev()
            .filter(|layer| layer.layer.mode == LayerMode::Blend)
        {
            let Some(moment) = layer.layer.moment(k) else {
                continue;
            };
            let source = &self.sources[layer.layer.source];
            let holds = |t: usize| layer.layer.weights[t] > 0.5;
            if let Some(contacts) = planting.contacts(layer.layer.source) {
                let planted = planted_triangles(
                    contacts.at(moment.frame),
                    source.clip.reference(),
                    &source.map,
                );
                let own: Vec<u32> = planted
                    .into_iter()
                    .filter(|&t| holds(t as usize) && !covered[t as usize])
                    .collect();
                if !own.is_empty() {
                    let step = contacts.ground_step() * (layer.layer.speed * source.ratio);
                    stance.ground_step = self
                        .options
                        .in_directions_of_target(layer.layer.source, step);
                }
                stance.triangles.extend(own);
            }
            covered
                .iter_mut()
                .enumerate()
                .for_each(|(t, covered)| *covered |= holds(t));
        }
        stance.triangles.sort_unstable();
        stance
    }

    /// The same as a clip of the target, at the rate of the lowest layer's source.
    ///
    /// # Errors
    /// As [`motion`](Self::motion).
    pub fn clip(&mut self, name: impl Into<String>) -> Result<Clip, TransferError> {
        let Motion { frames, .. } = self.motion(&())?;
        let rate = self.sources[self.layers[0].layer.source]
            .clip
            .frames_per_second();
        let clip = Clip::new(name, self.target.clone(), frames)
            .expect("every frame has the target's vertices");
        Ok(clip.with_frames_per_second(rate))
    }

    /// Follows anew what leads to frame `k`: rotations, and feet where those are planted.
    fn go_back_to(&mut self, k: usize) {
        self.layers.iter_mut().for_each(|layer| layer.seeds.clear());
        if let Some(planting) = &mut self.planting {
            planting.restart();
            for earlier in 0..k {
                self.compose(earlier);
                self.reconstruct(earlier);
            }
            return;
        }
        // Only layers that show in this frame have a past that matters.
        let first = self
            .layers
            .iter()
            .filter(|l| l.layer.moment(k).is_some())
            .map(|l| l.layer.at)
            .min()
            .unwrap_or(k);
        (first..k).for_each(|earlier| self.compose(earlier));
    }

    /// The deformation of every target triangle in the frame composed last.
    #[must_use]
    pub fn gradients(&self) -> &[DMat3] {
        &self.buffers.gradients
    }

    /// The gradients of frame `k` on the target, its root motion, and what shells do beside it.
    fn compose(&mut self, k: usize) {
        let lowest = self
            .layers
            .iter()
            .find(|layer| layer.layer.moment(k).is_some());
        let buffers = &mut self.buffers;
        if !lowest.is_some_and(|layer| layer.hides_all) {
            buffers.gradients.fill(DMat3::IDENTITY);
        }
        buffers.deviations.fill(DVec3::ZERO);
        buffers.root = DVec3::ZERO;
        for layer in &mut self.layers {
            let Some(moment) = layer.layer.moment(k) else {
                layer.seeds.clear();
                continue;
            };
            let source = &self.sources[layer.layer.source];
            source.gradients_at(moment, buffers);
            // Shells hang on triangles that this layer may not move itself.
            source.bring_to_target(
                &layer.layer.weights,
                !self.placement.bonded.is_empty(),
                buffers,
            );
            let presence = layer.layer.presence(k);
            let pose = self.options.aligned_with(layer.layer.source);
            layer.place(source, moment, presence, &self.placement, pose, buffers);
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
            buffers
                .deviations
                .iter_mut()
                .for_each(|deviation| *deviation = pose.in_directions_of_target(*deviation));
        }
    }

    fn reconstruct(&mut self, k: usize) {
        let Buffers {
            gradients,
            workspace,
            positions,
            deviations,
            root,
            ..
        } = &mut self.buffers;
        self.reconstruction
            .solve_into(gradients, workspace, positions);
        let root = match self.options.root {
            RootMotion::Carry => *root,
            RootMotion::Fix => DVec3::ZERO,
        };
        self.placement.apply(
            self.target,
            self.reconstruction.shells(),
            gradients,
            root,
            deviations,
            positions,
        );
        if let Some(mut planting) = self.planting.take() {
            planting.hold(
                self.target,
                &self.stance(&planting, k),
                &mut self.buffers.positions,
            );
            self.planting = Some(planting);
        }
    }
}

/// Declines what does not fit together, before any work.
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
    for source in sources {
        TransferError::check_count("the map of a source", source.map.len(), triangles)?;
        check_map(&source.map, source.clip.reference())?;
        require_frames(source.clip)?;
    }
    for (index, layer) in layers.iter().enumerate() {
        let missing = TransferError::NoSuchSource {
            layer: index,
            source_index: layer.source,
            sources: sources.len(),
        };
        layer.check(
            index,
            triangles,
            sources
                .get(layer.source)
                .ok_or(missing)?
                .clip
                .frames()
                .len(),
        )?;
    }
    let poses = options
        .pose
        .iter()
        .chain(options.aligned.iter().map(|(_, pose)| pose));
    poses.into_iter().try_for_each(|pose| {
        TransferError::check_count("the pose modification", pose.rotations().len(), triangles)
    })
}

/// Declines a map that names triangles beyond those of `source`.
pub(crate) fn check_map(map: &TriangleMap, source: &Mesh) -> Result<(), TransferError> {
    let triangles = source.triangles().len();
    match map
        .highest_source()
        .map(|t| t as usize)
        .filter(|&t| t >= triangles)
    {
        Some(triangle) => Err(TransferError::NoSuchSourceTriangle {
            triangle,
            triangles,
        }),
        None => Ok(()),
    }
}

fn shell_triangles(target: &Mesh, shells: &Shells) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); shells.centroids.len()];
    for (t, triangle) in target.triangles().iter().enumerate() {
        if let Some(list) = lists.get_mut(shells.of_vertex[triangle[0] as usize] as usize) {
            list.push(t as u32);
        }
    }
    lists
}

/// For each shell whether some layer brings it a deformation.
fn moved_shells(
    target: &Mesh,
    shells: &Shells,
    sources: &[PreparedSource<'_>],
    layers: &[Layer],
) -> Vec<bool> {
    let mut moved = vec![false; shells.centroids.len()];
    for (t, triangle) in target.triangles().iter().enumerate() {
        let takes =
            |layer: &Layer| layer.weights[t] > 0.0 && !sources[layer.source].map.row(t).is_empty();
        if let Some(shell) = moved.get_mut(shells.of_vertex[triangle[0] as usize] as usize) {
            *shell = *shell || layers.iter().any(takes);
        }
    }
    moved
}

#[cfg(test)]
mod tests;
