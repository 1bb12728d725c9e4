//! Pictures of a selection: what is taken in blue, what blends between blue and clay.

use pliant_mesh::Mesh;
use pliant_view::{Color, Ground, Material, Paint, Scene};

use crate::picture::per_face;

/// *Paper*, figure 8.
const TAKEN: [u8; 3] = [38, 92, 190];
const LEFT: [u8; 3] = [221, 191, 170];

/// A mesh, each triangle as blue as its weight.
pub(super) fn scene(mesh: &Mesh, weights: &[f64]) -> Scene {
    let clay = Material::clay();
    // Mixed as the eye sees it, not as light adds up: half of each shall look like half.
    let mixed = |weight: f64| {
        [0, 1, 2].map(|c| {
            (f64::from(LEFT[c]) + weight * (f64::from(TAKEN[c]) - f64::from(LEFT[c]))) / 255.0
        })
    };
    let color = |weight: &f64| Color::srgb(mixed(*weight));
    let colors = per_face(mesh, weights).iter().map(color).collect();
    Scene::of(mesh, clay.with_paint(Paint::FaceColors(colors)))
}

/// A pose of `rest`, standing on its floor.
pub(super) fn standing(pose: &Mesh, rest: &Mesh, weights: &[f64]) -> Scene {
    let mut scene = scene(pose, weights);
    scene.backdrop.ground = rest
        .bounds()
        .map_or(Ground::None, |bounds| Ground::FloorAt(bounds.min.y));
    scene
}
