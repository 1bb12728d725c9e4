//! The plane that a character is symmetric about.
//!
//! **Equation.** With the unit normal `n` and the offset `o`, a point goes to `x − 2 (n·x − o) n`
//! and a displacement to `d − 2 (n·d) n`. Across an axis this only changes a sign, so that
//! displacements are mirrored to the bit.
//!
//! **Ours.** The plane is found among those across the three axes, through the origin or the middle
//! of the bounds: the one that carries most vertices onto vertices, x before y before z where they
//! are equally good. Where none does, the model may stand askew: each plane is then turned and
//! moved by Gauss and Newton's steps, so that images come to lie in the tangent planes of the
//! vertices next to them (the point-to-plane iteration of Chen and Medioni, 1992, for a mirror).

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, SurfaceIndex, vertex_normals};

use super::point_grid::PointGrid;

/// A plane to mirror at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MirrorPlane {
    normal: DVec3,
    offset: f64,
}

impl MirrorPlane {
    /// A vertex carried this near to another, in mean edges, speaks for a plane.
    const NEAR: f64 = 0.1;
    /// Ours: on a surface, one vertex in thirty is that near by chance.
    const LEAST_SHARE: f64 = 0.25;
    /// A plane must be better by this share of the vertices than those before it.
    const CLEARLY: f64 = 0.01;

    /// The plane of all `x` with `normal · x = offset · |normal|`; nothing where the normal has no
    /// direction.
    #[must_use]
    pub fn new(normal: DVec3, offset: f64) -> Option<Self> {
        let normal = normal.try_normalize()?;
        offset.is_finite().then_some(Self { normal, offset })
    }

    /// The plane across axis 0, 1 or 2 at a coordinate.
    ///
    /// # Panics
    /// Beyond three axes.
    #[must_use]
    pub fn across(axis: usize, at: f64) -> Self {
        Self {
            normal: DVec3::AXES[axis],
            offset: at,
        }
    }

    /// The plane about which the mesh is symmetric; nothing where no plane near to one across an
    /// axis carries a quarter of it onto itself.
    #[must_use]
    pub fn find(mesh: &Mesh) -> Option<Self> {
        let diagonal = mesh.bounds()?.diagonal();
        let candidates: Vec<Self> = (0..3).flat_map(|axis| candidates(mesh, axis)).collect();
        let straight = best(mesh, &candidates);
        if straight.is_some_and(|(share, _)| share >= Self::LEAST_SHARE) {
            return straight.map(|(_, plane)| plane);
        }
        let fitted: Vec<Self> = candidates
            .iter()
            .map(|plane| plane.fitted(mesh, diagonal))
            .collect();
        best(mesh, &fitted)
            .filter(|(share, _)| *share >= Self::LEAST_SHARE)
            .map(|(_, plane)| plane)
    }

    /// The better of the planes across an axis through the origin and through the middle of the
    /// bounds, whether or not the mesh is symmetric about it; nothing for a mesh without
    /// vertices.
    ///
    /// # Panics
    /// Beyond three axes.
    #[must_use]
    pub fn find_across(mesh: &Mesh, axis: usize) -> Option<Self> {
        best(mesh, &candidates(mesh, axis)).map(|(_, plane)| plane)
    }

    /// The plane about which the surface is most nearly symmetric, however it is meshed, and the
    /// mean distance of images from the surface as a part of the diagonal; nothing for a mesh
    /// without a surface. Planes near to those across an axis are looked at.
    #[must_use]
    pub fn find_on_surface(mesh: &Mesh) -> Option<(Self, f64)> {
        let diagonal = mesh.bounds()?.diagonal();
        let index = SurfaceIndex::new(mesh).ok()?;
        let straight = (0..3).flat_map(|axis| candidates(mesh, axis));
        let planes = straight.flat_map(|plane| [plane, plane.fitted(mesh, diagonal)]);
        let judged = planes.map(|plane| {
            let images: Vec<DVec3> = sample(mesh.positions())
                .map(|p| plane.mirror_point(*p))
                .collect();
            let off = index
                .closest_points(&images)
                .ok()?
                .iter()
                .map(|found| found.distance)
                .sum::<f64>();
            Some((plane, off / (diagonal * images.len() as f64)))
        });
        judged
            .flatten()
            .reduce(|best, next| if next.1 < best.1 { next } else { best })
    }

