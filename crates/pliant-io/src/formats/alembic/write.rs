//! Writer of an asset as one Alembic archive.

use std::collections::HashSet;

use pliant_mesh::glam::{DAffine3, DMat4, DVec3};
use pliant_mesh::{Bounds, CornerLayer, Mesh};

use super::encode::{Encoder, Members, PropertyHead, WrittenNumber};
use super::object_tree::{Branch, distinct_name, valid_name};
use super::{CLIP_NAME, FILE_INDEX, REST_POSE};
use crate::{
    Animation, Asset, Capabilities, EncodedAsset, IoError, Motion, Object, PlacementTrack, Shape,
    UpAxes, UpAxis,
};

/// What an Alembic file can store.
pub const CAPABILITIES: Capabilities = Capabilities {
    groups: false,
    smoothing: false,
    targets: false,
    in_betweens: false,
    rest_weights: false,
    clips: 1,
    weight_tracks: false,
    skins: false,
    frame_names: false,
    up_axes: UpAxes::Fixed(UpAxis::Y),
    ..Capabilities::ALL
};

const XFORM: &str = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";
const POLY_MESH: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
const GEOMETRY: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
const FACE_SET: &str = "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_FaceSet_v1:.faceset";
const FACES: &str = "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1";

/// The operation "matrix" of a transform.
const MATRIX_OPERATION: u8 = 0x30;

/// The time sampling of what does not change, and that of the clip.
const STILL: usize = 0;
const MOVING: usize = 1;

/// The asset as one archive; its first clip gives the samples.
pub fn write(asset: &Asset) -> Result<EncodedAsset, IoError> {
    let mut left_out = CAPABILITIES.left_out_of(asset);

    // Programs read Alembic in metres, Y up; without a known unit, numbers stay.
    let asset = &*asset.in_space(UpAxis::Y, 1.0);
    asset.require_single_range("Alembic", 1.0)?;
    let clip = asset.clips.first().filter(|clip| clip.frame_count > 0);
    let mut samplings = vec![(1.0, 0.0)];
    if let Some(clip) = clip {
        samplings.push((1.0 / clip.frames_per_second, clip.start_secs));
    }

    // Siblings are written together, so that the tree may change the order of the objects and their
    // vertices.
    let tree = Branch::root_of(asset);
    let file_indices = asset.file_indices();
    let written_order = tree.objects().into_iter().flat_map(|k| &file_indices[k]);
    let in_order = written_order.copied().eq(0..asset.vertex_count() as u32);

    let mut writer = Writer {
        asset,
        clip,
        file_indices: (!in_order).then_some(file_indices),
        encoder: Encoder::new(samplings.len()),
        empty_corners: 0,
        changed_names: changed_names(asset, clip),
        lost_normals: 0,
    };
    let mut top = Members::default();
    for branch in &tree.children {
        writer.branch(&mut top, branch)?;
    }

    if writer.empty_corners > 0 {
        left_out.push(format!(
            "that {} corner(s) have no texture coordinates (written as 0 0)",
            writer.empty_corners
        ));
    }
    if writer.changed_names > 0 {
        left_out.push(format!(
            "{} name(s) with '/', ';' or '=' (written as '_')",
            writer.changed_names
        ));
    }
    if writer.lost_normals > 0 {
        left_out.push(format!(
            "the normals of {} mesh(es) that move point by point or lack some",
            writer.lost_normals
        ));
    }

    Ok(EncodedAsset {
        bytes: writer.encoder.finish(top, &metadata(clip), &samplings),
        left_out,
        ..EncodedAsset::default()
    })
}

/// The metadata of the archive. A date would make equal assets unequal files.
fn metadata(clip: Option<&Animation>) -> String {
    let mut text = "_ai_AlembicVersion=Alembic 1.8.3;_ai_Application=Pliant".to_owned();
    if let Some(clip) = clip {
        text += &format!(";_ai_DCC_FPS={}", clip.frames_per_second);
        if !clip.name.is_empty() {
            text += &format!(";{CLIP_NAME}={}", valid_name(&clip.name));
        }
    }
    text
}

/// How many names of objects, layers, materials and the clip cannot be written as they are.
fn changed_names(asset: &Asset, clip: Option<&Animation>) -> usize {
    let mut names: Vec<&str> = clip.iter().map(|clip| clip.name.as_str()).collect();
    for object in &asset.objects {
        let mesh = object.rig.neutral();
        names.extend(object.path.split('/'));
        names.extend(mesh.uv_layers().iter().map(|layer| layer.name.as_str()));
        names.extend(mesh.colors().iter().map(|layer| layer.name.as_str()));
        names.extend(mesh.materials().names.iter().map(String::as_str));
    }

    let written = names.iter().filter(|name| !name.is_empty());
    let changed: HashSet<&&str> = written.filter(|name| valid_name(name) != **name).collect();
    changed.len()
}

