//! Areas, normals and lengths.

use glam::DVec3;

use crate::Mesh;

/// Whether a triangle's three vertices differ.
pub(crate) fn distinct_corners([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

/// A triangle is flat when its height is below this part of its longest side: there its area is
/// rounding noise.
const FLAT: f64 = 1e-12;

/// Whether a triangle has no area to working precision; false where a corner is NaN.
pub(crate) fn is_flat([a, b, c]: [DVec3; 3]) -> bool {
    let longest_squared = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    area_vector([a, b, c]).length() <= FLAT * longest_squared
}

/// The area of a triangle in space.
#[must_use]
pub fn triangle_area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * area_vector([a, b, c]).length()
}

/// The unit normal of a triangle, counter-clockwise seen from outside; zero where it has no area.
#[must_use]
pub fn triangle_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    area_vector([a, b, c]).normalize_or_zero()
}

/// Along the normal, twice as long as the area is large.
#[inline]
pub(crate) fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

impl Mesh {
    /// The area of the surface.
    #[must_use]
    pub fn area(&self) -> f64 {
        (0..self.triangles().len())
            .map(|t| triangle_area(self.triangle_points(t)))
            .sum()
    }

    /// The volume that a closed, outward surface encloses; the signed sum over cones to the origin
    /// otherwise.
    #[must_use]
    pub fn signed_volume(&self) -> f64 {
        (0..self.triangles().len())
            .map(|t| {
                let [a, b, c] = self.triangle_points(t);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// The mean length of all edges; zero without edges. The unit of every default length.
    #[must_use]
    pub fn mean_edge_length(&self) -> f64 {
        let edges = self.topology().edges();
        let total: f64 = edges.iter().map(|e| self.edge_length(*e)).sum();
        if edges.is_empty() {
            0.0
        } else {
            total / edges.len() as f64
        }
    }

    fn edge_length(&self, [a, b]: [u32; 2]) -> f64 {
        self.positions()[a as usize].distance(self.positions()[b as usize])
    }
}