    /// The share of (some thousand) vertices that are carried near to a vertex.
    fn share(&self, points: &[DVec3], grid: &PointGrid<'_>, near: f64) -> f64 {
        let sample = sample(points);
        let count = sample.len();
        let hits = sample
            .filter(|p| {
                grid.nearest(self.mirror_point(**p), near, |_| true)
                    .is_some()
            })
            .count();
        hits as f64 / count.max(1) as f64
    }

    /// The plane fitted to the surface.
    fn fitted(self, mesh: &Mesh, diagonal: f64) -> Self {
        const STEPS: i32 = 30;
        let (points, normals) = (mesh.positions(), vertex_normals(mesh));
        let reach = 0.06 * diagonal;
        let grid = PointGrid::new(points, reach);
        let mut plane = self;
        for step in 0..STEPS {
            // From far, while the plane is far off, to near, where parts without an image no longer
            // count.
            let reach = reach * 0.85_f64.powi(step);
            let pair = |(v, p): (usize, &DVec3)| {
                let nearest = grid.nearest(plane.mirror_point(*p), reach, |_| true)?.index as usize;
                let alike = plane.mirror_vector(normals[v]).dot(normals[nearest]) > 0.5;
                alike.then_some((*p, points[nearest], normals[nearest]))
            };
            let stride = points.len().div_ceil(SAMPLES).max(1);
            let pairs: Vec<_> = points
                .iter()
                .enumerate()
                .step_by(stride)
                .filter_map(pair)
                .collect();
            plane = plane.stepped(&pairs);
        }
        plane
    }

    /// One step of Gauss and Newton to images `m` of points `p` in tangent planes: `g · (m(p) − q)
    /// = 0` for each `p`, `q`, `g`.
    fn stepped(&self, pairs: &[(DVec3, DVec3, DVec3)]) -> Self {
        let n = self.normal;
        let (u, v) = n.any_orthonormal_pair();
        // Tilts about the middle of the points hardly move the plane; about a far origin they
        // would.
        let middle = pairs.iter().map(|(p, ..)| *p).sum::<DVec3>() / pairs.len().max(1) as f64;
        let pivot = middle - n * self.distance(middle);
        let (mut squares, mut gradient) = (DMat3::ZERO, DVec3::ZERO);
        for &(p, q, g) in pairs {
            let arm = p - pivot;
            let tilt = |w: DVec3| -2.0 * (w.dot(arm) * n + n.dot(arm) * w).dot(g);
            let row = DVec3::new(tilt(u), tilt(v), 2.0 * n.dot(g));
            squares += DMat3::from_cols(row * row.x, row * row.y, row * row.z);
            gradient += row * g.dot(self.mirror_point(p) - q);
        }
        let step = -(squares.inverse() * gradient);
        let normal = (n + u * step.x + v * step.y).try_normalize();
        match normal.filter(|_| step.is_finite()) {
            // The plane still goes through the pivot, moved along the normal.
            Some(normal) => Self {
                normal,
                offset: normal.dot(pivot + n * step.z),
            },
            None => *self,
        }
    }

    /// The unit normal.
    #[must_use]
    pub fn normal(&self) -> DVec3 {
        self.normal
    }

    /// How far along the normal it lies from the origin.
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// How far in front of it a point is.
    #[must_use]
    pub fn distance(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }

    /// The mirror image of a point.
    #[must_use]
    pub fn mirror_point(&self, point: DVec3) -> DVec3 {
        point - self.normal * (2.0 * self.distance(point))
    }

    /// The mirror image of a displacement.
    #[must_use]
    pub fn mirror_vector(&self, vector: DVec3) -> DVec3 {
        vector - self.normal * (2.0 * self.normal.dot(vector))
    }
}

/// How many vertices are enough to judge a plane by.
const SAMPLES: usize = 4000;

