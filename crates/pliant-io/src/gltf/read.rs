//! From a document to objects: stored vertices are welded, faces put together, and all of it placed
//! in the scene.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DMat3, DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, VertexLayer};
use pliant_rig::{Rig, Target};
use serde_json::Value;

use super::accessor::Source;
use super::buffers::Buffers;
use super::document::{self, Document};
use super::memo::{self, MeshMemo};
use super::nodes::Nodes;
use super::primitive::Stored;
use super::skin::BoundSkin;
use super::split::{Displacements, Seams};
use super::{animation, container, morph, weld};
use crate::format::Declined;
use crate::merge::check_file_order;
use crate::{Asset, Beside, IoError, Object, ReadError, SkinBinding};

/// Extensions that change how meshes are to be read, and are understood.
const UNDERSTOOD: [&str; 2] = ["KHR_mesh_quantization", "EXT_meshopt_compression"];

/// Reads a GLB, or a glTF whose buffers `beside` opens.
///
/// Messages about the bytes themselves do not name the file, which only the caller knows.
pub fn read(bytes: &[u8], beside: &dyn Beside) -> Result<Asset, IoError> {
    read_document(bytes, beside).map_err(|declined| match declined {
        Declined::Bytes(error) => error.in_file("glTF"),
        Declined::Other(error) => error,
    })
}

pub(crate) fn read_document(bytes: &[u8], beside: &dyn Beside) -> Result<Asset, Declined> {
    let parts = container::open(bytes)?;
    let document: Document = serde_json::from_slice(parts.json).map_err(|e| {
        let message = format!("its JSON is not that of a glTF: {e}; export the file again");
        ReadError::whole(message.replace(char::is_control, " "))
    })?;
    require_version(&document)?;
    let buffers = Buffers::open(&document, &parts, beside)?;
    let source = Source {
        document: &document,
        buffers,
    };
    Ok(Scene::read(&source)?)
}

fn require_version(document: &Document) -> Result<(), ReadError> {
    let version = document
        .asset
        .get("version")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !version.starts_with("2.") {
        return Err(ReadError::whole(format!(
            "it is glTF of version '{version}'; export it as version 2"
        )));
    }
    // A Draco mesh, for one, has no bytes that could be read without it.
    let packed = document.extensions_required.iter().find(|e| {
        let harmless = e.starts_with("KHR_texture")
            || e.starts_with("KHR_materials")
            || e.starts_with("KHR_lights")
            || e.contains("texture");
        !harmless && !UNDERSTOOD.contains(&e.as_str())
    });
    match packed {
        Some(name) => Err(ReadError::whole(format!(
            "it needs the extension '{name}', which is not read; export it without"
        ))),
        None => Ok(()),
    }
}

/// An object that was read, and what animations need to know about it.
pub(super) struct Placed {
    pub(super) mesh: usize,
    /// The nodes from the mesh's own to its root; empty where no node has it.
    pub(super) chain: Vec<usize>,
    pub(super) world: DAffine3,
    /// Targets that are frames of our own clips.
    pub(super) frames: Vec<Target>,
    /// The skin of the document that moves it.
    pub(super) skin: Option<usize>,
}

struct Scene<'a> {
    source: &'a Source<'a>,
    nodes: Nodes<'a>,
    /// Those of the document's skins that move a mesh.
    skins: BTreeMap<usize, BoundSkin>,
    problems: Vec<String>,
}

impl<'a> Scene<'a> {
    fn read(source: &'a Source<'a>) -> Result<Asset, ReadError> {
        let mut scene = Self {
            source,
            nodes: Nodes::of(source.document)?,
            skins: BTreeMap::new(),
            problems: Vec::new(),
        };
        let (mut objects, mut placed) = (Vec::new(), Vec::new());
        let nodes_of = scene.nodes_of_meshes()?;
        for (k, mesh) in source.document.meshes.iter().enumerate() {
            let name = mesh.name.as_deref().unwrap_or_default();
            let read = scene.object(k, mesh, &nodes_of[k]);
            let read = read.map_err(|e| ReadError {
                message: format!("mesh {k} '{name}': {}", e.message),
                ..e
            })?;
            if let Some((object, place)) = read {
                objects.push(object);
                placed.push(place);
            }
        }
        if objects.is_empty() {
            return Err(ReadError::whole(
                "the file holds no mesh of triangles or points; export it with one",
            ));
        }
        scene.note_unread();
        check_file_order(&mut objects);
        let clips = animation::read(
            source,
            &scene.nodes,
            &scene.skins,
            &objects,
            &placed,
            &mut scene.problems,
        )?;
        Ok(Asset {
            objects,
            clips,
            problems: scene.problems,
            ..Asset::default()
        })
    }

