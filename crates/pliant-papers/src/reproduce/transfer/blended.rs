//! Pictures of a region: selected triangles are blue, blending ones between blue and clay.

use pliant_mesh::Mesh;
use pliant_view::{Color, Ground, Material, Paint, Scene, face_means};

/// *Wang, Lee 2008*, figure 8.
const SELECTED: [u8; 3] = [38, 92, 190];
const UNSELECTED: [u8; 3] = [221, 191, 170];

/// A mesh, each triangle as blue as its weight.
pub(super) fn scene(mesh: &Mesh, weights: &[f64]) -> Scene {
    let clay = Material::clay();
    // Mixed in sRGB, so that half of each looks like half.
    let mixed = |weight: f64| {
        [0, 1, 2].map(|c| {
            (f64::from(UNSELECTED[c])
                + weight * (f64::from(SELECTED[c]) - f64::from(UNSELECTED[c])))
                / 255.0
        })
    };

    let color = |weight: &f64| Color::srgb(mixed(*weight));
    let colors = face_means(mesh, weights).iter().map(color).collect();
    Scene::of(mesh, clay.with_paint(Paint::FaceColors(colors)))
}

/// A pose of `rest` on the floor of the rest pose.
pub(super) fn standing(pose: &Mesh, rest: &Mesh, weights: &[f64]) -> Scene {
    let mut scene = scene(pose, weights);
    scene.backdrop.ground = rest
        .bounds()
        .map_or(Ground::None, |bounds| Ground::FloorAt(bounds.min.y));
    scene
}
