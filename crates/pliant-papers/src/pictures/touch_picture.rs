//! Pictures of a soft patch from close by.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::SoftRegion;
use pliant_view::{Color, Ground, Image, Look, Paint, Scene, Shot, ViewError};

/// *Çetinaslan 2016*: soft areas are blue in the figures.
const SOFT: [u8; 3] = [104, 148, 206];

/// A camera that stays fixed while a patch is touched.
#[derive(Debug)]
pub struct TouchPicture {
    shot: Shot,
    in_view: [DVec3; 6],
}

impl TouchPicture {
    /// A camera whose picture shows everything within `distance` of `middle`.
    #[must_use]
    pub fn around(middle: DVec3, distance: f64, shot: Shot) -> Self {
        let axes = [
            DVec3::X,
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::Z,
            DVec3::NEG_Z,
        ];
        Self {
            shot,
            in_view: axes.map(|axis| middle + axis * distance),
        }
    }

    /// The picture of a scene, without a floor.
    ///
    /// # Errors
    /// Positions that are not finite.
    pub fn draw(&self, mut scene: Scene) -> Result<Image, ViewError> {
        scene.backdrop.ground = Ground::None;
        self.shot.framed_by(&self.in_view, &scene)
    }
}

/// A scene of a mesh in its own colours; soft vertices are blue, the softest most of all.
#[must_use]
pub fn with_soft_region(mesh: &Mesh, region: &SoftRegion) -> Scene {
    // The square root keeps vertices visible that are stiff but not rigid.
    let shares = region.softness().iter().map(|softness| softness.sqrt());
    with_blue_vertices(mesh, region.vertices().iter().copied().zip(shares))
}

/// A scene of a mesh in its own colours, with a share of blue at some vertices.
pub fn with_blue_vertices(mesh: &Mesh, blue: impl IntoIterator<Item = (u32, f64)>) -> Scene {
    let mut scene = Look::default().scene(mesh);
    let [r, g, b] = SOFT;
    let material = &mut scene.objects[0].material;

    let mut colors = vec![material.color; mesh.vertex_count()];
    if let Paint::FaceColors(faces) = &material.paint {
        // A vertex between two materials takes the colour of the later face.
        for (face, color) in mesh.faces().zip(faces) {
            for &v in face {
                colors[v as usize] = *color;
            }
        }
    }

    for (vertex, share) in blue {
        let color = &mut colors[vertex as usize];
        *color = color.mix(Color::srgb8(r, g, b), share as f32);
    }

    material.paint = Paint::VertexColors(colors);
    scene
}
