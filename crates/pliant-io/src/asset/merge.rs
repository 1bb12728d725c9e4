//! The merged view of an asset: all objects as one mesh or rig; and one part of an asset.

use std::collections::HashMap;

use pliant_mesh::glam::{DVec3, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
use pliant_rig::{
    Combination, Driver, InBetween, Rig, RigError, Slider, SliderGroup, SliderId, Target,
};

use crate::{Asset, IoError, Object};

impl Asset {
    /// How many vertices the file has in its own order.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.file_indices()
            .iter()
            .flatten()
            .map(|&v| v as usize + 1)
            .max()
            .unwrap_or(0)
    }

    /// For each object and each of its vertices, the index in the order of the whole file.
    #[must_use]
    pub fn file_indices(&self) -> Vec<Vec<u32>> {
        let mut next = 0;
        let mut indices = Vec::with_capacity(self.objects.len());
        for object in &self.objects {
            let own: Vec<u32> = object
                .file_index
                .clone()
                .unwrap_or_else(|| (next..next + object.vertex_count() as u32).collect());
            next = own.iter().map(|&v| v + 1).fold(next, u32::max);
            indices.push(own);
        }

        indices
    }

    /// All objects as one mesh in the vertex order of the whole file. Cheap for an asset of one
    /// object.
    pub fn mesh(&self) -> Result<Mesh, IoError> {
        if let [only] = self.objects.as_slice() {
            return Ok(only.rig.neutral().clone());
        }
        let mut merged = MergedMesh::new(self.name.clone(), self.vertex_count());
        for (object, indices) in self.objects.iter().zip(&self.file_indices()) {
            merged.add(object.rig.neutral(), indices);
        }
        merged.builder.build().map_err(|e| self.rig_error(e))
    }

    /// All objects as one rig; targets of one name in several objects become one slider.
    pub fn rig(&self) -> Result<Rig, IoError> {
        if let [only] = self.objects.as_slice() {
            return Ok(only.rig.clone());
        }

        let mut targets: Vec<Target> = Vec::new();
        // Targets keep the order in which their names first occur.
        let mut index_of = HashMap::new();
        for (object, indices) in self.objects.iter().zip(&self.file_indices()) {
            for target in object.rig.targets() {
                let index = *index_of.entry(target.name.as_str()).or_insert_with(|| {
                    targets.push(Target::from_dense(&*target.name, []));
                    targets.len() - 1
                });
                join_target(&mut targets[index], target, indices);
            }
        }

        let merged = Rig::new(self.mesh()?, targets).map_err(|e| self.rig_error(e))?;
        let with_settings = self.with_merged_settings(merged);
        with_settings.map_err(|e| self.rig_error(e))
    }

    /// The merged rig with the settings and combinations of all objects; the first object that has
    /// a setting of a slider decides.
    fn with_merged_settings(&self, merged: Rig) -> Result<Rig, RigError> {
        let mut index_of = HashMap::new();
        for (k, target) in merged.targets().iter().enumerate() {
            index_of.insert(target.name.clone(), k);
        }

        let mut sliders = merged.sliders().to_vec();
        let mut groups: Vec<SliderGroup> = Vec::new();
        let mut exclusive: Vec<[SliderId; 2]> = Vec::new();
        let mut combinations: Vec<Combination> = Vec::new();
        for (object, indices) in self.objects.iter().zip(&self.file_indices()) {
            let rig = &object.rig;
            let slider_of =
                |own: SliderId| SliderId::from(index_of[rig.targets()[own.index()].name.as_str()]);
            for (own, slider) in rig.sliders().iter().enumerate() {
                let known = &mut sliders[slider_of(own.into()).index()];
                if *known == Slider::default() {
                    *known = slider.clone();
                }
            }

            for group in rig.groups() {
                let members = group.sliders.iter().map(|&own| slider_of(own));
                match groups.iter_mut().find(|known| known.name == group.name) {
                    Some(known) => known.sliders.extend(members),
                    None => groups.push(SliderGroup {
                        name: group.name.clone(),
                        sliders: members.collect(),
                    }),
                }
            }
            for pair in rig.exclusive_pairs() {
                exclusive.push(pair.map(slider_of));
            }
            join_combinations(&mut combinations, rig, indices, slider_of);
        }

        for group in &mut groups {
            group.sliders.sort_unstable();
            group.sliders.dedup();
        }
        exclusive.sort_unstable();
        exclusive.dedup();

        merged
            .with_sliders(sliders)?
            .with_combinations(combinations)?
            .with_groups(groups)?
            .with_exclusive_pairs(exclusive)
    }

    /// The names of all targets, each once, in file order.
    #[must_use]
    pub fn target_names(&self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        let names = self
            .objects
            .iter()
            .flat_map(|o| o.rig.targets())
            .map(|t| t.name.as_str());

        names
            .filter(|name| seen.insert(*name))
            .map(str::to_owned)
            .collect()
    }

    /// The object or clip called `name`: a name or a `/`-path, with or without its root.
    ///
    /// An object comes with the clips that move it; a clip with all objects.
    pub fn part(&self, name: &str) -> Result<Self, IoError> {
        let objects = matching(self.objects.iter().map(|o| o.path.as_str()), name);
        let clips = matching(self.clips.iter().map(|c| c.name.as_str()), name);
        if objects.len() > 1 || clips.len() > 1 {
            let paths = objects
                .iter()
                .map(|&k| &self.objects[k].path)
                .chain(clips.iter().map(|&k| &self.clips[k].name));
            return Err(IoError::Ambiguous {
                file: self.display_name(),
                name: name.into(),
                found: listed(paths),
            });
        }

        if objects.is_empty() && clips.is_empty() {
            let paths = self
                .objects
                .iter()
                .map(|o| &o.path)
                .chain(self.clips.iter().map(|c| &c.name));
            return Err(IoError::NoSuchPart {
                file: self.display_name(),
                name: name.into(),
                found: listed(paths),
            });
        }

        // An object of the same name as a clip is kept with that clip.
        let mut part = self.clone();
        if let [clip] = clips[..] {
            part.clips = vec![part.clips.swap_remove(clip)];
        }
        if let [object] = objects[..] {
            part.keep_object(object);
        }

        Ok(part)
    }

    /// Removes all objects but one, and the clips that do not move it.
    fn keep_object(&mut self, index: usize) {
        // An edit of the file would keep the other objects.
        if self.objects.len() > 1 {
            self.original = None;
        }

        let object = self.objects.swap_remove(index);
        self.objects = vec![Object {
            file_index: None,
            ..object
        }];

        for clip in &mut self.clips {
            clip.motions.retain(|motion| motion.object == index);
            for motion in &mut clip.motions {
                motion.object = 0;
            }
        }
        self.clips.retain(|clip| !clip.motions.is_empty());
    }
}

