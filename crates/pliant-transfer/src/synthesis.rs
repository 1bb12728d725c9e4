//! Animation synthesis: layers of other meshes' deformations, reconstructed on the target frame by frame.
//!
//! **Problem.** Given sources (a clip and a map to the target each) and layers (which part of which clip goes to which
//! triangles, when and how), give the target's vertices in every frame.
//!
//! **Method.** For each frame, starting from the identity on every triangle: take the deformation gradients of each layer's
//! clip at its moment, bring them to the target through the map (several sources of one triangle are averaged by their
//! polar parts), and blend or compound them with what lies below by the layer's weights. Then solve eq. 6 and put the
//! shells in place.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, sections 3.2.2 and 3.2.3.
//!
//! **Ours.** Frames are made one at a time; nothing grows with the length of the clip. Where a weight is one and the triangle
//! has one source, the gradient passes untouched, so a mesh on itself returns its clip. Between frames of a clip the
//! gradients are blended. Rotations beyond a half turn are followed over the mesh and from frame to frame.

mod prepared_layer;
mod prepared_source;

use std::borrow::Cow;

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, MeshError, Polar, triangle_area};
use pliant_rig::Clip;

use crate::flexibility::require_frames;
use crate::foot_contacts::Planting;
use crate::placement::Placement;
use crate::reconstruction::Shells;
use crate::{
    ContactOptions, Layer, PoseModification, Reconstruction, ReconstructionForm, ReconstructionWorkspace, RootMotion, TransferError,
    TriangleMap,
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
    planted_feet: Option<ContactOptions>,
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
        Self { pose: Some(pose), ..self }
    }

    /// Keeps feet that stand in the source standing in the target, by its root motion; silent with [`RootMotion::Fix`].
    /// Default: not.
    #[must_use]
    pub fn with_planted_feet(self, contacts: ContactOptions) -> Self {
        Self { planted_feet: Some(contacts), ..self }
    }
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
    /// Layers without a source, frames, weights, maps or numbers that do not fit, and positions that are not finite.
    pub fn new(target: &'a Mesh, sources: Vec<Source<'a>>, layers: Vec<Layer>, options: SynthesisOptions) -> Result<Self, TransferError> {
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
        TransferError::check_count("the factor", factor.triangle_count(), target.triangles().len())?;
        if factor.vertex_count() != target.vertex_count() {
            let (found, expected) = (factor.vertex_count(), target.vertex_count());
            return Err(MeshError::Count { what: "the vertices of the factor", found, expected }.into());
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
        let sources = sources.into_iter().map(|source| PreparedSource::new(target, source)).collect::<Result<Vec<_>, _>>()?;
        let shells = reconstruction.shells();
        let areas: Vec<f64> = (0..target.triangles().len()).map(|t| triangle_area(target.triangle_points(t))).collect();
        let placement = Placement::new(target, shells, &moved_shells(target, shells, &sources, &layers))?;
        let frame_count = layers.iter().map(Layer::end).max().unwrap_or(0);
        let on_target = OnTarget { mesh: target, placement: &placement, areas: &areas, triangles: shell_triangles(target, shells) };
        let layers = layers.into_iter().map(|layer| PreparedLayer::new(&sources[layer.source], layer, &on_target)).collect();
        let planting = match (options.planted_feet, options.root) {
            (Some(contacts), RootMotion::Carry) => Some(Planting::new(sources.iter().map(|source| source.clip), &contacts)?),
            _ => None,
        };
        let buffers = Buffers {
            layer_gradients: vec![DMat3::IDENTITY; areas.len()],
            gradients: vec![DMat3::IDENTITY; areas.len()],
            deviations: vec![DVec3::ZERO; placement.bonded.len()],
            positions: vec![DVec3::ZERO; target.vertex_count()],
            ..Buffers::default()
        };
        Ok(Self { target, sources, layers, options, reconstruction, placement, planting, frame_count, next_frame: 0, buffers })
    }

    /// Frames of the output: until the last layer ends.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// The target's vertices in frame `k`.
    ///
    /// Frames in ascending order are fastest; after a jump, the rotations of the frames before are followed anew, so the
    /// result is the same. A frame in which no layer shows is the rest pose.
    pub fn frame(&mut self, k: usize) -> &[DVec3] {
        if k != self.next_frame {
            self.go_back_to(k);
        }
        self.compose(k);
        self.reconstruct(k);
        self.next_frame = k + 1;
        &self.buffers.positions
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
        let first = self.layers.iter().filter(|l| l.layer.moment(k).is_some()).map(|l| l.layer.at).min().unwrap_or(k);
        (first..k).for_each(|earlier| self.compose(earlier));
    }

    /// The deformation of every target triangle in the frame composed last.
    #[must_use]
    pub fn gradients(&self) -> &[DMat3] {
        &self.buffers.gradients
    }

    /// The gradients of frame `k` on the target, its root motion, and what shells do beside it.
    fn compose(&mut self, k: usize) {
        let lowest = self.layers.iter().find(|layer| layer.layer.moment(k).is_some());
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
            source.bring_to_target(&layer.layer.weights, !self.placement.bonded.is_empty(), buffers);
            let presence = layer.layer.presence(k);
            layer.place(source, moment, presence, &self.placement, buffers);
            layer.combine(presence, buffers);
        }
        if let Some(pose) = &self.options.pose {
            pose.apply(&mut buffers.gradients);
            buffers.root = pose.in_directions_of_target(buffers.root);
            buffers.deviations.iter_mut().for_each(|deviation| *deviation = pose.in_directions_of_target(*deviation));
        }
    }

    fn reconstruct(&mut self, k: usize) {
        let Buffers { gradients, workspace, positions, deviations, root, .. } = &mut self.buffers;
        self.reconstruction.solve_into(gradients, workspace, positions);
        let root = match self.options.root {
            RootMotion::Carry => *root,
            RootMotion::Fix => DVec3::ZERO,
        };
        self.placement.apply(self.target, self.reconstruction.shells(), gradients, root, deviations, positions);
        if let Some(planting) = &mut self.planting {
            let last = self.layers.iter().rev().find_map(|layer| Some((layer, layer.root.as_ref().and(layer.layer.moment(k))?)));
            let moved_by = last.map(|(layer, moment)| (layer.layer.source, moment.frame));
            let moved_by = moved_by.map(|(source, frame)| (source, self.sources[source].clip, &self.sources[source].map, frame));
            planting.hold(self.target, moved_by, positions);
        }
    }
}

