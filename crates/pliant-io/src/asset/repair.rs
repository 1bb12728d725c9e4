//! Repair of an asset: vertex orders, twin vertices, degenerate faces, orientations, components.
//!
//! **Problem.** Files come with targets in another vertex order, vertices stored twice, faces
//! without area, faces that look inward, and several surfaces in one mesh. Targets, clips, skins,
//! UVs and labels must survive the repair.
//!
//! **Method.** [`VertexOrder`] puts the vertices of targets and frames back; [`MeshEdit`] changes
//! the mesh, and everything with values per vertex or face follows it. Twins are vertices at one
//! position with the same colours, influences, and displacements in every target, combination and
//! frame. A repair that would do harm is not made: a warning says so.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{FaceOrientation, Mesh, MeshEdit, degenerate_faces};
use pliant_rig::{Rig, SliderId, Target, VertexOrder};

use super::retarget::{mapped_weights, part_of_rig, restricted_rig};
use super::{Animation, Asset, Motion, Object, Shape};
use crate::IoError;

/// Vertices at one position that are compared with each other; more are not merged. *Chosen*: fans
/// have a few dozen.
const MOST_COINCIDENT: usize = 64;

/// What a repair changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairKind {
    /// Vertices of targets and frames are stored in the order of the neutral.
    Order,
    /// Twin vertices become one.
    Twins,
    /// Faces without area are removed.
    DegenerateFaces,
    /// Faces of a component have one orientation, that of most of them.
    Orientation,
    /// Each connected component becomes an object.
    Components,
}

impl RepairKind {
    /// All kinds, in the order in which they are made.
    pub const ALL: [Self; 5] = [
        Self::Order,
        Self::Twins,
        Self::DegenerateFaces,
        Self::Orientation,
        Self::Components,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Twins => "twins",
            Self::DegenerateFaces => "degenerate",
            Self::Orientation => "orientation",
            Self::Components => "components",
        }
    }
}

impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A repair that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// What was changed.
    pub what: RepairKind,
    /// The target, frame or object.
    pub place: String,
    /// How many vertices were moved or merged, faces removed or reversed, or objects made.
    pub count: usize,
    /// The vertices or faces, before the repair; vertices in the order of the whole file.
    pub indices: Vec<u32>,
}

/// A repaired asset.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RepairedAsset {
    /// The asset.
    pub asset: Asset,
    /// What was done.
    pub repairs: Vec<Repair>,
    /// What was found but not repaired.
    pub warnings: Vec<String>,
}

impl Asset {
    /// The same asset with repairs of the given kinds, in the order of [`RepairKind::ALL`].
    pub fn repaired(&self, kinds: &[RepairKind]) -> Result<RepairedAsset, IoError> {
        self.require_finite()?;
        let mut repaired = RepairedAsset {
            asset: self.clone(),
            repairs: Vec::new(),
            warnings: Vec::new(),
        };

        for kind in RepairKind::ALL.into_iter().filter(|k| kinds.contains(k)) {
            match kind {
                RepairKind::Order => repaired.mend_orders()?,
                RepairKind::Twins => repaired.edit_objects(kind, merged_twins)?,
                RepairKind::DegenerateFaces => repaired.edit_objects(kind, without_degenerate)?,
                RepairKind::Orientation => repaired.edit_objects(kind, oriented)?,
                RepairKind::Components => repaired.split_components()?,
            }
        }
        Ok(repaired)
    }
}

/// The edit of one object: the vertices or faces that it changes, and a warning instead of or
/// beside it.
#[derive(Default)]
struct ObjectEdit {
    edit: Option<MeshEdit>,
    changed: Vec<u32>,
    warning: Option<String>,
}

