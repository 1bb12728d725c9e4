//! A surface in another number of triangles.

use pliant_mesh::{DecimationBudget, DecimationOptions, LoopSubdivision, Mesh, MeshError};

/// The surface of `mesh` in at most `triangles` triangles, and as near to that as collapsing edges
/// comes: one or two less.
pub(super) fn resized(mesh: &Mesh, triangles: usize) -> Result<Mesh, MeshError> {
    let mut fine = mesh.clone();
    while fine.triangles().len() < triangles {
        fine = LoopSubdivision::of(&fine)?.mesh().clone();
    }
    Ok(fine
        .decimated(
            DecimationBudget::Triangles(triangles),
            &DecimationOptions::default(),
        )?
        .mesh()
        .clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn both_more_and_fewer_triangles_are_reached_to_one_collapse() {
        let ball = icosphere(2);
        for wanted in [100, 319, 320, 1000] {
            let found = resized(&ball, wanted).unwrap().triangles().len();
            assert!(found <= wanted && found + 2 > wanted, "{found} of {wanted}");
        }
    }
}