/// Declines what does not fit together, before any work.
fn check_layers(target: &Mesh, sources: &[Source<'_>], layers: &[Layer], options: &SynthesisOptions) -> Result<(), TransferError> {
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
        let missing = TransferError::NoSuchSource { layer: index, source_index: layer.source, sources: sources.len() };
        layer.check(index, triangles, sources.get(layer.source).ok_or(missing)?.clip.frames().len())?;
    }
    match &options.pose {
        Some(pose) => TransferError::check_count("the pose modification", pose.rotations().len(), triangles),
        None => Ok(()),
    }
}

/// Declines a map that names triangles beyond those of `source`.
pub(crate) fn check_map(map: &TriangleMap, source: &Mesh) -> Result<(), TransferError> {
    let triangles = source.triangles().len();
    match map.highest_source().map(|t| t as usize).filter(|&t| t >= triangles) {
        Some(triangle) => Err(TransferError::NoSuchSourceTriangle { triangle, triangles }),
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
fn moved_shells(target: &Mesh, shells: &Shells, sources: &[PreparedSource<'_>], layers: &[Layer]) -> Vec<bool> {
    let mut moved = vec![false; shells.centroids.len()];
    for (t, triangle) in target.triangles().iter().enumerate() {
        let takes = |layer: &Layer| layer.weights[t] > 0.0 && !sources[layer.source].map.row(t).is_empty();
        if let Some(shell) = moved.get_mut(shells.of_vertex[triangle[0] as usize] as usize) {
            *shell = *shell || layers.iter().any(takes);
        }
    }
    moved
}

#[cfg(test)]
mod tests;
