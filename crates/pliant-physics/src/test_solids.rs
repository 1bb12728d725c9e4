//! Closed shapes in closed form, for tests.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::test_shapes::{self, LENGTH};

/// The surface of a set of grid cells, each between the planes of `xs`, `ys` and `zs`, as triangles
/// that look outward.
pub(crate) fn cells(planes: [&[f64]; 3], filled: impl Fn([usize; 3]) -> bool) -> Mesh {
    let counts = planes.map(|p| p.len() - 1);
    let is_filled = |cell: [isize; 3]| {
        (0..3).all(|k| (0..counts[k] as isize).contains(&cell[k]))
            && filled(cell.map(|c| c as usize))
    };
    let mut vertex_of = std::collections::BTreeMap::new();
    let mut positions = Vec::new();

    let mut polygons = Vec::new();
    for index in 0..counts.iter().product() {
        let cell = [
            index % counts[0],
            index / counts[0] % counts[1],
            index / counts[0] / counts[1],
        ]
        .map(|c| c as isize);

        if !is_filled(cell) {
            continue;
        }

        // Each side of a filled cell without a filled neighbour is a face.
        for axis in 0..3 {
            for end in [0, 1] {
                let mut beyond = cell;
                beyond[axis] += 2 * end - 1;
                if is_filled(beyond) {
                    continue;
                }

                let corner = |u: isize, v: isize| {
                    let mut at = cell;
                    at[axis] += end;
                    at[(axis + 1) % 3] += u;
                    at[(axis + 2) % 3] += v;
                    at
                };

                let mut quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                if end == 0 {
                    quad.reverse();
                }

                let number = |at: [isize; 3]| {
                    *vertex_of.entry(at).or_insert_with(|| {
                        positions.push(DVec3::from([0, 1, 2].map(|k| planes[k][at[k] as usize])));
                        positions.len() as u32 - 1
                    })
                };

                polygons.push(quad.map(number).to_vec());
            }
        }
    }

    Mesh::from_polygons(positions, &polygons).expect("cells have a surface")
}

/// `count` steps from `low` to `high`.
pub(crate) fn steps(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..=count)
        .map(|k| low + (high - low) * k as f64 / count as f64)
        .collect()
}

/// A bar along x from 0 to 4, one wide and high, of `across` cells along its short sides.
pub(crate) fn bar(across: usize) -> Mesh {
    let side = steps(-0.5, 0.5, across);
    cells([&steps(0.0, LENGTH, 4 * across), &side, &side], |_| true)
}

/// The bar bent to an arc of `degrees` that starts where it was; sections stay plane.
pub(crate) fn bent(bar: &Mesh, degrees: f64) -> Mesh {
    bar.posed(test_shapes::bent(bar.positions(), degrees))
        .expect("the same vertices")
}

/// The bar twisted by `degrees` from end to end.
pub(crate) fn twisted(bar: &Mesh, degrees: f64) -> Mesh {
    bar.posed(test_shapes::twisted(bar.positions(), degrees))
        .expect("the same vertices")
}

/// A block below z = 0 with two prongs above it, `gap` apart across x = 0.
pub(crate) fn fork(gap: f64) -> Mesh {
    let mut xs = steps(-1.0 - 0.5 * gap, -0.5 * gap, 4);
    xs.extend(steps(0.5 * gap, 1.0 + 0.5 * gap, 4));
    let zs: Vec<f64> = steps(-1.0, 3.0, 16);
    cells([&xs, &steps(0.0, 1.0, 4), &zs], |[i, _, k]| k < 4 || i != 4)
}

/// Two meshes as one.
pub(crate) fn joined(first: &Mesh, second: &Mesh) -> Mesh {
    let offset = first.vertex_count() as u32;
    let positions = [first.positions(), second.positions()].concat();
    let mut triangles = first.triangles().to_vec();
    triangles.extend(second.triangles().iter().map(|t| t.map(|v| v + offset)));
    Mesh::from_triangles(positions, &triangles).expect("two meshes")
}
