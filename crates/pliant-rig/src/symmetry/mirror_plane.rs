//! Detection of the mirror plane of a mesh.
//!
//! **Equation.** With the unit normal `n` and the offset `o`, a point is mirrored to
//! `x − 2 (n·x − o) n` and a displacement to `d − 2 (n·d) n`. For a plane orthogonal to an axis
//! this only changes a sign, so that displacements are mirrored to the bit.
//!
//! **Method.** The candidates are the planes orthogonal to the three axes, through the origin or
//! the centre of the bounds. The one that maps most vertices onto vertices wins; of equally good
//! ones, x before y before z. If none does, the model may be rotated: each plane is then fitted by
//! Gauss–Newton steps, such that images lie in the tangent planes of the vertices next to them.
//!
//! **Source.** The fit is the point-to-plane iteration of Chen and Medioni, "Object modelling by
//! registration of multiple range images", 1992, for a reflection.

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, SurfaceIndex, vertex_normals};

use crate::point_grid::PointGrid;

/// A plane of reflection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MirrorPlane {
    normal: DVec3,
    offset: f64,
}

impl MirrorPlane {
    /// The distance of an image from a vertex that counts as a match, relative to the mean edge
    /// length.
    const MATCH_DISTANCE: f64 = 0.1;
    /// *Chosen*: on a surface, one vertex in thirty matches by chance.
    const LEAST_MATCHES: f64 = 0.25;
    /// A plane must match more vertices than those before it by this fraction.
    const LEAST_IMPROVEMENT: f64 = 0.01;

    /// The plane of all `x` with `normal · x = offset · |normal|`; `None` if the normal has no
    /// direction.
    #[must_use]
    pub fn new(normal: DVec3, offset: f64) -> Option<Self> {
        let normal = normal.try_normalize()?;
        offset.is_finite().then_some(Self { normal, offset })
    }

    /// The plane orthogonal to axis 0, 1 or 2 at a coordinate.
    ///
    /// # Panics
    /// If `axis` is above 2.
    #[must_use]
    pub fn across(axis: usize, at: f64) -> Self {
        Self {
            normal: DVec3::AXES[axis],
            offset: at,
        }
    }

    /// The plane about which the mesh is symmetric; `None` if no plane near to one orthogonal to an
    /// axis maps a quarter of the vertices onto vertices.
    #[must_use]
    pub fn find(mesh: &Mesh) -> Option<Self> {
        let diagonal = mesh.bounds()?.diagonal();

        // Planes orthogonal to the axes first; they mirror to the bit.
        let candidates: Vec<Self> = (0..3).flat_map(|axis| candidates(mesh, axis)).collect();
        if let Some((matches, plane)) = best(mesh, &candidates)
            && matches >= Self::LEAST_MATCHES
        {
            return Some(plane);
        }

        let fitted: Vec<Self> = candidates
            .iter()
            .map(|plane| plane.fitted(mesh, diagonal))
            .collect();
        let (matches, plane) = best(mesh, &fitted)?;
        (matches >= Self::LEAST_MATCHES).then_some(plane)
    }

    /// The better of the planes orthogonal to an axis through the origin and through the centre of
    /// the bounds, whether or not the mesh is symmetric about it; `None` for a mesh without
    /// vertices.
    ///
    /// # Panics
    /// If `axis` is above 2.
    #[must_use]
    pub fn find_across(mesh: &Mesh, axis: usize) -> Option<Self> {
        best(mesh, &candidates(mesh, axis)).map(|(_, plane)| plane)
    }

    /// The plane about which the surface is most nearly symmetric, whatever its tessellation, and
    /// the mean distance of images from the surface relative to the diagonal; `None` for a mesh
    /// without a surface. Only planes near to those orthogonal to an axis are tested.
    #[must_use]
    pub fn find_on_surface(mesh: &Mesh) -> Option<(Self, f64)> {
        let diagonal = mesh.bounds()?.diagonal();
        let index = SurfaceIndex::new(mesh).ok()?;

        let mut best: Option<(Self, f64)> = None;
        for candidate in (0..3).flat_map(|axis| candidates(mesh, axis)) {
            // A fit to vertices may be worse for the surface than its start, so both are tested.
            for plane in [candidate, candidate.fitted(mesh, diagonal)] {
                let Some((total, count)) = plane.total_distance(mesh, &index) else {
                    continue;
                };
                let relative = total / (diagonal * count as f64);
                if best.is_none_or(|(_, least)| relative < least) {
                    best = Some((plane, relative));
                }
            }
        }

        best
    }

    /// The sum of the distances of mirrored sample vertices from the surface, and their number.
    fn total_distance(&self, mesh: &Mesh, index: &SurfaceIndex) -> Option<(f64, usize)> {
        let images: Vec<DVec3> = sample(mesh.positions())
            .map(|p| self.mirror_point(*p))
            .collect();
        let closest = index.closest_points(&images).ok()?;
        let sum = closest.iter().map(|found| found.distance).sum::<f64>();
        Some((sum, images.len()))
    }

    /// The fraction of sample vertices whose images are within `reach` of a vertex.
    fn matches(&self, points: &[DVec3], grid: &PointGrid<'_>, reach: f64) -> f64 {
        let mut matches = 0;
        let mut count = 0;
        for point in sample(points) {
            let image = self.mirror_point(*point);
            matches += usize::from(grid.nearest(image, reach, |_| true).is_some());
            count += 1;
        }
        matches as f64 / count.max(1) as f64
    }

