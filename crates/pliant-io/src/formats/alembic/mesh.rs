//! The surface of an Alembic mesh at one time: polygons, UVs, normals, colours and face sets.
//!
//! **Format.** Polygons are clockwise from outside, so that ours are theirs reversed. An attribute
//! is an array of values, or a compound of values and indices; its scope says whether it has an
//! entry for each corner of a face, vertex, face or mesh.

use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4};
use pliant_mesh::{Corner, CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};

use super::archive::Archive;
use super::property::{Property, PropertyKind, find};
use super::scene::SceneMesh;
use super::transform::Transforms;
use super::{FILE_INDEX, REST_POSE};
use crate::ReadError;

/// A mesh of the scene at one time.
#[derive(Clone, Copy)]
pub(super) struct MeshReader<'r, 'a> {
    pub(super) archive: &'r Archive<'a>,
    pub(super) mesh: &'r SceneMesh<'a>,
    /// The time of the samples; `None` for the first ones.
    pub(super) time: Option<f64>,
    pub(super) scene_from_mesh: DAffine3,
}

/// Our faces and the corners of the file that they come from.
struct Faces {
    sizes: Vec<u32>,
    vertices: Vec<u32>,
    /// For each corner, its position in the file.
    slots: Vec<u32>,
    /// For each face, its position in the file.
    in_file: Vec<u32>,
    file_faces: usize,
}

/// An attribute of a mesh.
struct Attribute<'a> {
    values: Property<'a>,
    indices: Option<Property<'a>>,
}

/// An error of a mesh.
pub(super) fn mesh_error(mesh: &SceneMesh<'_>, what: impl std::fmt::Display) -> ReadError {
    ReadError::whole(format!("object '{}' {what}", mesh.path.escape_debug()))
}

impl<'a> SceneMesh<'a> {
    /// Its positions over time; `None` if it has none.
    pub(super) fn positions(&self) -> Option<&Property<'a>> {
        find(&self.geometry, "P").filter(|p| p.holds(3))
    }

    /// Its positions over time, if they change or are not the rest pose.
    pub(super) fn moving_positions(&self) -> Option<&Property<'a>> {
        let is_posed = |p: &Property<'_>| p.has_own_times() && self.rest_pose().is_some();
        self.positions().filter(|p| p.is_animated() || is_posed(p))
    }

    fn rest_pose(&self) -> Option<&Property<'a>> {
        find(&self.own_properties, REST_POSE).filter(|p| p.holds(3))
    }

    /// The transformation from the mesh to the scene at rest: that of the first frame at `time`. A
    /// stored rest pose is in the scene.
    pub(super) fn scene_from_mesh(&self, transforms: &Transforms, time: Option<f64>) -> DAffine3 {
        match self.rest_pose() {
            Some(_) => DAffine3::IDENTITY,
            None => transforms.scene_from(self.transform, time),
        }
    }
}

