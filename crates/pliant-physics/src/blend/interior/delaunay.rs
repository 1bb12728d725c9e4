//! Delaunay triangulation of points in space (Bowyer–Watson).
//!
//! **Problem.** Connect points in any arrangement by tetrahedra that fill their convex hull,
//! without failure on boxes, spheres, flat sheets and repeated points, and with the same result on
//! every machine.
//!
//! **Equation.** No point lies strictly inside the circumsphere of a tetrahedron. A new point `p`
//! is in conflict with the tetrahedra whose circumsphere contains it; these form a star-shaped
//! cavity, and connecting `p` to the faces of the cavity restores the property. The outside
//! consists of tetrahedra with a ghost corner on every face of the hull: one of these is in
//! conflict when `p` lies beyond its face, or in its plane and inside its circle.
//!
//! **Source.** Bowyer, "Computing Dirichlet tessellations", and Watson, 1981; Shewchuk, "Adaptive
//! Precision Floating-Point Arithmetic", 1997, for the predicates (crate `robust`); Amenta, Choi
//! and Rote, "Incremental constructions con BRIO", 2003, for the order; Skilling, "Programming the
//! Hilbert curve", 2004.
//!
//! **Departures.** Coordinates are rounded to 2⁻⁴⁰ of the extent first, so that no product of the
//! predicates underflows; of points that then coincide the first is kept. Signs being exact, strict
//! conflict needs no perturbation: `p` in the plane of a face of the cavity and strictly inside the
//! sphere of one neighbour is strictly inside that of the other too, so no flat tetrahedron arises.
//! A walk that visits more tetrahedra than there are is replaced by an exhaustive search.

use pliant_mesh::glam::DVec3;
use robust::{Coord, Coord3D, insphere, orient2d, orient3d};

/// The corner at infinity.
const GHOST: u32 = u32::MAX;

/// No neighbour yet.
const NONE: u32 = u32::MAX;

/// Cells of the rounding grid along the extent of the points.
const GRID_CELLS: f64 = (1_u64 << 40) as f64;

/// Bits of each coordinate on the Hilbert curve.
const CURVE_BITS: u32 = 16;

/// How often the points are halved to select the first insertions.
const ROUND_HALVINGS: u32 = 12;

/// The Delaunay tetrahedra of `points`, each with positive volume `(b − a)·((c − a) × (d − a))`.
///
/// Flat, collinear and too few points have none. Points that coincide with an earlier one, or are
/// not finite, are in none.
pub(crate) fn delaunay(points: &[DVec3]) -> Vec<[u32; 4]> {
    let points = GridPoints::new(points);
    let order = insertion_order(&points);
    let Some(first) = first_tetrahedron(&points, &order) else {
        return Vec::new();
    };

    // Incremental insertion.
    let mut complex = Complex::new(&points, first);
    for &p in order.iter().filter(|p| !first.contains(p)) {
        complex.insert(p);
    }

    let finite = complex
        .corners
        .iter()
        .zip(&complex.stamps)
        .filter(|(corners, stamp)| **stamp != Complex::FREE && !corners.contains(&GHOST));

    // The predicates' orientation is the opposite of the volume's.
    finite.map(|(&[a, b, c, d], _)| [b, a, c, d]).collect()
}

/// Points rounded to a grid of the unit cube.
struct GridPoints {
    points: Vec<Coord3D<f64>>,
    finite: Vec<u32>,
}

impl GridPoints {
    fn new(points: &[DVec3]) -> Self {
        let finite: Vec<u32> = (0..points.len() as u32)
            .filter(|&i| points[i as usize].is_finite())
            .collect();
        let all = || finite.iter().map(|&i| points[i as usize]);
        let (low, high) = all().fold((DVec3::MAX, DVec3::MIN), |(low, high), p| {
            (low.min(p), high.max(p))
        });

        // Halves first: the difference of the ends may be beyond the largest number.
        // One grid for all axes keeps the shape of the points.
        let half_extent = (high * 0.5 - low * 0.5).max_element();
        let snap = |p: DVec3| {
            let unit = if half_extent > 0.0 {
                (p * 0.5 - low * 0.5) / half_extent
            } else {
                DVec3::ZERO
            };
            (unit * GRID_CELLS).round() / GRID_CELLS
        };

        let coordinate = |p: DVec3| Coord3D {
            x: p.x,
            y: p.y,
            z: p.z,
        };

        let snapped = points
            .iter()
            .map(|&p| coordinate(if p.is_finite() { snap(p) } else { DVec3::ZERO }))
            .collect();

        Self {
            points: snapped,
            finite,
        }
    }

