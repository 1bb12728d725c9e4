//! Small meshes in closed form, for tests, examples and benches.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::Mesh;

/// A unit square of `n` × `n` quads in the plane `z = 0`, moved by `bump · sin` waves in all
/// directions, so that no triangle is special. With `bump = 0` it is flat and regular; up to 0.3 no
/// quad folds over.
#[must_use]
pub fn bumpy_sheet(n: usize, bump: f64) -> Mesh {
    let step = 1.0 / n as f64;
    let point = |i: usize, j: usize| {
        let (x, y) = (i as f64 * step, j as f64 * step);
        let wave = |a: f64, b: f64| bump * step * ((a * x + b * y) * 9.0 + a).sin();

        // Frequencies without a common period, so that no two vertices move alike.
        DVec3::new(
            x + wave(1.0, 2.0),
            y + wave(-2.0, 1.3),
            wave(1.7, -0.6) / step * 0.3,
        )
    };

    let positions = (0..=n)
        .flat_map(|i| (0..=n).map(move |j| point(i, j)))
        .collect();

    Mesh::from_polygons(positions, &grid_quads(n)).expect("a grid is a mesh")
}

/// The same square, flat: interior vertices are moved within the plane only.
#[must_use]
pub fn flat_sheet(n: usize, bump: f64) -> Mesh {
    let bumpy = bumpy_sheet(n, bump);
    let flat = bumpy
        .positions()
        .iter()
        .map(|p| DVec3::new(p.x, p.y, 0.0))
        .collect();
    bumpy.posed(flat).expect("the same vertices")
}

/// A unit sphere: an icosahedron whose triangles are split into four `levels` times.
#[must_use]
pub fn icosphere(levels: usize) -> Mesh {
    let g = (1.0 + 5.0_f64.sqrt()) / 2.0;

    // Corners of three golden rectangles, one in each coordinate plane.
    let corners = [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)];
    let mut positions: Vec<DVec3> = corners
        .iter()
        .map(|&(a, b)| DVec3::new(a, b, 0.0))
        .collect();
    positions.extend(corners.iter().map(|&(a, b)| DVec3::new(0.0, a, b)));
    positions.extend(corners.iter().map(|&(a, b)| DVec3::new(b, 0.0, a)));
    for p in positions.iter_mut() {
        *p = p.normalize();
    }

    let mut triangles = hull_of_icosahedron(&positions);
    for _ in 0..levels {
        triangles = split_in_four(&mut positions, &triangles);
    }

    Mesh::from_triangles(positions, &triangles).expect("an icosphere is a mesh")
}

/// The corner triples of an icosahedron at mutual edge distance, oriented outwards.
fn hull_of_icosahedron(corners: &[DVec3]) -> Vec<[u32; 3]> {
    // Edges of an icosahedron in the unit sphere have length 1.05; other pairs are farther than
    // 1.7.
    let near = |i: usize, j: usize| corners[i].distance(corners[j]) < 1.1;
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in (j + 1..12).filter(|&k| near(i, j) && near(j, k) && near(i, k)) {
                let outward = corners[i].dot(corners[j].cross(corners[k])) > 0.0;
                triangles.push(if outward { [i, j, k] } else { [i, k, j] }.map(|v| v as u32));
            }
        }
    }

    triangles
}

/// Each triangle becomes four; new vertices lie on the unit sphere.
fn split_in_four(positions: &mut Vec<DVec3>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let coarse = Mesh::from_triangles(positions.clone(), triangles).expect("a mesh so far");
    let first = positions.len() as u32;
    for [a, b] in coarse.topology().edges() {
        positions.push((positions[*a as usize] + positions[*b as usize]).normalize());
    }

    let sides = coarse.topology().triangle_edges();
    triangles
        .iter()
        .zip(sides)
        .flat_map(|(&[a, b, c], sides)| {
            let [ab, bc, ca] = sides.map(|e| first + e);
            [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        })
        .collect()
}

/// A closed box around the origin with edges of `size`, its faces divided into `cells` along x, y
/// and z, as quads.
#[must_use]
pub fn closed_box(cells: [usize; 3], size: DVec3) -> Mesh {
    // Vertices on shared box edges are created once, by their grid coordinates.
    let mut vertex_of = BTreeMap::new();
    let mut positions = Vec::new();
    let mut vertex = |k: [usize; 3]| {
        *vertex_of.entry(k).or_insert_with(|| {
            let share = |axis: usize| k[axis] as f64 / cells[axis] as f64 - 0.5;
            positions.push(size * DVec3::new(share(0), share(1), share(2)));
            positions.len() as u32 - 1
        })
    };

    let mut faces = Vec::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (side, outward) in [(0, false), (cells[axis], true)] {
            for (i, j) in (0..cells[u]).flat_map(|i| (0..cells[v]).map(move |j| (i, j))) {
                let mut corner = |di: usize, dj: usize| {
                    let mut k = [0; 3];
                    (k[axis], k[u], k[v]) = (side, i + di, j + dj);
                    vertex(k)
                };
                let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];

                // The two opposite sides have opposite orientation.
                faces.push(if outward {
                    vec![a, b, c, d]
                } else {
                    vec![a, d, c, b]
                });
            }
        }
    }

    Mesh::from_polygons(positions, &faces).expect("a box is a mesh")
}

/// The quads of an `n` × `n` grid of `(n + 1)²` vertices.
fn grid_quads(n: usize) -> Vec<Vec<u32>> {
    let at = |i: usize, j: usize| (i * (n + 1) + j) as u32;
    (0..n)
        .flat_map(|i| {
            (0..n).map(move |j| vec![at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sphere_is_closed_outward_and_nears_its_closed_form() {
        let sphere = icosphere(4);
        assert!(sphere.topology().is_closed());
        assert_eq!(sphere.vertex_count(), 10 * 4_usize.pow(4) + 2);
        assert!((sphere.signed_volume() / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 0.01);
        assert!((sphere.area() / (4.0 * std::f64::consts::PI) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_box_is_closed_and_has_its_volume_and_area() {
        let solid = closed_box([5, 3, 2], DVec3::new(4.0, 1.0, 0.5));
        assert!(solid.topology().is_closed());
        assert_eq!(solid.vertex_count(), 2 * (5 * 3 + 5 * 2 + 3 * 2) + 2); // Euler: V = F + 2 of quads.
        assert!((solid.signed_volume() - 2.0).abs() < 1e-12 && (solid.area() - 13.0).abs() < 1e-12);
    }
}
