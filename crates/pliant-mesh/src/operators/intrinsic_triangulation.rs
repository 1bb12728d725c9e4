//! Intrinsic Delaunay triangulation with mollified edge lengths.
//!
//! **Problem.** Needles and flat triangles give huge or negative cotangents, on which
//! Laplacians lose their maximum principle and solvers their digits. The surface is
//! right, only its triangles are bad.
//!
//! **Equations.** *Mollification*: the least `ε ≥ 0` added to every length such that each
//! triangle obeys `a + b − c ≥ δ` with `δ` a small part of the mean length. *Delaunay*: an
//! edge whose opposite angles have `cot α + cot β < 0` is flipped to the other diagonal of
//! its two triangles, laid out in the plane, until none is left; lengths change,
//! vertices and surface do not.
//!
//! **Source.** Sharp and Crane, "A Laplacian for nonmanifold triangle meshes", 2020,
//! section 4.5 (mollification), 3.2 (cover); Fisher, Springborn, Bobenko, Schröder, "An algorithm
//! for the construction of intrinsic Delaunay triangulations", 2006 (flips).
//!
//! **Departures.** Mean and `ε` are those of a connected component: a bad triangle affects only its
//! own component, and a component far smaller than the others keeps its shape. Edges with one or
//! more than two triangles cannot be flipped; where one lies opposite a wide angle,
//! [`IntrinsicTriangulation::robust`] takes the tufted cover, in which every triangle has a front
//! and a back and every edge exactly two sides (Sharp and Crane, section 3.2); it costs twice the
//! triangles, so that it is used only where it is needed. An edge is flipped only when that gains
//! more than rounding, so cocircular quads neither flip back and forth nor depend on the mesh's
//! place in space.

use glam::DVec2;

use crate::surface::topology::find_components;
use crate::{Mesh, Topology};

/// A triangle mesh given by edge lengths.
#[derive(Debug, Clone)]
pub struct IntrinsicTriangulation {
    triangles: Vec<[u32; 3]>,
    /// Lengths of the sides 0→1, 1→2, 2→0 of each triangle.
    lengths: Vec<[f64; 3]>,
    /// The side on the other face of each side, as `3 · triangle + side`; [`Topology::NONE`] where
    /// it cannot be flipped.
    twins: Vec<[u32; 3]>,
    /// Weight of each triangle: one, or a half on a cover, which has every triangle twice.
    share: f64,
    vertex_count: usize,
}

impl IntrinsicTriangulation {
    /// Least excess of two sides over the third, relative to the mean edge length. *Paper*: section
    /// 4.5 suggests 1e-5.
    pub const MOLLIFICATION: f64 = 1e-5;

    /// A component with edges below this part of the mesh's mean has no size of its own and is
    /// mollified by that mean.
    const POINT: f64 = 1e-12;

    /// Below this cotangent (an angle of about 117°) opposite an edge that cannot be flipped, the
    /// cover is taken. *Chosen*: on strips of such triangles distances by heat are 5 % too short,
    /// and ever shorter beyond.
    const WIDE: f64 = -0.5;

    /// The triangulation of `mesh` as it lies in space; triangles that repeat a vertex are left
    /// out.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Self {
        let (triangles, lengths) = proper_triangles(mesh);
        let mut twins = vec![[Topology::NONE; 3]; triangles.len()];
        visit_edges(mesh, |_, sides| match *sides {
            // Only neighbours of one orientation unfold into a proper quad.
            [(s, i), (t, j)] if triangles[s][i] == triangles[t][(j + 1) % 3] => {
                twins[s][i] = (3 * t + j) as u32;
                twins[t][j] = (3 * s + i) as u32;
            }
            _ => {}
        });

