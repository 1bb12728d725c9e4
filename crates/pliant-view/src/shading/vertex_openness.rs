//! Ambient occlusion at the vertices of several surfaces.
//!
//! **Problem.** An interactive view shows a pose for which no [`Scene`](crate::Scene) was prepared,
//! and should look as the pictures do.
//!
//! **Method.** The openness of [`AmbientOcclusion`](super::AmbientOcclusion), from positions and
//! normals in single precision as a graphics card has them. No topology is needed, so that it can be
//! repeated for each pose that comes to rest.

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;
use pliant_mesh::Bounds;

use super::{AmbientOcclusion, Occluder};
use crate::camera::projection::{UnitSpace, to_single};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1024;

/// A surface whose vertices receive light from all directions and hide it from others.
#[derive(Debug, Clone, Copy)]
pub struct OccludedSurface<'a> {
    /// The positions of its vertices, in one space for all surfaces.
    pub positions: &'a [Vec3],
    /// One unit normal for each vertex.
    pub normals: &'a [Vec3],
    /// The triangles that hide light; those of translucent parts are left out.
    pub triangles: &'a [[u32; 3]],
}

/// For each vertex of each surface, the fraction of a uniform sky over its normal that is visible,
/// 0 to 1.
///
/// Vertices that are not finite, and all beyond the last normal, are fully open. Indices of
/// triangles are checked where surfaces are made, not here.
#[must_use]
pub fn vertex_openness(surfaces: &[OccludedSurface<'_>]) -> Vec<Vec<f32>> {
    let points: Vec<DVec3> = surfaces
        .iter()
        .flat_map(|surface| surface.positions)
        .filter(|p| p.is_finite())
        .map(|p| p.as_dvec3())
        .collect();
    let space = UnitSpace::of(Bounds::of(&points));

    let placed: Vec<Vec<Vec3>> = surfaces
        .iter()
        .map(|surface| {
            parallel::map(surface.positions.len(), VERTICES_PER_TASK, |v| {
                to_single(space.point(surface.positions[v].as_dvec3()))
            })
        })
        .collect();
    let occluders: Vec<Occluder<'_>> = surfaces
        .iter()
        .zip(&placed)
        .map(|(surface, positions)| Occluder {
            positions,
            triangles: surface.triangles,
        })
        .collect();

    let ambient = AmbientOcclusion::draw(&occluders);
    surfaces
        .iter()
        .zip(&placed)
        .map(|(surface, positions)| {
            parallel::map(positions.len(), VERTICES_PER_TASK, |v| {
                let normal = surface.normals.get(v).copied().unwrap_or(Vec3::ZERO);
                if positions[v].is_finite() {
                    ambient.openness(positions[v], normal)
                } else {
                    1.0
                }
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::Mesh;
    use pliant_mesh::shapes::icosphere;

    fn single(mesh: &Mesh, scale: f32, at: Vec3) -> (Vec<Vec3>, Vec<Vec3>) {
        let normals: Vec<Vec3> = mesh.positions().iter().map(|p| p.as_vec3()).collect();
        (normals.iter().map(|n| *n * scale + at).collect(), normals)
    }

    #[test]
    fn a_ball_alone_is_open_and_dark_where_another_touches_it() {
        let mesh = icosphere(3);
        let (large, normals) = single(&mesh, 1.0, Vec3::ZERO);
        let (small, _) = single(&mesh, 0.5, Vec3::X * 1.5);
        let of = |positions| OccludedSurface {
            positions,
            normals: &normals,
            triangles: mesh.triangles(),
        };

        let alone = vertex_openness(&[of(&large)]);
        assert!(alone[0].iter().all(|&open| open > 0.97), "{alone:?}");

        let both = vertex_openness(&[of(&large), of(&small)]);
        let towards = |sign: f32| {
            let along = |v: &usize| sign * large[*v].x;
            let ends = 0..large.len();
            ends.max_by(|a, b| along(a).total_cmp(&along(b))).unwrap()
        };
        assert!(both[0][towards(1.0)] < 0.6, "{}", both[0][towards(1.0)]);
        assert!(both[0][towards(-1.0)] > 0.97);
    }

    #[test]
    fn the_size_of_a_scene_does_not_matter() {
        let mesh = icosphere(2);
        let (positions, normals) = single(&mesh, 1.0, Vec3::ZERO);
        let large: Vec<Vec3> = positions.iter().map(|p| *p * 1024.0).collect();
        let openness = |positions| {
            vertex_openness(&[OccludedSurface {
                positions,
                normals: &normals,
                triangles: mesh.triangles(),
            }])
        };
        assert_eq!(openness(&positions), openness(&large));
    }
}
