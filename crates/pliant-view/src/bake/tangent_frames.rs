//! Tangent frames: the directions of growing `u` and `v` along a surface.
//!
//! **Method.** Corners with the same vertex, UV and orientation of the layout share a tangent: the
//! mean of those of their triangles, weighted by area, and made perpendicular to the normal. At a
//! mirrored UV seam, the orientation changes its sign, and the tangents of both sides differ.

use std::collections::HashMap;

use glam::{DMat3, DVec2, DVec3};
use pliant_mesh::Mesh;

use super::uv_layout::UvLayout;

/// The tangents of a pose.
pub(super) struct Tangents {
    of_group: Vec<DVec3>,
    /// For each triangle, the groups of its corners and the orientation (±1) of its UVs; `None` for
    /// triangles without UV area.
    of_triangle: Vec<Option<([u32; 3], f64)>>,
}

impl Tangents {
    pub(super) fn of(
        mesh: &Mesh,
        layout: &UvLayout,
        positions: &[DVec3],
        normals: &[DVec3],
    ) -> Self {
        let mut groups = CornerGroups::default();
        let mut of_triangle = Vec::with_capacity(layout.uvs.len());
        for (corners, uvs) in mesh.triangles().iter().zip(&layout.uvs) {
            let oriented = uvs.and_then(|uvs| Some((uvs, uv_area(uvs)?)));
            let Some((uvs, area)) = oriented else {
                of_triangle.push(None);
                continue;
            };

            // Each corner adds the tangent of its triangle, in its own tangent plane.
            let points = corners.map(|v| positions[v as usize]);
            let tangent = along_u(points, uvs) * area.signum();
            let weight = (points[1] - points[0])
                .cross(points[2] - points[0])
                .length();
            let indices = std::array::from_fn(|k| {
                let group = groups.group(corners[k], uvs[k], area > 0.0);
                let normal = normals[corners[k] as usize];
                groups.sums[group as usize] +=
                    tangential(tangent, normal).normalize_or_zero() * weight;
                group
            });
            of_triangle.push(Some((indices, area.signum())));
        }

        Self {
            of_group: groups.tangents(normals),
            of_triangle,
        }
    }

    /// Tangent, bitangent and normal inside a triangle, as an engine interpolates them.
    pub(super) fn frame(&self, triangle: usize, weights: [f64; 3], normal: DVec3) -> Option<DMat3> {
        let (groups, orientation) = self.of_triangle[triangle]?;
        let tangent = groups
            .iter()
            .zip(weights)
            .map(|(&group, weight)| self.of_group[group as usize] * weight)
            .sum::<DVec3>();

        Some(DMat3::from_cols(
            tangent,
            normal.cross(tangent) * orientation,
            normal,
        ))
    }
}

/// Groups of corners that share a tangent.
#[derive(Default)]
struct CornerGroups {
    /// By vertex, bits of the UV, and orientation of the layout.
    index_of: HashMap<(u32, [u64; 2], bool), u32>,
    sums: Vec<DVec3>,
    vertices: Vec<u32>,
}

impl CornerGroups {
    fn group(&mut self, vertex: u32, uv: DVec2, positive: bool) -> u32 {
        let key = (vertex, uv.to_array().map(f64::to_bits), positive);
        *self.index_of.entry(key).or_insert_with(|| {
            self.sums.push(DVec3::ZERO);
            self.vertices.push(vertex);
            self.sums.len() as u32 - 1
        })
    }

    /// The unit tangent of each group, perpendicular to the normal of its vertex.
    fn tangents(&self, normals: &[DVec3]) -> Vec<DVec3> {
        let mut tangents = Vec::with_capacity(self.sums.len());
        for (&sum, &vertex) in self.sums.iter().zip(&self.vertices) {
            let normal = normals[vertex as usize];
            let tangent = tangential(sum, normal).try_normalize();
            tangents.push(tangent.unwrap_or_else(|| perpendicular(normal)));
        }

        tangents
    }
}

/// Twice the signed area of a triangle in UV space; `None` if it is zero or not finite.
fn uv_area([a, b, c]: [DVec2; 3]) -> Option<f64> {
    let area = (b - a).perp_dot(c - a);
    (area.is_finite() && area != 0.0).then_some(area)
}

/// The direction of growing `u` times the area of the UVs.
fn along_u([a, b, c]: [DVec3; 3], uvs: [DVec2; 3]) -> DVec3 {
    (b - a) * (uvs[2].y - uvs[0].y) - (c - a) * (uvs[1].y - uvs[0].y)
}

/// The part of a vector perpendicular to a unit normal.
fn tangential(vector: DVec3, normal: DVec3) -> DVec3 {
    vector - normal * normal.dot(vector)
}

fn perpendicular(normal: DVec3) -> DVec3 {
    normal
        .try_normalize()
        .map_or(DVec3::X, |normal| normal.any_orthonormal_vector())
}
