//! Repairs of a mesh that keep its attributes: merged vertices, removed and reversed faces, parts.
//!
//! **Problem.** Files hold vertices twice, faces without area, faces that look inward among faces
//! that look outward, and several surfaces in one mesh. A repair must keep UVs, normals, colours
//! and labels, and whoever has further values per vertex must be able to follow it.
//!
//! **Method.** A [`MeshEdit`] lists which vertices and face corners of a mesh stay, and in which
//! order. Orientation: faces are joined over edges of two faces by a breadth-first search, in which
//! a face is reversed if it runs through the edge in the same direction as the one before; in each
//! component the smaller of the two sets is reversed.
//!
//! **Departures.** A surface without consistent orientation (a Möbius strip) stays as it is.

use glam::DVec3;

use crate::surface::is_degenerate_triangle;
use crate::{CornerLayer, FaceLabels, Mesh, MeshBuilder, MeshError, Topology, VertexLayer};

/// Vertices and faces of a mesh that make a new mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshEdit {
    /// For each new vertex the old one; ascending.
    vertices: Vec<u32>,
    /// For each old vertex the new one; [`Topology::NONE`] if it is removed.
    new_vertex: Vec<u32>,
    /// For each new face the old one.
    faces: Vec<u32>,
    /// For each new face its old corners, in their new order.
    corners: Vec<Vec<u32>>,
    /// For each new face, whether its corners are in reverse.
    reversed: Vec<bool>,
}

impl MeshEdit {
    /// Every vertex takes the place of `twin_of` it, a vertex at the same position; faces that have
    /// fewer than three different corners then are removed.
    ///
    /// # Panics
    /// If the list does not name a vertex for each vertex, or one that has another twin.
    #[must_use]
    pub fn merging(mesh: &Mesh, twin_of: &[u32]) -> Self {
        let is_kept = |v: usize| twin_of[v] as usize == v;
        let mut edit = Self::of_vertices(mesh, is_kept);
        for (v, &twin) in twin_of.iter().enumerate() {
            assert!(is_kept(twin as usize), "a twin stays");
            edit.new_vertex[v] = edit.new_vertex[twin as usize];
        }
        edit.push_faces(mesh, |_| Some(false));
        edit.join_repeated_corners(mesh);
        edit
    }

    /// Without the given faces; all vertices stay.
    #[must_use]
    pub fn without_faces(mesh: &Mesh, removed: &[u32]) -> Self {
        let mut edit = Self::of_vertices(mesh, |_| true);
        edit.push_faces(mesh, |face| {
            removed
                .binary_search(&(face as u32))
                .is_err()
                .then_some(false)
        });
        edit
    }

    /// With the given faces in reverse.
    #[must_use]
    pub fn reversing(mesh: &Mesh, reversed: &[u32]) -> Self {
        let mut edit = Self::of_vertices(mesh, |_| true);
        edit.push_faces(mesh, |face| {
            Some(reversed.binary_search(&(face as u32)).is_ok())
        });
        edit
    }

    /// Each connected component on its own, in the order of their first vertices. Vertices without
    /// a face belong to the first one.
    #[must_use]
    pub fn components(mesh: &Mesh) -> Vec<Self> {
        let topology = mesh.topology();
        let component_of: Vec<u32> = topology
            .component_of_vertex()
            .iter()
            .map(|&c| if c == Topology::NONE { 0 } else { c })
            .collect();

        let count = topology.component_count().max(1);
        let mut parts = Vec::with_capacity(count);
        for component in 0..count as u32 {
            let mut part = Self::of_vertices(mesh, |v| component_of[v] == component);
            part.push_faces(mesh, |face| {
                let first = mesh.face(face)[0] as usize;
                (component_of[first] == component).then_some(false)
            });
            parts.push(part);
        }
        parts
    }

    fn of_vertices(mesh: &Mesh, is_kept: impl Fn(usize) -> bool) -> Self {
        let count = mesh.vertex_count();
        let vertices: Vec<u32> = (0..count)
            .filter(|&v| is_kept(v))
            .map(|v| v as u32)
            .collect();
        let mut new_vertex = vec![Topology::NONE; count];
        for (new, &old) in vertices.iter().enumerate() {
            new_vertex[old as usize] = new as u32;
        }
        Self {
            vertices,
            new_vertex,
            faces: Vec::new(),
            corners: Vec::new(),
            reversed: Vec::new(),
        }
    }

