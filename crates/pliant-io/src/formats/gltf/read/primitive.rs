//! The primitives of a glTF mesh, gathered in the order in which the file stores them.

use std::collections::HashMap;

use super::accessor::Source;
use crate::ReadError;
use crate::gltf::document::{Attributes, Mesh, POINTS, Primitive, TRIANGLES};
use crate::gltf::seams::{Block, Displacements, Part};

const LINES: std::ops::RangeInclusive<u32> = 1..=3;
const STRIP: u32 = 5;
const FAN: u32 = 6;

/// Everything that the primitives of one mesh store, block after block.
#[derive(Default)]
pub(super) struct StoredMesh {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) normals: Vec<[f32; 3]>,
    pub(super) uvs: Vec<Vec<[f32; 2]>>,
    pub(super) colors: Vec<Vec<[f32; 4]>>,
    pub(super) joints: Vec<Vec<[f32; 4]>>,
    pub(super) joint_weights: Vec<Vec<[f32; 4]>>,
    pub(super) targets: Vec<Displacements>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) part_of_triangle: Vec<u32>,
    pub(super) blocks: Vec<Block>,
    pub(super) parts: Vec<Part>,
    /// What was not read, one phrase each.
    pub(super) dropped: Vec<String>,
}

impl StoredMesh {
    /// Reads what a mesh stores; primitives that share their attributes share their vertices.
    pub(super) fn gather(source: &Source<'_>, mesh: &Mesh) -> Result<Self, ReadError> {
        let mut stored = Self::default();
        let read = read_primitives(mesh);
        let lines = mesh.primitives.len() - read.len();
        if lines > 0 {
            stored
                .dropped
                .push(format!("{lines} primitive(s) of lines"));
        }

        let mut block_of: HashMap<(&Attributes, &[Attributes]), usize> = HashMap::new();
        for primitive in read.iter().map(|&k| &mesh.primitives[k]) {
            let key = (&primitive.attributes, primitive.targets.as_slice());
            let block = match block_of.get(&key) {
                Some(&block) => block,
                None => {
                    block_of.insert(key, stored.blocks.len());
                    stored.add_block(source, primitive)?;
                    stored.blocks.len() - 1
                }
            };

            stored.add_part(source, primitive, block)?;
        }

        Ok(stored)
    }

    /// Adds the vertices of a primitive.
    fn add_block(&mut self, source: &Source<'_>, primitive: &Primitive) -> Result<(), ReadError> {
        let attributes = &primitive.attributes;
        let Some(&position) = attributes.get("POSITION") else {
            return Err(ReadError::whole(
                "a primitive has no POSITION attribute; export the file again",
            ));
        };

        let start = self.positions.len();
        let positions = source.vectors::<3>(position, &["VEC3"])?;
        self.positions.extend(positions);
        let end = self.positions.len();
        if end >= u32::MAX as usize {
            return Err(ReadError::whole(format!(
                "the mesh stores {end} vertices, but at most 4294967294 are supported; split the mesh"
            )));
        }

        let run = VertexRun {
            source,
            attributes,
            start,
            end,
        };
        // Attributes that other primitives have and this one has not are filled with zeros.
        run.fill("NORMAL", &["VEC3"], &mut self.normals)?;
        let uv_sets = run.sets("TEXCOORD_", &["VEC2"], &mut self.uvs)?;
        run.sets("COLOR_", &["VEC3", "VEC4"], &mut self.colors)?;
        run.sets("JOINTS_", &["VEC4"], &mut self.joints)?;
        run.sets("WEIGHTS_", &["VEC4"], &mut self.joint_weights)?;

        if attributes.contains_key("TANGENT") && !self.dropped.iter().any(|d| d == "tangents") {
            self.dropped.push("tangents".into());
        }

        self.blocks.push(Block {
            start,
            count: end - start,
            uv_sets,
            normals: attributes.contains_key("NORMAL"),
        });

        self.add_targets(source, primitive, start, end)
    }

    /// Adds the displacements of the stored vertices `start..end`.
    fn add_targets(
        &mut self,
        source: &Source<'_>,
        primitive: &Primitive,
        start: usize,
        end: usize,
    ) -> Result<(), ReadError> {
        let count = primitive.targets.len();
        let known = self.targets.len();
        if count != 0 && known != 0 && count != known {
            let message = format!(
                "its primitives have {known} and {count} targets, but need equally many; export the file again"
            );
            return Err(ReadError::whole(message));
        }

        // Tangents of targets are not read, like those of vertices. Normals are read when they are
        // written, by `target_normals`.
        self.targets
            .resize_with(count.max(known), Displacements::default);
        for (target, into) in primitive.targets.iter().zip(&mut self.targets) {
            if let Some(&accessor) = target.get("POSITION") {
                add_displacements(source, accessor, start..end, into)?;
            }
        }
        Ok(())
    }

    /// Adds the triangles of a primitive over the vertices of a block.
    fn add_part(
        &mut self,
        source: &Source<'_>,
        primitive: &Primitive,
        block: usize,
    ) -> Result<(), ReadError> {
        let range = self.blocks[block].range();
        let indices = match primitive.indices {
            Some(accessor) => {
                checked_indices(accessor, source.whole_numbers(accessor)?, range.len())?
            }
            None => (0..range.len() as u32).collect(),
        };

        let triangles = triangles(mode(primitive), &indices)?;
        let start = range.start as u32;
        let part = self.parts.len() as u32;
        self.part_of_triangle
            .extend(std::iter::repeat_n(part, triangles.len()));
        self.triangles
            .extend(triangles.into_iter().map(|t| t.map(|v| v + start)));

        let materials = source.document.materials.len();
        if let Some(material) = primitive.material.filter(|&k| k >= materials) {
            let message = format!(
                "a primitive has material {material}, but there are {materials} materials; export the file again"
            );
            return Err(ReadError::whole(message));
        }

        // An index into the materials of the document; `MeshAssembly` renumbers it.
        self.parts.push(Part {
            block,
            material: primitive.material,
        });

        Ok(())
    }
}