    fn at(&self, point: u32) -> Coord3D<f64> {
        self.points[point as usize]
    }

    fn orientation(&self, [a, b, c, d]: [u32; 4]) -> f64 {
        orient3d(self.at(a), self.at(b), self.at(c), self.at(d))
    }
}

/// Rounds of doubling size, each along a Hilbert curve: later points are located in a few steps
/// from the last one.
fn insertion_order(points: &GridPoints) -> Vec<u32> {
    let key = |&i: &u32| {
        let round = split_mix(u64::from(i)).trailing_zeros().min(ROUND_HALVINGS);
        let Coord3D { x, y, z } = points.at(i);
        (ROUND_HALVINGS - round, hilbert([x, y, z]), i)
    };
    let mut order = points.finite.clone();
    order.sort_by_cached_key(key);
    order
}

/// The finaliser of SplitMix64: its bits depend uniformly on those of `x`.
pub(super) fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The position of a point of the unit cube along a Hilbert curve.
fn hilbert(unit: [f64; 3]) -> u64 {
    let top = 1_u32 << (CURVE_BITS - 1);
    let mut x = unit.map(|c| (c * f64::from(2 * top - 1)) as u32);

    // Skilling's transposed Hilbert coordinates, from the highest bit.
    let mut bit = top;

    while bit > 1 {
        let below = bit - 1;
        for i in 0..3 {
            if x[i] & bit != 0 {
                x[0] ^= below;
            } else {
                let swap = (x[0] ^ x[i]) & below;
                x[0] ^= swap;
                x[i] ^= swap;
            }
        }

        bit >>= 1;
    }

    // Gray code, then interleaved bits.
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut flip = 0;

    let mut bit = top;
    while bit > 1 {
        if x[2] & bit != 0 {
            flip ^= bit - 1;
        }
        bit >>= 1;
    }

    let x = x.map(|c| c ^ flip);
    (0..CURVE_BITS).rev().fold(0, |code, b| {
        x.iter()
            .fold(code, |code, c| code << 1 | u64::from(c >> b & 1))
    })
}

/// Four points that span space, positively oriented; the first such in the order.
fn first_tetrahedron(points: &GridPoints, order: &[u32]) -> Option<[u32; 4]> {
    let (&a, rest) = order.split_first()?;
    let b = *rest.iter().find(|&&b| differ(points.at(a), points.at(b)))?;
    let c = *rest
        .iter()
        .find(|&&c| span_a_plane(points.at(a), points.at(b), points.at(c)))?;
    let (d, sign) = rest
        .iter()
        .map(|&d| (d, points.orientation([a, b, c, d])))
        .find(|&(_, sign)| sign != 0.0)?;

    Some(if sign > 0.0 {
        [a, b, c, d]
    } else {
        [b, a, c, d]
    })
}

fn differ(a: Coord3D<f64>, b: Coord3D<f64>) -> bool {
    a.x != b.x || a.y != b.y || a.z != b.z
}

fn span_a_plane(a: Coord3D<f64>, b: Coord3D<f64>, c: Coord3D<f64>) -> bool {
    let in_plane =
        |flat: fn(Coord3D<f64>) -> Coord<f64>| orient2d(flat(a), flat(b), flat(c)) != 0.0;
    in_plane(|p| Coord { x: p.x, y: p.y })
        || in_plane(|p| Coord { x: p.y, y: p.z })
        || in_plane(|p| Coord { x: p.z, y: p.x })
}

/// Tetrahedra and their neighbours; a neighbour has the index of the corner opposite to the common
/// face.
struct Complex<'a> {
    points: &'a GridPoints,
    corners: Vec<[u32; 4]>,
    neighbors: Vec<[u32; 4]>,
    /// The insertion that last visited the tetrahedron: twice its number, plus one where it found a
    /// conflict.
    stamps: Vec<u32>,
    free: Vec<u32>,
    /// Where the next walk starts.
    last: u32,
    insertion: u32,
    cavity: Vec<u32>,
    /// Faces of new tetrahedra without a neighbour yet: the two corners beside the new point,
    /// tetrahedron, index.
    seams: Vec<(u64, u32, u32)>,
}

