use std::f64::consts::{PI, TAU};

use glam::{DMat3, DVec2, DVec3};

use super::*;
use crate::Stopped;
use crate::shapes::{bumpy_sheet, flat_sheet, icosphere};
use crate::test_progress::StopAt;

fn vertex(v: u32) -> [SurfacePoint; 1] {
    [SurfacePoint::Vertex(v)]
}

fn distances(mesh: &Mesh, sources: &[SurfacePoint]) -> Vec<f64> {
    ExactGeodesics::new(mesh)
        .unwrap()
        .distances(sources)
        .unwrap()
}

/// Asserts that each distance is the expected one within `tolerance`, relative to the largest.
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected
        .iter()
        .copied()
        .filter(|d| d.is_finite())
        .fold(f64::MIN_POSITIVE, f64::max);

    for (v, (&a, &b)) in found.iter().zip(expected).enumerate() {
        assert!(
            a == b || (a - b).abs() <= tolerance * scale,
            "vertex {v}: {a} instead of {b}"
        );
    }
}

fn straight(mesh: &Mesh, from: DVec3) -> Vec<f64> {
    mesh.positions().iter().map(|p| p.distance(from)).collect()
}

/// An axis-aligned unit cube of `n × n` quads a face.
fn cube(n: u32) -> Mesh {
    let mut positions: Vec<DVec3> = Vec::new();
    let mut quads = Vec::new();
    let mut index = std::collections::HashMap::new();
    for axis in 0..3 {
        for high in [0, n] {
            let mut at = |i: u32, j: u32| {
                let mut key = [0; 3];
                (key[axis], key[(axis + 1) % 3], key[(axis + 2) % 3]) = (high, i, j);
                *index.entry(key).or_insert_with(|| {
                    positions.push(DVec3::from_array(key.map(|k| f64::from(k) / f64::from(n))));
                    positions.len() as u32 - 1
                })
            };
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let quad = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                quads.push(if high == n {
                    quad.to_vec()
                } else {
                    quad.iter().rev().copied().collect()
                });
            }
        }
    }

    Mesh::from_polygons(positions, &quads).unwrap()
}

/// A developable cone of total angle `around` with its tip at vertex 0: `rings` rings of `n`
/// vertices. Above 2π it is a saddle, folded up and down.
fn cone(around: f64, rings: usize, n: usize) -> (Mesh, impl Fn(usize) -> (f64, f64)) {
    let flat = move |v: usize| {
        (
            (v as f64 - 1.0).div_euclid(n as f64) + 1.0,
            around * ((v - 1) % n) as f64 / n as f64,
        )
    };

    // Spokes alternate between two slopes, chosen so that neighbouring spokes enclose the right
    // angle.
    let wedge = around / n as f64;
    let step = TAU / n as f64;
    let place = |v: usize| {
        let (radius, _) = flat(v);
        let k = (v - 1) % n;

        // Unit spokes (c cos, c sin, ±s): their dot product c² cos(step) ± s² is the cosine of the
        // wedge.
        let (c, s) = if wedge <= step {
            let c2 = (1.0 - wedge.cos()) / (1.0 - step.cos());
            (c2.sqrt(), (1.0 - c2).sqrt())
        } else {
            let c2 = (1.0 + wedge.cos()) / (1.0 + step.cos());
            (
                c2.sqrt(),
                (1.0 - c2).sqrt() * if k.is_multiple_of(2) { 1.0 } else { -1.0 },
            )
        };

        let angle = step * k as f64;
        radius * DVec3::new(c * angle.cos(), c * angle.sin(), s)
    };

    let positions = std::iter::once(DVec3::ZERO)
        .chain((1..=rings * n).map(place))
        .collect();

    let mut triangles = Vec::new();
    for k in 0..n {
        let at = |ring: usize, k: usize| {
            if ring == 0 {
                0
            } else {
                (1 + (ring - 1) * n + k % n) as u32
            }
        };

        triangles.push([0, at(1, k), at(1, k + 1)]);
        for ring in 1..rings {
            triangles.push([at(ring, k), at(ring + 1, k), at(ring + 1, k + 1)]);
            triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring, k + 1)]);
        }
    }

    (Mesh::from_triangles(positions, &triangles).unwrap(), flat)
}