        Self {
            triangles,
            lengths,
            twins,
            share: 1.0,
            vertex_count: mesh.vertex_count(),
        }
    }

    /// The tufted cover of `mesh`: triangle `t` has the front `2t` and the back `2t + 1`, and
    /// around an edge the front or back that runs forward is glued to the one of the next
    /// triangle that runs backward.
    #[must_use]
    pub fn cover(mesh: &Mesh) -> Self {
        let (fronts, front_lengths) = proper_triangles(mesh);
        let triangles = fronts
            .iter()
            .flat_map(|&[a, b, c]| [[a, b, c], [a, c, b]])
            .collect();

        let lengths = front_lengths
            .iter()
            .flat_map(|&[ab, bc, ca]| [[ab, bc, ca], [ca, bc, ab]])
            .collect();
        let mut twins = vec![[Topology::NONE; 3]; 2 * fronts.len()];

        // Around an edge, each triangle is glued to the next one, front to back.
        visit_edges(mesh, |edge, sides| {
            let low = mesh.topology().edges()[edge][0];

            // Side `i` of a front is side `2 − i` of its back, in the opposite direction.
            let facing = |&(t, i): &(usize, usize), forward: bool| {
                if (fronts[t][i] == low) == forward {
                    (2 * t, i)
                } else {
                    (2 * t + 1, 2 - i)
                }
            };

            for (k, side) in sides.iter().enumerate() {
                let (s, i) = facing(side, true);
                let (t, j) = facing(&sides[(k + 1) % sides.len()], false);
                twins[s][i] = (3 * t + j) as u32;
                twins[t][j] = (3 * s + i) as u32;
            }
        });

        Self {
            triangles,
            lengths,
            twins,
            share: 0.5,
            vertex_count: mesh.vertex_count(),
        }
    }

    /// The Delaunay triangulation of the surface, mollified; of its cover where edges that cannot
    /// be flipped need it.
    #[must_use]
    pub fn robust(mesh: &Mesh) -> Self {
        let plain = Self::of(mesh).mollified().delaunay();
        if plain.has_wide_boundary() {
            Self::cover(mesh).mollified().delaunay()
        } else {
            plain
        }
    }

    fn has_wide_boundary(&self) -> bool {
        let wide = |t: usize, s: usize| {
            self.twins[t][s] == Topology::NONE && self.cotangents(t)[(s + 2) % 3] < Self::WIDE
        };
        (0..self.triangles.len()).any(|t| (0..3).any(|s| wide(t, s)))
    }

    /// Weight of each triangle: one, or a half on a cover, which has each triangle twice.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Adds the least `ε` for which all triangles of a component obey the inequality; nothing where
    /// there are no needles.
    #[must_use]
    pub fn mollified(mut self) -> Self {
        let components = find_components(self.vertex_count, &self.triangles);
        let component = |t: usize| components.of_vertex[self.triangles[t][0] as usize] as usize;

        // The mean edge length of each component …
        let mut sums = vec![(0.0, 0.0); components.count];
        for (t, lengths) in self.lengths.iter().enumerate() {
            let (total, sides) = &mut sums[component(t)];
            for &length in lengths.iter() {
                *total += length;
            }
            *sides += 3.0;
        }

        // … unless the component is a point compared with the mesh; then that of the whole mesh.
        let overall =
            self.lengths.iter().flatten().sum::<f64>() / (3 * self.lengths.len()).max(1) as f64;
        let mut epsilons = vec![0.0_f64; components.count];
        for (t, &[a, b, c]) in self.lengths.iter().enumerate() {
            let (total, sides) = sums[component(t)];
            let mean = if total / sides > Self::POINT * overall {
                total / sides
            } else {
                overall
            };

            // By how much the triangle inequality misses the margin in the worst of the three
            // corners.
            let margin = Self::MOLLIFICATION * mean;
            let lack = margin - (a + b - c).min(b + c - a).min(c + a - b);
            epsilons[component(t)] = epsilons[component(t)].max(lack);
        }

        // One ε for all edges of a component keeps the lengths of shared edges equal.
        let of_triangle: Vec<f64> = (0..self.lengths.len())
            .map(|t| epsilons[component(t)])
            .collect();
        for (lengths, epsilon) in self.lengths.iter_mut().zip(of_triangle) {
            for length in lengths.iter_mut() {
                *length += epsilon;
            }
        }

        self
    }

    /// Flips edges until the triangulation is Delaunay.
    #[must_use]
    pub fn delaunay(mut self) -> Self {
        let mut queued = vec![[true; 3]; self.triangles.len()];
        let mut stack: Vec<u32> = (0..3 * self.triangles.len() as u32).rev().collect();

        // The flip algorithm ends in finitely many steps; the bound only guards against rounding.
        let mut flips_left = 100 * self.triangles.len();
        while let Some(side) = stack.pop() {
            let (t, s) = (side as usize / 3, side as usize % 3);
            queued[t][s] = false;
            if flips_left == 0 || self.twins[t][s] == Topology::NONE || self.is_delaunay(t, s) {
                continue;
            }

            flips_left -= 1;
            for touched in self.flip(t, s) {
                let (t, s) = (touched as usize / 3, touched as usize % 3);
                if !queued[t][s] {
                    queued[t][s] = true;
                    stack.push(touched);
                }
            }
        }

        self
    }

    /// Number of vertices, whether or not a triangle uses them.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// The triangles; after flips two of them may share more than one edge.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Lengths of the sides 0→1, 1→2, 2→0 of each triangle.
    #[must_use]
    pub fn lengths(&self) -> &[[f64; 3]] {
        &self.lengths
    }

    /// The triangle laid out in the plane: corner 0 at the origin, corner 1 on the positive x axis,
    /// corner 2 above.
    #[must_use]
    pub fn layout(&self, triangle: usize) -> [DVec2; 3] {
        lay_out(self.lengths[triangle])
    }

    /// Cotangents of the angles at the three corners.
    #[must_use]
    pub fn cotangents(&self, triangle: usize) -> [f64; 3] {
        cotangents(self.lengths[triangle])
    }

    /// The area of one triangle.
    #[must_use]
    pub fn area(&self, triangle: usize) -> f64 {
        0.25 * four_areas(self.lengths[triangle])
    }

    fn is_delaunay(&self, t: usize, s: usize) -> bool {
        let twin = self.twins[t][s] as usize;
        let here = cotangents(self.lengths[t])[(s + 2) % 3];
        let there = cotangents(self.lengths[twin / 3])[(twin % 3 + 2) % 3];
        // Relative to their size: a flip must gain more than the rounding of both cotangents.
        here + there >= -1e-9 * (1.0 + here.abs() + there.abs())
    }

    /// Replaces the shared side of two triangles by their other diagonal; returns the four outer
    /// sides and the new one.
    ///
    /// ```text
    ///        c                    c
    ///      ╱ t ╲                ╱ │ ╲
    ///     a ─s─ b      to      a  │  b      t = (a, d, c), u = (b, c, d)
    ///      ╲ u ╱                ╲ │ ╱
    ///        d                    d
    /// ```
    fn flip(&mut self, t: usize, s: usize) -> [u32; 5] {
        // The two triangles, their outer lengths and the twins of their outer sides, as in the
        // drawing.
        let twin = self.twins[t][s] as usize;
        let (u, r) = (twin / 3, twin % 3);
        let [a, b, c] = [0, 1, 2].map(|k| self.triangles[t][(s + k) % 3]);
        let d = self.triangles[u][(r + 2) % 3];
        let [ab, bc, ca] = [0, 1, 2].map(|k| self.lengths[t][(s + k) % 3]);
        let [ad, db] = [1, 2].map(|k| self.lengths[u][(r + k) % 3]);
        let [side_bc, side_ca] = [1, 2].map(|k| self.twins[t][(s + k) % 3]);
        let [side_ad, side_db] = [1, 2].map(|k| self.twins[u][(r + k) % 3]);

        // Both triangles are laid out in one plane over the common edge; the new length is the
        // distance of their apexes.
        let [_, _, c_at] = lay_out([ab, bc, ca]);
        let [_, _, d_at] = lay_out([ab, db, ad]);
        let cd = c_at.distance(DVec2::new(d_at.x, -d_at.y));

        self.triangles[t] = [a, d, c];
        self.lengths[t] = [ad, cd, ca];
        self.triangles[u] = [b, c, d];
        self.lengths[u] = [bc, cd, db];

        // The two new triangles are twins across the new edge.
        self.twins[t][1] = (3 * u + 1) as u32;
        self.twins[u][1] = (3 * t + 1) as u32;

        // Where the two triangles share a second side, or one is glued to itself, an outer side's
        // twin has moved as well.
        let new_places = [3 * u, 3 * t + 2, 3 * t, 3 * u + 2];
        let old_places = [
            3 * t + (s + 1) % 3,
            3 * t + (s + 2) % 3,
            3 * u + (r + 1) % 3,
            3 * u + (r + 2) % 3,
        ];

        let moved = |side: u32| {
            old_places
                .iter()
                .position(|&old| old == side as usize)
                .map_or(side, |k| new_places[k] as u32)
        };

        for (here, there) in new_places
            .into_iter()
            .zip([side_bc, side_ca, side_ad, side_db])
        {
            self.glue(here, moved(there));
        }

        [3 * t, 3 * t + 2, 3 * u, 3 * u + 2, 3 * t + 1].map(|side| side as u32)
    }

    /// Joins the side `here` to the side that was `there` before the flip.
    fn glue(&mut self, here: usize, there: u32) {
        self.twins[here / 3][here % 3] = there;
        if there != Topology::NONE {
            self.twins[there as usize / 3][there as usize % 3] = here as u32;
        }
    }
}

