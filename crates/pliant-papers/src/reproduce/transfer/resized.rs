//! A surface remeshed to another number of triangles.

use pliant_mesh::{DecimationBudget, DecimationOptions, LoopSubdivision, Mesh, MeshError};

/// The surface of `mesh` in at most `triangles` triangles; edge collapses reach that number up to
/// one or two.
pub(super) fn resized(mesh: &Mesh, triangles: usize) -> Result<Mesh, MeshError> {
    let mut fine = mesh.clone();
    // Collapses only remove triangles, so the mesh is refined first.
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
    fn more_and_fewer_triangles_are_reached_up_to_one_collapse() {
        let ball = icosphere(2);
        for wanted in [100, 319, 320, 1000] {
            let found = resized(&ball, wanted).unwrap().triangles().len();
            assert!(found <= wanted && found + 2 > wanted, "{found} of {wanted}");
        }
    }
}