impl RepairedAsset {
    /// Puts the vertices of targets, in-betweens and frames in the order of the neutral.
    fn mend_orders(&mut self) -> Result<(), IoError> {
        let indices = self.asset.file_indices();
        for (k, indices) in indices.iter().enumerate() {
            let object = &self.asset.objects[k];
            let neutral = object.rig.neutral().clone();
            let place = self.place(k);
            let mut targets = object.rig.targets().to_vec();
            let mut orders = Vec::new();
            for target in &mut targets {
                let name = format!("target '{}'{}", target.name, place_suffix(&place));
                orders.extend(mend_target(&neutral, target).map(|order| (name, order)));
            }
            if !orders.is_empty() {
                let rig = object.rig.with_targets(targets);
                self.asset.objects[k].rig = rig.map_err(|e| self.asset.rig_error(e))?;
            }

            for clip in &mut self.asset.clips {
                orders.extend(mend_frames(&neutral, k, clip, &place));
            }
            for (name, order) in orders {
                self.note_order(name, order, indices);
            }
        }
        Ok(())
    }

    fn note_order(&mut self, place: String, order: VertexOrder, indices: &[u32]) {
        match order {
            VertexOrder::Equal => {}
            VertexOrder::Known { vertices, .. } => self.repairs.push(Repair {
                what: RepairKind::Order,
                place,
                count: vertices.len(),
                indices: vertices.iter().map(|&v| indices[v as usize]).collect(),
            }),
            VertexOrder::Unknown { vertices } => self.warnings.push(format!(
                "{place} has at least {} vertices in another order than the neutral, and the order cannot be found; export both from one mesh",
                vertices.len()
            )),
        }
    }

    /// Changes every object as `edit_of` says.
    fn edit_objects(
        &mut self,
        what: RepairKind,
        edit_of: fn(&Asset, usize) -> Result<ObjectEdit, IoError>,
    ) -> Result<(), IoError> {
        let indices = self.asset.file_indices();
        let mut edits = Vec::with_capacity(indices.len());
        for (k, indices) in indices.iter().enumerate() {
            let found = edit_of(&self.asset, k)?;
            let place = self.place(k);
            if let Some(warning) = found.warning {
                let mesh = if place.is_empty() { "the mesh" } else { &place };
                self.warnings.push(format!("{mesh}: {warning}"));
            }
            if found.edit.is_some() {
                let of_vertices = what == RepairKind::Twins;
                let changed = found.changed.iter().copied();
                self.repairs.push(Repair {
                    what,
                    place: if place.is_empty() {
                        "the mesh".into()
                    } else {
                        place
                    },
                    count: found.changed.len(),
                    indices: if of_vertices {
                        changed.map(|v| indices[v as usize]).collect()
                    } else {
                        changed.collect()
                    },
                });
            }
            edits.push(found.edit);
        }
        self.asset.apply_edits(&edits)
    }

    /// Makes an object of each connected component.
    fn split_components(&mut self) -> Result<(), IoError> {
        let asset = &self.asset;
        let indices = asset.file_indices();
        let mut objects = Vec::new();
        let mut file_indices = Vec::new();
        let mut motions: Vec<Vec<Motion>> = vec![Vec::new(); asset.clips.len()];
        for (k, object) in asset.objects.iter().enumerate() {
            let parts = MeshEdit::components(object.rig.neutral());
            if parts.len() > 1 {
                self.repairs.push(Repair {
                    what: RepairKind::Components,
                    place: object_name(object),
                    count: parts.len(),
                    indices: Vec::new(),
                });
            }

            for (number, part) in parts.iter().enumerate() {
                let name = (parts.len() > 1).then(|| part_name(&object.path, number));
                let (new, sources) = object
                    .part(part, name, number == 0)
                    .map_err(|e| asset.rig_error(e))?;
                let sources: Vec<SliderId> = sources.into_iter().map(SliderId::from).collect();
                for (clip, motions) in asset.clips.iter().zip(&mut motions) {
                    let own = clip.motions.iter().filter(|motion| motion.object == k);
                    motions.extend(own.map(|motion| {
                        let mut motion = motion.edited(part);
                        motion.object = objects.len();
                        if let Shape::Weights(track) = &motion.shape {
                            motion.shape = Shape::Weights(track.of_sliders(&sources));
                        }
                        motion
                    }));
                }
                objects.push(new);
                let own = part.vertices().iter().map(|&v| indices[k][v as usize]);
                file_indices.push(own.collect());
            }
        }

        self.asset.objects = objects;
        for (clip, motions) in self.asset.clips.iter_mut().zip(motions) {
            clip.motions = motions;
        }
        self.asset.renumber(file_indices);
        Ok(())
    }