fn candidates(mesh: &Mesh, axis: usize) -> Vec<MirrorPlane> {
    let center = mesh.bounds().map(|bounds| bounds.center()[axis]);
    std::iter::once(0.0)
        .chain(center)
        .map(|at| MirrorPlane::across(axis, at))
        .collect()
}

/// The first of the planes that carry most vertices onto vertices, with their share.
fn best(mesh: &Mesh, planes: &[MirrorPlane]) -> Option<(f64, MirrorPlane)> {
    let near = MirrorPlane::NEAR * unit(mesh);
    let grid = PointGrid::new(mesh.positions(), near);
    let mut best: Option<(f64, MirrorPlane)> = None;
    for plane in planes {
        let share = plane.share(mesh.positions(), &grid, near);
        if best.is_none_or(|(known, _)| share > known + MirrorPlane::CLEARLY) {
            best = Some((share, *plane));
        }
    }
    best
}

/// Some thousand of the points, evenly over their order.
fn sample(points: &[DVec3]) -> impl ExactSizeIterator<Item = &DVec3> {
    points.iter().step_by(points.len().div_ceil(SAMPLES).max(1))
}

/// The mean edge, or without edges a thousandth of the diagonal.
pub(crate) fn unit(mesh: &Mesh) -> f64 {
    let edge = mesh.mean_edge_length();
    if edge > 0.0 {
        edge
    } else {
        mesh.bounds().map_or(0.0, |b| b.diagonal()) * 1e-3
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    use super::*;

    #[test]
    fn mirroring_twice_returns_the_point_and_keeps_lengths() {
        let plane = MirrorPlane::new(DVec3::new(1.0, 2.0, -0.5), 0.7).unwrap();
        let (point, vector) = (DVec3::new(0.3, -4.0, 1.0), DVec3::new(2.0, 0.1, 5.0));
        assert!(
            plane
                .mirror_point(plane.mirror_point(point))
                .distance(point)
                < 1e-14
        );
        assert!((plane.mirror_vector(vector).length() - vector.length()).abs() < 1e-14);
        assert!((plane.distance(point) + plane.distance(plane.mirror_point(point))).abs() < 1e-14);
        assert_eq!(
            MirrorPlane::across(0, 0.0).mirror_vector(vector),
            DVec3::new(-2.0, 0.1, 5.0)
        );
        assert!(MirrorPlane::new(DVec3::ZERO, 0.0).is_none());
    }

    #[test]
    fn the_plane_is_found_wherever_the_mesh_stands() {
        // An egg, pointed along x, so that only y and z are planes of symmetry.
        let sphere = icosphere(3);
        for shift in [DVec3::ZERO, DVec3::new(3.0, -2.0, 5.0)] {
            let egg = sphere
                .positions()
                .iter()
                .map(|p| DVec3::new(p.x + 0.3 * p.x * p.x, p.y, p.z) + shift);
            let plane = MirrorPlane::find(&sphere.posed(egg.collect()).unwrap()).unwrap();
            assert_eq!(plane.normal(), DVec3::Y);
            assert!((plane.offset() - shift.y).abs() < 1e-12);
        }
        assert_eq!(MirrorPlane::find(&bumpy_sheet(20, 0.3)), None);
    }

    #[test]
    fn a_surface_without_mirrored_vertices_still_has_its_plane() {
        // An egg, pointed along x and flat along z, of a sphere that was turned before: no vertex
        // has an image.
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
        let sphere = icosphere(4);
        let egg = |p: &DVec3| turn.mul_vec3(*p) * DVec3::new(1.5, 1.0, 0.6);
        let pointed =
            |p: DVec3| DVec3::new(p.x, p.y * (1.0 + 0.3 * p.x) + 0.2 * p.x * p.x, p.z + 4.0);
        let mesh = sphere
            .posed(sphere.positions().iter().map(|p| pointed(egg(p))).collect())
            .unwrap();
        let (plane, off) = MirrorPlane::find_on_surface(&mesh).unwrap();
        assert!(
            plane.normal().z.abs() > 0.999
                && (plane.offset().abs() - 4.0).abs() < 0.01
                && off < 1e-3,
            "{plane:?} {off}"
        );
    }
}
