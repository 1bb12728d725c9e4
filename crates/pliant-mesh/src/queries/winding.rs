//! Fast winding numbers: inside tests for many points, with dipoles for distant triangles.
//!
//! **Problem.** [`SurfaceIndex::winding_number`](crate::SurfaceIndex::winding_number) adds up all
//! triangles; for a hundred thousand queries, logarithmic cost is needed.
//!
//! **Equation.** Seen from a point `p` that is far from a group of triangles with areas `A` and
//! unit normals `n`, the group is a dipole at its area-weighted centre `c`:
//!
//! ```text
//! w(p) ≈ (c − p) · Σ A n / (4π |c − p|³)
//! ```
//!
//! **Source.** Barill, Dickson, Schmidt, Levin, Jacobson, "Fast Winding Numbers for Soups and
//! Clouds", SIGGRAPH 2018: the first term of their expansion.
//!
//! **Departures.** Groups of a few triangles are summed exactly, so that next to the surface only
//! distant groups contribute an error.

use std::f64::consts::TAU;

use glam::DVec3;

use crate::queries::surface_index::{half_solid_angle, require_moderate};
use crate::{Mesh, MeshError, triangle_area};

/// A group is far from this many of its radii on. Chosen: the tests bound the error of dipoles by
/// 0.05.
const FAR: f64 = 2.5;

/// Triangles in a group that is not split.
const LEAF: usize = 8;

/// A tree over triangles for winding numbers.
#[derive(Debug, Clone)]
pub struct WindingTree {
    /// In preorder: the first child of a group follows it.
    groups: Vec<Group>,
    corners: Vec<[DVec3; 3]>,
}

#[derive(Debug, Clone)]
struct Group {
    center: DVec3,
    dipole: DVec3,
    radius: f64,
    /// The group's triangles.
    start: u32,
    end: u32,
    /// The first group that is not part of this one.
    next: u32,
}

impl WindingTree {
    /// Builds the tree; needs at least one triangle and finite positions below 1e70.
    pub fn new(mesh: &Mesh) -> Result<Self, MeshError> {
        require_moderate(mesh)?;
        let mut tree = Self {
            groups: Vec::new(),
            corners: (0..mesh.triangles().len())
                .map(|t| mesh.triangle_points(t))
                .collect(),
        };
        tree.split(0, mesh.triangles().len());
        Ok(tree)
    }

    /// How often the surface winds around `query`, to a few hundredths.
    #[must_use]
    pub fn winding_number(&self, query: DVec3) -> f64 {
        let mut half_angles = 0.0;
        let mut g = 0;
        while let Some(group) = self.groups.get(g) {
            let offset = group.center - query;
            let distance = offset.length();
            let is_leaf = (group.end - group.start) as usize <= LEAF;

            // A far group counts as a dipole, a near leaf is summed, a near group is opened.
            if distance > FAR * group.radius {
                half_angles += 0.5 * offset.dot(group.dipole) / distance.powi(3);
            } else if is_leaf {
                let triangles = &self.corners[group.start as usize..group.end as usize];
                half_angles += triangles
                    .iter()
                    .map(|corners| half_solid_angle(corners.map(|p| p - query)))
                    .sum::<f64>();
            } else {
                g += 1;
                continue;
            }

            g = group.next as usize;
        }

        half_angles / TAU
    }

    /// Whether `query` is inside: the surface winds around it by more than one half.
    #[must_use]
    pub fn contains(&self, query: DVec3) -> bool {
        self.winding_number(query) > 0.5
    }

    /// Makes a group of a range of triangles, halved along the longest side of its box.
    fn split(&mut self, start: usize, end: usize) {
        let g = self.groups.len();
        let triangles = &mut self.corners[start..end];
        self.groups.push(gather(triangles, start));

        if end - start > LEAF {
            // Half of the triangles on each side of the median, by their centres along the longest
            // side.
            let (low, high) = triangles
                .iter()
                .flatten()
                .fold((DVec3::MAX, DVec3::MIN), |(low, high), &p| {
                    (low.min(p), high.max(p))
                });

            let axis = (high - low).max_position();
            let along = |corners: &[DVec3; 3]| corners.iter().map(|p| p[axis]).sum::<f64>();
            let half = triangles.len() / 2;
            triangles.select_nth_unstable_by(half, |s, t| along(s).total_cmp(&along(t)));
            self.split(start, start + half);
            self.split(start + half, end);
        }

        self.groups[g].next = self.groups.len() as u32;
    }
}

fn gather(triangles: &[[DVec3; 3]], start: usize) -> Group {
    let area: f64 = triangles.iter().map(|&t| triangle_area(t)).sum();
    let middle = |&[a, b, c]: &[DVec3; 3]| (a + b + c) / 3.0;

    // Without area the centre is the plain mean.
    let center = if area > 0.0 {
        triangles
            .iter()
            .map(|t| middle(t) * (triangle_area(*t) / area))
            .sum()
    } else {
        triangles.iter().map(middle).sum::<DVec3>() / triangles.len() as f64
    };

    Group {
        center,
        dipole: triangles
            .iter()
            .map(|&[a, b, c]| (b - a).cross(c - a) * 0.5)
            .sum(),
        radius: triangles
            .iter()
            .flatten()
            .map(|p| p.distance(center))
            .fold(0.0, f64::max),
        start: start as u32,
        end: (start + triangles.len()) as u32,
        next: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SurfaceIndex;
    use crate::shapes::{bumpy_sheet, icosphere};
    use crate::test_shapes::{irregular_torus, random_points};

    #[test]
    fn the_tree_agrees_with_the_sum_over_all_triangles() {
        for mesh in [icosphere(4), irregular_torus(40, 24), bumpy_sheet(30, 0.3)] {
            let tree = WindingTree::new(&mesh).unwrap();
            let index = SurfaceIndex::new(&mesh).unwrap();
            for query in random_points(5, 400).into_iter().map(|p| p * 2.0) {
                let (fast, exact) = (tree.winding_number(query), index.winding_number(query));
                assert!((fast - exact).abs() < 0.05, "{fast} {exact}");
            }
        }
    }

    #[test]
    fn close_to_the_surface_the_tree_still_separates_inside_from_outside() {
        let sphere = icosphere(4);
        let tree = WindingTree::new(&sphere).unwrap();
        for t in 0..sphere.triangles().len() {
            let [a, b, c] = sphere.triangle_points(t);
            let middle = (a + b + c) / 3.0;
            let normal = (b - a).cross(c - a).normalize();
            assert!(
                tree.contains(middle - normal * 1e-6) && !tree.contains(middle + normal * 1e-6),
                "triangle {t}"
            );
        }
    }

    #[test]
    fn triangles_without_area_have_winding_number_zero() {
        let flat = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0], &[[0, 1, 2]])
            .unwrap();
        let tree = WindingTree::new(&flat).unwrap();
        assert_eq!(tree.winding_number(DVec3::Y), 0.0);
        assert_eq!(tree.winding_number(DVec3::X * 0.5), 0.0);
    }
}
