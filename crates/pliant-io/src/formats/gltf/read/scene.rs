//! A glTF document as an asset: every mesh at its place in the scene, and every clip.

use std::collections::BTreeMap;
use std::sync::Arc;

use pliant_mesh::glam::DAffine3;
use pliant_rig::{StoredSliders, Target};

use super::accessor::Source;
use super::instances::{self, Instance};
use super::material::Appearance;
use super::mesh::MeshAssembly;
use super::nodes::NodeTree;
use super::primitive::{self, StoredMesh};
use super::skin::BoundSkin;
use super::{animation, extras, morph, vrm};
use crate::asset::check_file_order;
use crate::gltf::extras::{DocumentExtras, parse};
use crate::{Asset, FileProvider, Object, ReadError, UpAxis};

/// What animations and edits need to know about an object.
pub(in crate::formats::gltf) struct PlacedMesh {
    pub(in crate::formats::gltf) mesh: usize,
    /// The nodes from that of the mesh to its root; empty if no node shows the mesh.
    pub(in crate::formats::gltf) chain: Vec<usize>,
    /// The transformation from the stored vertices to the scene at rest.
    pub(in crate::formats::gltf) scene_from_mesh: DAffine3,
    /// Targets that are frames of our own clips.
    pub(super) frames: Vec<Target>,
    /// The skin of the document that moves the mesh.
    pub(in crate::formats::gltf) skin: Option<usize>,
    /// How many targets of the file are not frames of clips.
    pub(super) stored_targets: usize,
    /// The sliders behind these targets, if some are in-betweens or combinations.
    pub(super) sliders: Option<StoredSliders>,
}

/// An object as it was read, and what else its mesh holds.
#[derive(Debug)]
pub(in crate::formats::gltf) struct ReadObject {
    object: Object,
    stored_targets: usize,
    sliders: Option<StoredSliders>,
}

#[cfg(test)]
impl ReadObject {
    pub(in crate::formats::gltf) fn targets(&self) -> &[Target] {
        self.object.rig.targets()
    }
}

/// A document that was read: the asset, and where its parts stand in the document.
pub(in crate::formats::gltf) struct ReadScene<'a> {
    pub(in crate::formats::gltf) asset: Asset,
    pub(in crate::formats::gltf) nodes: NodeTree<'a>,
    /// The place of each object.
    pub(in crate::formats::gltf) placed: Vec<PlacedMesh>,
    /// The skins of the document that move a mesh.
    pub(in crate::formats::gltf) skins: BTreeMap<usize, BoundSkin>,
}

impl ReadScene<'_> {
    /// The objects, for reading the same document again. None if a mesh holds frames of clips, which
    /// only the document has.
    pub(in crate::formats::gltf) fn read_objects(&self) -> Vec<ReadObject> {
        if self.placed.iter().any(|placed| !placed.frames.is_empty()) {
            return Vec::new();
        }
        let pairs = self.asset.objects.iter().zip(&self.placed);
        let read = pairs.map(|(object, placed)| ReadObject {
            object: object.clone(),
            stored_targets: placed.stored_targets,
            sliders: placed.sliders.clone(),
        });
        read.collect()
    }
}

/// The state of reading one document.
pub(in crate::formats::gltf) struct Scene<'a> {
    source: &'a Source<'a>,
    /// The objects that were read from the same document before.
    known: &'a [ReadObject],
    nodes: NodeTree<'a>,
    /// The skins of the document that move a mesh.
    skins: BTreeMap<usize, BoundSkin>,
    warnings: Vec<String>,
}

impl<'a> Scene<'a> {
    /// All meshes and clips of a document. Objects that are `known` from reading it before are not
    /// decoded again; there are none, or all.
    pub(in crate::formats::gltf) fn read(
        source: &'a Source<'a>,
        files: &dyn FileProvider,
        known: &'a [ReadObject],
    ) -> Result<ReadScene<'a>, ReadError> {
        let mut scene = Self {
            source,
            known,
            nodes: NodeTree::of(source.document)?,
            skins: BTreeMap::new(),
            warnings: Vec::new(),
        };

        let (mut objects, placed) = scene.objects()?;
        let appearance = Appearance::read(source, files, &mut scene.warnings)?;
        check_file_order(&mut objects);

        let clips = animation::read(
            source,
            &scene.nodes,
            &scene.skins,
            &objects,
            &placed,
            &mut scene.warnings,
        )?;

