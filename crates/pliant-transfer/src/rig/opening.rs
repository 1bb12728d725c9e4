//! Rims of an eye or mouth opening in a plane section.
//!
//! **Problem.** Two places of another surface met, and their counterparts here are known only
//! approximately: a little too high, and the upper eyelid is taken for the lower. Find the rims.
//!
//! **Method.** Intersect the surface with the plane through the approximate middle that contains the
//! direction `c` across the opening and the direction `n` out of it. Keep the part of the section
//! within a window around the middle, and project it onto `c`: the rims are the ends of the widest
//! interval without skin that has skin on both sides.
//!
//! **Departures.** The method is our own. It treats eyelids with a thick rim and eyelids that end in
//! a boundary alike.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, TrianglePoint};

/// The window's half height along `c` and half depth along `n`, in widths of the opening.
const WINDOW: [f64; 2] = [1.5, 0.5];

/// The least width of an opening, relative to the expected one.
const NARROWEST: f64 = 0.25;

/// A plane across an opening.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// The approximate middle of the opening.
    pub(crate) middle: DVec3,
    /// From the first rim to the second, a unit vector.
    pub(crate) across: DVec3,
    /// Out of the opening, a unit vector perpendicular to `across`.
    pub(crate) outward: DVec3,
    /// The approximate width.
    pub(crate) width: f64,
}

/// An end of a segment of the section: its coordinate along `c`, and the point.
#[derive(Debug, Clone, Copy)]
struct SectionEnd {
    height: f64,
    point: TrianglePoint,
}

/// The section of one triangle, the lower end first.
type SectionSegment = [SectionEnd; 2];

impl Opening {
    /// The rims on the triangles that `is_accepted` selects, in the order of `across`.
    pub(crate) fn rims(
        &self,
        mesh: &Mesh,
        is_accepted: impl Fn(u32) -> bool,
    ) -> Option<[TrianglePoint; 2]> {
        let mut segments: Vec<SectionSegment> = Vec::new();
        for t in (0..mesh.triangles().len() as u32).filter(|&t| is_accepted(t)) {
            segments.extend(self.segment(mesh, t));
        }
        segments.sort_by(|a, b| a[0].height.total_cmp(&b[0].height));

        // Sweep upwards; `highest` is the upper end of the skin so far.
        let mut highest = segments.first()?[1];
        let mut widest = NARROWEST * self.width;
        let mut rims = None;
        for [low, high] in segments {
            let gap = low.height - highest.height;
            if gap > widest {
                widest = gap;
                rims = Some([highest.point, low.point]);
            }
            if high.height > highest.height {
                highest = high;
            }
        }
        rims
    }

    /// The section of a triangle within the window.
    fn segment(&self, mesh: &Mesh, triangle: u32) -> Option<SectionSegment> {
        let corners = mesh
            .triangle_points(triangle as usize)
            .map(|p| self.local(p));
        let [a, b] = section_ends(corners)?;
        // Skin in front of or behind the opening, such as the inside of the mouth, is clipped.
        let depths = [interpolate(corners, a).y, interpolate(corners, b).y];
        let [from, to] = clipped(depths[0], depths[1], WINDOW[1] * self.width)?;

        let end = |fraction: f64| {
            let barycentric = std::array::from_fn(|k| a[k] + (b[k] - a[k]) * fraction);
            SectionEnd {
                height: interpolate(corners, barycentric).x,
                point: TrianglePoint {
                    triangle,
                    barycentric,
                },
            }
        };
        let mut segment = [end(from), end(to)];
        if segment[0].height > segment[1].height {
            segment.swap(0, 1);
        }

        // Only segments that overlap the window along c count.
        let reach = WINDOW[0] * self.width;
        let [low, high] = segment;
        (high.height >= -reach && low.height <= reach).then_some(segment)
    }

    /// Coordinates across the opening, out of it, and perpendicular to the plane.
    fn local(&self, point: DVec3) -> DVec3 {
        let d = point - self.middle;
        let along = self.across.cross(self.outward);
        DVec3::new(d.dot(self.across), d.dot(self.outward), d.dot(along))
    }
}

/// The barycentric coordinates of the two points in which the plane `z = 0` intersects the edges.
fn section_ends(corners: [DVec3; 3]) -> Option<[[f64; 3]; 2]> {
    let mut ends: Vec<[f64; 3]> = Vec::new();
    for a in 0..3 {
        let b = (a + 1) % 3;
        // A corner on the plane counts as above it, so a section has two ends or none.
        if (corners[a].z < 0.0) != (corners[b].z < 0.0) {
            let fraction = corners[a].z / (corners[a].z - corners[b].z);
            let mut barycentric = [0.0; 3];
            barycentric[a] = 1.0 - fraction;
            barycentric[b] = fraction;
            ends.push(barycentric);
        }
    }
    ends.try_into().ok()
}

fn interpolate(corners: [DVec3; 3], w: [f64; 3]) -> DVec3 {
    corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]
}

/// The interval of fractions from `a` to `b` in which the value between them is within `±reach`.
fn clipped(a: f64, b: f64, reach: f64) -> Option<[f64; 2]> {
    if a.max(b) < -reach || a.min(b) > reach {
        return None;
    }
    if a == b {
        return Some([0.0, 1.0]);
    }

    // Linear interpolation, so the interval is where the line crosses ±reach.
    let low = ((-reach - a) / (b - a)).clamp(0.0, 1.0);
    let high = ((reach - a) / (b - a)).clamp(0.0, 1.0);
    Some([low.min(high), low.max(high)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two strips of skin along x, one above the other, with nothing between heights `low` and
    /// `high`.
    fn strips(low: f64, high: f64) -> Mesh {
        let corners = |y: f64| [DVec3::new(-3.0, y, 0.0), DVec3::new(3.0, y, 0.0)];
        let points = [low - 1.0, low, high, high + 1.0]
            .into_iter()
            .flat_map(corners)
            .collect();
        Mesh::from_triangles(points, &[[0, 1, 2], [1, 3, 2], [4, 5, 6], [5, 7, 6]]).unwrap()
    }

    #[test]
    fn the_rims_are_found_from_a_middle_on_either_of_them() {
        let mesh = strips(-0.2, 0.3);
        for y in [-0.3, -0.2, 0.0, 0.3, 0.4] {
            let opening = Opening {
                middle: DVec3::new(0.5, y, 0.1),
                across: DVec3::Y,
                outward: DVec3::Z,
                width: 0.5,
            };

            let rims = opening
                .rims(&mesh, |_| true)
                .unwrap()
                .map(|rim| rim.position(mesh.triangles(), mesh.positions()));

            assert!(
                rims[0].distance(DVec3::new(0.5, -0.2, 0.0)) < 1e-12,
                "{y}: {rims:?}"
            );

            assert!(
                rims[1].distance(DVec3::new(0.5, 0.3, 0.0)) < 1e-12,
                "{y}: {rims:?}"
            );
        }
    }

    #[test]
    fn closed_skin_and_skin_outside_the_window_have_no_rims() {
        let opening = Opening {
            middle: DVec3::ZERO,
            across: DVec3::Y,
            outward: DVec3::Z,
            width: 0.5,
        };

        assert!(opening.rims(&strips(0.0, 0.0), |_| true).is_none());
        let deep = Opening {
            middle: DVec3::Z,
            ..opening
        };

        assert!(deep.rims(&strips(-0.2, 0.3), |_| true).is_none());
    }
}
