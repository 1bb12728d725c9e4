//! How sharply shapes bend and stretch the surface.
//!
//! **Problem.** Moved surface alone prefers a slider that creases a small place to one that moves a wide place as a whole: a mouth that is
//! pulled closes over its chin instead of opening the jaw.
//!
//! **Equation.** `sₖ = (Σₜ aₜ |∇δₖ|ₜ⁴)^¼` over the triangles `t` with their shares `aₜ` of the area and the gradient of the shape's
//! displacement, constant in each of them. `|∇δ| = 1` is where skin folds over.
//!
//! **Ours.** The fourth power weighs creases, which are small, like the wide shapes beside them.

use pliant_mesh::glam::DVec3;

use crate::Rig;

/// `s` of every shape.
pub(crate) fn strains(rig: &Rig) -> Vec<f64> {
    let mesh = rig.neutral();
    let frames: Vec<Option<Frame>> = (0..mesh.triangles().len()).map(|k| Frame::of(mesh.triangle_points(k))).collect();
    let area: f64 = frames.iter().flatten().map(|frame| frame.area).sum();
    let mut moved = vec![DVec3::ZERO; mesh.vertex_count()];
    let strain = |(vertices, deltas): (&[u32], &[pliant_mesh::glam::Vec3])| {
        vertices.iter().zip(deltas).for_each(|(&v, d)| moved[v as usize] = d.as_dvec3());
        let triangles = mesh.triangles().iter().zip(&frames).filter_map(|(corners, frame)| Some((corners, frame.as_ref()?)));
        let fourth: f64 =
            triangles.map(|(corners, frame)| frame.area * frame.gradient_squared(corners.map(|v| moved[v as usize])).powi(2)).sum();
        vertices.iter().for_each(|&v| moved[v as usize] = DVec3::ZERO);
        if area > 0.0 { (fourth / area).sqrt().sqrt() } else { 0.0 }
    };
    rig.shapes().map(strain).collect()
}

/// A triangle that has an area.
struct Frame {
    area: f64,
    /// The gradients of the barycentric coordinates of the second and the third corner.
    gradients: [DVec3; 2],
}

impl Frame {
    fn of([a, b, c]: [DVec3; 3]) -> Option<Self> {
        let (to_b, to_c) = (b - a, c - a);
        let normal = to_b.cross(to_c);
        let squared = normal.length_squared();
        let gradients = [to_c.cross(normal) / squared, normal.cross(to_b) / squared];
        gradients.iter().all(|g| g.is_finite()).then(|| Self { area: 0.5 * squared.sqrt(), gradients })
    }

    /// The squared Frobenius norm of the gradient of what moves the corners by `d`.
    fn gradient_squared(&self, [d, e, f]: [DVec3; 3]) -> f64 {
        let ([g, h], e, f) = (self.gradients, e - d, f - d);
        e.length_squared() * g.length_squared() + 2.0 * e.dot(f) * g.dot(h) + f.length_squared() * h.length_squared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use pliant_mesh::glam::{DMat3, Vec3};
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn moving_is_no_strain_and_an_affine_map_has_that_of_its_matrix() {
        let sheet = bumpy_sheet(7, 0.2);
        let matrix = DMat3::from_cols(DVec3::new(0.3, -0.1, 0.2), DVec3::new(0.5, 0.4, -0.6), DVec3::ZERO);
        let flat = pliant_mesh::shapes::flat_sheet(7, 0.2);
        let moved = Target::from_dense("moved", vec![Vec3::ONE; sheet.vertex_count()]);
        let sheared = Target::from_dense("sheared", flat.positions().iter().map(|p| (matrix * *p).as_vec3()));
        let found = strains(&Rig::new(flat.clone(), vec![moved.clone(), sheared]).unwrap());
        let norm = (matrix.x_axis.length_squared() + matrix.y_axis.length_squared()).sqrt();
        assert!(found[0] == 0.0 && (found[1] - norm).abs() < 1e-5, "{found:?} {norm}");
        assert_eq!(strains(&Rig::new(sheet, vec![moved]).unwrap()), [0.0]);
    }
}