/// Adds the combinations of one object to those of the merged rig; equal names are one combination.
fn join_combinations(
    merged: &mut Vec<Combination>,
    rig: &Rig,
    file_indices: &[u32],
    slider_of: impl Fn(SliderId) -> SliderId,
) {
    let mut index_of: Vec<usize> = Vec::with_capacity(rig.combinations().len());
    for combination in rig.combinations() {
        let known = merged.iter().position(|c| c.name == combination.name);
        let index = known.unwrap_or(merged.len());
        index_of.push(index);

        let own = Target {
            name: combination.name.clone(),
            vertices: combination.vertices.clone(),
            deltas: combination.deltas.clone(),
            in_betweens: Vec::new(),
        };
        let mut shape = Target::from_dense("", []);
        if let Some(index) = known {
            shape.vertices = std::mem::take(&mut merged[index].vertices);
            shape.deltas = std::mem::take(&mut merged[index].deltas);
        }
        join_target(&mut shape, &own, file_indices);

        if known.is_none() {
            let driver = |driver: &Driver| match *driver {
                Driver::Slider(own) => Driver::Slider(slider_of(own)),
                Driver::Combination(own) => Driver::Combination(index_of[own]),
            };
            merged.push(Combination {
                drivers: combination.drivers.iter().map(driver).collect(),
                ..combination.clone()
            });
        }
        merged[index].vertices = shape.vertices;
        merged[index].deltas = shape.deltas;
    }
}

