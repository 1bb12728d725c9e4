//! Pictures in the paper's colours: shapes that are given are blue, those between them yellow.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_view::{Color, Ground, Image, Material, Scene};

use super::ReproduceError;
use crate::picture::Shot;

/// *Paper*, figures 3 and 6.
const GIVEN: [u8; 3] = [112, 146, 196];
const BETWEEN: [u8; 3] = [226, 190, 104];

/// Whether a shape was given or found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Given,
    Between,
}

impl Origin {
    /// Of the shape at `alpha` between two.
    pub(super) fn at(alpha: f64) -> Self {
        if alpha == 0.0 || alpha == 1.0 {
            Self::Given
        } else {
            Self::Between
        }
    }
}

/// A scene of one shape, without a floor: what hangs in the air shall not look as if it stood.
pub(super) fn scene(mesh: &Mesh, origin: Origin) -> Scene {
    let [r, g, b] = if origin == Origin::Given {
        GIVEN
    } else {
        BETWEEN
    };
    let mut scene = Scene::of(mesh, Material::plain(Color::srgb8(r, g, b)));
    scene.backdrop.ground = Ground::None;
    scene
}

/// The picture of one shape, framed by `in_view`.
pub(super) fn picture(
    mesh: &Mesh,
    origin: Origin,
    shot: Shot,
    in_view: &[DVec3],
) -> Result<Image, ReproduceError> {
    Ok(shot.framed_by(in_view, &scene(mesh, origin))?)
}