    /// The name of an object where there are several.
    fn place(&self, object: usize) -> String {
        if self.asset.objects.len() > 1 {
            object_name(&self.asset.objects[object])
        } else {
            String::new()
        }
    }
}

fn object_name(object: &Object) -> String {
    if object.path.is_empty() {
        "the mesh".into()
    } else {
        format!("mesh '{}'", object.path)
    }
}

fn part_name(path: &str, number: usize) -> String {
    let path = if path.is_empty() { "part" } else { path };
    format!("{path}_{}", number + 1)
}

fn place_suffix(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!(" of {place}")
    }
}

/// Puts the shapes of a target in order; the order of the target itself, or else of an in-between.
fn mend_target(neutral: &Mesh, target: &mut Target) -> Option<VertexOrder> {
    let mut found = mend_shape(neutral, &mut target.vertices, &mut target.deltas);
    for shape in &mut target.in_betweens {
        let order = mend_shape(neutral, &mut shape.vertices, &mut shape.deltas);
        found = found.or(order);
    }
    found
}

fn mend_shape(
    neutral: &Mesh,
    vertices: &mut Vec<u32>,
    deltas: &mut Vec<Vec3>,
) -> Option<VertexOrder> {
    let mut stored = neutral.positions().to_vec();
    let mut dense = vec![Vec3::ZERO; stored.len()];
    for (&v, &delta) in vertices.iter().zip(deltas.iter()) {
        stored[v as usize] += delta.as_dvec3();
        dense[v as usize] = delta;
    }

    let order = VertexOrder::of(neutral, &stored);
    if let VertexOrder::Known {
        vertices: wrong,
        stored_of,
    } = &order
    {
        // The other vertices keep their bits.
        for &v in wrong {
            let position = stored[stored_of[v as usize] as usize];
            dense[v as usize] = (position - neutral.positions()[v as usize]).as_vec3();
        }
        let moved = Target::from_dense("", dense);
        (*vertices, *deltas) = (moved.vertices, moved.deltas);
    }
    (order != VertexOrder::Equal).then_some(order)
}

/// Puts the frames of an object in order.
fn mend_frames(
    neutral: &Mesh,
    object: usize,
    clip: &mut Animation,
    place: &str,
) -> Vec<(String, VertexOrder)> {
    let name = clip.name.clone();
    let mut orders = Vec::new();
    for motion in clip.motions.iter_mut().filter(|m| m.object == object) {
        let Shape::Points(frames) = &mut motion.shape else {
            continue;
        };
        for (k, frame) in frames.iter_mut().enumerate() {
            let order = VertexOrder::of(neutral, frame);
            if order != VertexOrder::Equal {
                *frame = order.apply(frame);
                let suffix = place_suffix(place);
                orders.push((format!("frame {k} of clip '{name}'{suffix}"), order));
            }
        }
    }
    orders
}

/// The merged twins of an object.
fn merged_twins(asset: &Asset, index: usize) -> Result<ObjectEdit, IoError> {
    let object = &asset.objects[index];
    let mesh = object.rig.neutral();
    let twin_of = twins(asset, index);
    let is_twin = |v: &u32| twin_of[*v as usize] != *v;
    let changed: Vec<u32> = (0..twin_of.len() as u32).filter(is_twin).collect();
    if changed.is_empty() {
        return Ok(ObjectEdit::default());
    }

    let edit = MeshEdit::merging(mesh, &twin_of);
    let merged = edit.apply(mesh).map_err(|e| asset.rig_error(e))?;
    let non_manifold = |mesh: &Mesh| mesh.topology().non_manifold_edges().count();
    if non_manifold(&merged) > non_manifold(mesh) {
        let count = changed.len();
        return Ok(ObjectEdit {
            warning: Some(format!(
                "{count} twin vertices were not merged, because surfaces that touch would become non-manifold"
            )),
            ..ObjectEdit::default()
        });
    }
    let lost = mesh.face_count() - merged.face_count();
    let warning = (lost > 0).then(|| format!("{lost} face(s) between merged twins were removed"));
    Ok(ObjectEdit {
        edit: Some(edit),
        changed,
        warning,
    })
}