/// Adds the displacements of an accessor to those of the stored vertices of `range`.
pub(super) fn add_displacements(
    source: &Source<'_>,
    accessor: usize,
    range: std::ops::Range<usize>,
    into: &mut Displacements,
) -> Result<(), ReadError> {
    let start = range.start;
    source.each_displacement(accessor, range.len(), |row, delta| {
        into.vertices.push((start + row) as u32);
        into.deltas.push(delta);
    })?;
    // A rig has many targets; the reserve of growing lists would be as large as the lists.
    into.vertices.shrink_to_fit();
    into.deltas.shrink_to_fit();
    Ok(())
}

/// The indices of the primitives that are read, in the order of the parts: all but lines.
pub(in crate::formats::gltf) fn read_primitives(mesh: &Mesh) -> Vec<usize> {
    let is_read = |&k: &usize| !LINES.contains(&mode(&mesh.primitives[k]));
    (0..mesh.primitives.len()).filter(is_read).collect()
}

fn mode(primitive: &Primitive) -> u32 {
    primitive.mode.unwrap_or(TRIANGLES)
}

/// The stored vertices that a primitive adds.
struct VertexRun<'a> {
    source: &'a Source<'a>,
    attributes: &'a Attributes,
    start: usize,
    end: usize,
}

impl VertexRun<'_> {
    /// Adds an attribute to `values`; zero for vertices of primitives without it.
    fn fill<const N: usize>(
        &self,
        name: &str,
        kinds: &[&str],
        values: &mut Vec<[f32; N]>,
    ) -> Result<bool, ReadError> {
        let Some(&accessor) = self.attributes.get(name) else {
            if !values.is_empty() {
                values.resize(self.end, [0.0; N]);
            }
            return Ok(false);
        };

        let own = self.source.vectors::<N>(accessor, kinds)?;
        let found = own.len();
        let expected = self.end - self.start;
        if found != expected {
            let message = format!(
                "accessor {accessor} ({name}) has {found} rows for {expected} vertices; export the file again"
            );
            return Err(ReadError::whole(message));
        }

        values.resize(self.start, [0.0; N]);
        values.extend(own);
        Ok(true)
    }

    /// Adds `NAME_0`, `NAME_1`, … and returns how many the primitive has.
    fn sets<const N: usize>(
        &self,
        name: &str,
        kinds: &[&str],
        sets: &mut Vec<Vec<[f32; N]>>,
    ) -> Result<usize, ReadError> {
        let own = (0..)
            .take_while(|k| self.attributes.contains_key(&format!("{name}{k}")))
            .count();

        if sets.len() < own {
            sets.resize_with(own, Vec::new);
        }

        // Sets that only other primitives have are filled up.
        let filled = (sets.len() - own).saturating_mul((self.end - self.start).saturating_mul(N));
        self.source
            .buffers
            .budget
            .spend(filled, format_args!("the sets {name}"))?;
        for (k, set) in sets.iter_mut().enumerate() {
            self.fill(&format!("{name}{k}"), kinds, set)?;
            set.resize(self.end, [0.0; N]);
        }

        Ok(own)
    }
}

/// The indices, if all are below the number of vertices.
fn checked_indices(
    accessor: usize,
    indices: Vec<u32>,
    vertices: usize,
) -> Result<Vec<u32>, ReadError> {
    let Some(k) = indices.iter().position(|&i| i as usize >= vertices) else {
        return Ok(indices);
    };

    let vertex = indices[k];
    let message = format!(
        "index {k} of accessor {accessor} names vertex {vertex}, but there are {vertices} vertices; repair the faces"
    );
    Err(ReadError::whole(message))
}

/// The triangles of a primitive in any of the triangle modes.
fn triangles(mode: u32, indices: &[u32]) -> Result<Vec<[u32; 3]>, ReadError> {
    Ok(match mode {
        POINTS => Vec::new(),
        TRIANGLES => indices
            .chunks_exact(3)
            .map(|t| [t[0], t[1], t[2]])
            .collect(),
        // Every second triangle of a strip is flipped, so that all have the same orientation.
        STRIP => indices
            .windows(3)
            .enumerate()
            .map(|(k, t)| {
                if k % 2 == 0 {
                    [t[0], t[1], t[2]]
                } else {
                    [t[0], t[2], t[1]]
                }
            })
            .collect(),
        FAN => indices
            .windows(2)
            .skip(1)
            .map(|t| [indices[0], t[0], t[1]])
            .collect(),
        other => {
            return Err(ReadError::whole(format!(
                "a primitive has the unknown mode {other}; export the file again"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_become_triangles_of_one_orientation() {
        let quad = [0, 1, 2, 3];
        assert_eq!(triangles(STRIP, &quad).unwrap(), [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(triangles(FAN, &quad).unwrap(), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(triangles(TRIANGLES, &quad).unwrap(), [[0, 1, 2]]);
        assert!(triangles(FAN, &[]).unwrap().is_empty());
        assert!(triangles(9, &quad).is_err());
    }
}