struct Writer<'a> {
    asset: &'a Asset,
    clip: Option<&'a Animation>,
    /// For each object, the indices of its vertices in the order of the whole file; `None` if they
    /// follow each other.
    file_indices: Option<Vec<Vec<u32>>>,
    encoder: Encoder,
    /// Corners without texture coordinates.
    empty_corners: usize,
    /// Names that hold characters with another meaning.
    changed_names: usize,
    /// Meshes whose normals are not written.
    lost_normals: usize,
}

/// An object and how it moves.
#[derive(Clone, Copy)]
struct Moving<'a> {
    index: usize,
    object: &'a Object,
    /// The clip, if the points of the object change in it.
    points: Option<&'a Animation>,
    /// The motion, if the object moves as a whole by its transform.
    placement: Option<&'a Motion>,
}

impl<'a> Writer<'a> {
    fn branch(&mut self, into: &mut Members, branch: &Branch) -> Result<(), IoError> {
        let mut below = Members::default();
        let mut placement = None;
        if let Some((index, name)) = &branch.mesh {
            // A transform also moves what is below it, so that the mesh must be alone.
            let moving = self.moving(*index, branch.children.is_empty());
            placement = moving.placement;
            self.mesh(&mut below, name, moving)?;
        }
        for child in &branch.children {
            self.branch(&mut below, child)?;
        }

        let mut properties = Members::default();
        self.transform(&mut properties, placement)?;
        self.encoder
            .object(into, &branch.name, XFORM, &properties, below);
        Ok(())
    }

