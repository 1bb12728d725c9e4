//! Closed shapes without symmetry, and a leg that steps, for tests.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_mesh::shapes::icosphere;
use pliant_rig::Clip;

/// A lump with a nose, a belly and no symmetry: `20 · 4^levels` triangles. `change` makes another
/// individual of it.
pub(crate) fn lump(levels: usize, change: f64) -> Mesh {
    let ball = icosphere(levels);
    let positions = ball.positions().iter().map(|&p| bend(p, change)).collect();
    ball.posed(positions).expect("the same vertices")
}

fn bend(p: DVec3, change: f64) -> DVec3 {
    let nose = (-6.0 * p.distance_squared(DVec3::X)).exp() * (0.9 + change);
    let ear = (-9.0 * p.distance_squared(DVec3::new(0.5, 0.3, 0.8).normalize())).exp() * 0.6;
    let belly = (-3.0 * p.distance_squared(DVec3::new(-0.4, -0.9, 0.1).normalize())).exp()
        * (0.5 - 0.5 * change);
    let grown = p * (1.0 + nose + ear + belly);
    DVec3::new(grown.x * (1.6 + 0.3 * change), grown.y, grown.z * 0.8)
}

/// Vertices of the icosahedron under every [`lump`], which keep their numbers at all levels.
pub(crate) fn corner_pairs() -> Vec<(u32, u32)> {
    (0..12).map(|i| (i, i)).collect()
}

/// The same surface with vertices and triangles in another order, and where each triangle was.
pub(crate) fn shuffled(mesh: &Mesh) -> (Mesh, Vec<u32>) {
    let n = mesh.vertex_count() as u64;
    let m = mesh.triangles().len() as u64;
    // Multiplying by a prime that divides neither count visits everything once.
    let spread = |i: u64, count: u64| (i * 1_000_003 % count) as usize;

    let mut positions = vec![DVec3::ZERO; n as usize];
    for (i, &p) in mesh.positions().iter().enumerate() {
        positions[spread(i as u64, n)] = p;
    }

    let order: Vec<u32> = (0..m).map(|t| spread(t, m) as u32).collect();
    let triangle = |&t: &u32| {
        let [a, b, c] = mesh.triangles()[t as usize].map(|v| spread(u64::from(v), n) as u32);
        [b, c, a]
    };
    let triangles: Vec<[u32; 3]> = order.iter().map(triangle).collect();

    (
        Mesh::from_triangles(positions, &triangles).expect("the same surface"),
        order,
    )
}

/// Where [`shuffled`] puts a vertex.
pub(crate) fn shuffled_vertex(mesh: &Mesh, vertex: u32) -> u32 {
    (u64::from(vertex) * 1_000_003 % mesh.vertex_count() as u64) as u32
}

/// The same surface with every triangle `t` cut into the triangles `4t … 4t + 3` at the midpoints
/// of its sides.
pub(crate) fn halved(mesh: &Mesh) -> Mesh {
    let first = mesh.vertex_count() as u32;
    let mut positions = mesh.positions().to_vec();
    positions.extend(
        mesh.topology()
            .edges()
            .iter()
            .map(|[a, b]| mesh.positions()[*a as usize].midpoint(mesh.positions()[*b as usize])),
    );

    let quarters = |(&[a, b, c], sides): (&[u32; 3], &[u32; 3])| {
        let [ab, bc, ca] = sides.map(|e| first + e);
        [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
    };

    let triangles: Vec<[u32; 3]> = mesh
        .triangles()
        .iter()
        .zip(mesh.topology().triangle_edges())
        .flat_map(quarters)
        .collect();

    Mesh::from_triangles(positions, &triangles).expect("the same surface")
}

/// A sole on the ground and a leg of height `height` on it, in quads.
pub(crate) fn leg(height: f64) -> Mesh {
    let line = |x: f64, y: f64| [DVec3::new(x, y, 0.0), DVec3::new(x, y, 0.3)];
    let points = [
        line(-0.4, 0.0),
        line(0.0, 0.0),
        line(0.0, height / 2.0),
        line(0.0, height),
    ]
    .concat();

    Mesh::from_polygons(
        points,
        &[vec![0, 2, 3, 1], vec![2, 4, 5, 3], vec![4, 6, 7, 5]],
    )
    .expect("a leg")
}

/// The leg leans over its standing sole for six frames, then is lifted and brought forward for
/// three.
pub(crate) fn stepping(mesh: &Mesh) -> Clip {
    let frame = |k: usize| {
        let lean = 0.05 * k.min(5) as f64;
        let lift = k.saturating_sub(5) as f64;
        mesh.positions()
            .iter()
            .map(|p| DVec3::new(p.x + lean * p.y + 0.1 * lift, p.y + 0.3 * lift, p.z))
            .collect()
    };
    Clip::new("step", mesh.clone(), (0..9).map(frame).collect()).expect("a leg")
}
