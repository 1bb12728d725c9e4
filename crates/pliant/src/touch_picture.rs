//! Pictures of a soft patch from near by.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::SoftRegion;
use pliant_view::{Color, Ground, Image, Paint, Scene, ViewError};

use crate::picture::{Look, Shot};

/// *Paper*: soft areas are blue in the figures of the thesis.
const SOFT: [u8; 3] = [104, 148, 206];

/// A camera that stays while a patch is touched.
#[derive(Debug)]
pub(crate) struct TouchPicture {
    shot: Shot,
    in_view: [DVec3; 6],
}

impl TouchPicture {
    /// What is within a distance of a place fills the picture.
    pub(crate) fn around(middle: DVec3, distance: f64, shot: Shot) -> Self {
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

    /// A scene without floor.
    pub(crate) fn draw(&self, mut scene: Scene) -> Result<Image, ViewError> {
        scene.backdrop.ground = Ground::None;
        self.shot.framed_by(&self.in_view, &scene)
    }
}

/// A mesh in its own colours, the bluer the softer it is.
pub(crate) fn with_soft_region(mesh: &Mesh, region: &SoftRegion) -> Scene {
    // The root, so that what is stiff but not rigid still shows.
    let shares = region.softness().iter().map(|softness| softness.sqrt());
    with_blue_vertices(mesh, region.vertices().iter().copied().zip(shares))
}

/// A mesh in its own colours, with a share of blue at some vertices.
pub(crate) fn with_blue_vertices(mesh: &Mesh, blue: impl IntoIterator<Item = (u32, f64)>) -> Scene {
    let mut scene = Look::default().scene(mesh);
    let [r, g, b] = SOFT;
    let material = &mut scene.objects[0].material;
    let mut colors = vec![material.color; mesh.vertex_count()];
    if let Paint::FaceColors(faces) = &material.paint {
        // A vertex between two materials takes the later one; the edge is as wide as a face, which
        // is little in a picture.
        mesh.faces()
            .zip(faces)
            .for_each(|(face, color)| face.iter().for_each(|&v| colors[v as usize] = *color));
    }
    for (vertex, share) in blue {
        let color = &mut colors[vertex as usize];
        *color = color.mix(Color::srgb8(r, g, b), share as f32);
    }
    material.paint = Paint::VertexColors(colors);
    scene
}