/// Distance on an unrolled cone: straight where the smaller angle is below π, else over
/// the tip.
fn cone_distance(around: f64, (r, a): (f64, f64), (s, b): (f64, f64)) -> f64 {
    let apart = (a - b).abs().min(around - (a - b).abs());
    if apart >= PI {
        r + s
    } else {
        (r * r + s * s - 2.0 * r * s * apart.cos()).max(0.0).sqrt()
    }
}

fn check_cone(around: f64, rings: usize, n: usize) {
    let (mesh, flat) = cone(around, rings, n);
    let middle = 1 + (rings / 2) * n;
    let mut expected: Vec<f64> = (1..mesh.vertex_count())
        .map(|v| cone_distance(around, flat(middle), flat(v)))
        .collect();

    expected.insert(0, flat(middle).0);
    // The rim is a polygon: paths that would leave it are bent there and longer.
    let inner = mesh.vertex_count() - n;
    let found = distances(&mesh, &vertex(middle as u32));

    assert_close(&found[..inner], &expected[..inner], 1e-12);
}

#[test]
fn on_a_plane_distances_are_straight_for_every_triangulation() {
    for (n, bump) in [(12, 0.0), (12, 0.25), (25, 0.3)] {
        let mesh = flat_sheet(n, bump);
        for source in [0, (n * n / 2) as u32, (n * n) as u32] {
            let from = mesh.positions()[source as usize];
            // Paths on the plane leave the wavy rim only where it is concave; the middle of the
            // sheet is free of that.
            let disc = ExactGeodesics::new(&mesh)
                .unwrap()
                .disc(&vertex(source), 0.3)
                .unwrap();

            let rim = |p: DVec3| p.x.min(1.0 - p.x).min(p.y).min(1.0 - p.y);
            if bump > 0.0 && rim(from) < 0.3 {
                continue;
            }

            for (&v, &d) in disc.vertices.iter().zip(&disc.distances) {
                let expected = mesh.positions()[v as usize].distance(from);
                assert!(
                    (d - expected).abs() <= 1e-12 * expected,
                    "vertex {v}: {d} instead of {expected}"
                );
            }
        }
    }
}

#[test]
fn on_a_flat_square_distances_are_straight_from_a_corner_an_edge_and_a_face() {
    let mesh = flat_sheet(17, 0.0);
    let places = [
        SurfacePoint::Vertex(5),
        SurfacePoint::InTriangle(TrianglePoint {
            triangle: 130,
            barycentric: [0.2, 0.3, 0.5],
        }),
        SurfacePoint::InTriangle(TrianglePoint {
            triangle: 131,
            barycentric: [0.0, 0.25, 0.75],
        }),
        SurfacePoint::InTriangle(TrianglePoint {
            triangle: 131,
            barycentric: [0.25, 0.75, 0.0],
        }),
        SurfacePoint::InTriangle(TrianglePoint {
            triangle: 77,
            barycentric: [0.0, 1.0, 0.0],
        }),
        SurfacePoint::InTriangle(TrianglePoint {
            triangle: 77,
            barycentric: [1e-17, 0.5, 0.5],
        }),
    ];

    for place in places {
        assert_close(
            &distances(&mesh, &[place]),
            &straight(&mesh, place.position(&mesh)),
            1e-13,
        );
    }
}

