//! Lists of numbers that our own files store in accessors, named by `extras.pliant`.

use pliant_mesh::FaceLabels;

use super::accessor::Source;
use crate::gltf::extras::{LabelExtras, accessor_name};

/// The list called `name`, if the accessor stores it and it has `count` numbers.
pub(super) fn list(
    source: &Source<'_>,
    accessor: Option<usize>,
    name: &str,
    count: usize,
) -> Option<Vec<u32>> {
    let index = accessor?;
    let accessor = source.document.accessors.get(index)?;
    if accessor.name.as_deref() != Some(&accessor_name(name)) || accessor.count != count {
        return None;
    }
    source.whole_numbers(index).ok()
}

/// The labels of `faces` faces; none if the list does not fit.
pub(super) fn labels(
    source: &Source<'_>,
    stored: Option<&LabelExtras>,
    name: &str,
    faces: usize,
) -> FaceLabels {
    stored
        .and_then(|stored| fitting_labels(source, stored, name, faces))
        .unwrap_or_default()
}

fn fitting_labels(
    source: &Source<'_>,
    stored: &LabelExtras,
    name: &str,
    faces: usize,
) -> Option<FaceLabels> {
    let of_face = list(source, Some(stored.of_face), name, faces)?;
    let valid = of_face.iter().all(|&k| (k as usize) < stored.names.len());
    valid.then(|| FaceLabels {
        names: stored.names.clone(),
        of_face,
    })
}