    /// The plane fitted to the surface, from this start.
    fn fitted(self, mesh: &Mesh, diagonal: f64) -> Self {
        const STEPS: i32 = 30;

        let points = mesh.positions();
        let normals = vertex_normals(mesh);
        let largest_reach = 0.06 * diagonal;
        let grid = PointGrid::new(points, largest_reach);
        let stride = points.len().div_ceil(SAMPLES).max(1);

        let mut plane = self;
        for step in 0..STEPS {
            // The reach shrinks: at first the plane is inaccurate, at the end parts without an
            // image must not count.
            let reach = largest_reach * 0.85_f64.powi(step);
            let mut pairs = Vec::new();
            for v in (0..points.len()).step_by(stride) {
                let image = plane.mirror_point(points[v]);
                let Some(nearest) = grid.nearest(image, reach, |_| true) else {
                    continue;
                };
                let w = nearest.index as usize;
                if plane.mirror_vector(normals[v]).dot(normals[w]) > 0.5 {
                    pairs.push(TangentPair {
                        point: points[v],
                        nearest: points[w],
                        normal: normals[w],
                    });
                }
            }

            plane = plane.gauss_newton_step(&pairs);
        }

        plane
    }

    /// One Gauss–Newton step for `g · (m(p) − q) = 0`: the image `m(p)` of each point `p` lies in
    /// the tangent plane of its nearest vertex `q` with the normal `g`.
    fn gauss_newton_step(&self, pairs: &[TangentPair]) -> Self {
        let n = self.normal;
        let (u, v) = n.any_orthonormal_pair();

        // A tilt about the centre of the points hardly moves the plane; about a far origin it
        // would.
        let sum = pairs.iter().map(|pair| pair.point).sum::<DVec3>();
        let centre = sum / pairs.len().max(1) as f64;
        let pivot = centre - n * self.distance(centre);

        // Normal equations for two tilts and the shift along the normal.
        let mut squares = DMat3::ZERO;
        let mut gradient = DVec3::ZERO;
        for pair in pairs {
            let g = pair.normal;
            let arm = pair.point - pivot;
            let tilt = |w: DVec3| -2.0 * (w.dot(arm) * n + n.dot(arm) * w).dot(g);
            let row = DVec3::new(tilt(u), tilt(v), 2.0 * n.dot(g));
            squares += DMat3::from_cols(row * row.x, row * row.y, row * row.z);
            gradient += row * g.dot(self.mirror_point(pair.point) - pair.nearest);
        }

        let step = -(squares.inverse() * gradient);
        let normal = (n + u * step.x + v * step.y).try_normalize();
        match normal.filter(|_| step.is_finite()) {
            // The plane passes through the pivot, moved along the normal.
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

    /// Its distance from the origin along the normal.
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The signed distance of a point, positive in front of it.
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

/// A vertex and the vertex next to its image.
struct TangentPair {
    point: DVec3,
    nearest: DVec3,
    /// Of the surface at `nearest`.
    normal: DVec3,
}

/// The largest number of sample vertices that test a plane.
const SAMPLES: usize = 4000;

/// The planes orthogonal to an axis through the origin and the centre of the bounds.
fn candidates(mesh: &Mesh, axis: usize) -> Vec<MirrorPlane> {
    let mut planes = vec![MirrorPlane::across(axis, 0.0)];
    if let Some(bounds) = mesh.bounds() {
        planes.push(MirrorPlane::across(axis, bounds.center()[axis]));
    }

    planes
}

/// The first of the planes that map most vertices onto vertices, with the fraction of vertices.
fn best(mesh: &Mesh, planes: &[MirrorPlane]) -> Option<(f64, MirrorPlane)> {
    let reach = MirrorPlane::MATCH_DISTANCE * length_unit(mesh);
    let grid = PointGrid::new(mesh.positions(), reach);
    let mut best: Option<(f64, MirrorPlane)> = None;

    for plane in planes {
        let matches = plane.matches(mesh.positions(), &grid, reach);
        if best.is_none_or(|(most, _)| matches > most + MirrorPlane::LEAST_IMPROVEMENT) {
            best = Some((matches, *plane));
        }
    }

    best
}

/// At most [`SAMPLES`] of the points, evenly over their order.
fn sample(points: &[DVec3]) -> impl ExactSizeIterator<Item = &DVec3> {
    points.iter().step_by(points.len().div_ceil(SAMPLES).max(1))
}

/// The mean edge length, or a thousandth of the diagonal for a mesh without edges.
pub(crate) fn length_unit(mesh: &Mesh) -> f64 {
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
        let point = DVec3::new(0.3, -4.0, 1.0);
        let vector = DVec3::new(2.0, 0.1, 5.0);
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
    fn the_plane_is_found_wherever_the_mesh_is_placed() {
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
    fn the_plane_of_a_surface_is_found_without_mirrored_vertices() {
        // An egg, pointed along x and flat along z, of a rotated sphere: no vertex has an image.
        let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
        let sphere = icosphere(4);
        let egg = |p: &DVec3| rotation.mul_vec3(*p) * DVec3::new(1.5, 1.0, 0.6);
        let pointed =
            |p: DVec3| DVec3::new(p.x, p.y * (1.0 + 0.3 * p.x) + 0.2 * p.x * p.x, p.z + 4.0);

        let mesh = sphere
            .posed(sphere.positions().iter().map(|p| pointed(egg(p))).collect())
            .unwrap();
        let (plane, distance) = MirrorPlane::find_on_surface(&mesh).unwrap();

        assert!(
            plane.normal().z.abs() > 0.999
                && (plane.offset().abs() - 4.0).abs() < 0.01
                && distance < 1e-3,
            "{plane:?} {distance}"
        );
    }
}