/// For each vertex of an object, the first vertex that always is where it is.
fn twins(asset: &Asset, index: usize) -> Vec<u32> {
    let object = &asset.objects[index];
    let positions = object.rig.neutral().positions();
    // Adding zero makes the two zeros equal.
    let bits = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);

    let mut first_of: HashMap<[u64; 3], Vec<u32>> = HashMap::with_capacity(positions.len());
    let mut twin_of: Vec<u32> = (0..positions.len() as u32).collect();
    for v in 0..positions.len() as u32 {
        let known = first_of.entry(bits(positions[v as usize])).or_default();
        match known
            .iter()
            .find(|&&first| move_alike(asset, index, first, v))
        {
            Some(&first) => twin_of[v as usize] = first,
            None if known.len() < MOST_COINCIDENT => known.push(v),
            None => {}
        }
    }
    twin_of
}

/// Whether two vertices at one position look the same and stay together in every pose and frame.
fn move_alike(asset: &Asset, index: usize, a: u32, b: u32) -> bool {
    let object = &asset.objects[index];
    let (first, second) = (a as usize, b as usize);
    let colors = object.rig.neutral().colors().iter();
    let same_colors = |layer: &Vec<_>| layer[first] == layer[second];
    colors.map(|layer| &layer.values).all(same_colors)
        && shapes(&object.rig).all(|(vertices, deltas)| {
            displacement(vertices, deltas, a) == displacement(vertices, deltas, b)
        })
        && object
            .skin
            .as_ref()
            .is_none_or(|binding| binding.skin.influences(first) == binding.skin.influences(second))
        && asset
            .clips
            .iter()
            .flat_map(|clip| &clip.motions)
            .filter(|motion| motion.object == index)
            .all(|motion| motion.moves_alike(first, second))
}

/// All displacements of a rig: targets, in-betweens, combinations.
fn shapes(rig: &Rig) -> impl Iterator<Item = (&[u32], &[Vec3])> {
    let targets = rig.targets().iter().flat_map(|target| {
        let in_betweens = target.in_betweens.iter();
        std::iter::once((&*target.vertices, &*target.deltas))
            .chain(in_betweens.map(|b| (&*b.vertices, &*b.deltas)))
    });
    let combinations = rig.combinations().iter();
    targets.chain(combinations.map(|c| (&*c.vertices, &*c.deltas)))
}

fn displacement(vertices: &[u32], deltas: &[Vec3], vertex: u32) -> Vec3 {
    let found = vertices.binary_search(&vertex);
    found.map_or(Vec3::ZERO, |k| deltas[k])
}

fn without_degenerate(asset: &Asset, index: usize) -> Result<ObjectEdit, IoError> {
    let mesh = asset.objects[index].rig.neutral();
    let changed = degenerate_faces(mesh);
    if changed.is_empty() {
        return Ok(ObjectEdit::default());
    }

    let edit = MeshEdit::without_faces(mesh, &changed);
    let clean = edit.apply(mesh).map_err(|e| asset.rig_error(e))?;
    let loops = |mesh: &Mesh| mesh.topology().boundary_loops().len();
    let opened = loops(&clean).saturating_sub(loops(mesh));
    Ok(ObjectEdit {
        edit: Some(edit),
        changed,
        warning: (opened > 0)
            .then(|| format!("the faces without area closed {opened} slit(s), which are open now")),
    })
}