    /// How an object moves in the clip.
    fn moving(&self, index: usize, can_place: bool) -> Moving<'a> {
        let motion = self.clip.and_then(|clip| {
            let mut motions = clip.motions.iter();
            motions.find(|motion| motion.object == index)
        });
        let placement = motion.filter(|motion| {
            let track = motion.placement.as_ref();
            can_place && track.is_some_and(|track| !shears(track))
        });
        let has_points = motion.is_some_and(|motion| {
            !matches!(motion.shape, Shape::Rest)
                || motion.skin.is_some()
                || (motion.placement.is_some() && placement.is_none())
        });
        Moving {
            index,
            object: &self.asset.objects[index],
            points: self.clip.filter(|_| has_points),
            placement,
        }
    }

    /// The properties of a transform: none, or a matrix at each frame.
    fn transform(&mut self, into: &mut Members, placement: Option<&Motion>) -> Result<(), IoError> {
        let mut own = Members::default();
        let track = placement.and_then(|motion| motion.placement.as_ref());
        let moving = track.zip(self.clip);

        // Readers take the times of the transform from those of this property.
        let inherits = PropertyHead {
            name: ".inherits",
            metadata: "",
            is_array: false,
            number: WrittenNumber::Boolean,
            extent: 1,
            sampling: moving.map_or(STILL, |_| MOVING),
        };
        let frames = moving.map_or(1, |(_, clip)| clip.frame_count);
        let samples = std::iter::repeat_n((), frames).map(|()| Ok(vec![1]));
        self.encoder.property(&mut own, &inherits, samples)?;
        if let Some((track, clip)) = moving {
            self.matrices(&mut own, track, clip)?;
        }

        self.encoder
            .compound(into, ".xform", "schema=AbcGeom_Xform_v3", own);
        Ok(())
    }

    /// A matrix at each frame.
    fn matrices(
        &mut self,
        into: &mut Members,
        track: &PlacementTrack,
        clip: &Animation,
    ) -> Result<(), IoError> {
        let matrices: Vec<[f64; 16]> = (0..clip.frame_count)
            .map(|k| DMat4::from(track.at(clip.time_secs(k))).to_cols_array())
            .collect();

        let operations = PropertyHead {
            name: ".ops",
            metadata: "",
            is_array: false,
            number: WrittenNumber::U8,
            extent: 1,
            sampling: STILL,
        };
        let samples = matrices.iter().map(|_| Ok(vec![MATRIX_OPERATION]));
        self.encoder.property(into, &operations, samples)?;

        let values = PropertyHead {
            name: ".vals",
            number: WrittenNumber::F64,
            extent: 16,
            sampling: MOVING,
            ..operations
        };
        let samples = matrices.iter().map(|m| Ok(bytes_f64(m)));
        self.encoder.property(into, &values, samples)?;

        let not_identity = PropertyHead {
            name: "isNotConstantIdentity",
            number: WrittenNumber::Boolean,
            ..operations
        };
        self.encoder.property(into, &not_identity, [Ok(vec![1])])?;

        // Programs that show curves ask which numbers change.
        let changing: Vec<u32> = (0..16)
            .filter(|&k| matrices.iter().any(|m| m[k] != matrices[0][k]))
            .map(|k| k as u32)
            .collect();
        if changing.is_empty() {
            return Ok(());
        }
        self.indices(into, ".animChans", WrittenNumber::U32, &changing)
    }

    fn mesh(&mut self, into: &mut Members, name: &str, moving: Moving<'a>) -> Result<(), IoError> {
        let mesh = moving.object.rig.neutral();
        let mut geometry = Members::default();
        self.points(&mut geometry, moving)?;
        self.faces(&mut geometry, mesh)?;
        self.uv_sets(&mut geometry, mesh)?;
        self.normals(&mut geometry, mesh, moving.points.is_some())?;
        self.own_properties(&mut geometry, moving)?;

        let mut properties = Members::default();
        self.encoder
            .compound(&mut properties, ".geom", GEOMETRY, geometry);
        let mut face_sets = Members::default();
        self.face_sets(&mut face_sets, mesh)?;
        self.encoder
            .object(into, name, POLY_MESH, &properties, face_sets);
        Ok(())
    }

    /// Positions and their bounds, one sample for each frame.
    fn points(&mut self, into: &mut Members, moving: Moving<'a>) -> Result<(), IoError> {
        let frames = moving.points.map_or(1, |clip| clip.frame_count);
        let sampling = if moving.points.is_some() {
            MOVING
        } else {
            STILL
        };
        let mut boxes = Vec::with_capacity(frames);
        let asset = self.asset;
        let samples = (0..frames).map(|k| {
            let positions = moving.positions(k);
            boxes.push(bounds(&positions));
            require_single_precision(asset, moving.object, &positions)?;
            Ok(bytes_points(&positions))
        });

        let head = PropertyHead {
            name: "P",
            metadata: "geoScope=vtx;interpretation=point",
            is_array: true,
            number: WrittenNumber::F32,
            extent: 3,
            sampling,
        };
        self.encoder.property(into, &head, samples)?;
        self.bounds(into, &boxes, sampling)
    }

    fn bounds(
        &mut self,
        into: &mut Members,
        boxes: &[[f64; 6]],
        sampling: usize,
    ) -> Result<(), IoError> {
        let head = PropertyHead {
            name: ".selfBnds",
            metadata: "interpretation=box",
            is_array: false,
            number: WrittenNumber::F64,
            extent: 6,
            sampling,
        };
        let samples = boxes.iter().map(|corners| Ok(bytes_f64(corners)));
        self.encoder.property(into, &head, samples)
    }

    fn faces(&mut self, into: &mut Members, mesh: &Mesh) -> Result<(), IoError> {
        let corners = reversed_vertices(mesh);
        let sizes: Vec<u32> = mesh.faces().map(|face| face.len() as u32).collect();
        self.indices(into, ".faceIndices", WrittenNumber::I32, &corners)?;
        self.indices(into, ".faceCounts", WrittenNumber::I32, &sizes)
    }

    /// The first UV set as `uv`, the others and the colours among the arbitrary attributes.
    fn uv_sets(&mut self, into: &mut Members, mesh: &Mesh) -> Result<(), IoError> {
        let mut further = Members::default();
        let mut names: Vec<String> = Vec::new();
        for (k, layer) in mesh.uv_layers().iter().enumerate() {
            let missing = layer.corners.iter().filter(|c| c.is_none()).count();
            self.empty_corners += missing;
            let mut values = Vec::with_capacity(8 * (layer.values.len() + 1));
            for uv in &layer.values {
                values.extend(uv.as_vec2().to_array().map(f32::to_le_bytes).concat());
            }
            if missing > 0 {
                values.extend_from_slice(&[0; 8]);
            }

            let corners = corner_indices(mesh, layer);
            let kind = Attribute::UV;
            if k == 0 {
                self.attribute(into, "uv", &layer.name, kind, values, &corners)?;
            } else {
                let name = further_name(&layer.name, "uv", &mut names);
                self.attribute(&mut further, &name, &layer.name, kind, values, &corners)?;
            }
        }

        for layer in mesh.colors() {
            let colors = layer.values.iter().map(|c| c.as_vec4().to_array());
            let values = colors.flatten().flat_map(f32::to_le_bytes).collect();
            let corners = reversed_vertices(mesh);
            let name = further_name(&layer.name, "Cd", &mut names);
            let kind = Attribute::COLOR;
            self.attribute(&mut further, &name, &layer.name, kind, values, &corners)?;
        }

        if !names.is_empty() {
            self.encoder.compound(into, ".arbGeomParams", "", further);
        }
        Ok(())
    }

    fn normals(&mut self, into: &mut Members, mesh: &Mesh, moves: bool) -> Result<(), IoError> {
        let Some(layer) = mesh.normals() else {
            return Ok(());
        };
        // Normals of the rest pose would shade every frame.
        if moves || layer.corners.iter().any(Option::is_none) {
            self.lost_normals += 1;
            return Ok(());
        }
        let values = bytes_points(&layer.values);
        let corners = corner_indices(mesh, layer);
        self.attribute(into, "N", "", Attribute::NORMAL, values, &corners)
    }

    /// Values with an index for each corner.
    fn attribute(
        &mut self,
        into: &mut Members,
        name: &str,
        source_name: &str,
        kind: Attribute,
        values: Vec<u8>,
        corners: &[u32],
    ) -> Result<(), IoError> {
        let Attribute { meaning, extent } = kind;
        let mut metadata = format!(
            "arrayExtent=1;geoScope=fvr;interpretation={meaning};isGeomParam=true;podExtent={extent};podName=float32_t"
        );
        if !source_name.is_empty() {
            metadata += &format!(";sourceName={}", valid_name(source_name));
        }

        let mut parts = Members::default();
        let head = PropertyHead {
            name: ".vals",
            metadata: &metadata,
            is_array: true,
            number: WrittenNumber::F32,
            extent,
            sampling: STILL,
        };
        self.encoder.property(&mut parts, &head, [Ok(values)])?;
        self.indices(&mut parts, ".indices", WrittenNumber::U32, corners)?;
        self.encoder.compound(into, name, &metadata, parts);
        Ok(())
    }

    /// What Alembic has no place for: the rest pose and the vertex order of the whole file.
    fn own_properties(&mut self, into: &mut Members, moving: Moving<'a>) -> Result<(), IoError> {
        let mut own = Members::default();
        let rest = moving.object.rig.neutral().positions();
        if self.leaves_rest(moving) {
            require_single_precision(self.asset, moving.object, rest)?;
            let head = PropertyHead {
                name: REST_POSE,
                metadata: "",
                is_array: true,
                number: WrittenNumber::F32,
                extent: 3,
                sampling: STILL,
            };
            let sample = Ok(bytes_points(rest));
            self.encoder.property(&mut own, &head, [sample])?;
        }

        let order = self.file_indices.as_mut();
        if let Some(order) = order.map(|all| std::mem::take(&mut all[moving.index])) {
            self.indices(&mut own, FILE_INDEX, WrittenNumber::U32, &order)?;
        }
        if own.is_empty() {
            return Ok(());
        }
        self.encoder.compound(into, ".userProperties", "", own);
        Ok(())
    }

    /// Whether frame 0, which readers take for the rest pose, may be another one.
    fn leaves_rest(&self, moving: Moving<'_>) -> bool {
        let track = moving.placement.and_then(|m| m.placement.as_ref());
        let is_placed = match (track, self.clip) {
            (Some(track), Some(clip)) => track.at(clip.time_secs(0)) != DAffine3::IDENTITY,
            _ => false,
        };
        is_placed || moving.points.is_some()
    }

    /// The materials as sets of faces.
    fn face_sets(&mut self, into: &mut Members, mesh: &Mesh) -> Result<(), IoError> {
        let labels = mesh.materials();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); labels.names.len()];
        for (face, &label) in labels.of_face.iter().enumerate() {
            members[label as usize].push(face as u32);
        }

        let mut names: Vec<String> = Vec::new();
        for (label, faces) in labels.names.iter().zip(&members) {
            if label.is_empty() || faces.is_empty() {
                continue;
            }
            let taken = names.iter().map(String::as_str).collect();
            let name = distinct_name(valid_name(label), &taken);

            let mut own = Members::default();
            self.bounds(&mut own, &[bounds(&[])], STILL)?;
            self.indices(&mut own, ".faces", WrittenNumber::I32, faces)?;
            let mut properties = Members::default();
            self.encoder
                .compound(&mut properties, ".faceset", FACES, own);
            let children = Members::default();
            self.encoder
                .object(into, &name, FACE_SET, &properties, children);
            names.push(name);
        }
        Ok(())
    }

    fn indices(
        &mut self,
        into: &mut Members,
        name: &str,
        number: WrittenNumber,
        indices: &[u32],
    ) -> Result<(), IoError> {
        let head = PropertyHead {
            name,
            metadata: "",
            is_array: true,
            number,
            extent: 1,
            sampling: STILL,
        };
        let bytes = indices.iter().flat_map(|k| k.to_le_bytes()).collect();
        self.encoder.property(into, &head, [Ok(bytes)])
    }
}