        let (presets, unknown) = vrm::presets(
            &source.document.extensions,
            &objects,
            &placed,
            &source.buffers.budget,
        );
        if unknown > 0 {
            scene.warnings.push(format!(
                "{unknown} bind(s) of expressions name no target of the file and were not read"
            ));
        }

        let own: DocumentExtras = parse(&source.document.extras).unwrap_or_default();
        let main_clip = own
            .main_clip
            .filter(|name| clips.iter().any(|c| c.name == *name));
        let asset = Asset {
            objects,
            clips,
            presets,
            main_clip,
            up_axis: UpAxis::Y,
            meters_per_unit: Some(1.0),
            materials: appearance.materials,
            images: appearance.images,
            warnings: scene.warnings,
            ..Asset::default()
        };

        Ok(ReadScene {
            asset,
            nodes: scene.nodes,
            placed,
            skins: scene.skins,
        })
    }

    /// The meshes that have triangles or points, at all their places; at least one.
    fn objects(&mut self) -> Result<(Vec<Object>, Vec<PlacedMesh>), ReadError> {
        let places = instances::of_meshes(self.source, &self.nodes, &mut self.warnings)?;
        let first = places.iter().map(|places| places.first().copied());
        let mut shown: Vec<(usize, Option<Instance>)> = first.enumerate().collect();
        for (mesh, places) in places.iter().enumerate() {
            shown.extend(places.iter().skip(1).map(|&place| (mesh, Some(place))));
        }

        let mut objects = Vec::new();
        let mut placed = Vec::new();
        for (mesh, place) in shown {
            let is_first = place == places[mesh].first().copied();
            let read = if self.known.is_empty() {
                self.object(mesh, place, is_first)
            } else {
                self.known_object(mesh, place, objects.len())
            };
            let read = read.map_err(|e| {
                let name = self.source.document.meshes[mesh].name.as_deref();
                let name = name.unwrap_or_default();
                ReadError {
                    message: format!("mesh {mesh} '{name}': {}", e.message),
                    ..e
                }
            })?;

            if let Some((object, place)) = read {
                objects.push(Object {
                    original: Some(objects.len()),
                    ..object
                });
                placed.push(place);
            }
        }

        if objects.is_empty() {
            return Err(ReadError::whole(
                "the file holds no mesh of triangles or points; export it with one",
            ));
        }

        Ok((objects, placed))
    }

    /// One mesh at one place; `None` if it has neither triangles nor points. Only the `first` place
    /// reports what was not read.
    fn object(
        &mut self,
        index: usize,
        place: Option<Instance>,
        first: bool,
    ) -> Result<Option<(Object, PlacedMesh)>, ReadError> {
        let mesh = &self.source.document.meshes[index];
        let known_warnings = self.warnings.len();
        let name = mesh.name.clone().unwrap_or_default();
        let stored = StoredMesh::gather(self.source, mesh)?;
        self.warn_about_mesh(&name, &stored);
        if stored.blocks.is_empty() {
            return Ok(None);
        }

        let mut placed = self.placed_mesh(index, &name, place)?;
        let mut path = self.path(&placed.chain, &name)?;
        if let Some((number, _)) = place.and_then(|place| place.of_node) {
            path.push_str(&format!("_{number}"));
        }
        self.warn_about_visibility(&placed.chain, &path);
        let assembly = MeshAssembly::new(
            self.source,
            mesh,
            stored,
            placed.scene_from_mesh,
            &mut self.warnings,
        );
        let binding = match placed.skin {
            Some(skin) => Some(assembly.binding(&self.skins[&skin], &name, &mut self.warnings)?),
            None => None,
        };

        let file_vertices = assembly.stored.positions.len();
        let (rig, seams, own) = assembly.build(name)?;
        let faces = rig.neutral().face_count();
        let (rig, frames) = morph::without_frames(rig, &own, self.source)?;
        placed.frames = frames;
        placed.stored_targets = rig.targets().len();
        let (rig, sliders) = morph::with_settings(rig, &own, &mut self.warnings);
        placed.sliders = sliders;

        let vertices = rig.neutral().vertex_count();
        let bound = placed.skin.map(|skin| &self.skins[&skin]);
        let rest_joints = bound
            .filter(|bound| !bound.rests_as_bound)
            .filter(|bound| bound.rest_joints.iter().all(|joint| joint.is_finite()))
            .map(|bound| Arc::clone(&bound.rest_joints));
        let mut object = Object {
            path,
            file_vertices,
            smoothing: extras::labels(self.source, own.smoothing.as_ref(), "smoothing", faces),
            file_index: extras::list(self.source, own.file_index, "file_index", vertices)
                .filter(|_| first),
            skin: binding,
            rest_joints,
            seams: Some(Arc::new(seams)),
            ..Object::new(rig)
        };

        // The weights of a node override those of its mesh.
        let node = place.map(|place| &self.nodes.nodes[place.node]);
        let weights = node.and_then(|node| node.weights.as_ref());
        let weights = weights.or(mesh.weights.as_ref());
        object.rest_weights = morph::rest_weights(weights, &object, &placed, &mut self.warnings);
        if !first {
            self.warnings.truncate(known_warnings);
        }

        Ok(Some((object, placed)))
    }

    /// One mesh at one place, as it was read before as object `number`; `None` if it was no object.
    fn known_object(
        &mut self,
        index: usize,
        place: Option<Instance>,
        number: usize,
    ) -> Result<Option<(Object, PlacedMesh)>, ReadError> {
        let mesh = &self.source.document.meshes[index];
        if primitive::read_primitives(mesh).is_empty() {
            return Ok(None);
        }
        let Some(known) = self.known.get(number) else {
            return Ok(None);
        };
        let name = mesh.name.as_deref().unwrap_or_default();
        let mut placed = self.placed_mesh(index, name, place)?;
        placed.stored_targets = known.stored_targets;
        placed.sliders.clone_from(&known.sliders);
        Ok(Some((known.object.clone(), placed)))
    }

    /// A mesh at a place, without frames.
    fn placed_mesh(
        &mut self,
        mesh: usize,
        name: &str,
        place: Option<Instance>,
    ) -> Result<PlacedMesh, ReadError> {
        let node = place.map(|place| place.node);
        let in_node = place.and_then(|place| place.of_node);
        let chain = node.map_or_else(Vec::new, |node| self.nodes.chain(node));
        let skin = node.and_then(|node| self.nodes.nodes[node].skin);

        // The joints of a skinned mesh place it in the scene, its own node does not.
        let scene_from_mesh = match skin {
            Some(skin) => self.bound_skin(skin, name)?.scene_from_mesh,
            None => match in_node {
                Some((_, in_node)) => self.nodes.world(&chain) * in_node,
                None => self.nodes.world(&chain),
            },
        };

        Ok(PlacedMesh {
            mesh,
            chain,
            scene_from_mesh,
            frames: Vec::new(),
            skin,
            stored_targets: 0,
            sliders: None,
        })
    }

    /// The path of a mesh in the node hierarchy; its own name if no node shows it.
    fn path(&self, chain: &[usize], name: &str) -> Result<String, ReadError> {
        let path = if chain.is_empty() {
            name.to_owned()
        } else {
            self.nodes.path(chain, name)
        };

        let numbers = chain.len().saturating_mul(16) + path.len();
        self.source
            .buffers
            .budget
            .spend(numbers, "the node path of a mesh")?;

        Ok(path)
    }

    /// A skin of the document, read once.
    fn bound_skin(&mut self, skin: usize, mesh: &str) -> Result<&BoundSkin, ReadError> {
        if !self.skins.contains_key(&skin) {
            let bound = BoundSkin::read(self.source, &self.nodes, skin)?;
            self.skins.insert(skin, bound);
        }

        let bound = &self.skins[&skin];
        if !bound.rests_as_bound {
            self.warnings.push(format!(
                "mesh '{mesh}' rests in another pose than its bind pose; its neutral is the bind pose"
            ));
        }

        Ok(bound)
    }

    fn warn_about_mesh(&mut self, name: &str, stored: &StoredMesh) {
        if !stored.dropped.is_empty() {
            self.warnings.push(format!(
                "mesh '{name}': {} were not read",
                stored.dropped.join(" and ")
            ));
        }
    }

    /// A node hides everything below it, too.
    fn warn_about_visibility(&mut self, chain: &[usize], path: &str) {
        let hidden = |&node: &usize| {
            let visibility = self.nodes.nodes[node].extensions.visibility.as_ref();
            visibility.is_some_and(|visibility| !visibility.visible)
        };
        if chain.iter().any(hidden) {
            self.warnings.push(format!(
                "object '{path}' is hidden in the file, but is read as visible"
            ));
        }
    }
}