#[test]
fn on_a_cube_paths_unfold_over_its_faces() {
    let mesh = cube(6);
    let find = |p: [f64; 3]| {
        mesh.positions()
            .iter()
            .position(|q| q.distance(DVec3::from_array(p)) < 1e-9)
            .unwrap()
    };

    let from_corner = distances(&mesh, &vertex(find([0.0; 3]) as u32));
    assert!((from_corner[find([1.0, 1.0, 1.0])] - 5.0_f64.sqrt()).abs() < 1e-12);
    assert!((from_corner[find([1.0, 1.0, 0.0])] - 2.0_f64.sqrt()).abs() < 1e-12);

    // From the corner to any point (x, y) of the opposite face at height one: over a side face, or
    // over two.
    for (v, p) in mesh
        .positions()
        .iter()
        .enumerate()
        .filter(|(_, p)| p.z == 1.0)
    {
        let over_one = DVec2::new(p.x, 1.0 + p.y)
            .length()
            .min(DVec2::new(p.y, 1.0 + p.x).length());
        assert!(
            (from_corner[v] - over_one).abs() < 1e-12,
            "{p}: {} instead of {over_one}",
            from_corner[v]
        );
    }

    // Between the centres of opposite faces.
    let from_centre = distances(&mesh, &vertex(find([0.5, 0.5, 0.0]) as u32));
    assert!((from_centre[find([0.5, 0.5, 1.0])] - 2.0).abs() < 1e-12);
}

#[test]
fn on_a_cone_paths_are_straight_when_it_is_unrolled() {
    for around in [0.9 * PI, 1.5 * PI, 1.95 * PI] {
        check_cone(around, 6, 24);
    }
}

#[test]
fn on_a_saddle_cone_paths_at_angles_above_pi_run_over_the_tip() {
    for around in [2.0 * PI + 1e-7, 2.2 * PI, 3.0 * PI] {
        check_cone(around, 6, 24);
    }
}

#[test]
fn around_a_reflex_corner_of_the_boundary_the_path_bends() {
    // An L: the unit squares at (0,0), (1,0) and (0,1), each cut into n × n quads.
    let n = 8;
    let inside =
        |i: i32, j: i32| (0..2 * n).contains(&i) && (0..2 * n).contains(&j) && (i < n || j < n);
    let index = |i: i32, j: i32| (j * (2 * n + 1) + i) as u32;
    let positions: Vec<DVec3> = (0..=2 * n)
        .flat_map(|j| {
            (0..=2 * n).map(move |i| DVec3::new(f64::from(i), f64::from(j), 0.0) / f64::from(n))
        })
        .collect();

    let cells = (0..2 * n)
        .flat_map(|j| (0..2 * n).map(move |i| (i, j)))
        .filter(|&(i, j)| inside(i, j));
    let quads: Vec<Vec<u32>> = cells
        .map(|(i, j)| {
            vec![
                index(i, j),
                index(i + 1, j),
                index(i + 1, j + 1),
                index(i, j + 1),
            ]
        })
        .collect();

    let mesh = Mesh::from_polygons(positions, &quads).unwrap();
    let from = mesh.positions()[index(2 * n, n - 2) as usize];
    let corner = DVec3::new(1.0, 1.0, 0.0);
    let found = distances(&mesh, &vertex(index(2 * n, n - 2)));

    for (v, &p) in mesh
        .positions()
        .iter()
        .enumerate()
        .filter(|(_, p)| p.x <= 1.0 || p.y <= 1.0)
    {
        // Hidden where the straight line would pass the corner on its outer side.
        let hidden =
            (p - corner).truncate().perp_dot((from - corner).truncate()) < 0.0 && p.y > 1.0;
        let expected = if hidden {
            from.distance(corner) + corner.distance(p)
        } else {
            from.distance(p)
        };

        assert!(
            (found[v] - expected).abs() < 1e-12,
            "{p}: {} instead of {expected}",
            found[v]
        );
    }

    assert!(found[index(2 * n, 2 * n) as usize].is_infinite());
}

