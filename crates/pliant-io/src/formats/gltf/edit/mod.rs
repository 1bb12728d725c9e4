//! Edits of a glTF document: saving changes only the parts that differ from the original file.
//!
//! **Problem.** A character file holds more than meshes: cameras, lights, textures, extensions,
//! `extras`, VRM blocks, animations of other nodes. A writer that builds a new document from an
//! [`Asset`] loses all of it.
//!
//! **Method.** The original file is read again and compared with the asset, object by object and
//! clip by clip. What is equal keeps its JSON and its bytes. What differs gets new accessors, which
//! take the indices of those that nothing refers to any more. Indices of nodes, meshes, accessors
//! and views never change otherwise, so that references of unknown extensions stay valid.
//!
//! **Departures.** An asset with other objects or another skeleton than its file is written as a new
//! document. New faces replace the primitives of their mesh; its nodes, names and `extras` stay.
//!
//! | module | concept |
//! |---|---|
//! | `changes` | what differs between an object and its original |
//! | `space` | from the scene to the space of the stored vertices and nodes |
//! | `instances` | objects that share a mesh |
//! | `mesh` | new attributes, targets and weights of a mesh |
//! | `faces` | new primitives of a mesh |
//! | `tangents` | displacements of tangents |
//! | `references` | references of extensions to targets |
//! | `animation` | changed, removed and new animations |
//! | `node_motion` | motions of nodes below other nodes that move |
//! | `storage` | free indices, and bytes that nothing uses |
//! | `package` | the GLB, or the JSON with its buffers |

mod animation;
mod changes;
mod faces;
mod instances;
mod mesh;
mod node_motion;
mod package;
mod references;
mod space;
mod storage;
mod tangents;

use pliant_rig::RigSettings;
use serde_json::Value;

use self::animation::ClipChange;
use self::changes::ObjectChanges;
use self::instances::SharedMesh;
pub(super) use self::package::Container;
use super::container;
use super::original::Original;
use super::read::{Buffers, ReadScene, Scene, Source, open_document};
use super::write::{BufferBuilder, CAPABILITIES, FrameTargets};
use crate::{Asset, EncodedAsset, NoFiles};

/// The original file of the asset with its changes; `None` if the asset was not read from glTF, or
/// if it needs a new document.
pub(super) fn edit(asset: &Asset, container: Container) -> Option<EncodedAsset> {
    let original = asset.original.as_deref()?;
    let chunks = container::open(&original.bytes).ok()?;
    let document = open_document(chunks.json).ok()?;
    let buffers = Buffers::open(&document, &chunks, original).ok()?;
    let source = Source::open(&document, buffers, &chunks).ok()?;

    // The asset is compared with what its file says.
    let mut before = Scene::read(&source, &NoFiles, &original.objects).ok()?;
    let (old, old_settings) = before.asset.with_flat_rigs();
    before.asset = old.into_owned();
    let left_out = CAPABILITIES.losses_of(asset);
    let asset = asset.with_playable_motions();
    let (asset, settings) = asset.with_flat_rigs();
    let mut changes = ObjectChanges::of_all(&asset, &before.asset)?;
    for (k, change) in changes.iter_mut().enumerate() {
        change.labels |= settings[k] != old_settings[k];
        change.targets |= asset.plain_targets && !change.stored_target.is_empty();
        // A compressed stream holds all attributes of a primitive.
        let mesh = &document.meshes[before.placed[k].mesh];
        let compressed = mesh.primitives.iter().any(|p| p.extensions.draco.is_some());
        if compressed && change.attributes() && !change.new_faces {
            *change = change.clone().of_all_vertices();
        }
    }
    let clip_changes = ClipChange::of_all(&asset, &before.asset);
    let local = space::in_mesh_space(&asset, &before.placed, &changes)?;
    let json = serde_json::from_slice(chunks.json).ok()?;

    let mut edit = DocumentEdit {
        source: &source,
        before,
        asset: &local,
        changes,
        clip_changes,
        buffer: BufferBuilder::after(document.accessors.len(), document.buffer_views.len()),
        json,
        changed: false,
        target_counts: Vec::new(),
        shared: Vec::new(),
        settings,
        left_out,
    };
    edit.share_meshes()?;
    let frames = edit.meshes()?;
    edit.animations(&frames)?;

    edit.finish(original, container)
}

/// The state of editing one document.
struct DocumentEdit<'a> {
    source: &'a Source<'a>,
    /// What the file holds.
    before: ReadScene<'a>,
    /// What the file should hold, with objects in the space of their stored vertices.
    asset: &'a Asset,
    changes: Vec<ObjectChanges>,
    clip_changes: Vec<ClipChange>,
    /// The settings of the rigs of all objects.
    settings: Vec<Option<RigSettings>>,
    /// New accessors; their indices follow those of the document.
    buffer: BufferBuilder,
    /// The document.
    json: Value,
    changed: bool,
    /// How many targets each object is written with, frames of clips included.
    target_counts: Vec<usize>,
    /// The mesh that each object is written to.
    shared: Vec<SharedMesh>,
    left_out: Vec<String>,
}

impl<'a> DocumentEdit<'a> {
    /// Edits all meshes, and returns which targets are frames of clips.
    fn meshes(&mut self) -> Option<FrameTargets<'a>> {
        let mut frames = FrameTargets::of(self.asset);
        for object in 0..self.asset.objects.len() {
            self.mesh(object, &mut frames)?;
        }
        self.references()?;
        Some(frames)
    }

    /// The file with the edited document.
    fn finish(mut self, original: &Original, container: Container) -> Option<EncodedAsset> {
        let unchanged = (!self.changed).then(|| package::unchanged(original, container));
        let mut encoded = match unchanged.flatten() {
            Some(same) => same,
            None => {
                package::embed_images(&mut self.json, original, container, &mut self.buffer);
                storage::store(self.json, self.buffer, self.source, original, container)?
            }
        };
        encoded.left_out.extend(self.left_out);
        Some(encoded)
    }
}