    /// The nodes that show each mesh.
    fn nodes_of_meshes(&self) -> Result<Vec<Vec<usize>>, ReadError> {
        let mut nodes_of = vec![Vec::new(); self.source.document.meshes.len()];
        for (k, node) in self.nodes.nodes.iter().enumerate() {
            let Some(mesh) = node.mesh else { continue };
            let count = nodes_of.len();
            let list = nodes_of.get_mut(mesh).ok_or_else(|| {
                ReadError::whole(format!(
                    "node {k} shows mesh {mesh}, but there are {count}; export the file again"
                ))
            })?;
            list.push(k);
        }
        Ok(nodes_of)
    }

    fn object(
        &mut self,
        index: usize,
        mesh: &document::Mesh,
        nodes: &[usize],
    ) -> Result<Option<(Object, Placed)>, ReadError> {
        let name = mesh.name.clone().unwrap_or_default();
        let stored = Stored::gather(self.source, mesh)?;
        if !stored.dropped.is_empty() {
            self.problems.push(format!(
                "mesh '{name}': {} were not read",
                stored.dropped.join(" and ")
            ));
        }
        if stored.blocks.is_empty() {
            return Ok(None);
        }
        if nodes.len() > 1 {
            self.problems.push(format!(
                "mesh '{name}' stands at {} nodes and was read at the first only",
                nodes.len()
            ));
        }
        let chain = nodes
            .first()
            .map_or_else(Vec::new, |&node| self.nodes.chain(node));
        let skin = nodes.first().and_then(|&node| self.nodes.nodes[node].skin);
        let world = match skin {
            Some(skin) => self.bound(skin, &name)?.place,
            None => self.nodes.world(&chain),
        };
        let path = if chain.is_empty() {
            name.clone()
        } else {
            self.nodes.path(&chain, &name)
        };
        self.source.buffers.budget.spend(
            chain.len().saturating_mul(16) + path.len(),
            "the way to a mesh",
        )?;
        let assembly = Assembly::new(self.source, mesh, stored, world, &mut self.problems);
        let binding = skin
            .map(|skin| assembly.binding(&self.skins[&skin], &name, &mut self.problems))
            .transpose()?;
        let file_vertices = assembly.stored.positions.len();
        let (rig, seams, memo) = assembly.build(name)?;
        let faces = rig.neutral().face_count();
        let (rig, frames) = morph::without_frames(rig, &memo, self.source)?;
        let mut object = Object {
            path,
            file_vertices,
            ..Object::new(rig)
        };
        object.smoothing = memo::labels(self.source, memo.smoothing.as_ref(), "smoothing", faces);
        object.file_index = memo::list(
            self.source,
            memo.file_index,
            "file_index",
            object.vertex_count(),
        );
        let own = nodes
            .first()
            .and_then(|&node| self.nodes.nodes[node].weights.as_ref());
        object.rest_weights =
            morph::rest_weights(own.or(mesh.weights.as_ref()), &object, &mut self.problems);
        (object.seams, object.skin) = (Some(Arc::new(seams)), binding);
        Ok(Some((
            object,
            Placed {
                mesh: index,
                chain,
                world,
                frames,
                skin,
            },
        )))
    }

    /// A skin of the document, read once.
    fn bound(&mut self, skin: usize, mesh: &str) -> Result<&BoundSkin, ReadError> {
        if !self.skins.contains_key(&skin) {
            self.skins
                .insert(skin, BoundSkin::read(self.source, &self.nodes, skin)?);
        }
        let bound = &self.skins[&skin];
        if !bound.rests_as_bound {
            self.problems.push(format!("mesh '{mesh}' rests in another pose than it is bound in; its neutral is the bind pose"));
        }
        Ok(bound)
    }