impl<'a> Complex<'a> {
    const FREE: u32 = u32::MAX;

    fn new(points: &'a GridPoints, [a, b, c, d]: [u32; 4]) -> Self {
        // A ghost takes the place of a corner; two corners swapped turn its face outward.
        let corners = vec![
            [a, b, c, d],
            [GHOST, c, b, d],
            [a, GHOST, d, c],
            [b, a, GHOST, d],
            [b, a, c, GHOST],
        ];

        let mut complex = Self {
            points,
            neighbors: vec![[NONE; 4]; corners.len()],
            stamps: vec![0; corners.len()],
            corners,
            free: Vec::new(),
            last: 0,
            insertion: 0,
            cavity: Vec::new(),
            seams: Vec::new(),
        };

        complex.link_first();
        complex
    }

    /// Finds the neighbours of the first five by their common corners.
    fn link_first(&mut self) {
        for t in 0..5 {
            for place in 0..4 {
                let face: Vec<u32> = (0..4)
                    .filter(|&k| k != place)
                    .map(|k| self.corners[t][k])
                    .collect();
                let other =
                    (0..5).find(|&s| s != t && face.iter().all(|v| self.corners[s].contains(v)));
                self.neighbors[t][place] =
                    other.expect("two of the first five share each face") as u32;
            }
        }
    }

    /// Whether `p` is strictly inside the circumsphere; for a ghost, beyond the face or strictly
    /// inside its circle.
    fn conflicts(&self, tetrahedron: u32, p: u32) -> bool {
        let corners = self.corners[tetrahedron as usize];
        let Some(place) = corners.iter().position(|&v| v == GHOST) else {
            let [a, b, c, d] = corners.map(|v| self.points.at(v));
            return insphere(a, b, c, d, self.points.at(p)) > 0.0;
        };

        // A ghost: beyond its face, or in its plane and inside its circle.
        let beyond = self.side(tetrahedron, place, p);

        // In the plane of the face, the sphere of the tetrahedron behind it cuts out the same
        // circle.
        beyond > 0.0
            || (beyond == 0.0 && self.conflicts(self.neighbors[tetrahedron as usize][place], p))
    }

    /// The orientation with `p` in `place` of a corner: positive on that corner's side of the
    /// opposite face.
    fn side(&self, tetrahedron: u32, place: usize, p: u32) -> f64 {
        let mut corners = self.corners[tetrahedron as usize];
        corners[place] = p;
        self.points.orientation(corners)
    }

    /// A tetrahedron in conflict with `p`; none if `p` coincides with a corner.
    fn locate(&self, p: u32) -> Option<u32> {
        let mut here = self.last;
        for step in 0..self.corners.len() {
            if let Some(place) = self.corners[here as usize].iter().position(|&v| v == GHOST) {
                if self.conflicts(here, p) {
                    return Some(here);
                }
                here = self.neighbors[here as usize][place];
            }

            // Starting at another face each time, the walk does not cycle for long.
            let exit = (0..4)
                .map(|k| (k + step) % 4)
                .find(|&place| self.side(here, place, p) < 0.0);

            match exit {
                Some(place) => here = self.neighbors[here as usize][place],
                None => return self.conflicts(here, p).then_some(here),
            }
        }

        (0..self.corners.len() as u32)
            .find(|&t| self.stamps[t as usize] != Self::FREE && self.conflicts(t, p))
    }

    /// Adds a point, unless it coincides with an earlier one.
    fn insert(&mut self, p: u32) {
        let Some(start) = self.locate(p) else { return };
        self.insertion += 1;
        self.find_cavity(start, p);
        self.fill_cavity(p);
        self.sew();
    }

    /// Collects all tetrahedra in conflict with `p`, which are connected.
    fn find_cavity(&mut self, start: u32, p: u32) {
        let seen = 2 * self.insertion;
        let in_conflict = 2 * self.insertion + 1;
        self.cavity.clear();
        self.cavity.push(start);
        self.stamps[start as usize] = in_conflict;

        let mut next = 0;
        while let Some(&tetrahedron) = self.cavity.get(next) {
            next += 1;
            for neighbor in self.neighbors[tetrahedron as usize] {
                if self.stamps[neighbor as usize] >= seen {
                    continue;
                }
                let conflict = self.conflicts(neighbor, p);
                self.stamps[neighbor as usize] = if conflict { in_conflict } else { seen };
                if conflict {
                    self.cavity.push(neighbor);
                }
            }
        }
    }