fn oriented(asset: &Asset, index: usize) -> Result<ObjectEdit, IoError> {
    let mesh = asset.objects[index].rig.neutral();
    let FaceOrientation {
        reversed,
        one_sided,
    } = FaceOrientation::of(mesh);
    let edit = (!reversed.is_empty()).then(|| MeshEdit::reversing(mesh, &reversed));
    Ok(ObjectEdit {
        edit,
        changed: reversed,
        warning: (!one_sided.is_empty()).then(|| {
            format!(
                "{} component(s) have no consistent orientation and stay as they are",
                one_sided.len()
            )
        }),
    })
}

impl Asset {
    /// Changes the mesh of each object that has an edit; all else follows.
    fn apply_edits(&mut self, edits: &[Option<MeshEdit>]) -> Result<(), IoError> {
        let mut indices = self.file_indices();
        for (k, edit) in edits.iter().enumerate() {
            let Some(edit) = edit else { continue };
            let object = self.objects[k].edited(edit);
            self.objects[k] = object.map_err(|e| self.rig_error(e))?;
            for motion in self.clips.iter_mut().flat_map(|clip| &mut clip.motions) {
                if motion.object == k {
                    *motion = motion.edited(edit);
                }
            }
            let old = std::mem::take(&mut indices[k]);
            indices[k] = edit.vertices().iter().map(|&v| old[v as usize]).collect();
        }
        self.renumber(indices);
        Ok(())
    }

    /// Sets the order of the whole file from `indices` of each object, which may have gaps.
    fn renumber(&mut self, mut indices: Vec<Vec<u32>>) {
        let mut used: Vec<u32> = indices.iter().flatten().copied().collect();
        let in_order = used.is_sorted_by(|a, b| a < b);
        used.sort_unstable();
        used.dedup();
        for (object, own) in self.objects.iter_mut().zip(&mut indices) {
            for index in own.iter_mut() {
                *index = used.binary_search(index).expect("the index is used") as u32;
            }
            object.file_index = (!in_order).then(|| std::mem::take(own));
        }
    }
}

impl Object {
    /// The object with another mesh; all sliders stay.
    fn edited(&self, edit: &MeshEdit) -> Result<Self, pliant_rig::RigError> {
        let neutral = edit.apply(self.rig.neutral())?;
        let rig = restricted_rig(&self.rig, &neutral, edit.vertices())?;
        Ok(self.with_edited(edit, rig))
    }

    /// A part of the object under another name, and for each of its sliders that of the object.
    /// Sliders that do not move the part are left out; with `idle`, those that move nothing stay.
    fn part(
        &self,
        edit: &MeshEdit,
        path: Option<String>,
        idle: bool,
    ) -> Result<(Self, Vec<usize>), pliant_rig::RigError> {
        let mut neutral = edit.apply(self.rig.neutral())?;
        if let Some(path) = &path {
            neutral = neutral.named(path.rsplit('/').next().unwrap_or_default());
        }
        let rig = part_of_rig(&self.rig, &neutral, edit.vertices(), idle)?;

        let old = self.rig.targets();
        let sources = rig
            .targets()
            .iter()
            .filter_map(|target| old.iter().position(|known| known.name == target.name))
            .collect::<Vec<usize>>();
        let mut part = self.with_edited(edit, rig);
        if !part.rest_weights.is_empty() {
            let sources: Vec<Option<usize>> = sources.iter().copied().map(Some).collect();
            part.rest_weights = mapped_weights(&self.rest_weights, &sources);
        }
        part.path = path.unwrap_or(part.path);
        Ok((part, sources))
    }

    fn with_edited(&self, edit: &MeshEdit, rig: Rig) -> Self {
        let mut edited = self.clone();
        edited.file_vertices = rig.neutral().vertex_count();
        edited.smoothing = edit.labels(&self.smoothing);
        if let Some(binding) = &mut edited.skin {
            binding.skin = Arc::new(binding.skin.of_vertices(edit.vertices()));
        }
        let seams = self.seams.as_ref();
        edited.seams = seams.map(|seams| Arc::new(seams.for_mesh(rig.neutral())));
        edited.rig = rig;
        edited
    }
}

