//! Reader of OBJ lines.

use std::collections::{BTreeMap, HashMap};

use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, VertexLayer};

use super::{mtl_read, objects};
use crate::parse::budget::Budget;
use crate::parse::text::{Lines, Words, excerpt, number};
use crate::{Asset, FileProvider, ReadError};

/// Reads all objects of a file with the materials and images that `files` opens. Missing files are
/// warnings.
pub fn read_with_files(bytes: &[u8], files: &dyn FileProvider) -> Result<Asset, ReadError> {
    let mut asset = read(bytes)?;
    mtl_read::read_libraries(&mut asset, files);
    Ok(asset)
}

/// Reads all objects of a file, without the files to which it refers.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let mut scan = Scan::default();
    let mut lines = Lines::of(bytes);
    let mut joined = Vec::new();

    while let Some((number, line)) = lines.next() {
        if line.trim_ascii_end().last() != Some(&b'\\') {
            scan.line(number, line)?;
            continue;
        }

        // A backslash at the end continues the line.
        joined.clear();
        let mut part = Some(line);
        while let Some(head) = part.and_then(|text| text.trim_ascii_end().strip_suffix(b"\\")) {
            joined.extend_from_slice(head);
            joined.push(b' ');
            part = lines.next().map(|(_, next)| next);
        }

        joined.extend_from_slice(part.unwrap_or_default());
        scan.line(number, &joined)?;
    }

    scan.finish(Budget::of_arrays(bytes.len()))
}

/// Everything that was read so far, over all objects.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) positions: Vec<DVec3>,
    /// Empty until a vertex has a colour; then one for each vertex so far.
    colors: Vec<DVec4>,
    uncolored: usize,
    pub(super) uvs: Vec<DVec2>,
    pub(super) normals: Vec<DVec3>,
    face_sizes: Vec<u32>,
    corners: Vec<u32>,
    uv_corners: LazyCorners,
    normal_corners: LazyCorners,
    groups: Labels,
    materials: Labels,
    smoothing: Labels,
    libraries: Vec<String>,
    pub(super) starts: Vec<Start>,
    forward_references: Vec<ForwardReference>,
    skipped: BTreeMap<String, usize>,
    small_faces: Option<(usize, usize)>,
    dropped_weights: usize,
    dropped_depths: usize,
}

/// Where an object begins in each list.
pub(super) struct Start {
    pub(super) name: String,
    pub(super) vertex: usize,
    pub(super) uv: usize,
    pub(super) normal: usize,
    pub(super) face: usize,
}

/// An index of an entry that was not declared yet; valid if the entry comes later.
struct ForwardReference {
    line: usize,
    list: List,
    index: usize,
}

#[derive(Clone, Copy)]
enum List {
    Vertex,
    Uv,
    Normal,
}

impl List {
    fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Uv => "texture coordinate",
            Self::Normal => "normal",
        }
    }
}

/// Indices of corners, which most files give for all corners or for none.
#[derive(Default)]
struct LazyCorners(Vec<Option<u32>>);

impl LazyCorners {
    fn push(&mut self, index: Option<u32>, corners_before: usize) {
        if index.is_some() || !self.0.is_empty() {
            self.0.resize(corners_before, None);
            self.0.push(index);
        }
    }

    fn finish(mut self, corners: usize) -> Vec<Option<u32>> {
        self.0.resize(corners, None);
        self.0
    }
}

/// Labels of the faces that follow them.
#[derive(Default)]
struct Labels {
    names: Vec<String>,
    index_of: HashMap<String, u32>,
    current: Option<u32>,
    of_face: Vec<u32>,
}

impl Labels {
    fn set(&mut self, name: String, faces: usize) {
        if self.current.is_none() && faces > 0 {
            self.of_face = vec![self.index(String::new()); faces];
        }
        self.current = Some(self.index(name));
    }

    fn index(&mut self, name: String) -> u32 {
        *self.index_of.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() as u32 - 1
        })
    }

    fn push_face(&mut self) {
        self.of_face.extend(self.current);
    }

    /// The labels without names that no face has.
    fn finish(self) -> FaceLabels {
        if self.of_face.is_empty() {
            return FaceLabels::default();
        }
        FaceLabels::from_names(
            self.of_face
                .iter()
                .map(|&k| self.names[k as usize].as_str()),
        )
    }
}

impl Scan {
    fn line(&mut self, line: usize, text: &[u8]) -> Result<(), ReadError> {
        let mut words = Words::of(text);
        let Some(keyword) = words.next() else {
            return Ok(());
        };

        match keyword {
            b"v" => self.vertex(line, words)?,
            b"vt" => self.uv(line, words)?,
            b"vn" => self.normal(line, words)?,
            b"f" | b"fo" => self.face(line, words)?,
            b"g" => self.groups.set(name(&words), self.face_sizes.len()),
            b"usemtl" => self.materials.set(name(&words), self.face_sizes.len()),
            b"s" => self.smoothing.set(name(&words), self.face_sizes.len()),
            b"o" => self.object(name(&words)),
            b"mtllib" => self.libraries.push(name(&words)),
            other => self.skip(other),
        }

        Ok(())
    }

