//! Tangent frames: the directions of growing `u` and `v` along a surface.
//!
//! **Form.** Corners of one vertex, one UV and one sense of the layout share a tangent: the mean,
//! by area, of those of their triangles, made perpendicular to the normal. Where a layout is
//! mirrored, the sense changes sign and the tangents of both sides stay apart.

use std::collections::HashMap;

use glam::{DMat3, DVec2, DVec3};
use pliant_mesh::Mesh;

use super::layout::Layout;

/// The tangents of a pose.
pub(super) struct Tangents {
    of_group: Vec<DVec3>,
    /// For each triangle the groups of its corners, and the sense of its UVs.
    of_triangle: Vec<Option<([u32; 3], f64)>>,
}

impl Tangents {
    pub(super) fn of(mesh: &Mesh, layout: &Layout, positions: &[DVec3], normals: &[DVec3]) -> Self {
        let mut group_of: HashMap<(u32, [u64; 2], bool), u32> = HashMap::new();
        let (mut sums, mut vertices): (Vec<DVec3>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut of_triangle = Vec::with_capacity(layout.uvs.len());
        for (corners, uvs) in mesh.triangles().iter().zip(&layout.uvs) {
            let Some((uvs, area)) = uvs
                .map(|uvs| (uvs, (uvs[1] - uvs[0]).perp_dot(uvs[2] - uvs[0])))
                .filter(|(_, area)| area.is_finite() && *area != 0.0)
            else {
                of_triangle.push(None);
                continue;
            };
            let points = corners.map(|v| positions[v as usize]);
            let weight = (points[1] - points[0])
                .cross(points[2] - points[0])
                .length();
            let tangent = along_u(points, uvs) * area.signum();
            let groups = std::array::from_fn(|k| {
                let key = (corners[k], uvs[k].to_array().map(f64::to_bits), area > 0.0);
                let group = *group_of.entry(key).or_insert_with(|| {
                    sums.push(DVec3::ZERO);
                    vertices.push(corners[k]);
                    sums.len() as u32 - 1
                });
                sums[group as usize] +=
                    flattened(tangent, normals[corners[k] as usize]).normalize_or_zero() * weight;
                group
            });
            of_triangle.push(Some((groups, area.signum())));
        }
        let unit = |(sum, &vertex): (DVec3, &u32)| {
            let normal = normals[vertex as usize];
            flattened(sum, normal)
                .try_normalize()
                .unwrap_or_else(|| perpendicular(normal))
        };
        Self {
            of_group: sums.into_iter().zip(&vertices).map(unit).collect(),
            of_triangle,
        }
    }

    /// Tangent, bitangent and normal inside a triangle, as an engine interpolates them.
    pub(super) fn frame(&self, triangle: usize, shares: [f64; 3], normal: DVec3) -> Option<DMat3> {
        let (groups, sense) = self.of_triangle[triangle]?;
        let tangent = groups
            .iter()
            .zip(shares)
            .map(|(&group, share)| self.of_group[group as usize] * share)
            .sum::<DVec3>();
        Some(DMat3::from_cols(
            tangent,
            normal.cross(tangent) * sense,
            normal,
        ))
    }
}

/// The direction of growing `u` times the area of the UVs.
fn along_u([a, b, c]: [DVec3; 3], uvs: [DVec2; 3]) -> DVec3 {
    (b - a) * (uvs[2].y - uvs[0].y) - (c - a) * (uvs[1].y - uvs[0].y)
}

fn flattened(vector: DVec3, normal: DVec3) -> DVec3 {
    vector - normal * normal.dot(vector)
}

fn perpendicular(normal: DVec3) -> DVec3 {
    normal
        .try_normalize()
        .map_or(DVec3::X, |normal| normal.any_orthonormal_vector())
}