    /// Replaces the cavity by tetrahedra between `p` and its faces.
    fn fill_cavity(&mut self, p: u32) {
        let in_conflict = 2 * self.insertion + 1;
        self.seams.clear();

        // Each face between the cavity and its outside spans a new tetrahedron with `p`.
        for k in 0..self.cavity.len() {
            let old = self.cavity[k];
            for place in 0..4 {
                let outer = self.neighbors[old as usize][place];
                if self.stamps[outer as usize] == in_conflict {
                    continue;
                }

                let mut corners = self.corners[old as usize];
                corners[place] = p;
                let new = self.allocate(corners);
                self.neighbors[new as usize][place] = outer;

                let back = self.neighbors[outer as usize]
                    .iter()
                    .position(|&t| t == old)
                    .expect("neighbours know each other");

                self.neighbors[outer as usize][back] = new;
                self.note_seams(new, place);
                self.last = new;
            }
        }

        for &old in &self.cavity {
            self.stamps[old as usize] = Self::FREE;
        }

        self.free.append(&mut self.cavity);
    }

    fn allocate(&mut self, corners: [u32; 4]) -> u32 {
        let new = self.free.pop().unwrap_or_else(|| {
            self.corners.push([NONE; 4]);
            self.neighbors.push([NONE; 4]);
            self.stamps.push(0);
            self.corners.len() as u32 - 1
        });

        self.corners[new as usize] = corners;
        self.neighbors[new as usize] = [NONE; 4];
        self.stamps[new as usize] = 2 * self.insertion;

        new
    }

    fn note_seams(&mut self, new: u32, apex: usize) {
        let corners = self.corners[new as usize];
        for place in (0..4).filter(|&place| place != apex) {
            let mut beside = (0..4)
                .filter(|&k| k != apex && k != place)
                .map(|k| corners[k]);
            let a = beside.next().expect("two remain");
            let b = beside.next().expect("two remain");

            self.seams.push((
                u64::from(a.min(b)) << 32 | u64::from(a.max(b)),
                new,
                place as u32,
            ));
        }
    }