impl Motion {
    fn edited(&self, edit: &MeshEdit) -> Self {
        let mut edited = self.clone();
        if let Shape::Points(frames) = &mut edited.shape {
            for frame in frames {
                *frame = edit.vertices().iter().map(|&v| frame[v as usize]).collect();
            }
        }
        if let Some(track) = &mut edited.skin {
            let skin = track.binding.skin.of_vertices(edit.vertices());
            track.binding.skin = Arc::new(skin);
        }
        edited
    }

    /// Whether two vertices at one position stay together in this motion.
    fn moves_alike(&self, a: usize, b: usize) -> bool {
        let same_points = match &self.shape {
            Shape::Points(frames) => frames.iter().all(|frame| frame[a] == frame[b]),
            _ => true,
        };
        let same_influences = self.skin.as_ref().is_none_or(|track| {
            track.binding.skin.influences(a) == track.binding.skin.influences(b)
        });
        same_points && same_influences
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::MeshReport;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    use super::*;
    use crate::obj;

    /// A bent sheet as a target, with 401 vertices in another order, and the displacements in order.
    fn scrambled() -> (Asset, Vec<Vec3>, Vec<u32>) {
        let mesh = bumpy_sheet(40, 0.3);
        let bend = |p: &DVec3| DVec3::new(0.1 * p.y, 0.0, 0.4 * (3.0 * p.x).sin() * p.y);
        let shape: Vec<DVec3> = mesh.positions().iter().map(|p| *p + bend(p)).collect();
        let mut stored = shape.clone();
        stored[600..1001].rotate_left(1);

        let rest = mesh.positions().to_vec();
        let deltas = |shape: &[DVec3]| -> Vec<Vec3> {
            let pairs = shape.iter().zip(&rest);
            pairs.map(|(to, from)| (*to - *from).as_vec3()).collect()
        };
        let target = Target::from_dense("bend", deltas(&stored));
        let asset = Asset::from_rig(Rig::new(mesh, vec![target]).unwrap());
        (asset, deltas(&shape), (600..1001).collect())
    }

    #[test]
    fn all_vertices_of_a_misordered_target_are_named_and_put_back() {
        let (asset, truth, wrong) = scrambled();
        let repaired = asset.repaired(&[RepairKind::Order]).unwrap();
        assert_eq!(repaired.warnings, [""; 0]);
        let [repair] = &repaired.repairs[..] else {
            panic!("{:?}", repaired.repairs)
        };
        assert_eq!((repair.what, repair.count), (RepairKind::Order, 401));
        assert_eq!(repair.place, "target 'bend'");
        assert_eq!(repair.indices, wrong);

        let count = truth.len();
        let mended = repaired.asset.objects[0].rig.targets()[0].to_dense(count);
        for (a, b) in mended.iter().zip(&truth) {
            assert!(a.distance(*b) < 1e-6);
        }
    }

    #[test]
    fn a_misordered_frame_is_put_back() {
        let (asset, ..) = scrambled();
        let rig = &asset.objects[0].rig;
        let stored = rig.evaluate(&[1.0]);
        let mut shape = stored.clone();
        shape[600..1001].rotate_right(1);
        let rest = Asset::from_mesh(rig.neutral().clone());
        let frames = [shape.clone(), stored, shape.clone()];
        let clip = rest
            .with_point_clip(Animation::new("play", 3), &frames)
            .unwrap();

        let repaired = clip.repaired(&RepairKind::ALL).unwrap();
        assert_eq!(repaired.repairs.len(), 1);
        assert_eq!(repaired.repairs[0].place, "frame 1 of clip 'play'");
        let again = repaired.asset.clip().unwrap();
        assert!(again.frames().iter().all(|frame| *frame == shape));
    }

    #[test]
    fn twins_are_merged_unless_a_target_separates_them() {
        // Two triangles with vertices of their own; a target opens one end of their common edge.
        let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 4 6 5\n";
        let mut asset = obj::read(text).unwrap();
        let mut deltas = vec![Vec3::ZERO; 6];
        deltas[1] = Vec3::Z;
        deltas[3] = Vec3::Z;
        deltas[4] = Vec3::Y;
        let target = Target::from_dense("open", deltas);
        asset.objects[0].rig = asset.objects[0].rig.with_targets(vec![target]).unwrap();

        let repaired = asset.repaired(&[RepairKind::Twins]).unwrap();
        assert_eq!(repaired.repairs[0].indices, [3]);
        let rig = repaired.asset.rig().unwrap();
        assert_eq!(rig.neutral().vertex_count(), 5);
        assert_eq!(rig.targets()[0].vertices, [1, 3]);
        let faces: Vec<&[u32]> = rig.neutral().faces().collect();
        assert_eq!(faces, [[0, 1, 2], [1, 4, 3]]);
    }

    #[test]
    fn twins_of_touching_surfaces_stay_and_are_reported() {
        // Three triangles at one edge.
        let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 0 0\nv 1 0 0\nv 0 -1 0\n\
            f 1 2 3\nf 2 1 4\nf 5 6 7\n";
        let asset = obj::read(text).unwrap();
        let repaired = asset.repaired(&[RepairKind::Twins]).unwrap();
        assert_eq!(repaired.repairs, []);
        assert!(repaired.warnings[0].contains("2 twin vertices were not merged"));
        assert_eq!(repaired.asset.vertex_count(), 7);
    }

    #[test]
    fn faces_without_area_go_and_reversed_faces_turn() {
        let mut builder = icosphere(1).to_builder();
        builder.corners[30..33].reverse();
        builder.push_face(&[0, 0, 1]);
        let asset = Asset::from_mesh(builder.build().unwrap());
        let repaired = asset.repaired(&RepairKind::ALL).unwrap();
        let made: Vec<(RepairKind, usize)> =
            repaired.repairs.iter().map(|r| (r.what, r.count)).collect();
        assert_eq!(
            made,
            [
                (RepairKind::DegenerateFaces, 1),
                (RepairKind::Orientation, 1)
            ]
        );
        assert_eq!(repaired.repairs[1].indices, [10]);
        let mesh = repaired.asset.mesh().unwrap();
        assert_eq!(MeshReport::of(&mesh).problems(), [""; 0]);
        assert!((mesh.signed_volume() - icosphere(1).signed_volume()).abs() < 1e-12);
    }

    #[test]
    fn components_become_objects_in_the_vertex_order_of_the_file() {
        let text =
            b"v 0 0 0\nv 5 0 0\nv 1 0 0\nv 6 0 0\nv 0 1 0\nv 5 1 0\no both\nf 1 3 5\nf 2 4 6\n";
        let mut asset = obj::read(text).unwrap();
        let lift = |name: &str, vertex: usize| {
            let mut deltas = vec![Vec3::ZERO; 6];
            deltas[vertex] = Vec3::Z;
            Target::from_dense(name, deltas)
        };
        let targets = vec![lift("left", 4), lift("right", 5)];
        asset.objects[0].rig = asset.objects[0].rig.with_targets(targets).unwrap();
        let before = asset.rig().unwrap();

        let repaired = asset.repaired(&[RepairKind::Components]).unwrap();
        assert_eq!(
            (repaired.repairs[0].count, repaired.asset.objects.len()),
            (2, 2)
        );
        let after = repaired.asset.rig().unwrap();
        assert_eq!(after.neutral().positions(), before.neutral().positions());
        for weights in [[1.0, 0.0], [0.3, 0.8]] {
            assert_eq!(after.evaluate(&weights), before.evaluate(&weights));
        }
        let counts = repaired.asset.objects.iter().map(|o| o.rig.targets().len());
        assert_eq!(counts.collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn a_sound_asset_stays_as_it_is() {
        let asset = Asset::from_mesh(icosphere(2));
        let repaired = asset.repaired(&RepairKind::ALL).unwrap();
        assert_eq!((repaired.repairs.len(), repaired.warnings.len()), (0, 0));
        assert_eq!(obj::write(&repaired.asset).bytes, obj::write(&asset).bytes);
    }
}