impl<'a> MeshReader<'_, 'a> {
    /// The mesh, whose positions are `P`. What does not fit is skipped with a warning.
    pub(super) fn read(
        &self,
        positions: Vec<DVec3>,
        warnings: &mut Vec<String>,
    ) -> Result<Mesh, ReadError> {
        let faces = self.faces(warnings)?;
        self.warn_about_topology(warnings)?;

        let path = &self.mesh.path;
        let mut builder = MeshBuilder {
            name: path.rsplit('/').next().unwrap_or_default().to_owned(),
            positions,
            materials: self.materials(&faces, warnings)?,
            ..MeshBuilder::default()
        };
        self.read_layers(&faces, &mut builder, warnings)?;

        builder.face_sizes = faces.sizes;
        builder.corners = faces.vertices;
        builder
            .build()
            .map_err(|error| mesh_error(self.mesh, format!("is not a mesh: {error}")))
    }

    /// The positions of the rest pose, if our own writer stored them.
    pub(super) fn rest_pose(&self) -> Result<Option<Vec<DVec3>>, ReadError> {
        let rest = self.mesh.rest_pose();
        rest.map(|rest| rest.points(self.archive, 0)).transpose()
    }

    /// The indices of the vertices in the order of the whole file, if our own writer stored them.
    pub(super) fn file_index(&self) -> Result<Option<Vec<u32>>, ReadError> {
        let index = find(&self.mesh.own_properties, FILE_INDEX).filter(|p| p.holds(1));
        index
            .map(|index| index.indices(self.archive, 0))
            .transpose()
    }

    /// The sample of a property at the time.
    pub(super) fn sample_of(&self, property: &Property<'a>) -> Result<usize, ReadError> {
        match self.time {
            None => Ok(0),
            Some(time) => {
                let sampling = property.sampling(self.archive)?;
                Ok(sampling.around(property.samples(), time).from)
            }
        }
    }

    fn indices(&self, name: &str) -> Result<Vec<u32>, ReadError> {
        match find(&self.mesh.geometry, name).filter(|p| p.holds(1)) {
            Some(property) => property.indices(self.archive, self.sample_of(property)?),
            None => Ok(Vec::new()),
        }
    }

    fn faces(&self, warnings: &mut Vec<String>) -> Result<Faces, ReadError> {
        let counts = self.indices(".faceCounts")?;
        let indices = self.indices(".faceIndices")?;
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if total != indices.len() as u64 {
            return Err(mesh_error(
                self.mesh,
                format!(
                    "has faces of {total} corners together, but {} indices; export it again",
                    indices.len()
                ),
            ));
        }

        let mut faces = Faces {
            sizes: Vec::with_capacity(counts.len()),
            vertices: Vec::with_capacity(indices.len()),
            slots: Vec::with_capacity(indices.len()),
            in_file: Vec::with_capacity(counts.len()),
            file_faces: counts.len(),
        };
        let mut start = 0;
        for (face, &size) in counts.iter().enumerate() {
            let end = start + size as usize;
            if size >= 3 {
                faces.sizes.push(size);
                faces.in_file.push(face as u32);
                faces.slots.extend((start..end).rev().map(|k| k as u32));
                faces.vertices.extend(indices[start..end].iter().rev());
            }
            start = end;
        }

        let dropped = counts.len() - faces.sizes.len();
        if dropped > 0 {
            warnings.push(format!(
                "{dropped} face(s) of object '{}' have fewer than 3 corners and were dropped",
                self.mesh.path
            ));
        }
        Ok(faces)
    }

    /// Warns about polygons that change over time.
    fn warn_about_topology(&self, warnings: &mut Vec<String>) -> Result<(), ReadError> {
        for name in [".faceCounts", ".faceIndices"] {
            let property = find(&self.mesh.geometry, name).filter(|p| p.is_animated());
            if let Some(property) = property
                && !self.all_equal(property)?
            {
                warnings.push(format!(
                    "object '{}' changes its faces over time; those of the first frame are kept",
                    self.mesh.path
                ));
                break;
            }
        }
        Ok(())
    }

    /// Whether all samples are equal. Some programs store equal samples again.
    fn all_equal(&self, property: &Property<'a>) -> Result<bool, ReadError> {
        let first = property.sample(0)?;
        for sample in 1..property.samples() {
            let other = property.sample(sample)?;
            self.archive.budget.spend(1, "the samples of the faces")?;
            if std::ptr::eq(first, other) {
                continue;
            }
            self.archive
                .budget
                .spend(other.len() / 4, "the samples of the faces")?;
            if first != other {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Face sets as materials of the faces. A face in several sets belongs to the first.
    fn materials(
        &self,
        faces: &Faces,
        warnings: &mut Vec<String>,
    ) -> Result<FaceLabels, ReadError> {
        let mut set_of_face: Vec<Option<usize>> = vec![None; faces.file_faces];
        let mut shared = 0;
        for (k, (_, members)) in self.mesh.face_sets.iter().enumerate() {
            for face in members.indices(self.archive, 0)? {
                match set_of_face.get_mut(face as usize) {
                    Some(Some(_)) => shared += 1,
                    Some(free) => *free = Some(k),
                    None => {}
                }
            }
        }
        if shared > 0 {
            warnings.push(format!(
                "{shared} face(s) of object '{}' are in several face sets; the first is kept",
                self.mesh.path
            ));
        }

        let mut kept = faces
            .in_file
            .iter()
            .map(|&face| set_of_face[face as usize])
            .peekable();
        if kept.peek().is_none() || set_of_face.iter().all(Option::is_none) {
            return Ok(FaceLabels::default());
        }
        let name = |set: Option<usize>| set.map_or("", |k| self.mesh.face_sets[k].0.as_str());
        let labels = FaceLabels::from_names(kept.map(name));
        // Instances repeat the face sets of what they show.
        let budget = &self.archive.budget;
        budget.spend_texts(&labels.names, "the face sets")?;
        Ok(labels)
    }

    fn read_layers(
        &self,
        faces: &Faces,
        builder: &mut MeshBuilder,
        warnings: &mut Vec<String>,
    ) -> Result<(), ReadError> {
        let arbitrary = self
            .archive
            .compound(&self.mesh.geometry, ".arbGeomParams")?;
        let fixed = self
            .mesh
            .geometry
            .iter()
            .filter(|p| p.name == "uv" || p.name == "N");

        for property in fixed.chain(&arbitrary) {
            let Some(attribute) = self.attribute(property)? else {
                continue;
            };
            if !self.read_layer(property, &attribute, faces, builder, warnings)? {
                warnings.push(format!(
                    "'{}' of object '{}' does not fit its faces and was skipped",
                    property.name.escape_debug(),
                    self.mesh.path
                ));
            }
        }
        Ok(())
    }

    /// A property as an attribute; `None` if it is another property.
    fn attribute(&self, property: &Property<'a>) -> Result<Option<Attribute<'a>>, ReadError> {
        if property.kind != PropertyKind::Compound {
            return Ok(Some(Attribute {
                values: property.clone(),
                indices: None,
            }));
        }

        let parts = self.archive.properties_of(property)?;
        let part = |name| find(&parts, name).cloned();
        Ok(part(".vals").map(|values| Attribute {
            values,
            indices: part(".indices").filter(|p| p.holds(1)),
        }))
    }

    /// Reads an attribute, if it is a UV set, normals or colours; false if it does not fit.
    fn read_layer(
        &self,
        property: &Property<'a>,
        attribute: &Attribute<'a>,
        faces: &Faces,
        builder: &mut MeshBuilder,
        warnings: &mut Vec<String>,
    ) -> Result<bool, ReadError> {
        let values = &attribute.values;
        let meaning = property.metadata_value("interpretation");
        if is_uv_set(property, values) {
            let Some(corners) = self.corners(property, attribute, faces, builder)? else {
                return Ok(false);
            };
            if values.is_animated() {
                warnings.push(format!(
                    "object '{}' changes its UVs over time; those of the first frame are kept",
                    self.mesh.path
                ));
            }
            let numbers = values.numbers(self.archive, self.sample_of(values)?)?;
            builder.uv_layers.push(CornerLayer {
                name: layer_name(property),
                values: numbers.chunks_exact(2).map(DVec2::from_slice).collect(),
                corners,
            });
        } else if property.name == "N" && values.holds(3) && builder.normals.is_none() {
            let Some(corners) = self.corners(property, attribute, faces, builder)? else {
                return Ok(false);
            };
            let normals = values.points(self.archive, self.sample_of(values)?)?;
            builder.normals = Some(CornerLayer {
                name: String::new(),
                values: moved_normals(normals, &self.scene_from_mesh),
                corners,
            });
        } else if (values.holds(3) && meaning == Some("rgb"))
            || (values.holds(4) && meaning == Some("rgba"))
        {
            let Some(corners) = self.corners(property, attribute, faces, builder)? else {
                return Ok(false);
            };
            self.read_colors(property, values, &corners, faces, builder, warnings)?;
        }
        Ok(true)
    }

    /// For each corner the index of its value; `None` if the attribute does not fit the faces.
    fn corners(
        &self,
        property: &Property<'a>,
        attribute: &Attribute<'a>,
        faces: &Faces,
        builder: &MeshBuilder,
    ) -> Result<Option<Vec<Corner>>, ReadError> {
        let count = attribute.values.count(self.sample_of(&attribute.values)?)?;
        let indices = match &attribute.indices {
            Some(indices) => Some(indices.indices(self.archive, self.sample_of(indices)?)?),
            None => None,
        };

        self.archive
            .budget
            .spend(faces.slots.len(), "the values at the corners")?;
        let entries = indices.as_ref().map_or(count, Vec::len);
        let is_per_vertex = entries == builder.positions.len();
        let likely = if is_per_vertex { "vtx" } else { "fvr" };
        let scope = property.metadata_value("geoScope").unwrap_or(likely);
        let slots: Vec<u32> = match scope {
            "fvr" => faces.slots.clone(),
            "vtx" | "var" => faces.vertices.clone(),
            "uni" => repeated(&faces.in_file, &faces.sizes),
            _ => vec![0; faces.slots.len()],
        };

        let mut corners = Vec::with_capacity(slots.len());
        for slot in slots {
            let index = match &indices {
                Some(indices) => indices.get(slot as usize).copied(),
                None => Some(slot),
            };
            match index.filter(|&k| (k as usize) < count) {
                Some(index) => corners.push(Some(index)),
                None => return Ok(None),
            }
        }
        Ok(Some(corners))
    }

    /// Colours of the vertices; where the faces at a vertex differ, that of the first face.
    fn read_colors(
        &self,
        property: &Property<'a>,
        values: &Property<'a>,
        corners: &[Corner],
        faces: &Faces,
        builder: &mut MeshBuilder,
        warnings: &mut Vec<String>,
    ) -> Result<(), ReadError> {
        let width = if values.holds(3) { 3 } else { 4 };
        let numbers = values.numbers(self.archive, self.sample_of(values)?)?;
        let color = |k: usize| {
            let c = &numbers[width * k..][..width];
            DVec4::new(c[0], c[1], c[2], c.get(3).copied().unwrap_or(1.0))
        };

        // One value for each vertex also colours vertices that no face uses.
        let vertices = builder.positions.len();
        let complete = numbers.len() == width * vertices;
        let mut colors: Vec<DVec4> = (0..vertices)
            .map(|v| if complete { color(v) } else { DVec4::ONE })
            .collect();
        let mut seen = vec![false; vertices];
        let mut differing = 0;
        for (&vertex, corner) in faces.vertices.iter().zip(corners) {
            let (Some(own), Some(index)) = (colors.get_mut(vertex as usize), corner) else {
                continue;
            };
            let here = color(*index as usize);
            if std::mem::replace(&mut seen[vertex as usize], true) {
                differing += usize::from(*own != here);
            } else {
                *own = here;
            }
        }
        if differing > 0 {
            warnings.push(format!(
                "the colours '{}' of object '{}' differ between the faces at {differing} corner(s); those of the first faces are kept",
                property.name.escape_debug(),
                self.mesh.path
            ));
        }

        builder.colors.push(VertexLayer {
            name: layer_name(property),
            values: colors,
        });
        Ok(())
    }
}

fn is_uv_set(property: &Property<'_>, values: &Property<'_>) -> bool {
    let scope = property.metadata_value("geoScope");
    let is_marked = property.metadata_value("isGeomParam") == Some("true")
        && property.metadata_value("interpretation") == Some("vector")
        && property.metadata_value("notUV") != Some("1")
        && matches!(scope, Some("fvr" | "vtx" | "var"));
    values.holds(2) && (property.name == "uv" || is_marked)
}

/// The name of a layer: that in the metadata, else that of the property, which for the first UV set
/// says nothing.
fn layer_name(property: &Property<'_>) -> String {
    let own = match &*property.name {
        "uv" => "",
        other => other,
    };
    property.metadata_value("sourceName").unwrap_or(own).into()
}

fn moved_normals(mut normals: Vec<DVec3>, scene_from_mesh: &DAffine3) -> Vec<DVec3> {
    if *scene_from_mesh != DAffine3::IDENTITY {
        let matrix = scene_from_mesh.matrix3.inverse().transpose();
        for normal in &mut normals {
            *normal = (matrix * *normal).normalize_or_zero();
        }
    }
    normals
}

/// Each value as often as its size.
fn repeated(values: &[u32], sizes: &[u32]) -> Vec<u32> {
    let pairs = values.iter().zip(sizes);
    pairs
        .flat_map(|(&value, &size)| std::iter::repeat_n(value, size as usize))
        .collect()
}