impl Moving<'_> {
    /// Its positions in a frame, without what its transform does.
    fn positions(&self, frame: usize) -> Vec<DVec3> {
        match (self.points, self.placement) {
            (None, _) => self.object.rig.neutral().positions().to_vec(),
            (Some(clip), None) => clip.positions(self.index, self.object, frame),
            (Some(clip), Some(motion)) => {
                motion.shape_positions(self.object, frame, clip.time_secs(frame))
            }
        }
    }
}

/// The meaning of the values of an attribute, and how many numbers make one.
#[derive(Clone, Copy)]
struct Attribute {
    meaning: &'static str,
    extent: usize,
}

impl Attribute {
    const UV: Self = Self {
        meaning: "vector",
        extent: 2,
    };
    const NORMAL: Self = Self {
        meaning: "normal",
        extent: 3,
    };
    const COLOR: Self = Self {
        meaning: "rgba",
        extent: 4,
    };
}

/// The name of an attribute, distinct from `names`, to which it is added.
fn further_name(name: &str, fallback: &str, names: &mut Vec<String>) -> String {
    let name = if name.is_empty() { fallback } else { name };
    let taken: HashSet<&str> = names.iter().map(String::as_str).collect();
    let name = distinct_name(valid_name(name), &taken);
    names.push(name.clone());
    name
}