/// Ignores an invalid vertex order of the whole file: with gaps, or with an object that another
/// program added. Then the objects follow each other.
pub(crate) fn check_file_order(objects: &mut [Object]) {
    if !is_file_order(objects) {
        for object in objects {
            object.file_index = None;
        }
    }
}

fn is_file_order(objects: &[Object]) -> bool {
    let total: usize = objects.iter().map(Object::vertex_count).sum();
    // For each index of the file: `None` before an object has it, else whether objects may share it.
    let mut shared: Vec<Option<bool>> = vec![None; total];
    let mut next = 0;

    for object in objects {
        let vertices = object.vertex_count();
        let own: Vec<u32> = object
            .file_index
            .clone()
            .unwrap_or_else(|| (next..next + vertices as u32).collect());
        let ascending = own.windows(2).all(|pair| pair[0] < pair[1]);
        if own.len() != vertices || !ascending {
            return false;
        }

        // An object that another program added has no order, and shares no vertex.
        let shares = object.file_index.is_some();
        for &v in &own {
            let Some(before) = shared.get_mut(v as usize) else {
                return false;
            };
            if before
                .replace(shares)
                .is_some_and(|before| !(before && shares))
            {
                return false;
            }
            next = next.max(v + 1);
        }
    }

    shared.iter().take(next as usize).all(Option::is_some)
}

/// Indices of the `paths` that match a name: those that equal it, or that end in it.
fn matching<'a>(paths: impl Iterator<Item = &'a str>, name: &str) -> Vec<usize> {
    let requested = name.trim_start_matches('/');
    let mut equal = Vec::new();
    let mut ending = Vec::new();
    for (k, path) in paths.enumerate() {
        let path = path.trim_start_matches('/');
        let above = path.strip_suffix(requested);
        if path == requested {
            equal.push(k);
        }
        if path == requested || above.is_some_and(|above| above.ends_with('/')) {
            ending.push(k);
        }
    }

    // A leading slash means the whole path; a bare name may be the end of several paths.
    if name.starts_with('/') || (!equal.is_empty() && requested.contains('/')) {
        equal
    } else {
        ending
    }
}

/// Names for a message.
fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const MOST_NAMES: usize = 12;

    let mut names: Vec<_> = names
        .map(|name| {
            if name.is_empty() {
                "an unnamed mesh".into()
            } else {
                format!("'{name}'")
            }
        })
        .collect();

    if names.len() > MOST_NAMES {
        let more = names.len() - MOST_NAMES;
        names.truncate(MOST_NAMES);
        names.push(format!("{more} more"));
    }

    if names.is_empty() {
        "nothing".into()
    } else {
        names.join(", ")
    }
}

/// Adds the target of one object to the target of the same name over the whole file.
fn join_target(whole: &mut Target, target: &Target, indices: &[u32]) {
    merge_sparse(
        &mut whole.vertices,
        &mut whole.deltas,
        &target.vertices,
        &target.deltas,
        indices,
    );
    for between in &target.in_betweens {
        let known = whole
            .in_betweens
            .iter()
            .position(|b| b.weight == between.weight);

        let index = known.unwrap_or_else(|| {
            let empty = InBetween {
                vertices: Vec::new(),
                deltas: Vec::new(),
                ..between.clone()
            };
            let index = whole
                .in_betweens
                .partition_point(|b| b.weight < between.weight);

            whole.in_betweens.insert(index, empty);
            index
        });

        let into = &mut whole.in_betweens[index];
        merge_sparse(
            &mut into.vertices,
            &mut into.deltas,
            &between.vertices,
            &between.deltas,
            indices,
        );
    }
}