/// Shortest path by brute force: Dijkstra over the vertices, joined by every straight line that
/// some sequence of at most `depth` unfolded triangles lets through. Exact where no straight piece
/// crosses more triangles than that.
fn brute_force(mesh: &Mesh, source: usize, depth: usize) -> Vec<f64> {
    let n = mesh.vertex_count();
    let mut lines = vec![vec![f64::INFINITY; n]; n];
    for from in 0..n {
        for &t in mesh.topology().vertex_triangles().row(from) {
            let corners = mesh.triangles()[t as usize];
            let k = corners.iter().position(|&v| v as usize == from).unwrap();
            let a = corners[(k + 1) % 3];
            let b = corners[(k + 2) % 3];
            let [o, p, q] = [from as u32, a, b].map(|v| mesh.positions()[v as usize]);
            let along = (p - o).normalize();
            let flat_p = DVec2::new((p - o).length(), 0.0);
            let flat_q = DVec2::new((q - o).dot(along), (q - o).cross(along).length());

            lines[from][a as usize] = flat_p.length();
            lines[from][b as usize] = flat_q.length();
            unfold(
                mesh,
                t,
                (a, flat_p),
                (b, flat_q),
                (flat_p, flat_q),
                depth,
                &mut lines[from],
            );
        }
    }

    let mut distances = vec![f64::INFINITY; n];
    distances[source] = 0.0;
    for _ in 0..n {
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            distances[b] = distances[b].min(distances[a] + lines[a][b]);
        }
    }

    distances
}

/// Follows the cone between two rays from the origin through the edge `a b` into all triangles
/// beyond.
fn unfold(
    mesh: &Mesh,
    from: u32,
    a: (u32, DVec2),
    b: (u32, DVec2),
    cone: (DVec2, DVec2),
    depth: usize,
    lines: &mut [f64],
) {
    // Rays go anticlockwise from cone.0 to cone.1; allow for rounding at its borders.
    if depth == 0 || cone.0.perp_dot(cone.1) <= 0.0 {
        return;
    }

    let edge = mesh.topology().edge_between(a.0, b.0).unwrap();
    for &t in mesh
        .topology()
        .edge_triangles()
        .row(edge)
        .iter()
        .filter(|&&t| t != from)
    {
        let c = mesh.triangles()[t as usize]
            .into_iter()
            .find(|&v| v != a.0 && v != b.0)
            .unwrap();
        let [p, q, r] = [a.0, b.0, c].map(|v| mesh.positions()[v as usize]);
        let axis = (b.1 - a.1).normalize();
        let foot = (r - p).dot(q - p) / (q - p).length();
        let height = (r - p).cross(q - p).length() / (q - p).length();
        let apex = a.1 + axis * foot - axis.perp() * height;
        let tolerance = 1e-12 * apex.length() * cone.0.length().max(cone.1.length());

        if cone.0.perp_dot(apex) >= -tolerance && apex.perp_dot(cone.1) >= -tolerance {
            lines[c as usize] = lines[c as usize].min(apex.length());
        }

        let right = if apex.perp_dot(cone.1) < 0.0 {
            cone.1
        } else {
            apex
        };

        let left = if cone.0.perp_dot(apex) < 0.0 {
            cone.0
        } else {
            apex
        };

        unfold(mesh, t, a, (c, apex), (cone.0, right), depth - 1, lines);
        unfold(mesh, t, (c, apex), b, (left, cone.1), depth - 1, lines);
    }
}

#[test]
fn distances_equal_those_of_all_unfolded_edge_sequences() {
    let rough = bumpy_sheet(4, 0.3);
    let spiky = icosphere(1);
    let points = spiky
        .positions()
        .iter()
        .enumerate()
        .map(|(k, &p)| p * (1.0 + 0.6 * (k as f64 * 2.4).sin()))
        .collect();

    for mesh in [
        rough,
        spiky.posed(points).unwrap(),
        cube(2),
        cone(2.6 * PI, 2, 12).0,
    ] {
        for source in [0, mesh.vertex_count() / 2, mesh.vertex_count() - 1] {
            assert_close(
                &distances(&mesh, &vertex(source as u32)),
                &brute_force(&mesh, source, 13),
                1e-12,
            );
        }
    }
}