    /// Adds the faces for which `stays` says whether they are reversed.
    fn push_faces(&mut self, mesh: &Mesh, stays: impl Fn(usize) -> Option<bool>) {
        for face in 0..mesh.face_count() {
            let Some(reversed) = stays(face) else {
                continue;
            };

            let mut corners: Vec<u32> = mesh.face_corners(face).map(|k| k as u32).collect();
            if reversed {
                corners.reverse();
            }

            self.faces.push(face as u32);
            self.corners.push(corners);
            self.reversed.push(reversed);
        }
    }

    /// Corners that follow each other at one vertex become one; faces of fewer than three are
    /// removed.
    fn join_repeated_corners(&mut self, mesh: &Mesh) {
        let vertices: Vec<u32> = mesh.faces().flatten().copied().collect();
        let new_vertex = |corner: u32| self.new_vertex[vertices[corner as usize] as usize];
        for corners in &mut self.corners {
            let size = corners.len();
            let joined = (0..size)
                .filter(|&k| new_vertex(corners[k]) != new_vertex(corners[(k + 1) % size]));
            *corners = joined.map(|k| corners[k]).collect();
        }

        let stays: Vec<bool> = self.corners.iter().map(|face| face.len() >= 3).collect();
        let mut kept = stays.iter();
        self.faces.retain(|_| kept.next() == Some(&true));
        let mut kept = stays.iter();
        self.reversed.retain(|_| kept.next() == Some(&true));
        self.corners.retain(|face| face.len() >= 3);
    }

    /// For each new vertex the old one, ascending.
    #[must_use]
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// For each new face the old one.
    #[must_use]
    pub fn faces(&self) -> &[u32] {
        &self.faces
    }

    /// The new mesh.
    ///
    /// # Errors
    /// If `mesh` is not the mesh of which this is an edit.
    pub fn apply(&self, mesh: &Mesh) -> Result<Mesh, MeshError> {
        if mesh.vertex_count() != self.new_vertex.len() {
            return Err(MeshError::Count {
                what: "the vertices of the edited mesh",
                found: mesh.vertex_count(),
                expected: self.new_vertex.len(),
            });
        }

        let old = mesh.to_builder();
        let corners = || self.corners.iter().flatten().map(|&corner| corner as usize);
        let vertices = || self.vertices.iter().map(|&v| v as usize);
        MeshBuilder {
            positions: vertices().map(|v| old.positions[v]).collect(),
            face_sizes: self.corners.iter().map(|face| face.len() as u32).collect(),
            corners: corners()
                .map(|corner| self.new_vertex[old.corners[corner] as usize])
                .collect(),
            uv_layers: old
                .uv_layers
                .iter()
                .map(|layer| self.layer(layer))
                .collect(),
            normals: old
                .normals
                .as_ref()
                .map(|layer| self.normals(mesh, self.layer(layer))),
            colors: old
                .colors
                .iter()
                .map(|layer| VertexLayer {
                    name: layer.name.clone(),
                    values: vertices().map(|v| layer.values[v]).collect(),
                })
                .collect(),
            groups: self.labels(&old.groups),
            materials: self.labels(&old.materials),
            name: old.name,
            material_library: old.material_library,
        }
        .build()
    }

    /// The labels of the new faces.
    #[must_use]
    pub fn labels(&self, old: &FaceLabels) -> FaceLabels {
        let of_face = if old.of_face.is_empty() {
            Vec::new()
        } else {
            let faces = self.faces.iter();
            faces.map(|&face| old.of_face[face as usize]).collect()
        };
        FaceLabels {
            names: old.names.clone(),
            of_face,
        }
    }

    fn layer<T: Clone>(&self, old: &CornerLayer<T>) -> CornerLayer<T> {
        let corners = self.corners.iter().flatten();
        CornerLayer {
            name: old.name.clone(),
            values: old.values.clone(),
            corners: corners
                .map(|&corner| old.corners[corner as usize])
                .collect(),
        }
    }

