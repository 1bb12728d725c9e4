//! What differs between an object of an asset and its original in the file.

use pliant_mesh::Mesh;
use pliant_rig::Target;

use crate::{Animation, Asset, Object, Shape};

/// What of an object differs from its original.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ObjectChanges {
    pub(super) positions: bool,
    pub(super) normals: bool,
    pub(super) uvs: bool,
    pub(super) colors: bool,
    /// Groups, smoothing groups, rig settings and other entries of our own `extras`.
    pub(super) labels: bool,
    pub(super) rest_weights: bool,
    /// For each target, that of the file with the same displacements.
    pub(super) stored_target: Vec<Option<usize>>,
    /// For each target, the one of the file that it was: with the same displacements, or else of the same
    /// name. Weights and references follow it.
    pub(super) source_target: Vec<Option<usize>>,
    /// Whether the targets of the file are others, or in another order.
    pub(super) targets: bool,
    /// Whether the names of targets differ.
    pub(super) names: bool,
    /// Whether frames of clips that are stored as targets differ.
    pub(super) frames: bool,
    /// Whether the faces, the kinds of attributes or the influences of joints differ, so that nothing of
    /// the primitives can stay.
    pub(super) new_faces: bool,
}

impl ObjectChanges {
    /// The changes of all objects; `None` if the asset needs a new document.
    pub(super) fn of_all(asset: &Asset, before: &Asset) -> Option<Vec<Self>> {
        if asset.objects.len() != before.objects.len() {
            return None;
        }

        let mut changes = Vec::with_capacity(asset.objects.len());
        for (k, (object, original)) in asset.objects.iter().zip(&before.objects).enumerate() {
            let same_object = object.original == Some(k) && object.path == original.path;
            if !same_object || !same_skeleton(object, original) {
                return None;
            }

            let new_faces = object.skin != original.skin || !same_faces(object, original);
            let frames = frames_differ(asset, before, k)
                || new_faces && asset.clips.iter().any(|clip| has_frames(clip, k));
            let own = Self {
                frames,
                new_faces,
                ..Self::of(object, original)
            };
            changes.push(if new_faces {
                own.of_all_vertices()
            } else {
                own
            });
        }

        Some(changes)
    }

    fn of(object: &Object, original: &Object) -> Self {
        let mesh = object.rig.neutral();
        let old = original.rig.neutral();
        let targets = object.rig.targets();
        let old_targets = original.rig.targets();

        let numbered = targets.iter().enumerate();
        let stored_target: Vec<_> = numbered
            .map(|(k, target)| stored_target(k, target, old_targets))
            .collect();
        let source_target = source_targets(targets, old_targets, &stored_target);
        let mut in_place = stored_target.iter().enumerate();
        let same_targets =
            targets.len() == old_targets.len() && in_place.all(|(k, &source)| source == Some(k));
        let mut pairs = targets.iter().zip(old_targets);

        Self {
            positions: mesh.positions() != old.positions(),
            normals: mesh.normals() != old.normals(),
            uvs: mesh.uv_layers() != old.uv_layers(),
            colors: mesh.colors() != old.colors(),
            labels: labels_differ(object, original),
            rest_weights: padded(object) != mapped(&padded(original), &source_target),
            stored_target,
            source_target,
            targets: !same_targets,
            names: !same_targets || pairs.any(|(a, b)| a.name != b.name),
            frames: false,
            new_faces: false,
        }
    }

    /// The same changes, with every value per vertex or per face among them.
    pub(super) fn of_all_vertices(mut self) -> Self {
        self.new_faces = true;
        self.positions = true;
        self.normals = true;
        self.uvs = true;
        self.colors = true;
        self.labels = true;
        self.targets |= !self.stored_target.is_empty();
        self.stored_target.fill(None);
        self
    }

    /// Whether the list of targets that the file stores changes.
    pub(super) fn target_list(&self) -> bool {
        self.targets || self.frames
    }

    /// Whether the vertices themselves change.
    pub(super) fn attributes(&self) -> bool {
        self.positions || self.normals || self.uvs || self.colors
    }

    pub(super) fn any(&self) -> bool {
        self.of_mesh() || self.rest_weights
    }