/// A closed mesh with hills and saddles.
fn lumpy() -> Mesh {
    let sphere = icosphere(3);
    let lump = |p: DVec3| p * (1.0 + 0.3 * (5.0 * p.x).sin() * (4.0 * p.y + p.z).cos());
    sphere
        .posed(sphere.positions().iter().map(|&p| lump(p)).collect())
        .unwrap()
}

#[test]
fn distances_are_a_metric() {
    let mesh = lumpy();
    let mut geodesics = ExactGeodesics::new(&mesh).unwrap();
    let chosen: Vec<u32> = (0..12).map(|k| k * 53).collect();
    let rows: Vec<Vec<f64>> = chosen
        .iter()
        .map(|&v| geodesics.distances(&vertex(v)).unwrap())
        .collect();

    for (i, j) in (0..12).flat_map(|i| (0..12).map(move |j| (i, j))) {
        let there = rows[i][chosen[j] as usize];
        assert!((there - rows[j][chosen[i] as usize]).abs() <= 1e-12 * there);
        assert!(
            there
                >= mesh.positions()[chosen[i] as usize]
                    .distance(mesh.positions()[chosen[j] as usize])
                    * (1.0 - 1e-12)
        );

        for v in 0..mesh.vertex_count() {
            assert!(rows[i][v] <= there + rows[j][v] + 1e-12);
        }
    }
}

#[test]
fn rigid_motion_keeps_distances_and_scaling_scales_them() {
    let mesh = lumpy();
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.7);
    let moved = mesh
        .posed(
            mesh.positions()
                .iter()
                .map(|&p| 3.5 * (rotation * p) + DVec3::new(4.0, -2.0, 1.0))
                .collect(),
        )
        .unwrap();

    let expected: Vec<f64> = distances(&mesh, &vertex(7))
        .iter()
        .map(|d| 3.5 * d)
        .collect();

    assert_close(&distances(&moved, &vertex(7)), &expected, 1e-12);
}

#[test]
fn several_sources_give_the_least_of_each() {
    let mesh = lumpy();
    let sources = [
        SurfacePoint::Vertex(3),
        SurfacePoint::Vertex(400),
        SurfacePoint::InTriangle(TrianglePoint {
            triangle: 99,
            barycentric: [0.1, 0.6, 0.3],
        }),
    ];

    let alone: Vec<Vec<f64>> = sources
        .iter()
        .map(|&source| distances(&mesh, &[source]))
        .collect();
    let least: Vec<f64> = (0..mesh.vertex_count())
        .map(|v| alone.iter().map(|row| row[v]).fold(f64::INFINITY, f64::min))
        .collect();

    assert_close(&distances(&mesh, &sources), &least, 1e-13);
}

#[test]
fn a_point_source_agrees_with_the_mesh_that_has_a_vertex_there() {
    let mesh = lumpy();
    let weights = [0.3, 0.5, 0.2];
    let point = SurfacePoint::InTriangle(TrianglePoint {
        triangle: 40,
        barycentric: weights,
    });

    let [a, b, c] = mesh.triangles()[40];
    let new = mesh.vertex_count() as u32;
    let mut triangles = mesh.triangles().to_vec();
    triangles[40] = [a, b, new];
    triangles.extend([[b, c, new], [c, a, new]]);

    let positions = mesh
        .positions()
        .iter()
        .copied()
        .chain([point.position(&mesh)])
        .collect();

    let expected = distances(
        &Mesh::from_triangles(positions, &triangles).unwrap(),
        &vertex(new),
    );

    assert_close(
        &distances(&mesh, &[point]),
        &expected[..new as usize],
        1e-13,
    );
}