    /// Normals that agreed with a face that is reversed now are reversed, too.
    fn normals(&self, mesh: &Mesh, mut layer: CornerLayer<DVec3>) -> CornerLayer<DVec3> {
        let mut start = 0;
        for (k, corners) in self.corners.iter().enumerate() {
            let own = start..start + corners.len();
            start = own.end;
            if !self.reversed[k] {
                continue;
            }

            let old_normal = face_normal(mesh, self.faces[k] as usize);
            for value in layer.corners[own].iter_mut().flatten() {
                let normal = layer.values[*value as usize];
                if normal.dot(old_normal) > 0.0 {
                    *value = layer.values.len() as u32;
                    layer.values.push(-normal);
                }
            }
        }
        layer
    }
}

/// The normal of a face by Newell's sum, not of unit length.
fn face_normal(mesh: &Mesh, face: usize) -> DVec3 {
    let points = mesh
        .face(face)
        .iter()
        .map(|&v| mesh.positions()[v as usize]);
    let points: Vec<DVec3> = points.collect();
    (0..points.len())
        .map(|k| points[k].cross(points[(k + 1) % points.len()]))
        .sum()
}

/// The faces that have no area: all their triangles are degenerate.
#[must_use]
pub fn degenerate_faces(mesh: &Mesh) -> Vec<u32> {
    let mut has_area = vec![false; mesh.face_count()];
    for (triangle, &face) in mesh.triangle_faces().iter().enumerate() {
        has_area[face as usize] |= !is_degenerate_triangle(mesh, triangle);
    }
    (0..mesh.face_count() as u32)
        .filter(|&face| !has_area[face as usize])
        .collect()
}

/// The orientation of the faces of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FaceOrientation {
    /// Faces that must be reversed, so that each component has one orientation: the one of most of
    /// its faces. Ascending.
    pub reversed: Vec<u32>,
    /// Components that have no consistent orientation, by their first faces.
    pub one_sided: Vec<u32>,
}

impl FaceOrientation {
    /// The orientation of the faces of `mesh`.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Self {
        let adjacency = FaceAdjacency::of(mesh);
        let mut side: Vec<Option<bool>> = vec![None; mesh.face_count()];
        let mut orientation = Self::default();
        for first in 0..mesh.face_count() {
            if side[first].is_some() {
                continue;
            }

            let (faces, is_consistent) = adjacency.colour_from(first as u32, &mut side);
            if !is_consistent {
                orientation.one_sided.push(first as u32);
                continue;
            }

            // The first face stays if the sets are equal.
            let is_turned = |face: &&u32| side[**face as usize] == Some(true);
            let turned = faces.iter().filter(is_turned).count();
            let minority = 2 * turned <= faces.len();
            let chosen = faces.iter().filter(|face| is_turned(face) == minority);
            orientation.reversed.extend(chosen);
        }
        orientation.reversed.sort_unstable();
        orientation
    }
}

/// Faces that share an edge with one other face.
struct FaceAdjacency {
    /// For each face, its neighbours and whether they run through the edge in the same direction.
    neighbors: Vec<Vec<(u32, bool)>>,
}

impl FaceAdjacency {
    fn of(mesh: &Mesh) -> Self {
        // Half-edges by their ends, the lower one first.
        let mut half_edges: Vec<([u32; 2], u32, bool)> = Vec::with_capacity(mesh.corner_count());
        for (face, corners) in mesh.faces().enumerate() {
            for k in 0..corners.len() {
                let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
                if a != b {
                    half_edges.push(([a.min(b), a.max(b)], face as u32, a < b));
                }
            }
        }
        half_edges.sort_unstable();

        let mut neighbors = vec![Vec::new(); mesh.face_count()];
        for sides in half_edges.chunk_by(|a, b| a.0 == b.0) {
            if let &[(_, one, forward), (_, other, also_forward)] = sides
                && one != other
            {
                let same = forward == also_forward;
                neighbors[one as usize].push((other, same));
                neighbors[other as usize].push((one, same));
            }
        }
        Self { neighbors }
    }

