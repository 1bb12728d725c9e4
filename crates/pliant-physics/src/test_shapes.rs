//! Shapes for tests: a bar of cubes with its tetrahedra, straight, bent and twisted; and how far
//! shapes are apart.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, Mesh};

/// A box from x = 0 to 4, one wide and one high, with a lattice of points inside.
pub(crate) struct Bar {
    pub(crate) mesh: Mesh,
    /// Surface vertices, then points inside.
    pub(crate) points: Vec<DVec3>,
    pub(crate) tetrahedra: Vec<[u32; 4]>,
}

pub(crate) const LENGTH: f64 = 4.0;

/// A bar of `along × across × across` cells.
pub(crate) fn bar(along: usize, across: usize) -> Bar {
    let cell = [along, across, across];
    let inside = |k: [usize; 3]| (0..3).all(|axis| k[axis] > 0 && k[axis] < cell[axis]);
    let mut lattice: Vec<[usize; 3]> = Vec::new();

    for i in 0..=along {
        for j in 0..=across {
            lattice.extend((0..=across).map(|k| [i, j, k]));
        }
    }

    lattice.sort_by_key(|&k| inside(k)); // Stable: the surface first, in order.
    let surface = lattice.iter().filter(|&&k| !inside(k)).count();
    let side = across + 1;

    // Numbers of the lattice points, surface first.
    let mut number = vec![0_u32; lattice.len()];
    for (n, k) in lattice.iter().enumerate() {
        number[(k[0] * side + k[1]) * side + k[2]] = n as u32;
    }

    let at = |k: [usize; 3]| number[(k[0] * side + k[1]) * side + k[2]];
    let share = |n: usize, of: usize| n as f64 / of as f64;
    let place = |k: &[usize; 3]| {
        DVec3::new(
            LENGTH * share(k[0], along),
            share(k[1], across) - 0.5,
            share(k[2], across) - 0.5,
        )
    };

    let points: Vec<DVec3> = lattice.iter().map(place).collect();
    let mut tetrahedra = Vec::new();
    for i in 0..along {
        for j in 0..across {
            for k in 0..across {
                tetrahedra.extend(cube_tetrahedra([i, j, k]).map(|t| t.map(at)));
            }
        }
    }

    let mesh = Mesh::from_triangles(points[..surface].to_vec(), &outer_faces(&tetrahedra))
        .expect("the bar is sound");
    Bar {
        mesh,
        points,
        tetrahedra,
    }
}

/// Six tetrahedra around the main diagonal of a cube: neighbouring cubes fit.
fn cube_tetrahedra([i, j, k]: [usize; 3]) -> [[[usize; 3]; 4]; 6] {
    let corner = |c: usize| [i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1)];
    [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]]
        .map(|[a, b]| [corner(0), corner(a), corner(b), corner(7)])
}

/// The triangles that belong to one tetrahedron only, seen from outside.
fn outer_faces(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut seen: std::collections::BTreeMap<[u32; 3], (usize, [u32; 3])> =
        std::collections::BTreeMap::new();
    for &[a, b, c, d] in tetrahedra {
        for face in [[a, c, b], [a, b, d], [b, c, d], [a, d, c]] {
            let mut key = face;
            key.sort_unstable();
            seen.entry(key).or_insert((0, face)).0 += 1;
        }
    }

    seen.values()
        .filter(|(count, _)| *count == 1)
        .map(|(_, face)| *face)
        .collect()
}

/// The x axis becomes an arc; sections stay plane.
pub(crate) fn bent(points: &[DVec3], degrees: f64) -> Vec<DVec3> {
    let radius = LENGTH / degrees.to_radians();
    let place = |p: &DVec3| {
        let angle = p.x / radius;
        let lever = radius - p.z;
        DVec3::new(lever * angle.sin(), p.y, radius - lever * angle.cos())
    };
    points.iter().map(place).collect()
}

/// Sections turn around the x axis.
pub(crate) fn twisted(points: &[DVec3], degrees: f64) -> Vec<DVec3> {
    let turn = |p: &DVec3| {
        let (s, c) = (degrees.to_radians() * p.x / LENGTH).sin_cos();
        DVec3::new(p.x, c * p.y - s * p.z, s * p.y + c * p.z)
    };
    points.iter().map(turn).collect()
}

/// The vertices of the end at the origin.
pub(crate) fn foot(bar: &Bar) -> Vec<usize> {
    (0..bar.mesh.vertex_count())
        .filter(|&v| bar.points[v].x == 0.0)
        .collect()
}

/// The largest distance as a share of the diagonal.
pub(crate) fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    let most = a
        .iter()
        .zip(b)
        .map(|(p, q)| p.distance(*q))
        .fold(0.0, f64::max);
    most / Bounds::of(b).expect("there are points").diagonal()
}

/// The same after the best rigid motion.
pub(crate) fn apart_rigid(a: &[DVec3], b: &[DVec3]) -> f64 {
    let motion = RigidMotion::fit(a, b, None).expect("as many points");
    apart(&a.iter().map(|p| motion.apply(*p)).collect::<Vec<_>>(), b)
}