#[test]
fn a_disc_holds_exactly_the_vertices_within_its_radius_and_does_not_change_later_queries() {
    let mesh = lumpy();
    let mut geodesics = ExactGeodesics::new(&mesh).unwrap();
    let all = geodesics.distances(&vertex(11)).unwrap();

    for radius in [0.0, 0.1, 0.5, all[200], 1.0, f64::INFINITY] {
        let disc = geodesics.disc(&vertex(11), radius).unwrap();
        let inside: Vec<u32> = (0..all.len() as u32)
            .filter(|&v| all[v as usize] <= radius * (1.0 + 1e-14))
            .collect();

        assert_eq!(disc.vertices, inside, "radius {radius}");
        assert_close(
            &disc.distances,
            &inside.iter().map(|&v| all[v as usize]).collect::<Vec<_>>(),
            1e-14,
        );
    }

    assert_eq!(geodesics.distances(&vertex(11)).unwrap(), all);
    assert_eq!(all[11], 0.0);
}

#[test]
fn other_components_and_unused_vertices_stay_infinite() {
    let positions = vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::Y,
        DVec3::Z,
        DVec3::new(1.0, 0.0, 1.0),
        DVec3::ONE,
        DVec3::NEG_X,
    ];

    let mesh = Mesh::from_triangles(positions, &[[0, 1, 2], [3, 4, 5]]).unwrap();
    let found = distances(&mesh, &vertex(0));
    assert_eq!(&found[..3], &[0.0, 1.0, 1.0]);
    assert!(found[3..].iter().all(|d| d.is_infinite()));

    let alone = distances(&mesh, &vertex(6));
    assert!(alone[6] == 0.0 && alone[..6].iter().all(|d| d.is_infinite()));
}

#[test]
fn across_a_non_manifold_edge_the_unfolded_path_is_straight() {
    // Pages of n × n quads about the z axis, some with reversed faces; all unfold to half-planes.
    let (n, pages) = (6_u32, 5_u32);
    let index = |page: u32, i: u32, j: u32| {
        if i == 0 {
            j
        } else {
            (n + 1) + page * n * (n + 1) + (i - 1) * (n + 1) + j
        }
    };

    let mut flat: Vec<(u32, DVec2)> = (0..=n)
        .map(|j| (0, DVec2::new(0.0, f64::from(j))))
        .collect();
    flat.extend((0..pages).flat_map(|page| {
        (1..=n)
            .flat_map(move |i| (0..=n).map(move |j| (page, DVec2::new(f64::from(i), f64::from(j)))))
    }));

    let place = |&(page, p): &(u32, DVec2)| {
        let angle = 1.1 * f64::from(page);
        DVec3::new(p.x * angle.cos(), p.x * angle.sin(), p.y)
    };

    let mut quads = Vec::new();
    for (page, i, j) in
        (0..pages).flat_map(|page| (0..n).flat_map(move |i| (0..n).map(move |j| (page, i, j))))
    {
        let mut quad = vec![
            index(page, i, j),
            index(page, i + 1, j),
            index(page, i + 1, j + 1),
            index(page, i, j + 1),
        ];

        if page % 2 == 1 {
            quad.reverse();
        }

        quads.push(quad);
    }

    let mesh = Mesh::from_polygons(flat.iter().map(place).collect(), &quads).unwrap();
    assert!(mesh.topology().non_manifold_edges().count() > 0);

    let source = index(1, 4, 1);
    let (own, from) = flat[source as usize];
    let across = |&(page, p): &(u32, DVec2)| {
        if page == own || p.x == 0.0 {
            from.distance(p)
        } else {
            from.distance(DVec2::new(-p.x, p.y))
        }
    };

    assert_close(
        &distances(&mesh, &vertex(source)),
        &flat.iter().map(across).collect::<Vec<_>>(),
        1e-13,
    );
}

#[test]
fn needles_and_caps_keep_distances_straight() {
    for squeeze in [1e-3, 1e-6, 1e-9] {
        let sheet = flat_sheet(10, 0.0);
        let squeezed = sheet
            .positions()
            .iter()
            .map(|p| DVec3::new(p.x, squeeze * p.y, 0.0))
            .collect();

        let mesh = sheet.posed(squeezed).unwrap();
        for source in [0, 60, 65] {
            let expected = straight(&mesh, mesh.positions()[source as usize]);
            let found = distances(&mesh, &vertex(source));
            for (v, (d, e)) in found.iter().zip(&expected).enumerate() {
                assert!(
                    (d - e).abs() <= 1e-12 * e,
                    "squeezed by {squeeze}, vertex {v}: {d} instead of {e}"
                );
            }
        }
    }
}

