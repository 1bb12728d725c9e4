//! What becomes of the way that a source covers.
//!
//! **Problem.** Deformation gradients know nothing of where a mesh is; the paper holds one vertex
//! still, and whatever walks slides.
//!
//! **Equation.** With `s(f)` the centroid of the source in frame `f` (by the area of the target
//! triangles that take from it), `s₀` that of its reference, and `d` the diagonals of the bounding
//! boxes at rest, the target's centroid goes to
//!
//! ```text
//! c(f) = c₀ + (d_target / d_source) (s(f) − s₀)        carry
//! c(f) = c₀                                            fix
//! ```
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, name it an open problem in
//! section 5.
//!
//! **Ours.** The root is the centroid by area: it needs no skeleton and no marker, and for a mesh
//! on itself `carry` is exact. It belongs to the layers that hold more than half of the main shell;
//! a swinging trunk does not move the animal.

use pliant_mesh::Mesh;

/// What becomes of the way that a source covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RootMotion {
    /// The target covers the same way for its size.
    #[default]
    Carry,
    /// The target's centroid stays in place.
    Fix,
}

/// How much larger `target` is than `source`, by the diagonals of their boxes; one where either has
/// no extent.
#[must_use]
pub(crate) fn diagonal_ratio(target: &Mesh, source: &Mesh) -> f64 {
    let diagonal = |mesh: &Mesh| mesh.bounds().map_or(0.0, |bounds| bounds.diagonal());
    let (target, source) = (diagonal(target), diagonal(source));
    if target > 0.0 && source > 0.0 {
        target / source
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    #[test]
    fn the_ratio_of_sizes_is_that_of_the_scale() {
        let sheet = shapes::bumpy_sheet(3, 0.2);
        let large = sheet
            .posed(sheet.positions().iter().map(|p| *p * 8.0).collect())
            .unwrap();
        assert_eq!(diagonal_ratio(&large, &sheet), 8.0);
        let point = sheet
            .posed(vec![sheet.positions()[0]; sheet.vertex_count()])
            .unwrap();
        assert_eq!(
            (
                diagonal_ratio(&point, &sheet),
                diagonal_ratio(&sheet, &point)
            ),
            (1.0, 1.0)
        );
    }
}
