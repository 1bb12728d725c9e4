//! Several objects as one, and one of several.

use std::collections::HashMap;

use pliant_mesh::glam::DVec4;
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
use pliant_rig::{InBetween, Rig, Target};

use crate::{Animation, Asset, IoError, Object};

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

    /// For each object, for each of its vertices, the index in the whole file's order.
    pub(crate) fn file_indices(&self) -> Vec<Vec<u32>> {
        let mut next = 0;
        let indices = self.objects.iter().map(|object| {
            let own = object
                .file_index
                .clone()
                .unwrap_or_else(|| (next..next + object.vertex_count() as u32).collect());
            next = own.iter().map(|&v| v + 1).fold(next, u32::max);
            own
        });
        indices.collect()
    }

    /// All objects as one mesh in the whole file's vertex order. Cheap for an asset of one object.
    pub fn mesh(&self) -> Result<Mesh, IoError> {
        if let [only] = self.objects.as_slice() {
            return Ok(only.rig.neutral().clone());
        }
        let mut merged = Merged::new(self.name.clone(), self.vertex_count());
        for (object, places) in self.objects.iter().zip(&self.file_indices()) {
            merged.add(object.rig.neutral(), places);
        }
        merged.builder.build().map_err(|e| self.broken(e))
    }

    /// All objects as one rig; targets of one name in several objects become one slider.
    pub fn rig(&self) -> Result<Rig, IoError> {
        if let [only] = self.objects.as_slice() {
            return Ok(only.rig.clone());
        }
        let mut targets: Vec<Target> = Vec::new();
        let mut index_of = HashMap::new();
        for (object, places) in self.objects.iter().zip(&self.file_indices()) {
            for target in object.rig.targets() {
                let index = *index_of.entry(target.name.as_str()).or_insert_with(|| {
                    targets.push(Target::from_dense(&*target.name, []));
                    targets.len() - 1
                });
                join(&mut targets[index], target, places);
            }
        }
        Rig::new(self.mesh()?, targets).map_err(|e| self.broken(e))
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
                file: self.shown_source(),
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
                file: self.shown_source(),
                name: name.into(),
                found: listed(paths),
            });
        }
        let mut part = self.clone();
        if let [clip] = clips[..] {
            part.clips = vec![part.clips.swap_remove(clip)];
        }
        if let [object] = objects[..] {
            part.keep_object(object);
        }
        Ok(part)
    }

    fn keep_object(&mut self, index: usize) {
        let object = self.objects.swap_remove(index);
        self.objects = vec![Object {
            file_index: None,
            ..object
        }];
        let own = |mut clip: Animation| {
            clip.motions.retain(|m| m.object == index);
            clip.motions.iter_mut().for_each(|m| m.object = 0);
            (!clip.motions.is_empty()).then_some(clip)
        };
        self.clips = std::mem::take(&mut self.clips)
            .into_iter()
            .filter_map(own)
            .collect();
    }
}

/// An order that a broken memo gives for the whole file would leave holes; then objects follow each
/// other.
pub(crate) fn check_file_order(objects: &mut [Object]) {
    let total: usize = objects.iter().map(Object::vertex_count).sum();
    // For each place whether several objects may share it; nothing where no object is yet.
    let mut shared: Vec<Option<bool>> = vec![None; total];
    let mut next = 0;
    let mut fits = true;
    for object in objects.iter() {
        fits &= object
            .file_index
            .as_ref()
            .is_none_or(|index| index.len() == object.vertex_count());
        let own: Vec<u32> = object
            .file_index
            .clone()
            .unwrap_or_else(|| (next..next + object.vertex_count() as u32).collect());
        next = own
            .iter()
            .map(|&v| v.saturating_add(1))
            .fold(next, u32::max);
        fits &= own.windows(2).all(|pair| pair[0] < pair[1]);
        // One that another program added has no order, and shares nothing.
        let shares = object.file_index.is_some();
        own.iter().for_each(|&v| match shared.get_mut(v as usize) {
            Some(place) => fits &= place.replace(shares).is_none_or(|before| before && shares),
            None => fits = false,
        });
    }
    fits &= shared.iter().take(next as usize).all(Option::is_some);
    if !fits {
        objects.iter_mut().for_each(|o| o.file_index = None);
    }
}

/// Which of `paths` the person may mean: those that are `name`, else those that end in it.
fn matching<'a>(paths: impl Iterator<Item = &'a str>, name: &str) -> Vec<usize> {
    let wanted = name.trim_start_matches('/');
    let paths: Vec<_> = paths.map(|path| path.trim_start_matches('/')).collect();
    let which = |fits: &dyn Fn(&str) -> bool| {
        paths
            .iter()
            .enumerate()
            .filter(|(_, p)| fits(p))
            .map(|(k, _)| k)
            .collect::<Vec<_>>()
    };
    let exact = which(&|path| path == wanted);
    // A root means the whole path; a bare name may be the end of several.
    if name.starts_with('/') || (!exact.is_empty() && wanted.contains('/')) {
        return exact;
    }
    which(&|path| {
        path == wanted
            || path
                .strip_suffix(wanted)
                .is_some_and(|rest| rest.ends_with('/'))
    })
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const MOST: usize = 12;
    let mut names: Vec<_> = names
        .map(|name| {
            if name.is_empty() {
                "an unnamed mesh".into()
            } else {
                format!("'{name}'")
            }
        })
        .collect();
    if names.len() > MOST {
        let more = names.len() - MOST;
        names.truncate(MOST);
        names.push(format!("{more} more"));
    }
    if names.is_empty() {
        "nothing".into()
    } else {
        names.join(", ")
    }
}