    fn note_unread(&mut self) {
        if !self.source.document.textures.is_empty() {
            self.problems.push(format!(
                "{} texture(s) are not kept",
                self.source.document.textures.len()
            ));
        }
    }
}

/// A mesh on its way from stored vertices to an object.
struct Assembly<'a> {
    source: &'a Source<'a>,
    mesh: &'a document::Mesh,
    stored: Stored,
    world: DAffine3,
    memo: MeshMemo,
    vertex_of: Vec<u32>,
    vertices: usize,
}

impl<'a> Assembly<'a> {
    fn new(
        source: &'a Source<'a>,
        mesh: &'a document::Mesh,
        stored: Stored,
        world: DAffine3,
        problems: &mut Vec<String>,
    ) -> Self {
        let mut memo: MeshMemo = memo::of(&mesh.extras).unwrap_or_default();
        let known = known_weld(source, &memo, &stored);
        if known.is_none() && memo.weld.is_some() {
            let name = mesh.name.as_deref().unwrap_or_default();
            problems.push(format!(
                "mesh '{name}' was changed by another program since it was written; its own vertex order is not known any more"
            ));
            memo = MeshMemo {
                targets: memo.targets,
                ..MeshMemo::default()
            };
        }
        let vertex_of = known.unwrap_or_else(|| weld::weld(&stored));
        let vertices = vertex_of.iter().map(|&v| v as usize + 1).max().unwrap_or(0);
        Self {
            source,
            mesh,
            stored,
            world,
            memo,
            vertex_of,
            vertices,
        }
    }

    fn build(mut self, name: String) -> Result<(Rig, Seams, MeshMemo), ReadError> {
        let polygons = self.polygons();
        let speakers = weld::speakers(&self.vertex_of, self.vertices);
        let targets = morph::targets(
            self.mesh,
            &self.stored.targets,
            &self.vertex_of,
            &speakers,
            self.world.matrix3,
        );
        let positions = speakers
            .iter()
            .map(|&s| placed(&self.world, self.stored.positions[s as usize]))
            .collect();
        let labels = self.materials(&polygons);
        let colors = self.stored.colors.iter().map(|set| VertexLayer {
            name: String::new(),
            values: speakers
                .iter()
                .map(|&s| DVec4::from_array(set[s as usize].map(f64::from)))
                .collect(),
        });
        let builder = MeshBuilder {
            name,
            positions,
            face_sizes: polygons.sizes.clone(),
            corners: polygons
                .corners
                .iter()
                .map(|&s| self.vertex_of[s as usize])
                .collect(),
            uv_layers: self.uv_layers(&polygons.corners),
            normals: self.normals(&polygons.corners),
            colors: colors.collect(),
            groups: memo::labels(
                self.source,
                self.memo.groups.as_ref(),
                "groups",
                polygons.sizes.len(),
            ),
            materials: labels,
            material_library: self.memo.material_library.clone(),
        };
        let rig = Rig::new(builder.build()?, targets)?;
        let materials = self.own_materials();
        let normals_by = normal_matrix(&self.world);
        let mut target_normals = std::mem::take(&mut self.stored.target_normals);
        if self.world != DAffine3::IDENTITY {
            let deltas = target_normals.iter_mut().flat_map(|d| &mut d.deltas);
            deltas.for_each(|d| {
                *d = (normals_by * DVec3::from_array(d.map(f64::from)))
                    .as_vec3()
                    .to_array()
            });
        }
        let seams = Seams {
            vertex_of: self.vertex_of,
            corners: polygons.corners,
            blocks: self.stored.blocks,
            parts: self.stored.parts,
            part_of_face: polygons.parts,
            colors: self.stored.colors,
            materials,
            target_normals,
        };
        Ok((rig, seams, self.memo))
    }

    fn binding(
        &self,
        bound: &BoundSkin,
        name: &str,
        problems: &mut Vec<String>,
    ) -> Result<SkinBinding, ReadError> {
        let (skin, odd) = bound.skin_of(
            &self.stored,
            &weld::speakers(&self.vertex_of, self.vertices),
        )?;
        problems.extend(odd.map(|odd| format!("mesh '{name}': {odd}")));
        Ok(SkinBinding {
            skin: Arc::new(skin),
            skeleton: Arc::clone(&bound.skeleton),
        })
    }

