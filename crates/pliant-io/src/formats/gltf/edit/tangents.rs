//! Displacements of tangents: how the tangents of a mesh turn when a target moves its vertices.
//!
//! **Problem.** A normal map is applied in the frame of normal and tangent. A target that moves only
//! positions leaves the tangents behind.
//!
//! **Equation.** With edges `e₁, e₂` of a triangle and the changes `(u₁, v₁), (u₂, v₂)` of its UVs along
//! them, the direction of growing `u` is
//!
//! ```text
//! T = (v₂ e₁ − v₁ e₂) / (u₁ v₂ − u₂ v₁)
//! ```
//!
//! Sums of `T` and of area vectors over the triangles of a stored vertex give a frame `F` at rest and
//! `F'` moved, and the stored tangent `t` changes by `F' Fᵀ t − t`.
//!
//! **Departures.** The frame comes from the first UV set, and its rotation is applied to the tangents as
//! stored, whichever way they were made. Small changes are left out, as for normals.

use pliant_mesh::glam::{DMat3, DVec2, DVec3};
use pliant_rig::Target;

use super::DocumentEdit;
use crate::gltf::document::Attributes;
use crate::gltf::seams::Displacements;
use crate::gltf::write::{BufferBuilder, MeshLayout};

/// Chosen, as for normals: a smaller change of a unit tangent (0.3 degrees) is hardly visible.
const LEAST: f64 = 5e-3;

/// The tangents of the stored vertices of a mesh.
pub(super) struct StoredTangents {
    tangents: Vec<DVec3>,
    positions: Vec<DVec3>,
    uvs: Vec<DVec2>,
    triangles: Vec<[u32; 3]>,
}

impl DocumentEdit<'_> {
    /// The tangents that new targets of an object displace; `None` if its vertices have none, or if the
    /// targets of the file do not displace them.
    pub(super) fn stored_tangents(&self, k: usize) -> Option<StoredTangents> {
        let object = &self.asset.objects[k];
        let seams = object.seams.as_ref()?;
        let mesh = &self.source.document.meshes[self.before.placed[k].mesh];
        let mut targets = mesh.primitives.iter().flat_map(|p| &p.targets).peekable();
        if targets.peek().is_some() && !targets.any(|target| target.contains_key("TANGENT")) {
            return None;
        }
        if self.changes[k].attributes() || !seams.fit(object.rig.neutral()) {
            return None;
        }

        let mut of_blocks = vec![None; seams.blocks.len()];
        for (part, primitive) in seams.parts.iter().zip(self.primitives_of_parts(k)) {
            of_blocks[part.block] = Some(&mesh.primitives[primitive].attributes);
        }
        let mut tangents = Vec::with_capacity(seams.vertex_of.len());
        let mut uvs = Vec::with_capacity(seams.vertex_of.len());
        for attributes in of_blocks {
            let attributes = attributes?;
            let own = self
                .source
                .vectors::<4>(*attributes.get("TANGENT")?, &["VEC4"])
                .ok()?;
            tangents.extend(
                own.iter()
                    .map(|t| DVec3::from_array([t[0], t[1], t[2]].map(f64::from))),
            );
            let own = self
                .source
                .vectors::<2>(*attributes.get("TEXCOORD_0")?, &["VEC2"])
                .ok()?;
            uvs.extend(own.iter().map(|uv| DVec2::from_array(uv.map(f64::from))));
        }

        let positions = object.rig.neutral().positions();
        let positions = seams.vertex_of.iter().map(|&v| positions[v as usize]);
        let faces: Vec<u32> = (0..object.rig.neutral().face_count() as u32).collect();
        let indices = MeshLayout::of(object, seams).indices(&faces, 0);
        let complete = tangents.len() == seams.vertex_of.len() && uvs.len() == tangents.len();
        complete.then(|| StoredTangents {
            tangents,
            positions: positions.collect(),
            uvs,
            triangles: indices.as_chunks().0.to_vec(),
        })
    }
}

impl StoredTangents {
    /// Adds the displacements of tangents of a target to the attributes of each block.
    pub(super) fn add_target(
        &self,
        layout: &MeshLayout<'_>,
        target: &Target,
        buffer: &mut BufferBuilder,
        attributes: &mut [Attributes],
    ) {
        let deltas = target.deltas.iter().map(|d| d.to_array());
        let moved = layout.stored(target.vertices.iter().copied().zip(deltas));
        let turned = self.turned(&moved);
        layout.add_displacements("TANGENT", &turned, buffer, attributes);
    }

    fn turned(&self, moved: &Displacements) -> Displacements {
        let mut positions = self.positions.clone();
        let mut touched = vec![false; positions.len()];
        for (&stored, delta) in moved.vertices.iter().zip(&moved.deltas) {
            positions[stored as usize] += DVec3::from_array(delta.map(f64::from));
            touched[stored as usize] = true;
        }

        let near = |t: &&[u32; 3]| t.iter().any(|&s| touched[s as usize]);
        let mut affected: Vec<u32> = self
            .triangles
            .iter()
            .filter(near)
            .flatten()
            .copied()
            .collect();
        affected.sort_unstable();
        affected.dedup();
        let mut is_affected = vec![false; positions.len()];
        for &stored in &affected {
            is_affected[stored as usize] = true;
        }

        let mut rest = vec![Frame::default(); positions.len()];
        let mut now = rest.clone();
        let around = |t: &&[u32; 3]| t.iter().any(|&s| is_affected[s as usize]);
        for triangle in self.triangles.iter().filter(around) {
            let before = self.frame(triangle, &self.positions);
            let after = self.frame(triangle, &positions);
            for &stored in triangle {
                rest[stored as usize].add(&before);
                now[stored as usize].add(&after);
            }
        }

        let mut turned = Displacements::default();
        for stored in affected {
            let frames = (rest[stored as usize].axes(), now[stored as usize].axes());
            let (Some(rest), Some(now)) = frames else {
                continue;
            };
            let tangent = self.tangents[stored as usize];
            let change = now * (rest.transpose() * tangent) - tangent;
            if change.length() >= LEAST {
                turned.vertices.push(stored);
                turned.deltas.push(change.as_vec3().to_array());
            }
        }
        turned
    }

    fn frame(&self, triangle: &[u32; 3], positions: &[DVec3]) -> Frame {
        let [a, b, c] = triangle.map(|s| positions[s as usize]);
        let [ua, ub, uc] = triangle.map(|s| self.uvs[s as usize]);
        let (first, second) = (ub - ua, uc - ua);
        let area = (b - a).cross(c - a);
        let determinant = first.perp_dot(second);
        let along = ((b - a) * second.y - (c - a) * first.y) * determinant.signum();
        Frame {
            tangent: along.normalize_or_zero() * area.length(),
            normal: area,
        }
    }
}

/// The direction of growing `u` and the normal, weighted by area.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    tangent: DVec3,
    normal: DVec3,
}

impl Frame {
    fn add(&mut self, other: &Self) {
        self.tangent += other.tangent;
        self.normal += other.normal;
    }

    /// An orthonormal frame; `None` for degenerate triangles or UVs.
    fn axes(&self) -> Option<DMat3> {
        let normal = self.normal.try_normalize()?;
        let tangent = self
            .tangent
            .reject_from_normalized(normal)
            .try_normalize()?;
        Some(DMat3::from_cols(tangent, normal.cross(tangent), normal))
    }
}
