//! Pictures in the colours of Ma et al. 2012: given shapes are blue, blended ones yellow.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_view::{Color, Ground, Image, Material, Scene, Shot};

use super::ReproduceError;

/// *Ma et al. 2012*, figures 3 and 6.
const GIVEN: [u8; 3] = [112, 146, 196];
const BETWEEN: [u8; 3] = [226, 190, 104];

/// Whether a shape is given or blended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Given,
    Between,
}

impl Origin {
    /// The origin of the shape at `alpha` between two.
    pub(super) fn at(alpha: f64) -> Self {
        if alpha == 0.0 || alpha == 1.0 {
            Self::Given
        } else {
            Self::Between
        }
    }
}

/// A scene of one shape without a floor, since the shape does not stand on one.
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