    fn vertex(&mut self, line: usize, words: Words<'_>) -> Result<(), ReadError> {
        let mut values = [0.0; 7];
        let count = numbers(line, words, &mut values)?;
        if count < 3 {
            return Err(ReadError::line(
                line,
                format!("a vertex needs 3 coordinates, not {count}"),
            ));
        }

        // Four numbers are a position with its weight, six or seven a position with a colour.
        let [x, y, z, a, b, c, d] = values;
        match count {
            4 => self.dropped_weights += usize::from(a != 1.0),
            6 => self.color(DVec4::new(a, b, c, 1.0)),
            7 => self.color(DVec4::new(a, b, c, d)),
            _ => {}
        }

        self.positions.push(DVec3::new(x, y, z));
        if count < 6 {
            self.uncolored += 1;
            if !self.colors.is_empty() {
                self.colors.push(DVec4::ONE);
            }
        }

        Ok(())
    }

    fn color(&mut self, color: DVec4) {
        self.colors.resize(self.positions.len(), DVec4::ONE);
        self.colors.push(color);
    }

    fn uv(&mut self, line: usize, words: Words<'_>) -> Result<(), ReadError> {
        let mut values = [0.0; 3];
        if numbers(line, words, &mut values)? == 0 {
            return Err(ReadError::line(
                line,
                "a texture coordinate needs at least 1 number",
            ));
        }

        self.dropped_depths += usize::from(values[2] != 0.0);
        self.uvs.push(DVec2::new(values[0], values[1]));
        Ok(())
    }

    fn normal(&mut self, line: usize, words: Words<'_>) -> Result<(), ReadError> {
        let mut values = [0.0; 3];
        let count = numbers(line, words, &mut values)?;
        if count < 3 {
            return Err(ReadError::line(
                line,
                format!("a normal needs 3 numbers, not {count}"),
            ));
        }

        self.normals.push(DVec3::from_array(values));
        Ok(())
    }

    fn face(&mut self, line: usize, words: Words<'_>) -> Result<(), ReadError> {
        let start = self.corners.len();
        for word in words {
            // A corner is `vertex`, `vertex/uv`, `vertex//normal` or `vertex/uv/normal`.
            let mut parts = word.split(|&b| b == b'/');
            let vertex = self.index(line, List::Vertex, parts.next().unwrap_or_default())?;
            let Some(vertex) = vertex else {
                return Err(ReadError::line(
                    line,
                    format!("the corner '{}' names no vertex", excerpt(word)),
                ));
            };

            let uv = parts
                .next()
                .map_or(Ok(None), |part| self.index(line, List::Uv, part))?;
            let normal = parts
                .next()
                .map_or(Ok(None), |part| self.index(line, List::Normal, part))?;

            self.uv_corners.push(uv, self.corners.len());
            self.normal_corners.push(normal, self.corners.len());
            self.corners.push(vertex);
        }

        // Faces of fewer than three corners are taken back.
        let size = self.corners.len() - start;
        if size < 3 {
            self.corners.truncate(start);
            self.uv_corners.0.truncate(start);
            self.normal_corners.0.truncate(start);
            self.small_faces.get_or_insert((line, 0)).1 += 1;
            return Ok(());
        }

        self.face_sizes.push(size as u32);
        self.groups.push_face();
        self.materials.push_face();
        self.smoothing.push_face();

        Ok(())
    }

    /// The 0-based index that `part` means; `None` if it is empty.
    #[inline]
    fn index(&mut self, line: usize, list: List, part: &[u8]) -> Result<Option<u32>, ReadError> {
        if part.is_empty() {
            return Ok(None);
        }

        let count = match list {
            List::Vertex => self.positions.len(),
            List::Uv => self.uvs.len(),
            List::Normal => self.normals.len(),
        };

        let index = match integer(part) {
            Some(i) if i > 0 => usize::try_from(i - 1).ok(),
            Some(i) if i < 0 => usize::try_from(i.unsigned_abs())
                .ok()
                .and_then(|back| count.checked_sub(back)),
            _ => None,
        };

        // The greatest u32 is reserved for "none".
        match index.filter(|&index| index < u32::MAX as usize) {
            Some(index) => {
                if index >= count {
                    self.forward_references
                        .push(ForwardReference { line, list, index });
                }
                Ok(Some(index as u32))
            }
            None => Err(out_of_range(line, list, &excerpt(part), count)),
        }
    }

    fn object(&mut self, name: String) {
        self.starts.push(Start {
            name,
            vertex: self.positions.len(),
            uv: self.uvs.len(),
            normal: self.normals.len(),
            face: self.face_sizes.len(),
        });
    }