    /// Sets the sides of all faces that are connected to `first`. Returns them, and whether no two
    /// of them contradict each other.
    fn colour_from(&self, first: u32, side: &mut [Option<bool>]) -> (Vec<u32>, bool) {
        let mut faces = vec![first];
        let mut is_consistent = true;
        side[first as usize] = Some(false);
        let mut next = 0;
        while let Some(&face) = faces.get(next) {
            next += 1;
            let own = side[face as usize] == Some(true);
            for &(neighbor, same) in &self.neighbors[face as usize] {
                match side[neighbor as usize] {
                    None => {
                        side[neighbor as usize] = Some(own != same);
                        faces.push(neighbor);
                    }
                    Some(known) => is_consistent &= known == (own != same),
                }
            }
        }
        (faces, is_consistent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;
    use crate::{Corner, MeshReport};

    /// A mesh with one UV and one normal at each corner, numbered.
    fn with_layers(mesh: &Mesh) -> Mesh {
        let count = mesh.corner_count();
        let corners: Vec<Corner> = (0..count as u32).map(Some).collect();
        let mut builder = mesh.to_builder();
        builder.uv_layers = vec![CornerLayer {
            name: String::new(),
            values: (0..count).map(|k| glam::DVec2::splat(k as f64)).collect(),
            corners: corners.clone(),
        }];
        let faces = 0..mesh.face_count();
        let normals = faces.flat_map(|face| {
            let normal = face_normal(mesh, face).normalize();
            std::iter::repeat_n(normal, mesh.face(face).len())
        });
        builder.normals = Some(CornerLayer {
            name: String::new(),
            values: normals.collect(),
            corners,
        });
        builder.groups = FaceLabels {
            names: vec!["even".into(), "odd".into()],
            of_face: (0..mesh.face_count() as u32).map(|face| face % 2).collect(),
        };
        builder.build().unwrap()
    }

    /// A mesh in which every face has vertices of its own, and which of them are equal.
    fn exploded(mesh: &Mesh) -> (Mesh, Vec<u32>) {
        let corners: Vec<u32> = mesh.faces().flatten().copied().collect();
        let mut builder = with_layers(mesh).to_builder();
        builder.positions = corners
            .iter()
            .map(|&v| mesh.positions()[v as usize])
            .collect();
        builder.corners = (0..corners.len() as u32).collect();

        let mut first = vec![Topology::NONE; mesh.vertex_count()];
        let mut twin_of = Vec::new();
        for (k, &v) in corners.iter().enumerate() {
            let known = &mut first[v as usize];
            if *known == Topology::NONE {
                *known = k as u32;
            }
            twin_of.push(*known);
        }
        (builder.build().unwrap(), twin_of)
    }

    #[test]
    fn merged_twins_close_a_sphere_and_keep_its_corners() {
        let sphere = icosphere(2);
        let (parts, twin_of) = exploded(&sphere);
        let edit = MeshEdit::merging(&parts, &twin_of);
        let merged = edit.apply(&parts).unwrap();

        assert_eq!(merged.vertex_count(), sphere.vertex_count());
        assert!(merged.topology().is_closed());
        assert_eq!(merged.uv_layers(), parts.uv_layers());
        assert_eq!(merged.groups(), parts.groups());
        for (k, &old) in edit.vertices().iter().enumerate() {
            assert_eq!(merged.positions()[k], parts.positions()[old as usize]);
        }
    }

    #[test]
    fn a_face_that_loses_a_corner_by_merging_is_removed() {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::X, DVec3::Y];
        let mesh =
            Mesh::from_polygons(positions, &[vec![0, 1, 2], vec![0, 1, 2, 3], vec![1, 3, 0]])
                .unwrap();
        let merged = MeshEdit::merging(&mesh, &[0, 1, 1, 3])
            .apply(&mesh)
            .unwrap();
        let faces: Vec<&[u32]> = merged.faces().collect();
        assert_eq!(faces.len(), 2);
        assert!(faces.iter().all(|face| face.len() == 3), "{faces:?}");
    }

    #[test]
    fn faces_without_area_are_found_and_removed() {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::Y];
        let mesh = Mesh::from_triangles(positions, &[[0, 1, 3], [0, 1, 2], [1, 1, 3]]).unwrap();
        assert_eq!(degenerate_faces(&mesh), [1, 2]);
        let clean = MeshEdit::without_faces(&mesh, &[1, 2])
            .apply(&mesh)
            .unwrap();
        assert_eq!(clean.face_count(), 1);
        assert_eq!(MeshReport::of(&clean).degenerate_triangles, 0);
        assert_eq!(clean.vertex_count(), mesh.vertex_count());
    }