/// The triangles with three vertices, and the lengths of their sides.
fn proper_triangles(mesh: &Mesh) -> (Vec<[u32; 3]>, Vec<[f64; 3]>) {
    let topology = mesh.topology();
    let length =
        |[a, b]: [u32; 2]| mesh.positions()[a as usize].distance(mesh.positions()[b as usize]);
    let edge_lengths: Vec<f64> = topology.edges().iter().map(|&edge| length(edge)).collect();
    let proper = topology
        .triangle_edges()
        .iter()
        .zip(mesh.triangles())
        .filter(|(edges, _)| edges[0] != Topology::NONE);

    proper
        .map(|(edges, triangle)| (*triangle, edges.map(|e| edge_lengths[e as usize])))
        .unzip()
}

/// Calls `visit` with every edge and the (triangle, side) pairs that run along it, counted over the
/// [`proper_triangles`].
fn visit_edges(mesh: &Mesh, mut visit: impl FnMut(usize, &[(usize, usize)])) {
    let topology = mesh.topology();
    let mut place = vec![0; mesh.triangles().len()];
    let mut count = 0;
    for (t, edges) in topology.triangle_edges().iter().enumerate() {
        place[t] = count;

        // Triangles that repeat a vertex are not counted.
        count += usize::from(edges[0] != Topology::NONE);
    }

    let mut sides = Vec::new();
    for edge in 0..topology.edges().len() {
        sides.clear();
        for &t in topology.edge_triangles().row(edge) {
            let side = topology.triangle_edges()[t as usize]
                .iter()
                .position(|&e| e as usize == edge);
            sides.push((
                place[t as usize],
                side.expect("the edge is one of the triangle's"),
            ));
        }

        visit(edge, &sides);
    }
}