fn merge_sparse<D: Copy>(
    vertices: &mut Vec<u32>,
    deltas: &mut Vec<D>,
    more: &[u32],
    more_deltas: &[D],
    indices: &[u32],
) {
    let mut all: Vec<(u32, D)> = vertices.drain(..).zip(deltas.drain(..)).collect();
    all.extend(
        more.iter()
            .map(|&v| indices[v as usize])
            .zip(more_deltas.iter().copied()),
    );

    // The sort is stable, so that a shared vertex keeps the displacement of the first object.
    all.sort_by_key(|entry| entry.0);
    all.dedup_by_key(|entry| entry.0);
    (*vertices, *deltas) = all.into_iter().unzip();
}

/// The mesh of all objects, built object by object.
struct MergedMesh {
    builder: MeshBuilder,
}

impl MergedMesh {
    fn new(name: String, vertex_count: usize) -> Self {
        Self {
            builder: MeshBuilder {
                name,
                positions: vec![DVec3::ZERO; vertex_count],
                ..MeshBuilder::default()
            },
        }
    }

    /// Adds a mesh whose vertices have the given `indices` in the whole.
    fn add(&mut self, mesh: &Mesh, indices: &[u32]) {
        let faces_before = self.builder.face_sizes.len();
        self.add_corner_layers(mesh);
        self.add_colors(mesh, indices);

        let whole = &mut self.builder;
        let faces = mesh.face_count();
        append_labels(&mut whole.groups, mesh.groups(), faces_before, faces);
        append_labels(&mut whole.materials, mesh.materials(), faces_before, faces);
        for library in mesh.material_library() {
            if !whole.material_library.contains(library) {
                whole.material_library.push(library.clone());
            }
        }

        for (&index, &position) in indices.iter().zip(mesh.positions()) {
            whole.positions[index as usize] = position;
        }
        for face in mesh.faces() {
            whole.face_sizes.push(face.len() as u32);
            let corners = face.iter().map(|&v| indices[v as usize]);
            whole.corners.extend(corners);
        }
    }

    /// UV sets and normals; a mesh without a layer that others have gets empty corners.
    fn add_corner_layers(&mut self, mesh: &Mesh) {
        let whole = &mut self.builder;
        let corners_before = whole.corners.len();
        let corners = mesh.corner_count();
        for k in 0..whole.uv_layers.len().max(mesh.uv_layers().len()) {
            if k == whole.uv_layers.len() {
                let name = &mesh.uv_layers()[k].name;
                whole.uv_layers.push(empty_layer(name, corners_before));
            }
            append_layer(&mut whole.uv_layers[k], mesh.uv_layers().get(k), corners);
        }

        if mesh.normals().is_some() || whole.normals.is_some() {
            let layer = whole
                .normals
                .get_or_insert_with(|| empty_layer("", corners_before));
            append_layer(layer, mesh.normals(), corners);
        }
    }

    /// Vertex colours; vertices of meshes without colours are white.
    fn add_colors(&mut self, mesh: &Mesh, indices: &[u32]) {
        let whole = &mut self.builder;
        for (k, colors) in mesh.colors().iter().enumerate() {
            if k == whole.colors.len() {
                whole.colors.push(VertexLayer {
                    name: colors.name.clone(),
                    values: vec![DVec4::ONE; whole.positions.len()],
                });
            }
            for (&index, &color) in indices.iter().zip(&colors.values) {
                whole.colors[k].values[index as usize] = color;
            }
        }
    }
}

fn empty_layer<T>(name: &str, corners: usize) -> CornerLayer<T> {
    CornerLayer {
        name: name.into(),
        values: Vec::new(),
        corners: vec![None; corners],
    }
}