/// Adds what `target` moves of one object to the same slider of the whole.
fn join(whole: &mut Target, target: &Target, places: &[u32]) {
    merge_sparse(
        &mut whole.vertices,
        &mut whole.deltas,
        &target.vertices,
        &target.deltas,
        places,
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
            places,
        );
    }
}

fn merge_sparse<D: Copy>(
    vertices: &mut Vec<u32>,
    deltas: &mut Vec<D>,
    more: &[u32],
    more_deltas: &[D],
    places: &[u32],
) {
    let mut all: Vec<(u32, D)> = vertices.drain(..).zip(deltas.drain(..)).collect();
    all.extend(
        more.iter()
            .map(|&v| places[v as usize])
            .zip(more_deltas.iter().copied()),
    );
    // Stable, so that of a shared vertex the first object's displacement stays.
    all.sort_by_key(|entry| entry.0);
    all.dedup_by_key(|entry| entry.0);
    (*vertices, *deltas) = all.into_iter().unzip();
}

/// A mesh that grows object by object.
struct Merged {
    builder: MeshBuilder,
}

impl Merged {
    fn new(name: String, vertex_count: usize) -> Self {
        let positions = vec![pliant_mesh::glam::DVec3::ZERO; vertex_count];
        Self {
            builder: MeshBuilder {
                name,
                positions,
                ..MeshBuilder::default()
            },
        }
    }

    fn add(&mut self, mesh: &Mesh, places: &[u32]) {
        let whole = &mut self.builder;
        let (corners, faces) = (whole.corners.len(), whole.face_sizes.len());
        for (&place, &position) in places.iter().zip(mesh.positions()) {
            whole.positions[place as usize] = position;
        }
        for face in mesh.faces() {
            whole.face_sizes.push(face.len() as u32);
            whole
                .corners
                .extend(face.iter().map(|&v| places[v as usize]));
        }
        for layer in 0..whole.uv_layers.len().max(mesh.uv_layers().len()) {
            if layer == whole.uv_layers.len() {
                whole
                    .uv_layers
                    .push(empty_layer(&mesh.uv_layers()[layer].name, corners));
            }
            append_layer(
                &mut whole.uv_layers[layer],
                mesh.uv_layers().get(layer),
                mesh.corner_count(),
            );
        }
        if mesh.normals().is_some() || whole.normals.is_some() {
            let layer = whole
                .normals
                .get_or_insert_with(|| empty_layer("", corners));
            append_layer(layer, mesh.normals(), mesh.corner_count());
        }
        for (layer, colors) in mesh.colors().iter().enumerate() {
            if layer == whole.colors.len() {
                whole.colors.push(VertexLayer {
                    name: colors.name.clone(),
                    values: vec![DVec4::ONE; whole.positions.len()],
                });
            }
            for (&place, &color) in places.iter().zip(&colors.values) {
                whole.colors[layer].values[place as usize] = color;
            }
        }
        append_labels(&mut whole.groups, mesh.groups(), faces, mesh.face_count());
        append_labels(
            &mut whole.materials,
            mesh.materials(),
            faces,
            mesh.face_count(),
        );
        for library in mesh.material_library() {
            if !whole.material_library.contains(library) {
                whole.material_library.push(library.clone());
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

/// Faces without a label get the empty one as soon as others have one.
fn append_labels(whole: &mut FaceLabels, labels: &FaceLabels, faces_before: usize, faces: usize) {
    if whole.of_face.is_empty() && labels.of_face.is_empty() {
        return;
    }
    if whole.of_face.is_empty() && faces_before > 0 {
        *whole = FaceLabels::from_names(std::iter::repeat_n("", faces_before));
    }
    let names = (0..faces).map(|face| labels.of(face).unwrap_or(""));
    let index_of: HashMap<&str, u32> = whole.names.iter().map(String::as_str).zip(0..).collect();
    let more = FaceLabels::from_names(names);
    let known: Vec<Option<u32>> = more
        .names
        .iter()
        .map(|name| index_of.get(name.as_str()).copied())
        .collect();
    drop(index_of);
    let places: Vec<u32> = known
        .into_iter()
        .zip(&more.names)
        .map(|(known, name)| {
            known.unwrap_or_else(|| {
                whole.names.push(name.clone());
                whole.names.len() as u32 - 1
            })
        })
        .collect();
    whole
        .of_face
        .extend(more.of_face.iter().map(|&k| places[k as usize]));
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::DVec3;

    use super::*;

    #[test]
    fn a_name_may_be_the_whole_path_or_its_end() {
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
    fn an_order_with_holes_or_a_stranger_in_it_is_not_taken() {
        let object = |file_index: Option<Vec<u32>>| {
            let mesh =
                Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
            Object {
                file_index,
                ..Object::new(Rig::still(mesh))
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
            "a stranger in the same place"
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
