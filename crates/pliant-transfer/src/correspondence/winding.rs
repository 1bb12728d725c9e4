//! Winding of two meshes: reverses the triangles of a target that is inside out.
//!
//! **Problem.** The matching compares normals. If one mesh is wound clockwise and the other
//! counter-clockwise, all of its normals point to the wrong side.
//!
//! **Method.** The sign of the enclosed volume tells which side of a surface is outside. Surfaces
//! that enclose almost nothing are left as they are.

use pliant_mesh::Mesh;

use crate::TransferError;

/// A solid fills more than this share of the cube of its diagonal; a sheet fills less.
const LEAST_FILLED_SHARE: f64 = 1e-3;

/// The target with all triangles reversed, if its winding is opposite to that of the source.
pub(super) fn with_winding_of(source: &Mesh, target: &Mesh) -> Result<Option<Mesh>, TransferError> {
    if filled_share(source)? * filled_share(target)? >= 0.0 {
        return Ok(None);
    }

    // Exchanging two corners reverses a triangle.
    let mut triangles = target.triangles().to_vec();
    for triangle in &mut triangles {
        triangle.swap(1, 2);
    }
    let turned_over = Mesh::from_triangles(target.positions().to_vec(), &triangles)?;
    Ok(Some(turned_over))
}

/// The enclosed volume over the cube of the diagonal: positive if the surface faces outwards,
/// negative if it faces inwards, zero if it encloses too little to decide.
fn filled_share(mesh: &Mesh) -> Result<f64, TransferError> {
    let Some(bounds) = mesh.bounds() else {
        return Ok(0.0);
    };

    // The volume of an open surface depends on the origin; the centre of the box is a neutral one.
    let center = bounds.center();
    let centered = mesh.posed(mesh.positions().iter().map(|&p| p - center).collect())?;
    let share = centered.signed_volume() / bounds.diagonal().powi(3);

    if share.abs() > LEAST_FILLED_SHARE {
        Ok(share)
    } else {
        Ok(0.0)
    }
}
