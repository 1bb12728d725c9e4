//! Laplacians of a surface: cotangent and mean-value, and the mass of vertices.
//!
//! **Equations.** Both matrices are positive semi-definite in sign: `(L u)ᵢ = Σⱼ wᵢⱼ (uᵢ − uⱼ)`.
//!
//! ```text
//! cotangent     wᵢⱼ = ½ (cot αᵢⱼ + cot βᵢⱼ)                    angles opposite the edge
//! mean value    wᵢⱼ = (tan(αᵢⱼ/2) + tan(βᵢⱼ/2)) / |vᵢ − vⱼ|    angles at i beside the edge
//! mass          mᵢ  = ⅓ Σ area of the triangles at i
//! ```
//!
//! **Source.** Cotangent: B.1 of the thesis of Çetinaslan (2016), without its division by the
//! area, which is kept apart as the mass. Mean value: Wang and Lee, "Example-driven animation
//! synthesis", 2008, eq. 3, whose `L` has the opposite sign (`−qᵢ` on the diagonal); the angles
//! are Floater's (2003).
//!
//! **Departures.** The cotangent Laplacian of needles is bad in every entry, so
//! [`Laplacian::robust`] builds it on the intrinsic Delaunay triangulation of the same
//! surface, or of its tufted cover where a rim has wide angles; there all weights are non-negative,
//! elsewhere all but those of a few edges on the rim. The mass is a third of the area, where B.1
//! has the Voronoi cell's, whose formula turns negative on obtuse triangles.

use glam::DVec3;
use pliant_linalg::SparseMatrix;

use crate::{IntrinsicTriangulation, Mesh, MeshError};

/// A symmetric Laplacian and the mass of each vertex.
#[derive(Debug, Clone)]
pub struct Laplacian {
    /// `(L u)ᵢ = Σⱼ wᵢⱼ (uᵢ − uⱼ)`, integrated over the cell of `i`; rows of unused vertices are
    /// empty but for a zero diagonal.
    pub matrix: SparseMatrix,
    /// A third of the area around each vertex; zero at unused vertices.
    pub mass: Vec<f64>,
}

impl Laplacian {
    /// The cotangent Laplacian of the triangulation as it is; triangles without area are ignored.
    pub fn cotangent(mesh: &Mesh) -> Result<Self, MeshError> {
        mesh.require_finite()?;
        Ok(Self::of_triangulation(&IntrinsicTriangulation::of(mesh)))
    }

    /// The cotangent Laplacian of the intrinsic Delaunay triangulation, mollified: no negative
    /// weight over an edge with two triangles of one orientation, finite for any mesh.
    pub fn robust(mesh: &Mesh) -> Result<Self, MeshError> {
        mesh.require_finite()?;
        Ok(Self::of_triangulation(&IntrinsicTriangulation::robust(
            mesh,
        )))
    }

    /// The cotangent Laplacian of any triangulation given by lengths.
    #[must_use]
    pub fn of_triangulation(triangulation: &IntrinsicTriangulation) -> Self {
        let n = triangulation.vertex_count();
        let mut mass = vec![0.0; n];
        let mut entries: Vec<(u32, u32, f64)> =
            Vec::with_capacity(6 * triangulation.triangles().len());

        let mut diagonal = vec![0.0; n];
        for (t, triangle) in triangulation.triangles().iter().enumerate() {
            let cotangents = triangulation.cotangents(t);
            let third = triangulation.share() * triangulation.area(t) / 3.0;
            for k in 0..3 {
                let i = triangle[k];
                let j = triangle[(k + 1) % 3];
                mass[triangle[k] as usize] += third;

                // Intrinsic triangles may join a vertex to itself; such a side has no weight.
                if i != j {
                    let weight = triangulation.share() * 0.5 * cotangents[(k + 2) % 3];
                    diagonal[i as usize] += weight;
                    diagonal[j as usize] += weight;
                    entries.push((i, j, -weight));
                    entries.push((j, i, -weight));
                }
            }
        }

        // The diagonal is the sum of the weights, so that constants have Laplacian zero.
        entries.extend(
            diagonal
                .iter()
                .enumerate()
                .map(|(i, &d)| (i as u32, i as u32, d)),
        );

        Self {
            matrix: SparseMatrix::from_triplets(n, n, &entries),
            mass,
        }
    }
}

/// The mean-value Laplacian, in general not symmetric; its weights are positive on every triangle
/// with area.
///
/// A zero-length edge and a triangle without area are ignored.
pub fn mean_value_laplacian(mesh: &Mesh) -> Result<SparseMatrix, MeshError> {
    mesh.require_finite()?;
    let n = mesh.vertex_count();
    let mut entries = Vec::with_capacity(9 * mesh.triangles().len());
    let mut diagonal = vec![0.0; n];
    for (t, triangle) in mesh.triangles().iter().enumerate() {
        let points = mesh.triangle_points(t);
        for k in 0..3 {
            let (next, last) = ((k + 1) % 3, (k + 2) % 3);
            let half_tangent = tan_half_angle(points[k], points[next], points[last]);

            // The angle at this corner lies beside both of its edges.
            for other in [next, last] {
                let weight = half_tangent / points[k].distance(points[other]);
                if weight.is_finite() && triangle[k] != triangle[other] {
                    diagonal[triangle[k] as usize] += weight;
                    entries.push((triangle[k], triangle[other], -weight));
                }
            }
        }
    }

    // The diagonal is the sum of the weights, so that constants have Laplacian zero.
    entries.extend(
        diagonal
            .iter()
            .enumerate()
            .map(|(i, &d)| (i as u32, i as u32, d)),
    );

    Ok(SparseMatrix::from_triplets(n, n, &entries))
}

