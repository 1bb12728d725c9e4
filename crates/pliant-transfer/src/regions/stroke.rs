//! Strokes on a surface: the triangles along a line of vertices.
//!
//! **Problem.** Users draw lines, not lists of faces.
//!
//! **Method.** The shortest path over edges connects each vertex of the stroke to the next. The
//! stroke covers the triangles that touch the path, and those whose corners have a mean geodesic
//! distance to the path of at most half its width.
//!
//! **Source.** The scribbles of Wang and Lee, "Example-driven animation synthesis", 2008, section
//! 3.2.
//!
//! **Departures.** The path is that of Dijkstra's algorithm; of paths of equal length, the one over
//! lower vertices is taken.

use pliant_mesh::{ExactGeodesics, Mesh, SurfacePoint, edge_path};

use crate::TransferError;

/// For every triangle whether the stroke covers it. `width` is a length in the units of the mesh.
///
/// # Errors
/// A vertex that the mesh does not have, two on different components, and a width that is not a
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

    for &v in stroke {
        mesh.require_vertex(v as usize)?;
    }
    let path = stroke_path(mesh, stroke)?;
    let mut covered = vec![false; mesh.triangles().len()];
    for &v in &path {
        for &t in mesh.topology().vertex_triangles().row(v as usize) {
            covered[t as usize] = true;
        }
    }

    if width > 0.0 && !path.is_empty() {
        // If the mean of three distances is within half the width, none exceeds three halves.
        let points: Vec<SurfacePoint> = path.into_iter().map(SurfacePoint::Vertex).collect();
        let distances = ExactGeodesics::new(mesh)?
            .disc(&points, 1.5 * width)?
            .to_dense(mesh.vertex_count());
        for (covered, triangle) in covered.iter_mut().zip(mesh.triangles()) {
            let sum: f64 = triangle.iter().map(|&v| distances[v as usize]).sum();
            *covered |= sum <= 1.5 * width;
        }
    }
    Ok(covered)
}

/// The vertices of the edge path through all vertices of a stroke.
fn stroke_path(mesh: &Mesh, stroke: &[u32]) -> Result<Vec<u32>, TransferError> {
    let mut path: Vec<u32> = stroke.first().copied().into_iter().collect();
    for ends in stroke.windows(2) {
        let [from, to] = [ends[0], ends[1]];
        let next = edge_path(mesh, from, to);
        path.extend(next.ok_or(TransferError::BrokenStroke { from, to })?);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes::flat_sheet;

    #[test]
    fn a_stroke_covers_the_triangles_it_touches_and_with_a_width_a_band() {
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
    fn strokes_between_components_beyond_the_mesh_or_of_invalid_width_are_rejected() {
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