fn append_layer<T: Copy>(
    whole: &mut CornerLayer<T>,
    layer: Option<&CornerLayer<T>>,
    corners: usize,
) {
    let offset = whole.values.len() as u32;
    match layer {
        None => whole.corners.resize(whole.corners.len() + corners, None),
        Some(layer) => {
            whole.values.extend_from_slice(&layer.values);
            whole
                .corners
                .extend(layer.corners.iter().map(|c| c.map(|k| k + offset)));
        }
    }
}

/// Appends labels. Faces without a label get the empty label if others have one.
fn append_labels(whole: &mut FaceLabels, labels: &FaceLabels, faces_before: usize, faces: usize) {
    if whole.of_face.is_empty() && labels.of_face.is_empty() {
        return;
    }

    if whole.of_face.is_empty() && faces_before > 0 {
        *whole = FaceLabels::from_names(std::iter::repeat_n("", faces_before));
    }

    let names = (0..faces).map(|face| labels.of(face).unwrap_or(""));
    let more = FaceLabels::from_names(names);
    let index_of: HashMap<String, u32> = whole.names.iter().cloned().zip(0..).collect();
    let mut new_index = Vec::with_capacity(more.names.len());
    for name in &more.names {
        new_index.push(index_of.get(name).copied().unwrap_or_else(|| {
            whole.names.push(name.clone());
            whole.names.len() as u32 - 1
        }));
    }

    let of_face = more.of_face.iter().map(|&k| new_index[k as usize]);
    whole.of_face.extend(of_face);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_matches_a_whole_path_or_its_end() {
        let paths = ["/TestPlane/Mesh", "/Other/Mesh", "/Mesh/Deep", "Plain"];
        let find = |name| matching(paths.into_iter(), name);
        assert_eq!(find("/TestPlane/Mesh"), [0]);
        assert_eq!(find("TestPlane/Mesh"), [0]);
        assert_eq!(find("Mesh"), [0, 1]);
        assert_eq!(find("Deep"), [2]);
        assert_eq!(find("Plain"), [3]);
        assert_eq!(find("esh"), [] as [usize; 0]);
        assert_eq!(find("/Mesh"), [] as [usize; 0]);
    }

    #[test]
    fn a_file_order_with_gaps_or_unordered_objects_is_ignored() {
        let object = |file_index: Option<Vec<u32>>| {
            let mesh =
                Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
            Object {
                file_index,
                ..Object::new(Rig::without_targets(mesh))
            }
        };

        let kept = |orders: &[Option<Vec<u32>>]| {
            let mut objects: Vec<Object> = orders.iter().cloned().map(object).collect();
            check_file_order(&mut objects);
            objects
                .iter()
                .map(|o| o.file_index.clone())
                .eq(orders.iter().cloned())
        };

        assert!(
            kept(&[Some(vec![0, 2, 4]), Some(vec![1, 3, 5])]),
            "interleaved"
        );
        assert!(kept(&[Some(vec![0, 1, 2]), Some(vec![0, 2, 3])]), "shared");
        assert!(kept(&[Some(vec![0, 1, 2]), None]), "one that follows");

        assert!(
            !kept(&[None, Some(vec![0, 1, 2])]),
            "an object without order at the same indices"
        );
        assert!(!kept(&[Some(vec![0, 1, 2]), Some(vec![3, 4, 9])]), "holes");
        assert!(!kept(&[Some(vec![0, 1])]), "too few");
    }

    #[test]
    fn labels_of_several_meshes_are_stored_once_per_name() {
        let mut whole = FaceLabels::default();
        append_labels(&mut whole, &FaceLabels::default(), 0, 2);
        append_labels(&mut whole, &FaceLabels::from_names(["skin", "eye"]), 2, 2);
        append_labels(&mut whole, &FaceLabels::from_names(["eye"]), 4, 1);
        assert_eq!(
            whole,
            FaceLabels::from_names(["", "", "skin", "eye", "eye"])
        );
    }
}