#[test]
fn triangles_without_area_let_paths_through() {
    // Vertex 4 lies on the diagonal 0-2 of a square: a flat triangle 0-4-2 closes the gap to the
    // other half.
    let middle = DVec3::new(0.5, 0.5, 0.0);
    let positions = vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(1.0, 1.0, 0.0),
        DVec3::Y,
        middle,
    ];

    let mesh =
        Mesh::from_triangles(positions, &[[0, 1, 2], [0, 2, 4], [0, 4, 3], [4, 2, 3]]).unwrap();
    for source in 0..5 {
        assert_close(
            &distances(&mesh, &vertex(source)),
            &straight(&mesh, mesh.positions()[source as usize]),
            1e-12,
        );
    }

    let inside = SurfacePoint::InTriangle(TrianglePoint {
        triangle: 1,
        barycentric: [0.5, 0.25, 0.25],
    });

    assert_close(
        &distances(&mesh, &[inside]),
        &straight(&mesh, inside.position(&mesh)),
        1e-12,
    );
}

#[test]
fn coincident_vertices_and_duplicate_or_collapsed_triangles_do_not_change_distances() {
    let sheet = flat_sheet(6, 0.0);
    let mut positions = sheet.positions().to_vec();
    let mut triangles = sheet.triangles().to_vec();
    let expected = straight(&sheet, positions[17]);

    triangles.extend_from_slice(&sheet.triangles()[10..20]);
    triangles.push([3, 3, 4]);

    // A second vertex in the place of vertex 24, tied to it by a triangle with an edge of no
    // length.
    positions.push(positions[24]);
    triangles.push([24, 49, 25]);

    let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
    let found = distances(&mesh, &vertex(17));
    assert_close(&found[..49], &expected, 1e-12);

    assert!((found[49] - expected[24]).abs() < 1e-12);
    let all_in_one =
        Mesh::from_triangles(vec![DVec3::ONE; 4], &[[0, 1, 2], [2, 1, 3], [3, 3, 0]]).unwrap();

    assert_eq!(distances(&all_in_one, &vertex(0)), [0.0; 4]);
    let on_a_line = SurfacePoint::InTriangle(TrianglePoint {
        triangle: 82,
        barycentric: [0.25, 0.25, 0.5],
    });
    let found = distances(&mesh, &[on_a_line]);

    assert!((found[3] - found[4]).abs() < 1e-12 && found.iter().all(|d| d.is_finite()));
}