/// `tan(θ/2) = |u × v| / (|u||v| + u·v)` for the angle at `p`; zero where a side has no length.
fn tan_half_angle(p: DVec3, q: DVec3, r: DVec3) -> f64 {
    let (u, v) = (q - p, r - p);
    let below = u.length() * v.length() + u.dot(v);
    if below > 0.0 {
        u.cross(v).length() / below
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{bumpy_sheet, flat_sheet, icosphere};

    fn interior(mesh: &Mesh) -> Vec<usize> {
        let loops = mesh.topology().boundary_loops();
        (0..mesh.vertex_count())
            .filter(|&v| !loops.iter().flatten().any(|&b| b as usize == v))
            .collect()
    }

    #[test]
    fn constants_are_annihilated() {
        let mesh = bumpy_sheet(9, 0.5);
        let ones = vec![1.0; mesh.vertex_count()];
        for matrix in [
            Laplacian::cotangent(&mesh).unwrap().matrix,
            Laplacian::robust(&mesh).unwrap().matrix,
            mean_value_laplacian(&mesh).unwrap(),
        ] {
            let scale = matrix.values().iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            assert!(
                matrix
                    .multiply(&ones)
                    .iter()
                    .all(|v| v.abs() < 1e-14 * scale * 10.0)
            );
        }
    }

    #[test]
    fn linear_functions_are_harmonic_in_the_plane_for_cotangent_and_mean_value() {
        let mesh = flat_sheet(9, 0.25);
        let function: Vec<f64> = mesh
            .positions()
            .iter()
            .map(|p| 2.0 * p.x - 3.0 * p.y)
            .collect();

        let robust = Laplacian::robust(&mesh).unwrap().matrix;
        for matrix in [
            Laplacian::cotangent(&mesh).unwrap().matrix,
            robust,
            mean_value_laplacian(&mesh).unwrap(),
        ] {
            let product = matrix.multiply(&function);
            assert!(interior(&mesh).iter().all(|&v| product[v].abs() < 1e-10));
        }
    }

    #[test]
    fn the_cotangent_laplacian_is_symmetric_and_its_mass_is_the_area() {
        let mesh = bumpy_sheet(9, 0.5);
        let laplacian = Laplacian::cotangent(&mesh).unwrap();
        assert_eq!(laplacian.matrix.transpose(), laplacian.matrix);
        assert!((laplacian.mass.iter().sum::<f64>() - mesh.area()).abs() < 1e-12);
    }

    #[test]
    fn on_a_sphere_the_coordinates_are_eigenfunctions_with_value_two() {
        let mesh = icosphere(4);
        let laplacian = Laplacian::cotangent(&mesh).unwrap();
        let x: Vec<f64> = mesh.positions().iter().map(|p| p.x).collect();
        let rayleigh: f64 = laplacian
            .matrix
            .multiply(&x)
            .iter()
            .zip(&x)
            .map(|(a, b)| a * b)
            .sum::<f64>()
            / laplacian
                .mass
                .iter()
                .zip(&x)
                .map(|(m, x)| m * x * x)
                .sum::<f64>();

        assert!((rayleigh - 2.0).abs() < 0.01, "{rayleigh}");
    }

    #[test]
    fn robust_weights_are_not_negative_even_on_needles() {
        let sheet = bumpy_sheet(9, 0.6);
        let needles = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|p| DVec3::new(40.0 * p.x, p.y, p.z))
                    .collect(),
            )
            .unwrap();

        let negative = |matrix: &SparseMatrix| {
            (0..matrix.rows())
                .flat_map(|row| {
                    matrix
                        .row(row)
                        .0
                        .iter()
                        .zip(matrix.row(row).1)
                        .map(move |(&c, &v)| (row, c as usize, v))
                })
                .filter(|(row, column, value)| row != column && *value > 1e-6)
                .count()
        };

        assert!(
            negative(&Laplacian::cotangent(&needles).unwrap().matrix) > 0,
            "the plain one has some"
        );

        // Edges of the open boundary cannot be flipped and may keep an obtuse angle opposite.
        let robust = Laplacian::robust(&needles).unwrap().matrix;
        let loops = needles.topology().boundary_loops();
        let on_boundary = |v: usize| loops.iter().flatten().any(|&b| b as usize == v);

        for row in 0..robust.rows() {
            let (columns, values) = robust.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                let both = on_boundary(row) && on_boundary(column as usize);
                assert!(
                    row == column as usize || both || value <= 1e-6,
                    "{row} {column} {value}"
                );
            }
        }
    }

    #[test]
    fn mean_value_weights_are_the_formula_with_angles() {
        let mesh = bumpy_sheet(3, 0.3);
        let matrix = mean_value_laplacian(&mesh).unwrap();
        let (i, j) = (5_u32, 6_u32);
        let edge = mesh.topology().edge_between(i, j).unwrap();

        let mut expected = 0.0;
        for &t in mesh.topology().edge_triangles().row(edge) {
            let third = *mesh.triangles()[t as usize]
                .iter()
                .find(|&&v| v != i && v != j)
                .unwrap();
            let [p, q, r] = [i, j, third].map(|v| mesh.positions()[v as usize]);
            expected += ((q - p).angle_between(r - p) / 2.0).tan() / p.distance(q);
        }

        assert!((matrix.get(i as usize, j as usize) + expected).abs() < 1e-12);
    }
}
