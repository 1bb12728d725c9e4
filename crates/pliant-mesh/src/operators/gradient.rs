//! Gradient and divergence on a triangle mesh.
//!
//! **Problem.** Differentiate a function given at vertices, linear on every triangle.
//!
//! **Equation.** With area `A`, unit normal `N` and `eᵢ` the side opposite corner `i`,
//! counter-clockwise,
//!
//! ```text
//! ∇u = 1/(2A) Σᵢ uᵢ (N × eᵢ)
//! (∇·X)ᵢ = ½ Σⱼ cot θ₁ (e₁ · Xⱼ) + cot θ₂ (e₂ · Xⱼ)
//! ```
//!
//! where the second sum runs over the triangles `j` at vertex `i`, `e₁`, `e₂` are the
//! sides that leave `i` and `θ₁`, `θ₂` the angles opposite them. The divergence is
//! integrated over the vertex' cell; it is minus the adjoint of the gradient:
//! `Σᵢ uᵢ (∇·X)ᵢ = −Σⱼ Aⱼ ∇uⱼ · Xⱼ`, and the divergence of the gradient is minus the
//! cotangent Laplacian of [`Laplacian`](crate::Laplacian).
//!
//! **Source.** Crane, Weischedel, Wardetzky, "Geodesics in heat", 2013, section 3.2.1;
//! the same formulas are B.2 and B.3 of the thesis of Çetinaslan (2016).
//!
//! **Departures.** Since `½(cot θ₁ e₁ + cot θ₂ e₂) = −½ N × eᵢ`, the divergence is computed from
//! the same vectors `N × eᵢ` as the gradient; then adjointness holds to the last digits,
//! also on slivers, where cotangents lose their digits.

use glam::DVec3;
use pliant_linalg::parallel;

use crate::{Mesh, MeshError};

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 4096;

/// Gradient and divergence on one pose of a mesh.
#[derive(Debug, Clone)]
pub struct SurfaceGradient {
    triangles: Vec<[u32; 3]>,
    /// `N × eᵢ` for the three corners; zero where the triangle has no area.
    rotated_sides: Vec<[DVec3; 3]>,
    areas: Vec<f64>,
    vertex_count: usize,
}

impl SurfaceGradient {
    /// Prepares every triangle of `mesh`.
    pub fn of(mesh: &Mesh) -> Result<Self, MeshError> {
        mesh.require_finite()?;
        let triangles = mesh.triangles().to_vec();
        let sides = parallel::map(triangles.len(), TRIANGLES_PER_TASK, |t| {
            rotated_sides(mesh.triangle_points(t))
        });
        let (rotated_sides, areas) = sides.into_iter().unzip();

        Ok(Self {
            triangles,
            rotated_sides,
            areas,
            vertex_count: mesh.vertex_count(),
        })
    }

    /// The area of every triangle.
    #[must_use]
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// The gradient of `function` (one value per vertex) on every triangle; zero where a triangle
    /// has no area.
    pub fn gradient(&self, function: &[f64]) -> Result<Vec<DVec3>, MeshError> {
        let expected = self.vertex_count;
        if function.len() != expected {
            return Err(MeshError::Count {
                what: "the function",
                found: function.len(),
                expected,
            });
        }

        Ok(parallel::map(
            self.triangles.len(),
            TRIANGLES_PER_TASK,
            |t| {
                if self.areas[t] == 0.0 {
                    return DVec3::ZERO;
                }
                let [a, b, c] = self.triangles[t].map(|v| function[v as usize]);
                let [x, y, z] = self.rotated_sides[t];
                (x * a + y * b + z * c) / (2.0 * self.areas[t])
            },
        ))
    }

    /// The integrated divergence at every vertex of `field` (one vector per triangle).
    pub fn divergence(&self, field: &[DVec3]) -> Result<Vec<f64>, MeshError> {
        let expected = self.triangles.len();
        if field.len() != expected {
            return Err(MeshError::Count {
                what: "the field",
                found: field.len(),
                expected,
            });
        }

        let mut divergence = vec![0.0; self.vertex_count];
        for ((triangle, sides), vector) in self.triangles.iter().zip(&self.rotated_sides).zip(field)
        {
            for (vertex, side) in triangle.iter().zip(sides) {
                divergence[*vertex as usize] -= 0.5 * side.dot(*vector);
            }
        }

        Ok(divergence)
    }
}