#[test]
fn repeated_triangles_do_not_change_distances() {
    let sheet = flat_sheet(12, 0.2);
    let again = sheet.triangles().iter().map(|&[a, b, c]| [c, b, a]);
    let triangles: Vec<[u32; 3]> = sheet.triangles().iter().copied().chain(again).collect();
    let mesh = Mesh::from_triangles(sheet.positions().to_vec(), &triangles).unwrap();
    let n = sheet.triangles().len() as u32;

    for k in [20, 51] {
        let once = SurfacePoint::InTriangle(TrianglePoint {
            triangle: k,
            barycentric: [0.2, 0.7, 0.1],
        });

        let twice = SurfacePoint::InTriangle(TrianglePoint {
            triangle: n + k,
            barycentric: [0.1, 0.7, 0.2],
        });

        assert_close(
            &distances(&mesh, &[twice]),
            &distances(&sheet, &[once]),
            1e-14,
        );
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn on_the_bunny_the_largest_distance_equals_that_of_other_libraries() {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        eprintln!("skipped: set PLIANT_DATA to the data folder to measure the bunny");
        return;
    };

    let text = std::fs::read_to_string(std::path::Path::new(&folder).join("static/bunny.off"))
        .expect("PLIANT_DATA holds static/bunny.off");
    let numbers: Vec<f64> = text
        .split_whitespace()
        .skip(1)
        .map(|word| word.parse().unwrap())
        .collect();

    let (points, faces) = numbers[3..].split_at(3 * numbers[0] as usize);
    let positions = points.chunks(3).map(DVec3::from_slice).collect();
    let triangles: Vec<[u32; 3]> = faces
        .chunks_exact(4)
        .map(|f| [f[1] as u32, f[2] as u32, f[3] as u32])
        .collect();

    let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
    let farthest = distances(&mesh, &vertex(0)).into_iter().fold(0.0, f64::max);

    // gdist 2.1.0 and pygeodesic both print this number (benches/peers/exact_geodesic_peers.py).
    let peers = 0.159_585_544_500_944;
    assert!((farthest - peers).abs() < 1e-12 * peers, "{farthest}");
}

#[test]
fn a_stopped_query_says_so_and_the_next_one_works() {
    let mesh = bumpy_sheet(40, 0.1);
    let mut exact = ExactGeodesics::new(&mesh).unwrap();
    let expected = exact.distances(&vertex(0)).unwrap();

    let limit = StopAt::share(0.5);
    let stopped = exact.distances_with_progress(&vertex(0), &limit);
    assert_eq!(stopped.unwrap_err(), MeshError::Stopped(Stopped));
    assert!(limit.calls() > 1, "it reports while it works");
    assert_eq!(exact.distances(&vertex(0)).unwrap(), expected);
}

#[test]
fn bad_input_is_declined_with_its_reason() {
    let mesh = icosphere(0);
    let mut geodesics = ExactGeodesics::new(&mesh).unwrap();
    assert_eq!(geodesics.disc(&[], 1.0), Err(MeshError::NoSource));
    assert_eq!(
        geodesics.distances(&vertex(12)),
        Err(MeshError::NoSuchVertex {
            vertex: 12,
            vertices: 12
        })
    );

    for radius in [f64::NAN, -1.0] {
        assert!(matches!(
            geodesics.disc(&vertex(0), radius),
            Err(MeshError::BadNumber {
                what: "the radius",
                ..
            })
        ));
    }

    let posed = |p: DVec3| mesh.posed(vec![p; 12]).unwrap();
    assert!(matches!(
        ExactGeodesics::new(&posed(DVec3::NAN)),
        Err(MeshError::NotFinite { .. })
    ));

    let huge = mesh
        .posed(mesh.positions().iter().map(|&p| 1e200 * p).collect())
        .unwrap();

    assert!(matches!(
        ExactGeodesics::new(&huge),
        Err(MeshError::BadNumber { .. })
    ));

    let empty = Mesh::from_triangles(vec![DVec3::ZERO], &[]).unwrap();
    assert!(matches!(
        ExactGeodesics::new(&empty),
        Err(MeshError::NoFaces)
    ));
}

/// A flat sheet of quads, each there twice: once with either diagonal, as two-sided faces come out.
fn two_sided_sheet(n: usize) -> Mesh {
    let sheet = flat_sheet(n, 0.0);
    let both = sheet
        .faces()
        .flat_map(|quad| [quad.to_vec(), quad.iter().rev().copied().collect()]);
    Mesh::from_polygons(sheet.positions().to_vec(), &both.collect::<Vec<Vec<u32>>>()).unwrap()
}

#[test]
fn coincident_faces_with_different_diagonals_give_an_error_and_the_next_query_works() {
    let sheet = two_sided_sheet(40);
    let mut geodesics = ExactGeodesics::new(&sheet).unwrap();
    let message = geodesics
        .distances(&[SurfacePoint::Vertex(0)])
        .unwrap_err()
        .to_string();

    assert!(message.contains("duplicate faces"), "{message}");
    let disc = geodesics.disc(&[SurfacePoint::Vertex(0)], 0.06).unwrap();
    assert_eq!(
        disc.vertices.len(),
        8,
        "i² + j² ≤ 2.4² for steps i and j of 0.025"
    );
}
