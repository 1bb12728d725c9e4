//! Faces of a glTF mesh: its triangles, or the polygons that our own writer split into fans.

use super::accessor::Source;
use super::extras;
use super::primitive::StoredMesh;
use crate::gltf::extras::MeshExtras;

/// Faces in the order of the object.
pub(super) struct Polygons {
    /// The number of corners of each face.
    pub(super) sizes: Vec<u32>,
    /// The stored vertex of each corner.
    pub(super) corners: Vec<u32>,
    /// The part (glTF primitive) of each face.
    pub(super) parts: Vec<u32>,
}

impl Polygons {
    /// Every stored triangle as a face.
    pub(super) fn triangles(stored: &StoredMesh) -> Self {
        Self {
            sizes: vec![3; stored.triangles.len()],
            corners: stored.triangles.iter().flatten().copied().collect(),
            parts: stored.part_of_triangle.clone(),
        }
    }

    /// The polygons of our own file; `None` if the triangles are not the fans that it lists.
    pub(super) fn known(
        source: &Source<'_>,
        own: &MeshExtras,
        stored: &StoredMesh,
    ) -> Option<Self> {
        own.face_sizes.or(own.face_order)?;
        let count = |accessor: usize| source.document.accessors.get(accessor).map(|a| a.count);
        let sizes = match own.face_sizes {
            Some(accessor) => extras::list(source, Some(accessor), "face_sizes", count(accessor)?)?,
            None => vec![3; stored.triangles.len()],
        };

        let fans = Self::from_fans(sizes, stored)?;
        match own.face_order {
            None => Some(fans),
            Some(accessor) => {
                let order = extras::list(source, Some(accessor), "face_order", count(accessor)?)?;
                fans.ordered(&order)
            }
        }
    }

    /// Joins consecutive triangles to polygons of the given sizes.
    fn from_fans(sizes: Vec<u32>, stored: &StoredMesh) -> Option<Self> {
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

        match triangles.next() {
            None => Some(fans),
            Some(_) => None,
        }
    }

    /// The faces in the order of the object: stored face `k` is face `order[k]`.
    fn ordered(self, order: &[u32]) -> Option<Self> {
        let count = self.sizes.len();
        if order.len() != count {
            return None;
        }

        let mut starts = vec![0];
        for (k, &size) in self.sizes.iter().enumerate() {
            starts.push(starts[k] + size as usize);
        }

        let mut stored_of = vec![None; count];
        for (k, &face) in order.iter().enumerate() {
            *stored_of.get_mut(face as usize)? = Some(k);
        }

        // A face that no stored face claims makes the order invalid.
        let stored_of: Vec<usize> = stored_of.into_iter().collect::<Option<_>>()?;
        let corners = stored_of
            .iter()
            .flat_map(|&k| &self.corners[starts[k]..starts[k + 1]])
            .copied()
            .collect();

        Some(Self {
            sizes: stored_of.iter().map(|&k| self.sizes[k]).collect(),
            corners,
            parts: stored_of.iter().map(|&k| self.parts[k]).collect(),
        })
    }

    /// Reverses the orientation of every face; its first corner stays first.
    pub(super) fn flip(&mut self) {
        let mut start = 0;
        for &size in &self.sizes {
            let end = start + size as usize;
            self.corners[start + 1..end].reverse();
            start = end;
        }
    }
}