/// Whether a transformation is more than a rotation, a scale and a translation, which is all that
/// some programs keep of it.
fn shears(track: &PlacementTrack) -> bool {
    // Chosen: above the rounding of matrices in single precision.
    const TOLERANCE: f64 = 1e-5;

    track.moved_from_rest.iter().any(|moved| {
        let [x, y, z] = [0, 1, 2].map(|k| moved.matrix3.col(k));
        let is_skew = |a: DVec3, b: DVec3| a.dot(b).abs() > TOLERANCE * a.length() * b.length();
        is_skew(x, y) || is_skew(y, z) || is_skew(z, x) || moved.matrix3.determinant() <= 0.0
    })
}

/// The vertices of each face from the last to the first.
fn reversed_vertices(mesh: &Mesh) -> Vec<u32> {
    let faces = mesh.faces();
    faces.flat_map(|face| face.iter().rev()).copied().collect()
}

/// The indices of the values of a layer, from the last corner of each face to the first; a corner
/// without one gets the value after the last.
fn corner_indices<T>(mesh: &Mesh, layer: &CornerLayer<T>) -> Vec<u32> {
    let missing = layer.values.len() as u32;
    let corners = (0..mesh.face_count()).flat_map(|face| mesh.face_corners(face).rev());
    corners
        .map(|corner| layer.corners[corner].unwrap_or(missing))
        .collect()
}

/// The least and the greatest corner in single precision; of nothing, an empty box as Alembic
/// writes it.
fn bounds(positions: &[DVec3]) -> [f64; 6] {
    let single: Vec<DVec3> = positions.iter().map(|p| p.as_vec3().as_dvec3()).collect();
    let (min, max) = Bounds::of(&single)
        .map_or((DVec3::splat(f64::MAX), DVec3::splat(f64::MIN)), |bounds| {
            (bounds.min, bounds.max)
        });
    [min.x, min.y, min.z, max.x, max.y, max.z]
}

fn bytes_points(points: &[DVec3]) -> Vec<u8> {
    let numbers = points.iter().flat_map(|p| p.as_vec3().to_array());
    numbers.flat_map(f32::to_le_bytes).collect()
}

fn bytes_f64(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Rejects positions beyond the range of single precision.
fn require_single_precision(
    asset: &Asset,
    object: &Object,
    positions: &[DVec3],
) -> Result<(), IoError> {
    let Some(vertex) = positions.iter().position(|p| !p.as_vec3().is_finite()) else {
        return Ok(());
    };
    Err(IoError::NotFinite {
        file: asset.display_name(),
        message: format!(
            "vertex {vertex} of '{}' exceeds the 32-bit numbers of Alembic; scale the asset down",
            object.name()
        ),
    })
}