fn rotated_sides([a, b, c]: [DVec3; 3]) -> ([DVec3; 3], f64) {
    let cross = (b - a).cross(c - a);
    let double_area = cross.length();
    if double_area <= 0.0 || !double_area.is_finite() {
        return ([DVec3::ZERO; 3], 0.0);
    }

    let normal = cross / double_area;
    (
        [
            normal.cross(c - b),
            normal.cross(a - c),
            normal.cross(b - a),
        ],
        0.5 * double_area,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Laplacian;
    use crate::shapes::bumpy_sheet;

    #[test]
    fn the_gradient_of_a_linear_function_is_its_slope_along_the_surface() {
        let mesh = bumpy_sheet(7, 0.3);
        let slope = DVec3::new(0.3, -2.0, 1.5);
        let function: Vec<f64> = mesh
            .positions()
            .iter()
            .map(|p| slope.dot(*p) + 4.0)
            .collect();

        let operator = SurfaceGradient::of(&mesh).unwrap();
        for (t, gradient) in operator.gradient(&function).unwrap().iter().enumerate() {
            let normal = crate::triangle_normal(mesh.triangle_points(t));
            let tangential = slope - normal * slope.dot(normal);
            assert!(gradient.distance(tangential) < 1e-12, "triangle {t}");
        }
    }

    #[test]
    fn divergence_is_minus_the_adjoint_of_the_gradient() {
        let mesh = bumpy_sheet(6, 0.4);
        let operator = SurfaceGradient::of(&mesh).unwrap();
        let function: Vec<f64> = (0..mesh.vertex_count())
            .map(|i| ((i * 37) % 11) as f64)
            .collect();
        let field: Vec<DVec3> = (0..mesh.triangles().len())
            .map(|t| DVec3::new((t % 5) as f64, (t % 3) as f64, 1.0))
            .collect();

        let gradient = operator.gradient(&function).unwrap();
        let divergence = operator.divergence(&field).unwrap();
        let left: f64 = function.iter().zip(&divergence).map(|(u, d)| u * d).sum();
        let right: f64 = (0..field.len())
            .map(|t| operator.areas()[t] * gradient[t].dot(field[t]))
            .sum();

        assert!((left + right).abs() < 1e-12 * left.abs(), "{left} {right}");
    }

    #[test]
    fn divergence_of_gradient_is_minus_the_cotangent_laplacian() {
        let mesh = bumpy_sheet(6, 0.4);
        let operator = SurfaceGradient::of(&mesh).unwrap();
        let function: Vec<f64> = (0..mesh.vertex_count())
            .map(|i| ((i * 17) % 13) as f64)
            .collect();
        let through_field = operator
            .divergence(&operator.gradient(&function).unwrap())
            .unwrap();

        let direct = Laplacian::cotangent(&mesh)
            .unwrap()
            .matrix
            .multiply(&function);

        assert!(
            through_field
                .iter()
                .zip(&direct)
                .all(|(a, b)| (a + b).abs() < 1e-11)
        );
    }

    #[test]
    fn the_divergence_equals_the_cotangent_formula_of_the_source() {
        let mesh = bumpy_sheet(4, 0.2);
        let field: Vec<DVec3> = (0..mesh.triangles().len())
            .map(|t| DVec3::new(1.0, (t % 3) as f64, -0.5))
            .collect();

        let mut expected = vec![0.0; mesh.vertex_count()];
        for (t, triangle) in mesh.triangles().iter().enumerate() {
            for k in 0..3 {
                let [i, j, l] = [k, (k + 1) % 3, (k + 2) % 3]
                    .map(|corner| mesh.positions()[triangle[corner] as usize]);
                let cot = |p: DVec3, q: DVec3, r: DVec3| {
                    (q - p).dot(r - p) / (q - p).cross(r - p).length()
                };
                expected[triangle[k] as usize] += 0.5
                    * (cot(l, i, j) * (j - i).dot(field[t]) + cot(j, i, l) * (l - i).dot(field[t]));
            }
        }

        let divergence = SurfaceGradient::of(&mesh)
            .unwrap()
            .divergence(&field)
            .unwrap();

        assert!(
            divergence
                .iter()
                .zip(&expected)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
    }
}