    #[test]
    fn reversed_faces_are_found_and_the_majority_is_kept() {
        let sphere = with_layers(&icosphere(2));
        let wrong: Vec<u32> = (0..sphere.face_count() as u32).step_by(3).collect();
        let mixed = MeshEdit::reversing(&sphere, &wrong).apply(&sphere).unwrap();
        assert!(MeshReport::of(&mixed).flipped_edges > 0);

        let orientation = FaceOrientation::of(&mixed);
        assert_eq!(orientation.reversed, wrong);
        assert_eq!(orientation.one_sided, []);
        let again = MeshEdit::reversing(&mixed, &orientation.reversed);
        let again = again.apply(&mixed).unwrap();
        assert_eq!(MeshReport::of(&again).flipped_edges, 0);
        assert!(again.signed_volume() > 0.0);

        // UVs stay with their vertices, and normals point outward again.
        let layer = &again.uv_layers()[0];
        let mut uvs: Vec<f64> = layer
            .corners
            .iter()
            .flatten()
            .map(|&k| layer.values[k as usize].x)
            .collect();
        uvs.sort_by(f64::total_cmp);
        assert!(uvs.iter().enumerate().all(|(k, &uv)| uv == k as f64));
        let normals = again.normals().unwrap();
        for (face, corners) in again.faces().enumerate() {
            for (corner, _) in again.face_corners(face).zip(corners) {
                let normal = normals.values[normals.corners[corner].unwrap() as usize];
                assert!(normal.dot(face_normal(&again, face)) > 0.0);
            }
        }
    }

    #[test]
    fn a_moebius_strip_is_reported_and_stays() {
        let count = 12;
        let positions = (0..2 * count).map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k / 2) / f64::from(count);
            let half = 0.5 * angle;
            let radius = 1.0 + 0.3 * f64::from(2 * (k % 2) - 1) * half.cos();
            let height = 0.3 * f64::from(2 * (k % 2) - 1) * half.sin();
            DVec3::new(radius * angle.cos(), radius * angle.sin(), height)
        });
        let (count, mut quads) = (count as u32, Vec::new());
        for k in 0..count {
            let (a, b) = (2 * k, 2 * k + 1);
            let (c, d) = if k + 1 < count {
                (a + 2, b + 2)
            } else {
                (1, 0)
            };
            quads.push(vec![a, c, d, b]);
        }
        let strip = Mesh::from_polygons(positions.collect(), &quads).unwrap();
        let orientation = FaceOrientation::of(&strip);
        assert_eq!(orientation.reversed, []);
        assert_eq!(orientation.one_sided, [0]);
    }

    #[test]
    fn components_share_nothing_and_lose_nothing() {
        let sphere = with_layers(&icosphere(1));
        let mut builder = sphere.to_builder();
        let count = builder.positions.len() as u32;
        let moved: Vec<DVec3> = builder
            .positions
            .iter()
            .map(|p| *p + DVec3::X * 5.0)
            .collect();
        builder.positions.extend(moved);
        builder.positions.push(DVec3::splat(9.0));
        let corners: Vec<u32> = builder.corners.iter().map(|v| v + count).collect();
        builder.corners.extend(corners);
        builder.face_sizes.extend(builder.face_sizes.clone());
        builder.uv_layers.clear();
        builder.normals = None;
        builder.groups = FaceLabels::default();
        let both = builder.build().unwrap();

        let parts = MeshEdit::components(&both);
        assert_eq!(parts.len(), 2);
        let vertices: usize = parts.iter().map(|part| part.vertices().len()).sum();
        assert_eq!(vertices, both.vertex_count());
        for part in &parts {
            let mesh = part.apply(&both).unwrap();
            assert!(mesh.topology().is_closed() && mesh.face_count() == sphere.face_count());
        }
    }
}