    /// Whether the mesh itself changes, not only the weights of its node.
    pub(super) fn of_mesh(&self) -> bool {
        self.attributes() || self.labels || self.names || self.target_list() || self.new_faces
    }
}

/// Whether an object follows the same joints as in the file, if any.
fn same_skeleton(object: &Object, original: &Object) -> bool {
    match (&object.skin, &original.skin) {
        (None, None) => true,
        (Some(skin), Some(old)) => skin.skeleton == old.skeleton,
        _ => false,
    }
}

/// Whether the faces, their materials and the kinds of attributes are those of the file.
fn same_faces(object: &Object, original: &Object) -> bool {
    let mesh = object.rig.neutral();
    let old = original.rig.neutral();
    let fits = |mesh: &Mesh| object.seams.as_ref().is_some_and(|seams| seams.fit(mesh));

    fits(mesh)
        && mesh.same_surface(old)
        && mesh.materials() == old.materials()
        && mesh.uv_layers().len() == old.uv_layers().len()
        && mesh.colors().len() == old.colors().len()
}

fn labels_differ(object: &Object, original: &Object) -> bool {
    let mesh = object.rig.neutral();
    let old = original.rig.neutral();
    mesh.groups() != old.groups()
        || mesh.material_library() != old.material_library()
        || object.smoothing != original.smoothing
        || object.file_index != original.file_index
}

/// The target of the file with the displacements of target number `k`: that of the same name, or of
/// the same number, or any other.
fn stored_target(k: usize, target: &Target, stored: &[Target]) -> Option<usize> {
    let same = |k: &usize| {
        let other = stored.get(*k);
        other.is_some_and(|o| o.vertices == target.vertices && o.deltas == target.deltas)
    };
    let by_name = stored.iter().position(|other| other.name == target.name);
    let named = by_name.filter(same).or(Some(k).filter(same));
    named.or_else(|| (0..stored.len()).find(same))
}

/// For each target, the target of the file that it was.
fn source_targets(
    targets: &[Target],
    old: &[Target],
    stored: &[Option<usize>],
) -> Vec<Option<usize>> {
    let mut sources = Vec::with_capacity(targets.len());
    for (target, stored_target) in targets.iter().zip(stored) {
        let named = old.iter().position(|other| other.name == target.name);
        // A target that is there under another name is not replaced by a new one of its name.
        let free = named.filter(|k| !stored.contains(&Some(*k)));
        sources.push(stored_target.or(free));
    }
    sources
}

/// The weights of the targets of the file at new places; zero for new targets.
fn mapped(weights: &[f64], sources: &[Option<usize>]) -> Vec<f64> {
    let weight = |source: &Option<usize>| source.map_or(0.0, |k| weights[k]);
    sources.iter().map(weight).collect()
}

/// One rest weight for each target.
fn padded(object: &Object) -> Vec<f64> {
    let mut weights = object.rest_weights.clone();
    weights.resize(object.rig.targets().len(), 0.0);
    weights
}

/// Whether the clips that move object `k` through positions differ from those of the file.
fn frames_differ(asset: &Asset, before: &Asset, k: usize) -> bool {
    let now = asset.clips.iter().filter(|clip| has_frames(clip, k));
    let old = before.clips.iter().filter(|clip| has_frames(clip, k));
    let same = |(a, b): (&Animation, &Animation)| a.original == b.original && same_clip(a, b);
    now.clone().count() != old.clone().count() || !now.zip(old).all(same)
}

/// Whether a clip moves an object through frames of positions, which are stored as targets.
pub(super) fn has_frames(clip: &Animation, object: usize) -> bool {
    let motion = clip.motions.iter().find(|m| m.object == object);
    motion.is_some_and(|m| matches!(m.shape, Shape::Points(_)))
}

/// Whether two clips move everything in the same way; names may differ.
pub(super) fn same_clip(a: &Animation, b: &Animation) -> bool {
    a.frame_count == b.frame_count
        && a.frames_per_second == b.frames_per_second
        && a.start_secs == b.start_secs
        && a.frame_names == b.frame_names
        && a.motions == b.motions
}
