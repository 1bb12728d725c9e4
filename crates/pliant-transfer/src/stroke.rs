//! Strokes of a scribble: the triangles along a line of vertices.
//!
//! **Problem.** Who scribbles draws lines, not lists of faces.
//!
//! **Method.** From each vertex of the stroke to the next goes the shortest path over edges. The
//! stroke covers the triangles that the path touches, and those whose corners are in the mean
//! within half its width of the path, along the surface.
//!
//! **Source.** The scribbles of Wang and Lee, "Example-driven animation synthesis", 2008, section
//! 3.2.
//!
//! **Ours.** The path is Dijkstra's; of two paths of one length the one over lower vertices is
//! taken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pliant_mesh::{ExactGeodesics, Mesh, SurfacePoint};

use crate::TransferError;

/// For every triangle whether the stroke covers it. `width` is a length in the units of the mesh.
///
/// # Errors
/// A vertex that the mesh does not have, two on different parts of it, and a width that is not a
/// number from zero up.
pub fn stroke_triangles(
    mesh: &Mesh,
    stroke: &[u32],
    width: f64,
) -> Result<Vec<bool>, TransferError> {
    if !(width >= 0.0 && width.is_finite()) {
        return Err(TransferError::BadNumber {
            what: "the width of a stroke",
            value: width,
            needed: "a length from zero up",
        });
    }
    stroke
        .iter()
        .try_for_each(|&v| mesh.require_vertex(v as usize))?;
    let mut path: Vec<u32> = stroke.first().copied().into_iter().collect();
    for ends in stroke.windows(2) {
        path.extend(
            edge_path(mesh, ends[0], ends[1]).ok_or(TransferError::BrokenStroke {
                from: ends[0],
                to: ends[1],
            })?,
        );
    }
    let mut covered = vec![false; mesh.triangles().len()];
    for &t in path
        .iter()
        .flat_map(|&v| mesh.topology().vertex_triangles().row(v as usize))
    {
        covered[t as usize] = true;
    }
    if width > 0.0 && !path.is_empty() {
        let points: Vec<SurfacePoint> = path.into_iter().map(SurfacePoint::Vertex).collect();
        // Where the mean of three is within half the width, none is further than three halves.
        let distances = ExactGeodesics::new(mesh)?
            .disc(&points, 1.5 * width)?
            .to_dense(mesh.vertex_count());
        for (covered, triangle) in covered.iter_mut().zip(mesh.triangles()) {
            *covered |= triangle.iter().map(|&v| distances[v as usize]).sum::<f64>() <= 1.5 * width;
        }
    }
    Ok(covered)
}

/// The vertices after `from` on the shortest path over edges to `to`; none if there is no path.
fn edge_path(mesh: &Mesh, from: u32, to: u32) -> Option<Vec<u32>> {
    let place = |v: u32| mesh.positions()[v as usize];
    let mut reached: Vec<Option<u32>> = vec![None; mesh.vertex_count()];
    // The bits of lengths, which are never negative, are in the order of the lengths.
    let mut front = BinaryHeap::from([Reverse((0.0_f64.to_bits(), to, to))]);
    // Backwards, so that the path reads forwards.
    while let Some(Reverse((length, v, next))) = front.pop() {
        if reached[v as usize].is_some() {
            continue;
        }
        reached[v as usize] = Some(next);
        if v == from {
            break;
        }
        for &w in mesh
            .topology()
            .vertex_neighbors()
            .row(v as usize)
            .iter()
            .filter(|w| reached[**w as usize].is_none())
        {
            front.push(Reverse((
                (f64::from_bits(length) + place(v).distance(place(w))).to_bits(),
                w,
                v,
            )));
        }
    }
    reached[from as usize]?;
    let mut path = Vec::new();
    let mut v = from;
    while v != to {
        v = reached[v as usize]?;
        path.push(v);
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes::flat_sheet;

    #[test]
    fn a_straight_stroke_covers_what_it_touches_and_with_a_width_a_band() {
        let n = 20;
        let sheet = flat_sheet(n, 0.0);
        let at = |x: f64, y: f64| {
            sheet
                .positions()
                .iter()
                .position(|p| p.distance(DVec3::new(x, y, p.z)) < 1e-9)
                .unwrap() as u32
        };
        let stroke = [at(0.0, 0.5), at(0.5, 0.5), at(1.0, 0.5)];
        for width in [0.0, 0.3] {
            let covered = stroke_triangles(&sheet, &stroke, width).unwrap();
            for (t, covered) in covered.into_iter().enumerate() {
                let corners = sheet.triangle_points(t).map(|p| (p.y - 0.5).abs());
                let touches = corners.iter().any(|d| *d < 1e-9);
                assert_eq!(
                    covered,
                    touches || corners.iter().sum::<f64>() / 3.0 <= width / 2.0,
                    "triangle {t} with width {width}"
                );
            }
        }
    }

    #[test]
    fn a_path_is_as_short_as_the_best_of_all_paths() {
        let sheet = pliant_mesh::shapes::bumpy_sheet(5, 0.4);
        let n = sheet.vertex_count();
        let length = |a: usize, b: usize| sheet.positions()[a].distance(sheet.positions()[b]);
        let mut best: Vec<Vec<f64>> = vec![vec![f64::INFINITY; n]; n];
        (0..n).for_each(|v| best[v][v] = 0.0);
        for [a, b] in sheet
            .topology()
            .edges()
            .iter()
            .map(|edge| edge.map(|v| v as usize))
        {
            (best[a][b], best[b][a]) = (length(a, b), length(a, b));
        }
        for (k, i, j) in
            (0..n).flat_map(|k| (0..n).flat_map(move |i| (0..n).map(move |j| (k, i, j))))
        {
            best[i][j] = best[i][j].min(best[i][k] + best[k][j]);
        }
        for (from, to) in [(0, n - 1), (3, 17), (8, 8)] {
            let path = [
                vec![from as u32],
                edge_path(&sheet, from as u32, to as u32).unwrap(),
            ]
            .concat();
            let whole: f64 = path
                .windows(2)
                .map(|ends| length(ends[0] as usize, ends[1] as usize))
                .sum();
            assert!((whole - best[from][to]).abs() < 1e-12 && *path.last().unwrap() as usize == to);
        }
    }

    #[test]
    fn strokes_between_parts_beyond_the_mesh_and_without_a_width_are_declined() {
        let points = [0.0, 1.0]
            .iter()
            .flat_map(|z| [DVec3::X, DVec3::Y, DVec3::ZERO].map(|p| p + DVec3::Z * *z))
            .collect();
        let mesh = Mesh::from_triangles(points, &[[0, 1, 2], [3, 4, 5]]).unwrap();
        assert_eq!(
            stroke_triangles(&mesh, &[0, 3], 0.0),
            Err(TransferError::BrokenStroke { from: 0, to: 3 })
        );
        assert!(
            stroke_triangles(&mesh, &[6], 0.0).is_err()
                && stroke_triangles(&mesh, &[0], f64::NAN).is_err()
        );
        assert_eq!(stroke_triangles(&mesh, &[], 1.0).unwrap(), [false, false]);
        assert_eq!(stroke_triangles(&mesh, &[3], 0.0).unwrap(), [false, true]);
    }
}
