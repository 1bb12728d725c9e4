//! The rims of a slit that a plane across it sees.
//!
//! **Problem.** Two places of another surface met, and their counterparts here are known only
//! roughly: a little too high, and the upper lid is taken for the lower. Find the rims themselves.
//!
//! **Rule.** Cut the surface with the plane through the rough middle that contains the way `c`
//! across the slit and the way `n` out of it. Of the cut keep what is within a window about the
//! middle, and look at it along `c` only: the rims are the ends of the widest stretch without skin
//! that has skin on both sides.
//!
//! **Ours.** All of it. Lids with a margin and lids that end in a boundary are treated alike.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, TrianglePoint};

/// The window's half height along `c` and half depth along `n`, in widths.
const WINDOW: [f64; 2] = [1.5, 0.5];

/// A slit is at least this part of the width that is expected.
const NARROWEST: f64 = 0.25;

/// A plane across a slit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slit {
    /// About the middle of the slit.
    pub(crate) middle: DVec3,
    /// From the first rim to the second, of length one.
    pub(crate) across: DVec3,
    /// Out of the slit, of length one and perpendicular to `across`.
    pub(crate) outward: DVec3,
    /// About how wide it is.
    pub(crate) width: f64,
}

/// An end of a piece of the cut: how far along `c` it lies, and where.
type CutEnd = (f64, TrianglePoint);

impl Slit {
    /// The rims on the triangles that `accepted` takes, in the order of `across`.
    pub(crate) fn rims(
        &self,
        mesh: &Mesh,
        accepted: impl Fn(u32) -> bool,
    ) -> Option<[TrianglePoint; 2]> {
        let mut pieces: Vec<[CutEnd; 2]> = (0..mesh.triangles().len() as u32)
            .filter(|&t| accepted(t))
            .filter_map(|t| self.piece(mesh, t))
            .collect();
        pieces.sort_by(|a, b| a[0].0.total_cmp(&b[0].0));
        let mut last = pieces.first()?[1];
        let mut widest: Option<(f64, [TrianglePoint; 2])> = None;
        for [from, to] in pieces {
            let opening = from.0 - last.0;
            if opening > NARROWEST * self.width && widest.is_none_or(|(known, _)| opening > known) {
                widest = Some((opening, [last.1, from.1]));
            }
            if to.0 > last.0 {
                last = to;
            }
        }
        widest.map(|(_, rims)| rims)
    }

    /// What of a triangle the plane cuts within the window, from low to high.
    fn piece(&self, mesh: &Mesh, triangle: u32) -> Option<[CutEnd; 2]> {
        let along = self.across.cross(self.outward);
        let local = mesh.triangle_points(triangle as usize).map(|p| {
            let d = p - self.middle;
            DVec3::new(d.dot(self.across), d.dot(self.outward), d.dot(along))
        });
        let mut ends: Vec<[f64; 3]> = Vec::new();
        for k in 0..3 {
            let (a, b) = (k, (k + 1) % 3);
            if (local[a].z < 0.0) != (local[b].z < 0.0) {
                let share = local[a].z / (local[a].z - local[b].z);
                let mut barycentric = [0.0; 3];
                (barycentric[a], barycentric[b]) = (1.0 - share, share);
                ends.push(barycentric);
            }
        }
        let [a, b] = <[[f64; 3]; 2]>::try_from(ends).ok()?;
        let at = |w: [f64; 3]| local[0] * w[0] + local[1] * w[1] + local[2] * w[2];
        let [from, to] = clipped(at(a).y, at(b).y, WINDOW[1] * self.width)?;
        let end = |share: f64| {
            let barycentric = std::array::from_fn(|k| a[k] + (b[k] - a[k]) * share);
            (
                at(barycentric).x,
                TrianglePoint {
                    triangle,
                    barycentric,
                },
            )
        };
        let (from, to) = (end(from), end(to));
        let (low, high) = if from.0 <= to.0 {
            (from, to)
        } else {
            (to, from)
        };
        let reach = WINDOW[0] * self.width;
        (high.0 >= -reach && low.0 <= reach).then_some([low, high])
    }
}

/// The part of the way from `a` to `b` where the value between them is within `±reach`.
fn clipped(a: f64, b: f64, reach: f64) -> Option<[f64; 2]> {
    let at = |value: f64| ((value - a) / (b - a)).clamp(0.0, 1.0);
    if a.max(b) < -reach || a.min(b) > reach {
        return None;
    }
    Some(if a == b {
        [0.0, 1.0]
    } else {
        [at(-reach).min(at(reach)), at(-reach).max(at(reach))]
    })
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
    fn the_rims_are_found_from_a_middle_that_lies_on_either_of_them() {
        let mesh = strips(-0.2, 0.3);
        for y in [-0.3, -0.2, 0.0, 0.3, 0.4] {
            let slit = Slit {
                middle: DVec3::new(0.5, y, 0.1),
                across: DVec3::Y,
                outward: DVec3::Z,
                width: 0.5,
            };
            let rims = slit
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
    fn whole_skin_and_skin_out_of_the_window_have_no_rims() {
        let slit = Slit {
            middle: DVec3::ZERO,
            across: DVec3::Y,
            outward: DVec3::Z,
            width: 0.5,
        };
        assert!(slit.rims(&strips(0.0, 0.0), |_| true).is_none());
        let deep = Slit {
            middle: DVec3::Z,
            ..slit
        };
        assert!(deep.rims(&strips(-0.2, 0.3), |_| true).is_none());
    }
}