    /// Joins the new tetrahedra to each other: each edge of the cavity's surface lies between two
    /// of its faces.
    fn sew(&mut self) {
        self.seams.sort_unstable();
        for pair in self.seams.chunks_exact(2) {
            let [(_, s, place), (_, t, other_place)] = [pair[0], pair[1]];
            self.neighbors[s as usize][place as usize] = t;
            self.neighbors[t as usize][other_place as usize] = s;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::interior::tetrahedron::volume;

    fn random(seed: u64, count: usize) -> Vec<DVec3> {
        let unit = |k: u64| split_mix(seed << 32 | k) as f64 / u64::MAX as f64;
        (0..count as u64)
            .map(|i| DVec3::new(unit(3 * i), unit(3 * i + 1), unit(3 * i + 2)))
            .collect()
    }

    fn grid(n: usize) -> Vec<DVec3> {
        let cell = |i: usize| DVec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
        (0..n * n * n).map(cell).collect()
    }

    fn filled(points: &[DVec3], tetrahedra: &[[u32; 4]]) -> f64 {
        tetrahedra
            .iter()
            .map(|t| volume(t.map(|v| points[v as usize])))
            .sum()
    }

    /// By brute force: every tetrahedron against every point.
    fn assert_spheres_are_empty(points: &[DVec3], tetrahedra: &[[u32; 4]]) {
        let snapped = GridPoints::new(points);
        for &[a, b, c, d] in tetrahedra {
            let [p, q, r, s] = [b, a, c, d].map(|v| snapped.at(v));
            assert!(orient3d(p, q, r, s) > 0.0, "a flat or turned tetrahedron");
            assert!(
                (0..points.len() as u32).all(|e| insphere(p, q, r, s, snapped.at(e)) <= 0.0),
                "a point inside a sphere"
            );
        }
    }

    #[test]
    fn no_point_lies_inside_a_circumsphere() {
        let points = random(1, 300);
        let tetrahedra = delaunay(&points);
        assert!(tetrahedra.len() > 1000);
        assert_spheres_are_empty(&points, &tetrahedra);
    }

    #[test]
    fn a_lattice_is_filled_exactly_although_every_cube_is_cospherical() {
        let points = grid(6);
        let tetrahedra = delaunay(&points);
        assert_spheres_are_empty(&points, &tetrahedra);
        assert!((filled(&points, &tetrahedra) - 125.0).abs() < 1e-9);
        let used: std::collections::BTreeSet<u32> = tetrahedra.iter().flatten().copied().collect();
        assert_eq!(used.len(), points.len());
    }

    #[test]
    fn repeated_points_are_in_no_tetrahedron() {
        let mut points = grid(4);
        points.extend(grid(4));
        let tetrahedra = delaunay(&points);
        assert!((filled(&points, &tetrahedra) - 27.0).abs() < 1e-9);
        let place = |v: u32| v as usize % 64;
        let used: std::collections::BTreeSet<u32> = tetrahedra.iter().flatten().copied().collect();
        let places: std::collections::BTreeSet<usize> = used.iter().map(|&v| place(v)).collect();
        assert_eq!((used.len(), places.len()), (64, 64));
    }

    #[test]
    fn coplanar_and_collinear_points_have_no_tetrahedra() {
        let flat: Vec<DVec3> = random(2, 50)
            .into_iter()
            .map(|p| DVec3::new(p.x, p.y, 0.5))
            .collect();
        let line: Vec<DVec3> = (0..50).map(|i| DVec3::new(i as f64, 0.0, 0.0)).collect();

        for points in [
            flat,
            line,
            vec![DVec3::ONE; 9],
            random(3, 3),
            Vec::new(),
            vec![DVec3::NAN; 5],
        ] {
            assert_eq!(delaunay(&points), Vec::<[u32; 4]>::new());
        }
    }

    #[test]
    fn points_on_a_sphere_fill_their_hull() {
        let sphere = pliant_mesh::shapes::icosphere(3);
        let tetrahedra = delaunay(sphere.positions());

        // The hull of points on a sphere is at least the polyhedron between them, and less than the
        // ball.
        let share = filled(sphere.positions(), &tetrahedra) / sphere.signed_volume();
        assert!((1.0 - 1e-9..1.01).contains(&share), "{share}");
    }

    #[test]
    fn the_size_of_the_coordinates_does_not_matter() {
        let points = random(4, 200);
        let expected = delaunay(&points);

        // Powers of two, so that scaling is exact.
        for scale in [2.0_f64.powi(-300), 2.0_f64.powi(300), 2.0_f64.powi(1022)] {
            assert_eq!(
                delaunay(&points.iter().map(|&p| p * scale).collect::<Vec<_>>()),
                expected
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn points_on_a_coarse_grid_with_repeats_fill_their_hull_once(
            cells in proptest::collection::vec((0_u8..4, 0_u8..4, 0_u8..4), 0..60)
        ) {
            let points: Vec<DVec3> = cells.iter().map(|&(x, y, z)| DVec3::new(x.into(), y.into(), z.into())).collect();
            let tetrahedra = delaunay(&points);
            assert_spheres_are_empty(&points, &tetrahedra);

            // Every inner face has two sides, so that what remains is the surface of the hull.
            // Count the sides of every face.
            let mut faces: std::collections::BTreeMap<[u32; 3], usize> = Default::default();
            for t in &tetrahedra {
                for k in 0..4 {
                    let mut face = [t[(k + 1) % 4], t[(k + 2) % 4], t[(k + 3) % 4]];
                    face.sort_unstable();
                    *faces.entry(face).or_default() += 1;
                }
            }
            proptest::prop_assert!(faces.values().all(|&sides| sides <= 2));
            for (face, _) in faces.iter().filter(|(_, sides)| **sides == 1) {
                let [a, b, c] = face.map(|v| points[v as usize]);
                let normal = (b - a).cross(c - a);
                let mut above = false;
                let mut below = false;
                for p in &points {
                    above |= normal.dot(*p - a) > 0.0;
                    below |= normal.dot(*p - a) < 0.0;
                }
                proptest::prop_assert!(!(above && below), "a face inside the hull with one side");
            }
        }
    }
}