/// Four times the area by Kahan's ordering of Heron's formula, exact to rounding also for needles.
fn four_areas([l0, l1, l2]: [f64; 3]) -> f64 {
    let (mut a, mut b, mut c) = (l0, l1, l2);
    if a < b {
        std::mem::swap(&mut a, &mut b);
    }
    if b < c {
        std::mem::swap(&mut b, &mut c);
    }
    if a < b {
        std::mem::swap(&mut a, &mut b);
    }

    // The parentheses matter: in any other order needles lose their digits.
    ((a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c)))
        .max(0.0)
        .sqrt()
}

/// Cotangents at corners 0, 1, 2 from the lengths of sides 01, 12, 20.
fn cotangents(lengths: [f64; 3]) -> [f64; 3] {
    let [ab, bc, ca] = lengths;
    let area = four_areas(lengths);
    if area <= 0.0 {
        return [0.0; 3]; // A flat triangle that was not mollified has no weights.
    }

    [
        (ab * ab + ca * ca - bc * bc) / area,
        (ab * ab + bc * bc - ca * ca) / area,
        (bc * bc + ca * ca - ab * ab) / area,
    ]
}

fn lay_out(lengths: [f64; 3]) -> [DVec2; 3] {
    let [ab, bc, ca] = lengths;
    if ab <= 0.0 {
        return [DVec2::ZERO, DVec2::ZERO, DVec2::new(ca, 0.0)];
    }
    let x = (ab * ab + (ca - bc) * (ca + bc)) / (2.0 * ab);
    let y = four_areas(lengths) / (2.0 * ab);
    [DVec2::ZERO, DVec2::new(ab, 0.0), DVec2::new(x, y)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{bumpy_sheet, icosphere};
    use glam::DVec3;

    fn total_area(triangulation: &IntrinsicTriangulation) -> f64 {
        (0..triangulation.triangles().len())
            .map(|t| triangulation.area(t))
            .sum()
    }

    fn twins_are_mutual(triangulation: &IntrinsicTriangulation) -> bool {
        (0..3 * triangulation.triangles.len()).all(|side| {
            let twin = triangulation.twins[side / 3][side % 3];
            twin == Topology::NONE || {
                let twin = twin as usize;
                twin != side
                    && triangulation.twins[twin / 3][twin % 3] as usize == side
                    && triangulation.lengths[twin / 3][twin % 3]
                        == triangulation.lengths[side / 3][side % 3]
            }
        })
    }

    #[test]
    fn flips_keep_area_and_vertices_and_end_delaunay() {
        // Stretched along x, nearly every quad has the wrong diagonal somewhere.
        let sheet = bumpy_sheet(12, 0.6);
        let stretched = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|p| DVec3::new(6.0 * p.x, p.y, 0.0))
                    .collect(),
            )
            .unwrap();

        let before = IntrinsicTriangulation::of(&stretched);
        let after = before.clone().delaunay();
        assert!(before.lengths != after.lengths, "something was flipped");
        assert!((total_area(&before) - total_area(&after)).abs() < 1e-12 * total_area(&before));
        assert!(twins_are_mutual(&after));

        for t in 0..after.triangles.len() {
            for s in 0..3 {
                assert!(after.twins[t][s] == Topology::NONE || after.is_delaunay(t, s));
            }
        }
    }

    #[test]
    fn a_flip_between_triangles_that_share_two_sides_keeps_twins_right() {
        // Two triangles back to back, obtuse at corner 2: the flip leaves corners 0 and 1 in one
        // triangle each, glued to itself.
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::new(0.5, 0.1, 0.0)];
        for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
            let triangles = [
                [0, 1, 2].map(|k| [0, 1, 2][(i + k) % 3]),
                [0, 1, 2].map(|k| [1, 0, 2][(j + k) % 3]),
            ];
            let pillow = IntrinsicTriangulation::of(
                &Mesh::from_triangles(positions.clone(), &triangles).unwrap(),
            );

            let flipped = pillow.clone().delaunay();
            assert!(
                flipped.lengths != pillow.lengths,
                "the long side was flipped"
            );
            assert!(twins_are_mutual(&flipped), "{triangles:?}");
        }
    }

    #[test]
    fn flipped_lengths_are_distances_in_a_plane() {
        let sheet = bumpy_sheet(8, 0.25);
        let flat = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|p| DVec3::new(4.0 * p.x, p.y, 0.0))
                    .collect(),
            )
            .unwrap();

        let after = IntrinsicTriangulation::of(&flat).delaunay();
        for (triangle, lengths) in after.triangles.iter().zip(&after.lengths) {
            for k in 0..3 {
                let p = flat.positions()[triangle[k] as usize];
                let q = flat.positions()[triangle[(k + 1) % 3] as usize];
                assert!((p.distance(q) - lengths[k]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn every_side_of_a_cover_has_a_twin_of_equal_length_also_on_non_manifold_edges() {
        let book = Mesh::from_triangles(
            vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::NEG_Y, DVec3::Z],
            &[[0, 1, 2], [1, 0, 3], [0, 1, 4], [4, 4, 1]],
        )
        .unwrap();
        for mesh in [book, bumpy_sheet(5, 0.3), icosphere(1)] {
            let cover = IntrinsicTriangulation::cover(&mesh);
            assert!(
                cover
                    .twins
                    .iter()
                    .flatten()
                    .all(|&twin| twin != Topology::NONE)
            );

            assert!(
                twins_are_mutual(&cover) && twins_are_mutual(&cover.clone().mollified().delaunay())
            );
            assert!((cover.share() * total_area(&cover) - mesh.area()).abs() < 1e-12);
        }
    }

    #[test]
    fn the_cover_is_used_only_for_wide_angles_at_the_boundary() {
        assert_eq!(
            IntrinsicTriangulation::robust(&bumpy_sheet(5, 0.1)).share(),
            1.0
        );

        let flat = |y: f64| {
            Mesh::from_triangles(
                vec![DVec3::ZERO, DVec3::X, DVec3::new(0.5, y, 0.0)],
                &[[0, 1, 2]],
            )
            .unwrap()
        };

        assert_eq!(IntrinsicTriangulation::robust(&flat(0.5)).share(), 1.0);
        assert_eq!(IntrinsicTriangulation::robust(&flat(0.1)).share(), 0.5);
    }

    #[test]
    fn a_good_mesh_is_not_mollified() {
        let sphere = IntrinsicTriangulation::of(&icosphere(2));
        assert_eq!(sphere.lengths, sphere.clone().mollified().lengths);
    }

    #[test]
    fn a_needle_in_another_component_does_not_mollify_a_small_component() {
        let small = icosphere(1);
        let mut positions: Vec<DVec3> = small.positions().iter().map(|p| *p * 1e-6).collect();
        let first = positions.len() as u32;
        positions.extend([DVec3::X, DVec3::X * 3.0, DVec3::X * 2.0]);

        let triangles: Vec<[u32; 3]> = small
            .triangles()
            .iter()
            .copied()
            .chain([[first, first + 1, first + 2]])
            .collect();

        let plain =
            IntrinsicTriangulation::of(&Mesh::from_triangles(positions, &triangles).unwrap());
        let mollified = plain.clone().mollified();
        let needle = triangles.len() - 1;

        assert_eq!(plain.lengths[..needle], mollified.lengths[..needle]);
        assert!(mollified.area(needle) > 0.0);
    }

    #[test]
    fn mollified_needles_have_area_and_finite_cotangents() {
        let needle = Mesh::from_triangles(
            vec![DVec3::ZERO, DVec3::X, DVec3::X * 0.3, DVec3::Y],
            &[[0, 1, 2], [0, 1, 3]],
        )
        .unwrap();
        let triangulation = IntrinsicTriangulation::of(&needle).mollified();
        assert!(triangulation.area(0) > 0.0);
        assert!(triangulation.cotangents(0).iter().all(|c| c.is_finite()));
    }

    #[test]
    fn cotangents_and_layouts_agree_with_positions_in_space() {
        let sheet = bumpy_sheet(3, 0.4);
        let triangulation = IntrinsicTriangulation::of(&sheet);
        for t in 0..sheet.triangles().len() {
            let [a, b, c] = sheet.triangle_points(t);
            let expected = (b - a).dot(c - a) / (b - a).cross(c - a).length();
            assert!((triangulation.cotangents(t)[0] - expected).abs() < 1e-12);
            let [p, q, r] = triangulation.layout(t);
            assert!(
                (p.distance(r) - a.distance(c)).abs() < 1e-14
                    && (q.distance(r) - b.distance(c)).abs() < 1e-14
            );
        }
    }
}