    fn skip(&mut self, keyword: &[u8]) {
        const MOST_KINDS: usize = 8;
        let kind = excerpt(keyword);
        if self.skipped.contains_key(&kind) || self.skipped.len() < MOST_KINDS {
            *self.skipped.entry(kind).or_default() += 1;
        } else {
            *self.skipped.entry("other".into()).or_default() += 1;
        }
    }

    fn finish(mut self, budget: Budget) -> Result<Asset, ReadError> {
        for reference in std::mem::take(&mut self.forward_references) {
            let count = match reference.list {
                List::Vertex => self.positions.len(),
                List::Uv => self.uvs.len(),
                List::Normal => self.normals.len(),
            };
            if reference.index >= count {
                return Err(out_of_range(
                    reference.line,
                    reference.list,
                    &(reference.index + 1).to_string(),
                    count,
                ));
            }
        }

        if self.positions.is_empty() {
            return Err(ReadError::whole(
                "the file holds no vertex ('v' line), so it is not an OBJ mesh; export it again",
            ));
        }

        // The warnings are computed first, because building moves the lists.
        let mut warnings = self.warnings();
        let other_content = self.other_content();
        let starts = std::mem::take(&mut self.starts);
        let (whole, smoothing) = self.into_builder();
        let objects = objects::split(whole, smoothing, starts, &budget, &mut warnings)?;

        Ok(Asset {
            objects,
            warnings,
            other_content,
            ..Asset::default()
        })
    }

    /// What a save cannot write again.
    fn other_content(&self) -> Vec<String> {
        let skipped = self.skipped.iter();
        let mut phrases: Vec<String> = skipped
            .map(|(kind, count)| format!("{count} line(s) '{kind}'"))
            .collect();
        for (count, what) in [
            (self.dropped_weights, "vertex weight(s) (w)"),
            (self.dropped_depths, "third texture coordinate(s)"),
        ] {
            if count > 0 {
                phrases.push(format!("{count} {what}"));
            }
        }
        phrases
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some((line, count)) = self.small_faces {
            warnings.push(format!(
                "{count} face(s) with fewer than 3 corners were skipped, the first in line {line}"
            ));
        }

        if !self.skipped.is_empty() {
            let kinds: Vec<_> = self
                .skipped
                .iter()
                .map(|(kind, count)| format!("{count} × '{kind}'"))
                .collect();
            warnings.push(format!(
                "lines that are no part of a polygon mesh were skipped: {}",
                kinds.join(", ")
            ));
        }

        if !self.colors.is_empty() && self.uncolored > 0 {
            warnings.push(format!(
                "{} vertices have no colour, but others do; they are read as white",
                self.uncolored
            ));
        }

        if self.dropped_weights > 0 {
            let count = self.dropped_weights;
            warnings.push(format!("{count} vertex weights (w) are not kept"));
        }
        if self.dropped_depths > 0 {
            let count = self.dropped_depths;
            warnings.push(format!("{count} third texture coordinates are not kept"));
        }

        warnings
    }

    fn into_builder(self) -> (MeshBuilder, FaceLabels) {
        let corners = self.corners.len();
        let mut builder = MeshBuilder {
            positions: self.positions,
            face_sizes: self.face_sizes,
            corners: self.corners,
            groups: self.groups.finish(),
            materials: self.materials.finish(),
            material_library: self.libraries,
            ..MeshBuilder::default()
        };

        if !self.uvs.is_empty() {
            builder.uv_layers.push(CornerLayer {
                name: String::new(),
                values: self.uvs,
                corners: self.uv_corners.finish(corners),
            });
        }
        if !self.normals.is_empty() {
            builder.normals = Some(CornerLayer {
                name: String::new(),
                values: self.normals,
                corners: self.normal_corners.finish(corners),
            });
        }
        if !self.colors.is_empty() {
            builder.colors.push(VertexLayer {
                name: String::new(),
                values: self.colors,
            });
        }

        (builder, self.smoothing.finish())
    }
}

#[cold]
fn out_of_range(line: usize, list: List, index: &str, count: usize) -> ReadError {
    let what = list.name();
    ReadError::line(
        line,
        format!(
            "a face names {what} {index}, but there are {count} (indices count from 1, or backwards from -1); repair the face"
        ),
    )
}

/// The rest of a line as a name, which may contain spaces and `#`.
fn name(words: &Words<'_>) -> String {
    String::from_utf8_lossy(words.rest()).into_owned()
}

/// Fills `values` with the numbers of a line and returns their count.
#[inline]
fn numbers(line: usize, words: Words<'_>, values: &mut [f64]) -> Result<usize, ReadError> {
    let mut count = 0;
    for (word, value) in words.zip(values) {
        *value = number(word)
            .ok_or_else(|| ReadError::line(line, format!("'{}' is not a number", excerpt(word))))?;
        count += 1;
    }
    Ok(count)
}

#[inline]
fn integer(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };

    // Eighteen digits cannot overflow.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }

    let mut value = 0_i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }

    Some(if negative { -value } else { value })
}