    fn polygons(&self) -> Polygons {
        let triangles = Polygons::triangles(&self.stored);
        let known = Polygons::known(self.source, &self.memo, &self.stored);
        let mut polygons = known.unwrap_or(triangles);
        // A place that mirrors turns every face inside out.
        if self.world.matrix3.determinant() < 0.0 {
            polygons.turn();
        }
        polygons
    }

    fn materials(&self, polygons: &Polygons) -> FaceLabels {
        let name = |part: u32| {
            let material = self.stored.parts[part as usize].material;
            material
                .and_then(|k| self.source.document.materials[k].get("name"))
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let labels = FaceLabels::from_names(polygons.parts.iter().map(|&part| name(part)));
        if labels.names.iter().all(String::is_empty) {
            FaceLabels::default()
        } else {
            labels
        }
    }

    /// The materials that this mesh uses; its parts are made to count in them.
    fn own_materials(&mut self) -> Vec<Value> {
        let mut own = Vec::new();
        let mut index_of = HashMap::new();
        for part in &mut self.stored.parts {
            part.material = part.material.map(|k| {
                *index_of.entry(k).or_insert_with(|| {
                    own.push(without_textures(&self.source.document.materials[k]));
                    own.len() - 1
                })
            });
        }
        own
    }

    /// UV sets with v upwards.
    fn uv_layers(&self, corners: &[u32]) -> Vec<CornerLayer<DVec2>> {
        let mut sets_of_stored = vec![0; self.stored.positions.len()];
        self.stored
            .blocks
            .iter()
            .for_each(|block| sets_of_stored[block.range()].fill(block.uv_sets));
        let layer = |(k, set): (usize, &Vec<[f32; 2]>)| CornerLayer {
            name: self.memo.uv_names.get(k).cloned().unwrap_or_default(),
            values: set
                .iter()
                .map(|&[u, v]| DVec2::new(f64::from(u), 1.0 - f64::from(v)))
                .collect(),
            corners: corners
                .iter()
                .map(|&s| (sets_of_stored[s as usize] > k).then_some(s))
                .collect(),
        };
        self.stored.uvs.iter().enumerate().map(layer).collect()
    }

    fn normals(&self, corners: &[u32]) -> Option<CornerLayer<DVec3>> {
        if self.stored.normals.is_empty() || self.memo.computed_normals {
            return None;
        }
        let mut has = vec![false; self.stored.positions.len()];
        self.stored
            .blocks
            .iter()
            .for_each(|block| has[block.range()].fill(block.normals));
        let by = normal_matrix(&self.world);
        let identity = self.world == DAffine3::IDENTITY;
        let turned = |n: &[f32; 3]| {
            let normal = DVec3::from_array(n.map(f64::from));
            if identity {
                normal
            } else {
                (by * normal).normalize_or_zero()
            }
        };
        let corners = corners
            .iter()
            .map(|&s| has[s as usize].then_some(s))
            .collect();
        Some(CornerLayer {
            name: String::new(),
            values: self.stored.normals.iter().map(turned).collect(),
            corners,
        })
    }
}

/// How normals turn with a place; lengths stay where it scales all directions alike.
fn normal_matrix(world: &DAffine3) -> DMat3 {
    let determinant = world.matrix3.determinant();
    if determinant == 0.0 || !determinant.is_finite() {
        return world.matrix3;
    }
    world.matrix3.inverse().transpose() * determinant.abs().cbrt()
}

fn placed(world: &DAffine3, position: [f32; 3]) -> DVec3 {
    let position = DVec3::from_array(position.map(f64::from));
    // So that numbers stay what they are, NaN and all.
    if *world == DAffine3::IDENTITY {
        position
    } else {
        world.transform_point3(position)
    }
}

/// The weld map of our own file, where it fits.
fn known_weld(source: &Source<'_>, memo: &MeshMemo, stored: &Stored) -> Option<Vec<u32>> {
    let vertex_of = memo::list(source, memo.weld, "weld", stored.positions.len())?;
    if memo.vertices > vertex_of.len() || vertex_of.iter().any(|&v| v as usize >= memo.vertices) {
        return None;
    }
    let speakers = weld::speakers(&vertex_of, memo.vertices);
    let bits = |stored_vertex: usize| stored.positions[stored_vertex].map(f32::to_bits);
    let together = vertex_of
        .iter()
        .enumerate()
        .all(|(s, &v)| bits(s) == bits(speakers[v as usize] as usize));
    (together && !speakers.contains(&u32::MAX)).then_some(vertex_of)
}

/// A material without what would need an image or an extension.
fn without_textures(material: &Value) -> Value {
    match material {
        Value::Object(entries) => {
            let kept = entries
                .iter()
                .filter(|(key, _)| !key.ends_with("Texture") && *key != "extensions");
            kept.map(|(key, value)| (key.clone(), without_textures(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Faces in the object's order.
struct Polygons {
    sizes: Vec<u32>,
    /// Stored vertex of each corner.
    corners: Vec<u32>,
    parts: Vec<u32>,
}

impl Polygons {
    fn triangles(stored: &Stored) -> Self {
        Self {
            sizes: vec![3; stored.triangles.len()],
            corners: stored.triangles.iter().flatten().copied().collect(),
            parts: stored.part_of_triangle.clone(),
        }
    }

    /// The polygons of our own file, where triangles are still the fans that it says.
    fn known(source: &Source<'_>, memo: &MeshMemo, stored: &Stored) -> Option<Self> {
        memo.face_sizes.or(memo.face_order)?;
        let count = |accessor: usize| source.document.accessors.get(accessor).map(|a| a.count);
        let sizes = match memo.face_sizes {
            Some(accessor) => memo::list(source, Some(accessor), "face_sizes", count(accessor)?)?,
            None => vec![3; stored.triangles.len()],
        };
        let mut triangles = stored.triangles.iter().zip(&stored.part_of_triangle);
        let mut fans = Self {
            sizes,
            corners: Vec::new(),
            parts: Vec::new(),
        };
        for &size in &fans.sizes {
            let (&[a, b, c], &part) = triangles.next().filter(|_| size >= 3)?;
            fans.corners.extend([a, b, c]);
            for _ in 3..size {
                let (&[first, before, next], &same) = triangles.next()?;
                if first != a || Some(&before) != fans.corners.last() || same != part {
                    return None;
                }
                fans.corners.push(next);
            }
            fans.parts.push(part);
        }
        if triangles.next().is_some() {
            return None;
        }
        match memo.face_order {
            None => Some(fans),
            Some(accessor) => fans.ordered(&memo::list(
                source,
                Some(accessor),
                "face_order",
                count(accessor)?,
            )?),
        }
    }

    /// Stored face `k` is face `order[k]`.
    fn ordered(self, order: &[u32]) -> Option<Self> {
        let mut starts = vec![0];
        self.sizes
            .iter()
            .for_each(|&size| starts.push(starts[starts.len() - 1] + size as usize));
        let mut stored_of = vec![None; self.sizes.len()];
        if order.len() != stored_of.len() {
            return None;
        }
        order
            .iter()
            .enumerate()
            .try_for_each(|(k, &face)| stored_of.get_mut(face as usize).map(|s| *s = Some(k)))?;
        let stored_of: Vec<usize> = stored_of.into_iter().collect::<Option<_>>()?;
        Some(Self {
            sizes: stored_of.iter().map(|&k| self.sizes[k]).collect(),
            corners: stored_of
                .iter()
                .flat_map(|&k| &self.corners[starts[k]..starts[k + 1]])
                .copied()
                .collect(),
            parts: stored_of.iter().map(|&k| self.parts[k]).collect(),
        })
    }

    fn turn(&mut self) {
        let mut start = 0;
        for &size in &self.sizes {
            let end = start + size as usize;
            self.corners[start + 1..end].reverse();
            start = end;
        }
    }
}

/// Displacements as a target's own type.
pub(super) fn moved(displacements: &Displacements) -> impl Iterator<Item = (u32, Vec3)> {
    displacements
        .vertices
        .iter()
        .copied()
        .zip(displacements.deltas.iter().map(|&d| Vec3::from_array(d)))
}
